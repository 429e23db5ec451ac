"""The report to a laboratory: what the documents, the program's files and the results of its tests say, in one value."""

import hashlib
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Annotated, Final, Literal, Self

from pydantic import Field

from punto.commands.lab_report import pages
from punto.commands.lab_report.inputs import Bill, Digest, Installation, Part
from punto.commands.lab_report.results import Outcome, Result, Results, Run
from punto.controller import components
from punto.version import __version__

Status = Literal["met", "differs", "does not apply", "not covered"]
_MARKS: Final[tuple[tuple[str, Status], ...]] = (
    ("**Differs**", "differs"),
    ("**Does not apply**", "does not apply"),
    ("**Not covered**", "not covered"),
)
_TESTS: Final = re.compile(r"`([\w/]+\.py::test_\w+)`")


class Condition(Part):
    """A condition of the letter with its manual, or of the technical standards."""

    source: str
    """The sheet and its part, or the part of the standards."""
    clause: str
    asks: str
    answer: str
    """How the program meets it. If `status` is not `met`, the answer has the reason."""
    status: Status
    tests: list[Result]
    without_test: str
    """Why there is no test. It is empty if there are tests."""


class Signature(Part):
    """A component in the form of the letter, with its SHA-256 beside its MD5."""

    component: str
    version: str
    sha256: Digest
    md5: str


class Draw(Part):
    """A use of random numbers."""

    purpose: str
    generator: str
    modules: str


class RandomNumbers(Part):
    """The statement on random numbers."""

    statement: list[str]
    uses: list[Draw]


class Limit(Part):
    """What the program does not do or prove."""

    source: str
    limit: str
    reason: str


class LabReport(Part):
    """What a laboratory files of a program: conditions with tests and results, signatures, random numbers and limits."""

    format: Literal["punto/lab-report/1"] = "punto/lab-report/1"
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    version: str
    program: str
    """The version with the start of the digest of all components, as each record has it."""
    conditions: list[Condition]
    signatures: list[Signature]
    games: list[Signature]
    """The game files that ship with the program. Their version is the program's."""
    installation: Installation | None
    packages: Bill | None
    random_numbers: RandomNumbers
    limits: list[Limit]
    runs: list[Run]
    """The files of results. If there are none, no test was run here."""

    @classmethod
    def gather(
        cls, date: str, results: Results, installation: Installation | None, packages: Bill | None
    ) -> Self:
        """The report of this program."""
        conditions = [*_conditions(results)]
        return cls(
            date=date,
            version=__version__,
            program=components.own_version(),
            conditions=conditions,
            signatures=[
                Signature(
                    component=each.name,
                    version=each.version,
                    sha256=each.digest,
                    md5=components.md5_of(each.name),
                )
                for each in components.own_components()
            ],
            games=[*_games()],
            installation=installation,
            packages=packages,
            random_numbers=_random_numbers(),
            limits=[*_limits(conditions)],
            runs=results.runs,
        )

    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each test of the conditions, in the order in which the conditions name it first."""
        return {each.test: each.outcome for condition in self.conditions for each in condition.tests}

    def json_bytes(self) -> bytes:
        """The report as JSON: the same bytes for the same report."""
        return self.model_dump_json(indent=2).encode() + b"\n"


def _conditions(results: Results) -> Iterator[Condition]:
    letter = (each for each in pages.rows(pages.text_of("sheets.md")) if each.section.startswith("Sheet 001"))
    for section, (clause, asks, answer, tests) in (*letter, *pages.rows(pages.text_of("standards.md"))):
        named = _TESTS.findall(tests)
        yield Condition(
            source=section,
            clause=clause,
            asks=pages.plain(asks),
            answer=pages.plain(answer),
            status=next((status for mark, status in _MARKS if mark in answer), "met"),
            tests=[results.of(each) for each in named],
            without_test="" if named else pages.plain(tests),
        )


def _games() -> Iterator[Signature]:
    for name, file in components.own_files().items():
        if fnmatch(name, "configs/games/*.toml"):
            content = file.read_bytes()
            yield Signature(
                component=file.name,
                version=__version__,
                sha256=hashlib.sha256(content).hexdigest(),
                md5=hashlib.md5(content, usedforsecurity=False).hexdigest(),
            )


def _random_numbers() -> RandomNumbers:
    page = pages.text_of("random-numbers.md")
    head = page.partition("\n## ")[0].splitlines()
    live = next(lines for title, lines in pages.sections(page) if title.startswith("Simulated play"))
    return RandomNumbers(
        statement=[*pages.paragraphs(head), *pages.paragraphs(live)],
        uses=[
            Draw(purpose=purpose, generator=generator, modules=modules)
            for purpose, generator, modules in (tuple(map(pages.plain, cells)) for cells in pages.table(head))
        ],
    )


def _limits(conditions: list[Condition]) -> Iterator[Limit]:
    for each in conditions:
        if each.status != "met":
            yield Limit(source=each.source, limit=f"{each.clause}: {each.asks}", reason=each.answer)
    for section, cells in pages.rows(pages.text_of("threat-model.md")):
        if section[0].isdigit() and not _TESTS.search(cells[-1]):
            _, threat, defence, tests = map(pages.plain, cells)
            yield Limit(source=f"Threat model, {section}", limit=f"{threat}: {defence}", reason=tests)
    for title, lines in pages.sections(pages.text_of("prove-the-record.md")):
        if title.startswith("What this proves"):
            for item in pages.paragraphs(lines):
                yield Limit(source="Prove the record", limit=item.removeprefix("- "), reason="")
