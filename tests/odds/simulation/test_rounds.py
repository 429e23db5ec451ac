"""Single rounds: their cards are those that the stream says, and their rules those that settlement finds."""

from functools import cache
from itertools import islice

import pytest

from punto.baccarat.cards import RANKS, STANDARD_DECK, Card
from punto.baccarat.coup import Coup, Side
from punto.baccarat.wagers.settlement import PlacedWager, settle
from punto.configs.game_files import load_game, shipped_games
from punto.odds.exact import positions
from punto.odds.simulation.simulator import ShoeRules, Simulation
from tests.baccarat.table.croupier import Croupier
from tests.odds.games import (
    COMBINATIONS,
    EACH_FEATURE,
    NEGATIONS,
    ONE_SUIT_IN_ANOTHER,
    SEVERAL_VALUES,
    game,
)
from tests.odds.simulation.model import deal, outcomes_of, shuffled
from tests.share import sampled, share

MINI = load_game("mini-baccarat")
NEW_SHOE = ("hello", "sign on", "change shoe")


# --- the deal


@pytest.mark.parametrize("decks", [1, 8])
def test_a_round_of_its_own_shoe_has_the_first_cards_of_a_full_one(decks):
    # More of them than one lot of draws is enough for.
    _, rounds = deal(outcomes_of(MINI), decks=decks, rounds=12_000)

    assert [each.shoe for each in rounds] == list(range(12_000))
    assert {each.number for each in rounds} == {0}
    for each, six in zip(rounds, shuffled(1, decks, places=6), strict=False):
        assert each.cards == tuple(six[: len(each.cards)])
        Coup.complete(each.cards)


@pytest.mark.parametrize(
    ("decks", "house"),
    sampled(
        [
            (8, {}),
            (8, {"burn_ace": 11, "cut_card": 16}),
            (8, {"burn": 0, "cut_card": 7, "coups_after_cut_card": 0}),
            (6, {"burn": 5, "coups_after_cut_card": 0}),
            (4, {"cut_card": 60, "coups_after_cut_card": 3}),
            (1, {"cut_card": 11}),
            (1, {"burn": 0, "cut_card": 52}),
        ],
        one_in=4,
    ),
)
def test_a_shoe_is_played_as_a_table_plays_it(decks, house):
    rules = ShoeRules(**house)
    _, rounds = deal(outcomes_of(MINI), decks=decks, rounds=16_000, shoe=rules)
    behind = rules.cut_card
    # The first shoes, and those around the end of the first draws.
    per_lot = 65_536 // rules.play(decks).places
    wanted = {0, 1, 2, 3, *range(per_lot - 3, per_lot + 3)} & set(range(min(rounds[-1].shoe, 4096)))
    dealt: dict[int, list[tuple[Card, ...]]] = {}
    for each in rounds:
        assert each.number == len(dealt.setdefault(each.shoe, []))
        dealt[each.shoe].append(each.cards)

    assert len(wanted) > 3
    for number, cards in islice(enumerate(shuffled(1, decks, rules.play(decks).places)), max(wanted) + 1):
        if number in wanted:
            assert dealt[number] == at_a_table(cards, 52 * decks - behind, decks, house)


def at_a_table(cards, cut, decks, house):
    """The coups that a table has of these cards, with the cut card after so many."""
    settings = {key: value for key, value in house.items() if key not in {"cut_card", "burn"}}
    match house.get("burn", "first_card"):
        case 0:
            settings |= {"burn": "none"}
        case int(number):
            settings |= {"burn": "fixed", "burn_cards": number}
        case by_points:
            settings |= {"burn": by_points}
    croupier = Croupier(decks=decks, **settings).do(*NEW_SHOE)
    if croupier.settings.burn == "none":
        croupier.do("open")
    for place, card in enumerate(cards):
        if place == cut:
            croupier.do("cut card")
        if croupier.state.shoe_over:
            break
        croupier.do(f"draw {card.value}")
    assert croupier.state.shoe_over
    assert not croupier.stops
    return [in_order(each) for each in croupier.rounds]


def in_order(record):
    """The cards of a round in the order they left the shoe."""
    first = [card for pair in zip(record.player[:2], record.banker[:2], strict=True) for card in pair]
    return (*first, *record.player[2:], *record.banker[2:])


@pytest.mark.parametrize(
    ("decks", "house", "said"),
    [
        (8, {"cut_card": 10}, "10 cards behind the cut card may not be enough for the coups after it: write at least 11"),
        (8, {"cut_card": 5, "coups_after_cut_card": 0}, "write at least 6"),
        (8, {"cut_card": 16, "coups_after_cut_card": 2}, "write at least 17"),
        (1, {"cut_card": 42}, "up to 11 of 52 cards are burned"),
        (1, {"cut_card": 50, "burn": 3}, "up to 3 of 52 cards are burned"),
        (1, {"cut_card": 53, "burn": 0}, "up to 0 of 52 cards are burned"),
    ],
)  # fmt: skip
def test_a_shoe_that_could_not_be_dealt_to_its_end_is_refused(decks, house, said):
    with pytest.raises(ValueError, match=said):
        Simulation(outcomes_of(MINI), decks=decks, rounds=1, seed=1, shoe=ShoeRules(**house))


@pytest.mark.parametrize(
    ("house", "said"),
    [
        ({"burn": -1}, "0 to 20 cards can be burned, not -1"),
        ({"burn": 21}, "0 to 20 cards can be burned, not 21"),
        ({"coups_after_cut_card": -1}, "0 to 9 coups can come after the cut card, not -1"),
        ({"coups_after_cut_card": 10}, "0 to 9 coups can come after the cut card, not 10"),
    ],
)
def test_what_no_table_has_is_refused(house, said):
    with pytest.raises(ValueError, match=said):
        ShoeRules(**house)


# --- the rules


@pytest.mark.in_part
@pytest.mark.parametrize("name", sampled(shipped_games(), one_in=4))
def test_every_position_is_decided_by_the_rule_that_settles_it(name):
    played = load_game(name)

    _, rounds = deal(outcomes_of(played), rounds=share(1_500, one_in=3), shoe=ShoeRules())

    for each in rounds:
        coup = Coup.complete(each.cards)
        for position in positions(played):
            assert each.rules[position.name] == settled_by(played, position, coup)


def settled_by(played, position, coup):
    """The rule that settles this position for a seat that has nothing else but the base wager it is beside."""
    name, _, beside = position.name.partition(":")
    seat = [PlacedWager(1, name, 100)]
    if beside:
        seat += [
            PlacedWager(1, base.name, 100)
            for base in played.wagers
            if base.base and base.side in {Side(side) for side in beside.split("+")}
        ]
    return settle(played, coup, seat)[0].rule


SHOES = {
    "whole decks": [*STANDARD_DECK],
    "spades": [Card(rank + "S") for rank in RANKS],
    "mostly hearts": [Card(rank + suit) for rank in RANKS for suit in "HHHHHD"],
    "few ranks": [Card(rank + suit) for rank in "2349" for suit in "SHDC"],
    "two, three, four and ten, mostly of clubs": [Card(rank + suit) for rank in "234T" for suit in "CCCD"],
    "nine and pictures of two suits": [Card(rank + suit) for rank in "9TJQKA" for suit in "SD"],
    "five, eight and king": [Card(rank + suit) for rank in "58K" for suit in "SHDC"],
}
ODD = [*EACH_FEATURE, *SEVERAL_VALUES, *NEGATIONS, *COMBINATIONS, *ONE_SUIT_IN_ANOTHER]


@cache
def odd_outcomes(third):
    return outcomes_of(game(*ODD[third::3]))


@pytest.mark.parametrize("shoe", sampled(SHOES, one_in=4))
@pytest.mark.parametrize("third", range(3))
def test_whatever_a_rule_asks_of_a_coup_is_told_apart(third, shoe):
    outcomes = odd_outcomes(third)

    _, rounds = deal(outcomes, SHOES[shoe], rounds=1_000, seed=5)

    for each in rounds:
        coup = Coup.complete(each.cards)
        assert each.rules == {
            position.name: getattr(position.wager.deciding_rule(coup), "name", "lose")
            for position in outcomes.positions
        }
