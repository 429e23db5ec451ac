"""`punto progressive audit`: prove a progressive's books with the whole record."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from punto.baccarat.currency import written
from punto.baccarat.progressive.money import FINER
from punto.commands import replay
from punto.commands.replay import print_proof
from punto.controller.components import own_version
from punto.controller.journal.audit import Audited, Compared, audit, compare, without_record
from punto.controller.journal.schema import RecordError

__all__ = ["HELP", "add_arguments", "main"]

HELP = (
    "Compute the whole record again and check the books after every input. The sum of seed money, contributions and adjustments "
    "must equal the sum of the balances of the meter's accounts and the payments from the meter. No award may be paid twice or "
    "lost. Every row on the record must be the row that the inputs give. No linked table may have asked for more games in an hour, or for other "
    "seats, than a table can have. The exit status is 1 if a check fails, and 2 if the record "
    "cannot be opened."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    replay.add_arguments(parser)
    parser.add_argument(
        "--linked",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="the record of a table that shares the meter. Its entries must be the same as on RECORD, the record of the authority, "
        "and it must not have heard of a balance or award that the authority never had. Write this option once for each table: a table "
        "with entries on RECORD whose record is missing is an error",
    )


def main(args: argparse.Namespace) -> int:
    """Print the result of the audit; status 1 if there is a difference, 2 if the record cannot be opened."""
    try:
        found = audit(args.record, version=own_version(), noted=args.head)
    except RecordError as error:
        print(f"punto progressive: {error}", file=sys.stderr)
        return 2
    replayed = found.replayed
    print(
        f"{replayed.title}: {replayed.inputs} inputs derived again, {found.postings} postings, {found.awards} awards"
    )
    for name, books in found.books.items():
        print(name)
        for account, amount in books:
            print(f"  {account:<30} {written(amount, found.currency, finer=FINER):>24}")
    if replayed.difference is not None:
        print(f"first difference: {replayed.difference}")
        return 1
    for objection in found.pumped.values():
        print(f"no table can have asked for this: {objection}")
    if args.linked and (status := _all_linked(found, args.linked)):
        return status
    if found.pumped:
        print(
            "compare the records of these tables with --linked, and find out which program asked in their names"
        )
        return 1
    print_proof(replayed, args.head)
    print(f"the books are correct after each of the {replayed.inputs} inputs")
    return 0


def _all_linked(authority: Audited, paths: Sequence[Path]) -> int:
    """Compare the records of the linked tables with their authority's; the exit status."""
    tables: dict[str, tuple[Path, Audited]] = {}
    for path in paths:
        try:
            table = audit(path, version=own_version())
        except RecordError as error:
            print(f"punto progressive: {error}", file=sys.stderr)
            return 2
        if table.table in tables:
            other, _ = tables[table.table]
            print(
                f"punto progressive: {other} and {path} are both records of {table.table}: give one record of each table",
                file=sys.stderr,
            )
            return 2
        tables[table.table] = path, table
        compared = Compared(table.difference, 0) if table.difference else compare(authority, table)
        if compared.difference is not None:
            print(f"first difference: {compared.difference}")
            return 1
        print(
            f"{table.replayed.title}: {table.replayed.inputs} inputs derived again, the same entries as the authority"
        )
        if compared.lost:
            print(
                f"not compared: {compared.lost} entries of {table.table} of the time before the authority began again with the table, which the "
                "authority has lost. Compare them with a copy of the record that it had then"
            )
    missing = without_record(authority, [table for _, table in tables.values()])
    if missing:
        print(
            f"not compared: {', '.join(missing)} asked the authority too: give the record of each with --linked"
        )
    return 1 if missing else 0
