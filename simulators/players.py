"""Players at a table's seats, who wager over MQTT as a terminal would: they read `state` and write `wagers/…/set`.

They know the game's rules and limits as a table posts them, and ask for nothing that would be refused.
"""

import asyncio
import json
import math
import random
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import aiomqtt

from controller.wagers.definition import Game, Limits
from controller.wagers.settlement import PlacedWager, WagerRefusedError, check_wagers

_CHIP: Final = 500
_MOST: Final = 20_000
# How often each base wager is the one that a seat begins with.
_WEIGHTS: Final = {"player": 44, "banker": 50}
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayersOptions:
    """Who sits where, at which broker and game.

    `game` has the table's own limits. `seats` are the seats taken; `seed` decides what they wager; `slow` is how long the slowest thinks, in seconds.
    """

    host: str
    port: int
    base: str
    table: str
    game: Game
    seats: tuple[int, ...]
    seed: int = 1
    slow: float = 1.0


class Players:
    """Makes each seat's wagers once for every round."""

    def __init__(self, options: PlayersOptions) -> None:
        self._options = options
        self._random = random.Random(options.seed)
        self._round = 0

    async def run(self) -> None:
        """Play until cancelled; a broker that goes away is connected to again."""
        while True:
            try:
                # Without a time-out: `asyncio.wait_for`, which would watch it, loses a cancellation in Python 3.11 that
                # comes in the moment of an answer (python/cpython 86296).
                async with aiomqtt.Client(
                    self._options.host, self._options.port, timeout=math.inf, socket_options=_NODELAY
                ) as client:
                    await client.subscribe(self._topic("state"), qos=1)
                    async for message in client.messages:
                        await self._look(client, message)
            except aiomqtt.MqttError:
                await asyncio.sleep(1)

    def _topic(self, name: str) -> str:
        return f"{self._options.base}/{self._options.table}/{name}"

    async def _look(self, client: aiomqtt.Client, message: aiomqtt.Message) -> None:
        # A broker may deliver more than was subscribed to; only the state opens a round.
        if message.topic.value != self._topic("state") or not isinstance(message.payload, bytes):
            return
        state = json.loads(message.payload)
        if state["phase"] != "betting" or state["round"] == self._round:
            return
        self._round = state["round"]
        for seat in self._options.seats:
            await asyncio.sleep(self._random.uniform(0, self._options.slow / len(self._options.seats)))
            for number, placed in enumerate(self._choose(seat)):
                payload = {
                    "id": f"{self._round}-{seat}-{number}",
                    "round": self._round,
                    "wager": placed.wager,
                    "amount": placed.amount,
                }
                await client.publish(self._topic(f"wagers/{seat}/set"), json.dumps(payload), qos=1)

    def _choose(self, seat: int) -> list[PlacedWager]:
        """What a seat wagers: mostly one side, at times with other wagers beside it, now and then nothing."""
        game, draw = self._options.game, self._random
        if draw.random() < 0.1:
            return []
        bases = [wager for wager in game.wagers if wager.base]
        (base,) = draw.choices(bases, weights=[_WEIGHTS.get(wager.name, 6) for wager in bases])
        others = [wager for wager in game.wagers if wager is not base and not (wager.base and wager.side)]
        chosen: list[PlacedWager] = []
        for wager in [base, *(each for each in others if draw.random() < 0.3)]:
            wanted = [*chosen, PlacedWager(seat, wager.name, self._amount(wager.limits))]
            with suppress(WagerRefusedError):
                check_wagers(game, wanted)
                chosen = wanted
        return chosen

    def _amount(self, limits: Limits) -> int:
        """Whole chips of five within the limits, or the table's own steps where those are no chips of five."""
        step = limits.step if limits.step % _CHIP == 0 else math.lcm(limits.step, _CHIP)
        for chip in (step, limits.step):
            lowest = -(-limits.minimum // chip)
            most = max(_MOST, 4 * lowest * chip)
            highest = min(limits.maximum or most, most) // chip
            if lowest <= highest:
                return self._random.randint(lowest, highest) * chip
        return limits.minimum
