"""The bodies of requests, as FastAPI reads them for all pages, and what is wrong with a request that it cannot read."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from punto.configs.faults import first_fault, placed

_ANY: Final = TypeAdapter[Any](Any)


class JsonRoute(APIRoute):
    """A route whose body pydantic parses.

    Python's own parser accepts half of a surrogate pair, which cannot be sent back, and any depth of brackets, for which
    later code has no stack.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route's requests."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        try:
            return _ANY.validate_json(await self.body())
        except ValidationError as error:
            raise HTTPException(422, first_fault(error)) from None


def what_to_write(error: RequestValidationError) -> str:
    """The first fault of a request: its place, and what to write there. The body's values can be secret, so it has none of them."""
    fault = error.errors()[0]
    of, *where = fault["loc"]
    return placed(where, {**fault, "input": None} if of == "body" else fault)
