"""How likely each thing is that a table's meters count, in a full shoe of the game."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from punto.baccarat.coup import Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds

_RESULT, _NATURAL = "(result)", "(natural)"  # no name of a wager in a game file


def chances(game: Game) -> dict[tuple[str | None, str], Fraction]:
    """The probability of each result, of a natural, and that each rule decides a hand, whoever has made its wager."""
    # A wager that needs its base wager to win is counted by its cards alone.
    plain = [
        replace(wager, base=True, requires_base="none", requires_base_win=False) for wager in game.wagers
    ]
    odds = GameOdds(replace(game, wagers=(*plain, *_of_hands()))).odds(Composition.of_decks(game.decks))
    found: dict[tuple[str | None, str], Fraction] = {}
    for name, figures in odds.items():
        for each in figures.rules:
            found[None if name in {_RESULT, _NATURAL} else name, each.rule] = each.probability
    found.pop((None, "other"))
    return found


def _of_hands() -> Iterator[Wager]:
    """Wagers whose rules are the results and the naturals."""
    results = tuple(
        Rule(name=winner.value, when=Condition(winner=(winner,)), pays="1 to 1") for winner in Winner
    )
    yield Wager(name=_RESULT, title=_RESULT, base=True, rules=results)
    natural = Rule(name="natural", when=Condition(natural=True), pays="1 to 1")
    yield Wager(name=_NATURAL, title=_NATURAL, base=True, rules=(natural, Rule(name="other", pays="lose")))
