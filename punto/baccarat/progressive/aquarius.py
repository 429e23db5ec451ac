"""The procedure of a round with Aquarius: a keypad, and a supervisor's key.

Source: sheet 000, Aquarius, dealing procedure.

J-POT logs an award, and turning the key back to RUN adjusts the meter (7e, 7f). A table that loses its power
in between restarts at LOGGED and continues from there.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from punto.baccarat.progressive import game_events, procedure
from punto.baccarat.progressive.events import BookAward, Confirmation
from punto.baccarat.progressive.game_events import HandButton, HandDecided, NobodyWon, Order, StartGame
from punto.baccarat.progressive.procedure import ADJUSTED, BETTING, LOGGED, PLAYING, SETTLING, Hand, Procedure
from punto.baccarat.progressive.refusal import RefusedError


class Key(StrEnum):
    """The positions of the supervisor's key."""

    RUN = "run"
    JPH = "jph"


KEY_SWITCH: Final = "key switch"
"""Name on record for a key turned or J-POT pressed at a keypad, because a key does not identify a person."""


@dataclass(frozen=True, slots=True)
class TurnKey:
    """The supervisor's key is turned."""

    to: Key
    who: str
    kind: Literal["turn_key"] = "turn_key"


@dataclass(frozen=True, slots=True)
class Jpot:
    """The supervisor `who` presses J-POT, or the dealer, for an award that the house lets the dealer confirm."""

    who: str
    kind: Literal["jpot"] = "jpot"


@dataclass(frozen=True, slots=True)
class GameOver:
    """The dealer presses GAME OVER."""

    who: str
    kind: Literal["game_over"] = "game_over"


Event = game_events.Event | TurnKey | Jpot | GameOver

TRANSITIONS: Final = procedure.with_own(
    procedure.TRANSITIONS,
    {
        BETTING: {TurnKey: frozenset({BETTING})},
        PLAYING: {TurnKey: frozenset({PLAYING})},
        SETTLING: {
            TurnKey: frozenset({SETTLING}),
            Jpot: frozenset({LOGGED, ADJUSTED}),  # ADJUSTED if the dealer may confirm it alone
            NobodyWon: frozenset({LOGGED, ADJUSTED}),
            GameOver: frozenset({BETTING}),
        },
        LOGGED: {TurnKey: frozenset({LOGGED, ADJUSTED})},
        ADJUSTED: {TurnKey: frozenset({ADJUSTED}), GameOver: frozenset({BETTING})},
    },
)

_KEY_IN_RUN: Final[procedure.Refusal] = (
    "key_in_run",
    "the key is at RUN: a supervisor must turn the key to JPH before this order",
)

REFUSED: Final = procedure.with_own(
    procedure.REFUSED,
    {
        BETTING: {Jpot: procedure.NO_HAND_YET, GameOver: procedure.NO_GAME},
        PLAYING: {Jpot: procedure.NO_HAND_YET, GameOver: procedure.HAND_NOT_OVER},
        SETTLING: {},
        LOGGED: {
            HandDecided: (
                "award_open",
                "the award is logged, but the key is still at JPH: turn the key to RUN, then correct the round",
            ),
            game_events.AwardTakenBack: procedure.OF_NO_ROUND,
            **dict.fromkeys((HandButton, NobodyWon, Jpot), procedure.ALREADY_CONFIRMED),
            GameOver: (
                "key_in_jph",
                "the key is still at JPH, so the meter is not adjusted yet: a supervisor must turn the key to RUN before this order",
            ),
        },
        ADJUSTED: {Jpot: procedure.ALREADY_CONFIRMED},
    },
)


@dataclass(frozen=True, kw_only=True)
class State(procedure.State):
    """A table with Aquarius: the step, the hand and the key. It can be stored and restored."""

    key: Key = Key.RUN
    kind: Literal["aquarius"] = "aquarius"


class Aquarius(Procedure[State]):
    """One table's procedure; `state` holds everything."""

    states = State
    transitions = TRANSITIONS
    refused = REFUSED

    def carry_out(self, event: Any) -> tuple[State, list[Order]]:
        """Return the state after an event that is legal now, and the events for the progressive."""
        if isinstance(event, StartGame | GameOver) and self.state.key is Key.JPH:
            # 7f: "Returning the supervisor key to the “Run” position will restore normal operation of the
            # table".
            raise RefusedError(
                "key_in_jph", "the key is at JPH: a supervisor must turn the key to RUN before this order"
            )
        return super().carry_out(event)

    def own(self, event: TurnKey | Jpot | NobodyWon | GameOver) -> tuple[State, list[Order]]:
        """Return the state after an event of the key or the keypad, and the events for the progressive."""
        state, hand = self.state, self.state.hand
        match event:
            case TurnKey(to=to):
                if state.step is LOGGED and to is Key.RUN:
                    return state.replace(key=to, step=ADJUSTED), _booking(hand)
                return state.replace(key=to), []
            case Jpot() | NobodyWon():
                return self._log(event)
            case _:  # GAME OVER
                ended, order = procedure.end(
                    hand, "a supervisor turns the key to JPH and confirms NOBODY WON"
                )
                return state.replace(hand=ended, step=BETTING), [order]

    def _log(self, event: Jpot | NobodyWon) -> tuple[State, list[Order]]:
        """Log an award, or that nobody won it (7e).

        With the key in RUN, only an award that the dealer may confirm alone can be logged. It is booked at once, because no
        turn of the key follows.
        """
        state = self.state
        alone = state.key is Key.RUN
        up_to = 0 if state.hand.won is None else state.hand.won.dealer_up_to
        if alone and not up_to:
            raise RefusedError(*_KEY_IN_RUN)
        hand, order = procedure.log(state.hand, event, Confirmation(event.who, "dealer" if alone else "key"))
        if not alone:
            return state.replace(hand=hand, step=LOGGED), [order]
        if len(order.won.seats) > up_to:
            raise RefusedError(*_KEY_IN_RUN)
        return state.replace(hand=hand, step=ADJUSTED), [order, *_booking(hand)]


def _booking(hand: Hand) -> list[Order]:
    """Log that nobody won; this books nothing."""
    return [] if hand.denied else [BookAward(hand.table)]
