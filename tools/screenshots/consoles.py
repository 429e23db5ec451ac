"""The pictures of the consoles, from a table that is played."""

import tempfile
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, expect

from punto.baccarat.progressive.events import Adjust, OpenMeter
from punto.baccarat.progressive.game_events import StartGame, WagerPlaced
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.table.events import LidMoved
from punto.baccarat.table.order_kinds import CallSupervisor, CloseTable, OpenBetting, ResumePlay, VoidCoup
from punto.reports.shift import Reports
from punto.runtime.clock import now
from tests.baccarat.table.croupier import settings as table_settings
from tests.consoles.pages.parts import (
    PASSWORD,
    TableWithConsoles,
    at_work,
    console_of,
    consoles,
    headline,
    house,
    open_part,
    press_twice,
)
from tests.reports.house import Clock
from tools.screenshots.camera import AT, SCREENS, STEP, Keep, Picture, picture_for

WAGERS = (
    (1, "player", 2500),
    (3, "banker", 10_000),
    (3, "dragon_bonus_banker", 1000),
    (4, "player", 5000),
    (4, "dragon_bonus_player", 1000),
    (6, "tie", 500),
    (7, "banker", 250_000),
)
COUPS = (
    "KS 2S 9H 3S",
    "2C 8H 4D QC",
    "5D 6C KH JD 2H",
    "7S 7C QD 9C",
    "9D 4S KD 5C",
    "2H 3C KD KS 4C 4H",
)


WINS_A_QUARTER = "2H KC 3H JC 4H KD"
TIE = "9D 4S KD 5C"
FULL_TABLE = tuple(
    (seat, wager, amount)
    for seat in range(1, 8)
    for wager, amount in (
        ("banker", 2500 * seat) if seat in {3, 6} else ("player", 2500 * seat),
        ("dragon_bonus_banker" if seat in {3, 6} else "dragon_bonus_player", 1000),
        ("tie", 500),
    )
)
"""Seven seats, each with these wagers and one of the progressive."""

HAND = timedelta(seconds=51)
"""What a hand takes at a usual pace."""
STOPPED = timedelta(minutes=4, seconds=12)
"""How long it takes to check the cards."""
NEVER_LIVE: Final = ("console-sign-on", "console-not-live")
OF_A_WIN: Final = (
    *("console-aquarius-win", "console-nexus-win", "console-progressive-start"),
    *("console-progressive-signature", "console-progressive-supervisor"),
)
OF_A_FULL_TABLE: Final = (
    *("console-dealer-tie", "console-dealer-void"),
    *(f"console-dealer-full{which}" for which in ("", "-1024", "-zh-Hant")),
)
NAMES: Final = (
    *OF_A_WIN,
    *OF_A_FULL_TABLE,
    *(
        f"console-{page}{screen}"
        for page in ("dealer", "supervisor")
        for screen in ("", *(f"-{each}" for each in SCREENS))
    ),
    *(*NEVER_LIVE, "console-dealer-burn", "console-dealer-wagers", "console-dealer-next-card"),
    *("console-dealer-key-card", "console-dealer-call", "console-dealer-hands", "console-supervisor-void"),
    *("console-supervisor-correction", "console-supervisor-hands", "console-supervisor-shift"),
    *("console-supervisor-game", "console-supervisor-zh-Hant"),
)


async def take(browser: Browser, chosen: Collection[str], keep: Keep) -> None:
    """Take the pictures of a table's day, and of a win of the progressive with either procedure."""
    any_page = picture_for(keep)

    async def picture(page: Page, name: str) -> None:
        if (
            name not in NEVER_LIVE
        ):  # a busy machine can have kept the service from saying that the page is live
            await page.wait_for_selector("body.live")
        await any_page(page, name)

    if set(chosen) - set(OF_A_WIN) - set(OF_A_FULL_TABLE):
        with tempfile.TemporaryDirectory() as folder:
            await make_day(browser, Path(folder), picture)
    for procedure in ("aquarius", "nexus") if set(chosen) & set(OF_A_WIN) else ():
        with tempfile.TemporaryDirectory() as folder:
            await make_win(browser, Path(folder), procedure, picture)
    if set(chosen) & set(OF_A_FULL_TABLE):
        with tempfile.TemporaryDirectory() as folder:
            await make_full_table(browser, Path(folder), picture)


async def make_full_table(browser: Browser, folder: Path, picture: Picture) -> None:
    """Seven seats wager on a tie, on a hand that is voided, and on one that wins a quarter of the meter for five of them."""
    own = table_settings(
        game_name="progressive-2", meter={"reserve": "1%"}, name="Baccarat 8", next_coup="order"
    )
    with Clock(AT, STEP).turned():
        async with consoles(folder, own) as here, console_of(browser) as page:
            await here.load()
            await here.table.order(OpenMeter("ida", "omar"))
            await here.table.order(Adjust(Cause.INCREASE, 4_218_760, "carried over", "ida", "omar"))
            await at_work(page, here, "mei")
            await here.wager(*FULL_TABLE)
            await here.draw(TIE)
            await headline(page, "Pay seats 1, 2, 3, 4, 5, 6, and 7")
            await picture(page, "console-dealer-tie")
            await here.table.order(OpenBetting("mei"))
            await here.wager(*FULL_TABLE)
            await here.draw(WINS_A_QUARTER[:8])
            await here.table.order(VoidCoup("omar", "Misdeal"))
            await headline(page, "Return all wagers")
            await picture(page, "console-dealer-void")
            await here.table.order(OpenBetting("mei"))
            await here.wager(*FULL_TABLE)
            for seat in range(1, 8):
                await here.table.order(WagerPlaced(seat))
            await here.table.order(StartGame(here.table.state.round.number, "mei"))
            await here.draw(WINS_A_QUARTER)
            await expect(page.locator("#todo")).to_contain_text("press the hand button")
            for seat in (1, 2, 4, 5, 7):
                await page.keyboard.press(str(seat))
                await expect(page.locator(f'[data-hand="{seat}"]')).to_have_attribute("aria-pressed", "true")
            await expect(page.locator("#todo")).to_contain_text("Call a supervisor")
            await picture(page, "console-dealer-full")
            await page.set_viewport_size({"width": 1024, "height": 768})
            await picture(page, "console-dealer-full-1024")
            await page.set_viewport_size({"width": 1280, "height": 800})
            await page.goto(f"{here.address}/dealer?lang=zh-Hant")
            await picture(page, "console-dealer-full-zh-Hant")


async def make_win(browser: Browser, folder: Path, procedure: str, picture: Picture) -> None:
    """Two seats win a quarter of the meter; one is paid all of that its supervisor has verified."""
    own = table_settings(
        game_name="progressive-2",
        meter={"procedure": procedure, "reserve": "1%"},
        name="Baccarat 8",
        next_coup="order",
    )
    with Clock(AT, STEP).turned():
        async with consoles(folder, own) as here, console_of(browser) as page:
            await here.load()
            await here.table.order(OpenMeter("ida", "omar"))
            await here.table.order(Adjust(Cause.INCREASE, 4_218_760, "carried over", "ida", "omar"))
            await here.wager((2, "player", 2500), (5, "player", 10_000), (6, "banker", 5000))
            await at_work(page, here, "mei")
            for seat in (2, 5, 6):
                await page.locator(f'[data-hand="{seat}"]').click()
                await expect(page.locator(f'[data-hand="{seat}"]')).to_have_attribute("aria-pressed", "true")
            await page.keyboard.press("F6")
            await page.wait_for_selector("#game-order.armed")
            if procedure == "aquarius":
                await picture(page, "console-progressive-start")
            await press_twice(page)
            await expect(page.locator("#todo")).to_contain_text("deal the hand")
            await here.draw(WINS_A_QUARTER)
            await expect(page.locator("#todo")).to_contain_text("25% of the meter")
            await page.keyboard.press("2")
            await page.keyboard.press("5")
            await expect(page.locator("#todo")).to_contain_text("Call a supervisor")
            await picture(page, f"console-{procedure}-win")
            if procedure == "nexus":
                await sign_and_verify(page, here, picture)


async def sign_and_verify(page: Page, here: TableWithConsoles, picture: Picture) -> None:
    """A supervisor's signature at the dealer's page, and the award at the supervisor's own."""
    await page.get_by_role("button", name="CONFIRM").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("omar")
    await dialog.get_by_label("Password").fill(PASSWORD)
    await picture(page, "console-progressive-signature")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Sign off").click()
    await page.wait_for_selector("#name:focus")
    await at_work(page, here, "omar")
    await expect(page.locator("#todo")).to_contain_text("press CONFIRM")
    await picture(page, "console-progressive-supervisor")


async def make_day(browser: Browser, folder: Path, picture: Picture) -> None:
    """Play a day at a table and take a picture at each of its steps."""
    own = house(name="Baccarat 8", burn="first_card", approval=("correct_round",))
    clock = Clock(AT, STEP)
    with clock.turned():
        async with consoles(folder, own) as here, console_of(browser) as page:
            await page.goto(here.address)
            await page.wait_for_selector("#name:focus")
            await picture(page, "console-sign-on")
            await at_work(page, here, "mei")
            await dealers_day(page, here, clock, picture)
            await at_work(page, here, "omar")
            await supervisors_day(page, here, clock, picture)


async def picture_on_every_screen(page: Page, name: str, picture: Picture) -> None:
    """On a console's own screen, and on larger ones."""
    own = page.viewport_size
    assert own is not None
    await picture(page, name)
    for screen, (width, height) in SCREENS.items():
        await page.set_viewport_size({"width": width, "height": height})
        await picture(page, f"{name}-{screen}")
    await page.set_viewport_size(own)


async def dealers_day(page: Page, here: TableWithConsoles, clock: Clock, picture: Picture) -> None:
    """From a new shoe to a card that could not be read and a supervisor who is called."""
    await here.table.begin_shoe()
    await here.draw("3D")
    await headline(page, "Burn 3 cards")
    await picture(page, "console-dealer-burn")
    await here.draw("9S 9H 9D")
    for coup in COUPS * 2:
        await here.wager(*WAGERS)
        await here.draw(coup)
        clock.now += HAND
    await headline(page, "Pay seats 3 and 7")
    await expect(page.locator("#hand-strip button")).to_have_count(10)
    await picture_on_every_screen(page, "console-dealer", picture)
    await here.wager(*WAGERS[:4])
    await headline(page, "Place your wagers")
    await picture(page, "console-dealer-wagers")
    await page.keyboard.press("F9")
    await picture(page, "console-dealer-hands")
    await page.keyboard.press("Escape")
    await here.draw("5D 6C KH JD")
    await headline(page, "Third card to Player")
    await picture(page, "console-dealer-next-card")
    await here.draw_unread()
    await headline(page, "Key Player's third card")
    await page.keyboard.type("6h")
    await picture(page, "console-dealer-key-card")
    await expect(page.locator("#key-order")).to_be_enabled()
    await page.keyboard.press("Enter")
    await headline(page, "Third card to Banker")
    await page.keyboard.press("F8")
    await expect(page.locator("[data-order=call_supervisor]")).to_contain_text("Called")
    await page.keyboard.press("F8")
    await page.get_by_role("button", name="A dispute at the table").click()
    await picture(page, "console-dealer-call")
    await page.keyboard.press("Escape")
    await here.close()
    await page.wait_for_selector("body:not(.live)")
    await picture(page, "console-not-live")
    await here.open()
    await page.wait_for_selector("#name:focus")  # its session ended with the service


async def supervisors_day(page: Page, here: TableWithConsoles, clock: Clock, picture: Picture) -> None:
    """From a table that is stopped to the report of the shift."""
    await here.table.order(CallSupervisor("mei", "A dispute at the table"))
    await here.table.shoe(LidMoved(here.table.state.link.expected, open=True))
    await here.table.shoe(LidMoved(here.table.state.link.expected, open=False))
    await headline(page, "Stop: a supervisor is needed")
    await picture_on_every_screen(page, "console-supervisor", picture)
    await page.goto(f"{here.address}/supervisor?lang=zh-Hant")
    await picture(page, "console-supervisor-zh-Hant")
    await page.goto(f"{here.address}/supervisor?lang=en")
    await headline(page, "Stop: a supervisor is needed")
    clock.now += STOPPED
    await here.table.order(ResumePlay("omar", "Lid closed, cards undisturbed"))
    await page.get_by_role("button", name="Void the hand").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Misdeal").click()
    await expect(dialog).to_contain_text("Wagers by seat")
    await picture(page, "console-supervisor-void")
    await dialog.get_by_role("button", name="Void the hand").click()
    await expect(dialog).to_have_count(0)
    await here.wager(*WAGERS)
    await here.draw(COUPS[0])
    await page.get_by_role("button", name="Correct the last hand").click()
    await dialog.get_by_role("button", name="Banker's second card").click()
    await page.keyboard.type("7d")
    await dialog.get_by_role("button", name="Seen on surveillance").click()
    second = dialog.get_by_role("group", name="Second person's approval")
    await second.get_by_label("Name").fill("ana")
    await second.get_by_label("Password").fill(PASSWORD)
    await expect(dialog).to_contain_text("Pay difference by seat")
    await picture(page, "console-supervisor-correction")
    await dialog.get_by_role("button", name="Correct hand").click()
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("F9")
    await page.locator("#hand-list a").nth(1).click()
    await page.get_by_role("table", name="Events").wait_for()
    await page.locator("#said-away").click()
    pace = Reports(here.record).hands_an_hour(now())  # reckoned beside the path of a card
    assert pace is not None
    await expect(page.locator("#hands-an-hour")).to_have_text(f"{int(pace + 0.5)}")
    await picture(page, "console-supervisor-hands")
    await open_part(page, "shift")
    await page.get_by_role("table", name="Wagers").wait_for()
    await picture(page, "console-supervisor-shift")
    await here.table.order(CloseTable("omar"))
    await open_part(page, "games")
    await page.get_by_role("table", name="Limits").wait_for()
    await expect(page.get_by_role("button", name="Save for the next shoe")).to_be_enabled()
    await picture(page, "console-supervisor-game")
