"""The thin end of the shoe's link: a serial port, opened again for ever, around the pure `HostLink`.

What a port can do to a program (not there, not ours, not a port, taken, pulled out, silent) becomes a ShoeLost with a
reason that a technician can act on, submitted once per change of reason. What `submit` raises escapes.
"""

import asyncio
import errno
import os
import random
import stat
import termios
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import serial
import structlog

from controller.table.events import LinkNoise, RecordsLost, ShoeEvent, ShoeHello, ShoeLost
from controller.table.shoe_orders import ShoeOrders
from drivers.base import LinkHealth, Submit
from drivers.ishoe.link import HostLink, LinkCounters

BAUD = 115200
READ_BYTES = 4096  # the most that a terminal's input queue holds
TICK_SECONDS = 0.1  # how often silence is looked for; with the link's 0.8 s a loss is seen within 1 s
UNSENT_BYTES = 4096  # what is kept for a port that takes nothing; the heartbeats have the rest said again
FIRST_RETRY_SECONDS = 0.1
LAST_RETRY_SECONDS = (
    1.0  # not longer: a cable that comes back must show fast, and an open costs next to nothing
)
REOPEN_SECONDS = 10.0  # a silent port is opened anew, in case the adapter hangs
BY_ID = Path("/dev/serial/by-id")
NOT_RECORDS = (ShoeHello, ShoeLost, RecordsLost, LinkNoise)

_log = structlog.get_logger("drivers.ishoe")


class PortLostError(Exception):
    """The port cannot be used or went away; the text says what to do about it."""


class Port:
    """An open serial port, locked for this program, whose reads and writes never wait.

    Raises:
        PortLostError: the port cannot be opened.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.path = path
        self._unsent = bytearray()
        self._loop = asyncio.get_running_loop()
        try:
            self._serial = serial.Serial(path, baud, timeout=0, exclusive=True)
        except (OSError, ValueError, termios.error) as error:
            raise PortLostError(_why_not_open(path, baud, error)) from error
        self._fd = self._serial.fileno()
        self._came = bytearray()
        self._lost = False
        self._waiting: asyncio.Future[None] | None = None
        self._listen()

    def close(self) -> None:
        """Give the port back, even if it is gone already."""
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._serial.close()

    def forget_output(self) -> None:
        """Throw away what is still to be sent: the system waits up to 30 s for it when a dead port is closed."""
        self._unsent.clear()
        with suppress(OSError, termios.error):
            self._serial.reset_output_buffer()

    async def read(self, seconds: float) -> bytes:
        """What has come by now, or comes within so many seconds; nothing if nothing does.

        Raises:
            PortLostError: the port is gone.
        """
        if not self._came and not self._lost:
            self._waiting = self._loop.create_future()
            timer = self._loop.call_later(seconds, self._wake)
            try:
                await self._waiting
            finally:
                timer.cancel()
                self._waiting = None
        came = bytes(self._came)
        self._came.clear()
        if self._lost and not came:
            raise PortLostError(_gone(self.path))
        if not self._listening and not self._lost:
            self._listen()
        return came

    def _listen(self) -> None:
        self._loop.add_reader(self._fd, self._on_readable)
        self._listening = True

    def _on_readable(self) -> None:
        """Take what the port has, up to a bound: what is beyond it waits in the port and holds the shoe back."""
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._came += data
        self._lost = not data  # a port that says it is ready and then gives nothing has been hung up
        if self._lost or len(self._came) >= READ_BYTES:
            self._loop.remove_reader(self._fd)
            self._listening = False
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def write(self, data: bytes) -> None:
        """Write now what the port takes and the rest when it can; frames for which there is no room are dropped whole.

        A port that is gone is noticed by the next read.
        """
        if len(self._unsent) + len(data) > UNSENT_BYTES:
            return
        self._unsent += data
        self._write_unsent()

    def _write_unsent(self) -> None:
        try:
            written = os.write(self._fd, self._unsent)
        except BlockingIOError:
            written = 0
        except OSError:
            written = len(self._unsent)
        del self._unsent[:written]
        if self._unsent:
            self._loop.add_writer(self._fd, self._write_unsent)
        else:
            self._loop.remove_writer(self._fd)

    def check_path(self) -> None:
        """Notice that the path leads to another device by now, as when an adapter came back under a new number.

        Raises:
            PortLostError: it does, or to none.
        """
        try:
            now = Path(self.path).stat().st_rdev
        except OSError as error:
            raise PortLostError(_gone(self.path)) from error
        if now != os.fstat(self._fd).st_rdev:
            raise PortLostError(_gone(self.path))


def _gone(path: str) -> str:
    return f"the port {path} went away: check the shoe's cable"


def _why_not_open(path: str, baud: int, error: Exception) -> str:
    """Say why a port could not be opened, and what to do."""
    code = error.errno if isinstance(error, OSError) else None
    if code in {errno.ENOENT, errno.ENOTDIR}:
        return f"there is no port {path}: check the shoe's cable and the path; {_ports_here()}"
    if code in {errno.EACCES, errno.EPERM}:
        return f"no permission for {path}: add the user of this service to the group {_group(path)}, or install the udev rule"
    if code in {errno.EAGAIN, errno.EBUSY}:
        return f"another program holds {path}: stop it (`fuser -v {path}` names it)"
    if code in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return f"the port {path} does not answer: pull the shoe's cable and put it in again"
    if not _is_terminal(path):
        return f"{path} is not a serial port: name one, best by its path in {BY_ID}; {_ports_here()}"
    return f"cannot open {path} at {baud} baud: {error}"


def _is_terminal(path: str) -> bool:
    try:
        return stat.S_ISCHR(Path(path).stat().st_mode)
    except OSError:
        return False


def _group(path: str) -> str:
    try:
        return Path(path).group()
    except (OSError, KeyError):
        return "that owns it"


def _ports_here() -> str:
    try:
        names = sorted(port.name for port in BY_ID.iterdir())
    except OSError:
        names = []
    return f"in {BY_ID} there is {', '.join(names) or 'nothing'}"


class Shoe:
    """The driver of a shoe at a serial port: `drivers.base.ShoeDriver`.

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
        self._retry_seconds = FIRST_RETRY_SECONDS
        self._state = "not started"  # "connected", or why not
        self._since = datetime.now(UTC)

    async def run(self, submit: Submit) -> None:
        """Deliver what the shoe says until cancelled; see `ShoeDriver.run`."""
        while True:
            try:
                await self._connection(submit)
            except PortLostError as lost:
                await self._deliver([ShoeLost(str(lost))], submit)
            await asyncio.sleep(random.uniform(self._retry_seconds / 2, self._retry_seconds))
            self._retry_seconds = min(2 * self._retry_seconds, LAST_RETRY_SECONDS)

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
        port = Port(self._path, self._baud)
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
            self._retry_seconds = FIRST_RETRY_SECONDS
        return True

    def _send(self) -> None:
        if self._link is None or self._port is None:
            return
        data = self._link.data_to_send(asyncio.get_running_loop().time())
        if data:
            self._port.write(data)
