"""The results of tests, from the files in the form of JUnit that `make test` writes."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree as ET

from punto.commands.lab_report.inputs import LARGEST, Part
from punto.configs.given_files import read_given

PROGRAM: Final = "program"
"""The property of a file that has the version and the digest of the program that was tested."""
Outcome = Literal["passed", "failed", "skipped", "not run here"]


class ResultsError(Exception):
    """The results cannot be used. The message says what to do."""


class Run(Part):
    """A file of results: the outcomes of one run of pytest.

    `tests` counts all cases, and the others count those that did not pass. `started` is as the file has it.
    """

    file: str
    sha256: str
    started: str
    tests: int
    failed: int
    skipped: int


class Result(Part):
    """The outcome of one test: it has passed only if no case of it failed and at least one case passed."""

    test: str
    """Its file below `tests`, and its name."""
    outcome: Outcome
    passed: int = 0
    failed: int = 0
    skipped: int = 0


class Results:
    """The outcomes of all tests that were run, and the files that have them."""

    def __init__(self, runs: Iterable[Run] = (), cases: "Counter[tuple[str, Outcome]] | None" = None) -> None:
        self.runs = list(runs)
        self._cases = Counter() if cases is None else cases

    @classmethod
    def read(cls, folder: Path, program: str) -> "Results":
        """Read each file NAME.xml of the folder.

        Raises:
            ResultsError: there is no such file, one is not of pytest, or one is of another program than this.
            OSError: a file cannot be read.
        """
        files = sorted(folder.glob("*.xml"))
        if not files:
            raise ResultsError(f"{folder} has no file with results: run `make test`, which writes them")
        runs, cases = [], Counter[tuple[str, Outcome]]()
        for file in files:
            content = read_given(file, LARGEST)
            suites = _suites(content)
            if not suites:
                raise ResultsError(
                    f"{file} does not have the results of pytest: remove it, or run `make test`"
                )
            runs.append(_run(file, content, suites, program))
            for suite in suites:
                cases.update((_test(case), _outcome(case)) for case in suite.iter("testcase"))
        return cls(runs, cases)

    def of(self, test: str) -> Result:
        """The outcome of a test, such as `baccarat/wagers/test_games.py::test_only_dai_bacc_has_no_tie_wager`."""
        passed, failed, skipped = (self._cases[test, each] for each in ("passed", "failed", "skipped"))
        outcome: Outcome = (
            "failed" if failed else "passed" if passed else "skipped" if skipped else "not run here"
        )
        return Result(test=test, outcome=outcome, passed=passed, failed=failed, skipped=skipped)


def _suites(content: bytes) -> list[ET.Element]:
    """The suites of a file, none if it is not a file of results."""
    try:
        # The files are of the user who makes the report. expat limits the expansion of entities.
        return [*ET.fromstring(content).iter("testsuite")]  # noqa: S314
    except ET.ParseError:
        return []


def _run(file: Path, content: bytes, suites: list[ET.Element], program: str) -> Run:
    tested = {each.get("value") for suite in suites for each in suite.iter("property") if _is_program(each)}
    if tested != {program}:
        found = ", ".join(sorted(str(each) for each in tested)) or "a program that it does not name"
        raise ResultsError(
            f"{file} has the results of {found}, and this is {program}: run `make test` again, or remove the file"
        )
    counts = Counter(_outcome(case) for suite in suites for case in suite.iter("testcase"))
    return Run(
        file=file.name,
        sha256=hashlib.sha256(content).hexdigest(),
        started=min(suite.get("timestamp", "") for suite in suites),
        tests=counts.total(),
        failed=counts["failed"],
        skipped=counts["skipped"],
    )


def _is_program(each: ET.Element) -> bool:
    return each.get("name") == PROGRAM


def _test(case: ET.Element) -> str:
    """The test of a case: `tests.baccarat.wagers.test_games` and `test_it[9-0]` is `baccarat/wagers/test_games.py::test_it`."""
    path = case.get("classname", "").removeprefix("tests.").replace(".", "/")
    return f"{path}.py::{case.get('name', '').partition('[')[0]}"


def _outcome(case: ET.Element) -> Outcome:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"
