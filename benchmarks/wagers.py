"""Wagers that arrive at once, beside wagers that each wait for the answer to the one before.

First in the service's own engine, where the commits are counted too; then over MQTT, from the seats' requests to their answers.
"""

import asyncio
import gc
import itertools
import json
import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.bench import HandHeldShoe, Line, Service, mosquitto, say, wait_until
from benchmarks.client import connected
from benchmarks.flood import burn, with_betting_open
from punto.baccarat.table.events import SetWager
from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.outbox import Outbox
from punto.messages.topics import Topics
from tests.baccarat.table.croupier import Croupier

AT_ONCE: Final = 50
RUNS: Final = 20
SEATS: Final = range(1, 8)
OF_A_SEAT: Final = 60
"""Wagers of each seat over MQTT at once: fewer than a seat may send at once, less what it sent one by one before."""
ONE_BY_ONE: Final = 15
PAUSE_SECONDS: Final = 16
"""After which each seat may send as many again."""
MQTT_RUNS: Final = 3


def measure(folder: Path) -> list[Line]:
    """How much faster wagers are taken together than one by one, in the engine and over MQTT."""
    say(
        f"\n{AT_ONCE} wagers at once in the service's engine, and {OF_A_SEAT * len(SEATS)} of all seats at once over MQTT,"
    )
    say("each beside wagers that wait for the answer to the one before.\n")
    commits, together, alone = asyncio.run(_in_the_engine(folder / "engine.db"))
    at_once, in_turn = _over_mqtt(folder)
    return [
        Line(f"{AT_ONCE} wagers at once", f"{commits} commits", "at most 2", commits <= 2),
        Line(
            "… beside one by one",
            f"{alone / together:.0f} times faster, {1000 * together:.1f} and {1000 * alone:.1f} ms",
            "at least 4",
            alone >= 4 * together,
        ),
        Line(
            "wagers/s over MQTT",
            f"{at_once:,.0f}, {at_once / in_turn:.1f} times the {in_turn:,.0f} one by one",
            "at least 3",
            at_once >= 3 * in_turn,
        ),
    ]


class _Counting(Journal):
    commits = 0

    def _commit(self, *jobs: Any) -> Any:
        self.commits += 1
        return super()._commit(*jobs)


async def _in_the_engine(record: Path) -> tuple[int, float, float]:
    """The most commits of wagers at once, and the seconds at the median that they take at once and one by one."""
    betting = Croupier.at_betting().state
    journal = _Counting.open(record)
    engine = await Engine.start(journal, Outbox(), Topics("", "bench"), betting.settings, "bench")
    engine.execution.table.state = betting
    gc.freeze()
    numbers = itertools.count()

    def wagers() -> list[SetWager]:
        return [
            SetWager(
                str(number),
                SEATS[number % len(SEATS)],
                "player",
                500 + 100 * (number // len(SEATS) % 2),
                betting.round.number,
            )
            for number in itertools.islice(numbers, AT_ONCE)
        ]

    commits: list[int] = []
    together: list[float] = []
    alone: list[float] = []
    for _ in range(RUNS):
        asked, before, began = wagers(), journal.commits, time.perf_counter()
        answers = await asyncio.gather(*(engine.submit([each], "bench") for each in asked))
        together.append(time.perf_counter() - began)
        commits.append(journal.commits - before)
        asked, began = wagers(), time.perf_counter()
        answers += [await engine.submit([each], "bench") for each in asked]
        alone.append(time.perf_counter() - began)
        for (handled,) in answers:
            if handled.refusal is not None:
                raise handled.refusal
    await journal.close()
    return max(commits), statistics.median(together), statistics.median(alone)


def _over_mqtt(folder: Path) -> tuple[float, float]:
    """Accepted wagers a second, at once and one by one, at the median."""
    with mosquitto(folder) as broker:
        shoe = HandHeldShoe()
        service = Service(folder, broker, shoe.path)
        with_betting_open(service)
        service.start()
        try:
            service.order(order="sign_on")
            wait_until(lambda: service.order(order="status")["state"]["shoe"]["online"])
            service.order(order="change_shoe")
            burn(service, shoe)
            seats = _Seats(broker, service.order(order="status")["state"]["round"])
            at_once, in_turn = [], []
            for _ in range(MQTT_RUNS):
                time.sleep(PAUSE_SECONDS)
                in_turn.append(statistics.median([seats.ask([seat]) for seat in _of_all(ONE_BY_ONE)]))
                at_once.append(seats.ask(_of_all(OF_A_SEAT)))
            return statistics.median(at_once), statistics.median(in_turn)
        finally:
            service.kill()


def _of_all(times: int) -> list[int]:
    return [*SEATS] * times


class _Seats:
    """The terminals of all seats, and what they are answered."""

    def __init__(self, broker: int, round_number: int) -> None:
        self._round = round_number
        self._numbers = itertools.count()
        self._waited: set[str] = set()
        self._answered = threading.Event()
        self._client = connected(broker)
        self._client.on_message = self._take
        subscribed = threading.Event()
        self._client.on_subscribe = lambda *_: subscribed.set()
        self._client.subscribe("punto/bench/wagers/+/result", qos=1)
        self._client.loop_start()
        subscribed.wait(10)

    def _take(self, _client: Any, _userdata: Any, message: Any) -> None:
        answer = json.loads(message.payload)
        if not answer["accepted"]:
            raise RuntimeError(answer["reason"])
        self._waited.discard(answer["request"])
        if not self._waited:
            self._answered.set()

    def ask(self, seats: Sequence[int]) -> float:
        """Send a wager of each of these seats at once; the wagers a second until the last is accepted."""
        asked = {f"wager {next(self._numbers)}": seat for seat in seats}
        payloads = [
            (
                seat,
                {
                    "id": name,
                    "round": self._round,
                    "wager": "player",
                    "amount": 500 + 100 * (int(name[6:]) % 2),
                },
            )
            for name, seat in asked.items()
        ]
        self._waited = {*asked}
        self._answered.clear()
        began = time.perf_counter()
        for seat, wager in payloads:
            self._client.publish(f"punto/bench/wagers/{seat}/set", json.dumps(wager))
        if not self._answered.wait(20):
            raise TimeoutError(f"{len(self._waited)} wagers were not answered")
        return len(seats) / (time.perf_counter() - began)
