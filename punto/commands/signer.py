"""`punto signer`: signs the heads of the tables of this machine."""

import argparse
import asyncio
import pwd
import sqlite3
import sys
from pathlib import Path
from typing import Final

from punto.commands.arguments import checked
from punto.commands.signals import until_stopped
from punto.configs.problems import ConfigError, Problem, cut
from punto.controller import local_socket
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.controller.signing.signer import LIMITS, Signer
from punto.runtime.sd_notify import notify
from punto.runtime.sqlite_errors import in_words

HELP: Final = (
    "Sign the heads of the records of this machine's tables until SIGTERM or Ctrl-C. Run it as a user of its own: only this user can "
    "read the key, and a table's user can have heads signed, but cannot sign. The signer remembers the last head of each record, and "
    "signs only what follows from it: it computes the hashes itself from the inputs since then, and keeps no input. At its start it prints "
    "the public key, which witnesses need. The exit status is 1 if the key or the file of what was signed cannot be used, and 2 if the "
    "socket cannot be made or a user does not exist."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--key",
        type=Path,
        required=True,
        metavar="FILE",
        help="the private key (Ed25519); it is made if there is none",
    )
    parser.add_argument(
        "--tpm",
        metavar="TPM",
        help="the TPM 2.0 that seals the private key, such as device:/dev/tpmrm0: the file of the key is of use with this TPM alone "
        "(default: no TPM, and the file has the key). This needs the package tpm2-pytss",
    )
    parser.add_argument(
        "--signed",
        type=Path,
        required=True,
        metavar="FILE",
        help="the file of the heads that were signed last",
    )
    parser.add_argument(
        "--socket", type=Path, required=True, metavar="PATH", help="the Unix socket for the tables' services"
    )
    parser.add_argument(
        "--group",
        metavar="NAME",
        help="the group whose users may have heads signed (default: only the signer's own user)",
    )
    parser.add_argument(
        "--table",
        type=checked(_table),
        action="append",
        default=[],
        metavar="ID=USER",
        help="the user of the system that signs for this table, by its name or number (default: the user punto-ID, as which the unit "
        "punto@ID runs). You can give this option more than once",
    )
    parser.add_argument(
        "--forget",
        metavar="ID",
        help="do not sign: forget the heads of this table's records, after a backup was restored. Stop the signer before. The file of "
        "what was signed keeps a note with the heads, the time and the reason",
    )
    parser.add_argument(
        "--reason", metavar="TEXT", help="with --forget: who restored which backup, and why; for the note"
    )


def _table(text: str) -> tuple[str, int]:
    table, _, user = text.partition("=")
    if not table or not user:
        raise ValueError(f"{cut(text)!r} is not a table and its user: write ID=USER, such as table-1=mei")
    try:
        return table, int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except KeyError:
        raise ValueError(
            f"there is no user {cut(user)!r} on this machine: make this user, or name another"
        ) from None


def main(args: argparse.Namespace) -> int:
    """Sign until SIGTERM or Ctrl-C, or forget; 1 if the key or the memory cannot be used."""
    if (args.forget is None) != (not args.reason):
        raise ConfigError([Problem("give --forget and --reason together", key="--forget")])
    try:
        with Signer(SigningKey.open(args.key, args.tpm), args.signed, dict(args.table)) as signer:
            if args.forget is None:
                asyncio.run(_until_stopped(signer, args.socket, args.group))
            else:
                return _forget(signer, args.forget, args.reason)
    except KeyFileError as error:
        print(f"punto signer: {error}", file=sys.stderr)
        return 1
    except sqlite3.Error as error:
        reason = in_words(error, args.signed, "the file of what was signed")
        print(f"punto signer: {args.signed} cannot be used: {reason}", file=sys.stderr)
        return 1
    return 0


def _forget(signer: Signer, table: str, reason: str) -> int:
    gone = signer.forget(table, reason)
    for head in gone:
        print(f"forgotten: {head}")
    if not gone:
        print(f"punto signer: it has signed no head of {table}", file=sys.stderr)
    return 0 if gone else 1


async def _until_stopped(signer: Signer, path: Path, group: str | None) -> None:
    mode = 0o600 if group is None else 0o660
    with local_socket.open_at(path, mode, group, whose="the signer's socket", key="--socket") as door:
        print(f"signer at {path}, public key {signer.public}", flush=True)
        notify("READY=1")
        await until_stopped(local_socket.serve(door, signer, LIMITS))
