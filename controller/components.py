"""The program's own signature: a digest over every file it runs (approval letter: electronic signatures)."""

import hashlib
from pathlib import Path

from controller import __version__
from controller.messages.models import ComponentDigest

_PACKAGES = ("controller", "drivers", "game_manager")
_HOME = Path(__file__).parent.parent


def own_components() -> tuple[ComponentDigest, ...]:
    """Each package of the program with its version and the SHA-256 over its files' names and contents, in order."""
    return tuple(
        ComponentDigest(name=name, version=__version__, digest=_digest(_HOME / name)) for name in _PACKAGES
    )


def own_version() -> str:
    """The version and the beginning of the controller's digest, `0.1.0+9f86d081884c`: so a record tells which program wrote it."""
    return f"{__version__}+{_digest(_HOME / 'controller')[:12]}"


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder)}\n{file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
