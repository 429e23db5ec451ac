"""What the documents have of the program: all of it, as the program has it now."""

import json
import re
import tomllib
from functools import reduce

import pytest
from pydantic import BaseModel

from punto.baccarat.table.catalogue import CATALOGUE
from punto.commands.cli import SUBCOMMANDS
from punto.controller.accounts.roles import READS, Role
from tests.controller.table_in_this_process import HERE
from tools.reference import configuration
from tools.reference.commands import commands_page
from tools.reference.pages import BEGIN, COMMITTED, END, REFERENCE, with_tables
from tools.reference.roles import roles_tables


class File(BaseModel):
    told: int = 1
    """What it is."""
    untold: int = 2


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.name)
def test_a_committed_file_is_what_the_program_writes(file):
    assert file.read_text(encoding="utf-8") == COMMITTED[file](), "run: make schema"


@pytest.mark.parametrize("name", ["asyncapi.json", "openapi.json"])
def test_a_contract_refers_to_nothing_outside_itself(name):
    contract = (REFERENCE / name).read_text(encoding="utf-8")
    found = set(re.findall(r'"\$ref": "([^"]*)"', contract))

    assert found
    for reference in found:
        root, *path = reference.split("/")
        assert root == "#"
        assert reduce(lambda at, key: at[key], path, json.loads(contract))


def test_tables_are_written_between_the_marks_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")

    assert with_tables(page, lambda: "new") == f"# Before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_each_subcommand_has_a_heading():
    assert re.findall(r"^## `punto (.*)`$", commands_page(), re.MULTILINE) == list(SUBCOMMANDS)


@pytest.mark.parametrize("file", sorted((HERE / "configs").glob("*.toml")), ids=lambda file: file.name)
def test_each_key_of_an_example_is_on_the_page(file):
    page = (REFERENCE / "configuration.md").read_text(encoding="utf-8")
    uncommented = re.sub(r"^# (?=\[?\w+(\]| = ))", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    keys = re.findall(r"^([a-z_]+) = ", uncommented, re.MULTILINE)
    colours = set(tomllib.loads(uncommented).get("colours", {}))

    assert [key for key in keys if f"\n| `{key}` |" not in page and key not in colours | {"en"}] == []


def test_a_key_without_a_sentence_is_named(monkeypatch):
    monkeypatch.setattr(configuration, "_FILES", {"A file": File})
    with pytest.raises(LookupError, match="File has fields without a docstring: untold"):
        configuration.configuration_tables()


def test_each_order_and_each_reading_has_a_row_with_its_roles():
    (_, *orders), (_, *readings) = roles_tables()

    assert [row[0] for row in orders] == [f"`{kind}`" for kind in CATALOGUE]
    for row, definition in zip(orders, CATALOGUE.values(), strict=True):
        assert row[1:3] == [definition.label, definition.sentence]
        assert {role for role, mark in zip(Role, row[3:], strict=False) if mark} == definition.roles
    assert {role: sum(bool(row[1 + at]) for row in readings) for at, role in enumerate(Role)} == {
        role: len(READS[role]) for role in Role
    }
