"""The messages for surveillance only: hidden cards, the record's head, and edges."""

from typing import Literal

from pydantic import Field

from punto.baccarat.table.effects import CardHeld
from punto.messages.models import Message, Payload, RecordName, Timestamp


class RestrictedCard(Message):
    """A card that the public may not see. For surveillance only (`[mqtt] restricted = true`). `seq` is the number of the card's input."""

    schema_: Literal["punto/restricted-card/1"] = Field("punto/restricted-card/1", alias="schema")
    card: CardHeld


class RestrictedHead(Message):
    """The hash of the record's last input, every 10 s. For surveillance only (`[mqtt] restricted = true`).

    `seq` is that input's number. The public must not see the hashes: from two successive hashes, unseen cards could be
    found by trying all cards.
    """

    schema_: Literal["punto/restricted-head/1"] = Field("punto/restricted-head/1", alias="schema")
    head: str = Field(
        pattern=r"^[0-9]+:[0-9a-f]{64}$",
        description="the input's number and its hash, as `punto replay --head` takes it",
    )
    record: RecordName = ""
    key: str | None = Field(
        None, description="the public key of the machine's signer, in base64; null if it is not signed"
    )
    signature: str | None = Field(
        None,
        description=(
            "the signer's signature (Ed25519, in base64) over the line `punto head 1` and the lines with the table's id, `record`, "
            "`head` and `ts`, each with a newline"
        ),
    )


class PositionEdge(Payload):
    """The edge of a wager in this shoe, per unit staked."""

    wager: str = Field(
        description=(
            "the wager's name. If the wager wins only together with its base wager, :player or :banker follows, "
            "the side of the base wager"
        )
    )
    edge: float = Field(description="the house edge; below 0, the wager favours the players")
    favourable: bool = Field(description="whether the wager favours the players")
    alarm: bool = Field(description="whether the wager favours the players by more than the configured alarm")


class Edge(Message):
    """The house edge of every wager on the coup after the round `round`. For surveillance and the house only (`[edge]`).

    `seq` is that of the input after which the shoe had these cards. The message comes shortly after each coup, and is
    sent again while nothing changes. If no new message arrives within `valid_until - ts`, the edges are unknown. A meter
    counts with its average top award.
    """

    schema_: Literal["punto/edge/1"] = Field("punto/edge/1", alias="schema")
    valid_until: Timestamp
    shoe: int
    round: int = Field(
        description="the last round whose cards are counted; it can be a round of the previous shoe"
    )
    cards_left: int = Field(description="cards still in the shoe before the coup")
    unseen: int = Field(
        description="cards that left the shoe and were not seen; they count as if they were still in the shoe"
    )
    positions: tuple[PositionEdge, ...] = Field(description="in the game file's order; empty if unavailable")
    alarms: tuple[str, ...] = Field(description="the wagers with an alarm")
    unavailable: str | None = Field(description="the reason why there are no edges; null if there are edges")
    record: RecordName
