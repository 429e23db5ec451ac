"""What is published for surveillance alone: hidden cards, the head of the record, and edges."""

from typing import Literal

from pydantic import Field

from punto.baccarat.table.effects import CardHeld
from punto.controller.messages.models import Message, Payload, Timestamp


class RestrictedCard(Message):
    """A card that the public may not see, for surveillance alone (`[mqtt] restricted = true`). `seq` is that of its input."""

    schema_: Literal["punto/restricted-card/1"] = Field("punto/restricted-card/1", alias="schema")
    card: CardHeld


class RestrictedHead(Message):
    """The record's last input with its hash, every 10 s, for surveillance to note (`[mqtt] restricted = true`).

    `seq` is that input's number. The public must not have it: from one hash to the next, cards that nobody has seen could be found by trying them all.
    """

    schema_: Literal["punto/restricted-head/1"] = Field("punto/restricted-head/1", alias="schema")
    head: str = Field(
        pattern=r"^[0-9]+:[0-9a-f]{64}$",
        description="the input's number and its hash, as `punto replay --head` takes it",
    )


class PositionEdge(Payload):
    """What a wager is worth in this shoe, per unit staked."""

    wager: str = Field(
        description=(
            "its name; with :player or :banker after it where it wins only with the base wager, which is then on that side"
        )
    )
    edge: float = Field(description="the house's edge: below 0 the wager favours the players")
    favourable: bool = Field(description="whether it favours the players, at all")
    alarm: bool = Field(description="whether it favours them by more than the configured alarm")


class Edge(Message):
    """The house's edge of every wager on the coming coup, or on the one being dealt, for surveillance alone (`[edge]`).

    `seq` is that of the input after which the shoe was so. It comes after each coup, a little later, and is sent again
    while nothing changes: whoever has not had one for longer than `valid_until - ts` does not know the edges. A meter is
    taken at its average top award.
    """

    schema_: Literal["punto/edge/1"] = Field("punto/edge/1", alias="schema")
    valid_until: Timestamp
    shoe: int
    round: int = Field(description="the last round whose cards are counted, of whichever shoe")
    cards_left: int = Field(description="cards still in the shoe before the coup")
    unseen: int = Field(
        description="cards that left the shoe and were not seen; they count as if they were still in it"
    )
    positions: tuple[PositionEdge, ...] = Field(description="in the game file's order; none if unavailable")
    alarms: tuple[str, ...] = Field(description="the wagers that are an alarm")
    unavailable: str | None = Field(description="why there are no edges, null when there are")
