"""The statistics of a progressive if its sheet had another meaning.

A sheet prints four statistics of a pay table without their method. By the model of `meter.py` they follow
from a few probabilities, so each reading of the sheet gives its own four.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Final, cast

from punto.baccarat.coup import Side, Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.baccarat.wagers.pay import LOSE
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.odds.meter import average_award

DECKS: Final = (4, 6, 8)
"""The shoes for which the sheets print figures."""

_TIE: Final = Wager(
    name="tie",
    title="Tie",
    rules=(
        Rule(name="tie", pays="8 to 1", when=Condition(winner=(Winner.TIE,))),
        Rule(name=LOSE, pays=LOSE),
    ),
)

Asked = tuple[Condition, ...]


class Chances:
    """How often each rule of some wagers decides, from full shoes."""

    def __init__(self, wagers: Iterable[Wager]) -> None:
        """Count them together: rules with the same conditions are counted once, whatever they pay."""
        different = {_asked(wager): wager for wager in (_TIE, *wagers)}
        # Their rules already include the base wager.
        alone = tuple(
            replace(wager, name=str(number), base=True, requires_base="none", requires_base_win=False)
            for number, wager in enumerate(different.values())
        )
        self._names = {asked: wager.name for asked, wager in zip(different, alone, strict=True)}
        self._odds = GameOdds(Game(name="alone", title="", sheet="", wagers=alone))
        self._counts: dict[int, dict[str, dict[str, int]]] = {}

    def of(self, wager: Wager, decks: int) -> list[tuple[Rule, Fraction]]:
        """The wager's rules, each with the share of all coups that it decides."""
        shoe = Composition.of_decks(decks)
        if decks not in self._counts:
            self._counts[decks] = self._odds.counts(shoe)
        counts = self._counts[decks][self._names[_asked(wager)]].values()
        # A wager that leaves coups undecided has one count more.
        return [(rule, Fraction(count, shoe.total)) for rule, count in zip(wager.rules, counts, strict=False)]

    def of_a_tie(self, decks: int) -> Fraction:
        """The share of all coups that are ties."""
        return self.of(_TIE, decks)[0][1]


def _asked(wager: Wager) -> Asked:
    return tuple(rule.when for rule in wager.rules)


@dataclass(frozen=True)
class Given:
    """The statistics of a pay table as sheets print them: percent, percent, the N of "1 in N", dollars."""

    house_advantage: Fraction
    hit_frequency: Fraction
    one_in: Fraction
    average: Fraction


def returned(chances: Iterable[tuple[Rule, Fraction]]) -> Fraction:
    """The average return of a wager's pays per unit staked, stakes included; without a meter's share."""
    return _sum(chance * rule.pay.returned(1) for rule, chance in chances)


@dataclass(frozen=True)
class Model:
    """The inputs of the statistics, per coup.

    The stake and the seed are in minor units. `returned` is the return of fixed pays and pushes per unit
    staked, `top` the probability of the whole meter, `shared` the smaller shares of it, each times its
    probability.
    """

    stake: int
    seed: int
    contribution: Fraction
    hit: Fraction
    returned: Fraction
    top: Fraction
    shared: Fraction

    @classmethod
    def of(cls, wager: Wager, chances: Sequence[tuple[Rule, Fraction]]) -> "Model | None":
        """The model of a wager; None if no coup wins the whole of its meter."""
        top = _sum(chance for rule, chance in chances if rule.pay.meter == 1)
        if wager.progressive is None or not top:
            return None
        return cls(
            stake=wager.limits.minimum,
            seed=wager.progressive.seed,
            contribution=wager.progressive.rate,
            hit=_sum(chance for rule, chance in chances if rule.wins),
            returned=returned(chances),
            top=top,
            shared=_sum(chance * rule.pay.meter for rule, chance in chances if rule.pay.meter < 1),
        )

    def gives(self) -> Given:
        """The statistics."""
        average = average_award(self.seed, self.contribution * self.stake, self.top, self.top + self.shared)
        return Given(
            house_advantage=100 * (self._kept - self.contribution),
            hit_frequency=100 * self.hit,
            one_in=1 / self.top,
            average=average / 100,
        )

    def giving(self, house_advantage: Fraction) -> "Model":
        """The same at the contribution that gives this house advantage, in percent."""
        return replace(self, contribution=self._kept - house_advantage / 100)

    def averaging(self, dollars: Fraction) -> "Model":
        """The same at the contribution that gives this average top award."""
        paid = 100 * dollars * (self.top + self.shared)
        return replace(self, contribution=(paid - self.seed * self.top) / self.stake)

    @property
    def _kept(self) -> Fraction:
        """The house's share before the contribution."""
        return 1 - self.returned - self.top * self.seed / self.stake


def _sum(shares: Iterable[Fraction]) -> Fraction:
    return sum(shares, Fraction(0))


@dataclass(frozen=True)
class Variant:
    """A possible reading of a wager's pay table; `words` describe it."""

    words: tuple[str, ...]
    wager: Wager


def held_beside(wager: Wager, side: Side | None) -> Wager:
    """The wager beside a base wager on this side; with None, one that either hand can win."""
    return replace(wager, requires_base_win=False) if side is None else wager.beside([side])


def variants(wager: Wager, side: Side | None, *, wide: bool) -> list[Variant]:
    """The wager beside this side; if `wide`, also beside the others and with naturals counted."""
    if not wide:
        return [Variant((), held_beside(wager, side))]
    naturals = replace(wager, rules=tuple(map(_of_naturals_too, wager.rules)))
    names = {None: "either hand", Side.PLAYER: "with Player", Side.BANKER: "with Banker"}
    return [
        Variant(
            tuple(filter(None, (names[each] if each is not side else "", words))), held_beside(changed, each)
        )
        for each in (side, *(other for other in names if other is not side))
        for words, changed in (("", wager), ("naturals count", naturals))
        if not words or changed != wager
    ]


def _of_naturals_too(rule: Rule) -> Rule:
    if rule.when.natural is False:
        return replace(rule, when=replace(rule.when, natural=None))
    return rule


@dataclass(frozen=True)
class Supposed:
    """One reading: its assumptions, in words, and the resulting model."""

    words: tuple[str, ...]
    decks: int
    model: Model


AS_PRINTED: Final = "odds as printed"


def supposed(variant: Variant, chances: Chances, one_in: Fraction, *, wide: bool) -> Iterator[Supposed]:
    """The readings of a variant: other shoes, ties that push, the odds as printed; if `wide`, other pays too."""
    pays = {"": variant.wager, **(_paid_the_other_way(variant.wager) if wide else {})}
    for decks, paid, ties, odds in product(DECKS, pays, ("", "ties push"), ("", AS_PRINTED)):
        model = Model.of(pays[paid], chances.of(pays[paid], decks))
        if model is None:
            continue
        yield Supposed(
            words=tuple(filter(None, (*variant.words, paid, ties, odds))),
            decks=decks,
            model=replace(
                model,
                returned=model.returned + (chances.of_a_tie(decks) if ties else 0),
                top=1 / one_in if odds else model.top,
            ),
        )


HANDS_AS_PRINTED: Final = "odds of its hand as printed"


def averaged(variant: Variant, chances: Chances, one_in: Fraction, average: Fraction) -> Iterator[Supposed]:
    """The readings of a variant by the printed odds and the printed average, at the contribution that this needs.

    All tiers of the hand that wins the top award are more probable than counted by the same factor as the top
    award.
    """
    for decks, ties in product(DECKS, ("", "ties push")):
        counted = chances.of(variant.wager, decks)
        model = Model.of(variant.wager, counted)
        hand = next((rule.when.winning_ranks for rule, _ in counted if rule.pay.meter == 1), None)
        if model is None or hand is None:
            continue
        likelier = 1 / (one_in * model.top)
        scaled = [
            (rule, chance * (likelier if rule.when.winning_ranks == hand else 1)) for rule, chance in counted
        ]
        by_odds = cast(Model, Model.of(variant.wager, scaled))
        given_back = by_odds.returned + (chances.of_a_tie(decks) if ties else 0)
        words = (*variant.words, ties, HANDS_AS_PRINTED)
        yield Supposed(
            words=tuple(filter(None, words)),
            decks=decks,
            model=replace(by_odds, returned=given_back).averaging(average),
        )


def _paid_the_other_way(wager: Wager) -> dict[str, Wager]:
    """The wager paid "to 1" where its sheet says "for 1", and the reverse."""
    to, for_ = " to ", " for "
    old, new = (for_, to) if any(for_ in rule.pays for rule in wager.rules) else (to, for_)
    rules = tuple(replace(rule, pays=rule.pays.replace(old, new)) for rule in wager.rules)
    return {f"paid{new}1": replace(wager, rules=rules)}
