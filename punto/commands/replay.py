"""`punto replay`: derive everything in a record again, and report the first difference."""

import argparse
import sys
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.configs.problems import cut
from punto.controller.components import own_version
from punto.controller.journal.entries import Head
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError, reading
from punto.controller.journal.store import name as name_of
from punto.witness.store import Restore, Witnessed, heads_of, restores_of

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
    parser.add_argument(
        "--witness",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="check that the record still has each head in this file of a witness, and that the signatures of these heads hold. You "
        "can give this option more than once",
    )


def main(args: argparse.Namespace) -> int:
    """Print the result of the replay; status 1 if there is a difference, 2 if a file cannot be opened."""
    try:
        restores: list[Restore] = []
        witnessed = [each for path in args.witness for each in _witnessed(path, args.record, restores)]
        noted = [*args.head, *(each.told.at for each in witnessed), *(each.head for each in restores)]
        found = replay(args.record, version=own_version(), noted=noted)
    except (RecordError, ValueError) as error:
        print(f"punto replay: {error}", file=sys.stderr)
        return 2
    if found.inputs or found.difference is None:
        print(f"{found.title}: {found.inputs} inputs and {found.rounds} rounds derived again")
    if found.difference is not None:
        print(
            f"first difference: {found.difference}",
            *(f"and: {each}" for each in found.differences[1:]),
            sep="\n",
        )
        return 1
    forged = next((each.told for each in witnessed if not each.holds()), None)
    if forged is not None:
        print(f"first difference: the signatures of the witnessed head {forged.head} do not hold")
        return 1
    for otherwise in found.otherwise:
        print(f"note: {otherwise}")
    print_proof(found, args.head)
    _print_witnesses(witnessed)
    for each in restores:
        print(
            f"noted at {each.ts}: the record was restored up to input {each.head.seq} ({cut(each.reason)}); {each.aside} later heads "
            "of the witness are of the record before, whose files must have been kept"
        )
    print("no difference")
    return 0


def _witnessed(file: Path, record: Path, restores: list[Restore]) -> list[Witnessed]:
    """The heads of this record in the file of a witness; adds what the witness has noted of `restores`.

    Raises:
        ValueError: the witness has none.
    """
    with reading(record) as connection:
        name = name_of(connection)
    found = heads_of(file, name)
    restores += restores_of(file, name)
    if not found:
        raise ValueError(f"{file} has no head of this record, whose name is {name}")
    return found


def _print_witnesses(witnessed: list[Witnessed]) -> None:
    """Who signed the heads; whether these are the right keys, a person must compare."""
    for signer, witness in sorted({(each.told.key, each.witness) for each in witnessed}):
        of_these = [each for each in witnessed if (each.told.key, each.witness) == (signer, witness)]
        last = max(of_these, key=lambda each: each.told.at.seq)
        print(
            f"{len(of_these)} heads, the last of input {last.told.at.seq} at {last.witnessed}, match the record"
        )
        print(f"their signer's key is {signer}, and their witness's key is {witness}")


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
