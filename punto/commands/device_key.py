"""`punto device-key`: a key for a device on a serial line, or for the link of a table to the authority of its meter or to the Game Manager."""

import argparse
import secrets
import sys
from pathlib import Path
from typing import Final

from punto.commands.key_words import digits_of
from punto.drivers.seal import KEY_BYTES
from punto.runtime.made_files import OWN, write_file

HELP: Final = (
    "Make a device's key: 64 hexadecimal digits in a new file that only you can read. Copy the key to the device with the "
    "maker's tool. In the table's configuration, set the device's key_file to the path of this file. Make a separate key for "
    "each device. The link of a table to the authority of its meter has such a key too, and so has its link to the Game Manager: the "
    "file ID.key in the key_folder of both."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the file for the key; it must not exist yet")
    parser.add_argument(
        "--words",
        action="store_true",
        help="make the file from the 24 words of a key, which the command reads from its input, instead of a new key",
    )


def main(args: argparse.Namespace) -> int:
    """Write the file; 1 if it exists or cannot be written, or if the words are not those of a key."""
    try:
        if args.words:
            write_file(args.file, f"{digits_of(sys.stdin.read())}\n".encode(), OWN, replace=False)
        else:
            make_key(args.file)
    except ValueError as error:
        sys.stderr.write(f"punto device-key: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"punto device-key: {args.file} cannot be made: {error.strerror}\n")
        return 1
    return 0


def make_key(path: Path) -> None:
    """Write a new key into a new file that only its owner can read; raises OSError if it exists or cannot be written."""
    write_file(path, new_key(), OWN, replace=False)


def new_key() -> bytes:
    """The content of a key's file, with a new key."""
    return f"{secrets.token_hex(KEY_BYTES)}\n".encode()
