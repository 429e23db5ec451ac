"""What all checks of one table share: its configuration, its user, and the service that runs."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Final

from punto.controller.config.file import ServiceConfig
from punto.drivers.base import Devices
from punto.runtime.permissions import User

_CREDENTIALS: Final = "$CREDENTIALS_DIRECTORY"


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine, and the systemd unit that it belongs to, if it does. Its number is 0 if this user may not see it."""

    number: int
    name: str
    unit: str | None

    def __str__(self) -> str:
        if not self.number:
            return self.name
        return f"{self.name} (process {self.number}{f', {self.unit}' if self.unit else ''})"

    @property
    def stop(self) -> str:
        """The command that ends it."""
        return f"systemctl stop {quote(self.unit)}" if self.unit else f"kill {self.number}"


@dataclass(frozen=True)
class Patient:
    """A table of this PC. `service` is the process that has its record open, `links` are those that the service reports.

    `devices_of` makes the drivers of its devices. `known` are the ids of all tables that the doctor was given. `at_a_console`
    says that people at the consoles see the findings, so they have nothing of the log, which names people and cards.
    """

    file: Path
    config: ServiceConfig
    user: User
    devices_of: Callable[[ServiceConfig], Devices]
    service: Process | None = None
    links: Mapping[str, Mapping[str, Any]] | None = None
    backups: Path | None = None
    known: frozenset[str] = field(default_factory=frozenset)
    at_a_console: bool = False

    @property
    def unit(self) -> str:
        """The systemd unit of the table."""
        return f"punto@{self.file.stem}"

    def as_user(self, command: str) -> str:
        """The command for a shell of root, run as the service's user."""
        return command if self.user.number == os.geteuid() else f"sudo -u {quote(self.user.name)} {command}"

    def found(self, path: Path) -> Path:
        """The file of a secret of the table."""
        return secret_of(self.file, path)


def secret_of(file: Path, path: Path) -> Path:
    """The file of a secret that the configuration in `file` names: for a credential, the file from which systemd copies it."""
    return file.parent / f"{file.stem}.{path.name}" if str(path.parent) == _CREDENTIALS else path


def process(number: int) -> Process:
    """The process of this number."""
    try:
        name = Path(f"/proc/{number}/comm").read_text(encoding="utf-8", errors="replace").strip()
        groups = Path(f"/proc/{number}/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Process(number, "a process that has ended", None)
    return Process(number, name, unit_in(groups))


def unit_in(groups: str) -> str | None:
    """The systemd unit in the text of /proc/PID/cgroup, None outside a unit."""
    for line in groups.splitlines():
        last = line.rstrip("/").rpartition("/")[2]
        if last.endswith(".service") and "/system.slice/" in line:
            return last
    return None


def with_open(path: Path) -> list[Process]:
    """The processes that have a file or device open, as far as this user may know; never this process."""
    try:
        wanted = path.stat()
    except OSError:
        return []
    found = []
    for number in _processes():
        try:
            handles = list(Path(f"/proc/{number}/fd").iterdir())
        except OSError:
            continue
        if any(_is(handle, wanted) for handle in handles):
            found.append(process(number))
    return found


def _is(handle: Path, wanted: os.stat_result) -> bool:
    try:
        known = handle.stat()
    except OSError:
        return False
    return (known.st_dev, known.st_ino) == (wanted.st_dev, wanted.st_ino)


def locking(path: Path) -> Process | None:
    """The process that has a lock on a file, by /proc/locks; None if none has, or the file does not exist."""
    try:
        known = path.stat()
        locks = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return None
    return next(map(process, holders(locks, known.st_ino)), None)


def holders(locks: str, inode: int) -> list[int]:
    """The processes in the text of /proc/locks that have a lock on this inode. Lines with `->` only wait for one."""
    found = []
    for line in locks.splitlines():
        words = line.split()
        if "->" not in words and len(words) > 5 and words[5].rpartition(":")[2] == str(inode):
            found.append(int(words[4]))
    return [each for each in found if each > 0 and each != os.getpid()]


def listening(port: int) -> Process | None:
    """The process that takes connections at a TCP port of this machine, as far as this user may know."""
    sockets = set[str]()
    for name in ("tcp", "tcp6"):
        try:
            table = Path(f"/proc/net/{name}").read_text(encoding="ascii")
        except OSError:
            continue
        sockets |= listeners(table, port)
    if not sockets:
        return None
    for number in _processes():
        try:
            links = {str(each.readlink()) for each in Path(f"/proc/{number}/fd").iterdir()}
        except OSError:
            continue
        if links & sockets:
            return process(number)
    return Process(0, "a program of another user", None)


def listeners(table: str, port: int) -> set[str]:
    """The listening sockets of a port in the text of /proc/net/tcp, as the links in /proc/PID/fd name them."""
    rows = (line.split() for line in table.splitlines()[1:])
    return {
        f"socket:[{row[9]}]" for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port
    }


def _processes() -> list[int]:
    return [
        int(each.name)
        for each in Path("/proc").iterdir()
        if each.name.isdigit() and int(each.name) != os.getpid()
    ]
