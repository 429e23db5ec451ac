"""Consoles to sign on at: a table in this process with the real web server, and a browser that does as it is told.

    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        assert (await browser.order("change_shoe")).status == 200

What goes over the wire is real HTTP; only the clock of sessions and lock-outs can be turned (`here.clock`).
"""

import asyncio
import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from punto.baccarat.table.settings import Settings
from punto.commands.operator import ask
from punto.consoles.console import Console
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.controller.config.sections import AccountsConfig, ConsoleConfig
from punto.controller.engine import HouseRules
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import NO_EQUIPMENT, Equipment
from punto.controller.supervisor import gate_of
from tests.controller.table_in_this_process import HERE, Table, rows, settings, table
from tests.controller.table_on_a_machine import Program, wait_until
from tests.deadline import DEADLINE
from tests.ports import free_port
from tests.started import Started

PASSWORD = "correct horse battery"  # noqa: S105 - a test's
NOW = "2026-03-14T21:05:09.000000+00:00"

ACCOUNTS = ("lock_out_after", "lock_out_minutes", "refusals_per_minute", "approval")
"""The keys of `[accounts]` that tests set beside those of `[console]`."""

_BROWSERS = ThreadPoolExecutor(64)  # their own: the service's threads have other work


@dataclass
class Answer:
    """An HTTP answer: its JSON where it has some."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Browser:
    """Somebody's browser: keeps its cookies, sends what this service's own pages would, unless told otherwise."""

    def __init__(self, port: int, trusted: ssl.SSLContext | None = None) -> None:
        self.port = port
        self.trusted = trusted
        self.origin = f"http://127.0.0.1:{port}" if trusted is None else f"https://localhost:{port}"
        self.cookies: dict[str, str] = {}
        self.csrf: str | None = None
        self._prefix = "" if trusted is None else "__Host-"

    @property
    def cookie(self) -> str | None:
        """The session's cookie."""
        return self.cookies.get(f"{self._prefix}punto_session_{self.port}")

    @cookie.setter
    def cookie(self, value: str | None) -> None:
        self.keep(f"{self._prefix}punto_session_{self.port}", value or "")

    def keep(self, name: str, value: str) -> None:
        """Keep a cookie, or forget one without a value."""
        self.cookies = {each: kept for each, kept in self.cookies.items() if each != name}
        if value:
            self.cookies[name] = value

    def headers(self, method: str) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        found = {"Cookie": cookies} if cookies else {}
        if method != "GET":
            found |= {"Origin": self.origin, "Sec-Fetch-Site": "same-origin"}
            if self.csrf is not None:
                found["X-CSRF-Token"] = self.csrf
        return found

    async def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> Answer:
        """One request. `body` is JSON, or bytes as they are; a header of None is left out."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_BROWSERS, self._ask, method, path, body, headers or {})

    def _ask(self, method: str, path: str, body: Any, own: dict[str, str | None]) -> Answer:
        sent: dict[str, str | None] = dict(self.headers(method))
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection = (
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
            if self.trusted is None
            else http.client.HTTPSConnection("localhost", self.port, timeout=DEADLINE, context=self.trusted)
        )
        try:
            connection.putrequest(method, path, skip_host="Host" in own, skip_accept_encoding=True)
            for name, value in (sent | own).items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in own and "Transfer-Encoding" not in own:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            found = {
                name.lower(): value for name, value in reversed(answer.getheaders())
            }  # of several, the first
            for _, value in (header for header in answer.getheaders() if header[0].lower() == "set-cookie"):
                name, _, kept = value.partition(";")[0].partition("=")
                self.keep(name, kept.strip('"'))
            try:
                text = answer.read().decode(errors="replace")  # a PDF is no text
            except ConnectionResetError:
                text = ""  # what is no HTTP is answered and hung up on, though some of it may still be on its way
        finally:
            connection.close()
        return Answer(answer.status, found, text)

    async def get(self, path: str) -> Answer:
        return await self.ask("GET", path)

    async def sign_on(self, name: str, password: str = PASSWORD) -> Answer:
        answer = await self.ask("POST", "/api/session", {"name": name, "password": password})
        if answer.status == 200:
            self.csrf = answer.json["csrf"]
        return answer

    async def sign_off(self) -> Answer:
        return await self.ask("DELETE", "/api/session")

    async def order(self, order: str, **fields: Any) -> Answer:
        return await self.ask("POST", "/api/orders", {"order": order, **fields})

    async def preview(self, order: str, **fields: Any) -> Answer:
        return await self.ask("POST", "/api/preview", {"order": order, **fields})

    async def view(self) -> dict[str, Any]:
        answer = await self.get("/api/table")
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json
        return found


class Clock:
    """A clock that stands until it is turned, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Here:
    """A table with its consoles."""

    table: Table
    console: Console
    serving: asyncio.Task[None]
    accounts: Accounts
    port: int
    record: Path
    desk: Desk
    clock: Clock = field(default_factory=Clock)

    def account(self, name: str, *roles: str, password: str = PASSWORD) -> None:
        self.accounts.add(name, [Role(role) for role in roles], password, NOW)

    def browser(self) -> Browser:
        return Browser(self.port)

    async def signed_on(self, name: str, password: str = PASSWORD) -> Browser:
        browser = self.browser()
        answer = await browser.sign_on(name, password)
        assert answer.status == 200, answer.text
        return browser

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Every input on the record in order, or those of these kinds."""
        found = [
            json.loads(payload) for (payload,) in rows(self.record, "SELECT payload FROM inputs ORDER BY seq")
        ]
        return [event for event in found if not kinds or event["kind"] in kinds]

    async def console_has_ended(self) -> None:
        """Wait until the consoles have ended, as they must not while all is well."""
        await asyncio.wait_for(asyncio.wait([self.serving]), DEADLINE)

    def inputs(self) -> int:
        return self.table.journal.last_seq


@asynccontextmanager
async def consoles(
    folder: Path,
    own: Settings | None = None,
    equipment: Equipment = NO_EQUIPMENT,
    house: HouseRules | None = None,
    **config: Any,
) -> AsyncIterator[Here]:
    """A table that has started, with its consoles; what ends them is raised."""
    record = folder / "table.db"
    port = free_port()
    accounts = Accounts.open(folder / "operators.db")
    async with table(record, own or settings(), house=house) as here:
        policy = {"approval": "page"} | {name: config.pop(name) for name in ACCOUNTS if name in config}
        own_accounts = AccountsConfig.model_validate({"path": folder / "operators.db", **policy})
        console_config = ConsoleConfig.model_validate({"port": port, **config})
        gate = gate_of(own_accounts, console_config, here.engine)
        desk = Desk(here.engine, folder, equipment, gate)
        console = Console(console_config, desk, gate, record)
        serving = asyncio.create_task(console.serve())
        await asyncio.sleep(0)  # it has begun, and so closes what it has opened
        found = Here(here, console, serving, accounts, port, record, desk)
        gate._clock = found.clock
        desk.waiting._clock = found.clock
        try:
            yield found
            assert not serving.done() or serving.result()  # for ever, or it says why not
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
            accounts.close()
            gate.close()


class Service(Program):
    """A `punto run` whose cards are keyed, with consoles. `console` and `accounts` are added to these sections."""

    def __init__(
        self, folder: Path, console: str = "", game: str = "dragon-bonus-1", accounts: str = ""
    ) -> None:
        self.http = free_port()
        self.record = folder / "table.db"
        self.door = folder / "operator.sock"
        self.accounts = folder / "operators.db"
        self.config = folder / "table.toml"
        self.config.write_text(
            f'version = 1\n[table]\nid = "table-1"\nname = "Baccarat 1"\ngame = "{game}"\ncards = "keyed"\nburn = "none"\n'
            f'[record]\npath = "table.db"\n[operator]\nsocket = "operator.sock"\n'
            f'[accounts]\npath = "operators.db"\n{accounts}\n[console]\nport = {self.http}\n{console}\n',
            encoding="utf-8",
        )
        super().__init__(folder / "table.log", sys.executable, "-m", "punto", "run", "--config", self.config)

    def start(self) -> None:
        """Start it and wait until it takes orders."""
        super().start()
        wait_until(lambda: self.up() or not self.running, "the service takes orders")
        assert self.running, f"the service ended with {self.process.returncode}: {self.said()[-10:]}"

    def up(self) -> bool:
        """Whether it takes orders now."""
        try:
            return bool(ask(self.door, {"order": "status"})["accepted"])
        except OSError:
            return False

    def account(self, name: str, *roles: str) -> None:
        """Make an account as a technician would, at the table's PC."""
        self.operators("add", name, *(option for role in roles for option in ("--role", role)))

    def operators(self, *arguments: str) -> None:
        """Run `punto operators` beside the service; a password that it asks for is `PASSWORD`."""
        command = [sys.executable, "-m", "punto", "operators", "--config", str(self.config), *arguments]
        with Started(command, cwd=HERE, stdin=subprocess.PIPE, text=True) as process:
            process.communicate(PASSWORD, timeout=DEADLINE)
        assert process.returncode == 0
