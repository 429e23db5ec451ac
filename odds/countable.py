"""How far a wager can be counted: how often, and by how much, it favours the players before the cut card.

Whole shoes are dealt, and each wager is valued before each coup by its exact edge in the cards that nobody has seen:
those in the shoe and those burned face down, any of which is as likely to come as another. Somebody who knew that edge
and wagered one unit whenever it favours him would win what is found here. A count of the cards tells less than the
cards themselves, so no counting system wins more.

Figures that follow from the deal have a standard error, by leaving out one block of shoes after another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from math import floor, log10
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
"""The first card turned and as many as its points face down, 10 for a ten or a picture; or so many face down."""

DEFAULT_SHOES: Final = 1000
DEFAULT_CUT_CARD: Final = 14
"""Cards behind the cut card."""
FEWEST_SHOES: Final = 100
MOST_BURNED: Final = 20

_BLOCK: Final = 10
"""Shoes that are dealt from one generator and valued together."""
_PAST_THE_CUT_CARD: Final = 11
"""The most cards that can be dealt past it: the end of the coup it comes in, and one coup more."""
_OTHER_CUT_CARDS: Final = (26, 52, 78, 104)
_LAST: Final = 4
"""Late in the shoe means: when a quarter of its cards, or fewer, are left."""
_MOST_PLACES: Final = 5
_NOTHING: Final = 1e-12
"""Edges are sums of exact counts in floating point; what is below this is not there."""


@dataclass(frozen=True)
class Figure:
    """What the dealt shoes say, with its standard error; None where it hangs on a single block of shoes."""

    value: float
    error: float | None


@dataclass(frozen=True)
class Best:
    """The lowest house edge that was seen, and how many cards were then in the shoe."""

    edge: float
    cards_left: int


@dataclass(frozen=True)
class Counted:
    """How far one position can be counted, for a player who wagers one unit on each favourable coup.

    - `edge`: the house's in the full shoe; `mean_edge`: over all coups dealt, whose mean is nearly the same.
    - `favourable`: share of the coups in which the house's edge is below minus the threshold; `per_shoe`: how many.
    - `advantage`: the player's mean edge over those; `late`: the share of those in the last quarter of the shoe.
    - `earliest`: the most cards that were in the shoe before a favourable coup.
    - `units_per_shoe`, `units_per_100`: what he can expect to win, in a shoe and in 100 coups dealt; `deviation`: the
      standard deviation of what he wins in a shoe.
    - `desirability`: 100 times what he can expect in 100 coups over its standard deviation.
    - `by_cut_card`: `units_per_shoe` in the same shoes with so many cards behind the cut card.

    What there is none of without a favourable coup is None.
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
    """What the player's edge gains when one card is taken out of the full shoe, by its rank, as in `RANKS`; exact.

    `suit` is None where suits make no difference.
    """

    position: str
    suit: str | None
    gains: tuple[float, ...]


@dataclass(frozen=True)
class Study:
    """A game's answer, and what was asked."""

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
    """Deal shoes and value every wager before every coup; the same seed gives the same answer.

    `cut_card` is how many cards are behind it: the coup in which it comes is finished and one more dealt; where it comes
    in place of a coup's first card, that coup is the last. `progress` is told how many shoes have been dealt since it
    was last told.

    Raises:
        ValueError: there cannot be such a shoe, or an award that no coup can win; the message says what to correct.
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
            f"the cut card must have {_PAST_THE_CUT_CARD} to {cards // 2} cards behind it, not {cut_card}: the last "
            f"coups may take {_PAST_THE_CUT_CARD} more, and half of the shoe at least is to be dealt"
        )
    if isinstance(burn, int) and not 0 <= burn <= MOST_BURNED:
        raise ValueError(f"0 to {MOST_BURNED} cards can be burned, not {burn}")
    if not 0 <= threshold < 1:
        raise ValueError(f"the threshold must be from 0% to less than 100%, not {float(100 * threshold):g}%")


# --- the deal


@dataclass(frozen=True)
class _Shoe:
    """The coups of one shoe: before each, the cards not seen, of shape (coups, 52), and how many are in the shoe."""

    unseen: Cards
    left: Cards


def _deal(draws: np.random.PCG64DXSM, decks: int, cut_card: int, burn: Burn) -> _Shoe:
    """Shuffle a shoe and deal it."""
    cards = decks * len(STANDARD_DECK)
    # By whole numbers of 64 bits, which do not change with numpy's version as what it makes of them may.
    order = np.argsort(draws.random_raw(cards), kind="stable") // decks
    points = _POINTS[order].tolist()
    hidden = _hidden(points[0], burn)
    place = hidden.stop
    begins = [place]
    # The first coup to begin at the cut card or past it is the last, whether that came in place of its first card or
    # in the coup before.
    while place < cards - cut_card:
        first, second = (points[place] + points[place + 2]) % 10, (points[place + 1] + points[place + 3]) % 10
        place += _CARDS_OF[first][second][points[place + 4]]
        begins.append(place)
    seen = np.zeros((cards + 1, len(STANDARD_DECK)), np.int64)
    np.cumsum(np.eye(len(STANDARD_DECK), dtype=np.int64)[order], axis=0, out=seen[1:])
    unseen = decks - seen[begins] + (seen[hidden.stop] - seen[hidden.start])
    return _Shoe(unseen, cards - np.array(begins))


def _hidden(first_points: int, burn: Burn) -> slice:
    """The places of the cards burned face down, before the first coup."""
    if burn == "first_card":
        return slice(1, 1 + (first_points or 10))
    return slice(0, burn)


_POINTS: Final = np.array([card.points for card in STANDARD_DECK])


def _cards_of_coups() -> list[list[list[int]]]:
    """How many cards a coup takes, by the two-card totals of Player and Banker and the points of the fifth card."""
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


# --- what was found


class _Found:
    """Sums over the blocks of shoes, from which every figure is made."""

    def __init__(self, odds: GameOdds, cuts: Sequence[int], threshold: float) -> None:
        self._odds = odds
        self._cuts = cuts
        self._threshold = threshold
        self._cards = odds.game.decks * len(STANDARD_DECK)
        self._sums: list[dict[str, Numbers]] = []
        """One of each block, of shape (positions,); the units by cut card of shape (positions, cut cards)."""
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
        good = edges < -max(self._threshold, _NOTHING)
        units = np.where(good, -edges, 0)
        variances = np.zeros_like(edges)
        some = good.any(axis=1)
        variances[some] = np.where(good[some], self._odds.variances(unseen[some]), 0)
        # A coup is dealt when the one before began in front of the cut card.
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
            figures = {
                name: _figure(all_[name][number], others[name][:, number])
                for name in all_
                if name != "by_cut_card"
            }
            ever = bool(self._earliest[number])
            yield Counted(
                position=position.name,
                edge=float(full[number]),
                mean_edge=figures["mean_edge"],
                favourable=figures["favourable"],
                per_shoe=figures["per_shoe"],
                advantage=figures["advantage"] if ever else None,
                best=self._best[number],
                earliest=int(self._earliest[number]) if ever else None,
                late=figures["late"] if ever else None,
                units_per_shoe=figures["units_per_shoe"],
                units_per_100=figures["units_per_100"],
                deviation=figures["deviation"],
                desirability=figures["desirability"] if ever else None,
                by_cut_card=tuple(
                    (
                        cut,
                        _figure(all_["by_cut_card"][number, place], others["by_cut_card"][:, number, place]),
                    )
                    for place, cut in enumerate(self._cuts)
                ),
            )


def _figures(sums: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The figures that follow from sums; what does not exist is not a number."""
    shoes, coups, favourable, units = (sums[name] for name in ("shoes", "coups", "favourable", "units"))
    # What a shoe wins is what could be expected coup by coup, which differs from shoe to shoe, and what came otherwise,
    # of which the coups are not correlated. How the two go together is left out: it is some hundredths at most.
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
    """A figure with its error by the jackknife: from what it is without each block."""
    if not np.isfinite(others).all():  # without one block there is nothing to make it of
        return Figure(float(value), None)
    blocks = len(others)
    return Figure(float(value), float(np.sqrt((blocks - 1) / blocks * ((others - others.mean()) ** 2).sum())))


# --- one card less


def removals(odds: GameOdds) -> Iterator[Removal]:
    """What one card less in the full shoe gains the player, for each position and, where they matter, suits."""
    full = np.array(Composition.of_decks(odds.game.decks).counts)
    edges = odds.edges(np.vstack([full, full - np.eye(len(full), dtype=np.int64)]))
    gains = (edges[0] - edges[1:]).T.reshape(len(odds.positions), len(RANKS), len(SUITS))
    for position, each in zip(odds.positions, gains, strict=True):
        if np.ptp(each, axis=1).max() < _NOTHING:
            yield Removal(position.name, None, tuple(each[:, 0].tolist()))
        else:
            for suit, of_suit in zip(SUITS, each.T, strict=True):
                yield Removal(position.name, suit, tuple(of_suit.tolist()))


# --- what is said


def as_json(study: Study) -> dict[str, Any]:
    """The answer as JSON has it: shares, not percentages; edges are the house's."""
    return {
        "game": study.game.name,
        "decks": study.game.decks,
        "shoes": study.shoes,
        "coups": study.coups,
        "seed": study.seed,
        "cut_card": study.cut_card,
        "burn": study.burn,
        "threshold": float(study.threshold),
        "average_top_awards": {name: float(award) for name, award in study.average_top_awards.items()},
        "wagers": {
            each.position: {
                **{name: value for name, value in asdict(each).items() if name != "position"},
                "by_cut_card": {str(cut): asdict(figure) for cut, figure in each.by_cut_card},
            }
            for each in study.positions
        },
        "removals": [
            {
                "wager": each.position,
                "suit": each.suit,
                "gains": dict(zip(RANKS, each.gains, strict=True)),
            }
            for each in study.removals
        ],
    }


def lines(study: Study) -> Iterator[str]:
    """The answer as tables with what their columns mean."""
    game = study.game
    yield f"{game.title} ({game.name}; source: {game.sheet})"
    yield (
        f"{study.shoes:,} shoes of {game.decks * 52} cards, {study.coups / study.shoes:.2f} coups a shoe; seed {study.seed}; "
        f"cut card {study.cut_card} from the end; {_burned(study.burn)}"
    )
    yield ""
    yield from _how_often(study)
    yield ""
    yield from _how_much(study)
    yield ""
    yield from _by_cut_card(study)
    yield ""
    yield from _one_card_less(study)
    yield ""
    yield from _notes(study)


def _how_often(study: Study) -> Iterator[str]:
    yield "How often the next coup favours the players"
    yield from _aligned(
        "|house edge|house edge|favourable|favourable|players' edge|best, with|earliest|in the last",
        "wager|full shoe|all coups|of all coups|in a shoe|in those|cards left|cards left|quarter",
        rows=[
            (
                each.position,
                f"{100 * each.edge:.3f}%",
                _percent(each.mean_edge),
                _percent(each.favourable),
                _with_error(each.per_shoe),
                _percent(each.advantage),
                f"{-100 * each.best.edge:+.2f}%, {each.best.cards_left:>3}",
                "never" if each.earliest is None else str(each.earliest),
                _percent(each.late),
            )
            for each in study.positions
        ],
    )


def _how_much(study: Study) -> Iterator[str]:
    yield "What that is worth: one unit on each favourable coup"
    yield from _aligned(
        "|units won|units won|standard deviation|desirability",
        "wager|a shoe|in 100 coups|a shoe, units|index",
        rows=[
            (
                each.position,
                _with_error(each.units_per_shoe),
                _with_error(each.units_per_100),
                _with_error(each.deviation),
                _with_error(each.desirability),
            )
            for each in study.positions
        ],
    )


def _by_cut_card(study: Study) -> Iterator[str]:
    yield "Units won a shoe, by the number of cards behind the cut card"
    yield from _aligned(
        "|".join(["wager", *(str(cut) for cut, _ in study.positions[0].by_cut_card)]),
        rows=[
            (each.position, *(_with_error(figure) for _, figure in each.by_cut_card))
            for each in study.positions
        ],
    )


def _one_card_less(study: Study) -> Iterator[str]:
    yield "What the players' edge gains, in percentage points, when one card is taken out of the full shoe (exact)"
    tens = RANKS.index("T")
    as_one = all(np.ptp(each.gains[tens:]) < _NOTHING for each in study.removals)
    ranks = [*RANKS[:tens], "T-K"] if as_one else [*RANKS]
    yield from _aligned(
        "|".join(["wager", *ranks]),
        rows=[
            (
                each.position if each.suit is None else f"{each.position}, {each.suit}",
                *(f"{100 * gain:+.4f}" if abs(gain) > _NOTHING else "0" for gain in each.gains[: len(ranks)]),
            )
            for each in study.removals
        ],
    )


def _notes(study: Study) -> Iterator[str]:
    threshold = f"{float(100 * study.threshold):g}%"
    yield f"Favourable: the players' edge, exact in the cards not yet seen, is above {threshold}. ± is one standard error."
    if study.threshold:
        yield "At --threshold 0% units won are the most that any counting system could win with one unit a coup."
    else:
        yield "A count of the cards tells less than the cards: no counting system wins more with one unit a coup."
    yield "Earliest: the most cards in the shoe before a favourable coup. 100 coups: dealt, most of them without a wager."
    yield "Desirability index: 100 x the units won in 100 coups / their standard deviation. Counters at blackjack look for 6.6 or"
    yield "more. Its square (SCORE) ranks games by what one bankroll earns at one risk of ruin."
    if any(max(map(abs, each.gains)) < _NOTHING for each in study.removals):
        yield "0 for every rank: which card is gone tells nothing; how uneven the ranks have become does."
    beside = [wager.name for wager in study.game.wagers if wager.requires_base != "none"]
    if beside:
        yield f"Made only beside a base wager, whose cost is not in these figures: {', '.join(beside)}."
    for name, award in study.average_top_awards.items():
        yield f"{name}: valued with its meter at the average top award, {float(award) / 100:,.2f}, whatever the shoe."


def _burned(burn: Burn) -> str:
    if burn == "first_card":
        return "burn by the first card, which is seen"
    return f"{burn} burned unseen" if burn else "no burn"


def _aligned(*heads: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns side by side, the first to the left and the others to the right; heads have | between them."""
    cells = [*(head.split("|") for head in heads), *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *others in cells:
        right = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *right]).rstrip()


def _percent(share: Figure | None) -> str:
    if share is None:
        return "-"
    return _with_error(Figure(100 * share.value, None if share.error is None else 100 * share.error), "%")


def _with_error(figure: Figure | None, unit: str = "") -> str:
    """A figure and its error, with as many places as show two digits of the error."""
    if figure is None:
        return "-"
    if not figure.error and (figure.error is not None or not figure.value):
        return f"{figure.value:g}{unit}"
    places = min(max(0, 1 - floor(log10(figure.error or abs(figure.value)))), _MOST_PLACES)
    if abs(figure.value) < 10**-_MOST_PLACES:
        return f"< {10**-_MOST_PLACES:.{_MOST_PLACES}f}{unit}"
    error = "?" if figure.error is None else f"{figure.error:.{places}f}"
    return f"{figure.value:.{places}f}{unit} ± {error}"
