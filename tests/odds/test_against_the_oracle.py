"""The odds are what an oracle counts, which knows the sheets and not how they are reckoned."""

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from math import perm

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.wagers.definition import Game, Wager
from punto.configs.game_files import load_game, shipped_games
from punto.odds.composition import Composition, CompositionError
from punto.odds.coups import coups_for
from punto.odds.deciding import features_of, terms
from punto.odds.exact import GameOdds, Position
from tests.odds import games, oracle
from tests.odds.oracle import Ended, Shoe, full, of
from tests.share import part, sampled, share

GAMES = {name: load_game(name) for name in shipped_games()}
ODD = games.game(*games.ODD)
METERED = games.game(*games.METERED)

# Few cards, in which what is rare in a full shoe happens often.
SHOES = {
    "six cards": "AS 2H 3D 4C 5S 6H",
    "six cards of one suit": "2D 3D 4D KD QD TD",
    "six alike": "9S 9S 9S 9S 9S 9S",
    "nothing but tens": "TS TH JD QC KS KH TD",
    "nothing but tens of one suit": "TD JD QD KD KD TD KD",
    "two kinds": "4H 4H 4H 5D 5D 5D 5D",
    "hearts": "AH 2H 3H 4H 5H 6H 9H KH",
    "spades and a diamond": "AS 2S 3S 4S 4S QS 9S KD",
    "clubs without a ten": "2C 2C 5C 3C 7C 8C AC AC",
    "pairs": "8S 8S 8H 3D 3D KC KC AS AS",
    "perfect pairs of hearts": "9H 9H 8H 8H AH 2C 2C 7S",
    "nines and ones": "9S 9D KS QH JD TC AC AH 7H",
    "small cards": "2S 2D 3S 3C 4S 4H AC AD TD",
    "naturals": "8S 9S KS 8D AD KD QC 4H 5H",
    "sixes and sevens": "6S 7S 6H 7D KC 6D AC 7H",
    "eights and a ten of one suit": "AS 8S TS TC 2C 2S 5C 5S 9C",
    "low diamonds": "2D 2D AD TD KD KD JD",
    "low spades and hearts": "2S 2S AH TH KS KS JS",
}


@cache
def odds_of(game: Game) -> GameOdds:
    return GameOdds(game)


@cache
def cards_of(shoe: str) -> Counter[Ended]:
    return oracle.card_by_card(of(SHOES[shoe]))


def composition(shoe: Shoe) -> Composition:
    return Composition(tuple(shoe.get(card.value, 0) for card in STANDARD_DECK))


def worn(decks: int) -> dict[str, int]:
    """A shoe of which some cards are gone altogether and no two ranks or suits have the same left."""
    return {card: (7 * place * place + 3 * place) % (decks + 1) for place, card in enumerate(full(decks))}


def without_ranks(shoe: Shoe, ranks: str) -> dict[str, int]:
    return {card: 0 if card[0] in ranks else left for card, left in shoe.items()}


def expected(game: Game, position: Position, coups: Mapping[Ended, int]) -> dict[str, int]:
    """What each of a position's rules must count; a rule that it leaves out must be one that cannot decide."""
    name, _, base = position.name.partition(":")
    found = oracle.counts(game.wager(name), coups, base or None)
    kept = [rule.name for rule in position.wager.rules]
    assert not sum(count for rule, count in found.items() if rule not in kept)
    return {rule: found[rule] for rule in kept}


def assert_agrees(
    game: Game, odds: GameOdds, shoe: Shoe, coups: Callable[[Shoe, Wager], Mapping[Ended, int]]
) -> None:
    found = odds.counts(composition(shoe))

    wanted = {
        position.name: expected(game, position, coups(shoe, game.wager(position.name.partition(":")[0])))
        for position in odds.positions
    }
    assert found == wanted
    assert {sum(rules.values()) for rules in found.values()} == {perm(sum(shoe.values()), 6)}


def tells_suits(wager: Wager) -> bool:
    return any(rule.when.winning_suit or rule.when.coup_suit for rule in wager.rules)


def without_suits(game: Game) -> Game:
    return Game(
        name=game.name,
        title=game.title,
        sheet=game.sheet,
        decks=game.decks,
        wagers=tuple(wager for wager in game.wagers if not tells_suits(wager)),
    )


# The oracle itself.


def test_the_oracle_counts_what_is_known_of_eight_decks():
    coups = oracle.in_classes(full(8), games.PLAYER)

    won: Counter[str] = Counter()
    for coup, ways in coups.items():
        won[coup.winner] += ways
    assert won == {
        "banker": 2_292_252_566_437_888,
        "player": 2_230_518_282_592_256,
        "tie": 475_627_426_473_216,
    }
    assert won.total() == 4_998_398_275_503_360


# Counts.


@pytest.mark.parametrize("name", sampled(GAMES, one_in=4))
@pytest.mark.parametrize("shoe", [full(8), worn(8)], ids=["full", "worn"])
def test_a_shipped_games_points_and_pairs_count_as_the_oracle_says(name, shoe):
    game = without_suits(GAMES[name])

    assert_agrees(game, odds_of(game), shoe, oracle.in_classes)


@pytest.mark.parametrize(
    "name", sampled([name for name, game in GAMES.items() if any(map(tells_suits, game.wagers))], one_in=4)
)
def test_a_shipped_games_suits_count_as_the_oracle_says(name):
    assert_agrees(GAMES[name], odds_of(GAMES[name]), without_ranks(worn(8), "5679TJQ"), oracle.in_classes)


@pytest.mark.parametrize("name", sampled(GAMES, one_in=4))
@pytest.mark.parametrize("shoe", ["spades and a diamond", "hearts", "pairs", "nines and ones"])
def test_a_shipped_game_counts_as_the_oracle_says_in_a_shoe_with_few_cards(name, shoe):
    assert_agrees(GAMES[name], odds_of(GAMES[name]), of(SHOES[shoe]), lambda *_: cards_of(shoe))


@pytest.mark.parametrize("decks", [1, 2, 4, 6, 8, 12])
def test_points_count_as_the_oracle_says_for_any_number_of_decks(decks):
    assert_agrees(METERED, odds_of(METERED), full(decks), oracle.in_classes)


@pytest.mark.parametrize("shoe", sampled(SHOES, one_in=4))
def test_wagers_that_no_house_has_count_as_the_oracle_says(shoe):
    assert_agrees(ODD, odds_of(ODD), of(SHOES[shoe]), lambda *_: cards_of(shoe))


def test_a_hand_of_one_suit_in_a_coup_of_another_counts_nothing():
    game = games.game(*games.ONE_SUIT_IN_ANOTHER)
    odds = GameOdds(game)

    for shoe, cards in SHOES.items():
        assert_agrees(game, odds, of(cards), lambda *_, shoe=shoe: cards_of(shoe))


MANY_SUITS = games.wager(
    "many_suits",
    *(
        ("1 to 1", {name: suits, pair: holds})
        for pair, holds in (("player_perfect_pair", True), ("banker_perfect_pair", False), ("natural", True))
        for name in ("winning_suit", "coup_suit")
        for suits in (("S", "H"), ("H", "D"), ("D", "C"), ("C",))
    ),
)


@pytest.mark.in_part
@pytest.mark.soak
def test_many_rules_on_suits_in_one_wager_count_as_the_oracle_says():
    game = games.game(MANY_SUITS)
    odds = GameOdds(game)

    for shoe, cards in part([*SHOES.items()], one_in=3):
        assert_agrees(game, odds, of(cards), lambda *_, shoe=shoe: cards_of(shoe))


@pytest.mark.soak
def test_what_rules_on_suits_ask_together_does_not_grow_with_their_number():
    conditions = [rule.when for rule in MANY_SUITS.rules]
    found = terms(coups_for(features_of(conditions)), conditions)

    # For each set of suits one for the coup; and one for either hand, with the other's pair or without.
    assert max(map(len, found)) <= 15 + 2 * 2 * 15 + 4


def test_pairs_and_ranks_count_as_the_oracle_says_in_a_large_shoe():
    asks = ("natural", "player_pair", "banker_pair", "player_perfect_pair", "banker_perfect_pair")
    pairs = [each for each in games.ODD if each.name.removeprefix("not_") in {*asks, "no_pair_at_all"}]
    ranks = [games.wager("ranks", ("1 to 1", {"winning_ranks": ("2-3-4", "A-A-7", "5-5-9", "8-8-3", "4-5")}))]
    game = games.game(*pairs, *ranks)

    assert_agrees(game, GameOdds(game), worn(6), oracle.in_classes)


def test_counts_past_what_a_float_holds_are_whole():
    shoe = worn(12) | full(12) | {"AS": 11, "7H": 5, "KD": 9, "4C": 7}
    odds = odds_of(GAMES["dragon-bonus-1"])

    assert_agrees(GAMES["dragon-bonus-1"], odds, shoe, oracle.in_classes)
    found = [count for rules in odds.counts(composition(shoe)).values() for count in rules.values()]
    assert {type(count) for count in found} == {int}
    assert any(count > 2**53 and int(float(count)) != count for count in found)


ANY_WAGER = games.wagers()


# Without shrinking: an example is small as it is, and shrinking takes longer than a test may.
@pytest.mark.in_part
@settings(max_examples=share(12, one_in=3), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(ANY_WAGER, st.lists(games.shoes(most=9), min_size=3, max_size=3))
def test_any_wager_counts_as_the_oracle_says_in_any_small_shoe(wager, shoes):
    any_wagers_agree([wager], shoes)


@pytest.mark.soak
@pytest.mark.timeout(0)
@settings(max_examples=1000)
@given(st.lists(ANY_WAGER, min_size=1, max_size=3), st.lists(games.shoes(most=12), min_size=1, max_size=3))
def test_very_many_wagers_count_as_the_oracle_says(wagers, shoes):
    any_wagers_agree(wagers, shoes)


def any_wagers_agree(wagers: list[Wager], shoes: list[dict[str, int]]) -> None:
    game = games.game(*games.renamed(wagers))
    odds = GameOdds(game)
    for shoe in shoes:
        coups = oracle.card_by_card(shoe)
        assert_agrees(game, odds, shoe, lambda *_, coups=coups: coups)


@pytest.mark.soak
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("shoe", [full(1), worn(3), full(6), worn(8), full(8), full(12)])
def test_a_shipped_game_counts_as_the_oracle_says_in_a_large_shoe(name, shoe):
    assert_agrees(GAMES[name], odds_of(GAMES[name]), shoe, oracle.in_classes)


# What is reckoned from the counts.


def figures(rules: list[tuple[str, Fraction, Fraction]]) -> tuple[Fraction, ...]:
    """Edge, hit, push and variance from each rule's pay, its probability and its net."""
    mean = sum((chance * net for _, chance, net in rules), Fraction())
    return (
        -mean,
        sum((chance for pays, chance, _ in rules if pays not in {"push", "lose"}), Fraction()),
        sum((chance for pays, chance, _ in rules if pays == "push"), Fraction()),
        sum((chance * (net - mean) ** 2 for _, chance, net in rules), Fraction()),
    )


def average_on_meter(position: Position, chances: Mapping[str, Fraction]) -> Fraction:
    """A meter's average at its top award, in minor units: (S + c/p) / (1 + f q/p)."""
    progressive = position.wager.progressive
    assert progressive is not None
    share = {
        rule.name: Fraction(rule.pays.split("%")[0]) / 100
        for rule in position.wager.rules
        if rule.pays.endswith("meter")
    }
    top = sum((chances[rule] for rule, of_meter in share.items() if of_meter == 1), Fraction())
    less = sum((chances[rule] * of_meter for rule, of_meter in share.items() if of_meter < 1), Fraction())
    stake = position.wager.limits.minimum
    taken_in = Fraction(progressive.contribution.removesuffix("%")) / 100 * stake
    return (progressive.seed + taken_in / top) / (1 + less / top)


@pytest.mark.parametrize("shoe", [full(8), worn(8), of(SHOES["nines and ones"])], ids=["full", "worn", "few"])
@pytest.mark.parametrize(
    ("game", "meters"),
    [
        (GAMES["dragon-bonus-1"], {}),
        (GAMES["canberra"], {}),
        (GAMES["dai-bacc"], {}),
        (METERED, {}),
        (METERED, {"meter": Fraction(7_654_321, 3), "meter_with_the_base:banker": Fraction(0)}),
        (METERED, {"meter_with_the_base:player": Fraction(1_000_000)}),
    ],
    ids=lambda value: value.name if isinstance(value, Game) else " and ".join(value) or "average",
)
def test_every_figure_is_what_its_counts_come_to(game, meters, shoe):
    found = odds_of(game)

    for position in found.positions:
        name = position.name.partition(":")[0]
        odds = found.odds(composition(shoe), meters or None)[position.name]
        coups = oracle.in_classes(shoe, game.wager(name))
        counts = expected(game, position, coups)
        meter = None
        if position.wager.progressive:
            in_full = expected(game, position, oracle.in_classes(full(game.decks), game.wager(name)))
            orders = sum(in_full.values())
            average = average_on_meter(
                position, {rule: Fraction(ways, orders) for rule, ways in in_full.items()}
            )
            meter = meters.get(position.name, average) / position.wager.limits.minimum
        rules = [(rule, counts[rule.name], oracle.net(rule.pays, meter)) for rule in position.wager.rules]
        orders = sum(counts.values())
        assert [(each.rule, each.pays, each.count, each.probability, each.net) for each in odds.rules] == [
            (rule.name, rule.pays, count, Fraction(count, orders), net) for rule, count, net in rules
        ]
        assert (odds.edge, odds.hit, odds.push, odds.variance) == figures(
            [(rule.pays, Fraction(count, orders), net) for rule, count, net in rules]
        )


@pytest.mark.parametrize("decks", [6, 8])
def test_a_meter_at_its_average_leaves_the_house_what_the_model_says(decks):
    game = games.game(*games.METERED, decks=decks)
    odds = odds_of(game).odds(composition(full(decks)))

    for position in odds_of(game).positions:
        progressive = position.wager.progressive
        if progressive is None:
            continue
        rules = odds[position.name].rules
        fixed = sum(each.probability * (each.net + 1) for each in rules if not each.pays.endswith("meter"))
        top = sum(each.probability for each in rules if each.pays == "100% of the meter")
        seed = Fraction(progressive.seed, position.wager.limits.minimum)
        contribution = Fraction(progressive.contribution.removesuffix("%")) / 100
        assert odds[position.name].edge == 1 - fixed - contribution - seed * top


def test_edges_of_many_shoes_are_those_of_each():
    shoes = [of(SHOES[name]) for name in ("hearts", "pairs", "small cards", "six alike")]
    shoes += [full(1), full(8), full(12), worn(2), worn(7), worn(8)]
    for odds in (odds_of(ODD), odds_of(METERED), odds_of(GAMES["progressive-2"]), odds_of(GAMES["dai-bacc"])):
        found = odds.edges(np.array([composition(shoe).counts for shoe in shoes], np.int64))

        assert found.shape == (len(shoes), len(odds.positions))
        for shoe, edges in zip(shoes, found, strict=True):
            single = odds.odds(composition(shoe))
            assert edges == pytest.approx(
                [float(single[position.name].edge) for position in odds.positions], rel=1e-12, abs=1e-12
            )


# Positions and compositions.


def test_a_wager_that_needs_its_bases_win_is_a_position_for_each_hand_that_it_can_be_beside():
    names = [position.name for position in odds_of(ODD).positions]

    assert names[:2] == ["player", "banker"]
    assert names[-5:] == [
        "any_base:player",
        "any_base:banker",
        "any_base:player+banker",
        "same_base:player",
        "same_base_without_its_win",
    ]
    assert len(names) == len(set(names)) == 2 + len(games.ODD) + 2


def test_fewer_cards_than_a_coup_may_need_are_refused():
    with pytest.raises(CompositionError):
        composition(of("AS 2H 3D 4C 5S"))

    six = composition(of(SHOES["six cards"]))
    assert (six.cards, six.total) == (6, 720)
    with pytest.raises(CompositionError):
        six.without([Card("AS")])


@pytest.mark.parametrize("decks", [0, 13, -1])
def test_more_or_fewer_of_a_card_than_one_to_twelve_decks_have_are_refused(decks):
    with pytest.raises(CompositionError):
        Composition.of_decks(decks)
    if decks:
        with pytest.raises(CompositionError):
            composition(full(8) | {"QC": decks})


@pytest.mark.parametrize("decks", [1, 8, 12])
def test_whole_decks_have_that_many_of_each_card(decks):
    assert Composition.of_decks(decks) == composition(full(decks))


@given(games.shoes(most=12), st.data())
def test_a_composition_is_what_is_left_of_each_card(shoe, data):
    left = composition(shoe)
    out = data.draw(st.lists(st.sampled_from(sorted(shoe)), max_size=4))
    rest = Counter(shoe)
    rest.subtract(out)

    if min(rest.values()) < 0 or rest.total() < 6:
        with pytest.raises(CompositionError):
            left.without([Card(card) for card in out])
    else:
        assert left.without([Card(card) for card in out]) == composition(rest)
        assert composition(rest).total == perm(rest.total(), 6)
