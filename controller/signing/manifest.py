"""The manifest of an installation: every file that runs, with its digests, in the form that `sha256sum` and `md5sum` check.

It is checked from outside the program, by a shell script with tools of the system (`systemd/punto-verify`): a program that was
changed could say anything of itself.
"""

import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import punto
from punto.controller.signing.keys import SigningKey

SHA256: Final = "manifest.sha256"
MD5: Final = "manifest.md5"
FOLDERS: Final = "manifest.folders"
SIGNATURE: Final = "manifest.sig"
PUBLIC: Final = "manifest.pem"


class ManifestError(Exception):
    """The manifest cannot be made. The message says why."""


def folders() -> list[Path]:
    """The folders of this installation: its environment, the interpreter's library, and the program if it is elsewhere."""
    found = [Path(sys.prefix), Path(sysconfig.get_path("stdlib"))]
    program = Path(punto.__file__).parent
    found += [each.resolve() for each in (program, *program.iterdir()) if each.is_dir()]
    found = sorted({each.resolve() for each in found})
    return [each for each in found if not any(other in each.parents for other in found)]


def files_in(of: Sequence[Path]) -> Iterator[Path]:
    """All files in these folders, compiled ones too, and the interpreter."""
    for folder in of:
        yield from (each for each in sorted(folder.rglob("*")) if each.is_file())
    interpreter = Path(sys.executable).resolve()
    if not any(folder in interpreter.parents for folder in of):
        yield interpreter


def write(folder: Path, key: SigningKey, of: Sequence[Path] | None = None) -> int:
    """Write the manifest of this installation, or of other folders, into a folder. Returns the number of files.

    The manifest has the folder's path, so it must be checked where it was written.

    Raises:
        ManifestError: a file has a name that the tools cannot read, or the folder is in the installation.
        OSError: a file cannot be read or written.
    """
    folder = folder.resolve()
    covered = folders() if of is None else list(of)
    if any(each == folder or each in folder.parents for each in covered):
        raise ManifestError(
            f"{folder} is in the installation: choose a folder outside {', '.join(map(str, covered))}"
        )
    sha256, md5 = [], []
    for file in files_in(covered):
        if any(letter in str(file) for letter in "\n\r\\"):
            raise ManifestError(
                f"the name {str(file)!r} has a letter that sha256sum writes in another way: rename the file"
            )
        content = file.read_bytes()
        sha256.append(_line(hashlib.sha256(content), file))
        md5.append(_line(hashlib.md5(content, usedforsecurity=False), file))
    for name, lines in ((MD5, md5), (FOLDERS, [f"{each}\n" for each in covered])):
        (folder / name).write_text("".join(lines), encoding="utf-8")
        sha256.append(_line(hashlib.sha256((folder / name).read_bytes()), folder / name))
    signed = "".join(sha256).encode()
    (folder / SHA256).write_bytes(signed)
    (folder / SIGNATURE).write_bytes(key.sign(b"", signed))
    (folder / PUBLIC).write_text(key.pem, encoding="ascii")
    return len(md5)


def _line(digest: "hashlib._Hash", file: Path) -> str:
    return f"{digest.hexdigest()}  {file}\n"
