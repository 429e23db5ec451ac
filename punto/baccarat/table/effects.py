"""The effects of an event on a table: public events, events for surveillance, and rounds that ended.

Orders to the shoe are not effects but follow from the state at any time (`shoe_orders`): a shoe that returns
after a power cut needs the same orders as one that was never away.
"""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side, Winner
from punto.baccarat.progressive.effects import Effect as MeterEntry
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.table.events import DeviceName
from punto.baccarat.table.state import CommissionEntry, Phase, RoundRecord


@dataclass(frozen=True, slots=True)
class PhaseEntered:
    """The table entered another phase, in the round `round` and shoe `shoe`."""

    phase: Phase
    round: int
    shoe: int
    kind: Literal["phase_entered"] = "phase_entered"


@dataclass(frozen=True, slots=True)
class BurnCardTurned:
    """The first card of a new shoe was turned; this many more are burned unseen."""

    card: Card
    burns: int
    kind: Literal["burn_card_turned"] = "burn_card_turned"


@dataclass(frozen=True, slots=True)
class CardDealt:
    """A card went to a hand, the `position`-th of the coup; `card` is None until the dealer's reveal."""

    round: int
    position: int
    side: Side
    card: Card | None
    keyed: bool
    kind: Literal["card_dealt"] = "card_dealt"


@dataclass(frozen=True, slots=True)
class CardAwaited:
    """A card is not known for certain and must be keyed."""

    code: str
    text: str
    kind: Literal["card_awaited"] = "card_awaited"


@dataclass(frozen=True, slots=True)
class CardCorrected:
    """A card already shown was corrected before settlement."""

    round: int
    position: int
    side: Side
    before: Card
    after: Card
    reason: str
    kind: Literal["card_corrected"] = "card_corrected"


@dataclass(frozen=True, slots=True)
class CardsRevealed:
    """The dealer revealed the hands."""

    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    kind: Literal["cards_revealed"] = "cards_revealed"


@dataclass(frozen=True, slots=True)
class CutCardReached:
    """The cut card came; the shoe ends with its coup `last_coup`."""

    last_coup: int
    kind: Literal["cut_card_reached"] = "cut_card_reached"


@dataclass(frozen=True, slots=True)
class CoupEnded:
    """A coup has its result. A dummy coup also has one, but does not have wagers or a place on the roads."""

    round: int
    winner: Winner
    player_total: int
    banker_total: int
    natural: bool
    player_pair: bool
    banker_pair: bool
    dummy: bool
    kind: Literal["coup_ended"] = "coup_ended"


@dataclass(frozen=True, slots=True)
class CoupVoided:
    """A misdeal: the round's wagers are returned."""

    round: int
    reason: str
    kind: Literal["coup_voided"] = "coup_voided"


@dataclass(frozen=True, slots=True)
class RoundCorrected:
    """A settled round was corrected, or voided where `winner` is None; the differences are on record as `entry`."""

    round: int
    entry: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    winner: Winner | None
    reason: str
    kind: Literal["round_corrected"] = "round_corrected"


@dataclass(frozen=True, slots=True)
class GameChanged:
    """The table plays another game, or has other limits, from the next shoe on."""

    game: str
    title: str
    kind: Literal["game_changed"] = "game_changed"


@dataclass(frozen=True, slots=True)
class WagersReturned:
    """Wagers for a coup that was not dealt were returned."""

    round: int
    kind: Literal["wagers_returned"] = "wagers_returned"


@dataclass(frozen=True, slots=True)
class AlarmRaised:
    """An event that a person must know about; `stops` if play waits for a supervisor.

    An alarm that does not stop play stands until a person acknowledges it, by the number of this event.
    """

    code: str
    text: str
    stops: bool
    kind: Literal["alarm_raised"] = "alarm_raised"


@dataclass(frozen=True, slots=True)
class AlarmAcknowledged:
    """A person has acknowledged the alarm raised as the event `number`."""

    number: int
    code: str
    kind: Literal["alarm_acknowledged"] = "alarm_acknowledged"


@dataclass(frozen=True, slots=True)
class PlayResumed:
    """A supervisor has resolved what stopped the table."""

    reason: str
    kind: Literal["play_resumed"] = "play_resumed"


@dataclass(frozen=True, slots=True)
class ShoeLinkChanged:
    """The shoe was connected or disconnected."""

    online: bool
    reason: str
    kind: Literal["shoe_link_changed"] = "shoe_link_changed"


@dataclass(frozen=True, slots=True)
class DeviceAccepted:
    """The keypad, the wager sensors or the card reader with this serial number may be used from now on."""

    device: DeviceName
    serial: str
    kind: Literal["device_accepted"] = "device_accepted"


@dataclass(frozen=True, slots=True)
class AwardChanged:
    """An award of the progressive was locked, booked or backed out; `amount` in minor units, `round` that of its game."""

    award: int
    rule: str
    amount: int
    round: int
    seats: tuple[int, ...]
    state: AwardState
    kind: Literal["award_changed"] = "award_changed"


_OfCards = BurnCardTurned | CardDealt | CardAwaited | CardCorrected | CardsRevealed | CutCardReached
_OfCoups = CoupEnded | CoupVoided | RoundCorrected
_OfAlarms = AlarmRaised | AlarmAcknowledged | PlayResumed
Happening = (
    PhaseEntered
    | _OfCards
    | _OfCoups
    | GameChanged
    | WagersReturned
    | _OfAlarms
    | ShoeLinkChanged
    | DeviceAccepted
    | AwardChanged
)


@dataclass(frozen=True, slots=True)
class Announced:
    """A public event with its number, counted without gaps over the table's life."""

    number: int
    happening: Happening


@dataclass(frozen=True, slots=True)
class CardHeld:
    """A card that the machine knows and the public does not; `position` is None for a card that is not in a coup."""

    card: Card
    why: Literal["hidden", "burned", "overdrawn", "doubtful", "outside_play", "corrected"]
    round: int
    position: int | None = None


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A round is over and goes on the record."""

    record: RoundRecord


@dataclass(frozen=True, slots=True)
class MeterMoved:
    """An entry for the progressive's books: for the table's own progressive, unless it names a retired one."""

    entry: MeterEntry
    progressive: str | None = None


@dataclass(frozen=True, slots=True)
class CommissionMoved:
    """An entry in a seat's account of commission."""

    entry: CommissionEntry


Effect = Announced | CardHeld | RoundEnded | MeterMoved | CommissionMoved
