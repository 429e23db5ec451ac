"""The checks, and how they are run: all at the same time, each with a limit, and none can end the doctor."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from punto.doctor import broker, certificates, keys, machine, people, ports, record
from punto.doctor.findings import Finding
from punto.doctor.patient import Patient


class Check(NamedTuple):
    """A check of a table, and the seconds after which it is given up."""

    name: str
    run: Callable[[Patient], Iterable[Finding]]
    seconds: float = 15.0


CHECKS: Final = (
    Check(ports.CHECK, ports.check, 30.0),
    Check(keys.CHECK, keys.check),
    Check(broker.CHECK, broker.check),
    Check(machine.CLOCK, machine.clock),
    Check(machine.DISK, machine.disk),
    Check(record.RECORD, record.record, 60.0),
    Check(record.BACKUPS, record.backups),
    Check(certificates.CHECK, certificates.check),
    Check(people.CHECK, people.check),
    Check(machine.ADDRESSES, machine.addresses),
    Check(machine.UNITS, machine.units),
)
"""What is checked of each table, in the order of the report. The command adds the configuration and the displays."""


class Job(NamedTuple):
    """A check that is run: its name, what it does, its limit, and the table that it is of."""

    name: str
    run: Callable[[], Iterable[Finding]]
    seconds: float
    table: str = ""


def jobs_of(patient: Patient, table: str = "") -> Iterator[Job]:
    """The checks of a table."""
    for check in CHECKS:
        yield Job(check.name, _bound(check, patient), check.seconds, table)


def _bound(check: Check, patient: Patient) -> Callable[[], Iterable[Finding]]:
    return lambda: check.run(patient)


def examine(jobs: Sequence[Job]) -> list[Finding]:
    """Run the checks at the same time, and return their findings in order.

    A check that fails, or takes longer than its limit, is reported as not checked. Its thread does not hold up the end of the program.
    """
    results: list[list[Finding] | None] = [None] * len(jobs)

    def run(number: int, job: Job) -> None:
        try:
            results[number] = list(job.run())
        except PermissionError as error:
            why = f"you may not look at {error.filename}: run the command as root"
            results[number] = [_not_checked(job, why)]
        except Exception as error:  # noqa: BLE001 - a check that fails must not hide what the others find
            results[number] = [_not_checked(job, f"the check failed: {type(error).__name__}: {error}")]

    threads = [
        threading.Thread(target=run, args=each, name=each[1].name, daemon=True) for each in enumerate(jobs)
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    found: list[Finding] = []
    for number, (job, thread) in enumerate(zip(jobs, threads, strict=True)):
        thread.join(max(0.0, began + job.seconds - time.monotonic()))
        own = results[number]
        if own is None:
            own = [_not_checked(job, f"it took longer than {job.seconds:g} s")]
        found += (replace(each, table=job.table) for each in own)
    return found


def _not_checked(job: Job, why: str) -> Finding:
    return Finding(job.name, "not checked", job.name, why)
