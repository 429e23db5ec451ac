"""A game and its wagers, as data.

A wager is an ordered list of rules; the first rule whose condition the finished coup meets decides.
Settlement, analysis and printing use the same definitions.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

from punto.baccarat.coup import Coup, Side, Winner
from punto.baccarat.wagers.condition import STRICT, Condition
from punto.baccarat.wagers.pay import LOSE, PUSH, Pay, Rounding, percentage

LAST_RULE: Final = f'[[wagers.rules]], then name = "{LOSE}" and pays = "{LOSE}" on lines of their own'
"""The text for a file that lets a wager lose in all other cases."""

SHORT_LETTERS: Final = 12
"""How long a wager's short name may be: five of them and their amounts fit beside a seat on the dealer's page."""

FACE_UP_ONLY: Final = (
    "The card recognition feature must not be used with any variations or proprietary versions of Mini "
    "Baccarat or Baccarat or any other card game other than those specifically identified above unless all "
    "cards in the game are dealt face up in accordance with the game rules."
)
"""Approval letter of 23 February 2012, second requirement (sheet 001)."""


class PlaceError(ValueError):
    """An error at this place of the rejected value: keys, and indexes in lists from 0."""

    def __init__(self, message: str, place: tuple[str | int, ...]) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The pay of a wager if a condition holds; `pays` as a sheet prints it, such as "30 to 1", "push" or "lose".

    A rule without `when` decides every coup that the rules before it did not.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    pays: str
    when: Condition = field(default_factory=Condition)

    def __post_init__(self) -> None:
        try:
            Pay.parse(self.pays)
        except ValueError as error:
            raise ValueError(f"pays = {error}") from None
        if self.name == LOSE and self.pays != LOSE:
            raise ValueError(
                f'name "{LOSE}" is only for a rule that pays "{LOSE}", but this rule pays "{self.pays}"'
            )

    @property
    def pay(self) -> Pay:
        """`pays`, parsed."""
        return Pay.parse(self.pays)

    @property
    def wins(self) -> bool:
        """Whether it pays more than the stake."""
        return self.pays not in {LOSE, PUSH}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The allowed amounts of a wager, in minor units: the multiples of `step` from `minimum` to `maximum`.

    If `maximum` is None, there is no upper bound. `maximum_of_base` bounds a side wager by a share of its seat's base wager,
    such as "50%".
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    minimum: int = 1
    maximum: int | None = None
    step: int = 1
    maximum_of_base: str | None = None

    def __post_init__(self) -> None:
        if self.maximum_of_base is not None and not percentage(self.maximum_of_base):
            raise ValueError("maximum_of_base must be more than 0%: no amount would be allowed")
        if self.minimum < 1 or self.step < 1:
            raise ValueError(
                f"minimum and step must be at least 1 minor unit, not {self.minimum} and {self.step}"
            )
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError(f"the maximum {self.maximum} is below the minimum {self.minimum}")

    def off_step(self, shown: Callable[[int], str] = str) -> str | None:
        """The error in a bound that no wager can meet, with amounts as they are `shown`; None if wagers can meet both bounds.

        Files are checked for this, records are not: records written before this check existed must stay
        readable.
        """
        for name, amount, near in (
            ("minimum", self.minimum, -(-self.minimum // self.step) * self.step),
            ("maximum", self.maximum, (self.maximum or 0) // self.step * self.step),
        ):
            if amount is not None and amount != near:
                return (
                    f"the {name} {shown(amount)} is not a multiple of the step {shown(self.step)}: write a multiple of the step, such as "
                    f"{shown(near)}"
                )
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressive:
    """A meter's seed and intake: `seed` in minor units, `contribution` the share of each wager, such as "20%"."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    seed: int
    contribution: str

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be 0 minor units or more, not {self.seed}")
        if not 0 <= self.rate <= 1:
            raise ValueError(f"contribution must be from 0% to 100%, not {self.contribution!r}")

    @property
    def rate(self) -> Fraction:
        """`contribution` as a share of a wager."""
        return percentage(self.contribution)


HouseRule = Literal["requires_base", "requires_base_win", "natural_nine"]
"""A rule of a wager that a sheet can leave to the house."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftToHouse:
    """A rule that a sheet leaves to the house, and the `clause` that does so."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    rule: HouseRule
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wager:
    """A wager that a seat can make.

    `base` marks the wagers of the game itself. For a side wager, `requires_base` says if its seat must also
    have a base wager: none, any, or the one on the same `side`. With `requires_base_win` it wins only if the
    hand of the seat's base wager wins (sheet 000: "tied to the winning Mini-Baccarat wager"). A wager that
    pays from a meter has a `progressive`. `house` are the rules that the sheet leaves to the house.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    title: str
    rules: tuple[Rule, ...]
    base: bool = False
    side: Side | None = None
    requires_base: Literal["none", "any", "same_side"] = "none"
    requires_base_win: bool = False
    progressive: Progressive | None = None
    limits: Limits = field(default_factory=Limits)
    house: tuple[LeftToHouse, ...] = ()
    badge: str | None = None
    """The colour, such as #b05a00, of the badge that the boards show when a hand wins this wager; no badge without it."""
    short: str | None = None
    """The name of the wager where a page has little room for it; the title without it."""
    titles: dict[str, str] = field(default_factory=dict, hash=False)
    """Its title in other languages, such as zh-Hant."""

    def __post_init__(self) -> None:
        _titled(self)
        self._check_shown()
        if not self.rules:
            raise ValueError(f"{self.name} has no rules: it would always lose")
        _unique(f"rules of {self.name}", "rules", self.rules)
        if self.requires_base == "same_side" and self.side is None:
            raise ValueError(
                f'{self.name} requires a base wager on the same side: write side = "player" or "banker"'
            )
        if self.base and self.requires_base != "none":
            raise ValueError(f"{self.name} is a base wager and cannot require another")
        if self.requires_base_win and self.requires_base == "none":
            raise ValueError(
                f'requires_base_win of {self.name} needs a base wager: write requires_base = "any" or "same_side" too'
            )
        if self.requires_base_win and (self.rules[-1].wins or self.rules[-1].when.asked):
            raise ValueError(
                f"requires_base_win takes some wins away, so the rules of {self.name} must end with a rule that "
                f"has no `when` and does not win: {LAST_RULE}"
            )
        if self.limits.maximum_of_base is not None and (self.of_a_hand or self.progressive is not None):
            raise ValueError(
                f"{self.name} cannot have maximum_of_base, which is for side wagers: it is a wager on a hand, or pays from a meter"
            )
        metered = [rule.name for rule in self.rules if rule.pay.meter]
        if metered and self.progressive is None:
            raise ValueError(
                f"{self.name} pays {metered[0]} from a meter: give it progressive = {{ seed = ..., contribution = ... }}"
            )
        if self.progressive is not None and not metered:
            raise ValueError(
                f"progressive is given, but no rule of {self.name} pays from the meter: leave progressive out, or write such a rule"
            )

    def _check_shown(self) -> None:
        if self.short is not None and not 1 <= len(self.short) <= SHORT_LETTERS:
            raise ValueError(
                f"short of {self.name} is {self.short!r}: write 1 to {SHORT_LETTERS} characters, or leave it out"
            )
        if self.badge is not None and not re.fullmatch("#[0-9a-fA-F]{6}", self.badge):
            raise ValueError(
                f"badge of {self.name} is {self.badge!r}: write # and six hexadecimal digits, such as #b05a00"
            )

    @property
    def short_title(self) -> str:
        """The name of the wager for a narrow place."""
        return self.title if self.short is None else self.short

    @property
    def stake_stays(self) -> bool:
        """Whether the stake stays before its seat until it is settled ("to"), and is not taken at the start ("for").

        "The dealer will remove all $1 progressive bets from bet sensors or, if applicable, leave the $5
        progressive wager on the coin spot" (sheet 000, dealing procedure 2); the pay table prints "1000 for
        1" for the first and "1000 to 1" for the second. A percentage of the meter is printed without either
        and follows the same stake.
        """
        return any(rule.wins and not rule.pay.stake_taken for rule in self.rules)

    def with_rule(self, rule: HouseRule, value: Any) -> "Wager":
        """This wager with another value of a rule that the sheet leaves to the house; raises ValueError if it cannot be.

        With `natural_nine`, a win by 9 counts as one if it is a natural too.
        """
        if rule != "natural_nine":
            return replace(self, **{rule: value})
        natural = None if value else False
        rules = (
            replace(each, when=replace(each.when, natural=natural)) if _by_nine(each) else each
            for each in self.rules
        )
        return replace(self, rules=tuple(rules))

    @property
    def of_a_hand(self) -> bool:
        """Whether it is the game's wager on the Player or the Banker hand."""
        return self.base and self.side is not None

    @property
    def plain_rules(self) -> list[tuple[str, str, dict[str, Any]]]:
        """The name, pay and conditions of each rule, as JSON has them. A new kind of condition does not change others."""
        return [
            (each.name, each.pays, {k: v for k, v in asdict(each.when).items() if v is not None})
            for each in self.rules
        ]

    @property
    def deciding(self) -> tuple[object, ...]:
        """What decides and pays this wager, as JSON has it."""
        return self.name, self.base, self.side, self.requires_base, self.requires_base_win, self.plain_rules

    def deciding_rule(self, coup: Coup) -> Rule | None:
        """The first rule that a finished coup meets; None if it meets no rule, and the wager loses."""
        return next((rule for rule in self.rules if rule.when.holds(coup)), None)

    def beside(self, sides: Collection[Side]) -> "Wager":
        """This wager for a seat with base wagers on these sides: without the wins that the seat then cannot have."""
        if not self.requires_base_win:
            return self
        winners = [Winner(side.value) for side in Side if side in sides]
        rules = tuple(_only_won_by(self.rules, winners))
        # A wager that cannot win a share of the meter has no progressive.
        progressive = self.progressive if any(rule.pay.meter for rule in rules) else None
        return replace(self, rules=rules, requires_base_win=False, progressive=progressive)


def _by_nine(rule: Rule) -> bool:
    """Whether a rule asks for a win by 9 alone, natural or not."""
    return rule.wins and rule.when.margin == (9,) and rule.when.asked.keys() <= {"margin", "natural"}


def _only_won_by(rules: Iterable[Rule], winners: Collection[Winner]) -> Iterable[Rule]:
    for rule in rules:
        allowed = tuple(w for w in winners if rule.when.winner is None or w in rule.when.winner)
        if not rule.wins:
            yield rule
        elif allowed:
            yield replace(rule, when=replace(rule.when, winner=allowed))


@dataclass(frozen=True, kw_only=True)
class Game:
    """A game file: the deal and the wagers of a game.

    `titles` are its title in other languages, such as zh-Hant. `sheet` names its sources, `variation` says if the approval letter counts it as a variation, `reveal` says
    who turns the cards: the shoe shows them as they are dealt, or they lie face down until the dealer, or the
    player with the largest wager (midi), has turned them. `maximum_wagers` bounds a seat's wagers on one coup.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    title: str
    sheet: str
    wagers: tuple[Wager, ...]
    decks: int = 8
    variation: bool = False
    dealt: Literal["face_up", "face_down"] = "face_up"
    reveal: Literal["shoe", "dealer", "player"] = "shoe"
    maximum_wagers: int | None = None
    rounding: Rounding = field(default_factory=Rounding)
    titles: dict[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _titled(self)
        if not 1 <= self.decks <= 12:
            raise ValueError(f"decks must be from 1 to 12, not {self.decks}")
        if self.maximum_wagers is not None and self.maximum_wagers < 1:
            raise ValueError(f"maximum_wagers must be at least 1, not {self.maximum_wagers}")
        _unique("wagers", "wagers", self.wagers)
        if not any(wager.base for wager in self.wagers):
            raise ValueError("no wager has base = true: a game needs its base wagers")
        for wager in self.wagers:
            if wager.requires_base != "none" and not self.bases_for(wager):
                side = "the same side" if wager.requires_base == "same_side" else "a hand"
                raise ValueError(
                    f"{wager.name} requires a base wager on {side}, but the game does not have one"
                )

    def wager(self, name: str) -> Wager:
        """The wager of this name; raises KeyError if this game does not have it."""
        return self._wagers_by_name[name]

    @cached_property
    def _wagers_by_name(self) -> dict[str, Wager]:
        return {wager.name: wager for wager in self.wagers}

    def deciding_rules(self, coup: Coup) -> tuple[tuple[str, str], ...]:
        """The names of each wager and of the rule by which a finished coup decides it; without the wagers that no rule decides."""
        features = tuple(getattr(coup, name) for name in self._asked)
        found = self._decided.get(features)
        if found is None:
            rules = ((wager.name, wager.deciding_rule(coup)) for wager in self.wagers)
            found = tuple((name, rule.name) for name, rule in rules if rule is not None)
            self._decided[features] = found
        return found

    @cached_property
    def _asked(self) -> tuple[str, ...]:
        """The features of a coup that the rules ask for: they alone decide."""
        return tuple(
            {name: None for wager in self.wagers for rule in wager.rules for name in rule.when.asked}
        )

    @cached_property
    def _decided(self) -> dict[tuple[object, ...], tuple[tuple[str, str], ...]]:
        """What was decided so far, by the values of these features: some hundred, or some ten thousand if rules ask for ranks."""
        return {}

    @cached_property
    def rules_digest(self) -> str:
        """Names what decides and pays a hand: decks, rounding, and each wager's rules with the base wager that it needs.

        Games that differ only in texts, limits, meters or how they are dealt have the same.
        """
        return digest_of(
            self.decks,
            asdict(self.rounding),
            [each.deciding for each in self.wagers],
        )

    @cached_property
    def rules_by_part(self) -> dict[str, str]:
        """A digest of each part of `rules_digest`, by the name of the part: two games that differ there have other parts here."""
        parts = {"decks": self.decks, "rounding": asdict(self.rounding)}
        return {
            name: digest_of(part)
            for name, part in (
                *parts.items(),
                *((f"wager {each.name}", each.deciding) for each in self.wagers),
            )
        }

    @property
    def hides_cards(self) -> bool:
        """Whether the cards lie face down at the table at first."""
        return self.reveal != "shoe"

    def sides_of(self, names: Iterable[str]) -> frozenset[Side]:
        """The sides of the base wagers among these."""
        wagers = (self.wager(name) for name in names)
        return frozenset(wager.side for wager in wagers if wager.base and wager.side is not None)

    def bases_for(self, wager: Wager) -> tuple[str, ...]:
        """The names of the base wagers; `wager` needs any one of them. Empty if it needs none.

        A wager that requires its base wager's win could never win beside a base wager on neither hand, such
        as Tie.
        """
        if wager.requires_base == "none":
            return ()
        return tuple(
            base.name
            for base in self.wagers
            if base.base
            and (wager.requires_base == "any" or base.side is wager.side)
            and (base.side is not None or not wager.requires_base_win)
        )


def digest_of(*values: Any) -> str:
    """A short name of values that JSON has: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def _titled(named: "Wager | Game") -> None:
    for language, title in named.titles.items():
        if not re.fullmatch("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", language):
            raise ValueError(
                f"titles of {named.name} has {language!r}: write the code of a language, such as zh-Hant"
            )
        if not title.strip():
            raise ValueError(f"the title of {named.name} in {language} is empty: write one, or leave it out")


def _unique(what: str, key: str, named: Iterable[Rule | Wager]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(each.name for each in named):
        if name in seen:
            message = f"two {what} have the name {name!r}: give each its own name"
            raise PlaceError(message, (key, number, "name"))
        seen.add(name)
