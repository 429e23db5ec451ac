"""The wager sensors' frames on the wire: what goes in comes out, and noise never does."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punto.drivers import framing
from punto.drivers.coin_spot.frames import (
    KEEP,
    MOST_TAKEN,
    POSITIONS,
    Ask,
    FromDevice,
    FromHost,
    Here,
    Orders,
    Report,
    Spot,
)
from punto.drivers.frame import HIGHEST, Frame
from punto.drivers.framing import encode
from punto.drivers.ishoe.frames import FRAMES as SHOE_FRAMES
from punto.drivers.keypad.frames import Answer, Press, Status
from punto.drivers.keypad.frames import Here as KeypadHere

ALL = (Here, Report, Ask, Orders)
NUMBER = st.integers(1, HIGHEST)
FROM_0 = st.integers(0, HIGHEST)
TAKEN = st.integers(0, MOST_TAKEN)


@st.composite
def spots(draw: st.DrawFn, number: int) -> Spot:
    came, went = draw(st.sampled_from([(0, 0), (1, 0), (number, number - 1), (number - 1, number)]))
    return Spot(draw(st.integers(0, 2)), came, went if came else 0)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    number = draw(NUMBER)
    length = draw(st.integers(1, POSITIONS))
    round_ = draw(st.integers(0, KEEP - 1))
    start = draw(st.integers(1 if round_ else 0, number))
    latched = draw(st.frozensets(st.integers(1, length))) if round_ else frozenset[int]()
    where = tuple(draw(spots(number)) for _ in range(length))
    return Report(number, draw(NUMBER), draw(NUMBER), draw(TAKEN), round_, start, latched, where)


FRAMES: st.SearchStrategy[FromDevice | FromHost] = st.one_of(
    st.builds(Here, NUMBER, NUMBER, TAKEN, st.from_regex(r"[!-~]{1,32}", fullmatch=True)),
    reports(),
    st.builds(Ask, NUMBER),
    st.builds(Orders, NUMBER, NUMBER, NUMBER, FROM_0, FROM_0, st.frozensets(st.integers(1, POSITIONS))),
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


HEAD = b"\0\0\0\1" * 3 + b"\0\0\0\5" + b"\0\0\0\1"


@given(st.sampled_from(ALL), FROM_0, st.binary(max_size=60))
@example(Here, 0, b"\0\0\0\1\0\0\0\1\0\0\0\0\xc3\xa9")
@example(Report, 1, HEAD + b"\0\1" + b"\1\0\0\0\1\0\0\0\0")
@example(Report, 1, HEAD + b"\0\2" + b"\1\0\0\0\1\0\0\0\0")
@example(Report, 1, HEAD + b"\0\1" + b"\3\0\0\0\1\0\0\0\0")
@example(Report, 1, HEAD + b"\0\1" + b"\1\0\0\0\1\0\0\0")
@example(Orders, 1, b"\0\0\0\1" * 4 + b"\x80\0")
@example(Orders, 1, b"\0\0\0\1" * 4 + b"\x7f\xff")
def test_a_payload_is_a_frame_that_can_be_sent_again_or_a_value_error(kind, sequence, payload):
    try:
        frame = kind.parse(sequence, payload)
    except ValueError:
        return
    assert (frame.sequence, frame.payload()) == (sequence, payload)


def report(
    number: int = 4,
    round_: int = 7,
    start: int = 3,
    latched: tuple[int, ...] = (1,),
    where: tuple[Spot, ...] = (Spot(1, 2, 0),),
) -> Report:
    return Report(number, 1, 1, 0, round_, start, frozenset(latched), where)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Here(0, 1, 0, "VC-1"),
        lambda: Here(1, 0, 0, "VC-1"),
        lambda: Here(1, 1, -1, "VC-1"),
        lambda: Here(1, 1, 0, ""),
        lambda: Here(1, 1, 0, "VC 1"),
        lambda: Here(1, 1, 0, "x" * 33),
        lambda: Here.parse(1, Here(1, 1, 0, "VC-1").payload()),
        lambda: Ask(0),
        lambda: Ask.parse(1, Ask(1).payload()),
        lambda: Ask.parse(0, Ask(1).payload() + b"\0"),
        lambda: Orders(0, 1, 1, 0, 0, frozenset()),
        lambda: Orders(1, 1, 1, 0, 0, frozenset({16})),
        lambda: Orders.parse(1, Orders(1, 1, 1, 0, 0, frozenset()).payload() + b"\0"),
        lambda: Spot(3),
        lambda: Spot(1, 5, 5),
        lambda: Spot(1, 0, 5),
        lambda: report(start=5),
        lambda: report(start=0),
        lambda: report(round_=KEEP),
        lambda: report(round_=0),
        lambda: report(latched=(2,)),
        lambda: report(where=(Spot(1, 5, 0),)),
        lambda: report(where=()),
        lambda: report(where=(Spot(),) * 16),
        lambda: Report.parse(4, report().payload()[:-1]),
    ],
)
def test_a_value_that_no_frame_has_is_refused_when_it_is_made(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_no_frame_of_the_sensors_is_one_of_another_device():
    others = {each.TYPE for each in (*SHOE_FRAMES, KeypadHere, Press, Status, Answer)}
    assert not {each.TYPE for each in ALL} & others


def test_the_longest_report_is_a_frame():
    longest = report(where=(Spot(1, 2, 0),) * POSITIONS)

    assert decoder().feed(encode(longest)) == [longest]
