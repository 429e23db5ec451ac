"""What must hold of an award, by the cards of the hands and the wagers that were counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.progressive.effects import AwardBackedOut, AwardLocked, NobodyWonLogged, WagersCounted
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import Award
from punto.baccarat.table.events import Event
from punto.baccarat.table.order_kinds import CorrectCard, VoidCoup
from punto.baccarat.table.state import RoundRecord, TableState
from tests.baccarat.table.second_books import UNIT
from tests.odds import oracle

DECK: Final = [card.value for card in STANDARD_DECK]
FEWEST: Final = 4
"""A hand has so many cards, or more."""


def wrong_with(
    award: Award, rounds: Iterable[RoundRecord], entries: Sequence[Any], state: TableState
) -> str | None:
    """What is wrong with an award, None if nothing is; `entries` are those of the meter's books so far.

    It is the award that the cards of a hand win, of seats that wagered on the meter. After the whole meter comes another.
    """
    cards = [*award.player], [*award.banker]
    if cards not in [([*each.player], [*each.banker]) for each in rounds if each.status != "void"]:
        return f"award {award.id} is for the cards {cards}, which no hand had"
    player, banker = (tuple(card.value for card in hand) for hand in cards)
    wager = next(each for each in state.settings.game.wagers if each.progressive)
    side, coup = None if award.side is None else award.side.value, oracle.ended(player, banker)
    rule = next(each.name for each in wager.rules if oracle.decides(each, coup, side))
    if rule != award.rule:
        return f"award {award.id} is {award.rule}, but the cards win {rule}"
    counted = next(
        each
        for each in reversed(entries)
        if isinstance(each, WagersCounted) and (each.table, each.round) == (award.table, award.round)
    )
    if not set(award.seats) <= {each.seat for each in counted.wagers}:
        return f"award {award.id} is of the seats {award.seats}, but {counted.wagers} were counted"
    # A linked table may hear of it when another table has won of the next meter.
    own = state.progressive if state.progressive is not None and state.progressive.link is None else None
    # The next meter began with the first confirmation of a hand. If that was backed out, other awards may have taken of it since.
    again = any(
        isinstance(each, AwardBackedOut)
        and (each.award.table, each.award.round) == (award.table, award.round)
        for each in entries
    )
    if (
        own is not None
        and award.whole_meter
        and not again
        and own.books.available < own.books.settings.seed * UNIT
    ):
        return f"after award {award.id}, the next meter does not have its seed"
    return None


class LastGame:
    """The last game of a progressive. It is not over before the award that its cards win is confirmed, or that nobody won."""

    def __init__(self) -> None:
        self._hand: RoundRecord | None = None
        self._past = False
        self._entries = 0
        self._back: set[int] = set()
        """The awards that were backed out while their hand could still be corrected."""

    def hand(self, record: RoundRecord, before: TableState) -> None:
        """A hand has ended, or was corrected."""
        progressive = before.progressive
        if progressive is None:
            return
        if record.status == "played" and progressive.procedure.step.value == "playing":
            self._hand, self._past = record, False
        elif self._hand is not None and record.status != "correction":
            self._past = True
        elif self._hand is not None and record.corrects == self._hand.round:
            self._hand = replace(record, round=self._hand.round)

    def passed_over(
        self, entries: Sequence[Any], state: TableState, staked: Mapping[int, Iterable[tuple[int, str]]]
    ) -> str | None:
        """The award that was passed over, None if none was; `staked` has the seats and wagers of each round."""
        progressive, hand = state.progressive, self._hand
        backed_out = [each.award.id for each in entries[self._entries :] if isinstance(each, AwardBackedOut)]
        self._entries = len(entries)
        # What is backed out after the next hand, or in another shoe, is the Game Manager's to make good.
        if not self._past and state.history.last is not None:
            self._back |= set(backed_out)
        if progressive is None or progressive.link is not None or hand is None or hand.winner is None:
            return None
        game, settings = progressive.procedure.hand.round, progressive.books.settings
        if progressive.procedure.step.value != "betting" or game > hand.round:
            return None
        coup = oracle.ended(*(tuple(card.value for card in cards) for cards in (hand.player, hand.banker)))
        rule = next(each.name for each in settings.wager.rules if oracle.decides(each, coup, coup.winner))
        seats = set(progressive.procedure.hand.wagers)
        if settings.base_wagers == "recorded":
            seats &= {seat for seat, wager in staked[hand.round] if wager == coup.winner}
        if not seats or coup.winner == "tie" or settings.tier(rule) is None:
            return None
        back = set() if self._past else self._back
        confirmed = any(
            (isinstance(each, NobodyWonLogged) and (each.round, each.rule) == (game, rule))
            or (
                isinstance(each, AwardLocked)
                and (each.award.round, each.award.rule) == (game, rule)
                and each.award.id not in back
                and set(each.award.seats) <= seats
            )
            for each in entries
        )
        return None if confirmed else f"the game of round {game} won {rule}, and is over without its award"


def moves_an_award(event: Event, state: TableState, stakes: Mapping[tuple[int, str], int]) -> bool:
    """Whether an order voids or corrects a hand so that it changes what it wins of the meter, or can win within two cards."""
    progressive, coup = state.progressive, state.round.coup
    of_the_hand = isinstance(event, VoidCoup | CorrectCard)
    if (
        not of_the_hand
        or progressive is None
        or coup is None
        or progressive.procedure.step.value != "playing"
    ):
        return False
    seats = progressive.procedure.hand.wagers
    sides = {wager for (seat, wager), amount in stakes.items() if amount and seat in seats} & {
        "player",
        "banker",
    }
    cards = [card.value for card in coup.cards]
    before = _in_reach(progressive.books.settings, cards, "+".join(sides))
    match event:
        case VoidCoup():
            return bool(before)
        case CorrectCard(position=position, card=card):
            cards[position - 1] = card.value
            return _in_reach(progressive.books.settings, cards, "+".join(sides)) != before
        case _:
            return False


def _in_reach(settings: Settings, cards: Sequence[str], sides: str) -> set[tuple[str, str]]:
    """The tiers, and the winning hands, that a hand can have when it ends within two more cards."""
    ends = {
        coup
        for more in product(DECK, repeat=2)
        if len(cards) >= FEWEST - len(more)
        and (coup := oracle.first_coup([*cards, *more, "KS", "KS"])).coup_cards <= len(cards) + len(more)
    }
    decided = {
        (next(each.name for each in settings.wager.rules if oracle.decides(each, coup, sides)), coup.winner)
        for coup in ends
    }
    return {(name, winner) for name, winner in decided if settings.tier(name) is not None}
