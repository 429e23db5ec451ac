"""The link between a table and the authority of its meter: what its key signs (punto/runtime/signatures.py). Pure."""

from dataclasses import dataclass
from typing import Final, TypeVar

from punto.messages.linked import MeterAnswer, MeterRequest
from punto.runtime.signatures import Signing

_M = TypeVar("_M", MeterRequest, MeterAnswer)

LONGEST: Final = 131_072
"""Bytes of a message: several times as many as a meter's settings with all awards that it keeps."""
_PURPOSE: Final = "punto meter link 1"


@dataclass(frozen=True, slots=True)
class Link:
    """The link of a table to the authority of a progressive, with the keys of `Signing`."""

    progressive: str
    authority: str
    table: str
    keys: tuple[bytes, ...] = ()

    @property
    def _signing(self) -> Signing:
        return Signing((_PURPOSE, self.progressive, self.authority, self.table), self.keys)

    def signed(self, message: _M) -> _M:
        """The message with a signature by each key."""
        if not self.keys:
            return message
        return message.model_copy(update={"signatures": self._signing.tags(message.wire())})

    def holds(self, payload: bytes) -> bool:
        """Whether the other end of this link sent the message: it is signed with one of the keys, or not signed without keys."""
        return not self.keys if len(payload) > LONGEST else self._signing.holds(payload)
