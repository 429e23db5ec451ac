"""How well a wager can be counted: how often, and by how much, it favours the players before the cut card.

The study deals whole shoes and values each wager before each coup by its exact edge in the unseen cards:
those in the shoe and those burned face down, which are all equally likely to come next. The result is the win
of a player who knows that edge and wagers one unit whenever it is favourable. A count of the cards has less
information than the cards themselves, so no counting system wins more.

Figures that depend on the deal have a standard error, found by leaving out one block of shoes after another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.cards import RANKS, STANDARD_DECK, SUITS
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Game
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds

Numbers = NDArray[np.float64]
Cards = NDArray[np.int64]
Burn = Literal["first_card"] | int
"""The first card turned and its points in cards face down, 10 for a ten or a picture; or a number face down."""

DEFAULT_SHOES: Final = 1000
DEFAULT_CUT_CARD: Final = 14
"""Cards behind the cut card."""
FEWEST_SHOES: Final = 100
MOST_BURNED: Final = 20

_BLOCK: Final = 10
"""Number of shoes that one generator deals and that are valued together."""
_PAST_THE_CUT_CARD: Final = 11
"""The most cards that can be dealt past the cut card: the end of its coup, and one more coup."""
_OTHER_CUT_CARDS: Final = (26, 52, 78, 104)
_LAST: Final = 4
""""Late in the shoe" means that this share of its cards, a quarter, or less is left."""
NOTHING: Final = 1e-12
"""Edges are sums of exact counts in floating point; smaller values count as zero."""


@dataclass(frozen=True)
class Figure:
    """A figure from the dealt shoes, with its standard error; None if it depends on a single block of shoes."""

    value: float
    error: float | None


@dataclass(frozen=True)
class Best:
    """The lowest house edge found, and the number of cards in the shoe at that time."""

    edge: float
    cards_left: int


@dataclass(frozen=True)
class Counted:
    """The countability of one position, for a player who wagers one unit on each favourable coup.

    - `edge`: the house's in the full shoe; `mean_edge`: over all dealt coups, with nearly the same mean.
    - `favourable`: share of the coups with a house edge below minus the threshold; `per_shoe`: their number.
    - `advantage`: the player's mean edge over those; `late`: the share of those in the last quarter of the
      shoe.
    - `earliest`: the most cards that were in the shoe before a favourable coup.
    - `units_per_shoe`, `units_per_100`: the player's expected win, in a shoe and in 100 dealt coups;
      `deviation`: the standard deviation of the win in a shoe.
    - `desirability`: 100 times the expected win in 100 coups over its standard deviation.
    - `by_cut_card`: `units_per_shoe` in the same shoes with each number of cards behind the cut card.

    Figures that do not exist without a favourable coup are None.
    """

    position: str
    edge: float
    mean_edge: Figure
    favourable: Figure
    per_shoe: Figure
    advantage: Figure | None
    best: Best
    earliest: int | None
    late: Figure | None
    units_per_shoe: Figure
    units_per_100: Figure
    deviation: Figure
    desirability: Figure | None
    by_cut_card: tuple[tuple[int, Figure], ...]


@dataclass(frozen=True)
class Removal:
    """The gain of the player's edge if one card is taken out of the full shoe, by its rank, as in `RANKS`; exact.

    `suit` is None if suits make no difference.
    """

    position: str
    suit: str | None
    gains: tuple[float, ...]


@dataclass(frozen=True)
class Study:
    """A study's results, and its parameters."""

    game: Game
    shoes: int
    seed: int
    cut_card: int
    burn: Burn
    threshold: Fraction
    coups: int
    positions: tuple[Counted, ...]
    removals: tuple[Removal, ...]
    average_top_awards: Mapping[str, Fraction]


def study(  # noqa: PLR0913 - each is one thing that is asked, and all but the game are named
    game: Game,
    *,
    decks: int,
    shoes: int = DEFAULT_SHOES,
    seed: int = 1,
    cut_card: int = DEFAULT_CUT_CARD,
    burn: Burn = "first_card",
    threshold: Fraction = Fraction(0),
    progress: Callable[[int], object] | None = None,
) -> Study:
    """Deal shoes and value every wager before every coup; the same seed gives the same results.

    `cut_card` is the number of cards behind it: the coup in which it comes is finished and one more dealt; if
    it comes in place of a coup's first card, that coup is the last. `progress` receives the number of shoes
    dealt since its last call.

    Raises:
        ValueError: the shoe is impossible, or no coup can win an award; the message says what to correct.
    """
    _check(decks, shoes, seed, cut_card, burn, threshold)
    game = replace(game, decks=decks)
    odds = GameOdds(game)
    cuts = [cut_card, *(cut for cut in _OTHER_CUT_CARDS if cut_card < cut <= decks * 26)]
    found = _Found(odds, cuts, float(threshold))
    for block, first in enumerate(range(0, shoes, _BLOCK)):
        many = min(_BLOCK, shoes - first)
        draws = np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(block,)))
        found.add([_deal(draws, decks, cut_card, burn) for _ in range(many)])
        if progress is not None:
            progress(many)
    return Study(
        game=game,
        shoes=shoes,
        seed=seed,
        cut_card=cut_card,
        burn=burn,
        threshold=threshold,
        coups=found.coups,
        positions=tuple(found.positions()),
        removals=tuple(removals(odds)),
        average_top_awards=odds.average_top_awards(),
    )


def _check(decks: int, shoes: int, seed: int, cut_card: int, burn: Burn, threshold: Fraction) -> None:
    cards = Composition.of_decks(decks).cards
    if shoes < FEWEST_SHOES:
        raise ValueError(
            f"deal at least {FEWEST_SHOES} shoes, not {shoes}: errors are found by comparing shoes with each other"
        )
    if seed < 0:
        raise ValueError(f"the seed must be 0 or more, not {seed}")
    if not _PAST_THE_CUT_CARD <= cut_card <= cards // 2:
        raise ValueError(
            f"the cut card must have {_PAST_THE_CUT_CARD} to {cards // 2} cards behind it, not {cut_card}, "
            f"because the last coups can take {_PAST_THE_CUT_CARD} cards, and at least half of the shoe must be dealt"
        )
    if isinstance(burn, int) and not 0 <= burn <= MOST_BURNED:
        raise ValueError(f"0 to {MOST_BURNED} cards can be burned, not {burn}")
    if not 0 <= threshold < 1:
        raise ValueError(f"the threshold must be from 0% to less than 100%, not {float(100 * threshold):g}%")


# --- the deal


@dataclass(frozen=True)
class _Shoe:
    """The coups of one shoe: before each, the unseen cards, of shape (coups, 52), and the number in the shoe."""

    unseen: Cards
    left: Cards


def _deal(draws: np.random.PCG64DXSM, decks: int, cut_card: int, burn: Burn) -> _Shoe:
    """Shuffle a shoe and deal it."""
    cards = decks * len(STANDARD_DECK)
    # By whole numbers of 64 bits, because numpy may change its other methods between versions.
    order = np.argsort(draws.random_raw(cards), kind="stable") // decks
    points = _POINTS[order].tolist()
    hidden = _hidden(points[0], burn)
    place = hidden.stop
    begins = [place]
    # The first coup that begins at the cut card or past it is the last, whether the cut card came in place of
    # its first card or in the coup before.
    while place < cards - cut_card:
        first, second = (points[place] + points[place + 2]) % 10, (points[place + 1] + points[place + 3]) % 10
        place += _CARDS_OF[first][second][points[place + 4]]
        begins.append(place)
    seen = np.zeros((cards + 1, len(STANDARD_DECK)), np.int64)
    np.cumsum(np.eye(len(STANDARD_DECK), dtype=np.int64)[order], axis=0, out=seen[1:])
    unseen = decks - seen[begins] + (seen[hidden.stop] - seen[hidden.start])
    return _Shoe(unseen, cards - np.array(begins))


def _hidden(first_points: int, burn: Burn) -> slice:
    """The positions of the cards burned face down, before the first coup."""
    if burn == "first_card":
        return slice(1, 1 + (first_points or 10))
    return slice(0, burn)


_POINTS: Final = np.array([card.points for card in STANDARD_DECK])


def _cards_of_coups() -> list[list[list[int]]]:
    """The number of cards in a coup, by the two-card totals of Player and Banker and the points of the fifth card."""
    of_points = [next(card for card in STANDARD_DECK if card.points == points) for points in range(10)]
    sizes = np.zeros((10, 10, 10), np.int64)
    for player, banker, third in product(range(10), repeat=3):
        coup = Coup((of_points[player], of_points[banker], of_points[0], of_points[0]))
        if not coup.over:
            coup = coup.with_card(of_points[third])
        sizes[player, banker, third] = coup.coup_cards + (not coup.over)
    found: list[list[list[int]]] = sizes.tolist()
    return found


_CARDS_OF: Final = _cards_of_coups()


# --- the results


class _Found:
    """Sums over the blocks of shoes; every figure is computed from them."""

    def __init__(self, odds: GameOdds, cuts: Sequence[int], threshold: float) -> None:
        self._odds = odds
        self._cuts = cuts
        self._threshold = threshold
        self._cards = odds.game.decks * len(STANDARD_DECK)
        self._sums: list[dict[str, Numbers]] = []
        """One per block, of shape (positions,); the units by cut card of shape (positions, cut cards)."""
        self._best = [Best(np.inf, 0)] * len(odds.positions)
        self._earliest = np.zeros(len(odds.positions), np.int64)
        self.coups = 0

    def add(self, shoes: Sequence[_Shoe]) -> None:
        """Value the coups of a block of shoes."""
        unseen = np.concatenate([shoe.unseen for shoe in shoes])
        left = np.concatenate([shoe.left for shoe in shoes])
        sizes = [len(shoe.left) for shoe in shoes]
        firsts = np.cumsum([0, *sizes[:-1]])
        edges = self._odds.edges(unseen)
        good = edges < -max(self._threshold, NOTHING)
        units = np.where(good, -edges, 0)
        variances = np.zeros_like(edges)
        some = good.any(axis=1)
        variances[some] = np.where(good[some], self._odds.variances(unseen[some]), 0)
        # A coup is dealt if the one before began in front of the cut card.
        before = np.roll(left, 1)
        before[firsts] = self._cards
        dealt = before[:, None] > np.array(self._cuts)
        of_shoe = np.add.reduceat(units, firsts)
        count = len(self._odds.positions)
        self._sums.append(
            {
                "shoes": np.full(count, len(shoes), np.float64),
                "coups": np.full(count, len(left), np.float64),
                "edges": edges.sum(axis=0),
                "favourable": good.sum(axis=0, dtype=np.float64),
                "late": good[left <= self._cards // _LAST].sum(axis=0, dtype=np.float64),
                "units": of_shoe.sum(axis=0),
                "squares": (of_shoe**2).sum(axis=0),
                "variances": variances.sum(axis=0),
                "by_cut_card": units.T @ dealt,
            }
        )
        self.coups += len(left)
        self._keep(edges, good, left)

    def _keep(self, edges: Numbers, good: NDArray[np.bool_], left: Cards) -> None:
        for position, row in enumerate(edges.argmin(axis=0)):
            if edges[row, position] < self._best[position].edge:
                self._best[position] = Best(float(edges[row, position]), int(left[row]))
        self._earliest = np.maximum(self._earliest, np.where(good, left[:, None], 0).max(axis=0))

    def positions(self) -> Iterator[Counted]:
        """Every position's figures."""
        blocks = {name: np.stack([sums[name] for sums in self._sums]) for name in self._sums[0]}
        total = {name: each.sum(axis=0) for name, each in blocks.items()}
        all_, others = _figures(total), _figures({name: total[name] - each for name, each in blocks.items()})
        full = self._odds.edges(np.array([Composition.of_decks(self._odds.game.decks).counts]))[0]
        for number, position in enumerate(self._odds.positions):
            figures: dict[str, Any] = {
                name: _figure(all_[name][number], others[name][:, number])
                for name in all_
                if name != "by_cut_card"
            }
            if not self._earliest[number]:
                figures |= dict.fromkeys(("advantage", "late", "desirability"))
            units, other_units = all_["by_cut_card"][number], others["by_cut_card"][:, number]
            yield Counted(
                position=position.name,
                edge=float(full[number]),
                best=self._best[number],
                earliest=int(self._earliest[number]) or None,
                by_cut_card=tuple(
                    (cut, _figure(units[place], other_units[:, place]))
                    for place, cut in enumerate(self._cuts)
                ),
                **figures,
            )


def _figures(sums: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The figures that follow from sums; a figure that does not exist is NaN."""
    shoes, coups, favourable, units = (sums[name] for name in ("shoes", "coups", "favourable", "units"))
    # A shoe's win is its expected win, coup by coup, which differs from shoe to shoe, plus random deviations,
    # which are not correlated between coups. The correlation of both is left out: it is some hundredths at
    # most.
    deviation = np.sqrt(
        sums["variances"] / shoes + np.maximum(sums["squares"] / shoes - (units / shoes) ** 2, 0)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "mean_edge": sums["edges"] / coups,
            "favourable": favourable / coups,
            "per_shoe": favourable / shoes,
            "advantage": units / favourable,
            "late": sums["late"] / favourable,
            "units_per_shoe": units / shoes,
            "units_per_100": 100 * units / coups,
            "deviation": deviation,
            "desirability": 100 * (100 * units / coups) / (deviation * np.sqrt(100 * shoes / coups)),
            "by_cut_card": sums["by_cut_card"] / shoes[..., None],
        }


def _figure(value: float, others: Numbers) -> Figure:
    """A figure with its error by the jackknife: from its value without each block."""
    if not np.isfinite(others).all():  # without one block the figure cannot be computed
        return Figure(float(value), None)
    blocks = len(others)
    return Figure(float(value), float(np.sqrt((blocks - 1) / blocks * ((others - others.mean()) ** 2).sum())))


def removals(odds: GameOdds) -> Iterator[Removal]:
    """The player's gain from one card removed from the full shoe, for each position and, if they matter, suits."""
    full = np.array(Composition.of_decks(odds.game.decks).counts)
    edges = odds.edges(np.vstack([full, full - np.eye(len(full), dtype=np.int64)]))
    gains = (edges[0] - edges[1:]).T.reshape(len(odds.positions), len(RANKS), len(SUITS))
    for position, each in zip(odds.positions, gains, strict=True):
        if np.ptp(each, axis=1).max() < NOTHING:
            yield Removal(position.name, None, tuple(each[:, 0].tolist()))
        else:
            for suit, of_suit in zip(SUITS, each.T, strict=True):
                yield Removal(position.name, suit, tuple(of_suit.tolist()))
