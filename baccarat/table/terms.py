"""What a table and the authority of its meter must have alike, beside the settings of the progressive."""

from dataclasses import dataclass

from punto.baccarat.table.settings import Settings


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms on which a service plays, or keeps the meter of tables; `service` is its id."""

    service: str
    simulation: bool
    currency: str

    @classmethod
    def of(cls, settings: Settings) -> "Terms":
        """The terms of a table, or of an authority, with these settings."""
        return cls(settings.table, settings.simulation, settings.currency)


def unlike(table: Terms, authority: Terms, progressive: str) -> str | None:
    """Why a table cannot share the meter that this authority keeps, None if it can."""
    if table.simulation is not authority.simulation:
        return "either the table or the authority is a simulation, and not both: configure simulation alike at both"
    if table.currency != authority.currency:
        return (
            f"{table.service} plays in {table.currency}, but {authority.service} keeps the meter of {progressive} in "
            f"{authority.currency}: write the same currency in [table] of both"
        )
    return None
