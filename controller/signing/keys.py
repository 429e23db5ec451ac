"""Ed25519 keys in files, which a TPM may have sealed, and signatures with a purpose, so that a signature for one purpose is none for another."""

from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from punto.configs.given_files import read_given
from punto.controller.signing.tpm import SEALED, TpmError, seal, unseal
from punto.runtime.made_files import OWN, write_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE_BYTES: Final = 64
KEY_BYTES: Final = 32
_LARGEST: Final = 1 << 16
"""The most bytes of a key's file: a TPM seals a key in some hundred."""


class KeyFileError(Exception):
    """A key's file cannot be read or made, or has no key. The message says what to do."""


class SigningKey:
    """A private key. `sign` is for one purpose: a line that no other kind of statement begins with."""

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key

    @classmethod
    def open(cls, path: Path, tpm: str | None = None) -> Self:
        """Read the key's file, or make it; only its owner may read it. With a TPM, the file is of use with this TPM alone.

        Raises:
            KeyFileError: the file cannot be read or made, or is not a key, or the TPM cannot be used.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - 30 ms

        try:
            if not path.exists():
                made = Ed25519PrivateKey.generate().private_bytes_raw()
                write_file(path, b64encode(made) + b"\n" if tpm is None else seal(made, tpm), OWN)
            return cls(Ed25519PrivateKey.from_private_bytes(_private(path, tpm)))
        except OSError as error:
            raise KeyFileError(f"the key {path} cannot be read or made: {error.strerror}") from error
        except TpmError as error:
            raise KeyFileError(f"the key {path} cannot be read or made: {error}") from error
        except ValueError as error:
            raise KeyFileError(f"{path} is not a key: give another path, and a key is made there") from error

    @property
    def public(self) -> str:
        """The public key: 44 characters."""
        return b64encode(self._key.public_key().public_bytes_raw()).decode()

    @property
    def pem(self) -> str:
        """The public key as OpenSSL reads it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - as above

        public = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return public.decode("ascii")

    def sign(self, purpose: bytes, body: bytes) -> bytes:
        """The signature over the purpose and the body: 64 bytes."""
        return self._key.sign(purpose + body)


def _private(path: Path, tpm: str | None) -> bytes:
    """The private key in a file, 32 bytes; raises as `SigningKey.open` does, or ValueError if it is not one."""
    content = read_given(path, _LARGEST)
    if not content.strip():
        raise KeyFileError(
            f"the key {path} is empty: put its copy there, or remove the file, and another key is made. Its public key must then be "
            "exchanged where it is configured"
        )
    if not content.startswith(SEALED):
        if tpm is not None:
            raise KeyFileError(
                f"{path} is not sealed in a TPM: give another path, and a key that is sealed is made there"
            )
        return b64decode(content.strip(), validate=True)
    if tpm is None:
        raise KeyFileError(f"{path} is sealed in a TPM: name the TPM with --tpm")
    return unseal(content, tpm)


def read_public(text: str) -> bytes:
    """A public key, 32 bytes, from its text in base64; raises ValueError if the text is not one."""
    try:
        key = b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES or b64encode(key).decode() != text:
        raise ValueError("is not a public key of 44 characters")
    return key


def signed_by(public: str, signature: bytes, purpose: bytes, body: bytes) -> bool:
    """Whether the owner of this public key signed the body for this purpose."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(read_public(public)).verify(signature, purpose + body)
    except InvalidSignature:
        return False
    return True
