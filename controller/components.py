"""Digests of the program's own files (approval letter: electronic signatures).

They cover all files that run, are read or are sent to browsers. They do not cover Python, other packages and compiled files:
only root can change these, and root can also change this module. `signing.manifest` covers them, and is checked from outside.
"""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Final

from punto.messages.models import ComponentDigest
from punto.version import __version__

_HOME: Final = Path(__file__).parent.parent
ROOMS: Final = tuple(sorted(path.name for path in _HOME.iterdir() if (path / "__init__.py").exists()))
"""The rooms of the program, each a package in `punto`."""


@cache
def own_components() -> tuple[ComponentDigest, ...]:
    """Each package with its version and the SHA-256 of its files' names, sizes and contents, in the order of the names.

    A process reads the files once: a table that starts again later runs the same program, even if the files were replaced.
    """
    return tuple(
        ComponentDigest(name=name, version=__version__, digest=_digest(_HOME / name)) for name in ROOMS
    )


def own_version() -> str:
    """The version and the first 12 digits of a digest of all packages, such as `0.1.0+9f86d081884c`.

    It identifies on the record the program that wrote it.
    """
    digests = "\n".join(each.digest for each in own_components())
    return f"{__version__}+{hashlib.sha256(digests.encode()).hexdigest()[:12]}"


def own_files() -> dict[str, Path]:
    """The files that the digests cover, by their names in the program, such as `baccarat/coup.py`."""
    return {str(file.relative_to(_HOME)): file for name in ROOMS for file in _files(_HOME / name)}


def md5_of(component: str) -> str:
    """The MD5 of a package's files in the form of the approval letter, over the same bytes as its SHA-256."""
    return _digest(_HOME / component, "md5")


def _files(folder: Path) -> list[Path]:
    return sorted(
        Path(at, name) for at, _, names in os.walk(folder) if "__pycache__" not in at for name in names
    )


def _digest(folder: Path, algorithm: str = "sha256") -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    for file in _files(folder):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()
