"""The people at the tables: their time, and what happened at the tables in this time."""

import csv
from datetime import date, timedelta
from typing import Any

import pytest

from punto.house.people import MOST_DAYS, Happened, Work, people_of, people_report
from punto.house.sheet import people_sheet
from punto.house.store import Store
from punto.runtime.csv_cells import csv_lines
from tests.house.pages.house import incidents
from tests.house.tables import BEGAN, played, told

DAY = BEGAN + timedelta(hours=1)
"""When the gaming day of these tests begins; it ends a day later."""
ON, OFF, STARTED = "session_begun", "session_ended", "service_started"


def work(report, who: str) -> dict[str, Work]:
    """The work of a person by table."""
    return {at.table: at.work for person in report for at in person.tables if person.who == who}


def worked(**figures: Any) -> Work:
    """With these figures; others are 0."""
    nothing = dict.fromkeys(("misdeals", "voided", "corrected", "refused_orders", "calls"), 0)
    return Work(**{**nothing, "other": {}, **figures})


def of(*happened: tuple[float, str, str | None], table: str = "t1") -> list[Happened]:
    """What happened at a table so many hours after the begin of the day."""
    return [Happened(table, DAY + timedelta(hours=hours), what, who) for hours, what, who in happened]


def hours_of(*happened: tuple[float, str, str | None]) -> dict[str, float]:
    report = people_of(of(*happened), DAY, DAY + timedelta(days=1))
    return {each.who: each.work.seconds / 3600 for each in report}


@pytest.mark.parametrize(
    ("happened", "hours"),
    [
        ([(1, ON, "ann"), (3, OFF, "ann")], {"ann": 2}),
        ([(1, ON, "ann"), (2, ON, "bob"), (3, OFF, "ann"), (5, OFF, "bob")], {"ann": 2, "bob": 3}),
        ([(1, ON, "ann"), (2, OFF, "ann"), (4, ON, "ann"), (5, OFF, "ann")], {"ann": 2}),
        # A start of the service ends what no record ended, with the last thing before it.
        ([(1, ON, "ann"), (4, "hands", None), (9, STARTED, None), (10, "hands", None)], {"ann": 3}),
        ([(1, ON, "ann"), (9, STARTED, None)], {}),
        # Without an end, a session counts until the last thing on the record.
        ([(1, ON, "ann"), (4, "hands", None)], {"ann": 3}),
        # Only the time within the gaming days counts.
        ([(-5, ON, "ann"), (2, OFF, "ann")], {"ann": 2}),
        ([(22, ON, "ann"), (23, "hands", None), (30, OFF, "ann")], {"ann": 2}),
        ([(22, ON, "ann"), (23, "hands", None), (30, STARTED, None)], {"ann": 1}),
        ([(-5, ON, "ann"), (-2, OFF, "ann"), (30, ON, "ann"), (31, OFF, "ann")], {}),
        ([(2, OFF, "ann"), (3, OFF, None)], {}),
        # A clock that was set back takes no time away.
        ([(3, ON, "ann"), (1, OFF, "ann"), (4, ON, "ann"), (5, OFF, "ann")], {"ann": 1}),
    ],
)
def test_a_person_is_signed_on_from_the_sign_on_to_its_end(happened, hours):
    assert hours_of(*happened) == hours


def test_what_happens_counts_for_each_person_who_is_signed_on():
    happened = [
        (0, "hands", None),
        (1, ON, "ann"),
        *[(1.5, "hands", None)] * 60,
        (2, ON, "bob"),
        *[(2.5, "hands", None)] * 90,
        (2.6, "misdeals", None),
        (2.7, "unread", None),
        (3, OFF, "ann"),
        (3.5, "voided", None),
        (4, OFF, "bob"),
        (5, "calls", "bob"),
    ]
    other = of((2, ON, "ann"), (2.5, "hands", None), (6, OFF, "ann"), table="t2")
    report = people_of([*of(*happened), *other], DAY, DAY + timedelta(days=1))

    assert [each.who for each in report] == ["ann", "bob"]
    common = {"misdeals": 1, "other": {"unread": 1}}
    assert work(report, "ann") == {
        "t1": worked(seconds=7200, hands=150, hands_an_hour=75.0, **common),
        "t2": worked(seconds=14400, hands=1, hands_an_hour=0.2),
    }
    assert report[0].work == worked(seconds=21600, hands=151, hands_an_hour=25.2, **common)
    assert work(report, "bob") == {
        "t1": worked(seconds=7200, hands=90, hands_an_hour=45.0, voided=1, **common)
    }
    assert hours_of((1, ON, "ann"), (1 + 1 / 120, OFF, "ann")) == {"ann": 1 / 120}
    short = people_of(of((1, ON, "ann"), (1 + 1 / 120, OFF, "ann")), DAY, DAY + timedelta(days=1))
    assert short[0].work.hands_an_hour is None


def test_the_report_is_what_rounds_and_incidents_of_the_store_say(open_store):
    store: Store = open_store()
    at = played(1, 150)
    store.take([*told(at.rounds, at), *told(at.rounds, at, table="table-2")])
    begun, ended = 70, 140  # minutes after BEGAN, as the rounds; the gaming day begins after 60
    store.take_incidents(
        incidents(
            (
                (30, 1, ON, "service", "mei", "signed on"),
                (40, 1, "unread", "shoe", None, "before the gaming day"),
                (65, 1, OFF, "service", "mei", "session ended: signed off"),
                (begun, 1, ON, "service", "mei", "signed on"),
                (75, 1, "void_coup", "operator mei", "mei", "refused: there is no hand on the table"),
                (76, 1, "wager_placed", "coin_spot", None, "refused: the game has started"),
                (77, 1, "call_supervisor", "operator mei", "mei", "called a supervisor: refused: a joke"),
                (78, 1, "access_refused", "service", "bob", "refused sign_on: wrong_password"),
                (ended, 1, OFF, "service", "mei", "session ended: signed off"),
            )
        )
    )
    day = date(2026, 11, 24)
    report = people_report(store, day, day)

    (mei,) = report.people
    these = [each for each in at.rounds if 60 <= each.round <= 65 or begun < each.round <= ended]
    assert (
        mei.work
        == mei.tables[0].work
        == Work(
            seconds=75 * 60,
            hands=sum(each.status == "played" for each in these),
            hands_an_hour=round(sum(each.status == "played" for each in these) * 60 / 75, 1),
            misdeals=sum(each.status == "void" for each in these),
            voided=sum(each.status == "correction" and each.winner is None for each in these),
            corrected=sum(each.status == "correction" and each.winner is not None for each in these),
            refused_orders=1,
            calls=1,
            other={"wager_placed": 1},
        )
    )
    assert mei.work.hands > 20
    assert min(mei.work.misdeals, mei.work.voided, mei.work.corrected) > 0
    before = people_report(store, date(2026, 11, 23), date(2026, 11, 23)).people
    assert [(each.work.seconds, each.work.other) for each in before] == [(1800, {"unread": 1})]
    whole = people_report(store, date(2026, 11, 23), day).people
    assert whole[0].work.seconds == mei.work.seconds + 1800

    rows = list(csv.DictReader("".join(csv_lines(people_sheet(report, {}))).splitlines()))
    assert [(each["table"], each["kind"], each["number"], each["hands"]) for each in rows] == [
        ("table-1", "", "", str(mei.work.hands)),
        ("table-1", "wager_placed", "1", ""),
        ("", "", "", str(mei.work.hands)),
        ("", "wager_placed", "1", ""),
    ]
    assert MOST_DAYS >= 31


def test_a_session_over_the_days_beginning_that_a_restart_ended_is_divided_between_the_days(open_store):
    store: Store = open_store()
    store.take_incidents(
        incidents(
            (
                (30, 1, ON, "service", "mei", "signed on"),
                (100, 1, "unread", "shoe", None, "the last thing before the restart"),
                (140, 1, STARTED, "service", None, "started"),
            )
        )
    )
    day = date(2026, 11, 24)  # it begins after 60 minutes
    before = day - timedelta(days=1)

    seconds = [
        people_report(store, *days).people[0].work.seconds
        for days in ((before, before), (day, day), (before, day))
    ]

    assert seconds == [30 * 60, 40 * 60, 70 * 60]
    assert people_report(store, before, before).people[0].work.other == {}
