"""Makes the pictures of the house's pages in docs/images: python -m tools.screenshots.house."""

import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from punto.house.store import Store
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tests.house.bookkeeping import CALENDAR, taken
from tests.house.pages.house import OF_SUE, Floor, an_evening, fill_all, meters, served
from tools.screenshots.pictures import picture_file

REPORTS = "reports?since=2026-11-18&until=2026-11-24"
DAYS = "since=2026-11-23&until=2026-11-24"


async def make(folder: Path) -> None:
    """Take a picture of each page."""
    floor = Floor()
    async with (
        served(folder, floor.view, fill=fill_all, doors=OF_SUE) as address,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        for name, tables, width, height, scheme in (
            ("floor-light", 12, 1280, 800, "light"),
            ("floor-phone", 12, 390, 844, "light"),
            ("floor-wall-4k", 200, 3840, 2160, "dark"),
            ("floor", 12, 1280, 800, "dark"),
        ):
            floor.tables = an_evening(tables)
            await _picture(browser, name, address, width, height, scheme)
        for name, path, width, height, scheme in (
            ("floor-reports", REPORTS, 1280, 800, "light"),
            ("floor-alarms", "alarms", 1280, 800, "dark"),
            ("floor-alarms-phone", "alarms", 390, 844, "light"),
            ("floor-people", f"people?{DAYS}", 1280, 640, "light"),
            ("floor-shoes", f"shoes?{DAYS}", 1280, 400, "dark"),
        ):
            await _picture(browser, name, f"{address}{path}", width, height, scheme)
        await browser.close()


async def make_progressives(folder: Path) -> None:
    """Take a picture of the progressives."""
    keepers, kept = meters(CALENDAR.day_of(datetime.now(UTC)))

    def fill_books(store: Store) -> None:
        for keeper, table in zip(keepers, ("meter-1", "table-3"), strict=True):
            store.take_books(taken(keeper, table=table))

    async with (
        served(folder, Floor().view, fill=fill_books, kept=lambda: kept) as address,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        await _picture(browser, "floor-progressives", f"{address}progressives", 1280, 800, "light")
        await browser.close()


async def _picture(browser: Browser, name: str, address: str, width: int, height: int, scheme: str) -> None:
    page = await browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    await page.goto(address)
    await page.wait_for_selector(".live article, .live #alarms li, main[aria-busy=false] table")
    if name == "floor-people":
        await page.locator("summary").last.click()
    await page.wait_for_timeout(1000)
    await page.screenshot(path=picture_file(name))
    await page.close()


if __name__ == "__main__":
    for each in (make, make_progressives):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(each(Path(folder)))
