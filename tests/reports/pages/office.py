"""The Game Manager's office: a table with a progressive that has been played, its consoles, and who signs on there."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pypdf
from playwright.async_api import Locator, Page, Route, expect

from punto.baccarat.table.settings import Settings
from punto.controller.accounts.roles import Role
from punto.controller.engine import HouseRules
from tests.consoles.pages.parts import PASSWORD, TableWithConsoles, consoles, put_away, sign_on
from tests.reports.house import Clock, House, house

EXECUTIVE = "vera"
ANOTHER_EXECUTIVE = "nils"


@asynccontextmanager
async def office(
    folder: Path,
    now: str,
    own: Settings | None = None,
    step: timedelta = timedelta(seconds=1),
    rules: HouseRules | None = None,
    **meter: Any,
) -> AsyncIterator[tuple[House, TableWithConsoles]]:
    """A table on its first evening, and its consoles with two executives among the people."""
    clock = Clock("2000-01-01T00:00:00+00:00", step)
    clock.at(now)
    with clock.turned():
        async with consoles(folder, own or house(**meter), rules=rules) as here:
            accounts = here.account()
            for name in (EXECUTIVE, ANOTHER_EXECUTIVE):
                accounts.add(name, (Role.EXECUTIVE,), PASSWORD, "2026-01-01T00:00:00.000000+00:00")
            accounts.close()
            yield House(here.table, clock, here.record), here


async def manage(page: Page, here: TableWithConsoles, name: str, part: str = "meters") -> None:
    """Sign on, and open a part of the Game Manager."""
    await sign_on(page, here, name)
    await page.wait_for_selector("body.live")
    await show(page, here, part)


async def show(page: Page, here: TableWithConsoles, part: str) -> None:
    """Open a part of the Game Manager, and wait until it is live."""
    await page.goto(f"{here.address}/game-manager#{part}")
    await page.wait_for_selector("body.live")
    await expect(page.locator(f'main[data-part="{part}"]')).to_be_visible()


async def approve(page: Page, name: str = "omar") -> None:
    """A second person signs in the dialog that is open."""
    await page.locator("[name=approval-name]").fill(name)
    await page.locator("[name=approval-password]").fill(PASSWORD)


async def printed(page: Page, award: Locator) -> str:
    """The words of an award's win page, which opens in a tab of its own."""
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()

    def hold(route: Route) -> None:
        asked.set_result(route)

    await page.route("**/win-page", hold, times=1)
    async with page.expect_popup() as opened:
        await award.get_by_role("button", name="Print the win page").click()
    tab, route = await opened.value, await asked
    answer = await route.fetch()
    async with tab.expect_download() as shown:  # this browser shows no PDF
        await route.fulfill(response=answer)
    assert (await shown.value).url.startswith("blob:")
    await tab.close()
    return pypdf.PdfReader(io.BytesIO(await answer.body())).pages[0].extract_text()


async def confirm(page: Page, words: str) -> None:
    """Press the button of the dialog that is open, and wait until it was carried out."""
    await page.locator("dialog .go").click()
    await expect(page.locator("#said-text")).to_have_text(f"{words}: done")
    await put_away(page)
