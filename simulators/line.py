"""A simulated device on a pseudo-terminal, with its timing and its line faults; and the command that runs it."""

import argparse
import asyncio
import dataclasses
import random
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Final, Generic, Protocol, TypeVar

from punto.configs.problems import meant
from punto.configs.text_file import lines
from punto.drivers.frame import HIGHEST
from punto.drivers.window import AnyReply
from punto.simulators.sealed import SealedEnd
from punto.simulators.shoe.terminal import Terminal, TerminalError

TURN_SECONDS: Final = 0.02

Act = Callable[[str], Iterable[Awaitable[None]]]
"""Carries out a line of the command's input; returns the work to await before the command ends."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The line's faults for each frame and each read of the device: chances from 0 to 1, `delay` in seconds.

    `noise` puts random bytes before a frame.
    """

    drop: float = 0.0
    double: float = 0.0
    noise: float = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name in ("drop", "double", "noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a chance: it must be from 0 to 1")
        if not 0 <= self.delay <= 60:
            raise ValueError("delay is in seconds: it must be from 0 to 60")


class DeviceOnALine(ABC):
    """A device, from power-on until `run` is cancelled; `link` is a symlink to its line's current place.

    Subclasses define how the device reacts to the host. `chance` generates the faults.
    """

    def __init__(
        self, link: Path | None, faults: Faults | None, chance: random.Random, key: bytes | None = None
    ) -> None:
        self._terminal = Terminal(link)
        self._sealed = SealedEnd(key)
        self._link = link
        self._faults = faults or Faults()
        self._chance = chance
        self._changed = asyncio.Event()
        self._timers: set[asyncio.TimerHandle] = set()

    @abstractmethod
    def _receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host."""

    @abstractmethod
    def _data_to_send(self, now: float) -> list[bytes]:
        """Return the frames for the line."""

    @property
    def path(self) -> str:
        """The host's end of the line: the link if there is one; empty while unplugged."""
        if not self._terminal.plugged_in:
            return ""
        return self._terminal.path if self._link is None else str(self._link)

    def unplug(self) -> None:
        """Pull the cable out. The device has its own power supply and forgets nothing."""
        if not self._terminal.plugged_in:
            return
        asyncio.get_running_loop().remove_reader(self._terminal.fileno())
        self._terminal.unplug()

    def plug(self) -> None:
        """Plug the cable in: another pseudo-terminal under the same link; raises TerminalError if it cannot be made."""
        self._terminal.plug()
        asyncio.get_running_loop().add_reader(self._terminal.fileno(), self._changed.set)
        self._changed.set()

    async def run(self) -> None:
        """Run the device until cancelled; raises TerminalError if the link cannot be made."""
        try:
            self.plug()
            while True:
                self._turn()
                with suppress(TimeoutError):
                    async with asyncio.timeout(TURN_SECONDS):
                        await self._changed.wait()
                self._changed.clear()
        finally:
            for timer in self._timers:
                timer.cancel()
            self.unplug()

    def _turn(self) -> None:
        now = self._now()
        heard = self._terminal.read() if self._terminal.plugged_in else b""
        if heard and self._chance.random() >= self._faults.drop:
            self._receive(self._sealed.inward(heard), now)
        for frame in self._sealed.outward(self._data_to_send(now)):
            self._send(frame)

    def _send(self, frame: bytes) -> None:
        faults, chance = self._faults, self._chance.random
        if chance() < faults.noise:
            frame = self._chance.randbytes(20) + frame
        times = (chance() >= faults.drop) + (chance() < faults.double)
        for _ in range(times):
            if not faults.delay:
                self._terminal.write(frame)
                continue
            timer = asyncio.get_running_loop().call_later(
                chance() * faults.delay, self._terminal.write, frame
            )
            self._timers = {each for each in self._timers if each.when() > self._now()} | {timer}

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


class _Device(Protocol):
    def connected(self, now: float) -> bool: ...
    def receive(self, data: bytes, now: float) -> None: ...
    def data_to_send(self, now: float) -> list[bytes]: ...


DeviceT = TypeVar("DeviceT", bound=_Device)


class VirtualDevice(DeviceOnALine, Generic[DeviceT]):
    """A `device` on a line; it is a new one after each loss of power."""

    device: DeviceT

    def lose_power(self) -> None:
        """Switch the device off and on."""
        self._sealed.power_on()
        self._power_on()

    @abstractmethod
    def _power_on(self) -> None:
        """Begin as a device that has just been switched on."""

    @property
    def connected(self) -> bool:
        """Whether the device is connected to a host."""
        return self.device.connected(self._now())

    def handle(self, word: str) -> bool:
        """Do what a word of the command's input says about cable and power; False if it says something else."""
        match word:
            case "unplug":
                self.unplug()
            case "plug":
                self.unplug()
                self.plug()
            case "power":
                self.lose_power()
            case _:
                return False
        return True

    def _receive(self, data: bytes, now: float) -> None:
        self.device.receive(data, now)

    def _data_to_send(self, now: float) -> list[bytes]:
        return self.device.data_to_send(now)


class AnsweredDevice(VirtualDevice[DeviceT], Generic[DeviceT, AnyReply]):
    """A device whose requests the host answers, each of which has a future for its answer."""

    def __init__(
        self, link: Path | None, faults: Faults | None, chance: random.Random, key: bytes | None = None
    ) -> None:
        super().__init__(link, faults, chance, key)
        self._answers: dict[int, asyncio.Future[AnyReply]] = {}

    @abstractmethod
    def _new_device(self, session: int) -> DeviceT:
        """The device, just switched on."""

    def _power_on(self) -> None:
        """Switch the device off and on: it forgets unanswered requests, and counts from 1 again."""
        for waiting in self._answers.values():
            waiting.cancel()
        self._answers.clear()
        # Not from the seed: the host must recognise a device that was off.
        self.device = self._new_device(random.SystemRandom().randint(1, HIGHEST))
        self._changed.set()

    def _answer_to(self, number: int) -> asyncio.Future[AnyReply]:
        """The future that receives the answer to a request, and is cancelled if none can come."""
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._changed.set()
        return self._answers[number]

    def _answered(self, answer: AnyReply) -> None:
        waiting = self._answers.pop(answer.number)
        if not waiting.done():  # the caller may have cancelled it
            waiting.set_result(answer)


# --- the command


def add_line_arguments(parser: argparse.ArgumentParser, device: str, serial: str) -> None:
    """Add the options that every simulated device on a small link has."""
    add = parser.add_argument
    add(
        "--link",
        type=Path,
        required=True,
        metavar="PATH",
        help=f"a symlink that always points to the {device}'s pseudo-terminal",
    )
    add_key_argument(parser)
    add("--serial", default=serial, metavar="TEXT", help=f"the serial number (default: {serial})")
    add("--seed", default="1", metavar="TEXT", help="the text that determines the faults (default: 1)")
    add(
        "--fault",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="simulate a fault of the line. NAME is drop, double, noise or delay. VALUE is a probability from 0 to 1; for "
        "delay, VALUE is a time in seconds. You can give this option more than once",
    )


def add_key_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option of a device's key."""
    parser.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="a file with the device's key, which is 64 hexadecimal digits (`punto device-key`). With a key, the device uses "
        "version 2 of the protocol",
    )


def faults_of(written: list[str]) -> Faults:
    """Parse faults as written on the command line; raises ValueError if one is unknown or has no such value."""
    names = [field.name for field in dataclasses.fields(Faults)]
    values = {}
    for each in written:
        name, _, value = each.partition("=")
        if name not in names:
            raise ValueError(f"there is no fault {name!r}: write {', '.join(names)}{meant(name, names)}")
        try:
            values[name] = float(value)
        except ValueError:
            raise ValueError(f"{name}={value} is not a number: write it such as {name}=0.1") from None
    return Faults(**values)


def run_command(name: str, running: Coroutine[Any, Any, None]) -> int:
    """Run a device's command; return its exit code, after a message if it cannot be run."""
    try:
        asyncio.run(running)
    except (ValueError, TerminalError) as error:
        sys.stderr.write(f"punto {name}: {error}\n")
        return 1
    return 0


def say(line: str) -> None:
    """Print a line of a command's output at once."""
    print(line, flush=True)


async def run_until_stopped(
    device: DeviceOnALine, act: Act, watch: Coroutine[Any, Any, None] | None = None
) -> None:
    """Run a device until the standard input ends, SIGINT or SIGTERM; `watch` prints what the host does meanwhile.

    Raises:
        TerminalError: the device's link cannot be made.
    """
    running = asyncio.ensure_future(device.run())
    typing = asyncio.ensure_future(_type(act))
    watching = [] if watch is None else [asyncio.ensure_future(watch)]
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, typing.cancel)
    await asyncio.wait([running, typing], return_when=asyncio.FIRST_COMPLETED)
    for task in (*watching, typing, running):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _type(act: Act) -> None:
    typed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        with suppress(RuntimeError):  # the loop has ended in the meantime
            for line in lines(sys.stdin.buffer):
                loop.call_soon_threadsafe(typed.put_nowait, line.decode(errors="backslashreplace"))
            loop.call_soon_threadsafe(typed.put_nowait, "")

    Thread(target=read, daemon=True).start()
    waiting: set[asyncio.Future[None]] = set()
    while line := await typed.get():
        for ending in act(line):
            task = asyncio.ensure_future(ending)
            waiting.add(task)
            task.add_done_callback(waiting.discard)
    if waiting:
        await asyncio.wait(waiting)
