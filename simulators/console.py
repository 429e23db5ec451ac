"""A user of a table's console, who signs on and gives orders by its HTTP API (docs/reference/api.md), as the pages do."""

import asyncio
import http.client
import json
from typing import Any, Final

_SECONDS: Final = 60  # many simulated tables may be slow


class ConsoleRefusedError(Exception):
    """The console refuses a request; the message is its own."""


class ConsoleUser:
    """An account's owner at a console on this machine; signs on again if the session has ended.

    Each method raises ConsoleRefusedError if the console refuses the request, and OSError if it does not answer.
    """

    def __init__(self, port: int, name: str, password: str) -> None:
        self.name = name
        self._port = port
        self._password = password
        self._cookies: dict[str, str] = {}
        self._csrf: dict[str, str] = {}

    async def order(self, kind: str, **fields: Any) -> None:
        """Give an order; one that needs a second person then waits for them to `approve` it."""
        await self._signed_on("POST", "/api/orders", {"order": kind, **fields})

    async def collect_commission(self) -> None:
        """Collect what each seat owes at a table that collects it at the end of the shoe, because the shoe is not changed before."""
        for owed in (await self.table())["commissions"]:
            await self.order("collect_commission", **owed)

    async def approve(self) -> None:
        """Approve the orders of others that wait for a second person."""
        for waits in (await self.table())["waiting"]:
            if waits["may"]:
                await self._signed_on("POST", f"/api/approvals/{waits['number']}", {})

    async def table(self) -> dict[str, Any]:
        """The console's view of the table."""
        return await self._signed_on("GET", "/api/table")

    async def sign_off(self) -> None:
        """End the session."""
        await self._ask("DELETE", "/api/session")
        self._csrf = {}

    async def _signed_on(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        status, answer = await self._ask(method, path, body)
        if status == http.client.UNAUTHORIZED:
            await self._sign_on()
            status, answer = await self._ask(method, path, body)
        if status not in {http.client.OK, http.client.ACCEPTED}:
            raise ConsoleRefusedError(answer.get("reason") or f"status {status}")
        return answer

    async def _sign_on(self) -> None:
        self._csrf = {}
        status, answer = await self._ask(
            "POST", "/api/session", {"name": self.name, "password": self._password}
        )
        if status != http.client.OK:
            raise ConsoleRefusedError(answer.get("reason") or f"status {status}")
        self._csrf = {"X-CSRF-Token": answer["csrf"]}

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        return await asyncio.to_thread(self._exchange, method, path, body)

    def _exchange(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if method != "GET":
            headers |= {"Origin": f"http://127.0.0.1:{self._port}", "Content-Type": "application/json"}
            headers |= self._csrf
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_SECONDS)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        for cookie in answer.headers.get_all(
            "Set-Cookie", []
        ):  # the session's, and the one that identifies the browser
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        found = json.loads(text) if text else {}
        return answer.status, found if isinstance(found, dict) else {}
