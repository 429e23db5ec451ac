"""What a progressive's meter is worth to a wager, by the model behind the sheets' printed statistics.

Between two top awards, on average, come 1/p wagers, so the meter takes in c/p stakes after the seed S. A percentage
award takes its share f of the meter q/p times. With the meter at its average A when it is hit, what goes in is what
goes out: S + c/p = A + A f q/p. All that a meter ever pays is then c + S p a wager, and the house keeps
1 - fixed pays - c - S p.
"""

from collections.abc import Iterable
from fractions import Fraction

from punto.baccarat.wagers.definition import Rule, Wager


def average_top_award(wager: Wager, chances: Iterable[tuple[Rule, Fraction]]) -> Fraction:
    """A in minor units, from each rule with its probability; the stake is the wager's minimum.

    Raises:
        ValueError: the wager has no meter, or nothing can be won from it.
    """
    if wager.progressive is None:
        raise ValueError(f"{wager.name} pays nothing from a meter")
    paid, top = Fraction(0), Fraction(0)
    for rule, chance in chances:
        paid += chance * rule.pay.meter
        top += chance * (rule.pay.meter == 1)
    if not paid:
        raise ValueError(
            f"no award of {wager.name} can be won from this shoe, so its meter has no average: ask with more decks, or "
            "change what its rules ask"
        )
    return average_award(wager.progressive.seed, wager.progressive.rate * wager.limits.minimum, top, paid)


def average_award(seed: int, taken_in: Fraction, top: Fraction, paid: Fraction) -> Fraction:
    """A, in the unit of the seed: `taken_in` is c in it, `top` is p, and `paid` is p + f q, the share paid of the meter."""
    return (seed * top + taken_in) / paid
