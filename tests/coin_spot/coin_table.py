"""A table with wager sensors in virtual time: what its players, dealer and mishaps do, and what can be seen of it from outside.

The page, the door, the driver, its link and the concentrator are the real ones, and so is the table. The record is a list that
outlives the service, and takes a moment to be written. Coins have numbers here, which no sensor can read.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, cast

from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.procedure import Hand
from punto.baccarat.table.events import Event
from punto.baccarat.table.possible import Trials
from punto.baccarat.table.state import TableState
from punto.baccarat.table.turn import RefusedError
from punto.consoles.game_view import GameView, game_view
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.engine import Engine, Handled
from punto.controller.orders.doors import Fitted
from punto.controller.outbox import Outbox
from punto.controller.pace import Pace
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.simulators.coin_spot.device import Break, Concentrator, Sensor
from tests.coin_spot.virtual_time import Cable
from tests.table.croupier import Croupier

SEATS = 4
STUCK_SECONDS = 20.0  # long enough that nothing else is put right by it
WRITTEN_SECONDS = 0.004  # what the record takes at most, before and after an input
SAID_SECONDS = 0.05  # how often the device looks whether something is to be said again
HANDS_OF_A_SHOE = 7


@dataclass(eq=False)
class Coin:
    """A coin, laid once: one that is taken up and laid again is another. `games` are those that it was counted in.

    `seen` is whether its sensor could be read when it was laid: where not, it may have taken another's place unseen.
    """

    number: int
    seat: int
    laid_at: float
    seen: bool
    games: list[int] = field(default_factory=list)
    must_be_laid_anew: bool = False

    def __str__(self) -> str:
        return f"coin {self.number} of seat {self.seat}"


class Recorded(NamedTuple):
    """An input on the record: when, and why it was refused, None if it was not."""

    at: float
    event: Event
    refusal: str | None


class Record:
    """`punto.controller.engine.Engine`, as far as the door knows it: one input after the other, each of which takes a moment."""

    def __init__(self, croupier: Croupier, chance: Random, note: Callable[[Recorded], None]) -> None:
        self.watchers: list[Callable[[TableState, int], None]] = []
        self.seq = 0
        self.pace = Pace(per_second=1e9, at_once=10**9)
        self._croupier = croupier
        self._chance = chance
        self._note = note
        self._path = asyncio.Lock()

    @property
    def state(self) -> TableState:
        return self._croupier.state

    async def submit(self, events: Sequence[Event], _source: str) -> list[Handled]:
        return [await self._take(event) for event in events]

    async def order(self, command: str) -> None:
        """What somebody else does at the table, in the croupier's words."""
        async with self._path:
            before = self.state
            self._croupier.do(command)
            self._tell(before)

    async def _take(self, event: Event) -> Handled:
        async with self._path:
            await asyncio.sleep(self._chance.random() * WRITTEN_SECONDS)  # a kill by now, and it never was
            before, refusal = self.state, None
            self.seq += 1
            try:
                self._croupier.handle(event)
            except RefusedError as refused:
                refusal = refused
            self._note(Recorded(_now(), event, refusal.code if refusal else None))
            if (
                self.state.devices.of_name("coin_spot").offered is not None
            ):  # a supervisor is there, and accepts each
                self._croupier.do(f"accept device {self.state.devices.of_name('coin_spot').offered}")
            self._tell(before)
            await asyncio.sleep(self._chance.random() * WRITTEN_SECONDS)
            return Handled(self.seq, refusal)

    def watch(self, look: Callable[[TableState, int], None]) -> None:
        """As the engine's."""
        self.watchers.append(look)

    def _tell(self, before: TableState) -> None:
        if self.state is not before:
            for watcher in self.watchers:
                watcher(self.state, self.seq)


class CoinTable:
    """Who does what at it is a method each; `story` is all that happened, for whoever must find out why.

    `on_latch` is called with the round and what lies there when the device takes a START, and `on_start` when a game is started.
    """

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.story: list[str] = []
        self.recorded: list[Recorded] = []
        self.coins: dict[int, Coin] = {}
        self.on_latch: Callable[[int, dict[int, Coin]], None] = lambda _, __: None
        self.on_start: Callable[[StartGame], None] = lambda _: None
        self.on_touch: Callable[[int], None] = lambda _: None
        self.cable = Cable(chance, self._device_hears)
        self._sensors = {seat: Sensor() for seat in range(1, SEATS + 1)}
        self._mended_at = dict.fromkeys(self._sensors, 0.0)
        self._coins_so_far = 0
        self._boot = 0
        self._hands = 0
        self._croupier = Croupier(game_name="progressive-2", meter={"reserve": "1%", "base_wagers": "unseen"})
        self._starts: list[asyncio.Task[Handled]] = []
        self._service: asyncio.Task[None] | None = None
        self.lose_power()

    # --- what can be seen

    @property
    def page(self) -> GameView:
        """What the dealer's page shows."""
        trials = Trials(self._croupier.state)
        shown = game_view(trials, Fitted(late=self.door.late), trials.refusals)
        assert shown is not None
        return shown

    @property
    def lit(self) -> frozenset[int]:
        """The seats whose lamp is on."""
        return self.device.lit(_now())

    @property
    def hand(self) -> Hand:
        progressive = self._croupier.state.progressive
        assert progressive is not None
        return progressive.procedure.hand

    @property
    def step(self) -> str:
        return self.page.step

    @property
    def last_hand(self) -> tuple[str, ...]:
        """Player's cards of the last hand."""
        last = self._croupier.state.history.last
        return () if last is None else tuple(card.value for card in last.player)

    def is_whole(self, seat: int, seconds: float) -> bool:
        """Whether its sensor is, and has been for so long."""
        return self._sensors[seat].broken is None and _now() - self._mended_at[seat] > seconds

    def tell(self, what: str) -> None:
        self.story.append(f"{_now():9.3f}  {what}")

    # --- what players do

    def put(self, seat: int) -> None:
        if self._sensors[seat].coin:
            return
        self._sensors[seat].put()
        self._look(f"seat {seat}: a coin is laid")

    def take(self, seat: int) -> None:
        if not self._sensors[seat].coin:
            return
        self._sensors[seat].take()
        self._look(f"seat {seat}: the coin is taken")

    # --- what the sensors suffer

    def break_(self, seat: int, how: Break) -> None:
        self.on_touch(seat)
        self._sensors[seat].break_(how)
        self._look(f"seat {seat}: its sensor is {how}")

    def mend(self) -> None:
        for seat, sensor in self._sensors.items():
            if sensor.broken is not None:
                self.on_touch(seat)
                self._mended_at[seat] = _now()
                sensor.mend()
        self._look("all sensors are whole")

    def lose_power(self, serial: str = "VC-1") -> None:
        """It is off, and on again."""
        self._boot += 1
        self.powered_on_at = _now() if self._boot > 1 else 0.0
        self.device = Concentrator(serial, self._boot, list(self._sensors.values()))
        if self._boot > 1:
            self.tell(f"power-on {self._boot} of {serial}")
            for seat in self._sensors:
                self.on_touch(seat)

    # --- what the dealer does

    async def press_start(self) -> Handled:
        """START GAME, and what becomes of it."""
        order = StartGame(self._croupier.state.round.number, "ann")
        self.tell(f"START GAME of round {order.round} is pressed")
        handled = await self.door.start_game(order, "operator ann")
        self.tell(f"START GAME: {handled.refusal or 'started'}")
        return handled

    def press_start_meanwhile(self) -> asyncio.Task[Handled]:
        start = asyncio.create_task(self.press_start())
        self._starts.append(start)
        return start

    def walk_away_from_start(self) -> None:
        for start in self._starts:
            start.cancel()
        self._starts.clear()

    async def starts_answered(self) -> None:
        for start in self._starts:
            await start
        self._starts.clear()

    async def deal(self, cards: str) -> None:
        if self._hands >= HANDS_OF_A_SHOE:
            await self._do("change shoe", "open")
            self._hands = 0
        self._hands += 1
        await self._do(f"draw {cards}")

    async def void_the_coup(self) -> None:
        """The next hand is begun, and is none."""
        await self.deal("KS")
        await self._do("void")

    async def game_over(self) -> None:
        """The game is ended; what its cards can have won nobody did."""
        progressive = self._croupier.state.progressive
        if progressive is not None and progressive.procedure.hand.open:
            await self._do("turn jph", "nobody", "turn run")
        await self._do("game over")

    async def correct_to_a_win(self) -> None:
        """The last hand's cards are corrected to some that win of the meter, so that its game is open again."""
        await self._do("correct round 2H 3H 4H over KC JC KD")

    async def _do(self, *commands: str) -> None:
        for command in commands:
            self.tell(command)
            await self.record.order(command)

    # --- the service

    async def begin(self) -> None:
        """The first day, to betting."""
        self._croupier.do("sign on")
        await self.serve()
        await self._do("meter", "change shoe", "open")

    async def serve(self) -> None:
        self.record = Record(self._croupier, self.chance, self._note)
        await self._do("start", "hello")
        seats = Seats.of([(seat, seat) for seat in self._sensors], SEATS)
        driver = SerialCoinSpot("/dev/sensors", 115_200, seats, STUCK_SECONDS)
        self.door = CoinSpotDoor(cast("Engine", self.record), Outbox(), driver)
        await self.door.begin()
        self._service = asyncio.create_task(self.door.run())

    async def kill(self) -> None:
        """The service ends, in whatever it is about."""
        self.tell("the service is killed")
        for seat in self._sensors:
            self.on_touch(seat)
        assert self._service is not None
        doomed = [self._service, *self._starts]
        self._starts.clear()
        for task in doomed:
            task.cancel()
        for task in doomed:
            with suppress(asyncio.CancelledError):
                await task

    def is_well(self) -> None:
        """The service runs, and no START raised anything."""
        assert self._service is not None
        if self._service.done():
            self._service.result()
        for start in [start for start in self._starts if start.done()]:
            start.result()
            self._starts.remove(start)

    @property
    def start_is_pressed(self) -> bool:
        return bool(self._starts)

    def _note(self, recorded: Recorded) -> None:
        self.recorded.append(recorded)
        hand = self.hand
        seats = f"sensors {hand.sensors}, spent {hand.spent}, wagers {hand.wagers}"
        self.tell(f"on record: {recorded.event}, refused {recorded.refusal}: {seats}")
        if isinstance(recorded.event, StartGame) and recorded.refusal is None:
            self.on_start(recorded.event)

    # --- the device

    async def run_device(self) -> None:
        """It says what it has to say, for ever."""
        while True:
            self._device_says()
            await asyncio.sleep(SAID_SECONDS)

    def _device_hears(self, frame: bytes) -> None:
        before = self.device.start
        self.device.receive(frame, _now())
        if self.device.start != before:
            self.tell(f"the device takes START {self.device.round}: {sorted(self.device.latched)}")
            self.on_latch(self.device.round, dict(self.coins))
        self._device_says()

    def _device_says(self) -> None:
        for frame in self.device.data_to_send(_now()):
            self.cable.to_host.carry(frame)

    def _look(self, what: str) -> None:
        """The device looks at once. A coin is there while its sensor, were it asked, would see one."""
        self.tell(what)
        for seat, sensor in self._sensors.items():
            if sensor.sees and seat not in self.coins:
                self._coins_so_far += 1
                self.coins[seat] = Coin(self._coins_so_far, seat, _now(), sensor.answers == 1)
                self.on_touch(seat)
            elif not sensor.sees and seat in self.coins:
                del self.coins[seat]
                self.on_touch(seat)
        self.device.look()
        self._device_says()


def _now() -> float:
    return asyncio.get_running_loop().time()
