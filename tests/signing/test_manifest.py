"""The manifest of an installation, checked by the shell script that ships, as systemd runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from punto.controller.signing.keys import SigningKey
from punto.controller.signing.manifest import ManifestError, files_in, folders, write
from tests.service.table_on_a_machine import HERE


@pytest.fixture
def installed(tmp_path):
    """A small installation with its manifest."""
    own = tmp_path / "installed"
    (own / "lib" / "__pycache__").mkdir(parents=True)
    for name in ("lib/a.py", "lib/__pycache__/a.pyc", "lib/page.js", "lib/a name.txt"):
        (own / name).write_text(name)
    (own / "python").symlink_to(own / "lib" / "a.py")
    (tmp_path / "manifest").mkdir()
    write(tmp_path / "manifest", SigningKey.open(tmp_path / "key"), [own])
    return own


def checked(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = ["sh", str(HERE / "systemd" / "punto-verify"), str(folder), str(folder / "manifest.pem")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_installation_is_the_one_of_its_manifest(tmp_path, installed):
    ran = checked(tmp_path / "manifest")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (
        ran.stdout == "8 files are those of the manifest\n"
    )  # the link, the interpreter, and two of the manifest itself too


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda own: (own / "lib" / "page.js").write_text("steal"), "lib/page.js: FAILED"),
        (lambda own: (own / "lib" / "__pycache__" / "a.pyc").write_bytes(b"x"), "__pycache__/a.pyc: FAILED"),
        (lambda own: (own / "lib" / "a name.txt").unlink(), "a name.txt: FAILED open or read"),
        (lambda own: (own / "lib" / "b.py").write_text(""), "not in the manifest:"),
        (lambda own: (own / "lib" / "b.py").symlink_to("/etc/hostname"), "not in the manifest:"),
        (lambda own: (own.parent / "manifest" / "manifest.md5").write_text(""), "manifest.md5: FAILED"),
        (
            lambda own: (own.parent / "manifest" / "manifest.folders").write_text(""),
            "manifest.folders: FAILED",
        ),
    ],
)
def test_a_file_that_was_changed_added_or_removed_is_found(tmp_path, installed, change, found):
    change(installed)
    ran = checked(tmp_path / "manifest")

    assert ran.returncode == 1
    assert found in ran.stdout + ran.stderr


def test_each_bit_of_the_signed_manifest_counts(tmp_path, installed):
    manifest = tmp_path / "manifest"
    for file in (manifest / "manifest.sha256", manifest / "manifest.sig"):
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 8)):
            changed = bytearray(whole)
            changed[at] ^= 1
            file.write_bytes(changed)
            assert "did not sign" in checked(manifest).stderr
        file.write_bytes(whole)
    write(manifest, SigningKey.open(tmp_path / "another"), [installed])
    key = tmp_path / "right.pem"
    key.write_text(SigningKey.open(tmp_path / "key").pem)
    command = ["sh", HERE / "systemd" / "punto-verify", manifest, key]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_it_covers_the_program_its_dependencies_and_the_interpreter():
    covered = {str(each) for each in files_in(folders())}

    import pydantic_core

    for file in (
        HERE / "controller" / "engine.py",
        HERE / "configs" / "mosquitto.conf",
        Path(pydantic_core.__file__).parent / "_pydantic_core.cpython-311-x86_64-linux-gnu.so",
        Path(os.__file__),
        Path(sys.executable).resolve(),
    ):
        assert not file.exists() or str(file.resolve()) in covered or str(file) in covered


def test_a_manifest_in_the_installation_or_a_name_that_the_tools_misread_is_refused(tmp_path, installed):
    key = SigningKey.open(tmp_path / "key")
    with pytest.raises(ManifestError, match="choose a folder outside"):
        write(installed / "lib", key, [installed])
    (installed / "a\nb").touch()
    with pytest.raises(ManifestError, match="rename the file"):
        write(tmp_path / "manifest", key, [installed])
