"""Which tests a change touches."""

import pytest

from tools.quick import HERE, SECONDS, imports, module_of, touched, within

SOURCES = {
    "punto/baccarat/cards.py": "",
    "punto/baccarat/coup.py": "from punto.baccarat.cards import Card\n",
    "controller/deep.py": "import os\n",
    "controller/engine.py": "from punto.controller import (\n    deep,\n    log,\n)\n",
    "punto/consoles/pages/__init__.py": "",
    "tests/baccarat/test_cards.py": "from punto.baccarat.cards import Card\n",
    "tests/baccarat/test_coup.py": "from tests.baccarat.table.croupier import Croupier\n",
    "tests/baccarat/table/croupier.py": "from punto.baccarat.coup import Coup\n",
    "tests/baccarat/table/test_other.py": "import json\n",
    "tests/controller/test_engine.py": "def test_it():\n    from punto.controller.engine import Engine\n",
    "tests/consoles/pages/test_dealer.py": "import json\n",
    "tests/documents/test_sheets_page.py": 'PAGE = "sheets.md"\n',
}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("punto/baccarat/cards.py", ["tests/baccarat/test_cards.py"]),
        ("punto/baccarat/coup.py", ["tests/baccarat/test_coup.py"]),
        ("controller/deep.py", ["tests/controller/test_engine.py"]),
        ("tests/baccarat/table/croupier.py", ["tests/baccarat/test_coup.py"]),
        ("tests/baccarat/table/test_other.py", ["tests/baccarat/table/test_other.py"]),
        ("punto/consoles/pages/dealer.js", ["tests/consoles/pages/test_dealer.py"]),
        ("docs/reference/sheets.md", ["tests/documents/test_sheets_page.py"]),
        ("tests/baccarat/table/removed.py", []),
        ("LICENSE", []),
    ],
    ids=str,
)
def test_a_change_touches_the_tests_that_import_or_name_it(changed, tests):
    assert sorted(touched([changed], SOURCES)) == tests


def test_an_import_is_found_with_the_names_that_it_imports():
    assert imports("from punto.a import (\n    b,\n    c as d,\n)\nimport tests.e\nimport os\n") == {
        *("punto.a", "punto.a.b", "punto.a.c", "punto.a.as", "punto.a.d"),
        "tests.e",
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("punto/baccarat/cards.py", "punto.baccarat.cards"),
        ("punto/version.py", "punto.version"),
        ("drivers/ishoe/__init__.py", "punto.drivers.ishoe"),
        ("tools/quick.py", "tools.quick"),
    ],
)
def test_a_file_is_imported_by_its_full_name(path, name):
    assert (HERE / path).is_file()
    assert module_of(path) == name


def test_what_takes_long_is_left_out_unless_it_is_changed_itself():
    took = {"quick": 1.0, "long": SECONDS, "own": 2 * SECONDS}

    assert within(["long", "quick", "new"], took, []) == ["new", "quick"]
    assert within(["long", "own"], took, ["own"]) == ["own"]
    assert within(["long"], took, []) == ["long"]
