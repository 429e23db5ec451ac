"""The table of play: who draws a third card.

Sheet 004: Player draws on 0-5 and stands on 6-7. If Player stood, Banker does the same. If Player drew,
Banker draws by the points of Player's third card. If either hand has a natural, the coup ends and neither
hand draws.
"""

from typing import Final

# Banker's total -> points of Player's third card on which Banker draws (sheet 004, "Banker having").
BANKER_DRAWS_ON: Final[tuple[frozenset[int], ...]] = (
    frozenset(range(10)),  # 0
    frozenset(range(10)),  # 1
    frozenset(range(10)),  # 2
    frozenset({0, 1, 2, 3, 4, 5, 6, 7, 9}),  # 3: any but an eight
    frozenset({2, 3, 4, 5, 6, 7}),  # 4
    frozenset({4, 5, 6, 7}),  # 5
    frozenset({6, 7}),  # 6
    frozenset(),  # 7: stands
)


def player_draws(total: int) -> bool:
    """Whether Player, with this two-card total of 0-7, takes a third card."""
    return total <= 5


def banker_draws(total: int, player_third: int | None) -> bool:
    """Whether Banker, with this two-card total of 0-7, takes a third card.

    `player_third` is the points of Player's third card, None when Player stood.
    """
    if player_third is None:
        return total <= 5
    return player_third in BANKER_DRAWS_ON[total]
