"""The progressive: one meter and the tables that share it.

An event is legal in a phase if `TRANSITIONS` lists it there, and leads to the phase listed with it. A refused
event changes nothing. The result of an event is postings in the books and entries about awards and settings,
in order; the same events in the same order always give the same progressive and the same entries.
"""

from collections.abc import Callable
from typing import Any, Final

from punto.baccarat.progressive import awards, events, orders
from punto.baccarat.progressive.effects import Effect
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import Phase, State
from punto.baccarat.progressive.turn import Turn

NEW, OPEN, RETIRED = Phase

_HANDLERS: Final[dict[type, Callable[[Turn, Any], None]]] = {
    events.OpenMeter: orders.open_meter,
    events.Contribute: orders.contribute,
    events.EndRound: orders.end_round,
    events.ReopenRound: orders.reopen_round,
    events.LockAward: awards.lock,
    events.DenyAward: awards.deny,
    events.BookAward: awards.book,
    events.BackOut: awards.back_out,
    events.Adjust: orders.adjust,
    events.ChangeSettings: orders.change_settings,
    events.Retire: orders.retire,
    events.ForgetTable: awards.forget_table,
    events.CountCoins: orders.count_coins,
}

TRANSITIONS: Final[dict[Phase, dict[type, Phase]]] = {
    NEW: {events.OpenMeter: OPEN},
    OPEN: {
        **{event: OPEN for event in _HANDLERS if event is not events.OpenMeter},
        events.Retire: RETIRED,
    },
    RETIRED: {events.CountCoins: RETIRED},
}
"""Phase -> event -> the phase it leads to."""

_NOT_NOW: Final = {
    NEW: ("not_open", "is not in service yet: open its meter first"),
    OPEN: ("already_open", "is already in service"),
    RETIRED: ("retired", "is retired for good: open another progressive"),
}


class Progressive:
    """One progressive; `state` holds everything, and `currency` is that of the amounts in refusals."""

    def __init__(self, state: State, currency: str) -> None:
        self.state = state
        self._currency = currency

    @classmethod
    def new(cls, settings: Settings, currency: str) -> "Progressive":
        """A progressive that is not in service yet."""
        return cls(State(settings=settings), currency)

    def handle(self, event: events.Event) -> list[Effect]:
        """Handle one event and return its effects, in order.

        Raises:
            RefusedError: the event is not allowed now; nothing has changed.
        """
        phase = self.state.phase
        after = TRANSITIONS[phase].get(type(event))
        if after is None:
            code, why = _NOT_NOW[phase]
            raise RefusedError(code, f"{self.state.settings.progressive} {why}")
        turn = Turn(self.state, self._currency)
        _HANDLERS[type(event)](turn, event)
        if after is not phase:
            turn.change(phase=after)
        self.state = turn.state
        return turn.effects
