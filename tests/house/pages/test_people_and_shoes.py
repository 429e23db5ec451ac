"""The pages of the people and of the shoes: their figures are the reports', and every sheet has them too."""

import csv
import io

import pytest
from playwright.async_api import Page, expect

from tests.axe import faults_of
from tests.consoles.pages.test_reach import OUTLINE
from tests.house.pages.house import Floor, fill, fill_all, served, table
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

DAYS = "2026-11-23/2026-11-24"
LOOKS = [("dark", 390), *soaked(("light", 390), ("dark", 1280), ("light", 1280))]


def floor() -> Floor:
    found = Floor()
    found.tables = [table(1, name="<b>Baccarat</b> 1"), table(2), table(3)]
    return found


async def opened(page: Page, address: str, name: str) -> None:
    since, until = DAYS.split("/")
    await page.goto(f"{address}{name}?since={since}&until={until}")
    await expect(page.locator("main")).to_have_attribute("aria-busy", "false")


async def rows(page: Page, within: str) -> list[list[str]]:
    found = await page.locator(f"{within} tbody tr").all()
    return [await each.locator("td").all_inner_texts() for each in found]


async def sheet(page: Page) -> list[dict[str, str]]:
    async with page.expect_download() as offered:
        await page.get_by_role("link", name="CSV").click()
    return list(csv.DictReader(io.StringIO((await (await offered.value).path()).read_text())))


async def can_be_used(page: Page) -> None:
    assert await faults_of(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_people_are_beside_what_happened_at_their_tables(page, tmp_path, scheme, width):
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 844})
    async with served(tmp_path, floor().view, fill=fill_all) as address:
        await opened(page, address, "people")
        report = await (await page.request.get(f"{address}api/people/{DAYS}")).json()
        ann, mei = (each["work"] for each in report["people"])
        assert (ann["seconds"], mei["seconds"]) == (123 * 60, 108 * 60)
        assert min(ann["hands"], mei["hands"]) > 20
        whole = await rows(page, "#report > .scrolling")
        assert [each[:5] for each in whole] == [
            ["ann", "1", "2:03 h", str(ann["hands"]), f"{ann['hands_an_hour']:.1f}"],
            ["mei", "2", "1:48 h", str(mei["hands"]), f"{mei['hands_an_hour']:.1f}"],
        ]
        assert whole[1][5:] == [
            *(str(mei[name]) for name in ("misdeals", "voided", "corrected")), "1", "0", "2",
        ]  # fmt: skip

        person = page.locator("details", has_text="mei")
        await person.locator("summary").press("Enter")
        assert await page.evaluate(OUTLINE) == "solid"
        await expect(person.locator("tbody tr")).to_have_count(2)
        by_table = await rows(page, "details:has-text('mei')")
        assert [each[:3] for each in by_table] == [
            ["<b>Baccarat</b> 1", "0:47 h", str(report["people"][1]["tables"][0]["work"]["hands"])],
            ["Baccarat 3", "1:01 h", str(report["people"][1]["tables"][1]["work"]["hands"])],
        ]
        await expect(person).to_contain_text("Other incidents: Locked out 1, Card not read 1.")
        await can_be_used(page)
        assert {(each["who"], each["table"]) for each in await sheet(page)} == {
            ("ann", "table-2"), ("ann", ""), ("mei", "table-1"), ("mei", "table-3"), ("mei", ""),
        }  # fmt: skip

        await page.get_by_label("First gaming day").fill("2026-10-01")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_role("alert")).to_have_text(
            "This report is of at most 31 days: choose fewer days."
        )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_shoes_are_listed_with_each_wager_that_favoured_the_players(page, tmp_path, scheme, width):
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 844})
    async with served(tmp_path, floor().view, fill=fill_all) as address:
        await opened(page, address, "shoes")
        report = await (await page.request.get(f"{address}api/shoes/{DAYS}")).json()
        coups = [str(each["coup"]) for shoe in report["shoes"] for each in shoe["wagers"]]
        assert "None" not in coups
        assert [each[:4] + each[5:] for each in await rows(page, "#report")] == [
            ["<b>Baccarat</b> 1", "1", "Tie", "-1.27%", coups[0], "24 Nov 2026"],
            ["<b>Baccarat</b> 1", "1", "Dragon Bonus Player", "-3.10%", coups[1], "24 Nov 2026"],
            ["Baccarat 3", "1", "Tie", "-2.04%", coups[2], "24 Nov 2026"],
        ]
        await can_be_used(page)
        assert [each["edge"] for each in await sheet(page)] == ["-0.012700", "-0.031000", "-0.020400"]


async def test_days_without_people_or_shoes_are_reported(page, tmp_path):
    async with served(tmp_path, floor().view, fill=fill) as address:
        await opened(page, address, "people")
        await expect(page.locator("main")).to_contain_text("Nobody was signed on at a table's console")
        await opened(page, address, "shoes")
        await expect(page.locator("main")).to_contain_text("No shoe of these days had an alarm.")
