"""Runs simulated tables until they are stopped, for `punto demo` and `punto simulate-floor`."""

import asyncio
import logging
import resource
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import structlog

from punto.baccarat.table.turn import RefusedError
from punto.commands.demo.broker import DemoBroker
from punto.commands.demo.table import Begin, VirtualTable
from punto.configs.problems import ConfigError, Problem, cut
from punto.controller.journal.schema import RecordError
from punto.runtime import log
from punto.runtime.failures import messages_of

_THREADS: Final = 8  # for each table, whose people are four at most


class EnoughError(Exception):
    """The requested number of rounds was played."""


def run(
    command: str,
    kept: Path | None,
    work: Callable[[Path, Path], Coroutine[Any, Any, None]],
    *processors: structlog.typing.Processor,
) -> int:
    """Run `work` until it ends or is interrupted; status 1 if a record cannot be used.

    `work` gets the folder of all files, which is `kept` or else temporary, and the path of the temporary accounts.
    `processors` handle each event of the log first.

    Raises:
        ConfigError: the folder cannot be made, or a part of the work cannot be configured.
    """
    log.set_up(human=True, level="error")
    structlog.configure(processors=[*processors, *structlog.get_config()["processors"]])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each table has some 25 open files
    logging.getLogger("amqtt").setLevel(logging.ERROR)
    logging.getLogger("transitions").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="punto-demo-", ignore_cleanup_errors=True) as passing:
        folder = kept or Path(passing)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError([Problem(f"--dir: {cut(str(folder), 200)}: {error.strerror}")]) from None
        status = 0
        refused: BaseException | None = None
        try:
            with suppress(KeyboardInterrupt):
                asyncio.run(_until_stopped(work(folder.absolute(), Path(passing) / "operators.db")))
        except* (RecordError, RefusedError) as errors:
            for message in messages_of(errors):
                print(f"{command}: {message}", file=sys.stderr)
            status = 1
        except* ConfigError as errors:
            refused = errors
    while isinstance(refused, BaseExceptionGroup):
        refused = refused.exceptions[0]
    if refused is not None:
        raise refused
    return status


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(work)

    def stop() -> None:
        _stop_logging()
        task.cancel()

    for wanted in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(wanted, stop)
    with suppress(asyncio.CancelledError):
        try:
            await task
        except* EnoughError:
            pass


def _stop_logging() -> None:
    """Stop logging at the end, because amqtt would log its lost connections."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    logging.disable()


async def _part(work: Awaitable[None]) -> None:
    """Run a part. When one part ends, all parts and their connections end."""
    try:
        await work
    finally:
        _stop_logging()


async def deal(
    tables: Sequence[VirtualTable], broker: DemoBroker | None, begin_shared: Callable[[Begin], None]
) -> None:
    """Open the tables, begin what they share, and play until one part ends; `broker` is started and shut down with them."""
    # A person's request holds a thread while the service needs another one, for example for the password.
    threads = ThreadPoolExecutor(_THREADS * len(tables))
    asyncio.get_running_loop().set_default_executor(threads)
    if broker is not None:
        await broker.start()
    try:
        async with asyncio.TaskGroup() as tasks:

            def begin(work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_part(work))

            for table in tables:
                await table.open(begin)
            begin_shared(begin)
            for table in tables:
                table.play(begin)
    finally:
        if broker is not None:
            with suppress(Exception):  # errors of the broker do not matter at the end
                await broker.shutdown()
