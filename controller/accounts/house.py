"""The accounts of a whole house: its Game Manager signs a copy of all of them, and each table takes the copy over.

A message is the copy's signature (Ed25519, 64 bytes) and then the copy in JSON. The signature is over `_PURPOSE` too, so that
nothing else that this key may ever sign is a copy.
"""

import os
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from punto.configs.faults import first_fault
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.config.sections import read_public

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PURPOSE: Final = b"punto house accounts 1\n"
_SIGNATURE_BYTES: Final = 64
_KEY_BYTES: Final = 32


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
    card_secret: Annotated[bytes, Field(min_length=_KEY_BYTES, max_length=_KEY_BYTES)]
    accounts: tuple[CopiedAccount, ...]


# --- the house


class HouseKey:
    """The key with which a house signs."""

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the key's file, or make it; only its owner may read it.

        Raises:
            AccountsError: the file cannot be read or made, or is not a key.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - 30 ms

        try:
            if not path.exists():
                made = Ed25519PrivateKey.generate().private_bytes_raw()
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(b64encode(made) + b"\n")
                    os.fsync(file.fileno())
            return cls(
                Ed25519PrivateKey.from_private_bytes(b64decode(path.read_bytes().strip(), validate=True))
            )
        except OSError as error:
            raise AccountsError(f"the house's key {path} cannot be read or made: {error.strerror}") from error
        except ValueError as error:
            raise AccountsError(
                f"{path} is not a key of a house: give another path, and a key is made there"
            ) from error

    @property
    def public(self) -> str:
        """The public key, for `house` in the `[accounts]` of the tables: 44 characters."""
        return b64encode(self._key.public_key().public_bytes_raw()).decode()

    def signed(self, copy: HouseCopy) -> bytes:
        """A copy as it is sent."""
        body = copy.model_dump_json().encode()
        return self._key.sign(_PURPOSE + body) + body


# --- the tables


def read_copy(payload: bytes, house: str) -> HouseCopy:
    """A copy as it was sent, if the house with this public key signed it.

    Raises:
        CopyError: another signed it, it is not whole, or this program cannot read it.
    """
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    signature, body = payload[:_SIGNATURE_BYTES], payload[_SIGNATURE_BYTES:]
    try:
        Ed25519PublicKey.from_public_bytes(read_public(house)).verify(signature, _PURPOSE + body)
    except InvalidSignature:
        raise CopyError("forged", "the house whose key this table has did not sign it") from None
    try:
        return HouseCopy.model_validate_json(body)
    except ValidationError as error:
        raise CopyError(
            "unreadable", f"install the Game Manager's version here: {first_fault(error)}"
        ) from None
