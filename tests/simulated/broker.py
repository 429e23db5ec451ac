"""The simulated broker: it takes the service's messages through the service's own link, and can be away, slow or forgetful."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from random import Random
from typing import Any, NamedTuple

from punto.runtime.broker_link import AT_ONCE, ConnectionLostError, Link, Received
from tests.simulated.disk import PROCESS, Process
from tests.simulated.loop import InTurn, Loop

KEEPALIVE_NOTICED = (15.0, 30.0)
"""Seconds after which a client without an answer to its ping knows that the connection is lost."""


class Published(NamedTuple):
    """A message that the broker has taken, and the number of the connection that it came over."""

    at: float
    topic: str
    payload: bytes
    retain: bool
    connection: int


@cache
def _matches(topic: str, subscription: str) -> bool:
    return Received(topic, b"", retained=False).matches(subscription)


class Server:
    """The broker. `taken` sees each message of a client when the broker has it."""

    def __init__(self, loop: Loop, chance: Random, taken: Callable[[Published], None]) -> None:
        self.loop = loop
        self.chance = chance
        self.heard: list[Published] = []
        self.retained: dict[str, bytes] = {}
        self.away_until = 0.0
        self.slow_until = 0.0
        self.repeats_until = 0.0
        self.forward: Callable[[str, bytes, bool], None] = lambda *_: None
        """Passes each message of a client on to other brokers."""
        self.accepted = 0
        """How many connections it has accepted."""
        self._taken = taken
        self._known: dict[str, Connection] = {}
        """The connections that the broker takes for open, by the names of their clients."""
        self.counted: Counter[str] = Counter()

    def seconds(self) -> float:
        """How long a message is on its way."""
        slowest = 2.0 if self.loop.passed < self.slow_until else 0.01
        return 0.0002 + self.chance.random() * slowest

    async def accept(self, process: Process, identifier: str, will: Any, patience: float) -> "Connection":
        await asyncio.sleep(self.seconds())
        if process.dead or self.loop.passed < self.away_until:
            raise ConnectionLostError("connection refused")
        if (old := self._known.pop(identifier, None)) is not None:
            old.lose(notice=True)
            old.die()
        self.accepted += 1
        made = Connection(self, process, self.accepted, patience, None if will is None else will())
        self._known[identifier] = made
        return made

    def take(self, topic: str, payload: bytes, connection: int, *, retain: bool) -> None:
        """Take a message of the service."""
        if retain:
            self.retained[topic] = payload
        found = Published(self.loop.passed, topic, payload, retain, connection)
        self.heard.append(found)
        self._taken(found)
        for each in list(self._known.values()):
            each.deliver(topic, payload)
        self.forward(topic, payload, retain)

    def publish(self, topic: str, payload: bytes) -> None:
        """Take a message of another client, and pass it to the service."""
        for each in list(self._known.values()):
            each.deliver(topic, payload)
            if self.loop.passed < self.repeats_until and self.chance.random() < 0.5:
                self.counted["repeated"] += 1
                each.deliver(topic, payload)

    def take_from(self, topic: str, payload: bytes, retain: bool) -> None:
        """Take a message of another broker."""
        if retain:
            self.retained[topic] = payload
        self.publish(topic, payload)

    def cut(self, *, notice: bool) -> None:
        """Lose every connection. If the client does not `notice`, it finds out later."""
        for each in list(self._known.values()):
            each.lose(notice=notice)

    def forget(self) -> None:
        """Restart without the retained messages."""
        self.retained.clear()
        self.cut(notice=True)

    def left(self, connection: "Connection") -> None:
        """Forget a connection that has ended."""
        self._known = {name: each for name, each in self._known.items() if each is not connection}


class Connection:
    """A connection as `broker_link.Connection` is one."""

    def __init__(
        self,
        server: Server,
        process: Process,
        number: int,
        patience: float,
        will: tuple[str, bytes] | None,
    ) -> None:
        self.patience = patience
        self._number = number
        self._server = server
        self._process = process
        self._will = will
        self._cut = False
        self._lost = False
        self._subscribed: list[str] = []
        self._received: deque[Received] = deque()
        self._news = asyncio.Event()
        self._out = InTurn(server.loop)
        self._in = InTurn(server.loop)

    # --- for the service

    async def subscribe(self, topics: Sequence[str], qos: int = 1) -> bool:
        await asyncio.sleep(2 * self._server.seconds())
        self._subscribed += topics
        for topic, payload in self._server.retained.items():
            self.deliver(topic, payload, topics, retained=True)
        return True

    async def batches(self) -> AsyncGenerator[Sequence[Received], None]:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._received:
                yield [self._received.popleft() for _ in range(min(len(self._received), AT_ONCE))]
            if self._lost:
                raise ConnectionLostError("the connection was cut")

    def publish(
        self, topic: str, payload: bytes, acknowledged: Callable[[], None], *, retain: bool = False
    ) -> bool:
        if self._lost or self._process.dead:
            return False
        self._out.call_later(self._server.seconds(), self._arrive, topic, payload, retain, acknowledged)
        return True

    def _arrive(self, topic: str, payload: bytes, retain: bool, acknowledged: Callable[[], None]) -> None:
        if self._cut:
            self._server.counted["message lost"] += 1
            return
        self._server.take(topic, payload, self._number, retain=retain)
        self._in.call_later(self._server.seconds(), self._acknowledge, acknowledged)

    def _acknowledge(self, acknowledged: Callable[[], None]) -> None:
        if self._cut or self._process.dead:
            self._server.counted["acknowledgement lost"] += 1
            return
        acknowledged()

    # --- for the broker

    def deliver(
        self, topic: str, payload: bytes, to: Sequence[str] | None = None, *, retained: bool = False
    ) -> None:
        if any(_matches(topic, each) for each in (self._subscribed if to is None else to)):
            received = Received(topic, payload, retained)
            self._in.call_later(self._server.seconds(), self._deliver, received)

    def _deliver(self, received: Received) -> None:
        if not self._cut:
            self._received.append(received)
            self._news.set()

    def lose(self, *, notice: bool) -> None:
        """Nothing passes any more. If it is not noticed, client and broker find out later, each by itself."""
        if self._cut:
            return
        self._cut = True
        loop, chance = self._server.loop, self._server.chance
        loop.call_later(0.0 if notice else chance.uniform(*KEEPALIVE_NOTICED), self._notice)
        loop.call_later(0.0 if notice else chance.uniform(*KEEPALIVE_NOTICED), self.die)

    def die(self) -> None:
        """The broker knows that the connection is lost, and publishes the will."""
        self._server.left(self)
        if self._will is not None:
            will, self._will = self._will, None
            self._server.take(*will, self._number, retain=True)

    def _notice(self) -> None:
        self._lost = True
        self._news.set()

    def leave(self) -> None:
        """The service ends the connection, or was killed: the broker then finds it lost."""
        if self._process.dead:
            self.lose(notice=True)
        elif not self._cut:
            self._will = None
            self._out.call_later(0.0, self._end)

    def _end(self) -> None:
        self._cut = True
        self._server.left(self)


class SimulatedLink(Link):
    """The service's link, whose connections are to the simulated broker of its process."""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        process: Any = PROCESS.get()
        made = await process.server.accept(process, self._identifier, self._will, self._patience)
        try:
            yield made
        finally:
            made.leave()
