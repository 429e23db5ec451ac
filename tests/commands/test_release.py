"""What `make release` refuses, and how it names a difference."""

import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from punto.controller.signing.keys import SigningKey
from punto.version import __version__
from tools import release

SECTION = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- All.\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A committed repository of version 1.2.3 with its section and no tag."""
    root = tmp_path / "checkout"
    (root / "punto").mkdir(parents=True)
    (root / "punto" / "version.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    (root / "CHANGELOG.md").write_text(SECTION, encoding="utf-8")
    release.run("git", "init", "--quiet", cwd=root)
    commit(root)
    return root


def commit(root: Path) -> None:
    release.run("git", "add", "--all", cwd=root)
    who = ("-c", "user.name=Mei", "-c", "user.email=mei@example.invalid")
    release.run("git", *who, "commit", "--quiet", "--allow-empty", "--message", "Change it", cwd=root)


@pytest.mark.parametrize("tag", [None, "v1.2.3", "1.2.3", "v1.2.2"])
def test_a_clean_checkout_with_its_section_is_released_before_and_at_its_tag(checkout, tag):
    if tag == "v1.2.2":  # of the version before
        release.run("git", "tag", tag, cwd=checkout)
        commit(checkout)
    elif tag:
        release.run("git", "tag", tag, cwd=checkout)

    assert release.releasable(checkout) == "1.2.3"


def test_a_day_that_has_not_come_is_refused(checkout):
    """A table would refuse the clock until then."""
    (checkout / "CHANGELOG.md").write_text(SECTION.replace("2026-01-31", "9999-01-31"), encoding="utf-8")
    commit(checkout)

    with pytest.raises(release.ReleaseError, match=r"dates 1\.2\.3 to 9999-01-31, which has not come"):
        release.releasable(checkout)


@pytest.mark.parametrize("path", ["CHANGELOG.md", "new.txt"])
def test_a_working_tree_with_a_change_is_refused(checkout, path):
    with (checkout / path).open("a", encoding="utf-8") as file:
        file.write("- More.\n")

    with pytest.raises(release.ReleaseError, match=f"not clean, commit or remove: {path}$"):
        release.releasable(checkout)


@pytest.mark.parametrize(
    "changelog",
    [
        "# Changelog\n\n## [Unreleased]\n\n- All.\n",
        SECTION.replace("1.2.3", "1.2.30"),
        SECTION.replace("1.2.3", "1x2x3"),
        SECTION.replace(" - 2026-01-31", ""),
        SECTION.replace("### Added\n\n- All.\n", "## [1.2.2] - 2026-01-01\n\n- All.\n"),
    ],
    ids=["none", "a longer version", "dots are dots", "no date", "nothing in it"],
)
def test_a_version_without_a_section_is_refused(checkout, changelog):
    (checkout / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    commit(checkout)

    with pytest.raises(release.ReleaseError, match=r"CHANGELOG.md has no section .* `## \[1\.2\.3\] - YEAR"):
        release.releasable(checkout)


@pytest.mark.parametrize("tag", ["v1.2.3", "1.2.3"])
def test_a_tag_at_another_commit_is_refused(checkout, tag):
    release.run("git", "tag", tag, cwd=checkout)
    commit(checkout)

    with pytest.raises(release.ReleaseError, match=f"the tag {tag} is at another commit"):
        release.releasable(checkout)


def test_every_extra_has_its_promise():
    project = tomllib.loads((release.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert set(release.PROMISES) == {"", *project["optional-dependencies"]}


def test_two_builds_that_differ_are_refused_by_what_differs(tmp_path):
    built = []
    for folder, text in (("one", "a"), ("other", "b")):
        (tmp_path / folder).mkdir()
        built.append(tmp_path / folder / "punto.whl")
        with zipfile.ZipFile(built[-1], "w") as wheel:
            wheel.writestr(zipfile.ZipInfo("same.py"), "same")
            wheel.writestr(zipfile.ZipInfo("punto.py"), text)

    with pytest.raises(release.ReleaseError, match=r"^punto.whl is another .*: punto\.py$"):
        release.compare(built[:1], built[1:])


def test_a_command_that_fails_is_named_with_what_it_said():
    with pytest.raises(release.ReleaseError, match=r"(?s)^git no-such-command\n.*not a git command"):
        release.run("git", "no-such-command")


LOCK = """\
kept==2 ; python_full_version < '3.12' \\
    --hash=sha256:22
kept==3 ; python_full_version >= '3.12' \\
    --hash=sha256:33
other==1 \\
    --hash=sha256:11
"""


def resolved(*command: str | Path, **_: str) -> str:
    """What a resolution of a package that needs `kept` prints."""
    constraints = Path(command[command.index("--constraint") + 1]).read_text(encoding="utf-8")
    assert constraints.splitlines() == [
        line.removesuffix(" \\") for line in LOCK.splitlines() if line[0] != " "
    ]
    return "kept==2\npunto @ file:///punto.whl"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty wheel, whose needs are known without an index."""
    monkeypatch.setattr(release, "run", resolved)
    wheel = tmp_path / "punto.whl"
    wheel.write_bytes(b"")
    return wheel


def test_what_is_installed_has_the_hashes_of_the_lock_and_its_own(wheel):
    own, *others = release.locked("punto[text]", wheel, LOCK).splitlines()

    assert own == f"punto[text] @ {wheel.as_uri()} --hash=sha256:{hashlib.sha256(b'').hexdigest()}"
    assert others == LOCK.splitlines()[:2]


def test_what_the_lock_lacks_is_refused(wheel, monkeypatch):
    monkeypatch.setattr(release, "run", lambda *_, **__: "kept==2\nabsent==1")

    with pytest.raises(release.ReleaseError, match=r"lacks what punto\[text\] needs: absent==1: "):
        release.locked("punto[text]", wheel, LOCK)


def test_an_environment_that_imports_from_elsewhere_is_refused():
    """A developer's own environment imports the checkout."""
    with pytest.raises(
        release.ReleaseError, match=r"punto/__init__\.py was imported, which is not in the env"
    ):
        release.try_installed(Path(sys.prefix), __version__, ["punto"])


def test_an_environment_with_another_version_is_refused():
    with pytest.raises(release.ReleaseError, match=rf"says 'punto {__version__}', not 'punto 9\.9\.9'"):
        release.try_installed(Path(sys.prefix), "9.9.9", ["punto"])


@pytest.mark.parametrize(("more", "refused"), [(0, True), (1, False)])
def test_a_table_that_takes_the_limit_is_refused(tmp_path, monkeypatch, more, refused):
    (tmp_path / "library.so").write_bytes(bytes(10_000))
    monkeypatch.setattr(release, "TABLE_LIMIT", release.on_disk(tmp_path) + more)

    with pytest.raises(release.ReleaseError, match="must take less than") if refused else nullcontext():
        assert release.on_disk_of_a_table(tmp_path) >= 10_000


def check_as_documented(dist: Path) -> subprocess.CompletedProcess[str]:
    """Run the commands with which docs/how-to/install.md checks a release."""
    page = (release.ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"^```sh\n(openssl pkeyutl .*?)^```", page, re.MULTILINE | re.DOTALL)
    return subprocess.run(["sh", "-ec", commands], cwd=dist, capture_output=True, text=True, check=False)


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A folder with a release that is signed, beside the key's file."""
    dist = tmp_path / "dist"
    dist.mkdir()
    for name in ("punto-1.2.3-py3-none-any.whl", "punto-1.2.3.tar.gz", "punto-1.2.3.cdx.json"):
        (dist / name).write_text(name, encoding="utf-8")
    assert "is signed with the key" in release.sum_up(dist, SigningKey.open(tmp_path / "key"))
    return dist


def test_a_signed_release_is_checked_with_tools_of_the_system(signed):
    ran = check_as_documented(signed)

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "Signature Verified Successfully",
        *(f"{file}: OK" for file in sorted(each.name for each in signed.glob("punto-*"))),
    ]


@pytest.mark.parametrize("name", ["punto-1.2.3.tar.gz", "SHA256SUMS", "SHA256SUMS.sig"])
def test_a_release_that_was_changed_after_it_was_signed_is_found(signed, name):
    content = (signed / name).read_bytes()
    (signed / name).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])

    assert check_as_documented(signed).returncode != 0


def test_a_release_that_another_key_signed_is_found(signed, tmp_path):
    key = (signed / "SHA256SUMS.pem").read_text(encoding="ascii")
    (signed / "SHA256SUMS.sig").unlink()
    (signed / "SHA256SUMS.pem").unlink()
    (signed / "SHA256SUMS").unlink()
    release.sum_up(signed, SigningKey.open(tmp_path / "other"))
    (signed / "SHA256SUMS.pem").write_text(key, encoding="ascii")

    assert check_as_documented(signed).returncode != 0


def test_a_release_without_a_key_says_that_it_is_not_signed(tmp_path):
    (tmp_path / "punto.whl").write_bytes(b"")

    assert "is not signed" in release.sum_up(tmp_path, None)
    assert [each.name for each in sorted(tmp_path.iterdir())] == ["SHA256SUMS", "punto.whl"]
