"""The Game Manager's pages and their data, for the consoles' server: reports, downloads, the win page.

Orders are not accepted here: the pages send them as every console does, and the desk checks permissions.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi import Path as InPath
from pydantic import AfterValidator, BeforeValidator
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from punto.baccarat.progressive.events import PrintWinPage
from punto.baccarat.progressive.settings import Advice, advice
from punto.baccarat.progressive.state import AwardState, State
from punto.baccarat.table.state import TableState
from punto.messages.books import Day, Reconciliation, Week
from punto.messages.models import Part
from punto.reports import sheets
from punto.reports.awards import AWARDS_A_PAGE, Award, award, awards
from punto.reports.periods import Meter, day_report, meters, week_report
from punto.reports.printed import Fact, Report, of_sheet
from punto.reports.reconciliation import reconcile
from punto.reports.record import Record, opened
from punto.reports.slip import Encoding, PrinterError, reached, slip
from punto.reports.win_page import WinPage, win_page
from punto.runtime import clock
from punto.runtime.csv_cells import Cell
from punto.runtime.gaming_days import Calendar, read_day, read_weekday, written_day
from punto.web.answers import download, json_of
from punto.web.markup import spoken

PAGES: Final = Path(__file__).parent / "pages"
PDF: Final = "application/pdf"
NO_PDF: Final = "this table's PC cannot make PDFs: install punto[print] on this PC"
_MOST: Final = 10**12
_NUMBER: Final = 2**53  # above every number that a browser holds exactly
_ISSUERS: Final = frozenset({"supervisor", "executive"})
"""The roles that get an original win page: an auditor does not give orders, so an auditor's print is a copy."""
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class House:
    """The services that the Game Manager of one table uses.

    `now` is the table as it is; `note` records a print of a win page and
    returns the number of its input; `printer` is the slip printer, as in `slip.send`.
    """

    record: Path
    now: Callable[[], TableState]
    note: Callable[[PrintWinPage], Awaitable[int]]
    calendar: Calendar
    printer: str | None = None
    encoding: Encoding = "cp437"


class InForce(Part):
    """The settings of the table's progressive that can be changed; amounts in minor units."""

    seed: int
    contribution: str
    reserve: str
    display_limit: int | None
    split: str
    fixed_awards: str
    executive_from: int | None
    approval_above: int | None
    seat_one: str


class Own(Part):
    """The table's own progressive in its current state; amounts in minor units."""

    progressive: str
    phase: Literal["new", "open", "retired"]
    title: str
    procedure: str
    settings: InForce
    shown: int
    advice: tuple[Advice, ...]


class Overview(Part):
    """The first data of the pages: the meters on the record, the table's own progressive, the house's calendar."""

    table: str
    name: str
    currency: str
    own: Own | None
    meters: tuple[Meter, ...]
    today: date
    day_starts: str
    zone: str
    week_starts: str
    slip_printer: bool


_Day = Annotated[date, BeforeValidator(read_day), InPath()]
_Award = Annotated[int, InPath(ge=1, le=_NUMBER)]
_Form = Literal["csv", "pdf"]
_WeekStarts = Annotated[Annotated[str, AfterValidator(read_weekday)] | None, Query()]


def add_game_manager(
    app: FastAPI, house: House, reader: Callable[..., Any], own_page: Callable[..., Any]
) -> None:
    """Serve the Game Manager at /game-manager, and its data below /api/progressive.

    `reader` admits accounts that may read a progressive, `own_page` requests from the consoles' own pages.
    """
    reads = APIRouter(prefix="/api/progressive", dependencies=[Depends(reader)], include_in_schema=False)
    _add_reports(reads, house)
    _add_downloads(reads, house)
    _add_downloads_of_periods(reads, house)
    _add_win_pages(reads, house, own_page)
    app.include_router(reads)
    app.mount("/game-manager/static", StaticFiles(directory=PAGES))

    @app.get("/game-manager", include_in_schema=False)
    async def page() -> Response:
        text = (PAGES / "game-manager.html").read_text(encoding="utf-8")
        attributes = {"lang": "en", "data-zone": house.calendar.zone.key}
        return HTMLResponse(spoken(text, str, attributes))


# --- reading


async def _read(house: House, report: Callable[[Record], _Read]) -> _Read:
    """Make a report in a thread, including everything that its reader has already seen at the table."""

    def made() -> _Read:
        with opened(house.record) as record:
            return report(record)

    return await asyncio.to_thread(made)


def _calendar(house: House, week_starts: str | None) -> Calendar:
    return house.calendar if week_starts is None else replace(house.calendar, week_starts=week_starts)


def _add_reports(reads: APIRouter, house: House) -> None:
    def in_currency(report: Part) -> Response:
        return json_of(report, house.now().settings.currency)

    @reads.get("")
    async def overview() -> Response:
        return in_currency(_overview(house, await _read(house, meters), clock.now()))

    @reads.get("/advice")
    async def advised(
        changes: Annotated[dict[str, Any], Depends(_changes)],
    ) -> Response:
        progressive = house.now().progressive
        if progressive is None:
            raise HTTPException(404, "this table has no progressive")
        try:
            given = advice(replace(progressive.books.settings, **changes), house.now().settings.currency)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None
        return json_of(_Advised(advice=given))

    @reads.get("/awards")
    async def past(
        before: Annotated[int | None, Query(ge=1, le=_NUMBER)] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = AWARDS_A_PAGE,
    ) -> Response:
        return in_currency(await _read(house, lambda record: awards(record, before, limit)))

    @reads.get("/days/{day}")
    async def accrual(day: _Day) -> Response:
        return in_currency(await _read(house, lambda record: _day(record, house, day)))

    @reads.get("/weeks/{day}")
    async def deposit(day: _Day, week_starts: _WeekStarts = None) -> Response:
        return in_currency(await _read(house, lambda record: _week(record, house, day, week_starts)))

    @reads.get("/reconciliations/{day}")
    async def reconciled(day: _Day) -> Response:
        return in_currency(await _read(house, lambda record: _reconciled(record, house, day)))


def _day(record: Record, house: House, day: date) -> Day:
    return day_report(record, day, house.calendar, clock.now())


def _week(record: Record, house: House, day: date, week_starts: str | None) -> Week:
    return week_report(record, day, _calendar(house, week_starts), clock.now())


def _reconciled(record: Record, house: House, day: date) -> Reconciliation:
    return reconcile(record, day, house.calendar, clock.now())


def _overview(house: House, found: tuple[Meter, ...], now: datetime) -> Overview:
    state, calendar = house.now(), house.calendar
    at = state.settings
    return Overview(
        table=at.table,
        name=at.title,
        currency=at.currency,
        own=None if state.progressive is None else _own(state.progressive.books, at.currency),
        meters=found,
        today=calendar.day_of(now),
        day_starts=calendar.starts.isoformat("minutes"),
        zone=calendar.zone.key,
        week_starts=calendar.week_starts,
        slip_printer=house.printer is not None,
    )


def _own(books: State, currency: str) -> Own:
    settings = books.settings
    return Own(
        progressive=settings.progressive,
        phase=books.phase.value,
        title=settings.wager.title,
        procedure=settings.procedure,
        settings=InForce(**{name: getattr(settings, name) for name in InForce.model_fields}),
        shown=books.shown,
        advice=advice(settings, currency),
    )


class _Advised(Part):
    advice: tuple[Advice, ...]


async def _changes(
    seed: Annotated[int | None, Query(ge=0, le=_MOST)] = None,
    contribution: str | None = None,
    reserve: str | None = None,
    fixed_awards: Literal["tray", "meter"] | None = None,
    display_limit: Annotated[int | None, Query(ge=0, le=_MOST)] = None,
) -> dict[str, Any]:
    """The requested changes, of the settings that the advice depends on."""
    asked = {
        "seed": seed,
        "contribution": contribution,
        "reserve": reserve,
        "fixed_awards": fixed_awards,
        "display_limit": display_limit,
    }
    return {name: value for name, value in asked.items() if value is not None}


# --- downloads


async def _sheet(
    house: House, form: _Form, title: str, name: str, rows: Callable[[Record], Iterable[Sequence[Cell]]]
) -> Response:
    """A sheet as a file to download: as CSV for further calculations, or as a PDF for paper."""
    file = f"{house.now().settings.table}-{name}"
    if form == "csv":
        return await _read(house, lambda record: download(sheets.named(rows(record), record.title), file))

    def report() -> Report:
        with opened(house.record) as record:
            zone = house.calendar.zone.key
            about = [Fact(name="Table", value=record.title), Fact(name="Time zone", value=zone)]
            return of_sheet(title, record.title, about, rows(record))

    return await report_file(report, file)


def _add_downloads(reads: APIRouter, house: House) -> None:
    zone = house.calendar.zone

    @reads.get("/{form}/meters")
    async def meters_file(form: _Form) -> Response:
        def rows(record: Record) -> sheets.Rows:
            return sheets.meters_sheet(record.currency, meters(record), zone)

        return await _sheet(house, form, "Meters", "meters", rows)

    @reads.get("/{form}/awards")
    async def awards_file(form: _Form) -> Response:
        def rows(record: Record) -> sheets.Rows:
            return sheets.awards_sheet(record.currency, awards(record, limit=_NUMBER).awards, zone)

        return await _sheet(house, form, "Awards", "awards", rows)

    @reads.get("/csv/postings")
    async def postings_file() -> Response:
        def rows(record: Record) -> sheets.Rows:
            return sheets.postings_sheet(record.currency, record.postings(), zone)

        return await _sheet(house, "csv", "Postings", "postings", rows)


def _add_downloads_of_periods(reads: APIRouter, house: House) -> None:
    zone = house.calendar.zone

    @reads.get("/{form}/days/{day}")
    async def day_file(form: _Form, day: _Day) -> Response:
        def rows(record: Record) -> sheets.Rows:
            return sheets.day_sheet(record.currency, _day(record, house, day), zone)

        return await _sheet(house, form, f"Daily accrual report, {written_day(day)}", f"day-{day}", rows)

    @reads.get("/{form}/weeks/{day}")
    async def week_file(form: _Form, day: _Day, week_starts: _WeekStarts = None) -> Response:
        def rows(record: Record) -> sheets.Rows:
            return sheets.week_sheet(record.currency, _week(record, house, day, week_starts))

        return await _sheet(house, form, f"Weekly deposit, week of {written_day(day)}", f"week-{day}", rows)

    @reads.get("/{form}/reconciliations/{day}")
    async def reconciliation_file(form: _Form, day: _Day) -> Response:
        def rows(record: Record) -> sheets.Rows:
            return sheets.reconciliation_sheet(record.currency, _reconciled(record, house, day))

        return await _sheet(house, form, f"Reconciliation, {written_day(day)}", f"reconciliation-{day}", rows)


# --- the win page


def _add_win_pages(reads: APIRouter, house: House, own_page: Callable[..., Any]) -> None:
    Caller = Annotated[Any, Depends(own_page)]  # noqa: N806 - a type
    one_at_a_time = asyncio.Lock()

    async def award_of(number: int) -> Award:
        found = await _read(house, lambda record: award(record, number))
        if found is None:
            raise HTTPException(404, f"no award was locked with the input {number} of the record")
        return found

    async def printed(number: int, caller: Any) -> WinPage:
        """The page; the print is on the record before it is on paper, so a second original is never made."""
        async with one_at_a_time:
            found = await award_of(number)
            original = (
                found.state is AwardState.BOOKED
                and found.original is None
                and not _ISSUERS.isdisjoint(caller.roles)
            )
            noted = await house.note(PrintWinPage(found.progressive, found.number, caller.name, original))
            found = await award_of(number)
        at = house.now().settings
        this = next(each for each in found.prints if each.input == noted)
        return win_page(found, this, at.title, at.currency, house.calendar.zone)

    @reads.post("/awards/{number}/win-page")
    async def sheet(number: _Award, caller: Caller) -> Response:
        try:
            pdf = await asyncio.to_thread(_pdf)
        except ModuleNotFoundError:
            raise HTTPException(503, f"{NO_PDF}, or print a slip") from None
        made = await asyncio.to_thread(pdf, await printed(number, caller))
        name = f'inline; filename="award-{number}.pdf"'
        return Response(made, media_type=PDF, headers={"Content-Disposition": name})

    @reads.post("/awards/{number}/slip", status_code=204)
    async def print_slip(number: _Award, caller: Caller) -> Response:
        if house.printer is None:
            raise HTTPException(404, "no slip printer is configured: print the page as a PDF")
        with ExitStack() as stack:
            try:
                take = await asyncio.to_thread(stack.enter_context, reached(house.printer))
            except PrinterError as error:
                raise HTTPException(503, str(error)) from None
            page = await printed(number, caller)
            try:
                await asyncio.to_thread(lambda: take(slip(page, house.encoding)))
            except PrinterError as error:
                raise HTTPException(
                    503, f"{error}; a part of the slip may be on paper, so the next print is a copy"
                ) from None
        return Response(status_code=204)


def _pdf() -> Callable[[WinPage], bytes]:
    """The function for PDFs. It is an extra, and its import takes most of a second: never do it where devices are read."""
    from punto.reports.pdf import pdf  # noqa: PLC0415

    return pdf


async def report_file(report: Callable[[], Report], name: str) -> Response:
    """A report that is made in a thread, as a PDF that the browser saves as NAME.pdf.

    Raises:
        HTTPException: 503, this PC cannot make PDFs.
    """

    def made() -> bytes:
        from punto.reports.pdf import report_pdf  # noqa: PLC0415 - an extra, as above

        return report_pdf(report())

    try:
        content = await asyncio.to_thread(made)
    except ModuleNotFoundError:
        raise HTTPException(503, f"{NO_PDF}, or print the page") from None
    attached = {"Content-Disposition": f'attachment; filename="{name}.pdf"'}
    return Response(content, media_type=PDF, headers=attached)
