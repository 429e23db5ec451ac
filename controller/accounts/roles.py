"""The reading rights of roles. The catalogue has the orders of each role."""

from collections.abc import Iterable
from typing import Final, Literal

from punto.baccarat.progressive.events import CardLevel
from punto.baccarat.table.catalogue import orders_of
from punto.baccarat.table.definition import Role

__all__ = ["AT_THE_TABLE", "READS", "Read", "Role", "card_level", "may_read", "orders_of"]

Read = Literal["table", "rounds", "inputs", "shift", "games", "progressive"]
"""Readings: the table's state, rounds, a round's inputs, the shift's report, the games on offer, a meter's books."""

_EVERYTHING: Final[frozenset[Read]] = frozenset(
    {"table", "rounds", "inputs", "shift", "games", "progressive"}
)
READS: Final[dict[Role, frozenset[Read]]] = {
    Role.DEALER: frozenset({"table", "rounds"}),
    Role.SUPERVISOR: _EVERYTHING,
    Role.EXECUTIVE: _EVERYTHING,
    Role.TECHNICIAN: frozenset({"table", "rounds", "inputs"}),
    Role.AUDITOR: _EVERYTHING,
}
"""Role -> its readings."""

AT_THE_TABLE: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.EXECUTIVE})
"""The roles that can be the table's operator."""


def card_level(roles: Iterable[Role]) -> CardLevel:
    """The level of the card or signature of a person with these roles."""
    return "executive" if Role.EXECUTIVE in roles else "supervisor"


def may_read(roles: Iterable[Role], what: Read) -> bool:
    """Whether a person with these roles may read this."""
    return any(what in READS[role] for role in roles)
