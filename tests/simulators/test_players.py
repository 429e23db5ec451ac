"""Players at a table with a progressive."""

import json
from dataclasses import replace
from unittest import mock

import pytest

from punto.baccarat.wagers.definition import Game, Limits
from punto.baccarat.wagers.settlement import check_wagers
from punto.configs.game_files import load_game
from punto.runtime.broker_link import Received
from punto.runtime.broker_login import BrokerConfig
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.players import Players, PlayersOptions, ProgressivePlayers

GAME = load_game("progressive-2")


def players(sensors: VirtualCoinSpot | None = None, game: Game = GAME) -> Players:
    return Players(
        PlayersOptions(
            broker=BrokerConfig(),
            table="t",
            game=game,
            seats=(1, 3),
            slow=0,
            regulars={3: "banker"},
            progressive=ProgressivePlayers(
                id="dragon", wager="progressive", sensors=sensors or VirtualCoinSpot()
            ),
        )
    )


def test_a_regular_makes_its_wager_in_every_round_and_others_beside_it():
    table = players()
    made = [table._choose(3) for _ in range(300)]

    for chosen in made:
        assert chosen[0].wager == "banker"
        check_wagers(GAME, chosen)
    assert {placed.wager for chosen in made for placed in chosen} > {"banker", "dragon_bonus_banker"}


def test_a_wager_that_is_limited_by_its_base_wager_is_made_within_it():
    own = GAME.wager("dragon_bonus_banker")
    limited = replace(own, limits=Limits(minimum=500, step=500, maximum_of_base="50%"))
    game = replace(GAME, wagers=tuple(limited if each is own else each for each in GAME.wagers))
    table = players(game=game)
    made = [table._choose(3) for _ in range(300)]

    for chosen in made:
        check_wagers(game, chosen)
    assert sum(placed.wager == limited.name for chosen in made for placed in chosen) > 50


def test_a_wager_on_the_meter_is_a_coin_and_never_a_message():
    table = players()

    assert {placed.wager for _ in range(300) for seat in (1, 3) for placed in table._choose(seat)} == {
        wager.name for wager in GAME.wagers if wager.name != "progressive"
    }


@pytest.mark.parametrize("topic", ["punto/t/state", "punto/t/progressive/dragon"])
async def test_a_retained_message_that_the_broker_has_deleted_is_ignored(topic):
    await players()._look(mock.Mock(), Received(topic, b"", retained=False))


async def test_a_game_that_is_still_open_when_the_next_betting_opens_takes_no_coin_of_the_next_game():
    sensors = VirtualCoinSpot()
    table = players(sensors)
    coins = []

    for topic, shown in [
        ("progressive/dragon", {"step": "betting", "seats": []}),
        ("state", {"phase": "betting", "round": 3}),
        ("progressive/dragon", {"step": "playing", "seats": [3]}),
        ("state", {"phase": "betting", "round": 4}),
        ("progressive/dragon", {"step": "adjusted", "seats": [3]}),
        ("progressive/dragon", {"step": "betting", "seats": []}),
        ("progressive/dragon", {"step": "playing", "seats": [3]}),
    ]:
        sender = mock.Mock(all_taken=mock.AsyncMock())
        await table._look(sender, Received(f"punto/t/{topic}", json.dumps(shown).encode(), retained=False))
        coins.append(sensors.sensors[2].sees)

    assert coins == [False, True, False, True, True, True, False]
