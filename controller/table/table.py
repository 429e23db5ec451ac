"""The table machine.

The law: an event is legal in a phase if `TRANSITIONS` lists it there, and it leaves the table in one of the phases
listed with it. Orders, wagers and starts that are not listed are refused and change nothing. What the shoe saw has
happened, whatever the phase, so it is listed everywhere and never refused; what is wrong with it becomes an alarm
or a stop. The same events in the same order always give the same table and the same effects.
"""

from collections.abc import Callable
from typing import Any, Final, get_args

from controller.progressive.events import PrintWinPage
from controller.progressive.procedure import StartGame
from controller.table import progressive
from controller.table.effects import Effect
from controller.table.events import (
    AcceptShoe,
    Access,
    AcknowledgeAlarm,
    BooksOrder,
    CallSupervisor,
    ChangeGame,
    ChangeShoe,
    CloseBetting,
    CloseTable,
    ConfigurationKeypad,
    CorrectCard,
    CorrectRound,
    Event,
    GameOrder,
    KeyCard,
    OpenBetting,
    Order,
    ResumePlay,
    Reveal,
    Sensed,
    SensorFault,
    SensorsLink,
    ServiceStarted,
    SetWager,
    SignOff,
    SignOn,
    VoidCoup,
    VoidRound,
)
from controller.table.orders import on_access, on_configuration_keypad, on_order, on_started, on_wager
from controller.table.sensors import on_sensors
from controller.table.settings import Settings
from controller.table.shoe_events import on_shoe_event
from controller.table.state import Phase, TableState
from controller.table.turn import RefusedError, Turn

LOCKED, CLOSED, SHOE_CHANGE, BETTING, DEALING, REVEAL, SETTLED = Phase

_SHOE: Final = "shoe"
_ACCESS: Final = "access"
# Of the progressive: its procedure and its books have laws of their own, and change no phase.
_METER: Final = "meter"
_GAME: Final = "game"
# A coup that ends opens betting for the next, or begins the dummy that an overdraw calls for.
_AFTER_A_COUP: Final = frozenset({SETTLED, BETTING, DEALING})
# What came while play was stopped, or was carried from an overdraw, can end a coup in the event that begins it.
_INTO_A_COUP: Final = _AFTER_A_COUP | {REVEAL}

TRANSITIONS: Final[dict[Phase, dict[type | str, frozenset[Phase]]]] = {
    LOCKED: {
        _SHOE: frozenset({LOCKED}),
        _ACCESS: frozenset({LOCKED}),
        _METER: frozenset({LOCKED}),
        ConfigurationKeypad: frozenset({LOCKED}),
        ServiceStarted: frozenset({LOCKED}),
        SignOn: frozenset({CLOSED}),
    },
    CLOSED: {
        _SHOE: frozenset({CLOSED}),
        _ACCESS: frozenset({CLOSED}),
        _METER: frozenset({CLOSED}),
        _GAME: frozenset({CLOSED}),
        ConfigurationKeypad: frozenset({CLOSED}),
        ServiceStarted: frozenset({CLOSED}),
        SignOff: frozenset({LOCKED}),
        ChangeShoe: frozenset({SHOE_CHANGE}),
        OpenBetting: frozenset({BETTING, DEALING}),
        ResumePlay: frozenset({CLOSED}),
        AcceptShoe: frozenset({CLOSED}),
        SignOn: frozenset({CLOSED}),
        CallSupervisor: frozenset({CLOSED}),
        AcknowledgeAlarm: frozenset({CLOSED}),
        CorrectRound: frozenset({CLOSED}),
        VoidRound: frozenset({CLOSED}),
        ChangeGame: frozenset({CLOSED}),
    },
    SHOE_CHANGE: {
        _SHOE: frozenset({SHOE_CHANGE, BETTING, DEALING}),
        _ACCESS: frozenset({SHOE_CHANGE}),
        _METER: frozenset({SHOE_CHANGE}),
        _GAME: frozenset({SHOE_CHANGE}),
        ConfigurationKeypad: frozenset({SHOE_CHANGE}),
        ServiceStarted: frozenset({SHOE_CHANGE}),
        ChangeShoe: frozenset({SHOE_CHANGE}),
        CloseTable: frozenset({CLOSED}),
        OpenBetting: frozenset({BETTING}),
        KeyCard: frozenset({SHOE_CHANGE, BETTING}),
        ResumePlay: frozenset({SHOE_CHANGE, BETTING}),
        AcceptShoe: frozenset({SHOE_CHANGE, BETTING}),
        SignOn: frozenset({SHOE_CHANGE}),
        CallSupervisor: frozenset({SHOE_CHANGE}),
        AcknowledgeAlarm: frozenset({SHOE_CHANGE}),
        CorrectRound: frozenset({SHOE_CHANGE}),
        VoidRound: frozenset({SHOE_CHANGE}),
    },
    BETTING: {
        _SHOE: _INTO_A_COUP,
        _ACCESS: frozenset({BETTING}),
        _METER: frozenset({BETTING}),
        _GAME: frozenset({BETTING}),
        StartGame: frozenset({BETTING}),
        ConfigurationKeypad: frozenset({BETTING}),
        ServiceStarted: frozenset({BETTING}),
        SetWager: frozenset({BETTING}),
        CloseBetting: frozenset({DEALING}),
        CloseTable: frozenset({CLOSED}),
        ChangeShoe: frozenset({SHOE_CHANGE}),
        KeyCard: frozenset({DEALING}),
        ResumePlay: _INTO_A_COUP,
        AcceptShoe: frozenset({BETTING}),
        SignOn: frozenset({BETTING}),
        CallSupervisor: frozenset({BETTING}),
        AcknowledgeAlarm: frozenset({BETTING}),
        CorrectRound: frozenset({BETTING}),
        VoidRound: frozenset({BETTING}),
    },
    DEALING: {
        _SHOE: _INTO_A_COUP,
        _ACCESS: frozenset({DEALING}),
        _METER: frozenset({DEALING}),
        _GAME: frozenset({DEALING}),
        StartGame: frozenset({DEALING}),
        ConfigurationKeypad: frozenset({DEALING}),
        ServiceStarted: frozenset({DEALING}),
        KeyCard: _INTO_A_COUP,
        CorrectCard: _INTO_A_COUP,
        VoidCoup: _AFTER_A_COUP,
        ResumePlay: _INTO_A_COUP,
        AcceptShoe: _INTO_A_COUP,
        SignOn: frozenset({DEALING}),
        CallSupervisor: frozenset({DEALING}),
        AcknowledgeAlarm: frozenset({DEALING}),
    },
    REVEAL: {
        _SHOE: frozenset({REVEAL}),
        _ACCESS: frozenset({REVEAL}),
        _METER: frozenset({REVEAL}),
        _GAME: frozenset({REVEAL}),
        ConfigurationKeypad: frozenset({REVEAL}),
        ServiceStarted: frozenset({REVEAL}),
        Reveal: _AFTER_A_COUP,
        CorrectCard: frozenset({REVEAL, DEALING}),
        VoidCoup: _AFTER_A_COUP,
        ResumePlay: frozenset({REVEAL}),
        AcceptShoe: frozenset({REVEAL}),
        SignOn: frozenset({REVEAL}),
        CallSupervisor: frozenset({REVEAL}),
        AcknowledgeAlarm: frozenset({REVEAL}),
    },
    SETTLED: {
        _SHOE: frozenset({SETTLED}),
        _ACCESS: frozenset({SETTLED}),
        _METER: frozenset({SETTLED}),
        _GAME: frozenset({SETTLED}),
        ConfigurationKeypad: frozenset({SETTLED}),
        ServiceStarted: frozenset({SETTLED}),
        OpenBetting: frozenset({BETTING}),
        ChangeShoe: frozenset({SHOE_CHANGE}),
        CloseTable: frozenset({CLOSED}),
        ResumePlay: frozenset({SETTLED, DEALING, REVEAL}),
        AcceptShoe: frozenset({SETTLED}),
        SignOn: frozenset({SETTLED}),
        CallSupervisor: frozenset({SETTLED}),
        AcknowledgeAlarm: frozenset({SETTLED}),
        CorrectRound: frozenset({SETTLED}),
        VoidRound: frozenset({SETTLED}),
    },
}
"""Phase -> event -> the phases it may lead to."""

_Handler = Callable[[Turn, Any], None]


def _each(kinds: Any, listed: str, handler: _Handler) -> dict[type, tuple[type | str, _Handler]]:
    return dict.fromkeys(get_args(kinds), (listed, handler))


_KINDS: Final[dict[type, tuple[type | str, _Handler]]] = {
    **{order: (order, on_order) for order in get_args(Order)},
    SetWager: (SetWager, on_wager),
    ServiceStarted: (ServiceStarted, on_started),
    ConfigurationKeypad: (ConfigurationKeypad, on_configuration_keypad),
    **_each(Access, _ACCESS, on_access),
    **_each(SensorsLink | SensorFault, _METER, on_sensors),
    **_each(Sensed, _METER, progressive.play),
    **_each(BooksOrder, _METER, progressive.keep_books),
    PrintWinPage: (_METER, progressive.print_win_page),
    **_each(GameOrder, _GAME, progressive.play),
    StartGame: (StartGame, progressive.play),
}
"""Event -> what `TRANSITIONS` lists it under, and who handles it; all others are the shoe's."""

_OF_THE_SHOE: Final[tuple[type | str, _Handler]] = (_SHOE, on_shoe_event)

_ANYTIME: Final[frozenset[type]] = frozenset({SignOn, CallSupervisor, AcknowledgeAlarm})
"""Possible in any phase once the table is unlocked, so not worth saying where something else is not."""

_WHAT: Final[dict[type, str]] = {
    SignOn: "sign on",
    SignOff: "sign off",
    ChangeShoe: "change the shoe",
    OpenBetting: "open betting",
    CloseBetting: "close betting",
    CloseTable: "close the table",
    Reveal: "reveal",
    VoidCoup: "void the coup",
    CorrectCard: "correct a card",
    CorrectRound: "correct a settled round",
    VoidRound: "void a settled round",
    KeyCard: "key a card",
    ResumePlay: "resume play",
    AcceptShoe: "accept a shoe",
    ChangeGame: "change the game",
    CallSupervisor: "call a supervisor",
    AcknowledgeAlarm: "acknowledge an alarm",
    SetWager: "take a wager",
    ServiceStarted: "start",
}


class Table:
    """One table. `state` is all that it is."""

    def __init__(self, state: TableState) -> None:
        self.state = state

    @classmethod
    def new(cls, settings: Settings) -> "Table":
        """A table on its first day: locked, with no shoe."""
        return cls(TableState(settings=settings, configured=settings, progressive=progressive.new(settings)))

    def handle(self, event: Event) -> list[Effect]:
        """Handle one event and return what came of it, in order.

        Raises:
            RefusedError: an order, a wager or a start that may not be carried out now; nothing has changed.
        """
        before = self.state.phase
        listed, handler = _KINDS.get(type(event), _OF_THE_SHOE)
        allowed = TRANSITIONS[before].get(listed)
        if allowed is None:
            raise _refusal(before, event)
        turn = Turn(self.state)
        handler(turn, event)
        after = turn.state.phase
        if after not in allowed:
            raise AssertionError(
                f"{event.kind} led from {before} to {after}, which the transition table forbids"
            )
        self.state = turn.state
        return turn.effects


def _refusal(phase: Phase, event: Event) -> RefusedError:
    if isinstance(event, SetWager):
        return RefusedError("betting_closed", f"no wagers now: the table is in {phase.value}, not in betting")
    always = frozenset[type]() if phase is LOCKED else _ANYTIME
    legal = sorted(
        name
        for kind, name in _WHAT.items()
        if kind in TRANSITIONS[phase] and kind not in {ServiceStarted, *always}
    )
    return RefusedError(
        "not_now",
        f"cannot {_WHAT.get(type(event), 'play on the progressive')} while the table is in {phase.value}; possible now: "
        f"{', '.join(legal)}",
    )
