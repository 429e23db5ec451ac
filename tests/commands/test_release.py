"""What `make release` refuses, and how it names a difference."""

import hashlib
import sys
import tomllib
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from punto.version import __version__
from tests import release

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
