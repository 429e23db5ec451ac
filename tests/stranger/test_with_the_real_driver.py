"""The stranger's shoe under the project's own driver and service: both ends only have the page in common.

What the record then holds is compared with the coups that the rules alone make of the list of cards.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from punto.simulators.shoe import shuffled
from tests.controller.table_on_a_machine import (
    Dealt,
    Table,
    expected_cards,
    expected_rounds,
    inputs,
    replayed,
    rounds,
    wait_until,
)
from tests.stranger.shoe import PtyShoe, Shoe, Store

pytestmark = pytest.mark.disk

SEED = "stranger"
CUT_FROM_END = 14


# --- What must be on the record: the rules over the cards alone -------------------------------------------


def shoes_of(*decks: int) -> list[list[str]]:
    """A shoe of so many shuffled decks each."""
    return [[card.value for card in shuffled(SEED, *each)] for each in enumerate(decks, start=1)]


def rounds_of(shoes: Sequence[Sequence[str]]) -> list[Dealt]:
    """Every round of these shoes, by the rules."""
    return [
        each
        for number, cards in enumerate(shoes, start=1)
        for each in expected_rounds(SEED, number, len(cards) // 52, CUT_FROM_END)
    ]


def cards_of(shoes: Sequence[Sequence[str]]) -> list[str]:
    """Every card that must leave the shoes, and `cut` for the cut card."""
    out: list[str] = []
    for number, cards in enumerate(shoes, start=1):
        mouth = len(cards) - CUT_FROM_END
        played = expected_cards(SEED, number, len(cards) // 52, CUT_FROM_END)
        out += [*played[:mouth], "cut", *played[mouth:]]
    return out


def before_hand(number: int, shoes: Sequence[Sequence[str]]) -> int:
    """How many cards of the first shoe are out before this hand."""
    hands = [len(f"{each.player} {each.banker}".split()) for each in rounds_of(shoes[:1])]
    return len(cards_of(shoes[:1])) - 1 - sum(hands[number - 1 :])


# --- Both ends ---------------------------------------------------------------------------------------------


class TroubledShoe(Shoe):
    """A shoe whose dealer stops at some cards, and whose power fails after others; both by how many are out."""

    counts_decks = False  # its shoes are small, so that a test is short

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


class Service(Table):
    """A table that is no simulation, so that its shoe need not be a virtual one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, None)
        written = self.config.read_text(encoding="utf-8").replace("simulation = true\n", "")
        self.config.write_text(written.replace("[record]", f"{self.keys(folder)}[record]"), encoding="utf-8")

    def keys(self, _: Path) -> str:
        """The rest of the shoe's section, and other devices."""
        return "link_version = 1\n"

    def until(self, true: Callable[[dict[str, Any]], object]) -> None:
        wait_until(lambda: true(self.status()), "the table goes on")

    def until_the_phase_is(self, phase: str) -> None:
        self.until(lambda state: state["phase"] == phase)


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    with service:
        service.until(lambda state: state["shoe"]["online"])
        service.order("sign_on")
        yield service


def check(record: Path, shoes: Sequence[Sequence[str]]) -> None:
    assert [each.get("card", "cut") for each in inputs(record, "card_drawn", "cut_card_seen")] == cards_of(
        shoes
    )
    assert rounds(record) == rounds_of(shoes)
    assert replayed(record)[0] == 0


@pytest.mark.soak
def test_a_whole_shoe_of_eight_decks_and_the_next_are_on_the_record_as_the_rules_have_them(tmp_path: Path):
    shoes = shoes_of(8, 2)
    shoe = Shoe(Store(tmp_path / "store"), shoes, cut_from_end=CUT_FROM_END)
    shoe.counts_decks = False
    with PtyShoe(shoe, tmp_path / "shoe") as line, serving(Service(tmp_path)) as service:
        for _ in shoes:
            service.order("change_shoe")
            service.until_the_phase_is("settled")
        line.do(lambda shoe: shoe.move_lid(is_open=True))
        service.until(lambda _: line.do(lambda shoe: not shoe.memory.records))
        service.stop()

        assert shoe.locked
    check(service.record, shoes)


def test_noise_losses_of_power_and_a_killed_service_change_nothing_on_the_record(tmp_path: Path):
    shoes = shoes_of(2, 1)
    held = before_hand(6, shoes) + 2
    shoe = TroubledShoe(Store(tmp_path / "store"), shoes)
    shoe.holds = {3, held}
    shoe.power_fails = {2, before_hand(1, shoes), before_hand(3, shoes) + 2, held + 1}
    line = NoisyLine(shoe, tmp_path / "shoe", one_in=200)
    with line, serving(Service(tmp_path)) as service:
        service.order("change_shoe")

        # In the burn, and in the middle of a hand: the service is killed, and comes back to the same card.
        for out in sorted(shoe.holds):
            service.until(lambda _, out=out: line.do(lambda _: shoe.out) == out)  # type: ignore[misc]
            before = service.status()
            service.kill()
            service.start()
            service.until(lambda state: state["shoe"]["online"])
            line.do(lambda _, out=out: shoe.holds.discard(out))  # type: ignore[misc]

            assert before["phase"] == ("shoe_change" if out == 3 else "dealing")
        service.until_the_phase_is("settled")
        service.order("change_shoe")
        service.until_the_phase_is("settled")
        service.stop()
    check(service.record, shoes)

    assert shoe.times_lost == 4
    assert shoe.receiver.counts.total() > 5
