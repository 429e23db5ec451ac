"""The Game Manager's pages for the house, and their data."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Final

from fastapi import FastAPI, Request
from fastapi import Path as InPath
from pydantic import BaseModel, BeforeValidator
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from punto.controller.gaming_days import read_day
from punto.controller.web_server import SHARED
from punto.game_manager.floor.live import FloorView
from punto.game_manager.floor.reports import FloorReport, days, floor_report
from punto.game_manager.floor.sheet import floor_sheet
from punto.game_manager.floor.store import Store, StoreAwayError
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


def application(view: Callable[[], FloorView], store: Store) -> FastAPI:
    """The pages. `view` is the floor as it is now."""
    app = FastAPI(
        title="Punto Game Manager", version=__version__, docs_url=None, redoc_url=None, openapi_url=None
    )
    app.mount("/static", StaticFiles(directory=PAGES))
    app.mount("/shared", StaticFiles(directory=SHARED))

    @app.get("/")
    async def page() -> Response:
        return FileResponse(PAGES / "floor.html")

    @app.get("/api/floor")
    async def floor() -> Response:
        return _json(view())

    @app.get("/api/floor/events")
    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return EventSourceResponse(_views(view), send_timeout=_SEND_SECONDS)

    _add_reports(app, store)

    @app.exception_handler(StoreAwayError)
    async def away(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": f"the store is away: {error}"}, 503)

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
        lines = "".join(csv_lines(floor_sheet(await report_of(since, until))))
        name = f"attachment; filename=floor-{since}-{until}.csv"
        return Response(lines, media_type="text/csv", headers={"Content-Disposition": name})

    @app.get("/api/reports/{since}/{until}")
    async def report(since: _Day, until: _Day) -> Response:
        return _json(await report_of(since, until))


async def _views(view: Callable[[], FloorView]) -> AsyncIterator[ServerSentEvent]:
    """The floor, each second: the whole at first, and then the tables that changed."""
    known: dict[str, BaseModel] = {}
    while True:
        now = view()
        changed = tuple(each for each in now.tables if known.get(each.table) != each)
        known = {each.table: each for each in now.tables}
        yield ServerSentEvent(
            event="floor", data=now.model_copy(update={"tables": changed}).model_dump_json()
        )
        await asyncio.sleep(VIEW_EVERY_SECONDS)


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")
