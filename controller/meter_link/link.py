"""The key of the link between a table and the authority of its meter, and the signatures that it makes.

A user of the broker who has the table's password can publish in its name, and who runs the broker can publish anything. So
both ends sign what they send with a key that only they have: HMAC-SHA-256 of the link's names and the exact bytes of the
message. docs/explanation/progressive.md says why it is a shared key. Pure.
"""

import hmac
import re
from dataclasses import dataclass
from typing import Final, TypeVar

from punto.messages.linked import MeterAnswer, MeterRequest

_M = TypeVar("_M", MeterRequest, MeterAnswer)

LONGEST: Final = 131_072
"""Bytes of a message: several times as many as a meter's settings with all awards that it keeps."""
_PURPOSE: Final = "punto meter link 1"
_LIST: Final = b'"signatures":['
_END: Final = b"]}"
_TAG: Final = rb'"[0-9a-f]{64}"'
_WRITTEN: Final = re.compile(rb"(%b)(?:,(%b))?\]\}" % (_TAG, _TAG))
"""All that may follow the list's beginning: another key after the list would change the message and not its signed bytes."""


@dataclass(frozen=True, slots=True)
class Link:
    """The link of a table to the authority of a progressive.

    `keys` has 32 bytes each: none if nothing is signed, and at the authority two while a new key replaces the old one.
    """

    progressive: str
    authority: str
    table: str
    keys: tuple[bytes, ...] = ()

    def signed(self, message: _M) -> _M:
        """The message with a signature by each key."""
        if not self.keys:
            return message
        return message.model_copy(update={"signatures": self._tags(message.wire())})

    def holds(self, payload: bytes) -> bool:
        """Whether the other end of this link sent the message: it is signed with one of the keys, or not signed without keys."""
        if len(payload) > LONGEST:
            return not self.keys
        before, found, after = payload.rpartition(_LIST)
        written = _WRITTEN.fullmatch(after) if found else None
        if written is None or not self.keys:
            return written is None and not self.keys
        given = [each[1:-1].decode() for each in written.groups() if each is not None]
        own = self._tags(before + found + _END)
        return any(hmac.compare_digest(each, tag) for each in given for tag in own)

    def _tags(self, unsigned: bytes) -> tuple[str, ...]:
        names = f"{_PURPOSE}\n{self.progressive}\n{self.authority}\n{self.table}\n"
        return tuple(hmac.digest(key, names.encode() + unsigned, "sha256").hex() for key in self.keys)
