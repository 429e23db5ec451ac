"""`punto house`: the months of a Game Manager's store as files, the end of what was exported, and the record that is a table's."""

import argparse
import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.configs.problems import cut
from punto.house.config import load_game_manager
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
        description="Choose which of two records is the table's. The Game Manager then takes in this record, and never the other "
        "one, which is of a service with a copied configuration. First stop that service, and give it an id of its own.",
    )
    choose.add_argument("--table", required=True, metavar="ID", help="the table's id")
    choose.add_argument(
        "--record",
        required=True,
        metavar="NAME",
        help="the name of its record, as the alarm at the table has it",
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
    """Export, drop or choose; 1 if that cannot be done."""
    config = load_game_manager(args.config)
    try:
        store = Store(config.store.url, config.calendar.calendar(), config.store.password())
        try:
            if args.action == "export":
                for path in export_month(store, args.month, args.out, args.format):
                    print(path)
            elif args.action == "choose-record":
                store.choose(args.table, args.record)
                print(f"{args.table}: the record {args.record} is taken in")
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
