"""A game and its wagers, as data.

A wager is an ordered list of rules; the first whose condition holds of the finished coup decides, and a wager
that no rule decides loses. The same definitions settle, are analysed, and are printed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

from controller.baccarat.coup import Coup, Side, Winner
from controller.wagers.pay import Pay, Rounding

LOSES: Final = "lose"
"""The name of the rule that decides when no other does."""

# Settings come from files that people write: a key that nothing reads is a mistake. The file reader honours this.
_STRICT: Final[dict[str, Any]] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What must be so of a finished coup; fields left out are not asked. Lists name any of several values.

    `margin` is the points between the hands, `natural` whether a natural ended the coup (the winner's own, or both
    hands' on a tie), cards and totals are those of the finished hands.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    winner: tuple[Winner, ...] | None = None
    player_cards: tuple[int, ...] | None = None
    banker_cards: tuple[int, ...] | None = None
    player_total: tuple[int, ...] | None = None
    banker_total: tuple[int, ...] | None = None
    margin: tuple[int, ...] | None = None
    natural: bool | None = None
    player_pair: bool | None = None
    banker_pair: bool | None = None

    def __post_init__(self) -> None:
        """Refuse values that no coup can have."""
        _within("player_cards", self.player_cards, 2, 3)
        _within("banker_cards", self.banker_cards, 2, 3)
        _within("player_total", self.player_total, 0, 9)
        _within("banker_total", self.banker_total, 0, 9)
        _within("margin", self.margin, 0, 9)
        if self.winner == ():
            raise ValueError("winner is an empty list, which never holds: name player, banker or tie")

    def holds(self, coup: Coup) -> bool:
        """Whether this is so of a coup that is over."""
        return (
            (self.winner is None or coup.winner in self.winner)
            and (self.player_cards is None or len(coup.player) in self.player_cards)
            and (self.banker_cards is None or len(coup.banker) in self.banker_cards)
            and (self.player_total is None or coup.player_total in self.player_total)
            and (self.banker_total is None or coup.banker_total in self.banker_total)
            and (self.margin is None or coup.margin in self.margin)
            and (self.natural is None or coup.natural is self.natural)
            and (self.player_pair is None or coup.player_pair is self.player_pair)
            and (self.banker_pair is None or coup.banker_pair is self.banker_pair)
        )


def _within(name: str, values: Iterable[int] | None, lowest: int, highest: int) -> None:
    if values is None:
        return
    listed = tuple(values)
    if not listed or any(not lowest <= value <= highest for value in listed):
        raise ValueError(f"{name} must list values from {lowest} to {highest}, not {list(listed)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a wager pays when a condition holds; `pays` as a sheet prints it, such as "30 to 1" or "push"."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    name: str
    pays: str
    when: Condition

    def __post_init__(self) -> None:
        """Refuse a pay that cannot be read and the one name that is taken."""
        Pay.parse(self.pays)
        if self.name == LOSES:
            raise ValueError(f'a rule may not be called "{LOSES}": that is what happens when no rule decides')

    @property
    def pay(self) -> Pay:
        """`pays`, parsed."""
        return Pay.parse(self.pays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The amounts a wager may have, in minor units: `minimum` to `maximum` (None: no bound) in steps of `step`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    minimum: int = 1
    maximum: int | None = None
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse limits that no amount can meet."""
        if self.minimum < 1 or self.step < 1:
            raise ValueError(
                f"minimum and step must be at least 1 minor unit, not {self.minimum} and {self.step}"
            )
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError(f"the maximum {self.maximum} is below the minimum {self.minimum}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wager:
    """A wager that a seat can make.

    `base` marks the wagers of the game itself. A side wager says by `requires_base` whether its seat must also have
    a base wager: none, any, or the one on the same `side`.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    name: str
    title: str
    rules: tuple[Rule, ...]
    base: bool = False
    side: Side | None = None
    requires_base: Literal["none", "any", "same_side"] = "none"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse a wager that could never be made or settled."""
        if not self.rules:
            raise ValueError(f"{self.name} has no rules: it would always lose")
        _unique(f"rules of {self.name}", (rule.name for rule in self.rules))
        if self.requires_base == "same_side" and self.side is None:
            raise ValueError(
                f'{self.name} requires a base wager on the same side: say side = "player" or "banker"'
            )
        if self.base and self.requires_base != "none":
            raise ValueError(f"{self.name} is a base wager and cannot require another")

    def deciding_rule(self, coup: Coup) -> Rule | None:
        """The first rule that holds of a coup that is over, None when the wager loses."""
        return next((rule for rule in self.rules if rule.when.holds(coup)), None)


@dataclass(frozen=True, kw_only=True)
class Game:
    """A game file: how it is dealt and which wagers it offers.

    `sheet` names its sources, `variation` whether the approval letter counts it as one, `reveal` who shows the
    cards: the shoe as they are dealt, or the dealer at the end (midi). `maximum_wagers` bounds a seat's wagers on
    one coup.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    name: str
    title: str
    sheet: str
    wagers: tuple[Wager, ...]
    decks: int = 8
    variation: bool = False
    dealt: Literal["face_up", "face_down"] = "face_up"
    reveal: Literal["shoe", "dealer"] = "shoe"
    maximum_wagers: int | None = None
    rounding: Rounding = field(default_factory=Rounding)

    def __post_init__(self) -> None:
        """Refuse a game that cannot be played as written."""
        if not 1 <= self.decks <= 12:
            raise ValueError(f"decks must be from 1 to 12, not {self.decks}")
        if self.maximum_wagers is not None and self.maximum_wagers < 1:
            raise ValueError(f"maximum_wagers must be at least 1, not {self.maximum_wagers}")
        _unique("wagers", (wager.name for wager in self.wagers))
        if not any(wager.base for wager in self.wagers):
            raise ValueError("no wager has base = true: a game needs its base wagers")
        for wager in self.wagers:
            if wager.requires_base != "none" and not self.bases_for(wager):
                raise ValueError(f"{wager.name} requires a base wager on the same side, and there is none")

    def wager(self, name: str) -> Wager:
        """The wager of this name.

        Raises:
            KeyError: this game has none.
        """
        return self._wagers_by_name[name]

    @cached_property
    def _wagers_by_name(self) -> dict[str, Wager]:
        return {wager.name: wager for wager in self.wagers}

    def bases_for(self, wager: Wager) -> tuple[str, ...]:
        """The names of the base wagers any one of which lets `wager` be made; empty when it needs none."""
        if wager.requires_base == "none":
            return ()
        return tuple(
            base.name
            for base in self.wagers
            if base.base and (wager.requires_base == "any" or base.side is wager.side)
        )


def _unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two {what} are called {name!r}: each needs a name of its own")
        seen.add(name)
