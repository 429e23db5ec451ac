"""What was out of the ordinary about an input: that the table or its progressive refused it, or what it raised the alarm about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from punto.baccarat.table.effects import AlarmRaised, CardAwaited, Effect, Happened
from punto.baccarat.table.events import BooksOrder, Event, GameOrder, Sensed
from punto.baccarat.table.order_kinds import Order
from punto.baccarat.table.turn import RefusedError


@dataclass(frozen=True, slots=True)
class Incident:
    """An order or a sensor's report that was refused, an alarm, an alarm that stopped play, or a card that had to be keyed."""

    kind: Literal["refused", "alarm", "stop", "card_awaited"]
    code: str
    text: str


def incidents_of(event: Event, outcome: Sequence[Effect] | RefusedError) -> list[Incident]:
    """The incidents of an input, in order, given its effects or why it was refused."""
    if isinstance(outcome, RefusedError):
        # A seat's wager that is refused is answered to the seat, and concerns nobody else.
        concerns_the_table = isinstance(event, Order | GameOrder | BooksOrder | Sensed)
        return [Incident("refused", outcome.code, str(outcome))] if concerns_the_table else []
    found = []
    for effect in outcome:
        match effect:
            case Happened(happening=AlarmRaised(code, text, stops)):
                found.append(Incident("stop" if stops else "alarm", code, text))
            case Happened(happening=CardAwaited(code, text)):
                found.append(Incident("card_awaited", code, text))
            case _:
                pass
    return found
