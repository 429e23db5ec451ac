"""What both procedures at a table have in common: sensors, the hand that was dealt, and hand buttons.

A procedure is one machine a table. What it is told comes from the sensors, the dealer, the supervisor and the table's
cards; what it answers are the events of the progressive. Whoever joins the two carries out both or neither: an award
that the progressive refuses was not confirmed at the table either.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

from controller.baccarat.coup import Side
from controller.progressive.events import Contribute, EndRound, SeatWager
from controller.progressive.refusal import RefusedError
from controller.progressive.value import Value

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
    """The round's cards are known, or were corrected: `winners` have won the tier `rule` of the meter.

    `winners` may be any seats whose base wager won; those without a progressive wager win nothing. `rule` is None where
    the hand wins nothing of the meter, as of a misdeal. Where nobody recorded the base wagers it is not `certain` who of the
    `winners` has one that won, on the hand `side`: the dealer sees it.
    """

    rule: str | None = None
    winners: tuple[int, ...] = ()
    certain: bool = True
    side: Side | None = None
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
class Won:
    """The tier that the hand on `side` won of the meter, and the seats that won it; that can have won it if not `certain`."""

    rule: str
    seats: tuple[int, ...]
    certain: bool = True
    side: Side | None = None


@dataclass(frozen=True, kw_only=True)
class Hand(Value):
    """A table's sensors and its last round.

    - `stake`: what a wager on a sensor is worth, in minor units.
    - `sensors`: the seats with a wager on their sensor, as far as it was recognised.
    - `spent`: those where one lies that sensors latched, or that was voided: it must go, and one come, to be a wager again.
    - `round`: the last one started, 0 before the first; `wagers`: the seats with a wager in it.
    - `won`: what it won of the meter by its cards; `selected`: whose hand buttons are on.
    - `awarded`: what was last confirmed of it, which a correction of the cards can make another thing than `won`.
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
        """Whether what was confirmed is not what the cards give, as they are since corrected."""
        return self.awarded is not None and (self.won is None or self.open)


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
    won = Won(event.rule, seats, event.certain, event.side) if event.rule is not None and seats else None
    if not event.certain and hand.won is not None and won is not None:
        confirmed_otherwise = hand.awarded is not None and won.rule != hand.awarded.rule
        if confirmed_otherwise or won.side is not hand.won.side:
            seats = ()  # whose hand won is for the dealer to say anew
    return hand.but(won=won, selected=tuple(seat for seat in hand.selected if seat in seats))


def take_back(hand: Hand) -> Hand:
    """What was confirmed was backed out at the Game Manager: it can be confirmed as it should have been."""
    return hand.but(awarded=None, selected=())


def press(hand: Hand, event: HandButton) -> Hand:
    """A hand button is on, or off again.

    Raises:
        RefusedError: the seat has no progressive wager in this round, or its hand did not win.
    """
    seat = event.seat
    if seat not in hand.wagers:
        raise RefusedError("no_wager", f"seat {seat} has no progressive wager in round {hand.round}")
    if hand.won is None or seat not in hand.won.seats:
        raise RefusedError(
            "not_won", f"the hand of seat {seat} won nothing of the meter in round {hand.round}"
        )
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
    missing = [str(seat) for seat in hand.won.seats if seat not in hand.selected]
    if missing and hand.won.certain:
        raise RefusedError(
            "hand_missing",
            f"seat {' and '.join(missing)} won as well: press its hand button too, or correct the round",
        )
    awarded = replace(hand.won, seats=hand.selected)
    return hand.but(awarded=awarded), awarded


def end(hand: Hand) -> tuple[Hand, EndRound]:
    """The round is over; it is kept, for its cards can still be corrected.

    Raises:
        RefusedError: it won what has not been confirmed, by the cards or by a hand button.
    """
    seats = hand.won.seats if hand.won is not None and hand.won.certain else hand.selected
    if hand.won is not None and hand.open and seats:
        raise RefusedError(
            "award_unconfirmed",
            f"the award {hand.won.rule} of seat {' and '.join(map(str, seats))} is not confirmed: a supervisor must "
            "confirm it",
        )
    return hand.but(selected=()), EndRound(hand.table, hand.round)


def _with(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(sorted({*seats, seat}))


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(each for each in seats if each != seat)
