"""`make deb`: builds the Debian packages of a release of Debian and an architecture, and leaves them in dist/.

Each package has an environment of its own with everything that it needs but Python. It needs no network where it is installed, and
no compiler here: all of its compiled parts are ready wheels, with the hashes of the locks.
"""

import argparse
import gzip
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import textwrap
from email.utils import formatdate
from pathlib import Path
from typing import Final, NamedTuple

from punto.commands.cli import SUBCOMMANDS
from tools.reference.manual import completions, manual_pages, script_page
from tools.release import ROOT, ReleaseError, build, locked, megabytes, on_disk, run

PYTHONS: Final = {"12": "3.11", "13": "3.13"}
"""Releases of Debian, and the Python of each. A compiled wheel is for one Python, so there is a package for each release."""
MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
ELF: Final = {"amd64": 62, "arm64": 183}
"""The machine in the header of a compiled file, e_machine of elf(5)."""
IN_PYTHON: Final = re.compile(r"^cobs==.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
"""What has no ready wheel for Linux, but works without its compiled part: a frame of a serial line is small."""
SHIPPED: Final = ROOT / "deploy" / "debian"
MAINTAINER: Final = "The authors of Punto <punto@punto.invalid>"
"""Those of `copyright`. Debian requires an address and the project does not have one, so it is an address that cannot exist (RFC 2606)."""


class Package(NamedTuple):
    """What one package has, of all that the checkout has."""

    name: str
    summary: str
    about: str
    extras: tuple[str, ...] = ()
    lock: str = "requirements"
    without: tuple[str, ...] = ()
    """What is left out of the folder `punto` of its environment."""
    commands: tuple[str, ...] = tuple(SUBCOMMANDS)
    """Its subcommands of `punto`."""
    units: tuple[str, ...] = ()
    groups: str = ""
    """Its groups, as in sysusers.d."""
    folders: tuple[str, ...] = ()
    """The folders of its configuration, which a purge removes."""
    tmpfiles: str = ""
    examples: tuple[str, ...] = ()
    recommends: str = "mosquitto"


_TABLE = Package(
    name="punto",
    summary="table-game controller for baccarat: the PC of a table",
    about="Reads a card-recognition shoe, settles every wager, records every input, and drives the score displays of the table.",
    extras=("console", "display", "evdev", "print", "setup"),
    lock="table",
    units=(
        "punto@.service",
        "punto-display@.service",
        "punto-signer.service",
        "punto-witness.service",
    ),
    groups=(ROOT / "systemd" / "sysusers.conf").read_text(encoding="utf-8"),
    tmpfiles=(ROOT / "systemd" / "tmpfiles.conf").read_text(encoding="utf-8"),
    folders=("/etc/punto", "/etc/punto-display", "/etc/punto-broker", "/etc/punto-witness"),
    examples=(
        "table.toml",
        "display.toml",
        "house.toml",
        "progressive-table.toml",
        "studio.toml",
        "witness.toml",
        "mosquitto.conf",
        "mosquitto.acl",
    ),
)
_DISPLAY = Package(
    name="punto-display",
    summary="table-game controller for baccarat: score displays alone",
    about="Shows the boards of tables of other machines. It has no table and no controller.",
    extras=("display",),
    lock="table",
    without=(
        *("controller", "consoles", "drivers", "house", "odds", "reports", "simulators", "witness"),
        "commands/demo",
        "commands/lab_report",
    ),
    commands=("display",),
    units=("punto-display@.service",),
    groups="g punto-display -\n",
    tmpfiles="d /etc/punto-display 0750 root punto-display\n",
    folders=("/etc/punto-display",),
    examples=("display.toml", "house.toml"),
    recommends="punto-kiosk",
)
_HOUSE = Package(
    name="punto-house",
    summary="table-game controller for baccarat: the Game Manager of a house",
    about="Follows all tables of a house, stores what they publish, and reports it; the witness keeps the heads of their records.",
    extras=("house",),
    without=("simulators", "commands/demo"),
    commands=tuple(
        name
        for name, each in SUBCOMMANDS.items()
        if not each.module.startswith(("punto.simulators", "punto.commands.demo"))
    ),
    units=("punto-game-manager.service", "punto-witness.service"),
    # Open to the units' users, which are not there before they run: a configuration has no secret, and each secret is a file of its own.
    tmpfiles="d /etc/punto-game-manager 0755 root root\nd /etc/punto-witness 0755 root root\n",
    folders=("/etc/punto-game-manager", "/etc/punto-witness"),
    examples=("game-manager.toml", "witness.toml"),
    recommends="mosquitto, postgresql",
)
KIOSK_SCRIPTS: Final = {
    "postinst": """#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
systemd-sysusers punto-kiosk.conf
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ -z "$2" ]; then
    echo "punto-kiosk: to show the ADDRESS in /etc/punto-kiosk/kiosk.conf, run as root: systemctl enable --now punto-kiosk@tty1"
fi
""",
    "prerm": """#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
[ ! -d /run/systemd/system ] || systemctl stop 'punto-kiosk@*.service'
""",
    "postrm": """#!/bin/sh
set -e
[ "$1" = purge ] || exit 0
rm -rf /etc/punto-kiosk /var/lib/punto-kiosk /etc/systemd/system/*.wants/punto-kiosk@*.service
! getent passwd punto-kiosk >/dev/null || userdel punto-kiosk
""",
}
"""The maintainer scripts of punto-kiosk, which has no versions beside each other."""
PACKAGES: Final = (_TABLE, _DISPLAY, _HOUSE)


class Target(NamedTuple):
    """What the packages are built for."""

    release: str
    architecture: str
    version: str

    @property
    def python(self) -> str:
        """Its Python, such as 3.11."""
        return PYTHONS[self.release]

    @property
    def full_version(self) -> str:
        """The version of its packages: a later release of Debian has the later one."""
        return f"{self.version}+deb{self.release}"


def main() -> int:
    """Build the packages that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tools.packages")
    parser.add_argument(
        "packages", nargs="*", metavar="PACKAGE", help="the packages to build; all by default"
    )
    parser.add_argument("--debian", choices=PYTHONS, default=this_release(), help="the release of Debian")
    parser.add_argument("--architecture", choices=MACHINES, default=this_architecture())
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--as-version", help="another version, for a test of an upgrade")
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="punto-packages-") as folder:
            build_all(args, Path(folder).resolve())
    except ReleaseError as error:
        print(f"not built: {error}", file=sys.stderr)
        return 1
    return 0


def this_release() -> str:
    """The release of Debian that this is, or the oldest."""
    found = Path("/etc/debian_version")
    here = found.read_text(encoding="ascii").partition(".")[0].strip() if found.exists() else ""
    return here if here in PYTHONS else min(PYTHONS)


def this_architecture() -> str:
    """This machine's name for Debian."""
    machine = os.uname().machine
    return next((name for name, each in MACHINES.items() if each == machine), "amd64")


def build_all(args: argparse.Namespace, folder: Path) -> None:
    """Build each package in this empty folder."""
    commit_time = int(run("git", "log", "-1", "--format=%ct", cwd=ROOT))
    wheel, _ = build(ROOT, folder / "built", commit_time)
    version = args.as_version or wheel.name.split("-")[1]
    target = Target(args.debian, args.architecture, version)
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.packages or "punto-kiosk" in args.packages:
        tree = folder / "punto-kiosk"
        stage_kiosk(target, tree, commit_time)
        pack(tree, args.out, kiosk_control(target), KIOSK_SCRIPTS, commit_time)
    for package in PACKAGES:
        if not args.packages or package.name in args.packages:
            tree = folder / package.name
            stage(package, target, wheel, tree, commit_time)
            pack(tree, args.out, control(package, target), maintainer_scripts(package), commit_time)


def pack(tree: Path, out: Path, about: dict[str, str], scripts: dict[str, str], commit_time: int) -> None:
    """Make a package of a tree that is complete, and say its size."""
    about["Installed-Size"] = str(on_disk(tree) // 1024)
    meta = tree / "DEBIAN"
    meta.mkdir()
    ordered = [*(key for key in about if key != "Description"), "Description"]
    (meta / "control").write_text("".join(f"{key}: {about[key]}\n" for key in ordered), encoding="utf-8")
    files = sorted(
        each
        for each in tree.rglob("*")
        if each.is_file() and not each.is_symlink() and meta not in each.parents
    )
    sums = (f"{hashlib.md5(each.read_bytes()).hexdigest()}  {each.relative_to(tree)}\n" for each in files)  # noqa: S324 - as dpkg has it
    (meta / "md5sums").write_text("".join(sums), encoding="utf-8")
    if kept := [f"/{each.relative_to(tree)}\n" for each in files if each.is_relative_to(tree / "etc")]:
        (meta / "conffiles").write_text("".join(kept), encoding="utf-8")
    for name, text in scripts.items():
        write(meta / name, text, 0o755)
    for each in [tree, *tree.rglob("*")]:
        if not each.is_symlink():
            program = each.stat().st_mode & stat.S_IXUSR and ".so" not in each.suffixes
            executable = each.is_dir() or program
            each.chmod(0o755 if executable else 0o644)
    done = run(
        *("dpkg-deb", "--root-owner-group", "-z1", "--build", tree, out),
        SOURCE_DATE_EPOCH=str(commit_time),
    )
    (file,) = re.findall(r"'([^']+\.deb)'", done)
    print(
        f"{Path(file).name}: {megabytes(Path(file).stat().st_size)}, {megabytes(on_disk(tree))} on the disk",
        flush=True,
    )


def stage(package: Package, target: Target, wheel: Path, tree: Path, commit_time: int) -> None:
    """Put all files of a package where it installs them."""
    environment(package, target, wheel, tree / "usr/lib" / package.name / "packaged")
    for name, where in (("versions", f"usr/lib/{package.name}/versions"), ("command", "usr/bin/punto")):
        write(tree / where, filled(name, package), 0o755)
    for unit in package.units:
        text = (ROOT / "systemd" / unit).read_text(encoding="utf-8")
        text = text.replace("/opt/punto/", f"/usr/lib/{package.name}/current/")
        write(tree / "usr/lib/systemd/system" / unit, text)
    write(tree / f"usr/lib/sysusers.d/{package.name}.conf", package.groups or "# It has no users.\n")
    write(tree / f"usr/lib/tmpfiles.d/{package.name}.conf", package.tmpfiles)
    for name, page in manual_pages(package.commands, target.version).items():
        compressed(tree / "usr/share/man/man1" / f"{name}.gz", page)
    completion = completions(package.commands)
    write(tree / "usr/share/bash-completion/completions/punto", completion["bash"])
    write(tree / "usr/share/zsh/vendor-completions/_punto", completion["zsh"])
    document(package.name, target.full_version, tree, commit_time)
    write(
        tree / "usr/share/lintian/overrides" / package.name,
        (SHIPPED / "lintian-overrides").read_text(encoding="utf-8"),
    )
    for example in package.examples:
        write(
            tree / f"usr/share/doc/{package.name}/examples" / example,
            (ROOT / "configs" / example).read_text(encoding="utf-8"),
        )
    if package is _TABLE:
        for name in ("sysusers-table.conf", "tmpfiles-table.conf"):
            write(tree / "usr/share/punto" / name, (ROOT / "systemd" / name).read_text(encoding="utf-8"))
        verify = (ROOT / "systemd/punto-verify").read_text(encoding="utf-8")
        write(tree / "usr/bin/punto-verify", verify, 0o755)
        page = script_page("punto-verify", verify, target.version)
        compressed(tree / "usr/share/man/man1/punto-verify.1.gz", page)
        write(
            tree / "etc/udev/rules.d/60-punto.rules",
            (ROOT / "systemd/60-punto.rules").read_text(encoding="utf-8"),
        )


def environment(package: Package, target: Target, wheel: Path, folder: Path) -> None:
    """Make the environment: what `python -m venv` makes, without pip, for a Python that need not be here."""
    packages = folder / f"lib/python{target.python}/site-packages"
    packages.mkdir(parents=True)
    # There is no ready wheel of evdev for arm64, and the packages compile nothing.
    extras = [each for each in package.extras if (each, target.architecture) != ("evdev", "arm64")]
    platform = (
        "--python-version",
        target.python,
        "--python-platform",
        f"{MACHINES[target.architecture]}-manylinux_2_36",
    )
    lock = (ROOT / "locks" / f"{package.lock}.lock").read_text(encoding="utf-8")
    wanted = locked(f"punto[{','.join(extras)}]", wheel, lock, *platform)
    install(packages, IN_PYTHON.sub("", wanted), "--only-binary", ":all:", *platform)
    install(packages, "".join(IN_PYTHON.findall(wanted)))
    for each in packages.glob("cobs/**/*.so"):
        each.unlink()
    shutil.rmtree(packages / "bin", ignore_errors=True)
    (packages / ".lock").unlink(missing_ok=True)
    for left_out in package.without:
        shutil.rmtree(packages / "punto" / left_out)
    for each in packages.glob("*.dist-info/*"):
        if each.name in {
            "direct_url.json",
            "uv_cache.json",
            "uv_build.json",
            "INSTALLER",
            "REQUESTED",
            "RECORD",
        }:
            each.unlink()
    module = packages / "punto/version.py"
    module.write_text(
        re.sub(
            r'^__version__ = ".*"$',
            f'__version__ = "{target.version}"',
            module.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        ),
        encoding="utf-8",
    )
    refuse_other_machines(packages, target.architecture)
    write(
        folder / "pyvenv.cfg",
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {target.python}\n",
    )
    write(folder / "VERSION", f"{target.full_version}\n")
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(f"../../../../bin/python{target.python}")


def refuse_other_machines(packages: Path, architecture: str) -> None:
    """Refuse a compiled file that is for another machine.

    Raises:
        ReleaseError: There is one.
    """
    for each in packages.rglob("*"):
        header = b"" if each.is_dir() else each.read_bytes()[:20]
        if header.startswith(b"\x7fELF") and int.from_bytes(header[18:20], "little") != ELF[architecture]:
            raise ReleaseError(f"{each.relative_to(packages)} is not for {architecture}")


def install(packages: Path, wanted: str, *options: str) -> None:
    """Install what is wanted, by its hashes."""
    listed = packages.with_name("requirements.txt")
    listed.write_text(wanted, encoding="utf-8")
    uv = str(Path(sys.executable).with_name("uv"))
    run(
        *(uv, "pip", "install", "--quiet", "--target", str(packages), "--python", sys.executable, *options),
        *("--no-deps", "--require-hashes", "--link-mode", "copy", "-r", str(listed)),
    )
    listed.unlink()


def document(name: str, full_version: str, tree: Path, commit_time: int) -> None:
    """Write what each package of Debian has in /usr/share/doc."""
    about = tree / "usr/share/doc" / name
    for source in (SHIPPED / "copyright", SHIPPED / f"{name}.README.Debian"):
        write(about / source.name.removeprefix(f"{name}."), source.read_text(encoding="utf-8"))
    when = formatdate(commit_time)
    entry = f"{name} ({full_version}) stable; urgency=medium\n\n  * CHANGELOG.md.gz has the changes.\n\n -- {MAINTAINER}  {when}\n"
    compressed(about / "changelog.gz", entry)
    compressed(about / "CHANGELOG.md.gz", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def control(package: Package, target: Target) -> dict[str, str]:
    """The fields of a package's control file, but for its size."""
    others = ", ".join(each.name for each in PACKAGES if each is not package)
    return {
        "Package": package.name,
        "Version": target.full_version,
        "Architecture": target.architecture,
        "Maintainer": MAINTAINER,
        "Section": "misc",
        "Priority": "optional",
        "Depends": f"python{target.python}, libc6 (>= 2.36), passwd, systemd, tzdata",
        "Recommends": package.recommends,
        "Suggests": "openssl",
        "Conflicts": others,
        "Description": f"{package.summary}\n{wrapped(package.about)}",
    }


def maintainer_scripts(package: Package) -> dict[str, str]:
    """The scripts that dpkg runs."""
    scripts = {name: filled(name, package) for name in ("postinst", "prerm", "postrm")}
    more = SHIPPED / f"{package.name}.purge"
    if more.exists():
        scripts["postrm"] += more.read_text(encoding="utf-8")
    return scripts


def stage_kiosk(target: Target, tree: Path, commit_time: int) -> None:
    """Put all files of punto-kiosk where it installs them: the session of a screen, and the page that it begins with."""
    kiosk = SHIPPED / "kiosk"
    for source, where in (
        (kiosk / "punto-kiosk@.service", "usr/lib/systemd/system/punto-kiosk@.service"),
        (kiosk / "sysusers.conf", "usr/lib/sysusers.d/punto-kiosk.conf"),
        (kiosk / "kiosk.conf", "etc/punto-kiosk/kiosk.conf"),
        (ROOT / "punto/displays/kiosk.html", "usr/share/punto-kiosk/kiosk.html"),
    ):
        write(tree / where, source.read_text(encoding="utf-8"))
    write(tree / "usr/lib/punto-kiosk/browser", (kiosk / "browser").read_text(encoding="utf-8"), 0o755)
    document("punto-kiosk", target.version, tree, commit_time)


def kiosk_control(target: Target) -> dict[str, str]:
    """The fields of punto-kiosk's control file, but for its size."""
    return {
        "Package": "punto-kiosk",
        "Version": target.version,
        "Architecture": "all",
        "Maintainer": MAINTAINER,
        "Section": "misc",
        "Priority": "optional",
        # Without Xwayland, the cage of Debian 12 ends at its start.
        "Depends": "cage, chromium, dbus, libpam-systemd, passwd, systemd, xwayland",
        "Recommends": "punto-display | punto, fonts-noto-cjk",
        "Description": "table-game controller for baccarat: a screen that shows a display\n"
        + wrapped(
            "Starts Chromium in cage on a terminal of this PC, with the page of a display on this or another PC."
        ),
    }


def wrapped(about: str) -> str:
    """A package's description as Debian has it, in lines of at most 79 characters."""
    return textwrap.fill(about, 79, initial_indent=" ", subsequent_indent=" ")


def filled(name: str, package: Package) -> str:
    """A script that ships, for one package."""
    values = {
        "PACKAGE": package.name,
        "NEXT": "punto setup (in a browser: punto setup --web)"
        if package.name == "punto"
        else f"less /usr/share/doc/{package.name}/README.Debian",
        "UNITS": " ".join(f"'{unit.replace('@.', '@*.')}'" for unit in package.units),
        "FOLDERS": " ".join(package.folders),
    }
    text = (SHIPPED / name).read_text(encoding="utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)


def compressed(path: Path, text: str) -> None:
    """Write a file that Debian keeps compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file and the folders that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


if __name__ == "__main__":
    sys.exit(main())
