"""A table's record, and what it tells of it."""

from dataclasses import replace
from datetime import timedelta
from random import Random

from punto.house.following import Ask
from punto.messages.building import timestamp
from punto.messages.models import Health, Round
from punto.messages.requests import (
    BooksRequest,
    IncidentsRequest,
    IncidentsResponse,
    RecordedIncident,
    RoundEnd,
    RoundsResponse,
)
from tests.house.tables import BEGAN, played

AT = played(11, 30)
GAME = AT.settings.game


class Told:
    """A table's record, and what it tells of it."""

    def __init__(self, record: str = "aa") -> None:
        self.record = record
        self.rounds: list[tuple[str, int]] = []  # when each ended, and which hand it was
        self.moments = 0

    def play(self, dice: Random) -> Round:
        self.moments += 1
        self.rounds.append(
            (timestamp(BEGAN + timedelta(seconds=self.moments)), dice.randrange(len(AT.rounds)))
        )
        return self.tell(len(self.rounds))

    def tell(self, number: int) -> Round:
        ts, hand = self.rounds[number - 1]
        return Round(
            id=f"t/round/{number}", seq=number, ts=ts, game=GAME.name, rules=GAME.rules_digest, record=self.record, currency="USD",
            round=replace(AT.rounds[hand], round=number),
        )  # fmt: skip

    @property
    def inputs(self) -> int:
        """Each round has five inputs, and each 97th input is an incident."""
        return 5 * len(self.rounds)

    def incidents(self, after: int, until: int) -> tuple[RecordedIncident, ...]:
        """The incidents of these inputs."""
        ts = timestamp(BEGAN)
        return tuple(
            RecordedIncident(
                seq=seq, place=0, ts=ts, kind="link_noise", source="shoe", who=None, text=f"{seq}", where=None
            )
            for seq in range(after + 1, until + 1)
            if seq % 97 == 0
        )

    def answer(self, asked: Ask) -> RoundsResponse | IncidentsResponse:
        assert not isinstance(asked, BooksRequest)  # it keeps no meter
        if isinstance(asked, IncidentsRequest):
            until = min(asked.after + 2000, self.inputs)
            return IncidentsResponse(
                id=f"t/response/{asked.id}",
                seq=self.inputs,
                ts=timestamp(BEGAN),
                request=asked.id,
                after=asked.after,
                incidents=self.incidents(asked.after, until),
                until=until,
                record=self.record,
                more=until < self.inputs,
            )
        numbers = range(asked.after + 1, min(asked.after + asked.limit, len(self.rounds)) + 1)
        told = [self.tell(number) for number in numbers]
        return RoundsResponse(
            id=f"t/response/{asked.id}",
            seq=len(self.rounds),
            ts=timestamp(BEGAN),
            request=asked.id,
            after=asked.after,
            rounds=tuple(each.round for each in told),
            ended=tuple(RoundEnd(ts=each.ts, game=each.game, rules=each.rules) for each in told),
            record=self.record,
            currency="USD",
            more=bool(numbers) and numbers[-1] < len(self.rounds),
        )

    def health(self) -> Health:
        return Health(
            record=self.record,
            id="t/health",
            seq=1,
            ts=timestamp(BEGAN),
            valid_until=timestamp(BEGAN),
            uptime_seconds=1.0,
            inputs=self.inputs,
            rounds=len(self.rounds),
            rounds_waiting=0,
            events_waiting=0,
            events_dropped=0,
            resident_bytes=0,
            links={},
        )
