"""The message with a table's meters, for the house alone."""

from typing import Literal

from pydantic import Field

from punto.messages.models import Message, MinorUnits, Payload, Timestamp


class CountReading(Payload):
    """How often a rule of a wager decided a hand. The hand counts even if nobody made the wager."""

    wager: str | None = Field(description="null for the results of hands, and for naturals")
    rule: str = Field(
        description="the name of the rule. If `wager` is null, this is player, banker, tie or natural"
    )
    hits: int
    expected: float | None = Field(
        description="the exact expectation of hits for this number of hands, from a full shoe; null for a house's own wager "
        "without punto[odds]"
    )
    errors: float | None = Field(
        description="the difference between hits and expected, in standard errors; below zero if hits is less"
    )
    evidence: float | None = Field(
        description="how strongly hits speaks against expected: by chance, this figure ever reaches E with a probability of at "
        "most 1/E, however often it is read. Evidence of 10 and less is given as 1. Null if hits cannot be right, because it is below "
        "zero or above hands"
    )


class WagerReading(Payload):
    """The recorded wagers of one kind.

    If the table has a progressive, its awards are in the books of the progressive and not in `returned`. So `expected` is
    null for a wager that pays from the progressive's meter, and for a wager that wins only with its base wager.
    """

    wager: str
    wagers: int
    handle: MinorUnits = Field(description="what was staked")
    returned: int = Field(description="what was returned, stakes included, in minor units")
    win: int = Field(description="handle less returned")
    expected: float | None = Field(
        description="the exact expectation of win, in minor units, from a full shoe, with what the rounding of the pays and "
        "commissions of these hands kept"
    )
    errors: float | None = Field(
        description="the difference between win and expected, in standard errors; below zero if win is less"
    )
    evidence: float | None = Field(description="how strongly win speaks against expected, as for a rule")


class MeterReadings(Payload):
    """The meters of played hands, each with its last settlement. Void and dummy hands do not count."""

    hands: int
    counts: tuple[CountReading, ...]
    wagers: tuple[WagerReading, ...]


class TableMeters(Message):
    """The meters of the game that the table plays now, over the table's life and over the gaming day. Only the house may read them."""

    schema_: Literal["punto/meters/1"] = Field("punto/meters/1", alias="schema")
    game: str = Field(description="the name of the game's file")
    rules: str = Field(
        description="identifies the rules of the game, as on the record. If the rules change, new meters begin"
    )
    lifetime: MeterReadings = Field(description="the meters since the table's record began")
    gaming_day: MeterReadings = Field(
        description="the meters of the present gaming day, without corrections of earlier hands"
    )
    day_began: Timestamp = Field(description="when the gaming day began")
