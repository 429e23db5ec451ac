"""Cards from the shoe to the hands, and what is done about those that are not certain."""

import pytest

from punto.baccarat.coup import Winner
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.table.effects import CardAwaited, CardDealt, CoupEnded
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import BANKER_NATURAL, LONG, PLAYER_NATURAL, TIE, Croupier, cards


def test_each_card_goes_to_its_hand_and_the_last_settles_the_coup():
    croupier = Croupier.at_betting("wager 1 player 500", "wager 2 banker 500")
    dealt = []
    for code in LONG.split():
        croupier.do(f"draw {code}")
        dealt += [each for each in croupier.said if isinstance(each, CardDealt)]

    assert [(each.position, each.side, each.card, each.keyed) for each in dealt] == [
        (1, "player", "KS", False),
        (2, "banker", "2S", False),
        (3, "player", "5S", False),
        (4, "banker", "3S", False),
        (5, "player", "4D", False),
        (6, "banker", "9D", False),
    ]
    assert croupier.kinds == ["card_dealt", "coup_ended", "phase_entered", "phase_entered"]
    (record,) = croupier.rounds
    assert (record.player, record.banker) == (cards("KS 5S 4D"), cards("2S 3S 9D"))
    assert [(each.seat, each.net) for each in record.settlements] == [(1, 500), (2, -500)]


@pytest.mark.parametrize(
    ("codes", "winner", "totals", "natural", "pairs"),
    [
        (PLAYER_NATURAL, "player", (9, 5), True, (False, False)),
        (BANKER_NATURAL, "banker", (5, 9), True, (False, False)),
        (TIE, "tie", (7, 7), False, (False, False)),
        ("KS 2S KD 2D 4H 5H", "banker", (4, 9), False, (True, True)),
    ],
)
def test_a_result_is_public_on_the_record_and_on_the_roads(codes, winner, totals, natural, pairs):
    croupier = Croupier.at_betting(f"draw {codes}")

    ended = next(each for each in croupier.said if isinstance(each, CoupEnded))
    record = croupier.rounds[0]
    assert ended == CoupEnded(1, Winner(winner), totals[0], totals[1], natural, pairs[0], pairs[1], False)
    assert (record.winner, record.player_total, record.banker_total, record.natural) == (
        winner,
        *totals,
        natural,
    )
    assert croupier.state.shoe.rounds == (
        RoadRound(Winner(winner), pairs[0], pairs[1], natural, totals[0], totals[1]),
    )


@pytest.mark.parametrize(("next_coup", "after"), [("automatic", Phase.BETTING), ("order", Phase.SETTLED)])
def test_betting_opens_for_the_next_coup_by_itself_or_by_order(next_coup, after):
    assert Croupier.at_betting(f"draw {TIE}", next_coup=next_coup).phase is after


# --- a card that is not certain


@pytest.mark.parametrize(
    ("read", "code", "held"),
    [("unread", "unread", []), ("unsure 4D", "low_confidence", [("4D", "doubtful")])],
)
def test_a_card_that_is_not_certain_waits_to_be_keyed(read, code, held):
    croupier = Croupier.at_betting("draw KS 2S 5S 3S", read)
    awaited = croupier.said[0]
    assert isinstance(awaited, CardAwaited)
    assert (awaited.code, croupier.held) == (code, held)
    assert croupier.hand == "KS 2S 5S 3S"
    assert croupier.state.waiting.for_person

    croupier.do("key 4D")

    dealt = croupier.said[0]
    assert isinstance(dealt, CardDealt)
    assert (dealt.card, dealt.keyed) == ("4D", True)
    assert not croupier.state.waiting.for_person


@pytest.mark.parametrize(("least", "waits"), [(60, False), (61, True), (100, True), (0, False)])
def test_a_read_is_certain_from_the_threshold_on(least, waits):
    assert Croupier.at_betting("unsure KS", minimum_confidence=least).state.waiting.for_person is waits


def test_a_card_that_was_read_needs_no_keying():
    with pytest.raises(
        RefusedError, match="the table needs no keyed card now, because the shoe reads the cards"
    ) as refused:
        Croupier.at_betting("draw KS", "key 2S")

    assert refused.value.code == "no_card_awaited"


def test_cards_that_follow_a_doubtful_one_are_dealt_after_it():
    croupier = Croupier.at_betting("draw KS 2S", "unread", "draw 3S", "unread", "draw 9D", "key 5S")
    assert croupier.hand == "KS 2S 5S 3S"
    assert croupier.state.waiting.for_person

    croupier.do("key 4D")

    assert croupier.rounds[0].banker == cards("2S 3S 9D")


def test_a_copy_more_than_the_shoe_holds_stops_the_hand():
    croupier = Croupier.at_betting("draw KS 2S 5S 3S", "draw 2S", decks=1)
    assert (croupier.kinds, croupier.held) == (["alarm_raised", "card_awaited"], [("2S", "doubtful")])
    assert croupier.state.waiting.card is not None
    assert croupier.state.waiting.card.code == "surplus_copy"
    # No dealer alone says which card it is.
    assert (croupier.refused("key 3C").code, croupier.stops) == ("needs_supervisor", ["surplus_copy"])
    croupier.do("resume")
    with pytest.raises(RefusedError, match="all copies of 2S \\(1\\) have already left the shoe") as refused:
        croupier.do("key 2S")
    assert refused.value.code == "surplus_copy"

    croupier.do("correct 2 2H", "key 2S")

    assert croupier.rounds[0].player == cards("KS 5S 2S")


@pytest.mark.parametrize(("keyed", "alarms"), [("5S", []), ("5C", [("keyed_otherwise", False)])])
def test_another_card_than_the_shoe_has_read_uncertainly_is_an_alarm(keyed, alarms):
    croupier = Croupier.at_betting("draw KS 2S", "unsure 5S", f"key {keyed}")

    assert (croupier.alarms, croupier.stops) == (alarms, [])
    if alarms:
        assert "keyed 5C, read 5S with a confidence of" in croupier.state.alarms[0].text


def test_a_ninth_copy_is_seen_in_a_shoe_of_eight_decks():
    croupier = Croupier.at_betting(*["draw 7S 7S 7D 7D"] * 4)
    assert croupier.state.shoe.drawn.count(cards("7S")[0]) == 8

    croupier.do("draw KS 7S")

    assert croupier.state.waiting.card is not None
    assert croupier.state.waiting.card.code == "surplus_copy"


# --- void


@pytest.mark.parametrize(
    "dealt",
    [
        ["no more bets"],
        ["draw KS 2S 5S"],
        ["draw KS 2S", "unread", "draw 3S"],
        ["draw KS", "lid open", "draw 3S"],
    ],
)
def test_a_misdeal_gives_the_wagers_back_and_is_on_the_record_but_on_no_road(dealt):
    croupier = Croupier.at_betting("wager 1 player 500", "wager 2 tie 5", *dealt, "void")

    (record,) = croupier.rounds
    assert (record.status, record.winner, record.who, record.reason) == ("void", None, "bob", "misdeal")
    assert [(each.wager, each.outcome, each.returned, each.net) for each in record.settlements] == [
        ("player", "void", 500, 0),
        ("tie", "void", 5, 0),
    ]
    assert croupier.state.shoe.rounds == ()
    assert (croupier.state.round.wagers, croupier.state.waiting.card, croupier.state.waiting.backlog) == (
        (),
        None,
        (),
    )
    assert (croupier.state.round.number, croupier.state.shoe.coups) == (2, 1)


def test_cards_that_came_while_a_void_coup_waited_go_to_no_hand():
    croupier = Croupier.at_betting("draw KS", "unsure 2S", "draw 3S", "unread", "unsure 4S", "void")

    assert croupier.rounds[0].player == cards("KS")
    assert croupier.held == [("3S", "overdrawn"), ("4S", "overdrawn")]
    assert (croupier.state.shoe.drawn, croupier.state.shoe.unknown) == (cards("KS 3S"), 3)
