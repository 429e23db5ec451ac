"""`punto progressive win-page`: an award's page, as a PDF or at a slip printer."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from punto.controller.config.file import load_config
from punto.controller.journal.schema import RecordError
from punto.controller.messages.building import timestamp
from punto.game_manager.awards import Print, award
from punto.game_manager.record import opened
from punto.game_manager.slip import PrinterError, send, slip
from punto.game_manager.win_page import WinPage, win_page

HELP = (
    "Print a copy of the win page of an award; the original is printed at the Game Manager, which puts it on the record. It is the award whose lock has the number N on the record, as `punto progressive report "
    "--awards` has it under `input`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the table, the award, and where the page goes."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="the table's configuration"
    )
    parser.add_argument(
        "--input", type=int, required=True, metavar="N", help="the award's number on the record"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--pdf", type=Path, metavar="FILE", help="write it as a PDF; needs punto[print]")
    where.add_argument(
        "--printer",
        metavar="WHERE",
        help="print it at a slip printer: HOST:PORT, or a device such as /dev/usb/lp0",
    )
    parser.add_argument(
        "--encoding",
        choices=("cp437", "gb18030"),
        default="cp437",
        help="the slip printer's characters, cp437 if left out",
    )


def main(args: argparse.Namespace) -> int:
    """Print it; 1 if it cannot be printed, 2 if there is no such award."""
    config = load_config(args.config)
    try:
        with opened(config.record.path) as record:
            found = award(record, args.input)
    except RecordError as error:
        return _said(str(error), 2)
    if found is None:
        return _said(f"no award was locked with the input {args.input} of the record", 2)
    zone = ZoneInfo("UTC" if config.progressive is None else config.progressive.zone)
    # Only the service writes on the record, and what is not on it as the original is a copy.
    printed = Print(ts=timestamp(datetime.now(UTC)), who="command line", original=False, input=None)
    page = win_page(found, printed, config.table.name, config.table.currency, zone)
    try:
        _print(page, args)
    except (OSError, PrinterError) as error:
        return _said(str(error), 1)
    return 0


def _print(page: WinPage, args: argparse.Namespace) -> None:
    if args.printer is not None:
        send(args.printer, slip(page, args.encoding))
        return
    from punto.game_manager.pdf import pdf  # noqa: PLC0415 - an extra, and not for slips

    args.pdf.write_bytes(pdf(page))


def _said(why: str, status: int) -> int:
    print(f"punto progressive: {why}", file=sys.stderr)
    return status
