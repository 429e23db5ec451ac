"""The incidents of an input: its refusal, or the alarms, stops and keyed cards that it caused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from punto.baccarat.table.effects import AlarmRaised, Announced, CardAwaited, Effect
from punto.baccarat.table.events import BooksOrder, Event, GameOrder, Sensed
from punto.baccarat.table.failing import INTERNAL_ERROR
from punto.baccarat.table.order_kinds import Order
from punto.baccarat.table.turn import RefusedError


@dataclass(frozen=True, slots=True)
class Incident:
    """A refused order or sensor's report, an alarm, an alarm that stopped play, or a card that had to be keyed."""

    kind: Literal["refused", "alarm", "stop", "card_awaited"]
    code: str
    text: str


def incidents_of(event: Event, outcome: Sequence[Effect] | RefusedError) -> list[Incident]:
    """The incidents of an input, in order, from its effects or its refusal."""
    if isinstance(outcome, RefusedError):
        # The refusal of a seat's wager is answered to the seat and is not an incident.
        concerns_the_table = isinstance(event, Order | GameOrder | BooksOrder | Sensed)
        concerns_the_table = concerns_the_table or outcome.code == INTERNAL_ERROR
        return [Incident("refused", outcome.code, str(outcome))] if concerns_the_table else []
    found = []
    for effect in outcome:
        match effect:
            case Announced(happening=AlarmRaised(code, text, stops)):
                found.append(Incident("stop" if stops else "alarm", code, text))
            case Announced(happening=CardAwaited(code, text)):
                found.append(Incident("card_awaited", code, text))
            case _:
                pass
    return found
