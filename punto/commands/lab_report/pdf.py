"""The report to a laboratory as a PDF: the same bytes for the same report."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fpdf import FPDF
from fpdf.enums import TableBordersLayout, VAlign, XPos, YPos
from fpdf.fonts import FontFace

from punto.commands.lab_report.report import Condition, LabReport, Signature

_FONTS: Final = Path(__file__).parents[2] / "web" / "shared" / "fonts"
_WIDTH: Final = 180
"""The width of the text, in millimetres."""
_HEADINGS: Final = FontFace(emphasis="BOLD", fill_color=(230, 230, 230))


class _Sheets(FPDF):
    """Sheets of A4 with their number at the foot."""

    def __init__(self, report: LabReport) -> None:
        super().__init__(format="A4")
        self._foot = f"Punto {report.program}, report to a laboratory, {report.date}"
        self.set_title(self._foot)
        self.set_creation_date(datetime.fromisoformat(report.date).replace(tzinfo=UTC))
        self.add_font("punto", fname=_FONTS / "arimo-400.woff2")
        self.add_font("punto", "B", fname=_FONTS / "arimo-700.woff2")
        self.set_margin(15)
        self.set_auto_page_break(auto=True, margin=18)
        self.add_page()

    def footer(self) -> None:
        """Write the program and the number of the sheet."""
        self.set_y(-13)
        self.set_font("punto", "", 8)
        self.cell(140, 5, self._foot)
        self.cell(0, 5, f"{self.page_no()} / {{nb}}", align="R")

    def heading(self, text: str, size: float = 14) -> None:
        """Write a title with room for some lines of what follows it."""
        if self.will_page_break(40):
            self.add_page()
        self.ln(4)
        self.set_font("punto", "B", size)
        self.multi_cell(0, size * 0.55, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(1.5)

    def paragraph(self, text: str) -> None:
        """Write a paragraph."""
        self.set_font("punto", "", 9.5)
        self.multi_cell(0, 4.6, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(1)

    def grid(
        self, widths: Sequence[int], head: Sequence[str], rows: Iterable[Sequence[str]], size: float = 8
    ) -> None:
        """Write a table whose columns have these widths in millimetres."""
        self.set_font("punto", "", size)
        with self.table(
            width=_WIDTH,
            col_widths=tuple(widths),
            text_align="LEFT",
            v_align=VAlign.T,
            line_height=size * 0.5,
            padding=1,
            headings_style=_HEADINGS,
            borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        ) as table:
            for each in (head, *rows):
                line = table.row()
                for text in each:
                    line.cell(text)


def pdf(report: LabReport) -> bytes:
    """The report as a PDF."""
    sheets = _Sheets(report)
    numbers = {test: f"T{number}" for number, test in enumerate(report.outcomes(), 1)}
    _summary(sheets, report)
    _signatures(sheets, report)
    _random_numbers(sheets, report)
    _conditions(sheets, report, numbers)
    sheets.heading("Known limits")
    sheets.grid(
        (35, 75, 70),
        ("Source", "What Punto does not do or prove", "Reason"),
        ((each.source, each.limit, each.reason) for each in report.limits),
    )
    _tests(sheets, report, numbers)
    return bytes(sheets.output())


def _summary(sheets: _Sheets, report: LabReport) -> None:
    sheets.heading("Punto: report to a laboratory", 20)
    sheets.grid(
        (45, 135),
        ("What", "Value"),
        (
            ("Program", f"Punto {report.program}"),
            ("Date", report.date),
            ("Conditions", _counted(each.status for each in report.conditions)),
            ("Tests of the conditions", _counted(report.outcomes().values())),
            ("SHA-256 of this report as JSON", hashlib.sha256(report.json_bytes()).hexdigest()),
        ),
        9,
    )
    sheets.ln(2)
    sheets.paragraph(
        "The conditions are those of sheet 001, which is the approval letter of 23 February 2012 with its training manual, and those of "
        "technical standards for progressives and table systems. The letter approves another maker's devices, and does not approve Punto."
    )
    if not report.runs:
        sheets.paragraph("No results were given to this report: no test was run here.")
        return
    sheets.heading("Runs of the tests", 11)
    sheets.paragraph("All runs are of the program above.")
    sheets.grid(
        (32, 42, 16, 16, 16, 58),
        ("File", "Begun", "Tests", "Failed", "Skipped", "SHA-256"),
        (
            (each.file, each.started, str(each.tests), str(each.failed), str(each.skipped), each.sha256)
            for each in report.runs
        ),
    )


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{count} {value}" for value, count in sorted(Counter(values).items()))


def _signatures(sheets: _Sheets, report: LabReport) -> None:
    sheets.heading("Electronic signatures")
    sheets.paragraph(
        "Each digest of a component covers the names, sizes and contents of the component's files. The message info of a table has the "
        "same SHA-256. Each digest of a game covers its file."
    )
    _digests(sheets, "Software component", report.signatures)
    sheets.ln(3)
    _digests(sheets, "Game file", report.games)
    sheets.heading("Installation", 11)
    if report.installation is None:
        sheets.paragraph("No manifest of an installation was given to this report.")
    else:
        it = report.installation
        sheets.paragraph(
            "The manifest has each file of this program, and its signature holds. Compare the fingerprint with the one that the owner of "
            "the key gives."
        )
        sheets.grid(
            (45, 135),
            ("What", "Value"),
            (
                ("Installed files", str(it.files)),
                ("SHA-256 of manifest.sha256", it.sha256),
                ("MD5 of manifest.md5", it.md5),
                ("Public key (Ed25519)", it.public_key),
                ("Fingerprint of the key (SHA-256)", it.fingerprint),
            ),
        )
    sheets.heading("Packages", 11)
    if report.packages is None:
        sheets.paragraph("No bill of materials was given to this report.")
    else:
        sheets.paragraph(
            f"SHA-256 of the bill of materials: {report.packages.sha256}. Its packages: "
            + ", ".join(f"{each.name} {each.version}" for each in report.packages.packages)
            + "."
        )


def _digests(sheets: _Sheets, kind: str, signatures: Iterable[Signature]) -> None:
    sheets.grid(
        (34, 11, 87, 48),
        (kind, "Version", "SHA-256", "MD5"),
        ((each.component, each.version, each.sha256, each.md5) for each in signatures),
        6.5,
    )


def _random_numbers(sheets: _Sheets, report: LabReport) -> None:
    sheets.heading("Statement on random numbers")
    for each in report.random_numbers.statement:
        sheets.paragraph(each)
    sheets.grid(
        (70, 45, 65),
        ("Purpose", "Generator", "Modules"),
        ((each.purpose, each.generator, each.modules) for each in report.random_numbers.uses),
    )


def _conditions(sheets: _Sheets, report: LabReport, numbers: dict[str, str]) -> None:
    sheets.heading("Conditions")
    sheets.paragraph(
        "A test is the letter T with its number in the list at the end, and its result. A test has passed if no case of it failed, and at "
        "least one case passed."
    )
    for source in dict.fromkeys(each.source for each in report.conditions):
        sheets.heading(source, 11)
        sheets.grid(
            (28, 46, 16, 58, 32),
            ("Clause", "What it asks", "Status", "How Punto meets it", "Tests"),
            (_row(each, numbers) for each in report.conditions if each.source == source),
        )


def _row(condition: Condition, numbers: dict[str, str]) -> tuple[str, ...]:
    tests = "\n".join(f"{numbers[each.test]} {each.outcome}" for each in condition.tests)
    return (
        condition.clause,
        condition.asks,
        condition.status,
        condition.answer,
        tests or condition.without_test,
    )


def _tests(sheets: _Sheets, report: LabReport, numbers: dict[str, str]) -> None:
    found = {each.test: each for condition in report.conditions for each in condition.tests}
    sheets.heading("Tests of the conditions")
    sheets.paragraph("The files are in the folder tests of the source. The last three columns count cases.")
    sheets.grid(
        (10, 100, 22, 16, 16, 16),
        ("", "Test", "Result", "Passed", "Failed", "Skipped"),
        (
            (numbers[test], test, each.outcome, str(each.passed), str(each.failed), str(each.skipped))
            for test, each in found.items()
        ),
        7,
    )
