"""The messages between a table and the authority that keeps its meter. What they carry becomes inputs of the other's record."""

from typing import Annotated, Any, Literal

from pydantic import Field

from punto.baccarat.progressive import settings
from punto.baccarat.table.meter_link import MOST_SEATS
from punto.messages.models import Message, RecordName

Input = dict[str, Any]
"""An input, as it is on a record."""
Currency = Annotated[
    str,
    Field(pattern="^[A-Z]{3}$", description="the currency of the sender's table; both sides have the same"),
]

Seats = Annotated[
    int,
    Field(
        ge=1,
        le=MOST_SEATS,
        description="the seats of the table; of an authority, the most seats of any of its tables",
    ),
]
Rules = Annotated[
    dict[Annotated[str, Field(pattern="^[a-z0-9_ ]+$")], Annotated[str, Field(pattern="^[0-9a-f]{16}$")]],
    Field(
        description="a digest of each part of the rules of the sender's game: the decks, the rounding and each wager; both sides have the same",
    ),
]

Procedure = Annotated[
    settings.Procedure,
    Field(description="the procedure by which awards are confirmed; both sides have the same"),
]

Signatures = Annotated[
    tuple[Annotated[str, Field(pattern="^[0-9a-f]{64}$")], ...],
    Field(
        max_length=2,
        description="the HMAC-SHA-256 of this message by the key of the link, in hexadecimal digits; the authority signs with both "
        "keys while a key is changed; empty only in a simulation without keys. It is always the last field. Signed are the line "
        "`punto meter link 1`, a line each with the ids of the progressive, the authority and the table, and then the exact bytes "
        "of the message with `[]` in place of the signatures",
    ),
]


class MeterRequest(Message):
    """What a linked table asks the authority of its meter, until the answer is on the table's record. `seq` is the request's number."""

    schema_: Literal["punto/meter-request/1"] = Field("punto/meter-request/1", alias="schema")
    currency: Currency
    seats: Seats
    rules: Rules
    procedure: Procedure
    record: RecordName
    asked: Input | None = Field(
        description="the request, as it will be on the authority's record; null if the table waits for no answer"
    )
    signatures: Signatures = ()


class MeterAnswer(Message):
    """The meter as a linked table sees it, and the authority's answer to the table's last request. `seq` is the request's number.

    The authority sends it when it has answered, and when the meter's phase, settings or awards change.
    """

    schema_: Literal["punto/meter-answer/1"] = Field("punto/meter-answer/1", alias="schema")
    currency: Currency
    seats: Seats
    rules: Rules
    procedure: Procedure
    last_input: int = Field(
        0,
        ge=0,
        description="the number of the last input on the authority's record; an answer with a smaller number than an earlier "
        "answer is old, and a table ignores it",
    )
    heard: Input = Field(
        description="the meter, as it will be on the table's record; not `online` if the authority does not serve this table"
    )
    answered: Input | None = Field(
        description="the last answer, as it will be on the table's record; null before the first"
    )
    record: RecordName | None = Field(
        None,
        description="the record of the table to which `answered` belongs; null before the first. A table ignores the answer to "
        "another record",
    )
    signatures: Signatures = ()
