"""Random walks over linked tables: whatever creates, moves or takes away an award has the people that it needs.

A walk gives orders at two tables and at their authority, while it carries, repeats, delays and loses what these send each other. So
each order is given in each state of the table, of the authority and of the connection: the walks reach every pair of states of a
table and its authority (`linked_states.py`) that the simulation of linked tables reaches, and find the mistakes of
`linked_mistakes.py`.
"""

from collections.abc import Iterable
from functools import cache, lru_cache, partial
from random import Random
from typing import Any, Final
from unittest import mock

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
from punto.baccarat.progressive.money import amount
from punto.baccarat.progressive.procedure import ADJUSTED, BETTING, LOGGED
from punto.baccarat.progressive.state import Award
from punto.baccarat.table import meter_link
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.events import TableAsked
from punto.baccarat.table.meter_link import served_table, when_answered
from punto.baccarat.table.progressive import wagers_are_in_play
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.table.winners import can_win
from tests.baccarat.table.croupier import cards
from tests.baccarat.table.linked_floor import HANDS, LinkedFloor, Node
from tests.baccarat.table.linked_mistakes import MISTAKES
from tests.baccarat.table.linked_states import OfAuthority, OfTable, Reached, of_authority, reached
from tests.share import ALL, sampled, share
from tests.simulated.people import FEWEST
from tests.simulated.worlds import plan_of, play

pytestmark = pytest.mark.by_chance

STEPS: Final = 200
"""The steps of a walk."""
UNOPENED: Final = 0.1
"""How often a walk begins before the meter is opened."""
MOST_WALKS: Final = 10_000
"""So many walks find each mistake, and reach each pair of states."""
SIMULATED: Final = range(1, share(200, one_in=50) + 1)
"""The seeds of the simulation, which is compared with the walks."""
SIMULATED_SECONDS: Final = None if ALL else 60.0
PROCEDURES: Final = ("aquarius", "nexus")
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
    *(("deal",) * cards for cards in (1, 3)),
    ("spot 1", "start game", "settle", *("deal",) * FEWEST),
    ("resume", "deal"),
    ("change shoe", "open"),
    *((order,) for order in CORRECTIONS),
    *((f"alone {order}",) for order in CORRECTIONS),
)
OF_THE_TABLES: Final = {
    "aquarius": (
        *OF_ANY,
        *((command,) for command in ("turn jph", "turn run", "j-pot", "game over")),
        *(("spot 1", "start game", "settle", f"draw {hand}", "hand 1", "turn jph") for hand in HANDS[:2]),
        *(
            ("spot 1", "start game", "settle", f"draw {hand}", "hand 1", "turn jph", "j-pot", "settle")
            for hand in HANDS[:2]
        ),
        ("j-pot", "settle", "turn run", "settle", "game over"),
        ("turn jph", "nobody", "settle", "turn run"),
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
        ("nobody", "sign executive", "settle"),
        ("nobody", "sign executive", "settle", "end game"),
    ),
}
OF_THE_LINK: Final = (
    "ask",
    "answer",
    "take ask",
    "fail ask",
    "take answer",
    "repeat ask",
    "repeat answer",
    "lose",
    "settle",
    "forge",
)
OF_THE_AUTHORITY: Final = (
    "meter",
    "add 100",
    *(f"{alone}back out {award}" for alone in ("", "alone ") for award in ("last", "earlier")),
)
WHOLE_METER: Final = HANDS[1].split()
WON: Final = books.Won("two_three_four_diamonds", (1,), player=cards("2D 3D 4D"), banker=cards("KC JC KH"))
CAN_WIN: Final = lru_cache(can_win)
"""Half of the time of a request goes into what its cards can win, and the forged requests have the same cards."""
CONFIRMED: Final = [
    books.Confirmation("mallory", by, level, confirmed_by)
    for by in ("key", "card", "signature", "dealer")
    for level in (None, "supervisor", "executive")
    for confirmed_by in (None, "bob", "mallory")
]


class Walk:
    """A walk over two tables with this procedure."""

    def __init__(self, procedure: str, chance: Random) -> None:
        self.nexus = procedure == "nexus"
        executive_from = EXECUTIVE_FROM if self.nexus else None
        opened = chance.random() >= UNOPENED
        self.floor = LinkedFloor(2, {"procedure": procedure, "executive_from": executive_from}, opened)
        if opened:
            self.floor.settle()
        self.reached: set[Reached] = set()
        for name, table in self.floor.tables.items():
            table.handled = partial(self._reach, name)
        self.floor.authority.handled = partial(self._reach, *self.floor.tables)
        self.chance = chance
        self.checked = 0
        self._forged: set[Any] = set()

    def _reach(self, *tables: str) -> None:
        for name in tables:
            self.reached.add(reached(self.floor.tables[name].state, self.floor.authority.progressive))

    def step(self, table: str, command: str) -> None:
        """One step at a table, of its link or at the authority."""
        if command in OF_THE_LINK:
            self._carry(table, command)
        elif command in OF_THE_AUTHORITY:
            self.floor.authority.do(self._numbered(command))
        else:
            self._order(self.floor.tables[table], command)
        self.check_entries()
        self.check_game(table)

    def _carry(self, table: str, command: str) -> None:
        floor = self.floor
        match command:
            case "ask" | "answer" | "lose":
                getattr(floor, command)(table)
            case "take ask" | "repeat ask" if floor.asks:
                floor.take_ask(floor.asks[0])
                del floor.asks[: command == "take ask"]
            case "fail ask" if floor.asks:
                floor.authority.fail(floor.asks.pop(0))
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
        """Give an order; one that a person gives alone leaves the award of the meter, and what the hand can win of it, as they are."""
        if command == "deal":
            command = f"draw {next_card(table)}"
        before = award_of(table), in_reach(table)
        table.do(command)
        if command.startswith("alone"):
            assert (award_of(table), in_reach(table)) == before, command

    def _numbered(self, command: str) -> str:
        """A back-out of the last award, or of the one before it."""
        last = self.floor.authority.progressive.books.next_award - 1
        return command.replace("last", str(last)).replace("earlier", str(last - 1))

    def _forge(self, table: str) -> None:
        """A program with the table's password asks; what the authority does with it is taken back.

        It asks all that it can when the authority is in a state in which nothing was forged in this walk, and else one request
        of it: the authority's answer depends on nothing but this state.
        """
        authority = self.floor.authority
        known = authority.progressive
        last, played = served_table(known, table), known.books.round_at(table)
        number, round_ = (0 if last is None else last.number) + 1, 1 if played is None else played.round
        record = f"record of {table}"
        forged = [TableAsked(table, record, number, (order,)) for order in confirmations(table, round_)]
        seats = () if played is None else tuple(each.seat for each in played.wagers)
        large = known.books.available >= amount(EXECUTIVE_FROM)
        state = of_authority(known, table), seats, large, last is None
        if state in self._forged:
            forged = [self.chance.choice(forged)]
        self._forged.add(state)
        for asked in forged:
            for entry in self._taken_back(asked):
                self.check(entry)
        if last is not None:
            order = self.chance.choice(forged).orders
            for asked in (
                TableAsked(table, "another record", number, order),
                TableAsked(table, record, number + 1, order),
                TableAsked(table, record, last.number, order),
            ):
                assert not self._taken_back(asked), asked

    def _taken_back(self, asked: TableAsked) -> list[Effect]:
        """What the authority would enter in the books for this request."""
        authority = self.floor.authority
        state = authority.state
        try:
            effects = authority.table.handle(asked)
        except RefusedError:
            effects = []
        authority.table.state = state
        return [effect.entry for effect in effects if isinstance(effect, MeterMoved)]

    def check_entries(self) -> None:
        """The people of each new entry about an award in the authority's books."""
        entries = self.floor.authority.entries
        for entry in entries[self.checked :]:
            self.check(entry)
        self.checked = len(entries)

    def check_game(self, name: str) -> None:
        """A game does not end before its award is confirmed, and no table leaves an award that is logged and not booked."""
        table = self.floor.tables[name].progressive
        won, awarded = table.procedure.hand.won, table.procedure.hand.awarded
        if table.procedure.step is BETTING and won is not None:
            assert awarded is not None
            assert (awarded.rule, awarded.side) == (won.rule, won.side)
        if any(award.table == name for award in self.floor.authority.progressive.books.locked):
            assert when_answered(table).step in {LOGGED, ADJUSTED}

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


@cache
def confirmations(table: str, round_: int) -> list[Any]:
    """The requests that only certain people may make, with all people and without."""
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
    return orders


def next_card(table: Node) -> str:
    """The next card of a hand that wins the whole meter."""
    return WHOLE_METER[min(len(table.hand.split()), len(WHOLE_METER) - 1)]


def award_of(table: Node) -> Any:
    """The award that the table's last hand won, with its seats, once the authority has answered."""
    won = when_answered(table.progressive).hand.won
    if won is None:
        return None
    return won.rule, won.seats, won.side


def in_reach(table: Node) -> list[str]:
    """The hands that win an award of the meter, and that the cards on the table, at least four, can become."""
    dealt = table.hand.split()
    if len(dealt) < FEWEST or not wagers_are_in_play(table.state):
        return []
    return [hand for hand in HANDS[:2] if hand.split()[: len(dealt)] == dealt]


def pairs_of(states: Iterable[Reached]) -> set[tuple[OfTable, OfAuthority]]:
    """The pairs of states of a table and of its authority."""
    return {each.pair for each in states}


def walked(procedure: str, seed: int) -> set[Reached]:
    """Walk by chance. Steps that hypothesis chooses one by one rarely come as far as an award, so it chooses the seed."""
    chance = Random(seed)
    walk = Walk(procedure, chance)
    of_the_link = [(command,) for command in (*OF_THE_LINK, *OF_THE_AUTHORITY, *["forge"] * 3)]
    steps = [*OF_THE_TABLES[procedure], *of_the_link]
    with mock.patch.object(meter_link, "can_win", CAN_WIN):
        for _ in range(STEPS):
            table = chance.choice(["t1", "t2"])
            for command in chance.choice(steps):
                walk.step(table, command)
        walk.floor.settle()
    walk.check_entries()
    walk.floor.check()
    return walk.reached


def walk_on(procedure: str) -> None:
    """Walk until something is wrong, but not for ever."""
    for seed in range(MOST_WALKS):
        walked(procedure, seed)


SEEDS: Final = st.integers(0, 2**32)
WITHOUT_SHRINKING: Final = (Phase.explicit, Phase.reuse, Phase.generate)
"""A smaller seed is not a simpler walk."""


@pytest.mark.parametrize("procedure", PROCEDURES)
@settings(max_examples=share(300, one_in=20), deadline=None, phases=WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_no_award_is_made_moved_or_taken_away_without_its_people(procedure, seed):
    walked(procedure, seed)


@pytest.mark.soak
@pytest.mark.parametrize("procedure", PROCEDURES)
@settings(max_examples=500_000 // STEPS, deadline=None, phases=WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_a_million_steps_make_move_or_take_away_no_award_without_its_people(procedure, seed):
    walked(procedure, seed)


@pytest.mark.parametrize(
    ("mistake", "procedure"),
    sampled([(name, each) for name, (_, of) in MISTAKES.items() for each in of], one_in=3),
)
def test_a_mistake_is_found(mistake, procedure):
    makes, _ = MISTAKES[mistake]
    with makes(), pytest.raises(AssertionError):
        walk_on(procedure)


def test_the_walks_reach_every_pair_of_states_that_the_simulation_reaches(capsys):
    """The simulation has what a walk lacks, such as kills, clocks and brokers, so its states are another measure than the steps."""
    simulated = [play(plan_of(seed, "linked", SIMULATED_SECONDS)) for seed in SIMULATED]
    for procedure in PROCEDURES:
        wanted = {
            each
            for of in simulated
            for each in of.reached
            if (each.table.key is None) == (procedure == "nexus")
        }
        assert wanted
        walks, found = 0, set[Reached]()
        while walks < MOST_WALKS and not pairs_of(wanted) <= pairs_of(found):
            found |= walked(procedure, walks)
            walks += 1

        assert pairs_of(wanted) - pairs_of(found) == set()
        with capsys.disabled():
            print(
                f"\n{procedure}: {len(SIMULATED)} simulations reach {len(pairs_of(wanted))} pairs of states of a table and its "
                f"authority, and {len(wanted)} with the connection. {walks} walks of {STEPS} steps reach all of these pairs, "
                f"{len(pairs_of(found))} in all, and {len(found)} with the connection, {len(wanted & found)} of those"
            )
