"""`punto replay`: derive everything in a record again, and say the first difference."""

import argparse
import sys
from pathlib import Path

from controller.components import own_version
from controller.journal.recovery import Replayed, replay
from controller.journal.store import RecordError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the record's path."""
    parser.add_argument(
        "record", type=Path, metavar="FILE", help="a table's record; the service may be running"
    )


def main(args: argparse.Namespace) -> int:
    """Print what the replay found; status 1 when there is a difference, 2 when there is no record to read."""
    try:
        found = replay(args.record, version=own_version())
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
    say_what_was_reworded(found)
    print("no difference")
    return 0


def say_what_was_reworded(found: Replayed) -> None:
    """Say of which texts a replay by this program cannot tell whether they are as they were written."""
    if found.reworded:
        print(
            f"incidents in other words than this program's: {found.reworded}, of inputs that {' and '.join(found.versions)} took; "
            "only a replay by that program tells whether they are as they were written"
        )
