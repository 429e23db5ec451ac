"""What the keys mean: the default map, a house's own, sequences and their time-out."""

import pytest

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.drivers.base import KeyAnswer
from punto.drivers.keypad.keys import DEFAULT, MEANINGS, KeyedOrder, Keying, KeyMap, KeyMapError

SECONDS = 3.0


def keying(written: dict[str, str] | None = None) -> Keying:
    return Keying(KeyMap(written), SECONDS)


def type_(at: Keying, keys: str, now: float = 0.0) -> KeyedOrder | KeyAnswer:
    """Press keys one after the other; what came of the last."""
    for key in keys.split():
        answer = at.press(key, now)
    return answer


def refused(text: str) -> KeyAnswer:
    return KeyAnswer("refused", text)


def keyed(card: str) -> KeyedOrder:
    return KeyedOrder("key_card", Card(card))


@pytest.mark.parametrize("card", STANDARD_DECK)
def test_every_card_is_keyed_by_its_rank_and_its_suit(card):
    assert type_(keying(), f"{card.rank} {card.suit}") == KeyedOrder("key_card", card)


OWN = {"F1": "close_betting", "F2": "nothing", "F9 F9": "call_supervisor"}
TEN = {"0": "nothing", "1": "rank A", "1 0": "rank T"}


@pytest.mark.parametrize(
    ("written", "keys", "result"),
    [
        ({}, "F1", KeyedOrder("open_betting")),
        ({}, "F2", KeyedOrder("close_betting")),
        ({}, "ENTER", KeyedOrder("reveal")),
        ({}, "KPENTER", KeyedOrder("reveal")),
        ({}, "F12", KeyedOrder("call_supervisor")),
        ({}, "F5", KeyedOrder("start_game")),
        ({}, "F7", KeyedOrder("jpot")),
        ({}, "F8", KeyedOrder("game_over")),
        ({}, "F6 1", KeyedOrder("hand_button", seat=1)),
        ({}, "F6 KP9", KeyedOrder("hand_button", seat=9)),
        ({"H 1 4": "hand 14"}, "H 1 4", KeyedOrder("hand_button", seat=14)),
        # a rank has a second key where people look for it
        ({}, "0 H", keyed("TH")),
        ({}, "KP0 H", keyed("TH")),
        ({}, "KP7 H", keyed("7H")),
        # a rank asks for the suit
        ({}, "9", KeyAnswer("more", "9 ...", 3)),
        ({}, "S", refused("S comes after another key: for a card press the rank first, then the suit")),
        ({"H 1": "hand 1"}, "1", refused("1 comes after another key: press that key first")),
        # a wrong second key is refused, and is not an order of its own
        ({}, "9 F2", refused("9 F2 has no meaning: begin again")),
        ({}, "9 F2 F2", KeyedOrder("close_betting")),
        ({}, "9 8", refused("9 8 has no meaning: begin again")),
        ({}, "9 8 S", refused("S comes after another key: for a card press the rank first, then the suit")),
        # the clear key ends a sequence
        ({}, "9 ESC", KeyAnswer("done", "cleared")),
        ({}, "9 ESC ESC", KeyAnswer("done", "nothing to clear")),
        ({}, "9 ESC 8 S", keyed("8S")),
        ({}, "VOLUMEUP", refused("VOLUMEUP has no meaning on this keypad")),
        # a house changes the map key by key
        (OWN, "F1", KeyedOrder("close_betting")),
        (OWN, "F2", refused("F2 has no meaning on this keypad")),
        (OWN, "F9 F9", KeyedOrder("call_supervisor")),
        (OWN, "ENTER", KeyedOrder("reveal")),
        # a ten can be keyed as one and nought
        (TEN, "1 0 D", keyed("TD")),
        (TEN, "1 D", keyed("AD")),
    ],
)
def test_the_last_of_these_keys_has_this_result(written, keys, result):
    assert type_(keying(written), keys) == result


def test_every_key_of_the_default_map_is_part_of_an_order():
    keys = KeyMap()
    used = {key for sequence in keys.orders for key in sequence} | keys.clear

    assert used == {key for sequence in DEFAULT for key in sequence.split(" ")}


def test_a_sequence_expires_a_while_after_its_last_key():
    at = keying({"F9 F9 F9": "reveal"})
    at.press("F9", 0.0)
    at.press("F9", 2.5)
    assert at.press("F9", 2.5 + SECONDS) == KeyedOrder("reveal")

    at.press("9", 10.0)
    late = at.press("S", 10.0 + SECONDS + 0.1)
    assert late == refused("S comes after another key: for a card press the rank first, then the suit")


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
def test_an_invalid_map_is_reported_with_its_entry_and_the_reason(written, keys, message):
    if keys is None:
        KeyMap(written)  # spades have no key then, and that is the house's business
        return
    with pytest.raises(KeyMapError) as error:
        KeyMap(written)
    assert error.value.keys == keys
    assert message in str(error.value)


def test_no_key_can_give_a_supervisors_order():
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
