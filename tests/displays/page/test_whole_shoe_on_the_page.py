"""A whole shoe through the real parts: virtual shoe, service, broker, display, browser, beside `punto roads`."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import expect

from punto.displays.options import DisplayOptions, MqttOptions, PageOptions
from punto.displays.server import serve
from tests.displays.page.reading import MARKS, READ_ASKS, READ_ROADS, ROADS
from tests.service.table_on_a_machine import TABLE, Broker, Shoe, Table, expected_rounds, round_records

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEED = "an evening"
# So wide that no road drops a column.
SCREEN = {"width": 6000, "height": 1080}
READ = f"""() => {{
  const board = document.querySelector(".board");
  {READ_ROADS} {READ_ASKS}
  return {{ roads: readRoads(board), asks: readAsks(board) }};
}}"""


def punto_roads(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    facts = ("winner", "player_pair", "banker_pair", "natural")
    given = "".join(json.dumps({key: each[key] for key in facts}) + "\n" for each in rounds)
    said = subprocess.run(
        [sys.executable, "-m", "punto", "roads"], input=given, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(said.stdout)
    return found


def as_punto_roads_has_it(road: str, cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A road read off the page, in the words of `punto roads`."""
    place = [{"row": cell["row"], "col": cell["col"]} for cell in cells]
    if road in MARKS:
        return [{**at, "color": cell["what"]} for at, cell in zip(place, cells, strict=True)]
    keys = ("player_pair", "banker_pair", "natural") if road == "bead_plate" else ("ties",)
    return [
        {**at, "winner": cell["what"], **{key: cell[key] for key in keys}}
        for at, cell in zip(place, cells, strict=True)
    ]


@asynccontextmanager
async def shown(broker: Broker) -> AsyncIterator[str]:
    """The table's display in this process; gives its address."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    options = DisplayOptions(mqtt=MqttOptions(port=broker.port), display=PageOptions(tables=(TABLE,), port=0))
    serving = asyncio.create_task(serve(options, address.set_result))
    try:
        yield await address
    finally:
        serving.cancel()
        await asyncio.wait([serving])


@pytest.mark.punctual
@pytest.mark.soak
async def test_a_service_that_is_killed_and_started_again(page, tmp_path):
    broker = Broker(tmp_path)
    table = Table(tmp_path, broker)
    with broker, table:
        async with shown(broker) as address:
            await page.goto(address)
            await expect(page.locator(".board")).to_have_class("board live")

            table.kill()
            await expect(page.locator(".board")).to_have_class("board", timeout=3_000)
            await expect(page.locator(".not-live")).to_be_visible()

            await asyncio.to_thread(table.start)
            await expect(page.locator(".board")).to_have_class("board live")
            await expect(page.locator(".table-name")).to_have_text("Baccarat 1 · SIMULATION")


@pytest.mark.soak
async def test_the_page_shows_the_roads_of_a_shoe_that_was_dealt_as_punto_roads_draws_them(page, tmp_path):
    hands = len(expected_rounds(SEED, 1))
    broker = Broker(tmp_path)
    table = Table(tmp_path, broker)
    shoe = Shoe(table.port, "--seed", SEED, "--between", "0.02")
    await page.set_viewport_size(SCREEN)
    with broker, table, shoe:
        async with shown(broker) as address:
            await page.goto(address)
            await asyncio.to_thread(table.begin_shoe)
            await expect(page.locator(".board")).to_have_class("board live")
            await expect(page.locator('[data-count="hands"]')).to_have_text(str(hands), timeout=100_000)
            read = await page.evaluate(READ)
            rounds = await asyncio.to_thread(round_records, table.record)

    assert len(rounds) == hands
    drawn = punto_roads(rounds)
    assert hands > 60
    for road in ROADS:
        assert as_punto_roads_has_it(road, read["roads"][road]["cells"]) == drawn[road]["cells"], road
    assert read["asks"] == drawn["ask"]
