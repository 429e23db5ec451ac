"""`punto backup`: a proven copy of a table's record."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.controller.components import own_version
from punto.controller.journal.backup import back_up
from punto.controller.journal.schema import RecordError

HELP: Final = (
    "Copy a table's record into a folder, also while its service runs, and replay the copy. The copy has the record's permissions. Run it "
    "as the user of the service: a folder that another user can write to is refused. The exit status is 1 if the copy differs from what its "
    "inputs give, and 2 if the record cannot be read or the copy cannot be written: in both cases, no older backup is removed."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "record", type=Path, metavar="FILE", help="the record of a table; the service may be running"
    )
    parser.add_argument(
        "--to", type=Path, required=True, metavar="DIR", help="the folder for the backup, which must exist"
    )
    parser.add_argument(
        "--keep",
        type=checked(_number),
        metavar="N",
        help="remove the oldest backups of this record in the folder, and keep N, the new one included; backups with a later time do not count "
        "(default: remove none)",
    )


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("keep at least the new backup: write a number from 1")
    return number


def main(args: argparse.Namespace) -> int:
    """Back up, and print where the backup is and what its head is."""
    try:
        made = back_up(args.record, args.to, datetime.now(UTC), own_version(), args.keep)
    except RecordError as error:
        print(f"punto backup: {error}", file=sys.stderr)
        return 2
    if made.proof.difference is not None:
        print(
            f"punto backup: {made.file} is a copy that differs from what its inputs give: {made.proof.difference}. Keep the record and the "
            "copy, and run `punto replay` on the record",
            file=sys.stderr,
        )
        return 1
    print(f"{made.file}: {made.proof.inputs} inputs and {made.proof.rounds} rounds, no difference")
    print(f"the last input, to be noted elsewhere: {made.proof.head}")
    for each in made.removed:
        print(f"removed {each}")
    for each in made.later:
        print(
            f"punto backup: {each} has a time after this backup, so the clock was or is wrong: it was not counted, and is not removed",
            file=sys.stderr,
        )
    return 0
