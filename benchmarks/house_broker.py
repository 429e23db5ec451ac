"""Which broker for a house: each kind as three nodes that are killed, frozen and cut off while three tables publish.

    python -m benchmarks.house_broker            # some 15 minutes, as root, with nats-server and rabbitmq-server of Debian 12
    python -m benchmarks.house_broker nats mosquitto

Each table publishes what a table of a house publishes, but faster: ten rounds a second, and retained messages. An authority
answers the tables' meter requests, and a client requests rounds. Three subscribers, the authority and the client each prefer
another node. Each client has a persistent session, tries the next node if its node does not answer, sends again what was not
acknowledged, and sends its retained messages again on each connection. What came of it is in docs/explanation/house-broker.md.
"""

import json
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final, cast

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from benchmarks.bench import say, wait_until
from tests.cluster.brokers import KINDS, PORT, Kind
from tests.cluster.machines import Machine, Network, Part, missing

TABLES: Final = ("t1", "t2", "t3")
ROUND_SECONDS: Final = 0.1
KEEPALIVE_SECONDS: Final = 5
FAULT_SECONDS: Final = 12
SETTLE_SECONDS: Final = 12
PAYLOAD: Final = "x" * 300
RATE_SECONDS: Final = 3

Take = Callable[[str, Any], None]


def _nothing(_: str, __: Any) -> None: ...


class Client:
    """A client with a persistent session, on the first of these addresses that answers."""

    def __init__(
        self,
        name: str,
        addresses: Iterable[str],
        topics: tuple[str, ...] = (),
        take: Take = _nothing,
        will: str | None = None,
    ) -> None:
        self._addresses, self._at = list(addresses), 0
        self._retained: dict[str, Any] = {}
        self.mqtt = mqtt.Client(CallbackAPIVersion.VERSION2, name, clean_session=False)
        self.mqtt.max_inflight_messages_set(20)
        self.mqtt.reconnect_delay_set(1, 1)
        self.mqtt.connect_timeout = 2
        if will is not None:
            self.mqtt.will_set(will, json.dumps(name), qos=1, retain=True)

        def on_connect(client: mqtt.Client, _: Any, __: Any, reason: Any, ___: Any) -> None:
            if reason == 0:
                if topics:
                    client.subscribe([(topic, 1) for topic in topics])
                for topic, payload in list(self._retained.items()):
                    self.publish(topic, payload, retain=True)

        self.mqtt.on_connect = on_connect
        self.mqtt.on_message = lambda _, __, message: take(message.topic, json.loads(message.payload))
        self.mqtt.on_disconnect = self.mqtt.on_connect_fail = self._next
        self._dial()
        self.mqtt.loop_start()

    def _dial(self) -> None:
        self.mqtt.connect_async(self._addresses[self._at % len(self._addresses)], PORT, KEEPALIVE_SECONDS)

    def _next(self, *_: Any) -> None:
        self._at += 1
        self._dial()

    def go_home(self) -> None:
        """Connect to the first address again, if another one is in use."""
        connection = self.mqtt.socket()
        if self._at % len(self._addresses) and connection is not None:
            self._at = -1
            cast("socket.socket", connection).shutdown(socket.SHUT_RDWR)

    def publish(self, topic: str, payload: Any, *, retain: bool = False) -> None:
        if retain:
            self._retained[topic] = payload
        self.mqtt.publish(topic, json.dumps(payload), 1, retain)

    def drop(self) -> None:
        """End without a farewell, as a killed program."""
        connection = self.mqtt.socket()
        self.mqtt.loop_stop()
        if connection is not None:
            connection.close()

    def close(self) -> None:
        self.mqtt.disconnect()
        self.mqtt.loop_stop()


@dataclass
class Floor:
    """The clients of a house on one kind of broker, and what they have sent and received."""

    kind: Kind
    nodes: list[Machine]
    clients: list[Client] = field(default_factory=list)
    tables: dict[str, list[Client]] = field(default_factory=dict)
    received: dict[tuple[str, str], list[tuple[float, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    retained: dict[str, Any] = field(default_factory=dict)
    asked: dict[int, float] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    wills: set[tuple[str, str]] = field(default_factory=set)
    published: int = 0
    paused: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def open(self) -> None:
        for number in range(3):
            self.clients.append(
                Client(f"s{number + 1}", self._from(number), ("punto/#",), self._take(f"s{number + 1}"))
            )
        self.authority = self._speaker("m1", 2, ("punto/+/meter/request",), self._answer_meter)
        self.game_manager = self._speaker("gm", 1, ("punto/+/response/rounds",), self._take_rounds)
        for number, table in enumerate(TABLES):
            topics = (f"punto/{table}/request/rounds/by/gm",)
            self.tables[table] = self._speaker(table, number, topics, self._answer_rounds)
        time.sleep(3)
        for table in TABLES:
            self.publish(self.tables[table], f"punto/{table}/info", 1, retain=True)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.ended.set()
        self._thread.join()
        for each in self.everyone():
            each.close()

    def everyone(self) -> Iterator[Client]:
        yield from (*self.clients, *self.authority, *self.game_manager)
        yield from chain.from_iterable(self.tables.values())

    def _from(self, first: int) -> list[str]:
        return [self.nodes[(first + number) % 3].address for number in range(3)]

    def _speaker(
        self, name: str, first: int, topics: tuple[str, ...], take: Take, **more: Any
    ) -> list[Client]:
        """A client that publishes: of the cluster, or of each node if the nodes are no cluster."""
        if self.kind.cluster:
            return [Client(name, self._from(first), topics, take, **more)]
        return [Client(name, [node.address], topics, take, **more) for node in self.nodes]

    def publish(self, speaker: list[Client], topic: str, payload: Any, *, retain: bool = False) -> None:
        if retain:
            self.retained[topic] = payload
        for each in speaker:
            each.publish(topic, payload, retain=retain)

    def _play(self) -> None:
        while not self.ended.is_set():
            time.sleep(ROUND_SECONDS)
            if self.paused.is_set():
                continue
            self.published += 1
            number = self.published
            for table, speaker in self.tables.items():
                self.publish(speaker, f"punto/{table}/round", {"seq": number, "round": PAYLOAD})
                if number % 5 == 0:
                    self.publish(speaker, f"punto/{table}/state", number, retain=True)
                    self.publish(speaker, f"punto/{table}/meter/request", number, retain=True)
            if number % 5 == 0:
                self.asked[number] = time.monotonic()
                for table in TABLES:
                    self.publish(self.game_manager, f"punto/{table}/request/rounds/by/gm", number)

    def _take(self, name: str) -> Take:
        def take(topic: str, payload: Any) -> None:
            match topic.split("/")[1:]:
                case [table, "round"]:
                    self.received[name, table].append((time.monotonic(), payload["seq"]))
                case [_, "will"]:
                    self.wills.add((topic, name))

        return take

    def _answer_meter(self, topic: str, number: int) -> None:
        answer = f"punto/m1/meter/answer/{topic.split('/')[1]}"
        if number > self.retained.get(answer, 0):
            self.publish(self.authority, answer, number, retain=True)

    def _answer_rounds(self, topic: str, number: int) -> None:
        table = topic.split("/")[1]
        self.publish(self.tables[table], f"punto/{table}/response/rounds", number)

    def _take_rounds(self, _: str, number: int) -> None:
        self.answered.add(number)

    # --- what is counted

    def stale_at(self, node: Machine, *filters: str) -> str:
        """What a fresh client of a node gets as retained: how many topics are missing, and how many are old."""
        expected, found = dict(self.retained), dict[str, Any]()
        granted: list[float] = []
        subscribed = [(each, 1) for each in filters or expected]
        fresh = mqtt.Client(CallbackAPIVersion.VERSION2, f"fresh-{time.monotonic_ns()}")

        def on_message(_: Any, __: Any, message: mqtt.MQTTMessage) -> None:
            if message.retain:
                found[message.topic] = json.loads(message.payload)

        fresh.on_message = on_message
        fresh.on_connect = lambda client, *_: client.subscribe(subscribed)
        fresh.on_subscribe = lambda *_: granted.append(time.monotonic())
        try:
            fresh.connect(node.address, PORT, 60)
        except OSError:
            return "-"
        end = time.monotonic() + 10
        while time.monotonic() < (granted[0] + 2 if granted else end):
            fresh.loop(0.1)
        if not granted:
            return "-"
        fresh.disconnect()
        lost = sum(topic not in found for topic in expected)
        old = sum(found.get(topic, value) != value for topic, value in expected.items())
        return f"{lost}/{old}"

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Nothing is published, so that what is retained is the same everywhere."""
        self.paused.set()
        time.sleep(3)
        yield
        self.paused.clear()

    def counted(self, first: int, began: float, ended: float) -> str:
        """Rounds lost and doubled since round `first`, the longest time without one, requests without an answer."""
        expected = set(range(first, self.published + 1))
        lost, doubled, gaps = [], [], []
        for received in self.received.values():
            counts = Counter(number for _, number in received if number in expected)
            lost.append(len(expected - counts.keys()))
            doubled.append(sum(count - 1 for count in counts.values()))
            times = [began, *(at for at, _ in received if began < at < ended), ended]
            gaps.append(max((after - before for before, after in pairwise(times)), default=0))
        open_ = sum(number >= first and number not in self.answered for number in self.asked)
        asked = sum(number >= first for number in self.asked)
        return (
            f"lost {sum(lost):4} (worst {max(lost):4}) of {9 * len(expected)}, doubled {sum(doubled):4}, "
            f"longest gap {max(gaps):5.1f} s, unanswered {open_} of {asked}"
        )


@dataclass
class House:
    """The nodes of one kind of broker."""

    kind: Kind
    nodes: list[Machine]
    folder: Path
    parts: dict[str, Part] = field(default_factory=dict)

    def start(self, node: Machine) -> None:
        folder = self.folder / node.name
        folder.mkdir(exist_ok=True)
        self.parts[node.name] = self.kind.start(node, self.nodes, folder)

    def up(self, node: Machine) -> bool:
        """Whether it serves a new client now."""
        client = mqtt.Client(CallbackAPIVersion.VERSION2)
        client.connect_timeout = 1
        answers: list[Any] = []
        client.on_connect = lambda *told: answers.append(told[3])
        try:
            client.connect(node.address, PORT)
        except OSError:
            return False
        end = time.monotonic() + 5
        while not answers and time.monotonic() < end and client.loop(0.1) == 0:
            pass
        client.disconnect()
        return bool(answers) and answers[0] == 0

    def wait(self, *nodes: Machine) -> float:
        began = time.monotonic()
        for node in nodes:
            wait_until(lambda node=node: self.up(node), 120)
        return time.monotonic() - began


def _kill(house: House, node: Machine, _: list[Machine]) -> Callable[[], None]:
    node.power_cut()

    def again() -> None:
        house.start(node)
        say(f"    {node.name} serves again {house.wait(node):.1f} s after its start")

    return again


def _freeze(_: House, node: Machine, __: list[Machine]) -> Callable[[], None]:
    node.signal(signal.SIGSTOP)
    return lambda: node.signal(signal.SIGCONT)


def _partition(_: House, node: Machine, others: list[Machine]) -> Callable[[], None]:
    node.refuse(*others)
    return lambda: node.accept(*others)


def _cut(_: House, node: Machine, __: list[Machine]) -> Callable[[], None]:
    node.cut()
    return node.mend


FAULTS: Final = {
    "no fault": None,
    "kill n1": (_kill, 0),
    "kill n2": (_kill, 1),
    "freeze n1": (_freeze, 0),
    "n3 reaches no node": (_partition, 2),
    "n3's cable is pulled": (_cut, 2),
}


def _fault(house: House, floor: Floor, name: str) -> None:
    how = FAULTS[name]
    first, began = floor.published + 1, time.monotonic()
    during = ""
    if how is None:
        time.sleep(5)
        ended = time.monotonic()
    else:
        act, number = how
        node = house.nodes[number]
        others = [each for each in house.nodes if each is not node]
        restore = act(house, node, others)
        time.sleep(FAULT_SECONDS)
        ended = time.monotonic()
        with floor.quiet():
            during = ", ".join(f"{each.name} {floor.stale_at(each)}" for each in others)
        restore()
        time.sleep(SETTLE_SECONDS)
    with floor.quiet():
        after = ", ".join(f"{each.name} {floor.stale_at(each)}" for each in house.nodes)
        if how is None:
            after += f"; the same with the filter punto/#: {floor.stale_at(house.nodes[0], 'punto/#')}"
        for each in floor.everyone():
            each.go_home()
        time.sleep(3)
        say(
            f"  {name:<21} {floor.counted(first, began, ended)}; retained missing/old: {after}"
            + (f"; during: {during}" if during else "")
        )


def _rates(floor: Floor) -> str:
    """Messages per second that a node acknowledges, one at a time and with 20 in flight."""
    client = Client("rate", [floor.nodes[0].address])
    wait_until(client.mqtt.is_connected)
    figures = []
    for window in (1, 20):
        room = threading.Semaphore(window)
        client.mqtt.on_publish = lambda *_, room=room: room.release()
        number, end = 0, time.monotonic() + RATE_SECONDS
        while time.monotonic() < end:
            if room.acquire(timeout=1):
                client.publish("rate/round", PAYLOAD)
                number += 1
        figures.append(number / RATE_SECONDS)
        time.sleep(0.5)
    client.close()
    return f"{figures[0]:.0f}/s one at a time, {figures[1]:.0f}/s with 20 in flight"


def _wills(house: House, floor: Floor) -> None:
    """Whether other nodes send the last will of a client that is killed alone, and together with its node."""
    for name, with_node in (("w1", False), ("w2", True)):
        dying = floor._speaker(name, 0, (), _nothing, will=f"punto/{name}/will")  # noqa: SLF001 - as a table
        for each in dying:
            wait_until(each.mqtt.is_connected)
        if with_node:
            house.nodes[0].power_cut()
        for each in dying:
            each.drop()
        time.sleep(12)
        told = sorted({who for topic, who in floor.wills if name in topic})
        say(
            f"  last will of a client killed {'with its node' if with_node else 'alone'}: sent to {told or 'nobody'}"
        )
    house.start(house.nodes[0])
    house.wait(house.nodes[0])


def measure(kind: Kind, folder: Path) -> None:
    """Start three nodes of this kind, hurt them, and print what was lost."""
    with Network() as network:
        nodes = [network.machine(f"n{number}") for number in (1, 2, 3)]
        house = House(kind, nodes, folder)
        for node in nodes:
            house.start(node)
        say(f"{kind.name}: three nodes serve after {house.wait(*nodes):.1f} s")
        floor = Floor(kind, nodes)
        floor.open()
        try:
            time.sleep(3)
            for name in FAULTS:
                _fault(house, floor, name)
            _wills(house, floor)
            with floor.quiet():
                say(f"  {_rates(floor)}")
            say(
                f"  memory of each node: {', '.join(f'{each.resident_bytes() / 1e6:.0f} MB' for each in nodes)}"
            )
        finally:
            floor.close()


def main() -> int:
    """Measure the named kinds, or all that are installed."""
    names = sys.argv[1:] or list(KINDS)
    for name in names:
        if absent := missing(*KINDS[name].programs):
            say(f"{name}: not measured, because these are missing: {', '.join(absent)}")
            continue
        with tempfile.TemporaryDirectory(prefix="punto-house-") as folder:
            measure(KINDS[name], Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
