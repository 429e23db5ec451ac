"""The expectations beside a table's meters: those of games that ship are there, a house's own are counted in another process."""

import asyncio
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from punto.baccarat.table.order_kinds import OpenBetting
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import WIN, Expectations, shipped
from punto.controller import expectations, heartbeat
from punto.controller.expectations import ExactExpectations
from tests.controller.table_in_this_process import (
    HERE,
    STAKE,
    connected,
    ear,
    eventually,
    rows,
    settings,
    table,
)
from tests.controller.table_on_a_machine import Broker, Listener, wait_until
from tests.controller.table_on_a_machine import Table as Service


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
    assert found["banker", WIN].mean == pytest.approx(0.0106, abs=0.0001)


async def test_a_wager_of_the_houses_own_is_counted_beside_play(tmp_path):
    async with table(tmp_path / "table.db", with_own_wager("mini-baccarat")) as here:
        told = Told()
        exact = ExactExpectations(here.state, told)
        game = here.state.settings.game
        assert ("tie", WIN) not in exact.of(game)
        assert ("player", WIN) in exact.of(game)
        running = asyncio.create_task(exact.run())
        await eventually(lambda: told, "it has been counted")
        running.cancel()

        assert told == [(game, exact.of(game))]
        assert exact.of(game)["tie", WIN].mean == pytest.approx(1 - 8 * 0.0952, abs=0.001)


@pytest.mark.soak
async def test_another_game_has_its_own(tmp_path):
    async with table(tmp_path / "table.db", with_own_wager("mini-baccarat")) as here:
        first = here.state.settings.game
        exact = ExactExpectations(here.state, Told())
        running = asyncio.create_task(exact.run())
        await eventually(lambda: ("tie", WIN) in exact.of(first), "the first game's are known")
        other = with_own_wager("super-6")
        exact.see(here.state.replace(settings=other), 1)
        await eventually(lambda: ("tie", WIN) in exact.of(other.game), "the other game's are known")
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


def counts(hands: int, sent: dict[str, Any]) -> bool:
    """Whether meters on the topic are of so many hands."""
    return bool(sent["lifetime"]["hands"] == hands)


async def test_the_meters_are_published_within_a_second_of_a_hand(tmp_path):
    with Broker(tmp_path) as mosquitto:
        async with (
            table(tmp_path / "table.db") as here,
            ear(mosquitto.port) as listening,
            connected(here, mosquitto.port),
        ):
            beating = asyncio.create_task(heartbeat.beat(here.engine, here.journal, here.outbox))
            await here.begin_shoe()
            await here.order(OpenBetting("mei"))
            for hands in (1, 2):
                await here.play(1, seats=[1])
                last = await listening.last("meters", partial(counts, hands))
                (player,) = last["lifetime"]["wagers"]
                assert (player["handle"], last["gaming_day"]) == (hands * STAKE, last["lifetime"])
                assert round(player["expected"], 2) == round(hands * STAKE * 0.0123508, 2)
            beating.cancel()


def test_a_running_service_has_the_expectations_of_a_houses_own_wager_and_the_houses_gaming_day(tmp_path):
    """Tie at 7 to 1: on the topic, and on the record for the reports."""
    shipped_game = (HERE / "configs" / "games" / "progressive-2.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(
        shipped_game.replace('pays = "8 to 1"', 'pays = "7 to 1"'), encoding="utf-8"
    )
    day = '[calendar]\nday_starts = "09:30"\nzone = "Asia/Macau"\n'
    with Broker(tmp_path) as mosquitto:
        service = Service(tmp_path, mosquitto, sections=day)
        config = service.config.read_text(encoding="utf-8").replace('"dragon-bonus-1"', '"own.toml"')
        service.config.write_text(config, encoding="utf-8")
        with service, Listener(tmp_path, mosquitto.port) as listener:
            wait_until(
                lambda: expected_ties(listener.last("meters")) is not None, "the wager has been counted"
            )
            last = listener.last("meters")
            query = "SELECT mean FROM expectations WHERE wager = 'tie' AND rule = ''"
            wait_until(lambda: rows(service.record, query), "the expectation is on the record")
        assert last is not None
        assert last["day_began"].endswith("T01:30:00.000000+00:00")
        assert rows(service.record, query) == [(pytest.approx(1 - 8 * 0.0951559, abs=1e-5),)]


def expected_ties(sent: dict[str, Any] | None) -> float | None:
    """How many ties the meters on the topic expect to have won for Tie."""
    counts = [] if sent is None else sent["lifetime"]["counts"]
    return next(
        (each["expected"] for each in counts if (each["wager"], each["rule"]) == ("tie", "tie")), None
    )
