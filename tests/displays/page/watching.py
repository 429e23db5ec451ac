"""A table that goes on publishing, and what a page that follows it must come to show."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import Error, Locator, Page, expect

from tests.deadline import DEADLINE, pauses
from tests.displays.meters import Meter
from tests.displays.parts import Broker, Publisher, display, publisher
from tests.displays.played import PlayedTable

# A frame has the events of a resize before its callbacks, so by the second one the page has its new sizes, and what it had to fit.
LAID_OUT = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
# When an element last became live, and then no longer, by the page's own clock: how long a message was on its way to it,
# and what it takes to ask the browser, is no part of it.
_NOTE_LIVE = """
(selector) => {
  const shown = document.querySelector(selector);
  const note = () => { window[shown.classList.contains("live") ? "becameLive" : "becameNotLive"] = performance.now(); };
  new MutationObserver(note).observe(shown, { attributeFilter: ["class"] });
}
"""


async def note_when_live(page: Page, selector: str) -> None:
    """Have the page note when it begins and ends to show this as live, for `live_seconds`."""
    await page.evaluate(_NOTE_LIVE, selector)


async def live_seconds(page: Page) -> float:
    """For how long it was last shown as live."""
    return float(await page.evaluate("becameNotLive - becameLive")) / 1000


@asynccontextmanager
async def dealt(out: Publisher, table: PlayedTable, meter: Meter | None = None):
    """The table is there and publishes its state, as its service does every second, for as long as this lasts.

    So it does its progressive's meter, where it has one.
    """

    async def go_on() -> None:
        while (
            lasts
        ):  # a cancellation can be lost in `send`, which waits with `asyncio.wait_for` (python/cpython 86296)
            await out.send("state", table.state())
            if meter is not None:
                await out.send("progressive/dragon", meter.message())
            await asyncio.sleep(0.5)

    await out.send("scoreboard", table.scoreboard())
    lasts = True
    async with asyncio.TaskGroup() as tasks:  # if the table fails, so does what waits for it
        task = tasks.create_task(go_on())
        try:
            yield
        finally:
            lasts = False
            task.cancel()


@asynccontextmanager
async def shown(page: Page, broker: Broker, table: PlayedTable) -> AsyncIterator[Publisher]:
    """A display of the table in this process, and its page, which is live."""
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)
        yield out


@asynccontextmanager
async def time_stands_still(page: Page) -> AsyncIterator[None]:
    """Look without haste at what a page shows for some seconds; its clock was installed before the page was loaded."""
    try:
        await _pause(page)
    except Error:  # this moment was over before the page heard of it; but from then on its time stands still
        await _pause(page)
    yield
    await page.clock.resume()


async def _pause(page: Page) -> None:
    await page.clock.pause_at(await page.evaluate("Date.now() / 1000") + 0.2)


async def send_until(locator: Locator, out: Publisher, topic: str, message: Callable[[], Any]) -> None:
    """Publish what holds for a short time alone, until the page shows this: the display may not listen yet."""
    for pause in pauses():
        await out.send(topic, message())
        with suppress(AssertionError):
            await expect(locator).to_be_visible(timeout=1000 * max(pause, 0.5))
            return


async def expect_live(page: Page) -> None:
    await expect(page.locator(".board")).to_have_class("board shown live")
    await expect(page.locator(".not-live")).to_be_hidden()


async def expect_not_live(page: Page, code: int, *, within: float = DEADLINE) -> None:
    """Players are asked for a moment, and staff see why by its code."""
    await expect(page.locator(".board .not-live")).to_be_visible(timeout=within * 1000)
    await expect(page.locator(".board .not-live strong")).to_have_text("One moment, please")
    await expect(page.locator(".board header .now")).to_be_hidden()
    await expect(page.locator(".board .code")).to_have_text(f"Not live · {code}")
