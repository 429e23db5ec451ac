"""What every request to the consoles goes through: whose page it comes from, what it carries, what goes back with it.

Browsers send cookies along with requests that other people's pages make. So whatever changes something must come from
this service's own pages, which `Origin` or `Sec-Fetch-Site` say and no page can forge.
"""

from collections.abc import Callable
from typing import Final

from sse_starlette.sse import SendTimeoutError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from punto.controller.orders.requests import sayable

LONGEST_BODY: Final = 16384
_TOO_LONG: Final = f"the request is longer than {LONGEST_BODY} bytes"
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_THIS_MACHINE: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Guard:
    """The application behind its guard; `failed` is given what may not be passed over, and ends the service."""

    def __init__(self, application: ASGIApp, *, tls: bool, failed: Callable[[Exception], None]) -> None:
        self._application = application
        self._tls = tls
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through to the application, or answer it."""
        if scope["type"] != "http":
            return
        send = _with_headers(scope, send)
        headers = Headers(scope=scope)
        refusal = self._refusal(scope["method"], headers) or _too_long(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        try:
            await self._application(scope, _at_most(LONGEST_BODY, receive, scope["method"]), send)
        except (ClientDisconnect, SendTimeoutError):
            pass  # whoever asked has gone
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends the service and not just this request
            self._failed(error)

    def _refusal(self, method: str, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        if not self._tls and host.rpartition(":")[0] not in _THIS_MACHINE and host not in _THIS_MACHINE:
            # A name that somebody lets resolve to this machine makes their page one of this host's. Under TLS the
            # certificate would not be for that name.
            return said(403, "other_host", "without TLS the consoles are at 127.0.0.1 and localhost alone")
        site = headers.get("sec-fetch-site")
        if method in _SAFE:
            if site in {"cross-site", "same-site"} and headers.get("sec-fetch-mode") != "navigate":
                return said(403, "cross_site", "this was asked by another site's page")
            return None
        origin, own = headers.get("origin"), own_origin(headers, tls=self._tls)
        if origin in {None, own} and site in {None, "same-origin"} and (origin or site):
            return None
        return said(
            403, "cross_site", f"send this from the consoles' own pages, or with the header Origin: {own}"
        )


def own_origin(headers: Headers, *, tls: bool) -> str:
    """The origin of this service's own pages, as a request names it."""
    return f"{'https' if tls else 'http'}://{headers.get('host', '')}"


def said(status: int, code: str, reason: str) -> JSONResponse:
    """A refusal, as the document has it: `api.Refusal`."""
    return JSONResponse({"code": code, "reason": sayable(reason)}, status)


def _with_headers(scope: Scope, send: Send) -> Send:
    # Pages and scripts are asked for again at each load, so that a new version is there at once; answers are nobody else's.
    keep = "no-store" if scope["path"].startswith("/api/") else "no-cache"

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers["Cache-Control"] = keep
        await send(message)

    return with_headers


def _too_long(headers: Headers) -> JSONResponse | None:
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and len(length) < 20 and int(length) <= LONGEST_BODY:
        return None
    return said(413, "too_long", _TOO_LONG)


def _at_most(most: int, receive: Receive, method: str) -> Receive:
    """What comes in, as long as it is no more than this, whether or not its length was said before."""
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received <= most:
            return message
        if method in _SAFE:  # which has no body: nothing waits for it, and an answer may be on its way
            return {"type": "http.disconnect"}
        raise HTTPException(413, _TOO_LONG)

    return bounded
