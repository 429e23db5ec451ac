"""One simulation: a table's service with its disk, its broker, its shoe and its people, from one seed.

The service is `controller.supervisor.serve`, as `punto run` starts it: engine, journal, recovery, outbox, broker's connection,
desk, heartbeat and the replay in the background are its own. The time, the disk's faults, the broker and everyone else are
simulated, in one thread. So a seed plays the same simulation each time.
"""

import asyncio
import hashlib
import traceback
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import TableState
from punto.controller import supervisor
from punto.controller.accounts.accounts import Accounts
from punto.controller.config.file import ServiceConfig
from punto.controller.journal.schema import RecordError
from punto.controller.orders.desk import Desk
from punto.drivers.base import Devices
from punto.drivers.ishoe.serial_line import SerialShoe
from punto.reports.books import books_of_day
from punto.runtime.failures import errors_of
from tests.baccarat.table.croupier import cards
from tests.baccarat.table.linked_floor import HANDS
from tests.simulated.broker import Published, Server
from tests.simulated.checks import Public, Record
from tests.simulated.defects import Defect
from tests.simulated.disk import NEXT, Disk
from tests.simulated.loop import Loop
from tests.simulated.people import PEOPLE, Person, Seats, Staff
from tests.simulated.plan import Fault, Outcome, Plan, Wrong, chance_of
from tests.simulated.process import ServiceProcess
from tests.simulated.serial_line import NOISE, PATH, Wire
from tests.simulated.shoe import SERIAL, Line, Shoe
from tests.simulated.table_config import TABLE, WHOLE_METER, configuration

QUIET_SECONDS: Final = 75.0
"""After the last fault, everything is as it should be within this time."""
STEPS_KEPT: Final = 60
PACES: Final = (1.0, 2.0, 5.0)
"""How slow the people are: at the first pace a hand takes some eight seconds, at the last one as long as at a real table."""
WIRED_SHARE: Final = 0.25
"""The share of the seeds in which the service's own driver speaks with the shoe over a serial line."""


class World:
    """Everything of one simulation; or, if it has several services, one `table` and all around it."""

    def __init__(
        self,
        plan: Plan,
        loop: Loop,
        folder: Path,
        table: str = TABLE,
        configure: "Callable[[Random, Path], ServiceConfig] | None" = None,
    ) -> None:
        chance = partial(chance_of, plan.seed if table == TABLE else f"{plan.seed}/{table}")
        self.plan = plan
        self.loop = loop
        self.counted: Counter[str] = Counter()
        self.steps: deque[tuple[float, str]] = deque(maxlen=STEPS_KEPT)
        self.starts = 0
        self.wrong: asyncio.Future[str] = loop.create_future()
        self.base = f"punto/{table}/"
        self.config = (configure or configuration)(chance("table"), folder)
        self.disk = Disk(chance("disk"))
        self.server = Server(loop, chance("broker"), self._taken)
        whole = WHOLE_METER.get(self.config.table.game)
        winning = [] if whole is None else [cards(hand) for hand in (*HANDS, whole, whole)]
        settings = self.config.settings()
        burned = {"none": 0, "fixed": settings.burn_cards}.get(settings.burn)
        self.shoe = Shoe(
            f"{plan.seed}{table.removeprefix(TABLE)}",
            chance("shoe"),
            settings.game.decks,
            self._shoe_acknowledged,
            winning,
            burned,
        )
        line = chance("line")
        self.wire = Wire(loop, self.shoe, line) if line.random() < WIRED_SHARE else None
        """The shoe's serial line; None if the shoe has the quick driver."""
        self.defect = Defect(chance("defect"))
        self.record = self.read_record()
        self.public = Public(self.record, self.base)
        pace = chance("pace").choice(PACES)
        self.staff = Staff(chance("staff"), self.shoe, pace)
        wagers = [each.name for each in self.config.game.wagers if not each.progressive]
        self.seats = Seats(chance("seats"), self.config.table.seats, wagers, self._publish, pace)
        self.process: ServiceProcess | None = None
        self.ending = False
        self._cuts = 0
        self._compared: TableState | None = None
        """The last state of the table that was as the record has it: states are never changed."""
        self._living: asyncio.Task[None]
        self._others: list[asyncio.Task[None]] = []
        self._restarts = chance("restarts")

    def read_record(self) -> Record:
        """The record, with what must hold of it."""
        return Record(self.config.record.path, self.shoe.memory, self.defect)

    # --- what happens

    async def run(self) -> None:
        """Play the plan."""
        faults = self.task(self._faults())
        self.begin()
        await self._wait(self.plan.seconds)
        faults.cancel()
        self.rest()
        if not self.wrong.done():
            self.note("no more faults")
            await self._wait(QUIET_SECONDS)
        if not self.wrong.done():
            self.checked(self.at_the_end)
        await self.end()

    def task(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Begin a task whose error ends the simulation."""
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        return task

    def begin(self) -> None:
        """Start the service, and the people around it, each with an account."""
        with self.accounts() as file:
            for each in PEOPLE:
                file.add(each.name, each.roles, "", "2026-11-21T00:00:00Z", hash_="none")
        self.staff.answered = self._acknowledged
        self.staff.account_changed = self._change_account
        self.staff.wrong = self.fail
        self._living = self.task(self._life())
        self._others = [self.task(each) for each in self.around()]

    @contextmanager
    def accounts(self) -> Iterator[Accounts]:
        """The file of the accounts, open."""
        config = self.config.accounts
        if config is None:
            raise AssertionError("there are no accounts")
        file = Accounts.open(config.path)
        try:
            yield file
        finally:
            file.close()

    def _change_account(self, person: Person) -> None:
        with self.accounts() as file:
            file.set_roles(person.name, person.roles)

    def around(self) -> Iterator[Coroutine[Any, Any, None]]:
        """What the people at the table do."""
        yield self.staff.work(self.desk, self._spawn)
        yield self.staff.deal(self.desk)
        yield self.seats.play()

    def rest(self) -> None:
        """From now on nothing fails, and nobody does anything."""
        for each in self._others:
            each.cancel()
        self._mend_the_shoe()
        self.disk.next = None
        # The answer of an authority waits for a version that can handle it.
        if self.defect.end(mend="meter_answered" in self.record.failures) and self.process is not None:
            self.process.end()

    async def end(self) -> None:
        """End the service for good."""
        self.ending = True
        if self.process is not None:
            self.process.end()
        await asyncio.wait([self._living])
        self.record.close()

    async def _wait(self, seconds: float) -> None:
        await asyncio.wait([self.wrong], timeout=seconds)

    async def _life(self) -> None:
        """Start the service again and again."""
        while not self.ending:
            process = self.process = ServiceProcess(self)
            self.defect.starts()
            self.note("the mended service starts" if self.defect.mended else "the service starts")
            self.counted["start of a mended version"] += self.defect.mended
            self.disk.failed, self.disk.publishes = False, 0
            process.task = asyncio.create_task(self._serve(process), context=process.context)
            process.task.add_done_callback(self._ended)
            await asyncio.wait([process.task])
            process.end()
            self.process = None if not self.ending else process
            if process.requests:
                await asyncio.wait(process.requests)
            await asyncio.sleep(self.pause())

    def pause(self) -> float:
        """Seconds until the service starts again."""
        return self._restarts.uniform(0.05, 8)

    async def _serve(self, process: ServiceProcess) -> None:
        try:
            await supervisor.serve(self.config, self.devices(), process.consoles_of, books_of_day)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - each error is judged here
            if process.dead or (
                self.disk.failed and all(isinstance(each, RecordError) for each in errors_of(error))
            ):
                self.note(f"the service ended: {next(errors_of(error))}")
            else:
                self.fail("the service ended: " + "".join(traceback.format_exception(error)))

    def devices(self) -> Devices:
        """The drivers of the devices, for one process."""
        line = Line(self.shoe, self.loop.wall) if self.wire is None else SerialShoe(PATH)
        return Devices(shoe=line)

    async def _faults(self) -> None:
        for fault in self.plan.faults:
            await asyncio.sleep(max(0.0, fault.at - self.loop.passed))
            self.note(f"fault: {fault}")
            self.counted[fault.kind] += 1
            self.happen(fault)

    def happen(self, fault: Fault) -> None:  # noqa: C901, PLR0912, PLR0915 - flat: one case a kind
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
            case kind if kind in NEXT:
                self.disk.next = kind
            case "defect":
                self.note(f"from now on, {self.defect.begin(fault.size)} fail")
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
                shoe.plug(cable=False)
                self.loop.call_later(0.3 + 20 * fault.size**2, partial(shoe.plug, cable=True))
            case "power" | "memory" | "records":
                shoe.lose(fault.kind)
                self.loop.call_later(0.3 + 20 * fault.size**2, partial(shoe.switch, power=True))
            case "noise":
                self._noise(NOISE)
                self.loop.call_later(10 + 40 * fault.size, self._noise, 0.0)
            case "unread" | "low":
                shoe.misread = fault.kind
            case "stuck":
                shoe.stuck += self.config.game.decks + 2
            case "lid":
                shoe.move_lid(is_open=True)
                shoe.move_lid(is_open=False)
            case "resend":
                shoe.resends += 3
                shoe.changed()
            case "swap":
                shoe.swaps += 2
            case "overdraw":
                shoe.draw()
            case _:
                self.set_clock((fault.size - 0.5) * 7200)

    def set_clock(self, seconds: float) -> None:
        """Set the clock of the PC by so many seconds."""
        self.loop.stepped += seconds

    def _noise(self, share: float) -> None:
        if self.wire is not None:
            self.wire.noise(share)

    def _mend_the_shoe(self) -> None:
        self.shoe.plug(cable=True)
        self.shoe.switch(power=True)
        self._noise(0.0)

    def port(self, _: str) -> Any:
        """Open the port of a serial line, by its path: here only the shoe has one."""
        if self.wire is None:
            raise AssertionError("the shoe has no serial line")
        return self.wire.open()

    def desk(self) -> Desk | None:
        process = self.process
        return None if process is None or process.dead else process.desk

    def _spawn(self, request: Coroutine[Any, Any, None], gone: float | None) -> None:
        if self.process is None or self.process.dead:
            request.close()
        else:
            self.process.spawn(request, gone)

    def _publish(self, name: str, payload: bytes) -> None:
        self.server.publish(self.base + name, payload)

    # --- what must hold

    def note(self, step: str) -> None:
        """Keep a step for the report."""
        self.steps.append((self.loop.passed, step))

    def fail(self, wrong: str) -> None:
        """Something is not as it must be: the first of it ends the simulation."""
        if not self.wrong.done():
            self.note("wrong")
            self.wrong.set_result(wrong)

    def checked(self, check: Callable[[], object]) -> None:
        try:
            check()
        except Wrong as wrong:
            self.fail(str(wrong))

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail("".join(traceback.format_exception(error)))

    def committed(self) -> None:
        """After each commit."""
        self.checked(self._read)

    def _read(self) -> None:
        rounds = len(self.record.rounds)
        if found := self.record.read():
            self.note(f"committed {', '.join(found)}")
        ended = len(self.record.rounds) > rounds
        if ended and self.process is not None and self.disk.take("kill at a round"):
            self.process.kill("after the commit of a round's last input, before the round is published")
        journal = None if self.process is None else self.process.journal
        if journal is not None and self.record.seq not in journal.ends:
            raise Wrong(f"of inputs that belong together, the record has only those up to {self.record.seq}")

    def started(self, desk: Desk) -> None:
        """After each start: the table is as the record has it."""
        self.starts += 1
        self.checked(self.record.read)
        self.checked(partial(self._same_state, desk))

    def published(self) -> None:
        """After inputs were published: the table is as the record has it, and not ahead of it."""
        desk = self.desk()
        if desk is not None:
            self.checked(partial(self._same_state, desk))

    def _same_state(self, desk: Desk) -> None:
        engine = desk.engine
        if (head := engine._journal.head).hash != self.record.hashes.get(head.seq):
            raise Wrong(
                f"the record's head is given as {head}, but the record ends with input {self.record.seq}"
            )
        if engine.state is self._compared:
            return
        if engine.seq > self.record.seq:
            raise Wrong(
                f"the table is as after input {engine.seq}, but the record ends with {self.record.seq}"
            )
        if engine.state != self.record.states.get(engine.seq):
            raise Wrong(f"after input {engine.seq}, the table is not as its inputs give it")
        self._compared = engine.state

    def _shoe_acknowledged(self, log: int, taken: int) -> None:
        known = self.record.shoe.taken if log == self.record.shoe.log else 0
        if taken > known:
            self.fail(f"record {taken} of the shoe was acknowledged, but the record has them up to {known}")

    def _acknowledged(self, answer: Any) -> None:
        if answer.seq > self.record.seq:
            self.fail(
                f"an order was answered as input {answer.seq}, but the record ends with {self.record.seq}"
            )
        elif answer.accepted and not self.record.accepted.get(answer.seq):
            self.fail(f"an order was acknowledged as input {answer.seq}, which the table refused")

    def _taken(self, published: Published) -> None:
        self.checked(partial(self.see, published))

    def see(self, published: Published) -> None:
        """See a message of the service when the broker has it."""
        message = self.public.see(published)
        name = published.topic.removeprefix(self.base)
        if name in {"round", "availability"}:
            self.note(f"published {name} {message['seq']}")
        if name == "state" or name.startswith("wagers/"):
            self.loop.call_later(self.server.seconds(), self.seats.hear, name, message)
        if name == "round" and self._cuts:
            self._cuts -= 1
            self.loop.call_soon(partial(self.server.cut, notice=True))
        desk = self.desk()
        if name == "state" and desk is not None:
            self._same_state(desk)

    def at_the_end(self) -> None:
        """Everything is as it should be, after a while without a fault."""
        self.record.read()
        desk = self.desk()
        if desk is None:
            raise Wrong("the service does not run, although nothing prevents it")
        self._same_state(desk)
        if desk.engine.seq != self.record.seq:
            raise Wrong(f"the table has handled {desk.engine.seq} of {self.record.seq} inputs")
        self._all_of_the_shoe(desk.engine.state)
        self.public.all_sent()
        self.record.replayed()
        availability = self.server.retained.get(f"{self.base}availability", b"")
        if b'"online"' not in availability:
            raise Wrong(f"the last availability is {availability!r}, although the table is online")

    def report(self, outcome: Outcome) -> None:
        """Put into the outcome what this world has seen."""
        outcome.starts += self.starts
        outcome.inputs += self.record.seq
        outcome.rounds += len(self.record.rounds)
        outcome.counted["input that the program could not handle"] += self.record.failures.total()
        outcome.head += f"{self.record.seq}:{self.record.head} "
        outcome.messages += f"{_digest(self.server.heard, self.base)} "
        for each in (self.server, self.shoe, self.staff, self.seats):
            outcome.counted += each.counted

    def _all_of_the_shoe(self, state: TableState) -> None:
        """The table has each record of the shoe, if it takes them."""
        orders, memory = shoe_orders(state), self.shoe.memory
        takes = state.link.offered is None and (orders.accept, orders.log) == (SERIAL, memory.log)
        if takes and orders.taken != memory.next_record - 1:
            raise Wrong(f"the table has the shoe's records up to {orders.taken} of {memory.next_record - 1}")


def _digest(heard: list[Published], base: str) -> str:
    """A digest of all messages but `info`, which names the folder of this simulation."""
    digest = hashlib.sha256()
    for each in heard:
        if each.topic != f"{base}info":
            digest.update(f"{each.at:.6f} {each.topic} {each.retain} ".encode() + each.payload + b"\n")
    return digest.hexdigest()
