"""`punto retire-table`: what the broker keeps of a table is cleared, unless the table runs or the user has no right to."""

import asyncio
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from punto.house.live import Floor
from tests.command import punto
from tests.controller.guarded_brokers import HousesBroker
from tests.controller.table_in_this_process import connected, ear, eventually, table
from tests.controller.table_on_a_machine import Broker
from tests.displays.played import PlayedTable
from tests.house.house import GameManager


async def retire(folder: Path, port: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the command answers for the table of these tests."""
    config = folder / "any.toml"
    config.write_text(f"version = 1\n[mqtt]\nport = {port}\nrestricted = true\n[store]\npath = 'any'\n")
    return await asyncio.to_thread(punto, "retire-table", "table-1", "--config", str(config), *arguments)


@pytest.mark.disk
async def test_a_retired_table_leaves_the_broker_and_the_floor(tmp_path):
    with (
        Broker(tmp_path) as broker,
        GameManager(tmp_path, broker.port, str(tmp_path / "store.db")) as manager,
    ):
        async with table(tmp_path / "table.db") as here:
            async with connected(here, broker.port) as link:
                await eventually(lambda: manager.opened and manager.asked("/api/floor")["tables"], "its card")
                beating = asyncio.create_task(beat(here))
                running = await retire(tmp_path, broker.port)
                beating.cancel()
            await link.publish_offline("stopped", "the service was stopped")
        done = await retire(tmp_path, broker.port)
        await eventually(lambda: not manager.asked("/api/floor")["tables"], "its card is gone")
        async with ear(broker.port) as listening:
            await asyncio.sleep(0.3)
            kept = [name for name, _, retained in listening.heard if retained]
        again = await retire(tmp_path, broker.port)

    assert (running.returncode, running.stderr) == (
        1,
        "punto retire-table: table-1 runs: stop its service first\n",
    )
    assert done.returncode == 0
    assert {"punto/table-1/availability", "punto/table-1/state"} < set(done.stdout.split())
    assert kept == []
    assert again.returncode == 1
    assert "keeps nothing of a table 'table-1'" in again.stderr


async def beat(here) -> None:
    """Have the table send its state again, as its service does every second."""
    while True:
        here.outbox.snapshot_due("state")
        await asyncio.sleep(0.2)


async def test_only_a_user_with_the_tables_rights_retires_it(tmp_path):
    with HousesBroker(tmp_path) as guarded:
        async with ear(guarded.port, **guarded.login("table-1")) as service:
            for name in ("availability", "state", "progressive/\u202edragon"):
                await service.publish(name, {}, retain=True)
        found = {}
        for user in ("surveillance", "table-2", "table-1"):
            password = str(guarded.passwords / user)
            found[user] = await retire(
                tmp_path, guarded.port, "--username", user, "--password-file", password
            )

    assert [found[user].returncode for user in ("surveillance", "table-2", "table-1")] == [1, 1, 0]
    assert "did not let this user clear punto/table-1/availability" in found["surveillance"].stderr
    assert "keeps nothing of a table 'table-1'" in found["table-2"].stderr
    assert found["table-1"].stdout.splitlines()[1] == r"punto/table-1/progressive/\u202edragon"
    assert r"punto/table-1/progressive/\u202edragon" in found["surveillance"].stderr
    assert len(found["table-1"].stdout.splitlines()) == 3


@pytest.mark.parametrize("name", ["house", "+", "#", "a/b", "", "A"])
def test_what_no_table_can_be_called_is_not_retired(name, tmp_path):
    ended = punto("retire-table", name, "--config", str(tmp_path / "none.toml"))

    assert ended.returncode == 2
    assert "is not the id of a table" in ended.stderr


def test_the_floor_offers_it_for_a_table_that_was_not_seen_for_a_day():
    state, floor = PlayedTable().state(), Floor()
    floor.take("table-9", state, retained=True)
    seen = datetime.fromisoformat(state.ts)
    (recent,), (gone,) = (floor.view(seen + timedelta(hours=hours), {}) for hours in (23, 25))

    assert recent.retire == ""
    assert "punto retire-table table-9" in gone.retire
