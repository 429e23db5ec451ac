"""The consoles' pages and HTTP API."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final, TypeVar, get_args

from fastapi import Depends, FastAPI, Query, Request
from fastapi import Path as InPath
from sse_starlette import ServerSentEvent
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from punto.consoles import api
from punto.consoles.answers import OF_JSON, answer_refusals, answers, order_answers
from punto.consoles.diagnostics import Doctor, Examination
from punto.consoles.guard import own_origin
from punto.consoles.sessions import Callers, Place, add_sessions
from punto.consoles.shift_report import shift_report
from punto.consoles.view import Moments, View, view_of, waiting_of
from punto.consoles.words import CATALOGS, Language, words_of
from punto.controller.accounts.gate import Session
from punto.controller.accounts.refusals import RefusalError, let_in
from punto.controller.accounts.security_keys import to_approve
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import OrderAnswer, Preview
from punto.controller.orders.games import games_on_offer
from punto.controller.orders.requests import Name, Order, Password
from punto.messages.building import wager_limits, wager_titles
from punto.reports.printed import Report
from punto.reports.sheets import named, shift_sheet
from punto.reports.shift import Reports, RoundInputs, Rounds, Shift
from punto.reports.web import PDF, House, add_game_manager, report_file
from punto.runtime import clock
from punto.version import __version__
from punto.web.answers import download, stream
from punto.web.markup import spoken
from punto.web.server import SHARED

PAGES: Final = Path(__file__).parent / "pages"
VIEW_EVERY_SECONDS: Final = 1
MOST_STREAMS: Final = 8
"""The most open streams of a session; a new one ends the oldest.

A browser opens six connections to a service. Any more are left from a lost network connection, and must not block the page
when it reconnects. So they are ended, and the page is not refused.
"""
_Report = TypeVar("_Report")
_NUMBER: Final = 2**53  # above every integer that is exact in a browser
_Number = Annotated[int, InPath(ge=1, le=_NUMBER)]


class Changes:
    """Wakes the streams when the table has changed."""

    def __init__(self) -> None:
        self.coming = asyncio.Event()  # the next change sets it
        self.over = False

    def notify(self) -> None:
        """Wake all streams after a change."""
        before, self.coming = self.coming, asyncio.Event()
        before.set()

    def close(self) -> None:
        """End all streams."""
        self.over = True
        self.notify()


@dataclass
class Parts(Place):
    """The parts of one table's consoles.

    `lang` is the language; `house` has the parts of the Game Manager; `pace` is the number of hands an hour; `doctor` examines the PC.
    """

    desk: Desk
    reports: Reports
    house: House
    lang: Language
    pace: float | None = None
    doctor: Doctor | None = None
    changes: Changes = field(default_factory=Changes)


def application(parts: Parts) -> FastAPI:
    """The consoles of one table."""
    app = FastAPI(
        title="Punto operators' consoles",
        version=__version__,
        description="Sign on, look at the table, give it orders. Every order and refusal is on the table's record.",
        openapi_url=None,  # `_add_document` serves it, and makes it at the first request
        docs_url=None,  # FastAPI's pages load their scripts from another site
        redoc_url=None,
    )
    answer_refusals(app)
    callers = Callers(parts)
    add_sessions(app, parts, callers, parts.changes.notify)
    _add_table(app, parts, callers)
    _add_orders(app, parts, callers)
    _add_keys(app, parts, callers)
    _add_reports(app, parts, callers)
    _add_doctor(app, parts, callers)
    add_game_manager(app, parts.house, callers.reader("progressive"), callers.own_page)
    _add_pages(app, parts)
    _add_document(app, callers)
    return app


# --- the table


def _add_table(app: FastAPI, parts: Parts, callers: Callers) -> None:
    Reading = Annotated[Session, Depends(callers.reader("table"))]  # noqa: N806 - a type

    def view(session: Session) -> View:
        desk, engine, now = parts.desk, parts.desk.engine, clock.now()
        shown = engine.publication
        moments = Moments(shown.shoe_since, shown.raised, shown.stopped)
        of = (desk.trials, engine.seq, now, session, parts.pace, desk.equipment)
        view = view_of(*of, refused=desk.refusals(), moments=moments, zone=engine.calendar.zone.key)
        return view.model_copy(update={"waiting": waiting_of(desk.waiting, engine.state, session)})

    async def views(session: Session) -> AsyncIterator[ServerSentEvent]:
        this = object()
        session.streams.append(this)
        del session.streams[:-MOST_STREAMS]
        try:
            while this in session.streams and not (session.over or parts.changes.over):
                change = parts.changes.coming
                yield ServerSentEvent(event="view", data=view(session).model_dump_json(by_alias=True))
                with suppress(TimeoutError):
                    async with asyncio.timeout(VIEW_EVERY_SECONDS):
                        await change.wait()
        finally:
            if this in session.streams:
                session.streams.remove(this)

    @app.get("/api/table", summary="The table's present state", responses=answers(403))
    async def table(session: Reading) -> View:
        return view(session)

    @app.get(
        "/api/table/events",
        summary="The table whenever it changes, and every second: server-sent events `view`, until the session ends",
        response_class=Response,
        responses={
            **answers(403),
            200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        },
    )
    async def events(session: Reading) -> Response:
        return stream(views(session))


# --- orders


def _add_orders(app: FastAPI, parts: Parts, callers: Callers) -> None:
    OwnPage = Annotated[Session, Depends(callers.own_page)]  # noqa: N806 - a type

    @app.post(
        "/api/orders",
        summary="Give an order",
        responses={
            **order_answers(413, 415),
            202: {
                "model": OrderAnswer,
                "description": "the order waits until a second person approves it in their own session",
            },
        },
    )
    async def give(session: OwnPage, order: Order) -> Response:
        orders = await parts.desk.orders(order, session)
        # The check of a second person's password may have taken long.
        if not await parts.gate.holds(session):
            raise RefusalError(401, "signed_off", "the session ended before the order came: sign on")
        return _answered(await parts.desk.give(orders, session))

    @app.post(
        "/api/approvals/{number}",
        summary="Approve an order that waits for a second person, at your own session",
        responses=order_answers(404),
    )
    async def approve(session: OwnPage, number: _Number) -> Response:
        answer = await parts.desk.approve(number, session)
        parts.changes.notify()
        return _answered(answer)

    @app.delete(
        "/api/approvals/{number}",
        summary="Decline a waiting order, or withdraw your own",
        status_code=204,
        responses=answers(403, 404, 422),
    )
    async def decline(session: OwnPage, number: _Number) -> None:
        await parts.desk.decline(number, session)
        parts.changes.notify()

    @app.post(
        "/api/preview",
        summary="Preview the result of an order; it changes nothing and needs no approval",
        responses=answers(403, *OF_JSON),
    )
    async def preview(session: OwnPage, order: Order) -> Preview:
        return await parts.desk.preview(order, session)

    @app.post(
        "/api/card-password",
        summary="Give the password of the owner of a swiped Executive card, if the house requires both",
        responses=order_answers(413, 415),
    )
    async def give_password(session: OwnPage, given: Password) -> Response:
        take = parts.desk.equipment.give_password
        refused: tuple[str, str] | None = None
        if take is None:
            refused = ("no_card_reader", "this table has no card reader, so no card waits for a password")
        else:
            taking = take(given.password, session.where, parts.gate.second_factor)
            answer = await let_in(taking, "not_signed", "password")
            refused = None if answer.result == "accepted" else ("refused", answer.text)
        code, reason = refused or (None, None)
        seq = parts.desk.engine.seq
        return _answered(OrderAnswer(accepted=refused is None, seq=seq, code=code, reason=reason))

    @app.get(
        "/api/orders",
        summary="All orders, with their labels and how pages show them",
        responses=answers(),
    )
    async def on_offer(_: Annotated[Session, Depends(callers.onlooker)]) -> tuple[api.OrderOnOffer, ...]:
        return api.ORDERS_ON_OFFER


def _answered(answer: OrderAnswer) -> Response:
    status = 200 if answer.accepted else 409 if answer.waiting is None else 202
    return JSONResponse(answer.model_dump(), status)


def _add_keys(app: FastAPI, parts: Parts, callers: Callers) -> None:
    OwnPage = Annotated[Session, Depends(callers.own_page)]  # noqa: N806 - a type

    def origin(request: Request) -> str:
        return own_origin(request.headers, tls=parts.tls)

    @app.post(
        "/api/session/key-options",
        summary="Add a security key: the options for the browser (WebAuthn)",
        responses={200: {"model": dict[str, Any]}, **answers(403, 409, *OF_JSON)},
    )
    async def key_to_add(session: OwnPage, given: Password, request: Request) -> Response:
        asking = parts.gate.key_to_add(session, given.password, origin(request))
        options = await let_in(asking, "not_signed", "password")
        return Response(options, media_type="application/json")

    @app.post(
        "/api/session/key",
        summary="Add a security key: the key's answer",
        status_code=204,
        responses=answers(403, 409, *OF_JSON),
    )
    async def add_key(session: OwnPage, given: api.Credential, request: Request) -> None:
        await parts.gate.add_key(session, given.credential, origin(request))

    @app.post(
        "/api/approvals/{number}/key-options",
        summary="Approve an order with a second person's security key, at the page where the order waits: the options",
        responses={200: {"model": dict[str, Any]}, **answers(403, 404, *OF_JSON)},
    )
    async def key_to_approve(session: OwnPage, number: _Number, given: Name, request: Request) -> Response:
        challenge = parts.desk.key_challenge(number, given.name, session)
        options = await asyncio.to_thread(to_approve, challenge, origin(request))
        return Response(options, media_type="application/json")

    @app.post(
        "/api/approvals/{number}/key",
        summary="Approve an order with a second person's security key, at the page where the order waits: the key's answer",
        responses=order_answers(404, 413, 415),
    )
    async def approve_by_key(
        session: OwnPage, number: _Number, given: api.NamedCredential, request: Request
    ) -> Response:
        key = (given.credential, origin(request))
        answer = await parts.desk.approve_by_key(number, given.name, key, session)
        parts.changes.notify()
        return _answered(answer)


# --- the record


def _add_reports(app: FastAPI, parts: Parts, callers: Callers) -> None:
    @app.get("/api/rounds", summary="Rounds, the newest first", responses=answers(403, 422))
    async def rounds(
        _: Annotated[Session, Depends(callers.reader("rounds"))],
        before: Annotated[int | None, Query(ge=1, le=_NUMBER)] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> Rounds:
        return await _read(parts, lambda reports: reports.rounds(before, limit))

    @app.get("/api/rounds/{number}", summary="A round with its inputs", responses=answers(403, 404, 422))
    async def round_(
        _: Annotated[Session, Depends(callers.reader("inputs"))], number: _Number
    ) -> RoundInputs:
        sure = parts.desk.engine.state.settings.minimum_confidence
        found = await _read(parts, lambda reports: reports.round(number, sure=sure))
        if found is None:
            raise RefusalError(404, "no_such_round", f"there is no round {number} on the record")
        return found

    _add_shift(app, parts, callers)

    @app.get("/api/games", summary="The games that the table can change to", responses=answers(403))
    async def games(_: Annotated[Session, Depends(callers.reader("games"))]) -> tuple[api.GameOnOffer, ...]:
        return await asyncio.to_thread(_offered, parts.desk)


def _add_shift(app: FastAPI, parts: Parts, callers: Callers) -> None:
    reads = [Depends(callers.reader("shift"))]
    Hours = Annotated[int, Query(ge=1, le=168)]  # noqa: N806 - a type

    def of(hours: int) -> Shift:
        return parts.reports.shift(hours, clock.now(), parts.desk.engine.state)

    def in_words(hours: int, lang: Language | None) -> Report:
        words, zone = words_of(lang or parts.lang), parts.house.calendar.zone
        return shift_report(of(hours), parts.desk.engine.state, words, zone)

    def name(hours: int) -> str:
        now = clock.now().astimezone(parts.house.calendar.zone)
        return f"{parts.desk.engine.state.settings.table}-shift-{now:%Y-%m-%d-%H%M}-{hours}h"

    @app.get("/api/shift", summary="The last hours", responses=answers(403, 422), dependencies=reads)
    async def shift(hours: Hours = 8) -> Shift:
        return await asyncio.to_thread(of, hours)

    @app.get(
        "/api/shift/words",
        summary="The report of the last hours in words, as the page shows it",
        responses=answers(403, 422),
        dependencies=reads,
    )
    async def shift_in_words(hours: Hours = 8, lang: Language | None = None) -> Report:
        return await asyncio.to_thread(in_words, hours, lang)

    @app.get(
        "/api/shift.pdf",
        summary="The report of the last hours in words, as a PDF to download",
        response_class=Response,
        responses={**answers(403, 422, 503), **_file(PDF)},
        dependencies=reads,
    )
    async def shift_pdf(hours: Hours = 8, lang: Language | None = None) -> Response:
        return await report_file(lambda: in_words(hours, lang), name(hours))

    @app.get(
        "/api/shift.csv",
        summary="Every figure and entry of the last hours, as a CSV file to download",
        response_class=Response,
        responses={**answers(403, 422), **_file("text/csv")},
        dependencies=reads,
    )
    async def shift_csv(hours: Hours = 8) -> Response:
        def made() -> Response:
            found = of(hours)
            rows = shift_sheet(parts.desk.engine.state.settings.currency, found, parts.house.calendar.zone)
            return download(named(rows, found.name), name(hours))

        return await asyncio.to_thread(made)


def _file(media_type: str) -> dict[int | str, dict[str, Any]]:
    """The answer 200 of a download, for the API's document."""
    return {200: {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


async def _read(parts: Parts, report: Callable[[Reports], _Report]) -> _Report:
    """A report, made in a thread, that includes everything that the table shows."""
    return await asyncio.to_thread(report, parts.reports)


def _offered(desk: Desk) -> tuple[api.GameOnOffer, ...]:
    return tuple(
        api.GameOnOffer(
            name=name,
            title=game.title,
            dealt=game.dealt,
            wagers=wager_limits(game),
            titles=game.titles,
            wager_titles=wager_titles(game),
        )
        for name, game in games_on_offer(desk.folder, desk.smallest_chip).items()
    )


# --- the PC


def _add_doctor(app: FastAPI, parts: Parts, callers: Callers) -> None:
    reads = [Depends(callers.reader("diagnostics"))]

    def doctor() -> Doctor:
        if parts.doctor is None:
            raise RefusalError(
                404, "no_doctor", "this service was started without a configuration to examine"
            )
        return parts.doctor

    @app.get(
        "/api/diagnostics",
        summary="Examine the PC of the table now, as `punto doctor` does",
        responses=answers(403, 404),
        dependencies=reads,
    )
    async def examination() -> Examination:
        return await doctor().examination(parts.desk.links)

    @app.get(
        "/api/diagnostics.json",
        summary="The same with versions, links and configuration, to send to others: without passwords, keys, cards and names",
        response_class=Response,
        responses={
            **answers(403, 404),
            200: {"content": {"application/json": {"schema": {"type": "object"}}}},
        },
        dependencies=reads,
    )
    async def diagnostics() -> Response:
        of = doctor()
        found = await of.examination(parts.desk.links)
        now = clock.now().astimezone(parts.house.calendar.zone)
        names = [each.name for each in parts.gate.accounts.all()]

        def made() -> Response:
            attached = {"Content-Disposition": f'attachment; filename="{of.name(now)}"'}
            return JSONResponse(of.diagnostics(found, parts.desk.links(), names), headers=attached)

        return await asyncio.to_thread(made)


# --- pages


def _add_pages(app: FastAPI, parts: Parts) -> None:
    @app.get("/", include_in_schema=False)
    @app.get("/dealer", include_in_schema=False)
    @app.get("/supervisor", include_in_schema=False)
    async def page(request: Request) -> Response:
        asked = request.query_params.get("lang", "")
        lang = next((each for each in get_args(Language) if each == asked), parts.lang)
        text = (PAGES / f"{request.scope['path'][1:] or 'sign-on'}.html").read_text(encoding="utf-8")
        attributes = {"lang": lang, "data-zone": parts.house.calendar.zone.key}
        return HTMLResponse(spoken(text, words_of(lang), attributes))

    @app.get("/settings.json", include_in_schema=False)
    async def settings() -> dict[str, str]:
        return {"lang": parts.lang, "name": parts.desk.engine.state.settings.title}

    app.mount("/catalog", StaticFiles(directory=CATALOGS))
    app.mount("/static", StaticFiles(directory=PAGES))
    app.mount("/shared", StaticFiles(directory=SHARED))


def _add_document(app: FastAPI, callers: Callers) -> None:
    making = Lock()

    @app.get("/api/openapi.json", include_in_schema=False)
    def document(
        _: Annotated[Session, Depends(callers.onlooker)],
    ) -> JSONResponse:  # not a coroutine, so that it runs outside the table's own thread
        with making:
            return JSONResponse(app.openapi())
