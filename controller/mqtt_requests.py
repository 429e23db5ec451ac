"""Answers what clients request of a table over the broker: snapshots, rounds, incidents and books."""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from punto.configs.faults import first_fault
from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.journal.out_of_the_ordinary import incidents_after
from punto.controller.journal.schema import RecordError
from punto.controller.journal.store import EndedRound
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.books import Books
from punto.messages.bounds import LONGEST_PAYLOAD
from punto.messages.building import public_round, timestamp
from punto.messages.models import Message, RequestId
from punto.messages.requests import (
    BooksRequest,
    BooksResponse,
    IncidentsRequest,
    IncidentsResponse,
    Response,
    RoundEnd,
    RoundsRequest,
    RoundsResponse,
    SnapshotRequest,
)
from punto.runtime import clock
from punto.runtime.gaming_days import Calendar
from punto.runtime.pace import Pace
from punto.runtime.signatures import Signing

REQUESTED_SNAPSHOTS_EVERY_SECONDS: Final = 1.0
"""How often clients together can have all retained messages sent again: one client's flood costs the others nothing."""
LONGEST_ANSWER: Final = LONGEST_PAYLOAD - 1024
"""Bytes of an answer without its signature: the broker ends the connection of a table that sends more than it takes."""
MOST_BOOKS_WAITING: Final = 10
"""Requests for books that wait, as many as a client may send at once. Each takes as long as a report at the Game Manager."""
LONGEST_VERB: Final = 64
LONGEST_REQUEST: Final = 4096
"""Bytes: several times as many as the longest request has."""
_TOO_LONG: Final = f"a request has at most {LONGEST_REQUEST} bytes: send what the schema of the request says"
_TOO_FAST: Final = (
    "too many requests in a short time: wait some seconds. Until then, requests are not answered"
)
_VERBS: Final = "request snapshot, rounds, incidents or books"
_NO_METER: Final = "this service keeps no meter: request the books of the service that `kept_by` of the topic `progressive` names"
_BOOKS_WAIT: Final = "too many requests for books wait: request them again later"
_CLIENT: Final = re.compile(r"client( [\w.-]{1,64})?", re.ASCII)
"""All who ask on the shared topic, or a user of the broker."""
BooksOf = Callable[[Path, date, Calendar, datetime], Books]
"""Reads the books of a gaming day from a record, at this time (UTC); raises RecordError. It works in any thread."""


_log = structlog.get_logger("punto.controller.mqtt")


class Requests:
    """Answers requests into the outbox. `snapshot` is called when all retained messages are to be sent."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        outbox: Outbox,
        topic: topics.Topics,
        snapshot: Callable[[], None],
        books_of: BooksOf,
        signing: Signing,
    ) -> None:
        self._engine = engine
        self._journal = journal
        self._outbox = outbox
        self._topic = topic
        self._snapshot = snapshot
        self._books_of = books_of
        self._signing = signing
        self._books_asked: asyncio.Queue[BooksRequest] = asyncio.Queue(MOST_BOOKS_WAITING)
        self._requested_snapshot = 0.0  # when, by the loop's clock, the last requested one is sent

    async def take(self, verb: str, client: str, payload: bytes) -> None:
        """Answer a request, or put it behind those that wait."""
        # The topic of the answer could be too long, and the client's name is on the record if it asks too often.
        if len(verb) > LONGEST_VERB or not _CLIENT.fullmatch(client):
            _log.warning("request ignored", verb=verb[:LONGEST_VERB], hint=_VERBS)
            return
        refused = not_read(self._engine.pace, client, payload)
        if refused == ():
            return
        try:
            if refused:
                answer: Message = self._response(None, refused[1])
            elif verb == "snapshot":
                request = SnapshotRequest.model_validate_json(payload)
                self._snapshot_requested()
                answer = self._response(request.id, None)
            elif verb == "rounds":
                answer = await self._rounds(RoundsRequest.model_validate_json(payload))
                self._engine.pace.charge(client)  # an answer can have a hundred rounds
            elif verb == "incidents":
                answer = await self._incidents(IncidentsRequest.model_validate_json(payload))
                self._engine.pace.charge(client)
            elif verb == "books":
                self._ask_for_books(BooksRequest.model_validate_json(payload))
                self._engine.pace.charge(client)
                return
            else:
                answer = self._response(id_of(payload), f"there is no request {verb!r}: {_VERBS}")
        except ValidationError as error:
            answer = self._response(id_of(payload), first_fault(error))
        self._put(verb, answer)

    def _put(self, verb: str, answer: Message) -> None:
        self._outbox.put(self._topic(topics.response(verb)), self._signing.signed(answer.wire()))

    def _snapshot_requested(self) -> None:
        """Send all retained messages: at once, or a second after the last ones that a client requested."""
        loop = asyncio.get_running_loop()
        if self._requested_snapshot > loop.time():
            return  # it is still to come
        self._requested_snapshot = max(
            loop.time(), self._requested_snapshot + REQUESTED_SNAPSHOTS_EVERY_SECONDS
        )
        loop.call_at(self._requested_snapshot, self._snapshot)

    def _response(self, request: str | None, error: str | None) -> Response:
        now = timestamp(clock.now())
        # If the client corrects its request and sends it with the same id, the answer has another id.
        id_ = f"{self._topic.table}/response/{request if error is None else now}"
        return Response(
            id=id_,
            seq=0,
            ts=now,
            simulation=self._engine.state.settings.simulation,
            request=request,
            error=error,
        )

    def _of_record(self, request: str, seq: int, now: datetime) -> dict[str, Any]:
        """The fields of each answer from the record."""
        return {
            "id": f"{self._topic.table}/response/{request}",
            "seq": seq,
            "ts": timestamp(now),
            "simulation": self._engine.state.settings.simulation,
            "request": request,
            "record": self._engine.record_name,
        }

    async def _rounds(self, asked: RoundsRequest) -> Message:
        last = self._journal.last_round
        found = await self._journal.rounds_after(asked.after, asked.limit) if asked.after < last else []
        answer = self._of_rounds(asked, found, last)
        while len(answer.wire()) > LONGEST_ANSWER and len(found) > 1:
            found = found[: len(found) // 2]
            answer = self._of_rounds(asked, found, last)
        return answer

    def _of_rounds(self, asked: RoundsRequest, found: Sequence[EndedRound], last: int) -> RoundsResponse:
        return RoundsResponse(
            **self._of_record(asked.id, last, clock.now()),
            after=asked.after,
            rounds=tuple(public_round(ended.record) for ended in found),
            ended=tuple(RoundEnd(ts=each.ts, game=each.game, rules=each.rules) for each in found),
            currency=self._engine.state.settings.currency,
            more=bool(found) and found[-1].record.round < last,
        )

    async def _incidents(self, asked: IncidentsRequest) -> Message:
        last = self._engine.seq
        found, until = await asyncio.to_thread(
            incidents_after, self._journal.path, asked.after, last, asked.limit
        )
        return IncidentsResponse(
            **self._of_record(asked.id, last, clock.now()),
            after=asked.after,
            incidents=found,
            until=until,
            more=until < last,
        )

    def _ask_for_books(self, asked: BooksRequest) -> None:
        """Have the books answered after those that wait: meanwhile wagers and linked tables are not held up."""
        progressive = self._engine.state.progressive
        if progressive is None or progressive.link is not None:
            self._put("books", self._response(asked.id, _NO_METER))
            return
        try:
            self._books_asked.put_nowait(asked)
        except asyncio.QueueFull:
            self._put("books", self._response(asked.id, _BOOKS_WAIT))

    async def send_books(self) -> None:
        """Answer the requests for books, one at a time."""
        while True:
            self._put("books", await self._books(await self._books_asked.get()))

    async def _books(self, asked: BooksRequest) -> Message:
        now, last = clock.now(), self._engine.seq
        try:
            found = await asyncio.to_thread(
                self._books_of, self._journal.path, asked.day, self._engine.calendar, now
            )
        except RecordError as error:
            return self._response(asked.id, str(error))
        return BooksResponse(**self._of_record(asked.id, last, now), books=found)


def not_read(pace: Pace, client: str, payload: bytes) -> tuple[str, ...] | None:
    """Code and reason why a request is not read; empty if the client was told before, None if it may be read."""
    if not pace.allows(client):
        return ("too_fast", _TOO_FAST) if pace.refused(client) == 1 else ()
    return ("bad_payload", _TOO_LONG) if len(payload) > LONGEST_REQUEST else None


class _RequestId(BaseModel):
    """The id of an invalid request, for its answer."""

    model_config = ConfigDict(strict=True, defer_build=True)

    id: RequestId


def id_of(payload: bytes) -> str | None:
    """The id in a payload, None if it cannot be read."""
    try:
        return _RequestId.model_validate_json(payload).id
    except ValidationError:
        return None
