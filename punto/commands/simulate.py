"""`punto simulate`: a game's wagers over random rounds, compared with their exact odds."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from tqdm import tqdm

from punto.commands.arguments import add_decks, add_game, burn, decks_text, game_with_decks
from punto.commands.numbers import whole
from punto.configs.problems import ConfigError, Problem, cut
from punto.odds.composition import MOST_DECKS, Composition
from punto.odds.exact import GameOdds
from punto.odds.simulation.outcomes import Outcomes
from punto.odds.simulation.rounds_file import RoundsFile
from punto.odds.simulation.simulator import (
    GENERATOR,
    ROUNDS_OF_A_BLOCK,
    SHOES_OF_A_BATCH,
    SHOES_OF_A_BLOCK,
    Block,
    ShoeRules,
    Simulation,
)
from punto.odds.simulation.tally import Estimate, Tally, WagerEstimate, estimates

HELP: Final = (
    "Deal random rounds, settle every wager of a game on each round, and compare the results with the exact odds. Each round is "
    "dealt from a full, freshly shuffled shoe, as in the exact odds. With --shoes, whole shoes are played from the burn to "
    "the cut card; the last shoe ends with the last requested round. The same seed gives the same results, with any number of "
    "processors."
)
ROUNDS: Final = 1_000_000
SEED: Final = 1
MOST_ROUNDS: Final = 10**15
MOST_JOBS: Final = 256
_OF_SHOES: Final = ("burn", "burn_ace", "cut_card", "coups_after_cut_card")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    usual = ShoeRules()
    add_game(parser, required=True)
    rounds = f"the number of rounds, such as 1e8 or 100_000_000 (default: {ROUNDS:,})"
    parser.add_argument("--rounds", type=whole(1, MOST_ROUNDS), default=ROUNDS, metavar="N", help=rounds)
    seed = f"the whole number, 0 or more, that determines the cards (default: {SEED})"
    parser.add_argument("--seed", type=whole(0), default=SEED, metavar="S", help=seed)
    add_decks(parser, MOST_DECKS)
    jobs, processors = "the number of processors to use (default: all)", min(os.cpu_count() or 1, MOST_JOBS)
    parser.add_argument("--jobs", type=whole(1, MOST_JOBS), default=processors, metavar="J", help=jobs)
    parser.add_argument("--json", action="store_true", help="print JSON")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--csv", type=_name_of_file, metavar="FILE", help="write each round to this CSV file")
    parquet = "write each round to this Parquet file"
    kept.add_argument("--parquet", type=_name_of_file, metavar="FILE", help=parquet)
    shoes = parser.add_argument_group("whole shoes")
    shoes.add_argument("--shoes", action="store_true", help="play whole shoes, from the burn to the cut card")
    burned = "how many cards are burned. first_card (the default): as many cards as the points of the first card. N: N unseen cards (0 for none)"
    shoes.add_argument("--burn", type=burn, metavar="first_card|N", help=burned)
    ace = f"how many cards are burned if the first card is an ace (default: {usual.burn_ace})"
    shoes.add_argument("--burn-ace", type=int, choices=(1, 11), help=ace)
    behind = f"the number of cards behind the cut card (default: {usual.cut_card})"
    shoes.add_argument("--cut-card", type=whole(0, 1_000_000), metavar="N", help=behind)
    shoes.add_argument(
        "--coups-after-cut-card",
        type=whole(0, 1_000_000),
        metavar="N",
        help=f"how many more coups are dealt if the cut card comes during a coup (default: {usual.coups_after_cut_card}). If "
        "the cut "
        "card comes before a coup's first card, that coup is the last one",
    )


def main(args: argparse.Namespace) -> int:
    """Simulate one game."""
    game = game_with_decks(args)
    exact = GameOdds(game)
    outcomes = Outcomes(exact.positions)
    shoe = _shoe(args)
    try:
        odds = exact.odds(Composition.of_decks(game.decks))
        simulation = Simulation(outcomes, decks=game.decks, rounds=args.rounds, seed=args.seed, shoe=shoe)
    except ValueError as error:
        raise ConfigError([Problem(str(error))]) from None
    tally = _run(simulation, outcomes, args)
    errors = {name: sqrt(its.variance / tally.rounds) for name, its in odds.items()}
    answer = _Answer(exact, args.seed, shoe, tally, estimates(tally, odds), errors)
    lines = [json.dumps(_plain(answer), indent=2)] if args.json else _table(answer)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


class _Answer(NamedTuple):
    """The result of a simulation; `errors` has the standard error of each edge by its exact variance."""

    exact: GameOdds
    seed: int
    shoe: ShoeRules | None
    tally: Tally
    wagers: tuple[WagerEstimate, ...]
    errors: Mapping[str, float]


def _name_of_file(text: str) -> Path:
    if not text or os.path.isdir(text):  # noqa: PTH112 - a path of any length
        what = "is a folder" if text else "is not a name"
        raise argparse.ArgumentTypeError(f"{text!r} {what}: write the name of a file, such as rounds.csv")
    return Path(text)


def _shoe(args: argparse.Namespace) -> ShoeRules | None:
    """The rules of the shoes; None if each round has its own shoe."""
    given = {name: getattr(args, name) for name in _OF_SHOES if getattr(args, name) is not None}
    if not args.shoes:
        for name in given:
            raise ConfigError([Problem(f"--{name.replace('_', '-')} is for whole shoes: add --shoes")])
        return None
    try:
        return ShoeRules(**given)
    except ValueError as error:
        raise ConfigError([Problem(str(error))]) from None


def _run(simulation: Simulation, outcomes: Outcomes, args: argparse.Namespace) -> Tally:
    path: Path | None = args.csv or args.parquet
    if path is None:
        return _watched(simulation, args)
    try:
        with _file(path, outcomes, args) as file:
            return _watched(simulation, args, file)
    except OSError as error:
        raise ConfigError(
            [Problem(f"{cut(str(path), 200)} cannot be written: {error.strerror or error}")]
        ) from None


def _file(path: Path, outcomes: Outcomes, args: argparse.Namespace) -> RoundsFile:
    try:
        return RoundsFile(path, "csv" if args.csv else "parquet", outcomes)
    except (FileExistsError, ValueError) as error:
        raise ConfigError([Problem(str(error))]) from None


def _watched(simulation: Simulation, args: argparse.Namespace, file: RoundsFile | None = None) -> Tally:
    """Run it, with a progress bar if standard error is a terminal."""
    with tqdm(
        total=args.rounds, unit=" rounds", unit_scale=True, disable=None, leave=False, file=sys.__stderr__
    ) as bar:

        def on_block(block: Block) -> None:
            if file is not None:
                file.write(block)
            bar.update(block.rounds)

        return simulation.run(args.jobs, on_block, keep=file is not None)


# --- printing


def _plain(answer: _Answer) -> dict[str, Any]:
    """The answer for JSON."""
    exact, seed, shoe, tally, wagers, errors = answer
    awards = exact.average_top_awards()
    return {
        "game": exact.game.name,
        "decks": exact.game.decks,
        "rounds": tally.rounds,
        "shoes": None if shoe is None else {"count": tally.shoes, **asdict(shoe)},
        "seed": seed,
        "generator": GENERATOR,
        "stream": _stream(seed, shoe),
        "batches": tally.batches,
        "wagers": {
            each.name: {
                "edge": {**_figures(each.edge), "exact_standard_error": errors[each.name]},
                **({"average_top_award": float(awards[each.name])} if each.name in awards else {}),
                "rules": {
                    rule.rule: {"pays": rule.pays, "count": rule.count, **_figures(rule.frequency)}
                    for rule in each.rules
                },
            }
            for each in wagers
        },
    }


def _figures(figure: Estimate) -> dict[str, float | None]:
    return {name: getattr(figure, name) for name in ("simulated", "standard_error", "exact", "sigmas")}


def _stream(seed: int, shoe: ShoeRules | None) -> str:
    size = f"{ROUNDS_OF_A_BLOCK} rounds" if shoe is None else f"{SHOES_OF_A_BLOCK} shoes"
    return f"{GENERATOR}(SeedSequence({seed}, spawn_key=(i,))) for block i of {size}"


def _table(answer: _Answer) -> Iterator[str]:
    exact, seed, shoe, tally, wagers, errors = answer
    game = exact.game
    yield f"{game.title} ({game.name}; source: {game.sheet})"
    yield f"{decks_text(game)}, {_dealt(shoe, tally)}"
    yield f"seed {seed}: {_stream(seed, shoe)}"
    yield _errors(shoe, tally)
    yield ""
    width = max(len("wager"), *(len(each.name) for each in wagers))
    figures = f"{'std error':>11}  {'exact':>12}  {'sigmas':>7}"
    yield f"{'wager':<{width}}  {'house edge':>12}  {figures}"
    for each in wagers:
        yield f"{each.name:<{width}}  {_aligned(each.edge)}"
    for name, award in exact.average_top_awards().items():
        yield f"\n{name}: its meter at the average top award, {float(award):,.0f} minor units"
    for each in wagers:
        yield from _too_sure(each.name, each.edge, errors[each.name])
    rules = [rule for each in wagers for rule in each.rules]
    rule_width = max(len(rule.rule) for rule in rules)
    pays_width = max(len(rule.pays) for rule in rules)
    count_width = len(f"{tally.rounds:,}")
    yield ""
    yield (
        f"{'wager':<{width}}  {'rule':<{rule_width}}  {'pays':<{pays_width}}  {'rounds':>{count_width}}  "
        f"{'share':>12}  {figures}"
    )
    for each in wagers:
        for place, rule in enumerate(each.rules):
            yield (
                f"{'' if place else each.name:<{width}}  {rule.rule:<{rule_width}}  {rule.pays:<{pays_width}}  "
                f"{rule.count:>{count_width},}  {_aligned(rule.frequency)}"
            )


def _too_sure(name: str, edge: Estimate, error: float) -> Iterator[str]:
    """A warning about the sigmas of a wager whose rare awards have come less often than its variance assumes."""
    if edge.standard_error is not None and edge.standard_error < error / 2:
        sigmas = Estimate(edge.simulated, error, edge.exact).sigmas
        yield (
            f"\n{name}: the sigmas are not reliable, because the rare awards that make most of the variance have come too "
            f"seldom. With the exact variance, the standard error is {100 * error:.6f}%, and the deviation {sigmas:+.2f} sigmas"
        )


def _dealt(shoe: ShoeRules | None, tally: Tally) -> str:
    if shoe is None:
        return f"{_many(tally.rounds, 'round')}, each from a full shoe freshly shuffled"
    burned = (
        f"burn {shoe.burn}"
        if shoe.burn != "first_card"
        else f"burn by the first card, an ace counts {shoe.burn_ace}"
    )
    return (
        f"{_many(tally.rounds, 'round')} of {_many(tally.shoes, 'shoe')} ({burned}; cut card {shoe.cut_card} from the end, "
        f"then {_many(shoe.coups_after_cut_card, 'more coup')})"
    )


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _errors(shoe: ShoeRules | None, tally: Tally) -> str:
    if shoe is None:
        return "standard errors from the variance of the rounds"
    if tally.batches < 2:
        return f"without standard errors: they need two batches of {SHOES_OF_A_BATCH} shoes"
    return (
        f"standard errors from the sums of {tally.batches:,} batches of {SHOES_OF_A_BATCH} shoes: rounds of one shoe "
        "depend on each other"
    )


def _aligned(figure: Estimate) -> str:
    error = "" if figure.standard_error is None else f"{100 * figure.standard_error:.6f}%"
    sigmas = "" if figure.sigmas is None else f"{figure.sigmas:+.2f}"
    return f"{100 * figure.simulated:>11.6f}%  {error or '-':>11}  {100 * figure.exact:>11.6f}%  {sigmas or '-':>7}"
