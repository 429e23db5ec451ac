"""A pseudo-terminal that can be pulled out and plugged in again, under one stable name."""

import os
import tty
from pathlib import Path

_READ_BYTES = 65536


class TerminalError(Exception):
    """The pseudo-terminal cannot have the requested name; the message says what to do."""


class Terminal:
    """The shoe's end of the line. `link` is a symlink to the host's end while it is plugged in.

    Raises:
        TerminalError: `link` is not a symlink, or cannot be made.
    """

    def __init__(self, link: Path | None) -> None:
        self._link = link
        self._master = -1
        self._slave = -1
        self.path = ""  # of the host's end, such as /dev/pts/3; empty while unplugged
        self.dropped = 0  # bytes that were not delivered
        if link is not None and os.path.lexists(link) and _target(link) is None:
            raise TerminalError(f"{link} exists and is not a symlink: give another link, or remove this file")

    @property
    def plugged_in(self) -> bool:
        """Whether there is a line."""
        return self._master >= 0

    def fileno(self) -> int:
        """The descriptor that becomes readable when the host has written."""
        return self._master

    def plug(self) -> None:
        """Make a new pseudo-terminal and point the link to it."""
        # The slave stays open on this side too. Without that, reading fails (EIO) whenever no host has it
        # open, and its last close puts the line back to echo and line editing, until the next host has set it
        # up. The host still gets its hang-up when the cable is pulled: that comes with the close of the
        # master.
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        try:
            self._make_link()
        except OSError as error:
            self.unplug()
            raise TerminalError(
                f"cannot make the link {self._link}: {error.strerror}; give another"
            ) from error

    def unplug(self) -> None:
        """Take the line away: the host's reads and writes fail from now on, and the link is gone."""
        if not self.plugged_in:
            return
        # Not another shoe's, which may have taken the name in the meantime.
        if self._link is not None and _target(self._link) == Path(self.path):
            self._link.unlink()
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1
        self.path = ""

    def read(self) -> bytes:
        """Return the host's bytes so far, perhaps none."""
        try:
            return os.read(self._master, _READ_BYTES)
        except BlockingIOError:
            return b""

    def write(self, data: bytes) -> None:
        """Send without waiting. Bytes that the line does not take, unread or unplugged, are dropped.

        The records are not lost: they are in the store, and the host asks for them again.
        """
        sent = 0
        if self.plugged_in:
            try:
                sent = os.write(self._master, data)
            except BlockingIOError:
                sent = 0
        self.dropped += len(data) - sent

    def _make_link(self) -> None:
        if self._link is None:
            return
        self._link.parent.mkdir(parents=True, exist_ok=True)
        # Replaced in one step, so that a name left by a killed process is never in the way.
        new = self._link.with_name(f".{self._link.name}.{os.getpid()}")
        new.unlink(missing_ok=True)
        new.symlink_to(self.path)
        new.replace(self._link)


def _target(link: Path) -> Path | None:
    try:
        return link.readlink()
    except OSError:
        return None
