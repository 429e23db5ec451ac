"""The manifest of an installation, checked by the shell script that ships, as systemd runs it."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import punto
from punto.controller.signing import manifest
from punto.controller.signing.keys import SigningKey
from punto.controller.signing.manifest import ManifestError, own_paths, roots, write
from punto.version import __version__
from tests.controller.table_on_a_machine import HERE

NOBODY = 65534
PATH = "import sys; print(*sys.path, sep='\\n')"


@pytest.fixture
def machine() -> Iterator[Path]:
    """A folder that other users can look into."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    (folder / "disk").mkdir()
    yield folder / "disk"
    shutil.rmtree(folder)


@pytest.fixture
def installed(machine):
    """A small installation with its manifest: the interpreter is elsewhere, behind two links."""
    own = machine / "installed"
    (own / "lib" / "__pycache__").mkdir(parents=True)
    (own / "empty").mkdir()
    for name in ("lib/a.py", "lib/__pycache__/a.pyc", "lib/page.js", "lib/a name.txt"):
        (own / name).write_text(name)
    (machine / "usr").mkdir()
    (machine / "usr" / "python3.11").write_text("an interpreter")
    (machine / "usr" / "python3").symlink_to("python3.11")
    (own / "python").symlink_to(machine / "usr" / "python3")
    (own / "nowhere.pth").symlink_to("../later/nowhere.pth")
    (machine / "manifest").mkdir()
    write(machine / "manifest", SigningKey.open(machine / "key"), paths(own))
    return own


def paths(own: Path) -> list[Path]:
    """What Python would look through: a ZIP file that is not there comes first."""
    return [own.parent / "python311.zip", own]


def checked(
    folder: Path, least: str = __version__, user: int | None = None
) -> "subprocess.CompletedProcess[str]":
    command: list[str | Path] = [
        "sh",
        HERE / "systemd" / "punto-verify",
        folder,
        folder / "manifest.pem",
        least,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, user=user)


def test_an_installation_is_the_one_of_its_manifest(machine, installed):
    ran = checked(machine / "manifest")
    digest = hashlib.sha256((machine / "manifest" / "manifest.sum").read_bytes()).hexdigest()

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (
        ran.stdout
        == f"5 files of version {__version__} are those of the manifest with the SHA-256 {digest}\n"
    )
    assert checked(machine / "manifest", digest).returncode == 0


def to_a_copy(file: Path) -> None:
    """Replace a file by a link to an equal one."""
    file.rename(file.parents[1].with_name("equal"))
    file.symlink_to(file.parents[1].with_name("equal"))


def to_a_pipe(file: Path) -> None:
    """Replace a file by a pipe, which has no end."""
    file.unlink()
    os.mkfifo(file)


CHANGES = {
    "content": (lambda own: (own / "lib" / "page.js").write_text("steal"), "lib/page.js: FAILED"),
    "compiled": (lambda own: (own / "lib" / "__pycache__" / "a.pyc").write_bytes(b"x"), "__pycache__/a.pyc: FAILED"),
    "interpreter": (lambda own: (own.parent / "usr" / "python3.11").write_text("x"), "python3.11: FAILED"),
    "removed": (lambda own: (own / "lib" / "a name.txt").unlink(), "lib/a name.txt"),
    "added": (lambda own: (own / "lib" / "b.py").write_text(""), "lib/b.py"),
    "an added link to a file": (lambda own: (own / "lib" / "b.py").symlink_to("/etc/hostname"), "lib/b.py"),
    "an added link to a folder": (lambda own: (own / "lib" / "a").symlink_to("/etc"), "lib/a"),
    "an added link to nowhere": (lambda own: (own / "lib" / "z.pth").symlink_to("/nowhere"), "lib/z.pth"),
    "an added folder": (lambda own: (own / "lib" / "a").mkdir(), "lib/a"),
    "an added pipe": (lambda own: os.mkfifo(own / "lib" / "pipe"), "lib/pipe"),
    "a pipe in the place of a file": (lambda own: to_a_pipe(own / "lib" / "a.py"), "lib/a.py"),
    "a file in the place of a ZIP": (lambda own: (own.parent / "python311.zip").touch(), "python311.zip"),
    "a link in the place of a ZIP": (lambda own: (own.parent / "python311.zip").symlink_to("/nowhere"), "python311.zip"),
    "a link to an equal file": (lambda own: to_a_copy(own / "lib" / "a.py"), "lib/a.py"),
    "another target": (lambda own: ((own / "python").unlink(), (own / "python").symlink_to("/bin/sh")), "/bin/sh"),
    "another target on the way": (lambda own: ((own.parent / "usr" / "python3").unlink(), (own.parent / "usr" / "python3").symlink_to("/bin/sh")), "/bin/sh"),
    "the target of a link to nowhere": (lambda own: ((own.parent / "later").mkdir(), (own.parent / "later" / "nowhere.pth").touch()), "later/nowhere.pth"),
    "a link in the place of a folder above": (
        lambda own: (
            own.parent.rename(own.parent.with_suffix(".moved")),
            own.parent.symlink_to(own.parent.with_suffix(".moved")),
        ),
        "l 777 ",
    ),
    "mode": (lambda own: (own / "lib").chmod(0o777), f"d 777 {os.getuid()}:{os.getgid()} "),
    "a name with the lines of others": (lambda own: ((own / "empty").rename(own / "empty\nx"), (own / "empty\nx" / "b.py").touch()), "empty"),
    "md5": (lambda own: (own.parent / "manifest" / "manifest.md5").write_text(""), "manifest.md5: FAILED"),
    "roots": (lambda own: (own.parent / "manifest" / "manifest.roots").write_text(""), "manifest.roots: FAILED"),
    "version": (lambda own: (own.parent / "manifest" / "manifest.version").write_text("9.9"), "manifest.version: FAILED"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "found"), CHANGES.values(), ids=CHANGES)
def test_what_was_changed_added_or_removed_is_found(machine, installed, change, found):
    change(installed)
    ran = checked(machine / "manifest")

    assert ran.returncode == 1
    assert found in ran.stderr
    assert ran.stdout == ""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize("closed", ["installed/aa", "closed"])
def test_a_folder_that_cannot_be_looked_into_is_not_taken_for_an_empty_one(machine, installed, closed):
    """A user without rights checks, and something can be behind a folder that is closed to this user."""
    assert checked(machine / "manifest", user=NOBODY).returncode == 0
    (machine / closed).mkdir(mode=0o700)
    covered = [*paths(installed), machine / "closed" / "python311.zip"]
    write(machine / "manifest", SigningKey.open(machine / "key"), covered)
    ran = checked(machine / "manifest", user=NOBODY)

    assert checked(machine / "manifest").returncode == 0
    assert ran.returncode == 1
    assert "run this as root" in ran.stderr


def test_an_older_release_with_its_own_manifest_is_refused(machine, installed, monkeypatch):
    key = SigningKey.open(machine / "key")
    digest = hashlib.sha256((machine / "manifest" / "manifest.sum").read_bytes()).hexdigest()
    monkeypatch.setattr(manifest, "__version__", "1.9.0")
    write(machine / "manifest", key, paths(installed))

    assert [checked(machine / "manifest", least).returncode for least in ("1.8.10", "1.9.0", "1.9")] == [
        0
    ] * 3
    assert "is of version 1.9.0, before version 1.10.0" in checked(machine / "manifest", "1.10.0").stderr
    for another in (digest, "0" * 64, "1"):
        ran = checked(machine / "manifest", another)
        assert ran.returncode == 1
        assert f"not {another}" in ran.stderr


def test_each_bit_of_the_signed_manifest_counts(machine, installed):
    folder = machine / "manifest"
    for file in (folder / "manifest.sum", folder / "manifest.sig"):
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 8)):
            changed = bytearray(whole)
            changed[at] ^= 1
            file.write_bytes(changed)
            assert "did not sign" in checked(folder).stderr
        file.write_bytes(whole)
    right = (folder / "manifest.pem").read_text()
    write(folder, SigningKey.open(machine / "another"), [installed])
    (folder / "manifest.pem").write_text(right)
    assert "did not sign" in checked(folder).stderr


def test_another_list_that_the_same_owner_signed_is_not_accepted_as_a_manifest(machine, installed):
    folder = machine / "manifest"
    lines = (folder / "manifest.sum").read_bytes().splitlines(keepends=True)
    for signed in (lines[:-1], [*lines, lines[0]], [b"0" * 64 + b"  punto.whl\n"]):
        (folder / "manifest.sum").write_bytes(b"".join(signed))
        (folder / "manifest.sig").write_bytes(SigningKey.open(machine / "key").sign(b"", b"".join(signed)))
        ran = checked(folder)
        assert (ran.returncode, "is not the list of a manifest" in ran.stderr) == (1, True)


@pytest.mark.parametrize("of", ["manifest.sha256", "manifest.md5"])
def test_both_digests_of_a_file_count(machine, installed, of):
    """A signed manifest with another digest of one file is as an installation whose file has the other digest alone."""
    folder = machine / "manifest"
    content = (folder / of).read_bytes()
    changed = (b"1" if content[:1] == b"0" else b"0") + content[1:]
    (folder / of).write_bytes(changed)
    before, after = (hashlib.sha256(each).hexdigest().encode() for each in (content, changed))
    signed = (folder / "manifest.sum").read_bytes().replace(before, after)
    (folder / "manifest.sum").write_bytes(signed)
    (folder / "manifest.sig").write_bytes(SigningKey.open(machine / "key").sign(b"", signed))
    ran = checked(folder)

    assert (ran.returncode, ": FAILED" in ran.stderr) == (1, True)


def test_it_covers_the_program_its_dependencies_and_all_that_an_isolated_python_looks_through():
    import pydantic_core

    covered = own_paths()
    for file in (
        Path(punto.__file__),
        Path(pydantic_core.__file__),
        Path(os.__file__),
        Path(sys.executable),
        Path(sys.prefix) / "pyvenv.cfg",
        *map(Path, subprocess.check_output([sys.executable, "-I", "-c", PATH], text=True).split("\n")[:-1]),
    ):
        assert not {file, *file.parents}.isdisjoint(covered)
    assert any(each.suffix == ".zip" and not each.exists() for each in covered)


def test_each_link_on_the_way_and_each_target_is_a_root(tmp_path):
    tmp_path = tmp_path.resolve()
    for name in ("release", "lib", "more"):
        (tmp_path / name).mkdir()
    (tmp_path / "current").symlink_to("release")
    (tmp_path / "release" / "lib").symlink_to(tmp_path / "more" / ".." / "lib")
    (tmp_path / "release" / "own").symlink_to("lib")
    (tmp_path / "lib" / "turn").symlink_to("turn")

    found = roots([tmp_path / "current" / "lib"])
    assert found == [tmp_path / "current", tmp_path / "lib", tmp_path / "release" / "lib"]
    assert roots([tmp_path / "current"]) == [tmp_path / "current", tmp_path / "lib", tmp_path / "release"]


def test_a_manifest_in_the_installation_or_an_entry_that_the_tools_misread_is_refused(machine, installed):
    key = SigningKey.open(machine / "key")
    with pytest.raises(ManifestError, match="choose a folder outside"):
        write(installed / "lib", key, [installed])
    (installed / "a\nb").touch()
    with pytest.raises(ManifestError, match="rename it"):
        write(machine / "manifest", key, [installed])
    (installed / "a\nb").unlink()
    (installed / "link").symlink_to("a\tb")
    with pytest.raises(ManifestError, match="rename it"):
        write(machine / "manifest", key, [installed])
    (installed / "link").unlink()
    os.mkfifo(installed / "pipe")
    with pytest.raises(ManifestError, match="is not a file, a folder or a link: remove it"):
        write(machine / "manifest", key, [installed])
