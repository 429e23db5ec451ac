"""Players at a table's seats, who wager over MQTT as a terminal would: they read `state` and write `wagers/…/set`."""

import asyncio
import json
import math
import random
import socket
from dataclasses import dataclass
from typing import Any, Final

import aiomqtt

_CHIP: Final = 500
_MOST: Final = 20_000
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayersOptions:
    """Who sits where, and at which broker.

    `seats` are the seats taken; `seed` decides what they wager; `slow` is how long the slowest thinks, in seconds.
    """

    host: str
    port: int
    base: str
    table: str
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
            for number, wager in enumerate(self._choose(state["limits"])):
                payload = {"id": f"{self._round}-{seat}-{number}", "round": self._round, **wager}
                await client.publish(self._topic(f"wagers/{seat}/set"), json.dumps(payload), qos=1)

    def _choose(self, limits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What a seat wagers: mostly one side, at times with a side wager on the same one, now and then nothing."""
        draw = self._random
        on_offer = {each["wager"]: each for each in limits}
        if draw.random() < 0.1:
            return []
        side = draw.choices(["player", "banker", "tie"], weights=[44, 50, 6])[0]
        chosen = [side] if side in on_offer else ["player"]
        chosen += [
            name
            for name in (f"dragon_bonus_{side}", f"{side}_pair")
            if name in on_offer and draw.random() < 0.3
        ]
        return [{"wager": name, "amount": self._amount(on_offer[name])} for name in chosen]

    def _amount(self, limits: dict[str, Any]) -> int:
        """Whole chips of five within the limits, or the table's own steps where those are no chips of five."""
        step = limits["step"] if limits["step"] % _CHIP == 0 else math.lcm(limits["step"], _CHIP)
        for chip in (step, limits["step"]):
            lowest = -(-limits["minimum"] // chip)
            most = max(_MOST, 4 * lowest * chip)
            highest = min(limits["maximum"] or most, most) // chip
            if lowest <= highest:
                return self._random.randint(lowest, highest) * chip
        return int(limits["minimum"])
