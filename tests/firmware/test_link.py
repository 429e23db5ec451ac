"""The firmware and the project's own host at the two ends of a line, good and bad, with a key and without.

These are the statements of tests/drivers about the model of a shoe, made about the firmware.
"""

import ctypes
import hmac
import re
from dataclasses import replace
from hashlib import sha256
from itertools import count
from zlib import crc32

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers.framing import encode
from punto.drivers.ishoe import frames
from punto.drivers.seal import CHALLENGE, PROOF, HostSeal
from tests.drivers import test_links
from tests.drivers.benches import KEY
from tests.drivers.devices import SHOE, raw
from tests.drivers.page import blocks, bytes_after, examples, page
from tests.drivers.test_box_in_the_cable import (  # noqa: F401 - the same statements
    introduced,
    test_a_box_that_repeats_the_last_heartbeat_and_keeps_the_cards_loses_the_shoe,
    test_a_shoe_is_not_lost_while_the_pc_is_busy,
    test_on_an_honest_line_nothing_is_lost,
)
from tests.drivers.test_links import (  # noqa: F401 - the same statements
    ends,
    key,
    test_a_silent_device_is_lost_once_and_nothing_is_taken_until_it_introduces_itself_again,
    test_after_a_new_connection_power_on_or_host_the_next_thing_arrives,
    test_over_a_bad_line_what_happens_arrives_at_most_once_and_again_when_it_is_mended,
)
from tests.firmware.core import Core, FirmwareEnds, library

FIRMWARE = replace(SHOE, ends=FirmwareEnds)


@pytest.fixture
def device():
    return FIRMWARE


@pytest.fixture
def shoe() -> FirmwareEnds:
    return introduced(FirmwareEnds(KEY))  # type: ignore[return-value]


@pytest.mark.soak
def test_whichever_frames_are_lost_or_come_twice_what_happens_arrives_once(device, key):  # noqa: F811 - the fixture
    test_links.test_whichever_frames_are_lost_or_come_twice_what_happens_arrives_once(device, key)


# --- what is discarded, under the name by which the page counts it

BROKEN = [line.split(None, 1) for line in blocks(SHOE.page, "broken")[0]]
COMMAND = frames.Acknowledge(1, 1, 1)
DISCARDED = {
    "oversize": [b"\0" + b"\x01" * 1030 + b"\0", b"\0" + cobs.encode(bytes(1025)) + b"\0"],
    "bad_framing": [b"\0\x05ab\0", b"\0\xff\0"],
    "bad_crc": [encode(COMMAND)[:-2] + b"\x7f\0"],
    "other_version": [raw(0x84, 1, b"", version=2), raw(0x84, 1, b"", version=3)],
    "unknown_type": [raw(0x10, 1, b"9S\x62"), raw(0x02, 0, b""), raw(0x87, 1, b""), raw(0x80, 1, b"")],
    "malformed": [
        raw(0x84, 0, b""),
        raw(0x81, 1, b"1"),
        raw(0x82, 1, bytes(10)),
        raw(0x82, 1, b"\0\0\0\1\0\0\0\1\2\0"),
        raw(0x82, 1, b"\0\0\0\1\0\0\0\1\0\x40"),
        raw(0x83, 1, b"\0\0\0\1\0\0\0\0"),
        raw(0x83, 1, b"\0\0\0\0\0\0\0\1"),
        raw(0x86, 1, b"\x08"),
        raw(0x84, 1, bytes(1000)),
        raw(0x84, 1, b"\x07" * 1014),
    ],
}  # fmt: skip


@pytest.mark.parametrize("lines", blocks(SHOE.page, "cobs"), ids=lambda lines: lines[0])
def test_cobs_as_in_the_page(lines):
    data, *choices = (bytes_after(line.split()[0], line) for line in lines)
    made = ctypes.create_string_buffer(len(data) + 10)
    length = library().cobs_encode(made, data, len(data))

    assert made.raw[:length] == choices[0]
    for run in choices:
        decoded = ctypes.create_string_buffer(run, len(run))
        length = library().cobs_decode(decoded, len(run))
        assert decoded.raw[:length] == data


def test_the_check_value_of_the_crc_and_the_examples_of_sha_256_and_hmac():
    """RFC 4231 has no key of 32 bytes, so Python's own HMAC is the other side."""
    digest = ctypes.create_string_buffer(32)
    state = ctypes.create_string_buffer(256)
    for length in (*range(130), 1000):
        data = bytes(range(256)) * 4
        library().sha256_begin(state)
        library().sha256_add(state, data, length)
        library().sha256_end(state, digest)
        assert digest.raw == sha256(data[:length]).digest()
        library().hmac_begin(state, KEY)
        library().hmac_add(state, data, length)
        library().hmac_end(state, digest)
        assert digest.raw == hmac.digest(KEY, data[:length], "sha256")

    assert library().crc32(b"123456789", 9) & 0xFFFFFFFF == 0xCBF43926


def heard_by(core: Core, data: bytes) -> list[bytes]:
    core.hear(data)
    answers = core.turn()
    while core.seen.unread:
        answers += core.turn()
    return answers


@pytest.mark.parametrize(
    ("name", "wire"), [(name, wire) for name, wires in DISCARDED.items() for wire in wires]
)
def test_what_is_discarded_is_counted_by_its_name_and_is_no_command(name, wire):
    core = Core()
    heard_by(core, wire)
    seen = vars(core.seen)
    heard_by(core, encode(frames.Unlock(9)))

    assert {each: seen[each] for each in [*DISCARDED, "not_sealed", "repeated"] if seen[each]} == {name: 1}
    assert core.seen.locked == 0  # the next frame is heard


@pytest.mark.parametrize(("name", "wire"), BROKEN)
def test_the_broken_frames_of_the_page_are_discarded(name, wire):
    core = Core()
    heard_by(core, bytes.fromhex(wire))

    # The card among them, had it come whole, would be one of the shoe's own types.
    assert vars(core.seen)[name] == 1


@pytest.mark.parametrize(
    "example", [each for each in examples(SHOE.page) if each.decoded[1] >= 0x80], ids=str
)
def test_the_commands_of_the_page_are_good_however_they_are_cut(example):
    core = Core()
    for byte in example.wire:
        heard_by(core, bytes((byte,)))
    seen = core.seen

    assert (seen.bad_framing, seen.bad_crc, seen.unknown_type, seen.malformed) == (0, 0, 0, 0)
    (beat,) = (each for each in core.turn(250) if each[3] == frames.Heartbeat.TYPE)
    assert cobs.decode(beat.strip(b"\0"))[24:28] == example.decoded[2:6]  # last_command


# --- version 2


def wired(body: bytes) -> bytes:
    return b"\0" + bytes(cobs.encode(body)) + b"\0"


def opened(wire: bytes) -> bytes:
    return cobs.decode(wire.strip(b"\0"))  # type: ignore[no-any-return]


class Sealed:
    """The firmware with a key, and the host's end of its line."""

    def __init__(self) -> None:
        self.core = Core(KEY)
        self.host = HostSeal(KEY)
        self.numbers = count(1)
        self.now = 0.0

    def says(self, data: bytes) -> list[bytes]:
        """The bodies of the frames with which the shoe answers."""
        return [opened(wire)[:-4] for wire in heard_by(self.core, data)]

    def begins(self) -> None:
        self.host.disconnect()
        self.now += 1
        (proof,) = self.says(self.host.handshake(self.now))
        self.host.open(proof, self.now)

    def command(self, kind: type[frames.Command] = frames.Unlock) -> bytes:
        return encode(kind(next(self.numbers)), self.host)


@pytest.fixture
def sealed() -> Sealed:
    sealed = Sealed()
    sealed.begins()
    return sealed


def test_proof_and_keys_of_the_session_are_those_of_the_page():
    (block,) = re.findall(r"```sealed\n(.*?)```", page("sealed-links.md"), re.DOTALL)
    lines = {name: bytes.fromhex(rest) for name, rest in (line.split(None, 1) for line in block.splitlines())}
    core = Core(bytes(range(32)))
    core.draw_next((1000).to_bytes(16))
    core.hear(wired(lines["CHALLENGE"]))
    (proof,) = core.turn()
    core.hear(wired(lines["BEAT"]))
    hello, _ = core.turn()
    body = opened(hello)[:-4]

    assert opened(proof) == lines["PROOF"]
    assert core.seen.not_sealed == 0
    assert body[-24:-16] == b"\0\0\0\1\0\0\0\1"  # its count, and the highest that it has heard
    assert body[-16:] == hmac.digest(lines["device"], body[:-16], "sha256")[:16]


def test_a_shoe_with_a_key_sends_nothing_before_it_has_heard_the_host():
    core = Core(KEY)
    host = HostSeal(KEY)
    silent = [core.turn(100) for _ in range(20)]
    core.hear(host.handshake(1.0))
    (proof,) = core.turn()
    after = [core.turn(100) for _ in range(20)]
    host.open(opened(proof)[:-4], 1.0)
    core.hear(encode(frames.Unlock(1), host))
    hello, beat = (opened(wire) for wire in core.turn())

    assert silent == after == [[]] * 20
    assert opened(proof)[1] == PROOF
    assert (hello[1], beat[1]) == (frames.Hello.TYPE, frames.Heartbeat.TYPE)


def test_an_order_counts_once_and_none_after_a_later_one(sealed):
    first, second = sealed.command(), sealed.command(frames.Lock)
    sealed.says(second)
    sealed.says(first)
    sealed.says(second)

    assert (sealed.core.seen.repeated, sealed.core.seen.locked) == (2, 1)


def test_no_bit_of_an_order_can_be_changed(sealed):
    body = opened(sealed.command())[:-4]
    for place in range(8, len(body) * 8):  # the first byte is the version
        changed = bytearray(body)
        changed[place // 8] ^= 1 << place % 8
        sealed.says(wired(bytes(changed) + crc32(changed).to_bytes(4)))

    assert (sealed.core.seen.not_sealed, sealed.core.seen.locked) == (len(body) * 8 - 8, 1)


def test_an_order_of_an_earlier_session_or_of_the_shoe_itself_is_not_heard(sealed):
    old = sealed.command()
    sealed.begins()
    sealed.says(old)
    (hello, *_) = sealed.says(sealed.command(frames.Lock))
    sealed.says(wired(hello + crc32(hello).to_bytes(4)))

    assert (sealed.core.seen.not_sealed, sealed.core.seen.locked) == (2, 1)


def test_a_beat_is_heard_and_is_not_a_command(sealed):
    sealed.now += 0.2
    beat = sealed.host.handshake(sealed.now)
    kinds = [each[1] for each in sealed.says(beat)]

    assert len(opened(beat)) == 34
    assert kinds == [frames.Hello.TYPE, frames.Heartbeat.TYPE]
    assert sealed.core.seen.unknown_type == 0


def test_frames_without_counts_and_orders_of_version_1_are_not_heard(sealed):
    sealed.says(raw(0x85, 1, b"", version=2))
    sealed.says(encode(frames.Unlock(1)))
    sealed.says(raw(CHALLENGE, 0, bytes(15), version=2))
    sealed.says(raw(CHALLENGE, 1, bytes(16), version=2))

    assert (sealed.core.seen.not_sealed, sealed.core.seen.other_version, sealed.core.seen.locked) == (3, 1, 1)


def test_a_challenge_that_is_repeated_begins_no_other_session(sealed):
    sealed.host.disconnect()
    challenge = sealed.host.handshake(10.0)
    (proof,) = sealed.says(challenge)
    (again,) = sealed.says(challenge)
    sealed.host.open(proof, 10.0)
    sealed.says(sealed.command())

    assert proof == again
    assert (sealed.core.seen.not_sealed, sealed.core.seen.locked) == (0, 0)


def test_another_session_changes_only_the_keys_and_the_counts(sealed):
    sealed.says(sealed.command())
    sealed.says(encode(frames.Resend(7, sealed.core.seen.log, 1), sealed.host))
    before = sealed.core.seen
    sealed.begins()

    assert sealed.core.seen == before
