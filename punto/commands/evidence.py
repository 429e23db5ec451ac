"""`punto evidence`: all that a record has of a round, in one bundle."""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from punto.commands.numbers import whole_number
from punto.configs.given_files import read_given
from punto.controller.components import own_version
from punto.controller.journal.evidence import VERIFIER, NoEvidenceError, differing, gather, write
from punto.controller.journal.evidence_verifier import LARGEST, checked
from punto.controller.journal.schema import RecordError, reading
from punto.controller.journal.store import name as name_of
from punto.witness.store import heads_of

HELP: Final = (
    "Write all that a record has of a round into one new ZIP file, for a dispute: the inputs with their results and hashes, the state "
    "before, the settlements, what displays were told, and the signed heads of a witness. The record is replayed first, and refused if "
    "it differs from what its inputs give. The bundle can have cards that the public has not seen. With --check, derive a bundle "
    "again from the record and compare each file. The exit status is 1 if there is no such round, if the bundle cannot be written, or "
    "if a bundle differs from the record, and 2 if a file cannot be read or the record is refused."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("round", type=whole_number, nargs="?", metavar="ROUND", help="the round's number")
    what.add_argument("--check", type=Path, metavar="BUNDLE", help="compare this bundle with the record")
    parser.add_argument(
        "--record", type=Path, required=True, metavar="FILE", help="the record; the service may be running"
    )
    parser.add_argument(
        "--witness",
        type=Path,
        metavar="FILE",
        help="the file of a witness with the signed heads of the record; a bundle that is checked has them",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the bundle, which must not exist yet; default: round-ROUND.zip",
    )


def main(args: argparse.Namespace) -> int:
    """Write or check the bundle; 1 if it cannot be written or differs, 2 if the record cannot be read or is refused."""
    try:
        return _write(args) if args.check is None else _check(args)
    except (RecordError, ValueError) as error:
        print(f"punto evidence: {error}", file=sys.stderr)
        return 2
    except NoEvidenceError as error:
        print(f"punto evidence: {error}", file=sys.stderr)
        return 1


def _write(args: argparse.Namespace) -> int:
    out = args.out or Path(f"round-{args.round}.zip")
    files = gather(args.record, args.round, _heads(args), own_version())
    try:
        digest = write(files, out)
    except OSError as error:
        print(f"punto evidence: {out} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(
        f"{out}: check it with `python3 {VERIFIER} {out} --key KEY`, on another machine with that file of the release"
    )
    print(f"the SHA-256 of the bundle, to be noted elsewhere: {digest}")
    return 0


def _heads(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The signed heads of the record, with the witness's countersignatures.

    Raises:
        ValueError: a signature does not hold.
    """
    if args.witness is None:
        return []
    with reading(args.record) as connection:
        witnessed = heads_of(args.witness, name_of(connection))
    for each in witnessed:
        if not each.holds():
            raise ValueError(f"the signatures of the witnessed head {each.told.head} do not hold")
    return [
        {
            **each.told.model_dump(),
            "witnessed": each.witnessed,
            "witness": each.witness,
            "countersignature": each.countersignature,
        }
        for each in witnessed
    ]


def _check(args: argparse.Namespace) -> int:
    try:
        bundle = read_given(args.check, LARGEST)
    except OSError as error:
        raise ValueError(f"{args.check} cannot be read: {error.strerror}") from error
    if found := differing(bundle, args.record, own_version()):
        print(f"{args.check} differs from the record in {', '.join(found)}")
        return 1
    # The record cannot tell whether the heads in the bundle are signed.
    _, faults = checked(bundle, without_heads=True)
    if faults:
        print(f"{args.check} is what the record gives, but {'; '.join(faults)}")
        return 1
    print(f"{args.check} is what the record gives, file by file")
    return 0
