"""The dealer's day at the dealer's page, as docs/how-to/consoles.md tells it."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import time
from typing import Any

import pytest
from playwright.async_api import expect

from punto.baccarat.cards import Card
from punto.baccarat.table.events import ShoeLost
from punto.baccarat.table.order_kinds import CorrectRound, OpenBetting, VoidCoup, VoidRound
from punto.baccarat.table.state import Phase
from punto.controller.orders.doors import Equipment
from punto.drivers.base import LinkHealth
from punto.messages.building import timestamp
from tests.consoles.pages.parts import (
    NOTE_CHANGES,
    PLAYER_NATURAL,
    at_work,
    console_of,
    consoles,
    headline,
    house,
    press_twice,
)
from tests.consoles.pages.test_reach import hold_up
from tests.controller.table_in_this_process import edited, eventually, rows
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

BANKER_BY_ONE = "2H 3C KD KS 4C 4H"
"""Player 6, Banker 7: Banker wins, and no Dragon Bonus."""
SAY = """
import("/static/dialogs.js").then(({ say }) => say("START GAME: " + "the sensors do not answer: ".repeat(4), true))
"""
# Where every button is, by its words.
PLACES = """
Object.fromEntries([...document.querySelectorAll("button, a")].filter(each => each.checkVisibility())
  .map(each => [each.textContent, each.getBoundingClientRect()]).map(([name, { x, y }]) => [name, `${x} ${y}`]))
"""
# Buttons of which something else is met where they are.
COVERED = """
[...document.querySelectorAll("button, a")].filter(each => each.checkVisibility()).filter(each => {
  const { left, right, top, bottom, x, y, width, height } = each.getBoundingClientRect();
  const edges = [[left + 4, y + height / 2], [right - 4, y + height / 2], [x + width / 2, top + 4], [x + width / 2, bottom - 4]];
  return bottom < innerHeight && edges.some(at => !each.contains(document.elementFromPoint(...at)));
}).map(each => each.textContent)
"""


# Hands that begin in sight and end below.
CUT_HANDS = """
[...document.querySelectorAll("dialog article")].map(each => each.firstChild.getBoundingClientRect().top)
  .filter(top => top > 0 && top < document.querySelector(".choices").getBoundingClientRect().top).length - 1
"""


async def owed(page, seat, wagers, total):
    """What is paid to a seat, or taken back: for each wager, and in all."""
    its = page.locator(f'#due-list [data-seat="{seat}"]')
    await expect(its.locator("li")).to_have_text(wagers)
    await expect(its.locator(".sum")).to_have_text(total)


async def test_a_shoe_from_the_first_card_to_the_first_coup_says_what_to_do_at_each_step(browser, tmp_path):
    async with consoles(tmp_path, house(burn="first_card")) as here, console_of(browser) as page:
        await at_work(page, here, "mei")
        await headline(page, "The table is closed")
        await here.table.begin_shoe()
        await headline(page, "Turn the first card")
        await expect(page.locator('#coup [data-card="back"]')).to_have_count(1)
        await here.draw("3D")
        await headline(page, "Burn 3 cards")
        await expect(page.locator("#coup")).to_have_text("3cards left to burn")
        await expect(page.locator('#coup [data-card="back"]')).to_have_count(3)
        await here.draw("9S 9H")
        await headline(page, "Burn 1 card")
        await expect(page.locator("#coup")).to_have_text("1card left to burn")
        await expect(page.locator("#main-order")).to_have_text("F2")
        await expect(page.locator("#main-order")).to_have_accessible_name("Nothing now")
        await here.draw("9D")
        await headline(page, "Place your wagers")
        await expect(page.locator("#phase")).to_have_text("Wagers open")
        await expect(page.locator("#detail")).to_have_text("The first card closes betting")
        await expect(page.locator("#coup h3")).to_have_text(["Player", "Banker"])
        await expect(page.locator(".facts dt")).to_have_text(["Shoe", "Hand"])

        for card, words in (
            ("2S", "First card to Banker"),
            ("3S", "Second card to Player"),
            ("KD", "Second card to Banker"),
            ("2D", "Third card to Player"),  # 4 over 5
            ("6C", "Third card to Banker"),
        ):
            await here.draw(card)
            await headline(page, words)
            await expect(page.locator("#phase")).to_have_text("No more wagers")
        await here.draw("9C")
        await headline(page, "Player wins, 8 to 4")


async def test_a_hand_that_is_over_says_what_each_wager_pays_and_what_is_paid_beside_the_stakes(page, here):
    await here.load()
    await at_work(page, here, "mei")
    await here.wager((1, "player", 2500), (3, "banker", 10_000), (3, "tie", 500))
    await here.wager((4, "player", 5000), (4, "dragon_bonus_player", 5500))
    await expect(page.locator('[data-standing="1"] .wagers')).to_have_text("Player $25")
    await expect(page.locator('[data-standing="3"] .wagers li')).to_have_text(["Banker $100", "Tie $5"])

    await here.draw(PLAYER_NATURAL)

    await expect(page.locator("#result")).to_have_text("Player wins, 9 to 5 · Natural")
    await expect(page.locator("#outcome .pay")).to_have_text(["Player 1 to 1", "DB Player 1 to 1"])
    await expect(page.locator("#stakes")).to_have_text("payoff, stake stays")
    await owed(page, 1, ["Player $25 pays $25"], "$25")
    await owed(page, 4, ["Player $50 pays $50", "DB Player $55 pays $55"], "$105")
    await expect(page.locator("#due-list article")).to_have_count(2)
    await expect(page.locator("#take li")).to_have_text(["Take 3 Banker $100, Tie $5"])
    for side, cards, total in (("player", ["KS", "9H"], "9"), ("banker", ["2S", "3S"], "5")):
        shown = page.locator(f"#coup .{side}")
        await expect(shown.locator(".total")).to_have_text(total)
        assert await shown.locator(".card").evaluate_all("all => all.map(each => each.dataset.card)") == cards


async def test_a_seat_that_is_paid_and_loses_another_wager_is_also_among_those_to_take_from(page, here):
    await here.load()
    await here.wager((1, "player", 2500), (3, "banker", 10_000), (3, "dragon_bonus_banker", 1000))
    await here.draw(BANKER_BY_ONE)
    await at_work(page, here, "mei")

    await owed(page, 3, ["Banker $100 pays $95", "DB Banker $10 take"], "$95")
    await expect(page.locator("#take li")).to_have_text(["Take 1 Player $25 \N{MIDDLE DOT} 3 DB Banker $10"])


async def test_amounts_have_cents_if_one_of_those_to_pay_has_cents(page, here):
    await here.load()
    await here.wager((3, "banker", 10_000), (4, "banker", 2500))
    await here.draw(BANKER_BY_ONE)
    await at_work(page, here, "mei")

    await owed(page, 3, ["Banker $100 pays $95.00"], "$95.00")
    await owed(page, 4, ["Banker $25 pays $23.75"], "$23.75")


async def test_no_order_is_gold_while_seats_wait_to_be_paid_although_betting_is_open(page, here):
    await here.load()
    await here.wager((1, "player", 2500), (3, "banker", 10_000), (7, "banker", 10_000))
    await here.draw(BANKER_BY_ONE)
    await at_work(page, here, "mei")

    await headline(page, "Pay seats 3 and 7")
    await expect(page.locator("#phase")).to_have_text("Wagers open")
    await expect(page.locator("#due-title")).to_have_text("Pay, from your right")
    await expect(page.locator("#main-order")).to_contain_text("Close betting")
    await expect(page.locator("#orders .go")).to_have_count(0)

    await here.wager((1, "player", 2500))
    await headline(page, "Place your wagers")
    await expect(page.locator("#orders .go")).to_have_text([re.compile("Close betting")])
    await expect(page.locator("#due-title")).to_have_text("Last hand")


async def test_no_more_wagers_needs_two_presses_and_a_double_tap_does_nothing(browser, tmp_path):
    async with (
        consoles(tmp_path, house(betting_closes="order")) as here,
        console_of(browser, touch=True) as page,
    ):
        await here.load()
        await at_work(page, here, "mei")
        order = page.locator("#main-order")
        await expect(order).to_contain_text("Close betting")

        await order.evaluate("button => { button.click(); button.click(); }")
        await expect(order).to_contain_text("Press again: close betting")
        assert here.phase() is Phase.BETTING

        await page.wait_for_timeout(400)
        await order.tap()
        await headline(page, "First card to Player")
        assert here.phase() is Phase.DEALING


async def test_a_second_press_counts_from_150_milliseconds_on(browser, tmp_path):
    async with consoles(tmp_path, house(betting_closes="order")) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        began = datetime(2026, 3, 14, 21, 5, 9, tzinfo=UTC)
        await page.clock.set_fixed_time(began)
        await page.keyboard.press("F2")
        await page.wait_for_selector("#main-order.armed")

        await page.clock.set_fixed_time(began + timedelta(milliseconds=149))
        await page.keyboard.press("F2")
        await expect(page.locator("#main-order.armed")).to_have_count(1)
        assert here.phase() is Phase.BETTING
        await page.clock.set_fixed_time(began + timedelta(milliseconds=150))
        await page.keyboard.press("F2")

        await headline(page, "First card to Player")


async def test_a_stray_enter_chooses_no_card(browser, tmp_path):
    async with consoles(tmp_path, house(cards="keyed")) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await page.keyboard.press("F4")
        await expect(page.locator('[data-key="A"]')).to_be_focused()

        await page.keyboard.press("Enter")

        await expect(page.locator(".card-key[aria-pressed=true]")).to_have_count(0)
        await page.keyboard.press("Space")
        await expect(page.locator('[data-key="A"]')).to_have_attribute("aria-pressed", "true")


async def test_a_shoe_that_is_offline_says_what_to_do_first_and_why_last(browser, tmp_path):
    async with consoles(tmp_path) as here, console_of(browser) as page:
        await here.load()
        await here.draw("KS 2S")
        await here.table.shoe(ShoeLost("/dev/serial/by-id/usb-FTDI_shoe: no such file"))
        await at_work(page, here, "mei")

        await headline(page, "The shoe is offline")
        await expect(page.locator("#detail")).to_have_text(
            "Key the cards that end this hand, or wait for the shoe /dev/serial/by-id/usb-FTDI_shoe: no such file"
        )
        await expect(page.locator("#detail small")).to_have_text(
            "/dev/serial/by-id/usb-FTDI_shoe: no such file"
        )
        await expect(page.locator("#away")).not_to_contain_text("/dev/")


@pytest.mark.punctual
@pytest.mark.soak
async def test_a_first_press_is_forgotten_after_six_seconds(browser, tmp_path):
    async with consoles(tmp_path, house(betting_closes="order")) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await page.keyboard.press("F2")
        await page.wait_for_selector("#main-order.armed")

        await page.wait_for_selector("#main-order:not(.armed)", timeout=7000)

        assert here.phase() is Phase.BETTING


async def test_how_many_games_a_player_may_wager_on_and_a_simulation_are_shown_at_the_top(browser, tmp_path):
    own = house("dai-bacc", cards="keyed", simulation=True)
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await at_work(page, here, "mei")

        await expect(page.locator("#table-name")).to_have_text("Baccarat 1 · SIMULATION")
        await expect(page.locator("#game")).to_contain_text("limited to wagering on a maximum of 4 games")


async def test_hands_that_lie_face_down_are_shown_and_settled_by_the_reveal_alone(browser, tmp_path):
    async with consoles(tmp_path, house("midi-baccarat")) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await here.draw(PLAYER_NATURAL)
        await headline(page, "Reveal the hands")
        await expect(page.locator('#coup [data-card="back"]')).to_have_count(4)
        assert "KS" not in await page.content()

        await press_twice(page, "F2", "#main-order")

        await expect(page.locator("#result")).to_have_text("Player wins, 9 to 5 · Natural")
        await expect(page.locator('#coup [data-card="KS"]')).to_have_count(1)


@pytest.mark.parametrize("by", ["touch", *soaked("keyboard")])
async def test_a_card_that_the_shoe_could_not_read_is_keyed(browser, tmp_path, by):
    async with consoles(tmp_path) as here, console_of(browser, touch=True) as page:
        await here.load()
        await at_work(page, here, "mei")
        await expect(page.locator("#keying")).to_be_hidden()
        await here.draw("KS 2S")
        await here.draw_unread()

        await headline(page, "Key Player's second card")
        await expect(page.locator("#detail")).to_have_text("The shoe could not read the card: key the card")
        if by == "touch":
            await page.get_by_role("button", name="10", exact=True).tap()
            await page.get_by_role("button", name="diamonds").tap()
            await page.get_by_role("button", name="Key 10 of diamonds").tap()
        else:
            await page.keyboard.type("10d")
            await expect(page.locator("#key-order")).to_contain_text("Key 10 of diamonds")
            await expect(page.locator('[data-key="D"]')).to_be_focused()  # and not the key of another card
            await page.keyboard.press("Enter")

        await headline(page, "Second card to Banker")
        await expect(page.locator("#keying")).to_be_hidden()
        assert [str(card) for card in here.table.state.shoe.drawn] == ["KS", "2S", "TD"]


@pytest.mark.soak
async def test_a_card_that_is_refused_says_why_and_can_be_keyed_again(browser, tmp_path):
    async with consoles(tmp_path) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await here.draw("KS 9S KH KS " * 4)
        await here.draw_unread()
        await headline(page, "Key Player's first card")

        await page.keyboard.type("ks")
        await page.keyboard.press("Enter")
        await expect(page.locator("#said")).to_contain_text("All copies of KS (8) have already left the shoe")
        await page.keyboard.type("q")
        await page.keyboard.press("Backspace")
        await page.keyboard.type("9h")
        await page.keyboard.press("Enter")

        await headline(page, "First card to Banker")


async def test_a_whole_hand_is_keyed_by_keyboard_alone_where_no_shoe_reads(browser, tmp_path):
    own = house(cards="keyed", betting_closes="order", next_coup="order")
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")
        await press_twice(page, "F2", "#main-order")
        await headline(page, "Key Player's first card")
        sent: list[Any] = []
        page.on("request", lambda request: sent.append(request.post_data_json))
        for card, words in (
            ("ks", "Key Banker's first card"),
            ("2s", "Key Player's second card"),
            ("9h", "Key Banker's second card"),
            ("3s", None),
        ):
            await page.keyboard.type(card)
            await page.keyboard.press("Enter")
            if words is not None:
                await headline(page, words)
        await eventually(lambda: here.table.state.history.last is not None, "the hand is over")
        await expect(page.locator("#result")).to_have_text("Player wins, 9 to 5 · Natural")
        await expect(page.locator("#phase")).to_have_text("Paying")
        keyed = [each for each in sent if each is not None and each.get("order") == "key_card"]
        assert [(each["card"], each["position"]) for each in keyed] == [
            ("KS", 1),
            ("2S", 2),
            ("9H", 3),
            ("3S", 4),
        ]

        await press_twice(page, "F2", "#main-order")
        await headline(page, "Place your wagers")


@pytest.mark.parametrize(
    ("cards", "drawn", "now", "by"),
    [
        ("keyed", "", "Place your wagers", "F4"),
        ("shoe", "KS 2S", "The shoe is offline", "click"),
        *soaked(
            ("keyed", "", "Place your wagers", "click"),
            ("shoe", "KS 2S", "The shoe is offline", "F4"),
        ),
    ],
)
async def test_wherever_key_a_card_is_offered_pressing_it_shows_the_card_keys_until_the_hand_is_over(
    browser, tmp_path, cards, drawn, now, by
):
    async with consoles(tmp_path, house(cards=cards, next_coup="order")) as here, console_of(browser) as page:
        await here.load()
        if drawn:
            await here.draw(drawn)
            await here.table.shoe(ShoeLost("no sign of life"))
        await at_work(page, here, "mei")
        await headline(page, now)
        await expect(page.locator("#keying")).to_be_hidden()

        await (page.locator("#ask-keys").click() if by == "click" else page.keyboard.press(by))

        dealt = drawn.split()
        for card in PLAYER_NATURAL.split()[len(dealt) :]:
            await expect(page.locator("#keying")).to_be_visible()
            await page.keyboard.type(card.lower())
            await page.keyboard.press("Enter")
            dealt.append(card)
            await expect(page.locator("#coup .card")).to_have_count(len(dealt))
        await expect(page.locator("#result")).to_have_text("Player wins, 9 to 5 · Natural")
        await expect(page.locator("#keying")).to_be_hidden()
        await page.locator("#ask-keys").click(force=True)
        await expect(page.locator("#said")).to_contain_text("No card can be keyed now")


@pytest.mark.soak
async def test_a_supervisor_is_called_by_one_press_and_the_reason_follows(page, here, browser):
    await at_work(page, here, "mei")
    async with console_of(browser) as other:
        await at_work(other, here, "omar")
        await page.keyboard.press("F8")
        await expect(other.locator("#trouble-list .alarm p")).to_have_text("A supervisor is called")
        await expect(page.locator("[data-order=call_supervisor]")).to_have_text(
            re.compile(r"^Called \d\d:\d\d")
        )
        await page.keyboard.press("F8")
        call = page.get_by_role("dialog")
        await expect(call.get_by_role("heading")).to_have_text(
            re.compile(r"^Supervisor called at \d\d:\d\d$")
        )
        await expect(call).to_contain_text("The reason can follow")
        await expect(call.get_by_role("button", name="Send the reason")).to_be_disabled()
        await expect(call.get_by_role("button")).to_contain_text(["No reason", "Send the reason"])
        await call.get_by_role("button", name="A dispute at the table").click()
        await call.get_by_role("button", name="Send the reason").click()

        await expect(other.locator("#trouble-list .alarm p")).to_have_text("A dispute at the table")
        await expect(other.locator("#trouble-list .alarm small")).to_have_text(
            re.compile(r"^since \d+ \w+ 20\d\d, \d\d:\d\d:\d\d, called by mei$")
        )
        trouble, now = other.locator("#trouble"), other.locator("#now")
        assert await trouble.evaluate("each => each.getBoundingClientRect().bottom") <= await now.evaluate(
            "each => each.getBoundingClientRect().top"
        )
    assert [each.code for each in here.table.state.alarms] == ["supervisor_called"]


async def test_the_last_hands_include_the_one_that_the_page_has_not_fetched_yet(page, here):
    pressed = asyncio.Event()

    async def answer_late(route):
        await pressed.wait()
        await route.continue_()

    await here.load()
    await at_work(page, here, "mei")
    await page.route("**/api/rounds?*", answer_late)
    await here.table.play(1)
    await expect(page.locator("#result")).not_to_be_empty()

    await page.keyboard.press("F9")
    pressed.set()

    await expect(page.get_by_role("dialog")).to_contain_text("Hand 1 of shoe 1")


@pytest.mark.soak
async def test_the_last_ten_hands_are_shown_in_full(page, here):
    await here.load()
    await here.table.play(11, seats=[2])
    await at_work(page, here, "mei")
    await expect(page.locator("#hand-strip button")).to_have_count(10)
    last = here.table.state.history.last
    assert last is not None

    await page.keyboard.press("F9")

    shown = page.get_by_role("dialog").locator("article")
    await expect(shown).to_have_count(10)
    await expect(page.get_by_role("heading", name="Last ten hands, newest first")).to_be_in_viewport(ratio=1)
    assert await page.evaluate(CUT_HANDS) == 0
    newest = shown.first
    await expect(newest).to_contain_text(f"Hand {last.coup} of shoe 1")
    dealt = await newest.locator(".card").evaluate_all("all => all.map(each => each.dataset.card)")
    assert dealt == [str(card) for card in (*last.player, *last.banker)]
    await expect(newest.locator("tbody tr")).to_have_count(1)
    await expect(newest.locator("tbody td").nth(3)).to_have_text("$50")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)

    await page.locator("#hand-strip button").nth(4).click()
    await expect(page.get_by_role("dialog").locator("article").nth(4)).to_be_focused()


async def test_below_what_is_taken_are_the_next_hands_wagers_and_totals_are_as_they_are_called(page, here):
    await here.load()
    await here.wager((1, "player", 2500))
    await here.draw("2C 8H 4D QC")
    await here.wager((3, "banker", 5000))
    await at_work(page, here, "mei")

    await expect(page.locator("#result")).to_have_text("Banker wins, 8 to 6 · Natural")
    await expect(page.locator("#hand-strip span")).to_have_text("8\N{EN DASH}6")
    await expect(page.locator("#seats-title")).to_have_text("Wagers of the next hand")
    await expect(page.locator("#game")).not_to_contain_text("mei")  # whose name is at the right
    await here.draw("KS")
    await expect(page.locator("#seats-title")).to_have_text("Wagers")


@pytest.mark.soak
async def test_the_pace_is_shown_to_the_supervisor_in_hands_an_hour(page, here):
    await here.load()
    await at_work(page, here, "omar")
    await expect(page.locator("#hands-an-hour")).to_have_text("\N{EN DASH}")

    await here.table.play(5)
    with edited(here.record) as record:
        then = timestamp(datetime.now(UTC) - timedelta(minutes=20))
        record.execute("UPDATE rounds SET ts = ?", (then,))
    await here.table.play(1)

    await expect(page.locator("#hands-an-hour")).not_to_have_text("\N{EN DASH}")


@pytest.mark.soak
async def test_a_push_leaves_the_wager_where_it_lies(page, here):
    await here.load()
    await here.wager((1, "player", 2500))
    await here.draw("KS 2S 9H 7D")
    await at_work(page, here, "mei")

    await expect(page.locator("#due-title")).to_have_text("Nothing to pay")
    await expect(page.locator("#take li")).to_have_text(["Leave 1 Player $25"])


@pytest.mark.parametrize("next_coup", ["order", *soaked("automatic")])
@pytest.mark.soak
async def test_a_correction_and_a_void_say_the_difference_of_each_seat_and_why(browser, tmp_path, next_coup):
    async with consoles(tmp_path, house(next_coup=next_coup)) as here, console_of(browser) as page:
        await here.load()
        await here.wager(
            (1, "player", 5000), (2, "tie", 500), (4, "banker", 500), (4, "dragon_bonus_banker", 500)
        )
        await here.draw(PLAYER_NATURAL)
        await at_work(page, here, "mei")
        await expect(page.locator("#result")).to_have_text("Player wins, 9 to 5 · Natural")
        await expect(page.locator("#why")).to_be_empty()

        last = here.table.state.history.last
        assert last is not None
        banker = (last.banker[0], Card("7D"))
        await here.table.order(CorrectRound("omar", 1, last.player, banker, "misread", "ana"))

        await expect(page.locator("#result")).to_have_text("Hand 1 corrected: Tie, 9 all · Natural")
        await expect(page.locator("#why")).to_have_text("By omar, approved by ana: misread")
        await owed(page, 1, ["Player \N{MINUS SIGN}$50"], "Take back $50")
        await owed(page, 2, ["Tie pays $45"], "$45")
        await owed(page, 4, ["Banker pays $5", "DB Banker pays $5"], "$10")
        paid_first = page.locator("#due-list article")
        assert await paid_first.evaluate_all("all => all.map(each => each.dataset.seat)") == ["2", "4", "1"]

        await here.table.order(VoidRound("omar", 1, "wrong shoe"))

        await expect(page.locator("#result")).to_have_text("Hand 1 voided")
        await expect(page.locator("#why")).to_have_text("By omar: wrong shoe")
        await owed(page, 2, ["Tie \N{MINUS SIGN}$40"], "Take back $40")
        await expect(page.locator("#take li")).to_have_text(["No change 1 · 4 "])
        then = "open betting" if next_coup == "order" else "take wagers"
        await headline(page, "Hand 1 voided")
        await expect(page.locator("#detail")).to_have_text(f"Pay and take back the differences, then {then}")
        await expect(page.locator("#orders .go")).to_have_count(0)
        if next_coup == "order":
            await here.table.order(OpenBetting("mei"))
        await here.wager((1, "player", 5000))
        await here.draw(PLAYER_NATURAL)
        await owed(page, 1, ["Player $50 pays $50"], "$50")


async def test_a_hand_voided_before_its_end_has_all_wagers_returned(browser, tmp_path):
    async with consoles(tmp_path, house(next_coup="order")) as here, console_of(browser) as page:
        await here.load()
        await here.wager((1, "player", 2500))
        await here.draw("KS 2S")
        await here.table.order(VoidCoup("omar", "misdeal"))
        await at_work(page, here, "mei")

        await headline(page, "Return all wagers")
        await expect(page.locator("#detail")).to_have_text("Then open betting")
        await expect(page.locator("#result")).to_have_text("Void: return all wagers")
        await owed(page, 1, ["Player $25 return"], "Return $25")


@pytest.mark.soak
async def test_corrections_and_voids_have_marks_and_words_of_their_own_among_the_last_hands(page, here):
    await here.load()
    await here.draw(PLAYER_NATURAL)
    last = here.table.state.history.last
    assert last is not None
    banker = (last.banker[0], Card("7D"))
    await here.table.order(CorrectRound("omar", 1, last.player, banker, "misread"))
    await here.table.order(VoidRound("omar", 1, "wrong shoe"))
    await here.draw("KS 2S")
    await here.table.order(VoidCoup("omar", "misdeal"))
    await at_work(page, here, "mei")

    marks = page.locator("#hand-strip button")
    await expect(marks.locator("b")).to_have_text(["V", "V", "C", "P"])
    for mark, words in zip(
        await marks.all(),
        ("2: Void", "1 V: Hand 1 voided", "1 C: Hand 1 corrected: Tie, 9 all", "1: Player wins"),
        strict=True,
    ):
        await expect(mark).to_have_accessible_name(re.compile(f"^Hand {words}"))


AWAY = LinkHealth("127.0.0.1:1883", False, "Connection refused", datetime.now(UTC), None, {})
HERE = LinkHealth("/dev/serial/by-id/keypad", True, "", datetime.now(UTC), "KP-000123", {})


@pytest.mark.parametrize("name", ["mei", *soaked("omar")])
async def test_what_is_away_is_shown_at_the_top_and_every_device_below(browser, tmp_path, name):
    links = {"keypad": HERE, "broker": AWAY}
    async with (
        consoles(tmp_path, equipment=Equipment(links=lambda: links)) as here,
        console_of(browser) as page,
    ):
        await here.load()
        await here.table.shoe(ShoeLost("no sign of life"))
        await at_work(page, here, name)

        await headline(page, "The shoe is offline")
        await expect(page.locator("#away p")).to_have_text(
            [re.compile("^The shoe is offline"), re.compile("^The message broker is offline: displays")]
        )
        await expect(page.locator("body")).not_to_contain_text("No stop and no alarm")

        await page.get_by_role("button", name="Devices").click()
        lines = page.get_by_role("dialog").locator("tbody tr")
        await expect(lines).to_have_count(3)
        for line, words in zip(
            await lines.all(),
            (
                "Shoe offline .* no sign of life serial IS-1",
                "Keypad online .* serial KP-000123",
                "Message broker offline .* Connection refused 127.0.0.1:1883",
            ),
            strict=True,
        ):
            assert re.match(words, " ".join((await line.inner_text()).split()))
        await hold_up(page)

        links["broker"] = replace(AWAY, connected=True)
        await here.table.hello()
        await expect(page.locator("#away p")).to_have_count(0)
        await expect(lines.nth(2)).to_contain_text("online")  # a view later, in the dialog too


@pytest.mark.parametrize(("width", "height"), [(1280, 720), *soaked((1920, 1080), (1024, 768))])
@pytest.mark.parametrize("name", ["mei", *soaked("omar")])
@pytest.mark.soak
async def test_a_message_covers_no_button_and_moves_none(browser, tmp_path, name, width, height):
    async with consoles(tmp_path) as here, console_of(browser, width, height) as page:
        await here.load()
        await here.table.play(10)
        await at_work(page, here, name)
        if name == "mei":
            await expect(page.locator("#hand-strip button")).to_have_count(10)
        before = await page.evaluate(PLACES)
        await page.evaluate(SAY)
        await expect(page.locator("#said")).to_be_visible()

        assert {key: each for key, each in (await page.evaluate(PLACES)).items() if key != "OK"} == before
        assert await page.evaluate(COVERED) == []


@pytest.mark.parametrize("name", ["mei", *soaked("omar")])
async def test_a_phone_shows_sign_off_and_a_touch_screen_no_keys(browser, tmp_path, name):
    async with consoles(tmp_path) as here, console_of(browser, 390, 844, touch=True) as page:
        await here.load()
        await at_work(page, here, name)

        await expect(page.get_by_role("button", name="Sign off")).to_be_in_viewport(ratio=1)
        await hold_up(page, axe=False)
        assert await page.locator("kbd:visible").count() == 0


@pytest.mark.punctual
async def test_a_lost_connection_is_reported_within_three_seconds_and_blocks_every_order(page, here):
    await here.load()
    await at_work(page, here, "mei")
    await expect(page.locator("#main-order")).to_be_enabled()
    await page.keyboard.press("F8")
    await expect(page.locator("[data-order=call_supervisor]")).to_contain_text("Called")

    await page.evaluate(NOTE_CHANGES)
    began = time()
    await here.close()
    await page.wait_for_selector("body:not(.live)")

    assert await page.evaluate("changed") - began < 3
    await expect(page.locator("#not-live")).to_have_text(
        "NOT LIVE Deal no card. Call a supervisor aloud. No connection to the table's service"
    )
    await headline(page, "Deal no card")
    await expect(page.locator("#detail")).to_have_text("Shown last: Place your wagers")
    await expect(page.locator("#main-order")).to_be_disabled()
    await expect(page.locator("[data-order=call_supervisor]")).to_be_disabled()
    await expect(page.locator("[data-order=call_supervisor] span")).to_have_text("Call aloud")
    inputs = here.table.engine.seq
    await page.keyboard.press("F2")
    await page.keyboard.press("F8")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert here.table.engine.seq == inputs


@pytest.mark.soak
async def test_names_with_html_in_them_are_shown_as_text(browser, tmp_path):
    name = "<img src=x onerror=\"document.title='broken in'\"><b>VIP</b> & Co"
    async with consoles(tmp_path, house(name=name)) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "mei")

        await expect(page.locator("#table-name")).to_have_text(name)
        await page.keyboard.press("F8")
        await expect(page.locator("[data-order=call_supervisor]")).to_contain_text("Called")
        await page.keyboard.press("F8")
        await page.get_by_label("Reason").fill(name)
        await page.get_by_role("dialog").get_by_role("button", name="Send the reason").click()
        async with console_of(browser) as other:
            await at_work(other, here, "omar")
            await expect(other.locator("#trouble-list .alarm p")).to_have_text(name)
            assert await other.locator("#trouble-list img").count() == 0
        assert rows(here.record, "SELECT count(*) FROM inputs WHERE payload LIKE '%call_supervisor%'") == [
            (2,)
        ]
