"""The digests of the program's own files: each file that runs, is read or is sent to browsers changes one of them."""

import shutil
from pathlib import Path

import pytest

from punto.controller import components
from tests.controller.table_on_a_machine import HERE


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """A copy of the program."""
    folder: Path = tmp_path_factory.mktemp("program")
    for name in components.ROOMS:
        shutil.copytree(HERE / "punto" / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def digests(program: Path) -> dict[str, str]:
    return {name: components._digest(program / name) for name in components.ROOMS}


@pytest.mark.parametrize(
    "file",
    [
        "baccarat/coup.py",
        "commands/run.py",
        "configs/games/dragon-bonus-1.toml",
        "consoles/pages/sign-on.js",
        "consoles/catalogs/en.json",
        "web/shared/base.css",
        "displays/static/layout.js",
    ],
)
def test_a_changed_file_changes_the_digest_of_its_package_and_no_other(program, file):
    before, content = digests(program), (program / file).read_bytes()
    (program / file).write_bytes(content + b" ")
    after = digests(program)
    (program / file).write_bytes(content)

    assert {name for name in before if before[name] != after[name]} == {file.partition("/")[0]}


def test_a_new_file_changes_a_digest_and_a_compiled_one_does_not(program):
    before = digests(program)
    (program / "consoles" / "__pycache__").mkdir()
    (program / "consoles" / "__pycache__" / "web.cpython-311.pyc").touch()
    assert digests(program) == before

    (program / "consoles" / "more.js").touch()
    assert digests(program) != before
