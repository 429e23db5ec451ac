"""Requests that change nothing, and their answers."""

from typing import Literal

from pydantic import Field

from punto.baccarat.table.state import RoundRecord
from punto.controller.messages.models import Message, Payload, RecordName, Request, RequestId, Timestamp


class SnapshotRequest(Request):
    """A request to send every retained message again."""

    id: RequestId


class RoundsRequest(Request):
    """A request for the rounds after the number `after`, at most `limit` of them."""

    id: RequestId
    after: int = Field(ge=0)
    limit: int = Field(100, ge=1, le=100)


class Response(Message):
    """The answer to a request for a snapshot, and to each request that is refused. `seq` is 0."""

    schema_: Literal["punto/response/1"] = Field("punto/response/1", alias="schema")
    request: str | None
    error: str | None


class RoundEnd(Payload):
    """When a round ended, the name of its game file, and what identifies the game's rules, as on the record."""

    ts: Timestamp
    game: str
    rules: str


class RoundsResponse(Message):
    """The requested rounds, in order. `seq` is the number of the last round on the record."""

    schema_: Literal["punto/rounds-response/1"] = Field("punto/rounds-response/1", alias="schema")
    request: str
    rounds: tuple[RoundRecord, ...]
    ended: tuple[RoundEnd, ...] = Field((), description="for each of `rounds`, in the same order")
    record: RecordName = ""
    more: bool = Field(description="whether the record has rounds after the last one of this answer")
