"""One long run at full speed: cards a second, memory, a start after a kill, and what the service costs when idle."""

import contextlib
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.bench import Helper, Line, Service, mosquitto, say, wait_until

ROUNDS = 100_000
FEW_ROUNDS = 1_000
IDLE_SECONDS = 15
MEBI = 1 << 20


def measure(folder: Path, rounds: int = ROUNDS) -> list[Line]:
    """Deal so many rounds from a virtual shoe as fast as acknowledged, and look at the service meanwhile."""
    say(
        f"\n{rounds:,} rounds from a virtual shoe as fast as acknowledged, everything recorded and published.\n"
    )
    with mosquitto(folder) as broker:
        return _measure(folder, broker, rounds)


def _measure(folder: Path, broker: int, rounds: int) -> list[Line]:
    link = folder / "shoe"
    shoe = subprocess.Popen(
        [sys.executable, "-m", "punto.simulators.shoe", "--link", str(link), "--window", "64", "--quiet"]
    )
    service = Service(folder, broker, str(link))
    counter = Helper("counter", broker, "punto/bench/event")
    try:
        service.start()
        service.order(order="sign_on")
        wait_until(lambda: service.order(order="status")["state"]["shoe"]["online"])
        began = time.perf_counter()
        few = _deal(service, FEW_ROUNDS)
        growth = (_deal(service, rounds) - few) / MEBI
        seconds = time.perf_counter() - began
        time.sleep(2)
        counts = counter.finish()
        shoe.kill()
        idle = _idle(service)
        service.kill()
        start_seconds = service.start()
        cards = _cards(service.record)
    finally:
        service.kill()
        shoe.kill()
        counter.process.kill()
    rate, published, gaps = cards / seconds, counts["card_dealt"], counts["gaps"]
    all_seen = published == cards and gaps == 0
    return [
        Line("cards a second", f"{rate:,.0f} ({cards:,} cards)", "at least 1,500", rate >= 1500),
        Line("cards published", f"{published:,}, {gaps} gaps", "all, none", all_seen),
        Line("start after a kill", f"{start_seconds:.2f} s", "under 1 s", start_seconds < 1),
        Line("memory growth", f"{growth:.1f} MiB, from {few / MEBI:.0f} MiB", "at most 10", growth <= 10),
        Line("idle processor", f"{100 * idle:.2f}%", "under 1%", idle < 0.01),
    ]


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
