"""The supervisor's day at the supervisor's page, as docs/how-to/consoles.md tells it."""

import asyncio
import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pypdf
import pytest
from playwright.async_api import Page, Route, expect

from punto.baccarat.cards import Card
from punto.baccarat.table.events import LidMoved
from punto.baccarat.table.meters import every
from punto.baccarat.table.order_kinds import (
    CallSupervisor,
    CloseTable,
    CorrectRound,
    HoldPlay,
    KeyCard,
    ResumePlay,
    VoidRound,
)
from punto.baccarat.table.state import Phase
from punto.messages.building import timestamp
from punto.reports.shift import MOST_LISTED
from punto.runtime.gaming_days import written_day
from tests.consoles.pages.parts import (
    PASSWORD,
    PLAYER_NATURAL,
    at_work,
    caught_up,
    console_of,
    consoles,
    headline,
    house,
    open_part,
)
from tests.controller.table_in_this_process import edited, rows
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAGERS = ((1, "player", 2500), (3, "banker", 10_000), (4, "tie", 500))


async def order(page: Page, name: str):
    """Press an order and return its dialog."""
    await caught_up(page)
    await page.get_by_role("button", name=name, exact=True).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_be_visible()
    return dialog


async def confirm(dialog, name: str) -> None:
    """Confirm an order that is ready, and wait until it is done."""
    await dialog.get_by_role("button", name=name, exact=True).click()
    await expect(dialog).to_have_count(0)


async def pick(dialog, place: str, card: str) -> None:
    """Choose a card of a hand and key what it really is."""
    await dialog.get_by_role("button", name=re.compile(f"^{place} card")).click()
    await dialog.page.keyboard.type(card)


async def due(dialog) -> dict[str, str]:
    """What is due to each seat, by the dialog."""
    found = await dialog.locator(".preview tbody tr").evaluate_all(
        "rows => rows.map(row => [row.cells[0].textContent, row.cells[2].textContent])"
    )
    return dict(found)


async def test_the_table_is_opened_played_closed_and_locked_each_after_a_confirmation(page, here):
    await at_work(page, here, "omar")
    assert here.phase() is Phase.CLOSED
    await here.table.hello()
    for name, phase in (
        ("Change the shoe", Phase.SHOE_CHANGE),
        ("Open betting", Phase.BETTING),
        ("Close betting", Phase.DEALING),
    ):
        dialog = await order(page, name)
        before = here.table.engine.seq
        await dialog.get_by_role("button", name="Cancel").click()
        assert here.table.engine.seq == before
        await confirm(await order(page, name), name)
        assert here.phase() is phase
    await here.draw(PLAYER_NATURAL)
    await confirm(await order(page, "Close the table"), "Close the table")
    assert here.phase() is Phase.CLOSED

    await confirm(await order(page, "Lock the table"), "Lock the table")
    assert here.phase() is Phase.LOCKED
    await headline(page, "The table is locked")

    await confirm(await order(page, "Unlock the table"), "Unlock the table")
    assert (here.phase(), here.table.state.operator) == (Phase.CLOSED, "omar")


async def test_a_shoe_change_says_what_it_ends_and_then_what_to_burn(browser, tmp_path):
    async with consoles(tmp_path, house(burn="first_card")) as here, console_of(browser) as page:
        await at_work(page, here, "omar")
        await here.table.hello()
        dialog = await order(page, "Change the shoe")
        await expect(dialog).to_contain_text("The first shoe is loaded.")
        await confirm(dialog, "Change the shoe")
        await headline(page, "Turn the first card")
        await here.draw("2D")
        await headline(page, "Burn 2 cards")
        await here.draw("2D 2D")
        await here.draw(PLAYER_NATURAL)
        await here.wager((1, "player", 2500))
        await page.reload()
        await page.wait_for_selector("body.live")

        dialog = await order(page, "Change the shoe")
        await expect(dialog).to_contain_text("Shoe 1 ends after 1 hands")
        await expect(dialog).to_contain_text("Wagers on the table are returned: those of 1 seat.")
        await confirm(dialog, "Change the shoe")
        assert (here.table.state.shoe.number, here.table.state.round.wagers) == (2, ())


async def test_a_void_shows_what_goes_back_and_wants_a_reason(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw("KS 2S")
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the hand")
    go = dialog.get_by_role("button", name="Void the hand")
    await expect(dialog).to_contain_text("Say why: the reason goes on the record.")
    await expect(go).to_be_disabled()

    await dialog.get_by_role("button", name="Misdeal").click()

    await expect(go).to_be_enabled()
    assert await due(dialog) == {"1": "Return $25", "3": "Return $100", "4": "Return $5"}
    await confirm(dialog, "Void the hand")
    last = here.table.state.history.last
    assert last is not None
    assert (last.status, last.who, last.reason) == ("void", "omar", "Misdeal")


async def test_a_card_is_corrected_before_settlement_and_how_the_hand_then_ends_is_shown_first(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw("KS 2S 5S 3S")  # 5 against 5: Player is to draw
    await at_work(page, here, "omar")
    dialog = await order(page, "Correct a card")
    await pick(dialog, "Player's second", "9s")
    await dialog.get_by_role("button", name="Keyed wrongly").click()
    await expect(dialog).to_contain_text("The hand ends: Player wins, 9 to 5.")
    assert await due(dialog) == {"1": "Return $50", "3": "Return $0", "4": "Return $0"}
    assert here.table.state.round.coup is not None

    await confirm(dialog, "Correct the card")

    last = here.table.state.history.last
    assert last is not None
    assert [(each.position, each.before, each.after, each.who) for each in last.corrections] == [
        (3, "5S", "9S", "omar")
    ]


@pytest.mark.soak
async def test_the_third_cards_are_corrected_in_the_order_they_were_dealt(page, here):
    await here.load()
    await here.draw("KS 2S KS 3S 6D")  # Player 6 after three, Banker 5 draws on a 6
    await at_work(page, here, "omar")
    dialog = await order(page, "Correct a card")
    await pick(dialog, "Player's third", "7d")
    await dialog.get_by_role("button", name="Keyed wrongly").click()
    await expect(dialog).to_contain_text("The hand goes on with this card.")
    await confirm(dialog, "Correct the card")
    assert here.table.state.round.coup is not None
    assert [str(card) for card in here.table.state.round.coup.cards] == ["KS", "2S", "KS", "3S", "7D"]


async def test_a_settled_round_is_corrected_only_after_its_pay_difference_is_shown(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw(PLAYER_NATURAL)
    await at_work(page, here, "omar")
    dialog = await order(page, "Correct the last hand")
    go = dialog.get_by_role("button", name="Correct hand 1")
    await expect(go).to_be_disabled()
    await dialog.get_by_role("button", name="Misread by the shoe").click()
    await expect(go).to_be_disabled()
    await pick(dialog, "Player's second", "4h")
    await expect(dialog).to_contain_text(
        "because by the rules these hands need one more card, which was not drawn"
    )
    await expect(go).to_be_disabled()

    await pick(dialog, "Player's second", "9h")  # as it was
    await expect(dialog).to_contain_text("Choose a card, then its rank and suit.")
    await pick(dialog, "Banker's second", "7d")  # 9 over 9
    await expect(dialog.locator(".preview")).to_contain_text("Corrected result: Tie, 9 all")
    assert await due(dialog) == {
        "1": "Take back $25",
        "3": "Pay $100",
        "4": "Pay $45",
    }
    assert here.table.state.round.number == 2
    await confirm(dialog, "Correct hand 1")

    await page.keyboard.press("F9")
    await page.get_by_role("link", name=re.compile("Hand 1 corrected: Tie")).click()
    entry = page.locator("#hand-shown article")
    await expect(entry).to_contain_text("By omar: Misread by the shoe")
    assert await entry.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    ) == [["1", "Player", "-$25"], ["3", "Banker", "+$100"], ["4", "Tie", "+$45"]]


async def test_a_corrected_hand_says_so_in_the_list_and_on_its_own_record(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw(PLAYER_NATURAL)
    await here.table.order(
        CorrectRound("omar", 1, (Card("KS"), Card("9H")), (Card("2S"), Card("7D")), "Misread by the shoe")
    )
    await here.draw(PLAYER_NATURAL)
    await here.table.order(VoidRound("ana", 3, "Misdeal"))
    await at_work(page, here, "omar")
    await page.keyboard.press("F9")
    shown = page.locator("#hand-list")
    await expect(shown.locator("h3")).to_have_text(["Shoe 1"])
    await expect(shown.locator("a b")).to_have_text(["2 V", "2", "1 C", "1"])
    marks = [await each.locator("em").all_inner_texts() for each in await shown.locator("a").all()]
    assert [[mark[-1:] for mark in own] for own in marks] == [[], ["V"], [], ["C"]]

    await shown.locator("a").last.click()

    record = page.locator("#hand-shown article")
    await expect(record).to_contain_text("Player wins, 9 to 5")
    await expect(record).to_contain_text(re.compile(r"Hand 1 of shoe 1, \d\d:\d\d · record no\. 1"))
    band = record.locator(".changed")
    await expect(band).to_have_text(
        re.compile(r"^Corrected at \d\d:\d\d by omar to Tie, 9 all See the entry$")
    )
    await band.get_by_role("link").click()
    await expect(record.locator("h3").first).to_have_text("Hand 1 corrected: Tie, 9 all")
    await expect(record).to_contain_text("Hand 1 C of shoe 1")
    await expect(band).to_have_count(0)
    await expect(page.locator("#hand-shown")).to_contain_text(here.table.state.settings.game.title)
    await shown.locator("a").nth(1).click()
    await expect(band).to_have_text(re.compile(r"^Voided at \d\d:\d\d by ana See the entry$"))


@pytest.mark.soak
async def test_a_settled_round_is_voided_after_its_pay_difference_is_shown(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw(PLAYER_NATURAL)
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the last hand")
    await dialog.get_by_label("Reason").fill("Wrong hand dealt")
    await expect(dialog.get_by_role("button", name="Void hand 1")).to_be_enabled()
    assert await due(dialog) == {"1": "Take back $25", "3": "Pay $100", "4": "Pay $5"}

    await confirm(dialog, "Void hand 1")

    last = here.table.state.history.last
    assert last is not None
    assert last.status == "void"
    await expect(page.get_by_role("button", name="Void the last hand")).to_be_disabled()


@pytest.mark.soak
async def test_an_order_for_a_hand_is_off_when_the_table_has_gone_on(page, here):
    await here.load()
    await here.draw("KS 2S")
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the hand")
    await dialog.get_by_role("button", name="Misdeal").click()
    go = dialog.get_by_role("button", name="Void the hand")
    await expect(go).to_be_enabled()

    await here.draw("9H 3S")
    await here.draw("KS")

    await expect(dialog).to_contain_text("The table has changed in the meantime.")
    await expect(go).to_be_disabled()


async def test_nothing_can_be_confirmed_while_the_table_is_not_live(page, here):
    await here.load()
    await here.draw("KS 2S")
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the hand")
    await dialog.get_by_role("button", name="Misdeal").click()
    go = dialog.get_by_role("button", name="Void the hand")
    await expect(go).to_be_enabled()

    await here.close()

    await expect(go).to_be_disabled()
    await expect(dialog).to_contain_text("NOT LIVE: no order can be given")
    await headline(page, "Deal no card")


@pytest.mark.soak
async def test_another_shoe_is_accepted_by_the_serial_number_on_its_plate(page, here):
    await here.load()
    await at_work(page, here, "omar")
    await here.another_shoe("IS-2")
    await headline(page, "Stop: a supervisor is needed")
    dialog = await order(page, "Accept the shoe")
    await dialog.get_by_label("Serial number").fill("IS-3")
    await expect(dialog).to_contain_text("The shoe that waits is IS-2, not IS-3")
    await expect(dialog.get_by_role("button", name="Accept the shoe")).to_be_disabled()

    await dialog.get_by_label("Serial number").fill("IS-2")
    await confirm(dialog, "Accept the shoe")

    assert (here.table.state.link.serial, here.table.state.waiting.stops) == ("IS-2", ())
    await headline(page, "Place your wagers")


@pytest.mark.soak
async def test_play_is_resumed_by_somebody_who_says_what_they_saw(page, here):
    await here.load()
    await here.draw("KS")
    await at_work(page, here, "omar")
    await here.table.shoe(LidMoved(here.table.state.link.expected, open=True))
    await here.table.shoe(LidMoved(here.table.state.link.expected, open=False))
    await expect(page.locator(".stop")).to_contain_text("lid")
    dialog = await order(page, "Resume play")
    await dialog.get_by_role("button", name="Lid closed, cards undisturbed").click()
    await expect(dialog).to_contain_text("This order is possible now.")

    await confirm(dialog, "Resume play")

    await headline(page, "First card to Banker")


async def test_a_stop_says_since_when_and_play_is_resumed_by_one_press_on_what_was_seen(page, here):
    await here.load()
    await at_work(page, here, "omar")
    await here.table.order(HoldPlay("mei", "The last hand is disputed"))
    stop = page.locator(".stop")
    await expect(stop).to_contain_text(re.compile(r"since .*, held by mei"))
    await expect(page.locator("main:not([hidden]) button.go")).to_have_text(["Resume play"])

    await page.clock.set_fixed_time(datetime.now(UTC))  # so the second press comes soon enough on any machine
    await stop.get_by_role("button", name="Seen on surveillance").dblclick()

    await expect(page.locator("#said-text")).to_have_text("Resume play: done")
    await expect(stop).to_have_count(0)
    assert here.table.state.waiting.stops == ()
    (resumed,) = rows(
        here.record,
        "SELECT json_extract(payload, '$.reason') FROM inputs WHERE json_extract(payload, '$.kind') = 'resume_play'",
    )
    assert resumed == ("Seen on surveillance",)


async def test_the_second_half_of_a_double_tap_does_not_acknowledge_the_next_alarm(page, here):
    await here.load()
    await at_work(page, here, "omar")
    for reason in ("A dispute at the table", "A card is not known"):
        await here.table.order(CallSupervisor("mei", reason))
    await expect(page.locator(".alarm")).to_have_count(2)
    await page.clock.set_fixed_time(datetime.now(UTC))  # so the second press comes soon enough on any machine
    await page.evaluate(
        """() => {
          const press = () => document.querySelector(".alarm button").click();
          new MutationObserver(press).observe(document.querySelector("#trouble-list"), { childList: true });
          press();
        }"""
    )

    await expect(page.locator(".alarm")).to_have_count(1)
    await caught_up(page)
    assert [each.text for each in here.table.state.alarms] == ["A card is not known"]


async def test_resume_play_is_first_and_a_supervisor_calls_a_manager(page, here):
    await here.load()
    await at_work(page, here, "omar")
    first = page.get_by_role("group", name="Play", exact=True).get_by_role("button").first
    await expect(first).to_have_text("Resume play")

    dialog = await order(page, "Call a manager")
    await expect(dialog).to_contain_text("shown on the floor's page")
    await dialog.get_by_role("button", name="Help at the table").click()
    await confirm(dialog, "Call a manager")

    assert [(each.code, each.text) for each in here.table.state.alarms] == [
        ("supervisor_called", "Help at the table")
    ]
    await expect(page.locator(".alarm")).to_contain_text("called by omar")


async def test_where_the_house_wants_a_second_person_one_press_asks_for_them(browser, tmp_path):
    async with consoles(tmp_path, house(approval=("resume_play",))) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, "omar")
        await here.table.order(HoldPlay("mei", "The last hand is disputed"))

        await page.locator(".stop").get_by_role("button", name="Seen on surveillance").click()

        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Reason").fill("Seen on surveillance")
        await expect(dialog.get_by_role("group", name="Second person's approval")).to_be_visible()
        assert here.table.state.waiting.stops != ()


async def test_keys_mean_what_they_mean_at_the_dealers_page(browser, tmp_path):
    own = house(betting_closes="order", next_coup="order")
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await at_work(page, here, "omar")
        await here.table.begin_shoe()
        dialog = page.get_by_role("dialog")
        for title in ("Open betting", "Close betting"):
            await headline(page, "Load the shoe" if title == "Open betting" else "Place your wagers")
            await expect(page.locator("main:not([hidden]) button.go")).to_have_text([f"{title}F2"])
            await caught_up(page)
            await page.keyboard.press("F2")
            await confirm(dialog, title)
        await here.draw_unread()
        await headline(page, "Key Player's first card")
        for key, title in (("F4", "Key a card"), ("F7", "Hold play")):
            await page.keyboard.press(key)
            await expect(dialog.get_by_role("heading", level=2)).to_have_text(title)
            await page.keyboard.press("Escape")
        await page.keyboard.press("F8")  # which calls the supervisor, who is here
        await expect(dialog).to_have_count(0)
        await page.keyboard.press("F9")
        await expect(page.locator('main[data-part="hands"]')).to_be_visible()


async def test_the_parts_are_reached_by_tab_and_by_the_arrow_keys(page, here):
    await at_work(page, here, "omar")
    await page.get_by_role("link", name="Table").focus()
    for key, part in (
        ("ArrowRight", "hands"),
        ("ArrowRight", "shift"),
        ("End", "games"),
        ("ArrowRight", "table"),
        ("ArrowLeft", "games"),
    ):
        await page.keyboard.press(key)
        await expect(page.locator(f'main[data-part="{part}"]')).to_be_visible()
        await expect(page.locator(f'#parts [href="#{part}"]')).to_be_focused()
        await expect(page.locator("#parts [aria-current]")).to_have_count(1)


async def test_the_page_says_what_each_seat_got_by_the_last_hand_and_by_its_correction(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw(PLAYER_NATURAL)
    await at_work(page, here, "omar")
    await expect(page.locator("#last")).to_have_text("Player wins, 9 to 5 · Natural")
    seats = page.locator("#seat-list .seat")
    await expect(seats).to_have_text(
        ["Seat 1last +$25Player +$25", "Seat 3last -$100Banker -$100", "Seat 4last -$5Tie -$5"]
    )
    await here.table.order(
        CorrectRound("omar", 1, (Card("KS"), Card("9H")), (Card("2S"), Card("7D")), "Misread by the shoe")
    )

    await expect(page.locator("#last")).to_contain_text("Hand 1 corrected: Tie, 9 all")
    await expect(page.locator("#last-why")).to_contain_text("By omar: Misread by the shoe")
    await expect(seats.first).to_have_text("Seat 1difference -$25Player -$25")


async def test_an_alarm_stands_until_it_is_acknowledged(page, here):
    await here.load()
    await at_work(page, here, "omar")
    for _ in range(2):
        await here.table.order(CallSupervisor("mei", "A dispute at the table"))
    alarm = page.locator(".alarm")
    await expect(alarm).to_contain_text("A dispute at the table (2 times)")
    await expect(alarm).to_contain_text(re.compile(r"since .*, called by mei"))
    await alarm.get_by_role("button", name="Acknowledge").click()

    await expect(alarm).to_have_count(0)
    await expect(page.locator("#trouble-list")).to_have_text("No stop and no alarm.")
    assert here.table.state.alarms == ()


@pytest.mark.soak
async def test_a_second_person_signs_in_the_same_dialog_where_the_house_asks_for_it(browser, tmp_path):
    own = house(approval=("void_coup", "correct_round"))
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await here.load()
        await here.draw("KS 2S")
        await at_work(page, here, "omar")
        dialog = await order(page, "Void the hand")
        await dialog.get_by_role("button", name="Misdeal").click()
        go = dialog.get_by_role("button", name="Void the hand")
        second = dialog.get_by_role("group", name="Second person's approval")
        refused = dialog.get_by_role("alert").first
        for name, password, reason in (
            ("ana", "not the password", "The name or the password is wrong"),
            ("mei", PASSWORD, "the roles of mei do not allow void_coup"),
            ("omar", PASSWORD, "second person"),
        ):
            await second.get_by_label("Name").fill(name)
            await second.get_by_label("Password").fill(password)
            await go.click()
            await expect(refused).to_contain_text(re.compile(reason, re.IGNORECASE))
        assert here.table.state.round.coup is not None

        await second.get_by_label("Name").fill("ana")
        await second.get_by_label("Password").fill(PASSWORD)
        await confirm(dialog, "Void the hand")

        last = here.table.state.history.last
        assert last is not None
        assert (last.status, last.who, last.approved_by) == ("void", "omar", "ana")
        assert page.url == f"{here.address}/supervisor"


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 800), *soaked((1024, 768), (768, 1024), (1920, 1080), (390, 844))]
)
async def test_who_must_sign_is_in_sight_however_much_there_is_to_read(browser, tmp_path, width, height):
    own = house(approval=("correct_round",), seats=9)
    async with consoles(tmp_path, own) as here, console_of(browser, width, height) as page:
        await here.load()
        for seat in range(1, 10):
            await here.wager((seat, "player", 2500), (seat, "tie", 500), (seat, "dragon_bonus_player", 1000))
        await here.draw(PLAYER_NATURAL)
        await at_work(page, here, "omar")
        dialog = await order(page, "Correct the last hand")
        await pick(dialog, "Banker's second", "7d")
        await dialog.get_by_role("button", name="Seen on surveillance").click()
        await expect(dialog.locator(".preview tbody tr")).to_have_count(9)

        second = dialog.get_by_role("group", name="Second person's approval")
        for field in (
            second.get_by_label("Name"),
            second.get_by_label("Password"),
            dialog.locator("button.go"),
        ):
            await expect(field).to_be_in_viewport(ratio=1)
            await field.click(trial=True)  # nothing lies over it


@pytest.mark.parametrize("said", ["something else", *soaked("the same", "no more")])
@pytest.mark.soak
async def test_a_press_while_the_service_says_anew_what_an_order_would_do_waits_for_it(said, page, here):
    await here.load()
    await here.draw("KS 2S")
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the hand")
    await dialog.get_by_role("button", name="Misdeal").click()
    go = dialog.get_by_role("button", name="Void the hand", exact=True)
    await expect(go).to_be_enabled()
    asked, pressed = asyncio.Event(), asyncio.Event()

    async def answered_late(route: Route) -> None:
        answer = await route.fetch()
        asked.set()
        await pressed.wait()
        body = await answer.json()
        if said == "something else":
            body["round"]["settlements"] = [
                {"seat": 1, "wager": "player", "outcome": "void", "stake": 77, "returned": 77, "net": 0}
            ]
        elif said == "no more":
            body = {"accepted": False, "code": "no_coup", "reason": "there is no hand any more"}
        await route.fulfill(response=answer, json=body)

    await page.route("**/api/preview", answered_late)
    await here.table.order(CallSupervisor("mei", "a dispute"))
    await asked.wait()
    await go.click()
    await page.wait_for_timeout(200)
    assert here.table.state.round.coup is not None

    pressed.set()
    if said == "the same":
        await expect(dialog).to_have_count(0)
    elif said == "something else":
        await expect(dialog.get_by_role("alert").first).to_have_text(re.compile("has changed"))
    else:
        await expect(dialog).to_contain_text("there is no hand any more", ignore_case=True)
        await expect(go).to_be_disabled()
    assert (here.table.state.round.coup is None) is (said == "the same")


@pytest.mark.soak
async def test_game_and_limits_change_between_shoes_only(page, here):
    await here.load()
    await at_work(page, here, "omar")
    await open_part(page, "games")
    change = page.get_by_role("button", name="Save for the next shoe")
    await expect(page.locator("#games-when")).to_contain_text("the table must be closed")
    await expect(change).to_be_disabled()
    await here.table.order(CloseTable("omar"))
    await expect(change).to_be_enabled()

    await expect(page.get_by_label("Player: Maximum", exact=True)).to_have_value("10,000")
    await page.get_by_label("Game", exact=True).select_option(label="EZ Baccarat")
    await page.get_by_label("Player: Minimum").fill("fifty")
    await change.click()
    await expect(page.locator("#game-fault")).to_contain_text(
        "Player, minimum: write an amount such as 1,234.50."
    )
    await page.get_by_label("Player: Minimum").fill("50")
    await page.get_by_label("Player: Maximum").fill("25")
    await change.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator(".fault").first).not_to_be_empty()
    await expect(dialog.get_by_role("button", name="Save for the next shoe")).to_be_disabled()
    await dialog.get_by_role("button", name="Cancel").click()
    await page.get_by_label("Player: Maximum").fill("2500")
    await change.click()
    await expect(dialog).to_contain_text("From the next shoe on, the table plays EZ Baccarat.")
    await confirm(dialog, "Save for the next shoe")

    game = here.table.state.settings.game
    assert game.title == "EZ Baccarat"
    assert (game.wager("player").limits.minimum, game.wager("player").limits.maximum) == (5000, 250_000)
    await expect(page.locator("#game")).to_have_text("EZ Baccarat · at the table: mei")


async def test_the_report_of_the_shift_has_the_money_by_wager_and_who_did_what(page, here):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw(PLAYER_NATURAL)
    await here.draw("KS 2S")
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the hand")
    await dialog.get_by_role("button", name="Card exposed").click()
    await confirm(dialog, "Void the hand")

    await open_part(page, "shift")

    report = page.locator("#shift-report")
    await expect(report.get_by_role("table", name="Wagers").locator("tbody tr")).to_have_count(4)
    assert await report.get_by_role("table", name="Wagers").locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    ) == [
        ["Banker", "1", "100.00", "0.00", "+100.00", "100.0%"],
        ["Player", "1", "25.00", "50.00", "-25.00", "-100.0%"],
        ["Tie", "1", "5.00", "0.00", "+5.00", "100.0%"],
        ["All", "3", "130.00", "50.00", "+80.00", "61.5%"],
    ]
    await expect(report.get_by_role("table", name="Void hands")).to_contain_text("Card exposed")
    await expect(report.get_by_role("table", name="Sign-ons and refusals")).to_contain_text("omar")
    await expect(report.locator(".about")).to_contain_text("Amounts inUSD")
    await page.get_by_role("button", name="24 hours").click()
    await expect(page.get_by_role("button", name="24 hours")).to_have_attribute("aria-pressed", "true")


async def test_the_report_of_the_shift_has_each_rules_hits_beside_their_expectation_and_fits_the_page(
    page, here
):
    await here.load()
    for _ in range(2):
        await here.wager(*WAGERS)
        await here.draw(PLAYER_NATURAL)
    with edited(here.record) as record:
        record.execute("UPDATE rounds SET ts = '2026-01-01T00:00:00.000000+00:00' WHERE round = 1")
    await at_work(page, here, "omar")
    await open_part(page, "shift")
    report = page.locator("#shift-report")
    title = here.table.state.settings.game.title

    counts = report.get_by_role("table", name=f"{title}: 1 hands, 2 in all")
    said_already = {
        "lose",
        "player_wins",
        "banker_wins",
        "tie",
    }  # by the results of the hands, and as the rest of them
    rules = [
        each
        for each in every(here.table.state.settings.game)
        if each[0] is None or each[1] not in said_already
    ]
    await expect(counts.locator("tbody tr")).to_have_count(len(rules))
    found = await counts.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert ["Hand", "Tie", "0", "0.10", "-0.32", "0", "0.19", "-0.46"] in found
    assert ["Hand", "Player wins", "1", "0.45", "1.11", "2", "0.89", "1.58"] in found
    assert ["Dragon Bonus Player", "Wins by 9", "0"] in [row[:3] for row in found]
    holds = report.get_by_role("table", name=f"{title}: handle and win")
    await expect(holds.get_by_role("row", name="Player")).to_have_text(
        "Player25.00-25.00-100.0%+0.31-1.0650.00-50.00-100.0%+0.62-1.51"
    )
    await expect(holds.locator("tbody tr").last).to_have_text(
        "All130.00+80.0061.5%+2.08\N{EN DASH}260.00+160.0061.5%+4.17\N{EN DASH}"
    )
    assert await report.locator("table").evaluate_all(
        "all => all.every(each => each.scrollWidth <= each.parentElement.clientWidth)"
    )


async def test_the_report_of_the_shift_has_the_length_of_each_stop_and_one_form_of_times(page, here):
    await here.load()
    await here.table.order(HoldPlay("mei", "A break"))
    await here.table.order(ResumePlay("omar", "The last hand is disputed"))
    await here.draw(PLAYER_NATURAL)
    now = datetime.now(UTC).replace(second=30)
    began, ended = now - timedelta(hours=23, minutes=5, seconds=12), now - timedelta(hours=23, minutes=1)
    with edited(here.record) as record:
        for kind, then in (("hold_play", began), ("resume_play", ended)):
            record.execute(
                "UPDATE inputs SET ts = ? WHERE json_extract(payload, '$.kind') = ?", (timestamp(then), kind)
            )
    await at_work(page, here, "omar")
    await open_part(page, "shift")
    await page.get_by_role("button", name="24 hours").click()

    report = page.locator("#shift-report")
    stop = report.get_by_role("table", name="Alarms, stops and calls").get_by_role("row", name="Held play")
    day = f"(?:{written_day(began)}, )?"  # unless the report ends on the same day
    lasted = f"{began:%H:%M}StopHeld play: A breakmei4 min 12 s"
    await expect(stop).to_have_text(re.compile(f"^{day}{lasted}$"))
    figures = report.locator(".figures > div")
    for figure in ("Play stopped4 min 12 s", "Shoes1", "Hands an hour, average\N{EN DASH}"):
        await expect(figures.filter(has_text=re.compile(f"^{figure}$"))).to_have_count(1)
    access = report.get_by_role("table", name="Sign-ons and refusals").locator("tbody tr").last
    await expect(access).to_have_text(re.compile(r"^\d\d:\d\domar"))
    await expect(report.locator(".about")).to_contain_text(
        re.compile(r"Period\d+ \w+ \d{4}, \d\d:\d\d to \d+ \w+ \d{4}, \d\d:\d\d")
    )
    await expect(page.locator("#shift-title")).to_have_css("font-size", "24px")


@pytest.mark.soak
async def test_the_report_of_the_shift_says_of_a_round_that_was_voided_after_settlement_that_it_was(
    page, here
):
    await here.load()
    await here.wager(*WAGERS)
    await here.draw(PLAYER_NATURAL)
    await at_work(page, here, "omar")
    dialog = await order(page, "Void the last hand")
    await dialog.get_by_role("button", name="Card exposed").click()
    await confirm(dialog, "Void hand 1")

    await open_part(page, "shift")

    report = page.locator("#shift-report")
    figures = report.locator(".figures > div")
    await expect(figures.filter(has_text="Hands played")).to_have_text("Hands played0")
    await expect(figures.filter(has_text="Void")).to_have_text("Void1")
    await expect(report).to_contain_text("Wagers: none")
    void = report.get_by_role("table", name="Void hands")
    await expect(void.locator("tbody")).to_contain_text("after settlement, by record no. 2")
    await expect(void.locator("tbody a").first).to_have_text("1")
    correction = report.get_by_role("table", name="Corrections")
    await expect(correction.locator("tbody")).to_contain_text("hand 1 of shoe 1 voided")
    await expect(correction.locator("tbody")).to_contain_text("+80.00")


@pytest.mark.soak
async def test_the_report_says_of_a_list_that_it_has_only_the_last(page, here):
    await here.load()
    calls = [CallSupervisor("mei", str(number)) for number in range(MOST_LISTED + 1)]
    await here.table.engine.submit(calls, "test")
    await at_work(page, here, "omar")

    await open_part(page, "shift")

    report = page.locator("#shift-report")
    alarms = report.get_by_role("region", name="Alarms, stops and calls")
    await expect(alarms).to_contain_text("Only the last entries are listed.")


async def test_the_report_of_the_shift_is_in_words_and_is_saved_as_a_pdf_and_as_a_csv_file(page, here):
    await here.load()
    await here.table.order(CallSupervisor("mei", "=1+1"))
    await here.draw("KS 2S")
    await here.draw_unread()
    await here.table.order(KeyCard("mei", Card("9H"), 3))
    await at_work(page, here, "omar")
    refused = await page.request.post(
        f"{here.address}/api/session",
        data={"name": "ana", "password": "a wrong one"},
        headers={"Origin": here.address},
    )
    assert refused.status == 401
    await open_part(page, "shift")
    report = page.locator("#shift-report")
    keyed = report.get_by_role("table", name="Keyed cards").locator("tbody tr")
    await expect(keyed).to_have_text(re.compile(r"^1.*3The shoe could not read the card: key the cardmei$"))
    await expect(report.get_by_role("table", name="Sign-ons and refusals")).to_contain_text(
        "Refused sign-on: wrong password"
    )
    assert "_" not in await report.inner_text()

    words = await report.inner_text()
    async with page.expect_download() as saved:
        await page.get_by_role("link", name="Save as PDF").click()
    pdf = await saved.value
    assert re.fullmatch(r"table-\d-shift-[\d-]+-8h\.pdf", pdf.suggested_filename), pdf.suggested_filename
    on_paper = "\n".join(sheet.extract_text() for sheet in pypdf.PdfReader(await pdf.path()).pages)
    for text in ("Report of the shift", "Hands played", "Called a supervisor: =1+1", "Page 1 of"):
        assert text in on_paper
    assert await report.locator("caption").all_inner_texts() == [
        title for title in await report.locator("caption").all_inner_texts() if title in on_paper
    ]
    assert "Called a supervisor" in words

    async with page.expect_download() as saved:
        await page.get_by_role("link", name="Save as CSV").click()
    text = (await (await saved.value).path()).read_text(encoding="utf-8")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(each["what"], each["text"]) for each in lines if each["line"] == "call"] == [
        ("call_supervisor", "called a supervisor: =1+1")
    ]
    assert [(each["round"], each["position"], each["who"]) for each in lines if each["line"] == "keyed"] == [
        ("1", "3", "mei")
    ]


async def test_on_paper_the_report_is_black_on_white_and_alone(page, here):
    await here.load()
    await here.table.play(3, seats=[1])
    await at_work(page, here, "omar")
    await open_part(page, "shift")
    await expect(page.get_by_role("table", name="Wagers")).to_be_visible()
    await page.emulate_media(media="print")
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")

    await expect(page.locator("#shift-printed")).to_contain_text("Printed")
    await expect(page.locator("#shift-report .about")).to_contain_text(here.table.state.settings.title)
    for hidden in (".bar", "#parts", "#shift-hours", "#shift-files"):
        await expect(page.locator(hidden)).to_be_hidden()
    colours = "each => [getComputedStyle(each).color, getComputedStyle(document.body).backgroundColor]"
    for part in ("td", ".figures dd", "caption"):
        found = await page.locator(f"#shift-report {part}").first.evaluate(colours)
        assert found == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    sheets = pypdf.PdfReader(io.BytesIO(await page.pdf(prefer_css_page_size=True))).pages
    assert [round(float(side)) for side in sheets[0].mediabox[2:]] == [595, 842]  # A4 in points
    assert "Hands played" in sheets[0].extract_text()


@pytest.mark.soak
async def test_a_round_that_ends_while_the_list_is_fetched_is_in_it_once(page, here):
    await here.load()
    await here.table.play(3)
    await at_work(page, here, "omar")
    held, answered = asyncio.Event(), asyncio.Event()

    async def hold_up(route):
        if not held.is_set():
            held.set()
            answer = await route.fetch()
            await here.table.play(1)
            await page.wait_for_timeout(300)  # the page hears of the round, and asks again
            await route.fulfill(response=answer)
            answered.set()
        else:
            await route.continue_()

    await page.route("**/api/rounds?*", hold_up)
    await page.keyboard.press("F9")
    await answered.wait()
    await caught_up(page)

    await expect(page.locator("#hand-list a b")).to_have_text(["4", "3", "2", "1"])


@pytest.mark.soak
async def test_any_round_is_shown_with_the_events_that_made_it(page, here):
    await here.load()
    await here.table.play(30)
    await here.draw("KS 9S")
    await here.draw_unread()
    await at_work(page, here, "omar")
    await page.keyboard.press("F9")
    await expect(page.locator("#hand-list a")).to_have_count(20)
    await page.get_by_role("button", name="Older").click()
    await expect(page.locator("#hand-list a")).to_have_count(30)

    await page.get_by_role("textbox", name="Record no.").fill("7")
    await page.keyboard.press("Enter")

    await expect(page.locator("#hand-shown article")).to_contain_text("record no. 7")
    events = page.get_by_role("table", name="Events")
    cards = await page.locator("#hand-shown .card").count()
    await expect(events.locator("tbody tr", has_text="card drawn")).to_have_count(cards)

    await page.get_by_role("textbox", name="Record no.").fill("700")
    await page.keyboard.press("Enter")
    await expect(page.locator("#hand-shown")).to_contain_text("There is no round 700 on the record")


@pytest.mark.soak
async def test_a_round_says_how_many_of_its_events_are_not_listed(page, here):
    await here.load()
    await here.table.engine.submit([CallSupervisor("mei", "again")] * MOST_LISTED, "test")
    await here.draw(PLAYER_NATURAL)
    await at_work(page, here, "omar")

    await page.goto(f"{here.address}/supervisor#hands/1")

    shown = page.locator("#hand-shown")
    await expect(shown).to_contain_text(
        re.compile(r"This list has the last 1000 events of the hand. The record has [1-9]\d* earlier events")
    )
    await expect(shown.get_by_role("table", name="Events").locator("tbody tr")).to_have_count(MOST_LISTED)


@pytest.mark.parametrize(("name", "may"), [("tove", ["resume_play"]), *soaked(("ike", []))])
async def test_an_auditor_orders_nothing_and_a_technician_no_money(page, here, name, may):
    await here.load()
    await here.draw(PLAYER_NATURAL + " KS")
    await here.table.shoe(LidMoved(here.table.state.link.expected, open=True))
    await at_work(page, here, name)
    await headline(page, "Stop: a supervisor is needed")

    enabled = await page.locator("#orders button:enabled").evaluate_all(
        "all => all.map(each => each.dataset.order)"
    )

    assert enabled == may


FOUND = {
    "ts": "2026-03-14T21:05:09.000000+00:00",
    "findings": [
        {"check": "keys", "level": "wrong", "what": "shoe.key", "how": "it cannot be read", "command": "chmod 0640 shoe.key", "table": ""},
        {"check": "clock", "level": "not checked", "what": "clock", "how": "the kernel does not say", "command": None, "table": ""},
    ],
}  # fmt: skip


async def test_the_list_of_devices_shows_what_the_doctor_finds_to_those_who_may_read_it(page, here):
    async def found(route: Route) -> None:
        await route.fulfill(json=FOUND)

    await page.route("**/api/diagnostics", found)
    await at_work(page, here, "omar")
    await page.get_by_role("button", name="Devices").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Examine this PC").click()

    rows_ = dialog.locator(".doctor tbody tr")
    await expect(rows_).to_have_count(2)
    await expect(rows_.nth(0)).to_have_text(
        re.compile("Keys.*wrong.*shoe.key · it cannot be read.*chmod 0640")
    )
    await expect(rows_.nth(1)).to_have_text(re.compile("Clock.*not checked"))
    await expect(dialog.locator("#diagnostics")).to_have_attribute("href", "/api/diagnostics.json")


async def test_the_list_of_devices_has_no_doctor_for_a_dealer(page, here):
    await at_work(page, here, "mei")
    await page.get_by_role("button", name="Devices").click()

    await expect(page.get_by_role("dialog").get_by_role("button", name="Close")).to_be_visible()
    await expect(page.locator("#examine")).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(768, 1024), (390, 844)])
async def test_an_upright_screen_shows_a_stop_once_cards_before_orders_and_the_change_of_game(
    browser, tmp_path, width, height
):
    async with (
        consoles(tmp_path, house("five-treasures")) as here,
        console_of(browser, width, height) as page,
    ):
        await here.load()
        await here.draw("KS")
        await here.table.shoe(LidMoved(here.table.state.link.expected, open=True))
        await at_work(page, here, "omar")

        await expect(page.locator(".stop")).to_have_count(1)
        await expect(page.locator("#now")).to_be_hidden()
        cards, orders = [
            await page.locator(part).evaluate("each => each.getBoundingClientRect().top")
            for part in ("#coup", "#orders")
        ]
        assert cards < orders
        await open_part(page, "games")
        await expect(page.locator("#game-limits tr")).to_have_count(9)
        await expect(page.locator("#change-game")).to_be_in_viewport(ratio=1)
