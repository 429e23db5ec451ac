"""A small host for the shoe's link, as part 7 of docs/reference/ishoe-link.md has it, and a small table that plays by the tableau."""

import asyncio
import fcntl
import os
import tty
from collections.abc import Callable
from pathlib import Path

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from tests.deadline import DEADLINE


class Table:
    """Burns by the first card, deals coup after coup, and asks for a new shoe after the cut card's last coup.

    With `automatic` the next coup opens by itself; without it `locked` stays until `next_coup`.
    """

    def __init__(self, shoes: int = 1, *, automatic: bool = True) -> None:
        self.shoes = shoes
        self.automatic = automatic
        self.dealt: list[list[Card]] = [[]]  # the cards of each shoe, burned ones included
        self.coups: list[Coup] = []
        self.burn_left: int | None = None
        self.coup = Coup()
        self.last_coup = False
        self.locked = False
        self.lamps = Lamps(next="burn")

    @property
    def over(self) -> bool:
        return len(self.dealt) > self.shoes

    def take(self, record: frames.Record) -> None:
        if isinstance(record, frames.CutCardRecord):
            self.last_coup = True
        elif isinstance(record, frames.CardRecord | frames.OverdrawnRecord) and record.card is not None:
            self.dealt[-1].append(record.card)
            self._place(record.card)

    def next_coup(self) -> None:
        self.locked = False
        self.lamps = Lamps(next="player")

    def _place(self, card: Card) -> None:
        if self.burn_left is None:
            self.burn_left = card.points or 10
        elif self.burn_left:
            self.burn_left -= 1
            self.coup = Coup()
        else:
            self.coup = self.coup.with_card(card)
        if self.burn_left:
            return
        side = self.coup.next_side
        if side is not None:
            self.lamps = Lamps(next=side.value)
            return
        self._end_coup()

    def _end_coup(self) -> None:
        self.coups.append(self.coup)
        winner, self.coup = self.coup.winner.value, Coup()
        if self.last_coup:
            self.dealt.append([])
            self.burn_left, self.last_coup = None, False
            self.locked, self.lamps = self.over, Lamps(next="none" if self.over else "burn")
        else:
            self.locked = not self.automatic
            self.lamps = Lamps(**{winner: True}, next="player" if self.automatic else "none")


class Host:
    """Takes each record once and in order, whatever the line does; `taken` is its journal."""

    def __init__(self, path: str | Path, table: Table) -> None:
        self.path = str(path)
        self.table = table
        self.taken: list[frames.Record] = []
        self.log: int | None = None
        self.hellos: list[frames.Hello] = []
        self.heartbeats: list[frames.Heartbeat] = []
        self.decoder = Decoder(frames.TYPES)
        self.hangups = 0
        self._fd = -1
        self._command = 0
        self._ready = False
        self._heard_at = self._asked_at = self._repeated_at = 0.0

    @property
    def expected(self) -> int:
        return self.taken[-1].record + 1 if self.taken else 1

    async def until(self, condition: Callable[[], object], seconds: float = DEADLINE) -> None:
        """Be a host until something is so."""
        async with asyncio.timeout(seconds):
            while not condition():
                self.step()
                await asyncio.sleep(0.0005)

    async def until_over(self, seconds: float = DEADLINE) -> None:
        await self.until(lambda: self.table.over, seconds)

    async def until_taken(self, records: int) -> None:
        """Take so many records more, or all there are."""
        before = self.expected
        await self.until(lambda: self.table.over or self.expected > before + records)

    async def listen(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        await self.until(lambda: loop.time() >= end)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    # --- one look at the line

    def step(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._fd < 0 and not self._open():
            return
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            data = b""
        else:
            if not data:  # a terminal that was hung up reads as ended
                self.hangups += 1
                self.close()
                return
        out: list[frames.Command] = []
        for frame in self.decoder.feed(data):
            self._heard_at = now
            out += self._answer(frame, now)
        if now - self._heard_at > 0.8:
            self._ready = False
        if not self._ready and now - self._asked_at > 0.25:
            self._asked_at = now
            out.append(frames.AskHello(self._next()))
        self.send(*out)

    def send(self, *commands: frames.Command) -> None:
        if commands:
            try:
                os.write(self._fd, b"".join(map(encode, commands)))
            except OSError:
                self.hangups += 1
                self.close()

    def _open(self) -> bool:
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            # As serial libraries do: numbers of terminals come again, so an older host may think that this one is its.
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            return False
        tty.setraw(self._fd)
        self.decoder = Decoder(frames.TYPES, self.decoder.counters)
        self._command, self._ready, self._asked_at = 0, False, 0.0
        return True

    def _next(self) -> int:
        self._command += 1
        return self._command

    def _answer(self, frame: frames.AnyFrame, now: float) -> list[frames.Command]:
        match frame:
            case frames.Hello():
                return self._on_hello(frame)
            case frames.Heartbeat() if self._ready:
                self.heartbeats.append(frame)
                return self._on_heartbeat(frame, now)
            case frames.Record() if self._ready:
                return self._on_record(frame, now)
        return []

    def _on_hello(self, hello: frames.Hello) -> list[frames.Command]:
        assert self.log in {None, hello.log}, "another log: records are lost"
        self.log, self._ready = hello.log, True
        self.hellos.append(hello)
        return [*self._orders(), self._resend()]

    def _on_record(self, record: frames.Record, now: float) -> list[frames.Command]:
        if record.record > self.expected:
            return self._repeat(now, self._resend())
        if record.record == self.expected:
            self.taken.append(record)
            self.table.take(record)
        return [self._acknowledge()]

    def _on_heartbeat(self, beat: frames.Heartbeat, now: float) -> list[frames.Command]:
        out: list[frames.Command] = []
        if beat.next_to_send > self.expected or not beat.sending:
            out.append(self._resend())
        if beat.first_kept < self.expected:
            out.append(self._acknowledge())
        if (beat.locked, beat.lamps) != (self.table.locked, self.table.lamps):
            out += self._orders()
        return self._repeat(now, *out)

    def _repeat(self, now: float, *commands: frames.Command) -> list[frames.Command]:
        if not commands or now - self._repeated_at < 0.2:
            return []
        self._repeated_at = now
        return list(commands)

    def _orders(self) -> list[frames.Command]:
        lock = frames.Lock if self.table.locked else frames.Unlock
        return [lock(self._next()), frames.SetLamps(self._next(), self.table.lamps)]

    def _resend(self) -> frames.Resend:
        assert self.log is not None
        return frames.Resend(self._next(), self.log, self.expected)

    def _acknowledge(self) -> frames.Command:
        assert self.log is not None
        if not self.taken:
            return frames.AskHello(self._next())
        orders = self.table.locked, self.table.lamps
        return frames.Acknowledge(self._next(), self.log, self.expected - 1, *orders)
