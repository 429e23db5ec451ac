"""Tables that tell rounds as fast as the broker takes them, and answer requests for them at a table's pace.

python -m benchmarks.tables PORT TABLES ROUNDS told|kept    # `kept` rounds are only answered
"""

import asyncio
import json
import sys
from dataclasses import replace
from datetime import timedelta

from punto.controller.broker_login import BrokerConfig
from punto.controller.messages.building import timestamp
from punto.controller.messages.models import Round
from punto.controller.messages.requests import RoundsResponse
from punto.controller.messages.topics import HEALTH, ROUND, Topics, response
from punto.controller.mqtt_link import Connection, Link, Sender
from punto.controller.pace import Pace
from punto.drivers.backoff import Backoff
from tests.game_manager.floor.tables import BEGAN, with_five_wagers
from tests.game_manager.floor.told import Told

RECORD = "0123456789abcdef"
HANDS = 3000


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
        rounds=(),
        record=RECORD,
        more=after + limit < len(made),
    ).wire()
    told = b'"rounds":[' + b",".join(part for _, part, _ in found) + b'],"ended":['
    return empty.replace(b'"rounds":[],"ended":[', told + b",".join(end for *_, end in found))


async def tell(port: int, tables: int, rounds: int, *, told: bool) -> None:
    """Tell, and answer until the process is killed. A line on standard output says when it begins to tell."""
    made, names = payloads(rounds), [f"table-{number}" for number in range(1, tables + 1)]
    paces: dict[str, Pace] = {}
    health = Told().health().model_copy(update={"rounds": rounds, "inputs": 0}).wire()

    async def talk(connection: Connection) -> None:
        await connection.subscribe(["punto/+/request/rounds/by/+"])
        sender = Sender(connection)
        for name in names:
            sender.send(Topics("punto", name)(HEALTH), health, retain=True)
        await sender.all_taken()
        print("telling", flush=True)
        if told:
            for wire, *_ in made:
                for name in names:
                    await sender.room()
                    sender.send(Topics("punto", name)(ROUND), wire)
        async for message in connection.messages():
            table = message.topic.split("/")[1]
            asked = json.loads(message.payload)
            whose = paces.setdefault(table, Pace())
            if whose.allows("client"):
                whose.charge("client")
                sender.send(
                    Topics("punto", table)(response("rounds")),
                    answer(made, asked["id"], asked["after"], asked["limit"]),
                )

    await Link(BrokerConfig(port=port), Backoff(0.1, 1)).run(talk)


if __name__ == "__main__":
    port, tables, rounds = map(int, sys.argv[1:4])
    asyncio.run(tell(port, tables, rounds, told=sys.argv[4] == "told"))
