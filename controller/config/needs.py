"""What a table's service needs on its machine: the files that its user must be able to use, and the group of its socket."""

import grp
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from punto.controller.config.file import ServiceConfig
from punto.runtime.permissions import Obstacle, User, obstacle
from punto.runtime.secret_file import is_credential

_WRITE: Final = os.R_OK | os.W_OK
REPLACEABLE: Final = frozenset({"keypad", "card_reader"})
"""The devices without which the table goes on: their orders can be given at a console."""


class Need(NamedTuple):
    """A file of the service: the configuration's key that names it, and the access that the service needs."""

    key: str
    path: Path
    access: int = os.R_OK

    @property
    def stops_the_table(self) -> bool:
        """Whether the table cannot start without the file."""
        return self.key.partition(".")[0] not in REPLACEABLE


def needs(config: ServiceConfig, file: Path) -> Iterator[Need]:
    """The files of a table's service; `file` is its configuration. A credential of systemd is not among them: systemd reads it."""
    yield Need("", file)
    yield from (
        Need(key, path) for key, path in _named(config) if path is not None and not is_credential(path)
    )
    if config.progressive is not None:
        files = config.progressive.key_files(config.table.id)
        yield from (Need("progressive.key_folder", path) for _, path in files)
    written = [("record.path", config.record.path)]
    if config.accounts is not None:
        written.append(("accounts.path", config.accounts.path))
    for key, path in written:
        yield Need(key, path.parent, _WRITE | os.X_OK)
        yield Need(key, path, _WRITE)


def secrets_of(config: ServiceConfig) -> Iterator[Need]:
    """The files with the secrets of a table's service, credentials among them."""
    yield from (
        Need(key, path)
        for key, path in _named(config)
        if path is not None and not key.endswith(("ca_file", "certificate"))
    )
    if config.progressive is not None:
        files = config.progressive.key_files(config.table.id)
        yield from (Need("progressive.key_folder", path) for _, path in files)


def _named(config: ServiceConfig) -> Iterator[tuple[str, Path | None]]:
    """The keys of the configuration that can name a file of a secret or a certificate."""
    yield from ((f"{section}.key_file", device.key_file) for section, device in config.devices())
    mqtt, console = config.mqtt, config.console
    if mqtt is not None:
        for name in ("password_file", "ca_file", "certificate", "key"):
            yield f"mqtt.{name}", getattr(mqtt, name)
        yield "mqtt.key_folder", mqtt.key_file(config.table.id)
    if console is not None:
        yield "console.certificate", console.certificate
        yield "console.key", console.key


def obstacles(config: ServiceConfig, file: Path, user: User) -> Iterator[tuple[Need, Obstacle]]:
    """The files that this user cannot use as the service needs, each with what stands in the way. A folder stands there once."""
    seen = set[Path]()
    for need in needs(config, file):
        found = obstacle(need.path, user, need.access)
        if found is not None and found.path not in seen:
            seen.add(found.path)
            yield need, found


def missing_group(config: ServiceConfig) -> str | None:
    """The group of the operators' socket, if this machine does not have it."""
    group = None if config.operator is None else config.operator.group
    if group is None:
        return None
    try:
        grp.getgrnam(group)
    except KeyError:
        return group
    return None


def unit_user(file: Path) -> User | None:
    """The user of the unit `punto@NAME` of this configuration, `punto-NAME`, if this machine has it."""
    try:
        return User.named(f"punto-{file.stem}")
    except LookupError:
        return None
