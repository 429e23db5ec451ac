"""The page of the progressives: each meter as it is now, and the books of a day and its week, with what is wrong or missing."""

import csv
import io
import re
from contextlib import asynccontextmanager
from datetime import UTC, date
from decimal import Decimal
from itertools import pairwise

import pypdf
import pytest
from playwright.async_api import Page, expect

from punto.house.books import Kept
from punto.house.store import Store, StoreAwayError
from punto.runtime import clock
from tests.axe import faults_of
from tests.house.bookkeeping import A_DAY, CALENDAR, Keeper, taken
from tests.house.pages.house import Floor, meters, served

pytestmark = pytest.mark.asyncio(loop_scope="session")

FRIDAY = date(2026, 11, 20)


class Meters:
    """What the page is told, on a Friday: `kept` are the meters now."""

    def __init__(self, *, wrong: bool = True) -> None:
        self.keepers, self.kept = meters(FRIDAY, wrong=wrong)

    def fill(self, store: Store) -> None:
        """The books of the ended days, but for yesterday's of the second meter."""
        dragon, tiger = self.keepers
        store.take_books(taken(dragon))
        store.take_books(taken(tiger, last=FRIDAY - 2 * A_DAY, table="table-3"))


@asynccontextmanager
async def shown(page: Page, folder, monkeypatch, told: Meters, path: str = "progressives"):
    """The page on this Friday; gives the server's address."""

    monkeypatch.setattr(clock, "now", lambda: CALENDAR.begins(FRIDAY).astimezone(UTC))
    await page.clock.set_fixed_time(CALENDAR.begins(FRIDAY))  # a moment of another day is shown with its day
    async with served(folder, Floor().view, fill=told.fill, kept=lambda: told.kept) as address:
        await page.goto(f"{address}{path}")
        await page.wait_for_selector("body.live main[aria-busy=false]")
        yield address


def card(page: Page, name: str):
    return page.get_by_role("article", name=name)


async def rows(page: Page, name: str) -> list[list[str]]:
    """The days of a progressive, cell by cell."""
    found = await card(page, name).locator(".week tbody tr").all()
    return [await each.locator("td").all_inner_texts() for each in found]


async def test_each_meter_is_shown_with_its_tables_its_week_and_what_is_wrong(page, tmp_path, monkeypatch):
    told = Meters()
    dragon, _ = told.keepers
    async with shown(page, tmp_path, monkeypatch, told):
        await expect(page.locator("#found")).to_have_text(
            "2 warnings in the books of the gaming week 16 Nov 2026 to 22 Nov 2026."
        )
        first = card(page, "Dragon Bonus Progressive Kept by Meter 1")
        await expect(first).to_contain_text("Kept by Meter 1")
        amount = dragon.balance(FRIDAY + A_DAY).primary // 1_000_000
        await expect(first.locator(".now")).to_contain_text(f"Meter now${amount / 100:,.2f}PhaseIn service")
        await expect(first.locator(".now")).to_contain_text("Last award$2,500.36, booked: Player wins 2-3-4")
        await expect(first.get_by_role("list", name="Tables")).to_have_text(
            "Baccarat 1: live, playingBaccarat 2: NOT LIVE"
        )
        await expect(first.locator(".warnings li")).to_have_text(
            "18 Nov 2026: 5.00 USD of the coins are missing: count again."
        )
        days = await rows(page, "Dragon Bonus Progressive Kept by Meter 1")
        assert [day[:4] for day in days] == [
            ["16 Nov 2026", "Ended", "balanced", "not counted"],
            ["17 Nov 2026", "Ended", "balanced", "not counted"],
            ["18 Nov 2026", "Ended", "balanced", "counted, \N{MINUS SIGN}5.00"],
            ["19 Nov 2026", "Ended", "balanced", "counted"],
            ["20 Nov 2026", "Open, as of 14:00", "balanced", "not counted"],
            ["21 Nov 2026", "To come", "", ""],
            ["22 Nov 2026", "To come", "", ""],
        ]
        wagers = dragon.wagers(FRIDAY - A_DAY)
        assert days[3][4:10] == [
            f"{wagers}",
            f"{wagers * 0.21:.2f}",
            f"{wagers * 0.01:.2f}",
            "2,500.36",
            "\N{EN DASH}",
            "+100.00",
        ]
        missing = await rows(page, "Dragon Bonus Progressive Kept by Baccarat 3")
        assert [day[1] for day in missing[:5]] == [
            "Not in service",
            "Ended",
            "Ended",
            "Missing",
            "Open, as of 14:00",
        ]


def sums(text: str) -> Decimal:
    """An amount as the page shows it; a dash is nothing."""
    return Decimal(text.translate({ord(","): None, ord("\N{MINUS SIGN}"): "-", ord("\N{EN DASH}"): "0"}))


async def test_the_days_of_a_week_add_up_to_its_deposit_and_to_what_is_on_the_meter(
    page, tmp_path, monkeypatch
):
    async with shown(page, tmp_path, monkeypatch, Meters()):
        days = await rows(page, "Dragon Bonus Progressive Kept by Meter 1")
        moved = []
        for day in days[:5]:
            contributed, _, awarded, put_back, adjusted, seed, meter, reserve = map(sums, day[5:])
            moved.append((contributed - awarded + put_back + adjusted + seed, meter + reserve))
        for (_, before), (change, after) in pairwise(moved):
            assert before + change == after
        deposit = (
            card(page, "Dragon Bonus Progressive Kept by Meter 1")
            .locator("details")
            .nth(1)
            .locator("summary")
        )
        shown_deposit = (await deposit.inner_text()).rpartition(": ")[2]
        assert sums(shown_deposit) == sum(change for change, _ in moved)


async def test_a_day_that_does_not_balance_is_loud(page, tmp_path, monkeypatch):
    told = Meters()
    told.keepers[1].spoiled.add(FRIDAY - 2 * A_DAY)
    async with shown(page, tmp_path, monkeypatch, told, "progressives?day=2026-11-18"):
        loud = card(page, "Dragon Bonus Progressive Kept by Baccarat 3").locator("tr.outside.chosen")
        await expect(loud).to_contain_text("18 Nov 2026EndedNOT BALANCED")
        compared = card(page, "Dragon Bonus Progressive Kept by Baccarat 3").locator("details").nth(2)
        await expect(compared.locator("summary")).to_have_text("Reconciliation of 18 Nov 2026: NOT BALANCED")
        await compared.locator("summary").click()
        await expect(compared).to_contain_text("The ledger and the record differ.")


async def test_a_day_is_chosen_and_its_books_are_opened_and_downloaded(page, tmp_path, monkeypatch):
    told = Meters()
    async with shown(page, tmp_path, monkeypatch, told):
        await (
            card(page, "Dragon Bonus Progressive Kept by Meter 1")
            .get_by_role("link", name="19 Nov 2026")
            .click()
        )
        await expect(page).to_have_url(re.compile("day=2026-11-19"))
        await expect(page.get_by_label("Gaming day")).to_have_value("2026-11-19")
        accrual, deposit, compared = (
            await card(page, "Dragon Bonus Progressive Kept by Meter 1").locator("details").all()
        )
        await expect(deposit.locator("summary")).to_contain_text("16 Nov 2026 to 22 Nov 2026, as of 14:00")
        for each in (accrual, deposit, compared):
            await each.locator("summary").click()
        await expect(accrual).to_contain_text("Eve, approved by Omar, “a promotion”")
        await expect(accrual).to_contain_text("A hand wins by 9 with 2-3-4 in any order")
        await expect(accrual).to_contain_text(
            "Start and changes add up to the end, to the millionth of the smallest unit of the currency."
        )
        await expect(compared).to_contain_text("There is nothing to do: the count equals")
        for sheet, column in (("Day", "staked"), ("Week", "held"), ("Reconciliation", "expected")):
            async with page.expect_download() as offered:
                await page.get_by_role("link", name=f"Save {sheet.lower()} as CSV").click()
            download = await offered.value
            assert download.suggested_filename == f"progressives-{sheet.lower()}-2026-11-19.csv"
            found = list(csv.DictReader(io.StringIO((await download.path()).read_text())))
            assert column in found[0]
            assert {each["kept_by"] for each in found} >= {"meter-1"}
            async with page.expect_download() as offered:
                await page.get_by_role("link", name=f"Save {sheet.lower()} as PDF").click()
            download = await offered.value
            assert download.suggested_filename == f"progressives-{sheet.lower()}-2026-11-19.pdf"
            words = " ".join(each.extract_text() for each in pypdf.PdfReader(await download.path()).pages)
            assert "19 Nov 2026" in words
            assert "dragon" in words
        await page.get_by_role("button", name="Week before").click()
        await expect(page.get_by_label("Gaming day")).to_have_value("2026-11-12")


async def test_the_page_on_paper_has_its_day_and_its_books_and_nothing_that_is_pressed(
    page, tmp_path, monkeypatch
):
    async with shown(page, tmp_path, monkeypatch, Meters(), "progressives?day=2026-11-19"):
        await page.evaluate("window.print = () => { window.printed = true }")
        await page.get_by_role("button", name="Print").click()
        assert await page.evaluate("window.printed")
        await page.emulate_media(media="print")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Progressives, 19 Nov 2026")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.locator(".week table").first).to_be_visible()
        for pressed in ("button", "#downloads", "nav", "form"):
            await expect(page.locator(pressed).first).to_be_hidden()


async def test_the_meter_goes_on_and_what_is_open_stays_open(page, tmp_path, monkeypatch):
    told = Meters()
    async with shown(page, tmp_path, monkeypatch, told):
        accrual = card(page, "Dragon Bonus Progressive Kept by Meter 1").locator("details").first
        await accrual.locator("summary").click()
        (dragon, tiger) = told.kept.meters
        meter = dragon.meter.model_copy(
            update={"meter": 1_234_567, "live": False, "as_of": dragon.books.ts if dragon.books else None}
        )
        told.kept = Kept((dragon.model_copy(update={"meter": meter}), tiger))
        now = card(page, "Dragon Bonus Progressive Kept by Meter 1").locator(".now")
        await expect(now).to_contain_text("NOT LIVE, as of 20 Nov 2026, 14:00:00 UTC$12,345.67")
        await expect(accrual).to_have_attribute("open", "")
        await expect(accrual).to_contain_text("Contributions")


async def test_a_store_that_is_away_is_reported(page, tmp_path, monkeypatch):
    told = Meters()
    async with shown(page, tmp_path, monkeypatch, told):

        def refuse(_: Store):
            raise StoreAwayError("the disk is full")

        monkeypatch.setattr(Store, "cursors", refuse)
        await expect(page.locator("#fault")).to_have_text("The store is away: the disk is full.")


async def test_without_an_answer_nothing_is_live_any_more(page, tmp_path, monkeypatch):
    async with shown(page, tmp_path, monkeypatch, Meters()):
        await page.route("**/api/progressives*", lambda route: None)  # it never answers
        await expect(page.locator("#not-live")).to_have_text("NOT LIVE The Game Manager does not answer")
        await expect(page.locator("#not-live")).to_be_visible()


async def test_without_a_meter_it_says_so(page, tmp_path, monkeypatch):
    told = Meters()
    told.kept, told.keepers = Kept(), [Keeper(FRIDAY, FRIDAY), Keeper(FRIDAY, FRIDAY)]
    async with shown(page, tmp_path, monkeypatch, told):
        await expect(page.locator("#found")).to_have_text(
            "No service has told a meter yet, and the store has no books of this week."
        )


@pytest.mark.parametrize(
    ("scheme", "width"), [("dark", 1280), pytest.param("light", 390, marks=pytest.mark.soak)]
)
async def test_everybody_can_use_it_in_light_and_in_dark(page, tmp_path, monkeypatch, scheme, width):
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 800})
    async with shown(page, tmp_path, monkeypatch, Meters(), "progressives?day=2026-11-19"):
        for each in await page.locator("summary:visible").all():
            await each.click()
        assert await faults_of(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
