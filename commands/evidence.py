"""`punto evidence`: all that a record has of a round, in one bundle."""

import argparse
import sqlite3
import sys
from pathlib import Path
from typing import Final

from punto.commands.numbers import whole_number
from punto.controller.components import own_version
from punto.controller.journal.evidence import NoEvidenceError, gather, write
from punto.controller.journal.schema import RecordError, reading
from punto.controller.journal.store import name as name_of
from punto.witness.store import heads_of

HELP: Final = (
    "Write all that a record has of a round into one new ZIP file, for a dispute: the inputs with their hashes, the state before, the "
    "settlements, what displays were told, the game, and the signed heads of a witness. The bundle has a program that checks it with "
    "nothing but Python. It can have cards that the public has not seen. The exit status is 1 if there is no such round or the file "
    "cannot be written, and 2 if the record or the witness's file cannot be read."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument("round", type=whole_number, metavar="ROUND", help="the round's number")
    parser.add_argument(
        "--record", type=Path, required=True, metavar="FILE", help="the record; the service may be running"
    )
    parser.add_argument(
        "--witness",
        type=Path,
        metavar="FILE",
        help="the file of a witness with the signed heads of the record",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the bundle, which must not exist yet"
    )


def main(args: argparse.Namespace) -> int:
    """Write the bundle; 1 if there is no such round or the file cannot be written, 2 if the record cannot be read."""
    try:
        heads = []
        if args.witness is not None:
            with reading(args.record) as connection:
                name = name_of(connection)
            heads = [each.told.model_dump() for each in heads_of(args.witness, name)]
        files = gather(args.record, args.round, heads, own_version())
        digest = write(files, args.out)
    except (RecordError, sqlite3.Error, ValueError) as error:
        print(f"punto evidence: {error}", file=sys.stderr)
        return 2
    except NoEvidenceError as error:
        print(f"punto evidence: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"punto evidence: {args.out} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{args.out}: unpack verify.py from it, and run `python3 verify.py {args.out}`")
    print(f"the SHA-256 of the bundle, to be noted elsewhere: {digest}")
    return 0
