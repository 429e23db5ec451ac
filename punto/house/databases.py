"""What SQLite and PostgreSQL need each in its own way: how a file is opened, and the lock of the one program that takes in."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, event, text

from punto.runtime.made_files import OWN, reserve

BUSY_SECONDS: Final = 5.0
"""How long a transaction waits for the one that writes, in SQLite."""
PREPARING_SECONDS: Final = 60.0
"""How long a program that starts waits for another one that makes the same file, or brings it up to date."""
_LEADING: Final = 0x50554E54_0002
"""The advisory lock of the program that takes in."""


class Lead:
    """A lock that one program has: in PostgreSQL for a connection, beside a file of SQLite for a process."""

    def __init__(self, engine: Engine) -> None:
        self.is_held = False
        self._connection: Connection | None = None
        self._file: int | None = None
        if engine.dialect.name == "postgresql":
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        else:
            self._file = os.open(
                f"{engine.url.database}.lead", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, OWN
            )

    def held(self) -> bool:
        """Take it if nobody has it. In PostgreSQL, this raises an error if the connection that has it was lost."""
        if self._connection is not None:
            asked = "SELECT true" if self.is_held else f"SELECT pg_try_advisory_lock({_LEADING})"
            self.is_held = bool(self._connection.execute(text(asked)).scalar_one())
        elif self._file is not None and not self.is_held:
            with suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.is_held = True
        return self.is_held

    def close(self) -> None:
        """Give it back."""
        if self._connection is not None:
            self._connection.invalidate()  # a connection that goes back to the pool would keep the lock
            self._connection.close()
        if self._file is not None:
            os.close(self._file)


def set_up_sqlite(engine: Engine) -> None:
    """Each commit is on the disk when it returns, and one transaction at a time writes. Those that read hold up nothing.

    A file that there is not yet is made, and only its owner may read it.
    """
    with suppress(OSError):
        reserve(Path(engine.url.database or ""))

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # SQLAlchemy's "begin" is below
        connection.execute(_waiting(PREPARING_SECONDS))  # another program may be making the file
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        options = connection.get_execution_options()
        prepares = options.get("prepares", False)
        connection.exec_driver_sql(_waiting(PREPARING_SECONDS if prepares else BUSY_SECONDS))
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")


def _waiting(seconds: float) -> str:
    return f"PRAGMA busy_timeout = {1000 * seconds:.0f}"
