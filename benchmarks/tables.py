"""Tables that tell rounds as fast as the broker takes them, and answer requests for them at a table's pace.

python -m benchmarks.tables PORT TABLES ROUNDS told|kept    # `kept` rounds are only answered

Of `told` rounds, the first of each table is told at the start, and the others after a line on standard input: a Game Manager compares
each table once.
"""

import asyncio
import json
import sys
from dataclasses import replace
from datetime import timedelta

from punto.messages.building import timestamp
from punto.messages.models import Round
from punto.messages.requests import RoundsResponse
from punto.messages.topics import HEALTH, ROUND, Topics, request, response
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, Sender
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.pace import Pace
from tests.house.tables import BEGAN, with_five_wagers
from tests.house.told import Told

RECORD = "0123456789abcdef"
HANDS = 3000
CONNECTIONS = 6


def payloads(rounds: int) -> list[tuple[bytes, bytes, bytes]]:
    """Of each round of a table: the message, and its part and its end in an answer, made beforehand."""
    game, hands = with_five_wagers(HANDS)
    made = []
    for number in range(1, rounds + 1):
        ts = timestamp(BEGAN + timedelta(seconds=50 * number))
        told = Round(
            id=f"t/round/{number}",
            seq=number,
            ts=ts,
            game=game.name,
            rules=game.rules_digest,
            record=RECORD,
            currency="USD",
            round=replace(hands[number % HANDS], round=number),
        )
        wire = told.wire()
        end = json.dumps({"ts": ts, "game": game.name, "rules": game.rules_digest}).encode()
        made.append((wire, wire[wire.index(b'"round":{') + 8 : wire.index(b',"rules":')], end))
    return made


def answer(made: list[tuple[bytes, bytes, bytes]], request: str, after: int, limit: int) -> bytes:
    """The rounds after this number, as a table sends them."""
    found = made[after : after + limit]
    empty = RoundsResponse(
        id=f"t/response/{request}",
        seq=len(made),
        ts=timestamp(BEGAN),
        request=request,
        after=after,
        rounds=(),
        ended=(),
        record=RECORD,
        currency="USD",
        more=after + limit < len(made),
    ).wire()
    told = b'"rounds":[' + b",".join(part for _, part, _ in found) + b'],"ended":['
    return empty.replace(b'"rounds":[],"ended":[', told + b",".join(end for *_, end in found))


class Tables:
    """Some of the tables, with a connection of their own; `known` is how many rounds each has on its record so far."""

    def __init__(self, made: list[tuple[bytes, bytes, bytes]], names: list[str], known: int) -> None:
        self._made = made
        self._names = names
        self._known = known
        self._paces = {name: Pace() for name in names}
        self._sender: Sender | None = None
        self.ready = asyncio.Event()

    async def talk(self, connection: Connection) -> None:
        """Say what is known, and answer requests."""
        await connection.subscribe(
            [Topics("punto", name)(request("rounds", "game-manager")) for name in self._names]
        )
        sender = self._sender = Sender(connection)
        health = Told().health().model_copy(update={"rounds": self._known, "inputs": 0}).wire()
        for name in self._names:
            await sender.room()
            sender.send(Topics("punto", name)(HEALTH), health, retain=True)
        await sender.all_taken()
        self.ready.set()
        async for message in connection.messages():
            table = message.topic.split("/")[1]
            asked = json.loads(message.payload)
            if self._paces[table].allows("client"):
                self._paces[table].charge("client")
                there = self._made[: self._known]
                sender.send(
                    Topics("punto", table)(response("rounds")),
                    answer(there, asked["id"], asked["after"], asked["limit"]),
                )

    async def tell(self) -> None:
        """Tell the rounds that are not known yet, as fast as the broker takes them."""
        if (sender := self._sender) is None:
            raise RuntimeError("not connected yet")
        for wire, *_ in self._made[self._known :]:
            self._known += 1
            for name in self._names:
                await sender.room()
                sender.send(Topics("punto", name)(ROUND), wire)


async def run(port: int, tables: int, rounds: int, *, told: bool) -> None:
    """Tell, and answer until the process is killed. A line on standard output says when the tables are there."""
    made, names = payloads(rounds), [f"table-{number}" for number in range(1, tables + 1)]
    parts = [Tables(made, names[part::CONNECTIONS], 1 if told else rounds) for part in range(CONNECTIONS)]
    async with asyncio.TaskGroup() as tasks:
        for part in parts:
            tasks.create_task(Link(BrokerConfig(port=port), Backoff(0.1, 1)).run(part.talk))
        for part in parts:
            await part.ready.wait()
        print("ready", flush=True)
        if told:
            await asyncio.to_thread(sys.stdin.readline)
            await asyncio.gather(*(part.tell() for part in parts))


if __name__ == "__main__":
    port, tables, rounds = map(int, sys.argv[1:4])
    asyncio.run(run(port, tables, rounds, told=sys.argv[4] == "told"))
