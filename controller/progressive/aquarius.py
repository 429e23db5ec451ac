"""How a round goes with Aquarius: a keypad, and a supervisor's key (sheet 000, Aquarius, dealing procedure).

The law: an event is legal in a step if `TRANSITIONS` lists it there, and leads to one of the steps listed with it; all
others are in `REFUSED`, each with its reason. What is refused changes nothing.

J-POT logs an award, and the key's way back to RUN adjusts the meter (7e, 7f). So a table that loses its power in
between stands at LOGGED, and goes on from there.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeGuard

from controller.progressive.events import BookAward, Contribute, EndRound, LockAward, ReopenRound
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


class Key(StrEnum):
    """Where the supervisor's key stands."""

    RUN = "run"
    JPH = "jph"


@dataclass(frozen=True, slots=True)
class TurnKey:
    """The supervisor's key is turned."""

    to: Key
    who: str
    kind: Literal["turn_key"] = "turn_key"


@dataclass(frozen=True, slots=True)
class Jpot:
    """The supervisor `who` presses J-POT."""

    who: str
    kind: Literal["jpot"] = "jpot"


@dataclass(frozen=True, slots=True)
class GameOver:
    """The dealer presses GAME OVER."""

    who: str
    kind: Literal["game_over"] = "game_over"


Event = (
    WagerPlaced
    | WagerLifted
    | WagerVoided
    | StartGame
    | HandDecided
    | AwardTakenBack
    | HandButton
    | TurnKey
    | Jpot
    | GameOver
)
Order = Contribute | ReopenRound | LockAward | BookAward | EndRound
"""What it asks of the progressive."""


class Step(StrEnum):
    """How far a round is. LOGGED: the award is fixed and the meter is not adjusted for it yet."""

    BETTING = "betting"
    PLAYING = "playing"
    SETTLING = "settling"
    LOGGED = "logged"
    ADJUSTED = "adjusted"


BETTING, PLAYING, SETTLING, LOGGED, ADJUSTED = Step

TRANSITIONS: Final[dict[Step, dict[type, frozenset[Step]]]] = {
    BETTING: {
        WagerPlaced: frozenset({BETTING}),
        WagerLifted: frozenset({BETTING}),
        WagerVoided: frozenset({BETTING}),
        StartGame: frozenset({PLAYING}),
        HandDecided: frozenset({BETTING, SETTLING}),  # the last round's cards were corrected
        AwardTakenBack: frozenset({BETTING, SETTLING}),
        TurnKey: frozenset({BETTING}),
    },
    PLAYING: {
        WagerLifted: frozenset({PLAYING}),
        WagerVoided: frozenset({PLAYING}),
        HandDecided: frozenset({SETTLING}),
        TurnKey: frozenset({PLAYING}),
    },
    SETTLING: {
        WagerLifted: frozenset({SETTLING}),
        WagerVoided: frozenset({SETTLING}),
        HandDecided: frozenset({SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        HandButton: frozenset({SETTLING}),
        TurnKey: frozenset({SETTLING}),
        Jpot: frozenset({LOGGED}),
        GameOver: frozenset({BETTING}),
    },
    LOGGED: {
        WagerLifted: frozenset({LOGGED}),
        WagerVoided: frozenset({LOGGED}),
        TurnKey: frozenset({LOGGED, ADJUSTED}),
    },
    ADJUSTED: {
        WagerLifted: frozenset({ADJUSTED}),
        WagerVoided: frozenset({ADJUSTED}),
        HandDecided: frozenset({ADJUSTED, SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        TurnKey: frozenset({ADJUSTED}),
        GameOver: frozenset({BETTING}),
    },
}
"""Step -> event -> the steps it may lead to."""

REFUSED: Final[dict[Step, dict[type, Refusal]]] = {
    BETTING: {
        HandButton: NO_GAME,
        Jpot: NO_HAND_YET,
        GameOver: NO_GAME,
    },
    PLAYING: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        AwardTakenBack: OF_NO_ROUND,
        HandButton: HAND_NOT_OVER,
        Jpot: NO_HAND_YET,
        GameOver: HAND_NOT_OVER,
    },
    SETTLING: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
    },
    LOGGED: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        HandDecided: (
            "award_open",
            "an award is logged and the meter is not adjusted yet: turn the key to RUN, then correct the round",
        ),
        AwardTakenBack: OF_NO_ROUND,
        HandButton: ALREADY_CONFIRMED,
        Jpot: ALREADY_CONFIRMED,
        GameOver: (
            "key_in_jph",
            "the key is in JPH and the meter is not adjusted yet: a supervisor must turn it to RUN first",
        ),
    },
    ADJUSTED: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        HandButton: ALREADY_CONFIRMED,
        Jpot: ALREADY_CONFIRMED,
    },
}
"""Step -> event -> why it cannot be then."""


@dataclass(frozen=True, kw_only=True)
class State(Value):
    """A table with Aquarius: the step, the hand and the key. It can be stored and taken up again."""

    hand: Hand
    step: Step = BETTING
    key: Key = Key.RUN
    kind: Literal["aquarius"] = "aquarius"


class Aquarius:
    """One table's procedure. `state` is all that it is."""

    def __init__(self, state: State) -> None:
        self.state = state

    @classmethod
    def new(cls, table: str, stake: int) -> "Aquarius":
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


def _carry_out(state: State, event: Event) -> tuple[State, list[Order]]:  # noqa: C901, PLR0911 - flat: one case an event
    hand = state.hand
    match event:
        case WagerPlaced() | WagerLifted() | WagerVoided():
            return state.but(hand=sense(hand, event)), []
        case StartGame():
            started, contribution = start(hand, event)
            return state.but(hand=started, step=PLAYING), [contribution]
        case HandDecided():
            return _decided(state, event)
        case AwardTakenBack():
            return _taken_back(state)
        case HandButton():
            return state.but(hand=press(hand, event)), []
        case TurnKey(to=to):
            if state.step is LOGGED and to is Key.RUN:
                return state.but(key=to, step=ADJUSTED), [BookAward(hand.table)]
            return state.but(key=to), []
        case Jpot(who=who):
            if state.key is Key.RUN:
                raise RefusedError("key_in_run", "the key is in RUN: a supervisor must turn it to JPH first")
            awarded, won = confirm(hand)
            lock = LockAward(hand.table, hand.round, won.rule, won.seats, who)
            return state.but(hand=awarded, step=LOGGED), [lock]
        case _:  # GAME OVER
            if state.key is Key.JPH:
                raise RefusedError("key_in_jph", "the key is in JPH: a supervisor must turn it to RUN first")
            ended, order = end(hand)
            return state.but(hand=ended, step=BETTING), [order]


def _decided(state: State, event: HandDecided) -> tuple[State, list[Order]]:
    hand = decide(state.hand, event)
    if state.step in {BETTING, ADJUSTED} and (not hand.open or hand.won == state.hand.won):
        return state.but(hand=hand), []
    reopened: list[Order] = [ReopenRound(hand.table, hand.round)] if state.step is BETTING else []
    return state.but(hand=hand, step=SETTLING), reopened


def _taken_back(state: State) -> tuple[State, list[Order]]:
    hand = take_back(state.hand)
    if state.step is BETTING and hand.won is None:
        return state.but(hand=hand), []
    reopened: list[Order] = [ReopenRound(hand.table, hand.round)] if state.step is BETTING else []
    return state.but(hand=hand, step=SETTLING), reopened
