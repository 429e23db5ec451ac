"""The card reader's frames on the wire: what goes in comes out, and noise never does."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from punto.drivers import framing
from punto.drivers.card_reader.frames import (
    RESULTS,
    TEXT_BYTES,
    TRACK_BYTES,
    Answer,
    FromHost,
    FromReader,
    Here,
    Status,
    Swipe,
)
from punto.drivers.coin_spot import frames as coin_spot
from punto.drivers.frame import HIGHEST, Frame
from punto.drivers.framing import encode
from punto.drivers.ishoe.frames import FRAMES as SHOE_FRAMES
from punto.drivers.keypad import frames as keypad

ALL = (Here, Swipe, Status, Answer)
OF_OTHERS = {
    *(each.TYPE for each in SHOE_FRAMES),
    *(each.TYPE for each in (keypad.Here, keypad.Press, keypad.Status, keypad.Answer)),
    *(each.TYPE for each in (coin_spot.Here, coin_spot.Report, coin_spot.Ask, coin_spot.Orders)),
}
NUMBER = st.integers(1, HIGHEST)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=TEXT_BYTES // 4)
FRAMES: st.SearchStrategy[FromReader | FromHost] = st.one_of(
    st.builds(Here, NUMBER, NUMBER, st.from_regex(r"[!-~]{1,32}", fullmatch=True)),
    st.builds(Swipe, NUMBER, NUMBER, NUMBER, st.binary(max_size=TRACK_BYTES)),
    st.builds(Status, NUMBER, st.booleans()),
    st.builds(Answer, NUMBER, NUMBER, st.sampled_from(RESULTS), TEXT),
)


def decoder() -> framing.Decoder[Frame]:
    return framing.Decoder[Frame]({each.TYPE: each.parse for each in ALL})


@settings(deadline=None)
@given(st.lists(FRAMES, max_size=5), st.integers(1, 40))
def test_what_is_sent_arrives_however_the_line_cuts_it(sent, piece):
    wire = b"".join(encode(each) for each in sent)
    here = decoder()

    arrived = [frame for at in range(0, len(wire), piece) for frame in here.feed(wire[at : at + piece])]

    assert arrived == sent
    assert here.counters.broken == 0


@settings(deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=20))
def test_noise_is_no_frame_and_no_error(noise):
    here = decoder()

    assert [frame for piece in noise for frame in here.feed(piece)] == []


@settings(deadline=None)
@given(FRAMES, st.data())
def test_a_frame_with_a_bit_changed_is_none(frame, data):
    wire = bytearray(encode(frame))
    bit = data.draw(st.integers(0, len(wire) * 8 - 1))
    wire[bit // 8] ^= 1 << bit % 8

    assert all(each == frame for each in decoder().feed(bytes(wire)))


@settings(deadline=None)
@given(st.sampled_from(ALL), st.integers(0, HIGHEST), st.binary(max_size=130))
@example(Swipe, 1, b"\0\0\0\1\0\0\0\1")
@example(Swipe, 1, b"\0\0\0\1\0\0\0\1\xff")
@example(Swipe, 1, b"\0\0\0\1\0\0\0")
@example(Here, 0, b"\0\0\0\1\0\0\0\1\xc3\xa9")
@example(Status, 0, b"\0\0\0\1\2")
@example(Answer, 1, b"\0\0\0\1\0")
@example(Answer, 1, b"\0\0\0\1\4")
@example(Answer, 1, b"\0\0\0\1\1\xff")
def test_a_payload_is_a_frame_that_can_be_sent_again_or_a_value_error(kind, sequence, payload):
    try:
        frame = kind.parse(sequence, payload)
    except ValueError:
        return
    assert (frame.sequence, frame.payload()) == (sequence, payload)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Here(0, 1, "CR-1"),
        lambda: Here(1, 0, "CR-1"),
        lambda: Here(1, 1, ""),
        lambda: Here(1, 1, "CR 1"),
        lambda: Here(1, 1, "x" * 33),
        lambda: Here.parse(1, Here(1, 1, "CR-1").payload()),
        lambda: Swipe(0, 1, 1, b""),
        lambda: Swipe(1, 0, 1, b""),
        lambda: Swipe(1, 1, 0, b""),
        lambda: Swipe(1, 1, 1, b"1" * 108),
        lambda: Status(0, awaited=False),
        lambda: Status.parse(0, Status(1, awaited=False).payload() + b"\0"),
        lambda: Status.parse(1, Status(1, awaited=False).payload()),
        lambda: Answer(0, 1, "accepted", ""),
        lambda: Answer(1, 0, "accepted", ""),
        lambda: Answer(1, 1, "accepted", "é" * 101),
    ],
)
def test_a_value_that_no_frame_has_is_refused_when_it_is_made(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_a_cards_number_is_not_in_the_words_for_its_frame():
    swipe = Swipe(1, 2, 3, b"6000170042")

    assert "6000170042" not in f"{swipe} {swipe!r}"


def test_no_frame_of_a_card_reader_is_one_of_another_device():
    assert not {each.TYPE for each in ALL} & OF_OTHERS
