"""The end of a service that runs until somebody ends it."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from punto.runtime import log


async def until_stopped(service: Coroutine[Any, Any, object], level: str | None = None) -> None:
    """Run a service until SIGTERM or Ctrl-C cancels it, or until it fails. A service with a log has a `level`."""
    if level is not None:
        log.change_level_by_signals(level)
    running = asyncio.create_task(service)
    for wanted in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(wanted, running.cancel)
    with suppress(asyncio.CancelledError):
        await running
