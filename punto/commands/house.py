"""`punto house`: the months of a Game Manager's store as files, the end of what was exported, and the record that is a table's."""

import argparse
import os
import pwd
import re
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.configs.problems import cut
from punto.controller.journal.evidence_verifier import plain
from punto.house.choices import choices, choose, records_to_choose
from punto.house.config import load_game_manager
from punto.house.disputes import HeldRecord, held_records, what_becomes_of
from punto.house.export import drop_month, export_month
from punto.house.store import Store, StoreError

HELP: Final = (
    "Export a month of the store of `punto game-manager`, delete a month that was exported, or choose the record of a table if two "
    "services published as this table. You can run this command while the service runs. A month is one of gaming days."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand, with a subcommand for each action."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    export = actions.add_parser(
        "export",
        help="write a month's rounds, settlements, incidents and books to files",
        description="Write a month's rounds, settlements, incidents and the books of the meters to a file each, such as "
        "rounds-2026-10.parquet. The month may be exported again.",
    )
    export.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="the folder for the files; it must exist"
    )
    export.add_argument(
        "--format",
        choices=("parquet", "csv"),
        default="parquet",
        help="the format of the files (default: parquet)",
    )
    drop = actions.add_parser(
        "drop",
        help="delete a month that was exported",
        description="Delete a month's rounds, settlements and incidents, if each of them was exported and the month ended 30 days "
        "ago or more. The reports stay: their sums by gaming day are kept. The books stay too.",
    )
    choose = actions.add_parser(
        "choose-record",
        help="choose the record of a table after two services published as this table",
        description="Print what is known of each record of a table that two services published, or choose which one is the table's. The "
        "Game Manager then takes in this record, and nothing more of the others. First stop the service that is not the table, and give "
        "it an id of its own. The choice settles this dispute only: if a record that was rejected comes again ten minutes or more after "
        "it was last heard, or another one comes, nothing is taken in until you choose again.",
    )
    choose.add_argument("--table", required=True, metavar="ID", help="the table's id")
    choose.add_argument(
        "--record",
        metavar="NAME",
        help="the name of its record, as the alarm at the table has it (default: print what is known of each record)",
    )
    choose.add_argument(
        "--against",
        action="append",
        metavar="NAME",
        help="the name of a record that is rejected, for each of the others; without it, the command asks",
    )
    for action in (export, drop, choose):
        action.add_argument(
            "--config", type=Path, required=True, metavar="FILE", help="the Game Manager's configuration"
        )
    for action in (export, drop):
        action.add_argument(
            "--month",
            type=checked(read_month),
            required=True,
            metavar="YYYY-MM",
            help="the month, such as 2026-10",
        )


def read_month(text: str) -> date:
    """The first day of a month.

    Raises:
        ValueError: the text is not a month.
    """
    found = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", text, re.ASCII)
    if found is None or not 2000 <= int(found[1]) < 3000:
        raise ValueError(f"{cut(text)!r} is not a month: write one such as 2026-10")
    return date(int(found[1]), int(found[2]), 1)


def main(args: argparse.Namespace) -> int:
    """Export, drop or choose; 1 if that cannot be done or the person says no."""
    config = load_game_manager(args.config)
    try:
        store = Store(config.store.url, config.calendar.calendar(), config.store.password())
        try:
            if args.action == "export":
                for path in export_month(store, args.month, args.out, args.format):
                    print(path)
            elif args.action == "choose-record":
                return _choose(store, args.table, args.record, args.against)
            else:
                today = config.calendar.calendar().day_of(datetime.now(UTC))
                print(f"{drop_month(store, args.month, today):,} rows deleted")
        finally:
            store.close()
    except StoreError as error:
        sys.stderr.write(f"punto house: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"punto house: {error.filename} cannot be written: {error.strerror}\n")
        return 1
    return 0


def _choose(store: Store, table: str, record: str | None, against: Sequence[str] | None) -> int:
    """Print what is known of a table's records, and choose one if the person wants to."""
    records = held_records(records_to_choose(store, table).get(table, ()))
    _print_records(store, table, records)
    if record is None:
        return 0
    others = [each for each in records if each.record != record]
    for each in records:
        for warning in each.warnings if each.record == record else ():
            print(f"WARNING: {warning}")
    for each in others:
        print(what_becomes_of(each))
    if against is None and any(each.record == record for each in records):
        if not sys.stdin.isatty():
            named = " ".join(f"--against {plain(each.record)}" for each in others)
            raise StoreError(f"{table}: nothing was chosen: to choose without a terminal, add {named}")
        if input(f"Choose {plain(record)}? Type yes: ").strip() != "yes":
            print("Nothing was chosen.")
            return 1
    seen = [each.record for each in others] if against is None else against
    choose(store, table, record, seen, _user(), datetime.now(UTC))
    print(f"{table}: the record {record} is taken in")
    return 0


def _print_records(store: Store, table: str, records: Sequence[HeldRecord]) -> None:
    choice = choices(store).get(table)
    if not records:
        print(f"{table}: none of its records is held back")
    for each in records:
        print(f"{plain(each.record)}: {each.words}")
    if choice is not None:
        who = f" by {plain(choice.who)}" if choice.who else ""
        print(
            f"Chosen at {choice.ts:%Y-%m-%d %H:%M} UTC{who}: {plain(choice.record)} against {plain(', '.join(sorted(choice.against)))}"
        )


def _user() -> str:
    """The name of the user who runs the command, or the number if it has none."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
