"""What a user of this machine may do with a file: by the owner, group and mode of the file and of each folder above it."""

import grp
import os
import pwd
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final, Self

_TEST: Final = {os.R_OK: "-r", os.W_OK: "-w", os.X_OK: "-x"}


@dataclass(frozen=True, slots=True)
class User:
    """A user of this machine; `group` and `primary` are the name and number of the primary group, `groups` the numbers of all."""

    name: str
    number: int
    group: str
    primary: int
    groups: frozenset[int]

    @classmethod
    def named(cls, name: str) -> Self:
        """The user of this name.

        Raises:
            LookupError: there is no such user.
        """
        known = pwd.getpwnam(name)
        groups = frozenset(os.getgrouplist(name, known.pw_gid))
        return cls(name, known.pw_uid, _group(known.pw_gid), known.pw_gid, groups)

    @classmethod
    def here(cls) -> Self:
        """The user who runs this program."""
        number, group = os.geteuid(), os.getegid()
        try:
            name = pwd.getpwuid(number).pw_name
        except KeyError:
            name = f"#{number}"
        return cls(name, number, _group(group), group, frozenset({group, *os.getgroups()}))


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a user from a file: the file itself or a folder above it, and the command that gives the access."""

    path: Path
    remedy: str


def obstacle(path: Path, user: User, access: int) -> Obstacle | None:
    """What keeps a user from this access (`os.R_OK`, `os.W_OK`, `os.X_OK` or several of them); None if nothing does.

    What does not exist, and what is below a folder that this program cannot look into, is no obstacle.
    """
    found = _by_modes(path.absolute(), user, access)
    if found is not None and os.geteuid() == 0 and _as_the_kernel_says(path, user, access):
        return None  # an access list gives more than the mode
    return found


def _by_modes(path: Path, user: User, access: int) -> Obstacle | None:
    for folder in reversed(path.parents):
        try:
            known = folder.stat()
        except OSError:
            return None
        if not _allows(known, user, os.X_OK):
            return Obstacle(folder, _open_folder(folder, known, user))
    try:
        known = path.stat()
    except OSError:
        return None
    return None if _allows(known, user, access) else Obstacle(path, open_file(path, user, access))


def _allows(known: os.stat_result, user: User, access: int) -> bool:
    if user.number == 0:
        return True
    shift = 6 if known.st_uid == user.number else 3 if known.st_gid in user.groups else 0
    return known.st_mode >> shift & access == access


def open_file(path: Path, user: User, access: int = os.R_OK) -> str:
    """The command that gives a user the access to a file: to read it as one of its group, or else as its owner."""
    place = quote(str(path))
    if access == os.R_OK:
        return f"chgrp {quote(user.group)} {place} && chmod 0640 {place}"
    mode = "0700" if path.is_dir() else "0600"
    return f"chown {quote(user.name)}:{quote(user.group)} {place} && chmod {mode} {place}"


def _open_folder(folder: Path, known: os.stat_result, user: User) -> str:
    """The command that lets a user pass a folder, without closing it to those who may pass it now."""
    if known.st_gid != 0 and known.st_mode & stat.S_IXGRP and known.st_gid not in user.groups:
        return f"usermod -aG {quote(_group(known.st_gid))} {quote(user.name)}"
    return f"chmod o+x {quote(str(folder))}"


def _as_the_kernel_says(path: Path, user: User, access: int) -> bool:
    tests = [option for bit, option in _TEST.items() if access & bit]
    return all(
        subprocess.run(  # noqa: S603 - no shell
            ["/usr/bin/test", option, str(path)],
            user=user.number,
            group=user.primary,
            extra_groups=sorted(user.groups),
            check=False,
            timeout=10,
        ).returncode
        == 0
        for option in tests
    )


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
