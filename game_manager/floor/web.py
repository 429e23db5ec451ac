"""The Game Manager's pages for the house, and their data."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

from fastapi import Depends, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from punto.configs.faults import must_be
from punto.controller.gaming_days import read_day
from punto.controller.web_server import SHARED
from punto.game_manager.floor.alarms import ALARMS_A_PAGE, AlarmError, Before, Note, alarms, see_to
from punto.game_manager.floor.live import FloorView
from punto.game_manager.floor.reports import FloorReport, ShiftReport, days, floor_report, shift_report
from punto.game_manager.floor.sheet import floor_sheet
from punto.game_manager.floor.store import Store, StoreAwayError, TooManyRoundsError
from punto.game_manager.sheets import csv_lines
from punto.version import __version__

PAGES: Final = Path(__file__).parent / "pages"
VIEW_EVERY_SECONDS: Final = 1.0
_SEND_SECONDS: Final = 10
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_Day = Annotated[date, BeforeValidator(read_day), InPath()]
_Number = Annotated[int, InPath(ge=0, le=2**53)]  # above every number that a browser holds exactly
_Hours = Annotated[int, Query(ge=1, le=168)]
_Place = Annotated[int, InPath(ge=0, lt=2**31)]


class Person(Protocol):
    """A person who is signed on; `over` is true after the end of the session."""

    name: str
    over: bool


@dataclass(frozen=True)
class Doors:
    """Dependencies that admit the people who may read the floor, and from their own pages those who may see to its alarms.

    Each returns the `Person`; None for a reader if the pages ask nobody to sign on.
    """

    reader: Callable[..., Any]
    overseer: Callable[..., Any]


async def _anybody() -> None:
    """Read without signing on."""


async def _nobody() -> None:
    raise HTTPException(403, "an incident is seen to by a person who is signed on: configure [accounts]")


OPEN: Final = Doors(_anybody, _nobody)


class EndingError(Exception):
    """The service ends: there is no floor to show."""


def application(view: Callable[[], FloorView], store: Store, doors: Doors = OPEN) -> FastAPI:
    """The pages. `view` is the floor as it is now. Only static files are outside the `doors`."""
    app = FastAPI(
        title="Punto Game Manager",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(doors.reader)],
    )
    Reader = Annotated[Person | None, Depends(doors.reader)]  # noqa: N806 - a type
    app.mount("/static", StaticFiles(directory=PAGES))
    app.mount("/shared", StaticFiles(directory=SHARED))

    @app.get("/")
    async def page() -> Response:
        return FileResponse(PAGES / "floor.html")

    @app.get("/api/floor")
    async def floor() -> Response:
        return _json(view())

    @app.get("/api/floor/events")
    async def events(request: Request, reader: Reader) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return EventSourceResponse(_views(view, reader), send_timeout=_SEND_SECONDS)

    _add_reports(app, store)

    _add_shift(app, store)

    _add_alarms(app, store, doors)

    @app.exception_handler(EndingError)
    async def ending(_: Request, __: Exception) -> Response:
        return JSONResponse({"detail": "the service ends: try again"}, 503)

    @app.exception_handler(StoreAwayError)
    async def away(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": f"the store is away: {error}"}, 503)

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> Response:
        fault = error.errors()[0]
        return JSONResponse({"detail": f"{'.'.join(map(str, fault['loc'][1:]))}: {must_be(fault)}"}, 422)

    @app.middleware("http")
    async def with_headers(
        request: Request, answer: Callable[[Request], "asyncio.Future[Response]"]
    ) -> Response:
        answered = await answer(request)
        answered.headers.update(_HEADERS)
        return answered

    return app


def _add_reports(app: FastAPI, store: Store) -> None:
    @app.get("/reports")
    async def reports_page() -> Response:
        return FileResponse(PAGES / "reports.html")

    async def report_of(since: date, until: date) -> FloorReport:
        if until < since:
            raise HTTPException(422, f"{until} is before {since}: write the first day first")
        return await asyncio.to_thread(floor_report, store, since, until)

    @app.get("/api/reports")
    async def days_of_reports() -> Response:
        return _json(await asyncio.to_thread(days, store))

    @app.get("/api/reports/{since}/{until}.csv")
    async def sheet(since: _Day, until: _Day) -> Response:
        return _sheet(await report_of(since, until), f"floor-{since}-{until}")

    @app.get("/api/reports/{since}/{until}")
    async def report(since: _Day, until: _Day) -> Response:
        return _json(await report_of(since, until))


def _add_shift(app: FastAPI, store: Store) -> None:
    async def shift_of(hours: int) -> ShiftReport:
        try:
            return await asyncio.to_thread(shift_report, store, hours, datetime.now(UTC))
        except TooManyRoundsError as error:
            message = f"{error}: ask for fewer hours, or for gaming days"
            raise HTTPException(422, message) from None

    @app.get("/api/shift.csv")
    async def shift_sheet(hours: _Hours = 8) -> Response:
        report = await shift_of(hours)
        return _sheet(report, f"shift-{report.since[:16].replace(':', '')}")

    @app.get("/api/shift")
    async def shift(hours: _Hours = 8) -> Response:
        return _json(await shift_of(hours))


def _add_alarms(app: FastAPI, store: Store, doors: Doors) -> None:
    Overseer = Annotated[Person, Depends(doors.overseer)]  # noqa: N806 - a type

    @app.get("/api/alarms")
    async def incidents(
        before: str | None = None,
        *,
        unseen: bool = False,
        limit: Annotated[int, Query(ge=1, le=200)] = ALARMS_A_PAGE,
    ) -> Response:
        try:
            since = None if before is None else Before.read(before)
        except ValueError as error:
            raise HTTPException(422, f"before: {error}") from None
        return _json(await asyncio.to_thread(alarms, store, since, unseen=unseen, limit=limit))

    @app.post("/api/alarms/{record_id}/{seq}/{place}/seen", status_code=204)
    async def seen(record_id: _Number, seq: _Number, place: _Place, who: Overseer, note: Note) -> None:
        key, now = (record_id, seq, place), datetime.now(UTC)
        try:
            await asyncio.to_thread(see_to, store, key, who.name, note.note, now)
        except AlarmError as error:
            raise HTTPException(error.status, str(error)) from None


async def _views(view: Callable[[], FloorView], reader: Person | None) -> AsyncIterator[ServerSentEvent]:
    """The floor, each second until the reader's session ends: the whole at first, and then the tables that changed."""
    known: dict[str, BaseModel] = {}
    while reader is None or not reader.over:
        try:
            now = view()
        except EndingError:
            return  # else the server would wait for the stream
        changed = tuple(each for each in now.tables if known.get(each.table) != each)
        known = {each.table: each for each in now.tables}
        yield ServerSentEvent(
            event="floor", data=now.model_copy(update={"tables": changed}).model_dump_json()
        )
        await asyncio.sleep(VIEW_EVERY_SECONDS)


def _sheet(report: FloorReport | ShiftReport, name: str) -> Response:
    lines = "".join(csv_lines(floor_sheet(report)))
    attached = {"Content-Disposition": f"attachment; filename={name}.csv"}
    return Response(lines, media_type="text/csv", headers=attached)


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")
