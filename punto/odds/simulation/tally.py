"""The result of the simulated rounds for each wager, and its distance from the exact figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from punto.odds.exact import WagerOdds
from punto.odds.simulation.outcomes import Outcomes


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of a simulation: `counts` has the rounds that each rule decided, for all rules of all positions.

    Rounds of one shoe depend on each other, so standard errors are computed from the sums of batches: some
    shoes each, or one round if each round has its own shoe. `products` has for each rule, and each rule of
    the same position, the products of their rounds in a batch, summed over the batches; None if a batch is a
    round.
    """

    outcomes: Outcomes
    rounds: int
    shoes: int
    batches: int
    counts: NDArray[np.int64]
    products: NDArray[np.int64] | None

    def rules(self, position: int) -> dict[str, int]:
        """The number of rounds that each rule of the position at this place has decided."""
        counts = self.counts[self._own(position)]
        return {rule: int(count) for rule, count in zip(self.outcomes.rules[position], counts, strict=True)}

    def standard_error(self, position: int, value: Mapping[str, float]) -> float | None:
        """The standard error of the mean over all rounds; a round has the value of this position's deciding rule.

        The mean is a ratio: the sums of the batches over their rounds. None for fewer than two batches.
        """
        if self.batches < 2:
            return None
        own = self._own(position)
        counts = self.counts[own]
        values = np.array([value.get(rule, 0) for rule in self.outcomes.rules[position]], np.float64)
        off = values - values @ counts / self.rounds
        squares = off**2 @ counts if self.products is None else off @ self.products[own, : len(off)] @ off
        return sqrt(max(float(squares), 0.0) * self.batches / (self.batches - 1)) / self.rounds

    def _own(self, position: int) -> slice:
        first = self.outcomes.tables.first
        return slice(first[position], first[position + 1])


@dataclass(frozen=True)
class Estimate:
    """A figure from the rounds beside the exact one; the error is None if there are too few rounds to compute it."""

    simulated: float
    standard_error: float | None
    exact: float

    @property
    def sigmas(self) -> float | None:
        """The distance of the figure above the exact one in standard errors; None without an error, or with one of 0."""
        return (self.simulated - self.exact) / self.standard_error if self.standard_error else None


@dataclass(frozen=True)
class RuleEstimate:
    """The number of rounds that a rule has decided, and their share of all."""

    rule: str
    pays: str
    count: int
    frequency: Estimate


@dataclass(frozen=True)
class WagerEstimate:
    """The house's edge on a position per unit staked, pushes in the denominator, and its rules."""

    name: str
    edge: Estimate
    rules: tuple[RuleEstimate, ...]


def estimates(tally: Tally, odds: Mapping[str, WagerOdds]) -> tuple[WagerEstimate, ...]:
    """The results of the rounds for each position, beside its exact odds."""
    return tuple(
        _estimate(tally, place, position.name, odds[position.name])
        for place, position in enumerate(tally.outcomes.positions)
    )


def _estimate(tally: Tally, place: int, name: str, odds: WagerOdds) -> WagerEstimate:
    counts = tally.rules(place)
    edge = -sum((counts[rule.rule] * rule.net for rule in odds.rules), Fraction(0)) / tally.rounds
    error = tally.standard_error(place, {rule.rule: float(rule.net) for rule in odds.rules})
    return WagerEstimate(
        name,
        Estimate(float(edge), error, float(odds.edge)),
        tuple(
            RuleEstimate(
                rule.rule,
                rule.pays,
                counts[rule.rule],
                Estimate(
                    counts[rule.rule] / tally.rounds,
                    tally.standard_error(place, {rule.rule: 1.0}),
                    float(rule.probability),
                ),
            )
            for rule in odds.rules
        ),
    )
