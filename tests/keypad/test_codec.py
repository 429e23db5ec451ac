"""The keypad's frames on the wire: what goes in comes out, and noise never does."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punto.drivers import framing
from punto.drivers.base import KeypadLamps
from punto.drivers.frame import Frame
from punto.drivers.framing import encode
from punto.drivers.ishoe.frames import FRAMES as SHOE_FRAMES
from punto.drivers.keypad.frames import (
    POSITIONS,
    TEXT_BYTES,
    Answer,
    FromHost,
    FromKeypad,
    Here,
    Noted,
    Press,
    Status,
    Switch,
)
from punto.drivers.keypad.keys import LONGEST_KEY

ALL = (Here, Press, Switch, Status, Answer, Noted)
NUMBER = st.integers(1, 0xFFFF_FFFF)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=TEXT_BYTES // 4)
FRAMES: st.SearchStrategy[FromKeypad | FromHost] = st.one_of(
    st.builds(Here, NUMBER, NUMBER, st.from_regex(r"[!-~]{1,32}", fullmatch=True)),
    st.builds(
        Press,
        NUMBER,
        NUMBER,
        st.integers(0, 0xFFFF),
        st.from_regex(rf"[A-Z0-9_]{{1,{LONGEST_KEY}}}", fullmatch=True),
    ),
    st.builds(Switch, NUMBER, NUMBER, st.sampled_from(POSITIONS)),
    st.builds(Noted, NUMBER, NUMBER),
    st.builds(Status, NUMBER, st.builds(KeypadLamps, st.booleans(), st.booleans(), st.booleans())),
    st.builds(
        Answer, NUMBER, NUMBER, st.sampled_from(["done", "more", "refused"]), st.integers(0, 255), TEXT
    ),
)


def decoder() -> framing.Decoder[Frame]:
    return framing.Decoder[Frame]({each.TYPE: each.parse for each in ALL})


@given(st.lists(FRAMES, max_size=5), st.integers(1, 40))
def test_what_is_sent_arrives_however_the_line_cuts_it(sent, piece):
    wire = b"".join(encode(each) for each in sent)
    here = decoder()

    arrived = [frame for at in range(0, len(wire), piece) for frame in here.feed(wire[at : at + piece])]

    assert arrived == sent
    assert here.counters.broken == 0


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_noise_is_no_frame_and_no_error(noise):
    here = decoder()

    assert [frame for piece in noise for frame in here.feed(piece)] == []


@given(FRAMES, st.data())
def test_a_frame_with_a_bit_changed_is_none(frame, data):
    wire = bytearray(encode(frame))
    bit = data.draw(st.integers(0, len(wire) * 8 - 1))
    wire[bit // 8] ^= 1 << bit % 8

    assert all(each == frame for each in decoder().feed(bytes(wire)))


@given(st.sampled_from(ALL), st.integers(0, 0xFFFF_FFFF), st.binary(max_size=60))
@example(Press, 1, b"\0\0\0\1\0\0")
@example(Press, 1, b"\0\0\0\1\0\0\xff")
@example(Here, 0, b"\0\0\0\1\0\0\0\1\xc3\xa9")
@example(Status, 0, b"\0\0\0\1\x08")
@example(Answer, 1, b"\0\0\0\1\0\0")
@example(Switch, 1, b"\0\0\0\1\3")
@example(Switch, 1, b"\0\0\0\1\0")
@example(Noted, 1, b"\0\0\0\1\0")
def test_a_payload_is_a_frame_that_can_be_sent_again_or_a_value_error(kind, sequence, payload):
    try:
        frame = kind.parse(sequence, payload)
    except ValueError:
        return
    assert (frame.sequence, frame.payload()) == (sequence, payload)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Here(0, 1, "KP-1"),
        lambda: Here(1, 0, "KP-1"),
        lambda: Here(1, 1, ""),
        lambda: Here(1, 1, "KP 1"),
        lambda: Here(1, 1, "x" * 33),
        lambda: Press(0, 1, 0, "F1"),
        lambda: Press(1, 1, 0x10000, "F1"),
        lambda: Press(1, 1, 0, "f1"),
        lambda: Press(1, 1, 0, "F" * 25),
        lambda: Switch(0, 1, "run"),
        lambda: Switch(1, 0, "run"),
        lambda: Noted(0, 1),
        lambda: Noted(1, 0),
        lambda: Status(0, KeypadLamps()),
        lambda: Answer(1, 1, "done", 256, ""),
        lambda: Answer(1, 1, "done", 0, "é" * 101),
        lambda: Here.parse(1, Here(1, 1, "KP-1").payload()),
        lambda: Status.parse(0, Status(1, KeypadLamps()).payload() + b"\0"),
        lambda: Press.parse(1, b"\0"),
    ],
)
def test_a_value_that_no_frame_has_is_refused_when_it_is_made(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_no_frame_of_a_keypad_is_one_of_a_shoe():
    assert not {each.TYPE for each in ALL} & {each.TYPE for each in SHOE_FRAMES}
