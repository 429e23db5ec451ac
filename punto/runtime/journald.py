"""Log lines as records of systemd's journal, with fields by which `journalctl` selects.

The protocol is in https://systemd.io/JOURNAL_NATIVE_PROTOCOL/. This is own code, as in `sd_notify.py`: the packages for it are
handlers of `logging`, or compiled against libsystemd, and a table would use no more of them than the few lines below.
"""

import json
import os
import socket
import sys
from contextlib import suppress
from typing import Final

from structlog.typing import EventDict

SOCKET: Final = "/run/systemd/journal/socket"
_PRIORITIES: Final = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}
_NOT_FIELDS: Final = ("event", "level", "timestamp")
"""They are fields by other names; the time is the journal's own."""


def reads_the_standard_error() -> bool:
    """Whether systemd has connected standard error to the journal (systemd.exec(5), JOURNAL_STREAM)."""
    with suppress(OSError, ValueError):
        file = os.fstat(sys.stderr.fileno())
        return os.environ.get("JOURNAL_STREAM") == f"{file.st_dev}:{file.st_ino}"
    return False


def rendered(_: object, __: str, event: EventDict) -> tuple[tuple[str, bytes], dict[str, object]]:
    """A line for people, and a record with this line and a field for each value of the event."""
    fields = {name: _text(value) for name, value in event.items() if name not in _NOT_FIELDS}
    exception = fields.get("exception")
    words = (f"{name}={_quoted(value)}" for name, value in fields.items() if name != "exception")
    line = " ".join((event["event"], *words)) + (f"\n{exception}" if exception else "")
    record = {
        "MESSAGE": line,
        "PRIORITY": str(_PRIORITIES[event["level"]]),
        "SYSLOG_IDENTIFIER": "punto",
        "PUNTO_EVENT": event["event"],
        **{f"PUNTO_{name.upper()}": value for name, value in fields.items()},
    }
    return (line, b"".join(_field(name, value) for name, value in record.items())), {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=repr)


def _quoted(value: str) -> str:
    escaped = value.replace('"', '\\"')
    return f'"{escaped}"' if set(value) & set(' "=') or not value else value


def _field(name: str, value: str) -> bytes:
    """A field with its length, which may have any value: also one that looks like further fields."""
    data = value.encode("utf-8", "backslashreplace")
    return name.encode() + b"\n" + len(data).to_bytes(8, "little") + data + b"\n"


class Journal:
    """The socket of the journal."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)

    def takes(self, record: bytes) -> bool:
        """Whether the journal took a record. It does not take one that is longer than a datagram can be."""
        try:
            self._socket.sendto(record, self._address)  # journald can be a new one at any time
        except OSError:
            return False
        return True
