"""Real faults at the services, the broker and the cables of a house: each kind of place has a thread, so faults overlap.

A fault counts only if it struck: a process was killed that had played since its start, a write did fail, a cable was pulled
while cards came. `Ledger.struck` has the counts.
"""

import shutil
import sqlite3
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any, Final

from tests.controller.table_on_a_machine import wait_until
from tests.simulated.plan import Wrong
from tests.soak.house import House, Service
from tests.soak.people import Hall, Subscriber
from tests.soak.shim import Failing

WANTED: Final[dict[str, int]] = {
    "kill -9": 1000,
    "kill -9 in a start": 100,
    "SIGSTOP": 60,
    "full disk": 50,
    "read-only disk": 30,
    "fsync error": 50,
    "write error": 20,
    "lost writes": 20,
    "stop": 20,
    "broker killed": 200,
    "broker frozen": 20,
    "broker slow": 20,
    "broker refuses": 20,
    "broker forgets": 20,
    "cable pulled": 200,
    "cable flaps": 30,
    "shoe without power": 30,
    "clock set": 40,
    "flipped bit": 60,
}
"""How often each kind of fault must strike."""
SLOW_DISK_SECONDS: Final = 0.02
PLAYED: Final = 4
"""Inputs after those of a start: then the service has played."""
_RECORD: Final = ("table.db", "table.db-wal", "table.db.lock")


class Ledger:
    """What is wanted of each kind of fault, and what has struck. Threads share it."""

    def __init__(self, wanted: Mapping[str, int]) -> None:
        self.struck: Counter[str] = Counter()
        self._wanted = wanted
        self._lock = threading.Lock()

    def choose(self, dice: Random, kinds: Sequence[str]) -> str | None:
        """A kind of which there were too few, by what is missing; None if there were enough of all."""
        missing = [max(0, self._wanted.get(kind, 0) - self.struck[kind]) for kind in kinds]
        return dice.choices(kinds, missing)[0] if sum(missing) else None

    def count(self, kind: str) -> None:
        """One has struck."""
        with self._lock:
            self.struck[kind] += 1

    @property
    def complete(self) -> bool:
        """Whether there were enough of all."""
        return all(self.struck[kind] >= number for kind, number in self._wanted.items())


class Place(threading.Thread):
    """A place at which faults happen, one after the other, until `over`. `faults` return whether they struck."""

    def __init__(self, name: str, ledger: Ledger, seed: int, over: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.ledger = ledger
        self.dice = Random(f"faults {seed} {name}")
        self.over = over
        self.wrong: str | None = None
        self.faults: dict[str, Callable[[], bool]] = {}

    def run(self) -> None:
        """Let faults happen."""
        try:
            while not self.over.wait(self.dice.uniform(0, 0.3)):
                kind = self.ledger.choose(self.dice, tuple(self.faults))
                if kind is None:
                    self.over.wait(0.5)
                elif self.faults[kind]():
                    self.ledger.count(kind)
        except BaseException:  # noqa: BLE001 - it ends the soak
            self.wrong = f"{self.name}: {traceback.format_exc()}"
            self.over.set()

    def so_soon(self, so: Callable[[], Any], seconds: float) -> bool:
        """Whether something becomes true within this time, or before the end of the soak."""
        end = time.monotonic() + seconds
        while not so():
            if time.monotonic() > end or self.over.is_set():
                return False
            time.sleep(0.02)
        return True

    def pause(self, least: float, most: float) -> None:
        """Wait for some time."""
        time.sleep(self.dice.uniform(least, most))


def inputs(record: Path) -> int:
    """How many inputs a record has."""
    with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True, timeout=10)) as database:
        return int(database.execute("SELECT coalesce(max(seq), 0) FROM inputs").fetchone()[0])


class AtService(Place):
    """Faults of a service and of its disk. `copies` gets the records of which a bit is flipped later."""

    def __init__(
        self, service: Service, ledger: Ledger, seed: int, over: threading.Event, copies: SimpleQueue[Path]
    ) -> None:
        super().__init__(service.name, ledger, seed, over)
        self._service = service
        self._copies = copies
        self._copied = 0
        self._began = inputs(service.record)
        self.faults = {
            "kill -9": self._kill,
            "kill -9 in a start": self._kill_in_a_start,
            "SIGSTOP": self._freeze,
            "full disk": self._full_disk,
            "read-only disk": self._read_only_disk,
            "fsync error": lambda: self._failing(
                self.dice.choice([Failing.SYNC_FAILS, Failing.SYNC_FAILS_LATE])
            ),
            "write error": lambda: self._failing(
                self.dice.choice([Failing.WRITE_FAILS, Failing.WRITE_IS_SHORT])
            ),
            "lost writes": lambda: self._failing(Failing.WRITES_ARE_LOST),
            "stop": self._stop_and_start,
            "flipped bit": self._copy,
        }

    # --- what each of them needs

    def _played(self, seconds: float = 6) -> bool:
        """Whether the service is up and plays: it takes inputs after its start."""
        return self.so_soon(
            lambda: self._runs() and inputs(self._service.record) >= self._began + PLAYED, seconds
        )

    def _runs(self) -> bool:
        if not self._service.running:
            raise Wrong(
                f"{self.name} ended by itself with {self._service.process.returncode}: {self._service.says()[-2000:]}"
            )
        return True

    def _start(self) -> None:
        self._service.begin_to_start()
        self._service.wait_until_up()
        self._began = inputs(self._service.record)

    def _ends(self, seconds: float = 20) -> bool:
        """Whether the service ends itself, and says why."""
        if not self.so_soon(lambda: not self._service.running, seconds):
            return False
        status, said = self._service.process.returncode, self._service.says()
        if status == 0 or "punto run: the record" not in said:
            raise Wrong(f"{self.name} ended with {status} on a broken disk, and said: {said[-2000:]}")
        return True

    def _start_in_vain(self) -> None:
        """Start it while the disk is as it is: it must not come up, or must end as soon as it writes."""
        self._service.begin_to_start()
        if not self.so_soon(lambda: not self._service.running, 2):
            return
        said = self._service.says()
        if self._service.process.returncode == 0 or "punto run: " not in said or "Traceback" in said:
            raise Wrong(
                f"{self.name} ended with {self._service.process.returncode} in a start on a broken disk, and said: {said[-2000:]}"
            )

    def _written(self) -> int:
        log = Path(f"{self._service.record}-wal")
        try:
            return log.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    # --- the faults

    def _kill(self) -> bool:
        if not self._played():
            return False
        self.pause(0, 1)
        if self.dice.random() < 0.5:
            if self.dice.random() < 0.7:
                self._service.shim.slow(SLOW_DISK_SECONDS)
            before = self._written()
            self.so_soon(lambda: self._written() != before, 1)
            self.pause(0, self.dice.choice([0, 0.004, 0.03]))
        struck = self._runs()
        self._service.kill()
        self._service.shim.slow(0)
        self._start()
        return struck

    def _kill_in_a_start(self) -> bool:
        self._service.kill()
        self._service.begin_to_start()
        self.pause(0.02, 0.6)
        struck = self._runs()
        self._service.kill()
        self._start()
        return struck

    def _freeze(self) -> bool:
        if not self._played():
            return False
        self._service.freeze()
        self.pause(0.2, self.dice.choice([0.5, 2, 8]))
        self._service.thaw()
        self._began = inputs(self._service.record)
        return self._played(15)

    def _stop_and_start(self) -> bool:
        if not self._played():
            return False
        status = self._service.stop()
        if status != 0:
            raise Wrong(f"{self.name} was stopped, and ended with {status}: {self._service.says()[-2000:]}")
        self._start()
        return True

    def _full_disk(self) -> bool:
        # A WAL that was begun anew: each write needs room.
        if not self._stop_and_start() or not self._played():
            return False
        self._service.disk.fill()
        struck = self._ends()
        if struck and self.dice.random() < 0.7:
            self._start_in_vain()
        self._service.kill()
        self._service.disk.free()
        self._start()
        return struck

    def _read_only_disk(self) -> bool:
        if not self._played():
            return False
        self._service.freeze()
        wait_until(self._service.frozen, f"{self.name} stands still")
        self._service.disk.fail()
        self._service.thaw()
        struck = self._ends()
        if struck and self.dice.random() < 0.7:
            self._start_in_vain()
        self._service.kill()
        self._service.disk.repair()
        self._start()
        return struck

    def _failing(self, kind: Failing) -> bool:
        if not self._played():
            return False
        shim = self._service.shim
        before = shim.struck
        shim.fail(kind, self.dice.choice([0, 0, 1, 2, 5, 12]))
        ended = self._ends()
        if ended and self.dice.random() < 0.3:
            self._start_in_vain()
        self._service.kill()
        shim.mend()
        if ended and shim.struck == before:
            raise Wrong(f"{self.name} ended, but no call failed: {self._service.says()[-2000:]}")
        self._start()
        return ended

    def _copy(self) -> bool:
        """Keep a copy of the record as a kill or a stop leaves it; the table plays on with its own."""
        if not self._played():
            return False
        self._service.kill() if self.dice.random() < 0.7 else self._service.stop()
        self._copied += 1
        copy = self._service.folder / f"copy-{self._copied}"
        copy.mkdir()
        for name in _RECORD:
            file = self._service.disk.path / name
            if file.exists():
                shutil.copy2(file, copy / name)
        self._start()
        self._copies.put(copy)
        return True


class AtBroker(Place):
    """Faults of the broker. It keeps nothing on disk, so one that is started again has forgotten everything."""

    def __init__(
        self, house: House, subscriber: Subscriber, ledger: Ledger, seed: int, over: threading.Event
    ) -> None:
        super().__init__("broker", ledger, seed, over)
        self._broker, self._tables, self._subscriber = house.broker, house.services, subscriber
        self._before = 0
        self.faults = {
            "broker killed": self._kill,
            "broker frozen": lambda: self._for_a_while(self.dice.choice([1, 3, 12])),
            "broker slow": self._slow,
            "broker refuses": self._refuse,
            "broker forgets": self._forget,
        }

    def _works(self) -> bool:
        """Whether messages have come through since the last fault, and some time has passed."""
        self.pause(0.2, 4)
        worked = self.so_soon(lambda: self._subscriber.messages > self._before + 5, 10)
        if not self._broker.running:
            raise Wrong("the broker ended by itself")
        return worked

    def _done(self) -> bool:
        self._before = self._subscriber.messages
        return True

    def _kill(self) -> bool:
        if not self._works():
            return False
        self._broker.kill()
        self.pause(0, self.dice.choice([0.1, 1, 3]))
        self._broker.start()
        return self._done()

    def _for_a_while(self, seconds: float) -> bool:
        if not self._works():
            return False
        self._broker.freeze()
        self.pause(seconds / 3, seconds)
        self._broker.thaw()
        return self._done()

    def _slow(self) -> bool:
        if not self._works():
            return False
        end = time.monotonic() + self.dice.uniform(1, 4)
        while time.monotonic() < end:
            self._broker.freeze()
            self.pause(0.05, 0.3)
            self._broker.thaw()
            time.sleep(0.005)
        return self._done()

    def _refuse(self) -> bool:
        if not self._works():
            return False
        with self._broker.refusing():
            self.pause(0.5, 3)
        return self._done()

    def _forget(self) -> bool:
        if not self._works():
            return False
        table = self.dice.choice(self._tables).name
        for topic in ("availability", "state", "info", "scoreboard", "progressive/dragon", "meter/answer/t1"):
            self._broker.forget(f"punto/{table}/{topic}")
        return self._done()


class AtCable(Place):
    """Faults between a table and its shoe, and steps of the table's clock."""

    def __init__(
        self, house: House, table: Service, hall: Hall, ledger: Ledger, seed: int, over: threading.Event
    ) -> None:
        super().__init__(f"cable of {table.name}", ledger, seed, over)
        self._table, self._hall, self._shoe = table, hall, house.shoes[table.name]
        self.faults = {
            "cable pulled": self._pull,
            "cable flaps": self._flap,
            "shoe without power": self._power,
            "clock set": self._set_clock,
        }

    def _deals(self) -> bool:
        """Whether the shoe deals: a card came out just now."""
        self.pause(0, 6)
        before = self._shoe.inside
        return self.so_soon(lambda: self._shoe.inside != before, 10)

    def _pull(self) -> bool:
        if not self._deals():
            return False
        self.pause(0, 0.1)
        seconds = self.dice.choice([0.05, 0.3, 1.2])
        self._hall.call(self._shoe.unplug, seconds)
        time.sleep(seconds)
        return True

    def _flap(self) -> bool:
        if not self._deals():
            return False
        for _ in range(self.dice.randint(3, 8)):
            self._hall.call(self._shoe.unplug)
            self.pause(0.01, 0.1)
            self._hall.call(self._shoe.plug)
            self.pause(0.01, 0.3)
        return True

    def _power(self) -> bool:
        if not self._deals():
            return False
        self._hall.call(self._shoe.lose_power, self.dice.uniform(0.1, 2.5))
        return True

    def _set_clock(self) -> bool:
        if not self._deals():
            return False
        self._table.shim.set_clock(self.dice.choice([-86400, -3600, -5, 0, 5, 3600, 86400]))
        return True


def mend(house: House) -> None:
    """Let all work again: no fault is left, and all services are up with the right time."""
    house.broker.thaw()
    for service in house.services:
        service.shim.mend()
        service.shim.slow(0)
        service.shim.set_clock(0)
        wait_until(service.up, f"{service.name} is up")
