"""Players at a table's seats, who wager over MQTT as a terminal would: they read `state` and write `wagers/…/set`.

They know the game's rules and the table's limits, and never ask for a wager that would be refused. If the
table has a progressive, they also put coins on their sensors.
"""

import asyncio
import json
import math
import random
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from punto.baccarat.wagers.definition import Game, Limits, Wager
from punto.baccarat.wagers.settlement import PlacedWager, WagerRefusedError, check_wagers, most_beside
from punto.messages.topics import STATE, Topics, progressive, wager_set
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, Received, Sender
from punto.runtime.broker_login import BrokerConfig
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.coins import Coins, Habits, Move

_CHIP: Final = 500
_MOST: Final = 20_000
# How often each base wager is a seat's first choice.
_WEIGHTS: Final = {"player": 44, "banker": 50}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressivePlayers:
    """The progressive's `id` and `wager`, the `sensors` (position 1 before seat 1), and the players' `habits`."""

    id: str
    wager: str
    sensors: VirtualCoinSpot
    habits: Habits = field(default_factory=Habits)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayersOptions:
    """The seats of the players, their broker and game.

    - `game` has the table's own limits.
    - `seats` are the seats taken; `seed` determines their wagers; `slow` is the time of the slowest player,
      in seconds.
    - `regulars`: seat -> its base wager in every round; they never forget a coin.
    - `progressive`: the sensors and their coins, None if there are no sensors.
    """

    broker: BrokerConfig
    table: str
    game: Game
    seats: tuple[int, ...]
    seed: int = 1
    slow: float = 1.0
    regulars: Mapping[int, str] = field(default_factory=dict)
    progressive: ProgressivePlayers | None = None


class Players:
    """Makes each seat's wagers once for every round."""

    def __init__(self, options: PlayersOptions) -> None:
        self._options = options
        self._random = random.Random(options.seed)
        self._topic = Topics(options.broker.base, options.table)
        self._round = 0
        self._step = ""
        self.seated = asyncio.Event()
        """Set once the players hear the table."""
        self._coins = None
        if options.progressive is not None:
            # With draws of their own: the sensors do not change the other wagers.
            draw = random.Random(f"coins {options.seed}")
            wager = options.game.wager(options.progressive.wager)
            self._coins = Coins(wager, options.progressive.habits, options.regulars, draw)

    async def run(self) -> None:
        """Play until cancelled; reconnect to the broker when it is lost."""
        await Link(self._options.broker, Backoff(1, 1)).run(self._play)

    async def _play(self, connection: Connection) -> None:
        topics = [self._topic(STATE)]
        if self._options.progressive is not None:
            topics.append(self._topic(progressive(self._options.progressive.id)))
        await connection.subscribe(topics)
        self.seated.set()
        sender = Sender(connection)
        async for message in connection.messages():
            await self._look(sender, message)

    async def _look(self, sender: Sender, message: Received) -> None:
        # A broker may deliver more than was subscribed to; a retained message that it has deleted has no payload.
        if not message.payload:
            return
        if message.topic == self._topic(STATE):
            await self._look_at_table(sender, json.loads(message.payload))
        elif self._coins is not None and message.topic.startswith(self._topic(progressive(""))):
            self._look_at_meter(self._coins, json.loads(message.payload))

    def _look_at_meter(self, coins: Coins, meter: dict[str, Any]) -> None:
        """Only a step that follows the other begins or ends a game: after the next betting opens, the last game may still be open."""
        before, self._step = self._step, meter["step"]
        if self._step == "betting":
            self._move([] if before == "betting" else coins.over())
            self._move(coins.lit(meter["seats"]))
        elif before == "betting":
            self._move(coins.started())

    async def _look_at_table(self, sender: Sender, state: dict[str, Any]) -> None:
        """Wager once in every round."""
        if state["phase"] != "betting" or state["round"] == self._round:
            return
        self._round = state["round"]
        if self._coins is not None:
            self._move(self._coins.clear())
        for seat in self._options.seats:
            await asyncio.sleep(self._random.uniform(0, self._options.slow / len(self._options.seats)))
            chosen = self._choose(seat)
            for number, placed in enumerate(chosen):
                payload = {
                    "id": f"{self._round}-{seat}-{number}",
                    "round": self._round,
                    "wager": placed.wager,
                    "amount": placed.amount,
                }
                sender.send(self._topic(wager_set(seat)), json.dumps(payload).encode())
            await sender.all_taken()
            if chosen and self._coins is not None:
                self._move(self._coins.wagered(seat))

    def _move(self, moves: Iterable[Move]) -> None:
        if self._options.progressive is None:
            return
        sensors = self._options.progressive.sensors
        for move in moves:
            (sensors.put if move.do == "put" else sensors.take)(move.seat)

    def _choose(self, seat: int) -> list[PlacedWager]:
        """A seat's wagers: mostly one side, at times with other wagers beside it, now and then none."""
        game, draw, regular = self._options.game, self._random, self._options.regulars.get(seat)
        if draw.random() < 0.1 and regular is None:
            return []
        bases = [wager for wager in game.wagers if wager.base]
        (base,) = draw.choices(bases, weights=[_WEIGHTS.get(wager.name, 6) for wager in bases])
        if regular is not None:
            base = game.wager(regular)
        others = [wager for wager in game.wagers if wager is not base and self._is_beside(wager)]
        chosen: list[PlacedWager] = []
        for wager in [base, *(each for each in others if draw.random() < 0.3)]:
            wanted = [
                *chosen,
                PlacedWager(seat, wager.name, self._amount(wager.limits, most_beside(game, wager, chosen))),
            ]
            with suppress(WagerRefusedError):
                check_wagers(game, wanted)
                chosen = wanted
        return chosen

    def _is_beside(self, wager: Wager) -> bool:
        """Whether it can be made beside a base wager: not the other hand, and not a wager on a sensor."""
        progressive = self._options.progressive
        on_the_sensor = progressive is not None and wager.name == progressive.wager
        return not (wager.base and wager.side) and not on_the_sensor

    def _amount(self, limits: Limits, beside: int | None) -> int:
        """Whole chips of five within the limits, or the table's own steps if those are not chips of five.

        `beside` is the most that the seat's base wager allows.
        """
        step = limits.step if limits.step % _CHIP == 0 else math.lcm(limits.step, _CHIP)
        for chip in (step, limits.step):
            lowest = -(-limits.minimum // chip)
            most = max(_MOST, 4 * lowest * chip)
            highest = min(limits.maximum or most, most if beside is None else beside, most) // chip
            if lowest <= highest:
                return self._random.randint(lowest, highest) * chip
        return limits.minimum
