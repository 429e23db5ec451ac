"""Each language's catalogue of the consoles has every word that the pages ask for and no other, and says the same."""

import json
import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from punto.baccarat.coup import Winner
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.definition import Role
from punto.baccarat.table.meters import NATURAL
from punto.baccarat.table.state import Phase
from punto.baccarat.wagers.settlement import Outcome
from punto.commands.diagnosis import NO_ANSWER
from punto.commands.doctor import CONFIGURATION
from punto.consoles.words import Language
from punto.controller.config.sections import ConsoleConfig
from punto.doctor.checks import CHECKS
from punto.doctor.findings import Level

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "punto" / "consoles" / "pages"


def catalogues(folder: str) -> dict[str, dict[str, str]]:
    """The catalogues of a folder by language."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "punto" / folder / "catalogs").glob("*.json")
    }


CATALOGS = catalogues("consoles")
DISPLAYS = catalogues("displays")
ENGLISH = CATALOGS["en"]
OTHERS = sorted(CATALOGS.keys() - {"en"})
SHOWN_BY_NAME = ("wager.", "tier.")
"""The English of these is the table's own."""
SAID = "said."
TO_SUPERVISOR = "to_supervisor."
"""What the supervisor's page says in place of a sentence that has a dealer call a supervisor."""
UNNAMED = {"lose", "push"}
"""Rules of which a page says the outcome alone."""
SCRIPTS = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.js"))
WRITTEN = (ROOT / "punto" / "consoles" / "shift_report.py").read_text(encoding="utf-8")
"""What the service itself writes in the pages' words."""
HTML = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.html"))


def rules_of(path: Path) -> list[dict[str, str]]:
    """The rules of all wagers of a game's file."""
    return [
        rule for wager in tomllib.loads(path.read_text(encoding="utf-8"))["wagers"] for rule in wager["rules"]
    ]


RULES = [rule for path in (ROOT / "configs" / "games").glob("*.toml") for rule in rules_of(path)]
FROM_TABLE = {
    *(f"phase.{phase}" for phase in Phase),
    *(f"outcome.{outcome}" for outcome in Outcome),
    *(f"role.{role}" for role in Role),
    *(f"letter.{how}" for how in ("player", "banker", "tie", "void", "dummy", "correction")),
    *(
        f"{line}.{which}"
        for line in ("line.draw", "line.key", "place")
        for which in ("first", "second", "third")
    ),
    *(f"meters.{result}" for result in (*Winner, NATURAL)),
    *(f"name.{state}" for state in ("online", "offline")),
    *(f"level.{level}" for level in get_args(Level)),
    *(f"check.{check.name}" for check in CHECKS),
    *(f"check.{check}" for check in (CONFIGURATION, NO_ANSWER)),
    *(f"name.{code}" for code in ("wrong_password", "locked_out", "not_of_role", "too_many", "sign_on")),
    *(f"name.{source}" for source in ("shoe", "service", "sensors", "card_reader", "keypad")),
    *(f"name.{rule['name']}" for rule in RULES if rule["name"] not in UNNAMED),
    *(f"label.{kind}" for kind in CATALOGUE),
    *(f"sentence.{kind}" for kind in CATALOGUE),
    *(f"usual.{reason}" for each in CATALOGUE.values() for reason in each.usual),
}
"""The keys that a script puts together of what the service sends."""


def asked() -> set[str]:
    """The keys that the pages name, but what the service says."""
    whole = set(re.findall(r'\bt\(\s*"([^"]+)"', SCRIPTS)) | set(
        re.findall(r'data-(?:word|label)="([^"]+)"', HTML)
    )
    counted = re.findall(r'\bcounted\("([^"]+)"', SCRIPTS)
    written = {key for text in re.findall(r'"([^"]*)"', WRITTEN) for key in text.replace(">", "").split()}
    whole |= written & ENGLISH.keys()
    return whole | {f"{key}.{many}" for key in counted for many in ("one", "many")} | FROM_TABLE


def test_the_pages_ask_for_every_word_that_there_is_and_for_no_other():
    assert len(asked()) > 300
    assert {key for key in ENGLISH if not key.startswith((SAID, TO_SUPERVISOR))} == asked()
    instead = {key for key in ENGLISH if key.startswith(TO_SUPERVISOR)}
    assert instead
    assert {key.replace(TO_SUPERVISOR, SAID, 1) for key in instead} <= ENGLISH.keys()


def test_every_key_that_a_script_puts_together_is_of_a_family_that_is_looked_at_here():
    families = set(re.findall(r"\b(?:t|orElse)\(\s*`([^`$]+)\$\{", SCRIPTS))

    assert {"label.", "usual."} < families
    known = {f"{key.rpartition('.')[0]}." for key in FROM_TABLE if not key.startswith("usual.")} | {"usual."}
    assert families - known - set(SHOWN_BY_NAME) == set()


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_the_keys_of_the_english_one_and_the_displays_names_of_wagers_and_tiers(language):
    names = {key: words for key, words in DISPLAYS[language].items() if key.startswith(SHOWN_BY_NAME)}

    assert len(names) > 20
    assert CATALOGS[language].items() >= names.items()
    assert set(CATALOGS[language]) == set(ENGLISH) | set(names)


def test_the_languages_are_those_of_the_configuration_and_all_at_the_displays():
    assert set(CATALOGS) <= set(DISPLAYS)
    assert set(CATALOGS) == set(get_args(ConsoleConfig.model_fields["lang"].annotation))
    assert set(CATALOGS) == set(get_args(Language))


@pytest.mark.parametrize("language", CATALOGS)
def test_nothing_in_a_catalogue_is_empty_and_each_has_the_values_of_the_english_one(language):
    catalogue = CATALOGS[language]

    assert [key for key, words in catalogue.items() if not words.strip()] == []
    values = re.compile(r"\{\w+\}")
    others = [
        key
        for key, words in ENGLISH.items()
        if sorted(values.findall(words)) != sorted(values.findall(catalogue[key]))
    ]
    assert others == []


def test_a_rule_is_named_as_dealers_write_it_and_not_as_programs_do():
    names = [words for key, words in ENGLISH.items() if key.startswith("name.")]

    assert "2-3-4 of diamonds" in names
    assert [
        each for each in names if re.search(r"\b(?:two|three|nine|eight) (?:card|three|over)\b", each)
    ] == []


def test_a_script_gives_all_the_values_that_words_have():
    calls = list(re.finditer(r'\bt\(\s*"([^"]+)"', SCRIPTS))

    assert len(calls) > 300
    for call in calls:
        given = SCRIPTS[call.end() : end_of_call(SCRIPTS, call.end())]
        names = set(re.findall(r"\w+", given))
        assert set(re.findall(r"\{(\w+)\}", ENGLISH[call[1]])) <= names, call[1]


def end_of_call(script: str, start: int) -> int:
    """Where the call ends whose arguments go on here."""
    still_open = 1
    for at in range(start, len(script)):
        still_open += {"(": 1, ")": -1}.get(script[at], 0)
        if still_open == 0:
            return at
    raise AssertionError("a call has no end")


def test_the_english_of_an_order_is_the_tables_own():
    for kind, order in CATALOGUE.items():
        assert (ENGLISH[f"label.{kind}"], ENGLISH[f"sentence.{kind}"]) == (order.label, order.sentence)
    own = {key: words for key, words in ENGLISH.items() if key.startswith(("usual.", SAID))}
    assert own == {key: key.partition(".")[2] for key in own}


def test_what_the_service_says_is_still_written_so_in_its_modules():
    folders = (
        "consoles",
        "controller/accounts",
        "controller/devices",
        "controller/journal",
        "baccarat/table",
        "reports",
    )
    files = [path for folder in folders for path in (ROOT / "punto" / folder).glob("*.py")]
    source = "\n".join(
        [*(path.read_text(encoding="utf-8") for path in files), *(rule["pays"] for rule in RULES)]
    )
    source = re.sub(r'"\n\s*f?"', "", source).replace("_", " ").lower()
    for key in ENGLISH:
        if key.startswith(SAID):
            parts = re.split(r"\{\w+\}|[,;:.]| and ", key.removeprefix(SAID))
            assert [part for part in parts if part.strip().lower() not in source] == [], key


def texts_of(script: str) -> str:
    """What stands in the strings of a script, a line for each piece; values of templates are left out."""
    pieces: list[str] = []
    for found in re.finditer(
        r"//[^\n]*|/\*.*?\*/|\"([^\"\n]*)\"|`((?:[^`$]|\$\{[^`}]*(?:`[^`]*`[^`}]*)?\})*)`", script, re.DOTALL
    ):
        plain, template = found[1], found[2]
        pieces.append(plain or re.sub(r"\$\{.*?\}", "x", template or ""))
    return "\n".join(pieces)


def test_no_script_writes_a_comma_or_a_colon_which_another_language_writes_otherwise():
    texts = texts_of(SCRIPTS)

    assert len(texts.splitlines()) > 1000
    assert re.findall(r".*[,:;] .*", texts) == []


@pytest.mark.parametrize("language", OTHERS)
def test_terms_that_are_printed_on_the_equipment_are_the_same_in_each_language(language):
    fixed = re.compile(r"\b[A-Z]{3,}(?:[ -][A-Z]{3,})*\b|J-POT")
    for key, words in ENGLISH.items():
        for term in set(fixed.findall(words)) - {"NOT LIVE"}:
            assert term in CATALOGS[language][key], key
