"""What tables sign for the Game Manager: whoever has a table's password and not its key brings nothing into the store."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError
from punto.controller.journal.entries import GAMES
from punto.house import feed
from punto.house.config import FloorConfig
from punto.messages.topics import HOUSE_READS, house_topic
from punto.runtime.signatures import Signing, of_the_house
from tests.controller.table_in_this_process import connected, eventually, settings, table
from tests.house.house import GameManager, stored
from tests.house.test_rogue_table import House
from tests.house.test_rogue_table import stored as rounds_of
from tests.house.test_service import broker
from tests.house.told import Told

__all__ = ["broker"]  # the fixture
KEY, NEW = b"k" * 32, b"n" * 32
UNSIGNED = "is not signed with the key of the link, so it is not read"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with the key of the table `t`."""
    folder = tmp_path / "keys"
    folder.mkdir()
    (folder / "t.key").write_text(KEY.hex(), encoding="utf-8")
    return folder


@pytest.fixture
async def house(open_store, keys):
    here = House(open_store(), keys=keys)
    running = asyncio.create_task(here.intake.run())
    await eventually(lambda: not here.intake.reason, "it takes in")
    yield here
    running.cancel()
    await asyncio.wait([running])


def unread(house: House, name: str = "t") -> str:
    return house.feed.unread().get(name, "")


async def all_of(house: House, rounds: int) -> None:
    house.turn()
    house.turn()
    await eventually(lambda: rounds_of(house.intake._store) == {"t": rounds}, "the table's rounds are stored")


def forge(house: House, topic: str, message: bytes, *, by: Signing | None = None) -> None:
    """What a program with the table's password publishes, signed with a key of its own if `by` is given."""
    house.feed.take(f"punto/t/{topic}", message if by is None else by.signed(message), retained=False)


async def test_a_forged_round_is_not_stored_and_the_tables_own_are(house):
    house.play("t", 3)
    await all_of(house, 3)
    of_table = house.tables["t"]
    false = Told(of_table.record)
    for dice in (Random(1), Random(2), Random(3), Random(7)):
        last = false.play(dice)

    for by in (None, of_the_house("t", (NEW,)), of_the_house("other", (KEY,))):
        forge(house, "round", last.wire(), by=by)
    house.play("t", 1)
    await all_of(house, 4)

    assert house.intake.faults() == {}
    assert UNSIGNED in unread(house)


async def test_a_forged_answer_neither_is_stored_nor_keeps_the_tables_own_out(house):
    house.play("t", 3)
    ((_, asked),) = house.intake.to_ask(10.0)
    false = Told("record of t")
    false.play(Random(9))
    forge(house, "response/rounds", false.answer(asked).wire())
    forge(house, "response/rounds", b"{")

    house.tell("t", "response/rounds", house.tables["t"].answer(asked))
    house.now = 10.0
    await all_of(house, 3)

    assert house.intake.faults() == {}
    assert UNSIGNED in unread(house)


def info() -> bytes:
    game = GAMES.dump_python(replace(load_game("dragon-bonus-1"), name="evil"), mode="json")
    told = {
        "schema": "punto/info/1", "id": "x", "seq": 0, "ts": "2026-11-25T20:00:00.000000+00:00", "simulation": False,
        "version": "1", "components": [], "configuration_digest": "", "configuration": {"game": game},
    }  # fmt: skip
    return json.dumps(told).encode()


async def test_a_game_is_learned_only_if_its_table_signed_it(house):
    forge(house, "info", info())
    assert house.intake._games == []

    forge(house, "info", info(), by=of_the_house("t", (KEY,)))
    assert [each.name for each in house.intake._games] == ["evil"]


async def test_a_table_without_a_key_is_an_alarm_and_nothing_of_it_is_read(house):
    house.play("other", 2)
    house.turn()

    assert house.floor.view(datetime.now(UTC), {}) == ()
    assert rounds_of(house.intake._store) == {}
    assert "put the same other.key into key_folder of [mqtt] there and of [floor] here" in unread(
        house, "other"
    )


async def test_while_a_key_is_changed_the_old_and_the_new_one_hold(open_store, keys):
    (keys / "t.new.key").write_text(NEW.hex(), encoding="utf-8")
    house = House(open_store(), keys=keys)
    for key in (KEY, NEW):
        forge(house, "info", info(), by=of_the_house("t", (key,)))

    assert unread(house) == ""


@pytest.mark.parametrize(
    ("written", "says"),
    [("", "one line with the key of a link"), ("12", "64 hexadecimal digits"), (None, "is not a folder")],
)
def test_a_key_that_cannot_be_read_is_reported_at_the_start(keys, written, says):
    if written is not None:
        (keys / "t.key").write_text(written, encoding="utf-8")

    with pytest.raises(ConfigError, match=says):
        FloorConfig(key_folder=keys if written is not None else keys / "none").signings()


def test_a_table_signs_each_topic_that_the_game_manager_reads():
    assert set(feed._READ) == HOUSE_READS
    assert [house_topic(name) in HOUSE_READS for name in ("devices/shoe", "progressive/dragon", "state")] == [
        True
    ] * 3
    assert not any(
        house_topic(name) in HOUSE_READS for name in ("scoreboard", "meter/request", "meter/answer/t1")
    )


async def test_a_real_table_signs_and_a_stolen_password_brings_no_round_into_the_store(
    tmp_path, broker, keys
):
    (keys / "table-1.key").write_text(KEY.hex(), encoding="utf-8")
    url = f"sqlite:///{tmp_path}/store.db"
    more = f'[floor]\nkey_folder = "{keys}"\n'
    with GameManager(tmp_path, broker.port, str(tmp_path / "store.db"), more=more) as manager:
        await eventually(lambda: manager.opened, "it has pages")
        async with (
            table(tmp_path / "table.db", settings("midi-baccarat")) as here,
            connected(here, broker.port, signing=of_the_house("table-1", (KEY,))) as link,
        ):
            await here.begin_shoe()
            await here.play(5, seats=[1])
            await eventually(lambda: len(stored(url)) == 5, "the rounds that the table signed")
            broker.publish("punto/table-1/round", false_round(here.engine.record_name))
            await here.play(3, seats=[2])
            await eventually(lambda: len(stored(url)) == 8, "the rounds after a forged one")
            floor = manager.asked("/api/floor")
        assert link.health().connected

    (card,) = floor["tables"]
    assert card["live"]
    assert UNSIGNED in json.dumps(card)


def false_round(record: str) -> str:
    """The next round of this record, as somebody else makes it up."""
    false = Told(record)
    for number in range(6):
        last = false.play(Random(number))
    return last.wire().decode()
