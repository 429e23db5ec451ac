"""Mistakes that published code makes, each beside a shoe that tells it from the rule."""

from collections import Counter
from collections.abc import Callable
from itertools import accumulate

import pytest

from punto.baccarat.coup import Winner
from punto.baccarat.roads.big_road import BigRoad, big_road
from punto.baccarat.roads.derived_roads import derived_road
from punto.baccarat.roads.drawing import shown_columns
from punto.baccarat.roads.rounds import Streak
from punto.baccarat.roads.scoreboard import draw
from tests.roads.shoes import rounds


def depths_of(road: BigRoad) -> list[int]:
    return [len(column) for column in road.columns]


def by_rule(depths: list[int]) -> list[str]:
    return [color.value for column in derived_road(depths, 1).columns for color in column]


def big_eye_boy(shoe: str) -> list[str]:
    return [color.value for column in draw(rounds(shoe)).big_eye_boy.columns for color in column]


def skipping_the_first_column(shoe: str) -> list[str]:
    """No cell before the third column, so the second column's further cells are lost."""
    depths = depths_of(big_road(rounds(shoe)))
    return by_rule(depths)[sum(depths[1:2]) - 1 :] if len(depths) > 1 else []


def blue_all_the_way_down(shoe: str) -> list[str]:
    """Blue for each cell beyond the column compared with, not only for the first."""
    depths = depths_of(big_road(rounds(shoe)))
    colors = []
    for n in range(1, len(depths)):
        if n >= 2:
            colors.append("red" if depths[n - 1] == depths[n - 2] else "blue")
        colors += ["blue" if r > depths[n - 1] else "red" for r in range(2, depths[n] + 1)]
    return colors


def from_the_drawn_grid(shoe: str) -> list[str]:
    """A column's depth taken for the number of marks below its head, tails of others among them."""
    road = big_road(rounds(shoe))
    marks = Counter(cell.col for cell in road.cells)
    heads = accumulate(depths_of(road)[:-1], initial=0)
    return by_rule([marks[road.cells[head].col] for head in heads])


def from_a_scrolled_grid(shoe: str) -> list[str]:
    """Columns that a display three columns wide has dropped are not there to be compared with."""
    road = big_road(rounds(shoe))
    shown = shown_columns(road.cells, 3)
    heads = accumulate(depths_of(road)[:-1], initial=0)
    return by_rule(
        [depth for depth, head in zip(depths_of(road), heads, strict=True) if road.cells[head].col in shown]
    )


def ties_breaking_a_streak(shoe: str) -> list[str]:
    """A tie ends the column, and the same winner begins another."""
    runs = shoe.replace("BP", "B P").replace("PB", "P B").replace("T", " ").split()
    return by_rule([len(run) for run in runs])


MISTAKES = [
    pytest.param(skipping_the_first_column, "BBPP", ["red"], [], id="skipping the first column"),
    pytest.param(
        blue_all_the_way_down, "BPPP", ["blue", "red"], ["blue", "blue"], id="blue all the way down"
    ),
    pytest.param(
        from_the_drawn_grid,
        "B" * 7 + "P" * 5 + "B",
        ["red", "red", "red", "red", "blue"],
        # Under the second head stands the first column's tail: six marks each.
        ["red", "red", "red", "red", "red", "red"],
        id="the drawn grid",
    ),
    pytest.param(
        from_a_scrolled_grid,
        "BPPBBBPPPP",
        ["blue", "blue", "red", "blue", "blue", "red", "red", "blue"],
        ["red", "blue", "blue", "red", "red", "blue"],
        id="the scrolled grid",
    ),
    pytest.param(
        ties_breaking_a_streak,
        "BBTBBPP",
        ["red"],
        ["red", "red", "red"],
        id="ties breaking a streak",
    ),
]


@pytest.mark.parametrize(("mistaken", "shoe", "right", "wrong"), MISTAKES)
def test_the_rule_is_kept_where_the_mistake_is_made(
    mistaken: Callable[[str], list[str]], shoe: str, right: list[str], wrong: list[str]
) -> None:
    assert mistaken(shoe) == wrong
    assert big_eye_boy(shoe) == right


@pytest.mark.parametrize(("mistaken", "shoe", "right", "wrong"), MISTAKES)
def test_where_nothing_turns_on_it_the_mistake_does_not_show(
    mistaken: Callable[[str], list[str]], shoe: str, right: list[str], wrong: list[str]
) -> None:
    assert mistaken("BPB") == big_eye_boy("BPB") == ["red"]


def test_a_tie_does_not_break_the_streak_that_is_shown():
    assert draw(rounds("BBTBBT")).streak == Streak(Winner.BANKER, 4)
