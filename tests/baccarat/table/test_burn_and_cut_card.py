"""A shoe's beginning and its end."""

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.effects import BurnCardTurned, CutCardReached
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import LONG, PLAYER_NATURAL, TIE, Croupier, happenings

NEW_SHOE = ("hello", "sign on", "change shoe")


@pytest.mark.parametrize(
    ("first", "house", "burned"),
    [
        ("AS", {}, 1),
        ("AS", {"burn_ace": 11}, 11),
        ("2S", {"burn_ace": 11}, 2),
        ("9S", {}, 9),
        ("TS", {}, 10),
        ("JS", {}, 10),
        ("QS", {}, 10),
        ("KS", {}, 10),
    ],
)
def test_the_first_card_says_how_many_are_burned(first, house, burned):
    croupier = Croupier(burn="first_card", **house).do(*NEW_SHOE, f"draw {first}")
    assert croupier.said == [BurnCardTurned(Card(first), burned)]

    *before, last = [rank + "C" for rank in "A23456789TJ"[:burned]]
    for card in before:
        croupier.do(f"draw {card}")
        assert croupier.phase is Phase.SHOE_CHANGE
        assert croupier.kinds == []
        assert croupier.held == [(card, "burned")]
    croupier.do(f"draw {last}")

    assert croupier.kinds == ["phase_entered"]
    assert len(croupier.state.shoe.drawn) == burned + 1


def test_a_fixed_burn_turns_no_card():
    croupier = Croupier(burn="fixed", burn_cards=3).do(*NEW_SHOE, "draw 7C", "unread", "unsure 2C")

    assert croupier.phase is Phase.BETTING
    assert (croupier.state.shoe.drawn, croupier.state.shoe.unknown) == (("7C",), 2)


@pytest.mark.parametrize("last", ["lid closed", "open", "draw KS"])
def test_without_a_burn_play_begins_when_the_lid_is_closed_or_by_order_or_card(last):
    croupier = Croupier(burn="none").do(*NEW_SHOE, "lid open")
    assert croupier.phase is Phase.SHOE_CHANGE

    croupier.do(last)

    assert croupier.phase is (Phase.DEALING if last == "draw KS" else Phase.BETTING)


@pytest.mark.parametrize("burn", ["first_card", "fixed"])
def test_where_cards_are_burned_the_lid_opens_no_betting(burn):
    croupier = Croupier(burn=burn).do(*NEW_SHOE, "lid open", "lid closed")

    assert croupier.phase is Phase.SHOE_CHANGE


@pytest.mark.parametrize(
    ("burn", "drawn", "what"),
    [
        ("first_card", [], "turn the first card and burn as many cards as its value"),
        ("first_card", ["draw 2S 7C"], "burn the next card"),
        ("fixed", ["draw 7C"], "burn the next 2 cards"),
    ],
)
def test_betting_does_not_open_before_the_burn_is_finished(burn, drawn, what):
    croupier = Croupier(burn=burn).do(*NEW_SHOE, *drawn)

    with pytest.raises(RefusedError, match=f"the burn is not finished: {what}") as refused:
        croupier.do("open")

    assert refused.value.code == "burn_not_finished"


@pytest.mark.parametrize("doubt", ["unread", "unsure AS", "overdraw ?"])
def test_the_burn_waits_for_a_first_card_that_was_not_read_for_certain(doubt):
    croupier = Croupier(burn="first_card").do(*NEW_SHOE, doubt)
    assert croupier.kinds == ["card_awaited"]

    croupier.do("key 2S", "draw 7C", "draw 8C")

    assert croupier.phase is Phase.BETTING
    assert croupier.state.shoe.drawn == ("2S", "7C", "8C")


def test_what_is_drawn_while_the_first_card_is_awaited_is_burned_in_its_turn():
    croupier = Croupier(burn="first_card").do(*NEW_SHOE, "unread", "draw 7C", "overdraw 8C", "key 2S")

    assert croupier.phase is Phase.BETTING
    assert croupier.held == [("7C", "burned"), ("8C", "burned")]


def test_a_copy_too_many_among_the_burned_is_an_alarm():
    croupier = Croupier(burn="first_card", decks=1).do(*NEW_SHOE, "draw 2S", "draw 7C")
    croupier.do("draw 7C")

    assert croupier.alarms == [("surplus_copy", False)]
    assert croupier.phase is Phase.BETTING


# --- the cut card

BETTING = (*NEW_SHOE, "open")


@pytest.mark.parametrize(
    ("after", "commands", "last"),
    [
        # in mid-coup: the hand is finished, and so many more are dealt
        (1, ["draw KS 2S", "cut card"], 2),
        (0, ["draw KS 2S", "cut card"], 1),
        (3, ["draw KS 2S", "cut card"], 4),
        # in place of a hand's first card: that hand is the last, whatever the house
        (1, ["cut card"], 1),
        (0, ["cut card"], 1),
        (1, ["no more bets", "cut card"], 1),
        (1, [f"draw {PLAYER_NATURAL}", "cut card"], 2),
        # a first card that is not read is out all the same, and so is one that was drawn too soon
        (1, ["unread", "cut card", "key KS"], 2),
        (1, ["overdraw KS", "cut card", "resume"], 2),
        # while play is stopped it waits in its turn behind the cards
        (1, ["draw KS", "lid open", "draw 2S 9H 3S", "cut card", "resume"], 2),
        (1, ["draw KS", "lid open", "draw 2S", "cut card", "draw 9H 3S", "resume"], 2),
        (0, ["draw KS", "lid open", "draw 2S", "cut card", "draw 9H 3S", "resume"], 1),
        # of two the first counts
        (1, ["cut card", "draw KS", "cut card"], 1),
    ],
)
def test_which_coup_is_the_last(after, commands, last):
    croupier = Croupier(coups_after_cut_card=after, overdraw="next_coup").do(*BETTING, *commands)

    assert croupier.state.shoe.last_coup == last
    reached = [each for each in happenings(croupier.effects) if isinstance(each, CutCardReached)]
    assert reached == [CutCardReached(last)]


def test_at_the_reveal_the_cut_card_stands_for_the_next_hands_first_card():
    croupier = Croupier(game_name="midi-baccarat").do(*BETTING, f"draw {PLAYER_NATURAL}", "cut card")
    assert croupier.state.shoe.last_coup is None  # it would tell that the hands are over

    croupier.do("reveal")
    assert croupier.state.shoe.last_coup == 2


def test_after_the_last_hand_the_shoe_must_be_changed():
    croupier = Croupier().do(*BETTING, "draw KS 2S", "cut card", "draw 9H 3S")
    assert (croupier.state.on_last_coup, croupier.state.shoe_over, croupier.phase) == (
        True,
        False,
        Phase.BETTING,
    )

    croupier.do(f"draw {LONG}")
    assert (croupier.state.on_last_coup, croupier.state.shoe_over, croupier.phase) == (
        True,
        True,
        Phase.SETTLED,
    )
    with pytest.raises(RefusedError, match="order a shoe change first") as refused:
        croupier.do("open")
    assert refused.value.code == "shoe_over"

    croupier.do("change shoe", "open", f"draw {TIE}")
    assert [(each.shoe, each.coup, each.round) for each in croupier.rounds] == [
        (1, 1, 1),
        (1, 2, 2),
        (2, 1, 3),
    ]


def test_a_void_coup_can_be_the_last():
    croupier = Croupier().do(*BETTING, "cut card", "draw KS", "void")

    assert croupier.state.shoe_over


def test_a_cut_card_that_came_while_a_coup_waited_counts_although_it_is_voided():
    croupier = Croupier(coups_after_cut_card=1).do(*BETTING, "unread", "cut card", "draw 2S", "void")

    assert croupier.state.shoe.last_coup == 2


def test_the_shoe_may_be_opened_once_its_last_hand_is_dealt():
    croupier = Croupier().do(*BETTING, "cut card", f"draw {PLAYER_NATURAL}", "lid open", "push back")

    assert croupier.stops == []


@pytest.mark.parametrize("commands", [["close table"], ["close table", "sign off"]])
def test_a_cut_card_is_not_missed_while_the_table_is_closed(commands):
    croupier = Croupier().do(*BETTING, f"draw {PLAYER_NATURAL}", *commands, "cut card")

    assert croupier.state.shoe.last_coup == 2


@pytest.mark.parametrize("commands", [[], NEW_SHOE, [*BETTING, f"draw {PLAYER_NATURAL}", "change shoe"]])
def test_before_a_shoe_is_in_play_the_cut_card_is_an_alarm(commands):
    croupier = Croupier(burn="none").do(*commands, "cut card")

    assert croupier.alarms == [("cut_card_outside_play", False)]
    assert croupier.state.shoe.last_coup is None
