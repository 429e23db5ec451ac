"""Each language's catalogue has every word that the page asks for, and its font every character."""

import json
import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from fontTools.ttLib import TTFont

from punto.baccarat.table.state import Phase
from punto.displays.board import NO_METER, NO_PROGRESSIVE, SITUATIONS
from punto.messages.models import Overlay
from tests.displays.meters import PROGRESSIVE_GAMES, paying_rules
from tools.fonts import FONTS, characters, rooms_of

ROOT = Path(__file__).parents[3]
CATALOGS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in (ROOT / "punto" / "displays" / "catalogs").glob("*.json")
}
ENGLISH = CATALOGS["en"]
OTHERS = sorted(CATALOGS.keys() - {"en"})
WAGERS = {
    f"wager.{wager['name']}"
    for path in (ROOT / "configs" / "games").glob("*.toml")
    for wager in tomllib.loads(path.read_text(encoding="utf-8"))["wagers"]
}
TIERS = {f"tier.{rule.name}" for game in PROGRESSIVE_GAMES for rule in paying_rules(game)}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_the_keys_of_the_english_one_and_words_for_each_wager_and_tier_that_ships(language):
    assert len(TIERS) == 9
    assert set(ENGLISH) >= TIERS
    assert set(CATALOGS[language]) == set(ENGLISH) | WAGERS


@pytest.mark.parametrize("language", CATALOGS)
def test_nothing_in_a_catalogue_is_empty_and_letters_are_single(language):
    catalogue = CATALOGS[language]

    assert [key for key, words in catalogue.items() if not words.strip()] == []
    assert {len(catalogue[f"letter.{winner}"]) for winner in ("banker", "player", "tie")} == {1}


def test_the_page_asks_for_no_word_that_there_is_not():
    static = ROOT / "punto" / "displays" / "static"
    asked: set[str] = set()
    for page in static.glob("*.html"):
        asked |= set(re.findall(r'data-word="([^"]+)"', page.read_text(encoding="utf-8")))
    for script in static.glob("*.js"):
        asked |= set(re.findall(r'\bt\("([^"]+)"', script.read_text(encoding="utf-8")))

    asked |= {f"phase.{phase}" for phase in Phase}
    assert len(asked) > 20
    assert asked - set(ENGLISH) == set()


def test_everything_that_a_table_may_lay_over_its_state_has_words():
    for overlay in get_args(Overlay):
        assert {f"trouble.{overlay}", f"remark.{overlay}"} & set(ENGLISH), overlay


def test_every_reason_that_the_server_gives_is_in_the_catalogues():
    for reason in (*SITUATIONS, NO_METER, NO_PROGRESSIVE, "The table is offline"):
        assert ENGLISH[f"reason.{reason}"] == reason


@pytest.mark.parametrize("made", FONTS, ids=lambda made: made.file.stem)
def test_a_font_has_every_character_of_its_pages_catalogue(made):
    with TTFont(made.file) as font:
        had = {chr(code) for code in font.getBestCmap()}
    if made.language is not None:
        wanted = characters(made.language, rooms_of(made))
    else:
        catalogues = (
            json.loads((room / "catalogs" / "en.json").read_text("utf-8")) for room in rooms_of(made)
        )
        wanted = set(made.only or "".join(words for each in catalogues for words in each.values()))

    assert wanted - had == set(), "run `make fonts`"


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("punto/**/catalogs/zh-*.json")), ids=lambda path: path.parts[-3]
)
def test_punctuation_beside_a_chinese_character_is_chinese(path):
    catalogue = json.loads(path.read_text(encoding="utf-8"))

    assert [
        key for key, words in catalogue.items() if re.search(r"[一-鿿] *[,:;()]|[,:;()] *[一-鿿]", words)
    ] == []
