"""The thin end of the shoe's link: a serial port, opened again for ever, around the pure `HostLink`.

What a port can do to a program (not there, not ours, not a port, taken, pulled out, silent) becomes a ShoeLost with a
reason that a technician can act on, submitted once per change of reason. What `submit` raises escapes.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import NoReturn

import structlog

from punto.baccarat.table.events import LinkNoise, RecordsLost, ShoeEvent, ShoeHello, ShoeLost
from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.drivers.backoff import Backoff
from punto.drivers.base import LinkHealth, Submit
from punto.drivers.ishoe.link import HostLink, LinkCounters
from punto.drivers.serial_port import READ_BYTES, Port, PortLostError

BAUD = 115200
TICK_SECONDS = 0.1  # how often silence is looked for; with the link's 0.8 s a loss is seen within 1 s
FIRST_RETRY_SECONDS = 0.1
LAST_RETRY_SECONDS = (
    1.0  # not longer: a cable that comes back must show fast, and an open costs next to nothing
)
REOPEN_SECONDS = 10.0  # a silent port is opened anew, in case the adapter hangs
NOT_RECORDS = (ShoeHello, ShoeLost, RecordsLost, LinkNoise)

_log = structlog.get_logger("punto.drivers.ishoe")


class Shoe:
    """The driver of a shoe at a serial port: `punto.drivers.base.ShoeDriver`.

    `path` is best one of /dev/serial/by-id, which stays the same wherever the cable is plugged in.
    """

    def __init__(self, path: str, baud: int = BAUD) -> None:
        self._path = path
        self._baud = baud
        self._orders = ShoeOrders()
        self._port: Port | None = None
        self._link: HostLink | None = None
        self._counters = LinkCounters()
        self._connections = 0
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS)
        self._state = "not started"  # "connected", or why not
        self._since = datetime.now(UTC)

    async def run(self, submit: Submit) -> None:
        """Deliver what the shoe says until cancelled; see `ShoeDriver.run`."""
        while True:
            try:
                await self._connection(submit)
            except PortLostError as lost:
                await self._deliver([ShoeLost(str(lost))], submit)
            await asyncio.sleep(self._backoff.pause())

    def direct(self, orders: ShoeOrders) -> None:
        """Tell the shoe at once what the table wants now; see `ShoeDriver.direct`."""
        self._orders = orders
        if self._link is not None:
            self._link.want(orders)
        self._send()

    def health(self) -> LinkHealth:
        """Tell how the link stands now."""
        connected = self._state == "connected"
        hello = self._link.hello if self._link is not None else None
        return LinkHealth(
            port=self._path,
            connected=connected,
            reason="" if connected else self._state,
            since=self._since,
            serial=None if hello is None else hello.serial,
            counters={**asdict(self._counters), "connections": self._connections},
        )

    async def _connection(self, submit: Submit) -> None:
        """Open the port and serve it until it is lost."""
        port = Port(self._path, self._baud, "shoe")
        loop = asyncio.get_running_loop()
        try:
            self._connections += 1
            self._port, self._link = port, HostLink(loop.time(), self._orders, self._counters)
            self._send()
            await self._serve(port, self._link, submit)
        except PortLostError:
            port.forget_output()
            raise
        finally:
            self._port = self._link = None
            port.close()

    async def _serve(self, port: Port, link: HostLink, submit: Submit) -> NoReturn:
        """Read, submit, send, until the port is lost. Nothing is read while a batch is being submitted."""
        loop = asyncio.get_running_loop()
        while True:
            data = await port.read(TICK_SECONDS)
            now = loop.time()
            events = link.receive(data, now)
            if len(data) < READ_BYTES:  # silence is judged only when all that came has been read
                events += link.tick(now)
            if events:
                await self._deliver(events, submit)
            self._send()
            if link.silent_seconds(now):
                port.check_path()
            if link.silent_seconds(now) > REOPEN_SECONDS:
                raise PortLostError(self._state)  # for the reason already told

    async def _deliver(self, events: Sequence[ShoeEvent], submit: Submit) -> None:
        """Submit a batch; tell the link what the table wants then, and that the batch is safe."""
        batch = [event for event in events if self._is_news(event)]
        if not batch:
            return
        self._orders = await submit(batch)
        if self._link is None:
            return
        self._link.want(self._orders)
        records = [event.record for event in batch if not isinstance(event, NOT_RECORDS)]
        if records:
            self._link.acknowledge(records[-1])

    def _is_news(self, event: ShoeEvent) -> bool:
        """Keep the state of the link, with one line in the log per change; the same loss is told once."""
        if isinstance(event, ShoeLost):
            if event.reason == self._state:
                return False
            _log.warning("shoe lost", port=self._path, reason=event.reason)
            self._state, self._since = event.reason, datetime.now(UTC)
        elif isinstance(event, ShoeHello):
            _log.info("shoe connected", port=self._path, serial=event.serial, log=f"{event.log:08x}")
            self._state, self._since = "connected", datetime.now(UTC)
            self._backoff.reset()
        return True

    def _send(self) -> None:
        if self._link is None or self._port is None:
            return
        data = self._link.data_to_send(asyncio.get_running_loop().time())
        if data:
            self._port.write(data)
