"""`punto progressive win-page`: a copy of an award's win page, as a PDF or at a slip printer."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from punto.commands.arguments import add_table
from punto.controller.config.tables import load_table
from punto.controller.journal.schema import RecordError
from punto.messages.building import timestamp
from punto.reports.awards import Print, award
from punto.reports.record import opened
from punto.reports.slip import PrinterError, send, slip
from punto.reports.win_page import WinPage, win_page
from punto.runtime.made_files import SHARED, write_file

HELP = (
    "Print a copy of the win page of an award. Only the Game Manager can print the original, because the Game Manager puts that "
    "print on the record. N is the number of the input that fixed the amount of the award. `punto progressive report --awards` "
    "shows this number under `input`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="the table's configuration"
    )
    add_table(parser)
    parser.add_argument(
        "--input",
        type=int,
        required=True,
        metavar="N",
        help="the number of the input that fixed the amount of the award",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--pdf", type=Path, metavar="FILE", help="write a PDF to this file; this needs punto[print]"
    )
    printer = "print on this slip printer: HOST:PORT, or a device such as /dev/usb/lp0"
    where.add_argument("--printer", metavar="WHERE", help=printer)
    encoding = "the character set of the slip printer (default: cp437)"
    parser.add_argument("--encoding", choices=("cp437", "gb18030"), default="cp437", help=encoding)


def main(args: argparse.Namespace) -> int:
    """Print the page; 1 if it cannot be printed, 2 if there is no such award."""
    config = load_table(args.config, args.of_table)
    try:
        with opened(config.record.path) as record:
            found = award(record, args.input)
    except RecordError as error:
        return _failed(str(error), 2)
    if found is None:
        return _failed(f"input {args.input} of the record did not lock an award", 2)
    zone = ZoneInfo(config.calendar.zone)
    # Only the service can record an original, so this page is a copy.
    printed = Print(ts=timestamp(datetime.now(UTC)), who="command line", original=False, input=None)
    page = win_page(found, printed, config.settings().title, config.table.currency, zone)
    try:
        _print(page, args)
    except (OSError, PrinterError) as error:
        return _failed(str(error), 1)
    return 0


def _print(page: WinPage, args: argparse.Namespace) -> None:
    if args.printer is not None:
        send(args.printer, slip(page, args.encoding))
        return
    from punto.reports.pdf import pdf  # noqa: PLC0415 - an extra; slips do not need it

    write_file(args.pdf, pdf(page), SHARED)


def _failed(reason: str, status: int) -> int:
    print(f"punto progressive: {reason}", file=sys.stderr)
    return status
