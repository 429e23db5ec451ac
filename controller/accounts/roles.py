"""The reading rights of roles. The catalogue has the orders of each role."""

from collections.abc import Iterable
from typing import Final, Literal, get_args

from punto.baccarat.progressive.events import CardLevel
from punto.baccarat.table.catalogue import orders_of
from punto.baccarat.table.definition import Role

__all__ = ["AT_THE_TABLE", "READS", "SEES_TO", "Read", "Role", "card_level", "may_read", "orders_of"]

Read = Literal["table", "rounds", "inputs", "shift", "games", "diagnostics", "progressive", "floor"]
"""Readings: the table's state, rounds, a round's inputs, the shift's report, the games on offer, what the doctor finds about the
PC, a meter's books; and at the Game Manager of a house, its floor: all tables, their alarms and reports."""

_EVERYTHING: Final[frozenset[Read]] = frozenset(get_args(Read))
READS: Final[dict[Role, frozenset[Read]]] = {
    Role.DEALER: frozenset({"table", "rounds"}),
    Role.SUPERVISOR: _EVERYTHING,
    Role.EXECUTIVE: _EVERYTHING,
    Role.TECHNICIAN: frozenset({"table", "rounds", "inputs", "diagnostics", "floor"}),
    Role.AUDITOR: _EVERYTHING,
}
"""Role -> its readings."""

AT_THE_TABLE: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.EXECUTIVE})
"""The roles that can be the table's operator."""
SEES_TO: Final = frozenset({Role.SUPERVISOR, Role.EXECUTIVE})
"""The roles that acknowledge alarms of the floor."""


def card_level(roles: Iterable[Role]) -> CardLevel:
    """The level of the card or signature of a person with these roles."""
    return "executive" if Role.EXECUTIVE in roles else "supervisor"


def may_read(roles: Iterable[Role], what: Read) -> bool:
    """Whether a person with these roles may read this."""
    return any(what in READS[role] for role in roles)
