"""How strongly what was counted speaks against its expectation, however often it is read.

The evidence is what a gambler has who doubts the expectation and staked 1 before the first hand. By chance it is 1 on average,
so it ever reaches E with a probability of at most 1/E (Ville's inequality). It follows from the sums alone, so nothing has to be
kept between two looks, and a corrected hand needs only corrected sums. `docs/explanation/watch.md` has the reasons and sources.
"""

from collections.abc import Iterable
from math import exp, expm1, lgamma, log, log1p, sqrt
from typing import Final

NONE: Final = 1.0
"""Evidence of 10 and less is given as 1: it is worth nothing among many figures, and need not be computed."""
MOST: Final = 1e15
"""More is given as so much."""
_LEAST: Final = 10.0
_STRENGTHS: Final = (0.01, 0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""How many hits the expectation is worth to such a gambler, as in a beta distribution: the weakest finds a rare rule that hits
several times, the strongest a Banker that wins one percent too often."""
_TILTS: Final = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
_SCALES: Final = tuple(10.0**power for power in range(16))
"""The most that a hand may win, in minor units, for which a stake on the win stands: larger hands end it."""
_TIMES: Final = (2.0, 6.0, 18.0, 54.0)
"""How many times as likely a hit is to a gambler who doubts the chances of trials, in odds."""
_MONTH: Final = 31
_LARGE: Final = 1_000.0


def alarm_at(figures: int) -> float:
    """The evidence that is an alarm among so many figures, each of which begins again on each day.

    All of them together then raise at most one false alarm in 31 days.
    """
    return float(_MONTH * figures)


def of_count(hits: int, hands: int, chance: float) -> float:
    """The evidence that a rule which decides a hand with this chance, above 0 and below 1, does not.

    The alternatives have the same mean as the chance, so the first hit of a rare rule is no evidence.
    """
    if chance > 0.5:
        hits, chance = hands - hits, 1 - chance
    # The evidence is never above exp(the square of the standard errors).
    if (hits - hands * chance) ** 2 <= log(_LEAST) * hands * chance * (1 - chance):
        return NONE
    by_chance = hits * log(chance) + (hands - hits) * log1p(-chance)
    others = ((strength, strength * (1 - chance) / chance) for strength in _STRENGTHS)
    return _mean(
        (
            _rise(own, hits) + _rise(other, hands - hits) - _rise(own + other, hands) - by_chance
            for own, other in others
        ),
        len(_STRENGTHS),
    )


def of_win(off: float, squares: int, variance: float, widest: float) -> float:
    """The evidence that a win which is `off` its expectation, in minor units, is not by chance.

    `squares` is the sum over the hands of the square of what was staked, `variance` that of a unit staked, and `widest` how far a
    unit can be off in the direction of `off`. By Bennett's inequality, no more has to be known of what the hands paid.
    """
    # No stake is left after a correction, but for what the store has rounded.
    if squares <= 0 or off**2 <= log(_LEAST) * variance * squares:
        return NONE
    largest = widest * sqrt(squares)  # no hand was off by more
    stakes = (
        tilt * abs(off) / scale - variance * squares * (expm1(tilt) - tilt) / scale**2
        for scale in (widest * each for each in _SCALES)
        if scale >= largest
        for tilt in _TILTS
    )
    return _mean(stakes, 2 * len(_SCALES) * len(_TILTS))  # the other half is on the other direction


class Trials:
    """The evidence that trials hit more often than their chances, of which each may have another, from some trial on.

    `most` is the number of trials that there can be: a share of the stake begins with each. `reached` is the most that the
    evidence has been, which is as valid as what it is now.
    """

    def __init__(self, most: int) -> None:
        self.reached = NONE
        self._share = 1 / most
        self._stakes = [0.0] * len(_TIMES)

    def add(self, *, hit: bool, chance: float) -> None:
        """A further trial, whose chance was known before it."""
        self._stakes = [
            min(MOST, (stake + self._share) * (times if hit else 1) / (1 + chance * (times - 1)))
            for stake, times in zip(self._stakes, _TIMES, strict=True)
        ]
        self.reached = max(self.reached, sum(self._stakes) / len(_TIMES))


def _mean(logarithms: Iterable[float], number: int) -> float:
    found = sum(exp(min(each, 700)) for each in logarithms) / number
    return min(MOST, found) if found > _LEAST else NONE


def _rise(of: float, by: int) -> float:
    """`lgamma(of + by) - lgamma(of)`, also where the digits of both are not enough for their difference (Stirling's series)."""
    if of < _LARGE:
        return lgamma(of + by) - lgamma(of)
    end = of + by
    return by * log(of) + (end - 0.5) * log1p(by / of) - by - by / (12 * of * end)
