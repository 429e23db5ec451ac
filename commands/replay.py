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
    "Compute everything in a table's record again from the inputs of the record, compare the result with the record, and report "
    "the first difference. The record is not changed. The exit status is 1 if there is a difference, and 2 if the record cannot "
    "be opened."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "record", type=Path, metavar="FILE", help="the record of a table; the service may be running"
    )
    parser.add_argument(
        "--head",
        type=checked(Head.of),
        action="append",
        default=[],
        metavar="SEQ:HASH",
        help="check that the record still has this head: the number and the hash of an input. An earlier replay printed them, "
        "or the topic restricted/head published them. You can give this option more than once",
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
            f"the texts of {found.reworded} incidents differ from this program's. {' and '.join(found.versions)} wrote them, "
            "and only a replay by the same version can check them"
        )
    if noted:
        print(f"the inputs up to {max(noted).seq} match the noted hash")
    print(f"the last input, to be noted elsewhere: {found.head}")
