"""The Game Manager's reports: figures that agree with books kept by hand, to the millionth of a cent."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from punto.controller.journal.audit import audit
from punto.messages.amounts import exact
from punto.messages.books import Accounts, Day
from punto.reports.awards import awards
from punto.reports.periods import day_report, meters, week_report
from punto.reports.reconciliation import reconcile
from punto.reports.record import END, opened
from punto.reports.sheets import day_sheet
from punto.runtime.gaming_days import Calendar
from tests.reports.house import CALENDAR, QUARTER, Books, a_day_of_the_tray, a_weekend, at_the_house

LATER = datetime(2028, 1, 1, tzinfo=UTC)
FRIDAY, SATURDAY, SUNDAY, MONDAY = (date(2026, 11, day) for day in (20, 21, 22, 23))


def dollars(amount: int) -> Decimal:
    return Decimal(exact(amount, "USD"))


async def test_meters_are_as_books_kept_by_hand_have_them(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)
    by_hand = Books(here.record)

    with opened(here.record) as record:
        (meter,) = meters(record)
    of = meter.accounts

    assert [dollars(each) for each in (of.primary, of.reserve, of.overflow, of.paid)] == [
        by_hand.meter,
        by_hand.reserve,
        0,
        by_hand.paid,
    ]
    assert [dollars(each) for each in (of.seed_money, of.contributions, of.adjustments)] == [
        by_hand.seed,
        by_hand.contributed,
        by_hand.given,
    ]
    assert meter.balanced
    # The seed, the reserve of 13 wagers, the wager after them: 0.3333% and 20% of $1 each.
    assert by_hand.meter == 10_000 + 13 * Decimal("0.003333") + Decimal("0.20")
    assert sum(map(dollars, meter.paid_by_tier.values())) == by_hand.paid
    assert (meter.awards, meter.promised, meter.retired) == (2, 0, False)


async def test_awards_are_reported_newest_first_a_page_at_a_time_with_what_became_of_them(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)
    by_hand = Books(here.record)

    with opened(here.record) as record:
        first = awards(record, limit=1)
        second = awards(record, before=first.awards[0].input, limit=1)
    (whole,), (quarter,) = first.awards, second.awards

    assert (first.more, second.more) == (True, False)
    assert [Decimal(award.amount) / 100 for award in (quarter, whole)] == by_hand.awards
    assert (whole.number, whole.state, whole.whole_meter, whole.backed_out) == (2, "booked", True, None)
    assert (quarter.number, quarter.state, quarter.round) == (1, "backed_out", 2)
    assert [(share.seat, share.amount) for share in quarter.shares] == [(2, 125_013), (5, 125_012)]
    assert quarter.backed_out is not None
    assert (quarter.backed_out.who, quarter.backed_out.approved_by, quarter.backed_out.reason) == (
        "eve",
        "omar",
        "the wrong seats",
    )
    assert quarter.locked < str(quarter.booked) < quarter.backed_out.ts


async def test_a_days_changes_explain_its_end_and_the_next_day_begins_there(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)

    with opened(here.record) as record:
        days = [day_report(record, day, CALENDAR, LATER) for day in (FRIDAY, SATURDAY, SUNDAY, MONDAY)]
        (meter,) = meters(record)
    friday, saturday, sunday, monday = (day.progressives[0] for day in days)

    assert friday.start == Accounts()
    assert [each.start for each in (saturday, sunday, monday)] == [
        each.end for each in (friday, saturday, sunday)
    ]
    assert monday.end == meter.accounts
    assert all(each.explained for each in (friday, saturday, sunday, monday))
    assert [(each.rounds, each.wagers, each.staked) for each in (friday, saturday, sunday)] == [
        (3, 6, 600),
        (0, 0, 0),
        (2, 8, 800),
    ]
    assert saturday.changes == ()
    assert [change.cause for change in friday.changes] == ["contribution", "seed", "award"]
    assert [change.cause for change in sunday.changes] == [
        *("contribution", "increase", "back_out", "seed", "reserve_added", "award")
    ]
    increase = sunday.changes[1]
    assert (increase.who, increase.approved_by, increase.reason) == ("eve", "omar", "=a promotion")
    assert dollars(friday.end.primary - saturday.end.primary) == 0
    assert [day.state for day in days] == ["ended"] * 4


async def test_a_day_that_has_not_ended_has_its_figures_so_far_and_one_to_come_has_nothing(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await here.open()
        await here.game([1])
    now = here.clock.now

    with opened(here.record) as record:
        today = day_report(record, FRIDAY, CALENDAR, now)
        tomorrow = day_report(record, SATURDAY, CALENDAR, now)
        yesterday = day_report(record, date(2026, 11, 19), CALENDAR, now)

    assert (today.state, today.progressives[0].staked) == ("open", 100)
    assert tomorrow.state == "not_begun"
    assert tomorrow.progressives[0].start == tomorrow.progressives[0].end == today.progressives[0].end
    assert yesterday.progressives == ()


async def test_an_award_that_is_locked_and_not_booked_is_open_at_the_days_end(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await here.open()
        await here.deal([2], QUARTER)
        await here.lock([2])

    with opened(here.record) as record:
        day = day_report(record, FRIDAY, CALENDAR, LATER)
        (meter,) = meters(record)
        (award,) = awards(record).awards

    assert day.progressives[0].open_awards == (1,)
    assert meter.promised == award.amount == 250_005
    assert (award.state, award.booked) == ("locked", None)


async def test_what_came_after_midnight_by_a_clock_set_back_stays_in_the_day_that_had_begun(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00") as here:
        await here.open()
        await here.game([1])
        here.clock.at("2026-11-21 06:00")
        await here.game([1, 2])
        here.clock.at("2026-11-21 05:00")  # somebody set it back
        await here.game([1, 2, 3])
        here.clock.at("2026-11-21 07:00")
        await here.game([1, 2, 3, 4])

    with opened(here.record) as record:
        reports = [day_report(record, day, CALENDAR, LATER) for day in (FRIDAY, SATURDAY)]
    days = [report.progressives[0] for report in reports]

    assert [day.wagers for day in days] == [1, 2 + 3 + 4]
    assert days[0].end == days[1].start
    assert [report.elsewhere for report in reports] == [2, 0]  # a START and its contribution


async def test_after_a_clock_that_was_far_ahead_no_report_passes_for_one_of_a_quiet_day(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00") as here:
        await here.open()
        here.clock.at("2030-01-01 20:00")
        await here.game([1])
        here.clock.at("2026-11-21 20:00")
        await here.game([1, 2])

    with opened(here.record) as record:
        day = day_report(record, SATURDAY, CALENDAR, LATER)
        week = week_report(record, SATURDAY, CALENDAR, LATER)
        found = reconcile(record, SATURDAY, CALENDAR, LATER)

    assert day.progressives[0].wagers == 0
    assert (day.elsewhere, week.elsewhere, found.elsewhere) == (2, 2, 2)


async def test_what_came_in_the_moment_that_a_day_begins_is_of_it(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 20:00") as here:
        await here.open()
        await here.game([1])

    with opened(here.record) as record:
        (meter,) = meters(record)
        (last,) = record.rounds(meter.progressive)
        began = datetime.fromisoformat(last.ts)

        assert record.first_at(began) == last.input
        assert record.first_at(began.replace(year=2027)) == END


@pytest.mark.parametrize(
    ("day", "hours"),
    [(date(2026, 3, 28), 23), (date(2026, 3, 29), 24), (date(2026, 10, 24), 25), (date(2026, 10, 25), 24)],
)
def test_a_gaming_day_is_an_hour_shorter_or_longer_where_the_clock_is_put_forward_or_back(day, hours):
    calendar = Calendar.of("06:00", "Europe/Vienna")

    length = calendar.begins(date.fromordinal(day.toordinal() + 1)) - calendar.begins(day)

    assert length.total_seconds() == hours * 3600


@pytest.mark.parametrize(
    ("starts", "zone"),
    [
        *((starts, "Europe/Vienna") for starts in ("02:00", "02:30", "02:59")),
        ("23:30", "America/Nuuk"),  # where the clock is put forward from 23:00 to midnight
    ],
)
def test_every_moment_is_of_one_day_though_the_clock_skips_or_repeats_when_days_begin(starts, zone):
    calendar = Calendar.of(starts, zone)
    for first in (date(2026, 3, 26), date(2026, 10, 23)):
        for n in range(5):
            day = date.fromordinal(first.toordinal() + n)
            begins, next_begins = calendar.begins(day), calendar.begins(date.fromordinal(day.toordinal() + 1))

            assert begins < next_begins
            assert calendar.day_of(begins) == day
            assert calendar.day_of(next_begins - (next_begins - begins) / 1000) == day


async def test_rounds_on_either_side_of_a_skipped_hour_are_of_their_own_days(tmp_path):
    vienna = ZoneInfo("Europe/Vienna")
    async with at_the_house(tmp_path, "2027-03-27 12:00") as here:
        await here.open()
        here.clock.at("2027-03-28 01:59:00", vienna)
        await here.game([1])
        here.clock.at("2027-03-28 03:00:00", vienna)  # a second after 01:59:59
        await here.game([1, 2])

    calendar = Calendar.of("02:30", "Europe/Vienna")  # which that night has not
    with opened(here.record) as record:
        days = [
            day_report(record, date(2027, 3, day), calendar, LATER).progressives[0].wagers for day in (27, 28)
        ]
    assert days == [1 + 2, 0]  # the clock skips from 02:00 to 03:00, so the day begins at 03:30


async def test_the_weekly_deposit_is_the_change_of_what_is_held_in_whole_cents_and_no_cent_is_lost(tmp_path):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)
        here.clock.at("2026-11-25 12:00")
        await here.game([1, 2, 3])
    by_hand = Books(here.record)

    with opened(here.record) as record:
        weeks = [week_report(record, date(2026, 11, day), CALENDAR, LATER) for day in (16, 22, 23)]
        sundays = week_report(
            record, SUNDAY, Calendar.of("06:00", "Asia/Macau", "sunday"), datetime(2026, 11, 24, tzinfo=UTC)
        )
    first, same, second = (week.progressives[0] for week in weeks)

    assert first == same
    assert (weeks[0].first, weeks[0].last, weeks[2].first) == (date(2026, 11, 16), SUNDAY, MONDAY)
    assert Decimal(first.deposit + second.deposit) / 100 == (by_hand.meter + by_hand.reserve).quantize(
        Decimal("0.01"), "ROUND_DOWN"
    )
    assert (first.carried_in, first.carried_out) == (0, second.carried_in)
    assert first.explained
    assert {part.cause: dollars(part.to_meter + part.to_reserve) for part in first.components} == {
        "seed": 20_000,
        "contribution": Decimal("0.203333") * 14,
        "increase": Decimal("123.45"),
        "back_out": by_hand.awards[0],
        "award": -sum(by_hand.awards),
    }
    assert dollars(second.end) == by_hand.meter + by_hand.reserve
    assert (sundays.first, sundays.state) == (SUNDAY, "open")


async def test_awards_of_the_tray_and_games_without_a_winner_stand_in_every_report_and_in_no_account(
    tmp_path,
):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_day_of_the_tray(here)

    with opened(here.record) as record:
        (meter,) = meters(record)
        (day,) = day_report(record, FRIDAY, CALENDAR, LATER).progressives
        listed = awards(record)
        newest = awards(record, limit=1)
        (books,) = reconcile(record, FRIDAY, CALENDAR, LATER).progressives

    assert [(each.award, each.amount, each.who, each.reason, each.approved_by) for each in day.from_tray] == [
        (1, 8000, "key switch", None, None),
        (2, 4000, "key switch", None, None),
        (2, -4000, "eve", "the wager was on Banker", "omar"),
    ]
    quarter = 250_020
    assert [
        (each.again, each.tier, each.seats, each.amount, each.payer, each.who, each.by)
        for each in day.nobody_won
    ] == [
        (False, "nine_over_zero", (1,), 4000, "tray", "bob", "key"),
        (False, "two_three_four_suited", (5,), quarter, "meter", "bob", "key"),
        (True, None, (), None, None, "eve", None),
    ]
    assert [(each.number, each.payer, each.by, each.state) for each in listed.awards] == [
        (3, "meter", "key", "booked"),
        (2, "tray", "key", "backed_out"),
        (1, "tray", "key", "booked"),
    ]
    back = listed.awards[1].backed_out
    assert back is not None
    assert (back.who, back.reason, back.approved_by) == ("eve", "the wager was on Banker", "omar")
    assert (listed.awards[0].side, listed.awards[0].player) == ("player", tuple(QUARTER.split()[::2]))
    assert [each.again for each in listed.nobody_won] == [True, False, False]
    assert newest.nobody_won == ()

    assert (meter.from_tray, meter.awards, meter.paid_by_tier) == (
        8000,
        3,
        {"two_three_four_suited": quarter * 1_000_000},
    )
    assert (books.from_tray, books.differences, day.explained, day.open_awards) == (8000, (), True, ())
    assert all(check.ledger == check.expected for check in books.checks)
    assert audit(here.record, version="0.1.0").difference is None

    lines = list(day_sheet("USD", day_of(here.record), CALENDAR.zone))
    told = {row["line"]: row for row in (dict(zip(lines[0], line, strict=True)) for line in lines[1:])}
    assert {"tray_award", "tray_back_out", "nobody_won", "game_reopened"} < set(told)
    assert (told["tray_back_out"]["from_tray"], told["nobody_won"]["reason"]) == (
        "-40.00",
        "none was on Player",
    )


def day_of(path: Path) -> Day:
    with opened(path) as record:
        return day_report(record, FRIDAY, CALENDAR, LATER)
