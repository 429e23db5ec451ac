"""The Game Manager of an authority: its reports have the wagers and awards of all linked tables."""

from datetime import UTC, datetime

from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.progressive.state import AwardState
from punto.reports.awards import AWARDS_A_PAGE, awards
from punto.reports.periods import day_report, week_report
from punto.reports.reconciliation import reconcile
from punto.reports.record import opened
from tests.controller.table_in_this_process import table
from tests.reports.house import CALENDAR, QUARTER, Clock
from tests.reports.linked_tables import authority, open_tables, play

NATURALS = ("KS 2S 9H 3S", "KH 2D 9C 3C")  # 2 for 1, from the tray
LATER = datetime(2100, 1, 1, tzinfo=UTC)


async def test_reports_have_the_wagers_and_awards_of_all_tables_and_account_for_every_cent(tmp_path):
    clock = Clock("2026-11-20T12:00:00+00:00")
    day = CALENDAR.day_of(clock.now)
    with clock.turned():
        async with table(tmp_path / "meter-1.db", authority()) as here:
            await here.order(OpenMeter("eve", "bob"))
            tables = await open_tables(here)
            for number, at in enumerate(tables, 1):
                await play(here, at, *(f"spot {seat}" for seat in range(1, number + 1)), "start game")
            for at in tables:
                await play(
                    here, at, *(f"draw {card}" for card in QUARTER.split()), "hand 1", "turn jph", "j-pot"
                )
                await play(here, at, "turn run", "game over")
                assert at.refusals == [], (number, at.step, at.state.phase, at.hand, at.progressive.late)

    with opened(tmp_path / "meter-1.db") as record:
        (accrual,) = day_report(record, day, CALENDAR, LATER).progressives
        second, first = awards(record).awards
        (deposit,) = week_report(record, day, CALENDAR, LATER).progressives
        agrees = reconcile(record, day, CALENDAR, LATER).agrees
    assert (accrual.rounds, accrual.wagers, accrual.staked, accrual.explained) == (2, 3, 300, True)
    meter = 10_000_00 + 3 * 20
    paid = [meter // 4, (meter - meter // 4) // 4]  # each a quarter of the meter at its own lock
    assert [(each.table, each.amount) for each in (first, second)] == [("t1", paid[0]), ("t2", paid[1])]
    assert [(each.table, each.award) for each in accrual.changes if each.cause == "award"] == [
        ("t1", 1),
        ("t2", 2),
    ]
    assert (deposit.deposit, deposit.explained, agrees) == (meter - sum(paid), True, True)


async def test_the_last_25_awards_of_all_tables_are_listed_first_and_every_earlier_one_is_on_the_record(
    tmp_path,
):
    async with table(tmp_path / "meter-1.db", authority()) as here:
        await here.order(OpenMeter("eve", "bob"))
        tables = await open_tables(here)
        for number in range(AWARDS_A_PAGE + 2):
            at = tables[number % 2]
            at.do("lift 1", "spot 1")
            await play(here, at, "start game")
            at.do(*(f"draw {card}" for card in NATURALS[number // 2 % 2].split()))
            await play(here, at, "hand 1", "turn jph", "j-pot")
            if number <= AWARDS_A_PAGE:
                await play(here, at, "turn run", "game over")
            assert at.refusals == []

    with opened(tmp_path / "meter-1.db") as record:
        first = awards(record)
        rest = awards(record, before=first.awards[-1].input)
    numbers = [each.number for each in (*first.awards, *rest.awards)]
    assert numbers == list(range(AWARDS_A_PAGE + 2, 0, -1))
    assert (len(first.awards), first.more, len(rest.awards), rest.more) == (25, True, 2, False)
    assert {(each.table, each.number % 2) for each in first.awards} == {("t1", 1), ("t2", 0)}
    assert [each.state for each in first.awards] == [AwardState.LOCKED, *[AwardState.BOOKED] * 24]
