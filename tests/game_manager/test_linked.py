"""The Game Manager of an authority: its reports have the wagers and awards of all linked tables."""

from datetime import UTC, datetime

from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.table.events import MeterAnswered, MeterHeard, TableAsked
from punto.baccarat.table.meter import served_table
from punto.game_manager.awards import awards
from punto.game_manager.reconciliation import reconcile
from punto.game_manager.record import opened
from punto.game_manager.reports import day_report, week_report
from tests.game_manager.house import CALENDAR, QUARTER, Clock
from tests.service.table_in_this_process import Table, table
from tests.table.croupier import settings
from tests.table.linked_floor import AUTHORITY, Node, linked

LATER = datetime(2100, 1, 1, tzinfo=UTC)


async def carry(here: Table, at: Node) -> None:
    """What a table asks of the authority, and the authority's answer."""
    link = at.progressive.link
    assert link is not None
    kept = here.state.progressive
    assert kept is not None
    if link.asked is not None:
        asked = TableAsked(
            at.settings.table, f"record of {at.settings.table}", link.asked.number, link.asked.orders
        )
        (handled,) = await here.engine.submit([asked], f"table {at.settings.table}")
        assert handled.refusal is None
        kept = here.state.progressive
        assert kept is not None
        last = served_table(kept, at.settings.table)
        assert last is not None
        extract = kept.books.extract(at.settings.table)
        at.handle(MeterAnswered(last.number, last.entries, last.refused, extract))
    at.handle(MeterHeard(True, "", kept.books.extract(at.settings.table), kept.books.settings))


async def play(here: Table, at: Node, *commands: str) -> None:
    for command in commands:
        at.do(command)
        await carry(here, at)


async def test_reports_have_the_wagers_and_awards_of_all_tables_and_account_for_every_cent(tmp_path):
    progressive = linked(2)
    own = settings(game_name="progressive-2", table=AUTHORITY, progressive=progressive, cards="keyed")
    clock = Clock("2026-11-20T12:00:00+00:00")
    day = CALENDAR.day_of(clock.now)
    with clock.turned():
        async with table(tmp_path / "meter-1.db", own) as here:
            await here.order(OpenMeter("eve", "bob"))
            tables = [Node(each.table, progressive) for each in progressive.tables]
            for number, at in enumerate(tables, 1):
                at.do("hello", "sign on", "change shoe", "open")
                await carry(here, at)
                await play(here, at, *(f"spot {seat}" for seat in range(1, number + 1)), "start game")
            for at in tables:
                await play(
                    here, at, *(f"draw {card}" for card in QUARTER.split()), "hand 1", "turn jph", "j-pot"
                )
                await play(here, at, "turn run", "game over")
                assert at.refusals == []

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
