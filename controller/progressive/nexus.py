"""How a round goes with Nexus Command: a dealer display, and cards (sheet 000, Nexus Command, dealing procedure).

The law: an event is legal in a step if `TRANSITIONS` lists it there, and leads to one of the steps listed with it; all
others are in `REFUSED`, each with its reason. What is refused changes nothing.

The swipe of a card logs an award and adjusts the meter at once (7e). So there is no step between the two, and a table
that loses its power stands before both or after both. Whether the card is enough for the award is the progressive's
to say, which knows what it comes to.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeGuard

from controller.progressive.events import CardLevel, Contribute, EndRound, LockAward, ReopenRound
from controller.progressive.procedure import (
    AFTER_START,
    ALREADY_CONFIRMED,
    ALREADY_STARTED,
    HAND_NOT_OVER,
    NO_GAME,
    NO_HAND_YET,
    OF_NO_ROUND,
    AwardTakenBack,
    Hand,
    HandButton,
    HandDecided,
    Refusal,
    StartGame,
    WagerLifted,
    WagerPlaced,
    WagerVoided,
    confirm,
    decide,
    end,
    press,
    sense,
    start,
    take_back,
)
from controller.progressive.refusal import RefusedError
from controller.progressive.value import Value


@dataclass(frozen=True, slots=True)
class Confirm:
    """The supervisor presses CONFIRM."""

    who: str
    kind: Literal["confirm"] = "confirm"


@dataclass(frozen=True, slots=True)
class SwipeCard:
    """A card of this level is swiped; it is `who`'s."""

    who: str
    level: CardLevel
    kind: Literal["swipe_card"] = "swipe_card"


@dataclass(frozen=True, slots=True)
class EndGame:
    """The dealer presses END GAME."""

    who: str
    kind: Literal["end_game"] = "end_game"


Event = (
    WagerPlaced
    | WagerLifted
    | WagerVoided
    | StartGame
    | HandDecided
    | AwardTakenBack
    | HandButton
    | Confirm
    | SwipeCard
    | EndGame
)
Order = Contribute | ReopenRound | LockAward | EndRound
"""What it asks of the progressive."""


class Step(StrEnum):
    """How far a round is. CONFIRMED: a card is awaited. ADJUSTED: the award is logged and the meter adjusted."""

    BETTING = "betting"
    PLAYING = "playing"
    SETTLING = "settling"
    CONFIRMED = "confirmed"
    ADJUSTED = "adjusted"


BETTING, PLAYING, SETTLING, CONFIRMED, ADJUSTED = Step

TRANSITIONS: Final[dict[Step, dict[type, frozenset[Step]]]] = {
    BETTING: {
        WagerPlaced: frozenset({BETTING}),
        WagerLifted: frozenset({BETTING}),
        WagerVoided: frozenset({BETTING}),
        StartGame: frozenset({PLAYING}),
        HandDecided: frozenset({BETTING, SETTLING}),  # the last round's cards were corrected
        AwardTakenBack: frozenset({BETTING, SETTLING}),
    },
    PLAYING: {
        WagerLifted: frozenset({PLAYING}),
        WagerVoided: frozenset({PLAYING}),
        HandDecided: frozenset({SETTLING}),
    },
    SETTLING: {
        WagerLifted: frozenset({SETTLING}),
        WagerVoided: frozenset({SETTLING}),
        HandDecided: frozenset({SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        HandButton: frozenset({SETTLING}),
        Confirm: frozenset({CONFIRMED}),
        EndGame: frozenset({BETTING}),
    },
    CONFIRMED: {
        WagerLifted: frozenset({CONFIRMED}),
        WagerVoided: frozenset({CONFIRMED}),
        HandDecided: frozenset({CONFIRMED, SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        HandButton: frozenset({SETTLING}),  # a hand is taken back, and the confirmation with it
        SwipeCard: frozenset({ADJUSTED}),
    },
    ADJUSTED: {
        WagerLifted: frozenset({ADJUSTED}),
        WagerVoided: frozenset({ADJUSTED}),
        HandDecided: frozenset({ADJUSTED, SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        EndGame: frozenset({BETTING}),
    },
}
"""Step -> event -> the steps it may lead to."""

_NOT_CONFIRMED: Final[Refusal] = (
    "not_confirmed",
    "no award is confirmed that a card could complete: select the hands and press CONFIRM first",
)

REFUSED: Final[dict[Step, dict[type, Refusal]]] = {
    BETTING: {
        HandButton: NO_GAME,
        Confirm: NO_HAND_YET,
        SwipeCard: _NOT_CONFIRMED,
        EndGame: NO_GAME,
    },
    PLAYING: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        AwardTakenBack: OF_NO_ROUND,
        HandButton: HAND_NOT_OVER,
        Confirm: NO_HAND_YET,
        SwipeCard: _NOT_CONFIRMED,
        EndGame: HAND_NOT_OVER,
    },
    SETTLING: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        SwipeCard: _NOT_CONFIRMED,
    },
    CONFIRMED: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        Confirm: ("already_confirmed", "this award is confirmed: swipe a card to complete it"),
        EndGame: ("award_unconfirmed", "an award is confirmed and not completed: swipe a card first"),
    },
    ADJUSTED: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        HandButton: ALREADY_CONFIRMED,
        Confirm: ALREADY_CONFIRMED,
        SwipeCard: ALREADY_CONFIRMED,
    },
}
"""Step -> event -> why it cannot be then."""


@dataclass(frozen=True, kw_only=True)
class State(Value):
    """A table with Nexus Command: the step and the hand. It can be stored and taken up again."""

    hand: Hand
    step: Step = BETTING
    kind: Literal["nexus"] = "nexus"


class Nexus:
    """One table's procedure. `state` is all that it is."""

    def __init__(self, state: State) -> None:
        self.state = state

    @classmethod
    def new(cls, table: str, stake: int) -> "Nexus":
        """A table before its first round; a wager on a sensor is worth `stake` minor units."""
        return cls(State(hand=Hand(table=table, stake=stake)))

    @staticmethod
    def knows(event: object) -> TypeGuard[Event]:
        """Whether it is anything that can happen with this procedure."""
        return isinstance(event, Event)

    def handle(self, event: Event) -> list[Order]:
        """Handle one event and return what it asks of the progressive.

        Raises:
            RefusedError: it cannot be now; nothing has changed.
        """
        before = self.state.step
        allowed = TRANSITIONS[before].get(type(event))
        if allowed is None:
            raise RefusedError(*REFUSED[before][type(event)])
        after, orders = _carry_out(self.state, event)
        if after.step not in allowed:
            raise AssertionError(
                f"{event.kind} led from {before} to {after.step}, which the transition table forbids"
            )
        self.state = after
        return orders


def _carry_out(state: State, event: Event) -> tuple[State, list[Order]]:  # noqa: PLR0911 - flat: one case an event
    hand = state.hand
    match event:
        case WagerPlaced() | WagerLifted() | WagerVoided():
            return state.but(hand=sense(hand, event)), []
        case StartGame():
            started, contribution = start(hand, event)
            return State(hand=started, step=PLAYING), [contribution]
        case HandDecided():
            return _decided(state, event)
        case AwardTakenBack():
            return _taken_back(state)
        case HandButton():
            return State(hand=press(hand, event), step=SETTLING), []
        case Confirm():
            confirm(hand)
            return state.but(step=CONFIRMED), []
        case SwipeCard(who=who, level=level):
            awarded, won = confirm(hand)
            lock = LockAward(hand.table, hand.round, won.rule, won.seats, who, level)
            return State(hand=awarded, step=ADJUSTED), [lock]
        case _:  # END GAME
            ended, order = end(hand)
            return State(hand=ended), [order]


def _decided(state: State, event: HandDecided) -> tuple[State, list[Order]]:
    hand = decide(state.hand, event)
    unchanged = state.step is CONFIRMED and hand == state.hand
    settled = state.step in {BETTING, ADJUSTED} and (not hand.open or hand.won == state.hand.won)
    if unchanged or settled:
        return state.but(hand=hand), []
    reopened: list[Order] = [ReopenRound(hand.table, hand.round)] if state.step is BETTING else []
    return State(hand=hand, step=SETTLING), reopened


def _taken_back(state: State) -> tuple[State, list[Order]]:
    hand = take_back(state.hand)
    if state.step is BETTING and hand.won is None:
        return state.but(hand=hand), []
    reopened: list[Order] = [ReopenRound(hand.table, hand.round)] if state.step is BETTING else []
    return state.but(hand=hand, step=SETTLING), reopened
