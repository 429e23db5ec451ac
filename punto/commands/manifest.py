"""`punto manifest`: the digests of every file of this installation, signed."""

import argparse
import sys
from pathlib import Path
from typing import Final

from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.controller.signing.manifest import ManifestError, write

HELP: Final = (
    "Write the type, owner, mode and digests (SHA-256 and MD5) of every file, folder and link of this installation into a folder, and sign "
    "them: the program, its dependencies, the interpreter and its library, compiled files too. The script systemd/punto-verify checks them "
    "with tools of the system. Make the manifest as root after the installation, with a key that is not kept on the machine. The exit status "
    "is 1 if a file cannot be read or written."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder for the manifest, outside the installation",
    )
    parser.add_argument(
        "--key",
        type=Path,
        required=True,
        metavar="FILE",
        help="the private key (Ed25519); it is made if there is none",
    )


def main(args: argparse.Namespace) -> int:
    """Write the manifest; 1 if that is not possible."""
    try:
        key = SigningKey.open(args.key)
        files = write(args.out, key)
    except (KeyFileError, ManifestError) as error:
        print(f"punto manifest: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"punto manifest: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{files} files, signed with the public key {key.public}")
    return 0
