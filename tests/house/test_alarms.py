"""The incidents of the floor, and who acknowledged them."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from punto.house.alarms import LONGEST_NOTE, AlarmError, Before, Only, acknowledge, alarms, choices
from punto.house.store import Store
from punto.house.taken import TakenIncidents
from punto.house.web import _alarms_views
from punto.messages.building import timestamp
from punto.messages.requests import RecordedIncident
from punto.runtime.gaming_days import Calendar
from tests.house.behind_sign_on import house
from tests.house.pages.house import Floor
from tests.house.tables import BEGAN

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
ENTRANCE = "session_begun"


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """What a password costs is not what these tests are about."""


def incident(seq: int, minute: int, kind: str = "called", place: int = 0) -> RecordedIncident:
    ts = timestamp(BEGAN + timedelta(minutes=minute))
    return RecordedIncident(
        seq=seq, place=place, ts=ts, kind=kind, source="shoe", who="mei", text=f"{kind} {seq}", where=None
    )


def told(table: str, *incidents: RecordedIncident) -> TakenIncidents:
    return TakenIncidents(table, f"record of {table}", False, 0, incidents[-1].seq, incidents)


def filled(store: Store) -> None:
    """Two tables, with two incidents of one input, two of one moment, and an entrance."""
    store.take_incidents(
        [
            told("t1", incident(3, 1), incident(5, 4), incident(5, 4, place=1), incident(9, 90)),
            told("t2", incident(2**33, 4), incident(2**33 + 1, 5, ENTRANCE)),
        ]
    )


def named(found) -> list[tuple[str, int, int]]:
    return [(each.table, each.seq, each.place) for each in found.alarms]


NEWEST_FIRST = [("t1", 9, 0), ("t2", 2**33, 0), ("t1", 5, 1), ("t1", 5, 0), ("t1", 3, 0)]


@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_incidents_come_newest_first_each_once_and_without_entrances(open_store, limit):
    store = open_store()
    filled(store)
    found, before = [], None
    while True:
        page = alarms(store, before, limit=limit)
        found += named(page)
        if page.before is None:
            break
        assert len(page.alarms) == limit
        before = Before.read(page.before)

    assert found == NEWEST_FIRST


def test_an_incident_is_acknowledged_once_by_the_first(open_store):
    store = open_store()
    filled(store)
    (its,) = [each for each in alarms(store).alarms if each.seq == 2**33]
    key = (its.record_id, its.seq, its.place)
    acknowledge(store, key, "Sue", "The card was torn", NOW)
    with pytest.raises(
        AlarmError, match=r"Sue has acknowledged this incident at 2026-11-25T12:00:00.000000\+00:00"
    ):
        acknowledge(store, key, "Eve", "Me too", NOW)

    (one,) = [each.acknowledged for each in alarms(store).alarms if each.acknowledged is not None]
    assert (one.who, one.note, one.ts) == ("Sue", "The card was torn", timestamp(NOW))
    rest = [each for each in NEWEST_FIRST if each[0] != "t2"]
    unacknowledged = Only(unacknowledged=True)
    first = alarms(store, only=unacknowledged, limit=2)
    assert named(first) + named(alarms(store, Before.read(first.before or ""), unacknowledged)) == rest


@pytest.mark.parametrize(
    ("kind", "text", "journal"),
    [
        ("resume_play", "resumed play: Lid closed", True),
        ("void_coup", "refused: there is no hand on the table", True),
        ("call_supervisor", "refused: nobody may call", True),
        ("shoe_lost", "the shoe was lost: the cable was pulled", True),
        ("configuration_keypad", "the configuration keypad was unplugged from /dev/ttyUSB3", True),
        ("configuration_keypad", "the score display's configuration keypad is plugged in at x", False),
        ("lid_open", "the lid of the shoe was opened during play", False),
        ("call_supervisor", "called a supervisor", False),
        ("hold_play", "held play: A dispute", False),
    ],
)  # fmt: skip
def test_only_alarms_stops_and_calls_are_to_be_acknowledged(open_store, kind, text, journal):
    store = open_store()
    store.take_incidents([told("t1", incident(3, 1, kind).model_copy(update={"text": text}))])
    (its,) = alarms(store).alarms
    assert its.journal == journal
    assert len(alarms(store, only=Only(unacknowledged=True)).alarms) == (not journal)
    key = (its.record_id, its.seq, its.place)
    if journal:
        with pytest.raises(AlarmError, match="needs no acknowledgement"):
            acknowledge(store, key, "Sue", "n", NOW)
    else:
        acknowledge(store, key, "Sue", "n", NOW)


def test_incidents_of_a_table_or_a_kind_are_found(open_store):
    store = open_store()
    assert choices(store).model_dump() == {"tables": (), "kinds": ()}
    filled(store)
    old = incident(1, -60 * 24 * 40, "unread")
    store.take_incidents([told("t3", old, incident(2, 7, "lid_open"))])

    of_one = Only(table="t1")
    assert named(alarms(store, only=of_one)) == [each for each in NEWEST_FIRST if each[0] == "t1"]
    first = alarms(store, only=of_one, limit=2)
    assert len(named(alarms(store, Before.read(first.before or ""), of_one))) == 2
    assert named(alarms(store, only=Only(kind="lid_open"))) == [("t3", 2, 0)]
    assert named(alarms(store, only=Only(table="t1", kind="lid_open"))) == []
    assert named(alarms(store, only=Only(kind=ENTRANCE))) == []
    assert choices(store).tables == ("t1", "t2", "t3")
    assert choices(store).kinds == ("called", "lid_open")  # of the last days alone


def test_what_is_not_an_incident_cannot_be_acknowledged(open_store):
    store = open_store()
    filled(store)
    (its,) = [each for each in alarms(store).alarms if each.seq == 2**33]
    for key in [(its.record_id, 2**33 + 1, 0), (its.record_id, 4, 0), (99, 3, 0), (2**53, 2**53, 2**31 - 1)]:
        with pytest.raises(AlarmError, match="no such incident"):
            acknowledge(store, key, "Sue", "n", NOW)


@pytest.mark.parametrize(
    "text", ["", "1-2-3", "1-2-3-4-5", "-1-2-3-4", "9" * 17 + "-1-1-1", "\u0661-1-1-1", "1-2-3-4\n"]
)
def test_the_place_of_a_page_is_one_that_was_given(text):
    with pytest.raises(ValueError, match="earlier page"):
        Before.read(text)
    assert Before.read("9" * 16 + "-1-1-1").ts.year < 2300


async def test_alarms_are_sent_again_only_when_they_have_changed(open_store):
    store = open_store()
    filled(store)
    views = _alarms_views(Floor().view, lambda: alarms(store))
    first, second = [(await anext(views)).newest for _ in range(2)]
    assert (first, second) == (alarms(store), None)
    store.take_incidents([told("t3", incident(2, 7))])
    assert [(await anext(views)).newest for _ in range(2)] == [alarms(store), None]


async def test_supervisors_and_executives_acknowledge_incidents_and_others_do_not(tmp_path):
    async with house(tmp_path) as here:
        store = Store(here.url, Calendar.of())
        filled(store)
        store.close()
        sue, ada, tom, eve = [await here.signed_on(name) for name in ("Sue", "Ada", "Tom", "Eve")]
        (newest, *_) = (await ada.get("/api/alarms?limit=1")).json["alarms"]
        key = f"{newest['record_id']}/{newest['seq']}/{newest['place']}"
        for reader in (ada, tom):
            refused = await here.acknowledge(reader, key)
            assert (refused.status, refused.json["code"]) == (403, "not_of_role")
        for note in ("", "   ", "x" * (LONGEST_NOTE + 1), "two\nlines", "\x00", "\ud800", 5, None):
            assert (await here.acknowledge(sue, key, note)).status == 422
        assert (await here.acknowledge(sue, f"{key}9999999999")).status == 422
        assert (await here.acknowledge(sue, f"{newest['record_id']}/{2**53}/0")).status == 404
        both = await asyncio.gather(here.acknowledge(sue, key, "Sue's"), here.acknowledge(eve, key, "Eve's"))
        assert sorted(each.status for each in both) == [204, 409]

        (one,) = [
            each["acknowledged"]
            for each in (await ada.get("/api/alarms")).json["alarms"]
            if each["acknowledged"]
        ]
        first = "Sue" if both[0].status == 204 else "Eve"
        assert (one["who"], one["note"]) == (first, f"{first}'s")
        assert len((await ada.get("/api/alarms?unacknowledged=true")).json["alarms"]) == 4
        page = (await ada.get("/api/alarms?limit=3")).json
        assert len((await ada.get(f"/api/alarms?before={page['before']}")).json["alarms"]) == 2
        for one in ("table=t2", "kind=called&unacknowledged=true&table=t2"):
            (only,) = (await ada.get(f"/api/alarms?{one}")).json["alarms"]
            assert only["table"] == "t2"
        assert (await ada.get("/api/alarms/choices")).json == {"tables": ["t1", "t2"], "kinds": ["called"]}
        sounds = ["call", "alarm", "award"]
        assert [(await each.get("/api/reader")).json for each in (sue, ada)] == [
            {"name": "Sue", "bars": "", "sounds": sounds},
            {"name": "Ada", "bars": "your roles do not allow acknowledging alarms", "sounds": sounds},
        ]
        for bad in ("before=x", "limit=0", "limit=1000", "kind=%00", f"table={'x' * 65}"):
            assert (await ada.get(f"/api/alarms?{bad}")).status == 422
        assert (
            "access_refused",
            "Ada",
            "refused acknowledge an alarm: not_of_role",
            "127.0.0.1",
        ) in here.accesses()
