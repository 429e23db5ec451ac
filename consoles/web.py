"""The consoles' pages and HTTP API."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import compare_digest
from threading import Lock
from typing import Annotated, Any, Final, ParamSpec, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.security import APIKeyCookie, APIKeyHeader
from pydantic import BaseModel, TypeAdapter, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Match
from starlette.staticfiles import StaticFiles

from punto.consoles.api import (
    ORDERS_ON_OFFER,
    REFUSAL,
    Credential,
    GameOnOffer,
    Name,
    NamedCredential,
    OrderAnswer,
    OrderOnOffer,
    Password,
    Refusal,
    SessionAnswer,
    SignedOnAnswer,
    openapi_document,
)
from punto.consoles.guard import own_origin
from punto.consoles.reports import Reports, RoundInputs, Rounds, Shift
from punto.consoles.view import Moments, Reader, View, view_of, waiting_of
from punto.controller.accounts.gate import Gate, Session
from punto.controller.accounts.refusals import RefusalError, let_in
from punto.controller.accounts.roles import Read, may_read
from punto.controller.accounts.security_keys import to_approve
from punto.controller.engine import Engine
from punto.controller.messages.building import wager_limits
from punto.controller.orders.desk import Answer, Desk, Preview
from punto.controller.orders.games import games_on_offer
from punto.controller.orders.requests import Credentials, UnreadableError, read_request, sayable
from punto.game_manager.web import House, add_game_manager
from punto.version import __version__

PAGES: Final = Path(__file__).parent / "pages"
VIEW_EVERY_SECONDS: Final = 1
KNOWN_BROWSER_SECONDS: Final = 400 * 24 * 3600
"""So long a browser keeps the cookie by which it is known; none keeps one for longer."""
MOST_STREAMS: Final = 8
"""So many streams a session may have open; one more ends the oldest.

A browser opens six connections to a service. What is more are streams of a network that is gone, and those must not
keep out the page that comes back; a refusal would.
"""
_SEND_SECONDS: Final = 10  # a browser that takes nothing for so long is let go; it comes back by itself
_Asked = ParamSpec("_Asked")
_Report = TypeVar("_Report")
_Given = TypeVar("_Given", bound=BaseModel)
_NUMBER: Final = 2**53  # above every number that a browser takes for exact
_Number = Annotated[int, InPath(ge=1, le=_NUMBER)]
_GAMES: Final = TypeAdapter(tuple[GameOnOffer, ...])
_ORDERS: Final = TypeAdapter(tuple[OrderOnOffer, ...])


class Changes:
    """Wakes those who show the table when it has changed."""

    def __init__(self) -> None:
        self._next = asyncio.Event()
        self.over = False

    def notify(self) -> None:
        """Something has changed."""
        before, self._next = self._next, asyncio.Event()
        before.set()

    def close(self) -> None:
        """Let everybody who waits go home."""
        self.over = True
        self.notify()

    def coming(self) -> asyncio.Event:
        """What the next change sets."""
        return self._next


@dataclass(frozen=True)
class Parts:
    """What the consoles of one table work with.

    `port` is where they are; `pace` gives the hands an hour; `tls` says whether they are behind TLS; `house` is what the
    Game Manager works with.
    """

    engine: Engine
    gate: Gate
    desk: Desk
    reports: Reports
    folder: Path
    changes: Changes
    idle_seconds: int
    port: int
    tls: bool
    pace: Callable[[], float | None]
    house: House

    @property
    def cookie(self) -> str:
        """The name of the session's cookie.

        It has the port, of which cookies know nothing: with one name for all, who signs on at one table of a PC would
        be signed off at the other. With TLS its prefix has browsers take it from this very host alone, and over TLS.
        """
        return f"{self._prefix}punto_session_{self.port}"

    @property
    def browser_cookie(self) -> str:
        """The name of the cookie by which a browser is known where somebody has signed on."""
        return f"{self._prefix}punto_browser_{self.port}"

    @property
    def _prefix(self) -> str:
        return "__Host-" if self.tls else ""


def application(parts: Parts) -> FastAPI:
    """The consoles of one table."""
    app = FastAPI(
        title="Punto operators' consoles",
        version=__version__,
        description="Sign on, look at the table, give it orders. Every order and refusal is on the table's record.",
        openapi_url=None,  # it is served by a route of our own, made when it is asked for
        docs_url=None,  # FastAPI's pages fetch their scripts from elsewhere
        redoc_url=None,
    )
    _answer_refusals(app)
    callers = _Callers(parts)
    _add_sessions(app, parts, callers)
    _add_table(app, parts, callers)
    _add_orders(app, parts, callers)
    _add_card_password(app, parts, callers)
    _add_keys(app, parts, callers)
    _add_reports(app, parts, callers)
    add_game_manager(app, parts.house, callers.reader("progressive"), callers.own_page)
    _add_pages(app)
    _add_document(app)
    return app


# --- answers


def _json(answer: BaseModel, status: int = 200) -> Response:
    return Response(answer.model_dump_json(by_alias=True), status, media_type="application/json")


_WORDS: Final = {
    401: "nobody is signed on, or the name and password are not accepted",
    403: "not of your role, not approved, or not from the consoles' own pages",
    404: "there is none",
    409: "refused by the table",
    413: "too long",
    415: "not JSON",
    422: "unreadable; the reason says what to write",
    429: "too many attempts; Retry-After says for how long to wait",
    503: "the accounts cannot be read",
}
_CODES: Final = {404: "not_found", 413: "too_long"}
_OF_JSON: Final = (413, 415, 422)  # refusals of what takes JSON


def _answers(model: Any, *refusals: int) -> dict[int | str, dict[str, Any]]:
    """What a path answers, for the OpenAPI document; all of them ask who is signed on, and `model` is None for no content."""
    said: dict[int | str, dict[str, Any]] = {
        status: {"content": REFUSAL, "description": _WORDS[status]}
        for status in sorted((401, *refusals, 503))
    }
    return said if model is None else {200: {"model": model}, **said}


def _order_answers(*refusals: int) -> dict[int | str, dict[str, Any]]:
    """The same of what gives an order, which the table too may refuse."""
    refused = {"model": OrderAnswer, "description": _WORDS[409]}
    return {**_answers(OrderAnswer, 403, 422, 429, *refusals), 409: refused}


def _answer_refusals(app: FastAPI) -> None:
    def said(status: int, code: str, reason: str) -> Response:
        return _json(Refusal(code=code, reason=sayable(reason)), status)

    @app.exception_handler(RefusalError)
    async def refused(_: Request, refusal: RefusalError) -> Response:
        answer = said(refusal.status, refusal.code, str(refusal))
        if refusal.retry_after is not None:
            answer.headers["Retry-After"] = str(refusal.retry_after)
        return answer

    @app.exception_handler(UnreadableError)
    async def unreadable(_: Request, error: UnreadableError) -> Response:
        return said(422, "bad_request", str(error))

    @app.exception_handler(RequestValidationError)
    async def bad_parameter(_: Request, error: RequestValidationError) -> Response:
        fault = error.errors()[0]
        return said(422, "bad_request", f"{'.'.join(map(str, fault['loc'][1:]))}: {_what_to_write(fault)}")

    @app.exception_handler(HTTPException)
    async def not_served(request: Request, error: HTTPException) -> Response:
        answer = said(error.status_code, _CODES.get(error.status_code, "not_served"), error.detail)
        if error.status_code == 405:  # the router names those of the first route at this path alone
            served = (route for route in app.routes if route.matches(request.scope)[0] is not Match.NONE)
            methods = {method for route in served for method in getattr(route, "methods", None) or ()}
            answer.headers["Allow"] = ", ".join(sorted(methods))
        return answer


def _what_to_write(fault: dict[str, Any]) -> str:
    """What is wrong with a parameter, in words: the validation's own are for programmers."""
    said = fault.get("ctx", {})
    match fault["type"]:
        case "value_error":
            return str(said["error"])
        case "int_parsing" | "int_parsing_size":
            return f"{fault['input'][:40]!r} is no number: write a whole one, in digits"
        case "greater_than_equal":
            return f"write {said['ge']} or more"
        case "less_than_equal":
            return f"write {said['le']} or less"
        case "literal_error":
            return f"write {said['expected']}"
        case _:
            return str(fault["msg"])


# --- who asks


class _Callers:
    """Who a request is from: what the routes depend on.

    - `session`: the session of the one who asks, and by that is active.
    - `onlooker`: the same of a page that may ask by itself, for as long as it is open.
    - `own_page`: the same, whose page knows what only the sign-on's answer has told: a browser gives the cookie to
      whatever listens on this host, at any port.
    - `whose_page`: the same of a page that says so if it knows it.
    """

    def __init__(self, parts: Parts) -> None:
        self._gate = parts.gate
        Cookie = Annotated[str | None, Depends(APIKeyCookie(name=parts.cookie, auto_error=False))]  # noqa: N806 - a type
        Csrf = Annotated[str | None, Depends(APIKeyHeader(name="X-CSRF-Token", auto_error=False))]  # noqa: N806 - a type

        async def found(token: str | None, *, active: bool) -> Session:
            session = None if token is None else await parts.gate.session_of(token, active=active)
            if session is None:
                raise RefusalError(401, "signed_off", "nobody is signed on here: sign on")
            return session

        async def session(token: Cookie) -> Session:
            return await found(token, active=True)

        async def onlooker(token: Cookie) -> Session:
            return await found(token, active=False)

        async def own_page(token: Cookie, csrf: Csrf) -> Session:
            caller = await session(token)
            if not compare_digest((csrf or "").encode(), caller.csrf.encode()):
                raise RefusalError(
                    403,
                    "csrf",
                    "the header X-CSRF-Token is not this session's: sign on, and take `csrf` from the answer",
                )
            return caller

        async def whose_page(
            token: Cookie, csrf: Annotated[str | None, Header(alias="X-CSRF-Token")] = None
        ) -> Session:
            return await (session(token) if csrf is None else own_page(token, csrf))

        self.session = session
        self.onlooker = onlooker
        self.own_page = own_page
        self.whose_page = whose_page

    def reader(self, what: Read) -> Callable[..., Any]:
        """The session of one who may read this. Reading the table is no activity, for pages read it by themselves."""
        caller = self.onlooker if what == "table" else self.session

        async def reading(session: Annotated[Session, Depends(caller)]) -> Session:
            if not may_read(session.roles, what):
                await self._gate.refuse_role(session.name, f"read {what}", session.where)
                raise RefusalError(403, "not_of_role", f"your roles do not let you read {what}")
            return session

        return reading


# --- sessions


def _add_sessions(app: FastAPI, parts: Parts, callers: _Callers) -> None:
    def about(session: Session) -> dict[str, Any]:
        own = {"number": session.number, "name": session.name, "roles": session.roles}
        return {**own, "idle_seconds": parts.idle_seconds}

    @app.post(
        "/api/session",
        summary="Sign on",
        responses=_answers(SignedOnAnswer, 403, *_OF_JSON, 429),
    )
    async def sign_on(request: Request) -> Response:
        given = Credentials.read(await _json_body(request))
        before, browser = (request.cookies.get(name) for name in (parts.cookie, parts.browser_cookie))
        new = await parts.gate.sign_on(given.name, given.password, _where(request), before, browser)
        answer = _json(SignedOnAnswer(**about(new.session), csrf=new.session.csrf))
        set_cookie = partial(answer.set_cookie, path="/", secure=parts.tls, httponly=True, samesite="strict")
        set_cookie(parts.cookie, new.token)
        set_cookie(parts.browser_cookie, new.browser, max_age=KNOWN_BROWSER_SECONDS)
        return answer

    @app.get(
        "/api/session",
        summary="Who is signed on; 403 if the page sends another session's token",
        responses=_answers(SessionAnswer, 403),
    )
    async def session(session: Annotated[Session, Depends(callers.whose_page)]) -> Response:
        return _json(SessionAnswer(**about(session)))

    @app.delete(
        "/api/session",
        summary="Sign off",
        status_code=204,
        responses=_answers(None, 403),
    )
    async def sign_off(session: Annotated[Session, Depends(callers.own_page)]) -> Response:
        await parts.gate.end(session, "signed off")
        parts.changes.notify()
        gone = Response(status_code=204)
        gone.delete_cookie(parts.cookie, path="/", secure=parts.tls, httponly=True, samesite="strict")
        return gone


async def _json_body(request: Request) -> bytes:
    """What came, which no form can have sent: a form's content has other types, and browsers ask before they send JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusalError(415, "not_json", "send JSON, with the header Content-Type: application/json")
    return await request.body()


async def _given(request: Request, model: type[_Given]) -> _Given:
    body = await _json_body(request)
    try:
        return model.model_validate_json(body)
    except ValidationError:  # what it says of itself may have a password in it
        shape = json.dumps(dict.fromkeys(model.model_fields, "..."))
        raise UnreadableError(f"send the {' and the '.join(model.model_fields)} as JSON: {shape}") from None


def _where(request: Request) -> str:
    return "unknown" if request.client is None else request.client.host


# --- the table


def _add_table(app: FastAPI, parts: Parts, callers: _Callers) -> None:
    Reading = Annotated[Session, Depends(callers.reader("table"))]  # noqa: N806 - a type

    def view(session: Session) -> View:
        engine = parts.engine
        reader, desk = Reader(session.name, session.roles), parts.desk
        now, moments = datetime.now(UTC), Moments(engine.shoe_since, engine.raised)
        of = (engine.state, engine.seq, now, reader, parts.pace(), desk.fitted)
        view = view_of(*of, tried=desk.refusals(), moments=moments)
        return view.model_copy(update={"waiting": waiting_of(desk.waiting, engine.state, reader)})

    async def views(session: Session) -> AsyncIterator[ServerSentEvent]:
        this = object()
        session.streams.append(this)
        del session.streams[:-MOST_STREAMS]
        try:
            while this in session.streams and not (session.over or parts.changes.over):
                change = parts.changes.coming()
                yield ServerSentEvent(event="view", data=view(session).model_dump_json(by_alias=True))
                with suppress(TimeoutError):
                    async with asyncio.timeout(VIEW_EVERY_SECONDS):
                        await change.wait()
        finally:
            if this in session.streams:
                session.streams.remove(this)

    @app.get("/api/table", summary="The table as it is", responses=_answers(View, 403, 429))
    async def table(session: Reading) -> Response:
        return _json(view(session))

    @app.get(
        "/api/table/events",
        summary="The table whenever it changes, and every second: server-sent events `view`, until the session ends",
        response_class=EventSourceResponse,
        responses={
            **_answers(None, 403, 429),
            200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        },
    )
    async def events(session: Reading) -> Response:
        return EventSourceResponse(views(session), ping=60, send_timeout=_SEND_SECONDS)


# --- orders


def _add_orders(app: FastAPI, parts: Parts, callers: _Callers) -> None:
    OwnPage = Annotated[Session, Depends(callers.own_page)]  # noqa: N806 - a type

    @app.post(
        "/api/orders",
        summary="Give an order",
        responses={
            **_order_answers(413, 415),
            202: {
                "model": OrderAnswer,
                "description": "waits for a second person, at a session of their own",
            },
        },
    )
    async def give(session: OwnPage, request: Request) -> Response:
        kind, fields = read_request(await _json_body(request))
        orders = await parts.desk.orders(kind, fields, session)
        # The body and a second person's password may have taken their time.
        if not await parts.gate.holds(session):
            raise RefusalError(401, "signed_off", "the session ended before the order came: sign on")
        return _answered(await parts.desk.give(orders, session))

    @app.post(
        "/api/approvals/{number}",
        summary="Approve an order that waits for a second person, at one's own session",
        responses=_order_answers(404),
    )
    async def approve(session: OwnPage, number: _Number) -> Response:
        answer = await parts.desk.approve(number, session)
        parts.changes.notify()
        return _answered(answer)

    @app.delete(
        "/api/approvals/{number}",
        summary="Decline an order that waits, or take one's own back",
        status_code=204,
        responses=_answers(None, 403, 404, 422, 429),
    )
    async def decline(session: OwnPage, number: _Number) -> Response:
        await parts.desk.decline(number, session)
        parts.changes.notify()
        return Response(status_code=204)

    @app.post(
        "/api/preview",
        summary="What an order would do now; it changes nothing, and nobody need approve it",
        responses=_answers(Preview, 403, *_OF_JSON, 429),
    )
    async def preview(session: OwnPage, request: Request) -> Response:
        kind, fields = read_request(await _json_body(request))
        return _json(await parts.desk.preview(kind, fields, session))

    @app.get(
        "/api/orders",
        summary="The orders that there are: what pages call them, and how they show them",
        responses=_answers(list[OrderOnOffer]),
    )
    async def on_offer(_: Annotated[Session, Depends(callers.onlooker)]) -> Response:
        return Response(_ORDERS.dump_json(ORDERS_ON_OFFER), media_type="application/json")


def _answered(answer: Answer) -> Response:
    status = 200 if answer.accepted else 409 if answer.waiting is None else 202
    return _json(OrderAnswer.model_validate(answer.model_dump(exclude={"state"})), status)


def _add_keys(app: FastAPI, parts: Parts, callers: _Callers) -> None:
    OwnPage = Annotated[Session, Depends(callers.own_page)]  # noqa: N806 - a type

    def origin(request: Request) -> str:
        return own_origin(request.headers, tls=parts.tls)

    @app.post(
        "/api/session/key-options",
        summary="Add a security key: what to ask of it (WebAuthn)",
        responses=_answers(dict[str, Any], 403, 409, *_OF_JSON, 429),
    )
    async def key_to_add(session: OwnPage, request: Request) -> Response:
        given = await _given(request, Password)
        asking = parts.gate.key_to_add(session, given.password, origin(request))
        options = await let_in(asking, "not_signed", "password")
        return Response(options, media_type="application/json")

    @app.post(
        "/api/session/key",
        summary="Add a security key: what it answered",
        status_code=204,
        responses=_answers(None, 403, 409, *_OF_JSON, 429),
    )
    async def add_key(session: OwnPage, request: Request) -> Response:
        given = await _given(request, Credential)
        await parts.gate.add_key(session, given.credential, origin(request))
        return Response(status_code=204)

    @app.post(
        "/api/approvals/{number}/key-options",
        summary="Approve an order with a second person's security key, where it waits: what to ask of the key",
        responses=_answers(dict[str, Any], 403, 404, *_OF_JSON, 429),
    )
    async def key_to_approve(session: OwnPage, request: Request, number: _Number) -> Response:
        challenge = parts.desk.key_challenge(number, (await _given(request, Name)).name, session)
        options = await asyncio.to_thread(to_approve, challenge, origin(request))
        return Response(options, media_type="application/json")

    @app.post(
        "/api/approvals/{number}/key",
        summary="Approve an order with a second person's security key, where it waits: what the key answered",
        responses=_order_answers(404, 413, 415),
    )
    async def approve_by_key(session: OwnPage, request: Request, number: _Number) -> Response:
        given = await _given(request, NamedCredential)
        key = (given.credential, origin(request))
        answer = await parts.desk.approve_by_key(number, given.name, key, session)
        parts.changes.notify()
        return _answered(answer)


def _add_card_password(app: FastAPI, parts: Parts, callers: _Callers) -> None:
    @app.post(
        "/api/card-password",
        summary="The password of whoever swiped an Executive card, where the house asks for both",
        responses=_order_answers(413, 415),
    )
    async def give_password(
        session: Annotated[Session, Depends(callers.own_page)], request: Request
    ) -> Response:
        given = await _given(request, Password)
        take = parts.desk.fitted.give_password
        if take is None:
            return refused("no_card_reader", "this table has no card reader, so no card waits for a password")
        answer = await let_in(
            take(given.password, session.where, parts.gate.second_factor), "not_signed", "password"
        )
        if answer.result != "accepted":
            return refused("refused", answer.text)
        return _json(OrderAnswer(accepted=True, seq=parts.engine.seq))

    def refused(code: str, reason: str) -> Response:
        return _json(OrderAnswer(accepted=False, seq=parts.engine.seq, code=code, reason=reason), 409)


# --- the record


def _add_reports(app: FastAPI, parts: Parts, callers: _Callers) -> None:
    @app.get("/api/rounds", summary="Rounds, the newest first", responses=_answers(Rounds, 403, 422, 429))
    async def rounds(
        _: Annotated[Session, Depends(callers.reader("rounds"))],
        before: Annotated[int | None, Query(ge=1, le=_NUMBER)] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> Response:
        return _json(await _read(parts, parts.reports.rounds, before, limit))

    @app.get(
        "/api/rounds/{number}",
        summary="A round with its inputs",
        responses=_answers(RoundInputs, 403, 404, 422, 429),
    )
    async def round_(_: Annotated[Session, Depends(callers.reader("inputs"))], number: _Number) -> Response:
        sure = parts.engine.state.settings.minimum_confidence
        found = await _read(parts, parts.reports.round, number, sure=sure)
        if found is None:
            raise RefusalError(404, "no_such_round", f"there is no round {number} on the record")
        return _json(found)

    @app.get("/api/shift", summary="The last hours", responses=_answers(Shift, 403, 422, 429))
    async def shift(
        _: Annotated[Session, Depends(callers.reader("shift"))],
        hours: Annotated[int, Query(ge=1, le=168)] = 8,
    ) -> Response:
        return _json(await _read(parts, parts.reports.shift, hours, datetime.now(UTC)))

    @app.get(
        "/api/games",
        summary="The games that the table can be changed to",
        responses=_answers(list[GameOnOffer], 403, 429),
    )
    async def games(_: Annotated[Session, Depends(callers.reader("games"))]) -> Response:
        offered = await asyncio.to_thread(_offered, parts.folder)
        return Response(_GAMES.dump_json(offered), media_type="application/json")


async def _read(
    parts: Parts, report: Callable[_Asked, _Report], *asked: _Asked.args, **by: _Asked.kwargs
) -> _Report:
    """A report, made in a thread, that has all that whoever asks for it has seen at the table."""
    await parts.engine.written()
    return await asyncio.to_thread(report, *asked, **by)


def _offered(folder: Path) -> tuple[GameOnOffer, ...]:
    return tuple(
        GameOnOffer(name=name, title=game.title, dealt=game.dealt, wagers=wager_limits(game))
        for name, game in games_on_offer(folder).items()
    )


# --- pages


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    @app.get("/dealer", include_in_schema=False)
    @app.get("/supervisor", include_in_schema=False)
    async def page(request: Request) -> Response:
        return FileResponse(PAGES / f"{request.scope['path'][1:] or 'sign-on'}.html")

    app.mount("/static", StaticFiles(directory=PAGES))


def _add_document(app: FastAPI) -> None:
    making = Lock()

    @app.get("/api/openapi.json", include_in_schema=False)
    def document() -> JSONResponse:  # no coroutine, so that it is made off the table's own thread
        with making:
            app.openapi_schema = app.openapi_schema or openapi_document(app)
        return JSONResponse(app.openapi_schema)
