"""The expectations beside a table's meters: those of games that ship are there, a house's own are counted in another process."""

import asyncio
import sys
from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import HOLD, Expectations, shipped
from punto.controller import expectations
from punto.controller.expectations import ExactExpectations
from tests.service.table_in_this_process import eventually, settings, table


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(expectations, "FIRST_AFTER_SECONDS", 0.0)


def with_own_wager(name: str) -> Any:
    """Settings of a game with a wager that no game ships with: Tie at 7 to 1."""
    of = settings(name, cards="keyed")
    tie = of.game.wager("tie")
    rules = tuple(replace(rule, pays="7 to 1") if rule.wins else rule for rule in tie.rules)
    own = tuple(replace(tie, rules=rules) if each is tie else each for each in of.game.wagers)
    return replace(of, game=replace(of.game, wagers=own))


class Told(list[tuple[Game, Expectations]]):
    def __call__(self, *found: Any) -> None:
        self.append(found)


async def test_a_game_that_ships_has_its_expectations_at_once_and_without_the_odds(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with table(tmp_path / "table.db", settings("mini-baccarat")) as here:
        found = ExactExpectations(here.state, Told()).of(here.state.settings.game)

    assert found[None, "tie"].mean == pytest.approx(0.0952, abs=0.0001)
    assert found["banker", HOLD].mean == pytest.approx(0.0106, abs=0.0001)


async def test_a_wager_of_the_houses_own_is_counted_beside_play(tmp_path):
    async with table(tmp_path / "table.db", with_own_wager("mini-baccarat")) as here:
        told = Told()
        exact = ExactExpectations(here.state, told)
        game = here.state.settings.game
        assert ("tie", HOLD) not in exact.of(game)
        assert ("player", HOLD) in exact.of(game)
        running = asyncio.create_task(exact.run())
        await eventually(lambda: told, "it has been counted")
        running.cancel()

        assert told == [(game, exact.of(game))]
        assert exact.of(game)["tie", HOLD].mean == pytest.approx(1 - 8 * 0.0952, abs=0.001)


async def test_another_game_has_its_own(tmp_path):
    async with table(tmp_path / "table.db", with_own_wager("mini-baccarat")) as here:
        first = here.state.settings.game
        exact = ExactExpectations(here.state, Told())
        running = asyncio.create_task(exact.run())
        await eventually(lambda: ("tie", HOLD) in exact.of(first), "the first game's are known")
        other = with_own_wager("super-6")
        exact.see(here.state.but(settings=other), 1)
        await eventually(lambda: ("tie", HOLD) in exact.of(other.game), "the other game's are known")
        running.cancel()

        assert exact.of(first) == shipped(first)


async def test_without_the_odds_a_wager_of_the_houses_own_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with table(tmp_path / "table.db", with_own_wager("mini-baccarat")) as here:
        told = Told()
        running = asyncio.create_task(ExactExpectations(here.state, told).run())
        await asyncio.sleep(0.5)
        assert not running.done()
        running.cancel()

        assert told == []
