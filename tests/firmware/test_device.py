"""The firmware's shoe is held to what the virtual shoe is held to, statement by statement, and to the rest of part 6 of its page."""

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from tests.firmware.core import CARD, CUT_CARD, FAULT, PUSHED_BACK, ROOM, UNREAD, Core
from tests.simulators.shoe import test_device as virtual
from tests.simulators.shoe.test_device import (  # noqa: F401 - the same statements
    test_a_full_shoe_says_so_until_there_is_room,
    test_a_lost_memory_is_another_log,
    test_a_shoe_that_is_switched_on_introduces_itself_locked_dark_and_silent,
    test_an_acknowledgement_carries_the_orders_that_the_record_led_to,
    test_an_acknowledgement_of_what_was_not_sent_moves_the_place_to_send_from,
    test_asking_for_a_hello_stops_the_records_until_they_are_asked_for,
    test_cards_that_are_not_whole_decks_are_reported_as_unknown,
    test_it_says_hello_again_when_the_number_of_decks_changes,
    test_lock_and_lamps_are_shown_in_the_heartbeat,
    test_no_more_than_64_records_are_on_their_way,
    test_noise_and_echoes_order_nothing,
    test_power_takes_orders_and_lamps_but_not_a_record,
    test_records_come_in_order_from_where_they_are_asked_for,
    test_the_heartbeat_counts_the_records_that_went_before_it,
    test_what_cannot_be_held_back_has_a_reserve_and_then_takes_the_place_of_the_oldest,
    test_what_does_not_fit_is_ignored,
    test_what_is_acknowledged_is_gone_and_the_rest_is_not,
    test_what_was_never_sent_can_be_gone_too,
)

BEAT_MILLISECONDS = 250


class FirmwareDevice:
    """The firmware with the methods of the virtual shoe's device. A heartbeat is heard only if it was asked for."""

    def __init__(self, serial: str, room: int) -> None:
        self.core = Core(room=room, serial=serial)
        self._cards: tuple[Card, ...] = ()
        self._cut = self._decks = 0
        self._said: list[bytes] = []
        self._beat = False

    def power_on(self) -> None:
        self._said.clear()
        assert self.core.power_on()

    def receive(self, data: bytes) -> None:
        self.core.hear(data)
        self._settle()

    def take_frames(self) -> list[bytes]:
        self._settle()
        said, self._said = self._said, []
        if self._beat:
            self._beat = False
            return said + self.core.turn(BEAT_MILLISECONDS)
        return said

    def heartbeat(self) -> None:
        """Let the next frames end with a heartbeat."""
        self._beat = True

    def _settle(self) -> None:
        """Turn until the shoe has nothing to do."""
        said = [b""]
        while said or self.core.seen.unread:
            said = self.core.turn()
            self._said += [each for each in said if each[3] != frames.Heartbeat.TYPE]

    def happens(self, *event: object, **values: int) -> None:
        self.core.happens(*event, **values)  # type: ignore[arg-type]
        self._settle()
        assert not self.core.seen.pending

    def load(self, cards: tuple[Card, ...], decks: int, cut: int) -> None:
        self._decks = decks if len(cards) == decks * len(STANDARD_DECK) else 0
        self._cards, self._cut = cards, cut
        self.move_lid(is_open=True)

    def move_lid(self, *, is_open: bool) -> None:
        self.core.set(lid=is_open, decks=self._decks if self._cards else 0)
        self._settle()

    def let_out(self, confidence: int | None = 99) -> None:
        card, *rest = self._cards
        self._cards = tuple(rest)
        self.core.set(decks=self._decks if rest else 0)
        if confidence is None:
            self.happens(UNREAD)
        else:
            self.happens(CARD, card.value, confidence)
        if self._cut and len(rest) == self._cut:
            self.happens(CUT_CARD)

    def push_back(self) -> None:
        self.happens(PUSHED_BACK)

    def lose_memory(self) -> None:
        self.core.flash = b"\xff" * len(self.core.flash)
        self.power_on()


Line: Any = virtual.Line


class FirmwareLine(Line):  # type: ignore[misc]
    """A device with its line, as the virtual one's."""

    def __init__(self, _: Path | None = None, room: int = ROOM) -> None:
        self.device: Any = FirmwareDevice("VS-000001", room)
        self.numbers = count(1)
        self.decoder = Decoder(frames.TYPES)

    store: Any = property(lambda self: SimpleNamespace(log=self.device.core.seen.log, close=lambda: None))


@pytest.fixture(autouse=True)
def _of_the_firmware(monkeypatch):
    monkeypatch.setattr(virtual, "Line", FirmwareLine)


@pytest.fixture
def line() -> FirmwareLine:
    return FirmwareLine()


BURN, PLAYER = Lamps(next="burn"), Lamps(next="player")


def test_the_hello_lists_the_parts_of_the_software_also_if_they_are_many_and_long(line):
    (hello,) = line.hear()
    digest, longest = b"these bytes are not a hash value".hex(), "the longest name or version....."

    assert hello.components == (
        Component("reader", "2.4.1", digest),
        *(Component(longest, longest, digest) for _ in range(7)),
    )


def test_each_record_says_what_happened(line):
    line.load((Card.AS, Card.KH, Card.TWO_C, Card.NINE_D, Card.TD, Card.FOUR_S), cut=1)
    line.tell(frames.Unlock)
    line.device.let_out()
    line.device.let_out(None)
    line.device.let_out(61)
    line.tell(frames.Lock)
    line.device.let_out()
    line.device.let_out(None)
    line.device.push_back()
    line.device.happens(FAULT, fault=17)
    line.device.happens(FAULT, fault=18)
    line.device.happens(FAULT, fault=999)

    assert line.tell(frames.Resend, line.store.log, 1) == [
        frames.LidRecord(1, open=True),
        frames.LidRecord(2, open=False),
        frames.CardRecord(3, Card.AS, 99),
        frames.UnreadRecord(4),
        frames.CardRecord(5, Card.TWO_C, 61),
        frames.OverdrawnRecord(6, Card.NINE_D, 99),
        frames.OverdrawnRecord(7, None, 0),
        frames.CutCardRecord(8),
        frames.ReverseRecord(9),
        frames.FaultRecord(10, 17, "reader window dirty"),
        frames.FaultRecord(11, 18, ""),
        frames.FaultRecord(12, 999, ""),
    ]


@pytest.mark.parametrize("reading", [("1S", 98), ("ST", 98), ("\0S", 98), ("9S", 101)])
def test_a_card_that_its_reader_cannot_name_is_unread(line, reading):
    line.tell(frames.Unlock)
    line.device.happens(CARD, *reading)

    assert line.tell(frames.Resend, line.store.log, 1) == [frames.UnreadRecord(1)]


def test_a_cut_card_that_is_seen_again_after_a_loss_of_power_came_once(line):
    line.load()
    line.device.happens(CUT_CARD, position=7)
    line.device.power_on()
    line.device.happens(CUT_CARD, position=8)
    again = line.device.core.seen
    line.load()
    line.device.happens(CUT_CARD, position=9)

    assert (again.next_record, again.position) == (4, 8)
    assert line.device.core.seen.next_record == 7


def test_the_reader_is_told_what_is_safe_and_again_at_power_on(line):
    core = line.device.core
    line.device.happens(PUSHED_BACK, position=41)
    stored = core.seen.stored
    core.power_on()

    assert (stored, core.seen.stored) == (41, 41)


# --- the lid


def test_a_lid_that_was_moved_while_the_power_was_off_gets_its_record(line):
    line.device.move_lid(is_open=True)
    line.device.core.set(lid=False)
    line.device.power_on()
    line.hear()

    assert line.tell(frames.Resend, line.store.log, 1) == [
        frames.LidRecord(1, open=True),
        frames.LidRecord(2, open=False),
    ]


def test_a_burn_is_heeded_once_also_after_a_loss_of_power(line):
    core, log = line.device.core, line.store.log
    line.tell(frames.SetLamps, BURN)
    ordered = core.seen.load
    line.load()
    line.tell(frames.Acknowledge, log, 2, False, BURN)
    loaded = core.seen
    line.device.power_on()
    line.tell(frames.Acknowledge, log, 2, False, BURN)  # the same burn
    repeated = core.seen
    line.tell(frames.SetLamps, PLAYER)
    line.tell(frames.SetLamps, BURN)

    assert ordered == 1
    assert (loaded.load, loaded.gate_open) == (0, 1)
    assert (repeated.load, repeated.gate_open) == (0, 1)
    assert (core.seen.load, core.seen.gate_open) == (1, 0)


def test_a_prompt_that_the_host_gave_without_knowing_of_the_records_ends_no_burn(line):
    core, log = line.device.core, line.store.log
    line.tell(frames.SetLamps, BURN)
    line.load()
    line.tell(frames.SetLamps, PLAYER)
    line.tell(frames.Acknowledge, log, 1, True, PLAYER)
    line.tell(frames.Acknowledge, log, 2, True, BURN)
    same = core.seen.load
    line.tell(frames.Acknowledge, log, 2, True, PLAYER)
    line.tell(frames.SetLamps, BURN)

    assert (same, core.seen.load) == (0, 1)


def test_a_burn_that_the_power_cuts_off_is_heeded_with_the_record_or_not_at_all(line):
    core = line.device.core
    line.tell(frames.SetLamps, BURN)
    before = core.flash
    for budget in range(100):
        core.flash = before
        core.set(lid=False)
        core.power_on(budget)
        core.hear(encode(frames.SetLamps(1, BURN)))
        core.turn()
        core.set(lid=True)
        core.turn()
        core.power_on()
        recorded = core.seen.next_record == 2
        core.hear(
            encode(
                frames.Acknowledge(1, core.seen.log, 1, True, BURN) if recorded else frames.SetLamps(1, BURN)
            )
        )
        core.set(lid=recorded)
        core.turn()

        assert core.seen.load == (not recorded), budget
        if recorded:
            break
    else:
        pytest.fail("the record was never written")


# --- the gate


def test_a_card_may_come_out_only_when_all_is_acknowledged_and_one_is_called_for(line):
    core, log = line.device.core, line.store.log
    line.load()

    def gate(command: type[frames.Command], *values: object) -> bool:
        line.tell(command, *values)
        return bool(core.seen.gate_open)

    assert not gate(frames.SetLamps, PLAYER)
    assert not gate(frames.Unlock)
    assert gate(frames.Acknowledge, log, 2, False, PLAYER)
    line.device.let_out()
    assert not core.seen.gate_open
    assert gate(frames.Acknowledge, log, 3, False, PLAYER)
    assert not gate(frames.Lock)
    assert gate(frames.Unlock)
    assert not gate(frames.SetLamps, Lamps(player=True))
    assert gate(frames.SetLamps, Lamps(next="banker"))
    line.device.move_lid(is_open=True)
    assert not gate(frames.Acknowledge, log, 4, False, PLAYER)
    line.device.move_lid(is_open=False)
    assert gate(frames.Acknowledge, log, 5, False, PLAYER)
    core.power_on()
    core.turn()
    assert not core.seen.gate_open


# --- the line


@pytest.mark.parametrize("takes", [0, 1, 7, 30])
def test_a_line_that_takes_little_at_a_time_gets_whole_frames(takes):
    core = Core()
    decoder = Decoder(frames.FROM_SHOE)
    core.set(takes=takes)
    for _ in range(50):
        core.turn(10)
    core.hear(encode(frames.Resend(1, core.seen.log, 1)))
    for _ in range(10):
        core.happens(PUSHED_BACK)
        core.turn(1)
    core.set(takes=65536)
    heard = [frame for _ in range(30) for wire in core.turn(10) for frame in decoder.feed(wire)]

    if takes == 0:
        assert [type(frame) for frame in heard][:1] == [frames.Hello]
    assert decoder.counters.broken == 0 or takes
    assert heard[-1].next_record == 11  # type: ignore[union-attr]


def test_a_host_that_never_falls_silent_does_not_stop_the_heartbeats():
    core = Core()
    beats = 0
    for _ in range(400):
        core.hear(b"\x07" * 200)
        beats += sum(each[3] == frames.Heartbeat.TYPE for each in core.turn(10))

    assert beats == 17
