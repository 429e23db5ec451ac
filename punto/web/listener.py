"""Listening sockets that limit their open connections, so that no client keeps others out or uses up the service's files."""

import contextlib
import errno
import socket
import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from punto.runtime import clock

PLACES: Final = 50
"""So many connections of a client with reserved places are not ended for others, however many clients these are."""
_OUT_OF_RESOURCES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS: Final = 0.5
"""Less than the second after which asyncio accepts again."""
_PEER: Final = struct.Struct("3i")  # struct ucred: process, user and group

Whose = str | int
"""The client that a connection belongs to: the address of a host, or the number of a user of this machine."""
_T = TypeVar("_T")


class Listener(socket.socket):
    """A listening socket with at most `most` open connections. The clients `reserved` have places of their own.

    A protocol of asyncio cannot limit them: it begins only after the TLS handshake, and a client may never begin that.
    """

    def __init__(self, *, fileno: int, most: int) -> None:
        super().__init__(fileno=fileno)
        self.reserved: frozenset[Whose] = frozenset()
        self._most = most
        self._accepted: list[tuple[Whose, socket.socket]] = []
        self._again = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. If there are too many, shut one down; its transport then closes it.

        If the process lacks file descriptors or memory, asyncio logs the error and accepts again after a second. Until then
        nothing waits here, because asyncio would try, and log, once for each connection that may wait.
        """
        if clock.monotonic() < self._again:
            raise BlockingIOError
        try:
            accepted, address = super().accept()
        except OSError as error:
            if error.errno in _OUT_OF_RESOURCES:
                self._again = clock.monotonic() + _PAUSE_SECONDS
            raise
        whose = user_of(accepted) if self.family is socket.AF_UNIX else address[0]
        still_open = [(other, each) for other, each in self._accepted if each.fileno() >= 0]
        self._accepted = [*still_open, (whose, accepted)]
        if len(self._accepted) > self._most:
            ended = one_too_many(self._accepted, self.reserved)
            self._accepted.remove(ended)
            with contextlib.suppress(OSError):  # the client has closed it
                ended[1].shutdown(socket.SHUT_RDWR)
        return accepted, address


def one_too_many(those: Sequence[tuple[Whose, _T]], reserved: frozenset[Whose]) -> tuple[Whose, _T]:
    """Choose from (client, connection) pairs: the oldest of the client with most, or the newest if no other has more.

    The clients `reserved` keep their places.
    """
    held = Counter(whose for whose, _ in those)
    for whose in reserved & held.keys():
        if held[whose] <= PLACES and len(held) > 1:
            del held[whose]
    newest = those[-1]
    whose, most = held.most_common(1)[0]
    if most == held[newest[0]]:
        return newest
    return next(each for each in those if each[0] == whose)


def user_of(connection: socket.socket) -> int:
    """The number of the operating system's user at the other end of a local socket, as the kernel reports it."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(credentials)
    return int(user)
