"""The files that the program makes: each has its mode from the start, and no link leads it elsewhere."""

import os
from pathlib import Path
from typing import Final

OWN: Final = 0o600
"""The mode of what only the program's own user reads."""
SHARED: Final = 0o640
"""The mode of what the group of the program's user reads too, such as the record."""


def reserve(path: Path, mode: int = OWN) -> None:
    """Make an empty file, if there is none, which SQLite opens after this: its mode is also that of the files beside it.

    SQLite itself would make a file that every user of the machine can read, unless a unit's umask forbids it. Where SQLite's own error
    says best what is wrong with the path, suppress this one.

    Raises:
        OSError: the file cannot be opened for writing.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, mode))
