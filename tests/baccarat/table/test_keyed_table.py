"""A table whose cards are keyed by the dealer: no shoe, one that is out of order, or a game dealt face down."""

import pytest

from punto.baccarat.table.effects import CardDealt
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, cards

DAI_BACC = {"game_name": "dai-bacc", "cards": "keyed"}
NO_SHOE = {"cards": "keyed", "shoe_serial": "IS-1"}


def test_a_coup_is_keyed_card_by_card():
    first, *others = PLAYER_NATURAL.split()
    croupier = Croupier.at_betting("wager 1 player 500", f"key {first}", **NO_SHOE)
    assert [each.keyed for each in croupier.said if isinstance(each, CardDealt)] == [True]

    croupier.do(f"key {others[0]}")
    assert [each.keyed for each in croupier.said if isinstance(each, CardDealt)] == [True]

    croupier.do(f"key {' '.join(others[1:])}")
    (record,) = croupier.rounds
    assert (record.player, record.settlements[0].net) == (cards("KS 9H"), 500)


def test_dai_bacc_is_keyed_and_hidden_until_the_reveal():
    croupier = Croupier.at_betting("wager 1 kill 500", "wager 1 player 500", **DAI_BACC)
    croupier.do("key 3C 7D 8C 3C", "reveal", "key 5H", "reveal", "key 7S")
    assert croupier.phase is Phase.REVEAL

    croupier.do("reveal")

    assert [(each.wager, each.net) for each in croupier.rounds[0].settlements] == [
        ("kill", 15000),
        ("player", -500),
    ]


@pytest.mark.parametrize(
    "command",
    [
        "draw 7C",
        "unread",
        "overdraw 7C",
        "cut card",
        "lid open",
        "push back",
        "fault",
        "records lost 3",
        "hello B",
        "lose shoe",
    ],
)
def test_a_shoe_that_speaks_all_the_same_changes_nothing_in_play(command):
    croupier = Croupier.at_betting("key KS", **NO_SHOE)
    before = croupier.state

    croupier.do(command)

    assert not croupier.state.waiting.for_person
    assert (croupier.hand, croupier.state.shoe.drawn, croupier.state.shoe.last_coup) == (
        "KS",
        before.shoe.drawn,
        None,
    )
    assert croupier.held == []
    assert shoe_orders(croupier.state).locked
    croupier.do("key 2S")
    assert croupier.hand == "KS 2S"


def test_its_records_are_counted_all_the_same():
    croupier = Croupier.at_betting("draw 7C 8C", "records lost 3", "lid open", **NO_SHOE)

    assert croupier.state.link.expected == 7


def test_what_a_shoe_reports_there_is_an_alarm():
    assert Croupier.at_betting("draw 7C", **NO_SHOE).alarms == [("shoe_not_in_use", False)]


@pytest.mark.parametrize(
    ("burn", "keyed", "burned"), [("first_card", ["key 5S"], 5), ("fixed", [], 3), ("none", [], 0)]
)
def test_the_dealer_burns_by_hand_and_then_opens_betting(burn, keyed, burned):
    croupier = Croupier(burn=burn, **NO_SHOE).do("sign on", "change shoe", *keyed)
    before = croupier.phase
    croupier.do("open")

    assert (before, croupier.phase) == (Phase.SHOE_CHANGE, Phase.BETTING)
    assert (len(croupier.state.shoe.drawn), croupier.state.shoe.unknown) == (len(keyed), burned)


@pytest.mark.parametrize(
    ("house", "commands", "code", "message"),
    [
        ({"burn": "first_card"}, ["open"], "burn_not_finished", "turn the first card, key it, and burn"),
        ({"burn": "first_card"}, ["key 5S", "key 6S"], "no_card_awaited", "no card is awaited now: burn the next 5 cards without keying, then open betting"),
        ({"burn": "first_card"}, ["key AS", "key 6S"], "no_card_awaited", "no card is awaited now: burn the next card without keying, then open betting"),
        ({"burn": "none"}, ["key 5S"], "no_card_awaited", "no card is awaited now: open betting first"),
        ({"betting_closes": "order"}, ["open", "key 5S"], "no_card_awaited", "no card is awaited now: close betting first"),
        ({"decks": 1}, ["open", "key 5S 5S"], "surplus_copy", "all copies of 5S \\(1\\) have already left the shoe"),
    ],
)  # fmt: skip
def test_a_card_that_nobody_awaits_is_refused(house, commands, code, message):
    croupier = Croupier(**{**NO_SHOE, **house}).do("sign on", "change shoe")

    with pytest.raises(RefusedError, match=message) as refused:
        croupier.do(*commands)

    assert refused.value.code == code


def test_where_betting_closes_by_order_cards_are_keyed_after_it():
    croupier = Croupier.at_betting("no more bets", "key KS", betting_closes="order", **NO_SHOE)

    assert croupier.hand == "KS"


FIRST: list[str] = ["hello", "sign on", "change shoe"]
SECOND = "card 2 of the coup"


@pytest.mark.parametrize(
    ("house", "commands", "again", "named", "following"),
    [
        ({"cards": "keyed"}, [*FIRST, "open", "key at 1 KS"], "key at 1 KS", "card 1 of the coup", SECOND),
        ({"cards": "keyed"}, [*FIRST, "open", "key at 1 KS"], "key at 3 KS", "card 3 of the coup", SECOND),
        ({"cards": "keyed"}, [*FIRST, "open", "key at 1 KS"], "key at 0 KS", "the first card of the shoe", SECOND),
        ({"cards": "keyed"}, [*FIRST, "open", "key KS 2S 9H", "key at 4 3S"], "key at 4 3S", "card 4 of the coup", "card 1 of the coup"),
        ({"cards": "keyed", "burn": "first_card"}, FIRST, "key at 1 2S", "card 1 of the coup", "the first card of the shoe"),
        ({}, [*FIRST, "open", "unread", "unread", "key at 1 KS"], "key at 1 KS", "card 1 of the coup", SECOND),
        (
            {"overdraw": "next_coup"},
            [*FIRST, "open", "overdraw 5C", "resume", "draw KS", "unread", "key at 3 9H", "unread"],
            "key at 3 9H",
            "card 3 of the coup",
            "card 4 of the coup",
        ),
    ],
)  # fmt: skip
def test_a_card_keyed_for_another_place_than_the_next_is_refused(house, commands, again, named, following):
    croupier = Croupier(**house).do(*commands)
    before = croupier.state

    refused = croupier.refused(again)

    assert refused.code == "wrong_position"
    assert str(refused).startswith(f"the order enters {named}, but the table needs {following} next: check ")
    assert croupier.state is before


def prompted(croupier: Croupier) -> int | None:
    """The position of the card that is to be keyed next."""
    return croupier.state.next_position


def test_the_first_card_of_a_shoe_is_keyed_as_number_0():
    croupier = Croupier(cards="keyed", burn="first_card").do(*FIRST)
    assert prompted(croupier) == 0
    croupier.do("key at 0 2S")

    assert croupier.state.shoe.burn_left == 2
    assert prompted(croupier) is None
    with pytest.raises(RefusedError, match="no card is awaited now"):
        croupier.do("key at 0 2S")
