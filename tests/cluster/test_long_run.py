"""A floor that plays while all kinds of its parts die, in turn and together. Afterwards every round is in PostgreSQL once, and the
meter is the sum of its parts.

PUNTO_FLOOR_TABLES, PUNTO_FLOOR_MINUTES and PUNTO_FLOOR_PACE make it larger: 50, 30 and 0.045 are the run of docs/explanation/reliability.md.
"""

import json
import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, Final

import pytest

from punto.controller.journal.audit import audit, compare
from tests.cluster.floor import Floor, FloorTable, deal, floor_folder
from tests.cluster.machines import Network, Part
from tests.cluster.test_floor import pytestmark as of_a_floor
from tests.cluster.test_floor import stored
from tests.controller.table_on_a_machine import replayed, rounds, wait_until

pytestmark = of_a_floor
TABLES: Final = int(os.environ.get("PUNTO_FLOOR_TABLES", "8"))
MINUTES: Final = float(os.environ.get("PUNTO_FLOOR_MINUTES", "3"))
KEYED: Final = 3
WAGER: Final = 20_000_000
"""What a wager contributes, as in the books."""
HAND: Final = ["KS", "2S", "5S", "3S", "4D", "9D"]
SHOE: Final = 8
"""Hands before the shoe is changed: it has eight of each card."""


class Dealer(threading.Thread):
    """Deals a keyed table with wagers on the meter, whatever dies meanwhile: it looks at the table, and does the next thing."""

    def __init__(self, table: FloorTable) -> None:
        super().__init__(daemon=True)
        self.table = table
        self.over = threading.Event()

    def run(self) -> None:
        """Deal until `over`."""
        while not self.over.wait(0.15):
            try:
                self._next()
            except (OSError, ValueError):  # the table has no power
                self.over.wait(0.5)

    def _next(self) -> None:
        state = self.table.status()
        hands = state["hands"] or {"player": (), "banker": ()}
        dealt = len(hands["player"]) + len(hands["banker"])
        match state["phase"]:
            case "locked":
                self.table.ask(order="sign_on")
            case "betting" if dealt == 0 and state["shoe"]["coup"] >= SHOE:
                self.table.ask(order="change_shoe")
            case "betting" if dealt == 0:
                self.table.ask(order="game_over")  # of the hand before
                self.table.ask(order="wager_placed", seat=1 + state["round"] % 7)
                # It may be started already, or the authority may be away: the hand is dealt in any case.
                self.table.ask(order="start_game", round=state["round"])
                self.table.ask(order="key_card", card=HAND[0])
            case "betting" | "dealing":
                self.table.ask(order="key_card", card=HAND[dealt])
            case _:
                self.table.ask(order="change_shoe")
                self.table.ask(order="open_betting")


class Deaths:
    """Kills parts of a floor and starts them again; `count` says how often each kind died."""

    def __init__(self, floor: Floor, seed: int) -> None:
        self.floor = floor
        self.dice = Random(seed)
        self.count: Counter[str] = Counter()
        self.database = floor.start_database(0, "primary")
        self.managers = [floor.start_game_manager(number) for number in (0, 1)]
        self.kinds = ["node", "leader", "postgresql", "bridge", "authority", "table"]

    def one(self, kind: str) -> None:
        """Kill one of a kind, and start it again after some seconds."""
        self.several([kind])

    def several(self, kinds: list[str]) -> None:
        """Kill one of each of these kinds at once, and start them again in any order."""
        starting = [getattr(self, f"_{kind}")() for kind in kinds]
        self.count.update(kinds)
        time.sleep(self.dice.uniform(1, 6))
        self.dice.shuffle(starting)
        for start in starting:
            start()

    def _node(self) -> Callable[[], object]:
        """The first node has the database and a Game Manager too, the second a Game Manager."""
        number = self.dice.randrange(3)
        self.floor.nodes[number].power_cut()

        def start() -> None:
            self.floor.start_node(number)
            if number == 0:
                self._start_database()
            if number < len(self.managers):
                _start(self.managers[number])

        return start

    def _leader(self) -> Callable[[], object]:
        killed = next((each for each in self.managers if _leads(each)), self.managers[0])
        killed.kill()
        return partial(_start, killed)

    def _postgresql(self) -> Callable[[], object]:
        self.database.kill()
        return self._start_database

    def _start_database(self) -> None:
        _start(self.database)
        wait_until(lambda: self.floor.answers(0), "the database answers", 120)

    def _bridge(self) -> Callable[[], object]:
        table = self.dice.choice(self.floor.tables)
        assert table.broker is not None
        table.broker.kill()
        return table.broker.start

    def _authority(self) -> Callable[[], object]:
        authority = self.floor.authority
        assert authority is not None
        authority.power_cut()
        return authority.begin_all

    def _table(self) -> Callable[[], object]:
        table = self.dice.choice([*self.floor.tables, *self.floor.keyed])
        table.power_cut()
        return table.begin_all


def _start(part: Part) -> None:
    """Start a part, if it was not started again with its machine."""
    if not part.running:
        part.start()


def _end_of_play(floor: Floor, dealers: list[Dealer]) -> None:
    """No more is dealt, and all that died is up again."""
    for dealer in dealers:
        dealer.over.set()
        dealer.join()
    for table in [*floor.tables, *floor.keyed]:
        if table.shoe is not None:
            table.shoe.kill()
    for table in floor.pcs:
        wait_until(table.up, f"{table.name} is up", 120)
    time.sleep(5)


def asked(floor: Floor, number: int, path: str) -> Any:
    """What the Game Manager of a node answers at this path."""
    page = f"http://127.0.0.1:8070{path}"
    command = ("ip", "netns", "exec", floor.nodes[number].namespace, "curl", "-sf", page)
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def reported(floor: Floor, number: int) -> dict[str, int]:
    """The rounds of each table in the report of a node's Game Manager."""
    found = asked(floor, number, "/api/reports/2026-01-01/2099-12-31")
    return {each["table"]: sum(each["rounds"].values()) for each in found["tables"]}


def shown(floor: Floor, number: int) -> dict[str, tuple[bool, int, str, int | None]]:
    """What the floor's page of a node shows of each table: whether it is live, what waits, its fault, and its meter."""
    return {
        each["table"]: (
            each["live"],
            each["waiting"],
            each["fault"],
            each["meter"] and each["meter"]["live"] and each["meter"]["meter"],
        )
        for each in asked(floor, number, "/api/floor")["tables"]
    }


def _has(floor: Floor, table: str, rounds_: int) -> bool:
    return len(stored(floor, 0, table)) >= rounds_


def _leads(manager: Part) -> bool:
    """Whether the last thing that a Game Manager said of its work is that it takes in."""
    said = [
        line
        for line in manager.printed().splitlines()
        if "taking in" in line or "is taken in" in line or "Game Manager on" in line
    ]
    return bool(said) and '"taking in"' in said[-1]


@pytest.fixture
def floor() -> Iterator[Floor]:
    with Network() as network, floor_folder() as folder:
        names = [f"t{number}" for number in range(1, TABLES - KEYED + 1)]
        floor = Floor(network, folder, names, keyed=[f"k{number}" for number in range(1, KEYED + 1)])
        try:
            floor.start()
            yield floor
        finally:
            floor.stop()


@pytest.mark.timeout(60 * (MINUTES + 20))
def test_every_round_is_in_the_store_once_and_the_meter_is_the_sum_of_its_parts(floor):
    deaths = Deaths(floor, TABLES)
    dealers = [Dealer(table) for table in floor.keyed]
    for dealer in dealers:
        dealer.start()
    deal(*floor.tables)
    end = time.monotonic() + 60 * MINUTES
    turn = 0
    while time.monotonic() < end or turn < 1:
        for kind in deaths.kinds:
            deaths.one(kind)
            time.sleep(deaths.dice.uniform(0.5, 3))
        deaths.several(deaths.dice.sample(deaths.kinds, 4))
        turn += 1
    _end_of_play(floor, dealers)

    played = {table.name: len(rounds(table.record)) for table in [*floor.tables, *floor.keyed]}
    print(
        f"\n{turn} turns, {sum(played.values())} rounds of {len(played)} tables; died: {dict(deaths.count)}"
    )
    for name, number in played.items():
        all_there = partial(_has, floor, name, number)
        wait_until(all_there, f"all rounds of {name} are stored", 300)
        assert stored(floor, 0, name) == list(range(1, number + 1))
    for number in (0, 1):
        assert reported(floor, number) == played
    authority = floor.authority
    assert authority is not None
    wait_until(
        lambda: all(table.progressive.link.asked is None for table in floor.keyed), "nothing is asked", 120
    )
    right: dict[str, tuple[bool, int, str, int | None]] = {
        table.name: (True, 0, "", authority.progressive.books.shown if table in floor.keyed else None)
        for table in [*floor.tables, *floor.keyed]
    }
    for number in (0, 1):
        wait_until(lambda at=number: shown(floor, at) == right, "the floor's page is right", 120)  # type: ignore[misc]
    books = audit(authority.record)
    assert [compare(books, audit(table.record)).difference for table in floor.keyed] == [None] * KEYED
    # Most hands of the dealers have a wager on the meter.
    played_by_dealers = sum(played[table.name] for table in floor.keyed)
    assert authority.progressive.books.ledger.contributions > played_by_dealers * WAGER // 2
    for table in floor.pcs:
        status, said = replayed(table.record)
        assert status == 0, said
    print(
        f"{played_by_dealers} hands with the meter, contributions {authority.progressive.books.ledger.contributions}"
    )
