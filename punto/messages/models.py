"""Every payload on the wire, outgoing and incoming.

Outgoing payloads have `schema`, `id` (a message that is sent again has the same id), `seq` and `ts`. Each model
describes its `seq`; where it counts without gaps, a consumer can detect lost messages.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from punto.baccarat.cards import Card
from punto.baccarat.coup import Winner
from punto.baccarat.currency import decimals_of
from punto.baccarat.roads.derived_roads import Color
from punto.baccarat.table.effects import Happening
from punto.baccarat.table.state import Phase, RoundRecord
from punto.configs.plain_text import PLAIN

FIRST_YEAR: Final = 1970
"""A machine that has lost its clock begins there."""
LAST_YEAR: Final = 2200


def _moment(ts: str) -> str:
    """The time; raises ValueError if there is no such time, or no clock of a table shows it."""
    if not FIRST_YEAR <= datetime.fromisoformat(ts).year <= LAST_YEAR:
        raise ValueError(f"must be a time of the years {FIRST_YEAR} to {LAST_YEAR}")
    return ts


Timestamp = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$",
        json_schema_extra={"format": "date-time", "examples": ["2026-03-14T21:05:09.123456+00:00"]},
    ),
    AfterValidator(_moment),
]
MOST_AMOUNT: Final = 10**12
"""The highest amount of a wager: the payment is then exact also where numbers are doubles."""
MOST_NUMBER: Final = 2**53
"""The highest number of a round or an input: numbers are exact up to it also where they are doubles."""
MinorUnits = Annotated[
    int, Field(description="an amount in minor units of the table's currency, such as cents")
]


def _currency(code: str) -> str:
    decimals_of(code)
    return code


Currency = Annotated[
    str,
    Field(
        description="the ISO 4217 code of the currency of all amounts. They are whole minor units, of which the standard says how "
        "many decimals of the currency's unit they are: 2 for USD, 0 for JPY, 3 for KWD"
    ),
    AfterValidator(_currency),
]

RequestId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description="chosen by the client, without control or invisible characters; the answer has it too",
    ),
    PLAIN,
]

RecordName = Annotated[
    str,
    Field(
        max_length=64,
        description="identifies the table's record: if the table begins a new record, its rounds are numbered from 1 again",
    ),
    PLAIN,
]

Overlay = Literal[
    "shoe_offline",
    "shoe_error",
    "needs_supervisor",
    "card_awaited",
    "last_hand",
    "dummy",
    "configuration_keypad",
]


_RULES = ConfigDict(strict=True, frozen=True, extra="ignore", populate_by_name=True, defer_build=True)


class Payload(BaseModel):
    """The base of every payload: strict types, immutable.

    A consumer ignores unknown keys: a later version may send more.
    """

    model_config = _RULES


class Request(Payload):
    """The base of every incoming payload. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class Part(BaseModel):
    """The base of the parts of consoles' answers and reports: immutable."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class Message(Payload):
    """The base of every outgoing payload."""

    schema_: str = Field(alias="schema", description="name and version of this payload's schema")
    id: str = Field(description="stable: a message that is sent again has the same id")
    seq: int = Field(
        ge=0, description="the order of the messages; the description of each message says what `seq` counts"
    )
    ts: Timestamp = Field(description="when the message was made, UTC")
    simulation: bool = Field(
        default=False, description="whether the table is a simulation, and so not played for money"
    )

    def wire(self) -> bytes:
        """The JSON that is published."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


# --- availability and devices


class Availability(Message):
    """Whether the table's service is online, since when, and why. If the connection breaks, the broker publishes this message as the last will. `seq` is 0."""

    schema_: Literal["punto/availability/1"] = Field("punto/availability/1", alias="schema")
    state: Literal["online", "offline"]
    reason: str
    since: Timestamp
    cause: Literal["stopped", "failed", "lost"] | None = Field(
        default=None,
        description="why the service is offline: somebody stopped it, it failed, or its connection was lost, which only the last will reports; null while it is online",
    )
    record: RecordName | None = Field(
        default=None, description="identifies the record of the service that sends this message"
    )
    other_record: RecordName | None = Field(
        default=None,
        description="the record of another service that now publishes with this table's id; null if there is none",
    )


class ComponentDigest(Payload):
    """A software component with its version and SHA-256."""

    name: str
    version: str
    digest: str


class Device(Message):
    """A device of the table: whether it is connected, since when, and why. `seq` is the number of the last input."""

    schema_: Literal["punto/device/1"] = Field("punto/device/1", alias="schema")
    device: str
    state: Literal["online", "offline", "not_accepted"]
    reason: str
    since: Timestamp
    serial: str | None
    components: tuple[ComponentDigest, ...]


class Info(Message):
    """The service's version, components and configuration, without secrets. `seq` is 0."""

    schema_: Literal["punto/info/1"] = Field("punto/info/1", alias="schema")
    version: str
    components: tuple[ComponentDigest, ...]
    configuration_digest: str
    configuration: dict[str, Any]


class Replay(Payload):
    """The last replay of the whole record in the background."""

    finished: Timestamp
    inputs: int = Field(description="inputs that were derived again")
    rounds: int = Field(description="rounds that were derived again")
    difference: str | None = Field(
        description="the first difference between the record and what its inputs give; null if there is none"
    )


class Health(Message):
    """How many messages wait to be sent, how many were lost, and the counters of each device's link. Sent every 10 s. `seq` counts these messages since the service's start."""

    schema_: Literal["punto/health/1"] = Field("punto/health/1", alias="schema")
    valid_until: Timestamp
    uptime_seconds: float
    record: RecordName
    inputs: int = Field(description="inputs on the record")
    rounds: int = Field(description="rounds on the record")
    rounds_waiting: int = Field(description="rounds on the record that the broker has not yet taken")
    events_waiting: int = Field(description="events that the broker has not yet taken")
    events_dropped: int = Field(description="events never sent, because the broker was away or too slow")
    resident_bytes: int
    links: dict[str, dict[str, int]] = Field(
        description="the counters of each device's link, by the device's name: frames, discarded bytes, bad checksums …"
    )
    house_accounts: int | None = Field(
        default=None,
        description="the version of the house's accounts that the table has, 0 before it has some; null if it has accounts of its own",
    )
    replay: Replay | None = Field(
        default=None,
        description="the last replay of the record in the background; null until one has finished since the start",
    )


# --- the table


class WagerLimits(Payload):
    """A wager of the game and its limits; `maximum` is null if there is no maximum.

    `maximum_of_base` is the largest share of its seat's base wager that a side wager may have, such as "50%", or null.
    """

    wager: str
    title: str
    minimum: MinorUnits
    maximum: MinorUnits | None
    step: MinorUnits
    maximum_of_base: str | None = None


class Hands(Payload):
    """The cards dealt so far, null for a card that is not shown yet, and the totals of the shown cards."""

    player: tuple[Card | None, ...]
    banker: tuple[Card | None, ...]
    player_total: int | None
    banker_total: int | None


class Hit(Payload):
    """A wager with a badge that the coup wins, whether or not anybody has made it."""

    wager: str
    title: str
    pays: str = Field(description="as in the pay table, such as 40 to 1")
    badge: str = Field(description="the colour of the badge: # and six hexadecimal digits")


class Result(Payload):
    """The result of the shoe's last coup; `winner` is null for a void coup."""

    round: int
    status: Literal["played", "void", "dummy"]
    winner: Winner | None
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    player_total: int
    banker_total: int
    natural: bool
    player_pair: bool
    banker_pair: bool
    hits: tuple[Hit, ...] = Field(
        default=(), description="the wagers with a badge in the game file that the coup wins"
    )


class Notice(Payload):
    """Something that a person must resolve."""

    code: str
    text: str


class StandingCall(Payload):
    """A call for a supervisor that nobody has acknowledged at the table."""

    number: int = Field(description="the `seq` of its message on `event`")
    text: str


class ShoeStatus(Payload):
    """The shoe of cards in play, and the link to the device."""

    number: int = Field(description="counts the shoes of cards over the table's life, 0 before the first")
    coup: int = Field(description="coups begun in this shoe")
    cards_left: int | None = Field(
        description="cards still in the shoe, including the cards behind the cut card; null if the shoe reports other decks than the "
        "game has, so that the number is not known"
    )
    cut_card: bool = Field(description="whether the cut card has been drawn")
    online: bool
    reason: str


class State(Message):
    """The whole public state of the table, at each change and every second.

    `seq` is that of the last input. If no new state arrives within `valid_until - ts`, a consumer shows NOT LIVE.
    """

    schema_: Literal["punto/state/1"] = Field("punto/state/1", alias="schema")
    valid_until: Timestamp
    table: str
    name: str
    game: str = Field(description="the game's title")
    currency: Currency
    zone: str = Field(
        default="UTC",
        description="the house's time zone, such as Asia/Macau: screens show times by its clock",
    )
    phase: Phase = Field(
        description="locked: no operator is signed on. closed: no coup may begin. shoe_change: cards are loaded and burned. betting: "
        "wagers are taken. dealing: cards leave the shoe. reveal: cards lie on the table face down. settled: the "
        "result is final"
    )
    overlays: tuple[Overlay, ...] = Field(
        description="what a display shows together with the phase. shoe_offline: the shoe does not answer. shoe_error: the shoe stopped "
        "play. needs_supervisor: play waits for a supervisor. card_awaited: a card must be keyed. last_hand: the shoe's last coup. "
        "dummy: the coup is dealt but does not count. configuration_keypad: the display's configuration keypad is plugged in during play"
    )
    notices: tuple[Notice, ...]
    shoe: ShoeStatus
    round: int = Field(
        description="the number of the current or the next round; a wager must have this number"
    )
    hands: Hands | None = Field(description="the current coup, null between coups")
    next: Literal["player", "banker"] | None = Field(description="the hand that gets the next card")
    result: Result | None
    seats: int
    limits: tuple[WagerLimits, ...]
    maximum_wagers: int | None = Field(
        default=None,
        description="the highest number of wagers that a player may have on a coup; null if there is no limit. The table must post this limit (sheet 003, 1b)",
    )
    game_titles: dict[str, str] = Field(
        default_factory=dict, description="the game's title in other languages, such as zh-Hant"
    )
    wager_titles: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="for each wager whose title the game file has in other languages: these titles by language",
    )
    revealing_seat: int | None = Field(
        default=None,
        description="the seat whose player turns the cards (sheet 004): the seat with the largest wager on Player or Banker. If several seats have this largest wager, the lowest of their numbers; null if the dealer turns the cards",
    )
    calls: tuple[StandingCall, ...] = Field(
        default=(), description="the calls for a supervisor that nobody has acknowledged at the table"
    )


# --- the scoreboard. Its cells are plain dataclasses: there are hundreds, and making models of them took most of a
# scoreboard's time.


@dataclass(frozen=True, slots=True, kw_only=True)
class Bead:
    """A cell of the bead plate, row and column from 0."""

    __pydantic_config__: ClassVar[ConfigDict] = _RULES

    row: int
    col: int
    winner: Winner
    player_pair: bool
    banker_pair: bool
    natural: bool
    player_total: int | None
    banker_total: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadCell:
    """A drawn cell of the big road; `winner` is null if there were only ties so far."""

    __pydantic_config__: ClassVar[ConfigDict] = _RULES

    row: int
    col: int
    winner: Winner | None
    ties: int
    player_pair: bool
    banker_pair: bool
    natural: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedCell:
    """A drawn cell of a derived road: red is regular, blue is not. The colours do not mean Banker or Player."""

    __pydantic_config__: ClassVar[ConfigDict] = _RULES

    row: int
    col: int
    color: Color


class AskMarks(Payload):
    """The colour of each derived road's next cell, null if there would be no cell."""

    big_eye_boy: Color | None
    small_road: Color | None
    cockroach_pig: Color | None


class ScoreCounts(Payload):
    """The number of each result in this shoe."""

    player: int
    banker: int
    tie: int
    player_pair: int
    banker_pair: int
    natural: int
    hands: int


class ScoreStreak(Payload):
    """The side that won the last decided rounds, and their number."""

    winner: Winner
    length: int


class Scoreboard(Message):
    """The five roads of this shoe, the ask marks, the counts and the streak. `seq` is the number of the last round on the record."""

    schema_: Literal["punto/scoreboard/1"] = Field("punto/scoreboard/1", alias="schema")
    shoe: int
    bead_plate: tuple[Bead, ...]
    big_road: tuple[RoadCell, ...]
    big_eye_boy: tuple[DerivedCell, ...]
    small_road: tuple[DerivedCell, ...]
    cockroach_pig: tuple[DerivedCell, ...]
    ask_banker: AskMarks
    ask_player: AskMarks
    counts: ScoreCounts
    streak: ScoreStreak | None


# --- the progressive


GameStep = Literal["betting", "playing", "settling", "logged", "confirmed", "adjusted"]


class MeterTier(Payload):
    """A tier of the pay table, the highest first."""

    rule: str = Field(description="the name of the pay table's rule")
    title: str = Field(description="the winning hand, in words")
    pays: str = Field(description="the pay as in the pay table, such as 25% of meter or 40 for 1")
    amount: MinorUnits = Field(description="the payment to one winner now, for the table's own wager")
    of_meter: bool = Field(description="whether the pay is a percentage of the meter")


class MeterShare(Payload):
    """What one seat gets of an award."""

    seat: int
    amount: MinorUnits


class MeterAward(Payload):
    """An award that was not backed out. `won` is when it was logged."""

    award: int
    rule: str
    title: str
    amount: MinorUnits = Field(description="of all seats together")
    table: str
    round: int
    seats: tuple[int, ...] = Field(description="the seats that won")
    shares: tuple[MeterShare, ...] = Field(
        default=(),
        description="what each seat gets of the amount, in the order of paying; empty from an older service",
    )
    whole_meter: bool
    state: Literal["locked", "booked"] = Field(
        description="locked: the amount is fixed. booked: the meter is adjusted too"
    )
    won: Timestamp


class Progressive(Message):
    """A progressive's meter and tiers, the game at this table and the last award, at each change and every second.

    `seq` is that of the last input. The reserve is hidden: no message has it.
    """

    schema_: Literal["punto/progressive/1"] = Field("punto/progressive/1", alias="schema")
    valid_until: Timestamp
    progressive: str
    title: str
    titles: dict[str, str] = Field(
        default_factory=dict, description="the title in other languages, such as zh-Hant"
    )
    currency: Currency
    phase: Literal["new", "open", "retired"]
    meter: MinorUnits = Field(description="the amount that displays show")
    wager: MinorUnits = Field(description="the amount of one wager")
    tables: tuple[str, ...] = Field(description="the tables that share the meter")
    step: GameStep = Field(description="the step of the game at this table")
    seats: tuple[int, ...] = Field(
        description="seats with a wager: before START GAME, on the sensor; after START GAME, in the game"
    )
    tiers: tuple[MeterTier, ...]
    award: MeterAward | None = Field(description="the last award, null before the first")
    kept_by: Annotated[str, Field(max_length=100), PLAIN] = Field(
        "",
        description="the service that keeps the meter, and a name of its record: no other service may keep this meter",
    )


def seconds_held(message: State | Progressive) -> float:
    """The seconds of a message's validity: both of its times are of the same clock, and no other clock is used.

    Raises:
        ValueError: it contains an invalid time.
    """
    held = datetime.fromisoformat(message.valid_until) - datetime.fromisoformat(message.ts)
    return held.total_seconds()


# --- events and rounds


class Event(Message):
    """One public event as it happens: a card, a result, a void or an alarm. `seq` counts all events of the table without gaps."""

    schema_: Literal["punto/event/1"] = Field("punto/event/1", alias="schema")
    happening: Annotated[Happening, Field(discriminator="kind")]


class Round(Message):
    """One finished round with its settlements, after it is on the record. `seq` is the round's number, without gaps.

    After the broker was away, all missed rounds follow. The same round may come twice, with the same `id`.
    """

    schema_: Literal["punto/round/1"] = Field("punto/round/1", alias="schema")
    game: str = Field(description="the name of the game file")
    round: RoundRecord
    rules: str = Field(description="identifies the rules of the game, as on the record")
    record: RecordName
    currency: Currency


# --- wagers in, and their answers


class WagerRequest(Request):
    """A seat's request to set the amount of a wager. The amount 0 takes the wager back. Publish the request without the retain flag."""

    id: RequestId
    round: int = Field(ge=1, le=MOST_NUMBER, description="the round of the wager, as in `state`")
    wager: Annotated[str, Field(max_length=64), PLAIN]
    amount: MinorUnits = Field(ge=0, le=MOST_AMOUNT)


class WagerAnswer(Message):
    """The answer to a wager request. `seq` is the number of the request's input, or of the last input if the request is invalid."""

    schema_: Literal["punto/wager-answer/1"] = Field("punto/wager-answer/1", alias="schema")
    request: str | None = Field(description="the request's id, null if it could not be read")
    seat: int
    accepted: bool
    code: str | None = Field(description="the reason of a refusal, for programs")
    reason: str | None = Field(description="the reason of a refusal, for people")
