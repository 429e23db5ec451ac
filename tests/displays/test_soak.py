"""Days of shoes at speed through service, broker, display, consoles and browser: none of them may grow."""

import asyncio
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from playwright.async_api import Browser, CDPSession, Page, async_playwright

from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from tests.consoles.consoles import NOW, PASSWORD
from tests.controller.table_on_a_machine import Broker, Shoe, Table
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS, DisplayProcess
from tests.ports import free_port

SHOES = 72
"""Three days and nights of shoes, at seventy hands an hour, with as many states as are published in eight hours."""
WARM = 12
"""Shoes until every cache is full and every page of code has been touched."""
SOME = 6
"""Shoes at the beginning and at the end of which the least is taken: what was not collected yet is not counted."""
COUNT_STATES = """
window.states = 0;
new EventSource("/tables/table-1/events").addEventListener("state", () => { window.states += 1; });
"""
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Sample:
    """Bytes, but for nodes and listeners. Those of the two pages are taken after their garbage was collected."""

    heap: int
    nodes: int
    listeners: int
    dealers_heap: int
    dealers_nodes: int
    dealers_listeners: int
    browser: int
    server: int
    service: int

    def __str__(self) -> str:
        return (
            f"board: heap {self.heap / MEGABYTE:.2f} MB, {self.nodes} nodes, {self.listeners} listeners; "
            f"dealer's page: heap {self.dealers_heap / MEGABYTE:.2f} MB, {self.dealers_nodes} nodes, "
            f"{self.dealers_listeners} listeners; "
            f"resident MB: browser {self.browser / MEGABYTE:.1f}, server {self.server / MEGABYTE:.1f}, "
            f"service {self.service / MEGABYTE:.1f}"
        )


@pytest_asyncio.fixture
async def browser():
    assert CHROMIUM, "these tests need Chromium"
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield running
        await running.close()


async def watched(page: Page) -> CDPSession:
    """What tells how large a page has become."""
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")
    return session


async def page_of(session: CDPSession) -> tuple[int, int, int]:
    """A page's heap, nodes and listeners."""
    for _ in range(2):  # what is found to be garbage may hold other garbage
        await session.send("HeapProfiler.collectGarbage")
    found = {
        each["name"]: each["value"] for each in (await session.send("Performance.getMetrics"))["metrics"]
    }
    return int(found["JSHeapUsedSize"]), int(found["Nodes"]), int(found["JSEventListeners"])


async def dealers_page(browser: Browser, folder: Path, port: int) -> Page:
    """The dealer's page, with a dealer signed on who works all day."""
    accounts = Accounts.open(folder / "operators.db")
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    accounts.close()
    page = await browser.new_page(viewport={"width": 1280, "height": 800})
    await page.goto(f"http://127.0.0.1:{port}/")
    await page.get_by_label("Name").fill("Mei")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_selector("body.dealer.live")
    return page


def see_to(table: Table) -> int:
    """Sign on, and change the shoe when it is over; the number of the shoe."""
    state = table.status()
    match state["phase"]:
        case "locked":
            table.order("sign_on")
        case "closed" | "settled":
            table.order("change_shoe")
        case _:
            pass
    number: int = state["shoe"]["number"]
    return number


async def sample(board: CDPSession, dealers: CDPSession, display: DisplayProcess, table: Table) -> Sample:
    renderers = [
        process.memory_info().rss
        for process in psutil.Process().children(recursive=True)
        if "--type=renderer" in process.cmdline()
    ]
    return Sample(
        *await page_of(board),
        *await page_of(dealers),
        sum(renderers),
        psutil.Process(display.pid).memory_info().rss,
        psutil.Process(table.process.pid).memory_info().rss,
    )


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_days_of_shoes_leave_browser_server_and_service_as_large_as_they_were(
    tmp_path, browser: Browser
):
    broker, port = Broker(tmp_path), free_port()
    console = f"[console]\nport = {port}\nidle_minutes = 480\n"
    samples: list[Sample] = []
    with (
        broker,
        Table(tmp_path, broker, sections=console) as table,
        Shoe(table.port, "--seed", "7", "--pace", "0.02"),
    ):
        display = DisplayProcess("--table", "table-1", "--port", "0", "--mqtt-port", str(broker.port))
        try:
            page = await browser.new_page(viewport={"width": 1920, "height": 1080})
            await page.goto(await asyncio.to_thread(display.address))
            await page.evaluate(COUNT_STATES)
            dealers = await dealers_page(browser, tmp_path, port)
            sessions = await watched(page), await watched(dealers)
            began = time.monotonic()
            shoe = 0
            while shoe <= SHOES:
                now = await asyncio.to_thread(see_to, table)
                if now > shoe:
                    shoe = now
                    samples.append(await sample(*sessions, display, table))
                    print(f"shoe {shoe} after {time.monotonic() - began:.0f} s: {samples[-1]}", flush=True)
                await asyncio.sleep(0.25)
            states = await page.evaluate("window.states")
            live = await page.locator(".board.live").count() + await dealers.locator("body.live").count()
            print(f"{states} states, {table.status()['round'] - 1} hands in {time.monotonic() - began:.0f} s")
        finally:
            display.end(signal.SIGTERM)

    first, last = samples[WARM : WARM + SOME], samples[-SOME:]
    grown = {
        name: min(getattr(each, name) for each in last) - min(getattr(each, name) for each in first)
        for name in Sample.__dataclass_fields__
    }
    print(f"grown from shoes {WARM + 1} to {WARM + SOME} to the last {SOME}: {grown}")
    assert live == 2
    assert states > 8 * 3600
    for whose in ("", "dealers_"):
        assert grown[f"{whose}heap"] < 0.5 * MEGABYTE
        assert grown[f"{whose}nodes"] < 300  # a road may be longer
        assert grown[f"{whose}listeners"] < 5
    assert grown["browser"] < 20 * MEGABYTE  # both pages' processes
    assert grown["server"] < 3 * MEGABYTE
    assert grown["service"] < 15 * MEGABYTE
