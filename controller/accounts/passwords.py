"""Names and passwords: which are valid, how names are compared, and the hashes of secrets."""

import re
import secrets
import unicodedata
from base64 import b64encode
from contextlib import suppress
from hashlib import sha256
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION, Type, hash_secret_raw

from punto.controller.accounts.refusals import AccountsError

SHORTEST_PASSWORD: Final = 8
LONGEST_PASSWORD: Final = 1024
LONGEST_NAME: Final = 40
FEWEST_GUESSES: Final = 1_000_000
"""A password that needs fewer guesses, the likeliest first, is refused: zxcvbn calls it "very guessable"."""
_GUESSED: Final = 72
"""The characters that are examined: the time for this grows with the square of the length."""
_NOT_DRAWN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters without a visible shape that `str.isprintable` accepts."""
_HASHER: Final = PasswordHasher()
# The cost of a card's hash is not the library's default: a changed default would invalidate all cards.
_CARD_COST: Final = {"time_cost": 3, "memory_cost": 65536, "parallelism": 4}  # the memory in KiB


def checked_name(name: str) -> str:
    """A new account's name in composed form; raises AccountsError if it is invalid."""
    name = unicodedata.normalize("NFC", name)
    drawn = name.isprintable() and not _NOT_DRAWN.search(name)
    if not name or len(name) > LONGEST_NAME or not drawn or name != " ".join(name.split()):
        raise AccountsError(
            f"{name[:100]!r} cannot be a name: write 1 to {LONGEST_NAME} letters, with single spaces between words"
        )
    return name


def hashed(password: str, name: str = "") -> str:
    """The Argon2id hash of a new password for the account of this name.

    By NIST SP 800-63B a password must be long enough, and neither common nor derived from the name. There are no rules
    about kinds of characters, and no password expires.

    Raises:
        AccountsError: the password is too short, too long, or too easy to guess.
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccountsError(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; this one has {len(password)}"
        )
    from zxcvbn import zxcvbn  # noqa: PLC0415 - its lists take 30 ms and 10 MB, and only new passwords need them

    if zxcvbn(password[:_GUESSED], user_inputs=[name, *name.split()])["guesses"] < FEWEST_GUESSES:
        raise AccountsError(
            f"this password is among the first {FEWEST_GUESSES:,} guesses: it is common, a pattern or the account's name. Choose a "
            "longer one, for example four unrelated words"
        )
    return _HASHER.hash(_composed(password))


def nobodys_hash() -> str:
    """A hash that matches no password, made without hashing. To verify a password against it takes the usual time."""
    cost = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    salt, digest = (
        b64encode(secrets.token_bytes(length)).decode().rstrip("=")
        for length in (_HASHER.salt_len, _HASHER.hash_len)
    )
    return f"$argon2id$v={ARGON2_VERSION}${cost}${salt}${digest}"


def verified(hash_: str, password: str) -> bool:
    """Whether the hash is this password's. It takes tens of milliseconds, without the interpreter's lock."""
    with suppress(VerificationError, InvalidHashError):
        return _HASHER.verify(hash_, _composed(password))
    return False


def _composed(password: str) -> str:
    return unicodedata.normalize("NFC", password)


def hash_of_token(token: str) -> str:
    """The stored hash of a browser's or a session's random token."""
    return sha256(token.encode()).hexdigest()


def hash_of_card(number: str, secret: bytes) -> bytes:
    """The hash of a card's number, keyed with the secret of the accounts' file."""
    # A card's number is short and often one of a series: an attacker could try all numbers against a plain hash in minutes,
    # and one table of hashes would serve for every house. So the hash is keyed with a secret of this file. The secret is
    # the same for all cards, because a card is looked up by its hash. An attacker with the file also has the secret, so the
    # hash is as slow as a password's.
    return hash_secret_raw(number.encode(), secret, **_CARD_COST, hash_len=32, type=Type.ID)
