"""The manifest of an installation: every file, folder and link from which Python can run code, with the digests of all files.

It is checked from outside the program, by a shell script with tools of the system (`systemd/punto-verify`): a program that was
changed could say anything of itself.

| File | Content |
|---|---|
| manifest.sum | the SHA-256 of each of the five files below; `manifest.sig` is the signature of this file |
| manifest.version | the version of the program |
| manifest.roots | the paths that are looked through, one a line. A path that is missing must stay missing |
| manifest.entries | what is at and below these paths, and the folders above them: type, mode, owner and group, path, target of a link |
| manifest.sha256, manifest.md5 | the digests of all files |
"""

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import punto
from punto.controller.signing.keys import SigningKey
from punto.runtime.made_files import FOR_ALL, write_file
from punto.version import __version__

SUM: Final = "manifest.sum"
VERSION: Final = "manifest.version"
ROOTS: Final = "manifest.roots"
ENTRIES: Final = "manifest.entries"
SHA256: Final = "manifest.sha256"
MD5: Final = "manifest.md5"
SIGNATURE: Final = "manifest.sig"
PUBLIC: Final = "manifest.pem"

SUMMED: Final = (VERSION, ROOTS, ENTRIES, SHA256, MD5)
"""The files whose digests `manifest.sum` has, in this order."""

_TYPES: Final = {stat.S_IFREG: "f", stat.S_IFDIR: "d", stat.S_IFLNK: "l"}
"""The letters of `find -printf %y`."""
_LINKS_FOLLOWED: Final = 40
"""As Linux: a path with more links cannot be opened."""


class ManifestError(Exception):
    """The manifest cannot be made. The message says why."""


def own_paths() -> list[Path]:
    """The environment of this installation, its interpreter, the program, and the whole path of an isolated Python.

    The path has entries that do not exist, such as python311.zip: Python would look there first.
    """
    command = (sys.executable, "-I", "-c", "import sys; print(*sys.path, sep='\\n')")
    isolated = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout  # noqa: S603 - this interpreter
    return [
        *(Path(sys.prefix), Path(sys.executable), Path(punto.__file__).parent),
        *(Path(os.fsdecode(each)) for each in isolated.splitlines()),
    ]


def roots(paths: Iterable[Path]) -> list[Path]:
    """These paths, each link on the way to them, and where each link below them leads, also if it is missing."""
    found: set[Path] = set()
    todo = list(paths)
    while todo:
        for place in _way(todo.pop()):
            if found.isdisjoint((place, *place.parents)):
                found.add(place)
                below = () if place.is_symlink() else entries(place)
                todo += [each.parent / each.readlink() for each in below if each.is_symlink()]
    return sorted(each for each in found if found.isdisjoint(each.parents))


def _way(path: Path) -> Iterator[Path]:
    """Each link on the way to a path, and the end of the way."""
    here, links = Path("/"), 0
    names = [*reversed(path.absolute().parts[1:])]
    while names and links <= _LINKS_FOLLOWED:
        name = names.pop()
        here = here.parent if name == ".." else here / name
        if here.is_symlink():
            yield here
            links += 1
            target = here.readlink()
            names += reversed(target.parts[target.is_absolute() :])
            here = Path("/") if target.is_absolute() else here.parent
    yield here


def entries(place: Path) -> Iterator[Path]:
    """A path and everything below it; nothing if it is missing. Links are not followed.

    Raises:
        OSError: a folder cannot be read.
    """
    try:
        mode = place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    yield place
    if stat.S_ISDIR(mode):
        for each in place.iterdir():
            yield from entries(each)


def write(folder: Path, key: SigningKey, paths: Iterable[Path] | None = None) -> int:
    """Write the manifest of this installation, or of other paths, into a folder. Returns the number of files.

    Raises:
        ManifestError: an entry has a name that the tools cannot read or is no file, folder or link, or the folder is in the
            installation.
        OSError: a file cannot be read or written.
    """
    folder = folder.resolve()
    covered = roots(own_paths() if paths is None else paths)
    for root in covered:
        if root == folder or root in folder.parents:
            raise ManifestError(f"{folder} is in the installation: choose a folder outside {root}")
    listed = {_entry(above) for root in covered for above in root.parents if above.is_dir()}
    sha256, md5 = [], []
    for path in (each for root in covered for each in entries(root)):
        listed.add(_entry(path))
        if not path.is_symlink() and path.is_file():
            content = path.read_bytes()
            sha256.append(_line(hashlib.sha256(content), path))
            md5.append(_line(hashlib.md5(content, usedforsecurity=False), path))
    contents = {
        VERSION: f"{__version__}\n".encode(),
        ROOTS: b"".join(os.fsencode(f"{each}\n") for each in covered),
        ENTRIES: b"".join(sorted(listed)),
        SHA256: b"".join(sha256),
        MD5: b"".join(md5),
    }
    signed = b"".join(_line(hashlib.sha256(content), name) for name, content in contents.items())
    others = {SUM: signed, SIGNATURE: key.sign(b"", signed), PUBLIC: key.pem.encode("ascii")}
    for name, content in (contents | others).items():
        write_file(folder / name, content, FOR_ALL)
    return len(md5)


def _entry(path: Path) -> bytes:
    r"""An entry as `find -printf '%y %m %U:%G %p\t%l\0'` prints it."""
    known = path.lstat()
    if (letter := _TYPES.get(stat.S_IFMT(known.st_mode))) is None:
        raise ManifestError(f"{path} is not a file, a folder or a link: remove it")
    target = path.readlink() if letter == "l" else ""
    if any(each in f"{path}{target}" for each in "\t\n\r\\"):
        raise ManifestError(
            f"the name {str(path)!r} or its target has a letter that the tools write in another way: rename it"
        )
    mode = stat.S_IMODE(known.st_mode)
    return os.fsencode(f"{letter} {mode:o} {known.st_uid}:{known.st_gid} {path}\t{target}\0")


def _line(digest: "hashlib._Hash", name: Path | str) -> bytes:
    return os.fsencode(f"{digest.hexdigest()}  {name}\n")
