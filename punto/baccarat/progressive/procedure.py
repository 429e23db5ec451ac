"""The part that both procedures at a table share: sensors, the dealt hand, and hand buttons.

Each table has one procedure machine. Its input comes from the sensors, the dealer, the supervisor and the
table's cards; its output is events for the progressive. The caller carries out both or neither: if the
progressive refuses an award, the award is not confirmed at the table either.

An event is legal in a step if the procedure's `TRANSITIONS` lists it there, and leads to one of the steps
listed with it; `REFUSED` lists all others, each with its reason. A refused event changes nothing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from punto.baccarat.progressive import events, game_events
from punto.baccarat.progressive.orders import refuse_unreasoned
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.value import Value

Refusal = tuple[str, str]
"""The code and the text of a `RefusedError`."""

NO_GAME: Final[Refusal] = ("not_started", "the game is not started: press START GAME before this order")
HAND_NOT_OVER: Final[Refusal] = (
    "hand_not_over",
    "the hand is not over: finish dealing the hand before this order",
)
NO_HAND_YET: Final[Refusal] = (
    "no_hand_selected",
    "no seat can be selected yet: finish dealing the hand, then select the seat",
)
OF_NO_ROUND: Final[Refusal] = (
    "of_no_round",
    "no award of the last round is booked, so there is nothing to take back",
)
ALREADY_CONFIRMED: Final[Refusal] = (
    "already_confirmed",
    "this award is confirmed and logged: if the award is wrong, have it backed out at the Game Manager",
)


class Step(StrEnum):
    """The progress of a round.

    - LOGGED: with Aquarius, the award is fixed and the meter is not adjusted for it yet.
    - CONFIRMED: with Nexus, the award awaits a card or a signature.
    - ADJUSTED: the award is logged and booked.

    NOBODY WON goes through the same steps as an award, but books nothing.
    """

    BETTING = "betting"
    PLAYING = "playing"
    SETTLING = "settling"
    LOGGED = "logged"
    CONFIRMED = "confirmed"
    ADJUSTED = "adjusted"


BETTING, PLAYING, SETTLING, LOGGED, CONFIRMED, ADJUSTED = Step

Transitions = dict[Step, dict[type, frozenset[Step]]]
"""Step -> event -> the steps it may lead to."""
Refusals = dict[Step, dict[type, Refusal]]
"""Step -> event -> why it is not legal then."""

_SENSED: Final = {
    step: dict.fromkeys((game_events.WagerLifted, game_events.WagerVoided), frozenset({step}))
    for step in Step
}

TRANSITIONS: Final[Transitions] = {
    BETTING: {
        **_SENSED[BETTING],
        game_events.WagerPlaced: frozenset({BETTING}),
        game_events.StartGame: frozenset({PLAYING}),
        game_events.HandDecided: frozenset({BETTING, SETTLING}),  # the last round's cards were corrected
        game_events.AwardTakenBack: frozenset({BETTING, SETTLING}),
        game_events.ReopenGame: frozenset({SETTLING}),
    },
    PLAYING: {
        **_SENSED[PLAYING],
        game_events.HandDecided: frozenset({SETTLING}),
    },
    SETTLING: {
        **_SENSED[SETTLING],
        game_events.HandDecided: frozenset({SETTLING}),
        game_events.AwardTakenBack: frozenset({SETTLING}),
        game_events.HandButton: frozenset({SETTLING}),
    },
    LOGGED: _SENSED[LOGGED],
    CONFIRMED: _SENSED[CONFIRMED],
    ADJUSTED: {
        **_SENSED[ADJUSTED],
        game_events.HandDecided: frozenset({ADJUSTED, SETTLING}),
        game_events.AwardTakenBack: frozenset({SETTLING}),
    },
}
"""The rows that both procedures have."""

_STARTED: Final[dict[type, Refusal]] = {
    game_events.WagerPlaced: (
        "after_start",
        "the game is already started: return this wager, because it does not count",
    ),
    game_events.StartGame: (
        "already_started",
        "this game is already started: end this game before you start the next one",
    ),
}
_NOT_OVER: Final[dict[type, Refusal]] = {
    **_STARTED,
    game_events.ReopenGame: ("not_over", "this game is not over, so it cannot be reopened"),
}

REFUSED: Final[Refusals] = {
    BETTING: dict.fromkeys((game_events.HandButton, game_events.NobodyWon), NO_GAME),
    PLAYING: {
        **_STARTED,
        **dict.fromkeys((game_events.HandButton, game_events.NobodyWon), HAND_NOT_OVER),
        game_events.AwardTakenBack: OF_NO_ROUND,
        game_events.ReopenGame: (
            "already_started",
            (
                "the next game is already started, so the previous game cannot be reopened: resolve the award of the previous game at "
                "the Game Manager"
            ),
        ),
    },
    SETTLING: _NOT_OVER,
    LOGGED: _NOT_OVER,
    CONFIRMED: _NOT_OVER,
    ADJUSTED: {
        **_NOT_OVER,
        **dict.fromkeys((game_events.HandButton, game_events.NobodyWon), ALREADY_CONFIRMED),
    },
}
"""The refusals that both procedures have."""

_Row = TypeVar("_Row")


def with_own(
    shared: dict[Step, dict[type, _Row]], own: dict[Step, dict[type, _Row]]
) -> dict[Step, dict[type, _Row]]:
    """The rows of a procedure: for each of its steps the shared ones and its own."""
    return {step: {**shared[step], **rows} for step, rows in own.items()}


@dataclass(frozen=True, kw_only=True)
class Hand(Value):
    """A table's sensors and its last round.

    - `stake`: what a wager on a sensor is worth, in minor units.
    - `sensors`: the seats with a detected wager on their sensor.
    - `spent`: the seats whose wager on the sensor was latched or voided: lift it and place one again to
      wager.
    - `round`: the last one started, 0 before the first; `wagers`: the seats with a wager in it.
    - `won`: the award of its cards, of the meter or from the tray; `selected`: seats whose hand buttons are
      on.
    - `awarded`: the last confirmed award of it, which a correction of the cards can make differ from `won`;
      without seats if NOBODY WON was confirmed.
    """

    table: str
    stake: int
    sensors: tuple[int, ...] = ()
    spent: tuple[int, ...] = ()
    round: int = 0
    wagers: tuple[int, ...] = ()
    won: events.Won | None = None
    selected: tuple[int, ...] = ()
    awarded: events.Won | None = None

    @property
    def dealer_confirms(self) -> bool:
        """Whether the dealer alone may confirm the award of the winning or selected hands."""
        if self.won is None:
            return False
        seats = self.won.seats if self.won.certain else self.selected or self.won.seats
        return len(seats) <= self.won.dealer_up_to

    @property
    def open(self) -> bool:
        """Whether it won, or can have won, an award that is not confirmed."""
        won, awarded = self.won, self.awarded
        if won is None or awarded is None:
            return won is not None
        return (won.rule, won.side) != (awarded.rule, awarded.side) or (
            won.certain and won.seats != awarded.seats
        )

    @property
    def award_differs(self) -> bool:
        """Whether the confirmed award differs from the award of the cards, as corrected since."""
        return self.awarded is not None and not self.denied and (self.won is None or self.open)

    @property
    def denied(self) -> bool:
        """Whether NOBODY WON was confirmed."""
        return self.awarded is not None and not self.awarded.seats


@dataclass(frozen=True, kw_only=True)
class State(Value):
    """A table's step and its hand. It can be stored and restored."""

    hand: Hand
    step: Step = BETTING


S = TypeVar("S", bound=State)


class Procedure(ABC, Generic[S]):
    """One table's procedure; `state` holds everything."""

    states: ClassVar[type[Any]]
    transitions: ClassVar[Transitions]
    refused: ClassVar[Refusals]

    def __init__(self, state: S) -> None:
        self.state = state

    @classmethod
    def new(cls, table: str, stake: int) -> Self:
        """A table before its first round; a wager on a sensor is worth `stake` minor units."""
        return cls(cls.states(hand=Hand(table=table, stake=stake)))

    @abstractmethod
    def own(self, event: Any) -> tuple[S, list[game_events.Order]]:
        """Return the state after an event that only this procedure has, and the events for the progressive."""

    @classmethod
    def knows(cls, event: object) -> bool:
        """Whether the event can occur with this procedure."""
        return type(event) in cls.transitions[BETTING] | cls.refused[BETTING]

    def handle(self, event: Any) -> list[game_events.Order]:
        """Handle one event and return the events for the progressive.

        Raises:
            RefusedError: the event is not allowed now; nothing has changed.
        """
        before = self.state.step
        allowed = self.transitions[before].get(type(event))
        if allowed is None:
            raise RefusedError(*self.refused[before][type(event)])
        after, orders = self.carry_out(event)
        if after.step not in allowed:
            raise AssertionError(
                f"{event.kind} led from {before} to {after.step}, which the transition table forbids"
            )
        self.state = after
        return orders

    def carry_out(self, event: Any) -> tuple[S, list[game_events.Order]]:  # noqa: PLR0911 - flat: one case an event
        """Return the state after an event that is legal now, and the events for the progressive."""
        state, hand = self.state, self.state.hand
        match event:
            case game_events.WagerPlaced() | game_events.WagerLifted() | game_events.WagerVoided():
                return state.replace(hand=sense(hand, event)), []
            case game_events.StartGame():
                started, contribution = start(hand, event)
                return state.replace(hand=started, step=PLAYING), [contribution]
            case game_events.HandDecided():
                return self._decided(event)
            case game_events.AwardTakenBack():
                return self._taken_back()
            case game_events.HandButton():
                return state.replace(hand=press(hand, event), step=SETTLING), []
            case game_events.ReopenGame():
                reopened, order = reopen(hand, event)
                return state.replace(hand=reopened, step=SETTLING), [order]
            case _:
                return self.own(event)

    def _decided(self, event: game_events.HandDecided) -> tuple[S, list[game_events.Order]]:
        state = self.state
        hand = decide(state.hand, event)
        unchanged = state.step is CONFIRMED and hand == state.hand
        settled = state.step in {BETTING, ADJUSTED} and (not hand.open or hand.won == state.hand.won)
        return (state.replace(hand=hand), []) if unchanged or settled else self._settle_again(hand)

    def _taken_back(self) -> tuple[S, list[game_events.Order]]:
        hand = take_back(self.state.hand)
        if self.state.step is BETTING and hand.won is None:
            return self.state.replace(hand=hand), []
        return self._settle_again(hand)

    def _settle_again(self, hand: Hand) -> tuple[S, list[game_events.Order]]:
        """Return to settling the hand; reopen its round if it was over."""
        reopened = [events.ReopenRound(hand.table, hand.round)] if self.state.step is BETTING else []
        return self.state.replace(hand=hand, step=SETTLING), [*reopened]


def sense(
    hand: Hand, event: game_events.WagerPlaced | game_events.WagerLifted | game_events.WagerVoided
) -> Hand:
    """Set a sensor's wager for the coming game: present, absent, or void until it is placed again.

    Once a game is started its wagers stand as counted, whatever the sensors report.
    """
    put = _with if isinstance(event, game_events.WagerPlaced) else _without
    spend = _with if isinstance(event, game_events.WagerVoided) else _without
    return hand.replace(sensors=put(hand.sensors, event.seat), spent=spend(hand.spent, event.seat))


def start(hand: Hand, event: game_events.StartGame) -> tuple[Hand, events.Contribute]:
    """Assign the wagers on the sensors to this round only: each must be placed again for the next."""
    latched = event.seats or ()
    seats = hand.sensors if event.seats is None else latched
    spent = tuple(sorted({*hand.spent, *latched}))
    started = Hand(table=hand.table, stake=hand.stake, spent=spent, round=event.round, wagers=seats)
    wagers = tuple([events.SeatWager(seat, hand.stake) for seat in seats])
    return started, events.Contribute(hand.table, event.round, wagers)


def decide(hand: Hand, event: game_events.HandDecided) -> Hand:
    """Apply the winners by the cards; a hand button stays on if its hand still wins."""
    seats = tuple(seat for seat in hand.wagers if event.won is not None and seat in event.won.seats)
    won = replace(event.won, seats=seats) if event.won is not None and seats else None
    if won is not None and not won.certain and hand.won is not None:
        confirmed_otherwise = hand.awarded is not None and won.rule != hand.awarded.rule
        if confirmed_otherwise or won.side is not hand.won.side:
            seats = ()  # the dealer must select the winning hands again
    decided = hand.replace(won=won, selected=tuple(seat for seat in hand.selected if seat in seats))
    # NOBODY WON was confirmed for other cards than these.
    return decided.replace(awarded=None) if decided.denied and decided.open else decided


def take_back(hand: Hand) -> Hand:
    """Clear the confirmation that the Game Manager backed out, so that the correct award can be confirmed."""
    return hand.replace(awarded=None, selected=())


def reopen(hand: Hand, event: game_events.ReopenGame) -> tuple[Hand, events.ReopenRound]:
    """Return the last game to settling, because a seat did win it.

    Raises:
        RefusedError: it did not end with NOBODY WON, or the reason is missing.
    """
    if hand.won is None or not hand.denied:
        raise RefusedError(
            "not_ended_so",
            "only a game that ended with NOBODY WON can be reopened: correct the cards of the last game, or have the award of that "
            "game backed out",
        )
    refuse_unreasoned(event.reason)
    by = events.ReopenedBy(event.who, event.reason, event.approved_by)
    return hand.replace(awarded=None), events.ReopenRound(hand.table, hand.round, by)


def press(hand: Hand, event: game_events.HandButton) -> Hand:
    """Turn a hand button on, or off again.

    Raises:
        RefusedError: the seat has no progressive wager in this round, or its hand did not win.
    """
    seat = event.seat
    if seat not in hand.wagers:
        raise RefusedError("no_wager", f"seat {seat} has no progressive wager in round {hand.round}")
    if hand.won is None or seat not in hand.won.seats:
        raise RefusedError("not_won", f"the hand of seat {seat} won no award in round {hand.round}")
    flip = _without if seat in hand.selected else _with
    return hand.replace(selected=flip(hand.selected, seat))


def confirm(hand: Hand) -> tuple[Hand, events.Won]:
    """The award that a supervisor confirms.

    Raises:
        RefusedError: no hand is selected, or another winning hand is not selected and would miss its share.
    """
    if hand.won is None or not hand.selected:
        raise RefusedError(
            "no_hand_selected", "no hand is selected: press the hand button of each seat that won"
        )
    missing = tuple(seat for seat in hand.won.seats if seat not in hand.selected)
    if missing and hand.won.certain:
        raise RefusedError(
            "hand_missing",
            f"seat {_and(missing)} also won: press the hand button of each winning seat, or correct the round",
        )
    awarded = replace(hand.won, seats=hand.selected)
    return hand.replace(awarded=awarded), awarded


def deny(hand: Hand) -> tuple[Hand, events.Won]:
    """The award that a supervisor confirms as won by nobody, if people decide who won.

    Raises:
        RefusedError: no award can have been won, the cards say who won, an award of the hand is confirmed, or
            a hand is selected.
    """
    won = hand.won
    if won is None:
        raise RefusedError("not_won", f"the hand won no award in round {hand.round}: end the game")
    if won.certain:
        raise RefusedError(
            "cards_say",
            f"the recorded base wagers and the cards show that seat {_and(won.seats)} won: "
            "have the award confirmed, or correct the round",
        )
    if hand.awarded is not None:
        raise RefusedError(*ALREADY_CONFIRMED)
    if hand.selected:
        raise RefusedError(
            "hand_selected",
            f"the hand button of seat {_and(hand.selected)} is on: if the hand did not win, press the button again; if the hand "
            "won, have the award confirmed",
        )
    return hand.replace(awarded=replace(won, seats=())), won


def log(
    hand: Hand, event: object, confirmation: events.Confirmation
) -> tuple[Hand, events.LockAward | events.DenyAward]:
    """The hand after an award, or NOBODY WON by the event `NobodyWon`, is confirmed; and its entry in the books.

    Raises:
        RefusedError: it cannot be confirmed, as in `confirm` and `deny`, or NOBODY WON has no reason.
    """
    if isinstance(event, game_events.NobodyWon):
        refuse_unreasoned(event.reason)
        denied, won = deny(hand)
        why = event.reason, event.approved_by
        return denied, events.DenyAward(hand.table, hand.round, won, *why, confirmation)
    awarded, won = confirm(hand)
    return awarded, events.LockAward(hand.table, hand.round, won, confirmation)


def end(hand: Hand, system: str) -> tuple[Hand, events.EndRound]:
    """End the round; it is kept, because its cards can still be corrected. `system` says how to confirm NOBODY WON.

    A progressive winner is never passed over: the dealer "shall press the appropriate hand button" and "shall
    then contact a supervisor" (sheet 000, 7c-7d).

    Raises:
        RefusedError: it won, or can have won, an award that is not confirmed.
    """
    won = hand.won
    if won is not None and hand.open:
        seats = won.seats if won.certain else hand.selected
        raise RefusedError(
            "award_unconfirmed",
            f"the award of seat {_and(seats)} is not confirmed: a supervisor must confirm this award"
            if seats
            else f"seat {_and(won.seats)} can have won an award: press the hand button of each seat whose Player or "
            f"Banker wager won, and have the award confirmed. If no such wager won, {system}",
        )
    return hand.replace(selected=()), events.EndRound(hand.table, hand.round)


def _and(seats: tuple[int, ...]) -> str:
    return " and ".join(map(str, seats))


def _with(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(sorted({*seats, seat}))


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(each for each in seats if each != seat)
