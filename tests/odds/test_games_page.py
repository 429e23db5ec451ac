"""The page of the games: it is whole, its links lead somewhere, and its figures are counted."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.wagers.definition import FACE_UP_ONLY
from punto.baccarat.wagers.words import words
from punto.commands.cli import main
from punto.commands.games_page import games, page
from punto.configs.game_files import load_game, shipped_games
from punto.controller.config.limits import RulesConfig, with_rules
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.odds.published.figures_file import FiguresFile
from tests.share import sampled

DOCS = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture(scope="module")
def text() -> str:
    return page()


@pytest.fixture(scope="module")
def sections(text) -> dict[str, str]:
    """Each game's section, by the name of the game."""
    titles = {load_game(name).title: name for name in shipped_games()}
    found = re.split(r"(?m)^## (.+)$", text)[1:]
    return {titles[title]: section for title, section in zip(found[::2], found[1::2], strict=True)}


def rows(section: str) -> list[list[str]]:
    """The cells of all tables."""
    return [line[2:-2].split(" | ") for line in section.splitlines() if line.startswith("| ")]


def test_every_game_that_ships_has_a_line_and_a_section(text, sections):
    before = text.partition("\n## ")[0]

    assert sorted(sections) == shipped_games()
    assert [row[1] for row in rows(before)[2:]] == [f"`{game.name}`" for game in games()]


@pytest.mark.parametrize("name", shipped_games())
def test_a_section_has_every_wager_of_its_game(sections, name):
    game = load_game(name)
    own = rows(sections[name].partition("\n### ")[0])
    first = own.index(next(row for row in own if row[0] == "Wager")) + 2

    assert [(row[0].partition("](")[0], row[1]) for row in own[first:]] == [
        (f"[{wager.title}", f"`{wager.name}`") for wager in game.wagers
    ]


@pytest.mark.parametrize("name", shipped_games())
def test_every_rule_that_asks_for_something_has_words(name):
    for wager in load_game(name).wagers:
        assert [bool(words(rule.when)) for rule in wager.rules] == [
            bool(rule.when.asked) for rule in wager.rules
        ]


def test_every_link_leads_to_a_heading_or_a_file(text):
    anchors = [anchor(heading) for heading in re.findall(r"(?m)^#+ (.+)$", text)]
    links = re.findall(r"\]\(([^)]+)\)", text)

    assert len(set(anchors)) == len(anchors)
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    assert [link for link in links if not link.startswith("#") and not (DOCS / link).is_file()] == []


def anchor(heading: str) -> str:
    """A heading's address as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def descriptions(text: str) -> dict[str, list[list[str]]]:
    """The rows that are under each heading, by its address."""
    found = re.split(r"(?m)^#+ (.+)$", text)[1:]
    return {anchor(heading): rows(under) for heading, under in zip(found[::2], found[1::2], strict=True)}


@pytest.mark.parametrize("name", ["dragon-bonus-1", "dai-bacc", "progressive-2", "side-wagers"])
def test_the_figures_are_those_of_the_exact_odds(text, sections, name):
    game = load_game(name)
    odds = GameOdds(game).odds(Composition.of_decks(game.decks))
    own = {row[1]: row for row in rows(sections[name]) if row[0].startswith("[")}
    described = descriptions(text)

    for wager in game.wagers:
        short = own[f"`{wager.name}`"]
        at_length = described[short[0].partition("](#")[2].removesuffix(")")]
        # Beside Player and beside Banker, where that matters.
        held = [each for position, each in odds.items() if position.partition(":")[0] == wager.name]
        assert [edge.partition("%")[0] for edge in short[4].split("<br>")][: len(held)] == [
            f"{float(100 * each.edge):.4f}" for each in held
        ]
        for rule in wager.rules:
            (pays,) = [row for row in at_length if row[1] == f"`{rule.name}`"]
            assert (pays[0], pays[2]) == (words(rule.when) or "Anything else", rule.pays)
            for said, each in zip(pays[3:], held, strict=False):
                (exact,) = [other.probability for other in each.rules if other.rule == rule.name]
                assert float(said.partition("%")[0]) == pytest.approx(
                    float(100 * exact), rel=0.005, abs=0.00005
                )
        at_decks = [row for row in at_length if "8" in row[:2]]
        assert len(at_decks) >= len(held)
        for row, each in zip(at_decks, held, strict=False):
            assert f"{float(100 * each.edge):.4f}%" in row
            assert f"{float(100 * each.hit):.4f}%" in row
            assert not each.push or f"{float(100 * each.push):.4f}%" in row


LEFT: dict[tuple[str, str], list[dict[str, Any]]] = {
    # game and wager: what the house can decide otherwise than the file, alone and together
    ("dragon-bonus-1", "dragon_bonus_player"): [{"requires_base": "none"}, {"requires_base": "any"}],
    ("dai-bacc", "tiger_7"): [{"requires_base": "any"}],
    ("progressive-1", "progressive"): [
        {"requires_base_win": False},
        {"natural_nine": True},
        {"requires_base_win": False, "natural_nine": True},
    ],
    ("progressive-3", "progressive"): [{"requires_base_win": False}],
}


@pytest.mark.parametrize(("name", "wager"), sampled(LEFT, one_in=4))
def test_each_way_that_the_house_can_decide_has_its_edge(sections, name, wager):
    game = load_game(name)
    part = re.split(rf"(?m)^### {re.escape(game.wager(wager).title)} ", sections[name])[1].partition(
        "\n### "
    )[0]
    table = {row[0]: row[1] for row in rows(part) if row[0].startswith("`")}
    expected = {}
    for decided in LEFT[name, wager]:
        played = with_rules(game, {wager: RulesConfig(**decided)})
        odds = GameOdds(played).odds(Composition.of_decks(8))
        positions = [each for position, each in odds.items() if position.partition(":")[0] == wager]
        words = " and ".join(f"`{rule} = {json.dumps(value)}`" for rule, value in decided.items())
        expected[words] = [f"{float(100 * each.edge):.4f}%" for each in positions]

    assert {words: re.findall(r"-?[\d.]+%", edges) for words, edges in table.items()} == expected


def test_one_wager_on_a_pair_of_either_hand_at_canberras_pays_would_favour_the_players():
    """So sheet 002's Canberra Pairs are two wagers, one for each hand."""
    either = load_game("side-wagers").wager("either_pair")
    paid = replace(
        either, rules=tuple(replace(each, pays=each.pays.replace("5", "11")) for each in either.rules)
    )
    canberra = load_game("canberra")
    eight = Composition.of_decks(8)
    odds = GameOdds(replace(canberra, wagers=(*canberra.wagers, paid))).odds(eight)

    assert odds["either_pair"].edge < -0.5
    assert 0 < odds["player_pair"].edge == odds["banker_pair"].edge
    assert {each.pays for each in canberra.wager("player_pair").rules if each.when.asked} == {"11 to 1"}


def test_the_average_award_of_a_meter_is_that_of_the_odds(text):
    odds = GameOdds(load_game("progressive-2"))
    described = descriptions(text)["dragon-bonus-progressive-progressive-2"]

    for side in ("Player", "Banker"):
        (row,) = [row for row in described if row[:2] == [side, "8"]]
        assert row[-1] == f"${float(odds.average_top_awards()[f'progressive:{side.lower()}']) / 100:,.0f}"


def test_every_figure_that_the_sheets_print_is_beside_the_exact_one(text):
    described = descriptions(text)
    file = FiguresFile()

    for entry, source in file.house_edges():
        for side, printed in (("player", entry.player), ("banker", entry.banker)):
            by_decks = {row[0]: row for row in described[f"dragon-bonus-{side}-{source.game.name}"]}
            assert re.search(
                rf"{re.escape(printed)}% \([^)]*{entry.sheet}[,)]", by_decks[str(entry.decks)][2]
            )
    for meter, its in file.statistics():
        beside = meter.side.title() if meter.side else "Player and Banker"
        assert [
            beside,
            f"printed ({meter.sheet})",
            f"{meter.house_advantage}%",
            f"{meter.hit_frequency}%",
            f"1 in {int(meter.one_in):,}",
            f"${int(meter.average):,}",
        ] in described[f"dragon-bonus-progressive-{its.game.name}"]


def test_only_a_printed_figure_that_differs_is_reported(text):
    assert re.findall(r"Sheet (\d+) prints ([\d.]+)% for (\d) decks \(", text) == [("001", "6.39", "6")]


@pytest.mark.parametrize("name", shipped_games())
def test_what_the_table_must_post_and_what_the_letter_forbids_is_with_the_games_concerned(sections, name):
    game = load_game(name)

    assert ("limited to wagering on a maximum of four games" in sections[name]) == (game.maximum_wagers == 4)
    assert (FACE_UP_ONLY in sections[name]) == (name == "dai-bacc")


def test_the_command_lists_the_games_by_name(capsys):
    assert main(["games"]) == 0

    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [game.name for game in games()]
    assert all(game.title in line for game, line in zip(games(), listed, strict=True))


def test_the_command_describes_a_game_file_of_ones_own(tmp_path, capsys, sections):
    shipped = Path(__file__).parents[2] / "configs" / "games" / "dragon-bonus-1.toml"
    own = tmp_path / "own.toml"
    own.write_text(shipped.read_text(encoding="utf-8").replace('pays = "30 to 1"', 'pays = "29 to 1"'))

    assert main(["games", "dragon-bonus-1"]) == 0
    described = capsys.readouterr().out
    assert rows(described) != []
    assert rows(described)[:9] == rows(sections["dragon-bonus-1"])[:9]
    assert main(["games", str(own), "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
    changed = (tmp_path / "games.md").read_text(encoding="utf-8")
    assert (described.count("| 30 to 1 |"), described.count("| 29 to 1 |")) == (2, 0)
    assert (changed.count("| 30 to 1 |"), changed.count("| 29 to 1 |")) == (0, 2)


def test_several_games_are_described_together(capsys):
    assert main(["games", "mini-baccarat", "midi-baccarat"]) == 0

    described = capsys.readouterr().out
    assert described.count("\n## ") + described.startswith("## ") == 2
    assert described.count("### Player (") == 1


def test_an_invalid_game_file_is_refused(capsys):
    assert main(["games", "mini-bacarat"]) == 2
    assert "there is no game 'mini-bacarat'" in capsys.readouterr().err


@pytest.mark.soak
def test_the_command_writes_the_page_into_a_folder_that_it_makes(tmp_path, text):
    assert main(["games", "--out", str(tmp_path / "new" / "docs")]) == 0

    assert (tmp_path / "new" / "docs" / "games.md").read_text(encoding="utf-8") == text


@pytest.mark.soak
def test_the_command_says_what_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").touch()

    assert main(["games", "--out", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err == f"punto games: {tmp_path / 'file'} cannot be written: File exists\n"
