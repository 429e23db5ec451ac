"""Many tables in one process: what a table costs, and from a card at its shoe to a message in another process."""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench import Floor, Helper, Line, Service, mosquitto, say
from punto.commands.operator import ask
from tests.controller.table_on_a_machine import STAFF, employ

COUNTS = (10, 50, 200)
PACE_SECONDS = 0.15
BETWEEN_SECONDS = 4.0
"""At a real table a card takes 1.5 s, and a coup begins 40 s after the last one: the shoes deal ten times as fast."""
A_COUP_SECONDS = BETWEEN_SECONDS + 5 * PACE_SECONDS
SETTLE_SECONDS = 5.0
IDLE_SECONDS = 15.0
DEAL_SECONDS = 40.0
FLOOR_SECONDS = 0.1
MEBI = 1 << 20
WITHIN = 1.3
MOST_SECONDS = 0.1


@dataclass(frozen=True)
class Cost:
    """What one table costs, as shares of a processor and bytes, and the seconds that each card took."""

    idle: float
    memory: float
    dealing: float
    taken: list[float]
    lost: int
    floor: list[float]


class House(Service):
    """A `punto run` of so many tables, each with its shoe, record and socket."""

    def __init__(self, folder: Path, broker: int, count: int) -> None:
        self.folder = folder
        self.doors = [folder / f"{number}.sock" for number in range(count)]
        self.door = self.doors[0]
        self.config = folder / "house.toml"
        tables = "".join(
            f'[[table]]\nid = "bench-{number}"\nname = "Bench {number}"\ngame = "dragon-bonus-1"\nsimulation = true\n'
            f'burn = "none"\n[table.shoe]\nport = "shoe-{number}"\n[table.record]\npath = "{number}.db"\n'
            f'[table.operator]\nsocket = "{number}.sock"\n'
            for number in range(count)
        )
        shared = f'version = 1\n[mqtt]\nport = {broker}\n[accounts]\npath = "operators.db"\n'
        self.config.write_text(shared + tables, encoding="utf-8")
        employ(folder / "operators.db")
        self.process = None

    def _up(self) -> bool:
        """Whether each table takes orders and hears its shoe."""
        try:
            return all(ask(door, {"order": "status"})["state"]["shoe"]["online"] for door in self.doors)
        except OSError:
            return False

    def order_at(self, door: Path, order: str) -> None:
        """Give a table an order, which must be accepted."""
        answer = ask(door, {"order": order, "by": STAFF})
        if not answer["accepted"]:
            raise RuntimeError(answer["reason"])

    def usage(self, seconds: float) -> float:
        """The share of a processor that the service uses for so many seconds, for each table."""
        before = self.processor_seconds()
        time.sleep(seconds)
        return (self.processor_seconds() - before) / seconds / len(self.doors)


def measure(folder: Path) -> list[Line]:
    """The cost of a table beside that of a table among few, and the latency of the most tables."""
    say(
        f"{', '.join(map(str, COUNTS))} tables in one process: idle with their shoes for {IDLE_SECONDS:.0f} s, then dealt"
    )
    say(
        f"at ten times the pace of a real table for {DEAL_SECONDS:.0f} s, from virtual shoes to one subscriber.\n"
    )
    costs = {}
    for count in COUNTS:
        own = folder / str(count)
        own.mkdir()
        with mosquitto(own) as broker:
            costs[count] = _cost(own, broker, count)
    few, many = costs[COUNTS[0]], costs[COUNTS[-1]]
    lines = [_of(count, cost) for count, cost in costs.items()]
    for what, base, own_cost in (
        ("idle processor a table", few.idle, many.idle),
        ("dealing processor a table", few.dealing, many.dealing),
        ("memory a table", few.memory, many.memory),
    ):
        ratio = own_cost / base
        figure = f"{COUNTS[-1]} tables to {COUNTS[0]}, ratio {ratio:.2f}"
        lines.append(Line(what, figure, f"at most {WITHIN}", ratio <= WITHIN))
    lines += [_latency(count, cost) for count, cost in costs.items()]
    lost = sum(cost.lost for cost in costs.values())
    cards = sum(len(cost.taken) for cost in costs.values())
    return [*lines, Line("cards lost", f"{lost} of {cards:,}", "none", lost == 0)]


def _of(count: int, cost: Cost) -> Line:
    figure = f"idle {100 * cost.idle:.2f}%, dealing {100 * cost.dealing:.2f}%, {cost.memory / MEBI:.1f} MiB"
    return Line(f"{count} tables, each", figure, "", holds=True)


def _latency(count: int, cost: Cost) -> Line:
    floor, median, own = _percentile(cost.floor, 99), _percentile(cost.taken, 50), _percentile(cost.taken, 99)
    figure = f"p50 {1000 * median:.1f} ms, p99 {1000 * own:.1f} ms; floor p99 {1000 * floor:.1f} ms"
    return Line(f"{count} tables, latency", figure, f"p99 {1000 * MOST_SECONDS:.0f} ms", own <= MOST_SECONDS)


def _percentile(taken: list[float], percent: int) -> float:
    return statistics.quantiles(taken, n=100)[percent - 1]


def _cost(folder: Path, broker: int, count: int) -> Cost:
    shoes = Helper("many_shoes", folder, count, PACE_SECONDS, BETWEEN_SECONDS)
    house = House(folder, broker, count)
    began = time.monotonic()
    try:
        house.start()
        say(f"  {count} tables are open after {time.monotonic() - began:.1f} s")
        time.sleep(SETTLE_SECONDS)
        idle = house.usage(IDLE_SECONDS)
        memory = house.resident_bytes() / count
        events = Helper("subscriber", broker, "punto/+/event")
        floor = Floor(folder, broker)
        _begin(house)
        before, began = house.processor_seconds(), time.monotonic()
        while time.monotonic() < began + DEAL_SECONDS:
            floor.write()
            time.sleep(FLOOR_SECONDS)
        dealing = (house.processor_seconds() - before) / (time.monotonic() - began) / count
        shoes.tell("")
        time.sleep(SETTLE_SECONDS)
        taken, lost = _match(events.finish(), shoes.finish())
        return Cost(idle, memory, dealing, taken, lost, floor.finish())
    finally:
        house.kill()
        shoes.process.kill()


def _begin(house: House) -> None:
    """Begin a shoe at each table, one after the other, so that the tables do not deal in step."""
    for door in house.doors:
        house.order_at(door, "sign_on")
    began = time.monotonic()
    for number, door in enumerate(house.doors):
        time.sleep(max(0.0, began + number * A_COUP_SECONDS / len(house.doors) - time.monotonic()))
        house.order_at(door, "change_shoe")


def _match(events: list[tuple[float, Any]], sent: list[list[float]]) -> tuple[list[float], int]:
    """The seconds that each card took to its message, and the number of cards without a message."""
    arrived: dict[str, list[float]] = {}
    for at, payload in events:
        if payload["happening"]["kind"] == "card_dealt":
            arrived.setdefault(payload["id"].split("/")[0], []).append(at)
    taken, lost = [], 0
    for number, times in enumerate(sent):
        there = arrived.get(f"bench-{number}", [])
        taken += [late - early for early, late in zip(times, there, strict=False)]
        lost += max(0, len(times) - len(there))
    return taken, lost
