"""What the shoe is told: locked or not, which lamps, whose records."""

import pytest

from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders, shoe_orders
from tests.baccarat.table.croupier import BANKER_NATURAL, PLAYER_NATURAL, TIE, Croupier

MIDI = {"game_name": "midi-baccarat"}
BURN = {"burn": "first_card"}
BY_ORDER = {"betting_closes": "order", "next_coup": "order"}
ON = ["hello", "sign on"]
BET = [*ON, "change shoe", "open"]


def test_a_table_that_has_seen_no_shoe_locks_whichever_comes():
    assert shoe_orders(Croupier().state) == ShoeOrders(None, None, 0, locked=True, lamps=Lamps())


def test_the_shoe_that_plays_is_named_with_the_last_record_taken():
    orders = shoe_orders(Croupier.at_betting("draw KS 2S").state)

    assert (orders.accept, orders.log, orders.taken) == ("A", 1, 2)


@pytest.mark.parametrize(
    ("house", "commands", "locked", "following"),
    [
        ({}, ON, True, "none"),
        (BURN, [*ON, "change shoe"], False, "burn"),
        (BURN, [*ON, "change shoe", "draw 2S"], False, "burn"),
        (BURN, [*ON, "change shoe", "unread"], True, "burn"),
        ({}, [*ON, "change shoe"], True, "burn"),  # nothing is burned: no card before betting is open
        ({}, BET, False, "player"),
        (BY_ORDER, BET, True, "none"),
        (BY_ORDER, [*BET, "no more bets"], False, "player"),
        ({}, [*BET, "draw KS"], False, "banker"),
        ({}, [*BET, "draw KS 2S 5S 3S"], False, "player"),
        ({}, [*BET, "draw KS 2S 7S 3S"], False, "banker"),
        ({}, [*BET, "draw KS", "unread"], True, "none"),
        ({}, [*BET, "draw KS", "lid open"], True, "none"),
        ({}, [*BET, "draw KS", "hello B"], True, "none"),
        (MIDI, [*BET, f"draw {PLAYER_NATURAL}"], True, "none"),
        (BY_ORDER, [*BET, "no more bets", f"draw {TIE}"], True, "none"),
        ({"overdraw": "next_coup"}, [*BET, "overdraw KS", "resume"], False, "banker"),
        ({"overdraw": "dummy"}, [*BET, "overdraw KS", "resume"], False, "banker"),
        ({"cards": "keyed"}, BET, True, "none"),
        ({"cards": "keyed", **BURN}, [*ON, "change shoe"], True, "burn"),
    ],
)
def test_a_card_comes_out_only_when_one_is_called_for(house, commands, locked, following):
    orders = shoe_orders(Croupier(**house).do(*commands).state)

    assert (orders.locked, orders.lamps.next) == (locked, following)


@pytest.mark.parametrize(
    ("commands", "lit"),
    [
        ([], []),
        ([f"draw {PLAYER_NATURAL}"], ["player"]),
        ([f"draw {BANKER_NATURAL}"], ["banker"]),
        ([f"draw {TIE}"], ["tie"]),
        ([f"draw {TIE}", "draw KS"], []),
        (["draw KS", "void"], []),
        ([f"draw {TIE}", "change shoe"], []),
    ],
)
def test_the_lamps_show_the_result_until_the_next_coup(commands, lit):
    lamps = shoe_orders(Croupier.at_betting(*commands).state).lamps

    assert [name for name in ("player", "banker", "tie") if getattr(lamps, name)] == lit
