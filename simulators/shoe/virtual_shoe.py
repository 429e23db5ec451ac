"""The running virtual shoe: device and dealer on a pseudo-terminal, with timing and faults."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from math import inf

from punto.drivers.ishoe.frames import HEARTBEAT_SECONDS
from punto.simulators.sealed import SealedEnd
from punto.simulators.shoe.dealer import Dealer
from punto.simulators.shoe.device import ShoeDevice
from punto.simulators.shoe.faults import Interval, Line
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.scenario import Step
from punto.simulators.shoe.store import Inside, Store
from punto.simulators.shoe.terminal import Terminal

PIECE_SECONDS = 0.001  # between two pieces of a split write, so that they arrive as two


class VirtualShoe:
    """One shoe, from power-on until `run` is cancelled.

    `say` gets a line, without its end, about each event that a person beside the shoe would see.
    """

    def __init__(self, options: ShoeOptions, say: Callable[[str], None] = lambda _: None) -> None:
        self._options = options
        self._say = say
        self._terminal = Terminal(options.link)
        self._line = Line(options.faults, options.seed)
        self._sealed = SealedEnd(options.key)
        self._changed = asyncio.Event()
        self._ready = asyncio.Event()
        self._store: Store | None = None
        self._steps = sorted((s for s in options.steps if s.after is not None), key=_after, reverse=True)
        # Due times, in seconds of the event loop's clock.
        self._started_at = 0.0
        self._beat_at = 0.0
        self._power_at = -inf  # when the power returns; in the past while it is on
        self._plug_at = inf  # when the cable is plugged in again; never, unless a time was given
        self._next_unplug = self._next_power = inf

    # --- for the owner of the shoe

    async def ready(self) -> str:
        """Wait until the line exists; return the path of the host's end."""
        await self._ready.wait()
        return self.path

    @property
    def path(self) -> str:
        """The host's end of the line: the link if there is one; empty while there is neither."""
        if not self._terminal.plugged_in:
            return ""
        return self._terminal.path if self._options.link is None else str(self._options.link)

    @property
    def inside(self) -> Inside:
        """The cards in the shoe and how far they are dealt, as seen on the cards themselves."""
        return Inside() if self._store is None else self._store.inside

    def unplug(self, seconds: float = inf) -> None:
        """Pull the cable out, for a time or until `plug`."""
        self._terminal_gone()
        self._plug_at = self._now() + seconds
        self._changed.set()

    def plug(self) -> None:
        """Plug the cable in again: another pseudo-terminal under the same link."""
        self._plug_at = inf
        if not self._terminal.plugged_in:
            self._terminal_there()
        self._changed.set()

    def lose_power(self, seconds: float, *, forget: bool = False) -> None:
        """Cut the power for a time, and with `forget` lose the memory. The line stays and is silent."""
        self._say(f"the power is gone for {seconds:g} s" + (", and the memory with it" if forget else ""))
        self._power_at = self._now() + seconds
        if forget:
            self._device.lose_memory()
        self._changed.set()

    async def run(self) -> None:
        """Run the shoe until cancelled.

        Raises:
            StoreError: another shoe uses the store, or the file is not a store.
            TerminalError: the link cannot be made.
        """
        with closing(Store(self._options.store)) as self._store:
            self._device = ShoeDevice(self._store, self._options.serial, self._options.room)
            self._dealer = Dealer(self._device, self._options, self._say)
            try:
                self._begin()
                while True:
                    await self._turn()
                    await self._wait()
            finally:
                self._terminal_gone()

    # --- one turn after another

    def _begin(self) -> None:
        now = self._started_at = self._now()
        faults = self._options.faults
        self._next_unplug = now + faults.unplug.every if faults.unplug else inf
        self._next_power = now + faults.power.every if faults.power else inf
        self._terminal_there()
        self._ready.set()

    async def _turn(self) -> None:
        now = self._now()
        heard = self._terminal.read() if self._terminal.plugged_in else b""
        self._disturb(now)
        if self._power_at > now:
            return  # the host's bytes are not received meanwhile
        if self._power_at > -inf:
            self._power_at = -inf
            self._beat_at = now
            self._device.power_on()
            self._sealed.power_on()
        self._device.receive(self._sealed.inward(self._line.inward(heard)))
        for step in self._dealer.turn(now):
            self._do_outside(step)
        if self._power_at > now:
            return
        if now >= self._beat_at:
            self._beat_at = max(self._beat_at + HEARTBEAT_SECONDS, now)
            self._device.heartbeat()
        await self._send()

    async def _send(self) -> None:
        pieces = self._line.outward(self._sealed.outward(self._device.take_frames()))
        for piece in pieces:
            self._terminal.write(piece)
            if len(pieces) > 1:
                await asyncio.sleep(PIECE_SECONDS)

    async def _wait(self) -> None:
        due = min(self._beat_at, self._dealer.wake_at)
        if self._power_at > -inf:
            due = self._power_at
        due = min(due, self._plug_at, self._next_unplug, self._next_power)
        if self._steps:
            due = min(due, self._started_at + _after(self._steps[-1]))
        timer = asyncio.get_running_loop().call_at(due, self._changed.set)
        await self._changed.wait()
        timer.cancel()
        self._changed.clear()
        # A turn without waiting must still let other tasks run.
        await asyncio.sleep(0)

    # --- faults by time

    def _disturb(self, now: float) -> None:
        if now >= self._plug_at:
            self.plug()
        faults = self._options.faults
        if faults.unplug is not None and now >= self._next_unplug:
            self._next_unplug = _next(faults.unplug, now)
            self.unplug(faults.unplug.seconds)
        if faults.power is not None and now >= self._next_power:
            self._next_power = _next(faults.power, now)
            self.lose_power(faults.power.seconds)
        while self._steps and now >= self._started_at + _after(self._steps[-1]):
            step = self._steps.pop()
            if not self._dealer.do(step, now):
                self._do_outside(step)

    def _do_outside(self, step: Step) -> None:
        match step.do:
            case "unplug":
                self.unplug(step.seconds)
            case "power":
                self.lose_power(step.seconds)
            case "forget":
                self.lose_power(step.seconds, forget=True)
            case _:
                raise AssertionError(step)

    # --- the line

    def _terminal_there(self) -> None:
        self._terminal.plug()
        asyncio.get_running_loop().add_reader(self._terminal.fileno(), self._changed.set)
        link, path = self._options.link, self._terminal.path
        self._say(f"shoe {self._options.serial} is at {path if link is None else f'{link} ({path})'}")

    def _terminal_gone(self) -> None:
        if not self._terminal.plugged_in:
            return
        asyncio.get_running_loop().remove_reader(self._terminal.fileno())
        self._terminal.unplug()
        self._say("the cable is out")

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _after(step: Step) -> float:
    return inf if step.after is None else step.after


def _next(interval: Interval, now: float) -> float:
    return now + interval.seconds + interval.every
