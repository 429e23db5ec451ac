"""Version 2 of every link: only a device with the enrolled key is heard, and only in the session that it has proven."""

import asyncio
import hmac
import re
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers.base import KeypadLamps
from punto.drivers.frame import parsers
from punto.drivers.framing import UNSEALED, Counters, Decoder, encode
from punto.drivers.keypad.frames import Here, Press, Status
from punto.drivers.seal import KEY_BYTES, NONCE_BYTES, DeviceSeal, HostSeal
from tests.drivers.benches import BENCHES, KEY, Bench, until

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
        """The host's challenge reaches the device, and the proof the host; the proof's bytes."""
        self.at_device.feed(self.host.handshake(now))
        proof = self.device.handshake(now)
        self.at_host.feed(proof)
        return proof


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
def test_a_device_with_another_key_is_not_heard(key):
    ends = Ends(device_key=key)
    ends.shake_hands()

    assert ends.at_host.feed(encode(PRESS, ends.device)) == []
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
    assert ends.host.open(sealed) == body

    for place in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(ValueError, match="not sealed"):
            ends.host.open(bytes(changed))


def test_what_the_host_said_is_not_what_the_device_says():
    ends = Ends()
    ends.shake_hands()

    assert ends.at_host.feed(encode(Status(1, KeypadLamps()), ends.host)) == []
    assert ends.counters.unknown_type == 1


def test_a_device_that_lost_its_power_is_challenged_again():
    ends = Ends()
    ends.shake_hands()
    ends.at_host.feed(encode(PRESS, ends.device))
    assert ends.host.handshake(0.1) == b""  # it is heard
    assert ends.host.handshake(0.2) == b""
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


async def test_each_device_works_over_a_sealed_line(kind, tmp_path):
    at = kind(tmp_path)
    async with at.running():
        for number in range(3):
            assert await at.does(number)
        at.far.unplug()
        await at.lost()
        at.far.plug()
        await at.connected()
        assert await at.does(3)
        at.far.lose_power()
        await until(lambda: at.driver.health().connected)
        await asyncio.sleep(
            1
        )  # a device without its session is challenged after 500 ms, or lost after 800 ms
        await at.connected()
        assert await at.does(4)

    assert list(dict.fromkeys(at.user.got)) == list(
        at.things[:5]
    )  # sensors report again after a loss of power


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
    page = (Path(__file__).parents[2] / "docs" / "reference" / "link-2.md").read_text(encoding="utf-8")
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
    here = encode(Here(1, 7, "KP-1"), device)
    session = hmac.digest(KEY, b"punto link 2 session" + bytes(15) + b"\1" + (1000).to_bytes(16), "sha256")

    assert at_host.feed(here) == [Here(1, 7, "KP-1")]
    sent = {"CHALLENGE": challenge, "PROOF": proof, "HERE": here}
    assert printed == {name: cobs.decode(wire.strip(b"\0")) for name, wire in sent.items()} | {
        "session": session
    }


def test_a_challenge_of_another_length_is_not_answered():
    device = DeviceSeal(KEY, nonce=nonces(1000))

    challenge = HostSeal(KEY, nonce=lambda: b"short").handshake(0.0)
    Decoder(parsers(Status), seal=device).feed(challenge)

    assert device.handshake(0.0) == b""
