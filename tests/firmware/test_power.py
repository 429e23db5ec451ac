"""What the firmware keeps in its flash memory: whichever byte a loss of power cuts, and whichever byte is damaged.

The power is cut in the middle of a byte too: what such a byte then reads is between old and new.
"""

from collections.abc import Iterable, Sequence

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from tests.firmware.core import CARD, CUT_CARD, FAULT, NEVER, PUSHED_BACK, ROOM, Core

STEP_BYTES, SECTOR_BYTES = 32, 1024
Event = tuple[int, str, int, int]  # kind, card, confidence, fault
EVENTS: list[Event] = [
    *((CARD, card.value, 98, 0) for card in STANDARD_DECK[:9]),
    (CUT_CARD, "??", 0, 0),
    (FAULT, "??", 0, 17),
    *((CARD, card.value, 97, 0) for card in STANDARD_DECK[9:12]),
    (PUSHED_BACK, "??", 0, 0),
]


def record_of(number: int, event: Event) -> frames.Record:
    """The record that this event must have."""
    kind, card, confidence, fault = event
    if kind == CARD:
        return frames.CardRecord(number, card, confidence)  # type: ignore[arg-type]
    if kind == FAULT:
        return frames.FaultRecord(number, fault, "reader window dirty")
    return (frames.CutCardRecord if kind == CUT_CARD else frames.ReverseRecord)(number)


class Host:
    """A host that takes each record once, and does not know when the power goes."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.taken: list[frames.Record] = []
        self._decoder = Decoder(frames.FROM_SHOE)
        self._command = 0

    def asks(self, *, acknowledge: bool = True) -> None:
        """Ask for the records that it does not have, and acknowledge them."""
        log = self.core.seen.log
        self._say(frames.Unlock, ())
        self._say(frames.Resend, (log, len(self.taken) + 1))
        for _ in range(100):
            before = len(self.taken)
            self._hear(self.core.turn())
            if acknowledge and self.taken:
                self._say(frames.Acknowledge, (log, len(self.taken), False, Lamps(next="player")))
                self._hear(self.core.turn())
            if len(self.taken) == before:
                return

    def _say(self, command: type[frames.Command], values: tuple[object, ...]) -> None:
        self._command += 1
        self.core.hear(encode(command(self._command, *values)))

    def _hear(self, wires: Iterable[bytes]) -> None:
        for wire in wires:
            for frame in self._decoder.feed(wire):
                if isinstance(frame, frames.Record) and frame.record == len(self.taken) + 1:
                    self.taken.append(frame)


def play(core: Core, host: Host, events: Sequence[Event], acknowledged_every: int) -> None:
    """Let these events happen, the first of which has the number 1, from where the shoe is; and stop where its power goes."""
    while not core.seen.halted and core.seen.stored < len(events):
        position = core.seen.stored + 1
        kind, card, confidence, fault = events[position - 1]
        core.hear(encode(frames.Unlock(1)))
        core.happens(kind, card, confidence, fault, position)
        core.turn()
        if position % acknowledged_every == 0:
            host.asks()


def survives(budgets: Sequence[int], before: bytes, events: Sequence[Event], acknowledged_every: int) -> bool:
    """The power is cut after so many bytes, again and again. Return whether all was written before the last cut."""
    core = Core()
    core.flash = before
    host = Host(core)
    core.power_on(budgets[0])
    log = core.seen.log
    play(core, host, events, acknowledged_every)
    whole = not core.seen.halted
    for budget in (*budgets[1:], NEVER):
        core.forget_event()
        if core.power_on(budget):
            play(core, host, events, acknowledged_every)
    host.asks()

    assert (core.seen.log, core.seen.reprogrammed) == (log, 0)
    assert host.taken == [record_of(number, event) for number, event in enumerate(events, 1)], budgets
    assert core.seen.first_kept == core.seen.next_record == len(events) + 1
    return whole


@pytest.mark.parametrize("acknowledged_every", [1, 4])
def test_a_cut_at_any_byte_loses_doubles_and_invents_no_record(acknowledged_every):
    before = Core().flash
    for budget in range(0, 2000, 37):
        if survives([budget], before, EVENTS, acknowledged_every):
            break
    else:
        pytest.fail("it never came to its end")


@pytest.mark.soak
@pytest.mark.parametrize("acknowledged_every", [1, 4])
def test_cuts_at_every_byte_and_again_soon_after_lose_double_and_invent_no_record(acknowledged_every):
    before = Core().flash
    once = [each for each in EVENTS if each[0] != CUT_CARD]
    many = [*EVENTS, *once, *once]  # over the ends of sectors
    again = (0, 1, 31, 32, 33, 64, 100, SECTOR_BYTES, SECTOR_BYTES + STEP_BYTES)
    for budget in range(10_000):
        cuts = [budget, again[budget % len(again)], again[budget % 7]]
        if survives(cuts, before, many, acknowledged_every):
            break
    else:
        pytest.fail("it never came to its end")


def test_a_cut_in_the_very_first_write_begins_one_log():
    core = Core()
    logs = set()
    for budget in (0, 1, 500, 1023, 1024, 1040, 1055):
        core.flash = b"\xff" * len(core.flash)
        assert not core.power_on(budget)
        assert core.power_on()
        log = core.seen.log
        assert core.power_on()
        assert core.seen.log == log
        logs.add(log)

    assert len(logs) == 7


def fill(core: Core, records: int) -> None:
    for position in range(1, records + 1):
        core.happens(PUSHED_BACK, position=position)
        core.turn()


def test_a_shoe_keeps_1024_records_and_64_more_and_then_gives_up_the_oldest():
    core = Core()
    fill(core, ROOM - 1)
    assert [flags(core) & frames.FULL, core.power_on()] == [0, True]
    for records in (1, frames.RESERVE):
        fill(core, records)
        assert (core.seen.first_kept, flags(core) & frames.FULL) == (1, frames.FULL)
    fill(core, 3)
    core.power_on()
    host = Host(core)
    host.taken = [record_of(number, EVENTS[-1]) for number in range(1, 4)]
    host.asks()

    assert host.taken == [record_of(number, EVENTS[-1]) for number in range(1, ROOM + frames.RESERVE + 4)]
    assert flags(core) & frames.FULL == 0


def flags(core: Core) -> int:
    """The flags of the next heartbeat."""
    beats = [each for each in core.turn(300) if each[3] == frames.Heartbeat.TYPE]
    return decoded(beats[-1])[22]


def decoded(wire: bytes) -> bytes:
    return cobs.decode(wire.strip(b"\0"))  # type: ignore[no-any-return]


def test_the_ring_comes_around_while_records_are_kept():
    core = Core()
    host = Host(core)
    core.hear(encode(frames.Unlock(1)))
    core.turn()
    kept = 1000
    fill(core, kept)
    host.asks(acknowledge=False)
    log, position = core.seen.log, kept
    while core.seen.erased < 200:
        position += 1
        core.happens(PUSHED_BACK, position=position)
        core.hear(encode(frames.Acknowledge(1, log, position - kept)))
        core.turn()
    core.power_on()
    after = Host(core)
    after.taken = host.taken[:1] * (position - kept)  # only their number counts
    after.asks()

    assert core.seen.log == log
    assert after.taken[-1].record == position
    assert core.seen.first_kept == position + 1


@pytest.mark.parametrize("step", range(1, 13))
def test_a_damaged_byte_is_noticed_and_never_becomes_another_record(step):
    core = Core()
    play(core, Host(core), EVENTS, 100)
    whole, log = core.flash, core.seen.log
    damaged = bytearray(whole)
    for byte in range(0, STEP_BYTES, 5):
        damaged[step * STEP_BYTES + byte] ^= 0x10
    core.flash = bytes(damaged)
    core.forget_event()
    core.power_on()
    host = Host(core)
    host.asks()

    assert core.seen.log != log
    assert host.taken == []


def test_a_record_that_is_damaged_while_the_shoe_runs_is_not_sent():
    core = Core()
    play(core, Host(core), EVENTS, 100)
    log = core.seen.log
    damaged = bytearray(core.flash)
    damaged[5 * STEP_BYTES] ^= 1
    core.flash = bytes(damaged)
    host = Host(core)
    host.asks(acknowledge=False)

    assert host.taken == [record_of(number, event) for number, event in enumerate(EVENTS[:4], 1)]
    assert core.seen.log != log
    assert core.seen.next_record == 1


def test_a_place_that_keeps_nothing_is_skipped():
    core = Core()
    host = Host(core)
    stuck = bytearray(core.flash)
    for step in (1, 4, 5):
        stuck[step * STEP_BYTES + 20] = 0
    core.flash = bytes(stuck)
    play(core, host, EVENTS, 3)
    core.power_on()
    host.asks()

    assert host.taken == [record_of(number, event) for number, event in enumerate(EVENTS, 1)]


def test_a_place_that_looks_blank_and_keeps_nothing_is_skipped_too():
    core = Core()
    host = Host(core)
    core.weaken(4 * STEP_BYTES)
    play(core, host, EVENTS, 100)
    core.power_on()
    host.asks()

    assert host.taken == [record_of(number, event) for number, event in enumerate(EVENTS, 1)]


def test_records_for_which_a_worn_ring_has_no_room_are_given_up_and_the_others_are_whole():
    core = Core()
    core.weaken(STEP_BYTES, every=2 * STEP_BYTES)
    fill(core, 900)
    log = core.seen.log
    for position in range(901, 1501):
        core.happens(PUSHED_BACK, position=position)
        core.hear(encode(frames.Acknowledge(1, log, position - 900)))
        core.turn()
    core.power_on()
    first_kept = core.seen.first_kept
    host = Host(core)
    host.taken = [record_of(1, EVENTS[-1])] * (first_kept - 1)  # only their number counts
    host.asks()

    assert core.seen.log == log
    assert 601 < first_kept < 1300
    assert host.taken[first_kept - 1 :] == [record_of(each, EVENTS[-1]) for each in range(first_kept, 1501)]


def test_a_storage_that_is_worn_out_stops_the_shoe_before_it_erases_what_it_has():
    core = Core()
    play(core, Host(core), EVENTS, 100)
    core.weaken(STEP_BYTES, every=STEP_BYTES)
    core.happens(PUSHED_BACK, position=100)
    core.turn()
    seen = core.seen
    core.turn(300)
    core.weaken(0)
    core.forget_event()
    core.power_on()
    host = Host(core)
    host.asks()

    assert seen.halted
    assert seen.pending  # the reader is not told that it is safe
    assert core.take() == []
    assert host.taken == [record_of(number, event) for number, event in enumerate(EVENTS, 1)]


def test_a_shoe_that_cannot_remember_sends_nothing_and_lets_no_card_out():
    core = Core()
    host = Host(core)
    play(core, host, EVENTS[:3], 1)
    core.hear(encode(frames.SetLamps(1, Lamps(next="player"))))
    core.turn()
    open_before = core.seen.gate_open
    core.weaken(STEP_BYTES, every=STEP_BYTES)
    core.happens(PUSHED_BACK, position=100)
    core.turn()

    assert (open_before, core.seen.gate_open, core.seen.halted) == (1, 0, 1)
    assert core.turn(300) == []
