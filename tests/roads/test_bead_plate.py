from punto.baccarat.coup import Winner
from punto.baccarat.roads.bead_plate import bead_plate
from punto.baccarat.roads.drawing import shown_columns
from punto.baccarat.roads.rounds import RoadRound
from tests.roads.shoes import rounds


def test_an_empty_plate_has_no_bead():
    plate = bead_plate([])

    assert (plate.columns, plate.cells) == ((), ())


def test_every_round_is_a_bead_ties_too_down_columns_of_six():
    shoe = rounds("TBBPTBPPTBBPB")

    plate = bead_plate(shoe)

    assert plate.columns == (tuple(shoe[:6]), tuple(shoe[6:12]), tuple(shoe[12:]))
    assert [(bead.row, bead.col) for bead in plate.cells] == [
        *[(row, 0) for row in range(6)],
        *[(row, 1) for row in range(6)],
        (0, 2),
    ]
    assert [bead.round for bead in plate.cells] == shoe


def test_a_tie_keeps_its_pair_dots_on_its_own_bead():
    tie = RoadRound(Winner.TIE, player_pair=True, banker_pair=True, natural=True)

    assert [bead.round for bead in bead_plate([*rounds("B"), tie]).cells] == [*rounds("B"), tie]


def test_a_full_plate_scrolls_by_whole_columns():
    full, one_more, column_more = (bead_plate(rounds("B" * length)).cells for length in (24, 25, 30))

    assert shown_columns(full, 4) == range(4)
    assert shown_columns(one_more, 4) == range(1, 5)
    assert shown_columns(column_more, 4) == range(1, 5)
