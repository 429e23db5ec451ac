"""The rooms of the package: folders of `punto`, or links to the folders at the root, which ruff lets nobody import by their bare names."""

import re
import tomllib
from pathlib import Path

from punto.controller.components import ROOMS

ROOT = Path(__file__).parents[2]
LINKED = [room for room in ROOMS if (ROOT / "punto" / room).is_symlink()]


def test_each_linked_room_is_a_folder_of_the_root_and_goes_into_the_wheel():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    build = tools["hatch"]["build"]

    assert [(ROOT / "punto" / room).resolve() for room in LINKED] == [ROOT / room for room in LINKED]
    assert build["exclude"] == [f"/punto/{room}" for room in LINKED]
    assert build["targets"]["wheel"]["packages"] == ["punto", *LINKED]
    assert build["targets"]["wheel"]["sources"] == {room: f"punto/{room}" for room in LINKED}
    assert sorted(tools["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]) == LINKED


def test_only_simulators_and_odds_shuffle_cards():
    """At a live table people shuffle, by house procedure or with an approved shuffler (sheet 000, Dragon Bonus, 4th bullet)."""
    live = set(ROOMS) - {"commands", "odds", "simulators"}
    sources = [path for room in sorted(live) for path in (ROOT / "punto" / room).rglob("*.py")]
    shuffles = re.compile(r"\b(permutation|permuted|randrange|sample|shuffled?)\b")

    assert len(sources) > 200
    for path in (*sources, ROOT / "punto" / "commands" / "run.py"):
        assert not shuffles.search(path.read_text(encoding="utf-8")), path
