"""The progressive's rows of the record: postings, the rounds with counted wagers, and a log of all else.

A posting's row has a column for each account with the amount that the account receives; it is negative if the
account pays. So each row sums to zero, and the sum of a column is the account's balance (negated for a source).
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from pydantic import ConfigDict, TypeAdapter

from punto.baccarat.progressive.effects import Effect, Posted, WagersCounted
from punto.baccarat.progressive.ledger import Account
from punto.baccarat.table.effects import Effect as TableEffect
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.state import TableState

LOGGED: Final[TypeAdapter[Any]] = TypeAdapter(Effect, config=ConfigDict(defer_build=True))

ACCOUNTS: Final[dict[Account, str]] = {
    Account.SEED_MONEY: "seed_money",
    Account.CONTRIBUTIONS: "contributions",
    Account.ADJUSTMENTS: "adjustments",
    Account.PRIMARY: "primary_meter",
    Account.RESERVE: "reserve",
    Account.OVERFLOW: "overflow",
    Account.PAID: "paid",
}
"""The column of each account, in millionths of a minor unit."""
_NOTHING: Final = dict.fromkeys(ACCOUNTS, 0)

TABLES: Final = f"""
CREATE TABLE postings (
    input INTEGER NOT NULL REFERENCES inputs (seq),
    place INTEGER NOT NULL,
    ts TEXT NOT NULL,
    progressive TEXT NOT NULL,
    number INTEGER NOT NULL,
    cause TEXT NOT NULL,
    {" ".join(f"{column} INTEGER NOT NULL," for column in ACCOUNTS.values())}
    tier TEXT,
    venue TEXT,
    round INTEGER,
    award INTEGER,
    who TEXT,
    reason TEXT,
    approved_by TEXT,
    PRIMARY KEY (input, place),
    CHECK ({" + ".join(ACCOUNTS.values())} = 0)
) STRICT, WITHOUT ROWID;
CREATE TABLE progressive_rounds (
    input INTEGER NOT NULL REFERENCES inputs (seq),
    place INTEGER NOT NULL,
    ts TEXT NOT NULL,
    progressive TEXT NOT NULL,
    venue TEXT NOT NULL,
    round INTEGER NOT NULL,
    wagers INTEGER NOT NULL,
    staked INTEGER NOT NULL,
    seats TEXT NOT NULL,
    PRIMARY KEY (input, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE progressive_log (
    input INTEGER NOT NULL REFERENCES inputs (seq),
    place INTEGER NOT NULL,
    ts TEXT NOT NULL,
    progressive TEXT NOT NULL,
    kind TEXT NOT NULL,
    award INTEGER,
    record TEXT NOT NULL,
    PRIMARY KEY (input, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX progressive_log_kind ON progressive_log (kind);
"""
NEVER_EDITED: Final = ("postings", "progressive_rounds", "progressive_log")


Value = int | str | None


class Row(NamedTuple):
    """A row of the record and its table."""

    table: str
    values: tuple[Value, ...]


def rows_of(seq: int, ts: str, state: TableState, effects: Iterable[TableEffect]) -> list[Row]:
    """The rows of what the input `seq` did to a table's progressive. `state` is the table's state after the input."""
    moved = [effect for effect in effects if isinstance(effect, MeterMoved)]
    if not moved:
        return []
    # A table without a progressive can still count the coins of a retired one.
    own = "" if state.progressive is None else state.progressive.books.settings.progressive
    return [_row(seq, place, ts, each.progressive or own, each.entry) for place, each in enumerate(moved)]


def _row(seq: int, place: int, ts: str, progressive: str, entry: Effect) -> Row:
    about = (seq, place, ts, progressive)
    match entry:
        case Posted(posting):
            moved, tier = _NOTHING.copy(), None
            for line in posting.lines:
                moved[line.account] += line.amount
                tier = tier or line.tier
            of = posting.reference
            reference = (of.table, of.round, of.award, of.who, of.reason, of.approved_by)
            return Row("postings", (*about, posting.number, posting.cause, *moved.values(), tier, *reference))
        case WagersCounted(table, number, wagers):
            staked = sum([wager.amount for wager in wagers])
            seats = " ".join([str(wager.seat) for wager in wagers])
            return Row("progressive_rounds", (*about, table, number, len(wagers), staked, seats))
        case _:
            award = getattr(entry, "award", None)
            number_of = getattr(award, "id", award)  # an award, its number, or None
            return Row("progressive_log", (*about, entry.kind, number_of, LOGGED.dump_json(entry).decode()))
