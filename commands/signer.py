"""`punto signer`: signs the heads of the tables of this machine."""

import argparse
import asyncio
import sqlite3
import sys
from pathlib import Path
from typing import Final

from punto.commands.signals import until_stopped
from punto.controller import local_socket
from punto.controller.sd_notify import notify
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.controller.signing.signer import Signer

HELP: Final = (
    "Sign the heads of the records of this machine's tables until SIGTERM or Ctrl-C. Run it as a user of its own: only this user can "
    "read the key, and a table's user can have heads signed, but cannot sign. The signer remembers the last head of each record, and "
    "refuses one that contradicts it. At its start it prints the public key, which witnesses need. The exit status is 1 if the key or "
    "the file of what was signed cannot be used, and 2 if the socket cannot be made."
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


def main(args: argparse.Namespace) -> int:
    """Sign until SIGTERM or Ctrl-C; 1 if the key or the memory cannot be used."""
    try:
        with Signer(SigningKey.open(args.key, args.tpm), args.signed) as signer:
            asyncio.run(_until_stopped(signer, args.socket, args.group))
    except (KeyFileError, sqlite3.Error) as error:
        print(f"punto signer: {error}", file=sys.stderr)
        return 1
    return 0


async def _until_stopped(signer: Signer, path: Path, group: str | None) -> None:
    mode = 0o600 if group is None else 0o660
    with local_socket.open_at(path, mode, group, whose="the signer's socket", key="--socket") as door:
        print(f"signer at {path}, public key {signer.public}", flush=True)
        notify("READY=1")
        await until_stopped(local_socket.serve(door, signer))
