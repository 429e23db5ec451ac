"""A simulation of linked tables: their services and their authority's, each on a machine and a broker of its own.

The authority's broker is connected with each table's broker. All services are those of `World`, with their disks, shoes and
people, in one loop. So each can be killed, cut off or slow on its own, at any step.
"""

import json
import traceback
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

from punto.baccarat.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked, Posted
from punto.baccarat.progressive.ledger import Account
from punto.baccarat.progressive.state import Award
from punto.baccarat.table.state import RoundRecord, TablesProgressive, TableState
from punto.controller import heartbeat
from punto.controller.components import own_version
from punto.controller.config.file import ServiceConfig, load_config
from punto.controller.journal.audit import audit, compare
from punto.controller.orders.desk import Desk
from punto.drivers.base import Devices
from punto.runtime import clock
from tests.baccarat.table.linked_states import Reached, reached
from tests.baccarat.table.second_books import UNIT, SecondBooks
from tests.simulated.broker import Published, Server
from tests.simulated.checks import Record
from tests.simulated.disk import PROCESS
from tests.simulated.loop import InTurn, Loop
from tests.simulated.people import BOB, EVE, MAX, Person, Staff
from tests.simulated.plan import KINDS, OF_THE_SHOE, Fault, Outcome, Plan, Wrong, chance_of
from tests.simulated.table_config import PROGRESSIVES, configuration
from tests.simulated.world import World

AUTHORITY: Final = "meter-1"
PROGRESSIVE: Final = "dragon"
SECONDS: Final = 300.0
"""How long a plan takes."""
BRIDGES: Final = (
    "cut off",
    "cut off with loss",
    "deaf",
    "mute",
    "slow bridge",
    "bridge repeats",
    "old messages",
)
"""The faults of the connection between a table's broker and the authority's."""
_OF_A_TABLE: Final = (*KINDS, *BRIDGES)
_OF_THE_AUTHORITY: Final = tuple(
    kind for kind in KINDS if kind not in {*OF_THE_SHOE, "kill at a round", "cut at a round", "repeats"}
)


def linked_plan(seed: int, seconds: float = SECONDS) -> Plan:
    """The plan of a seed for linked tables. Half of the faults are of the authority."""
    chance = Random(f"{seed}/linked faults")
    kinds = chance.sample(_OF_A_TABLE, chance.randint(4, len(_OF_A_TABLE)))
    faults = []
    for _ in range(chance.randint(3, 40)):
        at, size = round(chance.uniform(5, seconds), 3), round(chance.random(), 3)
        of_authority = [kind for kind in kinds if kind in _OF_THE_AUTHORITY]
        if of_authority and chance.random() < 0.4:
            faults.append(Fault(at, chance.choice(of_authority), size, AUTHORITY))
        else:
            table = chance.choice(tables_of(seed))
            faults.append(Fault(at, chance.choice(kinds), size, table))
    return Plan(seed, seconds, tuple(sorted(faults, key=lambda fault: fault.at)), seconds, "linked")


def tables_of(seed: int) -> list[str]:
    """The tables that a seed links."""
    return [f"table-{number}" for number in range(1, 3 + Random(f"{seed}/tables").choice((0, 0, 0, 1, 2)))]


class Bridge:
    """One direction of the connection between two brokers. It keeps the order, or not; it may keep, lose and repeat messages."""

    def __init__(self, loop: Loop, chance: Random, source: Server, to: Server) -> None:
        self.away_until = 0.0
        self.slow_until = 0.0
        self.repeats_until = 0.0
        self._loop = loop
        self._chance = chance
        self._source = source
        self._to = to
        self._loses = False
        self._kept: list[tuple[str, bytes, bool]] = []
        self._last: deque[tuple[str, bytes, bool]] = deque(maxlen=12)
        self._turn = InTurn(loop)

    def carry(self, topic: str, payload: bytes, retain: bool) -> None:
        """Carry a message to the other broker."""
        message = topic, payload, retain
        if self._loop.passed < self.away_until:
            if not self._loses:
                self._kept.append(message)
            return
        self._last.append(message)
        self._turn.call_later(self._seconds(), self._to.take_from, *message)
        if self._loop.passed < self.repeats_until and self._chance.random() < 0.5:
            self._to.counted["repeated by a bridge"] += 1
            self._loop.call_later(self._chance.random() * 3, self._to.take_from, *message)

    def _seconds(self) -> float:
        slowest = 6.0 if self._loop.passed < self.slow_until else 0.02
        return 0.0005 + self._chance.random() ** 2 * slowest

    def cut(self, seconds: float, *, loses: bool) -> None:
        """Carry nothing for so long; later carry what came meanwhile, or only what the broker has retained."""
        self.away_until, self._loses = self._loop.passed + seconds, loses
        self._loop.call_later(seconds, self.restore)

    def restore(self) -> None:
        """Be there again, as a bridge is that connects again."""
        if self._loop.passed < self.away_until - 1e-6:
            return
        self.away_until = 0.0
        kept, self._kept = self._kept, []
        retained = [(topic, payload, True) for topic, payload in self._source.retained.items()]
        for message in [*self._last] * (self._chance.random() < 0.5) + (retained if self._loses else kept):
            self.carry(*message)

    def repeat_old(self) -> None:
        """Deliver old messages again, as a node of a cluster does that was away."""
        for message in self._last:
            self._to.counted["old message"] += 1
            self._loop.call_later(self._chance.random() * 8, self._to.take_from, *message)

    def rest(self) -> None:
        """From now on carry everything at once."""
        self.slow_until = self.repeats_until = 0.0
        self.away_until = min(self.away_until, self._loop.passed)
        self.restore()


class _MembersRecord(Record):
    """The record of a linked table or of the authority: the books of all of them are compared with each other."""

    def __init__(self, member: "Member") -> None:
        super().__init__(member.config.record.path, member.shoe.memory, member.defect)
        self._member = member

    def rounds_of(self, table: str) -> Iterable[RoundRecord]:
        return self._member.floor.tables[table].record.rounds.values()

    def balance(self, state: TableState) -> None:
        self._member.see_books(state)


class Member(World):
    """One of the services, with its own machine, disk and broker."""

    def __init__(
        self, floor: "LinkedWorld", table: str, configure: Callable[[Random, Path], ServiceConfig]
    ) -> None:
        super().__init__(floor.plan, floor.loop, floor.folder, table, configure)
        self.floor = floor
        self.table = table
        self.ahead = 0.0
        """Seconds by which the machine's clock is ahead."""
        self.wrong = floor.wrong
        self.steps = floor.steps
        self.counted = floor.counted

    def read_record(self) -> Record:
        return _MembersRecord(self)

    def see_books(self, state: TableState) -> None:
        """See the books after an input of this record."""

    @property
    def progressive(self) -> TablesProgressive:
        """The progressive as this record has it."""
        state = self.record.state
        if state is None or state.progressive is None:
            raise AssertionError(f"{self.table} has not begun")
        return state.progressive

    def set_clock(self, seconds: float) -> None:
        self.ahead += seconds

    def note(self, step: str) -> None:
        super().note(f"{self.table}: {step}")

    def fail(self, wrong: str) -> None:
        super().fail(f"{self.table}: {wrong}")

    def committed(self) -> None:
        super().committed()
        self.checked(self.floor.balance)

    def see(self, published: Published) -> None:
        super().see(published)
        if published.topic == f"{self.base}progressive/{PROGRESSIVE}":
            self.floor.see_meter(self, json.loads(published.payload))


class AuthorityMember(Member):
    """The authority: nobody deals there, and its people are those of the Game Manager."""

    def __init__(self, floor: "LinkedWorld") -> None:
        super().__init__(floor, AUTHORITY, partial(_authority, floor.tables_of_it, floor.game))
        self.staff = _GameManagers(self.staff.chance, self.shoe, self.staff.pace)
        self.staff.seconds = (EVE, MAX, MAX, BOB)

    def see_books(self, state: TableState) -> None:
        self.floor.see_books(state)

    def around(self) -> Iterator[Coroutine[Any, Any, None]]:
        yield self.staff.work(self.desk, self._spawn)

    def devices(self) -> Devices:
        return Devices()


class _GameManagers(Staff):
    """They open the meter, add to it, and back awards out by mistake."""

    def _right(self, desk: Desk) -> tuple[str, dict[str, Any], Person] | None:
        state, chance = desk.engine.state, self.chance
        if state.progressive is None or desk.waiting.all(state):
            return None
        books, senior = state.progressive.books, chance.choice((BOB, EVE, MAX))
        if books.phase.value == "new":
            return "open_meter", {}, EVE
        if state.alarms and chance.random() < 0.5:
            return "acknowledge_alarm", {"number": chance.choice(state.alarms).number}, senior
        if chance.random() < 0.02:
            return (
                "adjust",
                {"cause": "increase", "amount": chance.randint(1, 50000), "reason": "a gift"},
                senior,
            )
        if chance.random() < 0.02:
            award = chance.randint(max(1, books.next_award - 3), books.next_award)
            return "back_out", {"award": award, "reason": "a mistake"}, senior
        return None


class LinkedWorld(World):
    """Everything of one simulation of linked tables."""

    def __init__(self, plan: Plan, loop: Loop, folder: Path) -> None:
        chance = partial(chance_of, plan.seed)
        self.plan = plan
        self.loop = loop
        self.folder = folder
        self.steps = deque(maxlen=80)
        self.wrong = loop.create_future()
        self.counted = Counter()
        self.game = chance("linked game").choice(list(PROGRESSIVES))
        self.tables_of_it = tables_of(plan.seed)
        self.authority = AuthorityMember(self)
        self.tables = {
            table: Member(self, table, partial(_table, table, self.game)) for table in self.tables_of_it
        }
        self.members: dict[str, Member] = {AUTHORITY: self.authority, **self.tables}
        self.bridges: dict[str, tuple[Bridge, Bridge]] = {}
        hub = self.authority.server
        for name, table in self.tables.items():
            there = Bridge(loop, chance(f"bridge to {name}"), hub, table.server)
            here = Bridge(loop, chance(f"bridge from {name}"), table.server, hub)
            self.bridges[name] = there, here
            table.server.forward = here.carry
        hub.forward = self._from_the_hub
        clocks = chance("clocks")
        for each in self.members.values():
            each.ahead = clocks.uniform(-90, 90)
        self.reached: set[Reached] = set()
        self._books: SecondBooks | None = None
        self._shown: dict[int, int] = {0: 0}
        """What displays must show after each of the authority's inputs."""
        self._said: set[tuple[str, int]] = set()
        """Each meter that the authority has published, with its `valid_until`."""
        self._primary = 0
        self._locked: dict[int, Award] = {}
        self._summed = 0

    def _from_the_hub(self, topic: str, payload: bytes, retain: bool) -> None:
        for there, _ in self.bridges.values():
            there.carry(topic, payload, retain)

    # --- what happens

    def wall(self) -> datetime:
        """The clock of the machine whose code runs."""
        process: Any = PROCESS.get(None)
        ahead = 0.0 if process is None else process.world.ahead
        return self.loop.wall() + timedelta(seconds=ahead)

    async def run(self) -> None:
        with (
            mock.patch.object(clock, "now", self.wall),
            mock.patch.object(heartbeat, "STATE_EVERY_SECONDS", 1),  # a meter that comes seldom is away
        ):
            await super().run()

    def begin(self) -> None:
        for each in self.members.values():
            each.begin()

    def happen(self, fault: Fault) -> None:
        there, here = self.bridges.get(fault.place, (None, None))
        if there is None or here is None or fault.kind not in BRIDGES:
            self.members[fault.place].happen(fault)
            return
        now, seconds = self.loop.passed, 0.5 + 40 * fault.size**2
        match fault.kind:
            case "cut off" | "cut off with loss":
                for each in (there, here):
                    each.cut(seconds, loses=fault.kind != "cut off")
            case "deaf":
                there.cut(seconds, loses=False)
            case "mute":
                here.cut(seconds, loses=False)
            case "slow bridge":
                there.slow_until = here.slow_until = now + seconds
            case "bridge repeats":
                there.repeats_until = here.repeats_until = now + seconds
            case _:
                there.repeat_old()
                here.repeat_old()

    def rest(self) -> None:
        for each in self.members.values():
            each.rest()
        for there, here in self.bridges.values():
            there.rest()
            here.rest()

    async def end(self) -> None:
        for each in self.members.values():
            await each.end()

    # --- what must hold

    def see_books(self, state: TableState) -> None:
        """After each input of the authority: what its displays must show, from the entries alone."""
        if state.progressive is None:
            return
        entries = self.authority.record.entries
        for entry in entries[self._summed :]:
            match entry:
                case Posted(posting):
                    self._primary += sum(
                        line.amount for line in posting.lines if line.account is Account.PRIMARY
                    )
                case AwardLocked(award):
                    self._locked[award.id] = award
                case AwardBooked(award) | AwardBackedOut(award):
                    self._locked.pop(award.id, None)
                case _:
                    pass
        self._summed = len(entries)
        won = next((each.meter for each in self._locked.values() if each.whole_meter), None)
        limit = state.progressive.books.settings.display_limit
        shown = self._primary // UNIT if won is None else won
        if won is None and limit is not None:
            shown = min(shown, limit)
        self._shown[self.authority.record.seq] = shown

    def balance(self) -> None:
        """The authority's books are the sum of what it counted, and each table has its part of them."""
        if any(each.record.state is None for each in self.members.values()):
            return
        kept = self.authority.progressive
        if self._books is None:
            self._books = SecondBooks(kept.books.settings)
        tables = {name: (each.record.entries, each.progressive) for name, each in self.tables.items()}
        self.reached |= {
            reached(each.record.state, kept) for each in self.tables.values() if each.record.state is not None
        }
        try:
            self._books.check(self.authority.record.entries, kept, tables)
        except AssertionError as error:
            line = traceback.extract_tb(error.__traceback__)[-1].line
            raise Wrong(f"the books of the linked meter: {line}") from error

    def see_meter(self, member: Member, message: dict[str, Any]) -> None:
        """A meter is published: the authority's is what its books give, and a table's is one of the authority's."""
        meter = message["meter"]
        if member is self.authority:
            if meter != self._shown.get(message["seq"]):
                raise Wrong(
                    f"the meter shows {meter} after input {message['seq']}, but its books give {self._shown.get(message['seq'])}"
                )
            self._said.add((message["valid_until"], meter))
        elif message["kept_by"]:
            if (message["valid_until"], meter) not in self._said:
                raise Wrong(f"{member.table} shows the meter {meter}, which the authority did not publish")
        elif meter not in self._shown.values():
            raise Wrong(f"{member.table} shows the meter {meter}, which the authority never had")

    def at_the_end(self) -> None:
        for each in self.members.values():
            each.record.read()
            try:
                each.at_the_end()
            except Wrong as wrong:
                raise Wrong(f"{each.table}: {wrong}") from wrong
        self.balance()
        books = self.authority.progressive.books
        audited = {
            name: audit(each.config.record.path, version=own_version()) for name, each in self.members.items()
        }
        for name, each in self.tables.items():
            link, known = each.progressive.link, each.progressive.books
            if link is None or link.asked is not None or not link.online:
                raise Wrong(f"in the end, {name} does not have the authority: {link}")
            theirs, own = books.extract(name), known.extract(name)
            if (own.phase, own.next_award, own.awards, own.rounds) != (
                theirs.phase,
                theirs.next_award,
                theirs.awards,
                theirs.rounds,
            ):
                raise Wrong(f"in the end, {name} has {own}, but the authority has {theirs}")
            if (found := compare(audited[AUTHORITY], audited[name]).difference) is not None:
                raise Wrong(f"an audit finds: {found}")
        for name, proved in audited.items():
            if differs := self.members[name].record.unexplained(proved.replayed.differences):
                raise Wrong(f"an audit of {name} finds: {differs}")
        if self.authority.progressive.rival is not None:
            raise Wrong("in the end, the authority finds a second meter")

    def report(self, outcome: Outcome) -> None:
        for each in self.members.values():
            each.report(outcome)
        outcome.reached |= self.reached


def _table(table: str, game: str, chance: Random, folder: Path) -> ServiceConfig:
    _write_keys([table], folder)
    return configuration(
        chance, folder, table, game, f'authority = "{AUTHORITY}"\nkey_folder = "{folder}/keys"\n'
    )


def _write_keys(tables: list[str], folder: Path) -> None:
    (folder / "keys").mkdir(exist_ok=True)
    for table in tables:
        (folder / "keys" / f"{table}.key").write_text(sha256(table.encode()).hexdigest() + "\n", "ascii")


def _authority(tables: list[str], game: str, chance: Random, folder: Path) -> ServiceConfig:
    _write_keys(tables, folder)
    limit = f"display_limit = {chance.choice((1_050_000, 2_000_000))}\n" if chance.random() < 0.3 else ""
    (folder / f"{AUTHORITY}.toml").write_text(
        f"""\
version = 1
[table]
id = "{AUTHORITY}"
name = "The meter"
game = "{game}"
cards = "keyed"
[record]
path = "{folder}/{AUTHORITY}.db"
[mqtt]
[accounts]
path = "{folder}/{AUTHORITY}-operators.db"
[console]
[progressive]
id = "{PROGRESSIVE}"
authority = "{AUTHORITY}"
key_folder = "{folder}/keys"
tables = {json.dumps(tables)}
procedure = "{PROGRESSIVES[game]}"
reserve = "{chance.choice(("0%", "1%", "3%"))}"
fixed_awards = "{chance.choice(("tray", "meter"))}"
split = "{chance.choice(("winners", "participants"))}"
{limit}""",
        encoding="utf-8",
    )
    return load_config(folder / f"{AUTHORITY}.toml")
