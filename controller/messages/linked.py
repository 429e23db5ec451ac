"""The messages between a table and the authority that keeps its meter. What they carry becomes inputs of the other's record."""

from typing import Literal

from pydantic import Field

from punto.baccarat.table.events import MeterAnswered, MeterHeard, TableAsked
from punto.controller.messages.models import Message


class MeterRequest(Message):
    """What a linked table asks the authority of its meter, until the answer is on the table's record. `seq` is the request's number."""

    schema_: Literal["punto/meter-request/1"] = Field("punto/meter-request/1", alias="schema")
    asked: TableAsked | None = Field(description="the request, null if the table waits for no answer")


class MeterAnswer(Message):
    """The meter as a linked table sees it, and the authority's answer to the table's last request. `seq` is the request's number.

    The authority sends it when it has answered, and when the meter's phase, settings or awards change.
    """

    schema_: Literal["punto/meter-answer/1"] = Field("punto/meter-answer/1", alias="schema")
    heard: MeterHeard = Field(
        description="the meter; not online if the authority does not serve this table, with the reason"
    )
    answered: MeterAnswered | None = Field(description="the last answer, null before the first")
