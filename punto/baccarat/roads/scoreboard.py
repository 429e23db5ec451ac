"""The complete score display of one shoe."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from punto.baccarat.roads import derived_roads
from punto.baccarat.roads.bead_plate import BeadPlate, bead_plate
from punto.baccarat.roads.big_road import BigRoad, big_road, streak
from punto.baccarat.roads.drawing import Tail
from punto.baccarat.roads.rounds import Counts, RoadRound, Streak, counts


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """The five roads, the ask marks, the streak (None before the first decided round) and the totals."""

    bead_plate: BeadPlate
    big_road: BigRoad
    big_eye_boy: derived_roads.DerivedRoad
    small_road: derived_roads.DerivedRoad
    cockroach_pig: derived_roads.DerivedRoad
    ask: derived_roads.Ask
    streak: Streak | None
    counts: Counts


def draw(rounds: Sequence[RoadRound], tail: Tail = "turn") -> Scoreboard:
    """The scoreboard of the shoe so far; `rounds` has all rounds except void and dummy ones, oldest first.

    Raises:
        ValueError: `tail` is neither "turn" nor "fall".
    """
    big = big_road(rounds, tail)
    depths = [len(column) for column in big.columns]
    return Scoreboard(
        bead_plate=bead_plate(rounds),
        big_road=big,
        big_eye_boy=derived_roads.derived_road(depths, derived_roads.BIG_EYE_BOY, tail),
        small_road=derived_roads.derived_road(depths, derived_roads.SMALL_ROAD, tail),
        cockroach_pig=derived_roads.derived_road(depths, derived_roads.COCKROACH_PIG, tail),
        ask=derived_roads.ask(big.columns),
        streak=streak(big.columns),
        counts=counts(rounds),
    )


def to_json(board: Scoreboard) -> dict[str, Any]:
    """The five roads and the ask marks as `punto roads` prints them: plain dicts, lists, strings, numbers and None."""
    return {
        "bead_plate": {
            "columns": [[_bead(each) for each in column] for column in board.bead_plate.columns],
            "cells": [
                {"row": cell.row, "col": cell.col, **_bead(cell.round)} for cell in board.bead_plate.cells
            ],
        },
        "big_road": {
            "columns": [
                [{"winner": each.winner.value, "ties": each.ties} for each in column]
                for column in board.big_road.columns
            ],
            "cells": [
                {
                    "row": cell.row,
                    "col": cell.col,
                    "winner": cell.winner.value if cell.winner is not None else None,
                    "ties": cell.ties,
                }
                for cell in board.big_road.cells
            ],
        },
        "big_eye_boy": _derived(board.big_eye_boy),
        "small_road": _derived(board.small_road),
        "cockroach_pig": _derived(board.cockroach_pig),
        "ask": {"banker": _next_colors(board.ask.banker), "player": _next_colors(board.ask.player)},
    }


def _bead(each: RoadRound) -> dict[str, Any]:
    return {
        "winner": each.winner.value,
        "player_pair": each.player_pair,
        "banker_pair": each.banker_pair,
        "natural": each.natural,
    }


def _derived(road: derived_roads.DerivedRoad) -> dict[str, Any]:
    return {
        "columns": [[color.value for color in column] for column in road.columns],
        "cells": [asdict(cell) | {"color": cell.color.value} for cell in road.cells],
    }


def _next_colors(colors: derived_roads.NextColors) -> dict[str, str | None]:
    return {name: color and color.value for name, color in asdict(colors).items()}
