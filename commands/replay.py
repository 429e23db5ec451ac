"""`punto replay`: derive everything in a record again, and report the first difference."""

import argparse
import sys
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.controller.components import own_version
from punto.controller.journal.entries import Head
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError

HELP: Final = (
    "Derive everything in a table's record again from its inputs, compare it with the record, and report the first difference. "
    "The record is not changed. The exit status is 1 if there is a difference, and 2 if the record cannot be opened."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "record", type=Path, metavar="FILE", help="a table's record; the service may be running"
    )
    parser.add_argument(
        "--head",
        type=checked(Head.of),
        action="append",
        default=[],
        metavar="SEQ:HASH",
        help="a last input that was stored earlier, from here or from restricted/head: the record must still have it; may be "
        "repeated",
    )


def main(args: argparse.Namespace) -> int:
    """Print the result of the replay; status 1 if there is a difference, 2 if the record cannot be opened."""
    try:
        found = replay(args.record, version=own_version(), noted=args.head)
    except RecordError as error:
        print(f"punto replay: {error}", file=sys.stderr)
        return 2
    print(f"{found.title}: {found.inputs} inputs and {found.rounds} rounds derived again")
    if found.difference is not None:
        print(f"first difference: {found.difference}")
        return 1
    if found.waiting:
        print(
            f"the rows of the last {found.waiting} rounds are missing: the next start of the service adds them"
        )
    print_proof(found, args.head)
    print("no difference")
    return 0


def print_proof(found: Replayed, noted: list[Head]) -> None:
    """Print what a replay without a difference proves, and what it cannot prove."""
    if found.reworded:
        print(
            f"{found.reworded} incidents have other texts than this program's: {' and '.join(found.versions)} wrote them, and "
            "only a replay by that program can check them"
        )
    if noted:
        print(f"the inputs up to {max(noted).seq} match the noted hash")
    print(f"the last input, to be noted elsewhere: {found.head}")
