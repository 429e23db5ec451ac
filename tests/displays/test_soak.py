"""Days of shoes at speed through service, broker, display and browser: none of them may grow."""

import asyncio
import signal
import time
from dataclasses import dataclass

import psutil
import pytest
import pytest_asyncio
from playwright.async_api import CDPSession, Page, async_playwright

from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS, DisplayProcess
from tests.service.table_on_a_machine import Broker, Shoe, Table

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
    """Bytes, but for the browser's nodes and listeners. The first three are the page's, after its garbage was collected."""

    heap: int
    nodes: int
    listeners: int
    browser: int
    server: int
    service: int

    def __str__(self) -> str:
        return (
            f"page: heap {self.heap / MEGABYTE:.2f} MB, {self.nodes} nodes, {self.listeners} listeners; "
            f"resident MB: browser {self.browser / MEGABYTE:.1f}, server {self.server / MEGABYTE:.1f}, "
            f"service {self.service / MEGABYTE:.1f}"
        )


@pytest_asyncio.fixture
async def page():
    assert CHROMIUM, "these tests need Chromium"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield await browser.new_page(viewport={"width": 1920, "height": 1080})
        await browser.close()


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


async def sample(session: CDPSession, display: DisplayProcess, table: Table) -> Sample:
    for _ in range(2):  # what is found to be garbage may hold other garbage
        await session.send("HeapProfiler.collectGarbage")
    found = {
        each["name"]: each["value"] for each in (await session.send("Performance.getMetrics"))["metrics"]
    }
    renderers = [
        process.memory_info().rss
        for process in psutil.Process().children(recursive=True)
        if "--type=renderer" in process.cmdline()
    ]
    return Sample(
        int(found["JSHeapUsedSize"]),
        int(found["Nodes"]),
        int(found["JSEventListeners"]),
        max(renderers),
        psutil.Process(display.pid).memory_info().rss,
        psutil.Process(table.process.pid).memory_info().rss,
    )


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_days_of_shoes_leave_browser_server_and_service_as_large_as_they_were(tmp_path, page: Page):
    broker = Broker(tmp_path)
    samples: list[Sample] = []
    with broker, Table(tmp_path, broker) as table, Shoe(table.port, "--seed", "7", "--pace", "0.02"):
        display = DisplayProcess("--table", "table-1", "--port", "0", "--mqtt-port", str(broker.port))
        try:
            await page.goto(await asyncio.to_thread(display.address))
            await page.evaluate(COUNT_STATES)
            session = await page.context.new_cdp_session(page)
            await session.send("Performance.enable")
            began = time.monotonic()
            shoe = 0
            while shoe <= SHOES:
                now = await asyncio.to_thread(see_to, table)
                if now > shoe:
                    shoe = now
                    samples.append(await sample(session, display, table))
                    print(f"shoe {shoe} after {time.monotonic() - began:.0f} s: {samples[-1]}", flush=True)
                await asyncio.sleep(0.25)
            states = await page.evaluate("window.states")
            live = await page.locator(".board.live").count()
            print(f"{states} states, {table.status()['round'] - 1} hands in {time.monotonic() - began:.0f} s")
        finally:
            display.end(signal.SIGTERM)

    first, last = samples[WARM : WARM + SOME], samples[-SOME:]
    grown = {
        name: min(getattr(each, name) for each in last) - min(getattr(each, name) for each in first)
        for name in Sample.__dataclass_fields__
    }
    print(f"grown from shoes {WARM + 1} to {WARM + SOME} to the last {SOME}: {grown}")
    assert live == 1
    assert states > 8 * 3600
    assert grown["heap"] < 0.5 * MEGABYTE
    assert grown["nodes"] < 300  # a road may be longer
    assert grown["listeners"] < 5
    assert grown["browser"] < 15 * MEGABYTE
    assert grown["server"] < 3 * MEGABYTE
    assert grown["service"] < 15 * MEGABYTE
