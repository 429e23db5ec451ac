"""Two services publish as one table, each with a record of its own: neither is taken in until a person chooses one."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punto.house.choices import choices, choose, dispute, note, records_to_choose
from punto.house.disputes import DISPUTED, REJECTED
from punto.house.intake import Intake
from punto.house.store import Store, StoreError
from punto.house.taken import Disputed, Reported
from punto.messages.models import Availability
from tests.command import punto
from tests.controller.table_in_this_process import connected, eventually, table
from tests.controller.table_on_a_machine import Broker
from tests.house.conftest import CALENDAR
from tests.house.house import GameManager, stored
from tests.house.tables import BEGAN, played, told


def reported(card: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of a table's card whose services have reported their rounds."""
    told = ("reported_rounds", "reported_first_round", "reported_last_round")
    return [each for each in card.get("records", []) if all(each[name] for name in told)]


@pytest.mark.disk
async def test_neither_is_taken_in_until_a_person_chooses_and_then_only_that_one(tmp_path):
    url = f"sqlite:///{tmp_path}/store.db"

    def on_the_floor() -> dict[str, Any]:
        with suppress(OSError):  # while it starts
            for found in manager.asked("/api/floor")["tables"]:
                return dict(found)
        return {"fault": ""}

    with (
        Broker(tmp_path) as broker,
        GameManager(tmp_path, broker.port, str(tmp_path / "store.db")) as manager,
    ):
        async with table(tmp_path / "table.db") as here, connected(here, broker.port):
            await here.begin_shoe()
            await here.play(3)
            await eventually(lambda: manager.opened and len(stored(url)) == 3, "the first rounds")
            async with table(tmp_path / "copy.db") as copy, connected(copy, broker.port):
                await eventually(lambda: on_the_floor()["fault"], "the floor shows it")
                shown = on_the_floor()
                await copy.begin_shoe()
                for each in (here, copy):
                    await each.play(4)
                await asyncio.sleep(2)
                while_both = len(stored(url))

                await eventually(lambda: len(reported(on_the_floor())) == 2, "what is known of both")
                listed = reported(on_the_floor())
                manager.kill()
                manager.start()
            await eventually(lambda: manager.opened and on_the_floor()["fault"], "it is not forgotten")
            own, other = here.engine.record_name, copy.engine.record_name
            known, unconfirmed, wrong, chosen = (
                punto("house", "choose-record", "--config", f"{manager.config}", "--table", "table-1", *more)
                for more in (
                    (),
                    ("--record", own),
                    ("--record", "another", "--against", own),
                    ("--record", own, "--against", other),
                )
            )
            await eventually(lambda: len(stored(url)) == 7, "the rounds of the chosen record")
            async with table(tmp_path / "copy.db") as again, connected(again, broker.port):
                await eventually(lambda: again.outbox.connected, "the rejected one answers requests too")
                await here.play(2)
                await eventually(lambda: len(stored(url)) == 9, "further rounds")
                await asyncio.sleep(1)
            kept = len(stored(url))

    assert not shown["live"]
    assert shown["reason"].startswith("two tables have this id")
    assert own in shown["fault"]
    assert other in shown["fault"]
    assert "punto house choose-record --table table-1" in shown["fault"]
    assert {each["record"]: each["state"] for each in listed} == {own: "disputed", other: "disputed"}
    assert [each["rounds"] for each in listed] == [3, 0]
    assert [each["reported_rounds"] for each in listed] == [7, 4]
    assert not listed[0]["warnings"]
    assert [line.partition(":")[0] for line in known.stdout.splitlines()] == [own, other]
    assert "7 rounds from 20" in known.stdout
    assert f"add --against {other}" in unconfirmed.stderr
    assert f"{other} is rejected. No round of it was taken in" in chosen.stdout
    assert (while_both, kept) == (3, 9)
    assert (known.returncode, unconfirmed.returncode, wrong.returncode, chosen.returncode) == (0, 1, 1, 0)
    assert "the records held back are" in wrong.stderr


def choose_it(store: Store, record: str, *against: str, table: str = "table-1") -> None:
    choose(store, table, record, against, "mei", datetime.now(UTC))


def test_a_choice_rejects_the_other_records_that_a_person_saw_and_may_be_changed(open_store):
    store = open_store()

    def held() -> dict[str, str | None]:
        return {record: cursor.held_back for (_, record), cursor in store.cursors().items()}

    dispute(store, [Disputed("table-1", record, False) for record in ("aa", "bb")])
    assert held() == {"aa": DISPUTED, "bb": DISPUTED}
    with pytest.raises(StoreError, match="the records held back are"):
        choose_it(store, "cc", "aa", "bb")
    with pytest.raises(StoreError, match="none of its records is held back"):
        choose_it(store, "aa", table="table-2")
    with pytest.raises(StoreError, match="the choice would also reject bb"):
        choose_it(store, "aa")
    with pytest.raises(StoreError, match="cc is not one of the records"):
        choose_it(store, "aa", "bb", "cc")
    choose_it(store, "aa", "bb")
    assert held() == {"aa": None, "bb": REJECTED}
    choose_it(store, "bb", "aa")
    assert held() == {"aa": REJECTED, "bb": None}

    dispute(store, [Disputed("table-1", record, False) for record in ("bb", "cc")])
    assert held() == {"aa": REJECTED, "bb": DISPUTED, "cc": DISPUTED}
    with pytest.raises(StoreError, match="the choice would also reject aa"):
        choose_it(store, "bb", "cc")
    choose_it(store, "bb", "aa", "cc")
    assert held() == {"aa": REJECTED, "bb": None, "cc": REJECTED}
    assert choices(store)["table-1"][:2] == ("bb", frozenset({"aa", "cc"}))


def test_a_choice_leaves_an_earlier_record_of_the_table_as_it_is(open_store):
    at, store = played(3, 4), open_store()
    store.take(told(at.rounds, at, record="the year before"))
    dispute(store, [Disputed("table-1", record, False) for record in ("aa", "bb")])

    assert [each.record for each in records_to_choose(store)["table-1"]] == ["aa", "bb"]
    choose_it(store, "aa", "bb")

    assert store.cursors()["table-1", "the year before"].held_back is None


def test_what_is_known_of_a_record_is_its_rounds_and_when_it_was_heard(open_store):
    at, store = played(3, 4), open_store()
    store.take(told(at.rounds, at))
    dispute(store, [Disputed("table-1", record, False) for record in ("aa", "bb")])
    assert records_to_choose(store, "table-2") == {}

    heard = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
    note(store, {("table-1", "bb"): Reported(heard, 12, BEGAN, None), ("table-1", "cc"): Reported(heard)})
    note(store, {("table-1", "bb"): Reported(rounds=13)})
    own, other = records_to_choose(store, "table-1")["table-1"]

    assert (own.rounds, own.first_round, own.last_round) == (
        len(at.rounds),
        BEGAN + timedelta(minutes=1),
        BEGAN + timedelta(minutes=len(at.rounds)),
    )
    assert (other.rounds, other.reported_rounds, other.reported_first_round) == (0, 13, BEGAN)
    assert (other.reported_last_round, other.last_heard) == (None, heard)


class House:
    """What takes in, and the time, by which services of one table report every ten seconds."""

    def __init__(self, store: Store) -> None:
        self.store, self.now = store, datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
        self.intake = Intake(store, self.seconds, lambda: self.now)

    def seconds(self) -> float:
        return self.now.timestamp()

    async def start(self) -> None:
        self.intake = Intake(self.store, self.seconds, lambda: self.now)
        await self.intake._begin()

    async def reported(self, *records: str, seconds: int = 30) -> str:
        """These services run for a while. Returns the fault of the table then."""
        for _ in range(0, seconds, 10):
            self.now += timedelta(seconds=10)
            for record in records:
                other = next((each for each in records if each != record), None)
                self.intake.hear_availability("table-1", available(record, other), retained=False)
            self.intake._review_at = self.intake._note_at = 0.0
            await self.intake._review()
        return self.intake.faults().get("table-1", "")

    def choose(self, record: str, *against: str) -> None:
        choose(self.store, "table-1", record, against, "mei", self.now)


def available(record: str, other: str | None) -> Availability:
    return Availability(
        id="x", seq=0, ts="2026-11-27T21:00:00.000000+00:00", state="online", reason="", since="2026-11-27T21:00:00.000000+00:00",
        record=record, other_record=other,
    )  # fmt: skip


@pytest.fixture
async def house(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    here = House(store)
    await here.start()
    yield here
    store.close()


@pytest.mark.parametrize("restarted", [False, True])
async def test_the_same_dispute_is_raised_again_after_it_had_ended(house, restarted):
    assert "two services" in await house.reported("aa", "bb")
    house.choose("aa", "bb")
    assert await house.reported("aa", "bb", seconds=3600) == ""

    assert await house.reported("aa", seconds=700) == ""
    if restarted:
        await house.start()
    assert "two services" in await house.reported("aa", "bb")
    assert house.intake._following.is_held_back("table-1", "aa")

    house.choose("aa", "bb")
    assert await house.reported("aa", "bb") == ""


async def test_a_rejected_record_that_comes_back_alone_is_disputed(house):
    await house.reported("aa", "bb")
    house.choose("aa", "bb")
    await house.reported("aa", seconds=700)

    assert "two services" in await house.reported("bb")


async def test_a_service_that_is_restarted_is_of_the_same_dispute(house):
    await house.reported("aa", "bb")
    house.choose("aa", "bb")
    await house.reported("aa", seconds=300)

    assert await house.reported("aa", "bb") == ""


async def test_a_dispute_with_a_third_record_is_raised_whatever_was_chosen(house):
    await house.reported("aa", "bb")
    house.choose("aa", "bb")
    await house.reported("aa", "bb")

    assert "the records aa and cc" in await house.reported("aa", "cc")
    house.choose("aa", "bb", "cc")
    assert "the records bb and dd" in await house.reported("bb", "dd")


async def test_a_dispute_that_had_no_turn_is_raised_by_the_next_message(house):
    await house.reported("aa", "bb")
    house.choose("aa", "bb")
    await house.reported("aa", seconds=700)
    bucket = house.intake._new["table-1", "records"]
    assert bucket.has(bucket.at_once, house.now.timestamp())
    bucket.take(bucket.at_once + 0.5)

    house.intake.hear_availability("table-1", available("bb", None), retained=False)
    assert house.intake.faults() == {}
    assert "two services" in await house.reported("bb", seconds=120)
