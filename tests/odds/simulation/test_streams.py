"""What the cards follow from: the seed alone, by shuffles that make all orders equally likely."""

from itertools import islice

import numpy as np
import pytest

from punto.configs.game_files import load_game
from punto.odds.simulation.kernel import shuffle
from punto.odds.simulation.simulator import (
    ROUNDS_OF_A_BLOCK,
    SHOES_OF_A_BLOCK,
    Block,
    ShoeRules,
    Simulation,
)
from tests.odds.simulation.model import deal, outcomes_of, rounds_of, shuffled

OUTCOMES = outcomes_of(load_game("progressive-3"))
BOTH = pytest.mark.parametrize("shoe", [None, ShoeRules()], ids=["rounds", "shoes"])


def simulated(jobs=1, **asked):
    tally = Simulation(OUTCOMES, **{"decks": 8, "seed": 1, **asked}).run(jobs)
    products = None if tally.products is None else tally.products.tolist()
    return tally.rounds, tally.shoes, tally.batches, tally.counts.tolist(), products


# --- the seed, and nothing else


@BOTH
def test_the_answer_is_the_same_whatever_the_number_of_jobs(shoe):
    one, *others = (simulated(jobs, rounds=1_500_000, shoe=shoe) for jobs in (1, 2, 3, 7))

    assert others == [one] * 3


@BOTH
def test_the_blocks_come_in_their_order_whatever_the_number_of_jobs(shoe):
    seen = []
    Simulation(OUTCOMES, decks=8, rounds=2_000_000, seed=1, shoe=shoe).run(
        3, lambda block: seen.append(block.number)
    )

    assert len(seen) > 5
    assert seen == list(range(len(seen)))


@BOTH
def test_another_seed_gives_another_answer(shoe):
    assert (
        len({str(simulated(rounds=10_000, seed=seed, shoe=shoe)) for seed in (0, 1, 2, 2**64, 2**130)}) == 5
    )


@BOTH
@pytest.mark.parametrize("rounds", [1, 2, 79, 80, 81, ROUNDS_OF_A_BLOCK, ROUNDS_OF_A_BLOCK + 1, 700_001])
def test_exactly_so_many_rounds_are_dealt(rounds, shoe):
    dealt, *_, counts, products = simulated(jobs=2, rounds=rounds, shoe=shoe)

    assert dealt == rounds
    assert sum(counts) == rounds * len(OUTCOMES.positions)
    if products is not None:
        assert all(any(row) == bool(count) for row, count in zip(products, counts, strict=True))


@BOTH
def test_a_longer_run_begins_with_the_rounds_of_a_shorter_one(shoe):
    _, short = deal(OUTCOMES, rounds=777, shoe=shoe)
    _, long = deal(OUTCOMES, rounds=1_500, shoe=shoe)

    assert short == long[:777]


@pytest.mark.parametrize(
    ("shoe", "shoes", "rounds"),
    [(None, ROUNDS_OF_A_BLOCK, ROUNDS_OF_A_BLOCK + 50), (ShoeRules(burn=0), SHOES_OF_A_BLOCK, 40_000)],
    ids=["rounds", "shoes"],
)
def test_a_block_is_so_many_shoes_with_the_stream_of_its_number(shoe, shoes, rounds):
    blocks: list[Block] = []
    Simulation(OUTCOMES, decks=1, rounds=rounds, seed=3, shoe=shoe).run(1, blocks.append, keep=True)
    places = 6 if shoe is None else shoe.play(1).places

    assert [block.first_shoe for block in blocks] == [0, shoes]
    first = [each for each in islice(rounds_of(OUTCOMES, blocks[1]), 200) if each.number == 0]
    assert first[0].shoe == shoes
    for each, cards in zip(first, shuffled(3, 1, places, block=1), strict=False):
        assert each.cards == tuple(cards[: len(each.cards)])


# --- the shuffle


@pytest.mark.parametrize("cards", [1, 2, 3, 7, 52, 411, 416, 624])
def test_each_card_is_drawn_by_equally_many_of_the_draws_there_are(cards):
    every = np.arange(1 << 16, dtype=np.uint16)
    drawn = np.zeros(cards, np.int64)
    at = 0
    while at >= 0:
        shoe = np.arange(cards, dtype=np.uint16)
        at = shuffle(every, at, shoe, 1)
        drawn[shoe[0]] += at >= 0

    assert set(drawn) == {(1 << 16) // cards}


def test_a_shuffle_that_has_too_few_draws_says_so_and_has_lost_no_card():
    shoe = np.arange(100, dtype=np.uint8)

    assert shuffle(np.arange(99, dtype=np.uint16) * 600 + 99, 0, shoe, 100) == -1
    assert sorted(shoe) == list(range(100))
