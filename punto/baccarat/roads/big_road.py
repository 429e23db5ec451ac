"""The big road (大路): decided rounds, a new column for each change of winner, ties marked on the round before them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from punto.baccarat.coup import Winner
from punto.baccarat.roads.drawing import Tail, places
from punto.baccarat.roads.rounds import RoadRound, Streak


@dataclass(frozen=True, slots=True)
class Decided:
    """One decided round, whose pair dots the cell shows, and the number of ties marked on it."""

    round: RoadRound
    ties: int

    @property
    def winner(self) -> Winner:
        """The winner: Player or Banker."""
        return self.round.winner


@dataclass(frozen=True, slots=True)
class BigRoadCell:
    """One drawn mark; `round` is None for ties before the first decided round."""

    row: int
    col: int
    round: RoadRound | None
    ties: int

    @property
    def winner(self) -> Winner | None:
        """The winner of the cell's round; None for ties before the first decided round."""
        return self.round.winner if self.round is not None else None


@dataclass(frozen=True, slots=True)
class BigRoad:
    """The logical columns, from which all else is derived, and the drawn cells, oldest first.

    Ties before the first decided round have no logical column: until that round they form one cell at (0, 0).
    """

    columns: tuple[tuple[Decided, ...], ...]
    cells: tuple[BigRoadCell, ...]


def big_road(rounds: Sequence[RoadRound], tail: Tail = "turn") -> BigRoad:
    """The big road of the shoe so far; raises ValueError as `places` does."""
    decided = _decided(rounds)
    columns = tuple(tuple(column) for _, column in groupby(decided, key=lambda each: each.winner))
    drawn = zip(places([len(column) for column in columns], tail), decided, strict=True)
    cells = tuple(BigRoadCell(row, col, each.round, each.ties) for (row, col), each in drawn)
    if rounds and not decided:
        cells = (BigRoadCell(0, 0, None, len(rounds)),)
    return BigRoad(columns, cells)


def streak(columns: Sequence[Sequence[Decided]]) -> Streak | None:
    """The big road's last column, because ties do not break a streak; None before the first decided round."""
    if not columns:
        return None
    return Streak(columns[-1][0].winner, len(columns[-1]))


def _decided(rounds: Sequence[RoadRound]) -> list[Decided]:
    """The decided rounds, each with the ties after it; the first one also with the ties before it."""
    decided: list[Decided] = []
    waiting = 0
    for each in rounds:
        if each.winner is not Winner.TIE:
            decided.append(Decided(each, waiting))
            waiting = 0
        elif decided:
            last = decided[-1]
            decided[-1] = Decided(last.round, last.ties + 1)
        else:
            waiting += 1
    return decided
