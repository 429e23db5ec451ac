"""`punto progressive`: the Game Manager's reports, from a table's record."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, RootModel

from punto.commands import progressive_audit, progressive_win_page
from punto.commands.arguments import add_table, checked
from punto.commands.numbers import whole
from punto.controller.config.tables import load_table
from punto.controller.journal.schema import RecordError
from punto.reports import sheets
from punto.reports.awards import AWARDS_A_PAGE, awards
from punto.reports.periods import Meter, day_report, meters, week_report
from punto.reports.reconciliation import reconcile
from punto.reports.record import Record, opened
from punto.runtime.csv_cells import Cell, csv_lines
from punto.runtime.gaming_days import WEEKDAYS, Calendar, read_day

HELP = (
    "Report the contributions, balances and payments of a table's progressive (jackpot). You can run this command while the service runs. Amounts are "
    "exact decimals of the currency's unit, such as dollars. The start of the gaming day comes from --day-starts and --zone, or else "
    "from [progressive] in the configuration."
)
_ALL: Final = 10**9  # more than a record can have


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand, with a subcommand for each action."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    proves = actions.add_parser(
        "audit", help="prove the books with the whole record", description=progressive_audit.HELP
    )
    progressive_audit.add_arguments(proves)
    prints = actions.add_parser(
        "win-page", help="print the win page of an award", description=progressive_win_page.HELP
    )
    progressive_win_page.add_arguments(prints)
    report = actions.add_parser("report", help="print a report", description=HELP)
    where = report.add_mutually_exclusive_group(required=True)
    where.add_argument("--record", type=Path, metavar="FILE", help="the record of a table")
    config = "the table's configuration, which has the path of the record"
    where.add_argument("--config", type=Path, metavar="FILE", help=config)
    add_table(report)
    what = report.add_mutually_exclusive_group()
    day = checked(read_day)
    accrual = "print the accrual report of a gaming day, such as 2026-11-21"
    what.add_argument("--day", type=day, metavar="D", help=accrual)
    what.add_argument(
        "--week", type=day, metavar="D", help="print the deposit for the gaming week that contains a day"
    )
    what.add_argument("--reconcile", type=day, metavar="D", help="print the reconciliation of a gaming day")
    what.add_argument("--awards", action="store_true", help="print the awards, the newest first")
    what.add_argument("--postings", action="store_true", help="print the whole ledger")
    limit = f"the number of awards to print (default: {AWARDS_A_PAGE})"
    report.add_argument("--limit", type=whole(1, _ALL), default=AWARDS_A_PAGE, metavar="N", help=limit)
    report.add_argument(
        "--day-starts", metavar="HH:MM", help="the time at which a gaming day begins (default: 06:00)"
    )
    report.add_argument("--zone", help="the time zone of --day-starts (default: UTC)")
    week = "the first day of a gaming week (default: monday)"
    report.add_argument("--week-starts", choices=WEEKDAYS, metavar="DAY", help=week)
    form = report.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print CSV (the default)")
    form.add_argument("--json", action="store_true", help="print one JSON object")


def main(args: argparse.Namespace) -> int:
    """Print the report; 2 if the record or an argument cannot be used."""
    if args.action == "audit":
        return progressive_audit.main(args)
    if args.action == "win-page":
        return progressive_win_page.main(args)
    day_starts, zone, week_starts, path = args.day_starts, args.zone, args.week_starts, args.record
    if args.config is not None:
        config = load_table(args.config, args.of_table)
        path = config.record.path
        house = config.calendar
        day_starts, zone = day_starts or house.day_starts, zone or house.zone
        week_starts = week_starts or house.week_starts
    try:
        calendar = Calendar.of(day_starts or "06:00", zone or "UTC", week_starts or WEEKDAYS[0])
        with opened(path) as record:
            report, rows = _report(record, args, calendar)
            if args.json:
                found = report.model_dump(mode="json", context=record.currency)
                found = (
                    _named(found, record) if isinstance(found, dict) else [_named(x, record) for x in found]
                )
                print(json.dumps(found, separators=(",", ":")))
            else:
                for line in csv_lines(sheets.named(rows, record.title)):
                    print(line, end="")
    except (RecordError, ValueError) as error:
        print(f"punto progressive: {error}", file=sys.stderr)
        return 2
    return 0


def _named(report: dict[str, Any], record: Record) -> dict[str, Any]:
    return {**report, "currency": record.currency, "table_name": record.title}


class _Meters(RootModel[tuple[Meter, ...]]):
    """All meters, as one JSON array."""


class _Postings(RootModel[tuple[dict[str, Cell], ...]]):
    """All postings, as one JSON array."""


def _report(
    record: Record, args: argparse.Namespace, calendar: Calendar
) -> tuple[BaseModel, Iterable[Sequence[Cell]]]:
    now, currency = datetime.now(UTC), record.currency
    if args.day is not None:
        day = day_report(record, args.day, calendar, now)
        return day, sheets.day_sheet(currency, day, calendar.zone)
    if args.week is not None:
        week = week_report(record, args.week, calendar, now)
        return week, sheets.week_sheet(currency, week)
    if args.reconcile is not None:
        found = reconcile(record, args.reconcile, calendar, now)
        return found, sheets.reconciliation_sheet(currency, found)
    if args.awards:
        last = awards(record, limit=args.limit)
        return last, sheets.awards_sheet(currency, last.awards, calendar.zone)
    if args.postings:
        names, *rows = sheets.postings_sheet(currency, record.postings(), UTC if args.json else calendar.zone)
        return _Postings(tuple(dict(zip(map(str, names), row, strict=True)) for row in rows)), [names, *rows]
    every = meters(record)
    return _Meters(every), sheets.meters_sheet(currency, every, calendar.zone)
