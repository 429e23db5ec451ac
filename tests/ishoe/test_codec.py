"""The codec under everything that a line can do to bytes."""

import random
import tracemalloc
from dataclasses import asdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.framing import LONGEST, LONGEST_ENCODED, Decoder, encode
from punto.drivers.ishoe import frames
from tests.ishoe.examples import EXAMPLES, FRAMES, raw

NEXT = frames.UnreadRecord(77)  # a frame that must be found after whatever came before
MODEST = settings(max_examples=60, deadline=None)


def decoded(decoder: Decoder[frames.AnyFrame], pieces) -> list[frames.AnyFrame]:
    return [frame for piece in pieces for frame in decoder.feed(piece)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[low:high] for low, high in pairwise(edges)]


@MODEST
@given(st.lists(FRAMES, max_size=8), st.lists(st.integers(0, 5000), max_size=20))
def test_frames_arrive_however_the_stream_is_cut(sent, places):
    stream = b"".join(map(encode, sent))
    decoder = Decoder(frames.TYPES)

    assert decoded(decoder, [stream]) == sent
    assert decoded(decoder, cut(stream, places)) == sent
    assert decoded(decoder, (bytes((byte,)) for byte in stream)) == sent
    assert decoder.counters.frames == 3 * len(sent)
    assert decoder.counters.broken == 0


@MODEST
@given(
    st.lists(st.tuples(st.binary(max_size=1200), FRAMES), max_size=6),
    st.lists(st.integers(0, 9000), max_size=9),
)
def test_noise_between_frames_costs_no_frame(noisy, places):
    stream = b"".join(noise + encode(frame) for noise, frame in noisy)

    assert decoded(Decoder(frames.TYPES), cut(stream, places)) == [frame for _, frame in noisy]


@pytest.mark.parametrize("frame", EXAMPLES, ids=repr)
def test_no_flipped_bit_makes_another_frame(frame):
    wire = encode(frame)
    for bit in range(8 * len(wire)):
        flipped = bytearray(wire)
        flipped[bit // 8] ^= 1 << bit % 8
        decoder = Decoder(frames.TYPES)

        assert decoder.feed(bytes(flipped) + encode(NEXT)) in ([NEXT], [frame, NEXT])


@pytest.mark.parametrize("frame", EXAMPLES, ids=repr)
def test_no_missing_doubled_or_inserted_byte_makes_another_frame(frame):
    wire = encode(frame)
    for place in range(len(wire)):
        lost = wire[:place] + wire[place + 1 :]
        doubled = wire[:place] + wire[place : place + 1] + wire[place:]
        inserted = wire[:place] + b"\x55" + wire[place:]
        half = wire[:place]
        for damaged in (lost, doubled, inserted, half):
            assert Decoder(frames.TYPES).feed(damaged + encode(NEXT)) in ([NEXT], [frame, NEXT])


def test_ten_million_random_bytes_give_nothing_and_leave_nothing():
    noise = random.Random(4711)
    decoder = Decoder(frames.TYPES)
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
def test_damaged_traffic_for_long_gives_only_what_was_sent():
    noise = random.Random(11)
    wires = [encode(frame) for frame in EXAMPLES]
    decoder = Decoder(frames.TYPES)
    for _ in range(300_000):
        damaged = bytearray(b"".join(noise.choices(wires, k=5)))
        for _ in range(noise.randrange(12)):
            damaged[noise.randrange(len(damaged))] = noise.randrange(256)

        assert all(frame in EXAMPLES for frame in decoder.feed(bytes(damaged)))


def test_a_run_without_delimiter_is_thrown_away_once_and_counted_once():
    decoder = Decoder(frames.TYPES)

    assert decoder.feed(b"\x11" * (LONGEST_ENCODED - 1)) == []
    assert decoder.feed(b"\x11") == []
    assert decoder.counters.oversize == 0
    assert decoder.feed(b"\x11") == []
    assert decoder.counters.oversize == 1
    assert decoder.feed(b"\x11" * 1_000_000) == []
    assert len(decoder._run) == 0
    assert decoder.feed(b"\0" + encode(NEXT)) == [NEXT]
    assert asdict(decoder.counters) == asdict(decoder.counters) | {
        "oversize": 1,
        "bad_framing": 0,
        "bad_crc": 0,
    }


def test_a_frame_as_long_as_allowed_is_read_and_one_byte_more_is_not():
    fits = raw(0x7F, 0, b"\x01" * (LONGEST - 10))
    too_long = raw(0x7F, 0, b"\x01" * (LONGEST - 9))
    too_long_between_few_delimiters = raw(0x7F, 0, b"\0" * (LONGEST - 9))
    decoder = Decoder(frames.TYPES)
    decoder.feed(fits)

    assert (decoder.counters.unknown_type, decoder.counters.oversize) == (1, 0)
    decoder.feed(too_long)
    assert (decoder.counters.unknown_type, decoder.counters.oversize) == (1, 1)
    assert len(too_long_between_few_delimiters) <= LONGEST_ENCODED + 2
    decoder.feed(too_long_between_few_delimiters)
    assert (decoder.counters.unknown_type, decoder.counters.oversize) == (1, 2)


def test_delimiters_alone_are_no_frames_and_no_faults():
    decoder = Decoder(frames.TYPES)

    assert decoder.feed(b"\0" * 5000) == []
    assert decoder.counters == type(decoder.counters)()


def test_one_delimiter_between_two_frames_is_enough():
    first, second = encode(EXAMPLES[0]), encode(NEXT)

    assert Decoder(frames.TYPES).feed(first[:-1] + second) == [EXAMPLES[0], NEXT]


@pytest.mark.parametrize(
    ("wire", "counter"),
    [
        (b"\0\x05ab\0", "bad_framing"),
        (raw(0x11, 1, b"")[:-4] + b"\0", "bad_framing"),
        (b"\0\x03\x01\x11\x01\x01\0", "bad_framing"),
        (b"\0\x0b0123456789\0", "bad_crc"),
        (raw(0x10, 1, b"1S\x05"), "malformed"),
        (raw(0x10, 0, b"9S\x05"), "malformed"),
        (raw(0x01, 0, b"\x01\xff"), "malformed"),
        (raw(0x82, 1, b"\0" * 7), "malformed"),
        (raw(0x77, 1, b"whatever comes later"), "unknown_type"),
        (raw(0x10, 1, b"9S\x05", version=2), "other_version"),
        (raw(0x10, 1, b"9S\x05", version=0), "other_version"),
    ],
)
def test_what_is_thrown_away_is_counted_by_its_kind(wire, counter):
    decoder = Decoder(frames.TYPES)

    assert decoder.feed(wire + encode(NEXT)) == [NEXT]
    counted = {
        name: count for name, count in asdict(decoder.counters).items() if count and name != "version_seen"
    }
    assert counted == {counter: 1, "frames": 1}
    assert decoder.counters.broken == (counter not in {"unknown_type", "other_version"})


def test_another_version_is_remembered_for_the_technician():
    decoder = Decoder(frames.TYPES)
    decoder.feed(raw(0x10, 1, b"", version=9))

    assert decoder.counters.version_seen == 9


@MODEST
@given(FRAMES)
def test_the_bytes_of_a_frame_hold_no_delimiter_but_at_its_edges(frame):
    wire = encode(frame)

    assert wire[0] == wire[-1] == 0
    assert 0 not in wire[1:-1]
    assert len(wire) <= LONGEST_ENCODED + 2
