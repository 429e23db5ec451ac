import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.coup import Winner
from punto.baccarat.roads.bead_plate import bead_plate
from punto.baccarat.roads.big_road import big_road
from punto.baccarat.roads.drawing import shown_columns
from punto.baccarat.roads.rounds import Counts, RoadRound, Streak, counts
from punto.baccarat.roads.scoreboard import draw, to_json
from tests.baccarat.roads import oracle
from tests.baccarat.roads.shoes import LETTERS, random_shoe, rounds

SHOES = st.one_of(st.text("BPT", max_size=90), st.integers(0, 2**32).map(random_shoe))


def check_against_the_hand_kept_roads(shoe: str) -> None:
    """Every road, drawn and logical, with either tail, and all around them."""
    turned, fallen = draw(rounds(shoe)), draw(rounds(shoe), "fall")
    for board, by_hand in ((turned, oracle.turned), (fallen, oracle.fallen)):
        depths = [len(column) for column in board.big_road.columns]
        if depths:
            assert [(cell.row, cell.col) for cell in board.big_road.cells] == by_hand(depths)
        for road in (board.big_eye_boy, board.small_road, board.cockroach_pig):
            assert [(cell.row, cell.col) for cell in road.cells] == by_hand(
                [len(column) for column in road.columns]
            )
            assert [cell.color for cell in road.cells] == [
                color for column in road.columns for color in column
            ]

    plate = turned.bead_plate
    assert ["".join(LETTERS[each.winner] for each in column) for column in plate.columns] == oracle.plate(
        shoe
    )
    for cell in plate.cells:
        assert LETTERS[cell.round.winner] == oracle.plate(shoe)[cell.col][cell.row]

    assert [
        [LETTERS[each.winner] + "T" * each.ties for each in column] for column in turned.big_road.columns
    ] == oracle.streaks(shoe)
    for name in oracle.LOOKS_BACK:
        assert [list(column) for column in getattr(turned, name).columns] == oracle.runs(
            oracle.colors(shoe, name)
        )
        assert getattr(turned.ask.banker, name) == oracle.next_color(shoe, "B", name)
        assert getattr(turned.ask.player, name) == oracle.next_color(shoe, "P", name)

    expected = oracle.streak(shoe)
    assert (turned.streak and (LETTERS[turned.streak.winner], turned.streak.length)) == expected
    assert (turned.counts.banker, turned.counts.player, turned.counts.tie) == tuple(map(shoe.count, "BPT"))


@given(SHOES)
def test_any_shoe_is_drawn_as_a_hand_draws_it(shoe):
    check_against_the_hand_kept_roads(shoe)


def test_a_hundred_shoes_are_drawn_as_a_hand_draws_them():
    for seed in range(100):
        check_against_the_hand_kept_roads(random_shoe(seed))


@pytest.mark.soak
def test_many_shoes_are_drawn_as_a_hand_draws_them():
    for seed in range(100, 11_000):
        check_against_the_hand_kept_roads(random_shoe(seed))


@given(SHOES, st.integers(1, 40), st.sampled_from(["bead_plate", "big_road", "big_eye_boy"]))
def test_a_narrow_display_drops_what_is_left_and_keeps_the_newest(shoe, width, name):
    cells = getattr(draw(rounds(shoe)), name).cells
    shown = shown_columns(cells, width)
    cut_right = [cell for cell in cells if cell.col >= shown.stop]

    assert len(shown) == width
    assert all(cell.col in shown for cell in cells[-1:])
    # A tail is cut at the right only where the newest cell already stands at the left edge.
    assert not cut_right or cells[-1].col == shown.start


def test_what_a_narrow_display_drops_still_counts_for_the_derived_roads():
    shoe = "".join("BP"[n % 2] * (1 + n % 3) for n in range(45))[:90]
    board = draw(rounds(shoe))
    shown = shown_columns(board.big_road.cells, 4)
    seen_alone = "".join(
        LETTERS[cell.winner] for cell in board.big_road.cells if cell.winner and cell.col in shown
    )

    for name, road in (("big_eye_boy", board.big_eye_boy), ("cockroach_pig", board.cockroach_pig)):
        assert [cell.color for cell in road.cells] == oracle.colors(shoe, name)
        assert oracle.colors(seen_alone, name) != oracle.colors(shoe, name)


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


def test_a_tie_keeps_its_pair_dots_on_its_own_bead():
    tie = RoadRound(Winner.TIE, player_pair=True, banker_pair=True, natural=True)

    assert [bead.round for bead in bead_plate([*rounds("B"), tie]).cells] == [*rounds("B"), tie]


def test_each_result_is_counted_and_every_round_is_a_hand():
    shoe = [
        RoadRound(Winner.BANKER, banker_pair=True, natural=True, player_total=3, banker_total=9),
        RoadRound(Winner.PLAYER, player_pair=True, banker_pair=True),
        RoadRound(Winner.TIE, banker_pair=True, natural=True),
        RoadRound(Winner.BANKER),
        RoadRound(Winner.BANKER, banker_pair=True, natural=True),
        RoadRound(Winner.TIE, banker_pair=True),
    ]

    assert counts(shoe) == Counts(player=1, banker=3, tie=2, player_pair=1, banker_pair=5, natural=3, hands=6)


def test_what_stands_around_the_roads():
    shoe = [RoadRound(Winner.PLAYER, natural=True), *rounds("BB"), RoadRound(Winner.TIE, banker_pair=True)]

    board = draw(shoe)

    assert board.streak == Streak(Winner.BANKER, 2)
    assert board.counts == Counts(player=1, banker=2, tie=1, player_pair=0, banker_pair=1, natural=1, hands=4)


def test_the_roads_as_plain_values():
    shoe = [
        RoadRound(Winner.TIE, banker_pair=True),
        RoadRound(Winner.BANKER, player_pair=True),
        RoadRound(Winner.BANKER, natural=True, player_total=2, banker_total=8),
        *rounds("PPP"),
        RoadRound(Winner.TIE),
    ]
    bead = {"winner": "banker", "player_pair": False, "banker_pair": False, "natural": False}
    beads = [
        {**bead, "winner": "tie", "banker_pair": True},
        {**bead, "player_pair": True},
        {**bead, "natural": True},
        *[{**bead, "winner": "player"}] * 3,
        {**bead, "winner": "tie"},
    ]

    plain = to_json(draw(shoe))

    assert plain == {
        "bead_plate": {
            "columns": [beads[:6], beads[6:]],
            "cells": [
                {"row": row, "col": col, **each}
                for (row, col), each in zip(
                    [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 1)], beads, strict=True
                )
            ],
        },
        "big_road": {
            "columns": [
                [{"winner": "banker", "ties": 1}, {"winner": "banker", "ties": 0}],
                [
                    {"winner": "player", "ties": 0},
                    {"winner": "player", "ties": 0},
                    {"winner": "player", "ties": 1},
                ],
            ],
            "cells": [
                {"row": 0, "col": 0, "winner": "banker", "ties": 1},
                {"row": 1, "col": 0, "winner": "banker", "ties": 0},
                {"row": 0, "col": 1, "winner": "player", "ties": 0},
                {"row": 1, "col": 1, "winner": "player", "ties": 0},
                {"row": 2, "col": 1, "winner": "player", "ties": 1},
            ],
        },
        "big_eye_boy": {
            "columns": [["red"], ["blue"]],
            "cells": [{"row": 0, "col": 0, "color": "red"}, {"row": 0, "col": 1, "color": "blue"}],
        },
        "small_road": {"columns": [], "cells": []},
        "cockroach_pig": {"columns": [], "cells": []},
        "ask": {
            "banker": {"big_eye_boy": "blue", "small_road": None, "cockroach_pig": None},
            "player": {"big_eye_boy": "red", "small_road": None, "cockroach_pig": None},
        },
    }


def test_waiting_ties_as_plain_values_have_no_winner():
    assert to_json(draw(rounds("TT")))["big_road"] == {
        "columns": [],
        "cells": [{"row": 0, "col": 0, "winner": None, "ties": 2}],
    }


def test_the_plain_values_are_json_as_they_stand():
    plain = to_json(draw(rounds(random_shoe(7))))

    assert json.loads(json.dumps(plain)) == plain
    # Nothing in it is an enumeration's member, which other writers than json would not take for a string.
    assert "<" not in repr(plain)
