"""The decoder under everything that a line can do to bytes: it never raises, keeps little and finds the next whole frame."""

import random
import tracemalloc

import pytest

from punto.drivers.framing import LONGEST, LONGEST_ENCODED, Counters, Decoder, encode
from punto.drivers.ishoe import frames
from tests.drivers.devices import SHOE, raw

NEXT = frames.UnreadRecord(77)  # a frame that must be found after whatever came before


@pytest.fixture
def decoder() -> Decoder[frames.AnyFrame]:
    return Decoder(frames.TYPES)


def test_ten_million_random_bytes_give_nothing_and_leave_nothing(decoder):
    noise = random.Random(4711)
    decoder.feed(noise.randbytes(100_000))
    tracemalloc.start()
    for _ in range(2_500):
        assert decoder.feed(noise.randbytes(4_000)) == []
        assert len(decoder._run) <= LONGEST_ENCODED
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 10_000
    assert decoder.feed(encode(NEXT)) == [NEXT]
    assert decoder.counters.broken > 30_000


@pytest.mark.soak
def test_damaged_traffic_for_long_gives_only_what_was_sent(decoder):
    noise = random.Random(11)
    wires = [encode(frame) for frame in SHOE.examples]
    for _ in range(300_000):
        damaged = bytearray(b"".join(noise.choices(wires, k=5)))
        for _ in range(noise.randrange(12)):
            damaged[noise.randrange(len(damaged))] = noise.randrange(256)

        assert all(frame in SHOE.examples for frame in decoder.feed(bytes(damaged)))


def test_bytes_without_a_delimiter_are_discarded_once_and_counted_once(decoder):
    assert decoder.feed(b"\x11" * LONGEST_ENCODED) == []
    assert decoder.counters.oversize == 0
    assert decoder.feed(b"\x11") == []
    assert decoder.counters.oversize == 1
    assert decoder.feed(b"\x11" * 1_000_000) == []
    assert len(decoder._run) == 0
    assert decoder.feed(b"\0" + encode(NEXT)) == [NEXT]
    assert decoder.counters == Counters(oversize=1, frames=1)


def test_a_frame_as_long_as_allowed_is_read_and_one_byte_more_is_not(decoder):
    decoder.feed(raw(0x7F, 0, b"\x01" * (LONGEST - 10)))
    assert decoder.counters == Counters(unknown_type=1)

    decoder.feed(raw(0x7F, 0, b"\x01" * (LONGEST - 9)))
    assert decoder.counters == Counters(unknown_type=1, oversize=1)

    between_few_delimiters = raw(0x7F, 0, b"\0" * (LONGEST - 9))
    assert len(between_few_delimiters) <= LONGEST_ENCODED + 2
    decoder.feed(between_few_delimiters)
    assert decoder.counters == Counters(unknown_type=1, oversize=2)


def test_delimiters_alone_are_neither_frames_nor_faults(decoder):
    assert decoder.feed(b"\0" * 5000) == []
    assert decoder.counters == Counters()


def test_one_delimiter_between_two_frames_is_enough(decoder):
    first = frames.AskHello(1)

    assert decoder.feed(encode(first)[:-1] + encode(NEXT)) == [first, NEXT]


@pytest.mark.parametrize(
    ("wire", "counted"),
    [
        (b"\0\x05ab\0", {"bad_framing": 1}),
        (raw(0x11, 1, b"")[:-4] + b"\0", {"bad_framing": 1}),
        (b"\0\x03\x01\x11\x01\x01\0", {"bad_framing": 1}),
        (b"\0\x0b0123456789\0", {"bad_crc": 1}),
        (raw(0x10, 1, b"1S\x05"), {"malformed": 1}),
        (raw(0x10, 0, b"9S\x05"), {"malformed": 1}),
        (raw(0x01, 0, b"\x01\xff"), {"malformed": 1}),
        (raw(0x82, 1, b"\0" * 7), {"malformed": 1}),
        (raw(0x77, 1, b"of another device"), {"unknown_type": 1}),
        (raw(0x10, 1, b"9S\x05", version=2), {"other_version": 1, "version_seen": 2}),
        (raw(0x10, 1, b"9S\x05", version=0), {"other_version": 1}),
    ],
)
def test_what_is_discarded_is_counted_by_its_kind(decoder, wire, counted):
    assert decoder.feed(wire + encode(NEXT)) == [NEXT]
    assert decoder.counters == Counters(**counted, frames=1)
    assert decoder.counters.broken == (counted.keys().isdisjoint({"unknown_type", "other_version"}))
