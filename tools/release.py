"""`make release`: builds the wheel and the source archive, installs them as users do, and leaves them in dist/.

It uploads nothing. What it finds wrong is one line, and the exit status is 1.
"""

import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.version import FIRST_ON_EARTH
from tests.deploy.installed_machine import installation
from tools import supply_chain
from tools.lock_is_current import LOCKS

ROOT: Final = Path(__file__).parents[1]
PROMISES: Final = {
    "": ("punto", "punto.commands.run"),
    "display": ("punto.displays.server",),
    "console": ("punto.consoles.web", "webauthn"),
    "print": ("punto.reports.pdf", "brotli"),
    "text": ("punto.displays.text.app",),
    "evdev": ("punto.drivers.input_device",),
    "setup": ("punto.commands.setup.web", "mnemonic", "segno"),
    "demo": ("punto.commands.demo.broker", "punto.displays.server", "punto.consoles.web"),
    "odds": ("punto.odds.exact", "threadpoolctl", "tqdm"),
    "house": ("punto.house.service", "psycopg", "pyarrow"),
    "store": ("punto.house.store",),
    "lab": (
        "punto.commands.edge_report",
        "punto.odds.simulation.kernel",
        "punto.odds.simulation.rounds_file",
    ),
}
"""What each extra makes importable; "" is an installation without an extra."""
SHORT_DEMO: Final = (
    *("demo", "--rounds", "2", "--pace", "0.01", "--between", "0.1"),
    *("--port", "0", "--console-port", "0"),
)
"""A demo that ends by itself, on ports that are free."""
TABLE_LIMIT: Final = 150_000_000
"""What the environment of a table PC may take on the disk, in bytes."""
_IMPORT: Final = "import importlib, sys; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]), sep='\\n')"


class ReleaseError(Exception):
    """Why this checkout cannot be released."""


SUMS: Final = "SHA256SUMS"


def main() -> int:
    """Release this checkout, and sign the release if a key's file is named."""
    key = Path(sys.argv[1]) if sys.argv[1:] else None
    try:
        with tempfile.TemporaryDirectory(prefix="punto-release-") as folder:
            release(Path(folder).resolve(), key)
    except (ReleaseError, KeyFileError) as error:
        print(f"not released: {error}", file=sys.stderr)
        return 1
    return 0


def release(folder: Path, key: Path | None) -> None:
    """Do every step in this empty folder, and say each in a line."""
    signing = None if key is None else SigningKey.open(key)
    version = releasable(ROOT)
    print(f"version {version}: the working tree is clean, CHANGELOG.md has its section", flush=True)

    if supply_chain.audit():
        raise ReleaseError(
            "a package of table.lock has a known weakness: raise its version, and run `make lock`"
        )
    source, rebuilt = folder / "source", folder / "elsewhere" / "rebuilt"
    run("git", "archive", "--output", folder / "source.tar", "HEAD", cwd=ROOT)
    unpack(folder / "source.tar", source)
    commit_time = int(run("git", "log", "-1", "--format=%ct", cwd=ROOT))
    built = build(source, folder / "built", commit_time)
    wheel, sdist = built
    unpack(sdist, rebuilt)
    compare(built, build_again(rebuilt / sdist.name.removesuffix(".tar.gz"), folder / "again", commit_time))
    for file in built:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(
            f"{file.name}: {megabytes(file.stat().st_size)}, the same from two folders, SHA-256 {digest}",
            flush=True,
        )

    for extra in PROMISES:
        try_extra(extra, wheel, version, folder)
    try_table(source, version, folder)

    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    for file in built:
        shutil.copy(file, dist)
    supply_chain.write_bill(dist / f"punto-{version}.cdx.json", version, commit_time)
    print(sum_up(dist, signing))
    print("ready in dist/, with the bill of materials; nothing was uploaded")


def sum_up(dist: Path, key: SigningKey | None) -> str:
    """Write the digests of all files of a release as `sha256sum` checks them, and sign them as `openssl` does; say so."""
    files = sorted(dist.iterdir())
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (dist / SUMS).write_text(sums, encoding="utf-8")
    if key is None:
        return f"{SUMS} is not signed: `make release KEY=FILE` signs it"
    (dist / f"{SUMS}.sig").write_bytes(key.sign(b"", sums.encode()))
    (dist / f"{SUMS}.pem").write_text(key.pem, encoding="ascii")
    return f"{SUMS} is signed with the key {key.public}"


def releasable(root: Path) -> str:
    """The version of a checkout that can be released.

    Raises:
        ReleaseError: If its working tree is not clean, if CHANGELOG.md has no section for the version or a day that has not
            come, or if the version's tag is at another commit.
    """
    version = str(runpy.run_path(str(root / "punto" / "version.py"))["__version__"])
    if changed := run("git", "status", "--porcelain", cwd=root).splitlines():
        paths = ", ".join(line.split(maxsplit=1)[1] for line in changed)
        raise ReleaseError(f"the working tree is not clean, commit or remove: {paths}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(
        rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)\n+(?!## )\S", changelog, re.MULTILINE
    )
    if section is None:
        raise ReleaseError(
            f"CHANGELOG.md has no section for the version in punto/version.py: "
            f"write `## [{version}] - YEAR-MONTH-DAY` and what is in it"
        )
    if section[1] > datetime.now(FIRST_ON_EARTH).date().isoformat():
        raise ReleaseError(
            f"CHANGELOG.md dates {version} to {section[1]}, which has not come: no table would start before that day"
        )
    names = (f"v{version}", version)
    tags = run("git", "tag", "--list", *names, cwd=root).split()
    here = run("git", "tag", "--list", *names, "--points-at", "HEAD", cwd=root).split()
    if astray := sorted(set(tags) - set(here)):
        raise ReleaseError(
            f"the tag {astray[0]} is at another commit: check it out, or raise the version in punto/version.py"
        )
    return version


def build(source: Path, into: Path, commit_time: int) -> tuple[Path, Path]:
    """Build the wheel and the source archive of a folder, dated by its commit, in Unix seconds."""
    run(
        *(sys.executable, "-m", "hatchling", "build", "-d", into),
        cwd=source,
        SOURCE_DATE_EPOCH=str(commit_time),
    )
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, sdist


def build_again(unpacked: Path, into: Path, commit_time: int) -> tuple[Path, Path]:
    """Build what an unpacked source archive holds, less the metadata that only the archive has."""
    (unpacked / "PKG-INFO").unlink()
    return build(unpacked, into, commit_time)


def compare(built: Iterable[Path], again: Iterable[Path]) -> None:
    """Compare the archives of two builds.

    Raises:
        ReleaseError: If two are not the same bit by bit. It names what differs.
    """
    for one, other in zip(built, again, strict=True):
        if one.read_bytes() != other.read_bytes():
            ours, theirs = members(one), members(other)
            differing = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
            what = ", ".join(differing) or "the order or the packing of its members"
            raise ReleaseError(f"{one.name} is another when it is built from another folder: {what}")


def members(archive: Path) -> dict[str, object]:
    """What an archive holds, by name: date, mode and checksum or content."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {
                each.filename: (each.date_time, each.external_attr, each.CRC) for each in wheel.infolist()
            }
    with tarfile.open(archive) as sdist:
        return {
            each.name: (
                each.mtime,
                each.mode,
                content.read() if (content := sdist.extractfile(each)) else None,
            )
            for each in sdist
        }


def try_extra(extra: str, wheel: Path, version: str, folder: Path) -> None:
    """Install the wheel with an extra alone, by the hashes of requirements.lock, and try what the extra promises.

    Raises:
        ReleaseError: If a step fails.
    """
    name = f"punto[{extra}]" if extra else "punto"
    environment = folder / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)  # so that it has what punto brings alone
    requirements = locked(name, wheel, (ROOT / "locks" / "requirements.lock").read_text(encoding="utf-8"))
    listed = folder / "requirements.txt"
    listed.write_text(requirements, encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python")
    run(*pip, "install", "--require-hashes", "-r", listed, cwd=folder)
    run(*pip, "check", cwd=folder)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    size = on_disk(packages)
    try_installed(environment, version, PROMISES[extra])
    if extra == "demo":
        ended = run(environment / "bin" / "punto", *SHORT_DEMO, cwd=folder)
        if not ended.endswith("The demo has ended."):
            raise ReleaseError(f"the demo did not come to its end: {ended[-1000:]}")
    print(f"{name}: site-packages {megabytes(size)}; {', '.join(PROMISES[extra])}", flush=True)
    shutil.rmtree(environment)


def locked(name: str, wheel: Path, lock: str, *platform: str) -> str:
    """The wheel and all that it needs with this extra, each with the hashes that the lock has for it.

    `platform` has the options of uv for another Python or machine than this one.

    Raises:
        ReleaseError: If the lock lacks something that is needed.
    """
    # pip with hashes installs only what is itself pinned as a requirement: a constraint does not pin what a wheel needs.
    blocks = {
        block.split(maxsplit=1)[0]: block for block in re.split(r"^(?=\S)", lock, flags=re.MULTILINE) if block
    }
    pinned = wheel.with_name("constraints.txt")
    pinned.write_text("\n".join(re.findall(r"^\S.*?(?= \\$)", lock, re.MULTILINE)), encoding="utf-8")
    uv = Path(sys.executable).with_name("uv")
    wanted = f"{name} @ {wheel.as_uri()}"
    options = (
        "--quiet",
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
        "--no-emit-find-links",
        *platform,
    )
    needed = run(
        uv,
        "pip",
        "compile",
        "-",
        "--python",
        sys.executable,
        "--constraint",
        pinned,
        *options,
        typed=wanted,
    ).splitlines()
    pins = [line for line in needed if not line.startswith("punto @ ")]
    if absent := [pin for pin in pins if pin not in blocks]:
        raise ReleaseError(f"the lock lacks what {name} needs: {', '.join(absent)}: run `make lock`")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return "".join([f"{wanted} --hash=sha256:{digest}\n", *(blocks[pin] for pin in pins)])


def try_table(source: Path, version: str, folder: Path) -> None:
    """Install a table PC's environment as docs/how-to/install.md says, and weigh it.

    Raises:
        ReleaseError: If a step fails, or if the environment is too large.
    """
    environment, opt = folder / "table", "/opt/punto"
    commands = [
        line.replace(opt, str(environment))
        for line in installation()
        if line.startswith((opt, f"python3 -m venv {opt}"))
    ]
    for command in commands:
        run("sh", "-ec", command, cwd=source, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    size = on_disk_of_a_table(environment)
    extras = [word for word in LOCKS[Path("locks/table.lock")] if word in PROMISES]
    try_installed(environment, version, [name for extra in extras for name in PROMISES[extra]])
    print(
        f"a table PC by docs/how-to/install.md: {megabytes(size)}, less than {megabytes(TABLE_LIMIT)}",
        flush=True,
    )


def on_disk_of_a_table(environment: Path) -> int:
    """What a table PC's environment takes on the disk, in bytes.

    Raises:
        ReleaseError: If that is `TABLE_LIMIT` or more.
    """
    size = on_disk(environment)
    if size >= TABLE_LIMIT:
        raise ReleaseError(
            f"a table PC's environment takes {megabytes(size)}; it must take less than {megabytes(TABLE_LIMIT)}"
        )
    return size


def try_installed(environment: Path, version: str, promised: Iterable[str]) -> None:
    """Ask an environment for its version, and import from it what is promised.

    Raises:
        ReleaseError: If it has another version, if an import fails, or if a module is not the environment's own.
    """
    away = environment.parent
    said = run(environment / "bin" / "punto", "--version", cwd=away)
    if said != f"punto {version}":
        raise ReleaseError(f"punto --version says {said!r}, not 'punto {version}'")
    for file in run(environment / "bin" / "python", "-I", "-c", _IMPORT, *promised, cwd=away).splitlines():
        if not Path(file).is_relative_to(environment):
            raise ReleaseError(f"{file} was imported, which is not in the environment that was made")


def unpack(archive: Path, into: Path) -> None:
    """Unpack a tar archive into a new folder."""
    into.mkdir(parents=True)
    run("tar", "-xf", archive, "-C", into)


def run(*command: str | Path, cwd: Path | None = None, typed: str = "", **variables: str) -> str:
    """Run a command that finds no checkout by itself, and return its output.

    Raises:
        ReleaseError: If it fails. It has the last lines of what the command said.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**environment, "PYTHONNOUSERSITE": "1", **variables},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-10:])
        raise ReleaseError(f"{' '.join(map(str, command))}\n{last}")
    return done.stdout.strip()


def on_disk(folder: Path) -> int:
    """What a folder takes on the disk, in bytes."""
    return int(run("du", "-s", "--block-size=1", folder).split()[0])


def megabytes(size: int) -> str:
    """A size in bytes as people read it, in millions of them."""
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    sys.exit(main())
