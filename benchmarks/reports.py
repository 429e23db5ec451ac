"""The floor's report over ten million rounds: from the sums in PostgreSQL, and from whole rounds in Parquet with DuckDB beside it.

The store has the sums of 600 tables over ten gaming days; those of each table and day are those of a real day. The report reads
only these. The Parquet files have every settlement, of five wagers a round.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetWriter
from sqlalchemy import text

from benchmarks.bench import Line, say
from benchmarks.house import A_DAY, rounds
from punto.house import schema
from punto.house.reports import floor_report
from punto.house.store import Store
from punto.runtime.gaming_days import Calendar
from tests.house.tables import BEGAN
from tests.postgresql import cluster

TABLES: Final = 600
DAYS: Final = 10
FIRST: Final = date(2026, 11, 1)
LAST: Final = FIRST + timedelta(days=DAYS - 1)
SUMS: Final = (schema.COUNTS, schema.HANDLES, schema.HITS)
_QUERY: Final = """
SELECT "table", wager, count(*), sum(stake), sum(returned), sum(stake::DOUBLE * stake)
FROM read_parquet('{}/*.parquet') WHERE day BETWEEN '{}' AND '{}' GROUP BY ALL ORDER BY ALL
"""


def measure(folder: Path) -> list[Line]:
    """Seconds that a report takes, of a day and of all days."""
    total = TABLES * DAYS * A_DAY
    say(f"The floor's report over {total:,} rounds of {TABLES} tables.\n")
    with ExitStack() as running:
        place = running.enter_context(TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True))
        Path(place).chmod(0o755)
        store = Store(running.enter_context(cluster(Path(place) / "c")).url, Calendar.of())
        _fill(store)
        one = _seconds(lambda: floor_report(store, LAST, LAST))
        whole = _seconds(lambda: floor_report(store, FIRST, LAST))
        store.close()
    _write(folder)
    connection = duckdb.connect()
    parquet_one = _seconds(lambda: connection.execute(_QUERY.format(folder, LAST, LAST)).fetchall())
    parquet_whole = _seconds(lambda: connection.execute(_QUERY.format(folder, FIRST, LAST)).fetchall())
    return [
        Line("report of a day", f"{one:.2f} s, of all days {whole:.2f} s (PostgreSQL)", "under 2 s", one < 2),
        Line(
            "on Parquet",
            f"{parquet_one:.2f} s, of all days {parquet_whole:.2f} s (DuckDB)",
            "under 1 s",
            parquet_one < 1,
        ),
    ]


def _seconds(work: Callable[[], Any]) -> float:
    """The middle of three times."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[1]


def _fill(store: Store) -> None:
    """Take in a day of one table, and give its sums to all tables and days."""
    store.take(rounds("table-1", A_DAY))
    day = Calendar.of().day_of(BEGAN)
    with store.writing() as connection:
        connection.execute(
            text(
                'INSERT INTO records (id, "table", record, simulation, first_seen) '  # noqa: S608 - a number
                f"SELECT n, 'table-' || n, 'aa', false, now() FROM generate_series(2, {TABLES}) AS n"
            )
        )
        for table in SUMS:
            others = ", ".join(
                f'"{each.name}"' for each in table.columns if each.name not in {"day", "record_id"}
            )
            connection.execute(
                text(
                    f"INSERT INTO {table.name} (day, record_id, {others}) SELECT d, n, {others} FROM {table.name}, "  # noqa: S608 - literals
                    f"generate_series('{FIRST}'::date, '{LAST}', '1 day') AS d, generate_series(1, {TABLES}) AS n "
                    f"WHERE day = '{day}'"
                )
            )
            connection.execute(text(f"DELETE FROM {table.name} WHERE day = '{day}'"))  # noqa: S608 - literals
    with store.engine.connect() as connection:
        connection.execute(text("COMMIT"))
        connection.execute(text("ANALYZE"))


def _write(folder: Path) -> None:
    """A file for each day, with the columns of an export that a report reads."""
    random = np.random.default_rng(1)
    names = pa.array([f"table-{n}" for n in range(1, TABLES + 1)])
    wagers = pa.array(["player", "banker", "tie", "dragon_bonus_player", "dragon_bonus_banker"])
    count = TABLES * A_DAY * 5
    table = pa.DictionaryArray.from_arrays(np.repeat(np.arange(TABLES, dtype=np.int32), A_DAY * 5), names)
    for day in range(DAYS):
        stake = random.integers(1, 41, count) * 500
        columns = {
            "table": table,
            "day": pa.array(np.full(count, np.datetime64(FIRST + timedelta(days=day))), pa.date32()),
            "wager": pa.DictionaryArray.from_arrays(random.integers(0, 5, count).astype(np.int32), wagers),
            "stake": pa.array(stake),
            "returned": pa.array(stake * random.integers(0, 3, count)),
        }
        batch = pa.table(columns)
        with ParquetWriter(folder / f"settlements-{day:02}.parquet", batch.schema) as writer:
            writer.write_table(batch)
