"""Sign-on over HTTP, for the consoles of a table and the pages of a house: cookies, callers, and the session's addresses."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from secrets import compare_digest
from typing import Annotated, Any, Final, get_args

from fastapi import Depends, FastAPI, Header, Request
from fastapi.security import APIKeyCookie
from starlette.responses import Response

from punto.consoles import api
from punto.consoles.answers import OF_JSON, answers
from punto.controller.accounts.gate import Gate, Session
from punto.controller.accounts.refusals import RefusalError
from punto.controller.accounts.roles import Read, may_read, orders_of
from punto.controller.config.sections import Sound
from punto.controller.orders.requests import Credentials

KNOWN_BROWSER_SECONDS: Final = 400 * 24 * 3600
"""How long a browser keeps the cookie by which it is known; browsers keep no cookie for longer."""


@dataclass
class Place:
    """A place where people sign on: `port` is its TCP port; `tls` is true if it uses TLS.

    `notice` is the text at the top of each page, and `sounds` are those that its pages may make.
    """

    gate: Gate
    notice: str
    sounds: tuple[Sound, ...]
    port: int
    tls: bool

    @property
    def cookie(self) -> str:
        """The name of the session's cookie.

        It contains the port, because browsers send cookies to all ports of a host: with one name for all services of a PC, a
        sign-on at one would be a sign-off at another. With TLS, the prefix makes browsers accept the cookie only from
        this host and over TLS.
        """
        return f"{self._prefix}punto_session_{self.port}"

    @property
    def browser_cookie(self) -> str:
        """The name of the cookie by which a browser is known after a sign-on."""
        return f"{self._prefix}punto_browser_{self.port}"

    @property
    def _prefix(self) -> str:
        return "__Host-" if self.tls else ""


# --- the caller of a request


class Callers:
    """Dependencies of the routes that return the session of a request, if its account has not asked too often.

    - `session`: the session; the request counts as activity.
    - `onlooker`: the session; the request does not count as activity, because an open page makes it by itself.
    - `own_page`: the session, if the page also sends the token from the sign-on's answer: a browser sends the cookie to all
      services of this host, at any port.
    - `whose_page`: the session; if the page sends a token, it must be this session's.
    """

    def __init__(self, place: Place) -> None:
        self._gate = place.gate
        Cookie = Annotated[str | None, Depends(APIKeyCookie(name=place.cookie, auto_error=False))]  # noqa: N806 - a type
        about = "`csrf` from the answer to the sign-on"
        Csrf = Annotated[str | None, Header(alias="X-CSRF-Token", description=about)]  # noqa: N806 - a type

        def signed_on(*, active: bool) -> Callable[..., Any]:
            async def session(token: Cookie) -> Session:
                found = None if token is None else await place.gate.session_of(token, active=active)
                if found is None:
                    raise RefusalError(401, "signed_off", "you are not signed on here: sign on")
                return found

            return session

        self.session, self.onlooker = signed_on(active=True), signed_on(active=False)
        SignedOn = Annotated[Session, Depends(self.session)]  # noqa: N806 - a type

        async def own_page(session: SignedOn, csrf: Csrf = None) -> Session:
            if not compare_digest((csrf or "").encode(), session.csrf.encode()):
                reason = (
                    "the header X-CSRF-Token is not this session's: sign on, and take `csrf` from the answer"
                )
                raise RefusalError(403, "csrf", reason)
            return session

        async def whose_page(session: SignedOn, csrf: Csrf = None) -> Session:
            return session if csrf is None else await own_page(session, csrf)

        self.own_page, self.whose_page = own_page, whose_page

    def reader(self, what: Read) -> Callable[..., Any]:
        """The session, if its roles may read `what`.

        Reading the table or the floor is not activity, because pages do it by themselves.
        """
        caller = self.onlooker if what in {"table", "floor"} else self.session

        async def reading(session: Annotated[Session, Depends(caller)]) -> Session:
            if not may_read(session.roles, what):
                await self._gate.refuse_role(session.name, f"read {what}", session.where)
                raise RefusalError(403, "not_of_role", f"your roles do not allow reading {what}")
            return session

        return reading


# --- sessions


def add_sessions(app: FastAPI, place: Place, callers: Callers, signed_off: Callable[[], None]) -> None:
    """Serve /api/session: sign-on, who is signed on, and sign-off, after which `signed_off` is called."""

    def about(session: Session) -> dict[str, Any]:
        own = {"number": session.number, "name": session.name, "roles": session.roles}
        reads = tuple(each for each in get_args(Read) if may_read(session.roles, each))
        own |= {"reads": reads, "orders": tuple(sorted(orders_of(session.roles)))}
        return {
            **own,
            "idle_seconds": place.gate.idle_seconds,
            "notice": place.notice,
            "sounds": place.sounds,
        }

    refusals = answers(403, *OF_JSON)
    refusals[401]["model"] = api.Refusal  # all other answers refer to it

    @app.post("/api/session", summary="Sign on", responses=refusals)
    async def sign_on(request: Request, given: Credentials, answer: Response) -> api.SignedOnAnswer:
        before, browser = (request.cookies.get(name) for name in (place.cookie, place.browser_cookie))
        new = await place.gate.sign_on(given.name, given.password, where_of(request), before, browser)
        set_cookie = partial(answer.set_cookie, path="/", secure=place.tls, httponly=True, samesite="strict")
        set_cookie(place.cookie, new.token)
        set_cookie(place.browser_cookie, new.browser, max_age=KNOWN_BROWSER_SECONDS)
        return api.SignedOnAnswer(**about(new.session), csrf=new.session.csrf)

    @app.get(
        "/api/session",
        summary="Who is signed on; 403 if the page sends another session's token",
        responses=answers(403),
    )
    async def session(session: Annotated[Session, Depends(callers.whose_page)]) -> api.SessionAnswer:
        return api.SessionAnswer(**about(session))

    @app.delete("/api/session", summary="Sign off", status_code=204, responses=answers(403))
    async def sign_off(session: Annotated[Session, Depends(callers.own_page)], answer: Response) -> None:
        await place.gate.end(session, "signed off")
        signed_off()
        answer.delete_cookie(place.cookie, path="/", secure=place.tls, httponly=True, samesite="strict")


def where_of(request: Request) -> str:
    """The address of a request's client."""
    return "unknown" if request.client is None else request.client.host
