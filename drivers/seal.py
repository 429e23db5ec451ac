"""Version 2 of every link: frames that only the holders of a device's key can make.

Host and device share a key of 32 bytes. On each connection the host sends a CHALLENGE with a nonce, and the device answers
with a PROOF: the nonce, a nonce of its own, and their HMAC-SHA-256 by the key. From key and nonces both derive the key of
the session. Every other frame then carries its HMAC by that key. docs/reference/link-2.md defines the bytes.

Pure: times are passed in, and so is the source of nonces. A key opens awards of the progressive, so nothing here
shows one.
"""

import hmac
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf
from typing import ClassVar, Final

from punto.drivers.framing import HEADER, Seal, on_the_wire

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 16
TAG_BYTES: Final = 16
CHALLENGE: Final = 0xF0
PROOF: Final = 0x70
CHALLENGE_SECONDS: Final = 0.25
SILENT_SECONDS: Final = 0.5
"""A host that has opened no frame for so long challenges the device again: after a loss of power it has no session."""
_OF_SESSION: Final = b"punto link 2 session"


def tag(key: bytes, data: bytes) -> bytes:
    """The first 16 bytes of HMAC-SHA-256."""
    return hmac.digest(key, data, "sha256")[:TAG_BYTES]


class Sealed(Seal, ABC):
    """One end of a sealed line; `key` has 32 bytes, `nonce` draws 16 bytes that nobody can foresee."""

    version: ClassVar[int] = 2
    HANDSHAKE: ClassVar[int]
    """The type of the other end's frame of the handshake."""

    def __init__(
        self, key: bytes, nonce: Callable[[], bytes] = lambda: secrets.token_bytes(NONCE_BYTES)
    ) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a device's key must have {KEY_BYTES} bytes, not {len(key)}")
        self._key = key
        self._nonce = nonce
        self._session: bytes | None = None

    @property
    def ready(self) -> bool:
        """As `Seal.ready`."""
        return self._session is not None

    def close(self, body: bytes) -> bytes | None:
        """The body with its tag; None as long as there is no session."""
        return None if self._session is None else body + tag(self._session, body)

    def open(self, body: bytes) -> bytes | None:
        """The body without its tag; None if it is a frame of the handshake, or not from the other end of this session."""
        _, number, sequence = HEADER.unpack_from(body)
        rest, given = body[:-TAG_BYTES], body[-TAG_BYTES:]
        if number == self.HANDSHAKE:
            if sequence != 0 or not self._shake_hands(body):
                raise ValueError("not a frame of this handshake")
            return None
        if (
            self._session is None
            or len(rest) < HEADER.size
            or not hmac.compare_digest(given, tag(self._session, rest))
        ):
            raise ValueError("not sealed by the other end of this session")
        return rest

    @abstractmethod
    def _shake_hands(self, body: bytes) -> bool:
        """Take the other end's frame of the handshake; return whether it is valid."""

    def _begin_session(self, of_host: bytes, of_device: bytes) -> None:
        self._session = hmac.digest(self._key, _OF_SESSION + of_host + of_device, "sha256")


def _frame(number: int, payload: bytes) -> bytes:
    return on_the_wire(HEADER.pack(Sealed.version, number, 0) + payload)


class HostSeal(Sealed):
    """The host's end."""

    HANDSHAKE = PROOF

    def __init__(self, key: bytes, **options: Callable[[], bytes]) -> None:
        super().__init__(key, **options)
        self._asked: bytes | None = None  # the nonce whose proof is awaited
        self._asked_at = self._opened_at = -inf
        self._opened = False

    def disconnect(self) -> None:
        """End the session: nothing that the line still holds can be opened."""
        self._session = self._asked = None
        self._asked_at = self._opened_at = -inf
        self._opened = False

    def open(self, body: bytes) -> bytes | None:
        """As `Sealed.open`."""
        opened = super().open(body)
        self._opened = True
        return opened

    def handshake(self, now: float) -> bytes:
        """The challenge, if one is due; call it several times a second."""
        if self._opened:
            self._opened, self._opened_at = False, now
        if now - self._opened_at < SILENT_SECONDS or now - self._asked_at < CHALLENGE_SECONDS:
            return b""
        self._asked_at = now
        self._asked = self._asked or self._nonce()
        return _frame(CHALLENGE, self._asked)

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
    """The device's end."""

    HANDSHAKE = CHALLENGE

    def __init__(self, key: bytes, **options: Callable[[], bytes]) -> None:
        super().__init__(key, **options)
        self._challenged: bytes | None = None
        self._own = b""
        self._proofs: list[bytes] = []

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
