"""Requests that change nothing, and their answers."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from punto.baccarat.table.state import RoundRecord
from punto.messages.amounts import IN_ITS_CURRENCY
from punto.messages.books import Books
from punto.messages.models import Currency, Message, Payload, RecordName, Request, RequestId, Timestamp
from punto.runtime.gaming_days import in_reach


class SnapshotRequest(Request):
    """A request to send every retained message again."""

    id: RequestId


class RoundsRequest(Request):
    """A request for the rounds after the number `after`, at most `limit` of them."""

    id: RequestId
    after: int = Field(ge=0)
    limit: int = Field(100, ge=1, le=100)


class IncidentsRequest(Request):
    """A request for the incidents and entrances of the inputs after the number `after`, at most `limit` of them."""

    id: RequestId
    after: int = Field(ge=0)
    limit: int = Field(100, ge=1, le=100)


class BooksRequest(Request):
    """A request for the books of the meter that this service keeps: those of a gaming day, and of its gaming week so far."""

    id: RequestId
    day: Annotated[date, AfterValidator(in_reach)] = Field(description="the gaming day, such as 2026-11-21")


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
    after: int = Field(
        description="as in the request, so that nobody can pass the answer to another request for this one"
    )
    rounds: tuple[RoundRecord, ...]
    ended: tuple[RoundEnd, ...] = Field(description="for each of `rounds`, in the same order")
    record: RecordName
    currency: Currency
    more: bool = Field(description="whether the record has rounds after the last one of this answer")


LONGEST_INCIDENT: Final = 400


class RecordedIncident(Payload):
    """An incident or an entrance on the record. Its `seq` and `place` together identify it.

    An incident is an alarm, a stop, a card to be keyed, an order out of the ordinary or an event of a device.
    An entrance is a sign-on, its end or a refusal of access; its `kind` is session_begun, session_ended or access_refused.
    """

    seq: int = Field(description="the number of its input")
    place: int = Field(description="its place among those of its input, from 0")
    ts: Timestamp = Field(description="when the input was recorded, UTC")
    kind: str = Field(description="the code of the alarm or stop, or the kind of the input")
    source: str = Field(
        description="the source of the input: a device, the service, or `operator` and the name of the console's operator"
    )
    who: str | None = Field(description="the person or client, null if the record does not have the name")
    text: str = Field(max_length=LONGEST_INCIDENT)
    where: str | None = Field(description="where an entrance was, such as an address; otherwise null")


class IncidentsResponse(Message):
    """The incidents and entrances of the requested inputs, in order. Only the house may read them. `seq` is the number of the last input.

    One answer has all incidents of an input. If an input has more than `limit`, the answer has only these, at most the first 100.
    """

    schema_: Literal["punto/incidents-response/1"] = Field("punto/incidents-response/1", alias="schema")
    request: str
    after: int = Field(
        description="as in the request, so that nobody can pass the answer to another request for this one"
    )
    incidents: tuple[RecordedIncident, ...]
    until: int = Field(
        description="the number of the input up to which the answer is complete: the `after` of the next request"
    )
    record: RecordName
    more: bool = Field(
        description="whether the record has inputs after `until`. They may have no incidents, and so may this answer"
    )


class BooksResponse(Message):
    """The books of the requested gaming day. Only the house may read them, because they have the reserve. `seq` is the number of the last input.

    An amount is text in decimals of the currency's unit. What was paid or counted has as many decimals as ISO 4217 gives the
    currency, such as two for USD and none for JPY; an amount on a meter has six more. The books of a day do not change after the
    day has ended, except for the count of its coins.
    """

    schema_: Literal["punto/books-response/1"] = Field("punto/books-response/1", alias="schema")
    request: str
    books: Annotated[Books, IN_ITS_CURRENCY]
    record: RecordName
