"""`punto lab-report`: one document of what a laboratory files, as a PDF and as JSON."""

import argparse
import os
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from punto.commands.lab_report.inputs import InputError, bill, installation
from punto.commands.lab_report.report import LabReport
from punto.commands.lab_report.results import Results, ResultsError
from punto.configs.problems import cut
from punto.controller.components import own_version
from punto.runtime.made_files import FOR_ALL, write_file

HELP: Final = (
    "Gather what a laboratory files into one document, as a PDF, as JSON or as both: each condition of the approval letter and of the "
    "technical standards with its tests and their last results, the signatures of the program, the statement on random numbers, and the "
    "known limits. `make test` and `make soak` write the results into build/results. Without results, each test is `not run here`. The "
    "same program, files and date give the same bytes. The exit status is 1 if a file cannot be used or written."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--pdf", type=Path, metavar="FILE", help="write a PDF to this file; this needs punto[print]"
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write JSON to this file; `punto schema` writes its schema",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="the folder with the results of the tests, such as build/results",
    )
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="DIR",
        help="the folder with the manifest of an installation, which `punto manifest` wrote; this needs punto[console]",
    )
    parser.add_argument(
        "--sbom",
        type=Path,
        metavar="FILE",
        help="the bill of materials of the release, in the form of CycloneDX",
    )
    parser.add_argument(
        "--date",
        type=_day,
        metavar="DAY",
        help="the date of the report, such as 2026-11-25 (default: the day of SOURCE_DATE_EPOCH if it is set, otherwise today, in UTC)",
    )


def main(args: argparse.Namespace) -> int:
    """Write the report; 1 if a file cannot be used or written, 2 if no file is named."""
    if args.pdf is None and args.json is None:
        print("punto lab-report: name a file with --pdf, with --json, or with both", file=sys.stderr)
        return 2
    try:
        results = Results() if args.results is None else Results.read(args.results, own_version())
        report = LabReport.gather(
            str(args.date or _today()),
            results,
            None if args.manifest is None else installation(args.manifest),
            None if args.sbom is None else bill(args.sbom),
        )
        _write(report, args)
    except (InputError, ResultsError) as error:
        print(f"punto lab-report: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"punto lab-report: {error.filename or 'the report'}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _write(report: LabReport, args: argparse.Namespace) -> None:
    if args.pdf is not None:
        from punto.commands.lab_report.pdf import pdf  # noqa: PLC0415 - an extra; JSON does not need it

        write_file(args.pdf, pdf(report), FOR_ALL)
    if args.json is not None:
        write_file(args.json, report.json_bytes(), FOR_ALL)


def _today() -> date:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return (datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)).date()
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"SOURCE_DATE_EPOCH: {cut(str(epoch))!r} is not a number of seconds since 1970"
        ) from error


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day: write one such as 2026-11-25") from None
