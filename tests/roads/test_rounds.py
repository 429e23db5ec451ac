from punto.baccarat.coup import Winner
from punto.baccarat.roads.rounds import Counts, RoadRound, counts


def test_an_empty_shoe_counts_nothing():
    assert counts([]) == Counts(0, 0, 0, 0, 0, 0, 0)


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
