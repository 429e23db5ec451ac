"""The pages of a real Game Manager, with a real broker and a real table that plays."""

import asyncio
import re
import sqlite3
from contextlib import asynccontextmanager
from fractions import Fraction

import pytest
import pytest_asyncio
from playwright.async_api import expect

from punto.baccarat.table.events import SessionBegun, SessionEnded
from punto.baccarat.table.meters import of_game
from punto.baccarat.table.order_kinds import AcknowledgeAlarm, CallSupervisor
from punto.consoles.entrance import entrance_of
from punto.controller.edge.live import LiveEdge
from punto.house import following
from punto.house.config import GameManagerConfig
from punto.house.service import serve
from punto.messages.topics import HEALTH, RESTRICTED_EDGE, STATE
from tests.controller.table_in_this_process import connected, eventually, settings
from tests.controller.table_in_this_process import table as table_of
from tests.displays.parts import Broker

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def game_manager(folder, port: int):
    """The service; gives the address of its pages."""
    config = GameManagerConfig.model_validate(
        {
            "version": 1,
            "mqtt": {"port": port},
            "store": {"path": folder / "gm.db"},
            "pages": {"port": 0},
        },
        context=folder,
    )
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(config, entrance_of, address.set_result))
    try:
        yield await address
    finally:
        serving.cancel()
        await asyncio.wait([serving])


@pytest_asyncio.fixture(loop_scope="session")
async def broker(tmp_path):
    running = Broker(tmp_path)
    await running.start()
    yield running
    running.kill()


def standing(folder) -> list[str]:
    """The alarms that stand, as the store has them."""
    with sqlite3.connect(folder / "gm.db") as connection:
        return [alarm for (alarm,) in connection.execute("SELECT alarm FROM standing_alarms")]


@asynccontextmanager
async def surveyed(here, broker):
    """The table with live edges, of which each is an alarm, and with its state each second, as the service sends it."""

    async def beat() -> None:
        while True:
            here.outbox.snapshot_due(STATE)
            await asyncio.sleep(1)

    edge = LiveEdge(here.state.settings, here.engine.record_name, Fraction(-1), here.outbox)
    here.engine.watch(edge.see)
    broker.retain(RESTRICTED_EDGE, edge.message)
    running = [asyncio.create_task(edge.run()), asyncio.create_task(beat())]
    try:
        yield
    finally:
        for each in running:
            each.cancel()
        await asyncio.wait(running)


async def seen_to_on_the_floor(page, here) -> None:
    """The call is on the floor until a supervisor acknowledges it at the table."""
    await page.get_by_role("link", name="Floor").click()
    call = page.locator("#alarm-list li", has_text="Supervisor called: A dispute at the table")
    await expect(call).to_have_count(1)
    (called,) = here.state.alarms
    await here.order(AcknowledgeAlarm("omar", called.number))
    await expect(call).to_have_count(0)


async def test_a_table_is_followed_from_its_first_hand_to_its_report(page, broker, tmp_path, monkeypatch):
    monkeypatch.setattr(following, "INCIDENTS_EVERY_SECONDS", 0.2)
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text))
    own = settings(name="Pit 1 <b>Table</b> 1")
    async with game_manager(tmp_path, broker.port) as address, table_of(tmp_path / "record.db", own) as here:
        await page.goto(address)
        await expect(page.locator("#live-tables")).to_have_text("0 of 0")
        async with connected(here, broker.port) as to_broker, surveyed(here, to_broker):
            await here.order(SessionBegun("mei", ("dealer",), "a console"))
            await here.begin_shoe()
            card = page.get_by_role("article", name="Pit 1 <b>Table</b> 1")
            await here.play(10, seats=[1, 2])
            await expect(card).to_contain_text("Shoe 1, hand 10")
            await expect(page.locator("#house-faults")).to_be_empty()
            await expect(page.locator("#live-tables")).to_have_text("1 of 1")

            await page.get_by_role("link", name="Reports").click()
            while "10 played" not in await page.locator("main[aria-busy=false]").inner_text():
                await page.reload()  # it takes a moment until the last round is in the store
            await page.locator("summary").click()
            (counted,) = of_game(here.state.history.meters, own.game).handle
            await expect(
                page.locator("details tr", has_text="Player").first
            ).to_contain_text(
                f"Player{counted.wagers}${counted.staked / 100:,.0f}"  # a column has cents only if one of its amounts has
            )

            await page.get_by_role("link", name="Alarms").click()
            await page.wait_for_selector("body.live")
            await here.order(CallSupervisor("mei", "A dispute at the table"))
            await here.order(SessionEnded("mei", "signed off"))
            here.outbox.snapshot_due(HEALTH)  # as the service does every ten seconds
            line = page.locator("#alarms li", has_text="Pit 1 <b>Table</b> 1").first
            await expect(line).to_contain_text("Called a supervisor: A dispute at the table")
            await seen_to_on_the_floor(page, here)

            await page.get_by_role("link", name="People").click()
            figures = page.locator("#report > .scrolling tbody td")
            assert [await figures.nth(at).inner_text() for at in (0, 1, 3, 8, 9)] == [
                "mei",
                "1",
                "10",
                "0",
                "1",
            ]
            await page.get_by_role("link", name="Shoes").click()
            await page.wait_for_selector("main[aria-busy=false]")
            shoe = page.locator("tbody tr", has_text="Player").first
            while not await shoe.count():
                await page.reload()  # the edge of a coup is counted after it, in a process of low priority
                await page.wait_for_selector("main[aria-busy=false]")
            await expect(shoe).to_contain_text("Pit 1 <b>Table</b> 1")

            assert said == []
            await page.get_by_role("link", name="Floor").click()
            await expect(page.locator("#live-tables")).to_have_text("1 of 1")
        await expect(page.locator("#live-tables")).to_have_text("0 of 1")
        await expect(page.locator("#alarm-list")).to_contain_text("NOT LIVE")
        await expect(card).to_contain_text(re.compile(r"NOT LIVE.*\d\d:\d\dShoe 1"))  # when it was last heard
        await eventually(
            lambda: any(alarm.startswith("away-") for alarm in standing(tmp_path)),
            "the alarm is in the store",
        )
        broker.kill()
        await expect(page.locator("#house-faults")).to_contain_text("Broker: ")
