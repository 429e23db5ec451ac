"""The tables in docs/reference/roles.md: the orders and readings of each role, from the catalogue."""

from typing import Final

from punto.baccarat.table.catalogue import CATALOGUE
from punto.controller.accounts.roles import READS, Read, Role

_READING: Final[dict[Read, str]] = {
    "table": "the table's present state",
    "rounds": "rounds",
    "inputs": "a round's inputs",
    "shift": "the report of the shift",
    "games": "the games on offer",
    "diagnostics": "the diagnostics of the PC",
    "progressive": "a progressive's books, and at the Game Manager of a house those of all progressives",
    "floor": "the floor of a house, at its Game Manager",
}


def roles_tables() -> tuple[list[list[str]], list[list[str]]]:
    """Each order of the catalogue and each reading, with its roles."""
    head = ["Order", "Button", "What it does", *Role, "Signed", "Approved"]
    orders = [
        [
            f"`{kind}`",
            each.label,
            each.sentence,
            *(_mark(role in each.roles) for role in Role),
            "by the card alone" if each.seen else _mark(each.signed),
            _mark(each.approvable),
        ]
        for kind, each in CATALOGUE.items()
    ]
    readings = [[text, *(_mark(what in READS[role]) for role in Role)] for what, text in _READING.items()]
    return [head, *orders], [["Reads", *Role], *readings]


def _mark(yes: bool) -> str:
    return "✓" if yes else ""
