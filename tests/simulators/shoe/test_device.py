"""The shoe's end of the link, held to part 6 of docs/reference/ishoe-link.md without a line."""

import hashlib
from itertools import count
from pathlib import Path

import pytest

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from punto.simulators.shoe import device
from punto.simulators.shoe.device import ShoeDevice
from punto.simulators.shoe.store import Store


class Line:
    """A device with its line: say something to it and hear what it answers."""

    def __init__(self, path, room=frames.STORE):
        self.store = Store(path)
        self.device = ShoeDevice(self.store, "VS-000001", room)
        self.numbers = count(1)
        self.decoder = Decoder(frames.TYPES)

    def hear(self):
        return self.decoder.feed(b"".join(self.device.take_frames()))

    def tell(self, command, *values):
        self.device.receive(encode(command(next(self.numbers), *values)))
        return self.hear()

    def beat(self):
        self.device.heartbeat()
        return self.hear()[-1]

    def load(self, cards=STANDARD_DECK, cut=0):
        self.device.load(cards, 1, cut)
        self.device.move_lid(is_open=False)

    def draw(self, times):
        for _ in range(times):
            self.device.let_out()

    def records(self, heard):
        return [frame.record for frame in heard if isinstance(frame, frames.Record)]


@pytest.fixture
def line(tmp_path):
    line = Line(tmp_path / "store")
    yield line
    line.store.close()


def test_a_shoe_that_is_switched_on_introduces_itself_locked_dark_and_silent(line):
    (hello,) = line.hear()
    line.load()
    heard = line.hear()
    beat = line.beat()

    assert (hello.serial, hello.first_kept, hello.next_record, hello.decks) == ("VS-000001", 1, 1, 0)
    assert line.records(heard) == []
    assert (beat.locked, beat.sending, beat.lamps, beat.last_command) == (True, False, Lamps(), 0)


def test_it_says_hello_again_when_the_number_of_decks_changes(line):
    line.hear()
    line.load()
    (loaded,) = line.hear()
    line.load()
    again = line.hear()
    line.draw(51)
    nearly_empty = line.hear()
    line.draw(1)
    (empty,) = line.hear()

    assert (loaded.decks, empty.decks) == (1, 0)
    assert (again, nearly_empty) == ([], [])
    assert line.beat().decks == 0


def test_cards_that_are_not_whole_decks_are_reported_as_unknown(line):
    line.load(STANDARD_DECK[1:])
    (hello,) = line.hear()

    assert hello.decks == line.beat().decks == 0


def test_it_names_its_program_by_the_digest(line):
    (hello,) = line.hear()
    sources = sorted(Path(device.__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()

    assert [(part.name, part.digest) for part in hello.components] == [("virtual-shoe", digest)]


def test_records_come_in_order_from_where_they_are_asked_for(line):
    line.load()
    line.draw(3)
    line.hear()
    log = line.store.log

    assert line.records(line.tell(frames.Resend, log, 2)) == [2, 3, 4, 5]
    assert line.records(line.tell(frames.Resend, log, 4)) == [4, 5]
    assert line.records(line.tell(frames.Resend, log, 6)) == []  # from now on
    line.draw(1)
    assert line.records(line.hear()) == [6]


def test_each_record_says_what_happened(line):
    line.load((Card.AS, Card.KH, Card.TWO_C, Card.NINE_D, Card.TD, Card.FOUR_S), cut=1)
    line.device.let_out()
    line.device.let_out(None)
    line.device.let_out(61)
    line.device.let_out(overdrawn=True)
    line.device.let_out(None, overdrawn=True)
    line.device.push_back()
    line.device.report_fault(17, "dirty")
    line.hear()

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
        frames.FaultRecord(10, 17, "dirty"),
    ]


def test_asking_for_a_hello_stops_the_records_until_they_are_asked_for(line):
    line.load()
    line.hear()
    log = line.store.log
    line.tell(frames.Resend, log, 1)
    (hello,) = line.tell(frames.AskHello)
    line.draw(1)

    assert isinstance(hello, frames.Hello)
    assert line.hear() == []
    assert line.records(line.tell(frames.Resend, log, 3)) == [3]


@pytest.mark.parametrize(
    ("command", "log_off", "record", "why"),
    [
        (frames.Acknowledge, 1, 3, "another log"),
        (frames.Acknowledge, 0, 6, "a record that does not exist yet"),
        (frames.Resend, 1, 1, "another log"),
        (frames.Resend, 0, 7, "a record above the next one"),
    ],
)
def test_what_does_not_fit_is_ignored(line, command, log_off, record, why):
    line.load()
    line.draw(3)
    line.hear()
    heard = line.tell(command, line.store.log ^ log_off, record)
    beat = line.beat()

    assert heard == []
    assert (beat.first_kept, beat.sending, beat.last_command) == (1, False, 1)


def test_what_is_acknowledged_is_gone_and_the_rest_is_not(line):
    line.load()
    line.draw(3)
    line.hear()
    log = line.store.log
    line.tell(frames.Resend, log, 1)
    line.tell(frames.Acknowledge, log, 3)
    line.tell(frames.Acknowledge, log, 2)  # says nothing new

    assert line.beat().first_kept == 4
    assert line.records(line.tell(frames.Resend, log, 1)) == [4, 5]


def test_an_acknowledgement_of_what_was_not_sent_moves_the_place_to_send_from(line):
    line.load()
    line.draw(3)
    line.hear()
    log = line.store.log
    line.tell(frames.Acknowledge, log, 4)

    assert line.beat().next_to_send == 5


def test_no_more_than_64_records_are_on_their_way(line):
    line.load()
    line.draw(52)
    line.load()
    line.draw(52)
    line.hear()
    log = line.store.log

    assert line.records(line.tell(frames.Resend, log, 1)) == list(range(1, 65))
    assert line.records(line.hear()) == []
    assert line.records(line.tell(frames.Acknowledge, log, 10)) == list(range(65, 75))


def test_a_full_shoe_says_so_until_there_is_room(tmp_path):
    line = Line(tmp_path / "store", room=5)
    line.load()
    line.draw(2)
    line.hear()

    assert not line.beat().full
    line.draw(1)
    assert line.beat().full
    line.tell(frames.Acknowledge, line.store.log, 1)
    assert not line.beat().full


def test_what_cannot_be_held_back_has_a_reserve_and_then_takes_the_place_of_the_oldest(tmp_path):
    line = Line(tmp_path / "store", room=5)
    line.load()
    line.draw(3)
    line.hear()
    log = line.store.log
    line.tell(frames.Resend, log, 1)
    for _ in range(frames.RESERVE):
        line.device.push_back()
    before = line.beat().first_kept
    line.device.push_back()
    line.device.push_back()
    line.hear()

    assert before == 1
    assert line.beat().first_kept == 3
    assert line.records(line.tell(frames.Resend, log, 1))[0] == 3


def test_what_was_never_sent_can_be_gone_too(tmp_path):
    line = Line(tmp_path / "store", room=5)
    for _ in range(5 + frames.RESERVE + 2):
        line.device.push_back()
    beat = line.beat()

    assert (beat.first_kept, beat.next_to_send, beat.next_record) == (3, 3, 5 + frames.RESERVE + 3)


def test_an_acknowledgement_carries_the_orders_that_the_record_led_to(line):
    line.load()
    line.hear()
    log, lamps = line.store.log, Lamps(tie=True, next="player")
    line.tell(frames.Acknowledge, log, 2, False, lamps)
    obeyed = line.beat()
    line.tell(frames.Acknowledge, log, 1, True, Lamps())  # nothing to forget, and the orders of now
    repeated = line.beat()
    line.tell(frames.Acknowledge, log, 3, False, lamps)
    line.tell(frames.Acknowledge, log ^ 1, 2, False, lamps)

    assert (obeyed.locked, obeyed.lamps) == (False, lamps)
    assert (repeated.locked, repeated.lamps) == (True, Lamps())
    assert (line.beat().locked, line.beat().lamps) == (True, Lamps())


def test_lock_and_lamps_are_shown_in_the_heartbeat(line):
    line.hear()
    line.tell(frames.Unlock)
    line.tell(frames.SetLamps, Lamps(tie=True, next="banker"))
    beat = line.beat()
    line.tell(frames.Lock)

    assert (beat.locked, beat.lamps, beat.last_command) == (False, Lamps(tie=True, next="banker"), 2)
    assert line.beat().locked


def test_the_heartbeat_counts_the_records_that_went_before_it(line):
    line.load()
    line.hear()
    line.tell(frames.Resend, line.store.log, 1)
    line.draw(2)
    line.device.heartbeat()
    *records, beat = line.hear()

    assert line.records(records) == [3, 4]
    assert (beat.next_to_send, beat.next_record) == (5, 5)


def test_noise_and_echoes_order_nothing(line):
    line.hear()
    line.device.receive(b"\x07" * 3000 + b"\0garbage\0" + encode(frames.UnreadRecord(5)))
    damaged = bytearray(encode(frames.Unlock(9)))
    damaged[3] ^= 4
    line.device.receive(bytes(damaged))

    assert line.beat() == frames.Heartbeat(line.store.log, 1, 1, 1, 0)


def test_power_takes_orders_and_lamps_but_not_a_record(line):
    line.load()
    line.draw(2)
    line.hear()
    log = line.store.log
    line.tell(frames.Resend, log, 1)
    line.tell(frames.Unlock)
    line.tell(frames.SetLamps, Lamps(next="player"))
    line.device.power_on()
    (hello,) = line.hear()
    beat = line.beat()

    assert (hello.log, hello.first_kept, hello.next_record) == (log, 1, 5)
    assert (beat.locked, beat.sending, beat.lamps, beat.last_command) == (True, False, Lamps(), 0)
    assert line.records(line.tell(frames.Resend, log, 1)) == [1, 2, 3, 4]


def test_a_lost_memory_is_another_log(line):
    line.load()
    line.hear()
    log = line.store.log
    line.device.lose_memory()
    (hello,) = line.hear()

    assert hello.log != log
    assert (hello.first_kept, hello.next_record) == (1, 1)


def test_nothing_is_sent_that_is_not_on_the_disk(line, tmp_path):
    """What another process would find in the file at the moment when the frames are handed out."""
    line.load()
    line.hear()
    line.tell(frames.Resend, line.store.log, 1)
    line.draw(5)
    sent = line.records(line.hear())
    copy = tmp_path / "copy"
    for suffix in ("", "-wal"):
        source = tmp_path / f"store{suffix}"
        if source.exists():
            copy.with_name(f"copy{suffix}").write_bytes(source.read_bytes())
    found = Store(copy)

    assert sent == [3, 4, 5, 6, 7]
    assert (found.next_record, found.inside.out) == (8, 5)
