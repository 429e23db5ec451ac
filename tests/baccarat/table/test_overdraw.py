"""A card too many, or one drawn too soon: play stops, and the house's policy says what becomes of the card."""

import pytest

from punto.baccarat.table.dealing import MOST_CARRIED
from punto.baccarat.table.state import Phase
from tests.baccarat.table.croupier import LONG, PLAYER_NATURAL, Croupier, cards

POLICIES = ["burn", "next_coup", "dummy"]
BY_ORDER = {"next_coup": "order"}
MIDI = {"game_name": "midi-baccarat"}


@pytest.mark.parametrize(
    ("house", "commands"),
    [
        (BY_ORDER, [f"draw {PLAYER_NATURAL}", "draw 7C"]),  # the tableau called for no more
        (BY_ORDER, [f"draw {PLAYER_NATURAL}", "overdraw 7C"]),
        (MIDI, [f"draw {PLAYER_NATURAL}", "draw 7C"]),
        ({"betting_closes": "order"}, ["draw 7C"]),  # before betting was closed
        ({}, ["overdraw 7C"]),
        ({}, ["draw KS 2S", "overdraw 7C"]),  # the shoe was locked in mid-coup
        ({}, ["lid open", "draw 7C", "resume"]),  # before play was resumed
    ],
)
def test_a_card_that_is_not_called_for_stops_play(house, commands):
    croupier = Croupier.at_betting("wager 1 player 500", *commands, **house)

    assert croupier.stops == ["overdraw"]
    assert ("overdraw", True) in croupier.alarms
    assert "7C" not in croupier.hand


@pytest.mark.parametrize("policy", POLICIES)
def test_a_card_drawn_too_soon_goes_where_the_house_says(policy):
    croupier = Croupier.at_betting("wager 1 player 500", "overdraw KS", "resume", overdraw=policy)

    match policy:
        case "burn":
            assert croupier.phase is Phase.BETTING
            assert croupier.held == [("KS", "overdrawn")]
            assert croupier.state.shoe.drawn == cards("KS")
        case "next_coup":
            assert croupier.phase is Phase.BETTING
            assert croupier.state.shoe.carried == cards("KS")
            assert len(croupier.state.round.wagers) == 1
            croupier.do("draw 2S 9H 3S")
            assert croupier.rounds[0].player == cards("KS 9H")
            assert croupier.rounds[0].settlements[0].net == 500
        case "dummy":
            assert croupier.phase is Phase.DEALING
            assert "wagers_returned" in croupier.kinds
            croupier.do("draw 2S 9H 3S")
            (record,) = croupier.rounds
            assert (record.status, record.winner, record.settlements) == ("dummy", "player", ())
            assert croupier.state.shoe.rounds == ()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("end", ["reveal", "void"])
def test_a_card_too_many_after_a_hand_waits_for_the_hand_to_end(policy, end):
    croupier = Croupier.at_betting(
        "wager 1 player 500", f"draw {PLAYER_NATURAL} 7C", "resume", end, overdraw=policy, **MIDI
    )

    expected = {
        "burn": (Phase.BETTING, "", ()),
        "next_coup": (Phase.BETTING, "", cards("7C")),
        "dummy": (Phase.DEALING, "7C", ()),
    }
    assert (croupier.phase, croupier.hand, croupier.state.shoe.carried) == expected[policy]
    assert croupier.state.round.dummy is (policy == "dummy")
    assert croupier.state.round.wagers == ()


def test_a_dummy_is_dealt_even_where_coups_wait_for_an_order():
    croupier = Croupier.at_betting(
        f"draw {PLAYER_NATURAL}", "draw 7C", "resume", overdraw="dummy", **BY_ORDER
    )

    assert (croupier.phase, croupier.hand, croupier.state.round.dummy) == (Phase.DEALING, "7C", True)


def test_after_a_dummy_play_goes_on_with_wagers():
    croupier = Croupier.at_betting("overdraw KS", "resume", "draw 2S 9H 3S", overdraw="dummy")
    croupier.do("wager 1 player 500", f"draw {LONG}")

    assert [(each.status, len(each.settlements)) for each in croupier.rounds] == [("dummy", 0), ("played", 1)]
    assert [(each.round, each.coup) for each in croupier.rounds] == [(1, 1), (2, 2)]


def test_a_dummy_can_be_void():
    croupier = Croupier.at_betting("overdraw KS", "resume", "void", overdraw="dummy")

    assert [each.status for each in croupier.rounds] == ["void"]
    assert croupier.phase is Phase.BETTING
    assert not croupier.state.round.dummy


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("card", "house", "unknown"),
    [
        ("overdraw ?", {}, 1),
        ("overdraw unsure 7C", {}, 1),
        ("unread", {}, 1),
        ("unsure 7C", {}, 1),
        ("draw KS", {"decks": 1}, 0),  # a copy too many
    ],
)
def test_a_card_that_is_not_certain_is_never_played_from_an_overdraw(policy, card, house, unknown):
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", card, "resume", overdraw=policy, **MIDI, **house)

    assert croupier.state.shoe.carried == ()
    assert croupier.state.shoe.unknown == unknown
    assert len(croupier.state.shoe.drawn) == 5 - unknown


@pytest.mark.parametrize("policy", POLICIES)
def test_after_the_last_hand_there_is_nothing_to_play_it_in(policy):
    croupier = Croupier.at_betting("cut card", f"draw {PLAYER_NATURAL}", "draw 7C", "resume", overdraw=policy)

    assert croupier.phase is Phase.SETTLED
    assert croupier.held == [("7C", "overdrawn")]


@pytest.mark.parametrize("policy", ["next_coup", "dummy"])
def test_what_was_carried_to_a_hand_that_does_not_come_is_let_go(policy):
    croupier = Croupier.at_betting(
        "cut card", f"draw {PLAYER_NATURAL}", "draw 7C", "resume", "reveal", overdraw=policy, **MIDI
    )

    assert croupier.phase is Phase.SETTLED
    assert croupier.held == [("7C", "overdrawn")]
    assert croupier.state.shoe.drawn == cards(f"{PLAYER_NATURAL} 7C")


@pytest.mark.parametrize("policy", ["next_coup", "dummy"])
def test_only_so_many_are_carried_to_one_hand(policy):
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", overdraw=policy, **MIDI)
    for code in ["KD", "2D", "7D", "3D", "4D"]:
        croupier.do(f"overdraw {code}", "resume")

    assert croupier.state.shoe.carried == cards("KD 2D 7D")
    assert len(croupier.state.shoe.carried) == MOST_CARRIED
    assert croupier.held == [("4D", "overdrawn")]

    croupier.do("reveal")
    assert croupier.hand == ("KD 2D 7D" if policy == "dummy" else "")


def test_a_carried_card_counts_among_the_copies_that_have_come():
    croupier = Croupier.at_betting("overdraw KS", "resume", "draw KS", overdraw="next_coup", decks=1)

    assert croupier.state.waiting.card is not None
    assert croupier.state.waiting.card.code == "surplus_copy"


def test_two_stops_are_resumed_from_together():
    croupier = Croupier.at_betting("overdraw KS", "push back", overdraw="next_coup")
    assert croupier.stops == ["overdraw", "reverse_movement"]

    croupier.do("resume")

    assert croupier.stops == []
    assert croupier.state.shoe.carried == cards("KS")


def test_a_card_out_of_a_locked_shoe_while_a_card_is_awaited_is_an_overdraw_too():
    croupier = Croupier.at_betting("draw KS", "unread", "overdraw 7C", "key 2S")

    assert (croupier.hand, croupier.stops) == ("KS 2S", ["overdraw"])


def test_a_reveal_can_lead_to_the_reveal_of_a_dummy_whose_cards_all_came_before_it():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", reveal="dealer", overdraw="dummy", **MIDI)
    for card in ("4C", "5C", "6C"):
        croupier.do(f"draw {card}", "resume")
    croupier.do("cut card", "draw 7C", "reveal")

    assert (croupier.phase, croupier.hand, croupier.state.round.dummy) == (Phase.REVEAL, "4C 5C 6C 7C", True)
    croupier.do("reveal")
    assert [each.status for each in croupier.rounds] == ["played"]
    assert croupier.phase is Phase.DEALING
