"""Signing on at the pages of a house, in a browser."""

import pytest
from playwright.async_api import expect

from tests.game_manager.floor.behind_sign_on import house
from tests.operators.consoles import PASSWORD


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """What a password costs is not what this is about."""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_leads_to_sign_on_and_back(browser, tmp_path):
    async with house(tmp_path) as here:
        page = await browser.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
        await page.goto(f"http://127.0.0.1:{here.port}/")
        assert page.url.endswith("/sign-on/?to=/")
        await expect(page.get_by_role("heading")).to_have_text("Game Manager")
        await page.get_by_label("Name").fill("Sue")
        await page.get_by_label("Password").fill(PASSWORD)
        assert faults in (
            [],
            ["Failed to load resource: the server responded with a status of 401 (Unauthorized)"],
        )
        await page.get_by_role("button", name="Sign on").click()
        await page.wait_for_url(f"http://127.0.0.1:{here.port}/")
        assert await page.title() == "Floor"
        here.accounts.set_disabled("Sue", disabled=True)
        await page.wait_for_url(f"http://127.0.0.1:{here.port}/sign-on/?to=/")
        await page.close()
