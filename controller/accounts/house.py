"""The accounts of a whole house: its Game Manager signs a copy of all of them, and each table takes the copy over.

A message is the copy's signature (Ed25519, 64 bytes) and then the copy in JSON, compressed by zlib. The signature is over `_PURPOSE`
and the JSON, so that nothing else that this key may ever sign is a copy.
"""

import zlib
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from punto.configs.faults import first_fault
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.signing.keys import KEY_BYTES, SIGNATURE_BYTES, KeyFileError, SigningKey, signed_by
from punto.messages.bounds import LONGEST_PAYLOAD

_PURPOSE: Final = b"punto house accounts 1\n"
ROOM: Final = 16_384
"""So many bytes of the longest message stay free for changes that make a copy a little longer. A dismissal is one, and is never refused."""
_LONGEST_BODY: Final = 16 * LONGEST_PAYLOAD
"""A copy that is longer when it is decompressed is not of a house: hashes cannot be made so much shorter."""


class CopyError(Exception):
    """A copy is refused: `code` is forged, unreadable or stale, and the message is for the log."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Part(BaseModel):
    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )


class CopiedAccount(_Part):
    """An account: the columns of `file.Row`."""

    folded: str
    name: str
    roles: str
    hash: str
    disabled: Annotated[int, Field(ge=0, le=1)]
    created: str
    version: int
    card: bytes | None
    number: Annotated[int, Field(ge=1)]
    security_key: str | None

    @model_validator(mode="after")
    def _known_roles(self) -> Self:
        for role in self.roles.split():
            Role(role)  # raises ValueError
        return self


class HouseCopy(_Part):
    """All accounts of the house. `version` grows with each change of an account; `card_secret` is what hashes of cards are keyed with."""

    version: Annotated[int, Field(ge=1)]
    card_secret: Annotated[bytes, Field(min_length=KEY_BYTES, max_length=KEY_BYTES)]
    accounts: tuple[CopiedAccount, ...]

    def body(self) -> bytes:
        """What is signed."""
        return self.model_dump_json().encode()

    def size(self) -> int:
        """The bytes of its message."""
        return SIGNATURE_BYTES + len(_compressed(self.body()))


def _compressed(body: bytes) -> bytes:
    return zlib.compress(body, 9)


# --- the house


class HouseKey:
    """The key with which a house signs."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the key's file, or make it; only its owner may read it.

        Raises:
            AccountsError: the file cannot be read or made, or is not a key.
        """
        try:
            return cls(SigningKey.open(path))
        except KeyFileError as error:
            raise AccountsError(f"the house's key: {error}") from error

    @property
    def public(self) -> str:
        """The public key, for `house` in the `[accounts]` of the tables: 44 characters."""
        return self._key.public

    def signed(self, copy: HouseCopy) -> bytes:
        """A copy as it is sent."""
        body = copy.body()
        return self._key.sign(_PURPOSE, body) + _compressed(body)


# --- the tables


def read_copy(payload: bytes, house: str) -> HouseCopy:
    """A copy as it was sent, if the house with this public key signed it.

    Raises:
        CopyError: another signed it, it is not whole, or this program cannot read it.
    """
    signature, body = payload[:SIGNATURE_BYTES], _decompressed(payload[SIGNATURE_BYTES:])
    if not signed_by(house, signature, _PURPOSE, body):
        raise CopyError("forged", "the house whose key this table has did not sign it")
    try:
        return HouseCopy.model_validate_json(body)
    except ValidationError as error:
        raise CopyError(
            "unreadable", f"install the Game Manager's version here: {first_fault(error)}"
        ) from None


def _decompressed(compressed: bytes) -> bytes:
    """The bytes before they were compressed. What is not a whole copy gives others, which no house signed."""
    reading = zlib.decompressobj()
    try:
        body = reading.decompress(compressed, _LONGEST_BODY)
    except zlib.error:
        return b""
    return body if reading.eof and not reading.unused_data else b""
