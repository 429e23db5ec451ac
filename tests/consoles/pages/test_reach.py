"""Whether everybody can use the pages: axe-core's rules, targets for fingers, and the keyboard alone."""

import pytest
from playwright.async_api import Page, Route, expect

from punto.baccarat.table.events import LidMoved
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.baccarat.table.state import Phase
from tests.axe import faults_of
from tests.consoles.pages.parts import (
    PLAYER_NATURAL,
    at_work,
    console_of,
    consoles,
    headline,
    house,
    open_part,
)
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

TARGETS = """
[...document.querySelectorAll("button, a, input, select")]
  .filter(each => each.checkVisibility() && each.closest("#shift-report") === null)
  .map(each => [each.id || each.textContent || each.name, each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 48 || box.height < 48)
  .map(([name, box]) => `${name} ${box.width} x ${box.height}`)
"""
CUT_OFF = """
[...document.querySelectorAll("dialog, main, section, header, nav, #seat-list, #outcome, #keying, #hand-strip, button, h1, h2, h3")]
  .filter(each => each.checkVisibility() && !each.closest(".unseen"))
  .filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.id || each.textContent)
"""
# Whatever stands in a page's body stands within its padding.
OUTSIDE = """
[...document.querySelectorAll("main:not([hidden]) > *")].filter(each => each.checkVisibility()).filter(each => {
  const { paddingLeft, paddingRight } = getComputedStyle(each.parentElement);
  const box = each.parentElement.getBoundingClientRect(), own = each.getBoundingClientRect();
  return own.left < box.left + parseFloat(paddingLeft) - 1 || own.right > box.right - parseFloat(paddingRight) + 1;
}).map(each => each.id)
"""
OUTLINE = "getComputedStyle(document.activeElement).outlineStyle"


async def hold_up(page: Page, *, axe: bool = True) -> None:
    """The page has no fault, nothing on it is cut off at its side, and every target is large enough.

    Without `axe` it is measured alone: what axe-core finds is the same on every screen of one layout.
    """
    await expect(page.locator("[data-word]:empty")).to_have_count(0)  # its words come with its script
    if axe:
        assert await faults_of(page) == []
    assert await page.evaluate(TARGETS) == []
    assert await page.evaluate(CUT_OFF) == []
    assert await page.evaluate(OUTSIDE) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_the_sign_on_page(page, here):
    await page.goto(here.address)
    await hold_up(page)
    await page.get_by_label("Name").fill("mei")
    await page.get_by_label("Password").fill("not the password")
    await expect(page.locator("#go")).to_be_enabled()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).not_to_be_empty()
    await hold_up(page)


@pytest.mark.parametrize(
    ("width", "height", "axe"),
    [(1280, 800, True), *soaked((1920, 1080, False), (1024, 768, False), (800, 1280, True))],
)
async def test_the_dealers_page(browser, tmp_path, width, height, axe):
    async with consoles(tmp_path, house("canberra")) as here, console_of(browser, width, height) as page:
        await here.load()
        await here.table.play(10, seats=[1, 3, 4, 7])
        for seat in range(1, 8):
            await here.wager((seat, "player", 2500), (seat, "tie", 500))
        await at_work(page, here, "mei")
        await expect(page.locator("#hand-strip button")).to_have_count(10)
        await here.draw("2H 3C KD KS 4C 4H")
        await expect(page.locator("#coup .card")).to_have_count(6)
        for seat in range(1, 8):
            await here.wager((seat, "player", 2500), (seat, "tie", 500))
        await hold_up(page, axe=axe)
        if width > 960:
            assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")

        await expect(page.locator("[data-order=call_supervisor]")).to_be_enabled()
        await page.keyboard.press("F8")
        await expect(page.locator("[data-order=call_supervisor]")).to_contain_text("Called")
        await page.keyboard.press("F8")
        await hold_up(page, axe=axe)
        await page.keyboard.press("Escape")
        await page.keyboard.press("F9")
        await hold_up(page, axe=axe)
        await page.keyboard.press("Escape")

        await here.draw("2H 3C KD KS 4C")
        await headline(page, "Third card to Banker")
        await hold_up(page, axe=axe)
        await here.draw_unread()
        await headline(page, "Key Banker's third card")
        await page.keyboard.type("9h")
        await hold_up(page, axe=axe)
        for key in await page.locator("#keying button").all():
            await expect(key).to_be_in_viewport(ratio=0.95 if width > 960 else 0)

        await here.close()
        await page.wait_for_selector("body:not(.live)")
        await hold_up(page, axe=axe)


@pytest.mark.parametrize(
    ("width", "height", "axe"),
    [
        (390, 844, True),
        *soaked(
            (800, 1280, True),
            (1280, 800, True),
            (1024, 768, False),
            (1920, 1080, False),
            (768, 1024, False),
        ),
    ],
)
async def test_the_supervisors_page(browser, tmp_path, width, height, axe):
    own = house(approval=("correct_round",))
    async with consoles(tmp_path, own) as here, console_of(browser, width, height) as page:
        await here.load()
        await here.table.play(5, seats=[1, 3])
        await here.wager((1, "player", 2500), (3, "banker", 10_000))
        await here.draw(PLAYER_NATURAL)
        await page.route("**/api/session", with_a_notice)
        await at_work(page, here, "omar")
        await expect(page.locator("#notice")).to_be_visible()
        await expect(page.locator("#coup .card")).to_have_count(4)
        await hold_up(page, axe=axe)

        await page.get_by_role("button", name="Correct the last hand").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Banker's second card").click()
        await hold_up(page, axe=axe)
        await page.keyboard.type("7d")
        await dialog.get_by_role("button", name="Seen on surveillance").click()
        await expect(dialog).to_contain_text("Pay difference by seat")
        await hold_up(page, axe=axe)
        await page.keyboard.press("Escape")

        await here.table.order(CallSupervisor("mei", "A dispute at the table"))
        await here.draw("KS")
        await here.table.shoe(LidMoved(here.table.state.link.expected, open=True))
        await headline(page, "Stop: a supervisor is needed")
        await expect(page.locator(".alarm")).to_have_count(1)
        await hold_up(page, axe=axe)
        await page.get_by_role("button", name="Hold play").click()
        await hold_up(page, axe=axe)
        await page.keyboard.press("Escape")

        await page.goto(f"{here.address}/supervisor#hands/6")
        await expect(page.get_by_role("table", name="Events")).to_be_visible()
        await hold_up(page, axe=axe)
        await open_part(page, "shift")
        await expect(page.get_by_role("table", name="Wagers")).to_be_visible()
        await hold_up(page, axe=axe)
        await page.evaluate("document.querySelector('#idle').hidden = false")
        await open_part(page, "games")
        await expect(page.get_by_role("table", name="Limits")).to_be_visible()
        await hold_up(page, axe=axe)


async def with_a_notice(route: Route) -> None:
    """The session at a table whose configuration has a notice."""
    answer = await route.fetch()
    told = await answer.json()
    await route.fulfill(
        response=answer, json={**told, "notice": "Practice table: nothing here is real money"}
    )


async def test_a_supervisor_voids_a_hand_by_keyboard_alone_and_sees_where_the_focus_is(page, here):
    await here.load()
    await here.draw("KS 2S")
    await at_work(page, here, "omar")
    button = page.get_by_role("button", name="Void the hand")
    for _ in range(40):
        await page.keyboard.press("Tab")
        assert await page.evaluate(OUTLINE) == "solid"
        if await button.evaluate("each => each === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason").focus()
    await page.keyboard.type("Misdeal")
    await expect(dialog.get_by_role("button", name="Void the hand")).to_be_enabled()

    await page.keyboard.press("Enter")

    await expect(dialog).to_have_count(0)
    assert here.table.state.round.coup is None


@pytest.mark.soak
async def test_a_supervisor_closes_the_table_by_tabbing_through_the_dialog(page, here):
    await here.load()
    await at_work(page, here, "omar")
    await page.get_by_role("button", name="Close the table").press("Enter")
    await expect(page.get_by_role("dialog").locator("button.go")).to_be_enabled()
    for _ in range(3):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.className") == "go":
            break
    await page.wait_for_timeout(400)  # sooner, Enter is taken for half of a double press
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)

    assert here.phase() is Phase.CLOSED
