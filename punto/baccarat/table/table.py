"""The table machine: which event is legal in which phase, and to which phases it may lead.

    LOCKED --- CLOSED --- SHOE_CHANGE --burned--> BETTING --first card--> DEALING <---> REVEAL
                                                     ^                       |             |
                                                     +------- SETTLED <------+-------------+

That is the way of a hand. The dealer can close the table or change the shoe whenever no hand is being dealt. A table
whose next hand opens by itself passes through SETTLED within one event.

`TRANSITIONS` says all of it. For each phase it lists the events that are legal there, and for each event the phases
that the table may be in afterwards. Events that are legal everywhere and change no phase are listed once, above it.
The handlers are in other modules (`dealing`, `orders`, `shoe_events`, `progressive`), and each decides by the cards
and the settings to which of the listed phases it leads.

- An order, a wager or a start that is not listed is refused before its handler runs. One that its handler refuses
  half-way changes nothing either, because a handler changes a `Turn`, which the table takes over only at the end.
- A handler that leads to a phase that is not listed is a fault of the program, so its event is undone and recorded as
  failed. Because each event is compared with the table, a reader can trust the table without reading the handlers,
  and a test can play every pair of phase and event.
- The shoe's reports are legal in every phase, because they are facts (`shoe_events` explains this rule).
- What can stand in several phases is not a phase: a stop or an awaited card (`Waiting`), or an award that delays the
  next hand (`award_waits`). As phases, they would multiply the table, and each would have to remember the phase to
  return to.
- The progressive's game and its meter have transition tables of their own (`punto/baccarat/progressive`), because a game is
  not a round. Here, they are listed only where the end of an award can begin the next hand.
- The same events in the same order give the same table and the same effects, so that the record can be replayed.
  Therefore nothing here reads a clock, draws random numbers or waits.
"""

from collections.abc import Callable
from typing import Any, Final, get_args

from punto.baccarat.progressive.events import PrintWinPage
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table import events, meter_link, orders, progressive
from punto.baccarat.table import order_kinds as kinds
from punto.baccarat.table.approval import refuse_unapproved
from punto.baccarat.table.dealing import go_on_after_award
from punto.baccarat.table.definition import DEFINED
from punto.baccarat.table.devices import on_device
from punto.baccarat.table.effects import Effect
from punto.baccarat.table.failing import note_failure
from punto.baccarat.table.sensors import on_sensors
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.shoe_events import on_shoe_event
from punto.baccarat.table.state import Phase, TableState
from punto.baccarat.table.turn import RefusedError, Turn

LOCKED, CLOSED, SHOE_CHANGE, BETTING, DEALING, REVEAL, SETTLED = Phase

_SHOE: Final = "shoe"
_ACCESS: Final = "access"
# The progressive: its procedure and its books have their own transition tables, and do not change the phase.
_METER: Final = "meter"
_GAME: Final = "game"
# A coup that ends opens betting for the next, or begins the dummy that an overdraw calls for.
_AFTER_A_COUP: Final = frozenset({SETTLED, BETTING, DEALING})
# Cards that came while play was stopped, or were carried, can end a coup in the event that begins it.
_INTO_A_COUP: Final = _AFTER_A_COUP | {REVEAL}

_ALWAYS: Final = frozenset({_SHOE, _ACCESS, _METER, events.ConfigurationKeypad, events.ServiceStarted})
"""Legal in every phase; the table stays in its phase unless `TRANSITIONS` says otherwise."""
_UNLOCKED: Final = frozenset({_GAME, *(each.event for each in DEFINED.values() if each.anywhere)})
"""The same, if the table is unlocked."""

TRANSITIONS: Final[dict[Phase, dict[type | str, frozenset[Phase]]]] = {
    LOCKED: {
        kinds.SignOn: frozenset({CLOSED}),
    },
    CLOSED: {
        kinds.SignOff: frozenset({LOCKED}),
        kinds.ChangeShoe: frozenset({SHOE_CHANGE}),
        kinds.ChangeGame: frozenset({CLOSED}),
        kinds.OpenBetting: frozenset({BETTING, DEALING}),
        kinds.CorrectRound: frozenset({CLOSED}),
        kinds.VoidRound: frozenset({CLOSED}),
    },
    SHOE_CHANGE: {
        _SHOE: frozenset({SHOE_CHANGE, BETTING, DEALING}),
        _METER: frozenset({SHOE_CHANGE, BETTING}),  # the award that the burn waited for is complete
        _GAME: frozenset({SHOE_CHANGE, BETTING}),
        kinds.ChangeShoe: frozenset({SHOE_CHANGE}),
        kinds.CloseTable: frozenset({CLOSED}),
        kinds.OpenBetting: frozenset({BETTING}),
        kinds.KeyCard: frozenset({SHOE_CHANGE, BETTING}),
        kinds.ResumePlay: frozenset({SHOE_CHANGE, BETTING}),
        kinds.AcceptShoe: frozenset({SHOE_CHANGE, BETTING}),
        kinds.CorrectRound: frozenset({SHOE_CHANGE, BETTING}),
        kinds.VoidRound: frozenset({SHOE_CHANGE, BETTING}),
    },
    BETTING: {
        _SHOE: _INTO_A_COUP,
        _METER: frozenset({BETTING, DEALING}),  # the award that a dummy waited for is complete
        _GAME: frozenset({BETTING, DEALING}),
        StartGame: frozenset({BETTING, DEALING}),
        events.SetWager: frozenset({BETTING}),
        kinds.CloseBetting: frozenset({DEALING}),
        kinds.CloseTable: frozenset({CLOSED}),
        kinds.ChangeShoe: frozenset({SHOE_CHANGE}),
        kinds.KeyCard: frozenset({DEALING}),
        kinds.ResumePlay: _INTO_A_COUP,
        kinds.CorrectRound: frozenset({BETTING, DEALING}),
        kinds.VoidRound: frozenset({BETTING, DEALING}),
    },
    DEALING: {
        _SHOE: _INTO_A_COUP,
        StartGame: frozenset({DEALING}),
        kinds.KeyCard: _INTO_A_COUP,
        kinds.CorrectCard: _AFTER_A_COUP,
        kinds.VoidCoup: _AFTER_A_COUP,
        kinds.ResumePlay: _INTO_A_COUP,
        kinds.AcceptShoe: _INTO_A_COUP,
    },
    REVEAL: {
        kinds.Reveal: _INTO_A_COUP,
        kinds.CorrectCard: frozenset({REVEAL}),
        kinds.VoidCoup: _AFTER_A_COUP,
    },
    SETTLED: {
        _METER: _AFTER_A_COUP,  # the award that the next hand waited for is complete
        _GAME: _AFTER_A_COUP,
        kinds.OpenBetting: frozenset({BETTING}),
        kinds.ChangeShoe: frozenset({SHOE_CHANGE}),
        kinds.CloseTable: frozenset({CLOSED}),
        kinds.ResumePlay: _INTO_A_COUP,
        kinds.CorrectRound: _AFTER_A_COUP,
        kinds.VoidRound: _AFTER_A_COUP,
    },
}
"""Phase -> event -> the phases it may lead to."""


def leads_to(phase: Phase, listed: type | str) -> frozenset[Phase]:
    """The phases that an event, by its listing, may lead to; empty if it is not legal."""
    stays = _ALWAYS if phase is LOCKED else _ALWAYS | _UNLOCKED
    return TRANSITIONS[phase].get(listed, frozenset({phase} if listed in stays else ()))


_Handler = Callable[[Turn, Any], None]


def _each(union: Any, listed: str, handler: _Handler) -> dict[type, tuple[type | str, _Handler]]:
    return dict.fromkeys(get_args(union), (listed, handler))


_KINDS: Final[dict[type, tuple[type | str, _Handler]]] = {
    **{order: (order, orders.on_order) for order in get_args(kinds.Order)},
    events.SetWager: (events.SetWager, orders.on_wager),
    events.ServiceStarted: (events.ServiceStarted, orders.on_started),
    events.ConfigurationKeypad: (events.ConfigurationKeypad, orders.on_configuration_keypad),
    **_each(events.Access, _ACCESS, orders.on_access),
    **_each(events.OfTheRecord, _ACCESS, orders.on_record),
    events.DeviceHeard: (_ACCESS, on_device),
    **_each(events.SensorsLink | events.SensorFault, _METER, on_sensors),
    **_each(events.Sensed, _METER, progressive.play),
    **_each(events.BooksOrder, _METER, progressive.keep_books),
    PrintWinPage: (_METER, progressive.print_win_page),
    events.MeterHeard: (_METER, meter_link.heard),
    events.MeterAnswered: (_METER, meter_link.answered),
    events.TableAsked: (_METER, meter_link.serve),
    events.TableRefused: (_METER, meter_link.refuse),
    events.MeterClaimed: (_METER, meter_link.claimed),
    **_each(events.GameOrder, _GAME, progressive.play),
    StartGame: (StartGame, orders.on_start),
}
"""Event -> its listing in `TRANSITIONS`, and its handler; all others are the shoe's."""

_OF_THE_SHOE: Final[tuple[type | str, _Handler]] = (_SHOE, on_shoe_event)

_WHEN: Final = {
    LOCKED: "the table is locked",
    CLOSED: "the table is closed",
    SHOE_CHANGE: "the shoe is being changed",
    BETTING: "betting is open",
    DEALING: "a hand is being dealt",
    REVEAL: "the cards are not revealed yet",
    SETTLED: "the hand is settled",
}


class Table:
    """One table; `state` holds everything."""

    def __init__(self, state: TableState) -> None:
        self.state = state

    @classmethod
    def new(cls, settings: Settings) -> "Table":
        """A table on its first day: locked, without a shoe."""
        return cls(TableState(settings=settings, configured=settings, progressive=progressive.new(settings)))

    def handle(self, event: events.Event) -> list[Effect]:
        """Handle one event and return its effects, in order.

        Raises:
            RefusedError: an order, a wager or a start that is not allowed now; nothing has changed.
        """
        before = self.state.phase
        listed, handler = _KINDS.get(type(event), _OF_THE_SHOE)
        allowed = leads_to(before, listed)
        if not allowed:
            raise RefusedError(
                "betting_closed" if isinstance(event, events.SetWager) else "not_now",
                f"not now: {_WHEN[before]}",
            )
        refuse_unapproved(self.state, event)  # first, because other refusals can disclose hidden cards
        turn = Turn(self.state)
        handler(turn, event)
        if self.state.award_waits and not turn.state.award_waits:
            go_on_after_award(turn)
        after = turn.state.phase
        if after not in allowed:
            raise AssertionError(
                f"{event.kind} led from {before} to {after}, which the transition table forbids"
            )
        self.state = turn.state
        return turn.effects

    def fail(self, event: events.Event, name: str) -> tuple[list[Effect], RefusedError | None]:
        """Note an event that `handle` failed at, and return the effects, and the answer to a request; see `failing`."""
        turn = Turn(self.state)
        refusal = note_failure(turn, event, name)
        self.state = turn.state
        return turn.effects, refusal
