"""The conditions that a rule puts on a finished coup.

A condition is a set of features of the coup (`Coup.margin`, `Coup.winning_suit` …), each with its allowed
values. Settlement applies it to one coup, the odds apply it to all coups.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

from punto.baccarat.cards import RANKS
from punto.baccarat.coup import Coup, Winner

Suit = Literal["S", "H", "D", "C"]

# Settings come from files that people write: an unknown key is a mistake. The file reader checks this.
STRICT: Final[dict[str, Any]] = {"extra": "forbid"}

_NUMBERS: Final = {
    "player_cards": (2, 3),
    "banker_cards": (2, 3),
    "coup_cards": (4, 6),
    "player_total": (0, 9),
    "banker_total": (0, 9),
    "margin": (0, 9),
}
BY_POINTS: Final = frozenset({*_NUMBERS, "winner", "natural"})
"""The features that follow from the points of the cards alone; the others need ranks or suits."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Conditions on a finished coup; a field left out sets no condition. A list allows any of its values.

    Each field is the feature of the same name in `Coup`, which documents it. `winning_ranks` lists hands,
    each written with dashes in any order, such as `2-3-4`.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    winner: tuple[Winner, ...] | None = None
    player_cards: tuple[int, ...] | None = None
    banker_cards: tuple[int, ...] | None = None
    coup_cards: tuple[int, ...] | None = None
    player_total: tuple[int, ...] | None = None
    banker_total: tuple[int, ...] | None = None
    margin: tuple[int, ...] | None = None
    natural: bool | None = None
    player_pair: bool | None = None
    banker_pair: bool | None = None
    player_perfect_pair: bool | None = None
    banker_perfect_pair: bool | None = None
    winning_ranks: tuple[str, ...] | None = None
    winning_suit: tuple[Suit, ...] | None = None
    coup_suit: tuple[Suit, ...] | None = None

    def __post_init__(self) -> None:
        for name, (lowest, highest) in _NUMBERS.items():
            _within(name, getattr(self, name), lowest, highest)
        for name, known in (
            ("winner", "player, banker or tie"),
            ("winning_ranks", "hands such as 2-3-4"),
            ("winning_suit", "S, H, D or C"),
            ("coup_suit", "S, H, D or C"),
        ):
            if getattr(self, name) == ():
                raise ValueError(f"{name} is an empty list, so no coup can meet it: write {known}")
        for hand in self.winning_ranks or ():
            _in_order(hand)

    @cached_property
    def asked(self) -> dict[str, frozenset[object]]:
        """The features that have a condition, each with its allowed values."""
        asked: dict[str, frozenset[object]] = {}
        for each in fields(self):
            wanted = getattr(self, each.name)
            if each.name == "winning_ranks" and wanted is not None:
                asked[each.name] = frozenset(_in_order(hand) for hand in wanted)
            elif wanted is not None:
                asked[each.name] = frozenset(wanted if isinstance(wanted, tuple) else (wanted,))
        return asked

    def holds(self, coup: Coup) -> bool:
        """Whether a finished coup meets this condition."""
        return all(getattr(coup, name) in values for name, values in self.asked.items())


def _within(name: str, values: Iterable[int] | None, lowest: int, highest: int) -> None:
    if values is None:
        return
    listed = tuple(values)
    if not listed or any(not lowest <= value <= highest for value in listed):
        raise ValueError(f"{name} must list values from {lowest} to {highest}, not {list(listed)}")


def _in_order(hand: str) -> str:
    """A hand's ranks in the order that `Coup.winning_ranks` uses."""
    ranks = hand.split("-")
    if len(ranks) not in {2, 3} or any(len(rank) != 1 or rank not in RANKS for rank in ranks):
        raise ValueError(
            f"winning_ranks must list hands of two or three ranks of {RANKS}, such as 2-3-4, not {hand!r}"
        )
    return "-".join(sorted(ranks, key=RANKS.index))
