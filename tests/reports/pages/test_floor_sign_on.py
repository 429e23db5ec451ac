"""Signing on at the pages of a house, in a browser."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from punto.house.store import Store
from punto.runtime.gaming_days import Calendar
from tests.consoles.consoles import PASSWORD
from tests.house.behind_sign_on import house
from tests.house.pages.house import fill_all


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """What a password costs is not what this is about."""


async def sign_on(page, name: str) -> None:
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign on").click()


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
        assert faults in (
            [],
            ["Failed to load resource: the server responded with a status of 401 (Unauthorized)"],
        )
        await sign_on(page, "Sue")
        await page.wait_for_url(f"http://127.0.0.1:{here.port}/")
        assert await page.title() == "Floor"
        here.accounts.set_disabled("Sue", disabled=True)
        await page.wait_for_url(f"http://127.0.0.1:{here.port}/sign-on/?to=/")
        await page.close()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_supervisor_sees_to_an_alarm_and_signs_off_and_an_ended_session_leads_to_sign_on(
    browser, tmp_path
):
    async with house(tmp_path) as here:
        store = Store(here.url, Calendar.of())
        fill_all(store)
        store.close()
        address = f"http://127.0.0.1:{here.port}"
        context = await browser.new_context()
        page = await context.new_page()
        week = "/reports?since=2026-11-18&until=2026-11-24"
        await page.goto(f"{address}{week}")
        await sign_on(page, "Sue")
        await page.wait_for_url(f"{address}{week}")  # with the days that were asked for
        await expect(page.locator("#you")).to_have_text("Sue")

        await page.get_by_role("link", name="Alarms").click()
        first = page.locator("#alarms li").first
        await first.get_by_role("button").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("Looked at it")
        await page.keyboard.press("Enter")
        await expect(first).to_contain_text("Acknowledged by Sue")

        async def answered_late(route: Route) -> None:
            answer = await route.fetch()
            await asyncio.sleep(1)  # the page has noticed that the session has ended
            await route.fulfill(response=answer)

        await page.route("**/api/session", answered_late)
        await page.get_by_role("button", name="Sign off").click()
        await page.wait_for_url(f"{address}/sign-on/#signed-off")
        await page.unroute("**/api/session")
        assert here.accesses()[-1] == ("session_ended", "Sue", "session ended: signed off", None)

        # An auditor reads, and has no button.
        await page.goto(f"{address}/alarms")
        await sign_on(page, "Ada")
        await expect(page.locator("#bars")).to_have_text("Your roles do not allow acknowledging alarms.")
        await expect(page.locator("#alarms button")).to_have_count(0)

        # Each page notices by itself that the session has ended.
        pages = [page]
        for path in ("/reports", "/progressives", "/people", "/shoes"):
            other = await context.new_page()
            await other.goto(f"{address}{path}")
            await expect(other.locator("main")).to_have_attribute("aria-busy", "false")
            pages.append(other)
        here.accounts.set_disabled("Ada", disabled=True)
        for other, path in zip(pages, ("alarms", "reports", "progressives", "people", "shoes"), strict=True):
            await other.wait_for_url(f"{address}/sign-on/?to=/{path}")
            await expect(other.get_by_label("Password")).to_be_visible()
        await context.close()


@pytest.mark.asyncio(loop_scope="session")
async def test_a_person_who_may_not_read_books_is_told_so_once(browser, tmp_path):
    async with house(tmp_path) as here:
        page = await browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.rpartition("/api/")[2]))
        await page.goto(f"http://127.0.0.1:{here.port}/progressives")
        await sign_on(page, "Tom")
        await page.wait_for_url(f"http://127.0.0.1:{here.port}/progressives")
        text = "Your roles do not allow reading the books of a meter."
        await expect(page.locator("#fault")).to_have_text(text)
        await expect(page.locator("#not-live-reason")).to_have_text(text)
        await page.wait_for_timeout(2500)  # it asks every two seconds
        assert asked.count("progressives") == 1
        await page.close()
