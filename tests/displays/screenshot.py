"""Makes the pictures in docs/images from a table that is played: python -m tests.displays.screenshot."""

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright

from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS, Broker, display, publisher
from tests.displays.played import PlayedTable

IMAGES = Path(__file__).parents[2] / "docs" / "images"


async def make(folder: Path) -> None:
    table = PlayedTable(seed=342)
    table.play(57)
    broker = Broker(folder)
    await broker.start()
    try:
        async with async_playwright() as playwright, display(broker) as address, publisher(broker) as out:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            page = await browser.new_page(viewport={"width": 1920, "height": 1080})
            await page.goto(address)

            async def show(name: str) -> None:
                await out.send("scoreboard", table.scoreboard())
                await out.send("state", table.state())
                await page.wait_for_selector("body.live")
                await page.wait_for_timeout(300)
                await page.screenshot(path=IMAGES / f"{name}.png")

            await show("i-score")
            table.deal(3)
            await show("i-score-dealing")
            await page.wait_for_selector("body:not(.live)")
            await page.screenshot(path=IMAGES / "i-score-not-live.png")
            await browser.close()
    finally:
        broker.kill()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(make(Path(folder)))
