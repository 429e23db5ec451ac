"""A simulated table: its shoe, sensors, service, players and staff."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Game
from punto.commands.demo.configuration import COIN_SPOT, Secrets, config_of, is_dealt, mqtt_of, socket_of
from punto.commands.demo.options import TableOptions
from punto.commands.demo.staff import (
    REGULARS,
    ProgressiveDealer,
    Say,
    Staff,
    key_cards,
    open_meter,
    supervise,
)
from punto.commands.operator import ask
from punto.commands.run import consoles_of, devices_of
from punto.configs.problems import ConfigError, Problem
from punto.controller.config.file import ServiceConfig
from punto.controller.journal.schema import RecordError
from punto.controller.supervisor import Process, serve
from punto.reports.books import books_of_day
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.coins import Habits
from punto.simulators.players import Players, PlayersOptions, ProgressivePlayers
from punto.simulators.shoe.options import OptionError, ShoeOptions
from punto.simulators.shoe.scenario import read_scenario, scenario_names
from punto.simulators.shoe.virtual_shoe import VirtualShoe

_SEATS: Final = (1, 3, 4, 6)
_HABITS: Final = Habits(coin=0.8, late=0.1)
_ASKS_SECONDS: Final = 0.1

Begin = Callable[[Coroutine[Any, Any, None]], None]
"""Runs a part until all parts end."""


class VirtualTable:
    """One table with its simulated devices and people, or the authority of a meter; `say` hears of each act of a dealer."""

    def __init__(self, options: TableOptions, config: ServiceConfig, passing: Secrets, say: Say) -> None:
        """Load its shoe.

        Raises:
            ConfigError: a virtual shoe cannot deal this game, or the hands of `deal`.
        """
        self._options = options
        self._config = config
        self._passing = passing
        self._shoe = _shoe(options, config)
        self._sensors: VirtualCoinSpot | None = None
        self._dealer: ProgressiveDealer | None = None
        if config.coin_spot is not None:
            self._sensors = VirtualCoinSpot(config.folder / COIN_SPOT)
            self._dealer = None if options.attended else ProgressiveDealer(options, config, passing, say)

    async def open(self, begin: Begin) -> None:
        """Start the shoe, devices and service. Wait until the service takes orders and its own meter, if any, is open."""
        if self._shoe is not None:
            begin(self._shoe.run())
            await self._shoe.ready()
        if self._sensors is not None:
            begin(self._sensors.run())
        if self._dealer is not None:
            begin(self._dealer.device.run())
        if self._options.own_process:
            begin(_serve_in_a_process(self._config))
            await _until_orders_are_taken(self._config)
        else:
            running = asyncio.Event()
            begin(
                serve(
                    self._config,
                    devices_of(self._config),
                    partial(consoles_of, config_of(self._config.folder)),
                    books_of_day,
                    Process(opened=running.set),
                )
            )
            await running.wait()
        if self._config.progressive is not None and self._options.authority in {None, self._options.table}:
            await open_meter(self._config, self._passing)

    def play(self, begin: Begin) -> None:
        """Start the players and, unless the table is attended, the staff."""
        if not is_dealt(self._config):
            return
        players = Players(self._players())
        begin(players.run())
        if self._options.attended:
            return
        staff = Staff(self._config, self._passing)
        if self._shoe is None:
            begin(key_cards(self._options, self._config, staff))
        if self._dealer is not None:
            begin(self._dealer.deal())
        begin(supervise(self._config, staff, players))

    def _players(self) -> PlayersOptions:
        settings = self._config.settings()
        coins = None
        if self._sensors is not None and settings.progressive is not None:
            wager = settings.progressive.wager.name
            coins = ProgressivePlayers(
                id=self._options.meter, wager=wager, sensors=self._sensors, habits=_HABITS
            )
        return PlayersOptions(
            broker=mqtt_of(self._config),
            table=settings.table,
            game=settings.game,
            seats=_SEATS,
            seed=self._options.seed,
            slow=self._options.between / 2,
            regulars={} if coins is None else REGULARS,
            progressive=coins,
        )


# --- a service in a process of its own


async def _serve_in_a_process(config: ServiceConfig) -> None:
    """Run `punto run` until cancelled.

    Raises:
        RecordError: the service has ended; it has printed the reason.
    """
    run = ("-m", "punto", "run", "--log-level", "error", "--config", str(config_of(config.folder)))
    # In a process group of its own, because Ctrl-C is for the floor, which then stops its services.
    service = await asyncio.create_subprocess_exec(sys.executable, *run, process_group=0)
    try:
        status = await service.wait()
        raise RecordError(f"the service of {config.table.id} has ended with status {status}")
    finally:
        if service.returncode is None:
            service.terminate()
            await service.wait()


async def _until_orders_are_taken(config: ServiceConfig) -> None:
    while True:
        with suppress(OSError):
            await asyncio.to_thread(ask, socket_of(config), {"order": "status"})
            return
        await asyncio.sleep(_ASKS_SECONDS)


# --- the shoe


def _shoe(options: TableOptions, config: ServiceConfig) -> VirtualShoe | None:
    """The shoe of this table, None if its cards are keyed."""
    if config.shoe is None:
        if options.deal:
            message = f"--deal cannot be used with {config.game.title}, whose cards are keyed: key the hand"
            raise ConfigError([Problem(message)])
        return None
    try:
        shoe = ShoeOptions(
            link=config.folder / "shoe",
            store=config.folder / "shoe.store",
            seed=str(options.seed),
            decks=config.game.decks,
            pace=options.pace,
            between=options.between,
            **_coups_of(options, config.game),
        )
    except OptionError as error:
        raise ConfigError([Problem(f"a virtual shoe cannot deal {config.game.title}: {error}")]) from None
    return VirtualShoe(shoe)


def hand(text: str) -> str | tuple[Card, ...]:
    """The type of `--deal`: cards in the order of dealing, or a name of hands.

    Raises:
        argparse.ArgumentTypeError: the text is not a whole hand or a name.
    """
    if text in {"jackpot", "awards"}:
        return text
    try:
        return Coup.complete(tuple(Card(code) for code in text.split())).cards
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{error}: write jackpot, awards, or a whole hand in the order of dealing, such as '9S 4H TD 3C'"
        ) from None


def _coups_of(options: TableOptions, game: Game) -> dict[str, Any]:
    """The shoe's options for the wanted hands."""
    if options.deal is None:
        return _tiers(game)
    dealt: list[tuple[Card, ...]] = []
    for each in options.deal:
        coups = hands_named(each, game) if isinstance(each, str) else [each]
        if not coups:
            message = f"--deal {each}: {game.title} has no such hand: write the cards of the hand, or add --game progressive"
            raise ConfigError([Problem(message)])
        dealt += coups
    return {"coups": tuple(dealt), "every": options.every}


def hands_named(name: str, game: Game) -> list[tuple[Card, ...]]:
    """The hands of `--deal awards` in this game, or of `--deal jackpot`; empty if it has none."""
    awards = _tiers(game).get("coups", ())
    return [coup for coup in awards if name == "awards" or _wins_the_meter(coup, game)]


def _tiers(game: Game) -> dict[str, Any]:
    """The options of the shipped shoe in which each tier of the game's meter is won; empty without one."""
    metered = any(wager.progressive is not None for wager in game.wagers)
    return read_scenario(game.name).settings() if metered and game.name in scenario_names() else {}


def _wins_the_meter(cards: tuple[Card, ...], game: Game) -> bool:
    rules = (wager.deciding_rule(Coup(cards)) for wager in game.wagers if wager.progressive is not None)
    return any(rule is not None and rule.pay.meter == 1 for rule in rules)
