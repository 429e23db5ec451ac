"""Middleware for every request to the consoles: the origin of the page, and the end of the service if it cannot go on.

Browsers send cookies with requests that pages of other sites make. So a request that changes something must come from this
service's own pages, as shown by `Origin` or `Sec-Fetch-Site`, which no page can forge.
"""

from collections.abc import Callable
from typing import Final

from sse_starlette.sse import SendTimeoutError
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from punto.controller.orders.requests import sayable
from punto.web.middleware import SAFE

_THIS_MACHINE: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Guard:
    """The application behind its guard; `failed` receives unexpected exceptions and ends the service."""

    def __init__(self, application: ASGIApp, *, tls: bool, failed: Callable[[Exception], None]) -> None:
        self._application = application
        self._tls = tls
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        try:
            await self._application(scope, receive, send)
        except (ClientDisconnect, SendTimeoutError):
            pass  # the client has disconnected
        except Exception as error:  # noqa: BLE001 - it must end the service, not only this request
            self._failed(error)

    def _refusal(self, method: str, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        if not self._tls and host.rpartition(":")[0] not in _THIS_MACHINE and host not in _THIS_MACHINE:
            # If an attacker's name resolves to this machine, their page belongs to the same host. With TLS the certificate
            # does not match that name.
            return refusal_answer(403, "other_host", "without TLS use the consoles at 127.0.0.1 or localhost")
        if "content-length" in headers and "transfer-encoding" in headers:
            # Two programs on the way could read two different requests in it.
            return refusal_answer(400, "bad_request", "send Content-Length or Transfer-Encoding, not both")
        site = headers.get("sec-fetch-site")
        if method in SAFE:
            if site in {"cross-site", "same-site"} and headers.get("sec-fetch-mode") != "navigate":
                return refusal_answer(403, "cross_site", "a page of another site sent this request")
            return None
        origin, own = headers.get("origin"), own_origin(headers, tls=self._tls)
        if origin in {None, own} and site in {None, "same-origin"} and (origin or site):
            return None
        reason = f"send this from the consoles' own pages, or with the header Origin: {own}"
        return refusal_answer(403, "cross_site", reason)


def own_origin(headers: Headers, *, tls: bool) -> str:
    """The origin of this service's own pages, from the request's host."""
    return f"{'https' if tls else 'http'}://{headers.get('host', '')}"


def refusal_answer(status: int, code: str, reason: str) -> JSONResponse:
    """A refusal as an answer: `api.Refusal`."""
    return JSONResponse({"code": code, "reason": sayable(reason)}, status)
