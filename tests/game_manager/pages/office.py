"""The Game Manager's office: a table with a progressive that has been played, its consoles, and who signs on there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from punto.controller.accounts.roles import Role
from tests.game_manager.house import Clock, House, house
from tests.operators.pages.parts import PASSWORD, TableWithConsoles, consoles, sign_on

EXECUTIVE = "vera"
ANOTHER_EXECUTIVE = "nils"


@asynccontextmanager
async def office(folder: Path, now: str, **meter: Any) -> AsyncIterator[tuple[House, TableWithConsoles]]:
    """A table on its first evening, and its consoles with two executives among the people."""
    clock = Clock("2000-01-01T00:00:00+00:00")
    clock.at(now)
    with clock.turned():
        async with consoles(folder, house(**meter)) as here:
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
