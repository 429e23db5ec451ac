"""From a frame written to the pseudo-terminal to a message in another process, beside the floor."""

import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from benchmarks.bench import Floor, HandHeldShoe, Helper, Line, Service, mosquitto, say, wait_until
from punto.drivers.framing import encode

SAMPLES = 1500
BLOCK = 50
BLOCKS_A_SHOE = 8
GAP_SECONDS = 0.008


def measure(folder: Path) -> list[Line]:
    """The service's latency beside the floor's, in milliseconds."""
    with mosquitto(folder) as broker:
        table, floor = Table(folder, broker), AtTheFloor(folder, broker)
        alternate([table, floor], SAMPLES)
        ours, base = table.finish(), floor.finish()
    say(f"From a frame on the pseudo-terminal to a message in another process, {SAMPLES} cards each,")
    say("in alternating blocks; the floor is os.read, one durable SQLite commit, one paho QoS 1 publish.\n")
    return [
        compared("latency p50", ours, "floor", base, 50, 1.5),
        compared("latency p99", ours, "floor", base, 99, 2.0),
    ]


def compared(what: str, ours: list[float], beside: str, base: list[float], percent: int, most: float) -> Line:
    """A percentile of seconds beside the same one of what it is compared with."""
    own, other = (1000 * statistics.quantiles(taken, n=100)[percent - 1] for taken in (ours, base))
    figure = f"{own:.2f} ms, {beside} {other:.2f} ms, ratio {own / other:.2f}"
    return Line(what, figure, f"at most {most}", own / other <= most)


class Side(Protocol):
    """What is measured in turn with others. `finish` ends it, and returns the seconds that each of its samples took."""

    def prepare(self, block: int) -> None:
        """Do what this block needs and nobody measures."""

    def send(self, number: int, /) -> None:
        """Send the sample with this number."""

    def finish(self) -> list[float]: ...


def alternate(sides: Sequence[Side], samples: int) -> None:
    """Send so many samples to each side, in alternating blocks."""
    draw = random.Random(1)
    for block in range(samples // BLOCK):
        for side in sides:
            side.prepare(block)
            for number in range(BLOCK):
                side.send(block % BLOCKS_A_SHOE * BLOCK + number)
                time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))


class AtTheFloor:
    """The floor at work."""

    def __init__(self, folder: Path, broker: int) -> None:
        self._floor = Floor(folder, broker)
        time.sleep(1)

    def prepare(self, block: int) -> None:
        """Nothing."""

    def send(self, _number: int, /) -> None:
        """Give it a line."""
        self._floor.write()

    def finish(self) -> list[float]:
        """End it."""
        return self._floor.finish()


class Table:
    """A table's service, its shoe, and a subscriber to its events; its heads are signed if it has the socket of a signer."""

    def __init__(self, folder: Path, broker: int, table: str = "bench", signer: Path | None = None) -> None:
        self._shoe = HandHeldShoe()
        self._service = Service(folder, broker, self._shoe.path, table, signer)
        self._service.start()
        self._service.order(order="sign_on")
        wait_until(lambda: self._service.order(order="status")["state"]["shoe"]["online"])
        self._events = Helper("subscriber", broker, f"punto/{table}/event")
        self._sent: list[float] = []

    def prepare(self, block: int) -> None:
        """Change the shoe if it has no more cards, and burn: an ace, so one card more."""
        if block % BLOCKS_A_SHOE:
            return
        if self._phase() == "dealing":
            self._service.order(order="void_coup", reason="the measurement's end of a shoe")
        self._service.order(order="change_shoe")
        for number in (0, 1):
            self._shoe.send(encode(self._shoe.card(number)))
        wait_until(lambda: self._phase() == "betting")

    def send(self, number: int, /) -> None:
        """Deal a card."""
        data = encode(self._shoe.card(2 + number))
        self._sent.append(time.monotonic())
        self._shoe.send(data)

    def finish(self) -> list[float]:
        """End it."""
        dealt = [at for at, payload in self._events.finish() if payload["happening"]["kind"] == "card_dealt"]
        self._service.kill()
        return [there - here for here, there in zip(self._sent, dealt, strict=True)]

    def _phase(self) -> str:
        found: str = self._service.order(order="status")["state"]["phase"]
        return found
