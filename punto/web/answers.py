"""Answers that several servers give: a model as JSON, a sheet to download, and a stream of events."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from punto.runtime.csv_cells import Cell, csv_lines

_SEND_SECONDS: Final = 10
"""After this time, a browser that accepts nothing of a stream is disconnected; it reconnects by itself."""


def json_of(answer: BaseModel, currency: str | None = None) -> Response:
    """A model as JSON. If it has exact amounts that do not say their currency, they are in this one."""
    return Response(answer.model_dump_json(context=currency), media_type="application/json")


def download(rows: Iterable[Sequence[Cell]], name: str) -> Response:
    """Rows as a CSV file, which the browser saves as NAME.csv."""
    attached = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response("".join(csv_lines(rows)), media_type="text/csv", headers=attached)


def stream(events: AsyncIterator[ServerSentEvent], ping_seconds: float = 60, ping: str = "") -> Response:
    """Server-sent events until their end, with an event `ping` in each `ping_seconds`, whose data is `ping`.

    FastAPI's own streams are not enough: they have no time limit for a browser that accepts nothing, their ping cannot be
    set and is no event that a page sees, and a display has no FastAPI.
    """
    return EventSourceResponse(
        events,
        ping=ping_seconds,
        ping_message_factory=lambda: ServerSentEvent(event="ping", data=ping),
        send_timeout=_SEND_SECONDS,
    )
