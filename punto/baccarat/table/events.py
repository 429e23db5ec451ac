"""The events of a table: its inputs, as the record keeps them.

Device events report what a device detected; orders are decisions of people and name them; a wager is a
request of a seat. Nothing else changes a table, and replaying the events in order gives the same table again.
"""

from dataclasses import dataclass
from typing import Final, Literal

from punto.baccarat.cards import Card
from punto.baccarat.progressive import aquarius, game_events, nexus
from punto.baccarat.progressive import events as books
from punto.baccarat.progressive.effects import Effect as BooksEntry
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.progressive.state import Extract
from punto.baccarat.table.order_kinds import Order
from punto.baccarat.table.settings import Settings


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a device's software: its name, version and SHA-256 digest in lower-case hex."""

    name: str
    version: str
    digest: str


# --- the shoe's reports. `record` is the shoe's own sequence number for the event, counted from 1.


@dataclass(frozen=True, slots=True)
class ShoeHello:
    """The shoe introduced itself.

    `log` identifies the run of record numbers (a new one means that the shoe lost its memory), `first_kept`
    is the oldest record it still keeps and `next_record` the number of its next record.
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
    """The link to the shoe went silent or was closed."""

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
    """A card left the shoe although the shoe knew that none was called for; `card` is None if it was not read."""

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
    """The shoe no longer keeps records `first` to `last`, and they were never received."""

    first: int
    last: int
    kind: Literal["records_lost"] = "records_lost"


@dataclass(frozen=True, slots=True)
class LinkNoise:
    """Broken frames arrived faster than on a sound line: `frames` within `seconds`."""

    frames: int
    seconds: int
    kind: Literal["link_noise"] = "link_noise"


# A record of the shoe: numbered, kept until acknowledged, never skipped.
ShoeRecord = CardDrawn | CardUnread | CardOverdrawn | CutCardSeen | LidMoved | ReverseMovement | ShoeFault
ShoeEvent = ShoeHello | ShoeLost | RecordsLost | LinkNoise | ShoeRecord


# --- orders of people. `who` is the operator's name, `reason` theirs, and `approved_by` a second person's, if
# one is needed (`approval`).


@dataclass(frozen=True, slots=True)
class SetWager:
    """A request to have `amount` minor units on `wager` for a seat in round `round`; 0 takes the wager back.

    The requester chooses `id`: the same request twice has the same effect as once.
    """

    id: str
    seat: int
    wager: str
    amount: int
    round: int
    kind: Literal["set_wager"] = "set_wager"


# --- access. It does not change the table but belongs on its record.


@dataclass(frozen=True, slots=True)
class SessionBegun:
    """An operator signed on at `where`, such as a console's address."""

    who: str
    roles: tuple[str, ...]
    where: str
    kind: Literal["session_begun"] = "session_begun"


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """An operator's session ended; `why` says whether they signed off or were inactive too long."""

    who: str
    why: str
    kind: Literal["session_ended"] = "session_ended"


@dataclass(frozen=True, slots=True)
class AccessRefused:
    """An attempt at `what` was refused: to sign on, to approve, or to give an order outside the person's role.

    `who` is an account's name, None if no account has the given name: the typed text may have been a
    password.
    """

    who: str | None
    what: str
    code: str
    where: str
    kind: Literal["access_refused"] = "access_refused"


HOUSE_ACCOUNTS: Final = "house_accounts"
"""What was refused if it was a copy of the house's accounts."""
CARD_GUESSING: Final = "card_guessing"
"""The code of a reader that is locked after too many cards that could complete nothing."""

Access = SessionBegun | SessionEnded | AccessRefused


@dataclass(frozen=True, slots=True)
class ServiceStarted:
    """The service started, with this version and these settings; the state of the link is not known yet.

    `outlawed` is what the law of the day does not allow of the game in play; empty if it allows all of it. `day` is the
    beginning of the present gaming day, in UTC.
    """

    version: str
    settings: Settings
    outlawed: str = ""
    day: str | None = None
    kind: Literal["service_started"] = "service_started"


# --- the record itself


@dataclass(frozen=True, slots=True)
class RecordDiffers:
    """The record differs from what its inputs give; `found` says where, without values that must stay hidden."""

    found: str
    kind: Literal["record_differs"] = "record_differs"


@dataclass(frozen=True, slots=True)
class Flooded:
    """A client asked more often than it may. So many of its `requests` within `seconds` were refused, and are not recorded."""

    who: str
    requests: int
    seconds: int
    kind: Literal["flooded"] = "flooded"


@dataclass(frozen=True, slots=True)
class DayBegan:
    """A gaming day of the house has begun, at `began` in UTC; the meters of the day are counted from here."""

    began: str
    kind: Literal["day_began"] = "day_began"


@dataclass(frozen=True, slots=True)
class ClockStepped:
    """The clock of the PC was set: it went on from `before` with `after`, both in UTC."""

    before: str
    after: str
    kind: Literal["clock_stepped"] = "clock_stepped"


@dataclass(frozen=True, slots=True)
class LogHeld:
    """The log beside the record grows, because these programs read an old state of the record and do not let it go."""

    by: str
    kind: Literal["log_held"] = "log_held"


@dataclass(frozen=True, slots=True)
class SharedId:
    """Another service with the record `other` publishes with the id of this table, whose record is `own`; they can be the same."""

    own: str
    other: str
    kind: Literal["shared_id"] = "shared_id"


OfTheRecord = LogHeld | RecordDiffers | Flooded | DayBegan | ClockStepped | SharedId


# --- other devices


@dataclass(frozen=True, slots=True)
class ConfigurationKeypad:
    """The score display's configuration keypad was plugged in at `path`, or removed (approval letter, 5)."""

    attached: bool
    path: str
    kind: Literal["configuration_keypad"] = "configuration_keypad"


DeviceName = Literal["keypad", "coin_spot", "card_reader"]
"""A device besides the shoe, which introduces itself in its own way."""


@dataclass(frozen=True, slots=True)
class DeviceHeard:
    """Another device than before is connected, with this serial number; None if it cannot prove the enrolled key."""

    device: DeviceName
    serial: str | None
    kind: Literal["device_heard"] = "device_heard"


@dataclass(frozen=True, slots=True)
class SensorsLink:
    """The link to the progressive's wager sensors was made or lost, and why."""

    online: bool
    reason: str
    kind: Literal["sensors_link"] = "sensors_link"


@dataclass(frozen=True, slots=True)
class SensorFault:
    """The wager sensor at a `position` of the chain has this fault, or no longer has it.

    `seat` is its seat, None if it has none.
    """

    position: int
    seat: int | None
    fault: Literal["missing", "doubled", "stuck", "unassigned"]
    stands: bool
    kind: Literal["sensor_fault"] = "sensor_fault"


# --- the progressive

Sensed = game_events.WagerPlaced | game_events.WagerLifted | game_events.WagerVoided | aquarius.TurnKey
"""A report of a wager sensor or the key switch."""
_OfBoth = game_events.StartGame | game_events.HandButton | game_events.NobodyWon | game_events.ReopenGame
_OfAquarius = aquarius.Jpot | aquarius.GameOver
_OfNexus = nexus.Confirm | nexus.SwipeCard | nexus.SignAward | nexus.EndGame
GameOrder = _OfBoth | _OfAquarius | _OfNexus
"""An action of a dealer or a supervisor at the table in a game of the progressive."""
BooksOrder = (
    books.OpenMeter
    | books.Adjust
    | books.BackOut
    | books.ChangeSettings
    | books.Retire
    | books.ForgetTable
    | books.CountCoins
)
"""An order for the meter, from the Game Manager."""


@dataclass(frozen=True, slots=True)
class MeterHeard:
    """The link to the authority that keeps the table's meter was made or lost, and why; or the meter changed.

    `extract` is what the authority told, `settings` the progressive's settings if they are other ones than before.
    """

    online: bool
    reason: str
    extract: Extract | None = None
    settings: ProgressiveSettings | None = None
    kind: Literal["meter_heard"] = "meter_heard"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the authority refused a request; it changed nothing."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class MeterAnswered:
    """The authority's answer to the table's request `number`: the entries of its books, or the refusal."""

    number: int
    entries: tuple[BooksEntry, ...]
    refused: Refused | None
    extract: Extract
    kind: Literal["meter_answered"] = "meter_answered"


@dataclass(frozen=True, slots=True)
class TableAsked:
    """A linked table's request `number` to its authority: these events for the meter, all or none.

    `record` names the table's record, so that the numbers of another record are not taken for its own.
    """

    table: str
    record: str
    number: int
    orders: tuple[game_events.Order, ...]
    kind: Literal["table_asked"] = "table_asked"


@dataclass(frozen=True, slots=True)
class MeterClaimed:
    """Another service keeps a meter of the same progressive too; None when it does so no more."""

    by: str | None
    kind: Literal["meter_claimed"] = "meter_claimed"


@dataclass(frozen=True, slots=True)
class TableRefused:
    """The authority does not serve a table, and why: what the table sends cannot be carried out, and is not recorded.

    With the code `table_unsigned`, it is what comes in the name of the table that is not served: the table has not signed it.
    """

    table: str
    reason: str
    code: Literal["table_refused", "table_unsigned"] = "table_refused"
    kind: Literal["table_refused"] = "table_refused"


OfTheLink = MeterHeard | MeterAnswered | TableAsked | TableRefused | MeterClaimed
"""What a table and the authority of its meter tell each other."""

_OfOtherDevices = ConfigurationKeypad | DeviceHeard | SensorsLink | SensorFault
_OfTheProgressive = Sensed | GameOrder | BooksOrder | books.PrintWinPage | OfTheLink
Event = (
    ServiceStarted | ShoeEvent | Order | SetWager | Access | OfTheRecord | _OfOtherDevices | _OfTheProgressive
)
