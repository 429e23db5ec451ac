"""A shoe's rounds as the roads use them, their counts and the current streak."""

from collections.abc import Sequence
from dataclasses import dataclass

from punto.baccarat.coup import Winner


@dataclass(frozen=True, slots=True)
class RoadRound:
    """One round of the shoe. Void and dummy rounds are not on the roads and never become one of these.

    The totals, 0 to 9, are for a display to write in a bead; the roads do not depend on them.
    """

    winner: Winner
    player_pair: bool = False
    banker_pair: bool = False
    natural: bool = False
    player_total: int | None = None
    banker_total: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of times each result has come in this shoe; `hands` is the number of rounds, ties included."""

    player: int
    banker: int
    tie: int
    player_pair: int
    banker_pair: int
    natural: int
    hands: int


@dataclass(frozen=True, slots=True)
class Streak:
    """The side that won the last decided round, and the number of consecutive rounds it has won."""

    winner: Winner
    length: int


def counts(rounds: Sequence[RoadRound]) -> Counts:
    """The totals of the shoe so far."""
    winners = [each.winner for each in rounds]
    return Counts(
        player=winners.count(Winner.PLAYER),
        banker=winners.count(Winner.BANKER),
        tie=winners.count(Winner.TIE),
        player_pair=sum(each.player_pair for each in rounds),
        banker_pair=sum(each.banker_pair for each in rounds),
        natural=sum(each.natural for each in rounds),
        hands=len(rounds),
    )
