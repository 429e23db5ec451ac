"""How many presses the commonest tasks take at the consoles, as the table in docs/how-to/consoles.md says."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.progressive.game_events import StartGame, WagerPlaced
from punto.baccarat.table.order_kinds import CloseBetting
from punto.baccarat.table.state import Phase
from punto.controller.journal.recovery import replay
from tests.consoles.pages.parts import (
    TableWithConsoles,
    at_work,
    caught_up,
    console_of,
    consoles,
    headline,
    house,
)
from tests.consoles.pages.test_progressive import SUITED, progressive_house
from tests.controller.table_in_this_process import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "consoles.md"
NOTHING_WON = "KS KH 7D 6C"


class Presses:
    """A person at a page who counts the presses."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    async def key(self, *keys: str) -> None:
        """Press these keys one after the other."""
        for each in keys:
            self.count += 1
            await self.page.keyboard.press(each)

    async def touch(self, selector: str) -> None:
        """Touch this."""
        self.count += 1
        await self.page.locator(selector).click()

    async def twice(self, key: str, order: str) -> None:
        """Press a key until its order says what it will do, and again to give it; the first presses count once."""
        await expect(self.page.locator(order)).to_have_attribute("aria-disabled", "false")
        await self.key(key)
        await self.page.wait_for_selector(f"{order}.armed")
        await self.page.wait_for_timeout(200)  # sooner, the second press is taken for half of a double tap
        await self.key(key)

    async def give(self) -> None:
        """Give by Enter the order that a dialog asks for."""
        await expect(self.page.get_by_role("dialog").locator("button.go")).to_be_enabled()
        await self.page.wait_for_timeout(200)
        await self.key("Enter")
        await expect(self.page.get_by_role("dialog")).to_have_count(0)


def presses(task: str) -> int:
    """What the guide says of a task now."""
    (found,) = re.findall(
        rf"^\| {re.escape(task)} \| \d+ \| (\d+) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return int(found)


@asynccontextmanager
async def at_a_progressive(
    browser, folder: Path, *, closes: bool
) -> AsyncIterator[tuple[TableWithConsoles, Presses]]:
    """A dealer at a table whose seats 2 and 6 have progressive wagers."""
    own = replace(progressive_house("aquarius", start_closes_betting=closes), betting_closes="order")
    async with consoles(folder, own) as here, console_of(browser) as page:
        await here.load()
        await here.table.order(OpenMeter("ida", "omar"))
        await here.wager((2, "player", 500), (6, "banker", 500))
        for seat in (2, 6):
            await here.table.order(WagerPlaced(seat))
        await at_work(page, here, "mei")
        yield here, Presses(page)


def step(here: TableWithConsoles) -> str:
    """The step of the progressive's game."""
    progressive = here.table.state.progressive
    assert progressive is not None
    return progressive.procedure.step.value


async def play(here: TableWithConsoles, dealer: Presses, *, closes: bool) -> None:
    """The dealer's orders of a hand that wins no award, from its wagers to the next ones."""
    await dealer.twice("F6", "#game-order")
    if not closes:
        await eventually(lambda: step(here) == "playing", "the game is started")
        await dealer.twice("F2", "#main-order")
    await headline(dealer.page, "First card to Player")
    await here.draw(NOTHING_WON)
    await expect(dealer.page.locator("#game-order")).to_contain_text("GAME OVER and open betting")
    await dealer.twice("F6", "#game-order")
    await headline(dealer.page, "Place your wagers")
    assert here.phase() is Phase.BETTING
    assert here.table.state.alarms == ()


@pytest.mark.parametrize(
    ("closes", "task"),
    [
        (False, "a hand of a progressive without an award"),
        (True, "the same, where START GAME closes betting"),
    ],
)
async def test_a_hand_of_a_progressive_without_an_award(browser, tmp_path, closes, task):
    async with at_a_progressive(browser, tmp_path, closes=closes) as (here, dealer):
        await play(here, dealer, closes=closes)

        assert dealer.count == presses(task) <= (5 if closes else 6)
    assert replay(tmp_path / "record.db").difference is None


async def test_an_award_takes_three_presses_of_the_dealer_and_two_of_the_supervisor(browser, tmp_path):
    async with (
        at_a_progressive(browser, tmp_path, closes=False) as (here, dealer),
        console_of(browser) as desk,
    ):
        await here.table.order(StartGame(here.table.state.round.number, "mei"))
        await here.table.order(CloseBetting("mei"))
        await here.draw(SUITED)
        await expect(dealer.page.locator("#headline")).to_have_text("Press hand button 2")
        await dealer.key("2")
        await headline(dealer.page, "Award of seat 2: call a supervisor")
        await at_work(desk, here, "omar")
        supervisor = Presses(desk)
        await caught_up(desk)
        await supervisor.touch('[data-order="jpot"]')
        await supervisor.give()
        await headline(dealer.page, "Pay seat 2 $2,500.10")
        await dealer.twice("F6", "#game-order")
        await headline(dealer.page, "Place your wagers")

        assert (dealer.count, supervisor.count) == (3, 2)
        assert dealer.count + supervisor.count == presses("an award by key, or from the tray")


async def key_a_card(here: TableWithConsoles, dealer: Presses) -> None:
    await here.draw("KS 2S")
    await here.draw_unread()
    await headline(dealer.page, "Key Player's second card")
    await dealer.key("9", "d", "Enter")
    await headline(dealer.page, "Second card to Banker")


async def call(here: TableWithConsoles, dealer: Presses) -> None:
    await expect(dealer.page.locator("[data-order=call_supervisor]")).to_be_enabled()
    await dealer.key("F8")
    await eventually(lambda: len(here.table.state.alarms) == 1, "a supervisor is called")


async def hold(here: TableWithConsoles, dealer: Presses) -> None:
    await expect(dealer.page.locator("[data-order=hold_play]")).to_be_enabled()
    await dealer.key("F7")
    await dealer.touch("dialog .usual >> nth=0")
    await dealer.give()
    await eventually(lambda: here.table.state.waiting.stops, "play is held")


async def open_betting(here: TableWithConsoles, dealer: Presses) -> None:
    await here.draw(NOTHING_WON)
    await headline(dealer.page, "Player wins, 7 to 6")
    await dealer.twice("F2", "#main-order")
    await headline(dealer.page, "Place your wagers")


async def void(here: TableWithConsoles, supervisor: Presses) -> None:
    await here.draw("KS 2S")
    await caught_up(supervisor.page)
    await supervisor.touch("[data-order=void_coup]")
    await supervisor.touch("dialog .usual >> nth=0")
    await supervisor.give()
    await eventually(lambda: here.table.state.round.coup is None, "the hand is void")


async def change_shoe(here: TableWithConsoles, supervisor: Presses) -> None:
    await caught_up(supervisor.page)
    await supervisor.touch("[data-order=change_shoe]")
    await supervisor.give()
    await eventually(lambda: here.phase() is Phase.SHOE_CHANGE, "the shoe is changed")


async def correct(here: TableWithConsoles, supervisor: Presses) -> None:
    await here.draw(NOTHING_WON)
    await caught_up(supervisor.page)
    await supervisor.touch("[data-order=correct_round]")
    await supervisor.touch('[data-place="player1"]')
    await supervisor.key("6", "d")
    await supervisor.touch("dialog .usual >> nth=0")
    await supervisor.give()
    await eventually(lambda: here.table.state.history.correction is not None, "the round is corrected")


@pytest.mark.parametrize(
    ("task", "name", "work"),
    [
        ("key a card", "mei", key_a_card),
        ("call a supervisor", "mei", call),
        ("hold play", "mei", hold),
        ("open betting", "mei", open_betting),
        ("void a hand", "omar", void),
        ("change the shoe", "omar", change_shoe),
        ("correct a card after settlement", "omar", correct),
    ],
)
async def test_a_task(
    browser,
    tmp_path,
    task: str,
    name: str,
    work: Callable[[TableWithConsoles, Presses], Awaitable[None]],
):
    async with consoles(tmp_path, house(next_coup="order")) as here, console_of(browser) as page:
        await here.load()
        await at_work(page, here, name)
        person = Presses(page)

        await work(here, person)

        assert person.count == presses(task)
