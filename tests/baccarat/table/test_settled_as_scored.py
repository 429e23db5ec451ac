"""A table settles as `punto score` does: every rule of every wager of every game that has a progressive."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import Outcome, PlacedWager, Settlement, as_award
from punto.commands.score import score
from punto.configs.game_files import load_game, shipped_games
from tests.baccarat.table.croupier import Croupier
from tests.baccarat.wagers import coups

GAMES = [name for name in shipped_games() if any(each.progressive for each in load_game(name).wagers)]
BASE = {1: ("player",), 2: ("banker",), 3: ("player", "banker"), 4: ("tie", "player")}


def _codes(found: object) -> Iterable[str]:
    match found:
        case str() if all(len(card) == 2 for card in found.split()) and 4 <= len(found.split()) <= 6:
            yield found
        case dict():
            for each in found.values():
                yield from _codes(each)
        case list() | tuple():
            for each in found:
                yield from _codes(each)


COUPS = sorted({code for name, found in vars(coups).items() if name.isupper() for code in _codes(found)})


def played(game: str, codes: str) -> tuple[list[PlacedWager], list[dict[str, object]]]:
    """The wagers of a hand at a table, and how it settled them; seats have every side wager that goes with their base."""
    croupier = Croupier.at_betting("meter", game_name=game, meter={"one_side_only": False})
    for seat, base in BASE.items():
        for name in base:
            croupier.do(f"wager {seat} {name} 1000")
            if name != "tie":
                croupier.do(f"wager {seat} dragon_bonus_{name} 1000")
    croupier.do("start game 1 2 3 4")
    assert croupier.state.progressive is not None
    stake = croupier.state.progressive.procedure.hand.stake
    wagers = [*croupier.state.round.wagers, *(PlacedWager(seat, "progressive", stake) for seat in BASE)]
    croupier.do(f"draw {codes}")
    settled = [asdict(each) for each in croupier.rounds[-1].settlements]
    return wagers, [{name: each[name] for name in each if name != "remainder"} for each in settled]


def _that_differ(game: Game) -> Iterable[str]:
    """Of the coups those of which some wager of the game is decided by a rule that decided none before, or wins by another side."""
    seen: set[object] = set()
    for codes in COUPS:
        coup = Coup(tuple(Card(code) for code in codes.split()))
        rules = [(wager.name, wager.deciding_rule(coup)) for wager in game.wagers]
        decided = {(name, rule and rule.name, coup.winner) for name, rule in rules}
        if not decided <= seen:
            seen |= decided
            yield codes


def _at_a_table(game: Game, scored: dict[str, Any]) -> dict[str, Any]:
    """A settlement as `punto score` gives it, but that a fixed award is paid at the table once it is confirmed, as an award."""
    settled = Settlement(**{**scored, "outcome": Outcome(scored["outcome"])})
    if scored["wager"] == "progressive" and settled.outcome is Outcome.WIN:
        settled = as_award(game, settled)
    return {name: value for name, value in asdict(settled).items() if name != "remainder"}


@pytest.mark.parametrize("game", GAMES)
def test_a_table_settles_every_rule_as_score_does(game):
    rules, seen = load_game(game), set[object]()
    for codes in _that_differ(rules):
        wagers, at_the_table = played(game, codes)
        line = json.dumps({"cards": codes.split(), "wagers": [asdict(each) for each in wagers]})
        ((answer, good),) = score(rules, [line.encode()])
        assert good, answer

        assert at_the_table == [_at_a_table(rules, each) for each in json.loads(answer)["settlements"]]
        seen |= {(each["wager"], each["rule"]) for each in at_the_table}
    every = {(wager.name, rule.name) for wager in rules.wagers for rule in wager.rules}
    assert seen == every


@pytest.mark.parametrize(("game", "returned"), [("progressive-1", 0), ("progressive-1-five-dollar", 500)])
def test_a_stake_that_was_taken_is_gone_and_one_that_stays_goes_back_with_the_award(game, returned):
    wagers, settled = played(game, coups.OVER_ZERO["player", "suited"][0])
    (award,) = [each for each in settled if (each["seat"], each["wager"]) == (1, "progressive")]

    assert wagers
    assert (award["outcome"], award["returned"]) == (Outcome.AWARD, returned)
    assert award["net"] == returned - {"progressive-1": 100}.get(game, 500)
