"""The wager sensors' door: it records their events, and a game starts only with the wagers that they latched.

START GAME comes from a keypad, a page or the local socket; all of them call `start_game` here. The door sends the START to
the sensors, and the wagers that they latch are in the game. If they do not confirm it, no game starts. The rules refuse a
later wager, and the refusal is recorded; if the wager stays on its sensor, it is in the next game.
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
from punto.controller.devices.door import DeviceDoor
from punto.controller.engine import Engine, Handled
from punto.controller.outbox import Outbox
from punto.drivers import base

SOURCE: Final = "coin spot"
"""The source of these inputs on the record."""

CONFIRM_SECONDS: Final = 1.5
"""How long a START waits for the sensors; while they are online, `StartUnconfirmed` comes within 1 s."""

_log = structlog.get_logger("punto.controller.devices")


@dataclass(eq=False, slots=True)
class _Start:
    """A START GAME that waits for the sensors: the order, its source, and its result, None if they did not confirm it."""

    order: StartGame
    source: str
    handled: asyncio.Future[Handled | None]


class CoinSpotDoor(DeviceDoor[base.CoinSpotDriver]):
    """The door of one table's wager sensors: `punto.drivers.base.CoinSpotUser`."""

    device = "coin_spot"

    def __init__(self, engine: Engine, outbox: Outbox, driver: base.CoinSpotDriver) -> None:
        super().__init__(engine, outbox, driver)
        self._missed = False  # the sensors reported something before they were accepted
        self._recording = asyncio.Lock()  # keeps their events in order
        self._starting = asyncio.Lock()
        self._start: _Start | None = None
        self._late: set[int] = set()
        # The round that the sensors must be in: if a correction opens a game again, the sensors do not start it again.
        self._round = self._game
        engine.watch(self._watch)

    # --- the table

    @property
    def _hand(self) -> Hand:
        progressive = self._engine.state.progressive
        if progressive is None:
            raise AssertionError("a table without a progressive has no wager sensors")
        return progressive.procedure.hand

    @property
    def _game(self) -> int | None:
        """The round of the game that is started, or that the authority of the meter is asked to start."""
        progressive = self._engine.state.progressive
        return None if progressive is None else progressive.game

    @property
    def _started(self) -> bool:
        return self._game is not None

    def gives(self) -> frozenset[str]:
        """As `DeviceDoor.gives`, whether or not the sensors are there: no wager is marked by hand beside them."""
        return frozenset({"wager_placed", "wager_lifted"})

    def late(self) -> tuple[int, ...]:
        """The seats with a wager on their sensor that came after the start of the game in play."""
        return tuple(sorted(self._late))

    # --- orders to the sensors

    def orders(self) -> base.SensorOrders:
        """The table's present orders to its sensors; see `CoinSpotUser.orders`."""
        if self._start is not None:
            return base.SensorOrders(self._start.order.round, frozenset(self._hand.sensors))
        in_the_game = self._hand.wagers if self._game == self._hand.round else ()
        return base.SensorOrders(self._round, frozenset({*in_the_game, *self._hand.sensors}))

    async def start_game(self, order: StartGame, source: str) -> Handled:
        """Start a game with the wagers that the sensors latch; without their latch it is refused.

        If the order comes while another START waits, and that one is refused, this one is refused too: by then the lamps
        that the dealer saw are dark.
        """
        waiting = self._start
        async with self._starting:
            async with self._recording:
                await self._end_last_game()
            sensors = self._engine.state.devices.sensors
            given_up = waiting is not None and waiting.handled.done() and waiting.handled.result() is None
            offline = sensors is None or not sensors.online
            # An order that the table refuses in any case is not sent to the sensors, and nothing is read from them in a pause.
            read = self._calm.is_set() and not offline
            if given_up or not read or refusal(self._engine.state, replace(order, seats=())):
                return await self._give(order, source)
            start = self._start = _Start(order, source, asyncio.get_running_loop().create_future())
            await asyncio.wait([start.handled], timeout=CONFIRM_SECONDS)
            async with self._recording:
                if self._start is start:
                    await self._unconfirmed(start)
            return await start.handled or await self._give(order, source)

    # --- the sensors' events

    async def take(self, events: Sequence[base.SensorEvent]) -> None:
        """Record events in order; see `CoinSpotUser.take`. After too many, nothing is read until a pause is over."""
        async with self._recording:
            taken = await self._is_accepted()
            for event in events if taken else ():
                await self._take(event)
                taken = self._calm.is_set()
                if not taken:
                    break
            self._missed = self._missed or not taken
        await self._calm.wait()  # without the lock, so that a START is answered meanwhile

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
                await self._record(SensorFault(position, seat, fault, stands=True))
                if seat is not None and seat in {*self._hand.sensors, *self._late}:
                    await self._void(seat)
            case base.SensorMended(position, seat, fault):
                await self._record(SensorFault(position, seat, fault, stands=False))
            case base.SensorsFound():
                await self._found(event)

    async def _placed(self, seat: int) -> None:
        hand = self._hand
        if seat in {*hand.sensors, *hand.spent, *self._late}:
            return  # the wager is recorded already, or may be the one that has had its game
        handled = await self._record(game_events.WagerPlaced(seat))
        if handled is not None and handled.refusal is not None and not handled.failed:
            self._late.add(seat)
            _log.warning("wager after the start", seat=seat, round=hand.round)

    async def _lifted(self, seat: int) -> None:
        self._late.discard(seat)
        if seat in {*self._hand.sensors, *self._hand.spent}:
            await self._record(game_events.WagerLifted(seat))

    async def _found(self, found: base.SensorsFound) -> None:
        """Remove from the record the wagers that the sensors, after a silence or a loss of power, do not confirm."""
        for seat in found.empty:
            await self._lifted(seat)
        # The record may lack a wager that has had its START, if this service started after the wager came.
        unconfirmed = {*self._hand.sensors, *found.spent} - {*found.lying, *self._hand.spent}
        await self._void(*sorted(unconfirmed))

    async def _latched(self, latched: base.WagersLatched) -> None:
        """Start the game that waits for this latch; if none waits, it was refused, and the sensors' orders end the round."""
        start = self._start
        if start is None or start.order.round != latched.round:
            return
        left_out = [seat for seat in self._hand.sensors if seat not in latched.seats]
        if left_out:
            # Their seats were lit, and the sensors do not count them: an earlier START, which was not recorded, had them.
            _log.warning("sensors left wagers out", seats=left_out, round=latched.round)
            await self._unconfirmed(start)
            return
        self._start = None
        # A wager whose seat is not lit is in no game, although the sensors do not know that after a loss of power.
        seats = tuple(seat for seat in latched.seats if seat in self._hand.sensors)
        handled = await self._give(replace(start.order, seats=seats), start.source)
        if handled.refusal is None:
            self._round = latched.round
        else:
            await self._void(*self._hand.sensors)
        start.handled.set_result(handled)

    async def _unconfirmed(self, start: _Start) -> None:
        """Refuse the START. The sensors may have had the wagers, so they are in no game until they are placed again."""
        await self._void(*self._hand.sensors)
        self._start = None  # only now: an order that comes while the lamps go dark is refused with this one
        start.handled.set_result(None)

    async def _void(self, *seats: int) -> None:
        for seat in seats:
            self._late.discard(seat)
            await self._record(game_events.WagerVoided(seat))

    async def _record(self, event: Event) -> Handled | None:
        return await self._submit(event, SOURCE)

    # --- the sensors' link, and the end of a game

    def _watch(self, _: TableState, __: int) -> None:
        if self._is_over or (self._missed and self._accepted):
            self._changed.set()

    async def begin(self) -> None:
        """Record that the sensors are not connected yet, before the table accepts orders.

        A seat that no longer has a sensor will send no events, so its wager is removed from the record.
        """
        await self._is_accepted()
        await self._record_link()
        for seat in sorted({*self._hand.sensors, *self._hand.spent} - self._driver.seats):
            await self._lifted(seat)

    async def _on_link_changed(self) -> None:
        """Record the sensors' state, and end a game that is over."""
        async with self._recording:
            if await self._is_accepted() and self._missed:
                self._missed = False
                self._driver.report_again()
            await self._record_link()
            await self._end_last_game()

    async def _record_link(self) -> None:
        health, known = self._driver.health(), self._engine.state.devices.sensors
        link = SensorsLink(health.connected, health.reason or "connected")
        if not self._accepted:
            link = SensorsLink(online=False, reason="these sensors wait for a supervisor to accept them")
        if known is None or (known.online, known.reason) != (link.online, link.reason):
            await self._record(link)

    @property
    def _is_over(self) -> bool:
        """Whether a game is over that `_end_last_game` has not ended yet."""
        return not self._started and (self._round is not None or bool(self._late))

    async def _end_last_game(self) -> None:
        """End the round at the sensors, and count the wagers that were late for it to the next game."""
        if not self._is_over:
            return
        late = self.late()
        self._late.clear()
        self._round = None
        for seat in late:
            await self._placed(seat)
