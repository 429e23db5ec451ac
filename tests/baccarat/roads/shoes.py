"""Shoes to draw, written as a letter for each round: B, P or T."""

from random import Random

from punto.baccarat.coup import Winner
from punto.baccarat.roads.rounds import RoadRound

WINNERS = {"B": Winner.BANKER, "P": Winner.PLAYER, "T": Winner.TIE}
LETTERS = {winner: letter for letter, winner in WINNERS.items()}


def rounds(shoe: str) -> list[RoadRound]:
    return [RoadRound(WINNERS[letter]) for letter in shoe]


def random_shoe(seed: int) -> str:
    """Up to 90 rounds; from one seed to the next more or less streaky, so that long tails come too, and richer in ties."""
    chance = Random(seed)
    repeats, ties = chance.choice((0.3, 0.5, 0.75, 0.95)), chance.choice((0.0, 0.1, 0.4))
    shoe, last = "", chance.choice("BP")
    for _ in range(chance.randint(0, 90)):
        if chance.random() < ties:
            shoe += "T"
            continue
        if chance.random() >= repeats:
            last = "P" if last == "B" else "B"
        shoe += last
    return shoe
