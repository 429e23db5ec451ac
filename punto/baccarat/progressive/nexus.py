"""The procedure of a round with Nexus Command: a dealer display, and cards.

Source: sheet 000, Nexus Command, dealing procedure.

The swipe of a card, or a signature in its place, logs an award and adjusts the meter at once (7e). There is
no step between them, so a table that loses its power restarts either before both or after both. The
progressive knows the award's amount and decides if the card or signature is sufficient.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from punto.baccarat.progressive import game_events, procedure
from punto.baccarat.progressive.events import CardLevel, Confirmation, ConfirmedBy
from punto.baccarat.progressive.game_events import AwardTakenBack, HandButton, HandDecided, NobodyWon, Order
from punto.baccarat.progressive.procedure import ADJUSTED, BETTING, CONFIRMED, PLAYING, SETTLING, Procedure


@dataclass(frozen=True, slots=True)
class Confirm:
    """The supervisor presses CONFIRM, or the dealer, for an award that the house lets the dealer confirm."""

    who: str
    kind: Literal["confirm"] = "confirm"


@dataclass(frozen=True, slots=True)
class SwipeCard:
    """A card reader has read a card of this level; it belongs to `who`."""

    who: str
    level: CardLevel
    kind: Literal["swipe_card"] = "swipe_card"


@dataclass(frozen=True, slots=True)
class SignAward:
    """`who`, with a role of this level, signs for the award at a console instead of a card swipe."""

    who: str
    level: CardLevel
    kind: Literal["sign_award"] = "sign_award"


@dataclass(frozen=True, slots=True)
class EndGame:
    """The dealer presses END GAME."""

    who: str
    kind: Literal["end_game"] = "end_game"


Event = game_events.Event | Confirm | SwipeCard | SignAward | EndGame

TRANSITIONS: Final = procedure.with_own(
    procedure.TRANSITIONS,
    {
        BETTING: {},
        PLAYING: {},
        SETTLING: {
            Confirm: frozenset({CONFIRMED, ADJUSTED}),  # ADJUSTED if the dealer may confirm it alone
            NobodyWon: frozenset({CONFIRMED, ADJUSTED}),
            EndGame: frozenset({BETTING}),
        },
        CONFIRMED: {
            HandDecided: frozenset({CONFIRMED, SETTLING}),
            AwardTakenBack: frozenset({SETTLING}),
            HandButton: frozenset({SETTLING}),  # deselecting a hand also cancels the confirmation
            SwipeCard: frozenset({ADJUSTED}),
            SignAward: frozenset({ADJUSTED}),
        },
        ADJUSTED: {EndGame: frozenset({BETTING})},
    },
)

_TO_COMPLETE: Final[procedure.Refusal] = (
    "already_confirmed",
    (
        "the result of this game is already confirmed: swipe a card or sign to complete the confirmation, or press a hand button to "
        "cancel the confirmation"
    ),
)
_NOT_CONFIRMED: Final[procedure.Refusal] = (
    "not_confirmed",
    "no award is confirmed yet, so there is nothing to complete: select the hands, then press CONFIRM",
)

_NOTHING_TO_COMPLETE: Final[dict[type, procedure.Refusal]] = dict.fromkeys(
    (SwipeCard, SignAward), _NOT_CONFIRMED
)

REFUSED: Final = procedure.with_own(
    procedure.REFUSED,
    {
        BETTING: {**_NOTHING_TO_COMPLETE, Confirm: procedure.NO_HAND_YET, EndGame: procedure.NO_GAME},
        PLAYING: {**_NOTHING_TO_COMPLETE, Confirm: procedure.NO_HAND_YET, EndGame: procedure.HAND_NOT_OVER},
        SETTLING: _NOTHING_TO_COMPLETE,
        CONFIRMED: {
            **dict.fromkeys((NobodyWon, Confirm), _TO_COMPLETE),
            EndGame: (
                "award_unconfirmed",
                "the confirmed award is not completed: swipe a card or sign before this order",
            ),
        },
        ADJUSTED: dict.fromkeys((Confirm, SwipeCard, SignAward), procedure.ALREADY_CONFIRMED),
    },
)


@dataclass(frozen=True, kw_only=True)
class State(procedure.State):
    """A table with Nexus Command: the step and the hand. It can be stored and restored.

    `confirmed` is the confirmed award and the person who confirmed it, until a card or a signature completes
    it.
    """

    confirmed: Confirm | NobodyWon | None = None
    kind: Literal["nexus"] = "nexus"


class Nexus(Procedure[State]):
    """One table's procedure; `state` holds everything."""

    states = State
    transitions = TRANSITIONS
    refused = REFUSED

    def carry_out(self, event: Any) -> tuple[State, list[Order]]:
        """Return the state after an event that is legal now, and the events for the progressive."""
        after, orders = super().carry_out(event)
        return after if after.step is CONFIRMED else after.replace(confirmed=None), orders

    def own(self, event: Confirm | NobodyWon | SwipeCard | SignAward | EndGame) -> tuple[State, list[Order]]:
        """Return the state after an event of dealer display or card reader, and the events for the progressive."""
        state, hand = self.state, self.state.hand
        match event:
            case Confirm() | NobodyWon():
                logged, order = procedure.log(hand, event, Confirmation(event.who, "dealer"))
                if len(order.won.seats) > order.won.dealer_up_to:
                    return state.replace(step=CONFIRMED, confirmed=event), []
                return state.replace(hand=logged, step=ADJUSTED), [order]
            case SwipeCard() | SignAward():
                by: ConfirmedBy = "card" if isinstance(event, SwipeCard) else "signature"
                confirmed_by = None if state.confirmed is None else state.confirmed.who
                confirmation = Confirmation(event.who, by, event.level, confirmed_by)
                logged, order = procedure.log(hand, state.confirmed, confirmation)
                return state.replace(hand=logged, step=ADJUSTED), [order]
            case _:  # END GAME
                ended, end_round = procedure.end(
                    hand, "a supervisor confirms NOBODY WON, and a card or a signature completes it"
                )
                return state.replace(hand=ended, step=BETTING), [end_round]
