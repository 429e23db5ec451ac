"""Makes the Game Manager's pictures in docs/images from a weekend that is played: python -m tools.screenshots.game_manager."""

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright, expect

from tests.consoles.pages.parts import TableWithConsoles, console_of
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tests.reports.house import House, a_weekend
from tests.reports.pages.office import EXECUTIVE, manage, office, show
from tools.screenshots.pictures import picture_file

SUNDAY = "2026-11-21"  # the gaming day in UTC, which this table's office goes by


async def make(folder: Path) -> None:
    """Play a weekend and take a picture of each part."""
    async with office(folder, "2026-11-20 20:00") as (home, here), async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        async with console_of(browser) as page:
            await page.emulate_media(color_scheme="light")
            await the_weekend(page, home, here)
        await browser.close()


async def the_weekend(page: Page, home: House, here: TableWithConsoles) -> None:
    """The meter is opened, and looked at when the weekend is over."""
    await manage(page, here, EXECUTIVE)
    await page.get_by_role("button", name="Open the meter").click()
    await expect(page.locator("dialog")).to_contain_text("The meter will show")
    await picture(page, "opening")
    await page.keyboard.press("Escape")
    await a_weekend(home)
    await show(page, here, "meters")
    await expect(page.locator("#meter-list")).to_contain_text("The books balance.")
    await picture(page, "meters")
    await the_orders(page)
    for part in ("awards", "day", "week", "reconcile"):
        await show(page, here, part)
        if part != "awards":
            await page.locator(f'main[data-part="{part}"] [name=day]').fill(SUNDAY)
            await page.locator(f'main[data-part="{part}"] .when [type=submit]').click()
        await expect(page.locator(f'main[data-part="{part}"] table')).to_be_visible()
        await picture(page, part)
    await page.emulate_media(color_scheme="dark")
    await show(page, here, "day")
    await page.locator('main[data-part="day"] [name=day]').fill(SUNDAY)
    await page.locator('main[data-part="day"] .when [type=submit]').click()
    await expect(page.locator('main[data-part="day"] tbody tr')).to_have_count(8)
    await picture(page, "day-dark")


async def the_orders(page: Page) -> None:
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


async def picture(page: Page, name: str) -> None:
    await page.wait_for_timeout(300)
    await page.screenshot(path=picture_file(f"game-manager-{name}"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(make(Path(folder)))
