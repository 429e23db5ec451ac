"""How a round goes with Nexus Command: a dealer display, and cards (sheet 000, Nexus Command, dealing procedure).

The swipe of a card, or a signature in its place, logs an award and adjusts the meter at once (7e). So there is no step between
the two, and a table that loses its power stands before both or after both. Whether card or signature is enough for the award
is the progressive's to say, which knows what it comes to.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from punto.baccarat.progressive import procedure
from punto.baccarat.progressive.events import Authority, CardLevel, ConfirmedBy
from punto.baccarat.progressive.procedure import (
    ADJUSTED,
    AFTER_START,
    ALREADY_CONFIRMED,
    ALREADY_STARTED,
    BETTING,
    CONFIRMED,
    HAND_NOT_OVER,
    NO_GAME,
    NO_HAND_YET,
    NOT_OVER,
    OF_NO_ROUND,
    PLAYING,
    SETTLING,
    TOO_LATE,
    AwardTakenBack,
    HandButton,
    HandDecided,
    NobodyWon,
    Order,
    Procedure,
    Refusal,
    Refusals,
    ReopenGame,
    StartGame,
    Transitions,
    WagerLifted,
    WagerPlaced,
    WagerVoided,
    end,
    log,
)


@dataclass(frozen=True, slots=True)
class Confirm:
    """The supervisor presses CONFIRM; or the dealer, for an award that the house lets the dealer confirm."""

    who: str
    kind: Literal["confirm"] = "confirm"


@dataclass(frozen=True, slots=True)
class SwipeCard:
    """A card reader has seen a card of this level; it is `who`'s."""

    who: str
    level: CardLevel
    kind: Literal["swipe_card"] = "swipe_card"


@dataclass(frozen=True, slots=True)
class SignAward:
    """`who`, whose role is of this level, signs for the award at a console, where no card is swiped."""

    who: str
    level: CardLevel
    kind: Literal["sign_award"] = "sign_award"


@dataclass(frozen=True, slots=True)
class EndGame:
    """The dealer presses END GAME."""

    who: str
    kind: Literal["end_game"] = "end_game"


Event = procedure.Event | Confirm | SwipeCard | SignAward | EndGame

TRANSITIONS: Final[Transitions] = {
    BETTING: {
        WagerPlaced: frozenset({BETTING}),
        WagerLifted: frozenset({BETTING}),
        WagerVoided: frozenset({BETTING}),
        StartGame: frozenset({PLAYING}),
        HandDecided: frozenset({BETTING, SETTLING}),  # the last round's cards were corrected
        AwardTakenBack: frozenset({BETTING, SETTLING}),
        ReopenGame: frozenset({SETTLING}),
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
        Confirm: frozenset({CONFIRMED, ADJUSTED}),  # adjusted where the dealer may confirm it alone
        NobodyWon: frozenset({CONFIRMED, ADJUSTED}),
        EndGame: frozenset({BETTING}),
    },
    CONFIRMED: {
        WagerLifted: frozenset({CONFIRMED}),
        WagerVoided: frozenset({CONFIRMED}),
        HandDecided: frozenset({CONFIRMED, SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        HandButton: frozenset({SETTLING}),  # a hand is taken back, and the confirmation with it
        SwipeCard: frozenset({ADJUSTED}),
        SignAward: frozenset({ADJUSTED}),
    },
    ADJUSTED: {
        WagerLifted: frozenset({ADJUSTED}),
        WagerVoided: frozenset({ADJUSTED}),
        HandDecided: frozenset({ADJUSTED, SETTLING}),
        AwardTakenBack: frozenset({SETTLING}),
        EndGame: frozenset({BETTING}),
    },
}

_TO_COMPLETE: Final[Refusal] = (
    "already_confirmed",
    "this game is confirmed: swipe a card or sign to complete it, or press a hand button to take it back",
)
_NOT_CONFIRMED: Final[Refusal] = (
    "not_confirmed",
    "nothing is confirmed that a card or a signature could complete: select the hands and press CONFIRM first",
)

REFUSED: Final[Refusals] = {
    BETTING: {
        HandButton: NO_GAME,
        NobodyWon: NO_GAME,
        Confirm: NO_HAND_YET,
        SwipeCard: _NOT_CONFIRMED,
        SignAward: _NOT_CONFIRMED,
        EndGame: NO_GAME,
    },
    PLAYING: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        AwardTakenBack: OF_NO_ROUND,
        HandButton: HAND_NOT_OVER,
        NobodyWon: HAND_NOT_OVER,
        ReopenGame: TOO_LATE,
        Confirm: NO_HAND_YET,
        SwipeCard: _NOT_CONFIRMED,
        SignAward: _NOT_CONFIRMED,
        EndGame: HAND_NOT_OVER,
    },
    SETTLING: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        ReopenGame: NOT_OVER,
        SwipeCard: _NOT_CONFIRMED,
        SignAward: _NOT_CONFIRMED,
    },
    CONFIRMED: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        NobodyWon: _TO_COMPLETE,
        ReopenGame: NOT_OVER,
        Confirm: _TO_COMPLETE,
        EndGame: ("award_unconfirmed", "what was confirmed is not completed: swipe a card or sign first"),
    },
    ADJUSTED: {
        WagerPlaced: AFTER_START,
        StartGame: ALREADY_STARTED,
        HandButton: ALREADY_CONFIRMED,
        NobodyWon: ALREADY_CONFIRMED,
        ReopenGame: NOT_OVER,
        Confirm: ALREADY_CONFIRMED,
        SwipeCard: ALREADY_CONFIRMED,
        SignAward: ALREADY_CONFIRMED,
    },
}


@dataclass(frozen=True, kw_only=True)
class State(procedure.State):
    """A table with Nexus Command: the step and the hand. It can be stored and taken up again.

    `confirmed` is what was confirmed and by whom, while a card or a signature is to complete it.
    """

    confirmed: Confirm | NobodyWon | None = None
    kind: Literal["nexus"] = "nexus"


class Nexus(Procedure[State]):
    """One table's procedure. `state` is all that it is."""

    states = State
    transitions = TRANSITIONS
    refused = REFUSED

    def carry_out(self, event: Any) -> tuple[State, list[Order]]:
        """The state after an event that is legal now, and what it asks of the progressive."""
        after, orders = super().carry_out(event)
        return after if after.step is CONFIRMED else after.but(confirmed=None), orders

    def own(self, event: Confirm | NobodyWon | SwipeCard | SignAward | EndGame) -> tuple[State, list[Order]]:
        """The state after an event of the dealer display or the card reader, and what it asks of the progressive."""
        state, hand = self.state, self.state.hand
        match event:
            case Confirm() | NobodyWon():
                logged, order = log(hand, event, Authority(event.who, "dealer"))
                if len(order.won.seats) > order.won.dealer_up_to:
                    return state.but(step=CONFIRMED, confirmed=event), []
                return state.but(hand=logged, step=ADJUSTED), [order]
            case SwipeCard() | SignAward():
                by: ConfirmedBy = "card" if isinstance(event, SwipeCard) else "signature"
                confirmed_by = None if state.confirmed is None else state.confirmed.who
                authority = Authority(event.who, by, event.level, confirmed_by)
                logged, order = log(hand, state.confirmed, authority)
                return state.but(hand=logged, step=ADJUSTED), [order]
            case _:  # END GAME
                ended, end_round = end(
                    hand, "a supervisor confirms NOBODY WON, and a card or a signature completes it"
                )
                return state.but(hand=ended, step=BETTING), [end_round]
