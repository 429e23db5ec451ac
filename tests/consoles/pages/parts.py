"""The consoles as people meet them: a real record, engine and console service, and whoever is at the table."""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

from punto.baccarat.table.events import SetWager, ShoeHello
from punto.baccarat.table.order_kinds import OpenBetting
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import Phase
from punto.consoles.console import Console
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.controller.config.sections import AccountsConfig, ConsoleConfig
from punto.controller.engine import HouseRules
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import NO_EQUIPMENT, Equipment
from punto.controller.supervisor import gate_of
from punto.messages.building import timestamp
from tests.controller.table_in_this_process import Table, settings, table
from tests.displays.parts import CALM, listening
from tests.ports import free_port

PASSWORD = "a long enough password"  # noqa: S105 - of nobody who exists
PEOPLE = {
    "mei": (Role.DEALER,),
    "omar": (Role.SUPERVISOR,),
    "ana": (Role.SUPERVISOR,),
    "tove": (Role.TECHNICIAN,),
    "ike": (Role.AUDITOR,),
}
NOTE_CHANGES = """
new MutationObserver(() => { window.changed = Date.now() / 1000; }).observe(document.body, { attributeFilter: ["class"] })
"""
"""Has the page note when it last became live or not live: what it takes to ask the browser is no part of it."""
NOTE_PRESS = """
document.addEventListener("keydown", () => { window.pressed = document.body.classList.contains("live"); }, {
  capture: true, once: true,
})
"""
"""Has the page note at the next key whether it was live."""
FED = """
window.EventSource = class extends EventTarget {
  constructor(address) {
    super();
    const hear = () => window.fed && this.dispatchEvent(new MessageEvent("view", { data: window.fed }));
    window.feed = (view) => { window.fed = JSON.stringify(view); hear(); };
    // A stream that is opened again on a slow machine goes on with what the test gave.
    if (!window.fed) fetch(address.replace("/events", "")).then((answer) => answer.json()).then(window.feed);
    this.again = setInterval(hear, 1000);
  }
  close() { clearInterval(this.again); }
};
"""
"""Has the page show what a test gives it by `feed(view)`, and nothing that comes from the table."""
PLAYER_NATURAL = "KS 2S 9H 3S"
"""Player 9, Banker 5: Player wins."""


@dataclass
class TableWithConsoles:
    """A table, its accounts, and the address of its consoles."""

    table: Table
    accounts: Path
    record: Path
    port: int
    equipment: Equipment = NO_EQUIPMENT
    at_page: bool = True
    lang: Any = "en"
    host: str = "127.0.0.1"
    serving: asyncio.Task[None] | None = None

    def phase(self) -> Phase:
        """The table's phase."""
        return self.table.state.phase

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    async def open(self) -> None:
        """Serve the consoles."""
        config = ConsoleConfig(port=self.port, lang=self.lang)
        folder = self.record.parent
        approval: Any = "page" if self.at_page else "session"
        own_accounts = AccountsConfig(path=self.accounts, approval=approval)
        gate = gate_of(own_accounts, config, self.table.engine)
        desk = Desk(self.table.engine, folder, self.equipment, gate)
        console = Console(config, desk, gate, self.record)
        self.serving = asyncio.create_task(console.serve())
        await listening(self.port)

    async def close(self) -> None:
        """End the service of the consoles, and not the table."""
        if self.serving is not None:
            self.serving.cancel()
            with suppress(asyncio.CancelledError):
                await self.serving
            self.serving = None

    def account(self) -> Accounts:
        """The accounts' file, as `punto operators` opens it."""
        return Accounts.open(self.accounts)

    # --- at the table

    async def load(self) -> None:
        """From wherever to betting, with a new shoe."""
        await self.table.begin_shoe()
        await self.table.order(OpenBetting("mei"))

    async def draw(self, cards: str, confidence: int = 99) -> None:
        """These cards leave the shoe one after the other."""
        await self.table.do(f"{'draw' if confidence == 99 else 'unsure'} {cards}")

    async def draw_unread(self) -> None:
        """A card leaves the shoe that it cannot read."""
        await self.table.do("unread")

    async def wager(self, *wagers: tuple[int, str, int]) -> None:
        """Seats make wagers for the coming coup: (seat, wager, amount in minor units)."""
        for seat, name, amount in wagers:
            number = self.table.state.round.number
            await self.table.order(SetWager(f"{number}-{seat}-{name}", seat, name, amount, number))

    async def another_shoe(self, serial: str) -> None:
        """Another shoe is put on the line."""
        await self.table.shoe(ShoeHello(serial, 7, 1, 1, self.table.state.settings.game.decks))


@cache
def known_people() -> bytes:
    """An accounts' file with everybody in it, made once: a password is slow to hash, as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "accounts.db"
        accounts = Accounts.open(path)
        for name, roles in PEOPLE.items():
            accounts.add(name, roles, PASSWORD, timestamp(datetime.now(UTC)))
        accounts.close()
        return path.read_bytes()


@asynccontextmanager
async def consoles(
    folder: Path,
    own: Settings | None = None,
    equipment: Equipment = NO_EQUIPMENT,
    *,
    at_page: bool = True,
    lang: str = "en",
    rules: HouseRules | None = None,
) -> AsyncIterator[TableWithConsoles]:
    """A table on its first day, its consoles open, with an account for each of `PEOPLE`."""
    record = folder / "record.db"
    accounts = folder / "accounts.db"
    accounts.write_bytes(known_people())
    async with table(record, own, house=rules) as here:
        all_of_it = TableWithConsoles(here, accounts, record, free_port(), equipment, at_page, lang)
        await all_of_it.open()
        try:
            yield all_of_it
        finally:
            await all_of_it.close()


def house(game: str = "dragon-bonus-1", **changes: Any) -> Settings:
    """A table's settings."""
    return settings(game, **changes)


# --- people at a console


@asynccontextmanager
async def console_of(
    browser: Browser, width: int = 1280, height: int = 800, *, touch: bool = False
) -> AsyncIterator[Page]:
    """An empty console; whatever the page's script or its policy objects to fails the test."""
    context = await browser.new_context(viewport={"width": width, "height": height}, has_touch=touch, **CALM)
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    try:
        yield page
    finally:
        await context.close()
    assert faults == []


async def sign_on(page: Page, here: TableWithConsoles, name: str, password: str = PASSWORD) -> None:
    """Sign on at the first page."""
    await page.goto(here.address)
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign on").click()


async def signed_on(page: Page, here: TableWithConsoles, name: str) -> None:
    """Sign on, and wait until the page is live."""
    await sign_on(page, here, name)
    await page.wait_for_selector("body.live")


async def at_work(page: Page, here: TableWithConsoles, name: str) -> None:
    """Have the page of somebody whose browser has signed on already, live: a page less to load."""
    person = {"name": name, "password": PASSWORD}
    origin = {"Origin": here.address}
    answer = await page.request.post(f"{here.address}/api/session", data=person, headers=origin)
    session = await answer.json()
    assert answer.ok, session
    await page.goto(f"{here.address}/static/icon.svg")
    await page.evaluate("token => sessionStorage.setItem('csrf', token)", session["csrf"])
    await page.goto(f"{here.address}/{'supervisor' if 'inputs' in session['reads'] else 'dealer'}")
    await page.wait_for_selector("body.live")


_CATCH_UP = """
async () => {
  const { ask, follow, unfollow } = await import("/static/service.js");
  const { body } = await ask("GET", "/api/table");
  await new Promise((done) => {
    const watch = (view) => view.seq >= body.seq && done(setTimeout(() => unfollow(watch)));
    follow(watch);
  });
}
"""


async def caught_up(page: Page) -> None:
    """Wait until the page shows the table as it is now: an order that is asked about sooner is off when the news comes."""
    await page.evaluate(_CATCH_UP)


async def open_part(page: Page, part: str) -> None:
    """Open a part of the supervisor's page or of the Game Manager."""
    await page.evaluate("part => { location.hash = part; }", part)
    await expect(page.locator(f'main[data-part="{part}"]')).to_be_visible()


async def put_away(page: Page) -> None:
    """Put away what was done. It also goes by itself after four seconds, so its button may be gone."""
    await page.locator("#said-away").dispatch_event("click")


async def headline(page: Page, words: str | re.Pattern[str]) -> None:
    """Wait until the large words are these."""
    await expect(page.locator("#headline")).to_have_text(words)


async def press_twice(page: Page, key: str = "F6", order: str = "#game-order") -> None:
    """The game's own order, or another: once it says what it will do, and again it does it."""
    while not await page.locator(f"{order}.armed").count():
        await page.keyboard.press(key)  # which means nothing while the page is not live
    await page.wait_for_timeout(400)  # sooner, the second press is taken for half of a double tap
    await page.keyboard.press(key)


async def press_digit(page: Page, digit: int) -> None:
    """Press a key that means something only while the page is live: again if it was not at that moment."""
    meant = False
    while not meant:
        await page.evaluate(NOTE_PRESS)
        await page.keyboard.press(str(digit))
        meant = await page.evaluate("pressed")
