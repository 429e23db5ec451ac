"""A shoe for the tests, written from docs/reference/ishoe-link.md alone: parts 4 to 6, and nothing that only the program says."""

import random
from collections.abc import Callable
from pathlib import Path

from punto.baccarat.cards import Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from punto.simulators.line import DeviceOnALine, Faults

SERIAL = "IS-004711"
LOG = 0x5EED_0001
READER = Component("reader", "2.4.1", "ab" * 32)


class ModelShoe:
    def __init__(self, serial: str = SERIAL, log: int = LOG) -> None:
        self.serial = serial
        self.log = log
        self.stored: dict[int, frames.Record] = {}
        self.first_kept = self.next_to_send = self.next_record = 1
        self.obeyed: list[frames.Command] = []
        self._out: list[bytes] = []
        self._power_on()

    def _power_on(self) -> None:
        self._decoder = Decoder(frames.TYPES)
        self.sending = False
        self.locked = True
        self.lid_open = False
        self.lamps = Lamps()
        self.last_command = 0
        self._say(self.hello())

    def lose_power(self) -> None:
        """The power goes and comes back; what was stored stays."""
        self._out.clear()
        self._power_on()

    def lose_memory(self, log: int) -> None:
        self.stored.clear()
        self.log = log
        self.first_kept = self.next_to_send = self.next_record = 1
        self.lose_power()

    def hello(self) -> frames.Hello:
        return frames.Hello(self.serial, self.log, self.first_kept, self.next_record, 8)

    def heartbeat(self) -> None:
        numbers = (self.log, self.first_kept, self.next_to_send, self.next_record, self.last_command)
        self._say(
            frames.Heartbeat(*numbers, self.locked, self.lid_open, self.sending, lamps=self.lamps, decks=8)
        )

    def happens(self, make: Callable[[int], frames.Record]) -> frames.Record:
        record = self.stored[self.next_record] = make(self.next_record)
        self.next_record += 1
        self._send_records()
        return record

    def receive(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            if isinstance(frame, frames.Command):
                self.last_command = frame.command
                self.obeyed.append(frame)
                self._obey(frame)

    def data_to_send(self) -> bytes:
        return b"".join(self.take_frames())

    def take_frames(self) -> list[bytes]:
        data, self._out = self._out, []
        return data

    def _obey(self, command: frames.Command) -> None:
        match command:
            case frames.AskHello():
                self.sending = False
                self._say(self.hello())
            case frames.Acknowledge(log=self.log, record=record, locked=locked, lamps=lamps) if (
                record < self.next_record
            ):
                self.locked, self.lamps = locked, lamps
                for number in range(self.first_kept, record + 1):
                    del self.stored[number]
                self.first_kept = max(self.first_kept, record + 1)
                self.next_to_send = max(self.next_to_send, self.first_kept)
                self._send_records()
            case frames.Resend(log=self.log, record=record) if record <= self.next_record:
                self.sending = True
                self.next_to_send = max(record, self.first_kept)
                self._send_records()
            case frames.Lock():
                self.locked = True
            case frames.Unlock():
                self.locked = False
            case frames.SetLamps(lamps=lamps):
                self.lamps = lamps

    def _send_records(self) -> None:
        while self.sending and self.next_to_send < self.next_record:
            if self.next_to_send - self.first_kept >= 64:
                return
            self._say(self.stored[self.next_to_send])
            self.next_to_send += 1

    def _say(self, frame: frames.AnyFrame) -> None:
        self._out.append(encode(frame))


class ShoeOnALine(DeviceOnALine):
    """The model on a pseudo-terminal, with the time; `link` is a symlink that stands wherever its line is."""

    def __init__(
        self, link: Path, serial: str = SERIAL, faults: Faults | None = None, key: bytes | None = None
    ) -> None:
        super().__init__(link, faults, random.Random("shoe"), key)
        self.shoe = ModelShoe(serial)
        self._beat_at = 0.0

    @property
    def connected(self) -> bool:
        """Whether a host has asked for records."""
        return self.shoe.sending

    def lose_power(self) -> None:
        self._sealed.power_on()
        self.shoe.lose_power()
        self._changed.set()

    def draw(self, card: Card) -> None:
        self.shoe.happens(lambda number: frames.CardRecord(number, card, 98))
        self._changed.set()

    def _receive(self, data: bytes, now: float) -> None:
        self.shoe.receive(data)

    def _data_to_send(self, now: float) -> list[bytes]:
        if now >= self._beat_at:
            self.shoe.heartbeat()
            self._beat_at = now + frames.HEARTBEAT_SECONDS
        return self.shoe.take_frames()
