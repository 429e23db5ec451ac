"""Whole months of the store as files for analysts, and the end of what was exported.

The files have all columns of a table, the table's id and its currency. Parquet keeps types; CSV is for spreadsheets.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Date,
    DateTime,
    Table,
    Text,
    delete,
    func,
    select,
    text,
    update,
)

from punto.house import schema
from punto.house.store import Store, StoreError
from punto.runtime.csv_cells import as_text
from punto.runtime.made_files import SHARED, new_file, write_file

Format = Literal["parquet", "csv"]
_AT_ONCE: Final = 20_000
_LATE: Final = timedelta(days=30)
_TYPES: Final = {
    BigInteger: pa.int64(),
    Boolean: pa.bool_(),
    Date: pa.date32(),
    DateTime: pa.timestamp("us", "UTC"),
    Text: pa.string(),
}


def export_month(store: Store, month: date, folder: Path, kind: Format) -> list[Path]:
    """Write a month's rounds, settlements, incidents and books to a file each, and note that they were exported.

    Beside each file is one with its SHA-256, which `sha256sum --check` reads. What came after the month was dropped is written to
    files of its own.

    Raises:
        OSError: a file cannot be written.
        StoreError: the month was dropped, and nothing came since.
        StoreAwayError: the store cannot be reached.
    """
    written = []
    with store.reading() as connection:
        for table, part, _ in _parts(connection, month):
            number = "" if part == 1 else f"-{part}"
            path = folder / f"{table.name}-{month:%Y-%m}{number}.{kind}"
            written.append((table, part, path, *_write(connection, table, month, path, kind)))
    now = datetime.now(UTC)
    with store.writing() as connection:
        for table, part, path, rows, digest in written:
            key = {"month": month, "name": table.name, "part": part}
            # What was dropped since stays so: the files have the same rows as those that were exported before.
            connection.execute(delete(schema.EXPORTS).filter_by(**key, dropped=False))
            write_file(path.with_name(f"{path.name}.sha256"), f"{digest}  {path.name}\n".encode(), SHARED)
            row = {**key, "rows": rows, "file": path.name, "sha256": digest, "ts": now, "dropped": False}
            connection.execute(store.insert_once(schema.EXPORTS), row)
    return [path for _, _, path, *_ in written]


def drop_month(store: Store, month: date, today: date) -> int:
    """Delete a month's rounds, settlements and incidents, and return how many rows they were. The sums by day stay.

    Raises:
        StoreError: a row of the month was not exported, an earlier month still has rows, or the month ended less than 30 days before
            `today`.
        StoreAwayError: the store cannot be reached.
    """
    if today - _end_of(month) < _LATE:
        raise StoreError(f"{month:%Y-%m} ended less than 30 days ago: a table may still tell rounds of it")
    with store.writing() as connection:
        if store.is_postgresql:  # rounds that are being taken in are counted too; reports go on
            names = ", ".join(f"ONLY {table.name}" for table in schema.PARTITIONED)
            connection.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
        _check_is_first(connection, month)
        found = [each for each in _parts(connection, month) if each[0] in schema.PARTITIONED]
        for table, part, there in found:
            exported = select(schema.EXPORTS.c.rows).filter_by(month=month, name=table.name, part=part)
            noted = connection.execute(exported).scalar_one_or_none()
            if noted != there:
                has = (
                    "was not exported"
                    if noted is None
                    else f"has {there:,} rows, and {noted:,} were exported"
                )
                raise StoreError(
                    f"{table.name} of {month:%Y-%m} {has}: export the month again, and then drop it"
                )
        for table, part, _ in found:
            if store.is_postgresql:
                connection.execute(text(f"DROP TABLE IF EXISTS {table.name}_{month:%Y_%m}"))
            else:
                connection.execute(delete(table).where(_in(table, month)))
            of_part = update(schema.EXPORTS).filter_by(month=month, name=table.name, part=part)
            connection.execute(of_part.values(dropped=True))
    return sum(there for _, _, there in found)


def _check_is_first(connection: Connection, month: date) -> None:
    """Raise StoreError if an earlier month has rows: a round without its correction would count as it was before."""
    days = [connection.scalar(select(func.min(table.c.day))) for table in schema.PARTITIONED]
    first = min((day for day in days if day is not None), default=month)
    if first < month:
        raise StoreError(
            f"{first:%Y-%m} still has rows, which rows of {month:%Y-%m} may correct: first run `punto house export` and `punto house "
            f"drop` with --month {first:%Y-%m}"
        )


def _parts(connection: Connection, month: date) -> list[tuple[Table, int, int]]:
    """What the store has of a month: each table with the number of its part and of its rows; raises StoreError if all was dropped."""
    found, files = [], list[str]()
    for table in schema.EXPORTED:
        there = connection.execute(
            select(func.count()).select_from(table).where(_in(table, month))
        ).scalar_one()
        of_table = select(schema.EXPORTS.c.file).filter_by(month=month, name=table.name, dropped=True)
        dropped = connection.execute(of_table.order_by(schema.EXPORTS.c.part)).scalars().all()
        if there or not dropped:
            found.append((table, len(dropped) + 1, there))
        files += dropped
    if files and not any(table in schema.PARTITIONED for table, _, _ in found):
        raise StoreError(f"{month:%Y-%m} was dropped: it is in the files {', '.join(files)}")
    return found


def _in(table: Table, month: date) -> Any:
    """The days of the month."""
    return (table.c.day >= month) & (table.c.day < _end_of(month))


def _end_of(month: date) -> date:
    """The first day of the next month."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def _write(connection: Connection, table: Table, month: date, path: Path, kind: Format) -> tuple[int, str]:
    """Write the rows in the order of their keys, and return how many they are, and the file's SHA-256.

    A stolen table PC can write anything in each text, which a spreadsheet must not take for a formula.
    """
    types = pa.schema(
        [
            ("table", pa.string()),
            *((each.name, _type(each.type)) for each in table.columns),
            ("currency", pa.string()),
        ]
    )
    rows = 0
    with new_file(path, SHARED) as file:
        with (ParquetWriter if kind == "parquet" else CSVWriter)(file, types) as writer:
            for batch in _batches(connection, table, month):
                rows += len(batch)
                columns = [
                    [None if cell is None else as_text(cell) for cell in column]
                    if kind == "csv" and each.type == pa.string()
                    else column
                    for each, column in zip(types, zip(*batch, strict=True), strict=True)
                ]
                arrays = [pa.array(column, each.type) for column, each in zip(columns, types, strict=True)]
                writer.write_batch(pa.record_batch(arrays, schema=types))
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return rows, digest


def _batches(connection: Connection, table: Table, month: date) -> Iterator[Sequence[Sequence[Any]]]:
    asked = (
        select(schema.RECORDS.c.table, table, schema.RECORDS.c.currency)
        .join_from(table, schema.RECORDS, table.c.record_id == schema.RECORDS.c.id)
        .where(_in(table, month))
        .order_by(*table.primary_key.columns)
    )
    streamed = connection.execution_options(stream_results=True, yield_per=_AT_ONCE).execute(asked)
    yield from streamed.partitions(_AT_ONCE)


def _type(of: Any) -> Any:
    """A column's type in a file: whole numbers of all sizes are of 64 bits."""
    return next((found for kind, found in _TYPES.items() if isinstance(of, kind)), pa.int64())
