"""The Game Manager's pages for the house, and their data."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, Protocol

from fastapi import Depends, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, Field
from sse_starlette import ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from punto.configs.plain_text import PLAIN
from punto.controller.config.sections import ALL_SOUNDS, Sound
from punto.house.alarms import (
    ALARMS_A_PAGE,
    AlarmError,
    Alarms,
    AlarmsView,
    Before,
    Note,
    Only,
    acknowledge,
    alarms,
    choices,
)
from punto.house.books import HouseBooks, Kept, Sheet, books_sheet, house_books
from punto.house.edge_alarms import shoes_report
from punto.house.live import FloorView
from punto.house.markup import HOUSE, PAGES, Page, html_of
from punto.house.people import MOST_DAYS, people_report
from punto.house.reports import ShiftReport, days, floor_report, shift_report
from punto.house.rows import TooManyRoundsError
from punto.house.sheet import Names, floor_sheet, for_people, people_sheet, shoes_sheet
from punto.house.standing import Acknowledged
from punto.house.standing import acknowledge as acknowledge_on_floor
from punto.house.store import Store, StoreAwayError
from punto.reports.printed import Fact, Report, of_sheet
from punto.reports.sheets import Rows
from punto.reports.web import report_file
from punto.runtime import clock
from punto.runtime.gaming_days import by_the_clock, read_day, written_day
from punto.version import __version__
from punto.web.answers import download, json_of, stream
from punto.web.bodies import JsonRoute, what_to_write
from punto.web.server import SHARED

VIEW_EVERY_SECONDS: Final = 1.0
_Day = Annotated[date, BeforeValidator(read_day), InPath()]
_AnyDay = Annotated[Annotated[date, BeforeValidator(read_day)] | None, Query()]
_Number = Annotated[int, InPath(ge=0, le=2**53)]  # above every number that a browser holds exactly
_Hours = Annotated[int, Query(ge=1, le=168)]
_Place = Annotated[int, InPath(ge=0, lt=2**31)]
_Name = Annotated[Annotated[str, Field(max_length=64), PLAIN] | None, Query()]


class Person(Protocol):
    """A person who is signed on; `over` is true after the end of the session."""

    name: str
    over: bool


@dataclass(frozen=True)
class Doors:
    """Dependencies that admit the people who may read the floor, those who may acknowledge its alarms, and those who may read the books.

    Alarms are acknowledged from the pages alone. Each returns the `Person`; None for a reader if the pages ask nobody to sign on. `bars`
    says why a reader cannot acknowledge an alarm; it is empty if the reader can.
    """

    reader: Callable[..., Any]
    overseer: Callable[..., Any]
    bars: Callable[[Any], str]
    books_reader: Callable[..., Any]


async def _anybody() -> None:
    """Read without signing on."""


_NOBODY: Final = "an incident is acknowledged by a person who is signed on: configure [accounts]"


async def _nobody() -> None:
    raise HTTPException(403, _NOBODY)


OPEN: Final = Doors(_anybody, _nobody, lambda _: _NOBODY, _anybody)


class Reader(BaseModel):
    """Who reads the pages: null if they ask nobody to sign on. `bars` says why this person cannot acknowledge an alarm, empty if they can.

    `sounds` are those that the pages may make.
    """

    name: str | None
    bars: str
    sounds: tuple[Sound, ...]


class EndingError(Exception):
    """The service ends: there is no floor to show."""


def application(
    view: Callable[[], FloorView],
    store: Store,
    doors: Doors = OPEN,
    kept: Callable[[], Kept] = Kept,
    sounds: tuple[Sound, ...] = ALL_SOUNDS,
) -> FastAPI:
    """The pages, which may make these `sounds`. `view` is the floor as it is now, and `kept` its meters. Only static files are outside the `doors`."""
    app = FastAPI(
        title="Punto Game Manager",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(doors.reader)],
    )
    app.router.route_class = JsonRoute
    Reading = Annotated[Person | None, Depends(doors.reader)]  # noqa: N806 - a type
    app.mount("/static", StaticFiles(directory=PAGES))
    app.mount("/shared", StaticFiles(directory=SHARED))

    for page in HOUSE:
        _add_page(app, page, store.calendar.zone.key)

    @app.get("/api/reader")
    async def who_reads(reader: Reading) -> Response:
        name = None if reader is None else reader.name
        return json_of(Reader(name=name, bars=doors.bars(reader), sounds=sounds))

    @app.get("/api/floor")
    async def floor() -> Response:
        return json_of(view())

    @app.get("/api/floor/events")
    async def events(reader: Reading) -> Response:
        return _stream("floor", _views(view), reader)

    def names() -> Names:
        return {each.table: each.name for each in view().tables}

    _add_reports(app, store, names)

    _add_shift(app, store, names)

    _add_alarms(app, view, store, doors)

    _add_progressives(app, store, doors, kept)

    @app.exception_handler(EndingError)
    async def ending(_: Request, __: Exception) -> Response:
        return JSONResponse({"detail": "the service ends: try again"}, 503)

    @app.exception_handler(StoreAwayError)
    async def away(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": f"the store is away: {error}"}, 503)

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"detail": what_to_write(error)}, 422)

    return app


def _add_page(app: FastAPI, page: Page, zone: str) -> None:
    @app.get(page.path)
    async def show() -> Response:
        return HTMLResponse(html_of(page, zone))


class _Report(NamedTuple):
    """A report over gaming days: its address below /api, how it is made and written as a sheet, and the name of its file."""

    address: str
    made: Callable[[Store, date, date], BaseModel]
    sheet: Callable[[Any, Names], Rows]
    file: str
    title: str
    most_days: int | None = None


_REPORTS: Final = (
    _Report("reports", floor_report, floor_sheet, "floor", "The floor"),
    _Report("people", people_report, people_sheet, "people", "The people at the tables", MOST_DAYS),
    _Report("shoes", shoes_report, shoes_sheet, "shoes", "Shoes that favoured the players"),
)


def _add_reports(app: FastAPI, store: Store, names: Callable[[], Names]) -> None:
    @app.get("/api/reports")
    async def days_of_reports() -> Response:
        return json_of(await asyncio.to_thread(days, store))

    for each in _REPORTS:
        _add_report(app, store, names, each)


def _add_report(app: FastAPI, store: Store, names: Callable[[], Names], of: _Report) -> None:
    async def report_of(since: date, until: date) -> BaseModel:
        if until < since:
            raise HTTPException(422, f"{until} is before {since}: write the first day first")
        if of.most_days is not None and until - since >= timedelta(days=of.most_days):
            raise HTTPException(422, f"this report is of at most {of.most_days} days: choose fewer days")
        return await asyncio.to_thread(of.made, store, since, until)

    @app.get(f"/api/{of.address}/{{since}}/{{until}}.csv")
    async def sheet(since: _Day, until: _Day) -> Response:
        return download(of.sheet(await report_of(since, until), names()), f"{of.file}-{since}-{until}")

    @app.get(f"/api/{of.address}/{{since}}/{{until}}.pdf")
    async def printed(since: _Day, until: _Day) -> Response:
        rows = of.sheet(await report_of(since, until), names())
        return await _pdf(
            of.title, f"{written_day(since)} to {written_day(until)}", rows, f"{of.file}-{since}-{until}"
        )

    @app.get(f"/api/{of.address}/{{since}}/{{until}}")
    async def report(since: _Day, until: _Day) -> Response:
        return json_of(await report_of(since, until))


async def _pdf(title: str, span: str, rows: Rows, name: str) -> Response:
    """A sheet for people on paper."""

    def made() -> Report:
        return of_sheet(title, "Game Manager", (Fact(name="Time", value=span),), for_people(rows))

    return await report_file(made, name)


def _add_shift(app: FastAPI, store: Store, names: Callable[[], Names]) -> None:
    async def shift_of(hours: int) -> ShiftReport:
        try:
            return await asyncio.to_thread(shift_report, store, hours, clock.now())
        except TooManyRoundsError as error:
            message = f"{error}: ask for fewer hours, or for gaming days"
            raise HTTPException(422, message) from None

    @app.get("/api/shift.csv")
    async def shift_sheet(hours: _Hours = 8) -> Response:
        report = await shift_of(hours)
        return download(floor_sheet(report, names()), _file_of(report))

    @app.get("/api/shift.pdf")
    async def shift_printed(hours: _Hours = 8) -> Response:
        report = await shift_of(hours)
        ends = (by_the_clock(each, store.calendar.zone) for each in (report.since, report.until))
        span = " to ".join(f"{written_day(each)}, {each:%H:%M}" for each in ends)
        return await _pdf(
            f"The floor, last {hours} hours", span, floor_sheet(report, names()), _file_of(report)
        )

    @app.get("/api/shift")
    async def shift(hours: _Hours = 8) -> Response:
        return json_of(await shift_of(hours))


def _file_of(report: ShiftReport) -> str:
    return f"shift-{report.since[:16].replace(':', '')}"


_TITLES: Final[Mapping[Sheet, str]] = {
    "day": "The progressives, daily accrual",
    "week": "The progressives, weekly deposit",
    "reconciliation": "The progressives, reconciliation",
}


def _add_progressives(app: FastAPI, store: Store, doors: Doors, kept: Callable[[], Kept]) -> None:
    admitted = [Depends(doors.books_reader)]

    async def books_of(day: date | None) -> HouseBooks:
        return await asyncio.to_thread(house_books, store, kept(), clock.now(), day)

    @app.get("/api/progressives", dependencies=admitted)
    async def progressives(day: _AnyDay = None) -> Response:
        return json_of(await books_of(day))

    @app.get("/api/progressives/{day}/{sheet}.csv", dependencies=admitted)
    async def sheet_of_books(day: _Day, sheet: Sheet) -> Response:
        rows = books_sheet(await books_of(day), sheet, store.calendar.zone)
        return download(rows, f"progressives-{sheet}-{day}")

    @app.get("/api/progressives/{day}/{sheet}.pdf", dependencies=admitted)
    async def printed_books(day: _Day, sheet: Sheet) -> Response:
        rows = books_sheet(await books_of(day), sheet, store.calendar.zone)
        return await _pdf(_TITLES[sheet], written_day(day), rows, f"progressives-{sheet}-{day}")


def _add_alarms(app: FastAPI, view: Callable[[], FloorView], store: Store, doors: Doors) -> None:
    Reading = Annotated[Person | None, Depends(doors.reader)]  # noqa: N806 - a type
    Overseer = Annotated[Person, Depends(doors.overseer)]  # noqa: N806 - a type
    Chosen = Annotated[Only, Depends(_only)]  # noqa: N806 - a type

    @app.post("/api/floor/acknowledgements", status_code=204)
    async def acknowledgement_on_floor(who: Overseer, of: Acknowledged) -> None:
        key, now = (of.table, of.alarm), clock.now()
        with _refusals():
            await asyncio.to_thread(acknowledge_on_floor, store, key, who.name, now)

    @app.get("/api/alarms")
    async def incidents(
        only: Chosen, before: str | None = None, limit: Annotated[int, Query(ge=1, le=200)] = ALARMS_A_PAGE
    ) -> Response:
        try:
            since = None if before is None else Before.read(before)
        except ValueError as error:
            raise HTTPException(422, f"before: {error}") from None
        return json_of(await asyncio.to_thread(alarms, store, since, only, limit=limit))

    @app.get("/api/alarms/choices")
    async def what_there_is() -> Response:
        return json_of(await asyncio.to_thread(choices, store))

    @app.get("/api/alarms/events")
    async def events(reader: Reading, only: Chosen) -> Response:
        newest = partial(alarms, store, only=only)
        return _stream("alarms", _alarms_views(view, newest), reader)

    @app.post("/api/alarms/{record_id}/{seq}/{place}/acknowledgement", status_code=204)
    async def acknowledgement(
        record_id: _Number, seq: _Number, place: _Place, who: Overseer, note: Note
    ) -> None:
        key, now = (record_id, seq, place), clock.now()
        with _refusals():
            await asyncio.to_thread(acknowledge, store, key, who.name, note.note, now)


@contextmanager
def _refusals() -> Iterator[None]:
    """Answer with the reason why an alarm cannot be acknowledged."""
    try:
        yield
    except AlarmError as error:
        raise HTTPException(error.status, str(error)) from None


async def _only(table: _Name = None, kind: _Name = None, *, unacknowledged: bool = False) -> Only:
    return Only(table, kind, unacknowledged)


def _stream(event: str, views: AsyncIterator[BaseModel], reader: Person | None) -> Response:
    """A view as an event, each second until the reader's session or the service ends."""

    async def events() -> AsyncIterator[ServerSentEvent]:
        with suppress(EndingError):  # else the server would wait for the stream
            async for each in views:
                yield ServerSentEvent(event=event, data=each.model_dump_json())
                await asyncio.sleep(VIEW_EVERY_SECONDS)
                if reader is not None and reader.over:
                    return

    return stream(events())


async def _views(view: Callable[[], FloorView]) -> AsyncIterator[FloorView]:
    """The floor: the whole at first, and then the tables that changed."""
    known: dict[str, BaseModel] = {}
    while True:
        now = view()
        changed = tuple(each for each in now.tables if known.get(each.table) != each)
        known = {each.table: each for each in now.tables}
        yield now.model_copy(update={"tables": changed})


async def _alarms_views(
    view: Callable[[], FloorView], newest: Callable[[], Alarms]
) -> AsyncIterator[AlarmsView]:
    """The newest incidents, at first and whenever they have changed, and how current they are."""
    known = None
    while True:
        house, found, fault = view(), None, ""
        try:
            found = await asyncio.to_thread(newest)
        except StoreAwayError as error:
            fault = str(error)
        changed = None if found == known else found
        known = found or known
        yield AlarmsView(
            at=house.at, broker=house.broker, taking_in=house.taking_in, away=fault, newest=changed
        )
