"""What a Game Manager of a house takes in: from the broker to rows that are committed in PostgreSQL, beside the bare COPY of them.

Each round has five settlements. Everything is real: Mosquitto, PostgreSQL, the service in a process of its own.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final, cast

import psycopg

from benchmarks.bench import Line, say
from punto.house.store import Store
from punto.house.taken import Taken
from punto.runtime.gaming_days import Calendar
from tests.controller.table_on_a_machine import Broker, wait_until
from tests.house.house import GameManager
from tests.house.tables import BEGAN, with_five_wagers
from tests.postgresql import Cluster, cluster

AT_ONCE: Final = 500
ROUNDS: Final = 20_000
TABLES: Final = 60
TOLD: Final = 1_000
"""Rounds of a table that are told by themselves."""
A_DAY: Final = 1_700
"""Rounds of a table in a day, at 70 an hour."""


def measure(folder: Path) -> list[Line]:
    """Rounds a second into PostgreSQL: bare, through the store, and from the broker; and the time that a day's backlog takes."""
    say(f"Rounds with five settlements into PostgreSQL, commits of {AT_ONCE} that are on the disk.\n")
    with ExitStack() as running:
        place = running.enter_context(TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True))
        Path(place).chmod(0o755)
        database = running.enter_context(cluster(Path(place) / "c"))
        bare = _bare(database)
        stored = _stored(database)
        told, _ = _from_the_broker(folder, database, "told", TOLD)
        _, seconds = _from_the_broker(folder, database, "kept", A_DAY)
    say(f"  bare COPY {bare:,.0f} rounds/s; the store alone {stored:,.0f}\n")
    return [
        Line("taken in", f"{told:,.0f} rounds/s from the broker", "at least 5,000", told >= 5000),
        Line(
            "beside the bare COPY",
            f"{told / bare:.2f} of {bare:,.0f} rounds/s",
            "at least 0.5",
            told / bare >= 0.5,
        ),
        Line("backlog of a day", f"{seconds:.1f} s for {TABLES} tables", "under 60 s", seconds < 60),
    ]


def rounds(table: str, count: int) -> list[Taken]:
    """Rounds of a table with five wagers each."""
    game, hands = with_five_wagers(3000)
    return [
        Taken(
            table,
            "aa",
            False,
            "USD",
            BEGAN,
            game.name,
            game.rules_digest,
            replace(hands[number % len(hands)], round=number),
        )
        for number in range(1, count + 1)
    ]


def _stored(database: Cluster) -> float:
    """Rounds a second by the store, without a broker."""
    store = Store(database.make_database("stored"), Calendar.of())
    told = rounds("t", ROUNDS)
    began = time.perf_counter()
    for first in range(0, ROUNDS, AT_ONCE):
        store.take(told[first : first + AT_ONCE])
    taken = time.perf_counter() - began
    store.close()
    return ROUNDS / taken


def _bare(database: Cluster) -> float:
    """Rounds a second by COPY alone: the same rows into the same tables without keys, partitions and sums."""
    url = database.make_database("bare")
    told = rounds("t", ROUNDS)
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute(
            "CREATE TABLE rounds (day date, record int, round bigint, ts timestamptz, game text, rules text, shoe int, coup int, "
            "status text, player text, banker text, player_total int, banker_total int, winner text, nat bool)"
        )
        connection.execute(
            "CREATE TABLE settlements (day date, record int, round bigint, seat int, wager text, outcome text, stake bigint, "
            "returned bigint, net bigint, rule text, remainder text)"
        )
        connection.commit()
        day, began = BEGAN.date(), time.perf_counter()
        for first in range(0, ROUNDS, AT_ONCE):
            batch = told[first : first + AT_ONCE]
            with connection.cursor() as cursor:
                with cursor.copy("COPY rounds FROM STDIN") as copy:
                    for each in batch:
                        copy.write_row(_round(day, each))
                with cursor.copy("COPY settlements FROM STDIN") as copy:
                    for each in batch:
                        for row in each.round.settlements:
                            copy.write_row(
                                (day, 1, each.round.round, row.seat, row.wager, row.outcome.value, row.stake,
                                 row.returned, row.net, row.rule, row.remainder)
                            )  # fmt: skip
            connection.commit()
        return ROUNDS / (time.perf_counter() - began)


def _round(day: Any, each: Taken) -> tuple[Any, ...]:
    record = each.round
    cards = (" ".join(record.player), " ".join(record.banker), record.player_total, record.banker_total)
    return (
        day,
        1,
        record.round,
        each.ts,
        each.game,
        each.rules,
        1,
        1,
        record.status,
        *cards,
        str(record.winner),
        True,
    )


def _from_the_broker(folder: Path, database: Cluster, how: str, rounds: int) -> tuple[float, float]:
    """Rounds a second, and the seconds that all took, from the first that is told, or from the start of the service."""
    own = folder / how
    own.mkdir()
    url = database.make_database(how)
    plain = url.replace("+psycopg", "")
    with Broker(own) as broker, GameManager(own, broker.port, plain) as manager:
        wait_until(lambda: manager.opened, "the Game Manager is open")
        with (
            _tables(broker.port, rounds, how) as tables,
            psycopg.connect(plain, autocommit=True) as connection,
        ):
            began, first = time.perf_counter(), 0
            if how == "told":
                first = TABLES
                wait_until(lambda: _count(connection) == first, "each table is compared", 300)
                began = time.perf_counter()
                cast("IO[bytes]", tables.stdin).write(b"tell\n")
                cast("IO[bytes]", tables.stdin).flush()
            wait_until(lambda: _count(connection) == rounds * TABLES, "all rounds are in the store", 300)
            seconds = time.perf_counter() - began
    return (rounds * TABLES - first) / seconds, seconds


def _count(connection: "psycopg.Connection[Any]") -> int:
    time.sleep(0.05)
    row = connection.execute("SELECT coalesce(sum(rounds_at), 0) FROM records").fetchone()
    return 0 if row is None else int(row[0])


@contextmanager
def _tables(port: int, rounds: int, how: str) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "benchmarks.tables", str(port), str(TABLES), str(rounds), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tables:
        cast("IO[bytes]", tables.stdout).readline()
        try:
            yield tables
        finally:
            tables.kill()
