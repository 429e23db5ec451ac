"""The shoes that favoured the players: what the tables told of their live edges, kept once for each shoe and wager.

The record of a table has no edges, so nothing can be asked for later. What is heard waits here until the store has it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import RowMapping, and_, select

from punto.configs.plain_text import PLAIN
from punto.house import schema
from punto.house.store import Store
from punto.house.taken import aware
from punto.house.titles import titled, titles_of
from punto.messages.building import timestamp
from punto.messages.models import Part, Timestamp
from punto.messages.restricted import Edge

MOST_KEPT: Final = 10_000
"""So many alarms are kept in memory: those that wait for the store, and those that are told again. The oldest go first."""
_Name = Annotated[str, Field(min_length=1, max_length=100), PLAIN]
_Key = tuple[str, str, int, str]
"""The table, its record, the shoe and the wager."""


class EdgeAlarm(BaseModel):
    """A wager that favours the players in a shoe, as its table told: after `round`, the house edge is `edge`, below 0."""

    model_config = ConfigDict(frozen=True)

    table: str
    record: _Name
    simulation: bool
    ts: datetime
    shoe: Annotated[int, Field(ge=0, lt=2**31)]
    round: Annotated[int, Field(ge=0, lt=2**53)]
    wager: _Name
    edge: Annotated[float, Field(allow_inf_nan=False)]

    @property
    def key(self) -> _Key:
        """What it is known by."""
        return self.table, self.record, self.shoe, self.wager


def alarms_of(table: str, told: Edge) -> Iterator[EdgeAlarm]:
    """The alarms of a message.

    Raises:
        ValueError: a name, a number or the time is invalid.
    """
    for each in told.positions:
        if each.wager in told.alarms:
            yield EdgeAlarm(
                table=table,
                record=told.record,
                simulation=told.simulation,
                ts=datetime.fromisoformat(told.ts),
                shoe=told.shoe,
                round=told.round,
                wager=each.wager,
                edge=each.edge,
            )


class Heard:
    """The alarms that were heard. A table tells an alarm again and again, and the first counts."""

    def __init__(self) -> None:
        self._alarms: dict[_Key, EdgeAlarm | None] = {}  # None if the store has it

    def has_new(self, alarms: Iterable[EdgeAlarm]) -> bool:
        """Whether one of these is new."""
        return any(each.key not in self._alarms for each in alarms)

    def take(self, alarms: Iterable[EdgeAlarm]) -> bool:
        """Keep these until the store has them; returns whether one is new."""
        before = len(self._alarms)
        new = [each for each in alarms if each.key not in self._alarms]
        self._alarms.update((each.key, each) for each in new)
        for key in [*self._alarms][: max(0, before + len(new) - MOST_KEPT)]:
            del self._alarms[key]
        return bool(new)

    def waiting(self) -> list[EdgeAlarm]:
        """Those that the store does not have yet."""
        return [each for each in self._alarms.values() if each is not None]

    def stored(self, alarms: Iterable[EdgeAlarm]) -> None:
        """The store has these."""
        self._alarms.update((each.key, None) for each in alarms if each.key in self._alarms)

    def forget(self, alarms: Iterable[EdgeAlarm]) -> None:
        """These are not kept: they are new if a table tells them again."""
        for each in alarms:
            self._alarms.pop(each.key, None)


def keep(store: Store, alarms: Sequence[EdgeAlarm]) -> None:
    """Add alarms that the store does not have, in one transaction.

    Raises:
        StoreAwayError: the store cannot be reached or written.
        RefusedError: the store refuses them.
    """
    with store.taking_in() as connection:
        cursors = store.cursors_of(connection, alarms)
        for each in sorted(alarms, key=lambda alarm: alarm.key):
            row = {
                "record_id": cursors[each.table, each.record].id,
                "shoe": each.shoe,
                "wager": each.wager,
                "day": store.calendar.day_of(each.ts),
                "ts": each.ts,
                "round": each.round,
                "edge": each.edge,
            }
            connection.execute(store.insert_once(schema.EDGE_ALARMS), row)


# --- the report


class FavouredWager(Part):
    """A wager that favoured the players in a shoe: since `ts`, the time of the first message that was heard.

    The edge was that of the coup after the round `round`, which was the coup `coup` of this shoe: 0 if it was of the shoe before,
    null if the store does not have it. `edge` is the house edge for a unit staked, then.
    """

    wager: str
    title: str
    ts: Timestamp
    round: int
    coup: int | None
    edge: float


class ShoeReport(Part):
    """A shoe of a table's record with its wagers, in the order of their alarms; `day` is the gaming day of the first."""

    day: date
    table: str
    record: str
    shoe: int
    simulation: bool
    wagers: tuple[FavouredWager, ...]


class ShoesReport(Part):
    """The shoes with an alarm in the gaming days from `since` to `until`, both included, the newest first."""

    since: date
    until: date
    shoes: tuple[ShoeReport, ...]


class _Shoe(NamedTuple):
    table: str
    record: str
    shoe: int


def shoes_report(store: Store, since: date, until: date) -> ShoesReport:
    """The report of these gaming days.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    own, rounds, records = schema.EDGE_ALARMS.c, schema.ROUNDS.c, schema.RECORDS.c
    asked = (
        select(
            schema.EDGE_ALARMS,
            records.table,
            records.record,
            records.simulation,
            rounds.shoe.label("round_shoe"),
            rounds.coup,
            rounds.game,
            rounds.rules,
        )
        .join_from(schema.EDGE_ALARMS, schema.RECORDS, own.record_id == records.id)
        .outerjoin(schema.ROUNDS, and_(rounds.record_id == own.record_id, rounds.round == own.round))
        .where(own.day.between(since, until))
        .order_by(records.table, records.record, own.shoe, own.ts, own.wager)
    )
    with store.reading() as connection:
        rows = connection.execute(asked).mappings().all()
    shoes = [
        _shoe(store, shoe, list(of_shoe))
        for shoe, of_shoe in groupby(rows, lambda row: _Shoe(row["table"], row["record"], row["shoe"]))
    ]
    shoes.sort(key=lambda shoe: shoe.wagers[0].ts, reverse=True)
    return ShoesReport(since=since, until=until, shoes=tuple(shoes))


def _shoe(store: Store, shoe: _Shoe, rows: Sequence[RowMapping]) -> ShoeReport:
    return ShoeReport(
        **shoe._asdict(),
        day=rows[0]["day"],
        simulation=rows[0]["simulation"],
        wagers=tuple(
            FavouredWager(
                wager=row["wager"],
                title=titled(row["wager"], _titles(store, row)),
                ts=timestamp(aware(row["ts"])),
                round=row["round"],
                coup=_coup(row),
                edge=row["edge"],
            )
            for row in rows
        ),
    )


def _titles(store: Store, row: RowMapping) -> dict[str, str]:
    """The titles of the wagers of a round's game; none if the store does not have the round or its game."""
    game = None if row["game"] is None else store.game(row["game"], row["rules"])
    return {} if game is None else titles_of(game).wagers


def _coup(row: RowMapping) -> int | None:
    if row["round"] == 0:
        return 0  # the table's first shoe, before its first coup
    if row["coup"] is None:
        return None
    return int(row["coup"]) if row["round_shoe"] == row["shoe"] else 0
