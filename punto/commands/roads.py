"""`punto roads`: draw the five roads and the ask marks of a shoe's rounds."""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any, Final, get_args

from punto.baccarat.coup import Winner
from punto.baccarat.roads.drawing import Tail
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.roads.scoreboard import draw, to_json
from punto.commands.json_lines import LineError, check_keys, parse, quoted
from punto.configs.text_file import lines

HELP: Final = (
    "Draw the five roads (score charts) of one shoe, and the ask marks. The ask marks are the next cells of the derived roads: "
    "one set if Player wins the next round, and one set if Banker wins. Each line of "
    'the standard input is one round, the oldest first, such as {"winner":"banker","player_pair":false,"banker_pair":false,"natural":false}. A key that is left out counts as false. '
    "Output lines of `punto score` are accepted too. The output is one JSON object. If a line is invalid, there is no output, "
    "and the "
    "exit "
    "status is 1."
)

_FACTS: Final = ("player_pair", "banker_pair", "natural")
# The other keys are those of the output of `punto score`; the roads do not depend on them.
_KEYS: Final = ("winner", *_FACTS, "id", "player", "banker", "player_total", "banker_total", "settlements")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "--tail",
        choices=get_args(Tail),
        default="turn",
        help="how a long streak goes on after it has turned to the right. With turn (the default), the streak stays in that "
        "row. With fall, the streak goes down again if the cell below is free",
    )


def main(args: argparse.Namespace) -> int:
    """Draw the rounds on standard input; 1, without an answer, if a line is invalid."""
    rounds, errors = read_rounds(lines(sys.stdin.buffer))
    if errors:
        sys.stderr.write("".join(f"{error}\n" for error in errors))
        return 1
    sys.stdout.write(json.dumps(to_json(draw(rounds, args.tail)), separators=(",", ":")) + "\n")
    return 0


def read_rounds(source: Iterable[bytes]) -> tuple[list[RoadRound], list[str]]:
    """The rounds on the lines, and the error of each invalid line with its number from 1. Blank lines are ignored."""
    rounds: list[RoadRound] = []
    errors: list[str] = []
    for number, line in enumerate(source, 1):
        if line.isspace():
            continue
        try:
            rounds.append(_round(parse(line)))
        except LineError as error:
            errors.append(f"line {number}: {error}")
    return rounds, errors


def _round(found: dict[str, Any]) -> RoadRound:
    if "error" in found:
        raise LineError(f"this coup could not be scored: {found['error']}")
    check_keys(found, _KEYS, required=("winner",))
    winner = found["winner"]
    if not isinstance(winner, str) or winner not in {each.value for each in Winner}:
        raise LineError(f'winner must be "player", "banker" or "tie", not {quoted(winner)}')
    for key in _FACTS:
        if not isinstance(found.get(key, False), bool):
            raise LineError(f"{key} must be true or false, not {quoted(found[key])}")
    return RoadRound(Winner(winner), **{key: found[key] for key in _FACTS if key in found})
