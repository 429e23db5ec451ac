"""The tables of the house's store, for SQLite and PostgreSQL. `migrations` makes them.

A table of the floor is known by its id and the name of its record: if a table begins a new record, its rounds are numbered
from 1 again. All its amounts are in one `currency`, which is not known before its first round or books. `rounds_at`, `incidents_at` and `books_at` are the cursors: the number of the last round that was taken in, the number
of the input up to which all incidents were, and the last gaming day whose books were; `rounds_ts` is when that round ended. They move in the transaction that adds the rows, so nothing is lost or twice.
Nothing is taken in of a record with `held_back`: it is `disputed` if two services published with the table's id, until a person has
chosen one of their records, and the other one is `rejected`. As long as a record of a table is held back, `heard_at` is when each was
last heard, and `told_rounds`, `told_first` and `told_last` are what its service reports of its rounds.

Rounds, settlements, incidents, books, accesses, choices, alarms of edges and acknowledgements are never changed. `handles` and `hits` are sums of them by gaming day, each round as it was
settled last, and follow from them.
"""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    false,
)

METADATA: Final = MetaData()
_KEY: Final = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows itself only in an INTEGER
_MOMENT: Final = DateTime(timezone=True)
BY_DAY: Final[dict[str, Any]] = {"postgresql_partition_by": "RANGE (day)"}
"""These tables have a partition for each month, so what is old can be dropped whole."""

RECORDS: Final = Table(
    "records",
    METADATA,
    Column("id", _KEY, primary_key=True),
    Column("table", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("simulation", Boolean, nullable=False),
    Column("currency", Text),
    Column("first_seen", _MOMENT, nullable=False),
    Column("rounds_at", BigInteger, nullable=False, server_default="0"),
    Column("rounds_ts", _MOMENT),
    Column("incidents_at", BigInteger, nullable=False, server_default="0"),
    Column("books_at", Date),
    Column("held_back", Text),
    Column("heard_at", _MOMENT),
    Column("told_rounds", BigInteger),
    Column("told_first", _MOMENT),
    Column("told_last", _MOMENT),
    UniqueConstraint("table", "record"),
)
CHOICES: Final = Table(
    "choices",
    METADATA,
    Column("id", _KEY, primary_key=True),
    Column("table", Text, nullable=False),
    Column("ts", _MOMENT, nullable=False),
    Column("who", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("against", Text, nullable=False),
    Index("choices_of_table", "table"),
)
"""The choices of a record of a table. `against` is a JSON list of the records that were rejected. The newest of a table counts."""
GAMES: Final = Table(
    "games",
    METADATA,
    Column("game", Text, primary_key=True),
    Column("rules", Text, primary_key=True),
    Column("definition", Text, nullable=False),
)


def _of_record() -> Column[int]:
    """A foreign key of `records`, which PostgreSQL does not check: it would take half of what adding a round takes.

    The number is always that of a row which the same transaction has locked.
    """
    return Column("record_id", _KEY, primary_key=True)


ROUNDS: Final = Table(
    "rounds",
    METADATA,
    Column("day", Date, primary_key=True),
    _of_record(),
    Column("round", BigInteger, primary_key=True),
    Column("ts", _MOMENT, nullable=False),
    Column("game", Text, nullable=False),
    Column("rules", Text, nullable=False),
    Column("shoe", Integer, nullable=False),
    Column("coup", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("player", Text, nullable=False),
    Column("banker", Text, nullable=False),
    Column("player_total", SmallInteger, nullable=False),
    Column("banker_total", SmallInteger, nullable=False),
    Column("winner", Text),
    Column("natural", Boolean, nullable=False),
    Column("corrects", BigInteger),
    Column("hidden", Boolean, nullable=False),
    Column("who", Text),
    Column("approved_by", Text),
    Column("reason", Text),
    Index("rounds_of_record", "record_id", "round"),
    **BY_DAY,
)
SETTLEMENTS: Final = Table(
    "settlements",
    METADATA,
    Column("day", Date, primary_key=True),
    _of_record(),
    Column("round", BigInteger, primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("wager", Text, primary_key=True),
    Column("outcome", Text, nullable=False),
    Column("stake", BigInteger, nullable=False),
    Column("returned", BigInteger, nullable=False),
    Column("net", BigInteger, nullable=False),
    Column("rule", Text, nullable=False),
    Column("remainder", Text, nullable=False),
    **BY_DAY,
)
INCIDENTS: Final = Table(
    "incidents",
    METADATA,
    Column("day", Date, primary_key=True),
    _of_record(),
    Column("seq", BigInteger, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("ts", _MOMENT, nullable=False),
    Column("kind", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("who", Text),
    Column("text", Text, nullable=False),
    Column("where", Text),
    Index("incidents_by_time", "ts"),
    Index("incidents_of_record", "record_id", "seq", "place"),
    **BY_DAY,
)
BOOKS: Final = Table(
    "books",
    METADATA,
    Column("day", Date, primary_key=True),
    _of_record(),
    Column("progressive", Text, primary_key=True),
    Column("ts", _MOMENT, nullable=False),
    Column("answer", Text, nullable=False),
)
"""The books of a progressive's gaming day that has ended: `answer` is the JSON of `controller.messages.books.Books`, told at `ts`."""
ACKNOWLEDGEMENTS: Final = Table(
    "acknowledgements",
    METADATA,
    _of_record(),
    Column("seq", BigInteger, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("ts", _MOMENT, nullable=False),
    Column("who", Text, nullable=False),
    Column("note", Text, nullable=False),
)
STANDING_ALARMS: Final = Table(
    "standing_alarms",
    METADATA,
    Column("table", Text, primary_key=True),
    Column("alarm", Text, primary_key=True),
    Column("since", _MOMENT, nullable=False),
    Column("who", Text),
    Column("ts", _MOMENT),
)
"""The alarms that stand on the floor now: since when, and who has acknowledged each. A row goes when its alarm ends."""
ACCESSES: Final = Table(
    "accesses",
    METADATA,
    Column("id", _KEY, primary_key=True),
    Column("ts", _MOMENT, nullable=False),
    Column("kind", Text, nullable=False),
    Column("who", Text),
    Column("text", Text, nullable=False),
    Column("where", Text),
)
"""The sign-ons at the Game Manager itself, their ends and the refusals. Without `who`, the name that was typed has no account."""

EDGE_ALARMS: Final = Table(
    "edge_alarms",
    METADATA,
    _of_record(),
    Column("shoe", Integer, primary_key=True),
    Column("wager", Text, primary_key=True),
    Column("day", Date, nullable=False),
    Column("ts", _MOMENT, nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("edge", Double, nullable=False),
    Index("edge_alarms_by_day", "day"),
)
"""The wagers that favoured the players, each once for a shoe: when this was heard first, after which round, and the edge then.

They are few, and have no partitions: `house drop` leaves them.
"""


def _of_day(*columns: Column[Any]) -> tuple[Column[Any], ...]:
    return (
        Column("day", Date, primary_key=True),
        _of_record(),
        Column("game", Text, primary_key=True),
        Column("rules", Text, primary_key=True),
        *columns,
    )


COUNTS: Final = Table(
    "counts",
    METADATA,
    *_of_day(Column("status", Text, primary_key=True)),
    Column("rounds", BigInteger, nullable=False),
)
HANDLES: Final = Table(
    "handles",
    METADATA,
    *_of_day(Column("wager", Text, primary_key=True)),
    Column("wagers", BigInteger, nullable=False),
    Column("staked", BigInteger, nullable=False),
    Column("returned", BigInteger, nullable=False),
    Column("squares", Double, nullable=False),
    Column("rounded", Double, nullable=False),
)
HITS: Final = Table(
    "hits",
    METADATA,
    *_of_day(Column("wager", Text, primary_key=True), Column("rule", Text, primary_key=True)),
    Column("hits", BigInteger, nullable=False),
)
"""Without a wager, `wager` is empty, and `rule` is the hand's winner or `natural`."""
PARTITIONED: Final = (ROUNDS, SETTLEMENTS, INCIDENTS)
EXPORTED: Final = (*PARTITIONED, BOOKS)
"""What is exported by months. Books are few, and are not dropped."""
EXPORTS: Final = Table(
    "exports",
    METADATA,
    Column("month", Date, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("part", BigInteger, primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("file", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("ts", _MOMENT, nullable=False),
    Column("dropped", Boolean, nullable=False, server_default=false()),
)
"""The exports of each table's month: those that were dropped, and the last one. Only what was exported whole can be dropped.

Part 2 has the rows that came after part 1 was dropped, because a table was away for longer than the month was kept.
"""
