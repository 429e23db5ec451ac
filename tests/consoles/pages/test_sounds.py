"""The sounds of the consoles: one for each new event, at the pages that it concerns, and none that a person turned off."""

from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Page, expect

from punto.baccarat.progressive.game_events import StartGame, WagerPlaced
from punto.baccarat.table.order_kinds import CallSupervisor
from tests.consoles.pages.parts import at_work, caught_up, console_of, consoles
from tests.consoles.pages.test_progressive import SUITED, at_wagers, progressive_house
from tests.sounds import COUNT_SOUNDS, heard

pytestmark = pytest.mark.asyncio(loop_scope="session")


def sound(page: Page):
    """The button of the sounds."""
    return page.locator("#sound")


async def touched(page: Page, here, name: str) -> None:
    """The page of a person who has touched it once."""
    await page.add_init_script(COUNT_SOUNDS)
    await at_work(page, here, name)
    await expect(sound(page)).to_have_accessible_name("Sound is off: touch the page once")
    await page.locator("#table-name").click()
    await expect(sound(page)).to_have_accessible_name("Sound is on")


@asynccontextmanager
async def both_pages(browser, here):
    """The dealer's and the supervisor's page."""
    async with console_of(browser) as dealer, console_of(browser) as supervisor:
        await touched(dealer, here, "mei")
        await touched(supervisor, here, "omar")
        yield dealer, supervisor


async def at_both(dealer: Page, supervisor: Page) -> tuple[list[str], list[str]]:
    """What was heard at both pages since this was asked last."""
    await caught_up(dealer)
    await caught_up(supervisor)
    return await heard(dealer), await heard(supervisor)


async def test_a_call_an_alarm_and_an_award_are_heard_once_at_the_pages_that_they_concern(browser, tmp_path):
    async with consoles(tmp_path, progressive_house("aquarius")) as here:
        await at_wagers(here)
        await here.table.order(CallSupervisor("mei", "Before the pages were there"))
        async with both_pages(browser, here) as pages:
            assert await at_both(*pages) == ([], [])
            await here.table.order(CallSupervisor("mei", "A dispute at the table"))
            assert await at_both(*pages) == ([], ["call"])
            await here.table.order(CallSupervisor("mei", "A dispute at the table"))
            assert await at_both(*pages) == ([], ["call"])

            await here.table.order(WagerPlaced(2))
            await here.table.order(StartGame(here.table.state.round.number, "mei"))
            assert await at_both(*pages) == ([], [])
            await here.draw(SUITED)
            assert await at_both(*pages) == (["award"], ["award"])

            await here.table.do("lid open")
            assert await at_both(*pages) == (["alarm"], ["alarm"])
            await pages[1].reload()
            await pages[1].wait_for_selector("body.live")
            await pages[1].locator("#table-name").click()
            assert await at_both(*pages) == ([], [])


async def test_a_page_is_silent_until_it_was_touched_and_while_it_is_muted(browser, tmp_path):
    async with consoles(tmp_path) as here, console_of(browser) as page:
        await page.add_init_script(COUNT_SOUNDS)
        await at_work(page, here, "omar")

        async def heard_of_a_call(reason: str) -> list[str]:
            await here.table.order(CallSupervisor("mei", reason))
            await caught_up(page)
            return await heard(page)

        assert await heard_of_a_call("Before any touch") == []
        await sound(page).click()  # the first touch does not mute it
        await expect(sound(page)).to_have_accessible_name("Sound is on")
        assert await heard_of_a_call("After a touch") == ["call"]
        await sound(page).click()
        await expect(sound(page)).to_have_accessible_name("Sound is muted")
        assert await heard_of_a_call("While it is muted") == []
        await page.reload()
        await page.wait_for_selector("body.live")
        await page.locator("#table-name").click()
        await expect(sound(page)).to_have_accessible_name("Sound is muted")
        assert await heard_of_a_call("After a reload") == []
        await sound(page).press("Enter")
        await expect(sound(page)).to_have_accessible_name("Sound is on")
        assert await heard_of_a_call("When it is on again") == ["call"]


async def test_what_a_page_finds_when_it_is_opened_is_not_heard(browser, tmp_path):
    async with consoles(tmp_path) as here, console_of(browser) as page:
        await touched(page, here, "mei")  # whose page hears of no calls

        async def heard_of_calls(*calls: str) -> list[str]:
            script = "calls => import('/shared/sounds.js').then(({ hear }) => hear('call', calls))"
            await page.evaluate(script, list(calls))
            return await heard(page)

        assert await heard_of_calls("1") == []
        assert await heard_of_calls("1", "2", "3") == ["call"]
        assert await heard_of_calls("3") == []
        assert await heard_of_calls("3", "1") == ["call"]


async def test_only_the_sounds_of_the_configuration_are_heard(browser, tmp_path):
    allowed = ["alarm"]

    async def configure(route):
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "sounds": allowed})

    async with consoles(tmp_path) as here, console_of(browser) as page:
        await page.route("**/api/session", configure)
        await touched(page, here, "omar")
        await here.table.order(CallSupervisor("mei", "A dispute at the table"))
        await caught_up(page)
        assert await heard(page) == []
        allowed.clear()
        await page.reload()
        await page.wait_for_selector("body.live")
        await expect(sound(page)).to_be_hidden()
