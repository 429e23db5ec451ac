"""A stolen table PC, which writes anything in the topics of its own table: the other tables' rounds are taken in as before."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import delete, func, select

from punto.baccarat.wagers.settlement import Outcome, Settlement
from punto.configs.game_files import load_game
from punto.controller.journal.entries import GAMES
from punto.house import feed as feed_module
from punto.house import following as following_module
from punto.house import intake as intake_module
from punto.house import schema
from punto.house.alarms import alarms
from punto.house.config import FloorConfig
from punto.house.feed import Feed
from punto.house.following import Ask
from punto.house.intake import Intake
from punto.house.live import CardOrder, Floor, Known
from punto.house.store import RefusedError, Store, StoreAwayError
from punto.house.taken import Taken, TakenIncidents
from punto.messages.bounds import MOST_PAYMENT, rounds_in_bounds
from punto.messages.building import timestamp
from punto.messages.models import MOST_AMOUNT, Availability, Device, Message
from punto.messages.requests import (
    BooksRequest,
    BooksResponse,
    RecordedIncident,
    RoundsRequest,
    RoundsResponse,
)
from punto.messages.topics import HOUSE_READS, house_topic, progressive
from punto.runtime.broker_login import BrokerConfig
from tests.controller.table_in_this_process import eventually
from tests.house.bookkeeping import Keeper
from tests.house.conftest import CALENDAR
from tests.house.hostile import examples
from tests.house.tables import played, told
from tests.house.told import Told

WON = Settlement(seat=1, wager="player", outcome=Outcome.WIN, stake=100, returned=200, net=100, rule="win")
TS = "2026-11-25T20:00:00.000000+00:00"


class House:
    """A Game Manager without a broker: tables tell, and answer what it asks."""

    def __init__(
        self, store: Store, clock: Callable[[], float] = lambda: 0.0, keys: Path | None = None
    ) -> None:
        """With the folder `keys`, the tables sign what is stored with the keys in it."""
        self.intake, self.floor = Intake(store, clock), Floor()
        config = FloorConfig(key_folder=keys)
        self.feed = Feed(BrokerConfig(), config, self.floor, self.intake, clock)
        self.signings = config.signings() or {}
        self.tables: dict[str, Told] = {}
        self.changed: Callable[[str, dict[str, Any]], None] = lambda _table, _answer: None
        self.now = 0.0

    def tell(self, table: str, topic: str, message: Message | dict[str, Any]) -> None:
        payload = json.dumps(message).encode() if isinstance(message, dict) else message.wire()
        if house_topic(topic) in HOUSE_READS and table in self.signings:
            payload = self.signings[table].signed(payload)
        self.feed.take(f"punto/{table}/{topic}", payload, retained=False)

    def play(self, table: str, rounds: int) -> None:
        at = self.tables.setdefault(table, Told(f"record of {table}"))
        for _ in range(rounds):
            at.play(Random(1))
        self.tell(table, "health", at.health())

    def turn(self) -> None:
        """Ask and hear the answers."""
        self.now += 3
        for table, asked in [*self.intake.to_ask(self.now)]:
            answer = json.loads(self.tables[table].answer(asked).wire())
            self.changed(table, answer)
            verb = "rounds" if "rounds" in answer else "incidents"
            self.tell(table, f"response/{verb}", answer)


@pytest.fixture
def store(open_store) -> Store:
    opened: Store = open_store()
    return opened


@pytest.fixture
async def house(store):
    here = House(store)
    running = asyncio.create_task(here.intake.run())
    await eventually(lambda: not here.intake.reason, "it takes in")
    yield here
    assert not running.done()
    running.cancel()
    await asyncio.wait([running])


def stored(store: Store) -> dict[str, int]:
    counted = (
        select(schema.RECORDS.c.table, func.count())
        .join_from(schema.ROUNDS, schema.RECORDS, schema.ROUNDS.c.record_id == schema.RECORDS.c.id)
        .group_by(schema.RECORDS.c.table)
    )
    with store.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(counted).all()}


@pytest.mark.parametrize("change", [{}, {"net": -100}])
async def test_a_last_round_with_the_same_time_and_other_amounts_is_found_after_a_start(store, change):
    table = Told("aa")
    table.play(Random(1))
    true = table.tell(1)
    last = Taken("t", "aa", False, "USD", datetime.fromisoformat(true.ts), true.game, true.rules, true.round)
    settled = tuple(replace(each, **change) for each in true.round.settlements)
    assert settled
    store.take([last._replace(round=replace(true.round, settlements=settled))])
    house = House(store)
    house.tables["t"] = table
    running = asyncio.create_task(house.intake.run())
    await eventually(lambda: not house.intake.reason, "it takes in")
    house.intake.meet("t")
    house.turn()  # which record it is
    house.turn()
    running.cancel()
    await asyncio.wait([running])

    assert [*house.intake.faults()] == (["t"] if change else [])


POISON: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "stake": ({"stake": 2**70}, {}, {}),
    "sum": ({"returned": 2**62}, {}, {}),
    "seat": ({"seat": 2**40}, {}, {}),
    "nul": ({"rule": "a\0b"}, {}, {}),
    "long": ({"wager": "a" * 101}, {}, {}),
    "who": ({}, {"who": "a\0b"}, {}),
    "shoe": ({}, {"shoe": 2**31}, {}),
    "total": ({}, {"player_total": 2**15}, {}),
    "corrects": ({}, {"corrects": 2**63}, {}),
    "cards": ({}, {"player": ["AS"] * 9}, {}),
    "game": ({}, {}, {"game": "a\0b"}),
    "year 1": ({}, {}, {"ts": "0001-01-01T00:00:00.000000+00:00"}),
    "year 9999": ({}, {}, {"ts": "9999-12-31T23:59:59.000000+00:00"}),
    "no time": ({}, {}, {"ts": "2026-99-99T99:99:99.000000+00:00"}),
    "doubled": ({}, {"settlements": [json.loads(TypeAdapter(Settlement).dump_json(WON))] * 2}, {}),
}
"""Changes of a settlement, of its round, and of the round's end."""


def poison(what: str) -> Callable[[str, dict[str, Any]], None]:
    """Changes the last round of an answer of the rogue table."""
    of_settlement, of_round, of_end = POISON[what]

    def change(table: str, answer: dict[str, Any]) -> None:
        if table == "rogue" and answer.get("rounds"):
            answer["rounds"][-1]["settlements"][0].update(of_settlement)
            answer["rounds"][-1].update(of_round)
            answer["ended"][-1].update(of_end)

    return change


async def others_go_on(house: House, store: Store, fault: str) -> None:
    """The rounds of another table are taken in, and none of the rogue table, which stands with the fault."""
    house.play("rogue", 3)
    house.play("table-1", 3)
    before = len(house.tables["table-1"].rounds)

    def all_taken_in() -> bool:
        house.turn()
        return stored(store).get("table-1") == before and "rogue" in house.intake.faults()

    await eventually(all_taken_in, "the other table's rounds are in the store")
    house.play("table-1", 3)
    before += 3
    await eventually(all_taken_in, "and so are those after it")
    assert stored(store) == {"table-1": before}
    assert fault in house.intake.faults()["rogue"]
    assert house.intake.reason == ""


@pytest.mark.parametrize("what", POISON)
def test_an_answer_with_a_round_out_of_bounds_is_not_read(what):
    table = Told()
    while not table.rounds or not table.tell(len(table.rounds)).round.settlements:
        table.play(Random(len(table.rounds)))
    answer = json.loads(table.answer(RoundsRequest(id="a", after=len(table.rounds) - 1)).wire())
    read = feed_module._READ["response/rounds"].validate_json
    assert isinstance(read(json.dumps(answer)), RoundsResponse)
    poison(what)("rogue", answer)
    with pytest.raises(ValidationError):
        read(json.dumps(answer))


async def test_a_round_out_of_bounds_is_a_fault_of_its_table_alone_until_it_is_in_bounds(house, store):
    house.changed = poison("stake")
    await others_go_on(house, store, "its answer cannot be read")
    house.changed = lambda _table, _answer: None
    house.intake.connected()

    def taken_in() -> bool:
        house.turn()
        return stored(store).get("rogue") == 3

    await eventually(taken_in, "the table is followed again")
    assert house.intake.faults() == {}


@pytest.mark.parametrize("what", ["doubled", "year 9999"])
async def test_a_round_that_the_store_refuses_is_a_fault_of_its_table_alone(house, store, what, monkeypatch):
    """The bounds are not all that can be wrong with a round."""
    monkeypatch.setattr("punto.messages.bounds._check_round", lambda _: None)
    monkeypatch.setattr("punto.messages.models.LAST_YEAR", 9999)
    monkeypatch.setattr("punto.house.feed.check_sequence", lambda *_: None)
    if what == "year 9999" and not store.is_postgresql:
        what = "stake"  # SQLite has no partitions, whose end is in the year 10000
    house.changed = poison(what)
    await others_go_on(house, store, "the store refuses what it tells")


def test_the_store_refuses_all_of_one_transaction_and_can_go_on(store):
    at = played(4, 30)
    good, bad = told(at.rounds[:5], at), told(at.rounds[:5], at, table="rogue")
    bad[-1] = bad[-1]._replace(round=replace(bad[-1].round, settlements=(WON, WON)))
    with pytest.raises(RefusedError):
        store.take([*good, *bad])
    assert stored(store) == {}
    store.take(good)  # its partitions too are made again
    assert stored(store) == {"table-1": 5}


@pytest.mark.parametrize("place", [0, 2**70])
def test_incidents_that_the_store_refuses_are_not_a_store_that_is_away(store, place):
    one = RecordedIncident(
        seq=1, place=place, ts=TS, kind="called", source="shoe", who=None, text="", where=None
    )
    with pytest.raises(RefusedError):
        store.take_incidents([TakenIncidents("rogue", "aa", False, 0, 1, (one, one))])


def test_one_answer_as_a_simulation_and_one_not_hold_up_nothing(store):
    first = TakenIncidents("rogue", "aa", True, 0, 5, ())
    store.take_incidents([first, first._replace(simulation=False, after=5, until=9)])
    assert store.cursors()["rogue", "aa"].incidents == 9


def test_a_game_that_the_store_refuses_is_left_out(store):
    game = replace(load_game("dragon-bonus-1"), name="a\0b")
    if store.is_postgresql:
        with pytest.raises(RefusedError):
            store.learn(game)


async def test_a_game_that_a_restored_store_has_lost_is_learned_again(house, store, monkeypatch):
    own = replace(load_game("dragon-bonus-1"), name="own_game")

    def known() -> int:
        with store.reading() as connection:
            return int(connection.scalar(select(func.count()).select_from(schema.GAMES)) or 0)

    house.intake.learn("table-1", own)
    await eventually(lambda: known() == 1, "it is learned")
    led, away = store.leads, [True]

    def leads() -> bool:
        if away:
            with store.writing() as connection:
                connection.execute(delete(schema.GAMES))
            store._games.clear()  # as after each lead that is won
            away.pop()
            raise StoreAwayError("away")
        return bool(led())

    monkeypatch.setattr(store, "leads", leads)
    await eventually(lambda: not away and known() == 1, "it is learned again")


def test_a_table_has_a_share_of_what_is_stored_and_of_what_waits(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    intake = Intake(store)
    many = tuple(replace(WON, seat=seat) for seat in range(1, 100))
    rogue = [each._replace(round=replace(each.round, settlements=many)) for each in taken("rogue", 200)]
    intake._add("rogue", rogue)
    intake._add("table-1", taken("table-1", 5))
    batch = intake._batch()
    assert [each.table for each in batch].count("table-1") == 5
    assert 0 < [each.table for each in batch].count("rogue") <= intake_module.ROWS_AT_ONCE / 2 / 100
    assert intake._is_full("rogue")
    assert not intake._is_full("table-1")
    while batch := intake._batch():
        intake._drop(batch)
    assert intake._rounds == {}
    store.close()


def test_a_table_that_begins_records_again_and_again_is_not_followed():
    following = following_module.Following({})
    table = Told("0")

    def answer(asked: Ask) -> None:
        told = table.answer(asked)
        assert isinstance(told, RoundsResponse)
        following.hear_answer("rogue", told)

    following.meet("rogue", 1)
    for number in range(following_module.RECORDS_AT_ONCE + 2):
        table.record = str(number)
        for seconds in (0, 20):
            following.hear_service("rogue", table.record, datetime.now(UTC) + timedelta(seconds=seconds))
        ((_, asked),) = following.to_ask(float(number * 5))
        answer(asked)
        following.compare_again()
        if following.faults():
            break
    ((_, asked),) = following.to_ask(1000.0)
    table.record = "another"
    for seconds in (0, 20):
        following.hear_service("rogue", table.record, datetime.now(UTC) + timedelta(seconds=seconds))
    answer(asked)
    assert "new record again and again" in following.faults()["rogue"]


@pytest.fixture
def here(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    yield House(store, lambda: 0.0)
    store.close()


def device(name: str, reason: str = "r") -> Device:
    return Device(
        id="x",
        seq=0,
        ts=TS,
        device=name,
        state="offline",
        reason=reason,
        since=TS,
        serial=None,
        components=(),
    )


def test_a_table_has_the_known_devices_only_each_at_its_topic(here):
    for number in range(100):
        here.tell("rogue", "devices/x", device(f"d{number}"))
        here.tell("rogue", f"devices/d{number}", device(f"d{number}"))
        here.tell("rogue", "devices/shoe", device(f"d{number}"))
    here.tell("rogue", "devices/keypad", device("keypad", "x" * 20_000))
    here.tell("rogue", "devices/shoe", device("shoe"))
    (view,) = here.floor.view(datetime.now(UTC), {})
    assert view.devices_away == ("shoe",)
    assert here.feed.refused["devices/+"] == 301


def test_a_table_with_old_accounts_of_the_house_is_shown(here):
    at = Told()
    at.play(Random(1))

    def said(has: int | None, house: int) -> str:
        here.tell("t", "health", at.health().model_copy(update={"house_accounts": has}))
        (view,) = here.floor.view(datetime.now(UTC), {}, accounts=house)
        return str(view.accounts)

    assert said(720, 901) == "it has version 720, and the house has 901"
    assert said(0, 1) == "it has version 0, and the house has 1"
    assert said(901, 901) == said(902, 901) == said(None, 901) == said(0, 0) == ""


def test_a_table_tells_few_games_in_a_time(here):
    game = GAMES.dump_python(load_game("dragon-bonus-1"), mode="json")
    for number in range(100):
        info = {
            "schema": "punto/info/1", "id": "x", "seq": 0, "ts": TS, "simulation": False, "version": "1", "components": [],
            "configuration_digest": "", "configuration": {"game": game | {"name": f"evil_{number}"}},
        }  # fmt: skip
        here.tell("rogue", "info", info)
    assert len(here.intake._games) == intake_module.GAMES_AT_ONCE


def test_a_table_that_sends_too_much_is_not_read_and_others_are(here, monkeypatch):
    monkeypatch.setattr(feed_module, "BYTES_AT_ONCE", 20_000)
    for name in ("rogue", "table-1"):
        for _ in range(100 if name == "rogue" else 1):
            here.tell(name, "devices/shoe", device("shoe", "x" * 1000))
    assert [*here.feed.faults()] == ["rogue"]


@pytest.mark.parametrize("net", [MOST_PAYMENT, -MOST_AMOUNT])
def test_the_highest_payments_are_in_bounds_and_their_sums_fit(store, net):
    table = Told()
    table.play(Random(1))
    answer = table.tell(1)
    won = replace(WON, stake=MOST_AMOUNT, returned=max(0, net), net=net)
    record = replace(answer.round, settlements=(won,))
    told = RoundsResponse(
        id="x",
        seq=1,
        ts=TS,
        request="a",
        after=0,
        rounds=(record,),
        ended=(),
        record="aa",
        currency="USD",
        more=False,
    )
    assert rounds_in_bounds(told) is told
    store.take([each._replace(round=replace(each.round, settlements=(won,))) for each in taken("t", 9)])
    assert stored(store) == {"t": 9}


def taken(table: str, number: int) -> list[Any]:
    at = played(4, 30)
    one = next(each for each in at.rounds if each.status == "played")
    return told([replace(one, round=each) for each in range(1, number + 1)], at, table=table)


@pytest.mark.parametrize(
    "change",
    [
        lambda books: books["day"]["progressives"].append(books["day"]["progressives"][0]),
        lambda books: books["reconciliation"].update(progressives=[]),
        lambda books: books["day"]["progressives"][0].update(progressive="a\0b"),
        lambda books: books["day"]["progressives"][0].update(wagers=10**31),
        lambda books: books["day"].update(begins="2026-99-99T99:99:99.000000+00:00"),
    ],
)
def test_books_whose_parts_do_not_belong_together_are_not_read(change):
    keeper = Keeper(date(2026, 11, 24), date(2026, 11, 25))
    answer = json.loads(keeper.answer(BooksRequest(id="b", day=keeper.today)).wire())
    read = feed_module._READ["response/books"].validate_json
    assert isinstance(read(json.dumps(answer)), BooksResponse)
    change(answer["books"])
    with pytest.raises(ValidationError):
        read(json.dumps(answer))


@pytest.mark.parametrize(
    "change", [{"hands": 10**400}, {"expected": 1e999}, {"expected": -1.0}, {"hits": 2**70}]
)
def test_meters_out_of_bounds_are_not_read(here, change):
    count = {"wager": None, "rule": "tie", "hits": 1, "expected": 0.1, "errors": None, "evidence": None}
    readings = {"hands": 1, "counts": [{**count, **change}], "wagers": []} | change
    readings.pop("expected", None), readings.pop("hits", None)
    meters = {
        "schema": "punto/meters/1", "id": "x", "seq": 1, "ts": TS, "game": "g", "rules": "r", "day_began": TS,
        "lifetime": readings, "gaming_day": {"hands": 0, "counts": [], "wagers": []},
    }  # fmt: skip
    readings["counts"][0].pop("hands", None)

    here.tell("rogue", "meters", meters)

    assert here.feed.refused["meters"] == 1
    assert here.floor.told() == {}


def test_a_message_that_the_house_fails_on_is_refused_and_other_tables_are_read(here, monkeypatch):
    def fail(table: str, *_: object) -> None:
        if table == "rogue":
            raise OverflowError("integer division result too large for a float")

    monkeypatch.setattr(here.intake, "meet", fail)
    at = Told()
    for name in ("rogue", "table-1"):
        here.tell(name, "health", at.health())

    assert here.feed.refused["health"] == 1
    assert [view.table for view in here.floor.view(datetime.now(UTC), {})] == ["table-1"]


def test_an_empty_availability_hides_only_a_table_of_which_nothing_is_to_be_seen(here):
    at = Told()
    now = datetime.now(UTC)

    def cards(known: dict[str, Known] | None = None) -> list[str]:
        return [view.table for view in here.floor.view(now, known or {})]

    here.tell("rogue", "health", at.health())
    here.feed.take("punto/rogue/availability", b"", retained=False)
    assert cards() == []
    assert cards({"rogue": Known(fault="it sends more than a table does")}) == ["rogue"]
    assert cards({"rogue": Known(card_orders=(CardOrder(shoe=1, order="new decks", evidence=1e9),))}) == [
        "rogue"
    ]

    here.tell("rogue", "health", at.health())
    assert cards() == ["rogue"]

    here.tell("rogue", "round", at.play(Random(1)).model_copy(update={"ts": timestamp(now)}))
    here.tell("rogue", "round", at.play(Random(1)).model_copy(update={"ts": timestamp(now)}))
    here.feed.take("punto/rogue/availability", b"", retained=False)
    assert cards() == ["rogue"]


async def test_incidents_of_a_time_that_has_not_come_do_not_hide_those_of_other_tables(house, store):
    def change(table: str, answer: dict[str, Any]) -> None:
        for each in answer.get("incidents", []) if table == "rogue" else []:
            each["ts"] = "2199-12-31T23:59:59.999999+00:00"

    house.changed = change
    house.play("rogue", 20)
    house.play("table-1", 20)

    def is_taken_in() -> bool:
        for each in house.tables:
            house.play(each, 0)  # it tells its health
        house.turn()
        return "rogue" in house.intake.faults() and bool(alarms(store).alarms)

    await eventually(is_taken_in, "the other table's incident is in the store")
    assert {each.table for each in alarms(store).alarms} == {"table-1"}
    assert "has not come yet: set the clock" in house.intake.faults()["rogue"]


def test_a_table_that_says_that_it_keeps_a_meter_for_others_keeps_its_alarm(here):
    here.tell("rogue", progressive("dragon"), examples()["Progressive"][0] | {"tables": ["table-1"]})
    now = datetime.now(UTC)

    assert here.floor.view(now, {}) == ()
    assert [each.table for each in here.floor.view(now, {"rogue": Known(fault="x")})] == ["rogue"]


def test_an_alarm_is_shown_of_a_table_of_which_nothing_else_was_heard(here):
    (card,) = here.floor.view(datetime.now(UTC), {"rogue": Known(unread="state: x")})

    assert (card.table, card.unread, card.live) == ("rogue", "state: x", False)


async def test_a_record_that_the_house_has_not_heard_itself_makes_no_dispute(house):
    """The table may be right and the message not its own."""
    own, other = "61d3df3f324db981", "0000000000000000"

    def say(record: str, beside: str | None) -> None:
        house.tell(
            "rogue",
            "availability",
            Availability(
                id="x", seq=0, ts=TS, state="online", reason="", since=TS, cause=None, record=record, other_record=beside
            ),
        )  # fmt: skip

    say(own, None)
    say(own, other)
    assert house.intake.faults() == {}

    say(other, own)
    assert "two services publish as this table" in house.intake.faults()["rogue"]
