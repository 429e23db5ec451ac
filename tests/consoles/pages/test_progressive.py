"""A game of the progressive at the dealer's and the supervisor's page, as docs/how-to/consoles.md tells it."""

import re
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Page, expect

from punto.baccarat.progressive.aquarius import GameOver, Jpot, Key, TurnKey
from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.progressive.game_events import HandButton, StartGame, WagerPlaced, WagerVoided
from punto.baccarat.progressive.nexus import Confirm, EndGame
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.events import MeterHeard, ShoeLost
from punto.baccarat.table.order_kinds import AcknowledgeAlarm, CloseBetting, HoldPlay, ResumePlay
from punto.baccarat.table.settings import Settings
from punto.controller.orders.doors import Equipment
from punto.drivers.base import CardAnswer
from tests.baccarat.table.croupier import settings as table_settings
from tests.baccarat.table.linked_floor import LinkedFloor
from tests.consoles.pages.parts import (
    PASSWORD,
    TableWithConsoles,
    at_work,
    caught_up,
    console_of,
    consoles,
    headline,
    press_digit,
    press_twice,
)
from tests.consoles.pages.test_reach import hold_up
from tests.controller.table_in_this_process import eventually
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

# The first two sections, from the top; and the gold buttons.
FIRST = """
[...document.querySelectorAll("main > *")].filter(each => each.checkVisibility())
  .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top).slice(0, 2).map(each => each.id)
"""
GOLD = """
[...document.querySelectorAll("main button")].filter(each => each.checkVisibility())
  .filter(each => getComputedStyle(each).backgroundColor === "rgb(240, 189, 106)").map(each => each.firstChild.textContent)
"""
GOLDEN = "rgb(240, 189, 106)"
RED = "rgb(255, 154, 141)"
FORTY = "2H KC 2D JC 5H KD"  # 9 over 0: 40 for 1 from the tray
SUITED = "2H KC 3H JC 4H KD"  # 9 over 0 with 2-3-4 of hearts: 25% of the meter


def progressive_house(procedure: str, **meter: Any) -> Settings:
    return table_settings(
        game_name="progressive-2",
        meter={"procedure": procedure, **meter},
        name="Baccarat 8",
        next_coup="order",
    )


async def at_wagers(here: TableWithConsoles) -> None:
    """Betting is open, the meter in service, and seats 2, 5 and 6 have base wagers."""
    await here.load()
    await here.table.order(OpenMeter("ida", "omar"))
    await here.wager((2, "player", 500), (5, "player", 500), (6, "banker", 500))


def books(here: TableWithConsoles) -> Books:
    progressive = here.table.state.progressive
    assert progressive is not None
    return progressive.books


async def todo(page: Page, words: str) -> None:
    await expect(page.locator("#todo")).to_contain_text(words)


async def seat(page: Page, number: int, words: str) -> None:
    await expect(page.locator(f'[data-hand="{number}"] .how')).to_have_text(words)


async def said(page: Page, words: str) -> None:
    await expect(page.locator("#said-text")).to_contain_text(words)


async def sign(page: Page, order: str, name: str, password: str = PASSWORD) -> None:
    """A supervisor gives an order at the dealer's page."""
    await caught_up(page)
    await page.locator(f'.award-orders [data-order="{order}"]').click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_label("Password").fill(password)
    await dialog.locator("button.go").click()


async def test_a_linked_table_shows_the_meter_of_the_signs_and_says_when_it_is_not_live(browser, tmp_path):
    kept = LinkedFloor(1).authority.progressive.books
    own = table_settings(game_name="progressive-2", table="t1", progressive=kept.settings)
    on_the_signs = Equipment(meter=lambda: 1_234_567)
    async with consoles(tmp_path, own, equipment=on_the_signs) as here, console_of(browser) as page:
        await here.load()
        await here.table.order(MeterHeard(True, "", kept.extract("t1"), kept.settings))
        await at_work(page, here, "mei")
        await expect(page.locator("#meter")).to_contain_text("12,345.67")
        await expect(page.locator("#meter-facts")).not_to_contain_text("Meter not live")
        assert books(here).shown != 1_234_567

        await here.table.order(MeterHeard(False, "the broker is away"))
        await expect(page.locator("#meter-facts")).to_contain_text("Meter not live")


async def test_wagers_are_keyed_by_touch_or_digit_and_counted_by_pressing_start_twice(browser, tmp_path):
    async with consoles(tmp_path, progressive_house("aquarius")) as here, console_of(browser) as page:
        await at_wagers(here)
        await at_work(page, here, "mei")
        await todo(page, "Touch each seat that has a progressive wager, then press START GAME")
        await page.locator('[data-hand="2"]').click()
        await expect(page.locator("#hand-buttons :focus")).to_have_count(0)
        await press_digit(page, 5)
        await press_digit(page, 7)
        await seat(page, 7, "Wager")
        await press_digit(page, 7)
        await expect(page.locator('[data-hand="7"]')).to_have_attribute("aria-pressed", "false")
        await page.locator('[data-hand="6"]').focus()
        await page.keyboard.press("Space")
        await seat(page, 6, "Wager")
        await expect(page.locator('[data-hand="6"]')).to_be_focused()
        left_to_right = page.locator("#hand-buttons button")
        assert (
            await left_to_right.evaluate_all("all => all.map(each => each.dataset.hand).join('')")
            == "7654321"
        )
        await page.keyboard.press("F6")
        await expect(page.locator("#game-order")).to_contain_text("START GAME again: seats 2, 5, 6")
        assert books(here).rounds == ()
        await page.wait_for_timeout(400)
        await page.keyboard.press("F6")
        await todo(page, "The wagers are counted: take them, and deal the hand")
        await expect(page.locator("#hand-buttons :focus")).to_have_count(
            0
        )  # no seat is ringed when others win
        await expect(page.locator("#meter")).to_have_text("$10,000.60")
        await seat(page, 2, "In")
        await press_digit(page, 2)
        await said(page, "the hand is not over")


async def test_a_forgotten_start_game_is_reported_before_betting_closes_and_is_an_alarm_when_the_hand_begins(
    browser, tmp_path
):
    own = replace(progressive_house("aquarius"), betting_closes="order")
    async with (
        consoles(tmp_path, own) as here,
        console_of(browser) as page,
        console_of(browser) as desk,
    ):
        await at_wagers(here)
        await at_work(page, here, "mei")
        await at_work(desk, here, "omar")
        assert await page.evaluate(GOLD) == ["Close betting"]
        for number in (2, 5, 6):
            await here.table.order(WagerPlaced(number))
        await expect(page.locator("#detail")).to_have_text(
            "When all are placed, press START GAME, then close betting"
        )
        assert await page.evaluate(GOLD) == ["START GAME"]
        await desk.locator("[data-order=close_betting]").click()
        await expect(desk.get_by_role("dialog").locator(".fault").first).to_have_text(
            "3 progressive wagers are not in the game: START GAME first."
        )
        await desk.keyboard.press("Escape")

        await page.set_viewport_size({"width": 1024, "height": 768})
        before = await page.locator("#orders").bounding_box()
        await page.keyboard.press("F2")
        await expect(page.locator("#main-order")).to_have_text(
            re.compile(
                "^3 progressive wagers are not in the game: START GAME first. Press again: close betting"
            )
        )
        assert await page.locator("#orders").bounding_box() == before
        await hold_up(page, axe=False)
        await page.wait_for_timeout(400)  # sooner, the second press is taken for half of a double tap
        await page.keyboard.press("F2")
        await headline(page, "START GAME first: 3 wagers are not in the game")
        assert here.table.state.alarms == ()  # START GAME can still be pressed
        await here.draw(FORTY)

        await expect(page.locator("#result")).to_contain_text("Player wins, 9 to 0")
        await expect(page.locator("#outcome .pay")).not_to_have_count(0)
        await expect(page.locator("#outcome")).not_to_contain_text("Progressive")
        for number in (2, 5, 6):
            await seat(page, number, "Not in game")
        await expect(desk.locator("#trouble-list .alarm p")).to_have_text(
            "the hand of round 1 began without START GAME, so the lit progressive wagers (seats 2, 5 and 6) are in no game and "
            "win nothing: return them, or leave them for the next game"
        )
        assert books(here).awards == ()


async def test_an_award_with_aquarius_goes_by_the_dealers_page_to_game_over(browser, tmp_path):
    async with consoles(tmp_path, progressive_house("aquarius")) as here, console_of(browser) as page:
        await at_wagers(here)
        for number in (2, 5, 6):
            await here.table.order(WagerPlaced(number))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await at_work(page, here, "mei")
        await here.draw(SUITED)
        await todo(page, "25% of the meter: press the hand button of seats 2 and 5")
        await press_digit(page, 6)
        await said(page, "the hand of seat 6 won no award")
        await press_digit(page, 2)
        await seat(page, 2, "$1,250.08")
        await page.locator('[data-hand="5"]').click()
        await headline(page, "Award of seats 2 and 5: call a supervisor")
        await todo(page, "presses J-POT")
        await expect(page.locator("#award strong")).to_have_text("$2,500.15")
        await expect(page.locator('#due-list [data-seat="2"] li')).to_have_text(
            ["Player $5 pays $5", "Award $1,250.08 to be confirmed"]
        )
        await page.keyboard.press("F6")
        await said(page, "is not confirmed: a supervisor must confirm this award")
        await page.locator("#said-away").click()
        await hold_up(page)

        await sign(page, "jpot", "mei")
        await expect(page.get_by_role("dialog").get_by_role("alert").first).to_contain_text(
            "roles of mei do not allow"
        )
        await page.keyboard.press("Escape")
        assert books(here).awards == ()
        await sign(page, "jpot", "omar")  # there is no key switch, so the key turns with it
        await todo(page, "Pay seats 2 and 5, in this order; then press GAME OVER")
        await headline(page, "Pay seat 2 $1,250.08, then seat 5 $1,250.07")
        await expect(page.locator("#meter")).to_have_text("$7,500.45")
        await press_twice(page)
        await todo(page, "Touch each seat that has a progressive wager, then press START GAME")
        await expect(page.locator(".hand-button.lit")).to_have_count(0)
        assert [(each.who, each.amount) for each in books(here).awards] == [("omar", 250_015)]


@pytest.mark.soak
async def test_an_award_from_the_tray_says_whom_to_pay_from_it_and_that_the_meter_stays(browser, tmp_path):
    async with consoles(tmp_path, progressive_house("aquarius")) as here, console_of(browser) as page:
        await at_wagers(here)
        for number in (2, 5):
            await here.table.order(WagerPlaced(number))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await at_work(page, here, "mei")
        await here.draw(FORTY)
        await todo(page, "press the hand button of seats 2 and 5")
        for number in (2, 5):
            await page.locator(f'[data-hand="{number}"]').click()
        await todo(page, "presses J-POT")
        await sign(page, "jpot", "omar")

        await headline(page, "Pay seat 2 $40, then seat 5 $40")
        await expect(page.locator("#detail")).to_have_text(
            "Pay seats 2 and 5 from the tray, in this order; then press GAME OVER"
        )
        await expect(page.locator("#award")).to_contain_text("Award 1, logged, to be paid from the tray")
        await expect(page.locator("#meter")).to_have_text("$10,000.40")


APART = """
() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("#award"));
  const [award, lock] = [range, document.querySelector("#locked")].map((each) => each.getBoundingClientRect());
  return award.bottom <= lock.top + 1 || lock.bottom <= award.top + 1 || award.right <= lock.left || lock.right <= award.left;
}
"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), *soaked((390, 844))])
@pytest.mark.soak
async def test_an_award_comes_first_and_no_gold_button_steps_over_it(browser, tmp_path, width, height):
    async with (
        consoles(tmp_path, progressive_house("aquarius")) as here,
        console_of(browser, width, height) as page,
    ):
        await at_wagers(here)
        for number in (2, 5):
            await here.table.order(WagerPlaced(number))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await at_work(page, here, "mei")
        await here.draw(SUITED)

        await headline(page, "Press hand buttons 2 and 5")
        await expect(page.locator("#now")).to_have_css("background-color", GOLDEN)
        await expect(page.locator("#locked")).to_have_text("Next hand locked")
        assert await page.evaluate(APART), "the lock is printed over the award"
        await expect(page.locator("#main-order")).to_contain_text("Locked: award first")
        await expect(page.locator("#phase")).to_have_text("Paying · Award of the progressive")
        assert (await page.evaluate(FIRST))[0] == "now"
        assert await page.evaluate(GOLD) == ["5", "2"]
        await page.keyboard.press("F2")
        await expect(page.locator("#main-order")).not_to_have_class(re.compile("armed"))
        for number in (2, 5):
            await here.table.order(HandButton(number, "mei"))
        await headline(page, "Award of seats 2 and 5: call a supervisor")
        await expect(page.locator("#detail")).to_have_text(
            "Call a supervisor, who verifies the hand, turns the key to JPH and presses J-POT"
        )
        assert await page.evaluate(GOLD) == ["Call supervisor"]
        await hold_up(page, axe=width == 1280)
        await page.keyboard.press("F8")
        await headline(page, "Award of seats 2 and 5: supervisor called")
        assert await page.evaluate(GOLD) == ["J-POT"]
        await here.table.order(AcknowledgeAlarm("omar", here.table.state.alarms[0].number))
        await caught_up(page)
        await headline(page, "Award of seats 2 and 5: supervisor called")
        assert await page.evaluate(GOLD) == ["J-POT"]
        await here.table.order(TurnKey(Key.JPH, "omar"))
        await headline(page, "Press J-POT")
        await expect(page.locator("#detail")).to_have_text("The key is at JPH: the supervisor presses J-POT")
        assert await page.evaluate(GOLD) == ["J-POT"]
        await here.table.order(Jpot("omar"))
        await headline(page, "Turn the key to RUN")
        await expect(page.locator("#detail")).to_have_text(
            "The award is logged: turn the key to RUN, which takes the award off the meter"
        )
        assert await page.evaluate(GOLD) == ["Key to RUN"]
        await here.table.order(TurnKey(Key.RUN, "omar"))

        await headline(page, "Pay seat 2 $1,250.05, then seat 5 $1,250.05")
        assert await page.evaluate(GOLD) == ["GAME OVER and open betting"]
        await hold_up(page, axe=width == 1280)
        await here.table.order(GameOver("mei"))
        await headline(page, "Pay seats 2 and 5")
        await expect(page.locator("#main-order")).to_contain_text("Open betting")


async def test_play_that_a_supervisor_resumes_without_the_award_goes_on_at_the_dealers_page(
    browser, tmp_path
):
    own = replace(progressive_house("aquarius"), betting_closes="order")
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await at_wagers(here)
        await here.table.order(WagerPlaced(2))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await here.table.order(CloseBetting("mei"))
        await here.draw(SUITED)
        await at_work(page, here, "mei")
        await headline(page, "Press hand button 2")

        await here.table.order(ResumePlay("omar", "The award is paid later"))

        await todo(page, "25% of the meter: press the hand button of seat 2")
        for order, now in (("Open betting", "Place your wagers"), ("Close betting", "First card to Player")):
            await expect(page.locator("#main-order")).to_contain_text(order)
            await press_twice(page, "F2", "#main-order")
            await headline(page, now)
        await here.draw("KS")
        await here.table.shoe(ShoeLost("no sign of life"))
        await headline(page, "The shoe is offline")
        await page.keyboard.press("F4")
        for key in await page.locator("#keying button").all():
            await expect(key).to_be_in_viewport(ratio=0.95)
        await page.keyboard.type("2s")
        await page.keyboard.press("Enter")
        await eventually(lambda: here.table.state.shoe.drawn[-1] == "2S", "the card is keyed")


async def test_the_supervisors_page_says_what_a_supervisor_does_about_an_award_and_not_to_call_one(
    browser, tmp_path
):
    async with consoles(tmp_path, progressive_house("aquarius")) as here, console_of(browser) as page:
        await at_wagers(here)
        await here.table.order(WagerPlaced(2))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await here.draw(SUITED)
        await here.table.order(HandButton(2, "mei"))
        await at_work(page, here, "omar")

        await headline(page, "Verify the award of seat 2")
        await expect(page.locator("#detail")).to_have_text(
            "Verify the hand and its wagers, turn the key to JPH, and press J-POT"
        )
        await expect(page.locator("#trouble-list")).to_have_text(
            "The next hand is locked until the award is complete."
        )
        await expect(page.locator("main:visible")).not_to_contain_text("all a supervisor")
        await expect(page.locator("#meter")).to_contain_text("Meter $10,000")
        without = page.get_by_role("button", name="Play without the award")
        await expect(page.locator("#orders")).not_to_contain_text("Play without the award")
        await expect(without).to_have_css("border-top-color", RED)
        await expect(page.get_by_role("button", name="Resume play")).to_be_disabled()
        await without.click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("The next hand is dealt although the award is not complete.")
        await expect(dialog.locator(".usual")).to_have_count(0)
        await dialog.get_by_label("Reason").fill("The award is paid later")
        await dialog.get_by_role("button", name="Play without the award").click()

        await expect(page.locator("#trouble-list")).to_have_text("No stop and no alarm.")
        await expect(page.locator("#todo")).to_be_visible()
        await todo(page, "Verify the hand and its wagers")
        await expect(without).to_be_hidden()
        await expect(page.get_by_role("button", name="Resume play")).to_be_disabled()
        await here.table.order(HoldPlay("mei", "A break"))
        await expect(page.get_by_role("button", name="Resume play")).to_be_enabled()
        await expect(without).to_be_hidden()


@pytest.mark.soak
async def test_the_game_ends_without_an_award_once_a_supervisor_confirms_that_nobody_won(browser, tmp_path):
    own = progressive_house("aquarius", base_wagers="unseen")
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await here.load()
        await here.table.order(OpenMeter("ida", "omar"))
        await here.table.order(WagerPlaced(2))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await at_work(page, here, "mei")
        await here.draw(SUITED)

        await headline(page, "Press the hand button of each winning seat")
        await expect(page.locator("#detail")).to_contain_text("of seat 2, if its Player or Banker wager won")
        assert await page.evaluate(GOLD) == []
        await page.keyboard.press("F6")
        await said(page, "GAME OVER: ")
        await expect(page.locator("#said")).to_have_class("refused")
        await page.locator("#said-away").click()
        await page.locator('.award-orders [data-order="nobody_won"]').click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Reason").fill("No base wager won")
        await dialog.get_by_label("Name").fill("omar")
        await dialog.get_by_label("Password").fill(PASSWORD)
        await hold_up(page)
        await dialog.locator("button.go").click()
        await expect(dialog).to_be_hidden()  # while it is open, it takes the keys

        await headline(page, "Player wins, 9 to 0")
        await todo(page, "press GAME OVER")
        assert await page.evaluate(GOLD) == ["GAME OVER and open betting"]
        await press_twice(page)
        await todo(page, "Touch each seat that has a progressive wager, then press START GAME")
        assert books(here).awards == ()


async def test_at_the_award_each_seat_has_its_share_in_sight_and_not_the_loss_of_its_wager(browser, tmp_path):
    async with consoles(tmp_path, progressive_house("nexus")) as here, console_of(browser) as page:
        await at_wagers(here)
        await here.wager((2, "player", 2500), (5, "player", 10_000), (6, "banker", 5000))
        for number in (2, 5, 6):
            await here.table.order(WagerPlaced(number))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await here.draw(SUITED)
        for number in (2, 5):
            await here.table.order(HandButton(number, "mei"))
        await at_work(page, here, "omar")
        await todo(page, "press CONFIRM")

        seats = page.locator("#seat-list .seat")
        await expect(seats).to_have_text(
            [
                "Seat 2last +$25Player +$25 · Progressive award $1,250.08 to be confirmed",
                "Seat 5last +$100Player +$100 · Progressive award $1,250.07 to be confirmed",
                "Seat 6last -$51Banker -$50 · Progressive -$1",
            ]
        )
        for each in await seats.all():
            await expect(each).to_be_in_viewport(ratio=1)
        await expect(page.locator("#award .tier")).to_have_text("25% of the meter: 2-3-4 of one suit")
        await page.locator('[data-order="confirm"]').click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("heading")).to_have_text("Confirm the award of $2,500.15")
        await dialog.get_by_role("button", name="CONFIRM", exact=True).click()

        await headline(page, "Pay seat 2 $1,250.08, then seat 5 $1,250.07")
        await expect(seats.first).to_have_text("Seat 2last +$25Player +$25 · Progressive award $1,250.08")
        await here.table.order(EndGame("mei"))
        await expect(seats.first).to_have_text("Seat 2last +$25Player +$25 · Progressive award")


async def test_a_supervisor_confirms_and_signs_a_nexus_award_at_once_at_a_page_of_their_own(
    browser, tmp_path
):
    async with (
        consoles(tmp_path, progressive_house("nexus")) as here,
        console_of(browser) as page,
        console_of(browser) as desk,
    ):
        await at_wagers(here)
        await at_work(page, here, "mei")
        for number in (2, 5):
            await page.locator(f'[data-hand="{number}"]').click()
            await seat(page, number, "Wager")
        await press_twice(page)
        await todo(page, "deal the hand")
        await here.draw(SUITED)
        await todo(page, "25% of the meter")
        await press_digit(page, 2)
        await press_digit(page, 5)
        await todo(page, "presses CONFIRM")

        await at_work(desk, here, "omar")
        await todo(desk, "press CONFIRM")
        await expect(desk.locator("#award")).to_contain_text("$2,500.10 Award, to be confirmed")
        await expect(desk.locator("#award .shares li")).to_have_text(["Seat 2 $1,250.05", "Seat 5 $1,250.05"])
        await hold_up(desk)
        await desk.locator('[data-order="confirm"]').click()
        dialog = desk.get_by_role("dialog")
        await expect(dialog.locator("button.go")).to_be_enabled()
        await expect(dialog.get_by_label("Password").filter(visible=True)).to_have_count(0)
        await hold_up(desk)
        await press_digit(page, 5)  # taken back at the table, while the supervisor reads
        await expect(dialog).to_contain_text("The table has changed in the meantime")
        await expect(dialog.locator("button.go")).to_be_disabled()
        await desk.keyboard.press("Escape")
        await press_digit(page, 5)
        await todo(desk, "press CONFIRM")
        await caught_up(desk)
        await desk.locator('[data-order="confirm"]').click()
        await dialog.locator("button.go").click()

        await todo(page, "Pay seats 2 and 5, in this order; then press END GAME")
        await headline(page, "Pay seat 2 $1,250.05, then seat 5 $1,250.05")
        await expect(page.locator(".award-orders")).to_be_hidden()
        assert [(each.who, each.by) for each in books(here).awards] == [("omar", "signature")]


@pytest.mark.soak
async def test_a_confirmed_award_whose_card_reader_is_away_is_signed_at_the_dealers_page(browser, tmp_path):
    async with consoles(tmp_path, progressive_house("nexus")) as here, console_of(browser) as page:
        await at_wagers(here)
        for number in (2, 5):
            await here.table.order(WagerPlaced(number))
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await here.draw(SUITED)
        for number in (2, 5):
            await here.table.order(HandButton(number, "mei"))
        await here.table.order(Confirm("omar"))
        await at_work(page, here, "mei")

        await todo(page, "swipe a Supervisor card to complete it, or sign")
        assert await page.evaluate(GOLD) == ["Sign the award"]
        await page.locator('[data-order="sign_award"]').click()
        await expect(page.get_by_role("dialog")).to_contain_text("replaces a Supervisor card")
        await hold_up(page)
        await page.keyboard.press("Escape")
        await sign(page, "sign_award", "ana")
        await todo(page, "Pay seats 2 and 5, in this order; then press END GAME")
        assert [(each.who, each.by) for each in books(here).awards] == [("ana", "signature")]


@pytest.mark.soak
async def test_what_devices_do_is_shown_and_not_pressed(browser, tmp_path):
    swiped: list[str] = []
    given: list[str] = []

    async def take(password: str, *_: Any) -> CardAnswer:
        given.append(password)
        swiped.clear()
        return CardAnswer("accepted", "the award is logged")

    equipment = Equipment(
        gives=lambda: frozenset({"wager_placed", "wager_lifted", "swipe_card"}),
        late=lambda: (7,),
        password_of=lambda: swiped[0] if swiped else None,
        give_password=take,
    )
    async with consoles(tmp_path, progressive_house("nexus"), equipment) as here, console_of(browser) as page:
        await at_wagers(here)
        await here.table.order(WagerPlaced(2))
        await at_work(page, here, "mei")
        await seat(page, 2, "Wager")
        await seat(page, 7, "Late: not in")
        await here.table.order(WagerPlaced(4))
        await here.table.order(WagerVoided(4))
        await seat(page, 4, "Place again")
        await press_digit(page, 3)
        await said(page, "this seat's sensor detects the wager")
        await expect(page.locator(".award-orders button:not([hidden])")).to_have_text(
            ["CONFIRM", "Sign the award", "NOBODY WON"]
        )
        await press_twice(page)
        await here.draw(SUITED)
        await todo(page, "press the hand button of seat 2")
        await press_digit(page, 2)
        await sign(page, "confirm", "omar")
        await expect(page.locator(".swipe-now")).to_have_text("Swipe the card now")
        await hold_up(page)
        for width, height in ((1024, 768), (800, 1280)):
            await page.set_viewport_size({"width": width, "height": height})
            await hold_up(page, axe=False)
        swiped.append("ida")
        await page.get_by_role("button", name="Password of ida").click()
        await page.get_by_role("dialog").get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Complete the award").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert given == [PASSWORD]
        await expect(page.locator("#card-password")).to_be_hidden()


async def test_a_table_without_a_progressive_has_nothing_of_it_and_its_last_hands(page, here):
    await here.load()
    await here.table.play(1)
    await at_work(page, here, "mei")
    await expect(page.locator("#phase")).to_have_text(re.compile("Wagers open"))

    await expect(page.locator("#progressive")).to_be_hidden()
    await expect(page.locator("#last-hands")).to_be_visible()


@pytest.mark.parametrize(("name", "may"), [("omar", True), ("tove", False), *soaked(("ike", True))])
@pytest.mark.soak
async def test_who_may_read_the_meters_books_comes_to_the_game_manager_by_a_link_and_back(
    browser, tmp_path, name, may
):
    async with consoles(tmp_path, progressive_house("nexus")) as here, console_of(browser) as page:
        await at_wagers(here)
        await at_work(page, here, name)
        await expect(page.locator("#progressive")).to_be_visible()
        link = page.get_by_role("link", name="Game Manager")
        await expect(link).to_have_count(int(may))
        if not may:
            return
        for width, height in ((800, 1280), (1024, 768), (1280, 800)):
            await page.set_viewport_size({"width": width, "height": height})
            await hold_up(page, axe=width == 1280)
        await link.click()
        await page.wait_for_url(f"{here.address}/game-manager")
        await page.wait_for_selector("body.live")
        await page.get_by_role("link", name="Supervisor").click()
        await page.wait_for_url(f"{here.address}/supervisor")


@pytest.mark.soak
async def test_the_supervisors_page_of_a_table_without_a_progressive_leads_to_no_game_manager(page, here):
    await here.load()
    await at_work(page, here, "omar")
    await expect(page.locator("#phase")).to_have_text(re.compile("Wagers open"))

    await expect(page.get_by_role("link", name="Game Manager")).to_have_count(0)
