"""Version 2 of every link: only a device with the enrolled key is heard, and only in the session that it has proven."""

import asyncio
import hmac
import re
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from cobs import cobs  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers.base import KeypadLamps
from punto.drivers.frame import Frame, parsers
from punto.drivers.framing import UNSEALED, Counters, Decoder, encode, on_the_wire
from punto.drivers.keypad.frames import Here, Press, Status
from punto.drivers.seal import (
    BEAT_SECONDS,
    CHALLENGE,
    FRESH_SECONDS,
    KEY_BYTES,
    NONCE_BYTES,
    DeviceSeal,
    HostSeal,
    tag,
)
from tests.drivers.benches import KEY, Bench, until
from tests.drivers.devices import BENCHES

OTHER_KEY = bytes(reversed(KEY))
PRESS = Press(1, 7, 0, "F2")


def nonces(first: int):
    numbers = count(first)
    return lambda: next(numbers).to_bytes(NONCE_BYTES)


@dataclass
class Ends:
    """A host's and a keypad's end of a sealed line, without the line."""

    host_key: bytes = KEY
    device_key: bytes = KEY
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        self.host = HostSeal(self.host_key, nonce=nonces(1))
        self.device = DeviceSeal(self.device_key, nonce=nonces(1000))
        self.at_host = Decoder(parsers(Here, Press), self.counters, self.host)
        self.at_device = Decoder(parsers(Status), seal=self.device)

    def shake_hands(self, now: float = 0.0) -> bytes:
        """The host's challenge reaches the device, the proof the host, and a beat the device; the proof's bytes."""
        self.at_device.feed(self.host.handshake(now))
        proof = self.device.handshake(now)
        self.at_host.feed(proof, now)
        self.beat(now)
        return proof

    def beat(self, now: float) -> None:
        """What the host sends in the session reaches the device; a challenge, if it hears nothing, does not."""
        for each in self.host.handshake(now).split(b"\0"):
            if each and cobs.decode(each)[1] != CHALLENGE:
                self.at_device.feed(b"\0" + each + b"\0")

    def says(self, frame: Frame = PRESS) -> bytes:
        """A frame of the device, on the wire."""
        return encode(frame, self.device)

    def hears(self, data: bytes, now: float) -> list[Frame]:
        """What the host takes of these bytes."""
        return list(self.at_host.feed(data, now))


def is_challenged(wire: bytes) -> bool:
    return any(cobs.decode(each)[1] == CHALLENGE for each in wire.split(b"\0") if each)


def test_after_the_handshake_both_ends_hear_each_other():
    ends = Ends()
    ends.shake_hands()

    assert ends.at_host.feed(encode(PRESS, ends.device)) == [PRESS]
    status = Status(1, KeypadLamps(ready=True))
    assert ends.at_device.feed(encode(status, ends.host)) == [status]


def test_before_the_handshake_nothing_is_sent():
    ends = Ends()

    assert (encode(PRESS, ends.device), encode(Status(1, KeypadLamps()), ends.host)) == (b"", b"")


@pytest.mark.parametrize("key", [OTHER_KEY, bytes(KEY_BYTES)])
def test_a_device_with_another_key_is_not_heard(key, monkeypatch):
    ends = Ends(device_key=key)
    ends.shake_hands()
    assert ends.says() == b""
    monkeypatch.setattr(DeviceSeal, "ready", True)  # it speaks although it has heard nothing

    assert ends.hears(ends.says(), 0.0) == []
    assert ends.counters.not_sealed == 2  # its proof and its press


def test_a_device_without_a_key_is_not_heard():
    ends = Ends()
    ends.shake_hands()

    assert ends.at_host.feed(encode(PRESS, UNSEALED)) == []
    assert (ends.counters.other_version, ends.counters.version_seen) == (1, 1)


def test_a_frame_of_an_earlier_session_is_not_heard():
    ends = Ends()
    ends.shake_hands()
    recorded = encode(PRESS, ends.device)
    ends.host.disconnect()
    ends.shake_hands(1.0)

    assert ends.at_host.feed(recorded) == []
    assert ends.at_host.feed(encode(PRESS, ends.device)) == [PRESS]


def test_a_proof_that_was_recorded_proves_nothing_later():
    ends = Ends()
    proof = ends.shake_hands()
    recorded = encode(PRESS, ends.device)
    ends.host.disconnect()
    ends.host.handshake(1.0)

    assert ends.at_host.feed(proof + recorded) == []


def test_a_proof_counts_once():
    ends = Ends()
    proof = ends.shake_hands()
    ends.at_host.feed(proof)

    assert ends.counters.not_sealed == 1


def test_no_bit_of_a_frame_can_be_changed():
    ends = Ends()
    ends.shake_hands()
    body = b"\2" + bytes((Press.TYPE,)) + (1).to_bytes(4) + PRESS.payload()
    sealed = ends.device.close(body)
    assert sealed is not None
    assert ends.host.open(sealed, 0.0) == body

    for place in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(ValueError, match="not sealed"):
            ends.host.open(bytes(changed), 0.0)


def test_what_the_host_said_is_not_what_the_device_says():
    ends = Ends()
    ends.shake_hands()

    assert ends.hears(encode(Status(1, KeypadLamps()), ends.host), 0.0) == []
    assert ends.counters.not_sealed == 1


def test_a_frame_that_is_returned_to_the_device_is_not_a_word_of_the_host():
    ends = Ends()
    ends.shake_hands()
    for _ in range(100):  # the device would then echo a count that the host reaches in ten seconds
        assert ends.at_device.feed(ends.says()) == []

    ends.beat(1.0)

    assert ends.hears(ends.says(), 1.0) == [PRESS]


# --- frames that come twice


def test_a_frame_counts_once_and_none_after_a_later_one():
    ends = Ends()
    ends.shake_hands()
    first, second = ends.says(), ends.says(Press(2, 7, 0, "F3"))

    assert ends.hears(second + first + second, 0.0) == [Press(2, 7, 0, "F3")]
    assert (ends.counters.repeated, ends.counters.frames) == (2, 1)


def test_an_order_of_the_host_counts_once_at_the_device():
    ends = Ends()
    ends.shake_hands()
    ready = Status(1, KeypadLamps(ready=True))
    order = encode(ready, ends.host)

    assert ends.at_device.feed(order + order) == [ready]
    assert ends.at_device.counters.repeated == 1


def test_a_session_that_is_replayed_from_its_beginning_says_nothing():
    ends = Ends()
    proof = ends.shake_hands()
    said = [ends.says(Press(number, 7, 0, "F2")) for number in range(1, 6)]
    for each in said:
        ends.hears(each, 0.0)

    assert ends.hears(proof + b"".join(said), 0.1) == []
    assert (ends.counters.not_sealed, ends.counters.repeated) == (1, 5)


def test_a_frame_that_is_missing_is_noticed():
    ends = Ends()
    ends.shake_hands()
    ends.hears(ends.says(), 0.0)
    missing = [ends.host.missing]
    ends.says()
    for _ in range(2):
        ends.hears(ends.says(), 0.0)
        missing.append(ends.host.missing)

    assert missing == [False, True, False]


def test_the_first_frame_of_a_session_can_be_missing_too():
    ends = Ends()
    ends.shake_hands()
    ends.says()

    ends.hears(ends.says(), 0.0)

    assert ends.host.missing


# --- frames that are held back


@pytest.mark.parametrize(("held", "heard"), [(0.0, True), (FRESH_SECONDS, True), (1.0, False), (20.0, False)])
def test_a_frame_that_was_held_back_is_not_heard(held, heard):
    ends = Ends()
    ends.shake_hands()
    kept = ends.says()
    for tick in range(1, round(held * 10) + 1):
        ends.beat(tick / 10)

    assert ends.hears(kept, held) == ([PRESS] if heard else [])
    assert ends.counters.delayed == (not heard)
    assert ends.hears(ends.says(), held) == [PRESS]  # what is made now is heard


@pytest.mark.parametrize(("held", "heard"), [(0.9, True), (0.95, False)])
def test_a_frame_becomes_too_old_also_while_the_host_sends_nothing(held, heard):
    ends = Ends()
    ends.shake_hands()
    kept = ends.says()
    ends.beat(0.1)

    assert ends.hears(kept, held) == ([PRESS] if heard else [])


def test_a_device_to_which_the_hosts_frames_do_not_come_is_not_heard_for_long():
    ends = Ends()
    ends.shake_hands()
    heard = []
    for tick in range(1, 20):
        ends.host.handshake(tick / 10)  # held back
        heard.append(bool(ends.hears(ends.says(), tick / 10)))

    assert heard == [True] * 9 + [False] * 10


def test_what_waits_in_the_port_of_a_host_that_does_not_read_is_not_held_back():
    ends = Ends()
    ends.shake_hands()
    kept = ends.says()

    ends.beat(5.0)

    assert ends.hears(kept, 5.0) == [PRESS]


def test_a_device_sends_nothing_in_a_session_before_it_has_heard_the_host():
    ends = Ends()
    ends.at_device.feed(ends.host.handshake(0.0))
    ends.at_host.feed(ends.device.handshake(0.0))
    assert ends.says() == b""

    ends.beat(0.0)

    assert ends.hears(ends.says(), 0.0) == [PRESS]


@pytest.mark.parametrize("echo", [0, 2, 2**32 - 1])
def test_a_device_that_echoes_what_the_host_did_not_say_is_not_heard(echo):
    ends = Ends()
    ends.shake_hands()
    ends.device._heard = echo
    body = b"\2" + bytes((Press.TYPE,)) + (1).to_bytes(4) + PRESS.payload() + b"\0\0\0\1" + echo.to_bytes(4)
    assert ends.device._own_key is not None

    assert ends.hears(on_the_wire(body + tag(ends.device._own_key, body)), 0.0) == []
    assert ends.counters.delayed == 1


def test_the_host_remembers_only_what_it_sent_lately():
    ends = Ends()
    ends.shake_hands()
    for tick in range(1, 1000):
        ends.beat(tick / 10)

    assert len(ends.host._written) <= 10


@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 40), max_size=3)), min_size=1, max_size=60))
def test_whatever_a_box_in_the_cable_does_each_frame_counts_once_and_while_it_is_new(steps):
    ends = Ends()
    ends.shake_hands()
    made: list[tuple[float, bytes]] = []
    taken: list[int] = []
    for tick, (delivered, chosen) in enumerate(steps, start=1):
        now = tick / 10
        sent = ends.host.handshake(now)
        if delivered:
            ends.at_device.feed(sent)
        made.append((now, ends.says(Press(tick, 7, 0, "F2"))))
        for back in chosen:
            if back < len(made):
                at, wire = made[-1 - back]
                for press in ends.hears(wire, now):
                    assert isinstance(press, Press)
                    assert now - at <= FRESH_SECONDS + 2 * BEAT_SECONDS
                    taken.append(press.number)

    assert taken == sorted(set(taken))


# --- a host that hears nothing


def test_a_device_that_lost_its_power_is_challenged_again():
    ends = Ends()
    ends.shake_hands()
    ends.hears(ends.says(), 0.1)
    assert is_challenged(ends.host.handshake(0.1)) is False  # it is heard
    assert is_challenged(ends.host.handshake(0.2)) is False
    ends.device.disconnect()
    ends.device = DeviceSeal(KEY, nonce=nonces(2000))
    ends.at_device = Decoder(parsers(Status), seal=ends.device)

    ends.shake_hands(0.7)

    assert ends.at_host.feed(encode(PRESS, ends.device)) == [PRESS]


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_has_32_bytes(size):
    with pytest.raises(ValueError, match=f"a device's key must have 32 bytes, not {size}"):
        HostSeal(bytes(size))


# --- on a real line


@pytest.fixture(params=BENCHES, ids=lambda kind: kind.device)
def kind(request) -> type[Bench]:
    return type("Sealed", (request.param,), {"enrolled": KEY})


@pytest.mark.punctual
async def test_a_device_is_not_lost_while_its_user_is_slow(kind, tmp_path):
    at = kind(tmp_path)
    async with at.running():
        at.user.busy = asyncio.Event()
        waiting = at.do(0)
        await asyncio.sleep(1.2)  # longer than a silence, and than a frame is new
        at.user.busy.set()
        assert await waiting
        await asyncio.sleep(0.3)

        assert at.counters["silences"] == 0


async def test_an_impostor_is_not_heard_and_the_health_says_why(kind, tmp_path):
    at = kind(tmp_path)
    impostor = type("Impostor", (kind,), {"enrolled": OTHER_KEY})(tmp_path)
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(at.driver.run(at.user)), tasks.create_task(impostor.far.run())]
        await until(lambda: at.driver.health().unproven)
        for each in running:
            each.cancel()

    assert "does not have the key of its key_file" in at.reason
    assert not at.driver.health().connected


async def test_a_device_of_version_1_is_not_heard_where_a_key_is_enrolled(kind, tmp_path):
    at = kind(tmp_path)
    without = type("Unsealed", (kind,), {"enrolled": None})(tmp_path)
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(at.driver.run(at.user)), tasks.create_task(without.far.run())]
        if at.device == "shoe":  # the others speak only when spoken to, and do not understand the challenge
            await until(lambda: "uses version 1 of the link, but this host uses version 2" in at.reason)
        else:
            await until(lambda: "sends nothing" in at.reason)
        for each in running:
            each.cancel()

    assert not at.user.got


# --- the page


def test_the_pages_example_is_what_both_ends_send():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "sealed-links.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sealed\n(.*?)```", page, re.DOTALL)
    printed = {
        name: bytes.fromhex(content)
        for name, content in (line.split(maxsplit=1) for line in block.splitlines())
    }
    host, device = HostSeal(KEY, nonce=nonces(1)), DeviceSeal(KEY, nonce=nonces(1000))
    at_host, at_device = Decoder(parsers(Here), seal=host), Decoder(parsers(Status), seal=device)

    challenge = host.handshake(0.0)
    at_device.feed(challenge)
    proof = device.handshake(0.0)
    at_host.feed(proof)
    beat = host.handshake(0.0)
    at_device.feed(beat)
    here = encode(Here(1, 7, "KP-1"), device)
    nonces_of_both = bytes(15) + b"\1" + (1000).to_bytes(16)
    keys = {
        name: hmac.digest(KEY, b"punto link 2 " + name.encode() + nonces_of_both, "sha256")
        for name in ("host", "device")
    }

    assert at_host.feed(here) == [Here(1, 7, "KP-1")]
    sent = {"CHALLENGE": challenge, "PROOF": proof, "BEAT": beat, "HERE": here}
    assert printed == {name: cobs.decode(wire.strip(b"\0")) for name, wire in sent.items()} | keys


def test_a_challenge_of_another_length_is_not_answered():
    device = DeviceSeal(KEY, nonce=nonces(1000))

    challenge = HostSeal(KEY, nonce=lambda: b"short").handshake(0.0)
    Decoder(parsers(Status), seal=device).feed(challenge)

    assert device.handshake(0.0) == b""
