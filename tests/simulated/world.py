"""One simulation: a table's service with its disk, its broker, its shoe and its people, from one seed.

The service is `controller.supervisor.serve`, as `punto run` starts it: engine, journal, recovery, outbox, broker's connection,
desk, heartbeat and the replay in the background are its own. The time, the disk's faults, the broker and everyone else are
simulated, in one thread. So a seed plays the same simulation each time.
"""

import asyncio
import hashlib
import logging
import random
import tempfile
import traceback
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

import structlog

from punto.baccarat.table.events import ShoeRecord
from punto.controller import engine as engines
from punto.controller import health, mqtt, supervisor
from punto.controller.components import own_version
from punto.controller.config.file import ServiceConfig, load_config
from punto.controller.failures import errors_of
from punto.controller.journal import recovery
from punto.controller.journal.background import BackgroundReplay, Finding
from punto.controller.journal.schema import RecordError
from punto.controller.orders.desk import Desk
from punto.drivers.base import Devices
from punto.game_manager.books import books_of_day
from tests.simulated.broker import Published, Server, SimulatedLink
from tests.simulated.checks import Public, Record, Wrong
from tests.simulated.disk import PROCESS, Disk, SteppedJournal
from tests.simulated.loop import Loop, clocks
from tests.simulated.people import Seats, Staff
from tests.simulated.shoe import Line, Shoe
from tests.table.croupier import cards
from tests.table.linked_floor import HANDS

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - each simulation's own folder
TABLE: Final = "table-1"
BASE: Final = f"punto/{TABLE}/"
GAMES: Final = (
    *("dragon-bonus-1", "midi-baccarat", "mini-baccarat", "ez-baccarat", "super-6", "five-treasures"),
    *("progressive-2", "progressive-3"),
)
PROGRESSIVES: Final = {"progressive-2": "aquarius", "progressive-3": "nexus"}
SECONDS: Final = 600.0
"""How long a plan takes."""
QUIET_SECONDS: Final = 75.0
"""After the last fault, everything is as it should be within this time."""
STEPS_KEPT: Final = 60

_KILLS: Final = ("kill", "kill before", "kill after", "kill at a round", "stop")
_DISK: Final = ("full", "broken", "broken after", "slow disk")
_BROKER: Final = ("cut", "cut at a round", "half open", "away", "slow broker", "forgets", "repeats")
_SHOE: Final = ("cable", "unread", "low", "lid", "resend", "swap", "overdraw")
KINDS: Final = (*_KILLS, *_DISK, *_BROKER, *_SHOE, "clock")


@dataclass(frozen=True)
class Fault:
    """A fault at a time, in seconds from the beginning; `size` is from 0 to 1."""

    at: float
    kind: str
    size: float


@dataclass(frozen=True)
class Plan:
    """What a seed plays: for how long, and with which faults. A plan with fewer of them is a smaller simulation.

    `whole` is how long the seed's whole plan takes, in seconds.
    """

    seed: int
    seconds: float
    faults: tuple[Fault, ...]
    whole: float

    @classmethod
    def of(cls, seed: int, seconds: float = SECONDS) -> "Plan":
        """The plan of a seed."""
        chance = Random(f"{seed}/faults")
        kinds = chance.sample(KINDS, chance.randint(2, len(KINDS)))
        faults = [
            Fault(round(chance.uniform(5, seconds), 3), chance.choice(kinds), round(chance.random(), 3))
            for _ in range(chance.randint(3, 30))
        ]
        return cls(seed, seconds, tuple(sorted(faults, key=lambda fault: fault.at)), seconds)


@dataclass
class Outcome:
    """What came of a simulation; `wrong` is empty if everything was as it should be."""

    plan: Plan
    wrong: str = ""
    steps: list[str] = field(default_factory=list)
    seconds: float = 0.0
    head: str = ""
    messages: str = ""
    inputs: int = 0
    rounds: int = 0
    starts: int = 0
    counted: Counter[str] = field(default_factory=Counter)


class ServiceProcess:
    """One process of the service, from its start to its end."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.server = world.server
        self.disk = world.disk
        self.dead = False
        self.desk: Desk | None = None
        self.journal: SteppedJournal | None = None
        self.requests: set[asyncio.Task[None]] = set()
        self.task: asyncio.Task[None] | None = None

    def spawn(self, request: Coroutine[Any, Any, None], gone: float | None) -> None:
        """Serve a request to the consoles, until its browser is `gone`, after so many seconds."""
        task = asyncio.create_task(request)
        if gone is not None:
            self.world.loop.call_later(gone, task.cancel)
        self.requests.add(task)
        task.add_done_callback(self.requests.discard)

    def kill(self, when: str) -> None:
        """From now on nothing of it reaches the disk or the network."""
        if self.dead or self.task is None:
            return
        self.dead = True
        self.world.note(f"killed {when}")
        self.world.counted[f"kill {when}"] += 1
        self.end()

    def end(self) -> None:
        """End its tasks."""
        for each in (self.task, *self.requests):
            if each is not None:
                each.cancel()

    def committed(self) -> None:
        self.world.committed()

    def consoles_of(self, _config: ServiceConfig, desk: Desk, _gate: Any) -> Any:
        """The consoles open: the record is recovered."""
        self.desk = desk
        self.world.started(desk)
        return _Consoles()


class _Consoles:
    async def serve(self) -> None:
        await asyncio.get_running_loop().create_future()

    def close(self) -> None:
        """Nothing is open."""


class _Replay(BackgroundReplay):
    """The replay in the background, at once and in this process."""

    async def _replay(self) -> Finding | None:
        found = recovery.replay(self._path, version=own_version())
        return Finding(found.inputs, found.rounds, found.difference)


class World:
    """Everything of one simulation."""

    def __init__(self, plan: Plan, loop: Loop, folder: Path) -> None:
        chance = partial(_chance, plan.seed)
        self.plan = plan
        self.loop = loop
        self.counted: Counter[str] = Counter()
        self.steps: deque[tuple[float, str]] = deque(maxlen=STEPS_KEPT)
        self.starts = 0
        self.wrong: asyncio.Future[str] = loop.create_future()
        self.config = _configuration(chance("table"), folder)
        self.disk = Disk(chance("disk"))
        self.server = Server(loop, chance("broker"), self._taken)
        winning = [] if self.config.progressive is None else [cards(hand) for hand in HANDS]
        self.shoe = Shoe(str(plan.seed), chance("shoe"), self.config.game.decks, winning)
        self.record = Record(self.config.record.path, self._physical)
        self.public = Public(self.record, BASE)
        self.staff = Staff(chance("staff"), self.shoe)
        self.staff.answered = self._acknowledged
        wagers = [each.name for each in self.config.game.wagers if not each.progressive]
        self.seats = Seats(chance("seats"), self.config.table.seats, wagers, self._publish)
        self.process: ServiceProcess | None = None
        self.ending = False
        self._cuts = 0
        self._restarts = chance("restarts")

    # --- what happens

    async def run(self) -> None:
        """Play the plan."""
        life = asyncio.create_task(self._life())
        desk = partial(self._desk)
        others = [
            asyncio.create_task(self.staff.work(desk, self._spawn)),
            asyncio.create_task(self.staff.deal(desk)),
            asyncio.create_task(self.seats.play()),
            asyncio.create_task(self._faults()),
        ]
        for each in (life, *others):
            each.add_done_callback(self._ended)
        await self._wait(self.plan.seconds)
        for each in others:
            each.cancel()
        self.shoe.cable = True
        self.disk.next = None
        if not self.wrong.done():
            self.note("no more faults")
            await self._wait(QUIET_SECONDS)
        if not self.wrong.done():
            self._checked(self._at_the_end)
        self.ending = True
        if self.process is not None:
            self.process.end()
        await asyncio.wait([life])
        self.record.close()

    async def _wait(self, seconds: float) -> None:
        await asyncio.wait([self.wrong], timeout=seconds)

    async def _life(self) -> None:
        """Start the service again and again."""
        while not self.ending:
            process = self.process = ServiceProcess(self)
            context = copy_context()
            context.run(PROCESS.set, process)
            self.note("the service starts")
            self.disk.failed = False
            process.task = asyncio.create_task(self._serve(process), context=context)
            process.task.add_done_callback(self._ended)
            await asyncio.wait([process.task])
            process.end()
            self.process = None if not self.ending else process
            if process.requests:
                await asyncio.wait(process.requests)
            await asyncio.sleep(self._restarts.uniform(0.05, 8))

    async def _serve(self, process: ServiceProcess) -> None:
        line = Line(self.shoe, self.loop.wall, self._shoe_acknowledged)
        try:
            await supervisor.serve(
                self.config,
                Devices(shoe=line),
                process.consoles_of,
                lambda *_: (),
                books_of_day,
            )
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - each error is judged here
            if process.dead or (
                self.disk.failed and all(isinstance(each, RecordError) for each in errors_of(error))
            ):
                self.note(f"the service ended: {next(errors_of(error))}")
            else:
                self.fail("the service ended: " + "".join(traceback.format_exception(error)))

    async def _faults(self) -> None:
        for fault in self.plan.faults:
            await asyncio.sleep(max(0.0, fault.at - self.loop.passed))
            self.note(f"fault: {fault.kind}")
            self.counted[fault.kind] += 1
            self._happen(fault)

    def _happen(self, fault: Fault) -> None:  # noqa: C901, PLR0912 - flat: one case a kind
        now, shoe, server = self.loop.passed, self.shoe, self.server
        match fault.kind:
            case "kill":
                if self.process is not None:
                    self.process.kill("between two steps")
            case "stop":
                if self.process is not None:
                    self.process.end()
            case "cut at a round":
                self._cuts += 1
            case "kill before" | "kill after" | "kill at a round" | "full" | "broken" | "broken after":
                self.disk.next = fault.kind
            case "slow disk":
                self.disk.slow_until = self.loop.time() + 20 * fault.size
            case "cut" | "half open":
                server.cut(notice=fault.kind == "cut")
            case "away":
                server.away_until = now + 60 * fault.size
                server.cut(notice=True)
            case "slow broker":
                server.slow_until = now + 30 * fault.size
            case "forgets":
                server.forget()
            case "repeats":
                server.repeats_until = now + 60 * fault.size
            case "cable":
                shoe.cable = False
                self.loop.call_later(0.3 + 20 * fault.size**2, self._plug)
            case "unread" | "low":
                shoe.misread = fault.kind
            case "lid":
                shoe.move_lid()
            case "resend":
                shoe.resends += 3
                shoe.news.set()
            case "swap":
                shoe.swaps += 2
            case "overdraw":
                shoe.draw()
            case _:
                self.loop.stepped += (fault.size - 0.5) * 7200

    def _plug(self) -> None:
        self.shoe.cable = True
        self.shoe.news.set()

    def _desk(self) -> Desk | None:
        process = self.process
        return None if process is None or process.dead else process.desk

    def _spawn(self, request: Coroutine[Any, Any, None], gone: float | None) -> None:
        if self.process is None or self.process.dead:
            request.close()
        else:
            self.process.spawn(request, gone)

    def _publish(self, name: str, payload: bytes) -> None:
        self.server.publish(BASE + name, payload)

    # --- what must hold

    def note(self, step: str) -> None:
        """Keep a step for the report."""
        self.steps.append((self.loop.passed, step))

    def fail(self, wrong: str) -> None:
        """Something is not as it must be: the first of it ends the simulation."""
        if not self.wrong.done():
            self.note("wrong")
            self.wrong.set_result(wrong)

    def _checked(self, check: Callable[[], object]) -> None:
        try:
            check()
        except Wrong as wrong:
            self.fail(str(wrong))

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail("".join(traceback.format_exception(error)))

    def committed(self) -> None:
        """After each commit."""
        self._checked(self._read)

    def _read(self) -> None:
        rounds = len(self.record.rounds)
        if found := self.record.read():
            self.note(f"committed {', '.join(found)}")
        ended = len(self.record.rounds) > rounds
        if ended and self.process is not None and self.disk.take("kill at a round"):
            self.process.kill("after the last input of a round, before the round's rows")

    def _physical(self, number: int) -> ShoeRecord | None:
        return self.shoe.records[number - 1] if number <= len(self.shoe.records) else None

    def started(self, desk: Desk) -> None:
        """After each start: the table is as the record has it."""
        self.starts += 1
        self._checked(partial(self._same_state, desk))

    def _same_state(self, desk: Desk) -> None:
        self.record.read()
        engine = desk.engine
        if engine.seq == self.record.seq and engine.state != self.record.state:
            raise Wrong(f"after input {engine.seq}, the table is not as its inputs give it")

    def _shoe_acknowledged(self, taken: int) -> None:
        if taken > self.record.taken and self.record.state is not None:
            self.fail(
                f"record {taken} of the shoe was acknowledged, but the record has them up to {self.record.taken}"
            )

    def _acknowledged(self, answer: Any) -> None:
        if answer.seq > self.record.seq:
            self.fail(
                f"an order was acknowledged as input {answer.seq}, but the record ends with {self.record.seq}"
            )
        elif not self.record.accepted.get(answer.seq):
            self.fail(f"an order was acknowledged as input {answer.seq}, which the table refused")

    def _taken(self, published: Published) -> None:
        self._checked(partial(self._see, published))

    def _see(self, published: Published) -> None:
        message = self.public.see(published)
        name = published.topic.removeprefix(BASE)
        if name in {"round", "availability"}:
            self.note(f"published {name} {message['seq']}")
        if name == "state" or name.startswith("wagers/"):
            self.loop.call_later(self.server.seconds(), self.seats.hear, name, message)
        if name == "round" and self._cuts:
            self._cuts -= 1
            self.loop.call_soon(partial(self.server.cut, notice=True))
        desk = self._desk()
        if name == "state" and desk is not None:
            self._same_state(desk)

    def _at_the_end(self) -> None:
        desk = self._desk()
        if desk is None:
            raise Wrong("the service does not run, although nothing prevents it")
        self._same_state(desk)
        if desk.engine.seq != self.record.seq:
            raise Wrong(f"the table has handled {desk.engine.seq} of {self.record.seq} inputs")
        self.public.all_sent()
        self.record.replayed()
        availability = self.server.retained.get(f"{BASE}availability", b"")
        if b'"online"' not in availability:
            raise Wrong(f"the last availability is {availability!r}, although the table is online")


def _chance(seed: int, what: str) -> Random:
    return Random(f"{seed}/{what}")


def _configuration(chance: Random, folder: Path) -> ServiceConfig:
    """A table's configuration, as the seed chooses it."""
    game = chance.choice(GAMES)
    orders = chance.sample(("correct_round", "void_round", "void_coup", "correct_card"), chance.randint(0, 4))
    burn = chance.choice(("none", "first_card", "fixed"))
    fixed = "burn_cards = 3\n" if burn == "fixed" else ""
    procedure = PROGRESSIVES.get(game)
    progressive = "" if procedure is None else f'[progressive]\nid = "dragon"\nprocedure = "{procedure}"\n'
    limits = "\n".join(
        f"[limits.{name}]\nminimum = 500\nmaximum = 10000\nstep = 500" for name in ("player", "banker", "tie")
    )
    (folder / "table.toml").write_text(
        f"""\
version = 1
[table]
id = "{TABLE}"
name = "Baccarat 1"
game = "{game}"
seats = {chance.randint(2, 7)}
burn = "{burn}"
{fixed}betting_closes = "{chance.choice(("first_card", "order"))}"
next_coup = "{chance.choice(("automatic", "order"))}"
overdraw = "{chance.choice(("next_coup", "burn", "dummy"))}"
coups_after_cut_card = {chance.randint(0, 2)}
approval = {sorted(orders)}
[shoe]
port = "/dev/simulated"
link_version = 1
[record]
path = "{folder}/table.db"
[mqtt]
restricted = {str(chance.random() < 0.5).lower()}
[accounts]
path = "{folder}/operators.db"
[console]
{progressive}{limits}
""",
        encoding="utf-8",
    )
    return load_config(folder / "table.toml")


@contextmanager
def _simulated(loop: Loop, chance: Random) -> Iterator[None]:
    """The service's parts that reach out of the process are the simulated ones."""
    with ExitStack() as stack:
        stack.enter_context(clocks(loop))
        stack.enter_context(mock.patch.object(supervisor, "Journal", SteppedJournal))
        stack.enter_context(mock.patch.object(supervisor, "BackgroundReplay", _Replay))
        stack.enter_context(mock.patch.object(mqtt, "Link", SimulatedLink))
        stack.enter_context(mock.patch.object(health, "resident_bytes", return_value=0))
        if chance.random() < 0.5:  # a start then begins at a snapshot
            stack.enter_context(mock.patch.object(engines, "SNAPSHOT_EVERY", 150))
            stack.enter_context(mock.patch.object(recovery, "FEW_INPUTS", 200))
        yield


def simulate(plan: Plan) -> Outcome:
    """Play a plan."""
    before, here = random.getstate(), structlog.get_config()
    random.seed(plan.seed)  # the pauses of `Backoff`, and the first beat
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    begins = datetime(2026, 11, 21, 5, 55, tzinfo=UTC) + timedelta(hours=plan.seed % 3)
    loop = Loop(begins)
    loop.set_exception_handler(lambda _loop, context: _unexpected(world, context))
    outcome = Outcome(plan)
    try:
        with (
            tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder,
            _simulated(loop, _chance(plan.seed, "service")),
        ):
            world = World(plan, loop, Path(folder))
            loop.run_until_complete(world.run())
            outcome.wrong = world.wrong.result() if world.wrong.done() else ""
            outcome.steps = [f"{at:9.3f} {step}" for at, step in world.steps]
            outcome.seconds, outcome.starts = loop.passed, world.starts
            outcome.inputs, outcome.rounds = world.record.seq, len(world.record.rounds)
            outcome.head = f"{world.record.seq}:{world.record.head}"
            outcome.messages = _digest(world.server.heard)
            for each in (
                world.counted,
                world.server.counted,
                world.shoe.counted,
                world.staff.counted,
                world.seats.counted,
            ):
                outcome.counted += each
    finally:
        loop.close()
        random.setstate(before)
        structlog.configure(**here)
    return outcome


def _unexpected(world: World, context: dict[str, Any]) -> None:
    """An error in a callback of the loop. What nobody waited for is of a killed process, and is found at any time."""
    error = context.get("exception")
    if error is not None and "never retrieved" not in context.get("message", ""):
        world.fail(f"{context['message']}: " + "".join(traceback.format_exception(error)))


def _digest(heard: list[Published]) -> str:
    """A digest of all messages but `info`, which names the folder of this simulation."""
    digest = hashlib.sha256()
    for each in heard:
        if each.topic != f"{BASE}info":
            digest.update(f"{each.at:.6f} {each.topic} {each.retain} ".encode() + each.payload + b"\n")
    return digest.hexdigest()
