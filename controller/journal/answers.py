"""The answers to the wagers of the present round and of the last one, as they follow from the record.

They are in memory only: a start derives them again from the inputs that it handles, at least the last 2,000, or those
since the first snapshot after an upgrade of the program.
"""

from dataclasses import dataclass
from typing import Final, Self

from punto.baccarat.table.events import SetWager
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.turn import RefusedError
from punto.controller.journal.execution import Step
from punto.messages.models import WagerAnswer

MOST_KEPT: Final = 2000
"""Two rounds of seats that each ask as fast as they may. Of more, the oldest are forgotten."""


@dataclass(slots=True, kw_only=True)
class Answer:
    """What became of a wager request: its input's number and time, the round that the table was at, and the refusal.

    `taken` is whether the broker has acknowledged the answer since this start.
    """

    seq: int
    ts: str
    round: int
    asked: SetWager
    refusal: RefusedError | None
    taken: bool = False

    @classmethod
    def of(cls, step: Step, asked: SetWager) -> Self:
        """The answer to the wager that the step executed."""
        return cls(
            seq=step.seq, ts=step.entry.ts, round=step.state.round.number, asked=asked, refusal=step.refusal
        )

    def message(self, settings: Settings) -> WagerAnswer:
        """The answer as it is published."""
        refusal = self.refusal
        return WagerAnswer(
            id=f"{settings.table}/wager/{self.seq}",
            seq=self.seq,
            ts=self.ts,
            simulation=settings.simulation,
            request=self.asked.id,
            seat=self.asked.seat,
            accepted=refusal is None,
            code=None if refusal is None else refusal.code,
            reason=None if refusal is None else str(refusal),
        )

    def was_taken(self) -> None:
        """Note that the broker has it."""
        self.taken = True


class Answers:
    """The last answers, by seat and request."""

    def __init__(self) -> None:
        self._answers: dict[tuple[int, str], Answer] = {}

    def add(self, answer: Answer) -> None:
        """Add the answer to the newest input."""
        key = (answer.asked.seat, answer.asked.id)
        self._answers.pop(key, None)  # a dict keeps a key's first place
        self._answers[key] = answer
        while len(self._answers) > MOST_KEPT or self._oldest.round < answer.round - 1:
            del self._answers[self._oldest.asked.seat, self._oldest.asked.id]

    @property
    def _oldest(self) -> Answer:
        return next(iter(self._answers.values()))

    def to(self, asked: SetWager, present: int) -> Answer | None:
        """The answer to this request, None if the rounds `present` and `present` - 1 do not have it.

        A request with the same id and another wager, amount or round is another request.
        """
        answer = self._answers.get((asked.seat, asked.id))
        known = answer is not None and answer.asked == asked and answer.round >= present - 1
        return answer if known else None

    def not_taken(self, present: int) -> list[Answer]:
        """The answers of both rounds that the broker may not have, in order."""
        return [each for each in self._answers.values() if not each.taken and each.round >= present - 1]
