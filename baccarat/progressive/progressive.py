"""The progressive: one meter and the tables that share it.

An event is legal in a phase if `TRANSITIONS` lists it there, and leads to the phase listed with it. A refused
event changes nothing. The result of an event is postings in the books and entries about awards and settings,
in order; the same events in the same order always give the same progressive and the same entries.
"""

from typing import Final

from punto.baccarat.progressive.awards import back_out, book, deny, lock
from punto.baccarat.progressive.effects import Effect
from punto.baccarat.progressive.events import (
    Adjust,
    BackOut,
    BookAward,
    ChangeSettings,
    Contribute,
    CountCoins,
    DenyAward,
    EndRound,
    Event,
    LockAward,
    OpenMeter,
    ReopenRound,
    Retire,
)
from punto.baccarat.progressive.orders import (
    adjust,
    change_settings,
    contribute,
    counted,
    end_round,
    open_meter,
    reopen_round,
    retire,
)
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import Phase, State
from punto.baccarat.progressive.turn import Turn

NEW, OPEN, RETIRED = Phase

TRANSITIONS: Final[dict[Phase, dict[type, Phase]]] = {
    NEW: {
        OpenMeter: OPEN,
    },
    OPEN: {
        Contribute: OPEN,
        EndRound: OPEN,
        ReopenRound: OPEN,
        LockAward: OPEN,
        DenyAward: OPEN,
        BookAward: OPEN,
        BackOut: OPEN,
        Adjust: OPEN,
        ChangeSettings: OPEN,
        Retire: RETIRED,
        CountCoins: OPEN,
    },
    RETIRED: {
        CountCoins: RETIRED,
    },
}
"""Phase -> event -> the phase it leads to."""

_NOT_NOW: Final = {
    NEW: ("not_open", "is not in service yet: open its meter first"),
    OPEN: ("already_open", "is already in service"),
    RETIRED: ("retired", "is retired for good: open another progressive"),
}


class Progressive:
    """One progressive; `state` holds everything."""

    def __init__(self, state: State) -> None:
        self.state = state

    @classmethod
    def new(cls, settings: Settings) -> "Progressive":
        """A progressive that is not in service yet."""
        return cls(State(settings=settings))

    def handle(self, event: Event) -> list[Effect]:
        """Handle one event and return its effects, in order.

        Raises:
            RefusedError: the event is not allowed now; nothing has changed.
        """
        phase = self.state.phase
        after = TRANSITIONS[phase].get(type(event))
        if after is None:
            code, why = _NOT_NOW[phase]
            raise RefusedError(code, f"{self.state.settings.progressive} {why}")
        turn = Turn(self.state)
        _carry_out(turn, event)
        if after is not phase:
            turn.change(phase=after)
        self.state = turn.state
        return turn.effects


def _carry_out(turn: Turn, event: Event) -> None:  # noqa: C901 - flat: one case an event
    match event:
        case OpenMeter():
            open_meter(turn, event)
        case Contribute():
            contribute(turn, event)
        case EndRound():
            end_round(turn, event)
        case ReopenRound():
            reopen_round(turn, event)
        case LockAward():
            lock(turn, event)
        case DenyAward():
            deny(turn, event)
        case BookAward():
            book(turn, event)
        case BackOut():
            back_out(turn, event)
        case Adjust():
            adjust(turn, event)
        case ChangeSettings():
            change_settings(turn, event)
        case CountCoins():
            turn.say(counted(event))
        case _:
            retire(turn, event)
