"""Rules that never decide a coup, found by counting: those that hang on ranks and suits too."""

from collections.abc import Iterator
from dataclasses import replace

from controller.odds.composition import Composition
from controller.odds.exact import GameOdds
from controller.wagers.completeness import Fault, never
from controller.wagers.definition import Game, Wager


def never_deciding(game: Game) -> Iterator[tuple[int, Fault]]:
    """Each rule that decides no coup from a full shoe, with the place of its wager."""
    # Which base wager stands beside it does not matter here, and a wager alone is a base wager.
    alone = tuple(
        replace(wager, base=True, requires_base="none", requires_base_win=False) for wager in game.wagers
    )
    counts = GameOdds(replace(game, wagers=alone)).counts(Composition.of_decks(game.decks))
    for number, wager in enumerate(alone):
        for place, rule in enumerate(wager.rules):
            if not counts[wager.name][rule.name]:
                yield number, Fault(place, never(rule.name, possible=_possible(game, wager, place)))


def _possible(game: Game, wager: Wager, place: int) -> bool:
    """Whether this rule would decide any coup if it were asked first."""
    first = replace(wager, rules=(wager.rules[place],))
    counts = GameOdds(replace(game, wagers=(first,))).counts(Composition.of_decks(game.decks))
    return counts[wager.name][wager.rules[place].name] > 0
