"""The rooms of the package: one link for each, and ruff refuses an import that goes round it."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.name for path in (ROOT / "punto").iterdir() if path.is_symlink())


def test_each_room_is_a_folder_of_the_root_and_goes_into_the_wheel():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    build = tools["hatch"]["build"]

    assert [(ROOT / "punto" / room).resolve() for room in ROOMS] == [ROOT / room for room in ROOMS]
    assert build["exclude"] == [f"/punto/{room}" for room in ROOMS]
    assert build["targets"]["wheel"]["packages"] == ["punto", *ROOMS]
    assert build["targets"]["wheel"]["sources"] == {room: f"punto/{room}" for room in ROOMS}
    assert sorted(tools["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]) == ROOMS


def test_only_simulators_and_odds_shuffle_cards():
    """At a live table people shuffle, by house procedure or with an approved shuffler (sheet 000, Dragon Bonus, 4th bullet)."""
    live = set(ROOMS) - {"commands", "odds", "simulators"}
    sources = [path for room in sorted(live) for path in (ROOT / room).rglob("*.py")]
    shuffles = {"permutation", "permuted", "randrange", "sample", "shuffle", "shuffled"}
    shuffling = [
        (str(path.relative_to(ROOT)), name)
        for path in (*sources, ROOT / "commands" / "run.py")
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
