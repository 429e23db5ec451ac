"""The files that people give the program: each is a file and not a pipe or a device, and is bounded before it is read.

What other libraries open themselves, such as SQLite and OpenSSL, is checked before with `check_given`.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

_KINDS: Final = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def refuse_other_than_file(mode: int, path: Path) -> None:
    """Raise OSError if the mode, as stat(2) gives it, is not that of a regular file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}: name a file", str(path))


def check_given(path: Path) -> None:
    """Raise OSError if there is no file of this name, or something else than a file, which could hold up the program."""
    refuse_other_than_file(path.stat().st_mode, path)


def read_given(path: Path, most: int) -> bytes:
    """The content of a file of at most so many bytes. A pipe that nobody writes to, or an endless device, does not hold up the program.

    Raises:
        OSError: it cannot be read, is not a file, or is larger.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        refuse_other_than_file(os.fstat(file.fileno()).st_mode, path)
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return content
