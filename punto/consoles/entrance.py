"""Sign-on before the pages of a house's Game Manager, with the cookies, the sessions and the guard of a table's consoles."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import structlog
from fastapi import Depends, FastAPI, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from punto.baccarat.table.events import Access, SessionEnded
from punto.configs.problems import ConfigError, Problem
from punto.consoles.answers import answer_refusals, refused_answer
from punto.consoles.guard import Guard
from punto.consoles.sessions import Callers, Place, add_sessions
from punto.consoles.web import PAGES
from punto.consoles.words import CATALOGS
from punto.controller.accounts.accounts import open_for_service
from punto.controller.accounts.gate import Gate, Session
from punto.controller.accounts.house import HouseKey
from punto.controller.accounts.refusals import AccountsError, RefusalError
from punto.controller.accounts.roles import SEES_TO, Role, may_read
from punto.house.books import Kept
from punto.house.config import FloorAccounts, PagesConfig
from punto.house.live import FloorView
from punto.house.store import Store, StoreAwayError
from punto.house.web import Doors, application
from punto.messages.bounds import LONGEST_PAYLOAD
from punto.runtime.pace import Pace

SIGN_ON: Final = "/sign-on/"
TAKEN_OVER_SECONDS: Final = 60.0
"""After this time, a table without the accounts as they are now is shown. A table reports every ten seconds what it has."""
_TEND_SECONDS: Final = 1
_BY_ITSELF: Final = frozenset(
    {"/api/floor", "/api/floor/events", "/api/alarms/events", "/api/progressives", "/api/reader"}
)
"""What the pages ask for by themselves, which is no activity of a person."""
_NOT_OF_ROLE: Final = "your roles do not allow acknowledging alarms"

_log = structlog.get_logger("punto.house")


class FloorAccesses:
    """The record of the accesses to a house's pages, in the house's store: `gate.Accesses`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pace = Pace()
        self._owed: list[tuple[datetime, Access]] = []
        self._one_at_a_time = asyncio.Lock()

    @property
    def pace(self) -> Pace:
        """How fast each client may ask."""
        return self._pace

    def admits(self, roles: tuple[Role, ...]) -> bool:
        """Whether people with these roles may sign on: those who may read the floor."""
        return may_read(roles, "floor")

    async def record(self, access: Access) -> None:
        """Record an access.

        Raises:
            RefusalError: the store is away. The end of a session is recorded with a later access.
        """
        await self._record([(datetime.now(UTC), access)])

    async def settle(self) -> None:
        """Record the ends of sessions that could not be recorded; raises RefusalError if the store is still away."""
        await self._record([])

    async def _record(self, new: list[tuple[datetime, Access]]) -> None:
        async with self._one_at_a_time:
            self._owed += [each for each in new if isinstance(each[1], SessionEnded)]
            others = [each for each in new if not isinstance(each[1], SessionEnded)]
            if not (noted := [*self._owed, *others]):
                return  # also if somebody else recorded them since they were owed
            try:
                await asyncio.to_thread(self._store.note_accesses, noted)
            except StoreAwayError as error:
                reason = (
                    "the house's store is away, and nobody can sign on without a record of it: try again in a minute, or call a "
                    "technician"
                )
                raise RefusalError(503, "store_away", reason) from error
            self._owed.clear()


class FloorEntrance:
    """The people who are signed on at the pages of a house, and the pages behind their sign-on."""

    def __init__(
        self,
        accounts: FloorAccounts,
        pages: PagesConfig,
        port: int,
        store: Store,
        publish: Callable[[bytes], None],
    ) -> None:
        """Open the accounts. With a house's key, `publish` gets a signed copy of them whenever one has changed.

        Raises:
            ConfigError: the accounts or the key cannot be opened.
        """
        self._accesses = FloorAccesses(store)
        self._publish = publish
        self._published = 0
        self._changes: deque[tuple[float, int]] = deque()
        self._expected = 0
        self._key = None if accounts.house_key is None else _house_key(accounts.house_key)
        self._gate = Gate(open_for_service(accounts.path), self._accesses, accounts, pages.idle_minutes)
        self._place = Place(
            gate=self._gate, notice="", sounds=pages.sounds, port=port, tls=pages.certificate is not None
        )

    def close(self) -> None:
        """Close the accounts."""
        self._gate.close()

    async def tend(self) -> None:
        """End the sessions that must end, until cancelled."""
        while True:
            try:
                self._publish_changes()
                await self._accesses.settle()
                await self._gate.sweep()
            except RefusalError as error:
                _log.warning("sessions cannot be ended", reason=str(error))
            await asyncio.sleep(_TEND_SECONDS)

    def expected(self) -> int:
        """The version of the house's accounts that each table must have by now, 0 if the tables have accounts of their own."""
        while self._changes and self._changes[0][0] <= time.monotonic() - TAKEN_OVER_SECONDS:
            self._expected = self._changes.popleft()[1]
        return self._expected

    def _publish_changes(self) -> None:
        version = self._gate.accounts.version()
        if self._key is None or version <= self._published:
            return
        payload = self._key.signed(self._gate.accounts.copy())
        if len(payload) > LONGEST_PAYLOAD:
            _log.error(
                "the tables cannot get the accounts",
                bytes=len(payload),
                hint="remove cards and security keys of people who have left",
            )
        else:
            self._publish(payload)
        self._published = version
        self._changes.append((time.monotonic(), version))

    def application(self, view: Callable[[], FloorView], store: Store, kept: Callable[[], Kept]) -> ASGIApp:
        """The pages. Nothing is open but the sign-on page and static files."""
        app = FastAPI(title="Punto Game Manager", docs_url=None, redoc_url=None, openapi_url=None)
        answer_refusals(app)
        callers = Callers(self._place)
        add_sessions(app, self._place, callers, signed_off=lambda: None)

        @app.get(SIGN_ON)
        async def sign_on() -> Response:
            return FileResponse(PAGES / "sign-on.html")

        @app.get("/settings.json")
        async def settings() -> dict[str, str]:
            return {"lang": "en", "name": "Game Manager", "home": "/"}

        app.mount(f"{SIGN_ON}static", StaticFiles(directory=PAGES))
        app.mount("/catalog", StaticFiles(directory=CATALOGS))
        floor = application(view, store, self._doors(callers), kept, self._place.sounds)
        floor.add_exception_handler(RefusalError, _refused)
        app.mount("/", floor)
        return Guard(app, tls=self._place.tls, failed=_failed)

    def _doors(self, callers: Callers) -> Doors:
        Reader = Annotated[Session, Depends(callers.reader("floor"))]  # noqa: N806 - a type
        OwnPage = Annotated[Session, Depends(callers.own_page)]  # noqa: N806 - a type

        async def reader(request: Request, session: Reader) -> Session:
            if request.url.path not in _BY_ITSELF:
                self._gate.note_activity(session)
            return session

        async def books_reader(session: Annotated[Session, Depends(reader)]) -> Session:
            if not may_read(session.roles, "progressive"):
                await self._gate.refuse_role(session.name, "read progressive", session.where)
                raise RefusalError(403, "not_of_role", "your roles do not allow reading the books of a meter")
            return session

        def bars(session: Session) -> str:
            return _NOT_OF_ROLE if SEES_TO.isdisjoint(session.roles) else ""

        async def overseer(session: OwnPage) -> Session:
            if bars(session):
                await self._gate.refuse_role(session.name, "acknowledge an alarm", session.where)
                raise RefusalError(403, "not_of_role", _NOT_OF_ROLE)
            return session

        return Doors(reader, overseer, bars, books_reader)


def _house_key(path: Path) -> HouseKey:
    try:
        key = HouseKey.open(path)
    except AccountsError as error:
        raise ConfigError([Problem(str(error), key="accounts.house_key")]) from error
    _log.info("keeping the accounts of the house", public_key=key.public)
    return key


entrance_of: Final = FloorEntrance


async def _refused(request: Request, error: Exception) -> Response:
    """The answer to a refusal; a page that nobody may open yet leads to sign-on."""
    assert isinstance(error, RefusalError)  # noqa: S101 - it is registered for these
    if error.status == 401 and request.method == "GET" and not request.url.path.startswith("/api/"):
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{SIGN_ON}?to={quote(request.url.path + query)}", 303)
    return await refused_answer(error)


def _failed(error: Exception) -> None:
    """Keep taking in: an error of a page ends only its request."""
    _log.error("a page failed", exc_info=error)
