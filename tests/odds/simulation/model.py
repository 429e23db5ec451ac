"""The simulation again, slowly: the stream as docs/reference/simulate.md describes it, and rounds as the program hands them out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import PCG64DXSM, SeedSequence

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.wagers.definition import Game
from punto.odds.exact import Position, positions
from punto.odds.simulation.outcomes import NUMBERS, Outcomes
from punto.odds.simulation.simulator import Block, Simulation
from punto.odds.simulation.tally import Tally

CARDS = {number: card for card, number in NUMBERS.items()}


def shuffled(seed: int, decks: int, places: int, block: int = 0) -> Iterator[list[Card]]:
    """The shoes of a block, so many of their cards."""
    generator = PCG64DXSM(SeedSequence(seed, spawn_key=(block,)))
    cards = [card for _ in range(decks) for card in STANDARD_DECK]
    while True:
        draws = (
            int(word) >> shift & 0xFFFF for word in generator.random_raw(16_384) for shift in (0, 16, 32, 48)
        )
        while True:
            try:
                for place in range(places):
                    other = place + _below(len(cards) - place, draws)
                    cards[place], cards[other] = cards[other], cards[place]
            except StopIteration:
                break
            yield cards[:places]


def _below(bound: int, draws: Iterator[int]) -> int:
    """A number below the bound, from as many draws as it takes."""
    while True:
        product = next(draws) * bound
        if product % 65_536 >= 65_536 % bound:
            return product // 65_536


@dataclass(frozen=True)
class Round:
    """One round: the shoe and its number in it, from 0; its cards; the rule that decides each position."""

    shoe: int
    number: int
    cards: tuple[Card, ...]
    rules: dict[str, str]


def outcomes_of(game: Game) -> Outcomes:
    return Outcomes(positions(game))


def deal(outcomes: Outcomes, cards: list[Card] | None = None, **asked: Any) -> tuple[Tally, list[Round]]:
    """Simulate and keep each round; `cards`, where they are given, are a deck of other cards than there are."""
    blocks: list[Block] = []
    simulation = Simulation(outcomes, **{"decks": 8, "seed": 1, **asked})
    if cards is not None:
        simulation._cards = np.array([NUMBERS[card] for card in cards] * asked.get("decks", 8), np.uint8)
    tally = simulation.run(1, blocks.append, keep=True)
    return tally, [each for block in blocks for each in rounds_of(outcomes, block)]


def rounds_of(outcomes: Outcomes, block: Block) -> Iterator[Round]:
    """The rounds that a block has kept."""
    kept = block.kept
    for at in range(block.rounds):
        size = outcomes.kinds[kept.kind[at]].coup_cards
        yield Round(
            block.first_shoe + int(kept.shoe[at]),
            int(kept.number[at]),
            tuple(CARDS[int(number)] for number in kept.cards[at, :size]),
            {
                position.name: rules[place]
                for position, rules, place in zip(
                    outcomes.positions, outcomes.rules, outcomes.deciding[kept.outcome[at]], strict=True
                )
            },
        )


def every_position(games: list[Game]) -> tuple[Position, ...]:
    """Every wager of several games at once."""
    return tuple(
        Position(f"{game.name}/{position.name}", position.wager)
        for game in games
        for position in positions(game)
    )
