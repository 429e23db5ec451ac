"""Everything that can happen to a table: the inputs, as the record keeps them.

Device events say what a device saw; orders are what a person decided and name who; a wager is what a seat asks
for. They are the only things that change a table, and replaying them in order gives the same table again.
"""

from dataclasses import dataclass
from typing import Literal

from controller.baccarat.cards import Card


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a device's software: its name, version and SHA-256 digest in lower-case hex."""

    name: str
    version: str
    digest: str


# --- what the shoe saw. `record` is the shoe's own sequence number for it, counted from 1.


@dataclass(frozen=True, slots=True)
class ShoeHello:
    """The shoe introduced itself.

    `log` names the run of record numbers (another one means that the shoe lost its memory), `first_kept` is the
    oldest record it still keeps and `next_record` the number its next record will get.
    """

    serial: str
    log: int
    first_kept: int
    next_record: int
    decks: int
    components: tuple[Component, ...] = ()
    kind: Literal["shoe_hello"] = "shoe_hello"


@dataclass(frozen=True, slots=True)
class ShoeLost:
    """The link to the shoe went silent or away."""

    reason: str
    kind: Literal["shoe_lost"] = "shoe_lost"


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """A card left the shoe and was read, with a confidence of 0 to 100."""

    record: int
    card: Card
    confidence: int
    kind: Literal["card_drawn"] = "card_drawn"


@dataclass(frozen=True, slots=True)
class CardUnread:
    """A card left the shoe and could not be read."""

    record: int
    kind: Literal["card_unread"] = "card_unread"


@dataclass(frozen=True, slots=True)
class CardOverdrawn:
    """A card left the shoe though the shoe knew that none was called for; `card` is None if it was not read."""

    record: int
    card: Card | None
    confidence: int
    kind: Literal["card_overdrawn"] = "card_overdrawn"


@dataclass(frozen=True, slots=True)
class CutCardSeen:
    """The cut card reached the mouth of the shoe."""

    record: int
    kind: Literal["cut_card_seen"] = "cut_card_seen"


@dataclass(frozen=True, slots=True)
class LidMoved:
    """The lid was opened or closed."""

    record: int
    open: bool
    kind: Literal["lid_moved"] = "lid_moved"


@dataclass(frozen=True, slots=True)
class ReverseMovement:
    """A card was pushed back into the shoe."""

    record: int
    kind: Literal["reverse_movement"] = "reverse_movement"


@dataclass(frozen=True, slots=True)
class ShoeFault:
    """The shoe reports an error of its own."""

    record: int
    code: int
    text: str
    kind: Literal["shoe_fault"] = "shoe_fault"


@dataclass(frozen=True, slots=True)
class RecordsLost:
    """The shoe no longer keeps records `first` to `last`, and they never arrived."""

    first: int
    last: int
    kind: Literal["records_lost"] = "records_lost"


@dataclass(frozen=True, slots=True)
class LinkNoise:
    """Broken frames came faster than a sound line gives them: `frames` within `seconds`."""

    frames: int
    seconds: int
    kind: Literal["link_noise"] = "link_noise"


# A record of the shoe: numbered, kept until acknowledged, never skipped.
ShoeRecord = CardDrawn | CardUnread | CardOverdrawn | CutCardSeen | LidMoved | ReverseMovement | ShoeFault
ShoeEvent = ShoeHello | ShoeLost | RecordsLost | LinkNoise | ShoeRecord
