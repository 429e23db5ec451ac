"""`punto restore`: a proven backup in the place of a table's record."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from punto.controller.components import own_version
from punto.controller.journal.backup import restore
from punto.controller.journal.schema import RecordError

HELP: Final = (
    "Put a copy of a backup in the place of a table's record. Stop the table's service before, and run the command as its user: a "
    "folder of the record that another user can write to is refused. The copy is replayed first, and refused if it differs from what its "
    "inputs give. The files of the record before are kept beside it under other names. The exit status is 2 if the backup is refused or the "
    "files cannot be written."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument("backup", type=Path, metavar="BACKUP", help="a file of `punto backup`")
    parser.add_argument(
        "record", type=Path, metavar="RECORD", help="the record, as `path` in [record] of the configuration"
    )


def main(args: argparse.Namespace) -> int:
    """Restore, and print where the record continues and where the files before are."""
    try:
        done = restore(args.backup, args.record, datetime.now(UTC), own_version())
    except RecordError as error:
        print(f"punto restore: {error}", file=sys.stderr)
        return 2
    print(
        f"{args.record} continues after input {done.proof.head.seq}: {done.proof.rounds} rounds, no difference"
    )
    print(f"the last input, for the notes of the signer and the witness: {done.proof.head}")
    for each in done.moved:
        print(f"kept {each}")
    if done.moved:
        print("they can have inputs that the backup does not have: compare them before you remove them")
    return 0
