"""How far a wager can be counted: held against shoes dealt card by card, and against what was settled in them."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import chain, pairwise
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np
import pytest

from punto.baccarat.cards import RANKS, STANDARD_DECK, SUITS, Card
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Wager
from punto.configs.game_files import load_game
from punto.odds.composition import Composition
from punto.odds.countable import Burn, Figure, Study, _deal, removals, study
from punto.odds.countable_report import as_json, lines
from punto.odds.exact import GameOdds, WagerOdds
from tests.share import sampled

EZ = load_game("ez-baccarat")
BURNS: list[Burn] = ["first_card", 0, 3]


class Dealt(NamedTuple):
    """A coup, the cards that nobody had seen before it, and how many were in the shoe."""

    unseen: Composition
    left: int
    coup: Coup


def by_hand(decks: int, number: int, seed: int, cut_card: int, burn: Burn = "first_card") -> list[Dealt]:
    """One shoe, dealt card by card as a dealer does."""
    block, place = divmod(number, 10)
    draws = np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(block,)))
    keys = [draws.random_raw(decks * 52) for _ in range(place + 1)][-1]
    pile = deque(STANDARD_DECK[place // decks] for place in sorted(range(len(keys)), key=keys.__getitem__))
    seen: list[Card] = []
    if burn == "first_card":
        seen.append(pile.popleft())
    for _ in range((seen[0].points or 10) if seen else int(burn)):
        pile.popleft()
    found: list[Dealt] = []
    cut_card_came = False
    last = False
    while not last:
        last = cut_card_came or len(pile) == cut_card
        left, coup = len(pile), Coup()
        while not coup.over:
            cut_card_came |= bool(coup.cards) and len(pile) == cut_card
            coup = coup.with_card(pile.popleft())
        found.append(Dealt(Composition.of_decks(decks).without(seen), left, coup))
        seen += coup.cards
    return found


@cache
def counted(decks: int = 1, shoes: int = 100, **asked: object) -> Study:
    return study(EZ, decks=decks, shoes=shoes, **asked)  # type: ignore[arg-type]


@cache
def one_deck() -> GameOdds:
    return GameOdds(replace(EZ, decks=1))


@cache
def odds_of(unseen: Composition) -> dict[str, WagerOdds]:
    return one_deck().odds(unseen)


def value_of(figure: Figure | None) -> float:
    assert figure is not None
    return figure.value


def net(wager: Wager, coup: Coup) -> Fraction:
    """What a unit on a wager wins or loses in a coup."""
    rule = wager.deciding_rule(coup)
    assert rule is not None
    return rule.pay.returned(1) - 1


# --- against shoes dealt by hand


@pytest.mark.parametrize("threshold", [Fraction(0), Fraction(1, 20)])
@pytest.mark.parametrize("burn", sampled(BURNS, one_in=3))
def test_each_figure_is_what_shoes_dealt_by_hand_give(burn, threshold):
    shoes = [by_hand(1, number, 7, 14, burn) for number in range(100)]
    found = counted(seed=7, burn=burn, threshold=threshold)

    coups = sum(map(len, shoes))
    assert (found.coups, found.shoes) == (coups, 100)
    for position in found.positions:
        odds = [[odds_of(dealt.unseen)[position.position] for dealt in shoe] for shoe in shoes]
        good = [
            [(dealt.left, its) for dealt, its in zip(shoe, each, strict=True) if -its.edge > threshold]
            for shoe, each in zip(shoes, odds, strict=True)
        ]
        all_good = list(chain(*good))
        won = [-float(sum(its.edge for _, its in each)) for each in good]
        risked = [float(sum(its.variance for _, its in each)) for each in good]
        in_100 = 100 * sum(won) / coups
        deviation = (fmean(risked) + pstdev(won) ** 2) ** 0.5
        expected = {
            "mean_edge": sum(float(its.edge) for each in odds for its in each) / coups,
            "favourable": len(all_good) / coups,
            "per_shoe": len(all_good) / 100,
            "units_per_shoe": sum(won) / 100,
            "units_per_100": in_100,
            "deviation": deviation,
        }
        if all_good:
            expected |= {
                "advantage": sum(won) / len(all_good),
                "late": sum(left <= 13 for left, _ in all_good) / len(all_good),
                "desirability": 100 * in_100 / (deviation * (100 / (coups / 100)) ** 0.5),
            }
        else:
            assert (position.advantage, position.late, position.desirability) == (None, None, None)
        assert {name: value_of(getattr(position, name)) for name in expected} == pytest.approx(expected)
        assert position.earliest == max((left for left, _ in all_good), default=None)
        best, left = min(
            (its.edge, dealt.left)
            for shoe, each in zip(shoes, odds, strict=True)
            for dealt, its in zip(shoe, each, strict=True)
        )
        assert position.best.edge == pytest.approx(float(best))
        assert position.best.cards_left == left


@pytest.mark.parametrize("burn", BURNS)
def test_a_cut_card_placed_deeper_ends_the_same_shoes_sooner(burn):
    shoes = [by_hand(1, number, 7, 26, burn) for number in range(100)]

    for position in counted(seed=7, burn=burn).positions:
        edges = [odds_of(dealt.unseen)[position.position].edge for shoe in shoes for dealt in shoe]
        (_, first), (cut_card, deeper) = position.by_cut_card
        assert first.value == pytest.approx(position.units_per_shoe.value)
        assert cut_card == 26
        assert deeper.value == pytest.approx(-float(sum(edge for edge in edges if edge < 0)) / 100)


def test_what_is_settled_is_what_was_expected_and_varies_as_much():
    seed, many = 3, 1500
    found = study(EZ, decks=1, shoes=many, seed=seed)
    shoes = [by_hand(1, number, seed, 14) for number in range(many)]
    edges = iter(one_deck().edges(np.array([dealt.unseen.counts for shoe in shoes for dealt in shoe])))
    result = np.array(
        [
            np.sum(
                [
                    [
                        float(net(position.wager, dealt.coup)) if edge < 0 else 0
                        for position, edge in zip(one_deck().positions, next(edges), strict=True)
                    ]
                    for dealt in shoe
                ],
                axis=0,
            )
            for shoe in shoes
        ]
    )

    often = [place for place, each in enumerate(found.positions) if each.per_shoe.value > 0.1]
    assert often == [1, 3, 4]  # Player and Tie hardly ever favour the players
    for place in often:
        won, position = result[:, place], found.positions[place]
        deviation = won.std()
        error_of_deviation = deviation / 2 * ((((won - won.mean()) / deviation) ** 4).mean() / many) ** 0.5
        assert won.mean() == pytest.approx(position.units_per_shoe.value, abs=3 * deviation / many**0.5)
        assert deviation == pytest.approx(position.deviation.value, abs=3 * error_of_deviation)
        assert error_of_deviation < 0.15 * deviation


# --- errors


def test_the_error_of_a_mean_is_that_of_the_means_of_blocks():
    for position in counted(seed=7).positions:
        edges = [
            [odds_of(dealt.unseen)[position.position].edge for dealt in by_hand(1, number, 7, 14)]
            for number in range(100)
        ]
        won = [-float(sum(edge for edge in each if edge < 0)) for each in edges]
        blocks = [fmean(won[first : first + 10]) for first in range(0, 100, 10)]
        assert position.units_per_shoe.error == pytest.approx(float(np.std(blocks, ddof=1)) / 10**0.5)


@pytest.mark.parametrize(
    "name", ["favourable", "per_shoe", "advantage", "late", "units_per_100", "deviation", "desirability"]
)
def test_errors_are_as_large_as_other_seeds_differ(name):
    studies = [counted(seed=seed) for seed in range(14)]

    for place in (3, 4):
        figures = [getattr(each.positions[place], name) for each in studies]
        spread = np.std([figure.value for figure in figures], ddof=1)
        assert 0.6 < np.sqrt(np.mean([figure.error**2 for figure in figures])) / spread < 1.6


def test_what_only_one_block_has_seen_has_no_error():
    found = counted(seed=7)
    tie = found.positions[2]

    assert tie.per_shoe.value == 0.01
    assert tie.advantage == Figure(-tie.best.edge, None)
    assert tie.late == Figure(1, None)
    assert f"  {-100 * tie.best.edge:.0f}% ± ?  " in "\n".join(lines(found))


# --- what is asked


def test_the_same_seed_gives_the_same_answer_and_another_does_not():
    assert as_json(study(EZ, decks=1, shoes=100, seed=7)) == as_json(counted(seed=7))
    assert counted(seed=7).positions != counted(seed=8).positions


def test_more_shoes_are_dealt_after_the_same_ones():
    steps: list[int] = []

    assert study(EZ, decks=1, shoes=105, seed=7, progress=steps.append).coups == counted(seed=7).coups + sum(
        len(by_hand(1, number, 7, 14)) for number in range(100, 105)
    )
    assert steps == [10] * 10 + [5]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"decks": 13}, "decks must be from 1 to 12, not 13"),
        (
            {"shoes": 99},
            "deal at least 100 shoes, not 99: errors are found by comparing shoes with each other",
        ),
        ({"seed": -1}, "the seed must be 0 or more, not -1"),
        ({"cut_card": 10}, "the cut card must have 11 to 208 cards behind it, not 10"),
        ({"cut_card": 209}, "the cut card must have 11 to 208 cards behind it, not 209"),
        ({"decks": 1, "cut_card": 27}, "the cut card must have 11 to 26 cards behind it, not 27"),
        ({"burn": 21}, "0 to 20 cards can be burned, not 21"),
        ({"burn": -1}, "0 to 20 cards can be burned, not -1"),
        ({"threshold": Fraction(-1, 100)}, "the threshold must be from 0% to less than 100%, not -1%"),
        ({"threshold": Fraction(1)}, "the threshold must be from 0% to less than 100%, not 100%"),
    ],
)
def test_what_cannot_be_dealt_is_refused_with_what_to_do(asked, said):
    with pytest.raises(ValueError, match=said):
        study(EZ, **{"decks": 8} | asked)


@pytest.mark.parametrize(
    ("decks", "cut_card", "burn"), sampled([(1, 11, 20), (1, 26, "first_card"), (12, 11, 0)], one_in=3)
)
def test_shoes_at_the_bounds_can_be_dealt(decks, cut_card, burn):
    found = study(EZ, decks=decks, shoes=100, cut_card=cut_card, burn=burn)

    assert found.coups > 100
    assert all(position.best.cards_left >= 6 for position in found.positions)


# --- one card less


def test_a_removal_is_the_exact_change_of_the_edge():
    game = load_game("progressive-2")
    odds, full = GameOdds(game), Composition.of_decks(8)
    meters = odds.average_top_awards()
    before = odds.odds(full, meters)

    for card in (Card("2D"), Card("2S"), Card("9H"), Card("KC")):
        after = odds.odds(full.without([card]), meters)
        for each in removals(odds):
            if each.suit in {None, card.suit}:
                gain = before[each.position].edge - after[each.position].edge
                assert each.gains[RANKS.index(card.rank)] == pytest.approx(float(gain), abs=1e-13)


def test_suits_are_told_apart_only_where_they_matter():
    rows = list(removals(GameOdds(load_game("progressive-2"))))

    assert [each.suit for each in rows if each.position == "progressive:banker"] == list(SUITS)
    assert [each.suit for each in rows if each.position == "dragon_bonus_player"] == [None]


@pytest.mark.parametrize("game", ["ez-baccarat", "progressive-2", "side-wagers"])
def test_a_card_taken_out_unseen_changes_nothing(game):
    rows = list(removals(GameOdds(load_game(game))))

    for position in {each.position for each in rows}:
        gains = [gain for each in rows if each.position == position for gain in each.gains]
        assert sum(gains) == pytest.approx(0, abs=1e-13)


# --- what others have published


def test_the_dragon_7_count_that_is_taught_has_the_signs_of_the_removals():
    taught = dict(zip("456789", (-1, -1, -1, -1, 2, 2), strict=True))
    (row,) = [each for each in counted(decks=8).removals if each.position == "dragon_7"]
    gains = dict(zip(RANKS, row.gains, strict=True))

    assert {rank: np.sign(gains[rank]) for rank in taught} == {rank: np.sign(taught[rank]) for rank in taught}
    assert sorted(gains, key=lambda rank: -abs(gains[rank]))[:6] == sorted(
        taught, key=lambda rank: -abs(gains[rank])
    )


@pytest.mark.parametrize(("wager", "units"), [("dragon_7", 0.597), ("panda_8", 0.237)])
def test_no_published_count_wins_more_than_the_cards_themselves(wager, units):
    found = {each.position: each.units_per_shoe for each in counted(decks=8, shoes=200).positions}[wager]

    assert found.error is not None
    assert units < found.value + 2 * found.error
    assert found.value < 1.5 * units


@pytest.mark.soak
@pytest.mark.parametrize(
    ("wager", "tags", "from_", "units"),
    [
        ("dragon_7", (0, 0, 0, -1, -1, -1, -1, 2, 2, 0, 0, 0, 0), 4, 0.597),
        ("panda_8", (1, 1, -2, -2, -2, -1, -1, -2, 4, 1, 1, 1, 1), 11, 0.237),
    ],
)
def test_the_published_counts_win_what_is_published(wager, tags, from_, units):
    """With so much for each rank seen, over the decks not seen, from the count at which it wins most."""
    odds = GameOdds(EZ)
    place = [each.name for each in odds.positions].index(wager)
    won = []
    for block in range(500):
        draws = np.random.PCG64DXSM(np.random.SeedSequence(321, spawn_key=(block,)))
        unseen = np.concatenate([_deal(draws, 8, 14, "first_card").unseen for _ in range(10)])
        seen = (8 - unseen).reshape(-1, len(RANKS), len(SUITS)).sum(axis=2)
        count = seen @ np.array(tags) / (unseen.sum(axis=1) / 52)
        won.append(-odds.edges(unseen[count >= from_])[:, place].sum() / 10)
    error = np.std(won) / len(won) ** 0.5

    assert np.mean(won) == pytest.approx(units, abs=2 * error)
    assert error < 0.04 * units


# --- what is said


def tables(said: list[str]) -> Iterator[list[str]]:
    """The blocks between blank lines that have columns."""
    for block in "\n".join(said).split("\n\n")[1:-1]:
        yield block.splitlines()[1:]


def test_every_position_is_in_every_table():
    said = list(lines(counted(seed=7)))

    for table in tables(said):
        assert [row.split()[0] for row in table if not row.startswith(" ")][1:] == [w.name for w in EZ.wagers]
    assert len(list(tables(said))) == 4


def test_columns_are_aligned():
    for table in tables(list(lines(counted(seed=7)))):
        assert len({len(row) for row in table if not row.startswith(" ")}) == 1
        assert all(not row.endswith(" ") for row in table)


def test_the_figures_said_are_the_study_s():
    found = counted(seed=7)
    dragon = found.positions[3]

    rows = [row.split() for row in lines(found) if row.startswith("dragon_7 ")]
    share = dragon.favourable
    assert rows[0][1] == f"{100 * dragon.edge:.3f}%"
    assert float(rows[0][5].rstrip("%")) == pytest.approx(100 * share.value, abs=0.01 * 100 * share.value)
    assert float(rows[0][7]) == pytest.approx(100 * (share.error or 0), rel=0.1)
    assert f"{-100 * dragon.best.edge:+.2f}%," in rows[0]
    assert float(rows[1][1]) == pytest.approx(
        dragon.units_per_shoe.value, abs=dragon.units_per_shoe.error or 0
    )
    assert rows[2][1:4] == rows[1][1:4]
    assert rows[3][1] == f"{100 * found.removals[3].gains[0]:+.4f}"


def test_a_wager_that_never_favours_the_player_is_said_so():
    found = study(load_game("mini-baccarat"), decks=8, shoes=100, cut_card=208)
    player = found.positions[0]

    assert (player.earliest, player.advantage, player.late, player.desirability) == (None,) * 4
    assert player.units_per_shoe == Figure(0, 0)
    assert player.best.edge > 0
    row = next(row for row in lines(found) if row.startswith("player "))
    assert row.split()[-2:] == ["never", "-"]


def test_only_without_a_threshold_is_it_the_most_that_a_count_can_win():
    said, over = ("\n".join(lines(counted(seed=7, threshold=Fraction(n, 200)))) for n in (0, 1))

    assert "is above 0%" in said
    assert "no counting system wins more" in said
    assert "is above 0.5%" in over
    assert "no counting system wins more" not in over


def test_a_wager_that_always_favours_the_player_is_made_on_every_coup():
    dragon = EZ.wager("dragon_7")
    generous = replace(dragon, rules=(replace(dragon.rules[0], pays="1000 to 1"), *dragon.rules[1:]))
    found = study(replace(EZ, wagers=(*EZ.wagers[:2], generous)), decks=4, shoes=100).positions[2]

    assert found.favourable.value > 0.99
    assert found.earliest == 206  # all but a burnt ace and the card it burns
    assert found.by_cut_card[0][1].value == pytest.approx(found.units_per_shoe.value)


def test_what_must_be_known_of_the_figures_is_reported():
    found = study(load_game("progressive-3"), decks=1, shoes=100, burn=3, seed=5)
    said = "\n".join(lines(found))

    assert "100 shoes of 52 cards" in said
    assert "seed 5; cut card 14 from the end; 3 burned unseen" in said
    assert "Needs a base wager, whose cost is not in these figures: dragon_bonus_player" in said
    award = float(found.average_top_awards["progressive:player"])
    assert (
        f"progressive:player: valued with its meter at the average top award, {award:,.0f} minor units"
        in said
    )
    assert "If every rank has 0" not in said
    assert "If every rank has 0" in "\n".join(lines(study(load_game("canberra"), decks=1, shoes=100)))


def test_the_json_has_every_figure_and_no_number_that_json_does_not_know():
    found = study(load_game("mini-baccarat"), decks=8, shoes=100, cut_card=208)

    plain = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert plain["wagers"]["player"]["advantage"] is None
    tie = found.positions[2]
    assert plain["wagers"]["tie"]["mean_edge"] == {"value": tie.mean_edge.value, "error": tie.mean_edge.error}
    assert plain["wagers"]["tie"]["by_cut_card"] == {"208": {"value": 0, "error": 0}}
    assert plain["removals"][2]["gains"]["6"] == found.removals[2].gains[5]
    assert (plain["shoes"], plain["cut_card"], plain["burn"]) == (100, 208, "first_card")


def test_the_shoe_gets_emptier():
    found = counted(decks=8, shoes=200).positions[3].by_cut_card

    assert [cut for cut, _ in found] == [14, 26, 52, 78, 104]
    assert all(more.value > less.value for (_, more), (_, less) in pairwise(found))
