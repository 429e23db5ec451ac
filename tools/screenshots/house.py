"""The pictures of the Game Manager of a house."""

import tempfile
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Final

from playwright.async_api import Browser

from punto.house.store import Store
from punto.runtime.clock import now
from punto.runtime.gaming_days import Calendar
from tests.house.bookkeeping import taken
from tests.house.pages.house import OF_SUE, Floor, an_evening, fill_all, meters, served
from tests.reports.house import Clock
from tools.screenshots.camera import AT, STEP, ZONE, Keep, still

CALENDAR: Final = Calendar.of(zone=ZONE)
REPORTS = "reports?since=2026-11-18&until=2026-11-24"
DAYS = "since=2026-11-23&until=2026-11-24"
FLOORS: Final = (
    ("floor-light", 12, 1280, 800, "light"),
    ("floor-phone", 12, 390, 844, "light"),
    ("floor-wall-4k", 200, 3840, 2160, "dark"),
    ("floor", 12, 1280, 800, "dark"),
)
"""A floor with so many tables, on a screen of this size, light or dark."""
PARTS: Final = (
    ("floor-reports", REPORTS, 1280, 800, "light"),
    ("floor-alarms", "alarms", 1280, 800, "dark"),
    ("floor-alarms-phone", "alarms", 390, 844, "light"),
    ("floor-people", f"people?{DAYS}", 1280, 640, "light"),
    ("floor-shoes", f"shoes?{DAYS}", 1280, 400, "dark"),
)
NAMES: Final = (*(name for name, *_ in FLOORS + PARTS), "floor-progressives")


async def take(browser: Browser, _chosen: Collection[str], keep: Keep) -> None:
    """Take a picture of each page."""
    with Clock(AT, STEP).turned():
        with tempfile.TemporaryDirectory() as folder:
            await take_floor(browser, Path(folder), keep)
        with tempfile.TemporaryDirectory() as folder:
            await take_progressives(browser, Path(folder), keep)


async def take_floor(browser: Browser, folder: Path, keep: Keep) -> None:
    """The tables, and what the store tells of them."""
    floor = Floor()
    async with served(folder, floor.view, fill=fill_all, doors=OF_SUE, calendar=CALENDAR) as address:
        for name, tables, width, height, scheme in FLOORS:
            floor.tables = an_evening(tables)
            await keep(name, await _picture(browser, name, address, width, height, scheme))
        for name, path, width, height, scheme in PARTS:
            await keep(name, await _picture(browser, name, f"{address}{path}", width, height, scheme))


async def take_progressives(browser: Browser, folder: Path, keep: Keep) -> None:
    """The meters of the house."""
    today = CALENDAR.day_of(now())
    ago = now() - CALENDAR.begins(today) - timedelta(minutes=1)
    keepers, kept = meters(today, calendar=CALENDAR, answered=ago)

    def fill_books(store: Store) -> None:
        for keeper, table in zip(keepers, ("meter-1", "table-3"), strict=True):
            store.take_books(taken(keeper, table=table))

    name, view = "floor-progressives", Floor().view
    async with served(folder, view, fill=fill_books, kept=lambda: kept, calendar=CALENDAR) as address:
        await keep(name, await _picture(browser, name, f"{address}progressives", 1280, 800, "light"))


async def _picture(browser: Browser, name: str, address: str, width: int, height: int, scheme: str) -> bytes:
    page = await browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        timezone_id=ZONE,
        locale="en-GB",
    )
    await page.clock.set_fixed_time(AT)  # a moment of another day has its day
    await page.goto(address)
    await page.wait_for_selector(".live article, .live #alarms li, main[aria-busy=false] table")
    if name == "floor-people":
        await page.locator("summary").last.click()
    shot = await still(page)
    await page.close()
    return shot
