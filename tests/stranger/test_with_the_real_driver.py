"""The stranger's shoe under the project's own driver and service: both ends only have the page in common.

What the record then holds is compared with the coups that the rules alone make of the list of cards.
"""

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.table.events import CardDrawn, CutCardSeen
from punto.commands.operator import ask
from punto.controller.journal.entries import EVENTS
from punto.controller.journal.recovery import replay
from tests.deadline import DEADLINE
from tests.service.table_on_a_machine import STAFF, employ
from tests.stranger.shoe import PtyShoe, Shoe, Store

pytestmark = pytest.mark.disk

CUT_FROM_END = 14


# --- What must be on the record: the rules over the cards alone -------------------------------------------


def first_of_a_hand(cards: Sequence[str]) -> int:
    """The place of the first card behind the burn: the turned card says how many follow it."""
    turned = Card(cards[0])
    return 1 + (turned.points or 10)


def coups_of(cards: Sequence[str]) -> list[Coup]:
    """The coups of a shoe, to its last: one after the hand in which the cut card comes, or the one that it begins."""
    mouth = len(cards) - CUT_FROM_END
    at = first_of_a_hand(cards)
    coups: list[Coup] = []
    after = None
    while after != 0:
        start, coup = at, Coup()
        while not coup.over:
            coup = coup.with_card(Card(cards[at]))
            at += 1
        coups.append(coup)
        if after is not None or start == mouth:
            after = 0
        elif start < mouth < at:
            after = 1
    return coups


def rounds_of(shoes: Sequence[Sequence[str]]) -> list[tuple[object, ...]]:
    """The rows of `rounds`."""
    return [
        (
            *(shoe, number, "played"),
            *(" ".join(coup.player), " ".join(coup.banker)),
            *(coup.player_total, coup.banker_total, coup.winner.value),
        )
        for shoe, cards in enumerate(shoes, start=1)
        for number, coup in enumerate(coups_of(cards), start=1)
    ]


def recorded_rounds(record: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(record) as connection:
        rows = connection.execute(
            "SELECT shoe, coup, status, player, banker, player_total, banker_total, winner FROM rounds ORDER BY round"
        ).fetchall()
    connection.close()
    return rows


def recorded_cards(record: Path) -> list[str]:
    """Every card that left the shoe, and `cut` for the cut card, in the order of the inputs."""
    with sqlite3.connect(record) as connection:
        rows = connection.execute("SELECT payload FROM inputs ORDER BY seq").fetchall()
    connection.close()
    events = [EVENTS.validate_json(payload) for (payload,) in rows]
    seen = [event for event in events if isinstance(event, CardDrawn | CutCardSeen)]
    return [event.card.value if isinstance(event, CardDrawn) else "cut" for event in seen]


def cards_of(shoes: Sequence[Sequence[str]]) -> list[str]:
    """Every card that must leave the shoes, and `cut` for the cut card."""
    out: list[str] = []
    for cards in shoes:
        played = first_of_a_hand(cards) + sum(len(coup.cards) for coup in coups_of(cards))
        mouth = len(cards) - CUT_FROM_END
        out += [*cards[:mouth], "cut", *cards[mouth:played]]
    return out


def shuffled(count: int, seed: int) -> list[str]:
    """So many cards from the top of eight shuffled decks."""
    cards = [card.value for card in Card] * 8
    random.Random(seed).shuffle(cards)
    return cards[:count]


def in_the_middle_of_a_hand(cards: Sequence[str], hand: int) -> int:
    """How many cards are out when two cards of this hand are."""
    return first_of_a_hand(cards) + sum(len(coup.cards) for coup in coups_of(cards)[: hand - 1]) + 2


# --- Both ends ---------------------------------------------------------------------------------------------


class TroubledShoe(Shoe):
    """A shoe whose dealer stops at some cards, and whose power fails after others; both by how many are out."""

    def __init__(self, store: Store, shoes: Sequence[Sequence[str]]) -> None:
        self.holds: set[int] = set()
        self.power_fails: set[int] = set()
        self.times_lost = 0
        super().__init__(store, shoes, cut_from_end=CUT_FROM_END)

    @property
    def out(self) -> int:
        loads = self.memory.loads
        return len(self.shoes[(loads - 1) % len(self.shoes)]) - len(self.memory.cards) if loads else 0

    def deal(self) -> bool:
        if self.out in self.holds:
            return False
        dealt = super().deal()
        if dealt and self.out in self.power_fails:
            # Between the store and the line: the record is kept, and what was to be sent is gone.
            self.power_fails.discard(self.out)
            self.times_lost += 1
            self.power_on()
        return dealt


class Noise:
    """One direction of a line: after at most twice so many bytes, one byte is damaged, lost or doubled."""

    def __init__(self, one_in: int, seed: int) -> None:
        self._one_in = one_in
        self._chance = random.Random(seed)
        self._sound = one_in

    def on(self, data: bytes) -> bytes:
        """What arrives of the data."""
        return b"".join(map(self._arrived, data))

    def _arrived(self, byte: int) -> bytes:
        self._sound -= 1
        if self._sound:
            return bytes((byte,))
        chance = self._chance
        self._sound = chance.randint(1, 2 * self._one_in - 1)
        return chance.choice((bytes((byte ^ chance.randint(1, 255),)), b"", bytes((byte, byte))))


class NoisyLine(PtyShoe):
    """One byte in so many is damaged, lost or doubled, in both directions."""

    def __init__(self, shoe: Shoe, link: Path, one_in: int) -> None:
        super().__init__(shoe, link)
        self._from_host, self._from_shoe = Noise(one_in, 4711), Noise(one_in, 4712)

    def _read(self) -> bytes:
        return self._from_host.on(super()._read())

    def _write(self, frames: list[bytes]) -> None:
        super()._write([self._from_shoe.on(frame) for frame in frames])


class Service:
    """`punto run` as its own process, and its operator."""

    def __init__(self, folder: Path, port: Path) -> None:
        self.record = folder / "table.db"
        self.door = folder / "operator.sock"
        self.config = folder / "table.toml"
        self.config.write_text(
            'version = 1\n[table]\nid = "t1"\nname = "Table 1"\ngame = "dragon-bonus-1"\n'
            f'[shoe]\nport = "{port}"\nlink_version = 1\n[record]\npath = "{self.record}"\n[operator]\nsocket = "{self.door}"\n'
            f'[accounts]\npath = "{folder / "operators.db"}"\n'
        )
        employ(folder / "operators.db")
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "punto", "run", "--config", str(self.config)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.until(lambda state: state is not None)

    def end(self, *, kill: bool = False) -> None:
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait()

    def state(self) -> dict[str, Any] | None:
        try:
            state: dict[str, Any] = ask(self.door, {"order": "status"})["state"]
        except OSError:
            return None
        return state

    def order(self, order: str) -> None:
        answer = ask(self.door, {"order": order, "by": STAFF})

        assert answer["accepted"], answer

    def until(self, true: Callable[[Any], bool], seconds: float = DEADLINE) -> None:
        end = time.monotonic() + seconds
        while not true(state := self.state()):
            assert time.monotonic() < end, f"the table has come to rest: {state}"
            assert self.process.poll() is None, "the service has ended"

            time.sleep(0.02)

    def until_the_phase_is(self, phase: str) -> None:
        self.until(lambda state: state["phase"] == phase)


@contextmanager
def serving(folder: Path, port: Path) -> Iterator[Service]:
    service = Service(folder, port)
    try:
        service.until(lambda state: state["shoe"]["online"])
        service.order("sign_on")
        yield service
    finally:
        if service.process.poll() is None:
            service.end(kill=True)


def check(record: Path, shoes: Sequence[Sequence[str]]) -> None:
    replayed = replay(record)

    assert recorded_cards(record) == cards_of(shoes)
    assert recorded_rounds(record) == rounds_of(shoes)
    assert replayed.difference is None
    assert replayed.rounds == len(rounds_of(shoes))


@pytest.mark.soak
def test_a_whole_shoe_of_eight_decks_and_the_next_are_on_the_record_as_the_rules_have_them(tmp_path: Path):
    shoes = [shuffled(416, seed=1), shuffled(70, seed=2)]
    shoe = Shoe(Store(tmp_path / "store"), shoes, cut_from_end=CUT_FROM_END)
    with PtyShoe(shoe, tmp_path / "line") as line, serving(tmp_path, tmp_path / "line") as service:
        for _ in shoes:
            service.order("change_shoe")
            service.until_the_phase_is("settled")
        line.do(lambda shoe: shoe.move_lid(is_open=True))
        service.until(lambda _: line.do(lambda shoe: not shoe.memory.records))
        service.end()

        assert shoe.locked
    check(service.record, shoes)


def test_noise_losses_of_power_and_a_killed_service_change_nothing_on_the_record(tmp_path: Path):
    shoes = [shuffled(110, seed=3), shuffled(70, seed=4)]
    held = in_the_middle_of_a_hand(shoes[0], hand=6)
    shoe = TroubledShoe(Store(tmp_path / "store"), shoes)
    shoe.holds = {3, held}
    shoe.power_fails = {2, first_of_a_hand(shoes[0]), in_the_middle_of_a_hand(shoes[0], hand=3), held + 1}
    line = NoisyLine(shoe, tmp_path / "line", one_in=200)
    with line, serving(tmp_path, tmp_path / "line") as service:
        service.order("change_shoe")

        # In the burn, and in the middle of a hand: the service is killed, and comes back to the same card.
        for out in sorted(shoe.holds):
            service.until(lambda _, out=out: line.do(lambda _: shoe.out) == out)  # type: ignore[misc]
            before = service.state()
            service.end(kill=True)
            service.start()
            service.until(lambda state: state["shoe"]["online"])
            line.do(lambda _, out=out: shoe.holds.discard(out))  # type: ignore[misc]

            assert before is not None
            assert before["phase"] == ("shoe_change" if out == 3 else "dealing")
        service.until_the_phase_is("settled")
        service.order("change_shoe")
        service.until_the_phase_is("settled")
        service.end()
    check(service.record, shoes)

    assert shoe.times_lost == 4
    assert shoe.receiver.counts.total() > 5
