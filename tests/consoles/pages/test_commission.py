"""Commission that is collected at the end of the shoe, at the pages of dealer and supervisor, as docs/how-to/consoles.md tells it."""

import pytest
from playwright.async_api import expect

from punto.baccarat.table.order_kinds import CorrectRound
from tests.baccarat.table.croupier import BANKER_NATURAL, cards
from tests.consoles.pages.parts import at_work, console_of, consoles, headline, house, open_part
from tests.consoles.pages.test_dealer import owed
from tests.consoles.pages.test_supervisor import confirm, order

pytestmark = pytest.mark.asyncio(loop_scope="session")

LAMMERS = house("mini-baccarat", commission="shoe_end")


async def test_a_dealer_pays_the_whole_win_marks_the_commission_and_collects_it(browser, tmp_path):
    async with consoles(tmp_path, LAMMERS) as here, console_of(browser, 1024, 768) as page:
        await here.load()
        await at_work(page, here, "mei")
        await here.wager((2, "banker", 10_000), (3, "player", 500))
        await here.draw(BANKER_NATURAL)

        await owed(page, 2, ["Banker $100 pays $100", "Commission Mark $5"], "$100")
        await expect(page.locator("#take li")).to_have_text(["Take 3 Player $5"])
        await here.wager((2, "banker", 1000))
        await here.draw(BANKER_NATURAL)
        await here.draw("KS")
        await page.get_by_role("button", name="Collect commission: $5.50").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Seat 2 owes a commission of $5.50.")
        await confirm(dialog, "Collect commission")

        assert here.table.state.commissions == ()
        await expect(page.get_by_role("button", name="Collect commission")).to_have_count(0)


async def test_a_correction_takes_the_mark_back(browser, tmp_path):
    async with consoles(tmp_path, LAMMERS) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await here.wager((2, "banker", 10_000))
        await here.draw(BANKER_NATURAL)

        await here.table.order(CorrectRound("omar", 1, cards("KS 9H"), cards("2S 7C"), "misread", "ana"))

        await owed(page, 2, ["Banker \N{MINUS SIGN}$100", "Commission Take off $5"], "Take back $100")


async def test_an_order_to_collect_is_off_if_the_seat_wins_again(browser, tmp_path):
    async with consoles(tmp_path, LAMMERS) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await here.wager((2, "banker", 10_000))
        await here.draw(BANKER_NATURAL)
        await page.get_by_role("button", name="Collect commission: $5").click()
        dialog = page.get_by_role("dialog")
        await here.wager((2, "banker", 10_000))

        await here.draw(BANKER_NATURAL)

        await expect(dialog).to_contain_text("The table has changed in the meantime.")
        await expect(dialog.get_by_role("button", name="Collect commission")).to_be_disabled()


async def test_a_supervisor_waives_what_holds_up_the_next_shoe_and_the_shift_has_it(browser, tmp_path):
    async with consoles(tmp_path, LAMMERS) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "omar")
        await here.wager((2, "banker", 10_000), (5, "banker", 1000))
        await here.table.do("cut card", f"draw {BANKER_NATURAL}")
        await headline(page, "The shoe is over")
        await expect(page.locator("#detail")).to_have_text(
            "This was the last coup of the shoe: collect the commission, then change the shoe"
        )
        await expect(page.locator('[data-order="change_shoe"]')).to_be_disabled()

        await page.locator('[data-seat="2"] [data-order="collect_commission"]').click()
        await confirm(page.get_by_role("dialog"), "Collect commission")
        await page.locator('[data-seat="5"] [data-order="waive_commission"]').click()
        dialog = page.get_by_role("dialog")
        await dialog.locator("[name=reason]").fill("left without paying")
        await confirm(dialog, "Waive commission")
        await confirm(await order(page, "Change the shoe"), "Change the shoe")

        await open_part(page, "shift")
        report = page.locator("#shift-report")
        figures = report.get_by_role("table", name="Commission", exact=True).locator("tbody tr")
        await expect(figures).to_have_text(["Shift5.505.000.50", "Gaming day5.505.000.50"])
        cleared = report.get_by_role("table", name="Commission collected and waived").locator("tbody tr")
        await expect(cleared.nth(0)).to_contain_text("Collected5.00omar")
        await expect(cleared.nth(1)).to_contain_text("Waived0.50omarleft without paying")
