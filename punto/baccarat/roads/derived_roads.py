"""The derived roads: big eye boy (大眼仔), small road (小路), cockroach pig (曱甴路), and the ask marks.

Each compares the big road's logical columns with the column `k` to the left, and reads only their depths:
neither the drawn grid nor the winner. Red means that the shoe is regular, blue that it is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from punto.baccarat.coup import Winner
from punto.baccarat.roads.big_road import Decided
from punto.baccarat.roads.drawing import Tail, places

BIG_EYE_BOY = 1
SMALL_ROAD = 2
COCKROACH_PIG = 3


class Color(StrEnum):
    """A derived road's mark: regular or irregular. It does not stand for Banker or Player."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class DerivedCell:
    """One mark where it is drawn."""

    row: int
    col: int
    color: Color


@dataclass(frozen=True, slots=True)
class DerivedRoad:
    """The logical columns, a new one for each change of colour, and the drawn cells, oldest first."""

    columns: tuple[tuple[Color, ...], ...]
    cells: tuple[DerivedCell, ...]


@dataclass(frozen=True, slots=True)
class NextColors:
    """The colour of each derived road's next cell; None if the road would not get a cell."""

    big_eye_boy: Color | None
    small_road: Color | None
    cockroach_pig: Color | None


@dataclass(frozen=True, slots=True)
class Ask:
    """The ask marks: the derived roads' next cells if Banker wins the next decided round, and if Player wins it."""

    banker: NextColors
    player: NextColors


def derived_road(depths: Sequence[int], k: int, tail: Tail = "turn") -> DerivedRoad:
    """A derived road, from the depths of the big road's logical columns; raises ValueError as `places` does."""
    colors = [
        color
        for n, depth in enumerate(depths, start=1)
        for r in range(1, depth + 1)
        if (color := _color(depths, n, r, k)) is not None
    ]
    columns = tuple(tuple(column) for _, column in groupby(colors))
    drawn = zip(places([len(column) for column in columns], tail), colors, strict=True)
    return DerivedRoad(columns, tuple(DerivedCell(row, col, color) for (row, col), color in drawn))


def ask(columns: Sequence[Sequence[Decided]]) -> Ask:
    """The ask marks for the big road's logical columns."""
    return Ask(banker=_next_colors(columns, Winner.BANKER), player=_next_colors(columns, Winner.PLAYER))


def _next_colors(columns: Sequence[Sequence[Decided]], winner: Winner) -> NextColors:
    depths = [len(column) for column in columns]
    if columns and columns[-1][0].winner is winner:
        n, r = len(depths), depths[-1] + 1
    else:
        n, r = len(depths) + 1, 1
    return NextColors(
        big_eye_boy=_color(depths, n, r, BIG_EYE_BOY),
        small_road=_color(depths, n, r, SMALL_ROAD),
        cockroach_pig=_color(depths, n, r, COCKROACH_PIG),
    )


def _color(depths: Sequence[int], n: int, r: int, k: int) -> Color | None:
    """The colour for the r-th cell of the big road's column n, both counted from 1; None if there is none.

    Only the depths of columns before n are read, and those are final.
    """

    def depth(column: int) -> int:
        return depths[column - 1]

    if r == 1:
        # From n = k + 2: were the two compared columns equally deep?
        if n < k + 2:
            return None
        return Color.RED if depth(n - 1) == depth(n - 1 - k) else Color.BLUE
    # From n = k + 1: blue for the one cell that first goes below the compared column, red before and after.
    if n < k + 1:
        return None
    return Color.BLUE if r == depth(n - k) + 1 else Color.RED
