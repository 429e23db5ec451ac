"""The store's part of disputes: which records of a table are held back, what is known of them, and which one a person chooses."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, func, insert, select, update

from punto.configs.problems import cut
from punto.house import schema
from punto.house.disputes import DISPUTED, REJECTED, Choice, Facts
from punto.house.store import Store, StoreError
from punto.house.taken import Disputed, Reported, aware

_RECORD = schema.RECORDS.c
_CHOICE = schema.CHOICES.c


def choices(store: Store) -> dict[str, Choice]:
    """The choice of each table that counts, which is the newest.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    with store.reading() as connection:
        return _choices(connection)


def _choices(connection: Connection) -> dict[str, Choice]:
    newest = select(func.max(_CHOICE.id)).group_by(_CHOICE.table)
    rows = connection.execute(select(schema.CHOICES).where(_CHOICE.id.in_(newest))).mappings()
    return {
        row["table"]: Choice(
            row["record"], frozenset(json.loads(row["against"])), aware(row["ts"]), row["who"]
        )
        for row in rows
    }


def dispute(store: Store, told: Sequence[Disputed]) -> None:
    """Hold these records back until a person chooses one of each table's, whatever was chosen before.

    Raises:
        StoreAwayError: the store cannot be reached or written.
        RefusedError: the store refuses them.
    """
    with store.taking_in() as connection:
        ids = [cursor.id for cursor in store.cursors_of(connection, told).values()]
        connection.execute(update(schema.RECORDS).where(_RECORD.id.in_(ids)).values(held_back=DISPUTED))


def note(store: Store, reported: Mapping[tuple[str, str], Reported]) -> None:
    """Note what services report of records; those that the store does not have are passed over.

    Raises:
        StoreAwayError: the store cannot be reached or written.
        RefusedError: the store refuses them.
    """
    rows = [
        {"of_table": table, "of_record": record, **each._asdict()}
        for (table, record), each in sorted(reported.items())
    ]
    of_record = update(schema.RECORDS).where(
        _RECORD.table == bindparam("of_table"), _RECORD.record == bindparam("of_record")
    )
    noted = of_record.values(
        heard_at=func.coalesce(bindparam("heard", type_=_RECORD.heard_at.type), _RECORD.heard_at),
        told_rounds=func.coalesce(bindparam("rounds", type_=_RECORD.told_rounds.type), _RECORD.told_rounds),
        told_first=func.coalesce(bindparam("first", type_=_RECORD.told_first.type), _RECORD.told_first),
        told_last=func.coalesce(bindparam("last", type_=_RECORD.told_last.type), _RECORD.told_last),
    )
    if rows:
        with store.taking_in() as connection:
            connection.execute(noted, rows)


def records_to_choose(store: Store, table: str | None = None) -> dict[str, tuple[Facts, ...]]:
    """The records of each table, or of this one, of which at least one is held back: these, and the one that was chosen against them.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    with store.reading() as connection:
        found = _to_choose(connection, table)
        return {name: tuple(_facts(connection, row) for row in rows) for name, rows in found.items()}


def _to_choose(connection: Connection, table: str | None) -> dict[str, list[RowMapping]]:
    held = select(_RECORD.table).where(_RECORD.held_back.is_not(None))
    asked = select(schema.RECORDS).where(_RECORD.table.in_(held if table is None else [table]))
    chosen = {name: choice.record for name, choice in _choices(connection).items()}
    found: defaultdict[str, list[RowMapping]] = defaultdict(list)
    for row in connection.execute(asked.order_by(_RECORD.id)).mappings():
        if row["held_back"] is not None or row["record"] == chosen.get(row["table"]):
            found[row["table"]].append(row)
    return {name: rows for name, rows in found.items() if any(row["held_back"] is not None for row in rows)}


def _facts(connection: Connection, row: RowMapping) -> Facts:
    rounds = schema.ROUNDS.c
    first = select(rounds.ts).where(rounds.record_id == row["id"]).order_by(rounds.round).limit(1)
    return Facts(
        row["record"],
        row["held_back"],
        row["rounds_at"],
        _aware(connection.execute(first).scalar()),
        _aware(row["rounds_ts"]),
        row["told_rounds"],
        _aware(row["told_first"]),
        _aware(row["told_last"]),
        aware(row["first_seen"]),
        _aware(row["heard_at"]),
    )


def _aware(moment: datetime | None) -> datetime | None:
    return None if moment is None else aware(moment)


def choose(store: Store, table: str, record: str, against: Collection[str], who: str, now: datetime) -> None:
    """Take in this record of a table, and nothing more of the others that are held back or were chosen before.

    `against` are these others, as the person `who` saw them: a choice must not reject a record at which nobody looked. `now` is in
    UTC.

    Raises:
        StoreError: this record is not held back, or others are.
        StoreAwayError: the store cannot be reached or written.
    """
    with store.writing() as connection:
        asked = select(_RECORD.id).where(_RECORD.table == table).with_for_update()
        connection.execute(asked).all()
        rows = _to_choose(connection, table).get(table, [])
        _check(table, record, against, rows)
        others = [row["record"] for row in rows if row["record"] != record]
        of_table = update(schema.RECORDS).where(_RECORD.table == table)
        connection.execute(of_table.where(_RECORD.record.in_(others)).values(held_back=REJECTED))
        connection.execute(of_table.where(_RECORD.record == record).values(held_back=None))
        row: dict[str, Any] = {"table": table, "ts": now, "who": who, "record": record}
        connection.execute(insert(schema.CHOICES), {**row, "against": json.dumps(sorted(others))})


def _check(table: str, record: str, against: Collection[str], rows: Iterable[RowMapping]) -> None:
    held = [row["record"] for row in rows if row["held_back"] is not None]
    if record not in held:
        known = f"the records held back are {', '.join(held)}" if held else "none of its records is held back"
        raise StoreError(f"{table}: there is no record {cut(record)!r} to choose: {known}")
    others = {row["record"] for row in rows} - {record}
    if unseen := sorted(others - {*against}):
        raise StoreError(
            f"{table}: the choice would also reject {', '.join(unseen)}: look at all records again, and then choose"
        )
    if wrong := sorted({*against} - others):
        raise StoreError(
            f"{table}: {', '.join(map(cut, wrong))} is not one of the records to choose from: look again"
        )
