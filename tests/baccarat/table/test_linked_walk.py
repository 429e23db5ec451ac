"""Random walks over linked tables: whatever creates, moves or takes away an award has the people that it needs.

A walk gives orders at two tables and at their authority, while it carries, repeats, delays and loses what these send each other. So
each order is given in each state of the table, of the authority and of the connection.
"""

from random import Random
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from punto.baccarat.progressive import events as books
from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardLocked,
    Effect,
    GameReopened,
    NobodyWonLogged,
)
from punto.baccarat.progressive.state import Award
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.events import TableAsked
from punto.baccarat.table.meter_link import served_table, when_answered
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import cards
from tests.baccarat.table.linked_floor import HANDS, LinkedFloor, Node
from tests.share import share

pytestmark = pytest.mark.by_chance

STEPS: Final = 50
"""The steps of a walk."""
EXECUTIVE_FROM: Final = 3000_00
CORRECTIONS: Final = (
    "correct round 2D 3D 4D over KC JC KD",  # the whole meter
    "correct round 2H 3H 4H over KC JC KD",  # 25%
    "correct round 2D 3S 4D over KC JC KD",  # nothing
    "void round",
    "void",
    "correct 1 2D",
    "correct 3 3H",
    "reopen",
)
OF_ANY: Final = (
    *(
        (command,)
        for command in ("spot 1", "spot 2", "lift 1", "start game", "hand 1", "hand 2", "nobody", "resume")
    ),
    *((f"draw {hand}",) for hand in HANDS[:3]),
    *((order,) for order in CORRECTIONS),
    *((f"alone {order}",) for order in CORRECTIONS),
)
OF_THE_TABLES: Final = {
    "aquarius": (
        *OF_ANY,
        *((command,) for command in ("turn jph", "turn run", "j-pot", "game over")),
        *(("spot 1", "start game", "settle", f"draw {hand}", "hand 1", "turn jph") for hand in HANDS[:2]),
        ("j-pot", "settle", "turn run", "settle", "game over"),
        ("nobody", "settle", "turn run", "settle", "game over"),
    ),
    "nexus": (
        *OF_ANY,
        *(
            (command,)
            for command in ("confirm", "swipe", "swipe executive", "sign", "sign executive", "end game")
        ),
        *(("spot 1", "start game", "settle", f"draw {hand}", "hand 1", "confirm") for hand in HANDS[:2]),
        ("swipe executive", "settle", "end game"),
        ("nobody", "sign executive", "settle", "end game"),
    ),
}
OF_THE_LINK: Final = (
    "ask",
    "answer",
    "take ask",
    "take answer",
    "repeat ask",
    "repeat answer",
    "lose",
    "settle",
    "forge",
)
OF_THE_AUTHORITY: Final = (
    "add 100",
    *(f"{alone}back out {award}" for alone in ("", "alone ") for award in (1, 2)),
)
WON: Final = books.Won("two_three_four_diamonds", (1,), player=cards("2D 3D 4D"), banker=cards("KC JC KH"))
CONFIRMED: Final = [
    books.Confirmation("mallory", by, level, confirmed_by)
    for by in ("key", "card", "signature", "dealer")
    for level in (None, "supervisor", "executive")
    for confirmed_by in (None, "bob", "mallory")
]


class Walk:
    """A walk over two tables with this procedure."""

    def __init__(self, procedure: str) -> None:
        self.nexus = procedure == "nexus"
        executive_from = EXECUTIVE_FROM if self.nexus else None
        self.floor = LinkedFloor(2, {"procedure": procedure, "executive_from": executive_from})
        self.floor.settle()
        self.checked = 0

    def step(self, table: str, command: str) -> None:
        """One step at a table, of its link or at the authority."""
        if command in OF_THE_LINK:
            self._carry(table, command)
        elif command in OF_THE_AUTHORITY:
            self.floor.authority.do(command)
        else:
            self._order(self.floor.tables[table], command)
        self.check_entries()

    def _carry(self, table: str, command: str) -> None:
        floor = self.floor
        match command:
            case "ask" | "answer" | "lose":
                getattr(floor, command)(table)
            case "take ask" | "repeat ask" if floor.asks:
                floor.take_ask(floor.asks[0])
                del floor.asks[: command == "take ask"]
            case "take answer" | "repeat answer" if floor.answers:
                floor.take_answer(*floor.answers[0])
                del floor.answers[: command == "take answer"]
            case "settle":
                floor.settle()
            case "forge":
                self._forge(table)
            case _:
                pass

    def _order(self, table: Node, command: str) -> None:
        """Give an order; one that a person gives alone leaves the award of the meter as it is."""
        before = won_of_the_meter(table)
        table.do(command)
        if command.startswith("alone"):
            assert won_of_the_meter(table) == before, command

    def _forge(self, table: str) -> None:
        """A program with the table's password asks next; what the authority does with it is taken back."""
        authority = self.floor.authority
        state, last = authority.state, served_table(authority.progressive, table)
        played = authority.progressive.books.round_at(table)
        number, round_ = (0 if last is None else last.number) + 1, 1 if played is None else played.round
        record = f"record of {table}"
        orders: list[Any] = [
            order
            for each in CONFIRMED
            for order in (
                books.LockAward(table, round_, WON, each),
                books.DenyAward(table, round_, WON, "a reason", "bob", each),
            )
        ]
        orders += [
            books.ReopenRound(table, round_, books.ReopenedBy("mallory", "a reason", approved))
            for approved in (None, "mallory", "bob")
        ]
        for order in orders:
            try:
                effects = authority.table.handle(TableAsked(table, record, number, (order,)))
            except RefusedError:
                effects = []
            for effect in effects:
                if isinstance(effect, MeterMoved):
                    self.check(effect.entry)
            authority.table.state = state

    def check_entries(self) -> None:
        """The people of each new entry about an award in the authority's books."""
        entries = self.floor.authority.entries
        for entry in entries[self.checked :]:
            self.check(entry)
        self.checked = len(entries)

    def check(self, entry: Effect) -> None:
        """The people that the rule sheets and the house's settings want."""
        match entry:
            case AwardLocked(award):
                self._confirmed(award)
            case NobodyWonLogged():
                self._confirmed(entry)
            case GameReopened():
                assert entry.approved_by not in {None, entry.who}
            case AwardBackedOut(award, who, _, approved_by):
                assert approved_by not in {None, who} or award.payer == "tray"
            case _:
                pass

    def _confirmed(self, entry: Award | NobodyWonLogged) -> None:
        if not self.nexus:
            assert entry.by == "key"
            return
        assert entry.by in {"card", "signature"}
        assert entry.level is not None
        assert entry.confirmed_by is not None
        if entry.amount >= EXECUTIVE_FROM:
            assert entry.level == "executive"
            assert entry.confirmed_by != entry.who


def won_of_the_meter(table: Node) -> Any:
    """The award of the meter that the table's last hand won, with its seats, once the authority has answered."""
    won = when_answered(table.progressive).hand.won
    if won is None or not table.progressive.books.settings.of_the_meter(won.rule):
        return None
    return won.rule, won.seats, won.side


def walked(procedure: str, seed: int) -> None:
    """Walk by chance. Steps that hypothesis chooses one by one rarely come as far as an award, so it chooses the seed."""
    walk, chance = Walk(procedure), Random(seed)
    of_the_link = [(command,) for command in (*OF_THE_LINK, *OF_THE_AUTHORITY, *["forge"] * 3)]
    steps = [*OF_THE_TABLES[procedure], *of_the_link]
    for _ in range(STEPS):
        table = chance.choice(["t1", "t2"])
        for command in chance.choice(steps):
            walk.step(table, command)
    walk.floor.settle()
    walk.check_entries()
    walk.floor.check()


SEEDS: Final = st.integers(0, 2**32)
WITHOUT_SHRINKING: Final = (Phase.explicit, Phase.reuse, Phase.generate)
"""A smaller seed is not a simpler walk."""


@pytest.mark.parametrize("procedure", ["aquarius", "nexus"])
@settings(max_examples=share(300), deadline=None, phases=WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_no_award_is_made_moved_or_taken_away_without_its_people(procedure, seed):
    walked(procedure, seed)


@pytest.mark.soak
@pytest.mark.parametrize("procedure", ["aquarius", "nexus"])
@settings(max_examples=500_000 // STEPS, deadline=None, phases=WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_a_million_steps_make_move_or_take_away_no_award_without_its_people(procedure, seed):
    walked(procedure, seed)
