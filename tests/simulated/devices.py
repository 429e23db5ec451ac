"""The simulated devices of a progressive: their own code at the end of a line of bytes, which can be noisy, pulled or without power.

The drivers of the service are its own: only the serial port under them is simulated. Wager sensors, keypad and card reader
outlive each process of the service.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Protocol

from punto.drivers.card_reader import frames as card_frames
from punto.drivers.keypad import frames as keypad_frames
from punto.drivers.line import PortLostError
from punto.simulators.card_reader.device import CardReaderDevice, NotTakenError
from punto.simulators.coin_spot.device import Concentrator, Sensor
from punto.simulators.keypad.device import KeypadDevice
from tests.simulated.disk import Process
from tests.simulated.loop import InTurn, Loop
from tests.simulated.virtual_time import HeardPort

TICK_SECONDS: Final = 0.1


class _End(Protocol):
    """The device's end of its link."""

    def receive(self, data: bytes, now: float) -> None: ...

    def data_to_send(self, now: float) -> list[bytes]: ...


class Device:
    """A device and its line. It outlives the processes that use it; `serial` names the one that is at the line now."""

    def __init__(self, loop: Loop, chance: Random, path: str, serial: str) -> None:
        self.loop = loop
        self.chance = chance
        self.path = path
        self.serial = serial
        self.cable = True
        self.noise_until = 0.0
        self.counted: Counter[str] = Counter()
        self.end: _End | None = None
        self.starts = 0
        self._first = serial
        self._port: Port | None = None
        self._to_host = InTurn(loop)
        self._to_device = InTurn(loop)

    def made(self) -> _End:
        """A device that has just been switched on."""
        raise NotImplementedError

    def power_on(self) -> None:
        """Switch it on."""
        self.starts += 1
        self.end = self.made()
        self.turn()

    def power_off(self, seconds: float) -> None:
        """It has no power for so long."""
        self.end = None
        self.loop.call_later(seconds, self.power_on)

    def pull(self, seconds: float) -> None:
        """Its cable is pulled, and plugged in later."""
        self.cable = False
        if self._port is not None:
            self._port.hang_up()
            self._port = None
        self.loop.call_later(seconds, self.plug)

    def plug(self) -> None:
        """Plug the cable in."""
        self.cable = True

    def swap(self) -> None:
        """Another device is put in its place, or the first again."""
        self.serial = self._first if self.serial != self._first else f"{self._first}-other"
        self.power_off(self.chance.uniform(0.2, 3))

    async def run(self) -> None:
        """Repeat what waits for an answer, until cancelled."""
        self.power_on()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.turn()

    # --- the line

    def open(self, process: Process) -> "Port":
        """The host's end, for a process."""
        if not self.cable:
            raise PortLostError(f"there is no port {self.path}")
        self._port = Port(self, process)
        return self._port

    def left(self, port: "Port") -> None:
        """Forget a port that was closed."""
        if self._port is port:
            self._port = None

    def hear(self, data: bytes) -> None:
        """Take what the host has written."""
        for each in self._through(data):
            self._to_device.call_later(0.001, self._hear, each)

    def _hear(self, data: bytes) -> None:
        if self.cable and self.end is not None:
            self.end.receive(data, self.loop.time())
            self.turn()

    def turn(self) -> None:
        """Send what is due."""
        if self.end is None:
            return
        for frame in self.end.data_to_send(self.loop.time()):
            for each in self._through(frame):
                self._to_host.call_later(0.001 + self.chance.random() * 0.004, self._say, each)

    def _say(self, data: bytes) -> None:
        if self._port is not None:
            self._port.hear(data)

    def _through(self, data: bytes) -> list[bytes]:
        """What becomes of bytes on the line: with noise, bits are flipped, and bytes are lost or repeated."""
        if self.loop.passed >= self.noise_until or not data or self.chance.random() < 0.6:
            return [data]
        at = self.chance.randrange(len(data))
        self.counted["noise on a line"] += 1
        return self.chance.choice(
            (
                [data[:at] + bytes([data[at] ^ 1 << self.chance.randrange(8)]) + data[at + 1 :]],
                [data[:at] + data[at + 1 :]],
                [data[: at + 1] + data[at:]],
                [data, data],
                [],
            )
        )


class Port(HeardPort):
    """`punto.drivers.serial_port.Port` at the line of a device."""

    def __init__(self, device: Device, process: Process) -> None:
        super().__init__()
        self._device = device
        self._process = process

    def write(self, data: bytes) -> None:
        """See `serial_port.Port.write`."""
        if data and not self._lost and not self._process.dead:
            self._device.hear(data)

    def close(self) -> None:
        """See `serial_port.Port.close`."""
        self._device.left(self)

    def discard_output(self) -> None:
        """Nothing waits."""

    def check_line(self) -> None:
        """The path leads to this port."""
        if self._lost:
            raise PortLostError("the port was disconnected")


class Coin(Sensor):
    """A sensor, and which of the coins it shows."""

    number = 0
    """Of the coin that was put last; 0 before the first."""

    def put(self) -> None:
        if not self.coin:
            self.number += 1
        super().put()


@dataclass(frozen=True)
class Latch:
    """What the sensors showed when they were started: the coin of each seat."""

    at: float
    round: int
    serial: str
    coins: dict[int, int]


class Spots(Device):
    """The wager sensors. Position `n` is that of seat `n`."""

    def __init__(self, loop: Loop, chance: Random, path: str, seats: int) -> None:
        super().__init__(loop, chance, path, "VC-1")
        self.sensors = [Coin() for _ in range(seats)]
        self.latches: deque[Latch] = deque(maxlen=50)
        self._boot = 0
        self._round = 0

    def made(self) -> Concentrator:
        self._boot += 1
        self._round = 0
        return Concentrator(self.serial, self._boot, self.sensors)

    def _hear(self, data: bytes) -> None:
        before = [
            (seat, each) for seat, each in enumerate(self.sensors, 1) if each.answers == 1 and each.sees
        ]
        super()._hear(data)
        if isinstance(self.end, Concentrator) and self.end.round != self._round:
            self._round = self.end.round
            if self._round:
                coins = {seat: each.number for seat, each in before}
                self.latches.append(Latch(self.loop.passed, self._round, self.serial, coins))

    def look(self) -> None:
        """The sensors have changed."""
        if isinstance(self.end, Concentrator):
            self.end.look()
            self.turn()

    def put(self, seat: int) -> None:
        """A player puts a coin on the sensor."""
        self.sensors[seat - 1].put()
        self.look()

    def take(self, seat: int) -> None:
        """The coin is taken away."""
        self.sensors[seat - 1].take()
        self.look()

    def break_(self, seconds: float) -> None:
        """A sensor has a fault for so long."""
        sensor = self.chance.choice(self.sensors)
        sensor.break_(self.chance.choice(("stuck", "missing", "doubled")))
        self.look()
        self.loop.call_later(seconds, self._mend, sensor)

    def _mend(self, sensor: Coin) -> None:
        sensor.mend()
        self.look()


@dataclass
class Press:
    """A press of a key, or a swipe of a card: its number on its device, and whether the record has it.

    `start` says which start of the device it was at: at each, numbers begin again, and what was not delivered before is lost.
    """

    at: float
    what: str
    serial: str
    start: int
    number: int
    found: bool = False
    answered: bool = False


class Keypad(Device):
    """The dealer's keypad, with the supervisor's key."""

    def __init__(self, loop: Loop, chance: Random, path: str, key: Any) -> None:
        super().__init__(loop, chance, path, "VK-1")
        self.key = key
        self.turned: deque[tuple[float, str]] = deque([(0.0, "run")], maxlen=20)
        self.presses: deque[Press] = deque(maxlen=200)
        self.answered: Callable[[Press, str], None] = lambda *_: None

    def made(self) -> KeypadDevice:
        self._mine: list[Press] = []
        return KeypadDevice(self.serial, self.chance.randint(1, 2**31), self._answered, self.key)

    def _answered(self, answer: keypad_frames.Answer) -> None:
        self.counted[f"press {answer.result}"] += 1
        press = next(each for each in self._mine if each.number == answer.number)
        press.answered = True
        self.answered(press, answer.result)

    def press(self, key: str) -> None:
        """Press a key."""
        if isinstance(self.end, KeypadDevice):
            number = self.end.press(key, self.loop.time())
            if number is not None:
                self.presses.append(Press(self.loop.passed, key, self.serial, self.starts, number))
                self._mine.append(self.presses[-1])
            self.turn()

    def turn_key(self, to: Any) -> None:
        """A supervisor turns the key, also if the keypad has no power."""
        self.key = to
        self.turned.append((self.loop.passed, to))
        if isinstance(self.end, KeypadDevice):
            self.end.turn(to)
            self.turn()


class CardReader(Device):
    """The card reader."""

    def __init__(self, loop: Loop, chance: Random, path: str) -> None:
        super().__init__(loop, chance, path, "VR-1")
        self.swipes: deque[Press] = deque(maxlen=100)
        self.answered: Callable[[Press, str], None] = lambda *_: None

    def made(self) -> CardReaderDevice:
        return CardReaderDevice(self.serial, self.chance.randint(1, 2**31), self._answered)

    def _answered(self, answer: card_frames.Answer) -> None:
        self.counted[f"swipe {answer.result}"] += 1
        self.swipes[-1].answered = answer.result != "second_factor"
        self.answered(self.swipes[-1], answer.result)

    def swipe(self, card: str) -> None:
        """Swipe a card; an empty one cannot be read."""
        if not isinstance(self.end, CardReaderDevice):
            return
        try:
            number = self.end.swipe(f";{card}?".encode() if card else b"", self.loop.time())
        except NotTakenError:
            self.counted["swipe not taken"] += 1
        else:
            self.swipes.append(Press(self.loop.passed, card, self.serial, self.starts, number))
        self.turn()
