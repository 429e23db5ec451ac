from dataclasses import replace
from struct import pack

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.frame import HIGHEST, Frame
from punto.drivers.framing import LONGEST, encode
from punto.drivers.ishoe import frames
from tests.ishoe.examples import EXAMPLES, LOG, READER

HELLO = frames.Hello("IS-1", LOG, 3, 5, 8, (READER,))
BEAT = frames.Heartbeat(LOG, 3, 4, 5, 0)


@pytest.mark.parametrize("frame", EXAMPLES, ids=repr)
def test_a_frame_is_read_back_from_its_bytes(frame):
    assert type(frame).parse(frame.sequence, frame.payload()) == frame


def test_every_type_has_its_own_number_and_its_direction_in_the_high_bit():
    numbers = [frame.TYPE for frame in frames.FRAMES]

    assert len(set(numbers)) == len(numbers)
    assert all((frame.TYPE >= 0x80) == issubclass(frame, frames.Command) for frame in frames.FRAMES)


def test_the_longest_hello_fits_in_a_frame():
    part = Component("n" * 32, "v" * 32, "ab" * 32)
    hello = frames.Hello("s" * 32, HIGHEST, 1, HIGHEST, 255, (part,) * 8)

    assert len(hello.payload()) + 10 == 841
    assert len(hello.payload()) + 10 <= LONGEST
    assert encode(hello)


@pytest.mark.parametrize(("sequence", "payload"), [(1, b""), (0, b"\0")])
def test_a_frame_without_fields_has_neither_number_nor_payload(sequence, payload):
    assert Frame.parse(0, b"") == Frame()
    assert (Frame().sequence, Frame().payload()) == (0, b"")
    with pytest.raises(ValueError):
        Frame.parse(sequence, payload)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda: replace(HELLO, serial=""),
            "the length of the serial number is 0: it must be 1 to 32",
        ),
        (lambda: replace(HELLO, serial="x" * 33), "is 33"),
        (lambda: replace(HELLO, serial="IS 1"), "printable ASCII without spaces"),
        (lambda: replace(HELLO, serial="IS\n"), "printable ASCII without spaces"),
        (lambda: replace(HELLO, serial="Ü1"), "printable ASCII without spaces"),
        (lambda: replace(HELLO, log=0), "log is 0: it must be 1 to 4294967295"),
        (lambda: replace(HELLO, log=1 << 32), "log is 4294967296"),
        (lambda: replace(HELLO, first_kept=0), "first_kept is 0: it must be 1 to 5"),
        (lambda: replace(HELLO, first_kept=6), "first_kept is 6: it must be 1 to 5"),
        (lambda: replace(HELLO, next_record=1 << 32), "next_record is 4294967296"),
        (lambda: replace(HELLO, decks=256), "decks is 256"),
        (lambda: replace(HELLO, components=(READER,) * 9), "the number of components is 9"),
        (lambda: replace(HELLO, components=(replace(READER, name=""),)), "the length of a component's name"),
        (
            lambda: replace(HELLO, components=(replace(READER, version="é" * 17),)),
            "a component's version in UTF-8 is 34",
        ),
        (lambda: replace(HELLO, components=(replace(READER, digest="AB" * 32),)), "64 lower-case hex digits"),
        (lambda: replace(HELLO, components=(replace(READER, digest="ab" * 31),)), "64 lower-case hex digits"),
        (
            lambda: replace(HELLO, components=(replace(READER, name="boot\r\n"),)),
            r"a component's name 'boot\r\n' must be printable text",
        ),
        (
            lambda: replace(HELLO, components=(replace(READER, version="1\0"),)),
            r"a component's version '1\x00' must be printable text",
        ),
        (lambda: frames.FaultRecord(1, 1, "jam\x1b[2J"), r"text 'jam\x1b[2J' must be printable text"),
        (lambda: replace(BEAT, log=1 << 32), "log is 4294967296"),
        (lambda: replace(BEAT, log=0), "log is 0"),
        (lambda: replace(BEAT, decks=256), "decks is 256"),
        (lambda: replace(BEAT, first_kept=5), "first_kept is 5: it must be 1 to 4"),
        (lambda: replace(BEAT, next_to_send=6), "next_to_send is 6: it must be 1 to 5"),
        (lambda: replace(BEAT, next_record=0), "next_record is 0"),
        (lambda: replace(BEAT, last_command=-1), "last_command is -1"),
        (lambda: frames.CardRecord(0, Card.AS, 9), "record is 0"),
        (lambda: frames.UnreadRecord(1 << 32), "record is 4294967296"),
        (lambda: frames.CardRecord(1, Card.AS, 101), "confidence is 101: it must be 0 to 100"),
        (lambda: frames.OverdrawnRecord(1, Card.AS, 101), "confidence is 101: it must be 0 to 100"),
        (lambda: frames.OverdrawnRecord(1, None, 1), "confidence is 1: it must be 0 to 0"),
        (lambda: frames.OverdrawnRecord(0, None, 0), "record is 0"),
        (lambda: frames.FaultRecord(0, 1, ""), "record is 0"),
        (lambda: frames.FaultRecord(1, 65536, ""), "code is 65536"),
        (lambda: frames.FaultRecord(1, 1, "x" * 201), "the length of text in UTF-8 is 201"),
        (lambda: frames.AskHello(0), "command is 0"),
        (lambda: frames.Acknowledge(0, LOG, 1), "command is 0"),
        (lambda: frames.Acknowledge(1, LOG, 0), "record is 0"),
        (lambda: frames.Acknowledge(1, 0, 1), "log is 0"),
        (lambda: frames.Resend(1, LOG, 0), "record is 0"),
        (lambda: frames.Resend(1, 1 << 32, 1), "log is 4294967296"),
    ],
)
def test_a_frame_refuses_a_value_that_its_bytes_cannot_hold(make, why):
    with pytest.raises(ValueError) as refused:
        make()

    assert why in str(refused.value)


NUMBERS = pack(">III", LOG, 3, 5)
BEAT_BYTES = pack(">IIIIBBIB", LOG, 3, 4, 5, 0, 0, 0, 8)


@pytest.mark.parametrize(
    ("kind", "sequence", "payload", "why"),
    [
        (frames.Hello, 1, HELLO.payload(), "the sequence number is 1: it must be 0 to 0"),
        (frames.Hello, 0, b"", "the payload ends 1 bytes too soon"),
        (frames.Hello, 0, b"\x05abc", "the payload ends 2 bytes too soon"),
        (frames.Hello, 0, b"\x01\xff" + NUMBERS + b"\x08\x00", "can't decode byte 0xff"),
        (frames.Hello, 0, b"\x01S" + NUMBERS + b"\x08\x01", "the payload ends 1 bytes too soon"),
        (frames.Hello, 0, HELLO.payload() + b"\0", "the payload has 1 bytes too many"),
        (frames.Heartbeat, 1, BEAT_BYTES, "the sequence number is 1: it must be 0 to 0"),
        (frames.Heartbeat, 0, BEAT_BYTES[:-1], "the payload ends 1 bytes too soon"),
        (
            frames.Heartbeat,
            0,
            pack(">IIIIBBIB", LOG, 3, 4, 5, 0x10, 0, 0, 8),
            "flags is 16: it must be 0 to 15",
        ),
        (frames.Heartbeat, 0, pack(">IIIIBBIB", LOG, 3, 4, 5, 0, 0x08, 0, 8), "lamps are 0x08"),
        (frames.CardRecord, 1, b"9S", "the payload ends 1 bytes too soon"),
        (frames.CardRecord, 1, b"1S\x05", "'1S' is not a card"),
        (frames.CardRecord, 1, b"9s\x05", "'9s' is not a card"),
        (frames.CardRecord, 1, b"??\x00", "'??' is not a card"),
        (frames.CardRecord, 1, b"\xff\xfe\x05", "can't decode byte 0xff"),
        (frames.CardRecord, 1, b"9S\x65", "confidence is 101"),
        (frames.UnreadRecord, 1, b"\0", "the payload has 1 bytes too many"),
        (frames.LidRecord, 1, b"\x02", "open is 2: it must be 0 to 1"),
        (frames.LidRecord, 1, b"", "the payload ends 1 bytes too soon"),
        (frames.OverdrawnRecord, 1, b"??\x01", "confidence is 1: it must be 0 to 0"),
        (frames.OverdrawnRecord, 1, b"?S\x01", "'?S' is not a card"),
        (frames.OverdrawnRecord, 1, b"9S", "the payload ends 1 bytes too soon"),
        (frames.FaultRecord, 1, b"\0", "the payload ends 1 bytes too soon"),
        (frames.FaultRecord, 1, b"\0\x05\x02ab\0", "the payload has 1 bytes too many"),
        (frames.FaultRecord, 1, b"\0\x05\xc9" + b"a" * 201, "the length of text in UTF-8 is 201"),
        (frames.Lock, 1, b"\0", "the payload has 1 bytes too many"),
        (frames.Acknowledge, 1, pack(">II", LOG, 1), "the payload ends 1 bytes too soon"),
        (frames.Acknowledge, 1, pack(">IIBB", LOG, 1, 0x02, 0), "locked is 2: it must be 0 to 1"),
        (frames.Acknowledge, 1, pack(">IIBB", LOG, 1, 0, 0x80), "lamps are 0x80"),
        (frames.Resend, 1, b"\0" * 7, "the payload ends 1 bytes too soon"),
        (frames.SetLamps, 1, b"\x40", "lamps are 0x40: a bit without meaning is set"),
        (frames.SetLamps, 1, b"", "the payload ends 1 bytes too soon"),
        (frames.SetLamps, 1, b"\0\0", "the payload has 1 bytes too many"),
    ],
)
def test_bytes_that_are_not_a_frame_of_the_type_are_refused(kind, sequence, payload, why):
    with pytest.raises(ValueError) as refused:
        kind.parse(sequence, payload)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("lamps", "byte"),
    [
        (Lamps(), 0x00),
        (Lamps(player=True), 0x01),
        (Lamps(banker=True), 0x02),
        (Lamps(tie=True), 0x04),
        (Lamps(next="player"), 0x10),
        (Lamps(next="banker"), 0x20),
        (Lamps(next="burn"), 0x30),
        (Lamps(player=True, tie=True, next="burn"), 0x35),
    ],
)
def test_the_lamps_in_a_byte(lamps, byte):
    assert frames.lamps_to_byte(lamps) == byte
    assert frames.lamps_from_byte(byte) == lamps


def test_every_byte_of_lamps_is_the_lamps_it_says_or_refused():
    meant = 0
    for byte in range(256):
        try:
            assert frames.lamps_to_byte(frames.lamps_from_byte(byte)) == byte
            meant += 1
        except ValueError:
            assert byte & 0b1100_1000

    assert meant == 32
