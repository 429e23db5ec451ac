"""One long run at full speed: cards a second, memory, a start after a kill, and what the service costs when idle."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Service, wait_until

ROUNDS = 100_000
FEW_ROUNDS = 1_000
IDLE_SECONDS = 15


@dataclass(frozen=True)
class Endurance:
    """What the long run showed; memory in bytes, `idle` as a share of one processor.

    `cards` went to hands and `published` of them were seen by a subscriber, who missed `gaps` events.
    """

    cards: int
    seconds: float
    published: int
    gaps: int
    memory_few: int
    memory_many: int
    start_seconds: float
    idle: float


def measure(folder: Path, broker: int, rounds: int = ROUNDS) -> Endurance:
    """Deal so many rounds from a virtual shoe as fast as acknowledged, and look at the service meanwhile."""
    link = folder / "shoe"
    shoe = subprocess.Popen(
        [sys.executable, "-m", "punto.simulators.shoe", "--link", str(link), "--window", "64", "--quiet"]
    )
    service = Service(folder, broker, str(link))
    counter = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.counter", str(broker), "punto/bench/event"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if counter.stdout is None or counter.stdout.readline().strip() != "ready":
            raise RuntimeError("the counter did not start")
        service.start()
        service.order(order="sign_on")
        wait_until(lambda: service.order(order="status")["state"]["shoe"]["online"])
        began = time.perf_counter()
        few = _deal(service, FEW_ROUNDS)
        many = _deal(service, rounds)
        seconds = time.perf_counter() - began
        time.sleep(2)
        published = json.loads(counter.communicate("\n")[0])
        shoe.kill()
        idle = _idle(service)
        service.kill()
        start_seconds = service.start()
        return Endurance(
            cards=_cards(service.record),
            seconds=seconds,
            published=published["card_dealt"],
            gaps=published["gaps"],
            memory_few=few,
            memory_many=many,
            start_seconds=start_seconds,
            idle=idle,
        )
    finally:
        service.kill()
        for process in (shoe, counter):
            process.kill()


def _deal(service: Service, rounds: int) -> int:
    """Be the supervisor until so many rounds are dealt; return the memory in use then."""
    while True:
        state = service.order(order="status")["state"]
        if state["phase"] in {"closed", "settled"}:
            if state["round"] > rounds:
                return service.resident_bytes()
            service.order(order="change_shoe")
        time.sleep(0.01)


def _idle(service: Service) -> float:
    before = service.processor_seconds()
    time.sleep(IDLE_SECONDS)
    return (service.processor_seconds() - before) / IDLE_SECONDS


def _cards(record: Path) -> int:
    """How many cards went to hands, by the record's rounds."""
    with contextlib.closing(sqlite3.connect(record)) as connection:
        cards: int = connection.execute(
            "SELECT sum(length(player) - length(replace(player, ' ', '')) + length(banker) "
            "- length(replace(banker, ' ', '')) + 2) FROM rounds"
        ).fetchone()[0]
    return cards
