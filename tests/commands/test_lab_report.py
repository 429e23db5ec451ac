"""The report to a laboratory: what it gathers, and that nothing in it passes for a test that was not run."""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from jsonschema import Draft202012Validator
from pypdf import PdfReader

from punto.commands.lab_report import pages
from punto.commands.lab_report.inputs import InputError, bill, installation
from punto.commands.lab_report.report import LabReport
from punto.commands.lab_report.results import PROGRAM, Results, ResultsError
from punto.commands.schema import documents
from punto.controller import components
from punto.controller.signing import manifest
from punto.controller.signing.keys import SigningKey
from tests.command import punto
from tests.documents.test_sheets_page import names_in
from tests.share import soaked

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
ROOMS = [(ROOT / "punto" / room).resolve() for room in components.ROOMS]
SOURCE = "commands/test_of_a_source.py"
REPORT = LabReport.gather("2026-11-25", Results(), None, None)
DRAWS = {"PCG64DXSM", "PasswordHasher", "default_rng", "generate", "getrandom", "urandom", "uuid1", "uuid4"}
"""Names with which a module draws random numbers, besides `random` and `secrets`."""


def results(folder: Path, cases: str, program: str = components.own_version()) -> Path:
    """A folder with a file of results such as pytest's."""
    folder.mkdir(exist_ok=True)
    named = f'<properties><property name="{PROGRAM}" value="{program}"/></properties>'
    suite = f'<testsuite timestamp="2026-11-25T12:00:00">{named}{cases}</testsuite>'
    (folder / "test-some.xml").write_text(f"<testsuites>{suite}</testsuites>")
    return folder


def case(name: str, inside: str = "", of: str = "tests.commands.test_of_a_source") -> str:
    return f'<testcase classname="{of}" name="{name}">{inside}</testcase>'


# --- conditions and their tests


@pytest.mark.parametrize("condition", REPORT.conditions, ids=lambda each: f"{each.source[:9]} {each.clause}")
def test_each_condition_has_tests_that_exist_or_the_reason_why_not(condition):
    named = [each.test.split("::") for each in condition.tests]

    assert condition.asks
    assert condition.answer
    assert [f"{file}::{name}" for file, name in named if name not in names_in(TESTS / file)] == []
    assert bool(named) != bool(re.match(r"none, because .{20}", condition.without_test))


def test_the_conditions_are_all_rows_of_the_letter_its_manual_and_the_standards():
    lines = [
        line
        for page in ("sheets.md", "standards.md")
        for section in (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8").split("\n## ")
        if section.startswith(("Sheet 001", "Standards"))
        for line in section.splitlines()
        if line.startswith("| ") and not line.startswith(("| Clause |", "| Requirement |"))
    ]

    assert len(REPORT.conditions) == len(lines)
    assert {each.status for each in REPORT.conditions} == {"met", "differs", "does not apply", "not covered"}
    assert all(each.tests for each in REPORT.conditions if each.status == "met")


def test_without_results_no_test_has_passed():
    assert set(REPORT.outcomes().values()) == {"not run here"}
    assert REPORT.runs == []


@pytest.mark.parametrize(
    ("cases", "outcome"),
    [
        ("", "not run here"),
        (case("test_it"), "passed"),
        (case("test_it[9-0]") + case("test_it[8-0]", "<skipped/>"), "passed"),
        (case("test_it[9-0]") + case("test_it[8-0]", "<failure/>"), "failed"),
        (case("test_it") + case("test_it", "<error/>"), "failed"),
        (case("test_it", "<skipped/>"), "skipped"),
        (case("test_it_too") + case("test_it", of="tests.commands.test_other"), "not run here"),
    ],
)
def test_a_test_has_passed_only_if_a_case_of_it_passed_and_none_failed(tmp_path, cases, outcome):
    found = Results.read(results(tmp_path, cases), components.own_version())

    assert found.of(f"{SOURCE}::test_it").outcome == outcome


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<testsuite", "does not have the results of pytest"),
        ("<coverage/>", "does not have the results of pytest"),
        ("<testsuite/>", "has the results of a program that it does not name, and this is "),
    ],
)
def test_what_is_not_a_file_of_results_of_this_program_is_refused(tmp_path, content, reason):
    (tmp_path / "r.xml").write_text(content)
    with pytest.raises(ResultsError, match=re.escape(f"{tmp_path / 'r.xml'} {reason}")):
        Results.read(tmp_path, components.own_version())


def test_results_of_another_program_are_refused(tmp_path):
    results(tmp_path, case("test_it"), "0.1.0+000000000000")
    with pytest.raises(ResultsError, match=r"has the results of 0\.1\.0\+000000000000, and this is 0\."):
        Results.read(tmp_path, components.own_version())


def test_a_report_with_wrong_results_is_not_written(tmp_path):
    ran = punto("lab-report", "--json", str(tmp_path / "r.json"), "--results", str(tmp_path))

    assert (ran.returncode, ran.stdout) == (1, "")
    assert (
        ran.stderr
        == f"punto lab-report: {tmp_path} has no file with results: run `make test`, which writes them\n"
    )
    assert not (tmp_path / "r.json").exists()


def test_pytest_names_the_program_in_its_file_of_results(tmp_path):
    """Also with several processes, as `make test` runs it."""
    test = "tests/baccarat/test_cards.py::test_a_card_is_its_rank_its_suit_and_its_points"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--workers",
        "1",
        "--junitxml",
        str(tmp_path / "r.xml"),
        test,
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout

    found = Results.read(tmp_path, components.own_version())
    assert found.of(test.removeprefix("tests/")).outcome == "passed"
    assert [(run.file, run.tests, run.failed) for run in found.runs] == [
        ("r.xml", found.of(test.removeprefix("tests/")).passed, 0)
    ]


# --- signatures


def test_the_signatures_are_those_that_a_table_publishes_with_md5_beside_them():
    assert [(each.component, each.sha256) for each in REPORT.signatures] == [
        (each.name, each.digest) for each in components.own_components()
    ]
    assert {len(each.md5) for each in (*REPORT.signatures, *REPORT.games)} == {32}
    assert {each.component: each.md5 for each in REPORT.games} == {
        file.name: hashlib.md5(file.read_bytes()).hexdigest()  # noqa: S324 - the letter's form
        for file in (ROOT / "configs" / "games").glob("*.toml")
    }


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """A copy of this program."""
    folder: Path = tmp_path_factory.mktemp("own")
    for room in ROOMS:
        shutil.copytree(room, folder / room.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def made(folder: Path, of: Path) -> SigningKey:
    """The key of a manifest that was made in a folder."""
    folder.mkdir(exist_ok=True)
    key = SigningKey.open(folder.parent / "key")
    manifest.write(folder, key, [of])
    return key


def test_a_manifest_of_this_program_is_in_the_report_with_the_fingerprint_of_its_key(tmp_path, program):
    folder = tmp_path / "manifest"
    key = made(folder, program)
    ran = punto("lab-report", "--json", str(tmp_path / "r.json"), "--manifest", str(folder))
    assert (ran.returncode, ran.stderr) == (0, "")

    found = json.loads((tmp_path / "r.json").read_bytes())["installation"]
    assert found["public_key"] == key.public
    assert found["fingerprint"] == hashlib.sha256(b64decode(key.public)).hexdigest()
    assert found["sha256"] == hashlib.sha256((folder / manifest.SHA256).read_bytes()).hexdigest()
    assert found["files"] == len((folder / manifest.MD5).read_text().splitlines())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: (folder / manifest.SIGNATURE).unlink(), "manifest.sig cannot be read"),
        (lambda folder: (folder / manifest.SIGNATURE).write_bytes(b"0" * 64), "did not sign"),
        (lambda folder: (folder / manifest.PUBLIC).write_text("a key"), "did not sign"),
        *(
            (
                lambda folder, name=name: (folder / name).write_text(""),
                rf"{name} is not the one that was signed",
            )
            for name in manifest.SUMMED
        ),
    ],
)
def test_a_manifest_that_was_changed_is_refused(tmp_path, program, change, reason):
    folder = tmp_path / "manifest"
    made(folder, program / "drivers")
    change(folder)
    with pytest.raises(InputError, match=reason):
        installation(folder)


@pytest.mark.parametrize("content", ["", "another file's"])
def test_a_manifest_of_another_program_is_refused(tmp_path, program, content):
    """Also if the manifest has the content of the file under another name."""
    file = program / "baccarat" / "coup.py"
    own = file.read_bytes()
    file.write_bytes((file.parent / "cards.py").read_bytes() if content else b"")
    try:
        made(tmp_path / "manifest", program)
    finally:
        file.write_bytes(own)
    with pytest.raises(InputError, match=r"does not have this program's baccarat/coup\.py"):
        installation(tmp_path / "manifest")


@pytest.mark.in_part
@pytest.mark.parametrize("editable", [False, *soaked(True)])
def test_the_manifest_of_an_unchanged_installation_is_accepted(tmp_path, editable):
    """Also of an editable one, where pages of the report are links to the documents, and from one kind to the other."""
    source, environment = tmp_path / "source", tmp_path / "environment"
    ignored = shutil.ignore_patterns("__pycache__", "images")
    for folder in ("punto", "configs", "controller", "drivers", "simulators", "systemd", "docs"):
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / file, source)
    # what Python finds there is of neither the installation nor its manifest
    dependencies = {**os.environ, "PYTHONPATH": str(Path(pytest.__file__).parents[1])}

    def run(*command: str | Path) -> str:
        return subprocess.run(
            command, cwd=tmp_path, env=dependencies, check=True, capture_output=True, text=True
        ).stdout

    run(sys.executable, "-m", "venv", "--without-pip", environment)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--no-index")
    run(*pip, "--no-deps", "--no-build-isolation", *(["--editable"] if editable else []), source)
    command, out = environment / "bin" / "punto", tmp_path / "manifest"
    out.mkdir()
    run(command, "manifest", "--out", out, "--key", tmp_path / "key")
    run(command, "lab-report", "--json", tmp_path / "r.json", "--manifest", out)
    own = json.loads((tmp_path / "r.json").read_bytes())["installation"]

    assert own["sha256"] == hashlib.sha256((out / manifest.SHA256).read_bytes()).hexdigest()
    assert installation(out).model_dump() == own  # as the laboratory's own checkout reads it


def test_a_bill_of_materials_is_listed_and_another_file_is_refused(tmp_path):
    file = tmp_path / "sbom.json"
    packages = [{"name": "cobs", "version": "1.2"}]
    file.write_text(json.dumps({"bomFormat": "CycloneDX", "components": packages}))
    assert [each.model_dump() for each in bill(file).packages] == packages

    for content, told in (
        ({"bomFormat": "SPDX", "components": []}, "is not a bill of materials of CycloneDX"),
        ({"bomFormat": "CycloneDX", "components": [{"name": "cobs"}]}, "a component without 'version'"),
    ):
        file.write_text(json.dumps(content))
        with pytest.raises(InputError, match=told):
            bill(file)


# --- random numbers and limits


def draws(path: Path) -> bool:
    """Whether a module draws random numbers, or is given what draws them."""
    source = path.read_text(encoding="utf-8")
    if not any(
        name in source for name in (*DRAWS, "random", "secrets")
    ):  # most modules; to parse takes longer
        return False
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names) if {"random", "secrets"} & {each.name for each in names}:
                return True
            case ast.ImportFrom(module="random"):
                return True
            case ast.ImportFrom(module="secrets", names=names) if {each.name for each in names} != {
                "compare_digest"
            }:
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in DRAWS:
                return True
    return False


def test_the_statement_names_each_module_that_draws_random_numbers():
    stated = {module for use in REPORT.random_numbers.uses for module in use.modules.split(", ")}
    modules = (path for room in ROOMS for path in room.rglob("*.py"))

    assert stated == {str(path.relative_to(ROOT)) for path in modules if draws(path)}


def test_pages_draw_no_random_numbers():
    scripts = [path for room in ROOMS for kind in ("*.js", "*.html") for path in room.rglob(kind)]
    drawn = re.compile(r"Math\.random|getRandomValues|randomUUID")

    assert scripts
    assert [path for path in scripts if drawn.search(path.read_text(encoding="utf-8"))] == []


def test_the_limits_are_what_differs_and_every_threat_without_a_test():
    page = (ROOT / "docs" / "explanation" / "threat-model.md").read_text(encoding="utf-8")
    threats = [each for each in REPORT.limits if each.source.startswith("Threat model")]

    assert len(threats) == len(re.findall(r"\| none, because [^|]+\|$", page, re.MULTILINE))
    assert {each.clause for each in REPORT.conditions if each.status != "met"} == {
        each.limit.partition(": ")[0]
        for each in REPORT.limits
        if each.source.startswith(("Sheet", "Standards"))
    }
    assert [each for each in REPORT.limits if each.source == "Prove the record"]


# --- the document


def test_the_json_is_as_its_schema_says(tmp_path):
    schema = json.loads(documents()["schema/lab-report.json"])

    Draft202012Validator(schema).validate(json.loads(REPORT.json_bytes()))


@pytest.fixture(scope="module")
def written() -> bytes:
    from punto.commands.lab_report.pdf import pdf

    return pdf(REPORT)


def test_the_same_report_is_the_same_bytes_in_another_process_and_time_zone(tmp_path, written):
    environment = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1795622400"}
    command = ["lab-report", "--pdf", f"{tmp_path / 'r.pdf'}", "--json", f"{tmp_path / 'r.json'}"]
    subprocess.run([sys.executable, "-m", "punto", *command], env={**os.environ, **environment}, check=True)

    assert (tmp_path / "r.json").read_bytes() == REPORT.json_bytes()
    assert (tmp_path / "r.pdf").read_bytes() == written


def test_the_pdf_has_every_condition_test_and_limit_and_the_digest_of_the_json(written):
    text = "".join("".join(sheet.extract_text().split()) for sheet in PdfReader(BytesIO(written)).pages)

    def missing(texts):
        return [each for each in texts if "".join(each.split()) not in text]

    assert missing(REPORT.outcomes()) == []
    assert missing(each.sha256 for each in (*REPORT.signatures, *REPORT.games)) == []
    assert missing(each.clause for each in REPORT.conditions) == []
    assert missing(each.modules for each in REPORT.random_numbers.uses) == []
    assert missing([hashlib.sha256(REPORT.json_bytes()).hexdigest()]) == []


def test_each_letter_of_the_report_has_a_shape_in_the_font():
    font = TTFont(ROOT / "punto" / "web" / "shared" / "fonts" / "arimo-400.woff2")

    assert set(REPORT.json_bytes().decode()) - {chr(code) for code in font.getBestCmap()} <= {"\n"}


def test_one_file_at_least_is_named():
    ran = punto("lab-report")

    assert (ran.returncode, ran.stderr) == (
        2,
        "punto lab-report: name a file with --pdf, with --json, or with both\n",
    )


@pytest.mark.parametrize("epoch", ["", "yesterday", "9" * 30])
def test_a_date_that_is_not_one_is_refused(tmp_path, monkeypatch, epoch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    ran = punto("lab-report", "--json", str(tmp_path / "r.json"))

    assert ran.returncode == 1
    assert "is not a number of seconds since 1970" in ran.stderr
    assert "is not a day" in punto("lab-report", "--date", epoch).stderr


def test_a_report_that_cannot_be_written_is_an_error(tmp_path):
    for file, told in (
        ("/dev/full", "/dev/full: it is a device: name a file"),
        (tmp_path / "no" / "r", "No such file"),
    ):
        ran = punto("lab-report", "--date", "2026-11-25", "--json", str(file))

        assert (ran.returncode, told in ran.stderr) == (1, True)


def test_the_pages_of_the_report_are_the_documents():
    folder = Path(pages.__file__).parent / "pages"

    assert {each.name: each.resolve() for each in folder.iterdir()} == {
        each.name: next((ROOT / "docs").rglob(each.name)) for each in folder.iterdir()
    }
