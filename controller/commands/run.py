"""`punto run`: one table's service."""

import argparse
import asyncio
import signal
import sys
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
    try:
        asyncio.run(_until_stopped(config))
    except* (RecordError, RefusedError) as errors:
        for error in errors.exceptions:
            print(f"punto run: {error}", file=sys.stderr)
        return_status = 1
    else:
        return_status = 0
    return return_status


async def _until_stopped(config: ServiceConfig) -> None:
    service = asyncio.current_task()
    if service is None:  # pragma: no cover
        raise AssertionError
    loop = asyncio.get_running_loop()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(wanted, service.cancel)
    with suppress(asyncio.CancelledError):
        await serve(config, driver_for(config))


def driver_for(config: ServiceConfig) -> ShoeDriver | None:
    """The driver of the configured shoe, None where cards are keyed."""
    return None if config.shoe is None else Shoe(config.shoe.port, config.shoe.baud)
