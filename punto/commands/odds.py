"""`punto odds`: the exact odds of a game's wagers."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from tqdm import tqdm

from punto.baccarat.cards import Card
from punto.baccarat.wagers.definition import Game
from punto.commands.arguments import (
    add_decks,
    add_game,
    burn,
    checked,
    decks_text,
    game_or_table,
    game_with_decks,
    percent,
    share,
)
from punto.commands.numbers import whole
from punto.configs.problems import ConfigError, Problem, cut
from punto.odds import countable, countable_report
from punto.odds.composition import MOST_DECKS, Composition, CompositionError
from punto.odds.countable import DEFAULT_CUT_CARD, DEFAULT_SHOES
from punto.odds.exact import GameOdds, WagerOdds
from punto.odds.published import check
from punto.runtime.csv_cells import Cell, csv_lines

_MOST: Final = 999_999_999
_OF_COUNTABLE: Final = ("shoes", "seed", "cut_card", "burn", "threshold")
_OWN: Final = True
"""The value of --published without a file: punto's own file of printed figures."""

HELP: Final = (
    "Compute the exact odds of every wager of a game. The output has the house edge per unit staked (pushes included), the "
    "probabilities of a win and a push, and the variance. For each rule, the output also has a count: the number of sequences "
    "of six cards in which this rule decides the wager. A coup of four or five cards counts once for each sequence that begins "
    "with these cards, so the counts of every wager have the same total. With --published, compare the figures that are printed "
    "on "
    "the regulators' sheets with the exact figures. For each printed figure, a mark in the file says how closely the exact "
    "figure must agree. If a figure agrees less closely, the exit status is 1. With "
    "--countable, deal whole shoes at random, and find how often each wager favours the players before the cut card. For 1,000 "
    "shoes, this takes some seconds if the wagers depend only on points, and 15 to 50 seconds if they depend on ranks or suits."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    add_game(parser, note=". With --published, only the figures of this game are compared")
    add_decks(parser, MOST_DECKS)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, with counts as whole numbers")
    lines = "print the odds of one shoe as CSV, with a line for each rule of each wager"
    form.add_argument("--csv", action="store_true", help=lines)
    exact = parser.add_argument_group("the odds of one shoe")
    cards = "the cards that have left the shoe; a card is its rank (A23456789TJQK) and its suit (SHDC)"
    exact.add_argument("--removed", type=_cards, default=(), metavar="9S,KD,...", help=cards)
    exact.add_argument(
        "--meter",
        type=_meter,
        action="append",
        default=[],
        metavar="WAGER=AMOUNT",
        help="the amount on the meter of a progressive wager, in minor units (default: the average amount when the whole meter is "
        "won). "
        "Give this option once for each progressive wager",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--published",
        nargs="?",
        const=_OWN,
        type=Path,
        metavar="FILE",
        help="compare printed figures with the exact ones (default: the figures of the sheets on which punto is based)",
    )
    mode.add_argument(
        "--countable",
        action="store_true",
        help="find how much players who count cards can gain at each wager",
    )
    counted = parser.add_argument_group("with --countable")
    counted.add_argument(
        "--shoes",
        type=whole(0, _MOST),
        metavar="N",
        help=f"the number of shoes to deal (default: {DEFAULT_SHOES})",
    )
    counted.add_argument(
        "--seed", type=int, metavar="S", help="the number that determines the cards (default: 1)"
    )
    behind = f"the number of cards behind the cut card (default: {DEFAULT_CUT_CARD})"
    counted.add_argument("--cut-card", type=whole(0, _MOST), metavar="N", help=behind)
    burned = "how many cards are burned. first_card (the default): as many cards as the points of the first card. N: N unseen cards (0 for none)"
    counted.add_argument("--burn", type=burn, metavar="first_card|N", help=burned)
    threshold = "the players' advantage above which a wager counts as favourable (default: 0%%)"
    counted.add_argument("--threshold", type=share, metavar="P%", help=threshold)


def main(args: argparse.Namespace) -> int:
    """Print the odds of one shoe, the comparison with printed figures, or the study of whole shoes."""
    if args.published is not None:
        _refuse(args, "--published", "decks", "csv", "removed", "meter", *_OF_COUNTABLE)
        return _published(args)
    if args.countable:
        _refuse(args, "--countable", "csv", "removed", "meter")
    else:
        _refuse(args, "the odds of one shoe", *_OF_COUNTABLE)
    if args.game is None:
        raise ConfigError(
            [
                Problem(
                    "the game is missing: add --game with a game file, or with the name of a game that ships with "
                    "punto"
                )
            ]
        )
    game = game_with_decks(args)
    return _countable(args, game) if args.countable else _one_shoe(args, game)


def _refuse(args: argparse.Namespace, mode: str, *options: str) -> None:
    """Refuse options that a mode does not use."""
    for option in options:
        if getattr(args, option) not in (None, (), [], False):
            name = option.replace("_", "-")
            raise ConfigError([Problem(f"--{name} cannot be used with {mode}: remove one of them")])


def _published(args: argparse.Namespace) -> int:
    game = None if args.game is None else game_or_table(args.game)
    report = check.check(None if args.published is _OWN else args.published, game_or_table, game)
    _print(args, check.as_json(report), check.lines(report))
    return 0 if report.as_marked else 1


def _countable(args: argparse.Namespace, game: Game) -> int:
    given = {name: value for name in _OF_COUNTABLE if (value := getattr(args, name)) is not None}
    try:
        # `disable=None`: show the bar only in a terminal
        with tqdm(
            total=args.shoes or DEFAULT_SHOES, unit=" shoes", leave=False, disable=None, file=sys.__stderr__
        ) as bar:
            study = countable.study(game, decks=game.decks, progress=bar.update, **given)
    except ValueError as error:
        raise ConfigError([Problem(str(error))]) from None
    _print(args, countable_report.as_json(study), countable_report.lines(study))
    return 0


def _one_shoe(args: argparse.Namespace, game: Game) -> int:
    try:
        composition = Composition.of_decks(game.decks).without(args.removed)
    except CompositionError as error:
        raise ConfigError([Problem(f"--removed: {error}")]) from None
    exact = GameOdds(game)
    meters = _meters(exact, args.meter)
    try:
        odds = exact.odds(composition, meters)
    except ValueError as error:
        raise ConfigError([Problem(str(error))]) from None
    answer = _Answer(exact, composition, odds, meters, args.removed)
    if args.csv:
        sys.stdout.writelines(csv_lines(_rows(answer), end="\n"))
    else:
        _print(args, _plain(answer), _table(answer))
    return 0


class _Answer(NamedTuple):
    """The odds of one shoe. `meters` has the amounts that were given, by position, in minor units."""

    exact: GameOdds
    composition: Composition
    odds: dict[str, WagerOdds]
    meters: dict[str, Fraction]
    removed: tuple[Card, ...]


def _print(args: argparse.Namespace, answer: dict[str, Any], lines: Iterable[str]) -> None:
    if args.json:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines))


@checked
def _cards(text: str) -> tuple[Card, ...]:
    return tuple(Card(cut(code.strip())) for code in text.split(",")) if text.strip() else ()


def _meter(text: str) -> tuple[str, int]:
    wager, _, amount = text.partition("=")
    if not amount.isascii() or not amount.isdigit() or len(amount) > 15:
        raise argparse.ArgumentTypeError(
            f"{cut(text)!r} is not a meter: write the wager's name and minor units, such as progressive=9810062"
        )
    return wager, int(amount)


def _meters(exact: GameOdds, asked: Iterable[tuple[str, int]]) -> dict[str, Fraction]:
    """The amount on the meter of each position whose wager was given one."""
    names = {each.name: each.wager.name for each in exact.positions if each.wager.progressive is not None}
    amounts: dict[str, int] = {}
    for wager, amount in asked:
        if wager not in names.values():
            known = ", ".join(dict.fromkeys(names.values())) or "none"
            message = (
                f"--meter: {cut(wager)!r} is not a wager with a meter; those of {exact.game.title}: {known}"
            )
            raise ConfigError([Problem(message)])
        if wager in amounts:
            raise ConfigError(
                [Problem(f"--meter: {wager} is there twice: write this option once for each wager")]
            )
        amounts[wager] = amount
    return {name: Fraction(amounts[wager]) for name, wager in names.items() if wager in amounts}


def _plain(answer: _Answer) -> dict[str, Any]:
    """The answer for JSON."""
    exact, composition, odds, meters, removed = answer
    awards = exact.average_top_awards()
    return {
        "game": exact.game.name,
        "decks": exact.game.decks,
        "removed": list(removed),
        "cards": composition.cards,
        "total": composition.total,
        "wagers": {
            name: {
                "edge": float(its.edge),
                "hit": float(its.hit),
                "push": float(its.push),
                "variance": float(its.variance),
                **(
                    {
                        "meter": float(meters.get(name, awards[name])),
                        "average_top_award": float(awards[name]),
                    }
                    if name in awards
                    else {}
                ),
                "rules": {
                    rule.rule: {
                        "count": rule.count,
                        "probability": float(rule.probability),
                        "pays": rule.pays,
                    }
                    for rule in its.rules
                },
            }
            for name, its in odds.items()
        },
    }


def _rows(answer: _Answer) -> Iterator[tuple[Cell, ...]]:
    """The answer for CSV. The figures of a wager are on the line of each of its rules."""
    yield "wager", "edge", "hit", "push", "variance", "rule", "pays", "count", "probability"
    for name, its in answer.odds.items():
        figures = [float(each) for each in (its.edge, its.hit, its.push, its.variance)]
        for rule in its.rules:
            yield name, *figures, rule.rule, rule.pays, rule.count, float(rule.probability)


def _table(answer: _Answer) -> Iterator[str]:
    exact, composition, odds, meters, removed = answer
    game = exact.game
    yield f"{game.title} ({game.name}; source: {game.sheet})"
    yield f"{decks_text(game)}, {composition.cards} cards{' after ' + ' '.join(removed) if removed else ''}"
    yield f"counted over the {composition.total:,} sequences of six cards"
    yield ""
    width = max(len("wager"), *(len(name) for name in odds))
    yield f"{'wager':<{width}}  {'house edge':>11}  {'wins':>9}  {'pushes':>9}  {'variance':>12}"
    for name, its in odds.items():
        yield (
            f"{name:<{width}}  {percent(its.edge):>11}  {percent(its.hit):>9}  {percent(its.push):>9}  "
            f"{float(its.variance):>12,.4f}"
        )
    for name, award in exact.average_top_awards().items():
        average = f"average top award {float(award):,.0f} minor units, of a seed of {_seed(exact, name)}{_stake(exact, name)}"
        given = meters.get(name)
        if given is None:
            yield f"\n{name}: its meter at the {average}"
        else:
            yield f"\n{name}: its meter at {float(given):,.0f}, as given; {average}"
    rules = [(name, rule) for name, its in odds.items() for rule in its.rules]
    rule_width = max(len(rule.rule) for _, rule in rules)
    pays_width = max(len(rule.pays) for _, rule in rules)
    count_width = len(f"{composition.total:,}")
    yield ""
    yield (
        f"{'wager':<{width}}  {'rule':<{rule_width}}  {'pays':<{pays_width}}  {'orders':>{count_width}}  "
        f"{'probability':>12}  {'one in':>13}"
    )
    for name, rule in rules:
        one_in = f"{float(1 / rule.probability):,.2f}" if rule.count else "never"
        yield (
            f"{name:<{width}}  {rule.rule:<{rule_width}}  {rule.pays:<{pays_width}}  "
            f"{rule.count:>{count_width},}  {float(rule.probability):>12.8f}  {one_in:>13}"
        )


def _seed(exact: GameOdds, name: str) -> str:
    (progressive,) = [each.wager.progressive for each in exact.positions if each.name == name]
    return "none" if progressive is None else f"{progressive.seed:,}"


def _stake(exact: GameOdds, name: str) -> str:
    """The stake for which a meter's wager is valued, if the stake can vary: the meter's pay does not depend on it."""
    (limits,) = [each.wager.limits for each in exact.positions if each.name == name]
    return "" if limits.minimum == limits.maximum else f", with {limits.minimum:,} wagered, its minimum"
