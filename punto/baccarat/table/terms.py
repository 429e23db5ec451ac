"""What a table and the authority of its meter must have alike, beside the pay table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from punto.baccarat.progressive.settings import Procedure
from punto.baccarat.progressive.settings import Settings as Progressive
from punto.baccarat.table.settings import Settings

MOST_NAMED: Final = 5
"""The most parts of the rules that a message names."""
_LONGEST: Final = 64
"""The most characters of a part's name in a message: an authority is another machine."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms on which a service plays, or keeps the meter of tables.

    `service` is its id. `seats` are those of a table, or the most of any table of an authority. `rules` are those of its game, as in `Game.rules_by_part`.
    """

    service: str
    simulation: bool
    currency: str
    seats: int
    rules: Mapping[str, str]
    procedure: Procedure

    @classmethod
    def of(cls, settings: Settings, progressive: Progressive) -> "Terms":
        """The terms of a table, or of an authority, with these settings of its own and of its progressive."""
        return cls(
            settings.table,
            settings.simulation,
            settings.currency,
            settings.seats,
            settings.game.rules_by_part,
            progressive.procedure,
        )


def unlike(table: Terms, authority: Terms, progressive: str) -> str | None:
    """Why a table cannot share the meter that this authority keeps, None if it can."""
    if table.simulation is not authority.simulation:
        return "either the table or the authority is a simulation, and not both: configure simulation alike at both"
    if table.currency != authority.currency:
        return (
            f"{table.service} plays in {table.currency}, but {authority.service} keeps the meter of {progressive} in "
            f"{authority.currency}: write the same currency in [table] of both"
        )
    if table.procedure != authority.procedure:
        return (
            f"{table.service} confirms awards by the procedure {table.procedure}, but {authority.service} keeps the meter of "
            f"{progressive} for {authority.procedure}: write the same procedure in [progressive] of both"
        )
    if table.seats > authority.seats:
        return (
            f"{table.service} has {table.seats} seats, but {authority.service} takes the wagers of {authority.seats}: write "
            f"seats = {table.seats} in [table] of {authority.service}"
        )
    differ = list(_differ(table.rules, authority.rules))
    if differ:
        named = ", ".join(differ[:MOST_NAMED]) + " and more" * (len(differ) > MOST_NAMED)
        return (
            f"the game of {table.service} has other rules than the game for which {authority.service} keeps the meter of "
            f"{progressive} ({named}): configure the same game with the same rules at both"
        )
    return None


def _differ(table: Mapping[str, str], authority: Mapping[str, str]) -> Iterator[str]:
    """The parts of the authority's rules that a table does not have alike: an authority repeats no name that a table has sent."""
    yield from (name[:_LONGEST] for name, digest in authority.items() if table.get(name) != digest)
    if table.keys() - authority.keys():
        yield "other wagers"
