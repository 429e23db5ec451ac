"""An order that needs a second person waits for one, who decides at a session of their own, as docs/how-to/consoles.md tells it."""

import pytest
from playwright.async_api import Page, expect

from tests.consoles.pages.parts import at_work, console_of, consoles, house
from tests.consoles.pages.test_reach import hold_up
from tests.consoles.pages.test_supervisor import order
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def void_and_wait(page: Page) -> None:
    """A supervisor voids the hand, for which nobody can sign at their page, and the order waits."""
    dialog = await order(page, "Void the hand")
    await dialog.get_by_role("button", name="Misdeal").click()
    go = dialog.get_by_role("button", name="Void the hand", exact=True)
    await expect(go).to_be_enabled()
    await expect(dialog).to_contain_text("The second person approves it in their own session")
    await expect(dialog.get_by_label("Password")).to_have_count(0)
    await go.click()
    await expect(dialog.get_by_role("status")).to_contain_text(" s left.")


async def test_an_order_waits_until_a_second_person_approves_it_at_their_own_page(browser, tmp_path):
    async with (
        consoles(tmp_path, house(approval=("void_coup",)), at_page=False) as here,
        console_of(browser) as first,
        console_of(browser, 1280, 720) as second,
        console_of(browser) as dealers,
    ):
        await here.load()
        await here.draw("KS 2S")
        await at_work(first, here, "omar")
        await at_work(dealers, here, "mei")
        await void_and_wait(first)
        await hold_up(first)
        assert here.table.state.round.coup is not None
        await expect(first.locator("#waiting")).to_be_hidden()  # nobody approves their own

        await at_work(second, here, "ana")
        waits = second.locator("[data-waiting]")
        await expect(waits).to_contain_text("omar: Void the hand")
        await expect(waits.locator("dl")).to_contain_text("Misdeal")
        for width, height in ((1280, 720), (390, 844)):
            await second.set_viewport_size({"width": width, "height": height})
            await hold_up(second)
        await expect(dealers.locator("#waiting")).to_be_hidden()  # their roles do not void a hand
        await waits.get_by_role("button", name="Approve").click()

        await expect(first.get_by_role("dialog")).to_have_count(0)
        await expect(first.locator("#said-text")).to_have_text("Void the hand: approved by ana")
        await expect(second.locator("#waiting")).to_be_hidden()
        last = here.table.state.history.last
        assert last is not None
        assert (last.status, last.who, last.approved_by) == ("void", "omar", "ana")


@pytest.mark.parametrize("who", ["ana", *soaked("omar")])
@pytest.mark.soak
async def test_an_order_that_is_declined_or_taken_back_has_not_happened(browser, tmp_path, who):
    async with (
        consoles(tmp_path, house(approval=("void_coup",)), at_page=False) as here,
        console_of(browser) as first,
        console_of(browser) as second,
    ):
        await here.load()
        await here.draw("KS 2S")
        await at_work(second, here, "ana")
        await at_work(first, here, "omar")
        await void_and_wait(first)
        decline = second.get_by_role("button", name="Decline")
        take_back = first.get_by_role("button", name="Take the order back")
        await expect(decline).to_be_visible()

        await (decline if who == "ana" else take_back).click()

        await expect(first.get_by_role("dialog")).to_have_count(0)
        await expect(first.locator("#said-text")).to_have_text(f"Void the hand: declined by {who}")
        await expect(first.locator("#said")).to_have_class("refused")
        await expect(second.locator("#waiting")).to_be_hidden()
        assert here.table.state.round.coup is not None
