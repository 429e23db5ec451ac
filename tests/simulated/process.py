"""One process of the simulated service, which can be killed between any two steps."""

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from punto.controller.config.file import ServiceConfig
from punto.controller.orders.desk import Desk
from tests.simulated.disk import PROCESS, SteppedJournal

if TYPE_CHECKING:
    from tests.simulated.world import World


class ServiceProcess:
    """One process of the service, from its start to its end."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.server = world.server
        self.disk = world.disk
        self.dead = False
        self.desk: Desk | None = None
        self.journal: SteppedJournal | None = None
        self.requests: set[asyncio.Task[None]] = set()
        self.task: asyncio.Task[None] | None = None
        self.context = copy_context()
        self.context.run(PROCESS.set, self)

    def spawn(self, request: Coroutine[Any, Any, None], gone: float | None) -> None:
        """Serve a request to the consoles, until its browser is `gone`, after so many seconds."""
        task = asyncio.create_task(request, context=self.context.copy())
        if gone is not None:
            self.world.loop.call_later(gone, task.cancel)
        self.requests.add(task)
        task.add_done_callback(self.requests.discard)

    def kill(self, when: str) -> None:
        """From now on nothing of it reaches the disk or the network."""
        if self.dead or self.task is None:
            return
        self.dead = True
        self.world.note(f"killed {when}")
        self.world.counted[f"kill {when}"] += 1
        self.end()

    def end(self) -> None:
        """End its tasks."""
        for each in (self.task, *self.requests):
            if each is not None:
                each.cancel()

    def committed(self) -> None:
        self.world.committed()

    def published(self) -> None:
        self.world.published()

    def consoles_of(self, _config: ServiceConfig, desk: Desk, _gate: Any) -> Any:
        """The consoles open: the record is recovered."""
        self.desk = desk
        self.world.started(desk)
        return _Consoles()


class _Consoles:
    async def serve(self) -> None:
        await asyncio.get_running_loop().create_future()

    def close(self) -> None:
        """Nothing is open."""
