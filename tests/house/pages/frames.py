"""How smoothly the floor's page draws 200 tables that all change each second: python -m tests.house.pages.frames."""

import asyncio
import tempfile
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import NamedTuple

from playwright.async_api import Browser, Page, async_playwright

from punto.baccarat.table.state import Phase
from punto.house.live import FloorView
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tests.house.pages.house import Floor, an_evening, meter, served, shoe

TABLES = 200
SECONDS = 10
PHASES = [Phase.BETTING, Phase.DEALING, Phase.SETTLED]
DELTAS = """
seconds => new Promise(told => {
  const deltas = [], began = performance.now();
  let last;
  const frame = now => {
    if (last !== undefined) deltas.push(now - last);
    last = now;
    if (now - began < seconds * 1000) requestAnimationFrame(frame); else told(deltas);
  };
  requestAnimationFrame(frame);
})
"""
# Each change of the page, by the card that it is in.
COUNT_CHANGES = """
() => {
  window.cards = new Set();
  new MutationObserver(records => records.forEach(each => window.cards.add(each.target.parentElement.closest("article")?.id)))
    .observe(document.querySelector("#tables"), { characterData: true, subtree: true });
}
"""


class Frames(NamedTuple):
    """The times between two frames, in milliseconds, how many there were, and the cards that changed meanwhile.

    `busy` is the time that the page's own thread worked, in milliseconds of each second; what else the machine does is no part of
    it.
    """

    median: float
    p99: float
    longest: float
    number: int
    cards: int
    busy: float


class Busy(Floor):
    """A floor whose every table changes whenever it is looked at: phase, shoe, pace and meter."""

    def __init__(self, tables: int) -> None:
        super().__init__()
        self.tables = an_evening(tables)
        self._dice = Random(tables)

    def view(self) -> FloorView:
        self.tables = [
            each.model_copy(
                update={
                    "phase": self._dice.choice(PHASES),
                    "shoe": shoe(
                        each, coup=self._dice.randint(1, 80), cards_left=self._dice.randint(14, 416)
                    ),
                    "hands_an_hour": self._dice.uniform(40, 80),
                    "meter": meter(self._dice.randint(1_000_000, 20_000_000)),
                }
            )
            for each in self.tables
        ]
        return super().view()


async def frames(browser: Browser, width: int = 1920, height: int = 1080, seconds: float = SECONDS) -> Frames:
    """Frame times over so many seconds, on a screen of this size."""
    with tempfile.TemporaryDirectory() as folder:
        async with served(Path(folder), Busy(TABLES).view) as address:
            page = await browser.new_page(viewport={"width": width, "height": height})
            await page.goto(address)
            await page.wait_for_selector(f"article:nth-child({TABLES})")
            await page.wait_for_timeout(2000)
            await page.evaluate(COUNT_CHANGES)
            found = await _measured(page, seconds)
            cards = await page.evaluate("window.cards.size")
            await page.close()
    return found._replace(cards=cards)


async def empty(browser: Browser, seconds: float = SECONDS) -> Frames:
    """The same of an empty page: what this browser does by itself on this machine now."""
    page = await browser.new_page()
    found = await _measured(page, seconds)
    await page.close()
    return found


async def _measured(page: Page, seconds: float) -> Frames:
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})

    async def worked() -> float:
        told = (await session.send("Performance.getMetrics"))["metrics"]
        return float(next(each["value"] for each in told if each["name"] == "TaskDuration"))

    before = await worked()
    deltas = await page.evaluate(DELTAS, seconds)
    busy = 1000 * (await worked() - before) / seconds
    return Frames(median(deltas), quantiles(deltas, n=100)[-1], max(deltas), len(deltas), 0, busy)


async def main() -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        _say("an empty page", await empty(browser))
        for width, height in ((1280, 800), (1920, 1080), (3840, 2160)):
            _say(f"{TABLES} tables, {width} x {height}", await frames(browser, width, height))
        await browser.close()


def _say(what: str, found: Frames) -> None:
    print(
        f"{what}: median {found.median:.1f} ms, 99% {found.p99:.1f} ms, longest {found.longest:.1f} ms, "
        f"{found.number} frames, {found.cards} cards changed, the page worked {found.busy:.0f} ms of each second"
    )


if __name__ == "__main__":
    asyncio.run(main())
