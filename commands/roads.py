"""`punto roads`: a shoe's rounds in, the five roads and the ask marks out."""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any, Final, get_args

from punto.baccarat.coup import Winner
from punto.baccarat.roads.drawing import Tail
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.roads.scoreboard import draw, to_json
from punto.commands.json_lines import LineError, check_keys, lines, parse, quoted

HELP: Final = (
    "Draw the five roads and the ask marks of one shoe. Standard input has its rounds, oldest first, one JSON object "
    'a line such as {"winner":"banker","player_pair":false,"banker_pair":false,"natural":false}; what is left out is '
    "false, and what `punto score` writes is read as well. One JSON object comes out, or nothing and exit status 1 "
    "when a line is bad."
)

_FACTS: Final = ("player_pair", "banker_pair", "natural")
# The further keys are those of what `punto score` writes; no road follows from them.
_KEYS: Final = ("winner", *_FACTS, "id", "player", "banker", "player_total", "banker_total", "settlements")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "--tail",
        choices=get_args(Tail),
        default="turn",
        help="whether a dragon tail stays in the row in which it turned, or falls again where it can (default: turn)",
    )


def main(args: argparse.Namespace) -> int:
    """Draw the rounds on standard input; 1 and nothing on standard output if any line is bad."""
    rounds, errors = read_rounds(lines(sys.stdin.buffer))
    if errors:
        sys.stderr.write("".join(f"{error}\n" for error in errors))
        return 1
    sys.stdout.write(json.dumps(to_json(draw(rounds, args.tail)), separators=(",", ":")) + "\n")
    return 0


def read_rounds(source: Iterable[bytes]) -> tuple[list[RoadRound], list[str]]:
    """The rounds on the lines, blank ones passed over, and what is wrong with each bad line, by its number from 1."""
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
