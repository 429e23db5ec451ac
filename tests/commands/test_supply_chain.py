"""The bill of materials, the licences and the audit of the packages that Punto needs."""

import json
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import supply_chain
from tools.supply_chain import LOCK, ROOT, Package

ADVISORY = """\
id: PYSEC-2026-1
summary: It falls over
affected:
- package: {ecosystem: PyPI, name: Some_Package}
  ranges:
  - type: ECOSYSTEM
    events: [{introduced: "0"}, {fixed: "1.2"}, {introduced: "2.0"}, {last_affected: "2.1"}]
  versions: ["3.0rc1"]
"""


def test_each_package_has_a_licence_that_is_allowed():
    licences = {name: supply_chain.licence_of(name) for name in supply_chain.runtime_packages()}

    assert {"pydantic", "numpy", "psycopg", "hatchling"} <= licences.keys()
    assert {name: each for name, each in licences.items() if not supply_chain.allowed(each)} == {}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only", False),
        ("", False),
    ],
)
def test_a_choice_of_licences_is_ours_and_several_at_once_count_all(expression, allowed):
    assert supply_chain.allowed(expression) is allowed


def test_the_bill_has_each_package_of_a_tables_lock_with_its_hashes_and_what_needs_it():
    lock = LOCK.read_text(encoding="utf-8")
    bill = supply_chain.bill(lock, "1.2.3", 1_000_000_000)
    packages = {each["bom-ref"]: each for each in bill["components"]}
    needed = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    hashes = [each for package in packages.values() for each in package["externalReferences"][0]["hashes"]]

    assert len(packages) == lock.count("==")
    assert len(hashes) == lock.count("--hash=sha256:")
    assert needed.keys() == {*packages, "pkg:pypi/punto@1.2.3"}
    assert {ref for refs in needed.values() for ref in refs} < packages.keys()
    names = {ref.partition("@")[0].removeprefix("pkg:pypi/") for ref in needed["pkg:pypi/punto@1.2.3"]}
    assert {"pydantic", "fastapi", "evdev-binary"} <= names
    assert "starlette" in {each["name"] for each in packages.values()}


def test_a_table_has_nothing_that_only_tests_and_documents_need():
    on_a_table = {each.name for each in supply_chain.locked(LOCK.read_text(encoding="utf-8"))}
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    written = [each for name in ("dev", "docs") for each in groups[name] if isinstance(each, str)]
    of_tests = {canonicalize_name(Requirement(each).name) for each in written}

    assert {"pytest", "mypy", "mkdocs-material"} <= of_tests
    assert on_a_table & of_tests == {"brotli", "fonttools"}  # which the win page needs


def test_the_bill_is_the_same_for_the_same_release(tmp_path):
    for name in ("one", "other"):
        supply_chain.write_bill(tmp_path / name, "1.2.3", 1_000_000_000)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize(
    ("version", "weak"),
    [("1.1", True), ("1.2", False), ("2.0.1", True), ("2.1", True), ("2.2", False), ("3.0rc1", True)],
)
def test_a_weakness_is_of_the_listed_versions_and_ranges(version, weak, tmp_path):
    (tmp_path / "PYSEC-2026-1.yaml").write_text(ADVISORY, encoding="utf-8")
    withdrawn = {"id": "X", "withdrawn": "2026", "affected": [{"package": {"ecosystem": "PyPI"}}]}
    (tmp_path / "X.json").write_text(json.dumps(withdrawn), encoding="utf-8")
    advisories = list(supply_chain.advisories_in(tmp_path))
    packages = [Package("some-package", version, ()), Package("another", version, ())]

    assert len(advisories) == 1
    found = list(supply_chain.weaknesses(packages, advisories))
    assert found == ([f"some-package {version}: PYSEC-2026-1 It falls over"] if weak else [])


@pytest.mark.parametrize(
    ("name", "content", "status", "said"),
    [
        (None, "", 0, "not audited: set PUNTO_ADVISORIES"),
        ("notes.txt", "PyPI", 1, "has no advisories of PyPI"),
        ("a.yaml", ADVISORY, 0, " packages, 1 advisories, 0 known weaknesses"),
        (
            "a.yaml",
            ADVISORY.replace("Some_Package", "pyserial").replace("3.0rc1", "3.5"),
            1,
            "pyserial 3.5: ",
        ),
    ],
)
def test_an_audit_needs_a_folder_of_advisories(name, content, status, said, tmp_path, monkeypatch, capsys):
    if name is None:
        monkeypatch.delenv(supply_chain.ADVISORIES, raising=False)
    else:
        monkeypatch.setenv(supply_chain.ADVISORIES, str(tmp_path))
        (tmp_path / name).write_text(content, encoding="utf-8")

    assert supply_chain.audit() == status
    assert said in "".join(capsys.readouterr())
