"""The books of a day compared: whatever is changed in one table of the record and not in the others is found."""

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from punto.baccarat.progressive.aquarius import GameOver, Key, TurnKey
from punto.baccarat.progressive.events import BackOut, ChangeSettings, CountCoins, Retire
from punto.baccarat.progressive.game_events import HandButton
from punto.controller.journal.audit import audit
from punto.controller.journal.recovery import replay
from punto.messages.books import Reconciliation, SettingsChange
from punto.reports.periods import day_report
from punto.reports.reconciliation import reconcile
from punto.reports.record import opened
from punto.reports.sheets import day_sheet
from punto.runtime.csv_cells import csv_lines
from tests.baccarat.table.croupier import settings
from tests.reports.house import (
    CALENDAR,
    WHOLE,
    House,
    a_change_of_meter,
    a_weekend,
    at_the_house,
    house,
)

LATER = datetime(2027, 1, 1, tzinfo=UTC)
FRIDAY, SATURDAY, SUNDAY = (date(2026, 11, day) for day in (20, 21, 22))


def reconciled(path: Path, day: date = FRIDAY) -> Reconciliation:
    with opened(path) as record:
        return reconcile(record, day, CALENDAR, LATER)


async def played(folder: Path) -> Path:
    async with at_the_house(folder, "2026-11-20 19:00") as here:
        await a_weekend(here)
    return here.record


async def test_books_that_nobody_touched_agree_every_day(tmp_path):
    record = await played(tmp_path)

    found = [reconciled(record, day) for day in (FRIDAY, SATURDAY, SUNDAY)]

    assert [each.agrees for each in found] == [True] * 3
    friday = {check.what: check.expected for check in found[0].progressives[0].checks}
    assert friday == {
        "contributions": 6 * 20_333_300,
        "reserve": 6 * 333_300,
        "awards": 250_025_000_000,
        "back_outs": 0,
        "seed": 1_000_000_000_000,
    }
    sunday = {check.what: check.expected for check in found[2].progressives[0].checks}
    assert sunday["back_outs"] == 250_025_000_000


async def test_a_whole_meter_that_is_backed_out_and_won_again_by_the_same_hand_agrees(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await here.open()
        await here.deal([1, 2], WHOLE)
        await here.lock([1])
        run = TurnKey(Key.RUN, "key switch")
        await here.give(run, BackOut(1, "misread", "eve", "omar"), HandButton(2, "ann"))
        await here.lock([])
        await here.give(run, GameOver("ann"))

    assert reconciled(here.record).agrees


EDITS = [
    ("UPDATE postings SET paid = paid + 1, primary_meter = primary_meter - 1 WHERE cause = 'award' AND award = 1", "award"),
    ("UPDATE postings SET contributions = contributions - 9, primary_meter = primary_meter + 9 WHERE round = 1", "contribution"),
    ("UPDATE postings SET primary_meter = primary_meter - 5, reserve = reserve + 5 WHERE round = 1", "contribution"),
    ("UPDATE postings SET seed_money = seed_money - 1, primary_meter = primary_meter + 1 WHERE number = 1", "seed"),
    ("UPDATE progressive_rounds SET staked = staked - 100 WHERE round = 1", "contribution"),
    ("UPDATE progressive_log SET record = replace(record, '\"amount\":250025', '\"amount\":250024')", "award"),
    ("DELETE FROM postings WHERE cause = 'award'", "no award"),
    ("DELETE FROM postings WHERE number = 2", "posting 3 was found where posting 2 belongs"),
    ("DELETE FROM progressive_rounds WHERE round = 1", "the record gives none"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "told"), EDITS, ids=[edit for edit, _ in EDITS])
async def test_a_row_that_was_edited_is_reported_with_its_place(edit, told, tmp_path):
    record = await played(tmp_path)
    with sqlite3.connect(record) as connection:
        for name in ("postings", "progressive_rounds", "progressive_log"):
            for verb in ("update", "delete"):
                connection.execute(f"DROP TRIGGER {name}_no_{verb}")
        connection.execute(edit)

    found = reconciled(record)

    assert not found.agrees
    differences = found.progressives[0].differences
    assert any(told in each.text for each in differences), differences
    assert all(each.input for each in differences)


async def test_the_last_count_of_the_coins_counts_and_says_what_to_do(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)
        await here.give(
            CountCoins("2026-11-22", 900, "eve"),
            CountCoins("2026-11-22", 700, "omar"),
            CountCoins("2026-11-20", 650, "eve"),
        )

    friday, saturday, sunday = (
        reconciled(here.record, day).progressives[0].coins for day in (FRIDAY, SATURDAY, SUNDAY)
    )

    assert (friday.taken, friday.counted, friday.difference) == (600, 650, 50)
    assert "0.50 is still too much" in friday.todo
    assert (sunday.taken, sunday.counted, sunday.difference, sunday.who) == (800, 700, -100, "omar")
    assert "1.00 is still missing" in sunday.todo
    assert (saturday.taken, saturday.counted, saturday.difference) == (0, None, None)
    assert "enter their total" in saturday.todo


async def test_the_coins_of_a_retired_meter_are_counted_when_the_next_one_is_at_the_table(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_change_of_meter(here)
        here.clock.at("2026-11-21 10:00")
        await here.give(CountCoins("2026-11-20", 250, "eve", "dragon"), CountCoins("2026-11-20", 100, "omar"))

    retired, own = (each.coins for each in reconciled(here.record).progressives)
    assert (retired.taken, retired.counted, retired.difference, retired.who) == (300, 250, -50, "eve")
    assert (own.taken, own.counted, own.difference, own.who) == (100, 100, 0, "omar")
    assert replay(here.record).difference is None
    assert audit(here.record).difference is None


async def test_the_coins_of_a_retired_meter_are_counted_at_a_table_that_has_none_any_more(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00") as here:
        await _one_game(here)
        await here.give(Retire("the game is taken off the floor", "eve", "vera"))
        await here.start_again(settings(game_name="progressive-2"))
        await here.give(CountCoins("2026-11-20", 100, "eve", "dragon"))

    (coins,) = (each.coins for each in reconciled(here.record).progressives)
    assert (coins.counted, coins.difference) == (100, 0)
    assert replay(here.record).difference is None
    assert audit(here.record).difference is None


async def test_where_wagers_stay_on_the_sensor_nothing_is_dropped(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00", house("progressive-1-five-dollar")) as here:
        await _one_game(here)

    coins = reconciled(here.record).progressives[0].coins

    assert (coins.taken, coins.difference) == (None, None)
    assert "no coins are dropped" in coins.todo


async def test_rates_count_from_their_change_on(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00") as here:
        await _one_game(here)
        assert here.table.state.progressive is not None
        settings = replace(here.table.state.progressive.books.settings, reserve="1%")
        await here.give(ChangeSettings(settings, "more for the next meter", "eve", "bob"))
        await here.game([1, 2])

    found = reconciled(here.record)

    with opened(here.record) as record:
        (change,) = day_report(record, FRIDAY, CALENDAR, LATER).progressives[0].settings

    assert found.agrees
    assert (change.who, change.reason, change.changed) == (
        "eve",
        "more for the next meter",
        {"reserve": ("0.3333%", "1%")},
    )
    reserve = next(check for check in found.progressives[0].checks if check.what == "reserve")
    assert reserve.ledger == 333_300 + 2 * 1_000_000


async def test_a_change_of_the_settings_has_amounts_as_the_rest_of_the_books(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00") as here:
        await _one_game(here)
        assert here.table.state.progressive is not None
        before = here.table.state.progressive.books.settings
        settings = replace(before, seed=before.seed + 50, reserve="1%", approval_above=250_000)
        await here.give(ChangeSettings(settings, "a larger meter", "eve", "bob"))

    with opened(here.record) as record:
        day = day_report(record, FRIDAY, CALENDAR, LATER)
        sheet = "".join(csv_lines(day_sheet("USD", day, CALENDAR.zone)))
    (change,) = day.progressives[0].settings
    changed = json.loads(change.model_dump_json(context="USD"))["changed"]
    own, new = (f"{each / 100:.2f}" for each in (before.seed, before.seed + 50))

    assert (changed["seed"], changed["reserve"]) == ([own, new], [before.reserve, "1%"])
    assert changed["approval_above"][1] == "2500.00"
    assert SettingsChange.model_validate_json(change.model_dump_json(context="USD")) == change
    assert f"seed: {own} to {new}" in sheet


async def _one_game(here: House) -> None:
    await here.open()
    await here.game([1])
