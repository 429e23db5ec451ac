"""`punto replay`: derive everything in a record again, and say the first difference."""

import argparse
import sys
from pathlib import Path
from typing import Final

from punto.controller.components import own_version
from punto.controller.journal.entries import Head
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError

HELP: Final = (
    "Derive everything in a table's record again from its inputs, compare it with what is written there, and say the first "
    "difference. Nothing is changed. The exit status is 1 when there is a difference, and 2 when there is no record to read."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the record's path, and the heads that it must have."""
    parser.add_argument(
        "record", type=Path, metavar="FILE", help="a table's record; the service may be running"
    )
    parser.add_argument(
        "--head",
        type=_head,
        action="append",
        default=[],
        metavar="SEQ:HASH",
        help=(
            "a last input that was noted before, from here or from restricted/head: the record must still have it; may be "
            "given again"
        ),
    )


def _head(text: str) -> Head:
    try:
        return Head.of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(args: argparse.Namespace) -> int:
    """Print what the replay found; status 1 when there is a difference, 2 when there is no record to read."""
    try:
        found = replay(args.record, version=own_version(), noted=args.head)
    except RecordError as error:
        print(f"punto replay: {error}", file=sys.stderr)
        return 2
    print(f"{found.inputs} inputs and {found.rounds} rounds derived again")
    if found.difference is not None:
        print(f"first difference: {found.difference}")
        return 1
    if found.waiting:
        print(
            f"the last {found.waiting} rounds are not in their table yet: the next start of the service adds them"
        )
    say_what_it_proves(found, args.head)
    print("no difference")
    return 0


def say_what_it_proves(found: Replayed, noted: list[Head]) -> None:
    """Say what of a record without a difference is proven, and what cannot be told."""
    if found.reworded:
        print(
            f"incidents in other words than this program's: {found.reworded}, of inputs that {' and '.join(found.versions)} took; "
            "only a replay by that program tells whether they are as they were written"
        )
    if noted:
        print(f"the inputs up to {max(noted).seq} are those that were noted")
    print(f"the last input, to be noted elsewhere: {found.head}")
