"""The books of a gaming day in one answer: what the reports of the table have, and never too long for a broker."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from punto.baccarat.currency import DECIMALS
from punto.baccarat.progressive.events import Adjust, CountCoins, Retire
from punto.baccarat.progressive.ledger import Cause
from punto.messages.amounts import Exact, Minor
from punto.messages.books import Books
from punto.messages.requests import BooksResponse
from punto.reports import books as module
from punto.reports.books import MOST_PROGRESSIVES, books_of_day, shortened
from punto.reports.periods import day_report, week_report
from punto.reports.reconciliation import reconcile
from punto.reports.record import opened
from tests.controller.test_broker_limits import SHIPPED
from tests.reports.house import (
    CALENDAR,
    a_change_of_meter,
    a_day_of_the_tray,
    a_weekend,
    at_the_house,
)

LATER = datetime(2027, 1, 1, tzinfo=UTC)
FRIDAY, SUNDAY, MONDAY = (date(2026, 11, day) for day in (20, 22, 23))


def books(path: Path, day: date, now: datetime = LATER) -> Books:
    return books_of_day(path, day, CALENDAR, now)


async def test_they_are_the_tables_own_reports_and_stay_so_as_json(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)

    found = books(here.record, SUNDAY)
    with opened(here.record) as record:
        own = Books(
            currency="USD",
            first=FRIDAY,
            day=day_report(record, SUNDAY, CALENDAR, LATER),
            week=week_report(record, SUNDAY, CALENDAR, LATER),
            reconciliation=reconcile(record, SUNDAY, CALENDAR, LATER),
        )

    assert found == own == Books.model_validate_json(found.model_dump_json(context="USD"))
    assert {each.cause for each in found.day.progressives[0].changes} > {"award", "back_out", "increase"}


async def test_a_count_that_is_entered_after_its_day_is_in_the_books_of_the_later_day(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        here.clock.at("2026-11-20 20:00")
        await here.open()
        await here.game([1, 2])
        here.clock.at("2026-11-21 07:00")
        (before,) = books(here.record, FRIDAY).reconciliation.progressives
        await here.give(CountCoins("2026-11-20", 100, "eve"))

    (friday,) = books(here.record, FRIDAY).reconciliation.progressives
    (saturday,) = books(here.record, date(2026, 11, 21)).reconciliation.progressives
    assert (before.coins.counted, friday.coins.counted, friday.coins.difference) == (None, 100, -100)
    assert [(each.day, each.amount, each.who) for each in saturday.counts] == [(FRIDAY, 100, "eve")]
    assert friday.counts == ()


async def test_a_retired_progressive_is_there_until_its_week_has_ended(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_change_of_meter(here)

    names = {
        day: [each.progressive for each in books(here.record, day).day.progressives]
        for day in (date(2026, 11, 19), FRIDAY, SUNDAY, MONDAY)
    }
    assert names == {
        date(2026, 11, 19): [],
        FRIDAY: ["dragon", "dragon-2"],
        SUNDAY: ["dragon", "dragon-2"],
        MONDAY: ["dragon-2"],
    }


async def test_a_retired_progressive_is_there_on_a_later_day_on_which_its_coins_are_counted(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await here.open()
        await here.game([1])
        await here.give(Retire("its time was over", "eve", "vera"))
        here.clock.at("2026-11-24 09:00")
        await here.give(CountCoins("2026-11-20", 100, "eve"))

    tuesday = date(2026, 11, 24)
    assert books(here.record, MONDAY).day.progressives == ()
    assert [each.progressive for each in books(here.record, tuesday).day.progressives] == ["dragon"]


async def test_without_a_progressive_there_is_no_first_day(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        pass

    assert (books(here.record, FRIDAY).first, books(here.record, FRIDAY).day.progressives) == (None, ())


async def test_a_long_answer_lists_fewer_entries_and_keeps_every_amount(tmp_path, monkeypatch):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_day_of_the_tray(here)
        await here.give(*[Adjust(Cause.INCREASE, 5, "a promotion", "eve", "omar")] * 3)
    whole = books(here.record, FRIDAY)
    monkeypatch.setattr(module, "MOST_BYTES", 0)
    short = books(here.record, FRIDAY)

    (everything,), (less,) = whole.day.progressives, short.day.progressives
    assert (less.from_tray, less.nobody_won) == ((), ())
    assert less.left_out == len(everything.from_tray) + len(everything.nobody_won) + 2
    assert [(each.cause, each.moved.adjustments) for each in less.changes][-1] == ("increase", 15_000_000)
    assert sum((each.moved for each in less.changes), less.start) == less.end == everything.end
    assert short.week == whole.week
    assert short.reconciliation.progressives[0].checks == whole.reconciliation.progressives[0].checks


async def test_the_longest_books_pass_the_broker_that_ships(tmp_path):
    """Thousands of entries with the longest texts, of as many progressives as an answer has."""
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_day_of_the_tray(here)
    found = books(here.record, FRIDAY)
    (accrual,), (compared,) = found.day.progressives, found.reconciliation.progressives
    text = {"who": "🂡" * 40, "reason": "🂡" * 200, "approved_by": "🂡" * 40, "tier": "t" * 64}
    long = accrual.model_copy(
        update={
            "changes": (accrual.changes[-1].model_copy(update=text),) * 3000,
            "from_tray": (accrual.from_tray[0].model_copy(update=text),) * 30_000,
            "nobody_won": (accrual.nobody_won[0].model_copy(update=text),) * 3000,
        }
    )
    longest = found.model_copy(
        update={
            "day": found.day.model_copy(update={"progressives": (long,) * MOST_PROGRESSIVES}),
            "reconciliation": found.reconciliation.model_copy(
                update={"progressives": (compared,) * MOST_PROGRESSIVES}
            ),
        }
    )
    answer = BooksResponse(
        id="t" * 200,
        seq=2**53,
        ts=found.day.begins,
        request="r" * 64,
        record="r" * 64,
        books=shortened(longest),
    )

    assert 10_000 < len(answer.wire()) < int(SHIPPED["message_size_limit"])
    assert answer.books.day.progressives[0].left_out > 30_000


@given(st.integers(-(10**18), 10**18), st.sampled_from(sorted(DECIMALS)))
@example(0, "JPY")
@example(-5, "KWD")
def test_an_amount_of_any_currency_is_read_as_it_is_written(amount, currency):
    unit = Decimal(10) ** -DECIMALS[currency]
    for kind, worth in ((Minor, unit), (Exact, unit / 10**6)):
        adapter = TypeAdapter(kind)
        written = adapter.dump_json(amount, context=currency)
        assert Decimal(json.loads(written)) == amount * worth
        assert adapter.validate_json(written) == amount


def test_an_amount_is_not_written_without_its_currency():
    with pytest.raises(PydanticSerializationError):
        TypeAdapter(Minor).dump_json(1)


@pytest.mark.parametrize(
    "written", ["1.5", "1.1234", "1.", ".50", "--1.00", "", "1e3.00", f"{'9' * 21}.00", "1.00\n"]
)
def test_text_that_is_not_an_amount_is_refused(written):
    with pytest.raises(ValidationError, match="must be an amount with 0 or 2 or 3 decimals"):
        TypeAdapter(Minor).validate_python(written)
