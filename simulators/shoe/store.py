"""The shoe's memory on disk: its unacknowledged records and the cards that are still in it.

One SQLite file, held by one shoe at a time. A card and its record are one transaction, and nothing is sent
before `commit`: whatever ends the process, a card that the host knows of has left the shoe, and another one
is either still inside or still kept. `synchronous=NORMAL` survives the end of the process, not a power
failure.
"""

import sqlite3
from collections import deque
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from random import SystemRandom
from typing import Final

from punto.baccarat.cards import Card
from punto.drivers.frame import HIGHEST
from punto.drivers.framing import encode
from punto.drivers.ishoe.frames import Record
from punto.runtime.made_files import reserve

_APPLICATION = 0x53484F45  # "SHOE", in the header of the file
_VERSION = 1

_SCHEMA = """
CREATE TABLE records (number INTEGER PRIMARY KEY, frame BLOB NOT NULL);
CREATE TABLE numbers (log INTEGER NOT NULL, next_record INTEGER NOT NULL);
CREATE TABLE inside (
    shoe_number INTEGER NOT NULL, decks INTEGER NOT NULL, cut INTEGER NOT NULL, out INTEGER NOT NULL,
    cut_card_seen INTEGER NOT NULL, loaded_for_burn INTEGER NOT NULL, lid_open INTEGER NOT NULL
);
CREATE TABLE cards (codes TEXT NOT NULL);
INSERT INTO inside VALUES (0, 0, 0, 0, 0, 0, 0);
INSERT INTO cards VALUES ('');
"""


class StoreError(Exception):
    """The file cannot be the memory of this shoe; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Inside:
    """The loaded cards, and how far they are dealt.

    `shoe_number` counts the loaded shoes from 1, `out` the cards that have left this one, `cut` those behind
    the cut card (0: there is none). `decks` is 0 if they are not whole decks. `loaded_for_burn` means that
    they were loaded for the burn that the host last called for: it distinguishes a repeated `burn` from the
    order of a new shoe.
    """

    shoe_number: int = 0
    decks: int = 0
    cards: tuple[Card, ...] = ()
    cut: int = 0
    out: int = 0
    cut_card_seen: bool = False
    loaded_for_burn: bool = False
    lid_open: bool = False

    @property
    def left(self) -> int:
        """The number of cards still inside."""
        return len(self.cards) - self.out

    @property
    def decks_told(self) -> int:
        """The decks in hello and heartbeat: 0 when the last card is out."""
        return self.decks if self.left else 0


_NUMBERS: Final = attrgetter(
    "shoe_number", "decks", "cut", "out", "cut_card_seen", "loaded_for_burn", "lid_open"
)


class Store:
    """The memory of one shoe.

    Changes are visible at once and are safe after `commit`.

    Raises:
        StoreError: the file is in use, is not a virtual shoe's, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._database = _open(path)
        self.log: int
        self.next_record: int
        self.log, self.next_record = self._database.execute("SELECT log, next_record FROM numbers").fetchone()
        self._frames: deque[bytes] = deque(
            frame for (frame,) in self._database.execute("SELECT frame FROM records ORDER BY number")
        )
        self._stored = self.inside = self._read_inside()  # the contents of the shoe
        self._added = 0  # number of frames at the end that are not in the file yet
        self._forgotten = self.first_kept - 1  # the last record that the file no longer holds
        self._numbers_changed = False

    # --- the records

    @property
    def first_kept(self) -> int:
        """The oldest kept record; `next_record` if none is kept."""
        return self.next_record - len(self._frames)

    def add(self, record: Record) -> None:
        """Keep a record, which has the number `next_record`."""
        self._frames.append(encode(record))
        self.next_record += 1
        self._added += 1
        self._numbers_changed = True

    def forget(self, record: int) -> None:
        """Discard all records up to and including this one."""
        for _ in range(record - self.first_kept + 1):
            self._frames.popleft()
        self._added = min(self._added, len(self._frames))

    def frames(self, first: int, last: int) -> list[bytes]:
        """The kept records from `first` to `last`, both included, as sent on the line."""
        start = first - self.first_kept
        return list(islice(self._frames, start, last - self.first_kept + 1))

    def lose(self) -> None:
        """Lose all records and their numbers, as in a memory failure. The cards stay where they are."""
        self._database.execute("DELETE FROM records")
        self._frames.clear()
        self.log, self.next_record = _new_log(), 1
        self._added = self._forgotten = 0
        self._numbers_changed = True

    # --- the file

    def commit(self) -> None:
        """Make all changes since the last call safe; all of them or, if the process dies, none."""
        database = self._database
        if self._added:
            first = self.next_record - self._added
            kept = self.frames(first, self.next_record - 1)
            database.executemany("INSERT INTO records VALUES (?, ?)", enumerate(kept, start=first))
            self._added = 0
        if self._numbers_changed:
            database.execute("UPDATE numbers SET log = ?, next_record = ?", (self.log, self.next_record))
            self._numbers_changed = False
        if self.first_kept - 1 > self._forgotten:
            self._forgotten = self.first_kept - 1
            database.execute("DELETE FROM records WHERE number <= ?", (self._forgotten,))
        if self.inside != self._stored:
            self._write_inside()
        database.commit()

    def close(self) -> None:
        """Commit and close the file."""
        self.commit()
        self._database.close()

    def _read_inside(self) -> Inside:
        row = self._database.execute(
            "SELECT shoe_number, decks, cut, out, cut_card_seen, loaded_for_burn, lid_open FROM inside"
        ).fetchone()
        (codes,) = self._database.execute("SELECT codes FROM cards").fetchone()
        shoe_number, decks, cut, out, *flags = row
        return Inside(shoe_number, decks, tuple(map(Card, codes.split())), cut, out, *map(bool, flags))

    def _write_inside(self) -> None:
        now = self.inside
        if now.cards is not self._stored.cards:
            self._database.execute("UPDATE cards SET codes = ?", (" ".join(now.cards),))
        self._database.execute(
            "UPDATE inside SET shoe_number = ?, decks = ?, cut = ?, out = ?, cut_card_seen = ?,"
            " loaded_for_burn = ?, lid_open = ?",
            _NUMBERS(now),
        )
        self._stored = now


def _new_log() -> int:
    # Truly random and not from the seed: the host must be able to distinguish two memories of one seed.
    return SystemRandom().randint(1, HIGHEST)


def _open(path: Path) -> sqlite3.Connection:
    if path.is_dir():
        raise StoreError(f"cannot open the store {path}: it is a folder: write the path of a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        reserve(path)
        database = sqlite3.connect(path, timeout=0)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot open the store {path}: {error}") from error
    try:
        _prepare(database, path)
    except sqlite3.Error as error:
        database.close()
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise StoreError(
                f"another virtual shoe uses the store {path}: give this shoe another store"
            ) from error
        raise StoreError(f"cannot use {path} as a store: {error}; give another file") from error
    except StoreError:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    # Exclusive mode holds SQLite's own lock until the process ends, however it ends: two shoes never share a
    # memory.
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and (application, version) != (_APPLICATION, _VERSION):
        raise StoreError(f"{path} is a database, but not this virtual shoe's store: give another file")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("BEGIN EXCLUSIVE")
    if tables == 0:
        for statement in filter(str.strip, _SCHEMA.split(";")):
            database.execute(statement)
        database.execute("INSERT INTO numbers VALUES (?, 1)", (_new_log(),))
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {_VERSION}")
    database.commit()
