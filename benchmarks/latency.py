"""From a frame written to the pseudo-terminal to a message in another process, beside the floor."""

import json
import os
import random
import statistics
import subprocess
import sys
import time
import tty
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import HandHeldShoe, Service, Subscriber, wait_until
from punto.drivers.framing import encode

SAMPLES = 1500
BLOCK = 50
BLOCKS_A_SHOE = 8
GAP_SECONDS = 0.008


@dataclass(frozen=True)
class Latency:
    """Milliseconds, at the median and the 99th percentile."""

    p50: float
    p99: float


def measure(folder: Path, broker: int) -> tuple[Latency, Latency]:
    """The floor's latency and the service's, taken in alternating blocks of one run."""
    shoe = HandHeldShoe()
    service = Service(folder, broker, shoe.path)
    service.start()
    master, slave = os.openpty()
    tty.setraw(slave)
    floor = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.floor", os.ttyname(slave), str(broker), str(folder / "floor.db")],
        stdout=subprocess.PIPE,
    )
    if floor.stdout is None or floor.stdout.readline().strip() != b"ready":
        raise RuntimeError("the floor did not start")
    service.order(order="sign_on")
    wait_until(lambda: service.order(order="status")["state"]["shoe"]["online"])
    events = Subscriber(broker, "punto/bench/event")
    floors = Subscriber(broker, "floor/event")
    time.sleep(1)

    sent: list[float] = []
    floor_sent: list[float] = []
    draw = random.Random(1)
    for block in range(SAMPLES // BLOCK):
        if block % BLOCKS_A_SHOE == 0:
            load(service, shoe)
        for number in range(BLOCK):
            data = encode(shoe.card(2 + block % BLOCKS_A_SHOE * BLOCK + number))
            sent.append(time.monotonic())
            shoe.send(data)
            time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))
        for _ in range(BLOCK):
            payload = json.dumps({"padding": "x" * 200}).encode() + b"\n"
            floor_sent.append(time.monotonic())
            os.write(master, payload)
            time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))
    dealt = [at for at, payload in events.finish() if payload["happening"]["kind"] == "card_dealt"]
    floored = [at for at, _ in floors.finish()]
    service.kill()
    floor.kill()
    return _latency(floor_sent, floored), _latency(sent, dealt)


def load(service: Service, shoe: HandHeldShoe) -> None:
    """Change the shoe, and burn: an ace, so one card more."""
    if phase(service) == "dealing":
        service.order(order="void_coup", reason="the measurement's end of a shoe")
    service.order(order="change_shoe")
    for number in (0, 1):
        shoe.send(encode(shoe.card(number)))
    wait_until(lambda: phase(service) == "betting")


def phase(service: Service) -> str:
    """The table's phase."""
    found: str = service.order(order="status")["state"]["phase"]
    return found


def _latency(sent: list[float], arrived: list[float]) -> Latency:
    taken = [there - here for here, there in zip(sent, arrived, strict=True)]
    return Latency(1000 * statistics.median(taken), 1000 * statistics.quantiles(taken, n=100)[98])
