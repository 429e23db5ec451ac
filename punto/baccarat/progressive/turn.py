"""One event being handled: the state so far and the effects so far.

The progressive keeps a turn's state only if its handler completes, so an event that is refused half-way
changes nothing.
"""

from collections.abc import Collection
from typing import Any

from punto.baccarat.progressive.effects import Effect, Posted
from punto.baccarat.progressive.ledger import Account, Cause, Line, Reference
from punto.baccarat.progressive.state import Award, State, TableRound


class Turn:
    """The state and the effects while one event is handled, and the currency of its amounts."""

    def __init__(self, state: State, currency: str) -> None:
        self.state = state
        self.currency = currency
        self.effects: list[Effect] = []

    def change(self, **fields: Any) -> None:
        """Set these fields of the state."""
        self.state = self.state.replace(**fields)

    def emit(self, effect: Effect) -> None:
        """Add an entry to the record."""
        self.effects.append(effect)

    def post(self, cause: Cause, lines: Collection[Line], reference: Reference, **fields: Any) -> None:
        """Move money and set the given fields of the state in the same step. Lines with an amount of zero are not posted."""
        for line in lines:
            if line.amount:
                ledger, posting = self.state.ledger.post(cause, lines, reference)
                self.change(ledger=ledger, **fields)
                self.effects.append(Posted(posting))
                return
        if fields:
            self.change(**fields)

    def to_meter(self, amount: int) -> tuple[Line, Line]:
        """The lines that put an amount on the meter up to the display limit, and the excess in the overflow."""
        room = self.state.room
        fits = amount if room is None else min(amount, room)
        return Line(Account.PRIMARY, fits), Line(Account.OVERFLOW, amount - fits)

    def rounds_with(self, put: TableRound) -> tuple[TableRound, ...]:
        """The tables' last rounds, with this one replacing its table's."""
        return (*[each for each in self.state.rounds if each.table != put.table], put)

    def put_award(self, put: Award) -> None:
        """Replace the award with the same number by this one."""
        self.change(awards=tuple(put if each.id == put.id else each for each in self.state.awards))
