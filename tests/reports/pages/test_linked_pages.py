"""The Game Manager of an authority as people meet it: an award of a linked table, from J-POT to its end."""

import pytest
from playwright.async_api import expect

from punto.baccarat.progressive.events import OpenMeter
from tests.controller.table_in_this_process import rows
from tests.reports.house import QUARTER
from tests.reports.linked_tables import authority, carry, kept, open_tables, play
from tests.reports.pages.office import EXECUTIVE, approve, confirm, manage, office, printed, show

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_award_of_a_linked_table_is_shown_printed_and_backed_out_with_a_second_person(
    page, tmp_path
):
    async with office(tmp_path, "2026-11-20 19:00", authority()) as (home, here):
        await home.give(OpenMeter("eve", "bob"))
        t1, t2 = await open_tables(home.table)
        await play(home.table, t1, "spot 1 2", "start game")
        await play(home.table, t2, "spot 5", "start game", f"draw {QUARTER}", "hand 5", "turn jph")
        await manage(page, here, EXECUTIVE)
        await expect(page.locator("#shown")).to_have_text("USD 10,000.60")
        await show(page, here, "awards")
        await expect(page.locator("#award-list")).to_have_text("No award yet.")

        await play(home.table, t2, "j-pot")
        award = page.locator("#award-list tbody tr")
        await expect(award.locator(".state")).to_have_text("Locked, not booked")
        await expect(award).to_contain_text("2,500.15")
        await expect(award).to_contain_text("t2")
        await expect(page.get_by_role("button", name="Back out award 1")).to_have_count(0)

        await play(home.table, t2, "turn run")
        await expect(award.locator(".state")).to_contain_text("Booked")
        words = await printed(page, award)
        assert "USD 2,500.15" in words
        assert "Two thousand five hundred and 15/100" in words
        assert "t2" in words
        await show(page, here, "meters")
        await expect(page.locator("#shown")).to_have_text("USD 7,500.45")

        await show(page, here, "awards")
        await page.get_by_role("button", name="Back out award 1").click()
        await page.get_by_role("button", name="Confirmed twice").click()
        await approve(page)
        await confirm(page, "Back out the award")
        await expect(award.locator(".state")).to_contain_text("Backed out")
        await carry(home.table, t2)
        assert t2.step == "settling"

        await show(page, here, "meters")
        await expect(page.locator("#shown")).to_have_text("USD 10,000.60")
        form = page.locator("#adjust-form")
        await form.get_by_label("Amount").fill("99.40")
        await form.get_by_label("Reason").fill("a promotion")
        await form.get_by_role("button").click()
        await approve(page)
        await confirm(page, "Adjust the meter")
        await carry(home.table, t1)
        assert t1.progressive.books.shown == 10_100_00
    signed = rows(here.record, "SELECT cause, who, approved_by FROM postings WHERE approved_by = 'omar'")
    assert signed == [("back_out", EXECUTIVE, "omar"), ("increase", EXECUTIVE, "omar")]


async def test_two_people_begin_again_with_a_table_whose_record_was_lost(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00", authority()) as (home, here):
        await home.give(OpenMeter("eve", "bob"))
        t1, _ = await open_tables(home.table)
        await play(home.table, t1, "spot 1 2", "start game")
        await manage(page, here, EXECUTIVE)

        await page.get_by_role("button", name="Begin again with a table").click()
        await page.get_by_label("Table", exact=True).fill("t1")
        await page.get_by_role("button", name="The record was lost").click()
        await approve(page)
        await confirm(page, "Begin again with a table")

        await show(page, here, "awards")
        await expect(page.locator("#award-list")).to_contain_text(
            f"the game of hand 1 ended without its table t1 by {EXECUTIVE}, approved by omar: The record was lost"
        )
        assert [each.over for each in kept(home.table).books.rounds] == [True]
        assert kept(home.table).served == ()
