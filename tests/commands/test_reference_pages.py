"""docs/reference/commands.md and configuration.md: as the parsers and the models have them, whole."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from punto.commands import configuration_page
from punto.commands.cli import SUBCOMMANDS
from punto.commands.schema import with_tables

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


class File(BaseModel):
    told: int = 1
    """What it is."""
    untold: int = 2


@pytest.mark.parametrize("name", ["commands.md", "configuration.md"])
def test_the_committed_page_is_what_the_program_says(name):
    page = (REFERENCE / name).read_text(encoding="utf-8")

    assert page == with_tables(name, page), f"docs/reference/{name} is behind the program: run make schema"


def test_each_subcommand_has_a_heading():
    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^## `punto (.*)`$", page, re.MULTILINE)) == set(SUBCOMMANDS)


@pytest.mark.parametrize("file", sorted((ROOT / "configs").glob("*.toml")), ids=lambda file: file.name)
def test_each_key_of_an_example_is_on_the_page(file):
    page = (REFERENCE / "configuration.md").read_text(encoding="utf-8")
    uncommented = re.sub(r"^# (?=\[?\w+(\]| = ))", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    keys = re.findall(r"^([a-z_]+) = ", uncommented, re.MULTILINE)
    colours = {key for theme in ("dark", "light") for key in tomllib.loads(uncommented).get(theme, {})}

    assert [key for key in keys if f"\n| `{key}` |" not in page and key not in colours | {"en"}] == []


def test_a_key_without_a_sentence_is_named(monkeypatch):
    monkeypatch.setattr(configuration_page, "_FILES", {"A file": File})
    with pytest.raises(LookupError, match="File has fields without a docstring: untold"):
        configuration_page.configuration_page()
