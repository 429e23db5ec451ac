"""The reports' page: what is not by chance is marked and comes first, and its figures are the report's."""

import csv
import io
import re
from contextlib import asynccontextmanager
from typing import Any

import pypdf
import pytest
from playwright.async_api import Page, expect
from sqlalchemy import text

from punto.house.store import Store, StoreAwayError
from tests.axe import faults_of
from tests.consoles.pages.test_reach import OUTLINE
from tests.house.pages.house import OF_SUE, Floor, an_evening, fill, served, table

pytestmark = pytest.mark.asyncio(loop_scope="session")

WEEK = "reports?since=2026-11-18&until=2026-11-24"


@asynccontextmanager
async def reports(page: Page, folder, floor: Floor | None = None, path: str = WEEK, fill=fill):
    """The reports' page over a store with rounds; gives the server's address."""
    floor = floor or Floor()
    async with served(folder, floor.view, fill=fill) as address:
        await page.goto(f"{address}{path}")
        await expect(page.locator("main")).to_have_attribute("aria-busy", "false")
        yield address


async def test_the_last_hours_are_a_report_too(page, tmp_path):
    async with reports(page, tmp_path, path="reports?hours=168") as address:
        await expect(page.locator(".span")).to_contain_text("From ")
        assert await page.locator("#csv").get_attribute("href") == "/api/shift.csv?hours=168"
        sheet = await (await page.request.get(f"{address}api/shift.csv?hours=168")).text()
        assert sheet.startswith("table,game,rules,line,")
        await page.get_by_role("button", name="Last 8 hours").click()
        await page.wait_for_url("**/reports?hours=8")
        for hours in ("0", "169", "x"):
            answer = await page.request.get(f"{address}api/shift?hours={hours}")
            assert (answer.status, (await answer.json())["detail"].startswith("hours: ")) == (422, True)


async def test_a_report_on_paper_has_its_days_and_figures_and_nothing_that_is_pressed(page, tmp_path):
    async with reports(page, tmp_path):
        heading = page.get_by_role("heading", name="Reports, 18 Nov 2026 to 24 Nov 2026")
        pressed = page.locator("nav, form, button:visible")
        assert (await heading.bounding_box())["width"] < 2
        await page.emulate_media(media="print", color_scheme="dark")
        assert (await heading.bounding_box())["width"] > 100
        await expect(pressed.filter(visible=True)).to_have_count(0)
        await expect(page.get_by_role("table").first).to_be_visible()
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 242, 233)"


async def test_a_table_that_is_not_by_chance_is_marked_and_first(page, tmp_path):
    floor = Floor()
    floor.tables = [table(1), table(2, name="<b>Baccarat</b> 2")]
    async with reports(page, tmp_path, floor) as address:
        report = await (await page.request.get(f"{address}api/reports/2026-11-18/2026-11-24")).json()
        await expect(page.locator("summary h3")).to_have_text(["<b>Baccarat</b> 2", "Baccarat 1", "table-3"])
        suspect = page.locator("details").first
        await expect(page.locator("caption").first).to_have_text("Mini Baccarat, Dragon Bonus 1")
        await expect(suspect.locator("summary")).to_contain_text("Mini Baccarat, Dragon Bonus 1")
        await expect(page.locator("#report > .scrolling")).to_contain_text("Dragon Bonus Player")
        for of in await page.locator("table").all():  # a column is there if it says something
            cells = await of.locator("tbody td:nth-child(8)").all_inner_texts()
            assert not cells or any(cells), await of.inner_text()
        figures = next(each for each in report["tables"] if each["table"] == "table-2")["meters"]
        of_floor = [each["wager"] for each in report["wagers"]]
        all_figures = [
            each for of in report["tables"] for each in (*of["meters"]["wagers"], *of["meters"]["counts"])
        ]
        watched = [each for each in (*of_floor, *all_figures) if each["evidence"] is not None]
        assert report["marked_at"] == 31 * len(watched)
        outside = [each for each in all_figures if (each["evidence"] or 0) >= report["marked_at"]]
        assert outside
        await expect(suspect.locator("tr.outside")).to_have_count(len(outside))
        await expect(suspect.locator("summary")).to_contain_text(f"{len(outside)} outside the expected range")
        await expect(page.locator(".found")).to_contain_text(
            f"{len(outside)} of {len(all_figures)} results outside the expected range."
        )

        tie = next(each for each in figures["counts"] if (each["wager"], each["rule"]) == (None, "tie"))
        row = suspect.locator("tr.outside", has_text="Results").filter(has_text="The hands tie")
        await expect(row).to_have_text(
            f"ResultsThe hands tie{tie['hits']}{tie['expected']:.1f}{tie['errors']:+.2f}at most once in {tie['evidence']:,.0f}"
        )
        player = next(each for each in of_floor if each["wager"] == "player")
        lines = page.locator("#report > .scrolling tr")
        await expect(lines.filter(has_text="Player").last).to_have_text(
            f"Player{player['wagers']:,}{in_dollars(player)}{player['errors']:+.2f}"
        )
        sums = {name: sum(each[name] for each in of_floor) for name in ("wagers", "handle", "win")}
        sums["expected"] = sum(round(each["expected"]) for each in of_floor)
        await expect(lines.last).to_have_text(f"All wagers{sums['wagers']:,}{in_dollars(sums)}")

        closed = page.locator("details").last
        await expect(closed.locator("table")).to_have_count(0)
        await closed.locator("summary").press("Enter")
        await expect(closed.locator("table")).to_have_count(2)
        assert await page.evaluate(OUTLINE) == "solid"


async def test_a_figure_that_cannot_be_is_shown_as_not_computable(page, tmp_path):
    def spoil(store: Store) -> None:
        fill(store)
        with store.writing() as connection:
            connection.execute(text("UPDATE hits SET hits = -1 WHERE wager = '' AND rule = 'natural'"))

    async with reports(page, tmp_path, fill=spoil):
        closed = page.locator("details").last
        await closed.locator("summary").press("Enter")
        natural = closed.locator("tr", has_text="A natural ends the hand")
        await expect(natural).to_contain_text("not computable")
        await expect(closed.locator("tr", has_text="not computable")).to_have_count(1)


def in_dollars(of: dict[str, Any]) -> str:
    """Handle, win and expected win of a wager as the page has them: these handles and wins have no cents."""
    win, expected = of["win"], round(of["expected"])
    sign, its_sign = ("-" if each < 0 else "+" for each in (win, expected))
    hold = f"{win / of['handle']:.1%}"
    return (
        f"${of['handle'] / 100:,.0f}{sign}${abs(win) / 100:,.0f}{hold}{its_sign}${abs(expected) / 100:,.2f}"
    )


async def test_days_are_picked_and_the_newest_is_shown_at_first(page, tmp_path):
    async with reports(page, tmp_path, path="reports"):
        await expect(page.get_by_label("First gaming day")).to_have_value("2026-11-24")
        await page.get_by_role("button", name="7 days").click()
        await expect(page).to_have_url(re.compile(re.escape(WEEK)))
        await expect(page.get_by_label("First gaming day")).to_have_value("2026-11-18")
        await page.get_by_label("Last gaming day").fill("2026-11-23")
        await page.get_by_role("button", name="Show").click()
        await expect(page).to_have_url(re.compile("until=2026-11-23"))
        await expect(page.get_by_label("Last gaming day")).to_have_value("2026-11-23")
        await page.get_by_label("First gaming day").fill("2026-11-24")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_role("alert")).to_contain_text("2026-11-23 is before 2026-11-24")


async def test_the_days_are_written_as_on_the_page_until_a_person_writes_there(page, tmp_path):
    async with reports(page, tmp_path):
        first = page.get_by_label("First gaming day")
        shown = "field => getComputedStyle(field, '::before').content"
        assert await first.evaluate(shown) == '"18 Nov 2026"'
        await first.click(position={"x": 20, "y": 20})
        await expect(first).to_be_focused()
        assert await first.evaluate(shown) == "none"
        await first.fill("2026-11-20")
        await first.blur()
        assert await first.evaluate(shown) == '"20 Nov 2026"'
        await first.fill("")
        await first.blur()
        assert await first.evaluate(shown) == "none"


@pytest.mark.parametrize("path", ["reports", "people", "shoes", "progressives"])
async def test_the_head_of_a_report_is_one_line(page, tmp_path, path):
    await page.set_viewport_size({"width": 1280, "height": 800})
    async with served(tmp_path, Floor().view, fill=fill, doors=OF_SUE) as address:
        await page.goto(f"{address}{path}")
        await expect(page.locator("#sign-off")).to_be_visible()
        await page.evaluate("document.fonts.ready")
        assert (await page.locator(".bar").bounding_box())["height"] < 64


async def test_the_csv_has_the_figures_of_the_report(page, tmp_path):
    async with reports(page, tmp_path) as address:
        async with page.expect_download() as offered:
            await page.get_by_role("link", name="Save as CSV").click()
        download = await offered.value
        assert download.suggested_filename == "floor-2026-11-18-2026-11-24.csv"
        rows = list(csv.DictReader(io.StringIO((await download.path()).read_text())))
        report = await (await page.request.get(f"{address}api/reports/2026-11-18/2026-11-24")).json()
    counts = [each for each in rows if each["line"] == "count"]
    assert [int(each["number"]) for each in counts] == [
        each["hits"] for of in report["tables"] for each in of["meters"]["counts"]
    ]
    floors = [each for each in rows if each["table"] == ""]
    columns = ("wager", "handle", "win", "errors", "evidence")
    assert [tuple(each[name] for name in columns) for each in floors] == [
        (
            each["wager"],
            *(f"{each[name] / 100:.2f}" for name in ("handle", "win")),
            f"{each['errors']:.2f}",
            f"{each['evidence']:.0f}",
        )
        for each in (of["wager"] for of in report["wagers"])
    ]
    bonus = [each for each in rows if each["wager"] == "dragon_bonus_player"]
    assert {each["wager_title"] for each in bonus} == {"Dragon Bonus Player"}
    assert {each["game"]: each["game_title"] for each in rows} == {
        "dragon-bonus-1": "Mini Baccarat, Dragon Bonus 1"
    }
    assert "Player wins by 9, not natural" in {each["rule_title"] for each in bonus}
    played = {each["table"]: each["number"] for each in rows if each["rule"] == "played"}
    assert played == {of["table"]: str(of["rounds"]["played"]) for of in report["tables"]}


async def test_the_report_is_printed_and_saved_as_a_pdf_with_titles(page, tmp_path):
    floor = Floor()
    floor.tables = [table(1), table(2, name="Dragon Salon 2")]
    async with reports(page, tmp_path, floor):
        await page.evaluate("window.print = () => { document.title = 'printed'; }")
        await page.get_by_role("button", name="Print").click()
        await expect(page).to_have_title("printed")
        async with page.expect_download() as offered:
            await page.get_by_role("link", name="Save as PDF").click()
        download = await offered.value
        assert download.suggested_filename == "floor-2026-11-18-2026-11-24.pdf"
        pages = pypdf.PdfReader(await download.path()).pages
    text = " ".join(" ".join(each.extract_text() for each in pages).split())
    for title in ("Mini Baccarat", "Dragon Salon", "Dragon Bonus Player", "not natural"):
        assert title in text
    assert "dragon" not in text  # an identifier
    assert "table-2" not in text


async def test_a_store_that_is_away_or_empty_is_reported(page, tmp_path, monkeypatch):
    async with reports(page, tmp_path, path="reports", fill=None):
        await expect(page.get_by_role("alert")).to_have_text("The store has no rounds yet.")

        def refuse(_: Store):
            raise StoreAwayError("the disk is full")

        monkeypatch.setattr(Store, "reading", refuse)
        await page.reload()
        await expect(page.get_by_role("alert")).to_have_text("The store is away: the disk is full.")


@pytest.mark.parametrize(
    ("scheme", "width"), [("dark", 1280), pytest.param("light", 390, marks=pytest.mark.soak)]
)
async def test_everybody_can_use_it_in_light_and_in_dark(page, tmp_path, scheme, width):
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 800})
    floor = Floor()
    floor.tables = an_evening()
    async with reports(page, tmp_path, floor):
        await expect(page.locator("tr.outside").first).to_be_visible()
        assert await faults_of(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
