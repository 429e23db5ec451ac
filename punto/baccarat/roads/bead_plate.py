"""The bead plate (珠盤路): every round, ties too, down columns of six, left to right."""

from collections.abc import Sequence
from dataclasses import dataclass

from punto.baccarat.roads.drawing import ROWS
from punto.baccarat.roads.rounds import RoadRound


@dataclass(frozen=True, slots=True)
class Bead:
    """One round where it is drawn."""

    row: int
    col: int
    round: RoadRound


@dataclass(frozen=True, slots=True)
class BeadPlate:
    """The rounds by column of six, and the same rounds as drawn, oldest first.

    `drawing.shown_columns` scrolls a full plate by whole columns, because a bead never leaves its column.
    """

    columns: tuple[tuple[RoadRound, ...], ...]
    cells: tuple[Bead, ...]


def bead_plate(rounds: Sequence[RoadRound]) -> BeadPlate:
    """The bead plate of the shoe so far."""
    return BeadPlate(
        columns=tuple(tuple(rounds[top : top + ROWS]) for top in range(0, len(rounds), ROWS)),
        cells=tuple(Bead(n % ROWS, n // ROWS, each) for n, each in enumerate(rounds)),
    )
