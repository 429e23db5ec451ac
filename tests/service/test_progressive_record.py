"""The progressive on a table's record: what it did is there, comes back after a kill, and replays to the same."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.table.settings import Settings
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.service.table_in_this_process import Table, edited, rows, table
from tests.table.croupier import settings as table_settings

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


async def test_a_win_of_the_meter_is_settled_as_an_award_that_returns_nothing_by_itself(tmp_path):
    async with table(tmp_path / "t.db", settings()) as here:
        await to_the_win(here)

    won = rows(
        tmp_path / "t.db", "SELECT seat, outcome, returned FROM settlements WHERE wager = 'progressive'"
    )
    assert won == [(2, "award", 0), (5, "award", 0)]


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


@pytest.mark.parametrize(
    ("change", "about"),
    [
        (
            "UPDATE postings SET primary_meter = primary_meter - 1, paid = paid + 1 WHERE cause = 'award'",
            "meter",
        ),
        ("UPDATE progressive_log SET record = replace(record, '250010', '250011')", "meter"),
        ("DELETE FROM progressive_rounds", "meter"),
    ],
)
async def test_a_replay_finds_a_cent_that_was_changed(tmp_path, change, about):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD)
    with edited(path) as connection:
        connection.execute(change)

    difference = replay(path).difference
    assert difference is not None
    assert about in difference


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


async def test_other_settings_in_the_configuration_are_on_the_record_as_a_change(tmp_path):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await here.do("meter")
    async with table(path, settings(reserve="2%")) as here:
        assert here.state.progressive is not None
        assert here.state.progressive.books.settings.reserve == "2%"

    assert rows(path, "SELECT kind FROM progressive_log") == [("settings_changed",)]
    assert replay(path).difference is None


async def test_a_meter_that_holds_money_is_not_left_behind_by_another_configuration(tmp_path):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await here.do("meter")
    without = replace(settings(), progressive=None)

    with pytest.raises(Exception, match="in service and has money on its meter"):
        async with table(path, without):
            pass


@pytest.mark.parametrize("place", ["0", "(SELECT max(seq) + 1000 FROM inputs)"])
async def test_a_row_of_no_input_is_found_by_a_replay_and_by_a_start(tmp_path, place):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD)
    with edited(path) as connection:
        connection.execute(
            f"INSERT INTO postings SELECT {place}, 0, ts, progressive, 99, 'malfunction', 0, 0, 50000, -50000, 0, 0, 0, "  # noqa: S608 - one of two texts, above
            "NULL, NULL, NULL, NULL, 'eve', 'nothing', NULL FROM postings LIMIT 1"
        )

    difference = replay(path).difference
    assert difference is not None
    assert "postings has a row of input" in difference
    with pytest.raises(RecordError, match="postings has a row of input"):
        async with table(path, settings()):
            pass
