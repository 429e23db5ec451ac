"""The shoes that favoured the players: what tables tell of their live edges is kept once."""

import asyncio
import csv
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from punto.house import edge_alarms, schema
from punto.house import intake as intake_module
from punto.house.edge_alarms import Heard, alarms_of, keep, shoes_report
from punto.house.intake import Intake
from punto.house.sheet import shoes_sheet
from punto.house.store import Store, StoreAwayError
from punto.messages.building import timestamp
from punto.messages.restricted import Edge, PositionEdge
from punto.runtime.csv_cells import csv_lines
from tests.controller.table_in_this_process import eventually
from tests.house.conftest import CALENDAR
from tests.house.tables import BEGAN, played, told

DAY = date(2026, 11, 24)
AT = played(1, 5)


def edges(round_: int, shoe: int = 1, record: str = "aa", minute: int = 100, **of: float) -> Edge:
    """What a table tells after a round: a wager with an edge below -1% has an alarm."""
    ts = timestamp(BEGAN + timedelta(minutes=minute))
    return Edge(
        id="t/restricted/edge/1",
        seq=1,
        ts=ts,
        valid_until=ts,
        shoe=shoe,
        round=round_,
        cards_left=100,
        unseen=0,
        positions=tuple(
            PositionEdge(wager=name, edge=edge, favourable=edge < 0, alarm=edge < -0.01)
            for name, edge in of.items()
        ),
        alarms=tuple(name for name, edge in of.items() if edge < -0.01),
        unavailable=None,
        record=record,
    )


def waiting(heard: Heard) -> list[tuple[str, int, str, int]]:
    return [(each.table, each.shoe, each.wager, each.round) for each in heard.waiting()]


def test_an_alarm_waits_for_the_store_once_for_a_shoe_and_a_wager(monkeypatch):
    heard = Heard()
    assert heard.take(alarms_of("t1", edges(12, tie=-0.02, player=0.01, panda=-0.005)))
    assert not heard.take(alarms_of("t1", edges(13, tie=-0.03)))
    assert heard.take(alarms_of("t1", edges(13, tie=-0.03, panda=-0.02)))
    assert waiting(heard) == [("t1", 1, "tie", 12), ("t1", 1, "panda", 13)]

    heard.stored(heard.waiting())
    assert not heard.take(alarms_of("t1", edges(14, tie=-0.02)))
    assert heard.take(alarms_of("t2", edges(14, tie=-0.02)))
    assert heard.take(alarms_of("t1", edges(14, shoe=2, tie=-0.02)))
    assert heard.take(alarms_of("t1", edges(14, record="bb", tie=-0.02)))
    assert [each[0] for each in waiting(heard)] == ["t2", "t1", "t1"]

    monkeypatch.setattr(edge_alarms, "MOST_KEPT", 2)
    heard.take(alarms_of("t4", edges(15, tie=-0.02)))
    assert waiting(heard) == [("t1", 1, "tie", 14), ("t4", 1, "tie", 15)]


@pytest.mark.parametrize(
    "changes",
    [
        {"shoe": 2**31},
        {"round": -1},
        {"record": "a\x00"},
        {"positions": (PositionEdge(wager="a" * 101, edge=-1, favourable=True, alarm=True),)},
        {"positions": (PositionEdge(wager="a", edge=float("nan"), favourable=True, alarm=True),)},
    ],
)
def test_what_no_store_can_keep_is_refused(changes):
    given = edges(1, a=-0.02).model_copy(update={**changes, "alarms": ("a", "a" * 101)})
    with pytest.raises(ValueError, match="EdgeAlarm"):
        list(alarms_of("t1", given))


def test_a_shoe_is_in_the_report_with_the_coup_of_each_wagers_first_alarm(open_store):
    store: Store = open_store()
    at = played(1, 130)
    store.take(told(at.rounds, at, table="t1"))
    of_second = next(each for each in at.rounds if (each.shoe, each.coup) == (2, 3))
    before = of_second.round - 1
    while at.rounds[before - 1].shoe == 2:
        before -= 1
    alarms = [
        *alarms_of("t1", edges(of_second.round, shoe=2, minute=119, tie=-0.02)),
        *alarms_of("t1", edges(before, shoe=2, minute=118, panda=-0.03)),
        *alarms_of("t2", edges(0, minute=2, tie=-0.04)),
        *alarms_of("t2", edges(70, minute=90, panda=-0.05)),
    ]
    keep(store, alarms)
    keep(open_store(), [*alarms_of("t1", edges(999, shoe=2, minute=300, tie=-0.5)), *alarms[2:]])

    report = shoes_report(store, DAY, DAY)
    assert [
        (
            shoe.table,
            shoe.record,
            shoe.shoe,
            [(each.wager, each.round, each.coup, each.edge) for each in shoe.wagers],
        )
        for shoe in report.shoes
    ] == [
        ("t1", "aa", 2, [("panda", before, 0, -0.03), ("tie", of_second.round, 3, -0.02)]),
        ("t2", "aa", 1, [("panda", 70, None, -0.05)]),
    ]
    assert report.shoes[0].wagers[0].ts == timestamp(BEGAN + timedelta(minutes=118))
    (early,) = shoes_report(store, date(2026, 11, 23), date(2026, 11, 23)).shoes
    assert (early.day, early.wagers[0].coup) == (date(2026, 11, 23), 0)
    assert store.cursors()["t1", "aa"].rounds == len(at.rounds)
    assert store.cursors()["t2", "aa"].rounds == 0  # whose rounds are still to come

    rows = list(csv.DictReader("".join(csv_lines(shoes_sheet(report, {}))).splitlines()))
    assert [(each["shoe"], each["wager"], each["coup"], each["edge"]) for each in rows] == [
        ("2", "panda", "0", "-0.030000"),
        ("2", "tie", "3", "-0.020000"),
        ("1", "panda", "", "-0.050000"),
    ]
    with store.reading() as connection:
        found = connection.exec_driver_sql(
            'SELECT "table", wager FROM all_edge_alarms ORDER BY edge LIMIT 1'
        ).all()
    assert [tuple(row) for row in found] == [("t2", "panda")]


async def test_an_alarm_that_is_heard_while_the_store_is_away_is_kept(open_store, monkeypatch):
    store: Store = open_store()
    store.take(told(AT.rounds[:1], AT, table="t1"))
    intake = Intake(store)
    away = True

    def keep_later(*given: Any) -> None:
        if away:
            raise StoreAwayError("the disk is full")
        keep(*given)

    def kept() -> list[Any]:
        with store.reading() as connection:
            wager = schema.EDGE_ALARMS.c.wager
            return list(connection.execute(select(wager).order_by(wager)).scalars())

    monkeypatch.setattr(intake_module, "keep", keep_later)
    running = asyncio.create_task(intake.run())
    try:
        intake.hear_edges("t1", edges(12, tie=-0.02))
        await eventually(lambda: "the disk is full" in intake.reason, "nothing is taken in")
        assert kept() == []
        away = False
        await eventually(lambda: kept() == ["tie"], "it is in the store")
        intake.hear_edges("t1", edges(13, tie=-0.02, panda=-0.02))
        await eventually(lambda: kept() == ["panda", "tie"], "the other wager is there too")
    finally:
        running.cancel()
        await asyncio.wait([running])


async def test_an_alarm_of_a_record_without_a_round_in_the_store_is_not_kept_until_it_has_one(open_store):
    store: Store = open_store()
    store.take(told(AT.rounds[:1], AT, table="t2"))
    intake = Intake(store)
    running = asyncio.create_task(intake.run())

    def kept() -> list[str]:
        with store.reading() as connection:
            return list(connection.execute(select(schema.EDGE_ALARMS.c.wager)).scalars())

    try:
        await eventually(lambda: not intake.reason, "it takes in")
        intake.hear_edges("t1", edges(12, tie=-0.02))
        intake.hear_edges("t2", edges(12, panda=-0.02))
        await eventually(lambda: kept() == ["panda"], "the other table's alarm is there")
        assert [*store.cursors()] == [("t2", "aa")]
        store.take(told(AT.rounds[:1], AT, table="t1"))
        intake.hear_edges("t1", edges(12, tie=-0.02))
        await eventually(lambda: sorted(kept()) == ["panda", "tie"], "it is kept when it is told again")
    finally:
        running.cancel()
        await asyncio.wait([running])


async def test_a_table_has_few_alarms_in_a_time_however_many_are_in_a_message(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    store.take(told(AT.rounds[:1], AT, table="t1"))
    intake = Intake(store, lambda: 0.0)
    running = asyncio.create_task(intake.run())
    await eventually(lambda: not intake.reason, "it takes in")
    for shoe in range(3):
        many = [f"w{number}" for number in range(80)]
        position = PositionEdge(wager="w", edge=-1, favourable=True, alarm=True)
        told_now = {
            "positions": tuple(position.model_copy(update={"wager": each}) for each in many),
            "alarms": (*many,),
        }
        intake.hear_edges("t1", edges(1, shoe=shoe).model_copy(update=told_now))
    assert len(intake._edges.waiting()) == intake_module.ALARMS_AT_ONCE
    running.cancel()
    await asyncio.wait([running])
    store.close()
