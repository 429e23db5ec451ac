"""A table that goes on publishing, and what a page that follows it must come to show."""

import asyncio
from contextlib import asynccontextmanager

from playwright.async_api import Page, expect

from tests.displays.meters import Meter
from tests.displays.parts import Publisher
from tests.displays.played import PlayedTable


@asynccontextmanager
async def dealt(out: Publisher, table: PlayedTable, meter: Meter | None = None):
    """The table is there and publishes its state, as its service does every second, for as long as this lasts.

    So it does its progressive's meter, where it has one.
    """

    async def go_on() -> None:
        while True:
            await out.send("state", table.state())
            if meter is not None:
                await out.send("progressive/dragon", meter.message())
            await asyncio.sleep(0.5)

    await out.send("scoreboard", table.scoreboard())
    task = asyncio.create_task(go_on())
    try:
        yield
    finally:
        task.cancel()


async def expect_live(page: Page) -> None:
    await expect(page.locator(".board")).to_have_class("board live")
    await expect(page.locator(".not-live")).to_be_hidden()


async def expect_not_live(page: Page, reason: str, *, within: float = 60) -> None:
    await expect(page.locator(".board .not-live")).to_be_visible(timeout=within * 1000)
    await expect(page.locator(".board .not-live strong")).to_have_text("NOT LIVE")
    await expect(page.locator(".not-live-reason")).to_have_text(reason)
