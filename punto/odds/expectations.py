"""The exact expectations of what a table's meters count, in a full shoe of the game."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product

from punto.baccarat.coup import Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, HouseRule, Rule, Wager
from punto.configs.expectations import WIN, Expectation, Expectations, has_win
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds

_RESULT, _NATURAL = "(result)", "(natural)"  # no name of a wager in a game file

Exact = dict[tuple[str | None, str], tuple[Fraction, Fraction]]


def expectations(game: Game) -> Exact:
    """The mean and variance of each result, of naturals, and of each wager's rules and win, as `Expectations` has them."""
    odds = GameOdds(as_counted(game)).odds(Composition.of_decks(game.decks))
    found: Exact = {}
    for name, figures in odds.items():
        for each in figures.rules:
            mean = each.probability
            found[of_a_wager(name), each.rule] = mean, mean * (1 - mean)
    found.pop((None, "other"))
    for wager in game.wagers:
        if has_win(wager):
            found[wager.name, WIN] = odds[wager.name].edge, odds[wager.name].variance
    return found


def as_counted(game: Game) -> Game:
    """The game with wagers whose rules are all that the meters count. A wager that needs its base wager to win is counted by its cards alone."""
    plain = [
        replace(wager, base=True, requires_base="none", requires_base_win=False) for wager in game.wagers
    ]
    return replace(game, wagers=(*plain, *_of_hands()))


def of_a_wager(name: str) -> str | None:
    """The name of a wager of `as_counted`; None if it stands for the results of hands, or for naturals."""
    return None if name in {_RESULT, _NATURAL} else name


def with_options(game: Game) -> Iterator[Game]:
    """The game with each choice of the rules that its sheet leaves to the house and that change an expectation."""
    rules: list[HouseRule] = sorted(
        {left.rule for wager in game.wagers for left in wager.house} - {"requires_base"}
    )
    for values in product((False, True), repeat=len(rules)):
        chosen = dict(zip(rules, values, strict=True))
        yield replace(game, wagers=tuple(_chosen(wager, chosen) for wager in game.wagers))


def _chosen(wager: Wager, chosen: Mapping[HouseRule, bool]) -> Wager:
    for left in wager.house:
        if left.rule in chosen:
            wager = wager.with_rule(left.rule, chosen[left.rule])
    return wager


def in_floats(exact: Exact) -> Expectations:
    """Expectations as they are shipped and sent."""
    return {key: Expectation(float(mean), float(variance)) for key, (mean, variance) in exact.items()}


def _of_hands() -> Iterator[Wager]:
    """Wagers whose rules are the results and the naturals."""
    results = tuple(
        Rule(name=winner.value, when=Condition(winner=(winner,)), pays="1 to 1") for winner in Winner
    )
    yield Wager(name=_RESULT, title=_RESULT, base=True, rules=results)
    natural = Rule(name="natural", when=Condition(natural=True), pays="1 to 1")
    yield Wager(name=_NATURAL, title=_NATURAL, base=True, rules=(natural, Rule(name="other", pays="lose")))
