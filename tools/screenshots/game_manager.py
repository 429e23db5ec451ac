"""The pictures of a table's Game Manager, from a weekend that is played."""

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, expect

from punto.controller.engine import HouseRules
from tests.consoles.pages.parts import TableWithConsoles, console_of
from tests.reports.house import CALENDAR, House, a_weekend
from tests.reports.pages.office import EXECUTIVE, manage, office, show
from tools.screenshots.camera import STEP, Keep, Picture, picture_for

SUNDAY = "2026-11-22"


NAMES: Final = tuple(
    f"game-manager-{part}"
    for part in (
        "opening",
        "meters",
        "adjustment",
        "settings",
        "awards",
        "day",
        "day-dark",
        "week",
        "reconcile",
    )
)


async def take(browser: Browser, _chosen: Collection[str], keep: Keep) -> None:
    """Play a weekend and take a picture of each part."""
    taken = picture_for(keep)

    async def picture(page: Page, part: str) -> None:
        await taken(page, f"game-manager-{part}")

    with tempfile.TemporaryDirectory() as folder:
        async with (
            office(Path(folder), "2026-11-20 20:00", step=STEP, rules=HouseRules(CALENDAR)) as (home, here),
            console_of(browser) as page,
        ):
            await page.emulate_media(color_scheme="light")
            await the_weekend(page, home, here, picture)


async def the_weekend(page: Page, home: House, here: TableWithConsoles, picture: Picture) -> None:
    """The meter is opened, and looked at when the weekend is over."""
    await manage(page, here, EXECUTIVE)
    await page.get_by_role("button", name="Open the meter").click()
    await expect(page.locator("dialog")).to_contain_text("The meter will show")
    await picture(page, "opening")
    await page.keyboard.press("Escape")
    await a_weekend(home, "Promotion of the week, letter 11")
    await show(page, here, "meters")
    await expect(page.locator("#meter-list")).to_contain_text("The books balance.")
    await picture(page, "meters")
    await the_orders(page, picture)
    for part in ("awards", "day", "week", "reconcile"):
        await show(page, here, part)
        if part != "awards":
            await page.locator(f'main[data-part="{part}"] [name=day]').fill(SUNDAY)
            await page.locator(f'main[data-part="{part}"] .when [type=submit]').click()
        await expect(page.locator(f'main[data-part="{part}"] table')).to_be_visible()
        if part == "awards":  # a page that was not live for a moment offers no order
            await expect(page.get_by_role("button", name="Back out award 2")).to_be_enabled()
        await picture(page, part)
    await page.emulate_media(color_scheme="dark")
    await show(page, here, "day")
    await page.locator('main[data-part="day"] [name=day]').fill(SUNDAY)
    await page.locator('main[data-part="day"] .when [type=submit]').click()
    await expect(page.locator('main[data-part="day"] tbody tr')).to_have_count(8)
    await picture(page, "day-dark")


async def the_orders(page: Page, picture: Picture) -> None:
    """A manual adjustment and a change of settings, as they are looked over."""
    adjusting = page.locator("#adjust-form")
    await adjusting.get_by_label("Amount").fill("500")
    await adjusting.get_by_label("Reason").fill("Promotion of the week, letter 12")
    await adjusting.get_by_role("button").click()
    await expect(page.locator("dialog")).to_contain_text("The meter will show")
    await picture(page, "adjustment")
    await page.keyboard.press("Escape")
    settings = page.locator("#settings-form")
    await settings.get_by_label("Contribution").fill("25%")
    await settings.get_by_label("Seed").fill("500")
    await settings.get_by_label("Reason").fill("As decided on Monday")
    await settings.get_by_role("button").click()
    await expect(page.locator("dialog")).to_contain_text("What the sheet advises")
    await picture(page, "settings")
    await page.keyboard.press("Escape")
