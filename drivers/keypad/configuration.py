"""The i-Score's configuration keypad: whether one is plugged in. Its presses are not read.

While the shoe is in use, it may be attached only to configure the display (approval letter, 5). So the driver watches its
path, and never opens the device.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

WATCH_SECONDS = 0.5


class ConfigurationKeypad:
    """Watches one path, such as one in /dev/serial/by-id or /dev/input/by-id: `punto.drivers.base.DeviceWatch`."""

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
