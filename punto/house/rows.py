"""The rows of the house's store: from what was taken in, and back."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, func, select

from punto.baccarat.cards import Card
from punto.baccarat.coup import Winner
from punto.baccarat.table.meters import Handle
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.settlement import Outcome, Settlement
from punto.house import schema
from punto.house.taken import Taken, aware
from punto.house.tally import Counted, Place, as_settled
from punto.messages.requests import RecordedIncident
from punto.runtime.gaming_days import Calendar


class TooManyRoundsError(Exception):
    """There are more rounds than were to be read."""


def incident_row(calendar: Calendar, record_id: int, told: RecordedIncident) -> tuple[Any, ...]:
    """An incident or entrance, with all columns in the table's order."""
    ts = datetime.fromisoformat(told.ts)
    day = calendar.day_of(ts)
    return (day, record_id, told.seq, told.place, ts, told.kind, told.source, told.who, told.text, told.where)


def round_row(place: Place, taken: Taken) -> tuple[Any, ...]:
    """A round, with all columns in the table's order."""
    record = taken.round
    return (
        place.day,
        place.record_id,
        record.round,
        taken.ts,
        taken.game,
        taken.rules,
        record.shoe,
        record.coup,
        record.status,
        " ".join(map(str, record.player)),
        " ".join(map(str, record.banker)),
        record.player_total,
        record.banker_total,
        None if record.winner is None else record.winner.value,
        record.natural,
        record.corrects,
        record.hidden,
        record.who,
        record.approved_by,
        record.reason,
    )


def settlement_rows(place: Place, taken: Taken) -> Iterator[tuple[Any, ...]]:
    """The settlements of a round, each with all columns in the table's order."""
    for each in taken.round.settlements:
        yield (
            place.day,
            place.record_id,
            taken.round.round,
            each.seat,
            each.wager,
            each.outcome.value,
            each.stake,
            each.returned,
            each.net,
            each.rule,
            each.remainder,
        )


def handle_row(handle: Handle) -> dict[str, Any]:
    """The sums of a wager by column."""
    return {
        "wagers": handle.wagers,
        "staked": handle.staked,
        "returned": handle.returned,
        "squares": float(handle.squares),
        "rounded": float(handle.rounded),
    }


def read_counted(connection: Connection, record_id: int, number: int) -> Counted | None:
    """A round as it was settled last, None if it was not played or was taken back."""
    columns = schema.ROUNDS.c
    of_record = select(schema.ROUNDS).where(columns.record_id == record_id)
    played = (
        connection.execute(of_record.where(columns.round == number, columns.status == "played"))
        .mappings()
        .one_or_none()
    )
    if played is None:
        return None
    later = columns.round > number, columns.corrects == number, columns.status == "correction"
    corrections = connection.execute(of_record.where(*later).order_by(columns.round)).mappings()
    last = as_settled(
        _read_record(connection, played), [_read_record(connection, each) for each in corrections]
    )
    return None if last is None else Counted(_place_of(played), last)


def played(connection: Connection, game: str, rules: str) -> Iterator[Counted]:
    """The rounds of a game that count, each as it was settled last."""
    columns = schema.ROUNDS.c
    asked = select(columns.record_id, columns.round).where(
        columns.game == game, columns.rules == rules, columns.status == "played"
    )
    for record_id, number in connection.execute(asked).all():
        found = read_counted(connection, record_id, number)
        if found is not None:
            yield found


def _place_of(row: RowMapping) -> Place:
    return Place(row["day"], row["record_id"], row["game"], row["rules"])


def _read_record(connection: Connection, row: RowMapping) -> RoundRecord:
    columns = schema.SETTLEMENTS.c
    settled = select(schema.SETTLEMENTS).where(
        *(columns[name] == row[name] for name in ("day", "record_id", "round"))
    )
    return record_of(row, map(settlement_of, connection.execute(settled).mappings()))


def record_of(row: RowMapping, settlements: Iterable[Settlement]) -> RoundRecord:
    """A round from its row; what the store does not have has its default."""
    return RoundRecord(
        round=row["round"],
        shoe=row["shoe"],
        coup=row["coup"],
        status=row["status"],
        player=_cards(row["player"]),
        banker=_cards(row["banker"]),
        player_total=row["player_total"],
        banker_total=row["banker_total"],
        winner=None if row["winner"] is None else Winner(row["winner"]),
        natural=row["natural"],
        player_pair=False,
        banker_pair=False,
        settlements=tuple(settlements),
        corrects=row["corrects"],
    )


def settlement_of(row: RowMapping) -> Settlement:
    """A settlement from its row."""
    same = ("seat", "wager", "stake", "returned", "net", "rule", "remainder")
    return Settlement(outcome=Outcome(row["outcome"]), **{name: row[name] for name in same})


def _cards(written: str) -> tuple[Card, ...]:
    return tuple(map(Card, written.split()))


def rounds_between(
    connection: Connection, calendar: Calendar, since: datetime, until: datetime, most: int
) -> Iterator[Taken]:
    """The rounds that ended from `since` up to `until` (UTC), by table and record, each record's in their order.

    Raises:
        TooManyRoundsError: there are more than `most`.
    """
    columns = schema.ROUNDS.c
    days = calendar.day_of(since), calendar.day_of(until)
    among = columns.day.between(*days), columns.ts >= since, columns.ts < until
    number = connection.scalar(select(func.count()).select_from(schema.ROUNDS).where(*among)) or 0
    if number > most:
        raise TooManyRoundsError(f"{number} rounds are more than {most}")
    yield from _rounds_among(connection, *among)


def last_rounds(connection: Connection) -> Iterator[Taken]:
    """The last round of each record that was taken in, if the store still has it."""
    yield from _rounds_among(connection, schema.ROUNDS.c.round == schema.RECORDS.c.rounds_at)


def _rounds_among(connection: Connection, *among: ColumnElement[bool]) -> Iterator[Taken]:
    """The rounds of which all this is true, by table and record, each record's in their order."""
    columns, settled, records = schema.ROUNDS.c, schema.SETTLEMENTS.c, schema.RECORDS.c
    at = columns.record_id, columns.round
    asked = (
        select(
            schema.ROUNDS,
            *(records[name] for name in ("table", "record", "simulation", "currency")),
        )
        .join_from(schema.RECORDS, schema.ROUNDS, columns.record_id == records.id)
        .where(*among)
        .order_by(*at)
    )
    of_these = (
        select(schema.SETTLEMENTS)
        .join_from(schema.RECORDS, schema.ROUNDS, columns.record_id == records.id)
        .join(
            schema.SETTLEMENTS,
            and_(*(settled[name] == columns[name] for name in ("day", "record_id", "round"))),
        )
        .where(*among)
        .order_by(*at, settled.seat, settled.wager)
    )
    settlements = defaultdict(list)
    for row in connection.execute(of_these).mappings():
        settlements[row["record_id"], row["round"]].append(settlement_of(row))
    for row in connection.execute(asked).mappings():
        record = record_of(row, settlements.pop((row["record_id"], row["round"]), ()))
        yield Taken(
            row["table"],
            row["record"],
            row["simulation"],
            row["currency"],
            aware(row["ts"]),
            row["game"],
            row["rules"],
            record,
        )
