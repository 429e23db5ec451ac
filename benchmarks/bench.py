"""What every measurement needs: a broker, a table's service, a shoe's line held by hand, a subscriber elsewhere."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.table.events import Component
from punto.commands.operator import ask
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from tests.controller.table_on_a_machine import STAFF, employ
from tests.ports import free_port, takes_connections

LOG = 0x5EED0001


@dataclass(frozen=True)
class Line:
    """A figure, and whether it is within its bound."""

    what: str
    figure: str
    bound: str
    holds: bool


def say(text: str) -> None:
    """Print at once: a run takes minutes."""
    print(text, flush=True)


def wait_until(ready: Any, seconds: float = 10) -> None:
    """Wait for something that becomes true."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError("it did not become ready")
        time.sleep(0.005)


@contextlib.contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    """A Mosquitto on a free port of the loopback, set up as in production but for its passwords."""
    port = free_port()
    config = folder / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
        "max_queued_messages 100000\nmax_inflight_messages 20\nlog_type error\n"
    )
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    broker = subprocess.Popen([program, "-c", str(config)])
    try:
        wait_until(lambda: takes_connections(port))
        yield port
    finally:
        broker.terminate()
        broker.wait()


class Service:
    """A `punto run` of its own, with its record, on a broker."""

    def __init__(
        self, folder: Path, broker: int, port: str, table: str = "bench", signer: Path | None = None
    ) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.record = folder / "table.db"
        signed = f'signer = "{signer}"\n' if signer else ""
        self.door = folder / "operator.sock"
        self.config = folder / "table.toml"
        self.config.write_text(
            f'version = 1\n[table]\nid = "{table}"\nname = "Bench"\ngame = "dragon-bonus-1"\nsimulation = true\n'
            f'[shoe]\nport = "{port}"\n[record]\npath = "{self.record}"\n{signed}'
            f'[mqtt]\nport = {broker}\nrestricted = {str(bool(signer)).lower()}\n[operator]\nsocket = "{self.door}"\n'
            f'[accounts]\npath = "{folder / "operators.db"}"\n'
        )
        employ(folder / "operators.db")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start it and return the seconds until it answered."""
        # A program that is installed has its bytecode.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        began = time.perf_counter()
        with (self.folder / "service.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "punto", "run", "--config", str(self.config)],
                stderr=log,
                env=environment,
            )
        wait_until(self._up, 60)
        return time.perf_counter() - began

    def _up(self) -> bool:
        try:
            return bool(ask(self.door, {"order": "status"})["accepted"])
        except OSError:
            return False

    def order(self, **request: Any) -> dict[str, Any]:
        """Give an order, which must be accepted."""
        by = {} if request["order"] == "status" else {"by": STAFF}
        answer = ask(self.door, {**request, **by})
        if not answer["accepted"]:
            raise RuntimeError(answer["reason"])
        return answer

    def kill(self) -> None:
        """End it without warning."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.door.unlink(missing_ok=True)

    def resident_bytes(self) -> int:
        """The memory it has in use."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor_seconds(self) -> float:
        """The processor time that it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def pid(self) -> int:
        """Its process."""
        if self.process is None:
            raise RuntimeError("the service is not running")
        return self.process.pid


class HandHeldShoe:
    """The shoe's end of a line, with no dealer: a frame goes out when the measurement says so."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        self._slave = slave
        self._lock = threading.Lock()
        self.acknowledged = 0
        self.record = 0
        self._state = frames.Heartbeat(LOG, 1, 1, 1, 0, decks=8)
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    def _listen(self) -> None:
        decoder = Decoder(frames.TYPES)
        while data := os.read(self.master, 4096):
            for frame in decoder.feed(data):
                self._obey(frame)

    def _obey(self, frame: object) -> None:
        state = self._state
        match frame:
            case frames.AskHello():
                parts = (Component("bench", "1", "00" * 32),)
                self._write(frames.Hello("BENCH-1", LOG, self.acknowledged + 1, self.record + 1, 8, parts))
            case frames.Acknowledge(record=record, locked=locked, lamps=lamps):
                self.acknowledged = record
                self._state = replace(state, locked=locked, lamps=lamps)
            case frames.Lock() | frames.Unlock():
                self._state = replace(state, locked=isinstance(frame, frames.Lock))
            case frames.SetLamps(lamps=lamps):
                self._state = replace(state, lamps=lamps)
            case frames.Resend():
                self._state = replace(state, sending=True)

    def _beat(self) -> None:
        while True:
            time.sleep(0.25)
            first, following = self.acknowledged + 1, self.record + 1
            self._write(replace(self._state, first_kept=first, next_to_send=following, next_record=following))

    def _write(self, frame: Any) -> None:
        with self._lock:
            os.write(self.master, encode(frame))

    def card(self, number: int) -> frames.CardRecord:
        """The frame of the next card."""
        self.record += 1
        return frames.CardRecord(self.record, STANDARD_DECK[number % 52], 99)

    def send(self, data: bytes) -> None:
        """Put a frame's bytes on the line."""
        with self._lock:
            os.write(self.master, data)


class Helper:
    """A module of this package in a process of its own, which said that it is ready."""

    def __init__(self, module: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
        )
        self._wait()

    def _wait(self) -> None:
        if self.process.stdout is None or self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{self.process.args!r} did not answer")

    def tell(self, line: str) -> None:
        """Give it a line, and wait until it is ready again."""
        if self.process.stdin is None:
            raise RuntimeError("it has no standard input")
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        self._wait()

    def finish(self) -> Any:
        """End it and return what it found."""
        output, _ = self.process.communicate("\n")
        return json.loads(output)


class Floor:
    """The floor at work, and a subscriber to what it publishes."""

    def __init__(self, folder: Path, broker: int) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self._floor = Helper("floor", os.ttyname(slave), broker, folder / "floor.db")
        self._arrived = Helper("subscriber", broker, "floor/event")
        self._sent: list[float] = []

    def write(self) -> None:
        """Give it a line."""
        payload = json.dumps({"padding": "x" * 200}).encode() + b"\n"
        self._sent.append(time.monotonic())
        os.write(self._master, payload)

    def finish(self) -> list[float]:
        """End it and return the seconds that each line took."""
        arrived = [at for at, _ in self._arrived.finish()]
        self._floor.process.kill()
        return [there - here for here, there in zip(self._sent, arrived, strict=True)]
