"""The floor as it is now, from the tables' messages; nothing of it is stored."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from time import monotonic
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

from punto.baccarat.table.events import DeviceName
from punto.baccarat.table.state import Phase
from punto.configs.expectations import Expectations
from punto.configs.problems import cut
from punto.house.disputes import HeldRecord
from punto.house.titles import in_words, titled
from punto.messages.building import timestamp
from punto.messages.metering import told
from punto.messages.meters import TableMeters
from punto.messages.models import (
    Availability,
    Device,
    Health,
    MeterAward,
    MinorUnits,
    Notice,
    Overlay,
    Part,
    Payload,
    Progressive,
    Round,
    ShoeStatus,
    StandingCall,
    State,
    Timestamp,
    seconds_held,
)
from punto.messages.requests import BooksResponse
from punto.messages.restricted import Edge
from punto.reports.shift import pace

_M = TypeVar("_M", bound=Payload)
LONGEST_HOLD: Final = 60.0
MOST_PLAYED: Final = 2000
"""So many rounds of the last hour are kept of a table."""
KNOWN_DEVICES: Final = frozenset({"shoe", *get_args(DeviceName)})
RULES_KEPT: Final = 8
"""The chances that a table told are kept of so many rules that it has played, so that a change of its game hides nothing before it."""
_AN_HOUR: Final = timedelta(hours=1)
_RETIRE: Final = "If there is no such table any more, run `punto retire-table {}`"
_GONE: Final = timedelta(days=1)
"""A table that was not seen for so long may have been removed."""
_SHARED: Final = "two tables have this id, and the messages of both come in turn"
_NO_MESSAGE: Final = "nothing has come from the table for some seconds"


class MeterView(Part):
    """A progressive's meter as a table shows it. If it is not `live`, the amount is of the time `as_of` and may have changed."""

    progressive: str
    title: str
    phase: str
    meter: MinorUnits
    step: str
    kept_by: str
    award: MeterAward | None
    live: bool
    as_of: Timestamp | None


class LinkedTable(Part):
    """A table that plays for a meter. It is `live` if its state and the meter that it shows came in time; `step` is that of its game."""

    table: str
    name: str
    live: bool
    step: str | None


class KeptMeter(Part):
    """A meter at the service that keeps it: a table, or the authority of linked tables. `record` is the name of its record.

    `books` are those of the gaming day that is open, as the service told them last.
    """

    table: str
    name: str
    record: str
    currency: str
    simulation: bool
    meter: MeterView
    tables: tuple[LinkedTable, ...]
    books: BooksResponse | None


class Deviation(Part):
    """A count or a win that is not by chance, since the gaming day on which the evidence is strongest.

    `wager` and `rule` are in the words of the pay table. `found` are the hits of the rule in `counted` hands; without a rule, what
    the house kept of `counted` that was staked on the wager. By chance, the evidence would ever be as strong with a probability
    of at most 1/`evidence`.
    """

    wager: str
    rule: str | None
    since: date
    found: int
    counted: int
    expected: float
    evidence: float


class CardOrder(Part):
    """A shoe whose cards come in an `order` that they had before, in words: that of new decks, or of an earlier shoe of the table.

    By chance, the evidence would ever be as strong with a probability of at most 1/`evidence`.
    """

    shoe: int
    order: str
    evidence: float


class Taker(Part):
    """Who has acknowledged an alarm of the floor, and when."""

    who: str
    ts: Timestamp


Need = Literal["at_once", "soon", "look_into"]


class FloorAlarm(Part):
    """What is wrong at a table now. `id` is the same as long as the alarm lasts, and `rank` is 0 for the worst `kind`.

    `need` says when it needs somebody: `at_once`, because people at the table wait or nothing is known of it; `soon`; or, for a
    figure, to `look_into`. `label` and `text` say in words what is wrong. `since` is when the alarm began or was first
    seen. `acknowledged` is null until somebody has acknowledged it.
    """

    id: str
    kind: str
    rank: int
    need: Need
    label: str
    text: str
    since: Timestamp
    acknowledged: Taker | None


class TableView(Part):
    """A table. It is `live` if its state came in time; if not, `reason` says why, and the rest is of the last messages.

    `as_of` is then the time of its state, so when it was last seen; `retire` is what to do if it was not seen for a day and there is
    no such table any more. `signed_on` are the people at its consoles, some seconds ago. `waiting` counts the
    rounds on its record that were not taken in, and `fault` says why they cannot be. `accounts` says that it has not taken over
    the house's accounts as they are now, and is empty if it has. `edge_alarms` are the wagers that favour the
    players in the shoe in play, and `edge_titles` their titles. `records` are those from which a person chooses or has chosen, some seconds ago, and empty if none
    of the table's records is held back. `unread` says which of its messages could not be read, and why. `alarms` is all that is wrong,
    the worst first.
    """

    table: str
    name: str
    game: str
    currency: str
    simulation: bool
    live: bool
    reason: str
    as_of: Timestamp | None
    phase: Phase | None
    overlays: tuple[Overlay, ...]
    notices: tuple[Notice, ...]
    shoe: ShoeStatus | None
    round: int | None
    hands_an_hour: float | None
    signed_on: tuple[str, ...]
    devices_away: tuple[str, ...]
    deviations: tuple[Deviation, ...]
    card_orders: tuple[CardOrder, ...]
    edge_alarms: tuple[str, ...]
    edge_titles: tuple[str, ...] = ()
    meter: MeterView | None
    waiting: int
    fault: str
    accounts: str
    retire: str = ""
    records: tuple[HeldRecord, ...] = ()
    unread: str = ""
    calls: tuple[StandingCall, ...] = ()
    alarms: tuple[FloorAlarm, ...] = ()


class FloorView(Part):
    """The floor. If `taking_in` is not empty, it says why nothing is taken in."""

    at: Timestamp
    taking_in: str
    broker: str
    tables: tuple[TableView, ...]


class Known(NamedTuple):
    """What the store has of a table: its last round, why no more is taken in, who is signed on and what is not by chance.

    `records` are those from which a person chooses, and `unread` says why a message could not be read.
    """

    taken: int = 0
    fault: str = ""
    signed_on: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    card_orders: tuple[CardOrder, ...] = ()
    records: tuple[HeldRecord, ...] = ()
    unread: str = ""

    @property
    def is_alarm(self) -> bool:
        """Whether people must see the table, whatever it publishes: a stolen table PC can clear its messages."""
        return bool(self.fault or self.unread or self.deviations or self.card_orders)


@dataclass(slots=True)
class _Table:
    """The last messages of a table by kind, its devices, and when the rounds of the last hour ended.

    `until` is when its state, and its meter, are no longer valid. `told` are the chances that it told, with the rules of their game, the newest last.

    `cleared` is true if the broker's messages of the table were cleared, and none has come since.
    """

    last: dict[type[Payload], Payload] = field(default_factory=dict)
    until: dict[type[Payload], float] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    played: deque[datetime] = field(default_factory=lambda: deque(maxlen=MOST_PLAYED))
    told: dict[str, Expectations] = field(default_factory=dict)
    cleared: bool = False

    def of(self, kind: type[_M]) -> _M | None:
        """The last message of a kind."""
        found = self.last.get(kind)
        return found if isinstance(found, kind) else None

    def keeps_a_meter_for_others(self, name: str) -> bool:
        """Whether it is the authority of linked tables, where nobody deals."""
        told = self.of(Progressive)
        return told is not None and name not in told.tables

    def is_shown(self, name: str, now: datetime) -> bool:
        """Whether it has a card without an alarm of the house: people deal there, and it was not cleared or played in the last hour."""
        played = bool(self.played) and self.played[-1] >= now - _AN_HOUR
        return not self.keeps_a_meter_for_others(name) and (played or not self.cleared)


class Floor:
    """All tables; `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._tables: dict[str, _Table] = {}

    def take(self, name: str, message: Payload, *, retained: bool) -> None:
        """Keep a message of a table as its last one.

        Raises:
            ValueError: it has an invalid time, or is of a device that no table has; it is not kept.
        """
        table = self._tables.setdefault(name, _Table())
        table.cleared = False
        match message:
            case Device():
                if message.device not in KNOWN_DEVICES:
                    raise ValueError(f"no table has a device {cut(message.device)!r}")
                table.devices[message.device] = message
            case Round():
                ended = datetime.fromisoformat(message.ts)
                if message.round.status == "played" and (not table.played or ended > table.played[-1]):
                    table.played.append(ended)
            case State() | Progressive():
                held = min(seconds_held(message), LONGEST_HOLD)
                # The same message again is not news: a broker or a bridge may repeat it.
                if not retained and message != table.of(type(message)):
                    table.until[type(message)] = self._clock() + held
                table.last[type(message)] = message
            case TableMeters():
                earlier = [each for each in table.told.items() if each[0] != message.rules]
                table.told = {**dict(earlier[1 - RULES_KEPT :]), message.rules: told(message.lifetime)}
            case BooksResponse() if message.books.day.state != "open":
                pass  # it is for the store
            case _:
                table.last[type(message)] = message
                if isinstance(message, Availability) and message.state == "offline":
                    table.until.clear()

    def clear(self, name: str) -> None:
        """The broker keeps nothing of this table any more, because somebody has retired it."""
        if name in self._tables:
            self._tables[name].cleared = True

    def view(self, now: datetime, known: Mapping[str, Known], accounts: int = 0) -> tuple[TableView, ...]:
        """The tables in the order of their ids; `known` is what the store has of them.

        `accounts` is the version of the house's accounts that they must have by now.
        """
        alarmed = {name for name, each in known.items() if each.is_alarm}
        shown = alarmed.union(name for name, table in self._tables.items() if table.is_shown(name, now))
        return tuple(
            self._view(name, self._tables.get(name, _Table()), now, known.get(name, Known()), accounts)
            for name in sorted(shown, key=_as_people_count)
        )

    def told(self) -> dict[tuple[str, str], Expectations]:
        """What each table tells of the chances of the game that it plays, by its id and the game's rules."""
        return {
            (name, rules): found
            for name, table in self._tables.items()
            for rules, found in table.told.items()
        }

    def kept(self) -> tuple[KeptMeter, ...]:
        """The meters, each at the service that keeps it, in the order of their ids."""
        found = []
        for name in sorted(self._tables, key=_as_people_count):
            table = self._tables[name]
            told, meter, state = table.of(Progressive), self._meter(table), table.of(State)
            if table.cleared or told is None or meter is None or keeper_of(told)[0] != name:
                continue
            found.append(
                KeptMeter(
                    table=name,
                    name=in_words(name) if state is None else state.name,
                    record=keeper_of(told)[1],
                    currency=told.currency,
                    simulation=told.simulation,
                    meter=meter,
                    tables=tuple(self._linked(each, told.kept_by) for each in told.tables),
                    books=table.of(BooksResponse),
                )
            )
        return tuple(found)

    def _linked(self, name: str, kept_by: str) -> LinkedTable:
        table = self._tables.get(name, _Table())
        told, state = table.of(Progressive), table.of(State)
        follows = told is not None and told.kept_by == kept_by and self._is_live(table, Progressive)
        return LinkedTable(
            table=name,
            name=name if state is None else state.name,
            live=follows and self._is_live(table, State),
            step=None if told is None else told.step,
        )

    def _view(self, name: str, table: _Table, now: datetime, known: Known, accounts: int) -> TableView:
        state, availability, health = table.of(State), table.of(Availability), table.of(Health)
        edge = table.of(Edge)
        shared = availability is not None and availability.other_record is not None
        live = self._is_live(table, State) and not shared
        offline = availability is not None and availability.state == "offline"
        in_play = edge is not None and state is not None and edge.shoe == state.shoe.number
        edges = edge.alarms if edge is not None and in_play else ()
        titles = {} if state is None else {each.wager: each.title for each in state.limits}
        of_state: dict[str, Any] = {
            each: None if state is None else getattr(state, each) for each in ("phase", "shoe", "round")
        }
        return TableView(
            table=name,
            name=name if state is None else state.name,
            game="" if state is None else state.game,
            currency=next((told.currency for told in (state, table.of(Progressive)) if told is not None), ""),
            simulation=state is not None and state.simulation,
            live=live,
            reason=""
            if live
            else _SHARED
            if shared
            else availability.reason
            if availability is not None and offline
            else _NO_MESSAGE,
            as_of=None if live or state is None else state.ts,
            **of_state,
            overlays=() if state is None else state.overlays,
            notices=() if state is None else state.notices,
            calls=() if state is None else state.calls,
            hands_an_hour=_pace(table.played, now),
            devices_away=tuple(
                sorted(each.device for each in table.devices.values() if each.state != "online")
            ),
            deviations=known.deviations,
            card_orders=known.card_orders,
            edge_alarms=edges,
            edge_titles=tuple(titled(each, titles) for each in edges),
            meter=self._meter(table),
            waiting=0 if health is None else max(0, health.rounds - known.taken),
            fault=known.fault,
            accounts="" if health is None else _behind(health.house_accounts, accounts),
            signed_on=known.signed_on,
            retire="" if live or _is_recent(state, now) else _RETIRE.format(name),
            records=known.records,
            unread=known.unread,
        )

    def _is_live(self, table: _Table, kind: type[Payload]) -> bool:
        return self._clock() < table.until.get(kind, float("-inf"))

    def _meter(self, table: _Table) -> MeterView | None:
        told = table.of(Progressive)
        if told is None:
            return None
        same = ("progressive", "title", "phase", "meter", "step", "kept_by", "award")
        live = self._is_live(table, Progressive)
        return MeterView(
            **{name: getattr(told, name) for name in same}, live=live, as_of=None if live else told.ts
        )


def keeper_of(told: Progressive) -> tuple[str, str]:
    """The service that keeps a meter, and the name of its record; both are empty if they are not known."""
    keeper, _, record = told.kept_by.partition(" ")
    return keeper, record


def _is_recent(state: State | None, now: datetime) -> bool:
    return state is not None and now - datetime.fromisoformat(state.ts) < _GONE


def _behind(has: int | None, house: int) -> str:
    """That a table has an earlier version of the house's accounts than it must have."""
    return "" if has is None or has >= house else f"it has version {has}, and the house has {house}"


def _pace(played: deque[datetime], now: datetime) -> float | None:
    """The hands an hour over the last hour, as the table's own reports count them."""
    while played and played[0] < now - _AN_HOUR:
        played.popleft()
    return pace(len(played), timestamp(played[0]), now) if played else None


def _as_people_count(name: str) -> list[tuple[int, str]]:
    """The order in which table-2 comes before table-10."""
    parts = "".join(each if each.isdigit() else f" {each} " for each in name).split()
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
