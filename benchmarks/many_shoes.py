"""Virtual shoes of many tables in a process of its own, which notes when each card goes out.

python -m benchmarks.many_shoes FOLDER COUNT PACE BETWEEN

A first line on the standard input takes stock of the cards so far; a second one ends the shoes and prints the stock.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from benchmarks.client import ready
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.virtual_shoe import VirtualShoe


class _Timed(VirtualShoe):
    """A shoe that notes the time at which each card has been sent."""

    def __init__(self, options: ShoeOptions) -> None:
        super().__init__(options)
        self.sent: list[float] = []

    async def _send(self) -> None:
        await super()._send()
        self.sent += [time.monotonic()] * (self.inside.out - len(self.sent))


async def _run(folder: Path, count: int, pace: float, between: float) -> list[list[float]]:
    shoes = [
        _Timed(
            ShoeOptions(
                link=folder / f"shoe-{number}",
                store=folder / f"shoe-{number}.store",
                seed=str(number),
                pace=pace,
                between=between,
            )
        )
        for number in range(count)
    ]
    running = [asyncio.create_task(shoe.run()) for shoe in shoes]
    for shoe in shoes:
        await shoe.ready()
    ready()
    await asyncio.to_thread(sys.stdin.readline)
    stock = [list(shoe.sent) for shoe in shoes]
    ready()
    await asyncio.to_thread(sys.stdin.readline)
    for task in running:
        task.cancel()
    await asyncio.wait(running)
    return stock


def main() -> None:
    """Run the shoes, and print the times of the cards of each in the end."""
    folder, count, pace, between = sys.argv[1:]
    stock = asyncio.run(_run(Path(folder), int(count), float(pace), float(between)))
    sys.stdout.write(json.dumps(stock))


main()
