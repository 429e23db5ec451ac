"""Two services publish as one table, each with a record of its own: neither is taken in until a person chooses one."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from punto.house.store import StoreError
from punto.house.taken import DISPUTED, REJECTED, Disputed
from tests.command import punto
from tests.controller.table_in_this_process import connected, eventually, table
from tests.controller.table_on_a_machine import Broker
from tests.house.house import GameManager, stored


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
                manager.kill()
                manager.start()
            await eventually(lambda: manager.opened and on_the_floor()["fault"], "it is not forgotten")
            own, other = here.engine.record_name, copy.engine.record_name
            choose = (
                "house",
                "choose-record",
                "--config",
                str(tmp_path / "game-manager.toml"),
                "--table",
                "table-1",
            )
            wrong = punto(*choose, "--record", "another")
            chosen = punto(*choose, "--record", own)
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
    assert (while_both, kept) == (3, 9)
    assert (wrong.returncode, chosen.returncode) == (1, 0)
    assert "the records held back are" in wrong.stderr


def test_a_choice_rejects_the_other_record_and_may_be_changed(open_store):
    store = open_store()

    def held() -> dict[str, str | None]:
        return {record: cursor.held_back for (_, record), cursor in store.cursors().items()}

    store.dispute([Disputed("table-1", record, False) for record in ("aa", "bb")])
    assert held() == {"aa": DISPUTED, "bb": DISPUTED}
    with pytest.raises(StoreError, match="the records held back are"):
        store.choose("table-1", "cc")
    with pytest.raises(StoreError, match="none of its records is held back"):
        store.choose("table-2", "aa")
    store.choose("table-1", "aa")
    assert held() == {"aa": None, "bb": REJECTED}
    store.dispute([Disputed("table-1", "bb", False)])
    assert held() == {"aa": None, "bb": REJECTED}
    store.choose("table-1", "bb")
    assert held() == {"aa": None, "bb": None}
