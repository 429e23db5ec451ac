"""The local door of a table's desk: orders over a Unix socket.

If the table has accounts, each order is signed with the name and password of an account; the record has that account, and as the
source the operating system's user at the other end, as reported by the kernel. If the table has no accounts, that user may give
a dealer's orders.
"""

from typing import Final

from punto.controller.accounts.file import system_user
from punto.controller.accounts.roles import Role
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import Peer
from punto.controller.orders.requests import UnreadableError

LONGEST_REQUEST: Final = 16384


class SocketDoor:
    """The desk's answers at the socket, for `local_socket.serve`. An order that cannot be recorded raises RecordError."""

    longest = LONGEST_REQUEST

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def answer(self, line: bytes, user: int) -> bytes:
        """The answer to an order or a question."""
        # At a table with accounts the user has no roles: a signature gives an order its roles.
        roles = (Role.DEALER,) if self._desk.accounts is None else ()
        name = system_user(user)
        # Each user is a place of its own, so that nobody's refusals hold up the orders of other users.
        answer = await self._desk.ask(line, Peer(name, roles, f"socket of {name}"))
        return answer.model_dump_json(by_alias=True).encode()

    def unreadable(self, reason: str) -> bytes:
        """The answer to a request that is not a line."""
        return self._desk.refused(UnreadableError(reason)).model_dump_json(by_alias=True).encode()
