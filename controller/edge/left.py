"""What is left in a shoe for the coup that comes, or is being dealt, as far as the table has seen."""

from collections import Counter
from dataclasses import dataclass, field

from punto.baccarat.table.events import CutCardSeen
from punto.baccarat.table.state import TableState
from punto.baccarat.wagers.definition import Game
from punto.odds.composition import CARDS_OF_A_COUP, Composition


@dataclass(frozen=True, slots=True)
class Left:
    """A shoe before a coup; two are the same when the table knows the same of them.

    `round` is the last one whose cards are counted. `cards_left` are still in the shoe; `unseen` cards have left it and
    nobody knows which they were: burned face down, or lost. `carried` were drawn too soon: they begin the next coup, or
    wait for a supervisor and may.
    """

    shoe: int
    round: int
    cards_left: int
    unseen: int
    carried: int
    _state: TableState = field(compare=False, repr=False)

    @property
    def game(self) -> Game:
        """The game that this shoe is played by."""
        return self._state.settings.game

    def composition(self) -> Composition:
        """How many of each card the coup may be dealt from: all that were not seen.

        An unseen card counts as if it were still in the shoe. That is no approximation: of cards that nobody has seen,
        any one is as likely to lie in one place as in another, so the next to be drawn is one of them all alike.

        Raises:
            CompositionError: a card has been seen more often than the shoe holds it.
        """
        state = self._state
        seen = Counter(state.drawn)
        if state.coup is not None:
            seen.subtract(state.coup.cards)
        return Composition.of_decks(state.settings.game.decks).without(seen.elements())


def left_of(state: TableState) -> Left | None:
    """What is left before the coming or current coup; None where no further coup can be dealt from this shoe.

    The cards of the coup being dealt do not count yet: wagers on it were made before them, and of hidden hands
    nothing is to be told before the reveal.
    """
    # Between a shoe that is over or taken out and the next one's burn there is nothing to value.
    if state.burn_left != 0 or state.shoe_over:
        return None
    dealt = 0 if state.coup is None else len(state.coup.cards)
    carried = len(state.carried) + (_waiting(state) if state.coup is None else 0)
    out = len(state.drawn) - dealt + state.unknown + carried
    cards_left = state.settings.game.decks * 52 - out
    if cards_left < CARDS_OF_A_COUP:
        return None
    return Left(state.shoe, state.round - 1, cards_left, state.unknown, carried, state)


def _waiting(state: TableState) -> int:
    """The cards that have left the shoe and wait for a person to say what becomes of them."""
    overdrawn = sum(stop.overdrawn is not None for stop in state.stops)
    return overdrawn + sum(not isinstance(each, CutCardSeen) for each in state.backlog)
