"""The positions of sensors on the chain and their seats, from a table's settings. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from punto.drivers.coin_spot.frames import POSITIONS


class SeatsError(ValueError):
    """The settings are invalid at `position`; the message says what to write."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True, slots=True)
class Seats:
    """The seats of the positions on the chain."""

    by_position: Mapping[int, int]

    @classmethod
    def of(cls, sensors: Iterable[tuple[int, int]], seats: int) -> "Seats":
        """Read pairs of position and seat, for a table with this number of seats; a seat may have no sensor.

        Raises:
            SeatsError: a position or a seat occurs twice, or does not exist.
        """
        by_position: dict[int, int] = {}
        by_seat: dict[int, int] = {}
        for position, seat in sensors:
            if not 1 <= position <= POSITIONS:
                wrong = f"there is no position {position} on a chain: write 1 to {POSITIONS}"
            elif not 1 <= seat <= seats:
                wrong = (
                    f"position {position} has seat {seat}, which the table does not have: write 1 to {seats}"
                )
            elif position in by_position:
                wrong = f"position {position} has seat {by_position[position]} and seat {seat}: write the position once"
            elif seat in by_seat:
                wrong = (
                    f"seat {seat} has position {by_seat[seat]} and position {position}: a seat has one sensor"
                )
            else:
                by_position[position] = seat
                by_seat[seat] = position
                continue
            raise SeatsError(position, wrong)
        return cls(by_position)

    def seats(self, positions: Iterable[int]) -> tuple[int, ...]:
        """The seats of these positions, in order; a position without a seat is left out."""
        return tuple(sorted(self.by_position[each] for each in positions if each in self.by_position))

    def positions(self, seats: Iterable[int]) -> frozenset[int]:
        """The positions of these seats; a seat without a sensor is left out."""
        wanted = frozenset(seats)
        return frozenset(position for position, seat in self.by_position.items() if seat in wanted)
