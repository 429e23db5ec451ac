"""A second person's security key at the first person's page, as docs/how-to/consoles.md tells it: Chromium with a virtual one."""

import asyncio

import pytest
from playwright.async_api import Page, expect

from tests.consoles.pages.parts import PASSWORD, at_work, console_of, consoles, house
from tests.consoles.pages.test_approvals import void_and_wait
from tests.consoles.pages.test_reach import hold_up

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def plug_in_a_key(page: Page) -> None:
    """A key with a PIN or a fingerprint, whose owner is there and touches it."""
    devices = await page.context.new_cdp_session(page)
    await devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "usb",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    await devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})


async def add_a_key(page: Page, password: str = PASSWORD) -> None:
    """Whoever is signed on adds the key that is plugged in."""
    await page.get_by_role("button", name="Security key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Password").fill(password)
    await dialog.get_by_role("button", name="Add the key").click()


async def test_a_second_person_approves_at_the_first_persons_page_with_the_key_that_they_added(
    browser, tmp_path
):
    async with (
        consoles(tmp_path, house(approval=("void_coup",)), at_page=False) as here,
        console_of(browser) as page,
    ):
        here.host = "localhost"
        await here.load()
        await here.draw("KS 2S")
        await plug_in_a_key(page)
        await at_work(page, here, "ana")
        for width, height in ((1280, 720), (390, 844)):
            await page.set_viewport_size({"width": width, "height": height})
            await hold_up(page)
        await add_a_key(page, "not the password")
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
            "the name or the password is wrong"
        )
        await page.get_by_role("dialog").get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Add the key").click()
        await expect(page.locator("#said-text")).to_have_text("Your security key is added.")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.get_by_role("button", name="Sign off").click()
        await page.wait_for_url("**/#signed-off")

        await at_work(page, here, "omar")
        await void_and_wait(page)
        dialog = page.get_by_role("dialog")
        for width, height in ((390, 844), (1280, 720)):
            await page.set_viewport_size({"width": width, "height": height})
            await hold_up(page)
        approve = dialog.get_by_role("button", name="Approve with a security key")
        await dialog.get_by_label("Name").fill("tove")
        await approve.click()
        await expect(dialog.get_by_role("alert")).to_contain_text("the name or the security key is wrong")
        assert here.table.state.round.coup is not None
        await dialog.get_by_label("Name").fill("ana")
        await approve.click()

        await expect(dialog).to_have_count(0)
        await expect(page.locator("#said-text")).to_have_text("Void the hand: approved by ana")
        last = here.table.state.history.last
        assert last is not None
        assert (last.status, last.who, last.approved_by) == ("void", "omar", "ana")


@pytest.mark.soak
async def test_without_a_key_nothing_is_approved_and_the_order_still_waits(browser, tmp_path):
    async with (
        consoles(tmp_path, house(approval=("void_coup",)), at_page=False) as here,
        console_of(browser) as page,
    ):
        here.host = "localhost"
        await here.load()
        await here.draw("KS 2S")
        await plug_in_a_key(page)
        await at_work(page, here, "omar")
        await void_and_wait(page)
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("ana")
        await dialog.get_by_role("button", name="Approve with a security key").click()

        await expect(dialog.get_by_role("alert")).to_contain_text("The security key was not used")
        await expect(dialog.get_by_role("status")).to_contain_text(" s left.")
        assert here.table.state.round.coup is not None


@pytest.mark.soak
async def test_where_a_browser_has_no_keys_for_the_address_none_is_asked_for(browser, tmp_path):
    async with (
        consoles(tmp_path, house(approval=("void_coup",)), at_page=False) as here,
        console_of(browser) as page,
    ):
        await here.load()
        await here.draw("KS 2S")
        await at_work(page, here, "omar")
        await void_and_wait(page)

        await expect(page.get_by_role("button", name="security key")).to_have_count(0)


@pytest.mark.soak
async def test_an_order_that_is_being_carried_out_is_neither_waiting_nor_gone(browser, tmp_path, monkeypatch):
    async with (
        consoles(tmp_path, house(approval=("void_coup",)), at_page=False) as here,
        console_of(browser) as first,
        console_of(browser) as second,
    ):
        await here.load()
        await here.draw("KS 2S")
        await at_work(first, here, "omar")
        await at_work(second, here, "ana")
        await void_and_wait(first)
        go = asyncio.Event()
        submit = here.table.engine.submit

        async def slow(*given, **how):
            await go.wait()
            return await submit(*given, **how)

        monkeypatch.setattr(here.table.engine, "submit", slow)
        try:
            await second.get_by_role("button", name="Approve").click()
            dialog = first.get_by_role("dialog")
            await expect(dialog.get_by_role("status")).to_have_text(
                "Approved: the order is being carried out."
            )
            await expect(second.locator("#waiting")).to_be_hidden()
            await asyncio.sleep(3)
            await expect(dialog).to_be_visible()
        finally:
            go.set()

        await expect(dialog).to_have_count(0)
        await expect(first.locator("#said-text")).to_have_text("Void the hand: approved by ana")
