"""Signatures of messages with a key that both ends of a link have, and nobody else: HMAC-SHA-256. Pure.

A user of the broker who has a table's password can publish in its name, and whoever runs the broker can publish anything.
docs/explanation/progressive.md says why it is a shared key.
"""

import hmac
import re
from dataclasses import dataclass
from typing import Final

_LIST: Final = b'"signatures":['
_END: Final = b"]}"
_TAG: Final = rb'"[0-9a-f]{64}"'
_WRITTEN: Final = re.compile(rb"(%b)(?:,(%b))?\]\}" % (_TAG, _TAG))
"""All that may follow the list's beginning: another key after the list would change the message and not its signed bytes."""


@dataclass(frozen=True, slots=True)
class Signing:
    """One end of a link.

    `names` are lines that say what is signed and between whom, so that a message of one link does not hold on another one. `keys`
    has 32 bytes each: none if nothing is signed, and two while a new key replaces the old one.
    """

    names: tuple[str, ...]
    keys: tuple[bytes, ...] = ()

    def tags(self, unsigned: bytes) -> tuple[str, ...]:
        """The signature by each key of a message whose last field is an empty list of signatures, in hexadecimal digits."""
        about = "".join(f"{name}\n" for name in self.names).encode()
        return tuple(hmac.digest(key, about + unsigned, "sha256").hex() for key in self.keys)

    def signed(self, payload: bytes) -> bytes:
        """A JSON object with its signatures as the last field; as it is without keys."""
        if not self.keys:
            return payload
        begun = payload.removesuffix(b"}") + b"," + _LIST
        return begun + ",".join(f'"{tag}"' for tag in self.tags(begun + _END)).encode() + _END

    def holds(self, payload: bytes) -> bool:
        """Whether the other end sent the message: it is signed with one of the keys, or not signed without keys."""
        before, found, after = payload.rpartition(_LIST)
        written = _WRITTEN.fullmatch(after) if found else None
        if written is None or not self.keys:
            return written is None and not self.keys
        given = [each[1:-1].decode() for each in written.groups() if each is not None]
        own = self.tags(before + found + _END)
        return any(hmac.compare_digest(each, tag) for each in given for tag in own)


def of_the_house(table: str, keys: tuple[bytes, ...]) -> Signing:
    """The link of a table to the Game Manager of its house."""
    return Signing(("punto house link 1", table), keys)
