"""The progressive on a table's record: what it did is there, comes back after a kill, and replays to the same."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from punto.baccarat.table.settings import Settings
from punto.controller.journal.recovery import replay
from tests.baccarat.table.croupier import settings as table_settings
from tests.controller.table_in_this_process import Table, rows, table

SUITED = "2H KC 3H JC 4H KD"  # 9 over 0 with 2-3-4 of hearts: 25% of the meter


def settings(**meter: Any) -> Settings:
    return table_settings(game_name="progressive-2", meter={"reserve": "1%", **meter})


async def to_the_win(here: Table, seats: Sequence[int] = (2, 5)) -> None:
    """A meter in service, a game with these seats' wagers, and a hand that won a quarter of the meter."""
    await here.begin_shoe()
    wagers = [f"wager {seat} player 500" for seat in seats]
    await here.do("meter", "open", *wagers, f"start game {' '.join(map(str, seats))}", f"draw {SUITED}")


AWARD = ("hand 2", "hand 5", "turn jph", "j-pot", "turn run", "game over")


async def test_what_the_meter_did_is_on_the_record_and_replays_to_the_same(tmp_path):
    async with table(tmp_path / "t.db", settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD, "count 200")
        assert here.state.progressive is not None
        assert here.state.progressive.books.awards[-1].amount == 250_010
        assert here.state.progressive.books.shown == 750_030

    causes = rows(tmp_path / "t.db", "SELECT cause, primary_meter, paid FROM postings ORDER BY input, place")
    assert causes == [
        ("seed", 1_000_000_000_000, 0),
        ("contribution", 40_000_000, 0),
        ("award", -250_010_000_000, 250_010_000_000),
    ]
    assert rows(tmp_path / "t.db", "SELECT round, wagers, staked, seats FROM progressive_rounds") == [
        (1, 2, 200, "2 5")
    ]
    kinds = rows(tmp_path / "t.db", "SELECT kind, award FROM progressive_log ORDER BY input, place")
    assert kinds == [("award_locked", 1), ("award_booked", 1), ("coins_counted", None)]
    assert replay(tmp_path / "t.db").difference is None


@pytest.mark.parametrize("steps", range(len(AWARD) + 1))
async def test_after_a_kill_at_any_step_the_game_is_at_that_step(tmp_path, steps):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD[:steps])
        before = here.state.progressive

    async with table(path, settings()) as here:
        assert here.state.progressive == before
        await here.do(*AWARD[steps:])
        assert here.state.progressive is not None
        assert here.state.progressive.books.shown == 750_030
    assert replay(path).difference is None


async def test_a_posting_that_does_not_sum_to_zero_cannot_be_written(tmp_path):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await to_the_win(here)
    with (
        sqlite3.connect(path) as connection,
        pytest.raises(sqlite3.IntegrityError, match="CHECK constraint failed"),
    ):
        connection.execute(
            "INSERT INTO postings SELECT input, 99, ts, progressive, number, cause, seed_money, contributions, "
            "adjustments, primary_meter + 1, reserve, overflow, paid, tier, venue, round, award, who, reason, approved_by "
            "FROM postings LIMIT 1"
        )
