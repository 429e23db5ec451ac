"""docs/reference/virtual-shoe.md says what the program does: its tables are whole and its examples work."""

import argparse
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.simulators.shoe import shuffled
from punto.simulators.shoe.command import add_arguments
from punto.simulators.shoe.faults import Faults, parse_faults
from punto.simulators.shoe.scenario import ON_CARDS, Do, Step, parse_scenario, scenario_names

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "virtual-shoe.md").read_text("utf-8")


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def first_cells(text):
    return [
        cell
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for cell in re.findall(r"`([^`]+)`", row)
    ]


def test_each_option_is_on_the_page():
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)

    assert [text.split()[0] for text in first_cells(section("Options"))] == list(
        parser._option_string_actions
    )


def test_the_defaults_on_the_page_are_those_of_the_program(tmp_path):
    from punto.simulators.shoe import ShoeOptions

    defaults = dict(re.findall(r"^\| `--(\w+) .*\| `?([\w-]+)`? \|$", section("Options"), re.MULTILINE))
    named = {field.name for field in fields(ShoeOptions)} & set(defaults) - {"link"}
    options = ShoeOptions(store=tmp_path)

    assert {name: str(getattr(options, name)) for name in named} == {name: defaults[name] for name in named}
    assert named == {"seed", "decks", "cut", "pace", "between", "window", "serial"}


def test_each_fault_is_on_the_page():
    assert first_cells(section("Faults by chance")) == [field.name for field in fields(Faults)]


@pytest.mark.parametrize(
    "example", re.findall(r"^\| `\w+` \| `(\S+?)`", section("Faults by chance"), re.MULTILINE)
)
def test_each_example_of_a_fault_can_be_used(example):
    assert parse_faults([example]) != Faults()


def test_each_step_is_on_the_page_with_where_it_may_stand():
    rows = re.findall(r"^\| `(\w+)` \| (at|at, after) \|", section("Scenarios"), re.MULTILINE)

    assert [name for name, _ in rows] == list(get_args(Do))
    assert {name for name, where in rows if where == "at"} == ON_CARDS


def test_each_scenario_that_comes_along_is_on_the_page():
    table = section("Scenarios").split("These scenarios ship:")[1]

    assert sorted(first_cells(table)) == scenario_names()


def test_the_example_is_the_shoe_that_the_page_tells_of():
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    scenario = parse_scenario(example, "the page's example")
    assert scenario.shoes is not None
    ((first, *rest),) = scenario.shoes
    burn = first.points
    coups = [Coup.complete(tuple(rest[start : start + 4])) for start in (burn, burn + 4)]

    assert scenario.serial == "IS-004711"
    assert [(coup.player_total, coup.banker_total) for coup in coups] == [(9, 7), (6, 7)]
    assert len(rest) == burn + 8
    assert scenario.steps == (Step("unread", at=9), Step("power", at=10, seconds=2))


def test_the_shuffle_on_the_page_is_the_one_that_is_used():
    (source,) = re.findall(r"```python\n(from random .*?)```", PAGE, re.DOTALL)
    names = {"s": "x", "n": 4, "decks": 6}
    exec(source, names)  # noqa: S102 - the page's own lines

    assert names["cards"] == shuffled("x", 4, 6)
    assert isinstance(shuffled("x", 4, 6)[0], Card)
