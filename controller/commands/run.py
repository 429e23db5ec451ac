"""`punto run`: one table's service."""

import argparse
import asyncio
import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from controller import log
from controller.config import ServiceConfig, load_config
from controller.journal.store import RecordError
from controller.supervisor import serve
from controller.table.turn import RefusedError
from drivers.base import ShoeDriver
from drivers.ishoe.transport import Shoe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the configuration's path."""
    parser.add_argument("--config", type=Path, required=True, help="the table's configuration, a TOML file")


def main(args: argparse.Namespace) -> int:
    """Run until SIGTERM or Ctrl-C; status 1 when the record or the configuration is at fault."""
    config = load_config(args.config)
    log.set_up(human=sys.stderr.isatty())
    status = 0
    try:
        asyncio.run(_until_stopped(config))
    except* (RecordError, RefusedError) as errors:
        for message in dict.fromkeys(_messages(errors)):  # one failure reaches several tasks
            print(f"punto run: {message}", file=sys.stderr)
        status = 1
    return status


def _messages(error: BaseException) -> Iterator[str]:
    """What the errors of a group say, and of the groups in it."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _messages(each)
    else:
        yield str(error)


async def _until_stopped(config: ServiceConfig) -> None:
    service = asyncio.create_task(serve(config, driver_for(config), _settle_down))
    for wanted in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(wanted, service.cancel)
    with suppress(asyncio.CancelledError):
        await service


def _settle_down() -> None:
    """Keep the interpreter's own work off the path of a card, now that everything is loaded.

    What was loaded is never garbage, so it need not be looked at again; and the journal's thread, back from the
    disk, should not wait 5 ms for its turn while the loop draws a scoreboard.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    sys.setswitchinterval(0.0005)


def driver_for(config: ServiceConfig) -> ShoeDriver | None:
    """The driver of the configured shoe, None where cards are keyed."""
    return None if config.shoe is None else Shoe(config.shoe.port, config.shoe.baud)
