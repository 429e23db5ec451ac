import pytest

from punto.baccarat.coup import Winner
from punto.baccarat.roads.big_road import BigRoad, big_road, streak
from punto.baccarat.roads.rounds import RoadRound, Streak
from tests.roads.shoes import LETTERS, rounds


def logical(road: BigRoad) -> list[str]:
    """Each column as its letters, a T after a letter for each tie marked on it."""
    return ["".join(LETTERS[each.winner] + "T" * each.ties for each in column) for column in road.columns]


def drawn(road: BigRoad) -> list[tuple[int, int, str, int]]:
    return [
        (cell.row, cell.col, LETTERS[cell.winner] if cell.winner is not None else "-", cell.ties)
        for cell in road.cells
    ]


@pytest.mark.parametrize(
    ("shoe", "columns", "cells"),
    [
        pytest.param("", [], [], id="an empty shoe"),
        pytest.param("B", ["B"], [(0, 0, "B", 0)], id="the first decided round"),
        pytest.param(
            "BBPB",
            ["BB", "P", "B"],
            [(0, 0, "B", 0), (1, 0, "B", 0), (0, 1, "P", 0), (0, 2, "B", 0)],
            id="a column for each change of winner",
        ),
        pytest.param(
            "BTTBTP",
            ["BTTBT", "P"],
            [(0, 0, "B", 2), (1, 0, "B", 1), (0, 1, "P", 0)],
            id="ties are marked on the round before them and break no column",
        ),
        pytest.param("T", [], [(0, 0, "-", 1)], id="a tie first of all is a mark in the empty first cell"),
        pytest.param("TTT", [], [(0, 0, "-", 3)], id="further ties are counted there"),
        pytest.param(
            "TTTP", ["PTTT"], [(0, 0, "P", 3)], id="they are on the first decided round once it exists"
        ),
        pytest.param(
            "TTPTP",
            ["PTTTP"],
            [(0, 0, "P", 3), (1, 0, "P", 0)],
            id="together with those after it",
        ),
        pytest.param("TBTPT", ["BTT", "PT"], [(0, 0, "B", 2), (0, 1, "P", 1)], id="and only on the first"),
    ],
)
def test_the_big_road(shoe, columns, cells):
    road = big_road(rounds(shoe))

    assert logical(road) == columns
    assert drawn(road) == cells


def test_a_tail_is_drawn_as_the_setting_says_and_changes_no_column():
    shoe = rounds("B" * 8 + "P" * 8)

    turned, fallen = big_road(shoe), big_road(shoe, "fall")

    assert [(cell.row, cell.col) for cell in turned.cells[-3:]] == [(4, 2), (4, 3), (4, 4)]
    assert [(cell.row, cell.col) for cell in fallen.cells[-3:]] == [(4, 2), (4, 3), (5, 3)]
    assert turned.columns == fallen.columns


def test_pair_dots_come_from_the_cells_own_round_never_from_a_tie_on_it():
    waiting = RoadRound(Winner.TIE, banker_pair=True)
    banker = RoadRound(Winner.BANKER, player_pair=True)
    tie = RoadRound(Winner.TIE, banker_pair=True, natural=True)

    road = big_road([waiting, banker, tie])

    assert [(cell.round, cell.ties) for cell in road.cells] == [(banker, 2)]
    assert [(each.round, each.ties) for column in road.columns for each in column] == [(banker, 2)]


def test_waiting_ties_have_no_round_to_take_pair_dots_from():
    (cell,) = big_road([RoadRound(Winner.TIE, player_pair=True)]).cells

    assert (cell.round, cell.winner, cell.ties) == (None, None, 1)


@pytest.mark.parametrize(
    ("shoe", "expected"),
    [
        ("", None),
        ("TT", None),
        ("B", Streak(Winner.BANKER, 1)),
        ("BBTBT", Streak(Winner.BANKER, 3)),
        ("BBBTP", Streak(Winner.PLAYER, 1)),
        ("BPPTTPT", Streak(Winner.PLAYER, 3)),
    ],
)
def test_a_streak_goes_on_through_ties(shoe, expected):
    assert streak(big_road(rounds(shoe)).columns) == expected
