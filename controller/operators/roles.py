"""Roles, and what each may do. Pure: who holds them is another matter (`accounts`)."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Literal

from controller.progressive.events import CardLevel


class Role(StrEnum):
    """What an account is there for; it may have several."""

    DEALER = "dealer"
    SUPERVISOR = "supervisor"
    EXECUTIVE = "executive"
    TECHNICIAN = "technician"
    AUDITOR = "auditor"


Read = Literal["table", "rounds", "inputs", "shift", "games", "progressive"]
"""What can be read: the table as it is, rounds, a round's inputs, the shift's report, the games on offer, a meter's books."""

_DEALERS_ORDERS: Final = frozenset(
    {
        "sign_on",
        "open_betting",
        "close_betting",
        "reveal",
        "key_card",
        "call_supervisor",
        "start_game",
        "hand_button",
        "game_over",
        "end_game",
        "wager_placed",
        "wager_lifted",
    }
)
_SUPERVISORS_ORDERS: Final = _DEALERS_ORDERS | {
    "sign_off",
    "change_shoe",
    "close_table",
    "void_coup",
    "correct_card",
    "correct_round",
    "void_round",
    "resume_play",
    "accept_shoe",
    "acknowledge_alarm",
    "change_game",
    "confirm",
    "jpot",
    "turn_key",
    "swipe_card",
    "adjust",
    "back_out",
    "count_coins",
}
ORDERS: Final[dict[Role, frozenset[str]]] = {
    Role.DEALER: _DEALERS_ORDERS,
    Role.SUPERVISOR: _SUPERVISORS_ORDERS,
    Role.EXECUTIVE: _SUPERVISORS_ORDERS | {"open_meter", "change_settings", "retire"},
    Role.TECHNICIAN: frozenset({"resume_play", "accept_shoe", "acknowledge_alarm"}),
    Role.AUDITOR: frozenset(),
}
"""Role -> the kinds of orders that it may give."""

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
"""Role -> what it may read."""

AT_THE_TABLE: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.EXECUTIVE})
"""The roles that can be the table's operator."""


def orders_of(roles: Iterable[Role]) -> frozenset[str]:
    """The kinds of orders that somebody with these roles may give."""
    return frozenset[str]().union(*(ORDERS[role] for role in roles))


def card_level(roles: Iterable[Role]) -> CardLevel:
    """What the card of somebody with these roles is, who may swipe one."""
    return "executive" if Role.EXECUTIVE in roles else "supervisor"


def may_read(roles: Iterable[Role], what: Read) -> bool:
    """Whether somebody with these roles may read this."""
    return any(what in READS[role] for role in roles)
