"""Version 2 of the links at a device's end, written from docs/reference/sealed-links.md and from nothing else.

It shares no code with the project, on purpose, as the stranger's shoe. The keypad is by docs/reference/keypad.md.
"""

import hmac
import os
import secrets
import select
import threading
import time
import tty
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Self

from tests.stranger.shoe import LONGEST_RUN, Shoe, Store, cobs_decode, cobs_encode, crc32, u32

CHALLENGE, PROOF = 0xF0, 0x70
TAG = 16


class Seal:
    """A device's end of the line: bodies, from the type on, go in and out; frames go out and in."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._host_nonce = self._proof = b""
        self._host_key = self._own_key = b""
        self._count = self._heard = 0
        self._run = bytearray()
        self.answers: list[bytes] = []

    def frame(self, kind: int, sequence: int, payload: bytes) -> bytes | None:
        """A frame of this session; None before a frame of the host was heard in it."""
        if not self._heard:
            return None
        self._count += 1
        counts = u32(self._count) + u32(self._heard)
        return self._wire(bytes([2, kind]) + u32(sequence) + payload + counts, self._own_key)

    def _wire(self, body: bytes, key: bytes) -> bytes:
        tagged = body + hmac.new(key, body, sha256).digest()[:TAG]
        return b"\x00" + cobs_encode(tagged + u32(crc32(tagged))) + b"\x00"

    def hear(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Type, sequence and payload of each frame that the host of this session sent."""
        for byte in data:
            if byte:
                self._run.append(byte)
                if len(self._run) > LONGEST_RUN:
                    self._run.clear()
                continue
            run = bytes(self._run)
            self._run.clear()
            if run:
                yield from self._open(run)

    def _open(self, run: bytes) -> Iterator[tuple[int, int, bytes]]:
        try:
            decoded = cobs_decode(run)
        except ValueError:
            return
        body = decoded[:-4]
        if len(decoded) < 10 or u32(crc32(body)) != decoded[-4:] or body[0] != 2:
            return
        if body[1] == CHALLENGE:
            self._answer(body[6:])
        elif self._host_key and len(body) >= 30:
            said, tag = body[:-TAG], body[-TAG:]
            count = int.from_bytes(said[-8:-4], "big")
            right = hmac.compare_digest(tag, hmac.new(self._host_key, said, sha256).digest()[:TAG])
            if right and count > self._heard:
                self._heard = count
                yield said[1], int.from_bytes(said[2:6], "big"), said[6:-8]

    def _answer(self, nonce: bytes) -> None:
        if nonce != self._host_nonce:
            own = secrets.token_bytes(16)
            self._host_nonce = nonce
            self._host_key = hmac.new(self._key, b"punto link 2 host" + nonce + own, sha256).digest()
            self._own_key = hmac.new(self._key, b"punto link 2 device" + nonce + own, sha256).digest()
            self._count = self._heard = 0
            self._proof = self._wire(bytes([2, PROOF]) + u32(0) + nonce + own, self._key)
        self.answers.append(self._proof)


class SealedShoe(Shoe):
    """The stranger's shoe, with a key."""

    def __init__(self, store: Store, shoes: list[list[str]], key: bytes) -> None:
        self._key = key
        self._seal = Seal(key)
        super().__init__(store, shoes)

    def power_on(self) -> None:
        self._seal = Seal(self._key)
        super().power_on()

    def receive(self, data: bytes) -> None:
        for kind, sequence, payload in self._seal.hear(data):
            body = bytes([1, kind]) + u32(sequence) + payload
            super().receive(b"\x00" + cobs_encode(body + u32(crc32(body))) + b"\x00")

    def take_output(self) -> list[bytes]:
        plain = [cobs_decode(wire.strip(b"\x00")) for wire in super().take_output()]
        answers, self._seal.answers = self._seal.answers, []
        sealed = (self._seal.frame(each[1], int.from_bytes(each[2:6], "big"), each[6:-4]) for each in plain)
        return [*answers, *(each for each in sealed if each is not None)]


class SealedKeypad:
    """A keypad with a key, on a pseudo-terminal; `press` waits for the host's answer."""

    STATUS, ANSWER, HERE, PRESS = 0xC1, 0xC2, 0x41, 0x42

    def __init__(self, link: Path, serial: str, key: bytes) -> None:
        self._serial = serial
        self._seal = Seal(key)
        self._session = secrets.randbelow(2**32 - 1) + 1
        self._pressed = 0
        self._answers: dict[int, tuple[int, str]] = {}
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        link.symlink_to(os.ttyname(self._theirs))
        self._stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._thread.join()

    def press(self, key: str, seconds: float = 5) -> tuple[int, str] | None:
        """The result and the text, None if there is none in time."""
        self._pressed += 1
        number, pressed_at = self._pressed, time.monotonic()
        while number not in self._answers and time.monotonic() < pressed_at + seconds:
            age = min(int((time.monotonic() - pressed_at) * 1000), 0xFFFF)
            self._send(self.PRESS, number, u32(self._session) + age.to_bytes(2, "big") + key.encode())
            time.sleep(0.2)
        return self._answers.get(number)

    def _run(self) -> None:
        while not self._stopped:
            if not select.select([self._ours], [], [], 0.05)[0]:
                continue
            for kind, sequence, payload in self._seal.hear(os.read(self._ours, 4096)):
                if kind == self.STATUS:
                    self._send(self.HERE, 0, payload[:4] + u32(self._session) + self._serial.encode())
                elif kind == self.ANSWER and payload[:4] == u32(self._session):
                    self._answers[sequence] = (payload[4], payload[6:].decode())
            for proof in self._seal.answers:
                os.write(self._ours, proof)
            self._seal.answers.clear()

    def _send(self, kind: int, sequence: int, payload: bytes) -> None:
        frame = self._seal.frame(kind, sequence, payload)
        if frame is not None:
            os.write(self._ours, frame)
