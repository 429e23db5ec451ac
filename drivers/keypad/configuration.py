"""The i-Score's configuration keypad: whether one is plugged in, and nothing of what is pressed on it.

With the shoe in use it may be attached only while the display is being configured (approval letter, 5). So its path is
watched, and the device behind it is never opened.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

WATCH_SECONDS = 0.5


class ConfigurationKeypad:
    """The watch over one path, such as one of /dev/serial/by-id or /dev/input/by-id: `punto.drivers.base.DeviceWatch`."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def run(self, report: Callable[[bool, str], Awaitable[None]]) -> None:
        """Report each change until cancelled; see `DeviceWatch.run`."""
        attached = False
        while True:
            there = Path(self.path).exists()
            if there is not attached:
                attached = there
                await report(attached, self.path)
            await asyncio.sleep(WATCH_SECONDS)
