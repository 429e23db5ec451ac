"""The Game Manager of a house in this process, with accounts: real HTTP, a real store, and no broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import create_engine, select, text

from punto.consoles.entrance import FloorEntrance
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.house import schema
from punto.house.config import load_game_manager
from punto.house.service import serve
from tests.consoles.consoles import NOW, PASSWORD, Answer, Browser, Clock
from tests.ports import free_port

PEOPLE = {
    "Ada": "auditor",
    "Tom": "technician",
    "Sue": "supervisor",
    "Eve": "executive",
    "Dan": "dealer",
}


@dataclass
class House:
    """The Game Manager with its pages."""

    port: int
    accounts: Accounts
    url: str
    clock: Clock
    trusted: Any = None

    def browser(self) -> Browser:
        return Browser(self.port, self.trusted)

    async def signed_on(self, name: str) -> Browser:
        browser = self.browser()
        answer = await browser.sign_on(name)
        assert answer.status == 200, answer.text
        return browser

    async def acknowledge(self, browser: Browser, key: str, note: Any = "Looked at it") -> Answer:
        return await browser.ask("POST", f"/api/alarms/{key}/acknowledgement", {"note": note})

    def do(self, statement: str) -> None:
        """Change the store behind the service's back."""
        engine = create_engine(self.url)
        with engine.begin() as connection:
            connection.execute(text(statement))
        engine.dispose()

    def accesses(self) -> list[tuple[str, str | None, str, str | None]]:
        """The recorded accesses in order: kind, who, text, where."""
        columns = schema.ACCESSES.c
        engine = create_engine(self.url)
        asked = select(columns.kind, columns.who, columns.text, columns.where).order_by(columns.id)
        with engine.connect() as connection:
            found = [tuple(row) for row in connection.execute(asked)]
        engine.dispose()
        return found


@asynccontextmanager
async def house(
    folder: Path, pages: str = "", accounts: str = "", trusted: Any = None, broker: int | None = None
) -> AsyncIterator[House]:
    """The service until the block ends; what ends it earlier is raised."""
    config = folder / "game-manager.toml"
    config.write_text(
        f'version = 1\n[mqtt]\nport = {broker or free_port()}\n[store]\npath = "store.db"\n[pages]\nport = 0\n{pages}\n'
        f'[accounts]\npath = "operators.db"\n{accounts}\n'
    )
    people = Accounts.open(folder / "operators.db")
    for name, role in () if people.all() else PEOPLE.items():
        people.add(name, [Role(role)], PASSWORD, NOW)
    opened: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    clock = Clock()

    def entrance_of(*parts: Any) -> FloorEntrance:
        entrance = FloorEntrance(*parts)
        entrance._gate._clock = clock
        return entrance

    serving = asyncio.create_task(serve(load_game_manager(config), entrance_of, opened.set_result))
    first: list[asyncio.Future[Any]] = [serving, opened]
    await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
    try:
        if serving.done():
            serving.result()
        port = urlsplit(opened.result()).port
        assert port is not None
        yield House(port, people, f"sqlite:///{folder}/store.db", clock, trusted)
        assert not serving.done() or serving.result()
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        people.close()
