"""The simulated time: a loop that never waits and has no threads, and the clocks of the PC that follow it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest import mock

from punto.controller import clock_watch
from punto.runtime import clock
from tests.simulated.virtual_time import VirtualTime


class Loop(VirtualTime):
    """What would be given to a thread is done at once."""

    def __init__(self, begins: datetime) -> None:
        super().__init__()
        self._begins = begins
        self._began = self.now
        self.stepped = 0.0
        """Seconds by which the wall clock was set."""

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return self.now - self._began

    def wall(self) -> datetime:
        return self._begins + timedelta(seconds=self.passed + self.stepped)

    def run_in_executor(self, _: Any, func: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":  # type: ignore[override]
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it is the waiter's
            done.set_exception(error)
        return done


LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@contextmanager
def clocks(loop: Loop) -> Iterator[None]:
    """The PC's clocks are those of the loop. The program is older than all that they show, also after they are set back."""
    with (
        mock.patch.object(clock, "now", loop.wall),
        mock.patch.object(clock, "monotonic", loop.time),
        mock.patch.object(clock_watch, "RELEASED", LONG_AGO),
    ):
        yield


class InTurn:
    """Calls later, each after the one before: two timers of the same moment have no order."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._last = 0.0

    def call_later(self, seconds: float, call: Callable[..., object], *args: Any) -> None:
        self._last = max(self._last + 1e-6, self._loop.time() + seconds)
        self._loop.call_at(self._last, call, *args)
