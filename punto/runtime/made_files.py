"""The files that the program makes: each has its mode from the start, is whole or not there, and no link leads it elsewhere."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedRandom
from pathlib import Path
from typing import Final

from punto.configs.given_files import check_given, refuse_other_than_file

OWN: Final = 0o600
"""The mode of what only the program's own user reads."""
SHARED: Final = 0o640
"""The mode of what the group of the program's user reads too, such as the record."""
FOR_ALL: Final = 0o644
"""The mode of what every user of the machine may read, such as the manifest of an installation."""
_NEW: Final = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def reserve(path: Path, mode: int = OWN) -> None:
    """Make an empty file, if there is none, which SQLite opens after this: its mode is also that of the files beside it.

    SQLite itself would make a file that every user of the machine can read, unless a unit's umask forbids it. Where SQLite's own error
    says best what is wrong with the path, suppress this one.

    Raises:
        OSError: the file cannot be made, or is a pipe or a device.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, mode))
    except FileExistsError:  # it is not opened: to close it would drop the locks that this process has on it
        check_given(path)


@contextmanager
def new_file(
    path: Path, mode: int, *, replace: bool = True, unfinished: str | None = None
) -> Iterator[BufferedRandom]:
    """A file to write, and to read, that gets its name when it is complete and on the disk; on an error, nothing changes.

    The folder can belong to another user, who can put links there at any time. So everything happens in the folder that was opened
    first, the file is new, and until it is complete it has a name that nobody can foresee, or the name `unfinished`. A file of the
    name `path` is replaced unless `replace` is false; anything else of that name, such as a link or a device, is left as it is.

    Raises:
        FileExistsError: the file exists and is not to be replaced, or a file called `unfinished` exists.
        OSError: the file cannot be written, or something else than a file has its name.
    """
    part = unfinished or f".{secrets.token_hex(8)}.part"
    try:
        with ExitStack() as at_end:
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            at_end.callback(os.close, folder)
            _refuse_name(path, folder, replace=replace)
            opened = os.open(part, _NEW | os.O_RDWR, OWN, dir_fd=folder)
            try:
                with os.fdopen(opened, "w+b") as file:
                    with suppress(PermissionError):  # the disk of a camera or a stick has no modes
                        os.fchmod(opened, mode)
                    yield file
                    file.flush()
                    os.fsync(opened)
                if not replace:
                    os.close(os.open(path.name, _NEW | os.O_WRONLY, mode, dir_fd=folder))
                os.rename(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part, dir_fd=folder)
                raise
            os.fsync(folder)
    except OSError as error:
        error.filename = str(path)
        raise


def _refuse_name(path: Path, folder: int, *, replace: bool) -> None:
    try:
        known = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    refuse_other_than_file(known.st_mode, path)
    if not replace:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def write_file(path: Path, content: bytes, mode: int, *, replace: bool = True) -> None:
    """Write a whole file as `new_file` does, and raise what it raises."""
    with new_file(path, mode, replace=replace) as file:
        file.write(content)


def own_folder(path: Path) -> None:
    """Make a folder, if there is none, that only this user can open.

    Raises:
        OSError: it cannot be made, or is a link or a folder of another user.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(folder, 0o700)
    finally:
        os.close(folder)
