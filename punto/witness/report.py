"""What a witness publishes of all tables, on the topic of `topics.house_witness`."""

from typing import Literal

from pydantic import Field

from punto.messages.models import Message, Payload


class WitnessFinding(Payload):
    """What a witness has found in the heads of a table."""

    table: str
    kind: str = Field(
        description="unsigned, forged, key, forked, behind, silent, late, flood, other_record, replayed or withdrawn, as the documentation of the witness has them"
    )
    text: str


class WitnessReport(Message):
    """What a witness has found and nobody has acknowledged, of all tables, every 10 s. It belongs to no table."""

    schema_: Literal["punto/witness-report/1"] = Field("punto/witness-report/1", alias="schema")
    tables: int = Field(description="the tables whose heads were heard since the start of the witness")
    findings: tuple[WitnessFinding, ...] = Field(description="the newest first, at most 100")
