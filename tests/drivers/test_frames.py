"""The frames of every device: their bytes say what the frame says, and nothing else can pass as one of them."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.base import KeypadLamps
from punto.drivers.card_reader import frames as card_reader
from punto.drivers.coin_spot import frames as coin_spot
from punto.drivers.coin_spot.frames import KEEP, MOST_TAKEN, POSITIONS, Spot
from punto.drivers.frame import HIGHEST, Frame, parsers
from punto.drivers.framing import LONGEST, Decoder, encode
from punto.drivers.ishoe import frames as shoe
from punto.drivers.keypad import frames as keypad
from tests.drivers.devices import DEVICES, EXAMPLES
from tests.drivers.ishoe.model import READER
from tests.drivers.page import in_words

EXAMPLE_OF = {type(frame): frame for frame in reversed(EXAMPLES)}  # the first of its page
TYPES = parsers(*(kind for device in DEVICES for kind in device.frames))
HERES = (keypad.Here, card_reader.Here, coin_spot.Here)
NEXT = shoe.UnreadRecord(77)  # a frame that must be found after whatever came before

of_every_frame = pytest.mark.parametrize("frame", EXAMPLES, ids=lambda frame: in_words(frame)[:50])
some_frames = st.sampled_from(EXAMPLES)


def decoder() -> Decoder[Frame]:
    return Decoder(TYPES)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[low:high] for low, high in pairwise(edges)]


def test_every_frame_of_every_device_has_a_type_of_its_own():
    """So a device at another device's port is noticed."""
    assert len(TYPES) == sum(len(device.frames) for device in DEVICES)


@given(st.lists(some_frames, max_size=8), st.lists(st.integers(0, 5000), max_size=20))
def test_frames_arrive_however_the_stream_is_cut(sent, places):
    stream = b"".join(map(encode, sent))
    here = decoder()

    for pieces in ([stream], cut(stream, places), [bytes((byte,)) for byte in stream]):
        assert [frame for piece in pieces for frame in here.feed(piece)] == sent
    assert here.counters.frames == 3 * len(sent)
    assert here.counters.broken == 0


@settings(max_examples=60)
@given(st.lists(st.tuples(st.binary(max_size=1200), some_frames), max_size=6), st.lists(st.integers(0, 9000)))
def test_noise_between_frames_costs_no_frame_and_makes_none(noisy, places):
    stream = b"".join(noise + encode(frame) for noise, frame in noisy)
    here = decoder()

    assert [frame for piece in cut(stream, places) for frame in here.feed(piece)] == [
        frame for _, frame in noisy
    ]


@of_every_frame
def test_a_damaged_frame_is_never_another_frame_and_the_next_one_is_found(frame):
    wire = encode(frame)
    places = range(len(wire))
    damaged = [
        *(wire[:at] + bytes((wire[at] ^ 1 << bit,)) + wire[at + 1 :] for at in places for bit in range(8)),
        *(wire[:at] + wire[at + 1 :] for at in places),
        *(wire[: at + 1] + wire[at:] for at in places),
        *(wire[:at] + byte + wire[at:] for at in places for byte in (b"\0", b"\x55", b"\xff")),
        *(wire[:at] for at in places),
    ]  # a bit flipped; a byte lost, doubled or inserted; the rest lost
    for each in damaged:
        assert decoder().feed(each + encode(NEXT)) in ([NEXT], [frame, NEXT])


@of_every_frame
def test_a_changed_payload_is_the_frame_that_it_says_or_is_refused(frame):
    payload, number = frame.payload(), frame.sequence
    places = range(len(payload))
    changed = [
        *(
            payload[:at] + bytes((byte,)) + payload[at + 1 :]
            for at in places
            for byte in {0, 0xFF, *(payload[at] ^ 1 << bit for bit in range(8))}
        ),
        *(payload[:at] for at in places),
        payload + b"\0",
        payload + "é".encode(),
    ]
    assert type(frame).parse(number, payload) == frame
    for other_number, other_payload in [(number, each) for each in changed] + [
        (HIGHEST, payload),
        (0, payload),
    ]:
        try:
            other = type(frame).parse(other_number, other_payload)
        except ValueError:
            continue
        assert (other.sequence, other.payload()) == (other_number, other_payload)


@pytest.mark.parametrize(
    ("frame", "size"),
    [
        (
            shoe.Hello("s" * 32, HIGHEST, 1, HIGHEST, 255, (Component("n" * 32, "v" * 32, "ab" * 32),) * 8),
            841,
        ),
        (shoe.FaultRecord(1, 0xFFFF, "é" * 100), 213),
        (keypad.Here(1, 1, "x" * 32), 50),
        (keypad.Press(1, 1, 0xFFFF, "F" * 24), 40),
        (keypad.Answer(1, 1, "done", 255, "é" * 100), 216),
        (card_reader.Swipe(1, 1, 1, b"1" * 107), 125),
        (card_reader.Answer(1, 1, "accepted", "é" * 100), 215),
        (coin_spot.Report(4, 1, 1, MOST_TAKEN, 7, 3, frozenset({15}), (Spot(1, 2),) * POSITIONS), 167),
        (coin_spot.Orders(1, 1, 1, HIGHEST, KEEP, frozenset(range(1, 16))), 28),
    ],
    ids=lambda each: type(each).__qualname__,
)
def test_the_longest_frames_fit(frame, size):
    assert len(frame.payload()) + 10 == size <= LONGEST
    assert decoder().feed(encode(frame)) == [frame]


# --- values that no frame has


def component(**changed: str) -> tuple[Component, ...]:
    return (replace(READER, **changed),)


BELOW_1 = "is 0: it must be 1 to 4294967295"
ABOVE = "is 4294967296: it must be 1 to 4294967295"
NOT_ASCII = "must be printable ASCII without spaces"
HEX = "64 lower-case hex digits"


@pytest.mark.parametrize(
    ("kind", "changed", "why"),
    [
        (shoe.Hello, {"serial": ""}, "the length of the serial number is 0: it must be 1 to 32"),
        (shoe.Hello, {"serial": "x" * 33}, "the length of the serial number is 33"),
        (shoe.Hello, {"serial": "IS 1"}, NOT_ASCII),
        (shoe.Hello, {"serial": "IS\n"}, NOT_ASCII),
        (shoe.Hello, {"serial": "Ü1"}, NOT_ASCII),
        (shoe.Hello, {"log": 0}, f"log {BELOW_1}"),
        (shoe.Hello, {"log": 1 << 32}, f"log {ABOVE}"),
        (shoe.Hello, {"first_kept": 0}, "first_kept is 0: it must be 1 to 1"),
        (shoe.Hello, {"first_kept": 2}, "first_kept is 2: it must be 1 to 1"),
        (shoe.Hello, {"next_record": 1 << 32}, f"next_record {ABOVE}"),
        (shoe.Hello, {"decks": 256}, "decks is 256: it must be 0 to 255"),
        (shoe.Hello, {"components": component() * 9}, "the number of components is 9: it must be 0 to 8"),
        (shoe.Hello, {"components": component(name="")}, "the length of a component's name in UTF-8 is 0"),
        (shoe.Hello, {"components": component(version="é" * 17)}, "a component's version in UTF-8 is 34"),
        (shoe.Hello, {"components": component(digest="AB" * 32)}, HEX),
        (shoe.Hello, {"components": component(digest="ab" * 31)}, HEX),
        (shoe.Hello, {"components": component(name="boot\r\n")}, r"a component's name 'boot\r\n' must be printable"),
        (shoe.Hello, {"components": component(version="1\0")}, r"a component's version '1\x00' must be printable"),
        (shoe.Heartbeat, {"log": 0}, f"log {BELOW_1}"),
        (shoe.Heartbeat, {"log": 1 << 32}, f"log {ABOVE}"),
        (shoe.Heartbeat, {"decks": 256}, "decks is 256"),
        (shoe.Heartbeat, {"first_kept": 8}, "first_kept is 8: it must be 1 to 7"),
        (shoe.Heartbeat, {"next_to_send": 8}, "next_to_send is 8: it must be 1 to 7"),
        (shoe.Heartbeat, {"next_record": 0}, f"next_record {BELOW_1}"),
        (shoe.Heartbeat, {"last_command": -1}, "last_command is -1: it must be 0 to 4294967295"),
        (shoe.CardRecord, {"record": 0}, "record is 0: it must be 1 to 4294967294"),
        (shoe.CardRecord, {"record": HIGHEST}, "record is 4294967295: it must be 1 to 4294967294"),
        (shoe.CardRecord, {"confidence": 101}, "confidence is 101: it must be 0 to 100"),
        (shoe.OverdrawnRecord, {"record": 0}, "record is 0"),
        (shoe.OverdrawnRecord, {"confidence": 101}, "confidence is 101: it must be 0 to 100"),
        (shoe.OverdrawnRecord, {"card": None, "confidence": 1}, "confidence is 1: it must be 0 to 0"),
        (shoe.FaultRecord, {"record": 0}, "record is 0"),
        (shoe.FaultRecord, {"code": 65536}, "code is 65536: it must be 0 to 65535"),
        (shoe.FaultRecord, {"text": "x" * 201}, "the length of text in UTF-8 is 201: it must be 0 to 200"),
        (shoe.FaultRecord, {"text": "jam\x1b[2J"}, r"text 'jam\x1b[2J' must be printable text"),
        (shoe.AskHello, {"command": 0}, f"command {BELOW_1}"),
        (shoe.Acknowledge, {"command": 0}, f"command {BELOW_1}"),
        (shoe.Acknowledge, {"log": 0}, f"log {BELOW_1}"),
        (shoe.Acknowledge, {"record": 0}, f"record {BELOW_1}"),
        (shoe.Resend, {"log": 1 << 32}, f"log {ABOVE}"),
        (shoe.Resend, {"record": 0}, f"record {BELOW_1}"),
        *((kind, {"serial": ""}, "the length of the serial number is 0") for kind in HERES),
        *((kind, {"serial": "x" * 33}, "the length of the serial number is 33") for kind in HERES),
        *((kind, {"serial": "KP 1"}, NOT_ASCII) for kind in HERES),
        *((kind, {"token": 0}, f"token {BELOW_1}") for kind in HERES),
        (keypad.Here, {"session": 0}, f"session {BELOW_1}"),
        (keypad.Press, {"number": 0}, f"number {BELOW_1}"),
        (keypad.Press, {"session": 0}, f"session {BELOW_1}"),
        (keypad.Press, {"age": 0x10000}, "age is 65536: it must be 0 to 65535"),
        (keypad.Press, {"key": "f1"}, "'f1' is not a key's name: 1 to 24 capitals, digits and _"),
        (keypad.Press, {"key": "F" * 25}, "is not a key's name"),
        (keypad.Switch, {"number": 0}, f"number {BELOW_1}"),
        (keypad.Switch, {"session": 0}, f"session {BELOW_1}"),
        (keypad.Noted, {"number": 0}, f"number {BELOW_1}"),
        (keypad.Noted, {"session": 0}, f"session {BELOW_1}"),
        (keypad.Status, {"token": 0}, f"token {BELOW_1}"),
        (keypad.Answer, {"number": 0}, f"number {BELOW_1}"),
        (keypad.Answer, {"session": 0}, f"session {BELOW_1}"),
        (keypad.Answer, {"seconds": 256}, "seconds is 256: it must be 0 to 255"),
        (keypad.Answer, {"text": "é" * 101}, "the length of text in UTF-8 is 202: it must be 0 to 200"),
        (card_reader.Here, {"session": 0}, f"session {BELOW_1}"),
        (card_reader.Swipe, {"number": 0}, f"number {BELOW_1}"),
        (card_reader.Swipe, {"session": 0}, f"session {BELOW_1}"),
        (card_reader.Swipe, {"token": 0}, f"token {BELOW_1}"),
        (card_reader.Swipe, {"track": b"1" * 108}, "the length of the track is 108: it must be 0 to 107"),
        (card_reader.Status, {"token": 0}, f"token {BELOW_1}"),
        (card_reader.Answer, {"number": 0}, f"number {BELOW_1}"),
        (card_reader.Answer, {"session": 0}, f"session {BELOW_1}"),
        (card_reader.Answer, {"text": "é" * 101}, "the length of text in UTF-8 is 202"),
        (coin_spot.Here, {"boot": 0}, f"boot {BELOW_1}"),
        (coin_spot.Here, {"taken": -1}, "taken is -1: it must be 0 to 2147483647"),
        (coin_spot.Here, {"taken": MOST_TAKEN + 1}, "taken is 2147483648"),
        (coin_spot.Ask, {"token": 0}, f"token {BELOW_1}"),
        (coin_spot.Orders, {"number": 0}, f"number {BELOW_1}"),
        (coin_spot.Orders, {"lights": frozenset({16})}, "a position in lights is 16: it must be 1 to 15"),
        (coin_spot.Report, {"start": 3}, "start is 3: it must be 0 to 2"),
        (coin_spot.Report, {"round": 7}, "start is 0: it must be 1 to 2"),
        (coin_spot.Report, {"round": 7, "start": 3}, "start is 3: it must be 1 to 2"),
        (coin_spot.Report, {"round": KEEP}, "round is 4294967295"),
        (coin_spot.Report, {"latched": frozenset({2})}, "no position can be latched before a round is started"),
        (coin_spot.Report, {"round": 7, "start": 2, "latched": frozenset({4})}, "the last latched position is 4"),
        (coin_spot.Report, {"spots": (Spot(1, 3, 0),)}, "the number of a change is 3: it must be 0 to 2"),
        (coin_spot.Report, {"spots": ()}, "the number of spots is 0: it must be 1 to 15"),
        (coin_spot.Report, {"spots": (Spot(),) * 16}, "the number of spots is 16"),
    ],
)  # fmt: skip
def test_a_frame_with_a_value_out_of_bounds_is_refused(kind, changed, why):
    with pytest.raises(ValueError) as refused:
        replace(EXAMPLE_OF[kind], **changed)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ((3,), "answers is 3: it must be 0 to 2"),
        ((1, 5, 5), "a wager cannot come and go in the same change: 5"),
        ((1, 0, 5), "a wager cannot go from a position if no wager came to this position"),
        ((1, HIGHEST + 1), "came is 4294967296"),
    ],
)
def test_a_position_with_an_impossible_history_is_refused(values, why):
    with pytest.raises(ValueError, match=why):
        Spot(*values)


@pytest.mark.parametrize(
    ("kind", "sequence", "payload", "why"),
    [
        (shoe.Hello, 1, b"", "the sequence number is 1: it must be 0 to 0"),
        (shoe.Hello, 0, b"\x05abc", "the payload ends 2 bytes too soon"),
        (shoe.UnreadRecord, 1, b"\0", "the payload has 1 bytes too many"),
        (shoe.CardRecord, 1, b"1S\x05", "'1S' is not a card"),
        (shoe.LidRecord, 1, b"\x02", "open is 2: it must be 0 to 1"),
        (shoe.SetLamps, 1, b"\x40", "lamps are 0x40: a bit without meaning is set"),
    ],
)
def test_bytes_that_are_not_a_frame_of_the_type_are_refused(kind, sequence, payload, why):
    with pytest.raises(ValueError) as refused:
        kind.parse(sequence, payload)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("lamps", "byte"),
    [
        (Lamps(player=True), 0x01),
        (Lamps(banker=True), 0x02),
        (Lamps(tie=True), 0x04),
        (Lamps(next="player"), 0x10),
        (Lamps(next="banker"), 0x20),
        (Lamps(next="burn"), 0x30),
        (KeypadLamps(ready=True), 0x01),
        (KeypadLamps(card=True), 0x02),
        (KeypadLamps(stopped=True), 0x04),
    ],
)
def test_each_lamp_has_its_bit(lamps, byte):
    frame = shoe.SetLamps(1, lamps) if isinstance(lamps, Lamps) else keypad.Status(1, lamps)

    assert frame.payload()[-1] == byte


def test_a_cards_number_is_not_in_the_words_for_its_frame():
    swipe = card_reader.Swipe(1, 2, 3, b"6000170042")

    assert "6000170042" not in f"{swipe} {swipe!r}"
