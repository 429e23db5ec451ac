"""The answers of the API: their descriptions, and the answer to each refusal."""

import asyncio
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from punto.consoles import api
from punto.consoles.guard import refusal_answer
from punto.controller.accounts.refusals import RefusalError
from punto.controller.orders.doors import OrderAnswer
from punto.web.bodies import JsonRoute, what_to_write

_WORDS: Final = {
    401: "not signed on, or the name and password are not accepted",
    403: "not of your role, not approved, or not from the consoles' own pages",
    404: "not found",
    409: "refused by the table",
    413: "too long",
    415: "not JSON",
    422: "unreadable; the reason says what to write",
    429: "too many requests or attempts; Retry-After says how long to wait",
    503: "the accounts cannot be read",
}
_CODES: Final = {404: "not_found", 413: "too_long", 422: "bad_request"}

OF_JSON: Final = (413, 415, 422)  # refusals of paths that accept JSON

FLOOD_WAITS_SECONDS: Final = 1.0
"""How long a request that came too soon waits for its refusal. So a connection that floods asks once a second, and costs the
others next to nothing."""


def answers(*refusals: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of a path, for the OpenAPI document; every path requires a session, which may ask too often."""
    return {
        status: {"content": api.REFUSAL, "description": _WORDS[status]}
        for status in sorted({401, 429, *refusals, 503})
    }


def order_answers(*refusals: int) -> dict[int | str, dict[str, Any]]:
    """The answers of a path that gives an order, which the table may refuse too."""
    refused = {"model": OrderAnswer, "description": _WORDS[409]}
    return {200: {"model": OrderAnswer}, **answers(403, 422, *refusals), 409: refused}


async def refused_answer(refusal: RefusalError) -> Response:
    """The answer to a refusal."""
    if refusal.code == "too_fast":
        await asyncio.sleep(FLOOD_WAITS_SECONDS)
    answer = refusal_answer(refusal.status, refusal.code, str(refusal))
    if refusal.retry_after is not None:
        answer.headers["Retry-After"] = str(refusal.retry_after)
    return answer


def answer_refusals(app: FastAPI) -> None:
    """Make the application read JSON, and answer each refusal as JSON with its code and reason."""
    app.router.route_class = JsonRoute

    @app.exception_handler(RefusalError)
    async def refused(_: Request, refusal: RefusalError) -> Response:
        return await refused_answer(refusal)

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> Response:
        if isinstance(error.body, bytes):  # FastAPI has not parsed it, because its type is not JSON
            return refusal_answer(
                415, "not_json", "send JSON, with the header Content-Type: application/json"
            )
        return refusal_answer(422, "bad_request", what_to_write(error))

    @app.exception_handler(HTTPException)
    async def not_served(request: Request, error: HTTPException) -> Response:
        answer = refusal_answer(error.status_code, _CODES.get(error.status_code, "not_served"), error.detail)
        if error.status_code == 405:  # the router lists only the methods of the first route at this path
            served = (route for route in app.routes if route.matches(request.scope)[0] is not Match.NONE)
            methods = {method for route in served for method in getattr(route, "methods", None) or ()}
            answer.headers["Allow"] = ", ".join(sorted(methods))
        return answer
