"""Accesses at a table: they are on its record before they take effect, and a dealer who signs on becomes its operator."""

from typing import Final

from punto.baccarat.table.events import Access, SessionBegun
from punto.baccarat.table.order_kinds import SignOn
from punto.baccarat.table.state import Phase
from punto.controller.accounts.roles import AT_THE_TABLE, Role
from punto.controller.engine import Engine
from punto.runtime.pace import Pace

SOURCE: Final = "console"
"""The source of sign-ons and sign-offs on the record."""


class TableAccesses:
    """The record of a table's accesses: `gate.Accesses`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def pace(self) -> Pace:
        """How fast each client may ask, which is the table's."""
        return self._engine.pace

    def admits(self, _: tuple[Role, ...]) -> bool:
        """Whether people with these roles may sign on: each account may, because each may read something of the table."""
        return True

    async def record(self, access: Access) -> None:
        """Record an access; raises RecordError if the record could not be written."""
        events: list[Access | SignOn] = [access]
        # A dealer becomes the table's operator; a supervisor or executive only if the table has no operator.
        if isinstance(access, SessionBegun):
            locked = self._engine.state.phase is Phase.LOCKED
            if Role.DEALER in access.roles or (locked and not AT_THE_TABLE.isdisjoint(access.roles)):
                events.append(SignOn(access.who))
        await self._engine.submit(events, SOURCE)
