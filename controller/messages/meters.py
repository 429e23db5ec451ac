"""The message with a table's meters, for the house alone."""

from typing import Literal

from pydantic import Field

from punto.controller.messages.models import Message, MinorUnits, Payload, Timestamp


class CountReading(Payload):
    """How often a rule of a wager decided a hand, whether or not somebody had made the wager."""

    wager: str | None = Field(description="null for the results of hands, and for naturals")
    rule: str = Field(description="the name of the rule; without a wager player, banker, tie or natural")
    hits: int
    expected: float | None = Field(
        description="the exact number to be expected of so many hands from a full shoe; null for a house's own wager "
        "without punto[odds]"
    )
    errors: float | None = Field(
        description="the number of standard errors between hits and expected, below zero if there were fewer"
    )


class WagerReading(Payload):
    """The recorded wagers of one kind.

    The awards of a table with a progressive are in its books, and not in `returned`, whatever pays them. So a wager
    that pays from a meter has no expectation, and a wager that wins only with its base wager has none either.
    """

    wager: str
    wagers: int
    drop: MinorUnits = Field(description="what was staked")
    returned: int = Field(description="what was returned, stakes included, in minor units")
    hold: int = Field(description="drop less returned")
    expected: float | None = Field(
        description="the exact house edge of drop, in minor units: from a full shoe, without rounding of commissions"
    )
    errors: float | None = Field(
        description="the number of standard errors between hold and expected, below zero if the house kept less"
    )


class MeterReadings(Payload):
    """The meters of played hands, each as it was settled last. Void and dummy hands do not count."""

    hands: int
    counts: tuple[CountReading, ...]
    wagers: tuple[WagerReading, ...]


class TableMeters(Message):
    """The counts and totals of the game that the table plays now, over its life and over the gaming day. For the house alone."""

    schema_: Literal["punto/meters/1"] = Field("punto/meters/1", alias="schema")
    game: str = Field(description="the name of the game's file")
    rules: str = Field(
        description="names the rules of the game, as on the record: with other rules, other meters begin"
    )
    lifetime: MeterReadings = Field(description="since the table's record began")
    gaming_day: MeterReadings = Field(
        description="of the present gaming day, without corrections of earlier hands"
    )
    day_began: Timestamp = Field(description="when the gaming day began")
