"""A simulation of a progressive's table with its devices: wager sensors, a keypad with a key, a card reader, and people at them."""

from collections.abc import Coroutine, Iterable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

from punto.baccarat.progressive.aquarius import KEY_SWITCH, TurnKey
from punto.baccarat.progressive.effects import AwardBooked, WagersCounted
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.nexus import SignAward, SwipeCard
from punto.baccarat.table.effects import Effect
from punto.baccarat.table.events import CARD_GUESSING, AccessRefused, Event, ServiceStarted
from punto.baccarat.table.state import TablesProgressive, TableState
from punto.commands.run import devices_of
from punto.controller.accounts import accounts
from punto.controller.config.file import ServiceConfig, load_config
from punto.controller.devices import card_door
from punto.drivers import retried
from punto.drivers.base import Devices
from punto.drivers.keypad.frames import BOUNCE_SECONDS
from tests.simulated.checks import Record
from tests.simulated.device_people import CARDS, KEYS, AtTheConsoles, AtTheDevices
from tests.simulated.devices import CardReader, Device, Keypad, Press, Spots
from tests.simulated.disk import PROCESS
from tests.simulated.loop import Loop
from tests.simulated.plan import KINDS, Fault, Outcome, Plan, Wrong, chance_of
from tests.simulated.table_config import PROGRESSIVES, configuration
from tests.simulated.world import World

SECONDS: Final = 300.0
"""How long a plan takes."""
OF_DEVICES: Final = (
    *("device power", "device cable", "noise", "sensor", "device swap", "guesses"),
    "kill at a device",
)
HEARD_SECONDS: Final = 8.0
"""An order is on the record within this time after its press, or never."""
MISSES, MISSED_SECONDS, LOCKED_SECONDS = 5, 299.0, 58.0
"""So many refused cards within the time lock the reader: docs/reference/card-reader.md, with a second for the commits."""
PASSWORD_SECONDS: Final = card_door.PASSWORD_SECONDS + HEARD_SECONDS


def device_plan(seed: int, seconds: float = SECONDS) -> Plan:
    """The plan of a seed for a table with devices: half of its faults are of the devices."""
    chance = Random(f"{seed}/device faults")
    kinds = chance.sample(KINDS, chance.randint(0, len(KINDS) // 2))
    devices = chance.sample(OF_DEVICES, chance.randint(1, len(OF_DEVICES)))
    faults = [
        Fault(
            round(chance.uniform(5, seconds), 3),
            chance.choice(kinds if kinds and chance.random() < 0.4 else devices),
            round(chance.random(), 3),
        )
        for _ in range(chance.randint(2, 30))
    ]
    return Plan(seed, seconds, tuple(sorted(faults, key=lambda fault: fault.at)), seconds, "devices")


class DeviceWorld(World):
    """Everything of one simulation."""

    def __init__(self, plan: Plan, loop: Loop, folder: Path) -> None:
        super().__init__(plan, loop, folder, configure=_configuration)
        chance = partial(chance_of, plan.seed)
        seats = self.config.table.seats
        self.spots = Spots(loop, chance("spots"), f"{folder}/spots", seats)
        self.keypad = Keypad(loop, chance("keypad"), f"{folder}/keypad", "run" if self._aquarius else None)
        self.reader = CardReader(loop, chance("reader"), f"{folder}/reader")
        equipment: list[Device] = [self.spots, self.keypad]
        self.equipment = equipment if self._aquarius else [*equipment, self.reader]
        self.lines = {each.path: each for each in self.equipment}
        self.keypad.answered = self._answered
        self.reader.answered = self._answered
        self.staff = AtTheConsoles(chance("staff"), self.shoe, self.staff.pace)
        self.people = AtTheDevices(chance("people"), self)
        self._which = chance("which device")
        self.device_inputs = 0
        """How many inputs of the record came from the keypad and the card reader."""
        self._kills = 0
        self._soon = False

    def read_record(self) -> Record:
        return DeviceRecord(self)

    @property
    def _aquarius(self) -> bool:
        return self.config.progressive is not None and self.config.progressive.procedure == "aquarius"

    async def run(self) -> None:
        with (
            mock.patch.object(accounts, "hash_of_card", lambda number, _: number.encode().ljust(32)),
            mock.patch.object(retried, "datetime", _Wall(self.loop)),
        ):
            await super().run()

    def around(self) -> Iterator[Coroutine[Any, Any, None]]:
        yield from super().around()
        yield self.people.play(self.desk)
        yield self.people.work(self.desk)

    def port(self, path: str) -> Any:
        device = self.lines.get(path)
        return super().port(path) if device is None else device.open(PROCESS.get())

    def begin(self) -> None:
        super().begin()
        with self.accounts() as file:
            for card, owner in CARDS.items():
                file.enroll(owner.name, card)
        self._running = [self.task(each.run()) for each in self.equipment]

    def rest(self) -> None:
        super().rest()
        for each in self.equipment:
            each.noise_until = 0.0

    async def end(self) -> None:
        for each in self._running:
            each.cancel()
        await super().end()

    def devices(self) -> Devices:
        made = devices_of(self.config)
        return Devices(super().devices().shoe, made.keypad, None, made.coin_spot, made.card_reader)

    def spawn(self, request: Coroutine[Any, Any, None]) -> None:
        """Serve a request to the consoles."""
        self._spawn(request, None)

    def happen(self, fault: Fault) -> None:
        device = self._which.choice(self.equipment)
        match fault.kind:
            case "device power":
                device.power_off(0.05 + 15 * fault.size**2)
            case "device cable":
                device.pull(0.05 + 15 * fault.size**2)
            case "noise":
                device.noise_until = self.loop.passed + 20 * fault.size
            case "sensor":
                self.spots.break_(1 + 40 * fault.size)
            case "device swap":
                device.swap()
            case "kill at a device":
                self._kills += 1
            case "guesses":
                for number in range(8):
                    self.loop.call_later(
                        1.3 * number, self.reader.swipe, f"{self._which.randint(10**9, 10**10)}"
                    )
            case _:
                super().happen(fault)

    def committed(self) -> None:
        inputs = self.device_inputs
        super().committed()
        if self._kills and self.process is not None and self.device_inputs > inputs:
            self._kills -= 1
            self._soon = True
            self.process.kill("after an input of a device, before its answer")

    def pause(self) -> float:
        soon, self._soon = self._soon, False
        return 0.05 + self._which.random() * 0.5 if soon else super().pause()

    def _answered(self, press: Press, result: str) -> None:
        """A device shows that an order was carried out: then it is on the record."""
        bounced = [
            each.found
            for each in self.keypad.presses
            if each.what == press.what and 0 <= press.at - each.at < BOUNCE_SECONDS + 0.05
        ]
        if result in {"done", "accepted"} and press.what != "ESC" and not press.found and not any(bounced):
            self.fail(f"{press.what} was answered with {result}, but is not on the record")

    def report(self, outcome: Outcome) -> None:
        super().report(outcome)
        for counted in (*(each.counted for each in self.equipment), self.people.counted):
            outcome.counted += counted


class DeviceRecord(Record):
    """The record, compared with what the devices did."""

    def __init__(self, world: DeviceWorld) -> None:
        super().__init__(world.config.record.path, world.shoe.memory, world.defect)
        self._world = world
        self._played: set[tuple[int, int]] = set()
        """The coins that were in a game: seat and number."""
        self._misses: list[float] = []
        self._locked_at: float | None = None
        self._awaited_at = -HEARD_SECONDS
        """When an award last waited for a card."""

    def _take(self, seq: int, source: str, event: Event, outcome: str) -> list[Effect]:
        before, known = self.state, len(self.entries)
        effects = super()._take(seq, source, event, outcome)
        if before is None or before.progressive is None:
            return effects
        try:
            self._compare(source, event, before, before.progressive, accepted=self.accepted[seq])
            for entry in self.entries[known:]:
                if isinstance(entry, AwardBooked):
                    self._booked(event, entry, before.progressive)
        except Wrong as wrong:
            raise Wrong(f"input {seq}, {event.kind} by {source}: {wrong}") from wrong
        return effects

    def _compare(
        self, source: str, event: Event, state: TableState, progressive: TablesProgressive, *, accepted: bool
    ) -> None:
        if progressive.procedure.step.value == "confirmed":
            self._awaited_at = self._world.loop.passed
        self._world.device_inputs += source.startswith("keypad") or source == card_door.SOURCE
        match event:
            case _ if source.startswith("keypad"):
                key = str(event.seat) if event.kind == "hand_button" else KEYS[event.kind]
                self._find(
                    self._world.keypad.presses, {key}, state.devices.of_name("keypad").accepted, HEARD_SECONDS
                )
            case TurnKey(to=to) if source == KEY_SWITCH:
                self._turned(to.value)
            case SwipeCard(who=who) if source == card_door.SOURCE:
                self._swiped(event, who, state, progressive, accepted=accepted)
            case AccessRefused(code=code) if source == card_door.SOURCE and code != CARD_GUESSING:
                self._missed()
            case ServiceStarted():
                self._misses, self._locked_at = [], None  # a start forgets them
            case _:
                pass
        if isinstance(event, StartGame) and accepted:
            self._started(event, state, progressive)

    def _find(self, presses: Iterable[Press], what: set[str], serial: str | None, seconds: float) -> Press:
        """The press of an order: each is on the record once. One before the device's last start is seldom still delivered."""
        since = self._world.loop.passed - seconds
        for each in sorted(presses, key=lambda press: -press.start):
            if each.what in what and each.at >= since and not each.found and not each.answered:
                if each.serial != serial:
                    raise Wrong(f"it came from {each.serial}, but {serial} is accepted")
                each.found = True
                return each
        raise Wrong("nobody has done it, or the record has it already")

    def _turned(self, to: str) -> None:
        since = self._world.loop.passed - HEARD_SECONDS - card_door.PASSWORD_SECONDS
        turned = self._world.keypad.turned
        last = max((at for at, _ in turned if at < since), default=0.0)
        if to not in {where for at, where in turned if at >= last}:
            raise Wrong(f"the key was not at {to}")

    def _missed(self) -> None:
        """A card that completes nothing: after five within five minutes, the reader takes none for a minute."""
        self._refuse_locked()
        now = self._world.loop.passed
        self._misses = [*(each for each in self._misses if now - each < MISSED_SECONDS), now]
        if len(self._misses) == MISSES:
            self._misses, self._locked_at = [], now

    def _refuse_locked(self) -> None:
        if self._locked_at is not None and self._world.loop.passed - self._locked_at < LOCKED_SECONDS:
            raise Wrong("the reader took a card although too many cards were refused")

    def _swiped(
        self, event: SwipeCard, who: str, state: TableState, progressive: TablesProgressive, *, accepted: bool
    ) -> None:
        cards = {card for card, owner in CARDS.items() if owner.name == who}
        serial = state.devices.of_name("card_reader").accepted
        self._find(self._world.reader.swipes, cards, serial, PASSWORD_SECONDS)
        roles = {role.value for owner in CARDS.values() if owner.name == who for role in owner.roles}
        if (event.level == "executive") != ("executive" in roles) or roles == {"dealer"}:
            raise Wrong(f"the card of {who} has the level {event.level}")
        signed_meanwhile = not accepted and self._world.loop.passed - self._awaited_at < HEARD_SECONDS
        if progressive.procedure.step.value != "confirmed" and not signed_meanwhile:
            raise Wrong("no award waits for a card")
        self._refuse_locked()
        config = self._world.config.progressive
        if config is not None and config.second_factor and event.level == "executive":
            self._world.people.passwords[who] -= 1
            if self._world.people.passwords[who] < 0:
                raise Wrong("its owner has not given the password")

    def _started(self, event: StartGame, state: TableState, progressive: TablesProgressive) -> None:
        """The wagers of a game are those that the sensors showed at its START, and each coin is in one game."""
        if event.seats is None:
            raise Wrong("the game was started without the sensors")
        since = self._world.loop.passed - HEARD_SECONDS
        latches = [
            each for each in self._world.spots.latches if each.round == event.round and each.at >= since
        ]
        if not latches:
            raise Wrong("the sensors were not started")
        latch = latches[-1]
        if latch.serial != state.devices.of_name("coin_spot").accepted:
            raise Wrong(f"the sensors {latch.serial} are not accepted")
        if event.seats != progressive.procedure.hand.sensors:
            raise Wrong(f"{event.seats} are in the game, but {progressive.procedure.hand.sensors} were lit")
        for seat in event.seats:
            if seat not in latch.coins:
                raise Wrong(f"the sensor of seat {seat} showed no wager")
            coin = (seat, latch.coins[seat])
            if coin in self._played:
                raise Wrong(f"the wager of seat {seat} was in a game before")
            self._played.add(coin)
        counted = [entry for entry in self.entries if isinstance(entry, WagersCounted)]
        if event.seats and tuple(each.seat for each in counted[-1].wagers) != event.seats:
            raise Wrong(f"the meter counted {counted[-1].wagers}")

    def _booked(self, event: Event, entry: AwardBooked, progressive: TablesProgressive) -> None:
        """An award is booked by a key, a card or a signature, after its confirmation."""
        award, settings = entry.award, progressive.books.settings
        if settings.procedure == "aquarius":
            if not isinstance(event, TurnKey) or event.to.value != "run":
                raise Wrong(f"award {award.id} was booked without the key")
            return
        if not isinstance(event, SwipeCard | SignAward):
            raise Wrong(f"award {award.id} was booked without a card or a signature")
        if award.confirmed_by is None:
            raise Wrong(f"award {award.id} was booked, but nobody confirmed it")
        above = settings.executive_from is not None and award.amount >= settings.executive_from
        if above and (event.level != "executive" or event.who == award.confirmed_by):
            raise Wrong(f"award {award.id} of {award.amount} was booked by {event.who}")


class _Wall:
    """`datetime` for drivers, which have no clock of the service."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def now(self, _: Any) -> datetime:
        """The wall clock of the PC."""
        return self._loop.wall()


def _configuration(chance: Random, folder: Path) -> ServiceConfig:
    """A progressive's table with its devices, as the seed chooses it."""
    game = chance.choice(list(PROGRESSIVES))
    nexus = PROGRESSIVES[game] == "nexus"
    more = f"second_factor = {str(chance.random() < 0.5).lower()}\n"
    if nexus and chance.random() < 0.5:
        more += f"executive_from = {chance.choice((50_000, 500_000))}\n"
    found = configuration(chance, folder, game=game, progressive=more)
    seats = list(range(1, found.table.seats + 1))
    devices = f"""\
[coin_spot]
port = "{folder}/spots"
link_version = 1
seats = {seats}
stuck_seconds = 5.0
[keypad]
port = "{folder}/keypad"
link_version = 1
key_switch = {str(not nexus).lower()}
"""
    reader = f'[card_reader]\nport = "{folder}/reader"\nlink_version = 1\n'
    path = folder / f"{found.table.id}.toml"
    path.write_text(path.read_text(encoding="utf-8") + devices + (reader if nexus else ""), encoding="utf-8")
    return load_config(path)
