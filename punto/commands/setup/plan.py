"""What is done for a table's answers: the steps in their order. The plan is pure; `machine.py` carries it out."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from punto.commands.setup.answers import Answers, DeviceAnswer
from punto.commands.setup.configuration import display_config, key_file, table_config
from punto.commands.setup.page import pit_page
from punto.runtime.made_files import FOR_ALL, OWN, SHARED

CONFIGS: Final = Path("/etc/punto")
DISPLAYS: Final = Path("/etc/punto-display")
BROKER: Final = Path("/etc/punto-broker")
MOSQUITTO: Final = Path("/etc/mosquitto")
RULES: Final = Path("/etc/udev/rules.d")

_HOW_TO_CHANGE: Final = "# The answers of this table. Change them, and run `punto setup --answers {}`.\n"

Origin = Literal["absent", "same", "ours", "edited", "theirs"]
"""How a file stands that is to be written: `same` has the text already, `ours` has an earlier text of this program, `edited` has this
text as a person changed it since, and `theirs` is another file.
"""


@dataclass(frozen=True, slots=True)
class File:
    """A text file of the setup. `shared` says that people change it too. It is false for the page, and for the answers, which the setup has just read."""

    path: Path
    text: str
    group: str = "root"
    mode: int = FOR_ALL
    shared: bool = True

    @property
    def signed(self) -> str:
        """The text, with a first line by which the program recognises a file that a person has changed since."""
        return f"{_first_line(self.text)}\n{self.text}" if self.shared else self.text

    def origin(self, there: str | None) -> Origin:
        """How the file stands that is there."""
        if there is None:
            return "absent"
        if there == self.signed:
            return "same"
        if not self.shared:
            return "ours"
        first, _, body = there.partition("\n")
        if first == _first_line(body):
            return "ours"
        return "edited" if first == _first_line(self.text) else "theirs"


def _first_line(body: str) -> str:
    digest = hashlib.sha256(body.encode()).hexdigest()[:16]
    return f"# Written by `punto setup` ({digest}). It leaves your changes alone, until its answers change too: then it keeps this file beside the new one."


@dataclass(frozen=True, slots=True)
class Once:
    """A text file that is only written if it is not there, because people change it."""

    path: Path
    text: str
    mode: int = FOR_ALL


@dataclass(frozen=True, slots=True)
class Key:
    """A device's key, made once."""

    path: Path
    group: str
    section: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate for pages at this address, and its key; made once, and again if the address changes."""

    path: Path
    key: Path
    group: str
    host: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A secret that only root reads, copied from the file that has it."""

    path: Path
    source: Path
    mode: int = OWN
    group: str = "root"


@dataclass(frozen=True, slots=True)
class BrokerUsers:
    """The users of this PC's broker, of all tables of this PC."""

    out: Path


@dataclass(frozen=True, slots=True)
class PortRule:
    """The udev rule that gives a device to the group of its table. It has the numbers of the adapter, so it needs the adapter."""

    path: Path
    devices: tuple[tuple[str, DeviceAnswer], ...]
    group: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the system; with `after`, only if one of these files has changed."""

    words: tuple[str, ...]
    text: str = ""
    after: tuple[Path, ...] = ()


Step = File | Once | Key | Certificate | Copy | BrokerUsers | PortRule | Command


def template(name: str) -> str:
    """A file of systemd/ that ships in the package too."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def answers_file(table: str) -> Path:
    """Where the answers of a table are kept. Its name does not end in .toml, because it is not a configuration."""
    return CONFIGS / f"{table}.answers"


def config_file(table: str) -> Path:
    """The configuration of a table."""
    return CONFIGS / f"{table}.toml"


def display_file(table: str) -> Path:
    """The configuration of a table's display."""
    return DISPLAYS / f"{table}.toml"


def pit_file(table: str) -> Path:
    """The page for the pit."""
    return CONFIGS / f"{table}.html"


def group_of(table: str) -> str:
    """The user of the table's service, and its group."""
    return f"punto-{table}"


def plan_of(answers: Answers, *, mosquitto: bool = True) -> Sequence[Step]:
    """The steps, in their order. `mosquitto` says whether this PC has a Mosquitto, and `answers` has its ports.

    Raises:
        ConfigError: the game cannot be read.
    """
    table = answers.table
    group = group_of(table)
    steps: list[Step] = [*_users_and_folders(table)]
    steps += (
        Key(CONFIGS / key_file(answers, name), group, name) for name, each in answers.devices() if each.keyed
    )
    if not answers.console.on_loopback:
        files_ = (CONFIGS / f"{table}.pem", CONFIGS / f"{table}.key")
        steps.append(Certificate(*files_, group, answers.console.host))
    steps += [
        File(config_file(table), table_config(answers), group, SHARED),
        File(display_file(table), display_config(answers), "punto-display", SHARED),
        File(
            answers_file(table),
            f"{_HOW_TO_CHANGE.format(answers_file(table))}{answers.text()}",
            mode=OWN,
            shared=False,
        ),
        File(pit_file(table), pit_page(answers), "punto", SHARED, shared=False),
        *_devices(answers, group),
        *_broker(answers, mosquitto=mosquitto),
    ]
    return steps


def _users_and_folders(table: str) -> Iterator[Step]:
    users, folders = (
        template(f"{kind}.conf") + template(f"{kind}-table.conf").replace("TABLE", table)
        for kind in ("sysusers", "tmpfiles")
    )
    kept = Path(f"/etc/tmpfiles.d/punto-{table}.conf")
    yield Command(("systemd-sysusers", "-"), users)
    yield File(kept, template("tmpfiles-table.conf").replace("TABLE", table))
    yield Command(("systemd-tmpfiles", "--create", "-"), folders)


def _devices(answers: Answers, group: str) -> Iterator[Step]:
    devices = tuple(answers.devices())
    if devices:
        rule = RULES / f"61-punto-{answers.table}.rules"
        yield PortRule(rule, devices, group)
        yield Command(("udevadm", "control", "--reload"), after=(rule,))
        yield Command(("udevadm", "trigger"), after=(rule,))


def _broker(answers: Answers, *, mosquitto: bool) -> Iterator[Step]:
    table = answers.table
    if answers.broker is None:
        made = BROKER / "passwords"
        yield BrokerUsers(BROKER)
    elif answers.broker.passwords is not None:
        made = Path(answers.broker.passwords)
    else:
        return
    yield Copy(CONFIGS / f"{table}.mqtt-password", made / table)
    yield Copy(DISPLAYS / f"{table}.mqtt-password", made / f"{table}-display")
    if answers.broker is None and mosquitto:
        config = MOSQUITTO / "conf.d" / "punto.conf"
        lists = (MOSQUITTO / "punto.acl", MOSQUITTO / "punto.passwd")
        yield Once(config, files("punto.configs").joinpath("mosquitto.conf").read_text(encoding="utf-8"))
        yield from (Copy(each, BROKER / each.name, SHARED, "mosquitto") for each in lists)
        yield Command(("systemctl", "restart", "mosquitto"), after=(config,))
        yield Command(("systemctl", "reload", "mosquitto"), after=lists)
