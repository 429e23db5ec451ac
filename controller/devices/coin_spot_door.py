"""The wager sensors' door: what they see goes on the record, and no game is started but with the wagers that they latched.

START GAME comes from a keypad, a page or the local socket, and all of them bring it to `start_game` here. The sensors are
told, and what they latch is the game's; if they do not confirm it nothing is started. A wager that comes later is refused
by the rules, and is on the record; if it stays where it is, it is in the next game by the sensors' own law.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from punto.baccarat.progressive import game_events
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.procedure import Hand
from punto.baccarat.table.events import Event, SensorFault, SensorsLink
from punto.baccarat.table.possible import refusal
from punto.baccarat.table.state import TableState
from punto.controller.devices.device import DeviceDoor
from punto.controller.engine import Engine, Handled
from punto.controller.outbox import Outbox
from punto.drivers import base

SOURCE: Final = "coin spot"
"""Where the record says that these inputs came from."""

CONFIRM_SECONDS: Final = 1.5
"""How long a START waits for the sensors; they say within 1 s that they did not confirm it, if they are there."""

_BETTING: Final = "betting"  # the step of either procedure in which no game is started

_log = structlog.get_logger("punto.consoles")


@dataclass(eq=False, slots=True)
class _Start:
    """A START GAME that waits for the sensors: the order, where it came from, and what became of it, None if unconfirmed."""

    order: StartGame
    source: str
    handled: asyncio.Future[Handled | None]


class CoinSpotDoor(DeviceDoor[base.CoinSpotDriver]):
    """Takes what one table's wager sensors tell, and says what is wanted of them: `punto.drivers.base.CoinSpotUser`."""

    device = "coin_spot"

    def __init__(self, engine: Engine, outbox: Outbox, driver: base.CoinSpotDriver) -> None:
        super().__init__(engine, outbox, driver)
        self._news = asyncio.Event()  # the sensors came or went, or a game is over
        self._telling = asyncio.Lock()  # what they see is told in its order
        self._starting = asyncio.Lock()
        self._start: _Start | None = None
        self._late: set[int] = set()
        # The round that the sensors are to be in: a game that a correction opened again is not started there again.
        self._round = self._hand.round if self._started else None
        engine.watchers.append(self._see)

    # --- what is known of the table

    @property
    def _hand(self) -> Hand:
        progressive = self._engine.state.progressive
        if progressive is None:
            raise AssertionError("there are no wager sensors without a progressive")
        return progressive.procedure.hand

    @property
    def _started(self) -> bool:
        progressive = self._engine.state.progressive
        return progressive is not None and progressive.procedure.step.value != _BETTING

    def late(self) -> tuple[int, ...]:
        """The seats with a wager on their sensor that came after the start of the game in play."""
        return tuple(sorted(self._late))

    # --- what is wanted of the sensors

    def orders(self) -> base.SensorOrders:
        """What the table wants of its sensors now; see `CoinSpotUser.orders`."""
        if self._start is not None:
            return base.SensorOrders(self._start.order.round, frozenset(self._hand.sensors))
        in_the_game = self._hand.wagers if self._started else ()
        return base.SensorOrders(self._round, frozenset({*in_the_game, *self._hand.sensors}))

    async def start_game(self, order: StartGame, source: str) -> Handled:
        """Start a game with the wagers that the sensors latch; without their latch it is refused.

        One that is pressed while another waits, which is then refused, is refused with it: what was lit is dark by now.
        """
        waiting = self._start
        async with self._starting:
            async with self._telling:
                await self._see_to_the_last_game()
            sensors = self._engine.state.sensors
            given_up = waiting is not None and waiting.handled.done() and waiting.handled.result() is None
            away = sensors is None or not sensors.online
            # What would be refused whatever the sensors latch, they need not be told.
            if given_up or away or refusal(self._engine.state, replace(order, seats=())):
                return await self._submit(order, source)
            start = self._start = _Start(order, source, asyncio.get_running_loop().create_future())
            await asyncio.wait([start.handled], timeout=CONFIRM_SECONDS)
            async with self._telling:
                if self._start is start:
                    await self._unconfirmed(start)
            return await start.handled or await self._submit(order, source)

    # --- what they tell

    async def take(self, events: Sequence[base.SensorEvent]) -> None:
        """Put what they tell on the record, in order; see `CoinSpotUser.take`."""
        async with self._telling:
            for event in events:
                await self._take(event)

    async def _take(self, event: base.SensorEvent) -> None:
        match event:
            case base.WagerPlaced(seat=seat):
                await self._placed(seat)
            case base.WagerLifted(seat=seat):
                await self._lifted(seat)
            case base.WagersLatched():
                await self._latched(event)
            case base.StartUnconfirmed(round=round_):
                if self._start is not None and self._start.order.round == round_:
                    await self._unconfirmed(self._start)
            case base.SensorFailed(position, seat, fault):
                await self._tell(SensorFault(position, seat, fault, stands=True))
                if seat is not None and seat in {*self._hand.sensors, *self._late}:
                    await self._void(seat)
            case base.SensorMended(position, seat, fault):
                await self._tell(SensorFault(position, seat, fault, stands=False))
            case base.SensorsFound():
                await self._found(event)

    async def _placed(self, seat: int) -> None:
        hand = self._hand
        if seat in {*hand.sensors, *hand.spent, *self._late}:
            return  # it is known, or not known to be another than the one that has had its game
        handled = await self._tell(game_events.WagerPlaced(seat))
        if handled.refusal is not None:
            self._late.add(seat)
            _log.warning("wager after the start", seat=seat, round=hand.round)

    async def _lifted(self, seat: int) -> None:
        self._late.discard(seat)
        if seat in {*self._hand.sensors, *self._hand.spent}:
            await self._tell(game_events.WagerLifted(seat))

    async def _found(self, found: base.SensorsFound) -> None:
        """Have the record say no more than the sensors do, which were not heard for a while or lost their power."""
        for seat in found.empty:
            await self._lifted(seat)
        # The record may not know of a wager that has had its START: this service came up between the two.
        unsaid = {*self._hand.sensors, *found.spent} - {*found.lying, *self._hand.spent}
        await self._void(*sorted(unsaid))

    async def _latched(self, latched: base.WagersLatched) -> None:
        """Start the game that waits for this; one that nobody waits for any more was refused, and the sensors are told its end."""
        start = self._start
        if start is None or start.order.round != latched.round:
            return
        left_out = [seat for seat in self._hand.sensors if seat not in latched.seats]
        if left_out:
            # They lit, and the sensors do not count them: a START before this one, that nobody knows of, has had them.
            _log.warning("sensors left wagers out", seats=left_out, round=latched.round)
            await self._unconfirmed(start)
            return
        self._start = None
        # What does not light is in no game, though the sensors do not know that: a loss of power lets them forget.
        seats = tuple(seat for seat in latched.seats if seat in self._hand.sensors)
        handled = await self._submit(replace(start.order, seats=seats), start.source)
        if handled.refusal is None:
            self._round = latched.round
        else:
            await self._void(*self._hand.sensors)
        start.handled.set_result(handled)

    async def _unconfirmed(self, start: _Start) -> None:
        """Give it up: whether the sensors have had what lies there nobody knows, so it is in no game until it is laid anew."""
        await self._void(*self._hand.sensors)
        self._start = None  # not before: one that is pressed while they go dark is refused with it
        start.handled.set_result(None)

    async def _void(self, *seats: int) -> None:
        for seat in seats:
            self._late.discard(seat)
            await self._tell(game_events.WagerVoided(seat))

    async def _tell(self, event: Event) -> Handled:
        return await self._submit(event, SOURCE)

    # --- what becomes of them, and of the game

    def link_changed(self) -> None:
        """Have the sensors' state published and put on the record."""
        super().link_changed()
        self._news.set()

    def _see(self, _: TableState, __: int) -> None:
        if self._is_over:
            self._news.set()

    async def begin(self) -> None:
        """Put on the record that nothing is heard of them yet, before orders are taken.

        Of a seat that has no sensor any more nothing will be heard again: nothing lies there.
        """
        await self._tell_link()
        for seat in sorted({*self._hand.sensors, *self._hand.spent} - self._driver.seats):
            await self._lifted(seat)

    async def run(self) -> None:
        """Serve the sensors until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._driver.run(self))
            tasks.create_task(self._attend())

    async def _attend(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            async with self._telling:
                await self._tell_link()
                await self._see_to_the_last_game()

    async def _tell_link(self) -> None:
        health, known = self._driver.health(), self._engine.state.sensors
        news = SensorsLink(health.connected, health.reason or "connected")
        if known is None or (known.online, known.reason) != (news.online, news.reason):
            await self._tell(news)

    @property
    def _is_over(self) -> bool:
        """Whether a game is over that the sensors, or the wagers that were late for it, do not know to be."""
        return not self._started and (self._round is not None or bool(self._late))

    async def _see_to_the_last_game(self) -> None:
        """The sensors are told that it is over, and what was late for it is in the next."""
        if not self._is_over:
            return
        late = self.late()
        self._late.clear()
        self._round = None
        for seat in late:
            await self._placed(seat)
