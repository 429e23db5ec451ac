"""The meters of a running table on its topic, beside the exact chances that a process of its own has computed."""

import asyncio
import sys

import pytest

from punto.controller import chances
from punto.controller.chances import ExactChances
from tests.service.table_in_this_process import eventually, settings, table


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(chances, "FIRST_AFTER_SECONDS", 0.0)


async def test_the_chances_of_the_game_are_computed_beside_play(tmp_path):
    async with table(tmp_path / "table.db", settings("mini-baccarat")) as here:
        told = asyncio.Event()
        exact = ExactChances(here.state, told.set)
        game = here.state.settings.game
        assert exact.of(game) is None
        running = asyncio.create_task(exact.run())
        await told.wait()
        running.cancel()

        found = exact.of(game)
        assert found is not None
        assert found[None, "tie"] == pytest.approx(0.0952, abs=0.0001)


async def test_another_game_has_its_own(tmp_path):
    async with table(tmp_path / "table.db", settings("mini-baccarat")) as here:
        exact = ExactChances(here.state, lambda: None)
        running = asyncio.create_task(exact.run())
        await eventually(lambda: exact.of(here.state.settings.game) is not None, "the first game's are known")
        other = settings("dai-bacc", cards="keyed")
        exact.see(here.state.but(settings=other), 1)
        await eventually(lambda: exact.of(other.game) is not None, "the other game's are known")
        running.cancel()

        assert exact.of(here.state.settings.game) is None


async def test_without_the_odds_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with table(tmp_path / "table.db", settings("mini-baccarat")) as here:
        told = asyncio.Event()
        exact = ExactChances(here.state, told.set)
        running = asyncio.create_task(exact.run())
        await told.wait()
        running.cancel()

        assert exact.of(here.state.settings.game) is None
