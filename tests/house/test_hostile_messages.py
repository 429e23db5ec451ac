"""Hostile messages with the password of one table: they neither end the Game Manager nor blind it to other tables."""

import copy
import json
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.house.feed import _READ, UNREAD_SECONDS
from punto.house.live import FloorView, Known
from punto.house.store import Store
from punto.messages.building import timestamp
from punto.messages.models import MOST_NUMBER
from punto.messages.topics import device, progressive, response
from tests.controller.guarded_brokers import HousesBroker
from tests.controller.table_in_this_process import ear, eventually
from tests.house.conftest import CALENDAR
from tests.house.hostile import MOST_BYTES, examples, hostile, numbers
from tests.house.house import GameManager, Tables, is_made, stored
from tests.house.test_rogue_table import House
from tests.house.told import Told

MODELS = {
    "availability": "Availability",
    "info": "Info",
    "health": "Health",
    "state": "State",
    "meters": "TableMeters",
    "round": "Round",
    "restricted/edge": "Edge",
    device("shoe"): "Device",
    progressive("dragon"): "Progressive",
    response("rounds"): "RoundsResponse",
    response("incidents"): "IncidentsResponse",
    response("books"): "BooksResponse",
}
"""The topics that the house reads of a table, and the model of the message that it expects there."""
HOSTILE = [(topic, *each) for topic, model in MODELS.items() for each in hostile(model)]


@pytest.fixture
def here(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    yield House(store)
    store.close()


def cards(house: House) -> dict[str, dict[str, Any]]:
    """What the floor's page shows of each table."""
    known = {
        name: Known(unread=house.feed.unread().get(name, ""), fault=house.feed.faults().get(name, ""))
        for name in {*house.feed.unread(), *house.feed.faults()}
    }
    now = datetime.now(UTC)
    view = FloorView(at=timestamp(now), taking_in="", broker="", tables=house.floor.view(now, known))
    found = json.loads(view.model_dump_json())
    assert all(abs(each) <= MOST_NUMBER for each in numbers(found))
    return {each["table"]: each for each in found["tables"]}


def test_all_topics_that_the_house_reads_are_tried():
    kinds = {name if name in _READ else f"{name.rpartition('/')[0]}/+" for name in MODELS}
    assert kinds == {*_READ}


def test_each_hostile_message_is_an_alarm_of_its_table_and_the_next_table_is_heard(here):
    sent = {}
    for number, (topic, what, payload) in enumerate(HOSTILE):
        for retained in (False, True):
            table = f"rogue-{number}-{retained}"
            here.feed.take(f"punto/{table}/{topic}", payload, retained=retained)
            sent[table] = (topic.partition("/")[0], what)
    here.tell("table-1", "health", Told().health())

    shown = cards(here)
    assert [each for table, each in sent.items() if each[0] not in shown[table]["unread"]] == []
    assert shown["table-1"]["unread"] == ""


def test_a_message_that_no_table_retains_is_not_read_and_the_table_is_followed_on(here):
    at = Told()
    for topic in ("response/rounds", "response/incidents", "response/books", "round"):
        here.feed.take(f"punto/table-1/{topic}", b"nothing", retained=True)

    assert here.intake.faults() == {}
    assert "punto retire-table table-1" in cards(here)["table-1"]["unread"]
    here.tell("table-1", "health", at.health())


def test_the_alarm_ends_with_good_messages_but_not_at_once(tmp_path):
    store, now = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR), 0.0
    house, at = House(store, lambda: now), Told()

    house.feed.take("punto/table-1/health", b"nothing", retained=False)
    house.tell("table-1", "health", at.health())
    assert "health" in house.feed.unread()["table-1"]
    now = UNREAD_SECONDS
    house.tell("table-1", "round", examples()["Round"][0])
    assert "health" in house.feed.unread()["table-1"]
    house.tell("table-1", "health", at.health())
    assert house.feed.unread() == {}
    store.close()


VALUES = (
    st.integers() | st.sampled_from([10**300, -(10**300), 2**31, 2**53 + 1, 2**63]) | st.floats() | st.text(max_size=50) | st.none()
    | st.booleans() | st.sampled_from(["\ud800", "\0", "x" * 5_000, "2199-12-31T23:59:59.999999+00:00", [], {}])
)  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values are in a JSON value."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = [*value.items()]
    elif isinstance(value, list):
        inner = [*enumerate(value[:3])]
    return [at, *(found for key, each in inner for found in places(each, (*at, key)))]


@pytest.fixture(scope="module")
def module_store(tmp_path_factory):
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db", CALENDAR)
    yield store
    store.close()


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_value_in_any_place_of_a_message_leaves_a_floor_that_pages_can_show(module_store, data):
    house = House(module_store)
    for _ in range(3):
        topic = data.draw(st.sampled_from([*MODELS]))
        body = copy.deepcopy(data.draw(st.sampled_from(examples()[MODELS[topic]])))
        for _ in range(data.draw(st.integers(1, 2))):
            *before, last = data.draw(st.sampled_from(places(body)[1:]))
            at = body
            for key in before:
                at = at[key]
            at[last] = data.draw(VALUES)
        house.feed.take(f"punto/rogue/{topic}", json.dumps(body).encode(), retained=False)
    house.tell("table-1", "health", Told().health())

    assert "table-1" in cards(house)
    house.floor.kept()
    house.floor.told()


@pytest.mark.disk
async def test_the_game_manager_survives_them_and_starts_with_those_that_the_broker_retains(tmp_path):
    url = f"sqlite:///{tmp_path}/store.db"

    def card() -> dict[str, Any]:
        with suppress(OSError):  # while it starts
            tables: list[dict[str, Any]] = manager.asked("/api/floor")["tables"]
            return {each["table"]: each for each in tables}.get("table-1", {})
        return {}

    def has_more(rounds: int) -> bool:
        return len(stored(url)) > rounds

    with (
        HousesBroker(tmp_path) as broker,
        GameManager(
            tmp_path, broker.port, f"{tmp_path}/store.db",
            login=f'username = "game-manager"\npassword_file = "{broker.passwords}/game-manager"',
        ) as manager,
    ):  # fmt: skip
        other = Tables(
            ["table-2"], broker.port, username="table-2", password_file=broker.passwords / "table-2"
        )
        async with (
            ear(broker.port, "punto/table-1/availability", **broker.login("table-1")) as rogue,
            other.running(),
        ):
            await eventually(
                lambda: manager.opened and is_made(url) and stored(url), "rounds of the other table"
            )
            other.playing = False
            for topic, _, payload in HOSTILE:
                for retain in (False, True) if len(payload) <= MOST_BYTES else ():
                    await rogue.client.publish(f"punto/table-1/{topic}", payload, qos=1, retain=retain)
            for turn in range(2):
                for number, (topic, model) in enumerate(MODELS.items()):
                    _, payload = [*hostile(model)][(7 * turn + number) % 18]
                    await rogue.client.publish(f"punto/table-1/{topic}", payload, qos=1, retain=True)
                assert manager.running
                manager.kill()
                manager.start()
                before, other.playing = len(stored(url)), True
                await eventually(lambda: card().get("unread"), "the alarm names the table")
                await eventually(partial(has_more, before + 50), "rounds of the other table")
            other.playing = False
            await eventually(lambda: stored(url) == other.rounds(), "all rounds of the other table")
            assert manager.running
            assert not [line for line in manager.said() if "Traceback" in line]
