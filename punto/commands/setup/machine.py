"""Carries out the plan on this PC, or on a disk that is mounted at a folder: each file is whole or not there, and nothing is done twice."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import singledispatchmethod
from pathlib import Path
from shlex import join
from typing import Final

from punto.commands import certificate
from punto.commands.broker_users import make_users
from punto.commands.device_key import make_key
from punto.commands.setup.plan import (
    CONFIGS,
    BrokerUsers,
    Certificate,
    Command,
    Copy,
    File,
    Key,
    Once,
    PortRule,
    Step,
)
from punto.configs.given_files import read_given
from punto.configs.problems import ConfigError
from punto.configs.text_file import read_text
from punto.configs.toml_file import read
from punto.doctor.ports import rule_of
from punto.runtime.made_files import OWN, SHARED, write_file

_LARGEST: Final = 4_000_000
SYSTEMD: Final = Path("/run/systemd/system")
_TAKES_A_ROOT: Final = {"systemd-sysusers", "systemd-tmpfiles"}
_OF_A_RUNNING_PC: Final = {"systemctl": SYSTEMD, "udevadm": Path("/run/udev/control")}
"""The commands that need a running part of the PC, and the path that this part has."""


class SetupError(Exception):
    """The setup cannot go on. The message says what to do."""


def placed(path: Path, root: Path | None) -> Path:
    """Where a path of the PC is if its disk is mounted at `root`."""
    return path if root is None else root / path.relative_to("/")


class Machine:
    """The PC. With `root`, its disk is mounted there and it does not run. `say` gets a line for each change."""

    def __init__(self, root: Path | None, say: Callable[[str], None]) -> None:
        self.root = root
        self._say = say
        self.changed: set[Path] = set()

    def place(self, path: Path) -> Path:
        """Where a path of the PC is now."""
        return placed(path, self.root)

    def number(self, name: str, of: str = "group") -> int:
        """The number of a user (`of="passwd"`) or of a group of the PC.

        Raises:
            SetupError: it does not exist.
        """
        if name == "root":
            return 0
        with suppress(OSError):
            for line in read_text(self.place(Path("/etc", of))).splitlines():
                found = line.split(":")
                if found[0] == name:
                    return int(found[2])
        raise SetupError(
            f"{self.place(Path('/etc', of))} does not have {name}: install what makes it, and run the command again"
        )

    def tables(self) -> list[Path]:
        """The configurations of all tables of the PC."""
        found = []
        for path in sorted(self.place(CONFIGS).glob("*.toml")):
            with suppress(ConfigError):
                if "table" in read(path).document:
                    found.append(path)
        return found

    def carry_out(self, steps: Iterable[Step]) -> None:
        """Carry out all steps.

        Raises:
            SetupError: a step fails.
            ConfigError: a table's configuration cannot be read.
        """
        for step in steps:
            try:
                self._do(step)
            except OSError as error:
                message = f"{error.filename or step}: {error.strerror or error}"
                raise SetupError(f"{message}. Mend this, and run the command again") from error

    @singledispatchmethod
    def _do(self, step: Step) -> None:
        raise NotImplementedError(step)

    @_do.register
    def _(self, step: File) -> None:
        path = self.place(step.path)
        there = _text(path)
        origin = step.origin(there)
        if origin == "edited":
            self._say(f"left alone  {step.path}: you have changed it, and its answers are the same")
        if origin in {"absent", "ours", "theirs"}:
            former = self._former(path) if origin == "theirs" else None
            self._write(step.path, step.signed.encode(), step.mode)
            if former is not None:
                self._say(
                    f"kept        {former}: copy your changes from there; `diff {former} {path}` shows them"
                )
        self._own(path, step.group, step.mode)

    @_do.register
    def _(self, step: Once) -> None:
        path = self.place(step.path)
        there = _text(path)
        if there is None:
            self._write(step.path, step.text.encode(), step.mode)
        elif there != step.text:
            self._say(f"left alone  {step.path}: it is not the file that ships with Punto")

    @_do.register
    def _(self, step: Key) -> None:
        path = self.place(step.path)
        if not path.exists():
            make_key(path)
            self._made(step.path)
        self._own(path, step.group, SHARED)

    @_do.register
    def _(self, step: Certificate) -> None:
        path, key = self.place(step.path), self.place(step.key)
        now = datetime.now(UTC)
        if certificate.must_be_made(path, key, step.host, now):
            made = certificate.make(step.path.stem, step.host, now)
            self._write(step.key, made.key, OWN)
            self._write(step.path, made.certificate, OWN)
        self._own(path, step.group, SHARED)
        self._own(key, step.group, SHARED)

    @_do.register
    def _(self, step: Copy) -> None:
        placed = self.place(step.source)
        source = placed if placed.exists() else step.source
        content = read_given(source, _LARGEST)
        path = self.place(step.path)
        if not path.exists() or read_given(path, _LARGEST) != content:
            self._write(step.path, content, OWN)
        self._own(path, step.group, step.mode)

    @_do.register
    def _(self, step: BrokerUsers) -> None:
        out = self.place(step.out)
        names = ("punto.acl", "punto.passwd")
        before = {name: _text(out / name) for name in names}
        make_users(self.tables(), out)
        for name in names:
            if _text(out / name) != before[name]:
                self._made(step.out / name)
            in_use = self.place(Path("/etc/mosquitto", name))
            if before[name] is not None and _text(in_use) not in {None, before[name], _text(out / name)}:
                self._say(f"kept        {self._former(in_use)}: another program or a person has changed it")

    @_do.register
    def _(self, step: PortRule) -> None:
        rules = []
        for section, device in step.devices:
            path = Path(device.path)
            rule = rule_of(path, step.group) if path.exists() else None
            if rule is None and not path.exists():
                why = "it is not there: plug it in, and run the command again"
                self._say(f"not allowed {section} at {path}: {why}")
            elif rule is None:
                self._say(
                    f"not allowed {section} at {path}: it is not a USB device, so write a udev rule for it"
                )
            else:
                rules.append(f"{rule}\n")
        if rules and len(rules) == len(step.devices):
            self._do(File(step.path, "".join(rules)))

    @_do.register
    def _(self, step: Command) -> None:
        if step.after and not self.changed.intersection(step.after):
            return
        program, *others = step.words
        running = _OF_A_RUNNING_PC.get(program)
        if running is not None and (self.root is not None or not running.exists()):
            if self.root is None:
                self._say(f"not run     {join(step.words)}: {program} has nothing to talk to here")
            return
        at = [f"--root={self.root}"] if self.root is not None and program in _TAKES_A_ROOT else []
        self.run([program, *at, *others], step.text)

    def run(self, words: Sequence[str], text: str = "") -> None:
        """Run a command of the system to its end.

        Raises:
            SetupError: it is not installed, or it fails.
        """
        if shutil.which(words[0]) is None:
            raise SetupError(f"{words[0]} is not installed: install it, and run the command again")
        done = subprocess.run(  # noqa: S603 - no shell
            words,
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip() or f"exit status {done.returncode}"
            raise SetupError(f"`{join(words)}` fails: {said}")

    def _write(self, path: Path, content: bytes, mode: int) -> None:
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, content, mode)
        self._made(path)

    def _made(self, path: Path) -> None:
        self.changed.add(path)
        self._say(f"wrote       {path}")

    def _own(self, path: Path, group: str, mode: int) -> None:
        """Give a file to root and a group: first the group, so that no other group reads it for a moment."""
        os.chown(path, 0, self.number(group))
        path.chmod(mode)

    def _former(self, path: Path) -> Path:
        """Keep a file beside the one that takes its place."""
        former = path.with_name(f"{path.name}.former-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
        os.link(path, former)
        return former


def _text(path: Path) -> str | None:
    return read_given(path, _LARGEST).decode(errors="replace") if path.exists() else None
