"""One coup: the cards of both hands, in the order they left the shoe.

The cards determine everything about a coup: which hand got each card, who draws next, if it is over, who won.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from punto.baccarat.cards import RANKS, Card
from punto.baccarat.tableau import banker_draws, player_draws


class Side(StrEnum):
    """The two hands of a coup."""

    PLAYER = "player"
    BANKER = "banker"


class Winner(StrEnum):
    """The result of a coup."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"


class SurplusCardError(ValueError):
    """The cards include one that the tableau does not call for."""


class MissingCardError(ValueError):
    """The tableau calls for a card that is missing."""


def total(cards: tuple[Card, ...]) -> int:
    """A hand's total: the last digit of the sum of its points (sheet 004)."""
    return sum([card.points for card in cards]) % 10


def is_natural(cards: tuple[Card, ...]) -> bool:
    """Whether a hand is a natural: two cards totalling 8 or 9."""
    return len(cards) == 2 and total(cards) >= 8


def is_pair(cards: tuple[Card, ...]) -> bool:
    """Whether a hand's first two cards have one rank: K-K yes, K-Q no (sheet 002, Canberra Pairs)."""
    return len(cards) >= 2 and cards[0].rank == cards[1].rank


def _only_suit(cards: tuple[Card, ...]) -> str | None:
    suits = {card.suit for card in cards}
    return suits.pop() if len(suits) == 1 else None


@dataclass(frozen=True)
class Coup:
    """A coup so far, `cards` in the order P1, B1, P2, B2 and then as the tableau calls.

    Raises:
        SurplusCardError: there are cards after the end of the coup.
    """

    cards: tuple[Card, ...] = ()

    def __post_init__(self) -> None:
        for dealt in range(4, len(self.cards)):
            if self._hand_after(dealt) is None:
                raise SurplusCardError(
                    f"the coup is over after {dealt} cards ({' '.join(self.cards[:dealt])}), "
                    f"so {self.cards[dealt]} does not belong to a hand"
                )

    @classmethod
    def complete(cls, cards: tuple[Card, ...]) -> "Coup":
        """The finished coup of exactly these cards.

        Raises:
            MissingCardError: the tableau calls for one more.
            SurplusCardError: there are cards after the end of the coup.
        """
        coup = cls(cards)
        if coup.next_side is not None:
            raise MissingCardError(
                f"{'1 card does' if len(cards) == 1 else f'{len(cards)} cards do'} not finish a coup: {coup.next_side.value.title()} must get one more card"
            )
        return coup

    def with_card(self, card: Card) -> "Coup":
        """This coup with one more card; raises SurplusCardError if the coup is over."""
        return Coup((*self.cards, card))

    @cached_property
    def player(self) -> tuple[Card, ...]:
        """Player's cards, in order."""
        return self._cards_of(Side.PLAYER)

    @cached_property
    def banker(self) -> tuple[Card, ...]:
        """Banker's cards, in order."""
        return self._cards_of(Side.BANKER)

    @cached_property
    def next_side(self) -> Side | None:
        """The hand that gets the next card, None once the coup is over."""
        return self._hand_after(len(self.cards))

    @property
    def over(self) -> bool:
        """Whether the tableau calls for no more cards."""
        return self.next_side is None

    @cached_property
    def player_total(self) -> int:
        """Player's total of the cards so far."""
        return total(self.player)

    @cached_property
    def banker_total(self) -> int:
        """Banker's total of the cards so far."""
        return total(self.banker)

    @property
    def player_cards(self) -> int:
        """How many cards Player has."""
        return len(self.player)

    @property
    def banker_cards(self) -> int:
        """How many cards Banker has."""
        return len(self.banker)

    @property
    def coup_cards(self) -> int:
        """How many cards both hands have together."""
        return len(self.cards)

    @property
    def margin(self) -> int:
        """Points between the two hands, 0 to 9."""
        return abs(self.player_total - self.banker_total)

    @cached_property
    def natural(self) -> bool:
        """Whether a natural ended the coup.

        The hand that wins such a coup is itself a natural, and a tie is between two naturals: after a natural
        no hand draws, so no other hand can beat or equal it.
        """
        return is_natural(self.player) or is_natural(self.banker)

    @property
    def player_pair(self) -> bool:
        """Whether Player's first two cards are a pair."""
        return is_pair(self.player)

    @property
    def banker_pair(self) -> bool:
        """Whether Banker's first two cards are a pair."""
        return is_pair(self.banker)

    @property
    def player_perfect_pair(self) -> bool:
        """Whether Player's first two cards are alike in rank and suit."""
        return self.player[0] == self.player[1]

    @property
    def banker_perfect_pair(self) -> bool:
        """Whether Banker's first two cards are alike in rank and suit."""
        return self.banker[0] == self.banker[1]

    @property
    def winning_ranks(self) -> str | None:
        """The ranks of the winning hand in the order of `RANKS`, such as `2-3-4`; None on a tie."""
        if self.winner is Winner.TIE:
            return None
        return "-".join(sorted((card.rank for card in self._winning_hand), key=RANKS.index))

    @property
    def winning_suit(self) -> str | None:
        """The suit that all cards of the winning hand have; None if they differ, and on a tie."""
        return None if self.winner is Winner.TIE else _only_suit(self._winning_hand)

    @property
    def coup_suit(self) -> str | None:
        """The suit that all cards of both hands have, None if they differ."""
        return _only_suit(self.cards)

    @cached_property
    def winner(self) -> Winner:
        """The winner; valid only if the coup is over."""
        if self.player_total > self.banker_total:
            return Winner.PLAYER
        if self.banker_total > self.player_total:
            return Winner.BANKER
        return Winner.TIE

    def side_of(self, position: int) -> Side:
        """The hand that received the card at this position, counting from 0."""
        if position < 4:
            return (Side.PLAYER, Side.BANKER)[position % 2]
        if position == 4 and player_draws(self._first_total(Side.PLAYER)):
            return Side.PLAYER
        return Side.BANKER

    @property
    def _winning_hand(self) -> tuple[Card, ...]:
        return self.player if self.winner is Winner.PLAYER else self.banker

    def _cards_of(self, side: Side) -> tuple[Card, ...]:
        return tuple(card for n, card in enumerate(self.cards) if self.side_of(n) is side)

    def _first_total(self, side: Side) -> int:
        first = 0 if side is Side.PLAYER else 1
        return total(self.cards[first:4:2])

    def _hand_after(self, dealt: int) -> Side | None:
        """The hand that draws after the first `dealt` cards of this coup; None if the coup is over."""
        if dealt < 4:
            return (Side.PLAYER, Side.BANKER)[dealt % 2]
        player, banker = self._first_total(Side.PLAYER), self._first_total(Side.BANKER)
        if player >= 8 or banker >= 8 or dealt > 5:
            return None
        if player_draws(player):
            if dealt == 4:
                return Side.PLAYER
            return Side.BANKER if banker_draws(banker, self.cards[4].points) else None
        return Side.BANKER if dealt == 4 and banker_draws(banker, None) else None
