"""`punto odds`: the exact odds of a game's wagers."""

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from tqdm import tqdm

from punto.baccarat.cards import Card
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.pay import percentage
from punto.commands.numbers import whole
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem, cut
from punto.odds import countable, countable_report
from punto.odds.composition import MOST_DECKS, Composition, CompositionError
from punto.odds.countable import DEFAULT_CUT_CARD, DEFAULT_SHOES, Burn
from punto.odds.exact import GameOdds, WagerOdds
from punto.odds.published import check

_MOST: Final = 999_999_999
_OF_COUNTABLE: Final = ("shoes", "seed", "cut_card", "burn", "threshold")
_OWN: Final = True
"""Stands for the product's own file of printed figures."""

HELP: Final = (
    "The exact odds of every wager of a game: how many orders of six cards each rule decides, and from that the house's "
    "edge per unit staked (pushes in the denominator), how often the wager wins and pushes, and its variance. Nothing is "
    "sampled. A coup of four or five cards counts with every order of the cards after it, so all counts are over the "
    "same total. With --published the figures that the regulators' sheets print are held against the exact ones; the exit "
    "status is 1 if one is not as it is marked. With --countable whole shoes are dealt, to find how often each wager "
    "turns in the players' favour before the cut card: 1,000 shoes take some seconds where only points count, and 15 to 50 "
    "seconds for wagers on ranks and suits."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "--game", metavar="FILE", help="a game file, or the name of a game that ships with punto"
    )
    parser.add_argument(
        "--decks", type=_decks, metavar="N", help=f"1 to {MOST_DECKS}; the game's own if left out"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, counts as whole numbers")
    form.add_argument(
        "--csv",
        action="store_true",
        help="print CSV for the odds of one shoe, a line for each rule of each wager",
    )
    exact = parser.add_argument_group("the odds of one shoe")
    exact.add_argument(
        "--removed",
        type=_cards,
        default=(),
        metavar="9S,KD,...",
        help="cards that have left the shoe: rank A23456789TJQK, then suit SHDC",
    )
    exact.add_argument(
        "--meter",
        type=_meter,
        action="append",
        default=[],
        metavar="WAGER=AMOUNT",
        help="what is on a progressive wager's meter, in minor units; its average top award if left out; once a wager",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--published",
        nargs="?",
        const=_OWN,
        type=_file,
        metavar="FILE",
        help="check printed figures, by default those of the sheets that punto is built from",
    )
    mode.add_argument("--countable", action="store_true", help="find how far each wager can be counted")
    counted = parser.add_argument_group("with --countable")
    counted.add_argument("--shoes", type=whole(0, _MOST), metavar="N", help=f"default {DEFAULT_SHOES}")
    counted.add_argument("--seed", type=int, metavar="S", help="default 1")
    counted.add_argument(
        "--cut-card",
        type=whole(0, _MOST),
        metavar="N",
        help=f"cards behind the cut card, default {DEFAULT_CUT_CARD}",
    )
    counted.add_argument(
        "--burn",
        type=_burn,
        metavar="first_card|N",
        help="as the first card's points (the default), or so many cards unseen, 0 for none",
    )
    counted.add_argument(
        "--threshold",
        type=_threshold,
        metavar="P%",
        help="the players' advantage above which a wager counts as favourable, default 0%%",
    )


def main(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    if args.published is not None:
        _refuse(args, "--published", "game", "decks", "csv", "removed", "meter", *_OF_COUNTABLE)
        return _published(args)
    if args.countable:
        _refuse(args, "--countable", "csv", "removed", "meter")
    else:
        _refuse(args, "the odds of one shoe", *_OF_COUNTABLE)
    if args.game is None:
        raise ConfigError([Problem("--game is missing: name a game file, or a game that ships with punto")])
    game = load_game(args.game)
    if args.decks is not None:
        game = replace(game, decks=args.decks)
    return _countable(args, game) if args.countable else _one_shoe(args, game)


def _refuse(args: argparse.Namespace, mode: str, *options: str) -> None:
    """What a mode takes no notice of is refused, and not passed over."""
    for option in options:
        if getattr(args, option) not in (None, (), [], False):
            name = option.replace("_", "-")
            raise ConfigError([Problem(f"--{name} has no place beside {mode}: leave one out")])


def _published(args: argparse.Namespace) -> int:
    report = check.check(None if args.published is _OWN else args.published)
    _print(args, check.as_json(report), check.lines(report))
    return 0 if report.as_marked else 1


def _countable(args: argparse.Namespace, game: Game) -> int:
    given = {name: value for name in _OF_COUNTABLE if (value := getattr(args, name)) is not None}
    try:
        # `disable=None`: the bar is for a terminal
        with tqdm(total=args.shoes or DEFAULT_SHOES, unit=" shoes", leave=False, disable=None) as bar:
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
        csv.writer(sys.stdout, lineterminator="\n").writerows(_rows(answer))
    else:
        _print(args, _plain(answer), _table(answer))
    return 0


class _Answer(NamedTuple):
    """What was found and asked; `meters` has the meters that were given, by position and in minor units."""

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


def _decks(text: str) -> int:
    try:
        Composition.of_decks(decks := int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MOST_DECKS}, not {cut(text)!r}") from None
    return decks


def _cards(text: str) -> tuple[Card, ...]:
    try:
        return tuple(Card(cut(code.strip())) for code in text.split(",")) if text.strip() else ()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _meter(text: str) -> tuple[str, int]:
    wager, _, amount = text.partition("=")
    if not amount.isascii() or not amount.isdigit() or len(amount) > 15:
        raise argparse.ArgumentTypeError(
            f"{cut(text)!r} is no meter: write the wager's name and minor units, such as progressive=9810062"
        )
    return wager, int(amount)


def _burn(text: str) -> Burn:
    if text == "first_card":
        return "first_card"
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"must be first_card or a number of cards, not {cut(text)!r}")
    return int(text)


def _threshold(text: str) -> Fraction:
    try:
        return percentage(cut(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _file(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError(
            "the file's name is empty: write one, or nothing for the sheets' own"
        )
    return Path(text)


def _meters(exact: GameOdds, asked: Iterable[tuple[str, int]]) -> dict[str, Fraction]:
    """What is on the meter of each position whose wager has an amount."""
    names = {each.name: each.wager.name for each in exact.positions if each.wager.progressive is not None}
    amounts: dict[str, int] = {}
    for wager, amount in asked:
        if wager not in names.values():
            known = ", ".join(dict.fromkeys(names.values())) or "none of its wagers"
            raise ConfigError(
                [Problem(f"--meter: {cut(wager)!r} pays from no meter; in {exact.game.title} does: {known}")]
            )
        if wager in amounts:
            raise ConfigError([Problem(f"--meter: {wager} is there twice: give one amount")])
        amounts[wager] = amount
    return {name: Fraction(amounts[wager]) for name, wager in names.items() if wager in amounts}


def _plain(answer: _Answer) -> dict[str, Any]:
    """The answer as JSON has it."""
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
                **(_of_meter(meters.get(name, awards[name]), awards[name]) if name in awards else {}),
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


def _rows(answer: _Answer) -> Iterator[tuple[object, ...]]:
    """The answer as CSV has it: the figures of a wager are on the line of each of its rules."""
    yield "wager", "edge", "hit", "push", "variance", "rule", "pays", "count", "probability"
    for name, its in answer.odds.items():
        figures = [float(each) for each in (its.edge, its.hit, its.push, its.variance)]
        for rule in its.rules:
            yield name, *figures, rule.rule, rule.pays, rule.count, float(rule.probability)


def _of_meter(amount: Fraction, average: Fraction) -> dict[str, float]:
    return {"meter": float(amount), "average_top_award": float(average)}


def _table(answer: _Answer) -> Iterator[str]:
    exact, composition, odds, meters, removed = answer
    game = exact.game
    yield f"{game.title} ({game.name}; source: {game.sheet})"
    yield f"{_decks_of(game)}, {composition.cards} cards{' after ' + ' '.join(removed) if removed else ''}"
    yield f"counted over the {composition.total:,} orders of six cards"
    yield ""
    width = max(len("wager"), *(len(name) for name in odds))
    yield f"{'wager':<{width}}  {'house edge':>11}  {'wins':>9}  {'pushes':>9}  {'variance':>12}"
    for name, its in odds.items():
        yield (
            f"{name:<{width}}  {_percent(its.edge):>11}  {_percent(its.hit):>9}  {_percent(its.push):>9}  "
            f"{float(its.variance):>12,.4f}"
        )
    for name, award in exact.average_top_awards().items():
        average = f"average top award {float(award) / 100:,.2f}, of a seed of {_seed(exact, name)}{_stake(exact, name)}"
        given = meters.get(name)
        if given is None:
            yield f"\n{name}: its meter at the {average}"
        else:
            yield f"\n{name}: its meter at {float(given) / 100:,.2f}, as given; {average}"
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


def _decks_of(game: Game) -> str:
    return "1 deck" if game.decks == 1 else f"{game.decks} decks"


def _seed(exact: GameOdds, name: str) -> str:
    (progressive,) = [each.wager.progressive for each in exact.positions if each.name == name]
    return "none" if progressive is None else f"{progressive.seed / 100:,.2f}"


def _stake(exact: GameOdds, name: str) -> str:
    """For what stake a wager on a meter is valued, where it may have others: what the meter pays does not grow with it."""
    (limits,) = [each.wager.limits for each in exact.positions if each.name == name]
    return (
        "" if limits.minimum == limits.maximum else f", with {limits.minimum / 100:,.2f} wagered, its minimum"
    )


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.4f}%"
