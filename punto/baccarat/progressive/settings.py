"""A house's settings of one progressive: its pay table, its rates, and the policies that the sheets leave to the house.

Impossible settings are an error. If the sheet advises against a setting, the house decides: `advice` quotes
the sheet (sheet 000, "Progressive systems flexibility and recommendations").
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Final, Literal

from punto.baccarat.currency import written
from punto.baccarat.progressive.money import MOST, amount, parts_per_million
from punto.baccarat.progressive.shares import DealersSide
from punto.baccarat.unit import Unit
from punto.baccarat.wagers.definition import Progressive, Rule, Wager
from punto.baccarat.wagers.pay import Rounding

Procedure = Literal["aquarius", "nexus"]
Payer = Literal["tray", "meter"]


AMOUNTS: Final = ("seed", "display_limit", "executive_from", "approval_above", "supervisor_from")
"""The settings that are amounts, in minor units."""


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table that shares the meter, and the name of the game that it plays."""

    table: str
    game: str


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)  # only ever a base
class Policies:
    """What the house decides for a progressive. These are keys of `[progressive]`, whose model has this class as a base."""

    authority: str | None = None
    """The id of the service that keeps the meter for several tables. Write the same id in the configurations of all these tables
    and of the authority itself. If left out, this table keeps the meter for itself.
    """
    seed: Annotated[int, Unit("minor units")] | None = None
    """The amount with which the meter starts. If left out, the amount in the game file applies."""
    contribution: str | None = None
    """The share of each wager that goes to the meter, such as `"20%"`. If left out, the share in the game file applies."""
    reserve: str = "0%"
    """The share of each wager that goes to the hidden reserve. After a 100% award, the reserve is added to the next seed."""
    display_limit: Annotated[int, Unit("minor units")] | None = None
    """The largest amount that the meter may show. Any amount above this limit is kept as overflow for the next meter. If left
    out, there is no limit.
    """
    split: Literal["winners", "participants"] = "winners"  # sheet 001, 7b; sheet 000, 7b
    """Who shares an award that is a percentage of the meter. `winners`: the seats that also won their base wager. `participants`:
    all seats that made the progressive wager.
    """
    fixed_awards: Payer = "tray"  # sheet 000, 7a
    """What pays the fixed awards, such as 1000 for 1: the table's own chips (the tray), or the meter."""
    procedure: Procedure = "aquarius"
    """How an award is confirmed. `aquarius`: with a keypad and a supervisor's key. `nexus`: with the dealer's page and swiped
    cards.
    """
    executive_from: Annotated[int, Unit("minor units")] | None = None
    """With `nexus`, an award of this amount or more needs an executive and a second person. If left out, no award needs an
    executive or a second person.
    """
    base_wagers: Literal["recorded", "unseen"] = "unseen"
    """`recorded`: the table receives the wagers on Player and Banker over MQTT, so it knows which seats won. `unseen`: the dealer
    marks the seats that won.
    """
    approval_above: Annotated[int, Unit("minor units")] | None = 0
    """A seed, adjustment, back-out or retirement of more than this amount needs a second person. What is moved in a gaming day
    without approval counts together.
    """
    seat_one: DealersSide = "right"
    """The side of the dealer where seat 1 is. This side decides the order in which the seats are paid."""
    one_side_only: bool | None = None
    """Whether the table refuses a progressive wager from a seat with wagers on both Player and Banker. The default is
    true with `base_wagers = "recorded"`, and otherwise false.
    """
    supervisor_from: Annotated[int, Unit("minor units")] = 0  # sheet 000, 7d-7e
    """The dealer alone may confirm an award of less than this amount from the tray. With 0, a supervisor must confirm every
    award.
    """
    start_closes_betting: bool = (
        False  # sheet 000, 1-3: all wagers are placed before START GAME, and the hand is dealt after it
    )
    """Whether START GAME also closes betting. All wagers are placed before START GAME, so a dealer who presses it has nothing to
    wait for, and saves an order in each hand.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Policies):
    """One progressive's settings; amounts in minor units, rates as "20%" of each wager.

    - `progressive`: its id; `tables`: the tables that share the meter, all playing the same game.
    - `wager`: the pay table, by its rules.
    - `seed`, `contribution`, `one_side_only`: always known, because `by_pay_table` gives what the house left out.
    - `rounding`: of the fixed awards.
    - `wager_stays`: on the sensor until it is settled ("to 1"), or taken at the start ("for 1").

    Raises:
        ValueError: the settings contradict each other, the pay table or a sheet.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    progressive: str
    tables: tuple[LinkedTable, ...]
    wager: Wager
    seed: int = field()  # required: without `field()` it would have the default of `Policies`
    contribution: str = field()
    one_side_only: bool = False
    rounding: Rounding = field(default_factory=Rounding)
    wager_stays: bool = False

    @classmethod
    def by_pay_table(
        cls, progressive: str, tables: tuple[LinkedTable, ...], wager: Wager, **others: Any
    ) -> "Settings":
        """Settings with the pay table's own values as defaults; raises ValueError as above, or if the wager has no meter."""
        own: dict[str, Any] = {
            "seed": _own(wager).seed,
            "contribution": _own(wager).contribution,
            "wager_stays": wager.stake_stays,
            "one_side_only": others.get("base_wagers") == "recorded",
        }
        return cls(progressive=progressive, tables=tables, wager=wager, **{**own, **others})

    def __post_init__(self) -> None:
        _own(self.wager)
        limits = self.wager.limits
        if limits.minimum != limits.maximum:
            raise ValueError(
                f"a sensor does not report amounts, so {self.wager.name} must have one amount: write the "
                f"same minimum and maximum in its limits, not {limits.minimum} and "
                f"{'none' if limits.maximum is None else limits.maximum}"
            )
        self._check_tables()
        for name in AMOUNTS:
            value: int | None = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must be 0 minor units or more, not {value}")
            if value is not None and value > MOST:
                raise ValueError(f"{name} must be at most {MOST} minor units, not {value}")
        for name, rate in (("contribution", self.contribution), ("reserve", self.reserve)):
            try:
                parts_per_million(rate)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        if self.contribution_rate + self.reserve_rate > 1_000_000:
            raise ValueError(
                f"contribution {self.contribution} and reserve {self.reserve} are together more than the whole "
                "wager: write at most 100% for both together"
            )
        if self.display_limit is not None and self.display_limit < self.seed:
            raise ValueError(
                "the display limit is below the seed: write a larger display limit or a smaller seed"
            )
        if self.procedure == "aquarius" and self.executive_from is not None:
            raise ValueError("executive_from is for cards, but Aquarius uses a key: leave executive_from out")
        self._check_supervisor_from()
        self._check_stake()

    def _check_tables(self) -> None:
        names = [each.table for each in self.tables]
        if not names:
            raise ValueError("a progressive needs at least one table")
        if len(set(names)) < len(names):
            raise ValueError(f"each table can be linked only once: {', '.join(names)}")
        games = sorted({each.game for each in self.tables})
        if len(games) > 1:
            raise ValueError(
                f'these tables play {" and ".join(games)}, but only tables with the same game can share a meter: "Dragon '
                'Bonus Progressive cannot be linked to any other progressive game nor linked to any other base game" '
                "(sheet 000)"
            )

    def _check_supervisor_from(self) -> None:
        if not self.supervisor_from:
            return
        if self.fixed_awards == "meter":
            raise ValueError(
                "supervisor_from is for awards that the tray pays, but here the meter pays all awards: leave "
                'supervisor_from out, or write fixed_awards = "tray"'
            )
        if self.executive_from is not None and self.supervisor_from > self.executive_from:
            raise ValueError(
                "supervisor_from is above executive_from: an award between them would need an Executive card but no supervisor"
            )

    def _check_stake(self) -> None:
        """Check that the pays fit the stake: a taken stake cannot be returned, and a "for" pay includes the stake."""
        for rule in self.wager.rules:
            if rule.wins and not rule.pay.meter and rule.pay.stake_taken is self.wager_stays:
                what = "stays on the sensor" if self.wager_stays else "is taken at the start"
                raise ValueError(
                    f'the wager {what}, but {rule.name} pays {rule.pays!r}: use "to" for a wager that stays '
                    'and "for" for a wager that is taken'
                )

    @property
    def contribution_rate(self) -> int:
        """The meter's share of a wager, in parts per million."""
        return parts_per_million(self.contribution)

    @property
    def reserve_rate(self) -> int:
        """The reserve's share of a wager, in parts per million."""
        return parts_per_million(self.reserve)

    @property
    def limit(self) -> int | None:
        """`display_limit` in the meter's unit."""
        return None if self.display_limit is None else amount(self.display_limit)

    def payer(self, rule: Rule) -> Payer:
        """The payer of this rule's award (sheet 000, 7a: "Other hands are paid from the tray or from the meter")."""
        return "meter" if rule.pay.meter else self.fixed_awards

    def tier(self, name: str) -> Rule | None:
        """The rule of this name if it wins an award from either payer; None otherwise."""
        return next((rule for rule in self.wager.rules if rule.name == name and rule.wins), None)

    def dealer_up_to(self, rule: Rule) -> int:
        """The number of seats up to which the dealer may confirm this rule's award without a supervisor."""
        if self.payer(rule) == "meter":
            return 0
        each = self.fixed_award(rule, self.wager.limits.minimum)
        return max(0, self.supervisor_from - 1) // max(1, each)

    def fixed_award(self, rule: Rule, stake: int) -> int:
        """The fixed award of a rule per stake, without the part of the stake that was not taken."""
        return rule.pay.paid(stake, self.rounding)

    @property
    def largest_fixed_award(self) -> int:
        """The largest award of a rule that is not a percentage of the meter."""
        stake = self.wager.limits.minimum
        fixed = [rule for rule in self.wager.rules if rule.wins and not rule.pay.meter]
        return max((self.fixed_award(rule, stake) for rule in fixed), default=0)


def _own(wager: Wager) -> Progressive:
    """The meter's settings as the pay table states them."""
    if wager.progressive is None:
        raise ValueError(f"{wager.name} does not pay from a meter: name a wager that does")
    return wager.progressive


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice against a setting: the subject and the sheet's own words. `loud` for the most important ones."""

    code: str
    text: str
    sheet: str
    loud: bool = False


RUNNING_DRY: Final = (
    "Most pay tables with this style of math are designed to grow over time when a contribution rate of 70% or more is "
    "used. If less is contributed, the risk of the meter “running dry” increases."
)
ONLY_REDUCE: Final = (
    "When using a pay table in which only the progressive (percentage) pays are deducted from the meter, we recommend "
    "only reducing the pre-configured meter contribution rate if any changes are made. Adjusting the contribution rate "
    "above the pre-configured value would reduce the mathematical house advantage of the wager."
)
A_RESERVE: Final = (
    "We recommend contributing a small portion of each progressive wager to the reserve. This amount will be added on "
    "to any configured seed amount after a 100% award is given, and will help reduce the drop in play expected after a "
    "jackpot hits."
)
NOT_THE_RESERVE_ALONE: Final = (
    "We do not recommend eliminating a seed amount entirely and using the reserve as the only seed mechanism. All games "
    "present a certain likelihood of back-to-back awards, and this method runs the risk of restarting the meter at a "
    "very low amount in that case."
)
A_SEED_FOR_FIXED_AWARDS: Final = (
    "If any changes are made, we recommend the seed amount to be at least as large as the largest “fixed” award on the "
    "pay table."
)
NO_ZERO_SEED: Final = "We do not recommend configuring a $0 seed amount."

_GROWS_FROM: Final = 700_000  # 70%, in parts per million


def advice(settings: Settings, currency: str) -> tuple[Advice, ...]:
    """The sheet 000 recommendations that these settings of a meter in this currency do not follow."""
    return (*_on_contribution(settings), *_on_reserve(settings), *_on_seed(settings, currency))


def _on_contribution(settings: Settings) -> Iterator[Advice]:
    own = _own(settings.wager)
    if settings.fixed_awards == "meter" and settings.contribution_rate < _GROWS_FROM:
        yield Advice(
            "contribution_low",
            f"the meter pays all awards, and takes in {settings.contribution} of each wager",
            RUNNING_DRY,
        )
    if settings.fixed_awards == "tray" and Fraction(settings.contribution_rate, 1_000_000) > own.rate:
        yield Advice(
            "contribution_high",
            f"the meter takes in {settings.contribution} of each wager, but the pay table's own rate is "
            f"{own.contribution}",
            ONLY_REDUCE,
        )


def _on_reserve(settings: Settings) -> Iterator[Advice]:
    if not settings.reserve_rate:
        yield Advice("no_reserve", "nothing goes to the reserve", A_RESERVE)
    elif not settings.seed:
        yield Advice("reserve_alone", "only the reserve seeds the next meter", NOT_THE_RESERVE_ALONE)


def _on_seed(settings: Settings, currency: str) -> Iterator[Advice]:
    largest = settings.largest_fixed_award
    if not settings.seed:
        yield Advice("no_seed", "the meter starts with nothing", NO_ZERO_SEED, loud=True)
    if settings.seed < largest:
        yield Advice(
            "seed_low",
            f"the seed is {written(settings.seed, currency)}, and a fixed award can be {written(largest, currency)}",
            A_SEED_FOR_FIXED_AWARDS,
        )
