import pytest

from punto.baccarat.cards import Card
from punto.simulators.shoe import OptionError, ShoeOptions, shuffled
from punto.simulators.shoe.faults import Faults
from punto.simulators.shoe.scenario import parse_scenario

FEW = (Card.AS, Card.KH, Card.TWO_C)


def test_shoes_are_shuffled_from_the_seed(tmp_path):
    options = ShoeOptions(store=tmp_path, seed="x", decks=6)

    assert options.cards(4) == tuple(shuffled("x", 4, 6))


def test_exact_cards_come_first(tmp_path):
    options = ShoeOptions(store=tmp_path, shoes=(FEW,), cut=0)

    assert options.cards(1) == FEW
    assert options.cards(2) == tuple(shuffled("1", 2, 8))


def test_a_surplus_copy_by_option_is_in_every_shoe_and_by_scenario_in_its_own(tmp_path):
    every = ShoeOptions(store=tmp_path, decks=1, faults=Faults(ninth_copy=10))
    text = 'decks = 1\n[[steps]]\nat = 10\nshoe = 2\ndo = "ninth_copy"'
    second = ShoeOptions(store=tmp_path, **parse_scenario(text, "x").settings())
    surplus = {
        (name, shoe)
        for name, options in (("every", every), ("second", second))
        for shoe in (1, 2, 3)
        if len(set(options.cards(shoe))) < 52
    }

    assert surplus == {("every", 1), ("every", 2), ("every", 3), ("second", 2)}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"decks": 0}, "decks is 0: write 1 to 8"),
        ({"decks": 9}, "decks is 9: write 1 to 8"),
        ({"window": 0}, "window is 0: write 1 to 64"),
        ({"window": 65}, "window is 65: write 1 to 64"),
        ({"pace": -1}, "pace is -1: write 0 to 3600"),
        ({"pace": float("nan")}, "pace is nan"),
        ({"between": -0.1}, "between is -0.1: write 0 to 3600"),
        ({"room": 0}, "room is 0"),
        ({"cut": -1}, "cut is -1, but a shoe of 8 decks has 416 cards: write 0 (no cut card) to 415"),
        ({"cut": 416}, "cut is 416"),
        ({"decks": 1, "cut": 52}, "a shoe of 1 decks has 52 cards"),
        ({"shoes": (FEW,), "cut": 3}, "cut is 3, but shoe 1 has 3 cards: write 0 (no cut card) to 2"),
        ({"serial": ""}, "serial '': write 1 to 32 ASCII characters without spaces"),
        ({"serial": "a b"}, "without spaces"),
        ({"serial": "é"}, "ASCII"),
        ({"serial": "x" * 33}, "1 to 32"),
        ({"decks": 1, "faults": Faults(ninth_copy=53)}, "fault ninth_copy=53: write 1 to 52"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_write(tmp_path, given, says):
    with pytest.raises(OptionError) as caught:
        ShoeOptions(store=tmp_path, **given)

    assert says in str(caught.value)
