"""The tables of docs/explanation/scale.md, computed from what was measured: `python -m benchmarks.scale`.

What was measured is in `MEASURED`, with how. The rest is arithmetic.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

HOUSES: Final = (6, 60, 600, 10_000)
HANDS_AN_HOUR: Final = 70
DAY: Final = 24 * HANDS_AN_HOUR
YEAR: Final = 365 * DAY


class Measure(NamedTuple):
    """A measured figure: what it is, its value, its unit, and how it was measured."""

    what: str
    value: float
    unit: str
    how: str


MEASURED: Final = {
    "messages": Measure(
        "messages of a table",
        2.0,
        "a second",
        "`punto simulate-floor --tables 6 --pace 1`, counted at Mosquitto for 150 s",
    ),
    "payload": Measure("their payloads", 1756, "bytes a second", "the same"),
    "linked_messages": Measure("messages of a linked table", 4.2, "a second", "the same, two linked tables"),
    "linked_payload": Measure("their payloads", 4816, "bytes a second", "the same"),
    "service": Measure(
        "processor of a table's service",
        0.014,
        "of a hyperthread",
        "a process of its own, five times the pace of a dealer",
    ),
    "service_memory": Measure("its memory", 61e6, "bytes", "the same, proportional set size"),
    "broker": Measure(
        "processor of Mosquitto for a table",
        0.00032,
        "of a hyperthread",
        "10 tables for 600 s, with three subscribers",
    ),
    "manager": Measure(
        "processor of the Game Manager for a table", 0.00153, "of a hyperthread", "the same run, with SQLite"
    ),
    "record": Measure("a table's record", 2160, "bytes a round", "[The record](record.md)"),
    "sqlite": Measure("the store in SQLite", 617, "bytes a round", "20,000 rounds with five settlements"),
    "postgresql": Measure("the store in PostgreSQL", 1047, "bytes a round", "the same rounds, with indexes"),
    "parquet": Measure(
        "an export in Parquet", 35, "bytes a round", "the same rounds; 3,000 hands repeat in them"
    ),
    "intake": Measure(
        "rounds of a backlog that the Game Manager takes in",
        4322,
        "a second",
        "102,000 rounds of 60 tables from the broker into PostgreSQL in 23.6 s (`python -m benchmarks house`)",
    ),
}


def measured_table() -> str:
    """What was measured."""
    rows = [f"| {each.what} | {_number(each.value)} {each.unit} | {each.how} |" for each in MEASURED.values()]
    return "\n".join(["| What | Figure | How |", "| --- | --- | --- |", *rows])


def houses_table() -> str:
    """What follows for houses of several sizes, all their tables dealing all day and a tenth of them linked."""
    value = {name: each.value for name, each in MEASURED.items()}
    own, linked = 0.9, 0.1
    messages = own * value["messages"] + linked * value["linked_messages"]
    payload = own * value["payload"] + linked * value["linked_payload"]
    rows: dict[str, Callable[[int], str]] = {
        "rounds a day": lambda n: f"{n * DAY:,.0f}",
        "rounds a second": lambda n: f"{n * DAY / 86400:,.1f}",
        "messages a second at the brokers": lambda n: f"{n * messages:,.0f}",
        "payload to each subscriber of all tables": lambda n: f"{_bytes(n * payload)}/s",
        "processor of Mosquitto": lambda n: _share(n * value["broker"]),
        "processor of one Game Manager": lambda n: _share(n * value["manager"]),
        "records of all tables, a year": lambda n: _bytes(n * YEAR * value["record"]),
        "store in SQLite, a year": lambda n: _bytes(n * YEAR * value["sqlite"]),
        "store in PostgreSQL, a year": lambda n: _bytes(n * YEAR * value["postgresql"]),
        "exports in Parquet, a year": lambda n: _bytes(n * YEAR * value["parquet"]),
        "a day's backlog into PostgreSQL": lambda n: f"{n * DAY / value['intake']:,.0f} s",
    }
    head = " | ".join(f"{n:,} tables" for n in HOUSES)
    lines = [f"| {what} | {' | '.join(of(n) for n in HOUSES)} |" for what, of in rows.items()]
    return "\n".join([f"| | {head} |", f"| --- |{' --- |' * len(HOUSES)}", *lines])


def most_tables() -> int:
    """The tables with which one Game Manager uses a whole hyperthread."""
    return int(1 / MEASURED["manager"].value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def _share(value: float) -> str:
    return f"{value * 100:.2g} %" if value < 1 else f"{value:.2g} hyperthreads"


if __name__ == "__main__":
    print(measured_table(), houses_table(), most_tables(), sep="\n\n")
