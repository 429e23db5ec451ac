"""The cards left in a shoe for the coming or current coup, as far as the table has seen them."""

from collections import Counter
from dataclasses import dataclass, field

from punto.baccarat.table.state import TableState
from punto.baccarat.wagers.definition import Game
from punto.odds.composition import CARDS_OF_A_COUP, Composition


@dataclass(frozen=True, slots=True)
class Left:
    """A shoe before a coup. Two are equal if the table knows the same of them.

    - `round` is the last round whose cards are counted.
    - `cards_left` is the number of cards still in the shoe.
    - `unseen` is the number of unknown cards that have left the shoe: burned face down, or lost.
    - `carried` is the number of cards drawn too soon. They begin the next coup, or wait for a supervisor, who may
      decide so.
    """

    shoe: int
    round: int
    cards_left: int
    unseen: int
    carried: int
    _state: TableState = field(compare=False, repr=False)

    @property
    def game(self) -> Game:
        """The game of this shoe."""
        return self._state.settings.game

    def composition(self) -> Composition:
        """The number of each card that was not seen, from which the coup may be dealt.

        An unseen card counts as if it were still in the shoe. This is exact, not an approximation: every unseen
        card is equally likely to be at any place, so each is equally likely to be drawn next.

        Raises:
            CompositionError: a card has been seen more often than the shoe holds it.
        """
        state = self._state
        seen = Counter(state.shoe.drawn)
        if state.round.coup is not None:
            seen.subtract(state.round.coup.cards)
        return Composition.of_decks(state.settings.game.decks).without(seen.elements())


def left_of(state: TableState) -> Left | None:
    """The shoe before the coming or current coup; None if no further coup can be dealt from it.

    The cards of the current coup do not count yet: its wagers were made before them, and nothing about hidden
    hands may be published before the reveal.
    """
    # There is no shoe to value from the end of one until the burn of the next.
    # If the shoe has other decks than the game, its cards are not known.
    if state.shoe.burn_left != 0 or state.shoe_over or state.cards_left is None:
        return None
    dealt = 0 if state.round.coup is None else len(state.round.coup.cards)
    carried = len(state.shoe.carried) + (state.waiting.cards if state.round.coup is None else 0)
    out = len(state.shoe.drawn) - dealt + state.shoe.unknown + carried
    cards_left = state.settings.game.decks * 52 - out
    if cards_left < CARDS_OF_A_COUP:
        return None
    return Left(state.shoe.number, state.round.number - 1, cards_left, state.shoe.unknown, carried, state)
