"""The people of a house: dealers and supervisors at the tables' sockets, seats that wager over MQTT, and a subscriber."""

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from punto.runtime.broker_login import BrokerConfig
from punto.simulators.staff import Act, Seen, at_the_table, due, order_of
from punto.simulators.table_dealer import DealerOptions, Outcome, TableDealer
from tests.soak.house import House, Service

SEATS: Final = (2, 4, 6)
ON_THE_METER: Final = SEATS[:2]
"""The seats with a coin on the meter's wager in each hand of a linked table."""
AGAIN_AFTER_SECONDS: Final = 0.4
"""A seat that has no answer asks again after this time, with the same id."""
_SLOWEST_ANSWER: Final = 20.0


# --- dealers and supervisors


class SocketHands:
    """A dealer's and a supervisor's acts as orders at the table's socket, with the coins of the meter's wager."""

    def __init__(self, table: Service) -> None:
        self._table = table

    async def do(self, act: Act) -> Outcome:
        """Give the order, and read its result; a table that is away does nothing."""
        try:
            return await asyncio.to_thread(self._do, act)
        except (OSError, ValueError, KeyError):
            await asyncio.sleep(0.2)
            # The dealer takes another refusal of the next hand for the end of the shoe.
            return Outcome(done=False, text="the next hand waits: the table does not answer")

    def _do(self, act: Act) -> Outcome:
        round_ = 0
        if act.do == "start_game":
            for seat in ON_THE_METER:
                self._table.ask(order="wager_placed", seat=seat)
            round_ = self._table.status()["round"]
        order, fields = order_of(act, "aquarius", round=round_)
        answer = self._table.ask(order=order, **fields)
        return Outcome(done=answer["accepted"], text=answer["reason"] or "done")


def _dealer(house: House, table: Service) -> TableDealer:
    options = DealerOptions(
        broker=BrokerConfig(port=house.broker.port),
        table=table.name,
        wager="progressive",
        seats=7,
        betting=0.3,
        think=0.02,
        supervisor=0.05,
        patience=0.5,
    )
    return TableDealer(options, SocketHands(table), lambda *_: None)


def supervise(table: Service, *, dealt_by_order: bool) -> None:
    """Do what a supervisor does at this moment, if the table answers."""
    try:
        seen = Seen.public(table.status())
        act = at_the_table(seen) if dealt_by_order else due(seen)
        if act is not None:
            order, fields = order_of(act, "aquarius", reason="resolved, in a soak")
            table.ask(order=order, **fields)
    except (OSError, ValueError, KeyError):
        return


class Hall(threading.Thread):
    """Shoes, dealers and supervisors, in one event loop, until `stop_playing` and `close`."""

    def __init__(self, house: House) -> None:
        super().__init__(name="hall", daemon=True)
        self._house = house
        self.loop = asyncio.new_event_loop()
        self._dealing: list[asyncio.Task[Any]] = []
        self._shoes: list[asyncio.Task[Any]] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        """Run the loop."""
        self.loop.call_soon(self._begin)
        self.loop.run_forever()

    def call(self, act: Any, *values: Any) -> None:
        """Do something to a shoe, in its loop, and wait until it is done."""
        done = threading.Event()

        def do() -> None:
            act(*values)
            done.set()

        self.loop.call_soon_threadsafe(do)
        if not done.wait(_SLOWEST_ANSWER):
            raise TimeoutError("the shoes' loop does not answer")

    def stop_playing(self) -> None:
        """No dealer or supervisor does anything any more, and each shoe's cable is out."""
        self.call(lambda: [task.cancel() for task in self._dealing])
        for shoe in self._house.shoes.values():
            self.call(shoe.unplug)

    def close(self) -> None:
        """End all."""
        for task in [*self._dealing, *self._shoes]:
            self.loop.call_soon_threadsafe(task.cancel)
        self.loop.call_soon_threadsafe(lambda: self.loop.call_later(0.5, self.loop.stop))
        self.join()

    def _begin(self) -> None:
        self._shoes = [self._task(shoe.run()) for shoe in self._house.shoes.values()]
        self._dealing = [self._task(_dealer(self._house, table).run()) for table in self._house.linked]
        self._dealing += [self._task(self._supervise(table)) for table in self._house.tables]

    def _task(self, running: Any) -> asyncio.Task[Any]:
        task = self.loop.create_task(running)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.wrong.append(f"a shoe or a dealer ended: {error!r}")

    async def _supervise(self, table: Service) -> None:
        while True:
            await asyncio.sleep(0.5)
            await asyncio.to_thread(supervise, table, dealt_by_order=table in self._house.linked)


# --- over MQTT


def _client(
    port: int, name: str, topics: list[str], heard: Callable[[str, dict[str, Any]], None]
) -> mqtt.Client:
    client = mqtt.Client(CallbackAPIVersion.VERSION2, name)
    client.reconnect_delay_set(1, 1)
    client.on_connect = lambda at, *_: at.subscribe([(topic, 1) for topic in topics])

    def take(_: Any, __: Any, message: mqtt.MQTTMessage) -> None:
        if message.payload:  # a retained message that the broker forgets has none
            heard(message.topic, json.loads(message.payload))

    client.on_message = take
    client.connect_async("127.0.0.1", port, 5)
    client.loop_start()
    return client


@dataclass
class Asked:
    """A seat's request, how often it was sent, and all its answers."""

    seat: int
    payload: dict[str, Any]
    at: float
    sent: int = 1
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        """Whether an answer said that it is accepted."""
        return any(answer["accepted"] for answer in self.answers)

    @property
    def refused(self) -> bool:
        """Whether there were answers, and all said that it is refused."""
        return bool(self.answers) and not self.accepted


class Seats:
    """The terminals of a table's seats: in each round they wager, and ask again while there is no answer.

    Now and then a request is one that must be refused.
    """

    def __init__(self, port: int, table: str, seed: int) -> None:
        self.asked: dict[str, Asked] = {}
        self.playing = True
        self._table = table
        self._dice = Random(f"seats {seed} {table}")
        self._round = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        topics = [f"punto/{table}/state", *(f"punto/{table}/wagers/{seat}/result" for seat in SEATS)]
        self._client = _client(port, f"seats-{table}", topics, self._hear)
        self._repeating = threading.Thread(target=self._repeat, daemon=True)
        self._repeating.start()

    def close(self) -> None:
        """Leave the table."""
        self._over.set()
        self._repeating.join()
        self._client.disconnect()
        self._client.loop_stop()

    @property
    def waiting(self) -> list[Asked]:
        """The requests of the present round and the one before that have no answer."""
        with self._lock:
            return [
                each
                for each in self.asked.values()
                if not each.answers and each.payload["round"] >= self._round - 1
            ]

    def _hear(self, topic: str, payload: dict[str, Any]) -> None:
        if topic.endswith("/result"):
            with self._lock:
                if payload["request"] in self.asked:
                    self.asked[payload["request"]].answers.append(payload)
        elif self.playing and payload["phase"] == "betting" and payload["round"] > self._round:
            self._round = payload["round"]
            for seat in SEATS:
                self._wager(seat, self._round)

    def _wager(self, seat: int, round_: int) -> None:
        wager, amount = "banker" if seat == SEATS[0] else "player", 1000 + round_ % 50_000
        refused = self._dice.random() < 0.03
        if refused:
            wager = "no-such-wager"
        name = f"{self._table}-{round_}-{seat}"
        asked = Asked(seat, {"id": name, "round": round_, "wager": wager, "amount": amount}, time.monotonic())
        with self._lock:
            self.asked[name] = asked
        self._send(asked)
        if self._dice.random() < 0.1:
            asked.sent += 1
            self._send(asked)

    def _send(self, asked: Asked) -> None:
        if self._client.is_connected():
            topic = f"punto/{self._table}/wagers/{asked.seat}/set"
            self._client.publish(topic, json.dumps(asked.payload), qos=1)

    def _repeat(self) -> None:
        while not self._over.wait(0.1):
            now = time.monotonic()
            for asked in self.waiting:
                if now - asked.at > AGAIN_AFTER_SECONDS:
                    asked.at = now
                    asked.sent += 1
                    self._send(asked)


class Subscriber:
    """An independent consumer of all tables' rounds and events, which asks for the rounds that it missed."""

    def __init__(self, port: int) -> None:
        self.rounds: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
        """Table -> number -> round, as it was first published."""
        self.requested: dict[str, set[int]] = defaultdict(set)
        """The rounds that were heard only in an answer."""
        self.messages = 0
        self.again = 0
        """How many rounds and events came a second time, the same to the last letter."""
        self.wrong: list[str] = []
        self._events: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
        self._answered: dict[str, bool] = {}
        self._client = _client(
            port, "soak", ["punto/+/round", "punto/+/event", "punto/+/response/rounds"], self._hear
        )

    def close(self) -> None:
        """Leave the broker."""
        self._client.disconnect()
        self._client.loop_stop()

    def request_missing(self, table: str, last: int) -> None:
        """Ask for the rounds up to `last` that were not heard, as docs/reference/topics.md says, until all are there."""
        number = 0
        while missing := [each for each in range(1, last + 1) if each not in self.rounds[table]]:
            if number > last:
                raise AssertionError(f"{table} does not send its rounds {missing[:10]}, which were requested")
            number += 1
            request = {"id": f"{table}-{number}-{time.monotonic()}", "after": missing[0] - 1, "limit": 100}
            self._client.publish(f"punto/{table}/request/rounds/by/soak", json.dumps(request), qos=1)
            end = time.monotonic() + 5
            while request["id"] not in self._answered and time.monotonic() < end:
                time.sleep(0.05)
            if number > 8:
                time.sleep(2)

    def _hear(self, at: str, payload: dict[str, Any]) -> None:
        _, table, topic, *_ = at.split("/")
        self.messages += 1
        if topic == "round":
            self._take(table, payload)
        elif topic == "event":
            self._take_event(table, payload)
        elif "rounds" in payload:
            for each in payload["rounds"]:
                self._take_answered(table, each)
            self._answered[payload["request"]] = True

    def _take(self, table: str, payload: dict[str, Any]) -> None:
        number, known = payload["seq"], self.rounds[table]
        if number in known:
            self.again += 1
            if known[number] != payload:
                self.wrong.append(
                    f"round {number} of {table} came in two versions: {known[number]} and {payload}"
                )
        elif known and number < max(known):
            self.wrong.append(f"round {number} of {table} came for the first time after round {max(known)}")
        else:
            known[number] = payload

    def _take_answered(self, table: str, round_: dict[str, Any]) -> None:
        known = self.rounds[table].get(round_["round"])
        if known is None:
            self.requested[table].add(round_["round"])
            self.rounds[table][round_["round"]] = {"round": round_}
        elif known["round"] != round_:
            self.wrong.append(
                f"round {round_['round']} of {table} was answered in another version: {known} and {round_}"
            )

    def _take_event(self, table: str, payload: dict[str, Any]) -> None:
        number = payload["seq"]
        known = self._events[table].setdefault(number, payload)
        self.again += known is not payload
        if known != payload:
            self.wrong.append(f"event {number} of {table} came in two versions: {known} and {payload}")


@contextmanager
def people(house: House, seed: int) -> Iterator[tuple[Hall, dict[str, Seats], Subscriber]]:
    """All of them, at work."""
    subscriber = Subscriber(house.broker.port)
    seats = {table.name: Seats(house.broker.port, table.name, seed) for table in house.tables}
    hall = Hall(house)
    hall.start()
    try:
        yield hall, seats, subscriber
    finally:
        hall.close()
        for each in seats.values():
            each.close()
        subscriber.close()
