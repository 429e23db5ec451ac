"""The cards left in a shoe."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import perm
from typing import Final

from punto.baccarat.cards import STANDARD_DECK, Card

MOST_DECKS: Final = 12
CARDS_OF_A_COUP: Final = 6
"""The most cards that a coup can take; all counts are over the orders of this many cards."""

_PLACE: Final = {card: place for place, card in enumerate(STANDARD_DECK)}


class CompositionError(ValueError):
    """Cards that a shoe cannot have left."""


@dataclass(frozen=True)
class Composition:
    """The number left of each of the 52 cards, in the order of `STANDARD_DECK`.

    Raises:
        CompositionError: a card has fewer than 0 or more than 12, or there are not enough cards for a coup.
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(STANDARD_DECK):
            raise CompositionError(f"a composition has {len(STANDARD_DECK)} counts, not {len(self.counts)}")
        for card, count in zip(STANDARD_DECK, self.counts, strict=True):
            if not 0 <= count <= MOST_DECKS:
                raise CompositionError(
                    f"there cannot be {count} of {card} in a shoe: write 0 to {MOST_DECKS}"
                )
        if self.cards < CARDS_OF_A_COUP:
            raise CompositionError(
                f"a coup may need {CARDS_OF_A_COUP} cards, but only {self.cards} are left in the shoe"
            )

    @classmethod
    def of_decks(cls, decks: int) -> "Composition":
        """A full shoe; raises CompositionError if decks are not 1 to 12."""
        if not 1 <= decks <= MOST_DECKS:
            raise CompositionError(f"decks must be from 1 to {MOST_DECKS}, not {decks}")
        return cls((decks,) * len(STANDARD_DECK))

    def without(self, cards: Iterable[Card]) -> "Composition":
        """The cards left when these have been taken out.

        Raises:
            CompositionError: one of them is not there, or too few are left.
        """
        counts = list(self.counts)
        for card in cards:
            place = _PLACE[card]
            if not counts[place]:
                raise CompositionError(
                    f"{card} cannot be removed: all {self.counts[place]} copies are already removed"
                )
            counts[place] -= 1
        return Composition(tuple(counts))

    @cached_property
    def cards(self) -> int:
        """The number of cards left."""
        return sum(self.counts)

    @cached_property
    def total(self) -> int:
        """The number of orders of six cards from the shoe: 4,998,398,275,503,360 for a full one of 8 decks."""
        return perm(self.cards, CARDS_OF_A_COUP)
