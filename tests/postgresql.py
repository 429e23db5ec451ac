"""A real PostgreSQL for tests: a cluster of its own in a folder, reached by its socket there."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, text

from tests.deadline import DEADLINE

_VERSIONS = Path("/usr/lib/postgresql")
_OPTIONS = "-c listen_addresses= -c max_connections=100 -c shared_buffers=32MB -c fsync=off -c autovacuum=off"
"""Without fsync, because a kill of the server loses no page that it has written; and with nothing that works by itself."""


def waits(connection: Connection) -> bool:
    """Whether a transaction of this database waits for another one."""
    database = "(SELECT oid FROM pg_database WHERE datname = current_database())"
    asked = text(f"SELECT count(*) FROM pg_locks WHERE NOT granted AND database = {database}")  # noqa: S608 - literals
    return bool(connection.execute(asked).scalar_one())


class Cluster:
    """A cluster in a folder: one database with the user `punto`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # the server refuses to run as root
        self._user = "postgres" if os.geteuid() == 0 else None

    def make(self) -> None:
        """Make it in its folder, which is not there yet, and start it."""
        self.folder.mkdir()
        if self._user:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "punto", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://punto@/postgres?host={self.folder}"

    def start(self) -> None:
        options = f"-k {self.folder} {_OPTIONS}"
        self._run(
            "pg_ctl",
            "-D",
            str(self.folder / "data"),
            "-l",
            str(self.folder / "log"),
            "-o",
            options,
            "-w",
            "start",
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `immediate` is like a kill."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def make_database(self, name: str) -> str:
        """The address of a new, empty database."""
        self._run("createdb", "-h", str(self.folder), "-U", "punto", name)
        return f"postgresql+psycopg://punto@/{name}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [_found(program), *arguments],
            user=self._user,
            check=True,
            capture_output=True,
            cwd="/",
            timeout=DEADLINE,
        )


def _found(program: str) -> str:
    newest = max(_VERSIONS.glob("*/bin"), default=Path("/usr/bin"))
    return str(newest / program)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    own = Cluster(folder)
    own.make()
    try:
        yield own
    finally:
        own.stop("immediate")
