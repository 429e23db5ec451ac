import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.roads.big_road import big_road
from punto.baccarat.roads.derived_roads import (
    BIG_EYE_BOY,
    COCKROACH_PIG,
    SMALL_ROAD,
    Color,
    NextColors,
    ask,
    derived_road,
)
from tests.roads.shoes import rounds


def colors(depths: list[int], k: int) -> str:
    """The road's cells in order, R or B for each."""
    return "".join(color.value[0].upper() for column in derived_road(depths, k).columns for color in column)


@pytest.mark.parametrize(
    ("depths", "big_eye_boy", "small_road", "cockroach_pig"),
    [
        pytest.param([], "", "", "", id="nothing"),
        pytest.param([9], "", "", "", id="one column has none to be compared with"),
        pytest.param([1, 1], "", "", "", id="a second column's first cell is in no derived road"),
        pytest.param([2, 2], "R", "", "", id="big eye boy begins at the second column's second cell"),
        pytest.param([1, 1, 1], "R", "", "", id="or else at the third column's first"),
        pytest.param([1, 1, 2], "RB", "B", "", id="small road begins at the third column's second cell"),
        pytest.param([1, 1, 1, 1], "RR", "R", "", id="or else at the fourth column's first"),
        pytest.param(
            [1, 1, 1, 2], "RRB", "RB", "B", id="cockroach pig begins at the fourth column's second cell"
        ),
        pytest.param([1, 1, 1, 1, 1], "RRR", "RR", "R", id="or else at the fifth column's first"),
        pytest.param([2, 4], "RBR", "", "", id="blue is the one cell just past the column compared with"),
        pytest.param([3, 1, 2, 5], "BBBRBRR", "RBBRRR", "RRBR", id="three roads look at three columns"),
    ],
)
def test_the_derived_roads_of_a_big_road(depths, big_eye_boy, small_road, cockroach_pig):
    assert colors(depths, BIG_EYE_BOY) == big_eye_boy
    assert colors(depths, SMALL_ROAD) == small_road
    assert colors(depths, COCKROACH_PIG) == cockroach_pig


def test_a_column_for_each_change_of_color():
    road = derived_road([2, 4, 4], BIG_EYE_BOY)

    assert road.columns == (("red",), ("blue",), ("red",), ("blue",), ("red", "red", "red"))
    assert [(cell.row, cell.col, cell.color) for cell in road.cells] == [
        (0, 0, "red"),
        (0, 1, "blue"),
        (0, 2, "red"),
        (0, 3, "blue"),
        (0, 4, "red"),
        (1, 4, "red"),
        (2, 4, "red"),
    ]


def test_a_derived_road_has_dragon_tails_as_the_big_road_has():
    # Cells: nine red, one blue, seven red, one blue, eight red.
    depths = [1] * 10 + [9, 9]

    turned, fallen = derived_road(depths, BIG_EYE_BOY), derived_road(depths, BIG_EYE_BOY, "fall")

    assert [(cell.row, cell.col) for cell in turned.cells[5:9]] == [(5, 0), (5, 1), (5, 2), (5, 3)]
    assert [(cell.row, cell.col) for cell in turned.cells[-5:]] == [(3, 4), (3, 5), (3, 6), (3, 7), (3, 8)]
    assert [(cell.row, cell.col) for cell in fallen.cells[-5:]] == [(3, 4), (3, 5), (4, 5), (5, 5), (5, 6)]
    assert turned.columns == fallen.columns


def asked(shoe: str) -> tuple[NextColors, NextColors]:
    marks = ask(big_road(rounds(shoe)).columns)
    return marks.banker, marks.player


NOTHING = NextColors(None, None, None)


@pytest.mark.parametrize(
    ("shoe", "banker", "player"),
    [
        pytest.param("", NOTHING, NOTHING, id="an empty shoe promises nothing"),
        pytest.param("TT", NOTHING, NOTHING, id="nor do ties alone"),
        pytest.param("BB", NOTHING, NOTHING, id="nor does one column"),
        pytest.param(
            "BBPP",
            NextColors(Color.RED, None, None),
            NextColors(Color.BLUE, None, None),
            id="two columns ask for big eye boy alone",
        ),
        pytest.param(
            "TBPBTPT",
            NextColors(Color.RED, Color.RED, Color.RED),
            NextColors(Color.BLUE, Color.BLUE, Color.BLUE),
            id="chopping, the next chop is regular and a repeat is not",
        ),
        pytest.param(
            "BBBPBBP",
            NextColors(Color.BLUE, Color.RED, Color.BLUE),
            NextColors(Color.RED, Color.BLUE, Color.RED),
            id="roads that disagree",
        ),
        pytest.param(
            "BBBPBBPPPPP",
            NextColors(Color.BLUE, Color.BLUE, Color.BLUE),
            NextColors(Color.RED, Color.RED, Color.RED),
            id="a column past all it is compared with goes on regular",
        ),
    ],
)
def test_the_ask_marks(shoe, banker, player):
    assert asked(shoe) == (banker, player)


@given(st.lists(st.integers(1, 12), max_size=20), st.integers(1, 3))
def test_what_a_derived_road_has_said_stays_said(depths, k):
    grown = [*depths[:-1], depths[-1] + 1] if depths else [1]

    assert colors(grown, k).startswith(colors(depths, k))
    assert colors([*depths, 1], k).startswith(colors(depths, k))
