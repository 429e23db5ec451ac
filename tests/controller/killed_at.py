"""`punto` that is killed at a step of the ordered path: `python -m tests.controller.killed_at STEP CROSSING run --config FILE`.

A step is crossed once for each input, commit, message or answer that takes it. At the crossing of the given number the process
sends itself SIGKILL, so a kill finds each moment between two steps, also those that are too short to be met by chance.
"""

import os
import signal
import sys
import time
from asyncio import StreamWriter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from punto.commands.cli import main
from punto.controller import engine
from punto.controller.engine import Engine
from punto.controller.journal import store
from punto.controller.journal.execution import Execution
from punto.controller.journal.journal import Journal
from punto.controller.orders.socket_door import SocketDoor
from punto.drivers.ishoe.link import IShoeLink
from punto.drivers.serial_port import Port
from punto.runtime.broker_link import Connection

SNAPSHOT_EVERY: Final = 20
"""Inputs between snapshots, so that each kill has some near it."""
LINGER_SECONDS: Final = 0.05
"""Before the kill. What the process's other thread would show or write too early, it shows or writes now."""

Cross = Callable[[], None]


def before(owner: Any, name: str, cross: Cross, when: Callable[..., object] = lambda *_: True) -> None:
    """Cross the step before each call of a function with arguments of which `when` is true."""
    original = getattr(owner, name)

    def crossed(*args: Any, **options: Any) -> Any:
        if when(*args):
            cross()
        return original(*args, **options)

    setattr(owner, name, crossed)


def after(owner: Any, name: str, cross: Cross, when: Callable[..., object] = lambda *_: True) -> None:
    """Cross the step after each call of a function with arguments of which `when` was true before it."""
    original = getattr(owner, name)

    def crossed(*args: Any, **options: Any) -> Any:
        counts = when(*args)
        result = original(*args, **options)
        if counts:
            cross()
        return result

    setattr(owner, name, crossed)


def after_the_next(owner: Any, name: str, cross: Cross) -> Cross:
    """Cross the step after the next call of a function, once what is returned has been called."""
    due: list[bool] = []
    after(owner, name, cross, lambda *_: due and due.pop())
    return lambda: due.append(True)


def _after_an_order(cross: Cross) -> None:
    """Cross the step when the answer to an order is known; a question is answered without an input."""
    answer = SocketDoor.answer

    async def answered(self: SocketDoor, line: bytes, user: int) -> bytes:
        found = await answer(self, line, user)
        if b'"status"' not in line:
            cross()
        return found

    SocketDoor.answer = answered  # type: ignore[method-assign]


def _has_inputs(_: Journal, jobs: Any) -> bool:
    return any(job.steps for job in jobs)


def _in_transaction(connection: Any, _: Any) -> bool:
    """Whether others of the same commit follow: a single input without rows is committed by its own statement."""
    return bool(connection.in_transaction)


STEPS: Final[dict[str, Callable[[Cross], None]]] = {
    "executed": partial(after, Execution, "execute"),
    "handed to the writer": partial(after, Journal, "append"),
    "taken by the writer": lambda cross: before(Journal, "_commit", cross, _has_inputs),
    "transaction begun": lambda cross: before(store, "add_steps", cross, _in_transaction),
    "rows written": lambda cross: after(store, "add_steps", cross, _in_transaction),
    "committed": lambda cross: after(Journal, "_commit", cross, _has_inputs),
    "told to the loop": lambda cross: before(Engine, "_publish", cross, lambda _, steps, __: steps),
    "message sent": partial(after, Connection, "publish"),
    "published": lambda cross: after(Engine, "_publish", cross, lambda _, steps, __: steps),
    "acknowledgement made": partial(after, IShoeLink, "_acknowledgement"),
    "acknowledged": lambda cross: after(IShoeLink, "_acknowledgement", after_the_next(Port, "write", cross)),
    "answer made": _after_an_order,
    "answered": lambda cross: _after_an_order(after_the_next(StreamWriter, "write", cross)),
    "round taken by the broker": partial(before, Journal, "rounds_were_sent"),
}
"""The steps in their order, each with what has it crossed."""


def kill_at(step: str, crossing: int) -> None:
    """Have this process killed at a crossing of a step."""
    left = [crossing]

    def cross() -> None:
        left[0] -= 1
        if not left[0]:
            time.sleep(LINGER_SECONDS)
            os.kill(os.getpid(), signal.SIGKILL)

    STEPS[step](cross)
    engine.SNAPSHOT_EVERY = SNAPSHOT_EVERY  # type: ignore[misc]


if __name__ == "__main__":
    kill_at(sys.argv[1], int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
