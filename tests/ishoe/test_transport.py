"""The driver on real pseudo-terminals: pulled, taken, missing, mute, and back."""

import asyncio
import errno
import fcntl
import os
import pty
import re
import sys
import time
import tty
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from statistics import quantiles

import pytest
import structlog

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardDrawn, ShoeEvent, ShoeHello, ShoeLost, ShoeRecord
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers import serial_port
from punto.drivers.base import ShoeDriver
from punto.drivers.framing import encode
from punto.drivers.ishoe import frames, transport
from punto.drivers.ishoe.transport import Shoe
from punto.drivers.serial_port import UNSENT_BYTES, Port, PortLostError
from tests.ishoe.examples import LOG, SERIAL
from tests.ishoe.model import ModelShoe


class Cable:
    """The shoe's end of a pseudo-terminal, with a symbolic link that stays, as udev's by-id links do."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.shoe = ModelShoe()
        self.mute = False
        self._master = -1
        self._slave = -1
        self._tasks: list[asyncio.Task[None]] = []

    def plug(self) -> None:
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(os.ttyname(self._slave))
        asyncio.get_running_loop().add_reader(self._master, self._read)
        self._tasks.append(asyncio.create_task(self._beat()))

    def pull(self) -> None:
        """The device is gone and udev takes its link away."""
        if self._master < 0:
            return
        asyncio.get_running_loop().remove_reader(self._master)
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()
        os.close(self._slave)
        os.close(self._master)
        self._master = -1
        self.link.unlink(missing_ok=True)

    def say(self, data: bytes) -> None:
        if not self.mute:
            os.write(self._master, data)

    def draws(self, card: Card) -> None:
        self.shoe.happens(lambda number: frames.CardRecord(number, card, 98))
        self.flush()

    def flush(self) -> None:
        data = self.shoe.data_to_send()
        if data and self._master >= 0:
            self.say(data)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._master, 4096)
            if not self.mute:
                self.shoe.receive(data)
                self.flush()

    async def _beat(self) -> None:
        while True:
            self.shoe.heartbeat()
            self.flush()
            await asyncio.sleep(frames.HEARTBEAT_SECONDS)


class Table:
    """Takes the batches as the engine does, and remembers when."""

    def __init__(self) -> None:
        self.events: list[ShoeEvent] = []
        self.batches: list[Sequence[ShoeEvent]] = []
        self.times: list[float] = []
        self.orders = ShoeOrders(accept=SERIAL, log=LOG, locked=False)
        self.busy = 0.0

    async def submit(self, events: Sequence[ShoeEvent]) -> ShoeOrders:
        await asyncio.sleep(self.busy)
        self.batches.append(events)
        self.events += events
        self.times += [time.perf_counter()] * len(events)
        records = [event.record for event in events if isinstance(event, ShoeRecord)]
        if records:
            self.orders = replace(self.orders, expected=records[-1] + 1)
        return self.orders

    @property
    def cards(self) -> list[Card]:
        return [event.card for event in self.events if isinstance(event, CardDrawn)]

    @property
    def reasons(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, ShoeLost)]

    def says_hello(self, times: int = 1) -> Callable[[], bool]:
        return lambda: sum(isinstance(event, ShoeHello) for event in self.events) == times


async def until(true: Callable[[], bool], seconds: float = 60) -> float:
    """Wait until it is so, and tell how long it took."""
    start = time.perf_counter()
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - looks at both ends, which have no event to wait for
            await asyncio.sleep(0.002)
    return time.perf_counter() - start


@pytest.fixture
async def cable(tmp_path):
    cable = Cable(tmp_path / "usb-Punto_Shoe_IS-004711-if00")
    yield cable
    cable.pull()


@pytest.fixture
def table() -> Table:
    return Table()


@asynccontextmanager
async def driving(path: Path, table: Table):
    driver = Shoe(str(path))
    driver.direct(table.orders)
    task = asyncio.create_task(driver.run(table.submit))
    try:
        yield driver
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def test_the_driver_is_what_the_controller_knows():
    driver: ShoeDriver = Shoe("/dev/null")

    assert not driver.health().connected
    assert driver.health().reason == "not started"


async def test_cards_come_in_and_orders_go_out(cable, table):
    cable.plug()
    async with driving(cable.link, table) as driver:
        await until(table.says_hello())
        cable.draws(Card.NINE_S)
        cable.draws(Card.KH)
        await until(lambda: table.cards == [Card.NINE_S, Card.KH])
        await until(lambda: not cable.shoe.stored)

        assert not cable.shoe.locked
        driver.direct(replace(table.orders, locked=True, lamps=Lamps(next="burn")))
        await until(lambda: cable.shoe.locked and cable.shoe.lamps == Lamps(next="burn"))
        health = driver.health()
        assert (health.connected, health.reason, health.serial) == (True, "", SERIAL)
        assert (health.counters["records"], health.counters["connections"]) == (2, 1)


async def test_the_batch_is_committed_before_it_is_acknowledged_and_nothing_is_read_meanwhile(cable, table):
    cable.plug()
    async with driving(cable.link, table):
        await until(table.says_hello())
        await asyncio.sleep(0.1)
        table.busy = 1.2
        cable.draws(Card.NINE_S)
        await asyncio.sleep(0.3)
        cable.draws(Card.KH)
        await asyncio.sleep(0.5)

        assert (table.cards, len(cable.shoe.stored)) == ([], 2)
        await until(lambda: table.cards == [Card.NINE_S])
        table.busy = 0
        await until(lambda: not cable.shoe.stored)
        assert table.cards == [Card.NINE_S, Card.KH]
        assert table.reasons == []


async def test_more_than_is_read_while_the_table_is_busy_waits_in_the_port(cable, table):
    cable.plug()
    async with driving(cable.link, table) as driver:
        await until(table.says_hello())
        await asyncio.sleep(0.1)
        table.busy = 0.4
        cable.draws(Card.NINE_S)
        for _ in range(3):
            await asyncio.sleep(0.05)
            cable.say(bytes(2000))
        cable.draws(Card.KH)

        assert driver._port is not None
        assert len(driver._port._came) < 2 * serial_port.READ_BYTES
        table.busy = 0
        await until(lambda: table.cards == [Card.NINE_S, Card.KH])
        assert table.reasons == []


@pytest.mark.punctual
async def test_a_cable_pulled_in_mid_frame_and_back_on_another_port_loses_nothing(cable, table):
    cable.plug()
    async with driving(cable.link, table) as driver:
        await until(table.says_hello())
        cable.draws(Card.NINE_S)
        await until(lambda: len(table.cards) == 1)
        cable.shoe.happens(lambda number: frames.CardRecord(number, Card.KH, 98))
        cable.say(cable.shoe.data_to_send()[:9])
        await asyncio.sleep(0.02)
        cable.pull()
        noticed = await until(lambda: bool(table.reasons))
        cable.shoe.happens(lambda number: frames.CardRecord(number, Card.TD, 98))
        await until(lambda: len(table.reasons) == 2)

        assert noticed < 0.5
        assert table.reasons[0] == f"the port {cable.link} went away: check the shoe's cable"
        assert table.reasons[1].startswith(
            f"there is no port {cable.link}: check the shoe's cable and the path; "
        )
        assert not driver.health().connected
        await asyncio.sleep(0.5)
        assert len(table.reasons) == 2
        cable.plug()
        back = await until(table.says_hello(2))
        assert back < transport.LAST_RETRY_SECONDS + 0.5
        await until(lambda: table.cards == [Card.NINE_S, Card.KH, Card.TD])
        await until(lambda: not cable.shoe.stored)
        assert driver.health().counters["connections"] == 2


@pytest.mark.punctual
async def test_silence_on_an_idle_line_is_seen_within_a_second(cable, table):
    cable.plug()
    async with driving(cable.link, table):
        await until(table.says_hello())
        await asyncio.sleep(0.6)
        cable.mute = True
        took = await until(lambda: bool(table.reasons))

        assert took < 1.0
        assert table.reasons == ["no sign of life for 0.8 s: check the shoe's power and its cable"]
        await asyncio.sleep(0.3)
        cable.shoe.happens(lambda number: frames.CardRecord(number, Card.TD, 98))
        cable.mute = False
        await until(table.says_hello(2))
        await until(lambda: table.cards == [Card.TD])


async def test_a_silent_port_whose_path_leads_elsewhere_by_now_is_left(cable, table, tmp_path):
    cable.plug()
    other = Cable(tmp_path / "other")
    async with driving(cable.link, table):
        await until(table.says_hello())
        other.plug()
        other.shoe.serial = SERIAL
        cable.link.unlink()
        cable.link.symlink_to(other.link.readlink())
        await asyncio.sleep(0.3)

        assert table.says_hello(1)()
        cable.mute = True
        await until(table.says_hello(2))
        assert table.reasons[-1] == f"the port {cable.link} went away: check the shoe's cable"
    other.pull()


async def test_a_silent_port_whose_path_is_gone_is_left(cable, table):
    cable.plug()
    async with driving(cable.link, table):
        await until(table.says_hello())
        cable.mute = True
        cable.link.unlink()
        await until(lambda: any(reason.startswith("there is no port") for reason in table.reasons))


async def test_a_port_that_stays_silent_is_opened_anew(cable, table, monkeypatch):
    monkeypatch.setattr(transport, "REOPEN_SECONDS", 1.0)
    cable.mute = True
    cable.plug()
    async with driving(cable.link, table) as driver:
        await until(lambda: driver.health().counters["connections"] == 3)

        assert table.reasons == ["the port is open but the shoe says nothing: check its power and its cable"]


async def test_a_shoe_that_is_not_there_at_start_is_told_once_and_found_when_it_comes(cable, table):
    async with driving(cable.link, table):
        await until(lambda: len(table.reasons) == 1)
        await asyncio.sleep(1)

        assert len(table.reasons) == 1
        cable.plug()
        await until(table.says_hello())


async def test_a_port_that_another_holds_is_refused_and_taken_when_it_is_free(cable, table):
    cable.plug()
    holder = os.open(cable.link, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    async with driving(cable.link, table):
        await until(lambda: bool(table.reasons))

        assert table.reasons == [
            f"another program holds {cable.link}: stop it (`fuser -v {cable.link}` names it)"
        ]
        os.close(holder)
        await until(table.says_hello())


async def test_the_driver_keeps_others_out(cable, table):
    cable.plug()
    async with driving(cable.link, table):
        await until(table.says_hello())
        with pytest.raises(PortLostError, match="another program holds"):
            Port(str(cable.link), transport.BAUD, "shoe")
    Port(str(cable.link), transport.BAUD, "shoe").close()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", r"^.* is not a serial port: name one, best by its path in /dev/serial/by-id; "),
        ("file", r"^.*/file is not a serial port: name one"),
        (
            "absent",
            r"^there is no port .*/absent: check the shoe's cable and the path; in /dev/serial/by-id there is ",
        ),
        ("file/below", r"^there is no port .*/file/below: check"),
    ],
    ids=["a directory", "a file", "nothing", "below a file"],
)
async def test_what_is_not_a_port_says_so_and_what_to_do(tmp_path, table, path, reason):
    (tmp_path / "file").write_text("not a port")
    async with driving(tmp_path / path, table):
        await until(lambda: bool(table.reasons))

    assert re.search(reason, table.reasons[0])


async def test_a_baud_rate_that_cannot_be(cable):
    cable.plug()
    with pytest.raises(PortLostError, match=r"^cannot open .* at -5 baud: "):
        Port(str(cable.link), -5, "shoe")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "EACCES",
            "no permission for {path}: add the user of this service to the group {group}, or install the udev rule",
        ),
        ("EBUSY", "another program holds {path}: stop it (`fuser -v {path}` names it)"),
        ("ENODEV", "the port {path} does not answer: pull the shoe's cable and put it in again"),
    ],
)
def test_what_the_system_says_becomes_what_to_do(tmp_path, code, reason):
    path = tmp_path / "port"
    path.touch()
    error = OSError(getattr(errno, code), "")

    assert serial_port.why_not_open(str(path), 9600, "shoe", error) == reason.format(
        path=path, group=path.group()
    )


def test_the_group_of_a_port_that_cannot_even_be_looked_at(tmp_path):
    assert serial_port._group(str(tmp_path / "absent")) == "that owns it"
    assert not serial_port._is_terminal(str(tmp_path / "absent"))


def test_the_ports_that_there_are_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(serial_port, "BY_ID", tmp_path)
    (tmp_path / "usb-B").touch()
    (tmp_path / "usb-A").touch()

    assert serial_port._ports_here() == f"in {tmp_path} there is usb-A, usb-B"


async def test_what_submit_raises_escapes_and_gives_the_port_back(cable):
    async def submit(events: Sequence[ShoeEvent]) -> ShoeOrders:
        raise RuntimeError("the journal's disk is full")

    cable.plug()
    with pytest.raises(RuntimeError, match="disk is full"):
        await asyncio.wait_for(Shoe(str(cable.link)).run(submit), 60)
    Port(str(cable.link), transport.BAUD, "shoe").close()


@pytest.mark.punctual
async def test_a_port_that_takes_nothing_keeps_little_and_never_waits(cable, table):
    cable.plug()
    port = Port(str(cable.link), transport.BAUD, "shoe")
    asyncio.get_running_loop().remove_reader(cable._master)
    frame = encode(frames.SetLamps(1, Lamps(next="burn")))
    start = time.perf_counter()
    for _ in range(20_000):
        port.write(frame)

    assert time.perf_counter() - start < 1
    assert UNSENT_BYTES - len(frame) < len(port._unsent) <= UNSENT_BYTES
    asyncio.get_running_loop().add_reader(cable._master, cable._read)
    await until(lambda: not port._unsent)
    await asyncio.sleep(0.05)
    assert set(cable.shoe.obeyed) == {frames.SetLamps(1, Lamps(next="burn"))}
    assert cable.shoe._decoder.counters.broken == 0
    port.close()


async def test_writing_to_a_port_that_is_gone_is_left_to_the_read(cable):
    cable.plug()
    port = Port(str(cable.link), transport.BAUD, "shoe")
    cable.pull()
    port.write(b"\0")

    assert not port._unsent
    with pytest.raises(PortLostError, match="went away"):
        await port.read(1)
    port.close()


@pytest.mark.parametrize(
    ("error", "lost"), [(BlockingIOError(errno.EAGAIN, ""), False), (OSError(errno.EIO, ""), True)], ids=repr
)
async def test_a_read_that_fails_is_a_lost_port_unless_there_is_only_nothing_to_read(
    cable, monkeypatch, error, lost
):
    def fails(*_: object) -> bytes:
        raise error

    cable.plug()
    port = Port(str(cable.link), transport.BAUD, "shoe")
    monkeypatch.setattr(os, "read", fails)  # an adapter's error, which a pseudo-terminal does not give
    os.write(cable._master, b"x")
    if lost:
        with pytest.raises(PortLostError, match="went away"):
            await port.read(1)
    else:
        assert await port.read(0.1) == b""
    monkeypatch.undo()
    port.close()


async def test_one_line_in_the_log_for_each_change(cable, table):
    with structlog.testing.capture_logs() as lines:
        cable.plug()
        async with driving(cable.link, table):
            await until(table.says_hello())
            cable.pull()
            await until(lambda: len(table.reasons) == 2)
            await asyncio.sleep(0.5)

    assert [line["event"] for line in lines] == ["shoe connected", "shoe lost", "shoe lost"]


@pytest.mark.punctual
async def test_a_card_is_submitted_at_once(cable, table):
    cable.plug()
    async with driving(cable.link, table):
        await until(table.says_hello())
        took = []
        for count in range(1, 101):
            start = time.perf_counter()
            cable.draws(Card.NINE_S)
            await until(lambda count=count: len(table.cards) == count)  # type: ignore[misc]
            took.append(table.times[-1] - start)

    # A machine that has other things to do holds up some of them; what waits for a tick holds up all.
    assert quantiles(took, n=4)[0] < 0.005


@pytest.mark.punctual
def test_decoding_a_card_costs_little():
    from timeit import repeat

    from punto.drivers.ishoe.codec import Decoder

    decoder, wire = Decoder(), encode(frames.CardRecord(1, Card.NINE_S, 98))
    tracer = sys.gettrace()
    sys.settrace(None)  # it costs more than what it traces
    try:
        seconds = min(repeat(lambda: decoder.feed(wire), number=500, repeat=40)) / 500
    finally:
        sys.settrace(tracer)

    assert seconds < 10e-6
