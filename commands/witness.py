"""`punto witness`: keeps the signed heads of many tables."""

import argparse
import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import Final

from punto.commands.signals import until_stopped
from punto.controller import log
from punto.controller.failures import messages_of
from punto.controller.sd_notify import notify
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.witness.config import WitnessConfig, load_witness
from punto.witness.service import Witness
from punto.witness.store import WitnessStore

HELP: Final = (
    "Keep the signed heads of all tables' records until SIGTERM or Ctrl-C, on a machine that is not a table's. The witness signs each "
    "head again with the time at which it came. It reports a record that was changed, cut off or begun anew, a signature that does not "
    "hold, another key, and a table whose heads do not come. `punto replay --witness` compares a record with what the witness has. The exit "
    "status is 1 if its files cannot be used, and 2 if the configuration is invalid."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FILE",
        help="the witness's configuration, such as configs/witness.toml",
    )
    log.add_level(parser)


def main(args: argparse.Namespace) -> int:
    """Witness until SIGTERM or Ctrl-C; 1 if the files cannot be used."""
    config = load_witness(args.config)
    write_log = log.set_up(human=sys.stderr.isatty(), level=args.log_level)
    status = 0
    try:
        try:
            key = SigningKey.open(config.witness.key)
            with WitnessStore(config.witness.path, key) as store:
                print(f"witness with the public key {key.public}", flush=True)
                asyncio.run(_witness(config, store))
        finally:
            write_log()
    except* (KeyFileError, sqlite3.Error) as errors:
        for message in messages_of(errors):
            print(f"punto witness: {message}", file=sys.stderr)
        status = 1
    return status


async def _witness(config: WitnessConfig, store: WitnessStore) -> None:
    notify("READY=1")
    await until_stopped(Witness(config, store).run())
