"""Compares a table with the rows of its record: its rounds, and the books of its progressive.

The rows follow from the inputs. A start that recovers from a snapshot checks the table against them, so a changed
snapshot cannot change the meter.
"""

import sqlite3
from collections.abc import Iterator
from typing import Final, cast

from pydantic import ValidationError

from punto.baccarat.progressive.effects import Effect
from punto.baccarat.progressive.ledger import SOURCES, Account
from punto.baccarat.progressive.state import AwardState, Phase, State
from punto.baccarat.table.state import TableState
from punto.controller.journal import store
from punto.controller.journal.books import ACCOUNTS, LOGGED

_OF_AWARDS: Final = {f"award_{state}": state for state in AwardState}


def difference(connection: sqlite3.Connection, table: TableState) -> str | None:
    """The first difference between a table and the record's rows, None if there is none."""
    return next(_differences(connection, table), None)


def _differences(connection: sqlite3.Connection, table: TableState) -> Iterator[str]:
    ended = store.last_round(connection)
    if ended != table.round.number - 1:
        yield f"the table has had {table.round.number - 1} rounds, but its record has {ended} rounds"
    if table.progressive is None or table.progressive.link is not None:
        return  # a linked table's record has its part of the meter's books alone
    books = table.progressive.books
    name = books.settings.progressive
    yield from _of_ledger(connection, name, books)
    yield from _of_awards(connection, name, books)
    if not _settings_agree(connection, name, books):
        yield f"the present settings of {name} differ from those of the last recorded change"
    if not _stakes_agree(connection, name, books):
        yield f"the last wagers on {name} differ from those that were counted"


def _of_ledger(connection: sqlite3.Connection, name: str, books: State) -> Iterator[str]:
    sums = ", ".join(f"coalesce(sum({column}), 0)" for column in ACCOUNTS.values())
    count, last, *moved = connection.execute(
        f"SELECT count(*), coalesce(max(number), 0), {sums} FROM postings WHERE progressive = ?",  # noqa: S608 - columns
        (name,),
    ).fetchone()
    # The tiers have a separate query: few postings have a tier, and grouping a year of postings is slower than reading it.
    tiers = connection.execute(
        "SELECT tier, sum(paid) FROM postings WHERE progressive = ? AND paid <> 0 GROUP BY tier", (name,)
    )
    ledger = books.ledger
    if {count, last} != {ledger.last}:
        yield f"the ledger of {name} does not end with its last posting"
    for account, balance in zip(ACCOUNTS, moved, strict=True):
        if account is Account.PAID:
            agrees = dict(tiers) == {each.tier: each.amount for each in ledger.paid}
        else:
            agrees = getattr(ledger, account.value) == (-balance if account in SOURCES else balance)
        if not agrees:
            yield f"{account.value.replace('_', ' ')} of {name} is not the sum of the postings to this account"


def _of_awards(connection: sqlite3.Connection, name: str, books: State) -> Iterator[str]:
    kinds = ", ".join(f"'{kind}'" for kind in _OF_AWARDS)
    rows = connection.execute(
        "SELECT award, kind, record FROM progressive_log "  # noqa: S608 - the kinds of awards
        f"WHERE progressive = ? AND kind IN ({kinds}) ORDER BY input, place",
        (name,),
    )
    last = {award: (_OF_AWARDS[kind], record) for award, kind, record in rows}
    if max(last, default=0) != books.next_award - 1:
        yield f"the awards of {name} differ from the progressive's log"
    locked = [award for award, (state, _) in last.items() if state is AwardState.LOCKED]
    if sorted(locked) != sorted(award.id for award in books.locked):
        yield f"the open awards of {name} differ from the progressive's log"
    for award in books.awards:
        state, record = last.get(award.id, (None, ""))
        if state is not award.state or getattr(_logged(record), "award", None) != award:
            yield f"award {award.id} of {name} differs from the progressive's log"


def _settings_agree(connection: sqlite3.Connection, name: str, books: State) -> bool:
    if (
        books.phase is not Phase.OPEN
    ):  # a new meter has the configured settings; those of a retired one do not matter
        return True
    row = connection.execute(
        "SELECT record FROM progressive_log WHERE progressive = ? AND kind = 'settings_changed' "
        "ORDER BY input DESC, place DESC LIMIT 1",
        (name,),
    ).fetchone()
    return row is None or getattr(_logged(row[0]), "after", None) == books.settings


def _logged(record: str) -> Effect | None:
    try:
        return cast(Effect, LOGGED.validate_json(record, strict=True))
    except ValidationError:  # another program wrote it
        return None


def _stakes_agree(connection: sqlite3.Connection, name: str, books: State) -> bool:
    for last in books.rounds:
        row = connection.execute(
            "SELECT round, wagers, staked FROM progressive_rounds WHERE progressive = ? AND venue = ? "
            "ORDER BY input DESC, place DESC LIMIT 1",
            (name, last.table),
        ).fetchone()
        if row != (last.round, len(last.wagers), sum(wager.amount for wager in last.wagers)):
            return False
    return True
