"""The PC itself: clock, disk, SQLite, the addresses of the service, and its systemd unit."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Final

from punto.configs.problems import cut
from punto.doctor.findings import Finding, Level
from punto.doctor.patient import Patient, Process, listening
from punto.runtime.clock import synchronised

CLOCK: Final = "clock"
DISK: Final = "disk"
ADDRESSES: Final = "addresses"
UNITS: Final = "units"

_OLDEST_SQLITE: Final = (3, 37, 0)
"""The first version with STRICT tables, which the record has."""
LEAST_BYTES: Final = 200_000_000
FEW_DAYS: Final = 30
SLOW_FSYNC_SECONDS: Final = 0.1
_FSYNCS: Final = 5
_MANY_RESTARTS: Final = 3
_VACUUM: Final = "journalctl --vacuum-size=200M"
_ANSWER_SECONDS: Final = 5


# --- the clock


def clock(_: Patient) -> Iterator[Finding]:
    """Whether a program keeps the clock synchronised."""
    yield judged_clock(synchronised())


def judged_clock(is_synchronised: bool | None) -> Finding:
    """How the clock is; None if nothing says whether it is synchronised."""
    if is_synchronised:
        return Finding(CLOCK, "ok", "clock", "it is synchronised")
    if is_synchronised is None:
        return Finding(CLOCK, "not checked", "clock", "the kernel does not say whether it is synchronised")
    how = (
        "no program synchronises it, so the times on the record can be wrong: use systemd-timesyncd or chrony"
    )
    return Finding(CLOCK, "wrong", "clock", how, "timedatectl set-ntp true")


# --- the disk


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """The record's disk: free bytes, the record's size and age, the slowest of some commits, and SQLite's version and options."""

    free: int
    size: int
    days: float
    fsync_seconds: float | None
    sqlite: tuple[int, int, int]
    options: frozenset[str]


def disk(patient: Patient) -> Iterator[Finding]:
    """The disk of the record."""
    folder = patient.config.record.path.parent
    if not folder.is_dir():
        command = f"install -d -o {quote(patient.user.name)} -g {quote(patient.user.group)} -m 0700 {quote(str(folder))}"
        yield Finding(DISK, "wrong", str(folder), "the folder of the record does not exist", command)
        return
    yield from judged_disk(_disk_facts(patient.config.record.path), str(folder))


def judged_disk(facts: DiskFacts, folder: str) -> Iterator[Finding]:
    """How the disk is."""
    growth = facts.size / facts.days if facts.days >= 1 else 0.0
    left = facts.free / growth if growth else None
    of = (
        ""
        if left is None
        else f", and the record grows by {growth / 1e6:.1f} MB a day: enough for {left:,.0f} days"
    )
    how = f"{facts.free / 1e9:.1f} GB free{of}"
    full = facts.free < LEAST_BYTES
    soon = left is not None and left < FEW_DAYS
    level: Level = "wrong" if full else "warning" if soon else "ok"
    yield Finding(DISK, level, folder, how, _VACUUM if full or soon else None)
    if facts.fsync_seconds is None:
        yield Finding(
            DISK,
            "not checked",
            "commits",
            "you may not write to the folder of the record: run the command as root",
        )
    else:
        slow = facts.fsync_seconds > SLOW_FSYNC_SECONDS
        how = f"the slowest of {_FSYNCS} took {1000 * facts.fsync_seconds:.1f} ms"
        if slow:
            how += ": each card waits for it; use a local SSD"
        yield Finding(DISK, "warning" if slow else "ok", "commits", how)
    version = ".".join(map(str, facts.sqlite))
    bad = {"OMIT_WAL", "THREADSAFE=0"} & facts.options
    if facts.sqlite < _OLDEST_SQLITE or bad:
        why = f"it is compiled with {', '.join(sorted(bad))}" if bad else "the record needs 3.37 or newer"
        yield Finding(DISK, "wrong", f"SQLite {version}", why, "apt install --only-upgrade libsqlite3-0")
    else:
        yield Finding(DISK, "ok", f"SQLite {version}", "it can write the record")


def _disk_facts(record: Path) -> DiskFacts:
    size = sum(each.stat().st_size for each in (record, Path(f"{record}-wal")) if each.exists())
    with sqlite3.connect(":memory:") as connection:
        options = frozenset(row[0] for row in connection.execute("PRAGMA compile_options"))
    connection.close()
    version = sqlite3.sqlite_version_info[:3]
    free = shutil.disk_usage(record.parent).free
    return DiskFacts(free, size, _age(record), _fsync_seconds(record.parent), version, options)


def _age(record: Path) -> float:
    """Days since the first input, 0 without one."""
    try:
        uri = f"{record.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True)
        try:
            (first,) = connection.execute("SELECT ts FROM inputs ORDER BY seq LIMIT 1").fetchone()
        finally:
            connection.close()
        return (datetime.now(UTC) - datetime.fromisoformat(first)).total_seconds() / 86400
    except (sqlite3.Error, TypeError, ValueError):
        return 0.0


def _fsync_seconds(folder: Path) -> float | None:
    """The slowest of some commits of a page, None if this user cannot write there."""
    slowest = 0.0
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            for _ in range(_FSYNCS):
                began = time.monotonic()
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
                slowest = max(slowest, time.monotonic() - began)
    except OSError:
        return None
    return slowest


# --- the addresses of the service


def addresses(patient: Patient) -> Iterator[Finding]:
    """The port of the consoles and the operators' socket: no other program has them."""
    console, operator = patient.config.console, patient.config.operator
    if console is not None:
        holder = listening(console.port)
        yield judged_address(console.port, holder, patient.service)
    if operator is not None:
        yield _socket(operator.socket, patient)


def judged_address(port: int, holder: Process | None, service: Process | None) -> Finding:
    """How the port of the consoles is."""
    what = f"consoles at port {port}"
    if holder is not None and not holder.number:
        return Finding(ADDRESSES, "not checked", what, f"{holder} has this port: run the command as root")
    if holder is not None and holder != service:
        command = holder.stop
        return Finding(
            ADDRESSES, "wrong", what, f"{holder} has this port, so the table cannot start", command
        )
    if service is not None and holder is None:
        return Finding(
            ADDRESSES,
            "wrong",
            what,
            "the service runs and does not listen there: it has an older configuration",
            f"kill {service.number}",
        )
    return Finding(ADDRESSES, "ok", what, "free" if holder is None else "the service listens there")


def _socket(path: Path, patient: Patient) -> Finding:
    what = f"operators' socket {path}"
    if path.exists() and not path.is_socket():
        how = "another file is in its place, so the table cannot start"
        return Finding(ADDRESSES, "wrong", what, how, f"mv {quote(str(path))} {quote(f'{path}.aside')}")
    if not path.parent.is_dir():
        folder, user = quote(str(path.parent)), patient.user
        command = f"install -d -o {quote(user.name)} -g {quote(user.group)} -m 2750 {folder}"
        return Finding(ADDRESSES, "wrong", what, "its folder does not exist", command)
    if patient.service is not None and patient.links is None:
        return Finding(
            ADDRESSES,
            "wrong",
            what,
            "the service runs, but does not answer there",
            f"systemctl restart {patient.unit}",
        )
    return Finding(
        ADDRESSES,
        "ok",
        what,
        "the service does not run" if patient.service is None else "the service answers",
    )


# --- the unit


def units(patient: Patient) -> Iterator[Finding]:
    """The systemd unit of the table."""
    keys = ("LoadState", "ActiveState", "Result", "NRestarts", "WatchdogUSec", "UnitFileState")
    shown = _printed("systemctl", "show", patient.unit, *(f"--property={key}" for key in keys))
    if shown is None:
        yield Finding(UNITS, "not checked", patient.unit, "systemd does not run here")
        return
    last = ("journalctl", "--unit", patient.unit, "--lines=1", "--output=cat", "--quiet")
    log = "" if patient.at_a_console else _printed(*last) or ""
    found = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    yield judged_unit(found, patient.unit, log.strip())


def _printed(*command: str) -> str | None:
    """What a command of systemd prints; None if it is not here, fails or does not end."""
    try:
        ran = subprocess.run(  # noqa: S603 - no shell
            command, capture_output=True, text=True, errors="replace", check=False, timeout=_ANSWER_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if ran.returncode else ran.stdout


def judged_unit(shown: Mapping[str, str], unit: str, log: str = "") -> Finding:
    """How a unit is, by what `systemctl show` prints and the last line of its log."""
    state, restarts = shown.get("ActiveState", "unknown"), int(shown.get("NRestarts") or 0)
    why = f"the last line of its log is {cut(log, 300)!r}" if log else f"`journalctl -u {unit}` says why"
    failed = f"it has failed ({shown.get('Result')}): {why}"
    often = f"systemd has restarted it {restarts} times: {why}"
    unwatched = (
        "it has no watchdog, so a service that hangs is not restarted: install the unit that ships with Punto"
    )
    copied = "cp systemd/punto@.service /etc/systemd/system/ && systemctl daemon-reload && systemctl restart"
    cases: tuple[tuple[bool, Level, str, str | None], ...] = (
        (shown.get("LoadState") == "not-found", "not checked", "this PC does not have the unit", None),
        (state == "failed", "wrong", failed, f"systemctl restart {unit}"),
        (state != "active", "wrong", f"it is {state}, so the table is closed", f"systemctl enable --now {unit}"),
        (shown.get("UnitFileState") == "disabled", "warning", "it does not start with the PC", f"systemctl enable {unit}"),
        (restarts > _MANY_RESTARTS, "warning", often, f"systemctl reset-failed {unit}"),
        (shown.get("WatchdogUSec") in {"0", "infinity"}, "warning", unwatched, f"{copied} {unit}"),
        (True, "ok", f"it runs, {restarts} restarts", None),
    )  # fmt: skip
    level, how, command = next(case[1:] for case in cases if case[0])
    return Finding(UNITS, level, unit, how, command)
