"""The value of a progressive's meter to a wager, by the model behind the sheets' printed statistics.

On average there are 1/p wagers between two top awards, so the meter takes in c/p stakes after the seed S. A
percentage award takes its share f of the meter q/p times. With the meter at its average A when it is hit,
intake equals payout: S + c/p = A + A f q/p. The meter then pays c + S p a wager in total, and the house keeps
1 - fixed pays - c - S p.
"""

from collections.abc import Iterable
from fractions import Fraction

from punto.baccarat.wagers.definition import Rule, Wager


def average_top_award(wager: Wager, chances: Iterable[tuple[Rule, Fraction]]) -> Fraction:
    """A in minor units, from each rule with its probability; the stake is the wager's minimum.

    Raises:
        ValueError: the wager has no meter, or no award can be won from it.
    """
    if wager.progressive is None:
        raise ValueError(f"{wager.name} does not pay from a meter")
    paid, top = Fraction(0), Fraction(0)
    for rule, chance in chances:
        paid += chance * rule.pay.meter
        top += chance * (rule.pay.meter == 1)
    if not paid:
        raise ValueError(
            f"no award of {wager.name} can be won from this shoe, so its meter has no average: use more "
            "decks, or change the conditions of its rules"
        )
    return average_award(wager.progressive.seed, wager.progressive.rate * wager.limits.minimum, top, paid)


def average_award(seed: int, taken_in: Fraction, top: Fraction, paid: Fraction) -> Fraction:
    """A, in the unit of the seed: `taken_in` is c in it, `top` is p, and `paid` is p + f q, the share paid of the meter."""
    return (seed * top + taken_in) / paid
