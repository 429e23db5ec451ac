"""One bit of a record, of its WAL or of a snapshot is flipped, in a copy: it must be found, or change nothing.

A table that is started on the flipped copy has no shoe, no broker and no seats: it only starts and reads.
"""

import re
import shutil
import sqlite3
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from typing import Any, Final

from punto.commands.operator import ask
from punto.controller.components import own_version
from punto.controller.journal import rows
from punto.controller.journal.entries import Head
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.controller.table_on_a_machine import Program, wait_until
from tests.ports import free_port
from tests.simulated.plan import Wrong
from tests.soak.house import Service

PLACES: Final = ("record", "WAL", "snapshot")
_DUMPED: Final = ("inputs", *rows.TABLES, "snapshots", "cursors")


@dataclass(frozen=True)
class Outcome:
    """What came of a flipped bit: where it was, and who found it; empty if nobody could, because it changed nothing."""

    place: str
    found: str


def flip(copy: Path, service: Service, dice: Random) -> Outcome:
    """Flip a bit of a copy, and see who finds it.

    Raises:
        Wrong: it changed the record, and nobody found it.
    """
    record = copy / "table.db"
    before, head = _dump(record), _head(record)
    place = dice.choice(PLACES)
    file, at = _somewhere(record, place, dice)
    data = bytearray(file.read_bytes())
    data[at] ^= 1 << dice.randrange(8)
    file.write_bytes(data)
    where = f"byte {at} of {file.name} of {copy}"
    after = _dump(record)
    found = _replayed(record, head)
    said = _started(copy, service)
    if after == before and not found and not said:
        return Outcome(place, "")
    if said:
        return Outcome(place, "the start")
    if found:
        return Outcome(place, found)
    if _only_cursors(before, after):
        return Outcome(place, "nobody, and rounds are sent again")
    raise Wrong(f"{where} was flipped, and nobody found it")


def _only_cursors(before: list[Any], after: list[Any]) -> bool:
    """Whether only the position of the rounds that were sent was lost, with the end of a WAL: then rounds are sent again."""
    last = _DUMPED.index("cursors")
    return len(after) == len(before) and after[:last] == before[:last]


def _somewhere(record: Path, place: str, dice: Random) -> tuple[Path, int]:
    """A file and a byte of it. A snapshot is where a piece of its text is."""
    wal = record.with_name("table.db-wal")
    has_wal = wal.exists() and wal.stat().st_size > 0
    if place == "WAL" and has_wal:
        return wal, dice.randrange(wal.stat().st_size)
    if place == "snapshot":
        with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as database:
            texts = [text for (text,) in database.execute("SELECT state FROM snapshots")]
        for file in [wal, record] if has_wal else [record]:
            data = file.read_bytes()
            for text in texts:
                begin = dice.randrange(max(1, len(text) - 200))
                at = data.rfind(text[begin : begin + 60].encode())
                if at >= 0:
                    return file, at + dice.randrange(60)
    return record, dice.randrange(record.stat().st_size)


def _dump(record: Path) -> list[Any]:
    """All rows; the error if they cannot be read. It reads a copy, because SQLite may write even when it reads."""
    with closing(_opened(record)) as database:
        try:
            return [database.execute(f"SELECT * FROM {table}").fetchall() for table in _DUMPED]  # noqa: S608
        except (sqlite3.Error, UnicodeDecodeError) as error:
            return [str(error)]


def _opened(record: Path) -> sqlite3.Connection:
    other = record.parent / "read"
    shutil.rmtree(other, ignore_errors=True)
    other.mkdir()
    for file in record.parent.glob("table.db*"):
        shutil.copy2(file, other / file.name)
    return sqlite3.connect(other / "table.db")


def _head(record: Path) -> Head:
    with closing(_opened(record)) as database:
        return Head(*database.execute("SELECT seq, hash FROM inputs ORDER BY seq DESC LIMIT 1").fetchone())


def _replayed(record: Path, head: Head) -> str:
    """What a replay finds, which the service runs soon after each start; and with the head that another machine has."""
    closing(_opened(record)).__exit__(None, None, None)
    copy = record.parent / "read" / "table.db"
    try:
        if replay(copy, version=own_version()).difference is not None:
            return "the replay"
        return "the head on another machine" if replay(copy, noted=[head]).difference is not None else ""
    except RecordError:
        return "the replay"


def _started(copy: Path, service: Service) -> str:
    """What a service says that starts on the copy: why it refuses it, or what it ignores. Nothing if it found nothing."""
    door = copy / "door"
    text = service.config.read_text(encoding="utf-8").replace(str(service.record), str(copy / "table.db"))
    text = text.replace(str(service.door), str(door)).replace(str(service.port), str(copy / "no-shoe"))
    text = re.sub(r"(\[mqtt\]\nport) = .*\n", rf"\1 = {free_port()}\n", text)
    config = copy / "table.toml"
    config.write_text(text, encoding="utf-8")
    started = Program(copy / "log", sys.executable, "-m", "punto", "run", "--config", config)
    with started:
        wait_until(lambda: _up(door) or not started.running, "the service takes orders, or ends")
        ended = not started.running
        said = "\n".join(started.said())
        if not ended and started.stop() != 0:
            raise Wrong(f"the service on {copy} was stopped, and said: {said[-2000:]}")
    if ended and ("punto run: " not in said or "Traceback" in said):
        raise Wrong(f"the service on {copy} ended, and said: {said[-2000:]}")
    return said if ended or "the record differs" in said else ""


def _up(door: Path) -> bool:
    try:
        return bool(ask(door, {"order": "status"})["accepted"])
    except OSError:
        return False


class Flipping(threading.Thread):
    """Flips a bit in each of the `copies`, while the house plays on."""

    def __init__(
        self, copies: "SimpleQueue[Path]", services: Mapping[str, Service], seed: int, over: threading.Event
    ) -> None:
        super().__init__(name="flips", daemon=True)
        self._copies, self._services = copies, services
        self._dice = Random(f"flips {seed}")
        self._over = over
        self._last = threading.Event()
        self.outcomes: Counter[Outcome] = Counter()
        self.wrong: str | None = None

    def run(self) -> None:
        """Flip until `finish`."""
        try:
            while not (self._last.is_set() and self._copies.empty()):
                with suppress(Empty):
                    copy = self._copies.get(timeout=0.2)
                    self.outcomes[flip(copy, self._services[copy.parent.name], self._dice)] += 1
                    shutil.rmtree(copy)
        except BaseException:  # noqa: BLE001 - it ends the soak
            self.wrong = f"flips: {traceback.format_exc()}"
            self._over.set()

    def finish(self) -> None:
        """Flip what is left."""
        self._last.set()
        self.join()
