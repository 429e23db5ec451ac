"""The grid that roads are drawn on: six rows, as many columns as it takes.

Places are (row, col), counted from 0, row 0 on top. Drawing never changes a road: a dragon tail and a narrow
display change the place of a mark, not its meaning.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, get_args

ROWS = 6

Place = tuple[int, int]
# Whether a dragon tail stays in the row in which it turned, or goes down again when it can.
Tail = Literal["turn", "fall"]


class OnGrid(Protocol):
    """A drawn cell of any road."""

    @property
    def col(self) -> int:
        """Its display column, counted from 0."""


def places(depths: Sequence[int], tail: Tail = "turn") -> list[Place]:
    """The place of each cell of a road, given the depth of each logical column; in the order of the cells.

    A column starts in the top row, right of the previous column's head, at the first free cell. It goes down
    while it can, and then turns right: the dragon tail.

    Raises:
        ValueError: `tail` is neither "turn" nor "fall".
    """
    if tail not in get_args(Tail):
        raise ValueError(
            f"the tail of a long streak can 'turn' or 'fall', not {tail!r}: correct the display's tail setting"
        )
    taken: set[Place] = set()
    found: list[Place] = []
    head = -1
    for depth in depths:
        head += 1
        while (0, head) in taken:
            head += 1
        column = _column(depth, head, taken, tail)
        taken.update(column)
        found += column
    return found


def _column(depth: int, head: int, taken: set[Place], tail: Tail) -> list[Place]:
    """One logical column's places. The cell to the right is always free: earlier columns run below or end before it."""
    row, col = 0, head
    column = [(row, col)]
    for _ in range(depth - 1):
        below = (row + 1, col)
        turned = col > head
        if row + 1 < ROWS and below not in taken and (tail == "fall" or not turned):
            row += 1
        else:
            col += 1
        column.append((row, col))
    return column


def shown_columns(cells: Sequence[OnGrid], width: int) -> range:
    """The display columns to show if `width` of them fit; draw a cell at `col - shown.start`.

    Whole columns are dropped, from the left, so that the last drawn column fits. The newest cell (the last of
    `cells`) always stays, even if a long tail extends past it.

    Raises:
        ValueError: `width` is less than one column.
    """
    if width < 1:
        raise ValueError(f"a road needs at least one column, not {width}: widen the display's grid")
    if not cells:
        return range(width)
    last = max(cell.col for cell in cells)
    first = min(max(0, last + 1 - width), cells[-1].col)
    return range(first, first + width)
