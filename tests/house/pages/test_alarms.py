"""The alarms' page: all incidents, new ones without a reload, and the note of the person who acknowledged one."""

import re
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Page, expect

from punto.house.alarms import acknowledge, alarms
from punto.house.store import Store, StoreAwayError
from tests.axe import faults_of
from tests.consoles.pages.test_reach import OUTLINE
from tests.house.pages.house import OF_SUE, Floor, fill_all, incidents, served, table
from tests.house.tables import BEGAN
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")


def floor() -> Floor:
    found = Floor()
    found.tables = [table(1), table(2, name="<b>Baccarat</b> 2"), table(3)]
    return found


def lines(page: Page):
    return page.locator("#alarms li")


async def kinds(page: Page) -> list[str]:
    return await page.locator("#alarms .what b").all_inner_texts()


NOISE = tuple((minute, 5, "link_noise", "shoe", None, f"noise {minute}") for minute in range(1, 46))
NEWEST = [
    "Card outside play",
    "Locked out",
    "Supervisor called",
    "Resume play",
    "Lid open",
    "Void hand refused",
    "Card not read",
]


@asynccontextmanager
async def of_sue(page: Page, folder, house: Floor):
    """The page as a supervisor has it after the sign-on; gives the store and the page's address."""
    stores: list[Store] = []

    def fill(store: Store) -> None:
        fill_all(store)
        store.take_incidents(incidents(NOISE))
        stores.append(store)

    await page.add_init_script("sessionStorage.setItem('csrf', 'told at the sign-on')")
    async with served(folder, house.view, fill=fill, doors=OF_SUE) as address:
        await page.goto(f"{address}alarms")
        await expect(lines(page)).to_have_count(50)
        yield stores[0], f"{address}alarms"


async def test_alarms_come_by_themselves_are_turned_and_are_acknowledged(page, tmp_path):
    async with of_sue(page, tmp_path, floor()) as (store, _):
        assert (await kinds(page))[:9] == [*NEWEST, "Service started", "Link noise"]
        await expect(lines(page).first).to_contain_text("<b>Baccarat</b> 2")
        await expect(lines(page).first).to_contain_text("A card left the shoe while no hand could use it")
        await expect(lines(page).nth(2).locator(".what .quiet")).to_have_text("ann")
        await expect(page.locator("#you")).to_have_text("Sue")
        await expect(page.locator("#bars")).to_be_empty()

        # A new incident is there without a reload, and the focus stays.
        button = lines(page).first.get_by_role("button")
        await button.focus()
        store.take_incidents(incidents(((200, 4, "flood", "keypad", None, "too many requests"),)))
        await expect(lines(page).first).to_contain_text("too many requests", ignore_case=True)
        assert await page.evaluate(OUTLINE) == "solid"
        await expect(page.locator("#news")).to_have_text("table-4: too many requests")
        assert (await kinds(page))[:8] == ["Too many requests", *NEWEST]

        # Acknowledging it needs a note.
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Card outside play")
        await expect(dialog).to_contain_text("A card left the shoe")
        assert await faults_of(page) == []
        await dialog.get_by_role("button", name="Acknowledge").click()
        await expect(dialog).to_be_visible()
        await dialog.get_by_label("Note").fill("Put away <i>unplayed</i>")
        await page.keyboard.press("Enter")
        await expect(dialog).to_have_count(0)
        await expect(lines(page).nth(1)).to_contain_text(
            re.compile("Acknowledged by Sue, .*Put away <i>unplayed</i>")
        )

        await expect(lines(page).nth(5)).to_contain_text("Acknowledged by Eve, 24 Nov 2026")
        await expect(lines(page).nth(5)).to_contain_text("Looked at the cards: none was moved")

        # An order, a refusal and a report of a device ask for no acknowledgement.
        for kind in ("Resume play", "Void hand refused", "Service started"):
            entry = lines(page).filter(has_text=kind).first
            await expect(entry.locator(".acknowledged")).to_be_empty()
            await expect(entry).not_to_have_class("waits")

        await page.get_by_role("button", name="Older").click()
        await expect(lines(page)).to_have_count(4)
        await expect(lines(page).first).to_contain_text("Noise 4")
        await expect(page.locator("#which")).to_contain_text("Page 2")
        await lines(page).first.get_by_role("button").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("A cable")
        await page.keyboard.press("Enter")
        await expect(lines(page).first).to_contain_text("A cable")
        await expect(page.get_by_role("button", name="Older")).to_be_disabled()
        await page.get_by_role("button", name="Newer").click()
        await expect(lines(page).first).to_contain_text("Too many requests")
        await expect(page.get_by_role("button", name="Newer")).to_be_disabled()

        # Two people acknowledge the same one: the later is told of the first.
        await lines(page).first.get_by_role("button").click()
        (flood,) = alarms(store, limit=1).alarms
        key = (flood.record_id, flood.seq, flood.place)
        acknowledge(store, key, "Eve", "Mine", BEGAN)
        await page.get_by_role("dialog").get_by_label("Note").fill("Too late")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
            "Eve has acknowledged this incident"
        )
        await page.get_by_role("button", name="Cancel").click()


async def test_alarms_are_chosen_and_what_is_away_is_reported(page, tmp_path, monkeypatch):
    house = floor()
    async with of_sue(page, tmp_path, house) as (_, address):
        await page.get_by_role("combobox", name="Table").select_option("<b>Baccarat</b> 2")
        await page.get_by_label("Not acknowledged").click()  # one press, without Show
        await expect(page).to_have_url(re.compile(r"\?table=table-2&unacknowledged=true"))
        await expect(lines(page)).to_have_count(2)
        assert await kinds(page) == ["Card outside play", "Supervisor called"]
        await expect(page.get_by_label("Not acknowledged")).to_be_checked()
        await page.get_by_role("combobox", name="Kind").select_option("Supervisor called")
        await page.get_by_role("button", name="Show").click()
        await expect(lines(page)).to_have_count(1)
        await page.get_by_role("combobox", name="Kind").select_option("Locked out")
        await page.get_by_role("button", name="Show").click()
        await expect(page.locator("#none")).to_be_visible()

        # What is away is said, and the list stays.
        await page.goto(address)
        await expect(lines(page)).to_have_count(50)

        def refuse(_: Store):
            raise StoreAwayError("the disk is full")

        house.broker = "refused"
        with monkeypatch.context() as away:
            away.setattr(Store, "reading", refuse)
            await expect(page.locator("#house-faults p")).to_have_text(
                ["Broker: refused", "Store: the disk is full"]
            )
            await expect(lines(page)).to_have_count(50)
        await expect(page.locator("#house-faults p")).to_have_text(["Broker: refused"])
    await expect(page.locator("#not-live")).to_be_visible()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 390), *soaked(("dark", 390), ("light", 1280), ("dark", 1280))]
)
async def test_everybody_can_read_it_and_without_accounts_it_says_why_nobody_sees_to_any(
    page, tmp_path, scheme, width
):
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 844})
    async with served(tmp_path, floor().view, fill=fill_all) as address:
        await page.goto(f"{address}alarms")
        await expect(lines(page)).to_have_count(8)
        await expect(page.locator("#bars")).to_have_text(
            "An incident is acknowledged by a person who is signed on: configure [accounts]."
        )
        await expect(page.locator("#alarms button")).to_have_count(0)
        await expect(page.locator("#person")).to_be_hidden()
        assert await faults_of(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(
            ["Floor", "Alarms", "Reports", "Progressives", "People", "Shoes"]
        )
        await expect(page.locator("nav [aria-current]")).to_have_text("Alarms")
