"""What both procedures at a table have in common: sensors, the hand that was dealt, and hand buttons.

A procedure is one machine a table. What it is told comes from the sensors, the dealer, the supervisor and the table's
cards; what it answers are the events of the progressive. Whoever joins the two carries out both or neither: an award
that the progressive refuses was not confirmed at the table either.

The law: an event is legal in a step if the procedure's `TRANSITIONS` lists it there, and leads to one of the steps listed
with it; all others are in its `REFUSED`, each with its reason. What is refused changes nothing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Final, Generic, Literal, Self, TypeVar

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.progressive.events import (
    Authority,
    BookAward,
    Contribute,
    DenyAward,
    EndRound,
    LockAward,
    ReopenedBy,
    ReopenRound,
    SeatWager,
    Won,
)
from punto.baccarat.progressive.orders import refuse_unreasoned
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.value import Value

Refusal = tuple[str, str]
"""The code and the text of a `RefusedError`."""

AFTER_START: Final[Refusal] = (
    "after_start",
    "the game has been started: a wager that comes now is not counted, give it back until the next round",
)
ALREADY_STARTED: Final[Refusal] = ("already_started", "this game has been started: end it before the next")
NO_GAME: Final[Refusal] = ("not_started", "no game has been started: press START GAME first")
HAND_NOT_OVER: Final[Refusal] = ("hand_not_over", "the hand is not over: deal it to its end first")
NO_HAND_YET: Final[Refusal] = (
    "no_hand_selected",
    "no hand is selected, for none is over: deal one to its end first",
)
OF_NO_ROUND: Final[Refusal] = (
    "of_no_round",
    "no award of the last round is booked that could be taken back",
)
ALREADY_CONFIRMED: Final[Refusal] = (
    "already_confirmed",
    "this award is confirmed and logged: if it is wrong, have it backed out at the Game Manager",
)
NOT_OVER: Final[Refusal] = ("not_over", "this game is not over: it need not be opened again")
TOO_LATE: Final[Refusal] = (
    "already_started",
    "the next game has been started, so the one before cannot be opened again: see to it at the Game Manager",
)

# --- what happens at a table, whatever the procedure


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A sensor has recognised a wager."""

    seat: int
    kind: Literal["wager_placed"] = "wager_placed"


@dataclass(frozen=True, slots=True)
class WagerLifted:
    """A sensor has nothing on it any more."""

    seat: int
    kind: Literal["wager_lifted"] = "wager_lifted"


@dataclass(frozen=True, slots=True)
class WagerVoided:
    """What lies on a sensor is no wager of the coming game, for nobody can say that it is one: it must be laid anew."""

    seat: int
    kind: Literal["wager_voided"] = "wager_voided"


@dataclass(frozen=True, slots=True)
class StartGame:
    """The dealer presses START GAME (COIN IN on older keypads) for this round.

    `seats` are those with a wager on their sensor by then, as the sensors themselves latched them; None where there are no
    sensors that could, and what was recognised is what counts.
    """

    round: int
    who: str
    seats: tuple[int, ...] | None = None
    kind: Literal["start_game"] = "start_game"


@dataclass(frozen=True, slots=True)
class HandDecided:
    """The round's cards are known, or were corrected: `winners` have won an award, of the tier `rule`.

    `winners` may be any seats whose base wager won; those without a progressive wager win nothing. `rule` is None where
    the hand wins no award, as of a misdeal. Where nobody recorded the base wagers it is not `certain` who of the
    `winners` has one that won, on the hand `side`: the dealer sees it. The rest is as of `Won`.
    """

    rule: str | None = None
    winners: tuple[int, ...] = ()
    certain: bool = True
    side: Side | None = None
    dealer_up_to: int = 0
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    kind: Literal["hand_decided"] = "hand_decided"


@dataclass(frozen=True, slots=True)
class AwardTakenBack:
    """The award of the last round was backed out at the Game Manager."""

    kind: Literal["award_taken_back"] = "award_taken_back"


@dataclass(frozen=True, slots=True)
class HandButton:
    """The dealer presses a seat's hand button; pressing it again takes it back."""

    seat: int
    who: str
    kind: Literal["hand_button"] = "hand_button"


@dataclass(frozen=True, slots=True)
class NobodyWon:
    """`who` confirms that no seat won the award that the hand can have won, and says why; `approved_by` if another one agrees."""

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["nobody_won"] = "nobody_won"


@dataclass(frozen=True, slots=True)
class ReopenGame:
    """The table's last game, which ended with nobody as its winner, is opened again; by two people always."""

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["reopen_game"] = "reopen_game"


Event = (
    WagerPlaced
    | WagerLifted
    | WagerVoided
    | StartGame
    | HandDecided
    | AwardTakenBack
    | HandButton
    | NobodyWon
    | ReopenGame
)
"""What happens with either procedure."""
Order = Contribute | ReopenRound | LockAward | DenyAward | BookAward | EndRound
"""What a procedure asks of the progressive."""


# --- how far a round is


class Step(StrEnum):
    """How far a round is.

    - LOGGED: with Aquarius, the award is fixed and the meter is not adjusted for it yet.
    - CONFIRMED: with Nexus, a card or a signature is awaited.
    - ADJUSTED: the award is logged and booked.

    That nobody won goes the same steps as an award, and nothing is booked.
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
"""Step -> event -> why it cannot be then."""


@dataclass(frozen=True, kw_only=True)
class Hand(Value):
    """A table's sensors and its last round.

    - `stake`: what a wager on a sensor is worth, in minor units.
    - `sensors`: the seats with a wager on their sensor, as far as it was recognised.
    - `spent`: those where one lies that sensors latched, or that was voided: it must go, and one come, to be a wager again.
    - `round`: the last one started, 0 before the first; `wagers`: the seats with a wager in it.
    - `won`: what it won by its cards, of the meter or from the tray; `selected`: whose hand buttons are on.
    - `awarded`: what was last confirmed of it, which a correction of the cards can make another thing than `won`; of no
      seat where it was confirmed that nobody won.
    """

    table: str
    stake: int
    sensors: tuple[int, ...] = ()
    spent: tuple[int, ...] = ()
    round: int = 0
    wagers: tuple[int, ...] = ()
    won: Won | None = None
    selected: tuple[int, ...] = ()
    awarded: Won | None = None

    @property
    def dealer_confirms(self) -> bool:
        """Whether the dealer alone may confirm the award of the hands that won, or that are selected."""
        if self.won is None:
            return False
        seats = self.won.seats if self.won.certain else self.selected or self.won.seats
        return len(seats) <= self.won.dealer_up_to

    @property
    def open(self) -> bool:
        """Whether it won, or can have won, what has not been confirmed."""
        won, awarded = self.won, self.awarded
        if won is None or awarded is None:
            return won is not None
        return (won.rule, won.side) != (awarded.rule, awarded.side) or (
            won.certain and won.seats != awarded.seats
        )

    @property
    def astray(self) -> bool:
        """Whether an award was confirmed that is not what the cards give, as they are since corrected."""
        return self.awarded is not None and not self.denied and (self.won is None or self.open)

    @property
    def denied(self) -> bool:
        """Whether it was confirmed that nobody won."""
        return self.awarded is not None and not self.awarded.seats


@dataclass(frozen=True, kw_only=True)
class State(Value):
    """A table's step and its hand. It can be stored and taken up again."""

    hand: Hand
    step: Step = BETTING


S = TypeVar("S", bound=State)


class Procedure(ABC, Generic[S]):
    """One table's procedure. `state` is all that it is."""

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
    def own(self, event: Any) -> tuple[S, list[Order]]:
        """The state after an event that only this procedure has, and what it asks of the progressive."""

    @classmethod
    def knows(cls, event: object) -> bool:
        """Whether it is anything that can happen with this procedure."""
        return type(event) in cls.transitions[BETTING] | cls.refused[BETTING]

    def handle(self, event: Any) -> list[Order]:
        """Handle one event and return what it asks of the progressive.

        Raises:
            RefusedError: it cannot be now; nothing has changed.
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

    def carry_out(self, event: Any) -> tuple[S, list[Order]]:  # noqa: PLR0911 - flat: one case an event
        """The state after an event that is legal now, and what it asks of the progressive."""
        state, hand = self.state, self.state.hand
        match event:
            case WagerPlaced() | WagerLifted() | WagerVoided():
                return state.but(hand=sense(hand, event)), []
            case StartGame():
                started, contribution = start(hand, event)
                return state.but(hand=started, step=PLAYING), [contribution]
            case HandDecided():
                return self._decided(event)
            case AwardTakenBack():
                return self._taken_back()
            case HandButton():
                return state.but(hand=press(hand, event), step=SETTLING), []
            case ReopenGame():
                reopened, order = reopen(hand, event)
                return state.but(hand=reopened, step=SETTLING), [order]
            case _:
                return self.own(event)

    def _decided(self, event: HandDecided) -> tuple[S, list[Order]]:
        state = self.state
        hand = decide(state.hand, event)
        unchanged = state.step is CONFIRMED and hand == state.hand
        settled = state.step in {BETTING, ADJUSTED} and (not hand.open or hand.won == state.hand.won)
        return (state.but(hand=hand), []) if unchanged or settled else self._settle_again(hand)

    def _taken_back(self) -> tuple[S, list[Order]]:
        hand = take_back(self.state.hand)
        if self.state.step is BETTING and hand.won is None:
            return self.state.but(hand=hand), []
        return self._settle_again(hand)

    def _settle_again(self, hand: Hand) -> tuple[S, list[Order]]:
        """To the hand's settling; its round is opened again if it was over."""
        reopened = [ReopenRound(hand.table, hand.round)] if self.state.step is BETTING else []
        return self.state.but(hand=hand, step=SETTLING), [*reopened]


def sense(hand: Hand, event: WagerPlaced | WagerLifted | WagerVoided) -> Hand:
    """What a sensor has on it is a wager of the coming game, or nothing, or in no game until it was laid anew.

    Once a game is started its wagers stand as they were counted, whatever is on the sensors.
    """
    put = _with if isinstance(event, WagerPlaced) else _without
    spend = _with if isinstance(event, WagerVoided) else _without
    return hand.but(sensors=put(hand.sensors, event.seat), spent=spend(hand.spent, event.seat))


def start(hand: Hand, event: StartGame) -> tuple[Hand, Contribute]:
    """The wagers on the sensors are those of this round, and of no other: each is laid anew for the next."""
    latched = event.seats or ()
    seats = hand.sensors if event.seats is None else latched
    spent = tuple(sorted({*hand.spent, *latched}))
    started = Hand(table=hand.table, stake=hand.stake, spent=spent, round=event.round, wagers=seats)
    wagers = tuple([SeatWager(seat, hand.stake) for seat in seats])
    return started, Contribute(hand.table, event.round, wagers)


def decide(hand: Hand, event: HandDecided) -> Hand:
    """The cards say who won what; a hand button stays on where its hand still wins."""
    seats = tuple(seat for seat in hand.wagers if event.rule is not None and seat in event.winners)
    won = None
    if event.rule is not None and seats:
        cards = event.player, event.banker
        won = Won(event.rule, seats, event.certain, event.side, event.dealer_up_to, *cards)
    if not event.certain and hand.won is not None and won is not None:
        confirmed_otherwise = hand.awarded is not None and won.rule != hand.awarded.rule
        if confirmed_otherwise or won.side is not hand.won.side:
            seats = ()  # whose hand won is for the dealer to say anew
    decided = hand.but(won=won, selected=tuple(seat for seat in hand.selected if seat in seats))
    # That nobody won was said of other cards than these.
    return decided.but(awarded=None) if decided.denied and decided.open else decided


def take_back(hand: Hand) -> Hand:
    """What was confirmed was backed out at the Game Manager: it can be confirmed as it should have been."""
    return hand.but(awarded=None, selected=())


def reopen(hand: Hand, event: ReopenGame) -> tuple[Hand, ReopenRound]:
    """The last game is to be settled again, for somebody did win it.

    Raises:
        RefusedError: it did not end with nobody as its winner, or no reason is given.
    """
    if hand.won is None or not hand.denied:
        raise RefusedError(
            "not_ended_so",
            "the last game did not end with nobody as its winner: correct its cards, or have its award backed out",
        )
    refuse_unreasoned(event.reason)
    by = ReopenedBy(event.who, event.reason, event.approved_by)
    return hand.but(awarded=None), ReopenRound(hand.table, hand.round, by)


def press(hand: Hand, event: HandButton) -> Hand:
    """A hand button is on, or off again.

    Raises:
        RefusedError: the seat has no progressive wager in this round, or its hand did not win.
    """
    seat = event.seat
    if seat not in hand.wagers:
        raise RefusedError("no_wager", f"seat {seat} has no progressive wager in round {hand.round}")
    if hand.won is None or seat not in hand.won.seats:
        raise RefusedError("not_won", f"the hand of seat {seat} won no award in round {hand.round}")
    flip = _without if seat in hand.selected else _with
    return hand.but(selected=flip(hand.selected, seat))


def confirm(hand: Hand) -> tuple[Hand, Won]:
    """What a supervisor confirms.

    Raises:
        RefusedError: no hand is selected, or one that won as well is not: it would have no part in the award.
    """
    if hand.won is None or not hand.selected:
        raise RefusedError(
            "no_hand_selected", "no hand is selected: press the hand button of each seat that won"
        )
    missing = tuple(seat for seat in hand.won.seats if seat not in hand.selected)
    if missing and hand.won.certain:
        raise RefusedError(
            "hand_missing",
            f"seat {_and(missing)} won as well: press its hand button too, or correct the round",
        )
    awarded = replace(hand.won, seats=hand.selected)
    return hand.but(awarded=awarded), awarded


def deny(hand: Hand) -> tuple[Hand, Won]:
    """What a supervisor confirms that nobody won, where it is for people to say who did.

    Raises:
        RefusedError: no award can have been won, the cards say who won, an award of the hand is confirmed, or a hand is selected.
    """
    won = hand.won
    if won is None:
        raise RefusedError("not_won", f"the hand won no award in round {hand.round}: end the game")
    if won.certain:
        raise RefusedError(
            "cards_say",
            f"the base wagers are on the record, so the cards say who won: the hand of seat {_and(won.seats)}; have the "
            "award confirmed, or correct the round",
        )
    if hand.awarded is not None:
        raise RefusedError(*ALREADY_CONFIRMED)
    if hand.selected:
        raise RefusedError(
            "hand_selected",
            f"the hand button of seat {_and(hand.selected)} is on: press it again if that hand did not win, or have the award "
            "confirmed",
        )
    return hand.but(awarded=replace(won, seats=())), won


def log(hand: Hand, event: object, authority: Authority) -> tuple[Hand, LockAward | DenyAward]:
    """The hand after an award, or by the event `NobodyWon` that nobody won it, is confirmed; and its entry in the books.

    Raises:
        RefusedError: it cannot be confirmed, as of `confirm` and `deny`, or no reason is given that nobody won.
    """
    if isinstance(event, NobodyWon):
        refuse_unreasoned(event.reason)
        denied, won = deny(hand)
        why = event.reason, event.approved_by
        return denied, DenyAward(hand.table, hand.round, won, *why, authority)
    awarded, won = confirm(hand)
    return awarded, LockAward(hand.table, hand.round, won, authority)


def end(hand: Hand, system: str) -> tuple[Hand, EndRound]:
    """The round is over; it is kept, for its cards can still be corrected. `system` says how it is confirmed that nobody won.

    A progressive winner is never passed over: the dealer "shall press the appropriate hand button" and "shall then contact a
    supervisor" (sheet 000, 7c-7d).

    Raises:
        RefusedError: it won, or can have won, what has not been confirmed.
    """
    won = hand.won
    if won is not None and hand.open:
        seats = won.seats if won.certain else hand.selected
        raise RefusedError(
            "award_unconfirmed",
            f"the award {won.rule} of seat {_and(seats)} is not confirmed: a supervisor must confirm it"
            if seats
            else f"the hand can have won {won.rule} for seat {_and(won.seats)}: press the hand button of each seat whose Player "
            f"or Banker wager won, and have the award confirmed; if none did, {system}",
        )
    return hand.but(selected=()), EndRound(hand.table, hand.round)


def _and(seats: tuple[int, ...]) -> str:
    return " and ".join(map(str, seats))


def _with(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(sorted({*seats, seat}))


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(each for each in seats if each != seat)
