"""`punto replay`: derive everything in a record again, and say the first difference."""

import argparse
import sys
from pathlib import Path

from controller.journal.recovery import replay
from controller.journal.store import RecordError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the record's path."""
    parser.add_argument(
        "record", type=Path, metavar="FILE", help="a table's record; the service may be running"
    )


def main(args: argparse.Namespace) -> int:
    """Print what the replay found; status 1 when there is a difference, 2 when there is no record to read."""
    try:
        found = replay(args.record)
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
    print("no difference")
    return 0
