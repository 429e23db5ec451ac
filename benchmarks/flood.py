"""One seat, one account, one device and one display each flood in turn; the others' pace and latency beside quiet.

The wagers of six honest seats are timed, from the request to the answer, in blocks that alternate between quiet and flood.
The floods are `benchmarks.flooder`.
"""

import itertools
import json
import random
import sqlite3
import statistics
import threading
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.bench import HandHeldShoe, Helper, Line, Service, mosquitto, say, wait_until
from benchmarks.client import connected
from punto.drivers.framing import encode
from tests.ports import free_port

RATE: Final = 1000
"""How often a flood asks in a second, if it is answered fast enough: two hundred times as often as a client may."""
FLOODS: Final = ("elsewhere", "seat", "account", "device", "display")
"""The first one is not the service's: it shows what a flood costs on this machine and at its broker."""
BLOCK_SECONDS: Final = 5.0
BLOCKS: Final = 9
WAGERS_PER_SECOND: Final = 24
SEATS: Final = range(2, 8)
"""The honest ones; the flood has seat 1. None of them asks as often as a seat may."""
MOST_MEMORY: Final = 50 * 1024 * 1024
MOST_RECORD: Final = 1024 * 1024
"""Bytes a minute."""
WITHIN: Final = 1.1


def measure(folder: Path) -> list[Line]:
    """The honest seats' latency under each flood beside quiet, and what the service grew by."""
    say(f"Honest seats wager {WAGERS_PER_SECOND} times a second while one client asks {RATE} times a second,")
    say(f"{BLOCKS} blocks of {BLOCK_SECONDS:.0f} s each, in turn with quiet ones.\n")
    with mosquitto(folder) as broker:
        console, keypad = free_port(), folder / "keypad"
        shoe = HandHeldShoe()
        service = Service(folder, broker, shoe.path)
        with service.config.open("a", encoding="utf-8") as config:
            config.write(f'[console]\nport = {console}\n[keypad]\nport = "{keypad}"\nlink_version = 1\n')
        with_betting_open(service)
        flooder = Helper("flooder", RATE, broker, console, keypad)
        service.start()
        try:
            service.order(order="sign_on")
            wait_until(lambda: service.order(order="status")["state"]["shoe"]["online"])
            service.order(order="change_shoe")
            burn(service, shoe)
            return _under_each(service, broker, flooder)
        finally:
            flooder.process.kill()
            service.kill()


def _under_each(service: Service, broker: int, flooder: Helper) -> list[Line]:
    honest = _Honest(service, broker)
    honest.block()  # everything is loaded and every table of the record has been written
    lines = []
    for name in FLOODS:
        quiet: list[float] = []
        flooded: list[float] = []
        memory = service.resident_bytes()
        grown = 0.0
        for _ in range(BLOCKS):
            before = _record_bytes(service)
            quiet += honest.block()
            between = _record_bytes(service)
            flooder.tell(name)
            flooded += honest.block()
            flooder.tell("")
            # What the honest seats' wagers wrote in the quiet block is not the flood's.
            grown += _record_bytes(service) - between - (between - before)
        more = service.resident_bytes() - memory
        a_minute = grown / (BLOCKS * BLOCK_SECONDS) * 60
        for percent in (50, 95):
            base, own = (1000 * _percentile(taken, percent) for taken in (quiet, flooded))
            figure = f"{own:.2f} ms, quiet {base:.2f} ms, ratio {own / base:.2f}"
            limit, passed = (f"at most {WITHIN}", own / base <= WITHIN) if name in FLOODS[1:] else ("", True)
            lines.append(Line(f"{name} floods, p{percent}", figure, limit, passed))
        pace = len(flooded) / len(quiet)
        lines.append(
            Line(
                f"{name} floods, pace",
                f"{len(flooded)} answers, quiet {len(quiet)}, ratio {pace:.2f}",
                "at least 0.9",
                pace >= 0.9,
            )
        )
        lines.append(
            Line(f"{name} floods, memory", f"{more / 2**20:+.1f} MiB", "at most +50 MiB", more <= MOST_MEMORY)
        )
        lines.append(
            Line(
                f"{name} floods, record",
                f"{a_minute / 2**20:+.3f} MiB a minute",
                "at most +1 MiB",
                a_minute <= MOST_RECORD,
            )
        )
    return lines


def _percentile(taken: list[float], percent: int) -> float:
    return statistics.quantiles(taken, n=100)[percent - 1]


def _record_bytes(service: Service) -> int:
    """The record's pages that are in use, with those that wait in the WAL."""
    with sqlite3.connect(f"file:{service.record}?mode=ro", uri=True) as record:
        pages: int = record.execute("PRAGMA page_count").fetchone()[0]
        size: int = record.execute("PRAGMA page_size").fetchone()[0]
    return pages * size


def with_betting_open(service: Service) -> None:
    """Have an order close the betting, not the first card."""
    text = service.config.read_text(encoding="utf-8")
    service.config.write_text(text.replace("[shoe]", 'betting_closes = "order"\n[shoe]', 1), encoding="utf-8")


def burn(service: Service, shoe: HandHeldShoe) -> None:
    """Let the first card out, and burn."""
    for number in itertools.count():
        if service.order(order="status")["state"]["phase"] == "betting":
            return
        shoe.send(encode(shoe.card(number)))
        time.sleep(0.1)


class _Honest:
    """Seats that change their wagers in turn at their own pace, each after the answer to the one before."""

    def __init__(self, service: Service, broker: int) -> None:
        self._round = service.order(order="status")["state"]["round"]
        self._client = connected(broker)
        self._answered = threading.Event()
        self._asked = ""
        self._numbers = itertools.count()
        self._client.on_message = self._take
        self._client.subscribe("punto/bench/wagers/+/result", qos=1)
        self._client.loop_start()

    def _take(self, _client: Any, _userdata: Any, message: Any) -> None:
        if json.loads(message.payload)["request"] == self._asked:
            self._answered.set()

    def block(self) -> list[float]:
        """The seconds that each wager of a block took; one without an answer within a second is left out."""
        taken = []
        end = time.monotonic() + BLOCK_SECONDS
        while time.monotonic() < end:
            began = time.monotonic()
            number = next(self._numbers)
            self._answered.clear()
            self._asked = f"honest {number}"
            wager = {
                "id": self._asked,
                "round": self._round,
                "wager": "player",
                "amount": 500 + 100 * (number // len(SEATS) % 2),
            }
            seat = SEATS[number % len(SEATS)]
            self._client.publish(f"punto/bench/wagers/{seat}/set", json.dumps(wager), qos=1)
            if self._answered.wait(1.0):
                taken.append(time.monotonic() - began)
            # At a beat of its own it would meet what a flood causes once a second either always or never.
            pause = random.uniform(0.5, 1.5) / WAGERS_PER_SECOND
            time.sleep(max(0.0, began + pause - time.monotonic()))
        return taken
