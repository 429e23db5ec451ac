"""A shoe that dies in mid-hand: the hand is finished by keying, and no card is dealt twice when the shoe comes back."""

import pytest

from punto.baccarat.table.effects import CardDealt
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from punto.consoles.view import prompt_of
from tests.baccarat.table.croupier import LONG, Croupier, cards

# LONG is KS 2S 5S 3S 4D 9D: two cards came before the cable was cut.
AWAY = ("wager 1 player 500", "draw KS 2S", "lose shoe")


def back(croupier: Croupier, *commands: str, made: int) -> Croupier:
    """The shoe is heard again, with so many records of the time that it was away."""
    return croupier.do(f"hello next={croupier.record + made}", *commands)


def test_the_hand_is_finished_by_keying_while_the_shoe_is_away():
    croupier = Croupier.at_betting(*AWAY, "key 5S 3S 4D 9D")

    (record,) = croupier.rounds
    assert (record.player, record.banker) == (cards("KS 5S 4D"), cards("2S 3S 9D"))
    dealt = [each for each in croupier.said if isinstance(each, CardDealt)]
    assert [each.keyed for each in dealt] == [True] * 4
    assert record.settlements[0].net == 500


def test_no_other_card_is_keyed_at_a_table_with_a_shoe():
    text = "the table needs no keyed card now, because the shoe reads the cards. Key a card only in two cases: the shoe could not read the card, or the shoe is offline during a hand"
    for so_far in (["draw KS"], ["lose shoe"], [*AWAY, "hello"], [*AWAY, "key 5S 3S 4D 9D"]):
        croupier = Croupier.at_betting(*so_far)
        refused = croupier.refused("key 5S")
        assert (refused.code, str(refused)) == ("no_card_awaited", text)


def test_the_person_at_the_table_is_told_that_it_can_be_keyed():
    croupier = Croupier.at_betting(*AWAY)

    assert prompt_of(croupier.state).text == ("Key the cards that end this hand, or wait for the shoe")
    assert prompt_of(croupier.state).side == "player"
    assert prompt_of(Croupier.at_betting("lose shoe").state).technical == "no sign of life"


@pytest.mark.parametrize(
    "late",
    [
        "draw 5S 3S",
        "overdraw 5S 3S",
        *(f"{kind} 5S|draw 3S" for kind in ("unsure", "overdraw unsure")),
        "unsure 7C|draw 3S",  # what the shoe did not read for certain was to be keyed anyway
        "unread|draw 3S",
        "overdraw ?|draw 3S",
    ],
)
def test_a_card_that_was_keyed_is_not_dealt_again_by_its_late_record(late):
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S"), *late.split("|"), made=2)

    assert (croupier.hand, croupier.stops) == ("KS 2S 5S 3S", [])
    assert croupier.state.link.keyed_away == ()
    assert croupier.state.shoe.drawn == cards("KS 2S 5S 3S")
    assert croupier.do("draw 4D 9D").rounds[0].player == cards("KS 5S 4D")


def test_cards_that_left_the_shoe_besides_are_dealt():
    croupier = back(Croupier.at_betting(*AWAY, "key 5S"), "draw 5S 3S 4D", made=3)

    assert (croupier.hand, croupier.stops) == ("KS 2S 5S 3S 4D", [])


@pytest.mark.parametrize(("late", "first"), [((), 3), (("draw 5S",), 4)])
def test_cards_that_were_keyed_and_that_the_shoe_did_not_see_stop_play(late, first):
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S"), *late, made=len(late))

    assert (croupier.hand, croupier.stops) == ("KS 2S 5S 3S", ["keyed_otherwise"])
    assert croupier.state.waiting.stops[0].text.startswith(
        f"card {first} of round 1 was keyed while the shoe was offline"
    )
    assert croupier.state.link.keyed_away == ()
    croupier.do("draw 4D")  # waits until a supervisor has seen the cards
    assert croupier.do("resume").hand == "KS 2S 5S 3S 4D"


@pytest.mark.parametrize("late", [(), ("draw 5S",)])
def test_a_hand_that_was_keyed_and_settled_without_the_shoe_stops_play_when_it_is_back(late):
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S 4D 9D"), *late, made=len(late))

    assert (len(croupier.rounds), croupier.stops) == (1, ["keyed_otherwise"])


def test_a_card_that_was_keyed_and_whose_record_is_lost_is_no_later_card():
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S"), "draw 5S", "records lost 1", made=2)

    assert (croupier.stops, croupier.state.link.keyed_away) == (["records_lost", "keyed_otherwise"], ())
    assert croupier.do("resume", "draw 4D").hand == "KS 2S 5S 3S 4D"


def test_another_shoe_that_a_supervisor_accepted_has_no_records_of_that_time():
    croupier = Croupier.at_betting(*AWAY, "key 5S 3S", "hello OTHER", "accept OTHER")

    assert (croupier.stops, croupier.state.link.keyed_away) == ([], ())


@pytest.mark.parametrize(
    "before", [("lose shoe",), ("lose shoe", "hello next=4"), ("start",), ("lid open", "draw KS")]
)
@pytest.mark.parametrize("closes", ["first_card", "order"])
def test_no_wager_is_placed_or_taken_back_while_cards_can_lie_on_the_table_unseen(before, closes):
    croupier = Croupier.at_betting("wager 1 player 500", *before, betting_closes=closes)

    for command in ("wager 2 banker 500", "wager 1 player 0"):
        assert croupier.refused(command).code == "cards_unseen"
    assert [each.amount for each in croupier.state.round.wagers] == [500]


def test_wagers_are_placed_again_when_all_that_the_shoe_drew_meanwhile_is_taken():
    croupier = back(Croupier.at_betting("lose shoe"), made=1)
    with pytest.raises(RefusedError):
        croupier.do("wager 1 player 500")

    croupier.do("lid closed", "wager 1 player 500")

    assert [each.amount for each in croupier.state.round.wagers] == [500]


def test_it_may_go_again_before_it_has_told_all():
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S"), "draw 5S", "lose shoe", "key 4D", made=2)
    back(croupier, "draw 3S 4D", made=2)

    assert (croupier.hand, croupier.stops) == ("KS 2S 5S 3S 4D", [])


def test_the_hand_that_was_keyed_may_be_over_when_its_records_come():
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S 4D 9D"), "lid open", "lid closed", made=6)
    croupier.do("draw 5S 3S 4D 9D", "resume")

    assert (croupier.phase, croupier.state.round.coup, croupier.stops) == (Phase.BETTING, None, [])
    assert croupier.do(f"draw {LONG}").rounds[-1].player == cards("KS 5S 4D")


def test_another_card_than_was_keyed_stops_play_until_a_supervisor_has_seen_it():
    croupier = back(Croupier.at_betting(*AWAY, "key 5S 3S"), "draw 5S 4S", made=2)

    assert (croupier.hand, croupier.stops) == ("KS 2S 5S 3S", ["keyed_otherwise"])
    assert shoe_orders(croupier.state).locked
    assert croupier.state.waiting.stops[0].text.startswith(
        "card 4 of round 1 was keyed while the shoe was offline, but the shoe has read another card: keyed 3S, read 4S."
    )
    assert croupier.held == [("4S", "doubtful")]
    croupier.do("correct 4 4S", "resume")
    assert (croupier.hand, croupier.stops, croupier.state.shoe.drawn) == (
        "KS 2S 5S 4S",
        [],
        cards("KS 2S 5S 4S"),
    )


@pytest.mark.parametrize(
    ("keyed", "late", "read"),
    [
        ("key 5S", "draw 6S", "5S 6S"),
        ("key 5S 3S|reveal", "draw 5S 4S", "3S 4S"),
        ("key 5S|void", "draw 6S", "5S 6S"),
    ],
)
def test_where_cards_are_hidden_the_stop_names_none(keyed, late, read):
    croupier = Croupier.at_betting("draw KS 2S", "lose shoe", *keyed.split("|"), game_name="midi-baccarat")
    back(croupier, late, made=len(late.split()) - 1)

    assert croupier.stops[0] == "keyed_otherwise"
    assert not any(card in croupier.state.waiting.stops[0].text for card in read.split())
    assert (read.split()[1], "doubtful") in croupier.held


@pytest.mark.parametrize(
    ("keyed", "correction"),
    [("key 7C", "correct 3 5S"), ("key 4C 3S 4D 9D", "correct round KS 5S 4D over 2S 3S 9D")],
)
def test_what_was_keyed_is_compared_as_it_was_corrected(keyed, correction):
    croupier = back(Croupier.at_betting(*AWAY, keyed, correction), "draw 5S", made=4)

    assert croupier.stops == []


def test_after_a_void_hand_its_late_records_are_of_that_hand():
    croupier = back(Croupier.at_betting(*AWAY, "key 5S", "void"), "draw 5S", made=1)

    assert (croupier.phase, croupier.stops) == (Phase.BETTING, [])


def test_another_shoe_in_its_place_is_accepted_first_as_ever():
    croupier = Croupier.at_betting(*AWAY, "key 5S", "hello B")
    assert croupier.stops == ["shoe_not_accepted"]

    croupier.do("accept B", "draw 3S")
    assert (croupier.hand, croupier.stops) == ("KS 2S 5S 3S", [])
