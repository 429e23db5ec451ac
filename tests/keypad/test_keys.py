"""What the keys mean: the default map, a house's own, sequences and their time-out."""

import pytest

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.drivers.base import KeyAnswer
from punto.drivers.keypad.keys import DEFAULT, MEANINGS, KeyedOrder, Keying, KeyMap, KeyMapError

SECONDS = 3.0


def keying(**written: str) -> Keying:
    return Keying(KeyMap({keys.replace("__", " "): meaning for keys, meaning in written.items()}), SECONDS)


def type_(at: Keying, keys: str, now: float = 0.0) -> KeyedOrder | KeyAnswer:
    """Press keys one after the other; what came of the last."""
    for key in keys.split():
        answer = at.press(key, now)
    return answer


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ("F1", "open_betting"),
        ("F2", "close_betting"),
        ("ENTER", "reveal"),
        ("KPENTER", "reveal"),
        ("F12", "call_supervisor"),
        ("F5", "start_game"),
        ("F7", "jpot"),
        ("F8", "game_over"),
    ],
)
def test_a_key_of_the_default_map_is_its_order(keys, kind):
    assert type_(keying(), keys) == KeyedOrder(kind)


@pytest.mark.parametrize("card", STANDARD_DECK)
def test_every_card_is_keyed_by_its_rank_and_its_suit(card):
    assert type_(keying(), f"{card.rank} {card.suit}") == KeyedOrder("key_card", card)


@pytest.mark.parametrize(("keys", "seat"), [("F6 1", 1), ("F6 KP9", 9), ("H 1 4", 14)])
def test_a_seat_has_a_hand_button(keys, seat):
    assert type_(keying(H__1__4="hand 14"), keys) == KeyedOrder("hand_button", seat=seat)


@pytest.mark.parametrize(("key", "rank"), [("0", "T"), ("KP0", "T"), ("KP7", "7")])
def test_a_rank_has_a_second_key_where_people_look_for_it(key, rank):
    assert type_(keying(), f"{key} H") == KeyedOrder("key_card", Card(f"{rank}H"))


def test_no_key_of_the_default_map_is_without_a_part_in_an_order():
    keys = KeyMap()
    used = {key for sequence in keys.orders for key in sequence} | keys.clear

    assert used == {key for sequence in DEFAULT for key in sequence.split(" ")}


def test_a_rank_asks_for_the_suit():
    assert type_(keying(), "9") == KeyAnswer("more", "9 ...", 3)


def test_a_rank_is_forgotten_after_the_time_out():
    at = keying()
    at.press("9", 0.0)

    answer = at.press("S", SECONDS + 0.1)

    assert answer == KeyAnswer(
        "refused", "S comes after another key: for a card press the rank first, then the suit"
    )


def test_the_time_out_counts_from_the_last_key():
    at = keying(F9__F9__F9="reveal")
    at.press("F9", 0.0)
    at.press("F9", 2.5)

    assert at.press("F9", 5.0) == KeyedOrder("reveal")


def test_a_second_key_alone_says_that_it_is_one():
    told = type_(keying(H__1="hand 1"), "1")

    assert told == KeyAnswer("refused", "1 comes after another key: press that key first")


def test_a_wrong_second_key_is_refused_and_is_no_order_of_its_own():
    at = keying()

    assert type_(at, "9 F2") == KeyAnswer("refused", "9 F2 has no meaning: begin again")
    assert type_(at, "F2") == KeyedOrder("close_betting")


def test_a_second_rank_does_not_take_the_place_of_the_first():
    at = keying()

    assert type_(at, "9 8") == KeyAnswer("refused", "9 8 has no meaning: begin again")
    assert type_(at, "S") != KeyedOrder("key_card", Card.EIGHT_S)


def test_the_clear_key_ends_a_sequence():
    at = keying()

    assert type_(at, "9 ESC") == KeyAnswer("done", "cleared")
    assert type_(at, "ESC") == KeyAnswer("done", "nothing to clear")
    assert type_(at, "8 S") == KeyedOrder("key_card", Card.EIGHT_S)


def test_an_unknown_key_is_refused():
    assert type_(keying(), "VOLUMEUP") == KeyAnswer("refused", "VOLUMEUP has no meaning on this keypad")


def test_a_house_changes_the_map_key_by_key():
    at = keying(F1="close_betting", F2="nothing", F9__F9="call_supervisor")

    assert type_(at, "F1") == KeyedOrder("close_betting")
    assert type_(at, "F2") == KeyAnswer("refused", "F2 has no meaning on this keypad")
    assert type_(at, "F9 F9") == KeyedOrder("call_supervisor")
    assert type_(at, "ENTER") == KeyedOrder("reveal")


def test_a_ten_can_be_keyed_as_one_and_naught():
    at = keying(**{"0": "nothing", "1": "rank A", "1__0": "rank T"})

    assert type_(at, "1 0 D") == KeyedOrder("key_card", Card.TD)
    assert type_(at, "1 D") == KeyedOrder("key_card", Card.AD)


@pytest.mark.parametrize(
    ("written", "keys", "message"),
    [
        ({"F1": "void_coup"}, "F1", "'void_coup' cannot be a key's meaning: write open_betting"),
        ({"F1": "rank 1"}, "F1", "'rank 1' cannot be a key's meaning"),
        ({"f1": "reveal"}, "f1", "'f1' is not a key's name: write capitals, digits and _"),
        ({"F1  F2": "reveal"}, "F1  F2", "'' is not a key's name"),
        ({"": "reveal"}, "", "'' is not a key's name"),
        ({"ESC ESC": "clear"}, "ESC ESC", "clear must be one key"),
        ({"F1 F2": "reveal"}, "F1 F2", "F1 has two meanings, or"),
        ({"F5": "clear", "F5 F6": "reveal"}, "F5 F6", "F5 F6 has two meanings, or"),
        ({"9 S": "reveal"}, "9 S", "9 S has two meanings, or"),
        ({"S": "rank A"}, None, None),
    ],
)
def test_a_map_that_cannot_be_used_says_where_and_why(written, keys, message):
    if keys is None:
        KeyMap(written)  # spades have no key then, and that is the house's business
        return
    with pytest.raises(KeyMapError) as error:
        KeyMap(written)
    assert error.value.keys == keys
    assert message in str(error.value)


def test_no_key_means_a_supervisors_order():
    supervisors = {
        "void_coup",
        "correct_card",
        "resume_play",
        "accept_shoe",
        "change_shoe",
        "close_table",
        "sign_on",
    }

    assert not supervisors.intersection(MEANINGS)
