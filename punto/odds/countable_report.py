"""The report of a study of a game's wagers: as JSON, and as tables for a person."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import floor, log10
from typing import Any, Final

import numpy as np

from punto.baccarat.cards import RANKS
from punto.odds.countable import NOTHING, Burn, Figure, Study

_MOST_PLACES: Final = 5


def as_json(study: Study) -> dict[str, Any]:
    """The study as JSON: shares, not percentages; edges are the house's."""
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
    """The study as tables with explanations of their columns."""
    game = study.game
    yield f"{game.title} ({game.name}; source: {game.sheet})"
    yield (
        f"{study.shoes:,} shoes of {game.decks * 52} cards, {study.coups / study.shoes:.2f} coups a shoe; seed {study.seed}; "
        f"cut card {study.cut_card} from the end; {_burned(study.burn)}"
    )
    for part in (_how_often, _how_much, _by_cut_card, _one_card_less, _notes):
        yield ""
        yield from part(study)


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
    yield "The value of one unit on each favourable coup"
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
    yield "The gain of the players' edge, in percentage points, if one card is taken out of the full shoe (exact)"
    tens = RANKS.index("T")
    as_one = all(np.ptp(each.gains[tens:]) < NOTHING for each in study.removals)
    ranks = [*RANKS[:tens], "T-K"] if as_one else [*RANKS]
    yield from _aligned(
        "|".join(["wager", *ranks]),
        rows=[
            (
                each.position if each.suit is None else f"{each.position}, {each.suit}",
                *(f"{100 * gain:+.4f}" if abs(gain) > NOTHING else "0" for gain in each.gains[: len(ranks)]),
            )
            for each in study.removals
        ],
    )


def _notes(study: Study) -> Iterator[str]:
    threshold = f"{float(100 * study.threshold):g}%"
    yield f"A coup is favourable if the players' exact edge over the unseen cards is above {threshold}. ± is one standard error."
    if study.threshold:
        yield "At --threshold 0% units won are the most that any counting system could win with one unit a coup."
    else:
        yield "A count of the cards has less information than the cards: no counting system wins more with one unit a coup."
    yield "Earliest is the highest number of cards left before a favourable coup. The 100 coups include those without a wager."
    yield "Desirability index: 100 x the units won in 100 coups / their standard deviation. Counters at blackjack look for 6.6 or"
    yield "more. The square of the index (SCORE) ranks games by what the same bankroll earns at the same risk of ruin."
    if any(max(map(abs, each.gains)) < NOTHING for each in study.removals):
        yield "If every rank has 0, a single removed card has no effect, but unequal numbers of cards of the ranks have an effect."
    beside = [wager.name for wager in study.game.wagers if wager.requires_base != "none"]
    if beside:
        yield f"Needs a base wager, whose cost is not in these figures: {', '.join(beside)}."
    for name, award in study.average_top_awards.items():
        yield f"{name}: valued with its meter at the average top award, {float(award):,.0f} minor units, for every shoe."


def _burned(burn: Burn) -> str:
    if burn == "first_card":
        return "burn by the first card, which is seen"
    return f"{burn} burned unseen" if burn else "no burn"


def _aligned(*heads: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns side by side, the first aligned left and the others right; heads have | between them."""
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
    """A figure and its error, with enough decimals to show two digits of the error."""
    if figure is None:
        return "-"
    if not figure.error and (figure.error is not None or not figure.value):
        return f"{figure.value:g}{unit}"
    places = min(max(0, 1 - floor(log10(figure.error or abs(figure.value)))), _MOST_PLACES)
    if abs(figure.value) < 10**-_MOST_PLACES:
        return f"< {10**-_MOST_PLACES:.{_MOST_PLACES}f}{unit}"
    error = "?" if figure.error is None else f"{figure.error:.{places}f}"
    return f"{figure.value:.{places}f}{unit} ± {error}"
