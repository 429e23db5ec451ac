"""Enter in the dialogs: it gives an order that wants nothing to be filled in, and otherwise the first field has the focus."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Page, expect

from punto.baccarat.progressive.aquarius import GameOver, Key, TurnKey
from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.progressive.game_events import HandButton, StartGame, WagerPlaced
from punto.baccarat.progressive.nexus import Confirm, EndGame
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.events import DeviceHeard
from punto.baccarat.table.order_kinds import CloseBetting, OpenBetting
from punto.baccarat.table.state import Phase
from tests.baccarat.table.croupier import BANKER_NATURAL
from tests.consoles.pages.parts import (
    PASSWORD,
    PLAYER_NATURAL,
    TableWithConsoles,
    at_work,
    caught_up,
    console_of,
    consoles,
    house,
    open_part,
    put_away,
)
from tests.consoles.pages.test_progressive import SUITED, progressive_house
from tests.reports.house import QUARTER
from tests.reports.pages.office import ANOTHER_EXECUTIVE, EXECUTIVE, manage, office, show

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime(2026, 3, 14, 21, 5, 9, tzinfo=UTC)
GO = "button.go"
REASON = ("[name=reason]", "Misdeal")
A_CARD = '[data-place="player0"]'
SIGNED = (("[name=by-name]", "ana"), ("[name=by-password]", PASSWORD))


def approved(name: str) -> tuple[tuple[str, str], ...]:
    """What a second person fills in."""
    return (("[name=approval-name]", name), ("[name=approval-password]", PASSWORD))


@dataclass
class Case:
    """An order, what is filled in (the fields in their order, and what is typed there), and what happens before it."""

    order: str
    filled: tuple[tuple[str, str], ...] = ()
    before: Callable[[TableWithConsoles, Page], Awaitable[object]] | None = None
    opened_by: str = ""
    focused: str = ""

    def __post_init__(self) -> None:
        self.opened_by = self.opened_by or f'[data-order="{self.order}"]'
        self.focused = self.focused or (self.filled[0][0] if self.filled else GO)

    async def given_by_enter(self, page: Page, here: TableWithConsoles) -> None:
        """Open the dialog by keyboard, and give the order by Enter."""
        if self.before is not None:
            await self.before(here, page)
        await caught_up(page)
        opener = page.locator(self.opened_by)
        await expect(opener).to_be_enabled()
        await opener.press("Enter")
        dialog = page.get_by_role("dialog")
        await expect(dialog.locator(self.focused)).to_be_focused()
        for field, typed in self.filled:
            await dialog.locator(field).focus()
            await page.keyboard.type(typed)
        await expect(dialog.locator(GO)).to_be_enabled()
        await page.wait_for_timeout(400)  # sooner, Enter is taken for half of a double press

        await page.keyboard.press("Enter")

        await expect(page.locator("#said-text")).to_have_text(f"{CATALOGUE[self.order].label}: done")
        await expect(dialog).to_have_count(0)
        await put_away(page)


async def begin_hand(here: TableWithConsoles, _: Page) -> None:
    await here.table.order(OpenBetting("mei"))
    await here.table.order(CloseBetting("mei"))
    await here.draw("KS")


async def owe(here: TableWithConsoles, _: Page) -> None:
    """Seat 2 owes commission, at a table whose cards lie face down."""
    await here.table.order(OpenBetting("mei"))
    await here.wager((2, "banker", 1000))
    await here.table.do("no more bets", f"draw {BANKER_NATURAL}", "reveal")


async def other_keypad(here: TableWithConsoles, _: Page) -> None:
    for serial in ("KP-1", "KP-2"):
        await here.table.order(DeviceHeard("keypad", serial))


AT_A_TABLE = (
    Case("sign_off", before=lambda here, _: here.table.hello()),
    Case("sign_on"),
    Case("change_shoe"),
    Case("open_betting"),
    Case("close_betting"),
    Case("key_card", (('[data-key="A"]', "ks"),), before=lambda here, _: here.draw_unread()),
    Case("call_supervisor", (REASON,)),
    Case("hold_play", (REASON,)),
    Case("resume_play", (REASON,)),
    Case("correct_card", ((A_CARD, "\n9s"), REASON)),
    Case("reveal", before=lambda here, _: here.draw("2S 9H 3S")),
    Case("correct_round", ((A_CARD, "\n9c"), REASON)),
    Case("void_round", (REASON,)),
    Case("void_coup", (REASON,), before=begin_hand),
    Case("accept_device", (("[name=serial]", "KP-2"),), before=other_keypad),
    Case("accept_shoe", (("[name=serial]", "IS-2"),), before=lambda here, _: here.another_shoe("IS-2")),
    Case("collect_commission", before=owe),
    Case("waive_commission", (REASON,), before=owe),
    Case("close_table"),
    Case("change_game", opened_by="#change-game"),
)


async def test_at_a_table(browser, tmp_path):
    own = house("midi-baccarat", betting_closes="order", next_coup="order", commission="shoe_end")
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await at_work(page, here, "omar")
        for case in AT_A_TABLE:
            if case.order == "change_game":
                await open_part(page, "games")
            await case.given_by_enter(page, here)


async def win(here: TableWithConsoles, _: Page) -> None:
    """The hand of seat 2 can have won a quarter of the meter."""
    if here.phase() is Phase.SETTLED:
        await here.table.order(OpenBetting("mei"))
    await here.table.order(WagerPlaced(2))
    await here.table.order(StartGame(here.table.state.round.number, "mei"))
    await here.draw(SUITED)


async def win_and_select(here: TableWithConsoles, _: Page) -> None:
    await win(here, _)
    await here.table.order(HandButton(2, "mei"))


async def win_again(here: TableWithConsoles, _: Page) -> None:
    await here.table.order(TurnKey(Key.RUN, "omar"))
    await here.table.order(GameOver("mei"))
    await win(here, _)


async def confirm_again(here: TableWithConsoles, _: Page) -> None:
    await here.table.order(EndGame("mei"))
    await win_and_select(here, _)
    await here.table.order(Confirm("omar"))


OF_AN_AWARD = {
    "aquarius": (
        Case("turn_key", before=win_and_select),
        Case("jpot"),
        Case("nobody_won", (REASON,), before=win_again),
        Case(
            "reopen_game",
            (REASON, *approved("ana")),
            before=lambda here, _: here.table.order(GameOver("mei")),
        ),
    ),
    "nexus": (Case("confirm", before=win_and_select), Case("sign_award", SIGNED, before=confirm_again)),
}


@pytest.mark.parametrize("procedure", OF_AN_AWARD)
async def test_about_an_award(browser, tmp_path, procedure):
    own = progressive_house(procedure, base_wagers="unseen")
    async with consoles(tmp_path, own) as here, console_of(browser) as page:
        await here.load()
        await here.table.order(OpenMeter("ida", "omar"))
        await at_work(page, here, "omar")
        for case in OF_AN_AWARD[procedure]:
            await case.given_by_enter(page, here)


async def fill_in(page: Page, form: str, **fields: str) -> None:
    for name, value in fields.items():
        await page.locator(f"#{form} [name={name}]").fill(value)


async def show_day(here: TableWithConsoles, page: Page) -> None:
    await show(page, here, "reconcile")
    await page.locator('main[data-part="reconcile"] [name=day]').fill("2026-11-20")
    await page.locator('main[data-part="reconcile"]').get_by_role("button", name="Show").click()
    await fill_in(page, "coins-form", amount="7")


OF_THE_METER = (
    Case("open_meter", opened_by="#own-orders button"),
    Case(
        "adjust",
        before=lambda _, page: fill_in(page, "adjust-form", amount="1", reason="a promotion"),
        opened_by="#adjust-form [type=submit]",
    ),
    Case(
        "change_settings",
        approved(ANOTHER_EXECUTIVE),
        focused=GO,  # the second person's fields come with the answer, and need not be filled in
        before=lambda _, page: fill_in(page, "settings-form", reserve="1%", reason="more for the next"),
        opened_by="#settings-form [type=submit]",
    ),
    Case("count_coins", before=show_day, opened_by="#coins-form [type=submit]"),
    Case(
        "back_out",
        (REASON,),
        before=lambda here, page: show(page, here, "awards"),
        opened_by="[aria-label='Back out award 1']",
    ),
    Case(
        "retire",
        (REASON,),
        before=lambda here, page: show(page, here, "meters"),
        opened_by="#retire",
    ),
)


async def test_at_the_game_manager(page, tmp_path):
    async with office(tmp_path, "2026-11-20 20:00", approval_above=10_000_000) as (home, here):
        await here.load()
        await manage(page, here, EXECUTIVE)
        for case in OF_THE_METER:
            await case.given_by_enter(page, here)
            if case.order == "open_meter":
                await home.game([2, 5], QUARTER, winners=[2, 5])
                await home.game([2])


async def test_every_order_that_has_a_dialog_is_a_case():
    cases = (*AT_A_TABLE, *OF_AN_AWARD["aquarius"], *OF_AN_AWARD["nexus"], *OF_THE_METER)

    assert {case.order for case in cases} == {
        kind for kind, each in CATALOGUE.items() if each.group != "game" and not each.seen
    } - {
        "acknowledge_alarm",  # given by one press: test_supervisor.py
        "forget_table",  # of an authority: tests/reports/pages/test_linked_pages.py gives it
    }


@pytest.mark.parametrize("how", ["pressed twice", "held"])
async def test_the_key_that_opens_a_dialog_does_not_also_give_the_order(page, here, how):
    await here.table.hello()
    await at_work(page, here, "omar")
    inputs = here.table.engine.seq
    opener, go = page.locator("[data-order=change_shoe]"), page.get_by_role("dialog").locator(GO)
    await expect(opener).to_be_enabled()
    await opener.focus()
    await page.clock.set_fixed_time(NOW)

    await page.keyboard.down("Enter")
    await expect(go).to_be_focused()
    if how == "held":
        await page.clock.set_fixed_time(NOW + timedelta(seconds=1))
    else:
        await page.keyboard.up("Enter")
    await page.keyboard.down("Enter")
    await page.wait_for_timeout(300)

    await expect(go).to_be_focused()
    assert here.table.engine.seq == inputs


async def test_enter_takes_nothing_back_while_an_order_waits_for_a_second_person(browser, tmp_path):
    own = house(approval=("void_round",))
    async with consoles(tmp_path, own, at_page=False) as here, console_of(browser) as page:
        await here.load()
        await here.draw(PLAYER_NATURAL)
        await at_work(page, here, "omar")
        await page.locator("[data-order=void_round]").click()
        await page.get_by_role("dialog").locator("[name=reason]").fill("Misdeal")
        await page.get_by_role("dialog").locator(GO).click()
        await expect(page.get_by_role("dialog")).to_contain_text("Take the order back")

        await page.keyboard.press("Enter")
        await page.wait_for_timeout(300)

        await expect(page.get_by_role("dialog")).to_contain_text("Take the order back")
