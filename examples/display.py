"""A display in 40 lines: python examples/display.py [HOST [PORT [TABLE]]]. It needs aiomqtt, which Punto installs."""

import asyncio
import json
import sys
from typing import Any

import aiomqtt


def line(state: dict[str, Any], board: dict[str, Any]) -> str:
    """The display's line, from the last `state` and `scoreboard`."""
    hands = state["hands"] or state["result"] or {"player": [], "banker": []}
    player, banker = (" ".join(card or "##" for card in hands[side]) for side in ("player", "banker"))
    beads = "".join(bead["winner"][0].upper() for bead in board["bead_plate"])
    return f"{state['name']}  {state['phase']:<11}  P {player:<8}  B {banker:<8}  {beads}"


async def main(host: str = "127.0.0.1", port: str = "1883", table: str = "table-1") -> None:
    """Print the table at each change, and NOT LIVE when no new state arrives."""
    last: dict[str, dict[str, Any]] = {}
    shown = ""
    async with aiomqtt.Client(host, int(port)) as client:
        await client.subscribe([(f"punto/{table}/{name}", 1) for name in ("state", "scoreboard")])
        while True:
            try:
                async with asyncio.timeout(2.5):  # a table sends its state every second
                    message = await anext(client.messages)
                last[message.topic.value.rpartition("/")[2]] = json.loads(bytes(message.payload))
                now = line(last["state"], last["scoreboard"]) if len(last) == 2 else shown
            except TimeoutError:
                now = "NOT LIVE"
            if now != shown:
                print(shown := now, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
