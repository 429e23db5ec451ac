"""`make test-package`: the packages in a clean Debian: installed, upgraded, taken back, removed and purged.

    python -m tests.deploy.package_trial --debian 12 --rounds 3000

Only root can run it. Each Debian is made by mmdebstrap, from the mirror that apt uses here, and kept in build/ for the next run, as is the
long record; the packages are installed without a network. No systemd runs in it, so a unit's ExecStart is started as the unit's user.
"""

import argparse
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Self

from benchmarks.start import Record
from punto.controller.config.tables import load_configs
from punto.controller.journal import schema
from tests.deadline import DEADLINE
from tests.deploy.installed_machine import DYNAMIC_USER, NAMESPACES
from tools.packages import PYTHONS, this_architecture
from tools.release import ROOT, on_disk

SUITES: Final = {"12": "bookworm", "13": "trixie"}
BEFORE: Final = "0.0.9"
"""The version of the package that is upgraded: this one with an earlier number."""
TABLE: Final = "table-1"
CONFIG: Final = f"/etc/punto/{TABLE}.toml"
RECORD: Final = f"/var/lib/punto/{TABLE}/{TABLE}.db"
SHOE: Final = f"/var/lib/punto/{TABLE}/shoe"
SHOE_KEY: Final = f"/etc/punto/{TABLE}.shoe.key"
OTHER: Final = "table-2"
"""A table with a long record."""
OTHER_RECORD: Final = RECORD.replace(TABLE, OTHER)
SAID: Final = 5000
"""Characters of the logs that an error shows."""
A_SHOE: Final = 70
"""Hands that a shoe of eight decks always has."""
SOCKET: Final = f"/run/punto/{TABLE}/operator.sock"
PASSWORD: Final = "a long password"  # noqa: S105 - of an account that this trial makes
ANSWERS: Final = """
table = "{table}"
simulation = {simulation}

[shoe]
port = "/var/lib/punto/{table}/shoe"

[people]
Mei = ["supervisor"]
"""
UDEV_RULE: Final = f"/etc/udev/rules.d/61-punto-{TABLE}.rules"
"""What `punto setup` writes for an adapter, which the virtual shoe does not have."""
SYSTEMCTL: Final = """#!/bin/sh
# A systemd on which a table runs.
case $* in *list-units*) echo "punto@table-1.service loaded active running Punto table table-1" ;; esac
"""
KIOSK: Final = "-kiosk"
IMAGE: Final = "-image"
MORE: Final = {
    "": ",mosquitto",
    KIOSK: ",mosquitto,cage,chromium,dbus,libpam-systemd,xwayland,fonts-liberation,grim",
    IMAGE: ",python3-pip,ca-certificates",
}
"""What else a clean Debian has: the broker of a table's PC, what punto-kiosk depends on with a program that takes a picture of its screen,
and what the image of tests/deploy/image_trial.py needs.
"""
RUNTIME: Final = "/run/user/punto-kiosk"
SCREEN_IN_MEMORY: Final = (
    f"XDG_RUNTIME_DIR={RUNTIME}",
    "WAYLAND_DISPLAY=wayland-0",
    "WLR_BACKENDS=headless",
    "WLR_RENDERER=pixman",
    "WLR_LIBINPUT_NO_DEVICES=1",
    "HOME=/var/lib/punto-kiosk",
)
"""What a login at a terminal gives the session of the kiosk, and a screen that needs no graphics card."""
DEBUGGED: Final = 'export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --remote-debugging-port=9222"\n'
KILL_BROWSER: Final = """
for each in /proc/[0-9]*; do
    case $(tr '\\0' ' ' < $each/cmdline) in *--type=*) ;; /usr/lib/chromium/chromium*) kill -KILL ${each#/proc/} ;; esac
done
"""
ON_SCREEN: Final = """
import json, urllib.request
from websockets.sync.client import connect

PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(document.body.innerText))))"
with urllib.request.urlopen("http://127.0.0.1:9222/json", timeout=5) as answer:
    page = next(each for each in json.load(answer) if each["type"] == "page")
with connect(page["webSocketDebuggerUrl"], max_size=None) as screen:
    screen.send(json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {"expression": PAINTED, "awaitPromise": True}}))
    print(json.loads(screen.recv(timeout=5))["result"]["result"]["value"])
"""
"""Prints the text of the page that Chromium shows."""
TOUCHED: Final = ("etc", "opt", "root", "run", "srv", "usr", "var/lib", "var/log")
"""Where a package could leave something."""
WANTED: Final = re.compile(
    r"/var/lib/punto(/table-\d(/(table-\d\.db(-shm|-wal|\.lock)?|operators\.db|rehearsals(/\d{8}T\d{6}Z\.db)?|shoe\.store))?)?"
    r"|/etc/mosquitto/(conf\.d/punto\.conf|punto\.(acl|passwd))"
)
"""What a purge leaves: records and accounts, the memory of the virtual shoe, which a person has put there, and what is Mosquitto's."""
OF_THE_SYSTEM: Final = re.compile(
    r"/(var/lib/(dpkg|apt|systemd|mosquitto)|var/log|run/(lock|shm|systemd|mosquitto|credentials)|etc/(\.pwd\.lock|passwd|group|shadow|gshadow|subuid|subgid)-?$)"
)


class Trial:
    """A clean Debian in a folder, as a machine of its own: nothing of it runs after the end of the block."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._started = 0

    def __enter__(self) -> Self:
        # Not a chroot: in one, Chromium could not make the namespaces of its sandbox.
        enter = (
            'ip link set lo up && mount --rbind "$0" "$0" && cd "$0" && mount --rbind /dev dev && '
            "mount -t proc proc proc && pivot_root . . && umount -l . && echo up && exec sleep infinity"
        )
        self._namespaces = subprocess.Popen(
            [*NAMESPACES[:-1], "sh", "-c", enter, str(self.root)], stdout=subprocess.PIPE, text=True
        )
        assert self._namespaces.stdout
        assert self._namespaces.stdout.readline() == "up\n"
        self.first = first_child(self._namespaces.pid)
        return self

    def __exit__(self, *_: object) -> None:
        self._namespaces.kill()
        self._namespaces.wait()

    def command(self, *command: str, user: str | None = None, groups: tuple[str, ...] = ()) -> list[str]:
        """A command line that runs a command in it, as root or as a user with the user's own groups or these."""
        of = f"--groups={','.join(groups)}" if groups else "--init-groups"
        whose = ("setpriv", f"--reuid={user}", f"--regid={user}", of) if user else ()
        return [
            *("nsenter", "-t", str(self.first), "-m", "-n", "-p", "env", "-i", "-C", "/"),
            *("PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LC_ALL=C.UTF-8"),
            *("DEBIAN_FRONTEND=noninteractive", *whose, *command),
        ]

    def run(self, *command: str, user: str | None = None, typed: str = "", fails: bool = False) -> str:
        """Run a command to its end, and return what it says."""
        done = subprocess.run(
            self.command(*command, user=user),
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=3600,
        )
        if (done.returncode != 0) != fails:
            raise AssertionError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    @contextmanager
    def running(
        self, *command: str, user: str, groups: tuple[str, ...] = ()
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Have a program run until the end of the block."""
        self._started += 1
        log = self.root.parent / f"{self._started}.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                self.command(*command, user=user, groups=groups),
                stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                os.kill(first_child(process.pid), signal.SIGTERM)
            process.wait(DEADLINE)
            log.unlink()

    @contextmanager
    def unit(self, unit: str, instance: str = "") -> Iterator[subprocess.Popen[bytes]]:
        """Have the program of a unit run until the end of the block: with the unit's user, groups, folder and credentials."""
        settings = self.settings(unit, instance)
        dynamic = "DynamicUser" in settings
        (user,) = settings.get("User", [str(DYNAMIC_USER) if dynamic else "root"])
        for each in settings.get("ExecStartPre", []):
            self.run(*each.split())
        for name in settings.get("StateDirectory", []):
            self.run("install", "-d", "-m", "0700", "-o", user, f"/var/lib/{name}")
        credentials = f"/run/credentials/{unit.replace('@', f'@{instance}')}"
        self.run("install", "-d", "-m", "0711", "/run/credentials")
        self.run("install", "-d", "-m", "0500", "-o", user, credentials)
        for each in settings.get("LoadCredential", []):
            name, source = each.split(":")
            here = self.root / source.lstrip("/")
            self.place(
                f"{credentials}/{name}", here.read_text(encoding="utf-8") if here.exists() else "\n", 0o400
            )
            self.run("chown", user, f"{credentials}/{name}")
        groups = tuple(settings.get("SupplementaryGroups", [user] if dynamic else []))
        (command,) = settings["ExecStart"]
        program = ("env", f"CREDENTIALS_DIRECTORY={credentials}", *command.split())
        with self.running(*program, user=user, groups=groups) as process:
            yield process

    def settings(self, unit: str, instance: str = "") -> dict[str, list[str]]:
        """The settings of a unit that is installed, each with its values."""
        text = (self.root / f"usr/lib/systemd/system/{unit}").read_text(encoding="utf-8")
        found: dict[str, list[str]] = {}
        for key, value in re.findall(r"^(\w+)=(.*)$", text.replace("%i", instance), re.MULTILINE):
            found.setdefault(key, []).append(value)
        return found

    def said(self) -> str:
        """What the programs that run have said."""
        return "".join(each.read_text(encoding="utf-8") for each in self.root.parent.glob("*.log"))

    def files(self) -> set[str]:
        """All paths that a package could leave behind."""
        found = (each for top in TOUCHED for each in (self.root / top).rglob("*"))
        paths = {f"/{each.relative_to(self.root)}" for each in found}
        return {each for each in paths if not OF_THE_SYSTEM.match(each)}

    def accounts(self) -> set[str]:
        """The names of its users and groups."""
        return {
            f"{base} {line.partition(':')[0]}"
            for base in ("passwd", "group")
            for line in (self.root / "etc" / base).read_text(encoding="utf-8").splitlines()
        }

    def place(self, path: str, text: str, mode: int = 0o755) -> None:
        """Write a file of this trial into it."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    def install(self, package: Path) -> str:
        """Install a package as docs/how-to/install.md says, without a network."""
        shutil.copy(package, self.root / "root")
        return self.run(
            *(
                "apt-get",
                "install",
                "--yes",
                "--no-install-recommends",
                "--allow-downgrades",
            ),
            f"/root/{package.name}",
        )

    def version(self) -> str:
        """The version that `punto` is."""
        return self.run("punto", "--version").split()[1]


def first_child(pid: int) -> int:
    """The process that a program such as nsenter has started for another."""
    while not (children := Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()):
        time.sleep(0.01)
    return int(children[0])


@contextmanager
def step(name: str, folder: Path) -> Iterator[None]:
    """Print how long a step takes, and by how much it grows a folder."""
    before, began = on_disk(folder), time.monotonic()
    yield
    taken, grown = time.monotonic() - began, on_disk(folder) - before
    print(f"{name}: {taken:.1f} s, {grown / 1e6:+.1f} MB", flush=True)


@contextmanager
def clean(release: str, kind: str = "") -> Iterator[Trial]:
    """A clean Debian, until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="punto-package-", dir="/tmp") as folder:
        root = Path(folder) / "pc"
        root.mkdir()
        archive = debian(release, kind)
        with step(f"a clean Debian {release}", root):
            subprocess.run(["tar", "-xf", archive, "-C", root, "--exclude=./dev/*"], check=True)
        with Trial(root) as trial:
            yield trial


def debian(release: str, kind: str = "") -> Path:
    """An archive with a clean Debian that has what the packages depend on."""
    archive = ROOT / "build" / f"debian-{release}{kind}.tar"
    if not archive.exists():
        archive.parent.mkdir(exist_ok=True)
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Component: main"],
            check=True, capture_output=True, text=True,
        ).stdout.splitlines()  # fmt: skip
        mirror = next(each for each in listed if "security" not in each)
        acquired = subprocess.run(
            ["apt-config", "dump", "Acquire"], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        options = [f"--aptopt={each}" for each in acquired if re.match(r"Acquire::(Check|http|https)", each)]
        needs = f"systemd,tzdata,passwd,util-linux,python{PYTHONS[release]}" + MORE[kind]
        unfinished = archive.with_suffix(".new.tar")
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=apt", f"--include={needs}", *options, SUITES[release], unfinished, mirror],
            check=True,
        )  # fmt: skip
        unfinished.rename(archive)
    return archive


def try_table(trial: Trial, before: Path, after: Path, rounds: int) -> None:
    """Everything that a table's PC goes through."""
    had, accounts = trial.files(), trial.accounts()
    with step("from apt install to the first settled hand", trial.root):
        with step(f"install {before.name}", trial.root):
            said = trial.install(before)
        assert "Next, run as root:" in said, said
        with step("punto setup with a file of answers", trial.root):
            configure(trial)
        deal(trial, 1)
    with step(f"deal a shoe of {A_SHOE} hands as the units' user", trial.root):
        deal(trial, A_SHOE)
    with step(f"a second table with {rounds} rounds", trial.root):
        add_table(trial, rounds)
    with step(f"upgrade to {after.name}, with proofs of old and new", trial.root):
        said = trial.install(after)
    new = after.name.split("_")[1]
    old = before.name.split("_")[1]
    proofs = [
        f"punto: version {each} proves {record}" for each in (old, new) for record in (RECORD, OTHER_RECORD)
    ]
    assert re.findall("^punto: version .* proves .*$", said, re.MULTILINE) == proofs, said
    assert trial.version() == new.partition("+")[0]
    with step("take it back: punto rollback", trial.root):
        said = trial.run("punto", "rollback")
    assert trial.version() == BEFORE, said
    deal(trial)
    give_record(trial, A_SHOE)  # a short one, because each of the next steps proves it
    refuse_a_changed_record(trial, old)
    keep_what_runs(trial, old)
    with step("take it again: punto upgrade", trial.root):
        trial.run("punto", "upgrade")
    assert trial.run("punto", "versions").splitlines() == [f"{old} former", f"{new} current"]
    deal(trial)
    with step("remove", trial.root):
        trial.run("apt-get", "remove", "--yes", "punto")
    assert {CONFIG, RECORD, UDEV_RULE, "/etc/udev/rules.d/60-punto.rules"} < trial.files() - had
    assert not (trial.root / "usr/lib/punto").exists()
    trial.install(after)
    assert trial.version() == new.partition("+")[0]
    deal(trial)
    with step("purge", trial.root):
        said = trial.run("apt-get", "purge", "--yes", "punto")
    left = trial.files() - had - {f"/root/{each.name}" for each in (before, after)}
    print("left after the purge:", *sorted(left), sep="\n  ", flush=True)
    assert {each for each in left if not WANTED.fullmatch(each)} == set()
    assert {RECORD, OTHER_RECORD, f"/var/lib/punto/{TABLE}/operators.db"} <= left
    assert trial.accounts() == accounts, trial.accounts() ^ accounts
    assert {each.stat().st_uid for each in (trial.root / "var/lib/punto").rglob("*")} == {0}
    assert "/var/lib/punto" in said, said


def try_display(trial: Trial, package: Path) -> None:
    """The PC of a display: no table, no controller, and the board is served."""
    with step(f"install {package.name}", trial.root):
        trial.install(package)
    has = trial.run("find", "/usr/lib/punto-display/current/", "-path", "*/punto/*", "-type", "d")
    assert "/punto/displays" in has
    assert not re.search(r"/punto/(controller|drivers|house|simulators)\b", has)
    assert "not in this package" in trial.run("punto", "run", "--config", CONFIG, fails=True)
    install_example(trial, package, f"/etc/punto-display/{TABLE}.toml")
    with trial.unit("punto-display@.service", TABLE):
        wait_for(trial, "http://127.0.0.1:8080", "the board is served")
    with step("purge", trial.root):
        trial.run("apt-get", "purge", "--yes", package.name.split("_")[0])
    assert not [each for each in trial.files() if "punto" in each and not each.startswith("/root/")]


def try_house(trial: Trial, package: Path) -> None:
    """The PC of a house: the Game Manager starts with its own store."""
    with step(f"install {package.name}", trial.root):
        trial.install(package)
    config = "/etc/punto-game-manager/game-manager.toml"
    install_example(trial, package, config)
    trial.run("sed", "-i", 's|^path = .*|path = "/var/lib/punto-game-manager/game-manager.db"|', config)
    trial.run("punto", "check-config", config)
    with trial.unit("punto-game-manager.service"):
        wait_for(trial, "http://127.0.0.1:8070", "the floor's page is served")
    trial.run("apt-get", "purge", "--yes", package.name.split("_")[0])


def try_kiosk(trial: Trial, table: Path, kiosk: Path) -> None:
    """A table's PC with a screen: the board is shown, and comes back after its browser or its server has ended."""
    trial.install(table)
    configure(trial)
    with step(f"install {kiosk.name}", trial.root):
        said = trial.install(kiosk)
    assert "systemctl enable --now punto-kiosk@tty1" in said, said
    trial.place("/etc/chromium.d/trial", DEBUGGED, 0o644)
    trial.run("install", "-d", "-m", "0700", "-o", "punto-kiosk", RUNTIME, "/var/lib/punto-kiosk")
    settings = trial.settings("punto-kiosk@.service")
    (command,), (pause,) = settings["ExecStart"], settings["RestartSec"]
    session = f"while :; do {command}; sleep {pause}; done"  # as Restart=always
    with trial.running("env", *SCREEN_IN_MEMORY, "sh", "-c", session, user="punto-kiosk"):
        with step("the kiosk waits for its server", trial.root):
            wait_for_screen(trial, "Waiting for the display's server")
        with dealing(trial, 2):
            with trial.unit("punto-display@.service", TABLE):
                with step("the board is shown", trial.root):
                    wait_for_screen(trial, "Banker")
                with step("Chromium is killed, and the board is shown again", trial.root):
                    trial.run("sh", "-c", KILL_BROWSER)
                    wait_for_screen(trial, "Banker")
            wait_for_screen(trial, "NOT LIVE")
            with (
                step("the server starts again, and the board is live", trial.root),
                trial.unit("punto-display@.service", TABLE),
            ):
                wait_for_screen(trial, "NOT LIVE", shown=False)
                picture(trial)
    trial.run("sh", "-c", "kill -KILL -1", user="punto-kiosk")  # what is left of the session
    with step(f"purge {kiosk.name}", trial.root):
        trial.run("apt-get", "purge", "--yes", "punto-kiosk")
    left = [each for each in trial.files() if "punto-kiosk" in each]
    assert {each for each in left if not each.startswith(("/root/", RUNTIME))} == set(), left


def picture(trial: Trial) -> None:
    """Take a picture of the screen, for a person to look at."""
    file = f"{RUNTIME}/screen.png"
    trial.run("env", *SCREEN_IN_MEMORY, "grim", file, user="punto-kiosk")
    kept = ROOT / "build" / "kiosk.png"
    shutil.copy(trial.root / file.lstrip("/"), kept)
    print(f"the picture of the screen is in {kept}", flush=True)


def wait_for_screen(trial: Trial, text: str, *, shown: bool = True) -> None:
    """Wait until the page on the screen has a text, or has it no longer."""

    def so() -> bool:
        read = subprocess.run(
            ["nsenter", "-t", str(trial.first), "-n", sys.executable, "-c", ON_SCREEN],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return read.returncode == 0 and (text.casefold() in read.stdout.casefold()) is shown

    wait_until(so, f"the screen shows {text!r}", trial)


def install_example(trial: Trial, package: Path, config: str) -> None:
    """Install the example of a configuration as the package's README.Debian says."""
    readme = trial.root / "usr/share/doc" / package.name.split("_")[0] / "README.Debian"
    (line,) = re.findall(
        rf"^    (install .* {re.escape(config)})$", readme.read_text(encoding="utf-8"), re.MULTILINE
    )
    trial.run(*line.split())


def wait_for(trial: Trial, text: str, what: str) -> None:
    """Wait until a program that runs has said something."""
    wait_until(lambda: text in trial.said(), what, trial)


def wait_until(done: Callable[[], bool], what: str, trial: Trial) -> None:
    """Wait until something is so."""
    until = time.monotonic() + DEADLINE
    while not done():
        assert time.monotonic() < until, f"{what}: not so\n{trial.said()[-SAID:]}"
        time.sleep(0.1)


def configure(trial: Trial) -> None:
    """Set up a table with a virtual shoe."""
    said = set_up(trial, TABLE, simulation=True)
    assert re.search("^rehearsal .*; proven, and put aside", said, re.MULTILINE), said
    trial.place(UDEV_RULE, "# the line of an adapter\n", 0o644)


def set_up(trial: Trial, table: str, *options: str, simulation: bool) -> str:
    """Set up a table by a file of answers, and return what the command says."""
    answers = ANSWERS.format(table=table, simulation=str(simulation).lower())
    trial.place("/root/answers.toml", answers, 0o600)
    trial.place("/root/passwords", f"{PASSWORD}\n", 0o600)
    given = ("--answers", "/root/answers.toml", "--passwords", "/root/passwords")
    said = trial.run("punto", "setup", *given, *options)
    for each in ("answers.toml", "passwords"):
        (trial.root / "root" / each).unlink()
    return said


def deal(trial: Trial, rounds: int = 2) -> None:
    """Have the unit's program deal hands from a virtual shoe, and prove them."""
    with dealing(trial, rounds):
        pass
    trial.run("punto", "replay", RECORD, user=f"punto-{TABLE}")


@contextmanager
def dealing(trial: Trial, rounds: int) -> Iterator[None]:
    """Have the unit's program deal from a virtual shoe, until the end of the block, which begins after so many rounds."""
    user = f"punto-{TABLE}"

    def ordered(name: str) -> bool:
        ask = ("punto", "operator", "--wait", "--config", CONFIG, "--as", "Mei", name)
        done = subprocess.run(
            trial.command(*ask, user=user), input=f"{PASSWORD}\n", text=True, capture_output=True, check=False
        )
        return done.returncode == 0

    first = rounds_of(trial)
    (trial.root / SOCKET.lstrip("/")).unlink(missing_ok=True)  # of a service that was killed
    shoe = ("punto", "shoe", "--link", SHOE, "--key-file", SHOE_KEY, "--between", "0.1")
    with (
        trial.unit("mosquitto.service"),
        trial.running(*shoe, "--quiet", user=user),
        trial.unit("punto@.service", TABLE) as table,
    ):

        def until(done: Callable[[], bool], what: str) -> None:
            wait_until(lambda: done() or table.poll() is not None, what, trial)
            assert table.poll() is None, f"the service has ended\n{trial.said()[-SAID:]}"

        until(
            lambda: (
                (trial.root / SOCKET.lstrip("/")).exists()
                and '"shoe connected"' in trial.said()
                and '"broker connected"' in trial.said()
            ),
            "the shoe and the broker are connected",
        )
        for name in ("sign-on", "change-shoe"):  # a hand may be going that an earlier start has left
            until(partial(ordered, name), f"the order {name} is accepted")
        for dealt in range(1, rounds + 1):
            until(partial(has_rounds, trial, first + dealt), f"{dealt} of {rounds} hands are dealt")
        yield


def has_rounds(trial: Trial, least: int) -> bool:
    """Whether at least so many rounds are recorded."""
    return rounds_of(trial) >= least


def rounds_of(trial: Trial) -> int:
    """The number of rounds that are recorded."""
    record = trial.root / RECORD.lstrip("/")
    if not record.exists():
        return 0
    with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM rounds").fetchone()[0])
        except sqlite3.OperationalError:  # it is being made
            return 0


def add_table(trial: Trial, rounds: int) -> None:
    """Set up a second table with a long record."""
    set_up(trial, OTHER, "--no-rehearsal", simulation=False)
    give_record(trial, rounds)


def give_record(trial: Trial, rounds: int) -> None:
    """Give the second table a record with so many rounds."""
    record = trial.root / OTHER_RECORD.lstrip("/")
    for each in record.parent.glob(f"{record.name}*"):
        each.unlink()
    shutil.copy(long_record(trial.root / f"etc/punto/{OTHER}.toml", rounds), record)
    trial.run("chown", "-R", f"punto-{OTHER}:punto-{OTHER}", str(Path(OTHER_RECORD).parent))


def long_record(config: Path, rounds: int) -> Path:
    """A record with many rounds, each of them executed. A later checkout takes the same, because it must prove it too."""
    kept = ROOT / "build" / f"record-{rounds}.db"
    if not kept.exists():
        unfinished = kept.with_suffix(".new.db")
        unfinished.unlink(missing_ok=True)
        (settings,) = load_configs(config)
        with closing(schema.open_for_writing(unfinished)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            written = Record(connection, settings.settings())
            while written.state.round.number <= rounds:
                written.play_shoe()
            connection.execute("COMMIT")
        unfinished.rename(kept)
    return kept


def refuse_a_changed_record(trial: Trial, old: str) -> None:
    """A record that somebody has changed is not proven, so the version stays."""
    record = trial.root / OTHER_RECORD.lstrip("/")
    kept = record.read_bytes()
    with closing(sqlite3.connect(record)) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE rounds SET player_total = 9 - player_total WHERE round = 1")
        connection.commit()
    said = trial.run("punto", "upgrade", fails=True)
    assert f"version {old} stays in use" in said, said
    assert f"does not prove the record {OTHER_RECORD}" in said, said
    assert trial.version() == BEFORE
    for each in record.parent.glob(f"{record.name}-*"):
        each.unlink()
    record.write_bytes(kept)


def keep_what_runs(trial: Trial, old: str) -> None:
    """A package that is installed while a table runs takes nothing over."""
    trial.place("/usr/local/bin/systemctl", SYSTEMCTL)
    (trial.root / "run/systemd/system").mkdir(parents=True)
    said = trial.run("/usr/lib/punto/versions", "install")
    assert f"tables are running, so version {old} stays in use" in said, said
    assert trial.version() == BEFORE
    shutil.rmtree(trial.root / "run/systemd/system")
    (trial.root / "usr/local/bin/systemctl").unlink()


def built(release: str, out: Path, *names: str, version: str | None = None) -> list[Path]:
    """The packages with these names, built now if they are not there."""
    found = [
        next(out.glob(f"{name}_{version or '[0-9]'}*+deb{release}_{this_architecture()}.deb"), None)
        for name in names
    ]
    if None not in found:
        return [each for each in found if each is not None]
    other = ("--as-version", version) if version else ()
    subprocess.run(
        [sys.executable, "-m", "tools.packages", "--debian", release, "--out", out, *other, *names],
        check=True, cwd=ROOT,
    )  # fmt: skip
    return built(release, out, *names, version=version)


def try_packages(release: str, packages: Path, rounds: int) -> None:
    """Try the packages of one release of Debian."""
    (before,) = built(release, packages / "before", "punto", version=BEFORE)
    after, display, house = built(release, packages, "punto", "punto-display", "punto-house")
    (kiosk,) = packages.glob("punto-kiosk_*_all.deb")
    with step("lintian", packages):
        subprocess.run(
            ["lintian", "--allow-root", "--fail-on", "error,warning", after, display, house, kiosk],
            check=True,
        )
    with clean(release, KIOSK) as trial:
        try_kiosk(trial, after, kiosk)
    with clean(release) as trial:
        try_display(trial, display)
        try_house(trial, house)
        try_table(trial, before, after, rounds)


def main() -> int:
    """Try the packages of each release of Debian."""
    parser = argparse.ArgumentParser(prog="python -m tests.deploy.package_trial", description=__doc__)
    parser.add_argument("--debian", choices=PYTHONS, help="the release of Debian; each by default")
    parser.add_argument("--rounds", type=int, default=100_000, help="rounds of the record that is upgraded")
    parser.add_argument(
        "--packages", type=Path, help="a folder with packages that are built, for another run"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="punto-package-") as folder:
        for release in [args.debian] if args.debian else PYTHONS:
            try_packages(release, args.packages or Path(folder), args.rounds)
    print("the packages hold what they promise")
    return 0


if __name__ == "__main__":
    sys.exit(main())
