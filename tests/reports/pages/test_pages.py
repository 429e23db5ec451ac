"""The Game Manager's pages as people meet them: what they show, what they order, and who may."""

import re
from dataclasses import replace
from decimal import Decimal

import pypdf
import pytest
from playwright.async_api import Page, expect

from punto.baccarat.currency import DECIMALS, written
from punto.consoles import console
from tests.axe import faults_of
from tests.consoles.pages.parts import at_work, open_part
from tests.consoles.pages.test_reach import OUTLINE, OUTSIDE, TARGETS, with_a_notice
from tests.controller.table_in_this_process import rows
from tests.reports.house import CALENDAR, QUARTER, Books, a_change_of_meter, a_weekend, house
from tests.reports.pages.office import (
    ANOTHER_EXECUTIVE,
    EXECUTIVE,
    approve,
    confirm,
    manage,
    office,
    printed,
    show,
)
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

# What has more columns than a screen is wide can be moved in its own box, by keyboard too.
CUT_OFF = """
[...document.querySelectorAll("dialog, main, section, header, nav, button, h1, h2, h3, p, label")]
  .filter(each => each.checkVisibility() && each.closest(".scrolling") === null)
  .filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.id || each.textContent)
"""
WON = "A hand wins by 9 with 2-3-4 in any order, all diamonds"
# The decimals of each currency's unit, and each amount as it is shown, without the currency's sign, and read again.
IN_EACH_CURRENCY = """
async ([codes, amounts]) => {
  const { decimal, decimalsOf, moneyIn, readMoney } = await import("/shared/money.js");
  const shown = (code) => moneyIn(code, { whole: false });
  return codes.map((code) => [
    decimalsOf(code),
    ...amounts.map((amount) => [
      shown(code)(amount).replace(/[^0-9.,]/gu, "").replace(/^[.]+/u, ""),
      readMoney(decimal(amount, code), "amount", code),
    ]),
  ]);
}
"""
PARTS = ("meters", "awards", "day", "week", "reconcile")


def exactly(amount: Decimal) -> str:
    """An amount with all decimals that are not nothing, and two at the least."""
    whole, part = f"{amount:,.8f}".split(".")
    return f"{whole}.{part[:2]}{part[2:].rstrip('0')}"


async def of_day(page: Page, part: str, day: str) -> None:
    """Show a report of this day."""
    main = page.locator(f'main[data-part="{part}"]')
    await main.locator("[name=day]").fill(day)
    await main.get_by_role("button", name="Show").click()


async def test_an_executive_opens_the_meter_adjusts_it_and_changes_its_settings_each_looked_over_first(
    page, tmp_path
):
    async with office(tmp_path, "2026-11-20 20:00", reserve="0%") as (_, here):
        await manage(page, here, EXECUTIVE)
        await page.get_by_role("button", name="Open the meter").click()
        dialog = page.locator("dialog")
        await expect(dialog).to_contain_text("starts at its seed of 10,000.00")
        await expect(dialog).to_contain_text("Nothing goes to the reserve")
        await expect(dialog).to_contain_text("The meter will show 10,000.00")
        await approve(page, ANOTHER_EXECUTIVE)
        await confirm(page, "Open the meter")
        await expect(page.locator("#shown")).to_have_text("USD 10,000.00")

        form = page.locator("#adjust-form")
        await form.get_by_label("Amount").fill("1,234.5")
        await form.get_by_role("button").click()
        await expect(form.locator(".fault")).to_have_text("Say why: the reason goes on the record.")
        await form.get_by_label("Reason").fill("a <b>promotion</b>")
        await form.get_by_role("button").click()
        await expect(dialog).to_contain_text(
            "1,234.50 is added to the meter by the house. Reason: a <b>promotion</b>"
        )
        await expect(dialog).to_contain_text("The meter will show 11,234.50")
        await approve(page, EXECUTIVE)
        await page.locator("dialog .go").click()
        await expect(dialog.locator(".fault").first).to_contain_text("the second person must sign")
        await approve(page)
        await confirm(page, "Adjust the meter")
        await expect(page.locator("#shown")).to_have_text("USD 11,234.50")

        form = page.locator("#settings-form")
        await form.get_by_role("button", name="Review").click()
        await expect(form.get_by_role("alert")).to_have_text("Nothing is changed.")
        await form.get_by_label("Seed").fill("500")
        await form.get_by_label("Contribution").fill("25%")
        await form.get_by_label("Reserve").fill("1%")
        await form.get_by_label("Percentage awards").select_option("participants")
        await form.get_by_label("Reason").fill("more for the next meter")
        await form.get_by_role("button").click()
        await expect(dialog.locator("tbody tr")).to_have_text(
            [
                "Seed10,000.00500.00",
                "Contribution20%25%",
                "Reserve0%1%",
                "Percentage awards are forthose that won their base wagerall with the wager",
            ]
        )
        await expect(dialog).to_contain_text("the seed amount to be at least as large as the largest")
        for width, height in ((1280, 800), (1024, 768)):
            await page.set_viewport_size({"width": width, "height": height})
            for field in ("approval-name", "approval-password"):
                await expect(dialog.locator(f"[name={field}]")).to_be_in_viewport(ratio=1)
        await approve(page, ANOTHER_EXECUTIVE)
        await confirm(page, "Change the settings")

    (reserve,) = rows(here.record, "SELECT json_extract(record, '$.after.reserve') FROM progressive_log")
    assert reserve == ("1%",)
    adjusted = rows(here.record, "SELECT who, approved_by, reason FROM postings WHERE cause = 'increase'")
    assert adjusted == [(EXECUTIVE, "omar", "a <b>promotion</b>")]


async def test_reports_show_what_the_record_has_and_an_award_is_printed_and_backed_out(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await a_weekend(home)
        by_hand = Books(here.record)
        await manage(page, here, "omar")
        await expect(page.locator("#shown")).to_have_text(f"USD {by_hand.meter:,.2f}")
        await expect(page.locator("#meter-list")).to_contain_text(exactly(by_hand.meter))
        await expect(page.locator("#meter-list")).to_contain_text("The books balance.")
        await expect(page.get_by_role("button", name="Retire")).to_be_disabled()  # no supervisor's

        await open_part(page, "awards")
        first, second = (page.locator("#award-list tbody tr").nth(at) for at in (0, 1))
        await expect(first).to_contain_text(
            re.compile(rf"2Dragon Bonus Progressive{WON}.*10,126\.05.*Supervisor.s key, without a name\d")
        )
        await expect(second).to_contain_text("Backed out")
        await expect(second).to_contain_text("eve, approved by omar: the wrong seats")
        words = await printed(page, first)
        assert "USD 10,126.05" in words
        assert "Ten thousand one hundred twenty-six and 05/100" in words
        assert "Confirmed by omar (key switch)" in words  # who prints the original signs for the key
        assert "Player 2D 3D 4D = 9, wins" in words
        assert "COPY" not in words
        await expect(first).to_contain_text(re.compile(r"Printed .*, omar$"))
        assert "COPY" in await printed(page, first)
        await expect(first).to_contain_text("Copies: 1")

        await first.get_by_role("button", name="Back out award 2").click()
        dialog = page.locator("dialog")
        await expect(dialog).to_contain_text("10,126.05 goes back on the meter")
        await page.get_by_role("button", name="Confirmed twice").click()
        await approve(page, "ana")
        await confirm(page, "Back out the award")
        await expect(first).to_contain_text("Backed out")

        await open_part(page, "day")
        await of_day(page, "day", "2026-11-22")  # 06:00 in UTC, where this service is: both are told so
        report = page.locator("#day-report")
        await expect(report).to_contain_text("Start and changes add up to the end")
        end = report.locator("tbody tr").last
        await expect(end).to_contain_text("End")
        await page.get_by_role("button", name="Day before").click()
        await expect(report).to_contain_text(re.compile(rf"“=a promotion”.*Award 2, {WON}"))

        await open_part(page, "week")
        await of_day(page, "week", "2026-11-20")
        held = (by_hand.meter + by_hand.reserve + Decimal("10126.05")).quantize(Decimal("0.01"), "ROUND_DOWN")
        await expect(page.locator("#week-report .deposit")).to_have_text(f"Deposit {held:,}")

        await open_part(page, "reconcile")
        await of_day(page, "reconcile", "2026-11-21")
        await expect(page.locator("#reconcile-report")).to_contain_text("The ledger agrees with the record.")
        await page.get_by_label("Coins counted").fill("7")
        await page.locator("#coins-form").get_by_role("button").click()
        await expect(dialog).to_contain_text(
            "7.00 was counted for Dragon Bonus Progressive on the gaming day 21 Nov 2026"
        )
        await confirm(page, "Enter the coins counted")
        await expect(page.locator("#reconcile-report")).to_contain_text("Counted by omar")
        await expect(page.locator("#reconcile-report")).to_contain_text("is still missing")


@pytest.mark.parametrize("part", ["day", *soaked("week", "reconcile", "meters", "awards")])
async def test_a_report_is_printed_and_saved_as_a_pdf_and_as_a_csv_file(page, part, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await a_weekend(home)
        await manage(page, here, "ike", part)
        if part not in {"meters", "awards"}:
            await of_day(page, part, "2026-11-21")
        main = page.locator(f'main[data-part="{part}"]')
        await expect(main.locator("tbody tr").first).to_be_visible()
        for form in ("PDF", "CSV"):
            async with page.expect_download() as saved:
                await main.get_by_role("link", name=re.compile(f"Save (meters |all )?as {form}")).click()
            file = await saved.value
            assert file.suggested_filename.startswith("table-1-")
            assert file.suggested_filename.endswith(f".{form.lower()}")
        async with page.expect_download() as saved:
            await main.get_by_role("link", name=re.compile("as PDF")).click()
        sheets = pypdf.PdfReader(await (await saved.value).path()).pages
        words = sheets[0].extract_text()
        for text in ("Table 1", "Time zone", f"Page 1 of {len(sheets)}"):
            assert text in words
        assert "000000" not in words  # no amount has decimals that say nothing

        await page.emulate_media(media="print")
        await page.evaluate("dispatchEvent(new Event('beforeprint'))")
        await expect(page.locator("#of")).to_contain_text(re.compile(r"Table 1.*clock: UTC.*Printed "))
        for hidden in (".bar", "#parts", "button", "form.when"):
            await expect(page.locator(f"{hidden}:visible")).to_have_count(0)
        colours = "each => [getComputedStyle(each).color, getComputedStyle(document.body).backgroundColor]"
        assert await main.locator("td").first.evaluate(colours) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]


async def test_arrow_keys_open_the_parts_and_function_keys_open_none(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (_, here):
        await manage(page, here, "ike")
        for key in ("F2", "F4", "F6", "F7", "F8", "F9"):
            await page.keyboard.press(key)
        await expect(page.locator('main[data-part="meters"]')).to_be_visible()
        await page.get_by_role("link", name="Meters", exact=True).focus()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator('main[data-part="awards"]')).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_long_name_and_a_notice_are_whole_and_can_be_read(page, scheme, tmp_path):
    name = "High Limit Room, Baccarat Table Number Twenty-Seven (Simulation)"
    own = replace(house(), name=name)
    async with office(tmp_path, "2026-11-20 19:00", own) as (_, here):
        await page.route("**/api/session", with_a_notice)
        await page.emulate_media(color_scheme=scheme)
        await manage(page, here, "ike")
        title = page.locator("#table-name")
        await expect(title).to_have_text(name)
        assert await title.evaluate("each => each.scrollWidth <= each.clientWidth")
        await expect(page.locator("#notice")).to_have_text("Practice table: nothing here is real money")
        assert await faults_of(page) == []


@pytest.mark.soak
async def test_the_coins_of_a_retired_meter_are_entered_the_next_morning(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await a_change_of_meter(home)
        await manage(page, here, "omar", "reconcile")
        await of_day(page, "reconcile", "2026-11-20")
        report, dialog = page.locator("#reconcile-report"), page.locator("dialog")
        of = page.locator("#coins-form").get_by_label("Progressive")
        await expect(of).to_have_value("dragon")  # which was played on that day and waits for its count
        for progressive, amount in (("dragon", "3"), ("dragon-2", "0.50")):
            await of.select_option(progressive)
            await page.get_by_label("Coins counted").fill(amount)
            await page.locator("#coins-form").get_by_role("button").click()
            await expect(dialog).to_contain_text(
                f"for Dragon Bonus Progressive ({progressive}) on the gaming day 20 Nov 2026."
            )
            await confirm(page, "Enter the coins counted")
        coins = report.locator(".coins")
        await expect(coins).to_have_count(2)
        await expect(coins.first).to_contain_text(
            "There is nothing to do: the count equals the amount taken on the record."
        )
        await expect(coins.last).to_contain_text("0.50 is still missing")


@pytest.mark.soak
async def test_times_are_by_the_houses_clock_wherever_the_screen_is(browser, monkeypatch, tmp_path):
    real = console._house
    monkeypatch.setattr(console, "_house", lambda *given: replace(real(*given), calendar=CALENDAR))
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await a_weekend(home)
        context = await browser.new_context(timezone_id="America/New_York")
        page = await context.new_page()
        await manage(page, here, "ike", "day")
        await expect(page.locator("#zone")).to_have_text("The house's clock: Asia/Macau")
        await of_day(page, "day", "2026-11-20")
        report = page.locator("#day-report")
        await expect(report).to_contain_text("20 Nov 2026, 06:00:00 GMT+8 to 21 Nov 2026, 06:00:00 GMT+8")
        await expect(report.locator("tbody tr", has_text="Seed")).to_contain_text("20 Nov 2026, 20:00:")
        await show(page, here, "awards")
        await expect(page.locator("#award-list tbody tr").last).to_contain_text(
            re.compile(r"22 Nov 2026, 12:00:\d\d GMT\+8, eve, approved by omar")
        )
        unknown = "import('/shared/times.js').then(times => times.tellTimesBy('Nowhere'))"
        assert await page.evaluate(unknown) == "UTC"
        await context.close()


@pytest.mark.soak
async def test_a_second_person_signs_what_is_above_the_houses_threshold_and_nothing_below(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00", approval_above=100_000) as (home, here):
        await home.open()
        await home.game([1])
        await manage(page, here, EXECUTIVE)
        form, second = page.locator("#adjust-form"), page.locator("dialog .second")
        for amount, signatures in (("1000.01", 1), ("1,000", 0)):
            await form.get_by_label("Amount").fill(amount)
            await form.get_by_label("Reason").fill("a promotion")
            await form.get_by_role("button").click()
            await expect(page.locator("dialog")).to_contain_text("The meter will show")
            await expect(second).to_have_count(signatures)
            if signatures:
                await page.keyboard.press("Escape")
        await confirm(page, "Adjust the meter")

        await page.get_by_role("button", name="Retire").click()
        await page.get_by_role("button", name="The game is taken off the floor").click()
        await expect(page.locator("dialog")).to_contain_text("can never be opened again")
        await approve(page, ANOTHER_EXECUTIVE)
        await confirm(page, "Retire the progressive")
        await expect(page.locator("#phase")).to_have_text("Retired for good.")
        await expect(form).to_be_hidden()
        await expect(page.locator("#meter-list")).to_contain_text("Dragon Bonus Progressive, retired")


@pytest.mark.soak
async def test_the_page_follows_the_table_and_tells_of_an_award_that_is_not_booked(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await home.open()
        await manage(page, here, "omar")
        await expect(page.locator("#shown")).to_have_text("USD 10,000.00")
        await home.deal([1, 2], QUARTER)
        await expect(page.locator("#shown")).to_have_text("USD 10,000.40")
        await show(page, here, "awards")
        await expect(page.locator("#award-list")).to_have_text("No award yet.")

        await home.lock([2])

        await expect(page.locator("#award-list .state")).to_have_text("Locked, not booked")
        await expect(page.get_by_role("button", name="Back out award 1")).to_have_count(0)


@pytest.mark.soak
async def test_an_auditor_reads_everything_and_is_offered_no_order(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await a_weekend(home)
        await manage(page, here, "ike")
        await expect(page.locator("#meter-list")).to_contain_text("The books balance.")
        await expect(page.locator("#adjusting")).to_be_hidden()
        await show(page, here, "awards")
        await expect(page.get_by_role("button", name="Back out award 2")).to_be_disabled()
        await show(page, here, "reconcile")
        await expect(page.locator("#reconcile-report")).to_contain_text("Coins")
        await expect(page.locator("#coins-form")).to_be_hidden()


@pytest.mark.soak
async def test_a_dealer_is_sent_back_to_the_dealers_page(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (_, here):
        await at_work(page, here, "mei")
        await page.goto(f"{here.address}/game-manager")
        await expect(page).to_have_url(f"{here.address}/dealer")


@pytest.mark.parametrize(("scheme", "width", "height"), [("dark", 768, 1024), *soaked(("light", 1280, 800))])
async def test_everybody_can_use_it_in_light_and_in_dark(page, scheme, width, height, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (home, here):
        await a_weekend(home)
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size({"width": width, "height": height})
        await manage(page, here, EXECUTIVE)
        for part in PARTS:
            await show(page, here, part)
            if part not in {"meters", "awards"}:
                await of_day(page, part, "2026-11-21")
            await expect(page.locator(f'main[data-part="{part}"] table').first).to_be_visible()

            assert await faults_of(page) == []
            assert await page.evaluate(TARGETS) == []
            assert await page.evaluate(CUT_OFF) == []
            assert await page.evaluate(OUTSIDE) == []
        await page.keyboard.press("Tab")
        assert await page.evaluate(OUTLINE) != "none"

        await show(page, here, "meters")
        await page.locator("#adjust-form [name=amount]").fill("1")
        await page.locator("#adjust-form [name=reason]").fill("to see the dialog")
        await page.keyboard.press("Enter")
        await expect(page.locator("dialog")).to_contain_text("Second person's approval")
        assert await faults_of(page) == []


async def test_the_practice_notice_and_the_end_of_a_session_are_readable_in_light_and_in_dark(page, tmp_path):
    async def practise(route):
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "notice": "Practice table"})

    async with office(tmp_path, "2026-11-20 19:00") as (_, here):
        await page.route("**/api/session", practise)
        await manage(page, here, EXECUTIVE)
        await expect(page.locator("#notice")).to_have_text("Practice table")
        await page.locator("#idle").evaluate("each => { each.hidden = false; }")
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            assert await faults_of(page) == []


async def test_a_table_of_yen_shows_and_reads_whole_yen(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00", replace(house(), currency="JPY")) as (home, here):
        await home.open()
        await home.game([1, 2], QUARTER, winners=[2])
        await manage(page, here, EXECUTIVE)
        await expect(page.locator("#shown")).to_have_text("JPY 750,030")

        form, dialog = page.locator("#adjust-form"), page.locator("dialog")
        await form.get_by_label("Reason").fill("a promotion")
        await form.get_by_label("Amount").fill("1,234.5")
        await form.get_by_role("button").click()
        await expect(form.locator(".fault")).to_have_text("Amount: write an amount such as 1,234.")
        await form.get_by_label("Amount").fill("1,234")
        await form.get_by_role("button").click()
        await expect(dialog).to_contain_text("1,234 is added to the meter by the house.")
        await expect(dialog).to_contain_text("The meter will show 751,264")
        await page.keyboard.press("Escape")

        await show(page, here, "awards")
        await expect(page.locator("#award-list tbody tr")).to_contain_text("Seat 2 250,010")
        await show(page, here, "day")
        await of_day(page, "day", "2026-11-20")
        await expect(page.locator("#day-report tbody tr").last).to_contain_text("750,030")


async def test_pages_know_the_decimals_of_each_currency_and_read_what_they_show(page, tmp_path):
    async with office(tmp_path, "2026-11-20 19:00") as (_, here):
        await page.goto(here.address)
        amounts = [0, 1, 999, 1_000, 123_456, 987_654_321_000]
        told = await page.evaluate(IN_EACH_CURRENCY, [[*DECIMALS], amounts])

    assert told == [
        [DECIMALS[code], *([written(amount, code), amount] for amount in amounts)] for code in DECIMALS
    ]
