"""Tables on one progressive and its authority, each with a record of its own, and a broker between them that loses and repeats."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from punto.baccarat.progressive.effects import Effect
from punto.baccarat.progressive.events import ForgetTable
from punto.baccarat.progressive.settings import LinkedTable, Settings
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.events import Event, MeterAnswered, MeterHeard, TableAsked
from punto.baccarat.table.meter_link import served_table
from punto.baccarat.table.state import TablesProgressive
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.controller.journal.entries import EVENTS
from tests.baccarat.table.croupier import Croupier, events_of, game, settings
from tests.baccarat.table.second_books import SecondBooks

AUTHORITY: Final = "meter-1"


def linked(how_many: int, pay_table: str = "progressive-2", **meter: Any) -> Settings:
    """The progressive of `t1`, `t2` … that `meter-1` keeps."""
    played = game(pay_table)
    tables = tuple(LinkedTable(f"t{number}", played.name) for number in range(1, how_many + 1))
    own = {"base_wagers": "unseen", "authority": AUTHORITY, **meter}
    return Settings.by_pay_table("dragon", tables, played.wager("progressive"), **own)


class Node(Croupier):
    """A service: its inputs are on its record before it handles them, and a kill leaves nothing else."""

    def __init__(self, table: str, progressive: Settings, **others: Any) -> None:
        self.settings = settings(game_name="progressive-2", table=table, progressive=progressive, **others)
        self.table = Table.new(self.settings)
        self.own_record = f"record of {table}"
        self.record = 1
        self.new: list[Any] = []
        self.effects: list[Any] = []
        self.inputs: list[bytes] = []
        self.refusals: list[str] = []
        self.entries: list[Effect] = []
        """What this record has of the books."""
        self.handled: Callable[[], None] = lambda: None
        """Called after each input."""

    def handle(self, event: Event) -> None:
        self.inputs.append(EVENTS.dump_json(event))
        before = len(self.effects)
        try:
            super().handle(EVENTS.validate_json(self.inputs[-1], strict=True))
        except RefusedError as refusal:
            if refusal.code != "not_asked":  # an answer that came again
                self.refusals.append(refusal.code)
        new = self.effects[before:]
        self.entries += [effect.entry for effect in new if isinstance(effect, MeterMoved)]
        self.handled()

    def fail(self, event: Event) -> None:
        """The program fails at an input; a record with such an input is not begun anew here."""
        found, _ = self.table.fail(event, "KeyError")
        self.effects += found
        self.handled()

    def kill(self) -> None:
        """Begin anew from the record."""
        again = Table.new(self.settings)
        effects: list[Any] = []
        for each in self.inputs:
            with suppress(RefusedError):
                effects += again.handle(EVENTS.validate_json(each, strict=True))
        assert again.state == self.state
        assert effects == self.effects
        self.table = again

    @property
    def progressive(self) -> TablesProgressive:
        assert self.state.progressive is not None
        return self.state.progressive

    @property
    def step(self) -> str:
        return self.progressive.procedure.step.value


@dataclass
class LinkedFloor:
    """`t1` … `tN` and `meter-1`. Messages stay under way until they are carried; each side sends its present state again."""

    how_many: int = 2
    meter: dict[str, Any] = field(default_factory=dict)
    opened: bool = True

    def __post_init__(self) -> None:
        progressive = linked(self.how_many, **self.meter)
        self.authority = Node(AUTHORITY, progressive)
        self.tables = {each.table: Node(each.table, progressive) for each in progressive.tables}
        self.books = SecondBooks(progressive)
        self.asks: list[TableAsked] = []
        self.answers: list[tuple[str, Event]] = []
        if self.opened:
            self.authority.do("meter")
        for table in self.tables.values():
            table.do("hello", "sign on", "change shoe", "open")

    def replace_record(self, name: str, backup: int = 0) -> None:
        """Begin a new record of a table, or restore it from a backup after so many inputs, and begin again with the table."""
        lost = self.tables[name]
        self.tables[name] = found = Node(name, lost.progressive.books.settings)
        if backup:
            found.own_record = lost.own_record
            for each in lost.inputs[:backup]:
                found.handle(EVENTS.validate_json(each, strict=True))
            found.record = found.state.link.expected
        else:
            found.own_record = "the new record"
            found.do("hello", "sign on", "change shoe", "open")
        self.authority.handle(ForgetTable(name, "its disk failed", "eve", "bob"))
        self.settle()

    # --- messages

    def ask(self, name: str) -> None:
        """The table sends what it asks, if it does."""
        link = self.tables[name].progressive.link
        assert link is not None
        if link.asked is not None:
            self.asks.append(
                TableAsked(name, self.tables[name].own_record, link.asked.number, link.asked.orders)
            )

    def answer(self, name: str) -> None:
        """The authority sends its last answer to the table, and the meter."""
        known = self.authority.progressive
        extract = known.books.extract(name)
        self.answers.append((name, MeterHeard(True, "", extract, known.books.settings)))
        last = served_table(known, name)
        if last is not None:
            answer = MeterAnswered(last.number, last.entries, last.refused, extract)
            self.answers.append((name, answer))

    def take_ask(self, ask: TableAsked) -> None:
        self.authority.handle(ask)

    def take_answer(self, name: str, answer: Event) -> None:
        table = self.tables[name]
        if isinstance(answer, MeterHeard) and answer.settings == table.progressive.books.settings:
            answer = replace(answer, settings=None)  # only what a table does not know yet is on its record
        table.handle(answer)

    def lose(self, name: str) -> None:
        """The connection between a table and its authority is lost."""
        self.tables[name].handle(MeterHeard(False, "the connection was lost"))

    def settle(self) -> None:
        """Carry everything until nobody waits."""
        for _ in range(10):
            for name in self.tables:
                self.ask(name)
            for ask in self.asks:
                self.take_ask(ask)
            self.asks.clear()
            for name in self.tables:
                self.answer(name)
            for name, answer in self.answers:
                self.take_answer(name, answer)
            self.answers.clear()
            if not self.waiting:
                return
        raise AssertionError(f"{self.waiting} still wait")

    @property
    def waiting(self) -> list[str]:
        """The tables that wait for an answer."""
        links = {name: table.progressive.link for name, table in self.tables.items()}
        return [name for name, link in links.items() if link is not None and link.asked is not None]

    def do(self, table: str, *commands: str) -> None:
        """Something happens at a table, and everything is carried."""
        for command in commands:
            self.tables[table].do(command)
            self.settle()

    # --- what must hold

    def check(self) -> None:
        """The authority's books are the sum of what its tables have, and of what is on its way to them; nothing is paid twice."""
        self.books.check(
            self.authority.entries,
            self.authority.progressive,
            {name: (table.entries, table.progressive) for name, table in self.tables.items()},
        )


HANDS: Final = (
    "2H KC 3H JC 4H KD",  # 25% of the meter
    "2D KC 3D JC 4D KH",  # all of it
    "2H KC 3D JC 4H KD",  # 1000 for 1
    "KC 2H JC 3H 5C 4H",  # of Banker
    "KS 2S 9H 3S",  # a natural
)


def do(table: Node, command: str) -> None:
    """Give a command; the table may refuse it."""
    for event in events_of(table, command):
        table.handle(event)
