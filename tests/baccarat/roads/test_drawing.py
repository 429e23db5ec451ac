from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.roads.drawing import ROWS, Tail, places, shown_columns
from tests.baccarat.roads import oracle

DEPTHS = st.lists(st.integers(1, 20), max_size=20)


def picture(depths: list[int], tail: Tail) -> list[str]:
    """The grid as text, the first column's cells as a, the second's as b and so on."""
    letters = [chr(ord("a") + n) for n, depth in enumerate(depths) for _ in range(depth)]
    drawn = dict(zip(places(depths, tail), letters, strict=True))
    width = max(col for _, col in drawn) + 1
    return ["".join(drawn.get((row, col), ".") for col in range(width)) for row in range(ROWS)]


@pytest.mark.parametrize(
    ("depths", "turn", "fall"),
    [
        pytest.param(
            [1, 2, 6],
            ["abc", ".bc", "..c", "..c", "..c", "..c"],
            ["abc", ".bc", "..c", "..c", "..c", "..c"],
            id="columns that fit have no tail",
        ),
        pytest.param(
            [8, 3],
            ["ab.", "ab.", "ab.", "a..", "a..", "aaa"],
            ["ab.", "ab.", "ab.", "a..", "a..", "aaa"],
            id="the bottom row turns a column right, and the next begins above its tail",
        ),
        pytest.param(
            [8, 8],
            ["ab...", "ab...", "ab...", "ab...", "abbbb", "aaa.."],
            ["ab..", "ab..", "ab..", "ab..", "abbb", "aaab"],
            id="an earlier tail blocks a column, whose own tail stays in its row or falls behind the other",
        ),
        pytest.param(
            [8, 6, 7],
            ["abc...", "abc...", "abc...", "abcccc", "abb...", "aaa..."],
            ["abc.", "abc.", "abc.", "abcc", "abbc", "aaac"],
            id="tails stack, each a row above the one before",
        ),
        pytest.param(
            [11, 9, 7, 5, 3, 3, 2],
            ["abcdefffg", "abcdee..g", "abcddd...", "abcccc...", "abbbbb...", "aaaaaa..."],
            ["abcdeffg", "abcdeefg", "abcddd..", "abcccc..", "abbbbb..", "aaaaaa.."],
            id="a tail in the top row pushes the next head to the first free top cell",
        ),
    ],
)
def test_a_column_goes_down_and_then_turns_right(depths, turn, fall):
    assert picture(depths, "turn") == turn
    assert picture(depths, "fall") == fall


@given(DEPTHS)
def test_tails_stand_where_a_hand_draws_them(depths):
    assert places(depths, "turn") == oracle.turned(depths)
    assert places(depths, "fall") == oracle.fallen(depths)


def test_an_unknown_tail_is_refused():
    with pytest.raises(
        ValueError, match=r"can 'turn' or 'fall', not 'curl': correct the display's tail setting"
    ):
        places([1], cast("Tail", "curl"))


@dataclass
class Cell:
    col: int


@pytest.mark.parametrize(
    ("cols", "width", "shown"),
    [
        pytest.param([], 4, range(4), id="an empty road shows empty columns"),
        pytest.param([0, 1, 2], 4, range(4), id="a road that fits begins at the left edge"),
        pytest.param([0, 1, 2, 3], 4, range(4), id="a road that fits exactly drops nothing"),
        pytest.param([0, 1, 2, 3, 4, 5], 4, range(2, 6), id="a wider road drops columns from the left"),
        pytest.param([0, 1, 2, 3, 1, 1], 3, range(1, 4), id="a tail ahead of the newest cell counts"),
        pytest.param([0, 1, 2, 3, 4, 5, 1], 3, range(1, 4), id="but does not push the newest cell out"),
        pytest.param([0, 1], 1, range(1, 2), id="one column shows the newest"),
    ],
)
def test_columns_are_dropped_whole_and_from_the_left(cols, width, shown):
    assert shown_columns([Cell(col) for col in cols], width) == shown


@pytest.mark.parametrize("width", [0, -3])
def test_no_column_at_all_cannot_show_a_road(width):
    with pytest.raises(ValueError, match=f"at least one column, not {width}: widen"):
        shown_columns([], width)
