"""The rooms of the package: one link for each, and no import that goes round them."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.name for path in (ROOT / "punto").iterdir() if path.is_symlink())
SOURCES = sorted(
    path
    for folder in (*ROOMS, "tests", "tools", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*.py")
)


def test_each_room_is_a_folder_of_the_root_and_goes_into_the_wheel():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]

    assert [(ROOT / "punto" / room).resolve() for room in ROOMS] == [ROOT / room for room in ROOMS]
    assert build["exclude"] == [f"/punto/{room}" for room in ROOMS]
    assert build["targets"]["wheel"]["packages"] == ["punto", *ROOMS]
    assert build["targets"]["wheel"]["sources"] == {room: f"punto/{room}" for room in ROOMS}


def test_a_room_is_imported_by_its_full_name():
    """By its bare name a checkout would load the same code a second time, and a wheel would not have it."""
    bare = re.compile(rf"^\s*(from|import)\s[^\n]*?(?<!\.)\b({'|'.join(ROOMS)})\b".encode(), re.MULTILINE)
    astray = [
        (str(path.relative_to(ROOT)), name)
        for path in SOURCES
        if bare.search(path.read_bytes())  # to parse all of them takes seconds
        for name in imported(path)
        if name in ROOMS
    ]

    assert astray == []


def test_only_simulators_and_odds_shuffle_cards():
    """At a live table people shuffle, by house procedure or with an approved shuffler (sheet 000, Dragon Bonus, 4th bullet)."""
    live = [*(set(ROOMS) - {"commands", "odds", "simulators"}), "commands/run.py"]
    shuffles = {"permutation", "permuted", "randrange", "sample", "shuffle", "shuffled"}
    shuffling = [
        (str(path.relative_to(ROOT)), name)
        for path in SOURCES
        if any(path.relative_to(ROOT).is_relative_to(each) for each in live)
        if any(name in path.read_text(encoding="utf-8") for name in shuffles)
        for name in named(path)
        if name in shuffles
    ]

    assert shuffling == []


def named(path: Path) -> Iterator[str]:
    """The names that a module uses, also those of attributes."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def imported(path: Path) -> Iterator[str]:
    """The first names of what a module imports."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
