"""`punto witness`: keeps the signed heads of many tables."""

import argparse
import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.commands.signals import until_stopped
from punto.configs.problems import ConfigError, Problem
from punto.controller.journal.entries import Head
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.runtime import log
from punto.runtime.failures import errors_of, messages_of
from punto.runtime.sd_notify import notify
from punto.runtime.sqlite_errors import in_words
from punto.witness.config import WitnessConfig, load_witness
from punto.witness.service import Witness
from punto.witness.store import WitnessStore

HELP: Final = (
    "Keep the signed heads of all tables' records until SIGTERM or Ctrl-C, on a machine that is not a table's. The witness signs each "
    "head again with the time at which it came. It reports a record that was changed, cut off or begun anew, a signature that does not "
    "hold, another key, and a table whose heads do not come or stay behind what it publishes. `punto replay --witness` compares a record with what the witness has. The exit "
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
    parser.add_argument(
        "--restored",
        metavar="ID",
        help="do not witness: note that a backup was restored to this table's record. Stop the witness before. Later heads of the record "
        "stay in the file, and are no longer compared with it",
    )
    parser.add_argument(
        "--head",
        type=checked(Head.of),
        metavar="SEQ:HASH",
        help="with --restored: the last input of the backup and its hash, which `punto restore` prints",
    )
    parser.add_argument(
        "--reason", metavar="TEXT", help="with --restored: who restored which backup, and why; for the note"
    )
    log.add_level(parser)


def main(args: argparse.Namespace) -> int:
    """Witness until SIGTERM or Ctrl-C, or note a restore; 1 if the files cannot be used."""
    if len({each is None for each in (args.restored, args.head, args.reason or None)}) > 1:
        raise ConfigError([Problem("give --restored, --head and --reason together", key="--restored")])
    config = load_witness(args.config)
    if args.restored is not None:
        return _note_restore(config, args.restored, args.head, args.reason)
    write_log = log.set_up(human=sys.stderr.isatty(), level=args.log_level)
    status = 0
    try:
        try:
            key = SigningKey.open(config.witness.key)
            with WitnessStore(config.witness.path, key) as store:
                print(f"witness with the public key {key.public}", flush=True)
                asyncio.run(_witness(config, store, args.log_level))
        finally:
            write_log()
    except* KeyFileError as errors:
        for message in messages_of(errors):
            print(f"punto witness: {message}", file=sys.stderr)
        status = 1
    except* sqlite3.Error as errors:
        for error in errors_of(errors):
            _print_unusable(config.witness.path, error)
        status = 1
    return status


def _note_restore(config: WitnessConfig, table: str, head: Head, reason: str) -> int:
    try:
        with WitnessStore(config.witness.path, SigningKey.open(config.witness.key)) as store:
            aside = store.restored(table, head, reason)
    except (KeyFileError, ValueError) as error:
        print(f"punto witness: {error}", file=sys.stderr)
        return 1
    except sqlite3.Error as error:
        _print_unusable(config.witness.path, error)
        return 1
    print(f"noted: {table} was restored up to input {head.seq}, and {aside} later heads are set aside")
    return 0


def _print_unusable(file: Path, error: BaseException) -> None:
    reason = in_words(error, file, "the file of the witness")
    print(f"punto witness: {file} cannot be used: {reason}", file=sys.stderr)


async def _witness(config: WitnessConfig, store: WitnessStore, level: str) -> None:
    notify("READY=1")
    await until_stopped(Witness(config, store).run(), level)
