"""The exact odds of every wager of a game, for any shoe.

A wager that wins only with its base wager is counted beside each of them: a position is a wager as a seat can
hold it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.coup import Side
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.baccarat.wagers.pay import LOSE, PUSH
from punto.odds.composition import CARDS_OF_A_COUP, Composition, CompositionError
from punto.odds.counting import Numbers, PlainCounts, Shoes, SuitedCounts
from punto.odds.coups import Coups, coups_for
from punto.odds.deciding import Term, features_of, terms
from punto.odds.meter import average_top_award

NO_RULE: Final = "(no rule)"
"""Decides if a wager's own rules do not, so that it loses."""

# Their products then stay near the processor.
_SHOES_AT_ONCE: Final = 32


@dataclass(frozen=True)
class Position:
    """A wager as a seat can hold it; a name such as `progressive:banker` includes its base wager."""

    name: str
    wager: Wager


@dataclass(frozen=True)
class RuleOdds:
    """How often a rule decides: `count` orders of six cards, and its pay net of the stake, per unit staked."""

    rule: str
    pays: str
    count: int
    probability: Fraction
    net: Fraction


@dataclass(frozen=True)
class WagerOdds:
    """A position's figures per unit staked: the house's edge, how often it wins and pushes, the variance of its net.

    Pushes are in the denominator.
    """

    edge: Fraction
    hit: Fraction
    push: Fraction
    variance: Fraction
    rules: tuple[RuleOdds, ...]


def positions(game: Game) -> tuple[Position, ...]:
    """Every wager of the game as a seat can hold it, in the order of the file.

    A wager that needs its base wager's win stands beside each of these and, as `NAME:player+banker`, beside
    both.
    """
    found: list[Position] = []
    for wager in game.wagers:
        for sides in sides_beside(game, wager):
            name = f"{wager.name}:{'+'.join(side.value for side in sides)}" if sides else wager.name
            found.append(Position(name, wager.beside(sides)))
    return tuple(found)


def sides_beside(game: Game, wager: Wager) -> list[tuple[Side, ...]]:
    """The hands that a seat's base wagers can be on, if this wager of the seat depends on them."""
    if not wager.requires_base_win:
        return [()]
    on = game.sides_of(game.bases_for(wager))
    alone: list[tuple[Side, ...]] = [(side,) for side in Side if side in on]
    return [*alone, tuple(Side)] if len(alone) == len(Side) else alone


class GameOdds:
    """One game's odds; building it takes a moment, using it does not."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.positions = positions(game)
        self._rules = [_complete(position.wager) for position in self.positions]
        ends = accumulate(map(len, self._rules))
        self._own = [slice(end - len(rules), end) for rules, end in zip(self._rules, ends, strict=True)]
        if game not in _TABLES:
            _TABLES[game] = _tables(self._rules)
        self._tables = _TABLES[game]
        self._meters: dict[str, Fraction] | None = None

    def counts(self, composition: Composition) -> dict[str, dict[str, int]]:
        """For each position and rule, the orders of six cards in which it decides, of `composition.total`."""
        counts = self._count(np.array([composition.counts]))[:, 0]
        return {
            position.name: {
                rule.name: int(count)
                for rule, count in zip(rules, counts[own], strict=True)
                if count or rule in position.wager.rules
            }
            for position, rules, own in zip(self.positions, self._rules, self._own, strict=True)
        }

    def odds(
        self, composition: Composition, meters: Mapping[str, Fraction] | None = None
    ) -> dict[str, WagerOdds]:
        """Every position's figures.

        `meters` has the amount on the meter of a position, by its name and in minor units; a meter that it
        does not name is taken at its average top award.

        Raises:
            ValueError: no award can be won from a full shoe, so its meter has no average; or `meters` names a
                position without a meter.
        """
        averages = self.average_top_awards()
        for name in meters or {}:
            if name not in averages:
                raise ValueError(
                    f"{name!r} is not a position that pays from a meter: {', '.join(averages) or 'none'}"
                )
        meters = {**averages, **(meters or {})}
        counts = self.counts(composition)
        return {
            position.name: _figures(position, rules, counts[position.name], composition.total, meters)
            for position, rules in zip(self.positions, self._rules, strict=True)
        }

    def average_top_awards(self) -> dict[str, Fraction]:
        """The average top award of each position that pays from a meter, in minor units, for the game's full shoe.

        Raises:
            ValueError: no award can be won from that shoe.
        """
        if self._meters is None:
            shoe = Composition.of_decks(self.game.decks)
            counts = self.counts(shoe)
            self._meters = {
                position.name: average_top_award(
                    position.wager,
                    [
                        (rule, Fraction(counts[position.name].get(rule.name, 0), shoe.total))
                        for rule in position.wager.rules
                    ],
                )
                for position in self.positions
                if position.wager.progressive is not None
            }
        return self._meters

    def edges(self, compositions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The house's edge per unit staked, of shape (shoes, positions), in shoes of shape (shoes, 52).

        Each is computed from exact counts; the meters are at their average top awards.

        Raises:
            CompositionError: a shoe does not have enough cards for a coup.
        """
        return 0.0 - self._means(compositions, self._nets)  # a unary minus would give -0.0 for zero

    def variances(self, compositions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The variance of the net win per unit staked, with the shape of `edges`."""
        found = self._means(compositions, np.concatenate([self._nets, self._nets**2]))
        means, squares = np.split(found, 2, axis=1)
        return squares - means**2

    def _means(self, compositions: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means of the rule values in `values`, of shape (shoes, rows of `values`)."""
        fewest = int(compositions.sum(axis=1).min(initial=CARDS_OF_A_COUP))
        if fewest < CARDS_OF_A_COUP:
            raise CompositionError(
                f"a coup may need {CARDS_OF_A_COUP} cards, but only {fewest} are left in one of the shoes"
            )
        means = np.empty((len(compositions), len(values)))
        for at in range(0, len(compositions), _SHOES_AT_ONCE):
            shoes = compositions[at : at + _SHOES_AT_ONCE]
            total = (shoes.sum(axis=1)[:, None] - np.arange(CARDS_OF_A_COUP)).prod(axis=1)
            means[at : at + _SHOES_AT_ONCE] = (values @ self._count(shoes) / total).T
        return means

    @cached_property
    def _nets(self) -> NDArray[np.float64]:
        """The net pay of each rule: a row for each position, a column for each of its rules."""
        meters = self.average_top_awards()
        nets = np.zeros((len(self.positions), sum(map(len, self._rules))))
        for row, (position, rules) in enumerate(zip(self.positions, self._rules, strict=True)):
            nets[row, self._own[row]] = [_net(rule, position, meters) for rule in rules]
        return nets

    def _count(self, compositions: NDArray[np.int64]) -> Numbers:
        """The counts of all rules of all positions, one after the other: shape (rules, shoes)."""
        shoes = {alphabet: Shoes(alphabet, compositions) for alphabet in {t.alphabet for t in self._tables}}
        first = next(iter(shoes.values()))
        counts = np.zeros((sum(map(len, self._rules)), len(compositions)), dtype=first.plain.dtype)
        for table in self._tables:
            table.add(shoes[table.alphabet], counts)
        return counts


def _complete(wager: Wager) -> tuple[Rule, ...]:
    """The wager's rules; and a rule that it loses, if they might leave a coup undecided."""
    if any(not rule.when.asked for rule in wager.rules):
        return wager.rules
    return (*wager.rules, Rule(name=NO_RULE, pays=LOSE))


class _Table:
    """The counts of the rules that need the same kinds of coups."""

    def __init__(self, coups: Coups, wanted: Mapping[int, Sequence[Term]]) -> None:
        """`wanted` has the terms of each rule, by its column."""
        self.alphabet = coups.alphabet
        plain = {column: [term for term in its if not term.groups] for column, its in wanted.items()}
        self._columns = [column for column, its in plain.items() if its]
        self._plain = PlainCounts(coups, [plain[column] for column in self._columns])
        self._suited = [
            (column, SuitedCounts(coups, term))
            for column, its in wanted.items()
            for term in its
            if term.groups
        ]

    def add(self, shoes: Shoes, counts: Numbers) -> None:
        """Add the counts to its columns."""
        counts[self._columns] += self._plain(shoes)
        for column, suited in self._suited:
            counts[column] += suited(shoes)


_TABLES: Final[WeakKeyDictionary[Game, list[_Table]]] = WeakKeyDictionary()
"""Each game's, for as long as somebody has the game: a shipped one's are made once."""


def _tables(rules: Sequence[Sequence[Rule]]) -> list[_Table]:
    wanted: dict[Coups, dict[int, list[Term]]] = {}
    at = 0
    for each in rules:
        conditions = [rule.when for rule in each]
        coups = coups_for(features_of(conditions))
        wanted.setdefault(coups, {}).update(enumerate(terms(coups, conditions), at))
        at += len(each)
    return [_Table(coups, columns) for coups, columns in wanted.items()]


def _net(rule: Rule, position: Position, meters: Mapping[str, Fraction]) -> Fraction:
    """The net pay of a rule, per unit staked."""
    stake = position.wager.limits.minimum
    award = rule.pay.meter * meters[position.name] / stake if rule.pay.meter else 0
    return rule.pay.returned(1) + award - 1


def _figures(
    position: Position,
    rules: Sequence[Rule],
    counts: Mapping[str, int],
    total: int,
    meters: Mapping[str, Fraction],
) -> WagerOdds:
    found = tuple(
        RuleOdds(
            rule=rule.name,
            pays=rule.pays,
            count=counts[rule.name],
            probability=Fraction(counts[rule.name], total),
            net=_net(rule, position, meters),
        )
        for rule in rules
        if rule.name in counts
    )
    mean = sum((each.probability * each.net for each in found), Fraction(0))
    square = sum((each.probability * each.net**2 for each in found), Fraction(0))
    wins = {rule.name for rule in rules if rule.wins}
    return WagerOdds(
        edge=-mean,
        hit=sum((each.probability for each in found if each.rule in wins), Fraction(0)),
        push=sum((each.probability for each in found if each.pays == PUSH), Fraction(0)),
        variance=square - mean**2,
        rules=found,
    )
