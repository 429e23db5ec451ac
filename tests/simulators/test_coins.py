"""Whose coin goes on a sensor, when, and who takes it off again."""

import random

import pytest

from punto.configs.game_files import load_game
from punto.simulators.coins import Coins, Habits, Move

SEATS = range(1, 1001)
ALWAYS, NEVER, LATE = Habits(coin=1, late=0), Habits(coin=0), Habits(coin=1, late=1)


def coins(habits: Habits, game: str = "progressive-2", regulars: tuple[int, ...] = ()) -> Coins:
    return Coins(load_game(game).wager("progressive"), habits, regulars, random.Random("1"))


def wagered(table: Coins, *seats: int) -> list[Move]:
    return [move for seat in seats for move in table.wagered(seat)]


def test_a_coin_that_is_for_one_is_taken_at_the_start():
    table = coins(ALWAYS)

    assert wagered(table, 3, 1) == [Move("put", 3), Move("put", 1)]
    assert list(table.started()) == [Move("take", 1), Move("take", 3)]
    assert list(table.over()) == []


def test_a_coin_that_is_to_one_stays_until_the_game_is_over():
    table = coins(ALWAYS, "progressive-1-five-dollar")
    wagered(table, 3, 1)

    assert list(table.started()) == []
    assert list(table.over()) == [Move("take", 1), Move("take", 3)]


def test_one_that_is_late_comes_after_the_start_and_goes_back():
    table = coins(LATE)

    assert wagered(table, 2) == []
    assert list(table.started()) == [Move("put", 2)]
    assert list(table.over()) == [Move("take", 2)]


def test_one_that_is_forgotten_never_comes():
    table = coins(NEVER)

    assert [*wagered(table, 2), *table.started(), *table.over()] == []


def test_one_whose_lamp_goes_dark_before_the_start_is_placed_again():
    table = coins(ALWAYS)
    wagered(table, 1, 3)

    assert list(table.lit([])) == []
    assert list(table.lit([1, 3])) == []
    assert list(table.lit([1])) == [Move("take", 3), Move("put", 3)]
    assert list(table.lit([1])) == []


def test_the_end_of_a_game_takes_the_coins_of_no_other_game():
    table = coins(ALWAYS)
    wagered(table, 1)

    assert list(table.over()) == []
    assert list(table.started()) == [Move("take", 1)]
    wagered(table, 1)
    assert list(table.over()) == [Move("take", 1)]
    assert list(table.over()) == []


def test_what_lies_there_from_a_game_that_nobody_saw_end_is_taken_before_the_next_wagers():
    table = coins(ALWAYS)
    wagered(table, 5)

    assert list(table.clear()) == [Move("take", 5)]
    assert list(table.clear()) == []


def test_regulars_forget_nothing_and_are_never_late():
    assert wagered(coins(NEVER, regulars=(4,)), 3, 4) == [Move("put", 4)]
    assert wagered(coins(LATE, regulars=(4,)), 3, 4) == [Move("put", 4)]


@pytest.mark.parametrize(
    ("habits", "in_time", "late"), [(Habits(0.8, 0.05), 760, 40), (Habits(0.5, 0.5), 250, 250)]
)
def test_habits_are_how_often(habits, in_time, late):
    table = coins(habits)
    put = len(wagered(table, *SEATS))
    came_late = sum(move.do == "put" for move in table.started())

    assert put == pytest.approx(in_time, rel=0.2)
    assert came_late == pytest.approx(late, rel=0.3)


def test_the_same_seed_gives_the_same_coins():
    assert wagered(coins(Habits()), *SEATS) == wagered(coins(Habits()), *SEATS)
