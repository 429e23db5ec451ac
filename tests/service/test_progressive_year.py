"""A year of a progressive, reckoned again from the record's inputs as one would in a spreadsheet, in dollars.

Nothing of the program's own money, ledger or days is used: inputs are read as JSON, amounts are fractions of a dollar, and a
gaming day is what the first input at or after 06:00 UTC begins.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any, Final

import pytest

from punto.controller.gaming_days import Calendar
from punto.controller.journal.recovery import replay
from punto.controller.messages.books import Accounts, Accrual
from punto.game_manager.record import opened
from punto.game_manager.reports import day_report
from tests.service.a_year import FIRST_DAY, play
from tests.table.croupier import settings

STAKE: Final = Fraction(1)
SEED: Final = Fraction(10_000)
PAYS: Final = {  # pay table #1 for $1, sheet 001
    "two_three_four_diamonds": "100%",
    "two_three_four_suited": "10%",
    "two_three_four_unsuited": "1000",
    "nine_over_zero": "10",
}


@dataclass
class Sheet:
    """A row of the spreadsheet: the balances, and what the day came to so far."""

    seed_money: Fraction = Fraction(0)
    contributions: Fraction = Fraction(0)
    adjustments: Fraction = Fraction(0)
    primary: Fraction = Fraction(0)
    reserve: Fraction = Fraction(0)
    paid: Fraction = Fraction(0)
    wagers: int = 0
    staked: Fraction = Fraction(0)
    locked: dict[int, Fraction] = field(default_factory=dict)


def percent(text: str) -> Fraction:
    return Fraction(text.removesuffix("%")) / 100


def reckoned(path: Path) -> Iterator[tuple[date, Sheet, Sheet]]:
    """Each gaming day with the balances at its start and at its end."""
    with closing(sqlite3.connect(path)) as connection:
        refused = {row[0] for row in connection.execute("SELECT input FROM incidents WHERE kind = 'refused'")}
        awards = {
            row[0]: json.loads(row[1])["award"]
            for row in connection.execute(
                "SELECT input, record FROM progressive_log WHERE kind = 'award_locked'"
            )
        }
        inputs = connection.execute("SELECT seq, ts, payload FROM inputs ORDER BY seq").fetchall()
    sheet, rates, amounts = Sheet(), (Fraction(0), Fraction(0)), dict[int, Fraction]()
    day = FIRST_DAY.date()
    start = replace(sheet)
    for seq, ts, payload in inputs:
        while datetime.fromisoformat(ts) >= _six(day + timedelta(days=1)):
            yield day, start, replace(sheet)
            day += timedelta(days=1)
            sheet.wagers, sheet.staked = 0, Fraction(0)
            start = replace(sheet)
        event = json.loads(payload)
        if event["kind"] == "service_started":
            rates = _rates(event["settings"]["progressive"])
        elif seq not in refused:
            rates = _enter(sheet, event, rates, awards.get(seq), amounts)
    yield day, start, replace(sheet)


def _six(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 6, tzinfo=UTC)


def _rates(progressive: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return percent(progressive["contribution"]), percent(progressive["reserve"])


def _enter(  # noqa: C901, PLR0912 - a case each, as the columns of a spreadsheet
    sheet: Sheet,
    event: dict[str, Any],
    rates: tuple[Fraction, Fraction],
    award: dict[str, Any] | None,
    amounts: dict[int, Fraction],
) -> tuple[Fraction, Fraction]:
    kind = event["kind"]
    if kind == "open_meter":
        sheet.seed_money += SEED
        sheet.primary += SEED
    elif kind == "start_game":
        staked = len(event["seats"]) * STAKE
        sheet.wagers += len(event["seats"])
        sheet.staked += staked
        sheet.contributions += staked * sum(rates)
        sheet.primary += staked * rates[0]
        sheet.reserve += staked * rates[1]
    elif kind == "jpot" and award is not None:
        pays = PAYS[award["rule"]]
        if pays.endswith("%"):
            amount = Fraction(floor(sheet.primary * percent(pays) * 100), 100)
        else:
            amount = int(pays) * STAKE * len(award["seats"])
        assert sum(Fraction(share["amount"], 100) for share in award["shares"]) == amount
        amounts[award["id"]] = sheet.locked[award["id"]] = amount
        if pays == "100%":
            sheet.seed_money += SEED
            sheet.primary += SEED + sheet.reserve
            sheet.reserve = Fraction(0)
    elif kind == "turn_key" and event["to"] == "run":
        for amount in sheet.locked.values():
            sheet.primary -= amount
            sheet.paid += amount
        sheet.locked = {}
    elif kind == "back_out":
        sheet.primary += amounts[event["award"]]
        sheet.paid -= amounts[event["award"]]
    elif kind == "adjust":
        amount = Fraction(event["amount"], 100) * (1 if event["cause"] == "increase" else -1)
        sheet.primary += amount
        if event["cause"] == "recovery_of_seed":
            sheet.seed_money += amount
        else:
            sheet.adjustments += amount
    elif kind == "change_settings":
        return _rates(event["settings"])
    return rates


def columns(sheet: Sheet) -> Accounts:
    """The balances in millionths of a cent, as a report has them."""
    found = {
        name: getattr(sheet, name) * 100_000_000
        for name in ("seed_money", "contributions", "adjustments", "primary", "reserve", "paid")
    }
    assert all(value.denominator == 1 for value in found.values())
    return Accounts(**{name: int(value) for name, value in found.items()})


def agree(path: Path, days: int) -> int:
    """Compare each day's report with the spreadsheet; give how many days did."""
    calendar, compared = Calendar.of("06:00", "UTC"), 0
    with opened(path) as record:
        for day, start, end in reckoned(path):
            report = day_report(record, day, calendar, FIRST_DAY + timedelta(days=days + 1))
            (accrual,) = report.progressives
            assert _of(accrual) == (columns(start), columns(end), end.wagers, int(end.staked * 100)), day
            assert accrual.explained, day
            compared += 1
    return compared


def _of(accrual: Accrual) -> tuple[Accounts, Accounts, int, int]:
    return accrual.start, accrual.end, accrual.wagers, accrual.staked


def house() -> Any:
    meter = {"reserve": "1%", "fixed_awards": "meter", "base_wagers": "unseen"}
    return settings(game_name="progressive-1", meter=meter)


def test_every_daily_report_is_what_a_spreadsheet_makes_of_the_inputs(tmp_path):
    played = play(tmp_path / "t.db", house(), days=4, rounds_a_day=200, seed=3)

    assert played.awards > 1
    assert agree(tmp_path / "t.db", 4) == 4
    assert replay(tmp_path / "t.db").difference is None


def test_the_spreadsheet_would_see_a_millionth_of_a_cent(tmp_path):
    play(tmp_path / "t.db", house(), days=2, rounds_a_day=60, seed=4)
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("DROP TRIGGER postings_no_update")
        connection.execute(
            "UPDATE postings SET contributions = contributions - 1, primary_meter = primary_meter + 1 "
            "WHERE input = (SELECT max(input) FROM postings WHERE cause = 'contribution')"
        )

    with pytest.raises(AssertionError):
        agree(tmp_path / "t.db", 2)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_every_daily_report_of_a_year(tmp_path):
    played = play(tmp_path / "t.db", house(), days=365, rounds_a_day=822, seed=5)

    assert played.rounds >= 300_000
    assert agree(tmp_path / "t.db", 365) == 365
