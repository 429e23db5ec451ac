"""Reads a table's record of its progressives, beside the writer and without changes.

A place in the record is an input's number: rows belong to inputs, and inputs have one order. A span of it is
all inputs from `since` on and before `until`.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from punto.baccarat.progressive.settings import Settings
from punto.baccarat.table.settings import title_of
from punto.baccarat.wagers.words import words
from punto.controller.journal import books, schema
from punto.messages.books import Accounts
from punto.messages.building import timestamp

_SETTINGS: Final[TypeAdapter[Settings]] = TypeAdapter(Settings)
END: Final = 2**62
"""A place after the end of any record."""


class Span(NamedTuple):
    """The inputs from `since` on and before `until`."""

    since: int = 0
    until: int = END


EVERYTHING: Final = Span()


_BALANCES: Final = (
    "-coalesce(sum(seed_money), 0), -coalesce(sum(contributions), 0), -coalesce(sum(adjustments), 0), "
    "coalesce(sum(primary_meter), 0), coalesce(sum(reserve), 0), coalesce(sum(overflow), 0), coalesce(sum(paid), 0)"
)
"""A source's column has what it received, so its sign is reversed to get what it has given."""
_ENTRIES: Final = " UNION ALL ".join(
    f"SELECT progressive, input, ts FROM {name}"  # noqa: S608 - literals
    for name in books.NEVER_EDITED
)


class Posting(NamedTuple):
    """A row of the ledger, its accounts as in their columns: the amount that each received."""

    input: int
    place: int
    ts: str
    progressive: str
    number: int
    cause: str
    seed_money: int
    contributions: int
    adjustments: int
    primary_meter: int
    reserve: int
    overflow: int
    paid: int
    tier: str | None
    table: str | None
    round: int | None
    award: int | None
    who: str | None
    reason: str | None
    approved_by: str | None

    @property
    def moved(self) -> Accounts:
        """The changes of the balances."""
        return Accounts(
            -self.seed_money,
            -self.contributions,
            -self.adjustments,
            self.primary_meter,
            self.reserve,
            self.overflow,
            self.paid,
        )


class Round(NamedTuple):
    """The wagers that a START counted: their number, and their sum in minor units."""

    input: int
    place: int
    ts: str
    progressive: str
    table: str
    round: int
    wagers: int
    staked: int
    seats: str


class Logged(NamedTuple):
    """An entry that moved no money itself; `entry` is an effect of the progressive."""

    input: int
    ts: str
    progressive: str
    entry: Any


class Record:
    """One view of a record, although the service adds to it meanwhile."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def progressives(self, until: int = END) -> list[str]:
        """The progressives with an entry on the record before `until`, in the order of their first entries."""
        rows = self._connection.execute(
            f"SELECT progressive, min(input) AS first FROM ({_ENTRIES}) WHERE input < ? "  # noqa: S608 - literals
            "GROUP BY progressive ORDER BY first",
            (until,),
        )
        return [name for name, _ in rows]

    def first_at(self, moment: datetime) -> int:
        """The place of the first entry at a time or later, `END` if there is none.

        All entries after it on the record are later, although a clock that was set back may say otherwise.
        """
        ts = timestamp(moment)
        row = self._connection.execute(f"SELECT min(input) FROM ({_ENTRIES}) WHERE ts >= ?", (ts,)).fetchone()  # noqa: S608 - literals
        return END if row[0] is None else row[0]

    def elsewhere(self, begins: datetime, ends: datetime, span: Span) -> int:
        """The number of entries with a time between these two that are outside their span by the record's order.

        There are some if a clock was set back, and many if it was once far ahead.
        """
        found: int = self._connection.execute(
            f"SELECT count(*) FROM ({_ENTRIES}) WHERE ts >= ? AND ts < ? AND (input < ? OR input >= ?)",  # noqa: S608 - literals
            (timestamp(begins), timestamp(ends), *span),
        ).fetchone()[0]
        return found

    def balances(self, progressive: str, span: Span, *, cause: str | None = None) -> Accounts:
        """The changes of a progressive's accounts in a span, by one cause or all; from the beginning, its balances."""
        row = self._connection.execute(
            f"SELECT {_BALANCES} FROM postings WHERE progressive = :of AND (:cause IS NULL OR cause = :cause) "  # noqa: S608 - a literal
            "AND input >= :since AND input < :until",
            {"of": progressive, "cause": cause, **span._asdict()},
        ).fetchone()
        return Accounts(*row)

    def held_by_cause(self, progressive: str, span: Span) -> dict[str, tuple[int, int]]:
        """The change by each cause of the held money, on the meter with its overflow and in the reserve."""
        rows = self._connection.execute(
            "SELECT cause, sum(primary_meter + overflow), sum(reserve) FROM postings "
            "WHERE progressive = ? AND input >= ? AND input < ? GROUP BY cause ORDER BY min(number)",
            (progressive, *span),
        )
        return {cause: (meter, reserve) for cause, meter, reserve in rows}

    def paid_by_tier(self, progressive: str) -> dict[str, int]:
        """The total that the meter has paid for each tier, less awards put back."""
        rows = self._connection.execute(
            "SELECT tier, sum(paid) FROM postings WHERE progressive = ? AND tier IS NOT NULL GROUP BY tier ORDER BY tier",
            (progressive,),
        )
        return dict(rows.fetchall())

    def first_and_last(self, progressive: str) -> tuple[str, str]:
        """The times of a progressive's first and last entry."""
        times = []
        for order in ("ASC", "DESC"):
            row = self._connection.execute(
                f"SELECT ts FROM ({_ENTRIES}) WHERE progressive = ? ORDER BY input {order} LIMIT 1",  # noqa: S608 - literals
                (progressive,),
            ).fetchone()
            times.append(row[0])
        return times[0], times[1]

    def postings(
        self,
        progressive: str | None = None,
        span: Span = EVERYTHING,
        *,
        but: str | None = None,
    ) -> Iterator[Posting]:
        """The rows of the ledger in order, of one progressive or of all, without those of the cause `but`."""
        rows = self._connection.execute(
            "SELECT * FROM postings WHERE (:of IS NULL OR progressive = :of) AND (:but IS NULL OR cause != :but) "
            "AND input >= :since AND input < :until ORDER BY input, place",
            {"of": progressive, "but": but, **span._asdict()},
        )
        return map(Posting._make, rows)

    def number_before(self, progressive: str, place: int) -> int:
        """The number of a progressive's last posting before a place, 0 if there is none."""
        row: tuple[int] = self._connection.execute(
            "SELECT count(*) FROM postings WHERE progressive = ? AND input < ?", (progressive, place)
        ).fetchone()
        return row[0]

    def opened_at(self, progressive: str) -> int | None:
        """The place where a progressive's meter was opened; None if it was opened with 0, which is not a posting."""
        row = self._connection.execute(
            "SELECT input FROM postings WHERE progressive = ? AND number = 1 AND cause = 'seed' AND award IS NULL",
            (progressive,),
        ).fetchone()
        return None if row is None else row[0]

    def rounds(self, progressive: str, span: Span = EVERYTHING) -> Iterator[Round]:
        """The rounds whose wagers were counted, in order."""
        rows = self._connection.execute(
            "SELECT * FROM progressive_rounds WHERE progressive = ? AND input >= ? AND input < ? ORDER BY input, place",
            (progressive, *span),
        )
        return map(Round._make, rows)

    def wagers(self, progressive: str, span: Span) -> tuple[int, int, int]:
        """The numbers of rounds and wagers, and the total stake in minor units."""
        row: tuple[int, int, int] = self._connection.execute(
            "SELECT count(*), coalesce(sum(wagers), 0), coalesce(sum(staked), 0) FROM progressive_rounds "
            "WHERE progressive = ? AND input >= ? AND input < ?",
            (progressive, *span),
        ).fetchone()
        return row

    def log(
        self, kinds: Sequence[str], progressive: str | None = None, span: Span = EVERYTHING
    ) -> list[Logged]:
        """The log entries of these kinds, in order, of one progressive or of all."""
        marks = ", ".join("?" * len(kinds))
        rows = self._connection.execute(
            f"SELECT input, ts, progressive, record FROM progressive_log WHERE kind IN ({marks}) "  # noqa: S608 - marks
            "AND (? IS NULL OR progressive = ?) AND input >= ? AND input < ? ORDER BY input, place",
            (*kinds, progressive, progressive, *span),
        )
        return [Logged(seq, ts, name, books.LOGGED.validate_json(record)) for seq, ts, name, record in rows]

    def awards_locked(self, before: int, limit: int) -> list[Logged]:
        """The last awards that were locked before a place, the newest first, of every progressive."""
        rows = self._connection.execute(
            "SELECT input, ts, progressive, record FROM progressive_log WHERE kind = 'award_locked' AND input < ? "
            "ORDER BY input DESC, place DESC LIMIT ?",
            (before, limit),
        )
        return [Logged(seq, ts, name, books.LOGGED.validate_json(record)) for seq, ts, name, record in rows]

    def settings(self, progressive: str) -> list[tuple[int, Settings]]:
        """The settings that a progressive has had, each with the place from which they apply."""
        changes = self.log(("settings_changed",), progressive)
        found = [(0, changes[0].entry.before if changes else self._settings_at_first(progressive))]
        return [*found, *((change.input, change.entry.after) for change in changes)]

    def tiers(self, progressive: str) -> dict[str, str]:
        """The hands of a progressive's awards in words, by the names of their rules."""
        return {
            rule.name: words(rule.when)
            for _, settings in self.settings(progressive)
            for rule in settings.wager.rules
            if rule.wins
        }

    @cached_property
    def currency(self) -> str:
        """The currency of all amounts on the record."""
        currency: str = self._started(END)["currency"]
        return currency

    @property
    def title(self) -> str:
        """The table's name for people, by the last start of the service."""
        started = self._started(END)
        return title_of(started["name"], simulation=started.get("simulation", False))

    def _settings_at_first(self, progressive: str) -> Settings:
        """The settings at the start of the service before the progressive was put into service."""
        (first,) = self._connection.execute(
            f"SELECT min(input) FROM ({_ENTRIES}) WHERE progressive = ?",  # noqa: S608 - literals
            (progressive,),
        ).fetchone()
        return _SETTINGS.validate_json(json.dumps(self._started(first)["progressive"]))

    def _started(self, before: int) -> Any:
        """The table's settings of the last start of the service before a place, as JSON."""
        rows = self._connection.execute(
            "SELECT payload FROM inputs WHERE seq < ? AND source = 'service' ORDER BY seq DESC", (before,)
        )
        for (payload,) in rows:
            event = json.loads(payload)
            if event["kind"] == "service_started":
                return event["settings"]
        raise schema.RecordError(f"the record has no start of the service before input {before}")


def settings_at(timeline: Sequence[tuple[int, Settings]], place: int) -> Settings:
    """The settings that applied to an input."""
    return [settings for since, settings in timeline if since <= place][-1]


@contextmanager
def opened(path: Path) -> Iterator[Record]:
    """Open a record for reading; raises RecordError if it cannot be read."""
    with schema.reading(path) as connection:
        try:
            yield Record(connection)
        except ValidationError as error:
            raise schema.RecordError(
                f"{path} has an entry that the service did not write: run `punto replay` to find the change"
            ) from error
