"""Version 2 of every link: frames that only the holders of a device's key can make.

Host and device share a key of 32 bytes. On each connection the host sends a CHALLENGE with a nonce, and the device answers
with a PROOF: the nonce, a nonce of its own, and their HMAC-SHA-256 by the key. From key and nonces both derive the keys of
the session, one for each direction. Every other frame then carries a count that rises with each frame, the highest count
heard from the other end, and its HMAC by the sender's key. So no frame counts twice, and the host knows of each frame which
of its own frames came before it: what was held back on the line for longer than `FRESH_SECONDS` does not count. That is why
the host sends a BEAT when it has nothing else to send. docs/reference/sealed-links.md defines the bytes.

Pure: times are passed in, and so is the source of nonces. A key opens awards of the progressive, so nothing here
shows one.
"""

import hmac
import secrets
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from math import inf
from struct import Struct
from typing import ClassVar, Final

from punto.drivers.framing import HEADER, DelayedError, RepeatedError, Seal, on_the_wire

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 16
TAG_BYTES: Final = 16
CHALLENGE: Final = 0xF0
PROOF: Final = 0x70
BEAT: Final = 0xF1
CHALLENGE_SECONDS: Final = 0.25
SILENT_SECONDS: Final = 0.5
"""A host that has opened no frame for so long challenges the device again: after a loss of power it has no session."""
BEAT_SECONDS: Final = 0.1
"""The host sends a frame at least so often, as long as it reads."""
FRESH_SECONDS: Final = 0.8
"""A frame of the device is too old when the host has sent a frame so long ago that the device had not heard when it made it."""
_COUNTS: Final = Struct(">II")  # the sender's count, and the highest count that it has heard


def tag(key: bytes, data: bytes) -> bytes:
    """The first 16 bytes of HMAC-SHA-256."""
    return hmac.digest(key, data, "sha256")[:TAG_BYTES]


class Sealed(Seal, ABC):
    """One end of a sealed line; `key` has 32 bytes, `nonce` draws 16 bytes that nobody can foresee."""

    version: ClassVar[int] = 2
    NAME: ClassVar[bytes]
    OTHER: ClassVar[bytes]
    """The names of this end and of the other one, from which they derive their keys of the session."""
    HANDSHAKE: ClassVar[int]
    """The type of the other end's frame of the handshake."""

    # Of the session.
    _own_key: bytes | None
    _other_key: bytes | None
    _count: int  # of the last frame that was sent
    _heard: int  # the highest count that was heard
    _taken: int  # the count of the last frame that was opened

    def __init__(
        self, key: bytes, nonce: Callable[[], bytes] = lambda: secrets.token_bytes(NONCE_BYTES)
    ) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a device's key must have {KEY_BYTES} bytes, not {len(key)}")
        self._key = key
        self._nonce = nonce
        self._end_session()

    @property
    def ready(self) -> bool:
        """As `Seal.ready`."""
        return self._own_key is not None

    def close(self, body: bytes) -> bytes | None:
        """The body with its counts and its tag; None as long as nothing can be sent."""
        if self._own_key is None or not self.ready:
            return None
        self._count += 1
        counted = body + _COUNTS.pack(self._count, self._heard)
        return counted + tag(self._own_key, counted)

    def open(self, body: bytes, now: float) -> bytes | None:
        """The body without its counts and its tag; None if it was for this seal alone."""
        _, number, sequence = HEADER.unpack_from(body)
        if number == self.HANDSHAKE:
            if sequence != 0 or not self._shake_hands(body):
                raise ValueError("not a frame of this handshake")
            return None
        counted, given = body[:-TAG_BYTES], body[-TAG_BYTES:]
        if (
            self._other_key is None
            or len(counted) < HEADER.size + _COUNTS.size
            or not hmac.compare_digest(given, tag(self._other_key, counted))
        ):
            raise ValueError("not sealed by the other end of this session")
        rest = counted[: -_COUNTS.size]
        count, echo = _COUNTS.unpack_from(counted, len(rest))
        if count <= self._heard:
            raise RepeatedError
        self._heard = count
        self._check_age(echo, now)
        self.missing, self._taken = count != self._taken + 1, count
        return rest

    @abstractmethod
    def _shake_hands(self, body: bytes) -> bool:
        """Take the other end's frame of the handshake; return whether it is valid."""

    def _check_age(self, echo: int, now: float) -> None:
        """Raise DelayedError if a frame is too old that was made when the other end had heard `echo` from this end."""

    def _begin_session(self, of_host: bytes, of_device: bytes) -> None:
        self._end_session()
        self._own_key, self._other_key = (
            hmac.digest(self._key, b"punto link 2 " + name + of_host + of_device, "sha256")
            for name in (self.NAME, self.OTHER)
        )

    def _end_session(self) -> None:
        self._own_key = self._other_key = None
        self._count = self._heard = self._taken = 0


def _frame(number: int, payload: bytes) -> bytes:
    return on_the_wire(HEADER.pack(Sealed.version, number, 0) + payload)


class HostSeal(Sealed):
    """The host's end."""

    NAME, OTHER = b"host", b"device"
    HANDSHAKE = PROOF

    def __init__(self, key: bytes, **options: Callable[[], bytes]) -> None:
        super().__init__(key, **options)
        self._asked: bytes | None = None  # the nonce whose proof is awaited
        self._asked_at = self._opened_at = -inf
        self._opened = False

    def _end_session(self) -> None:
        super()._end_session()
        self._written: deque[tuple[int, float]] = deque()  # counts, and when they were written to the line
        self._written_count = 0  # the last of them
        self._written_at = -inf
        self._stale = 0  # a frame made before this count was heard is too old

    def disconnect(self) -> None:
        """End the session: nothing that the line still holds can be opened."""
        self._end_session()
        self._asked = None
        self._asked_at = self._opened_at = -inf
        self._opened = False

    def open(self, body: bytes, now: float) -> bytes | None:
        """As `Sealed.open`."""
        opened = super().open(body, now)
        self._opened = True
        return opened

    def handshake(self, now: float) -> bytes:
        """A BEAT and the challenge, if they are due; call it whenever frames are sent, and ten times a second.

        Do not call it while nothing is read: what waits in the port meanwhile is not held back by anyone.
        """
        if self._opened:
            self._opened, self._opened_at = False, now
        beat = self._beat(now)
        if now - self._opened_at < SILENT_SECONDS or now - self._asked_at < CHALLENGE_SECONDS:
            return beat
        self._asked_at = now
        self._asked = self._asked or self._nonce()
        return beat + _frame(CHALLENGE, self._asked)

    def _beat(self, now: float) -> bytes:
        """Remember when frames are written, and make one if none was written for a while."""
        beat = b""
        if self._count == self._written_count and now - self._written_at >= BEAT_SECONDS:
            body = self.close(HEADER.pack(self.version, BEAT, 0))
            beat = b"" if body is None else on_the_wire(body)
        if self._count > self._written_count:
            self._written_count, self._written_at = self._count, now
            self._written.append((self._count, now))
        while self._written and now - self._written[0][1] > FRESH_SECONDS:
            self._stale, _ = self._written.popleft()
        return beat

    def _check_age(self, echo: int, now: float) -> None:
        later = next((at for count, at in self._written if count > echo), now)
        if not max(1, self._stale) <= echo <= self._count or now - later > FRESH_SECONDS:
            raise DelayedError
        self.age = now - later if later < now else 0.0

    def _shake_hands(self, body: bytes) -> bool:
        payload = body[HEADER.size :]
        of_host, of_device = payload[:NONCE_BYTES], payload[NONCE_BYTES : 2 * NONCE_BYTES]
        if len(payload) != 2 * NONCE_BYTES + TAG_BYTES or of_host != self._asked:
            return False
        if not hmac.compare_digest(body[-TAG_BYTES:], tag(self._key, body[:-TAG_BYTES])):
            return False
        self._asked = None  # a proof is taken once
        self._begin_session(of_host, of_device)
        return True


class DeviceSeal(Sealed):
    """The device's end. It sends nothing before it has heard a frame of the host in this session."""

    NAME, OTHER = b"device", b"host"
    HANDSHAKE = CHALLENGE

    def __init__(self, key: bytes, **options: Callable[[], bytes]) -> None:
        super().__init__(key, **options)
        self._challenged: bytes | None = None
        self._own = b""
        self._proofs: list[bytes] = []

    @property
    def ready(self) -> bool:
        """As `Seal.ready`."""
        return self._heard > 0

    def open(self, body: bytes, now: float) -> bytes | None:
        """As `Sealed.open`."""
        opened = super().open(body, now)
        return None if body[1] == BEAT else opened

    def handshake(self, now: float) -> bytes:  # noqa: ARG002 - as the host's
        """The proofs for the challenges that have come."""
        sent, self._proofs = b"".join(self._proofs), []
        return sent

    def _shake_hands(self, body: bytes) -> bool:
        of_host = body[HEADER.size :]
        if len(of_host) != NONCE_BYTES:
            return False
        if of_host != self._challenged:  # a challenge that is repeated begins no other session
            self._challenged, self._own = of_host, self._nonce()
            self._begin_session(of_host, self._own)
        unsigned = HEADER.pack(self.version, PROOF, 0) + of_host + self._own
        self._proofs.append(_frame(PROOF, of_host + self._own + tag(self._key, unsigned)))
        return True
