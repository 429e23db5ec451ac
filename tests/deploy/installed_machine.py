"""A machine on which docs/how-to/install-by-hand.md was followed, and what systemd does there with the units that ship.

A program of a unit has the unit's user, groups, folders, credentials, system calls and address families, and may make no
memory executable. It sees all files of the machine: only modes and owners keep it out.

It is a mount and a network namespace of its own: /etc is a copy, /run, /var/lib and /var/log are empty, and nothing of it
is left when its first process ends. Each command of the document's section "Install" is carried out there as it is written, but for
those that need a package manager, a running systemd or a person; the stand-ins for these are below. Users, groups, modes, paths
and passwords all come from the files that ship.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.controller.table_on_a_machine import HERE, Program, wait_until
from tests.deadline import DEADLINE
from tests.documents.blocks import blocks_of

NAMESPACES = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
TOOLS = ("unshare", "nsenter", "setpriv", "ip", "systemd-sysusers", "systemd-tmpfiles", "systemd-analyze")
INSTANCE = "table-1"
SUPERVISOR = {"name": "Mei", "password": "a long password"}
"""The account that the document makes."""
DYNAMIC_USER = 61184
"""The first number that systemd gives to a `DynamicUser=` (systemd.exec(5))."""

_STAND_INS = {
    **dict.fromkeys(
        ["apt", "editor", "journalctl", "ln", "pip", "python3", "systemctl", "udevadm"], "exit 0"
    ),
    "sudo": 'user="$2"; shift 2; exec setpriv --reuid="$user" --regid="$user" --init-groups "$@"',
    "punto": f'exec {shlex.quote(sys.executable)} -m punto "$@"',
    # Without -I, which keeps Python from this checkout: it is on PYTHONPATH.
    "python": f'[ "$1" = -I ] && shift; exec {shlex.quote(sys.executable)} "$@"',
}
_OWN_NAMESPACE = """
set -e
ip link set lo up
mount -t tmpfs tmpfs "$1" && cp -a /etc "$1" && mount --bind "$1/etc" /etc && umount -l "$1"
for empty in /run /var/lib /var/log; do mount -t tmpfs -o mode=0755 tmpfs $empty; done
install -d -o mosquitto /var/lib/mosquitto /var/log/mosquitto /run/mosquitto
mkdir -p /etc/systemd/system /etc/tmpfiles.d /etc/udev/rules.d
mount -t tmpfs -o mode=0755 tmpfs "$1"
"""


class Machine(Program):
    """The installed machine; as a context it runs until the end of the block, and all its programs with it."""

    def __init__(self, folder: Path) -> None:
        self._stand_ins = Path(tempfile.mkdtemp(prefix="punto-", dir="/tmp"))
        self._stand_ins.chmod(0o755)
        script = "\n".join([_OWN_NAMESPACE, *_open_to_others(), "echo ready", "exec sleep infinity"])
        super().__init__(folder / "machine.log", *NAMESPACES, "sh", "-c", script, "sh", self._stand_ins)

    def start(self) -> None:
        """Start it and set it up by the document."""
        super().start()
        try:
            self._set_up()
        except BaseException:  # a context that could not be entered is not left either
            self.kill()
            raise

    def _set_up(self) -> None:
        wait_until(lambda: "ready" in self.said() or not self.running, "the machine is up")
        assert self.running, self.said()
        for name, does in _STAND_INS.items():
            stand_in = self.path(self._stand_ins / name)
            stand_in.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
            stand_in.chmod(0o755)
        self.follow("Install")

    def kill(self) -> None:
        """End it and every program on it."""
        super().kill()
        shutil.rmtree(self._stand_ins, ignore_errors=True)

    def path(self, path: str | Path) -> Path:
        """Where a file of the machine is seen from here."""
        return Path(f"/proc/{self._first}/root{path}")

    def inside(self, *command: str | Path, identity: Iterable[str] = ()) -> list[str]:
        """A command line that runs the command there, as root or with an identity."""
        path = f"PATH={self._stand_ins}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        enter = ["nsenter", "-t", str(self._first), "-m", "-n", "-p", "env", "-C", str(HERE), path]
        return [*enter, f"PYTHONPATH={HERE}", *identity, *map(str, command)]

    def run(
        self, *command: str | Path, identity: Iterable[str] = (), typed: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command there to its end."""
        return subprocess.run(
            self.inside(*command, identity=identity),
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE,
        )

    def must(self, *command: str | Path, identity: Iterable[str] = (), typed: str = "") -> str:
        """Run a command there that has to succeed, and return what it says."""
        done = self.run(*command, identity=identity, typed=typed)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def identity(self, user: str, groups: Iterable[str] = ()) -> list[str]:
        """What makes a program this user's, as systemd and a login do: with the user's groups, and these."""
        numbers = self.run("id", "-G", user).stdout.split() or [user]  # a dynamic user is in no database
        numbers += [self.must("getent", "group", group).split(":")[2] for group in groups]
        their = self.run("id", "-u", user).stdout.strip() or user
        return [
            "setpriv",
            f"--reuid={their}",
            f"--regid={numbers[0]}",
            f"--groups={','.join(numbers)}",
            "--inh-caps=-all",
            "--no-new-privs",
        ]

    def files(self, *folders: str | Path) -> set[str]:
        """Every file and socket in these folders of the machine, symbolic links aside."""
        found = self.must("find", *folders, "(", "-type", "f", "-o", "-type", "s", ")")
        return set(found.splitlines())

    @property
    def _first(self) -> int:
        """The machine's first process, which is a child of the one that was started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(
            encoding="ascii"
        )
        return int(children.split()[0])

    def follow(self, section: str, table: str = INSTANCE) -> None:
        """Carry out a section of the document, for a table in place of `INSTANCE`."""
        for written in installation(section):
            line = written.replace("/opt/punto/bin/", "").replace(INSTANCE, table)
            makes_an_account = " punto operators " in line
            self.must("sh", "-ec", line, typed=f"{SUPERVISOR['password']}\n" if makes_an_account else "")


def namespaces_allowed() -> bool:
    """Whether this process may make namespaces: root in a container may not always."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NAMESPACES, "true"], check=False, capture_output=True).returncode == 0


def installation(section: str = "Install") -> list[str]:
    """The commands of a section of docs/how-to/install-by-hand.md, a line each."""
    page = (HERE / "docs" / "how-to" / "install-by-hand.md").read_text(encoding="utf-8")
    text = re.split(r"\n##+ ", page.split(f"# {section}\n")[-1])[0]
    return [line for block in blocks_of(text) if block.language == "sh" for line in block.text.splitlines()]


class Unit(Program):
    """A unit that ships, as systemd would run it for an instance."""

    def __init__(self, folder: Path, machine: Machine, name: str, instance: str = INSTANCE) -> None:
        self._machine = machine
        self.instance = instance
        self.name = f"{name}@{instance}.service"
        text = (HERE / "systemd" / f"{name}@.service").read_text(encoding="utf-8").replace("%i", instance)
        self._settings = re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE)
        super().__init__(folder / f"{self.name}.log")

    def all(self, key: str) -> list[str]:
        """Every word of a setting, which may be given several times."""
        return [word for name, value in self._settings if name == key for word in value.split()]

    @property
    def user(self) -> str:
        """Whose it is; a dynamic user is a number that has no name."""
        return self.all("User")[0] if self.all("User") else str(DYNAMIC_USER)

    @property
    def identity(self) -> list[str]:
        """What makes a program run with this unit's user and groups."""
        return self._machine.identity(self.user, self.all("SupplementaryGroups"))

    @property
    def config(self) -> str:
        """The configuration that it is started with."""
        words = self.all("ExecStart")
        return words[words.index("--config") + 1]

    @property
    def credentials(self) -> str:
        """Where systemd puts its credentials."""
        return f"/run/credentials/{self.name}"

    @property
    def secrets(self) -> dict[str, str]:
        """Its credentials: where each is read from, and where its copy is."""
        loaded = (each.split(":") for each in self.all("LoadCredential"))
        return {source: f"{self.credentials}/{name}" for name, source in loaded}

    def start(self) -> None:
        """Start it."""
        must, user = self._machine.must, self.user
        for key, parent in (("RuntimeDirectory", "/run"), ("StateDirectory", "/var/lib")):
            for name in self.all(key):
                mode = (self.all(f"{key}Mode") or ["0755"])[0]
                must("install", "-d", "-m", mode, "-o", user, "-g", self.all("Group")[0], f"{parent}/{name}")
        must("install", "-d", "-m", "0711", "/run/credentials")
        must("install", "-d", "-m", "0500", "-o", user, self.credentials)
        for source, copy in self.secrets.items():
            must("install", "-m", "0400", "-o", user, source, copy)
        program, *arguments = self.all("ExecStart")
        given = f"CREDENTIALS_DIRECTORY={self.credentials}"
        filters = [value for key, value in self._settings if key == "SystemCallFilter"]
        sandbox = (sys.executable, "-m", "tests.deploy.sandbox", json.dumps(filters))
        families = ",".join(self.all("RestrictAddressFamilies"))
        self._command = tuple(
            self._machine.inside(
                *("env", given, "sh", "-c", f'umask {self.all("UMask")[0]}; exec "$@"', "sh"),
                *(*sandbox, families, Path(program).name, *arguments),
                identity=[*self.identity[:-1], "--bounding-set=-all", self.identity[-1]],
            )
        )
        super().start()


def _open_to_others() -> Iterator[str]:
    """Commands that put Python and this checkout where any user of the machine can read them.

    On a developer's machine they may lie in a home that nobody else can enter; on a table's they lie in /opt.
    """
    needed = [path.resolve() for path in (HERE, Path(sys.prefix), Path(sys.base_prefix))]
    closed = {
        next((each for each in reversed(path.parents) if not each.stat().st_mode & 0o001), None)
        for path in needed
    } - {None}
    for number, path in enumerate(needed):
        yield f'mkdir "$1/{number}" && mount --bind {shlex.quote(str(path))} "$1/{number}"'
    for folder in closed:
        yield f"mount -t tmpfs -o mode=0755 tmpfs {shlex.quote(str(folder))}"
    for number, path in enumerate(needed):
        if closed & set(path.parents):
            where = shlex.quote(str(path))
            yield f'mkdir -p {where} && mount --bind "$1/{number}" {where}'
