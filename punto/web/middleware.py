"""Middleware of every server: the headers of its answers, where they lead, and the bound of a request's body."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_BODY: Final = 16384
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods whose requests have no body and change nothing."""
_POLICY: Final = "default-src 'self'; base-uri 'none'; form-action 'none'"
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_OWN_WINDOW: Final = {
    "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_OVER_TLS: Final = {"Strict-Transport-Security": "max-age=31536000"}


class Middleware:
    """An application with these headers and bounds. If it is `framed`, pages of other sites may show its pages in a frame."""

    def __init__(self, application: ASGIApp, *, tls: bool, framed: bool) -> None:
        self._application = application
        self._headers = _HEADERS | ({} if framed else _OWN_WINDOW) | (_OVER_TLS if tls else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application."""
        # Browsers check pages and scripts at each load, so that they get a new version at once; answers are never stored.
        cache = {"Cache-Control": "no-store" if scope["path"].startswith("/api/") else "no-cache"}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers | cache)
                if "location" in headers:
                    headers["location"] = _on_this_server(headers["location"])
            await send(message)

        await self._application(scope, _bounded(scope, receive), with_headers)


def _on_this_server(address: str) -> str:
    """The address without a host: Starlette adds a slash with a redirect to whatever host the request names."""
    try:
        found = urlsplit(address)
    except ValueError:  # such as a host with one bracket
        return "/"
    path = "/" + found.path.lstrip("/\\")  # browsers read two slashes, or backslashes, as the begin of a host
    return f"{path}?{found.query}" if found.query else path


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """`receive` for a body of at most `LONGEST_BODY` bytes, with or without a Content-Length, which h11 has checked."""
    declared = int(Headers(scope=scope).get("content-length", "0"))
    length = declared if declared > LONGEST_BODY else 0

    async def bounded() -> Message:
        nonlocal length
        if length <= LONGEST_BODY:
            message = await receive()
            length += len(message.get("body", b""))
            if length <= LONGEST_BODY:
                return message
        if scope["method"] in SAFE:  # the application does not wait for a body, and may be answering already
            return {"type": "http.disconnect"}
        raise HTTPException(413, f"the request is longer than {LONGEST_BODY} bytes")

    return bounded
