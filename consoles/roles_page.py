"""The table of roles in docs/operators.md: who may order and read what, written from the catalogue."""

from typing import Final

from punto.baccarat.table.catalogue import CATALOGUE
from punto.controller.accounts.roles import READS, Read, Role

FILE: Final = "operators.md"
BEGIN: Final = "<!-- Written by `make schema` from the catalogue of orders: a change made here is lost. -->"
END: Final = "<!-- End of what `make schema` writes. -->"

_READING: Final[dict[Read, str]] = {
    "table": "the table as it is",
    "rounds": "rounds",
    "inputs": "a round's inputs",
    "shift": "the report of the shift",
    "games": "the games on offer",
    "progressive": "a progressive's books",
}


def roles_tables() -> str:
    """Each order of the catalogue and each reading, with the roles that may."""
    head = ["Order", "Button", "What it does", *Role, "Signed", "Approved"]
    orders = [
        [
            f"`{kind}`",
            each.label,
            each.sentence,
            *(_mark(role in each.roles) for role in Role),
            "by its card alone" if each.seen else _mark(each.signed),
            _mark(each.approvable),
        ]
        for kind, each in CATALOGUE.items()
    ]
    readings = [[text, *(_mark(what in READS[role]) for role in Role)] for what, text in _READING.items()]
    return f"{_table(head, orders)}\n\n{_table(['Reads', *Role], readings)}"


def with_roles(page: str) -> str:
    """The page with these tables between its two marks.

    Raises:
        ValueError: the page does not have them, once each and in order.
    """
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise ValueError(
            f"{FILE} does not have the lines {BEGIN!r} and {END!r}: write them where the tables go"
        )
    return f"{before}{BEGIN}\n\n{roles_tables()}\n\n{END}{after}"


def _mark(yes: bool) -> str:
    return "✓" if yes else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
