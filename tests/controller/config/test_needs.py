"""What `punto check-config` finds on the machine of a table: files that the service's user cannot use, and what is not there."""

import asyncio
import os
import subprocess
from errno import EACCES
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from punto.commands import check_config
from punto.commands.run import devices_of
from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config
from punto.drivers import cable
from punto.runtime import secret_file
from punto.runtime.permissions import User, obstacle
from tests.command import punto
from tests.deadline import DEADLINE

AS = "nobody"
KEY = "ab" * 32
TABLE = """\
version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "mini-baccarat"
[shoe]
port = "shoe"
key_file = "shoe.key"
[keypad]
port = "keypad"
key_file = "keypad.key"
[mqtt]
username = "table-1"
password_file = "password"
[record]
path = "record/table-1.db"
[accounts]
path = "record/operators.db"
[operator]
socket = "record/operator.sock"
[console]
port = 8090
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")


@pytest.fixture
def folder():
    """A folder that every user can enter. pytest closes those above its own to others, again and again."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
def file(folder):
    """A table's configuration with all its files, which the user `nobody` can use."""
    for name in ("shoe", "keypad", "shoe.key", "keypad.key", "password"):
        (folder / name).write_text(f"{KEY}\n")
        (folder / name).chmod(0o604)
    (folder / "record").mkdir()
    (folder / "record").chmod(0o707)
    path = folder / "table-1.toml"
    path.write_text(TABLE)
    path.chmod(0o644)
    return path


def check(*arguments: object) -> subprocess.CompletedProcess[str]:
    return punto("check-config", *map(str, arguments))


def mend(command: str) -> None:
    subprocess.run(["sh", "-c", command], check=True)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("shoe.key", "shoe.key_file"),
        ("password", "mqtt.password_file"),
        ("table-1.toml", "table-1.toml"),
    ],
)
def test_a_file_that_the_services_user_cannot_read_is_an_error_with_its_command(file, name, key):
    (file.parent / name).chmod(0o600)
    ran = check(file, "--as", AS)

    command = f"chgrp {User.named(AS).group} {file.parent / name} && chmod 0640 {file.parent / name}"
    assert ran.returncode == 1
    assert key in ran.stderr
    assert f"the user {AS} cannot read it: run `{command}`" in ran.stderr


@as_root
@pytest.mark.parametrize("name", ["shoe.key", "password", "table-1.toml", "record", "record/table-1.db"])
def test_the_command_gives_the_user_the_access(file, name):
    (file.parent / "record" / "table-1.db").touch()
    (file.parent / "record" / "table-1.db").chmod(0o606)
    (file.parent / name).chmod(0o700)
    refused = check(file, "--as", AS)
    assert refused.returncode == 1
    mend(refused.stderr.split("run `")[1].split("`")[0])

    assert check(file, "--as", AS).returncode == 0


@as_root
def test_a_folder_on_the_way_is_named_and_opened(file):
    file.parent.chmod(0o700)
    refused = check(file, "--as", AS)
    assert f"{file}, below {file.parent}: the user {AS} cannot read it" in refused.stderr
    assert f"run `chmod o+x {file.parent}`" in refused.stderr
    mend(refused.stderr.split("run `")[1].split("`")[0])

    assert check(file, "--as", AS).returncode == 0


def test_an_unreadable_key_of_a_keypad_does_not_stop_the_table(file):
    (file.parent / "keypad.key").chmod(0o600)
    ran = check(file, "--as", AS)

    assert ran.returncode == 0
    (warned,) = [line for line in ran.stdout.splitlines() if "keypad.key_file" in line]
    assert warned.endswith("The table goes on without its keypad")
    assert f"chmod 0640 {file.parent / 'keypad.key'}`" in warned


def test_the_user_of_the_unit_is_the_default(file, monkeypatch):
    monkeypatch.setattr(check_config, "unit_user", lambda path: User.named(AS) if path == file else None)
    (file.parent / "shoe.key").chmod(0o600)

    assert f"the user {AS} cannot read it" in check(file).stderr


def test_a_user_that_the_machine_does_not_have_is_refused(file):
    ran = check(file, "--as", "no-such-user")

    assert (ran.returncode, ran.stderr) == (1, "--as no-such-user: this machine has no such user\n")


def test_a_group_that_does_not_exist_is_an_error_on_the_tables_pc_and_else_a_warning(file):
    file.write_text(TABLE.replace('operator.sock"', 'operator.sock"\ngroup = "no-such-group"'))
    here, elsewhere = check(file, "--as", AS), check(file)

    words = "no-such-group: this machine has no such group: run `groupadd --system no-such-group`"
    assert here.returncode == 1
    assert f"{file}:21: operator.group: {words}" in here.stderr
    assert elsewhere.returncode == 0
    assert f"warning: operator.group {words}" in elsewhere.stdout


def test_a_port_that_is_not_there_is_a_warning_with_the_ports_that_are(file, monkeypatch):
    by_id = file.parent / "by-id"
    by_id.mkdir()
    (by_id / "usb-FTDI-if00").touch()
    monkeypatch.setattr(cable, "BY_ID", by_id)
    (file.parent / "shoe").unlink()
    ran = check(file, "--as", AS)

    place = file.parent / "shoe"
    assert ran.returncode == 0
    assert (
        f"warning: shoe.port {place} does not exist: plug the device in, or correct the path; in {by_id} there is usb-FTDI-if00"
        in ran.stdout.splitlines()
    )


class _User:
    """The user of a keypad's driver, who only wants to know of each change of its link."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    def link_changed(self) -> None:
        self.changed.set()


async def test_a_keypad_is_offline_until_its_key_can_be_read_and_the_table_has_the_other_devices(file):
    key = file.parent / "keypad.key"
    key.unlink()
    devices, user = devices_of(load_config(file)), _User()
    assert devices.keypad is not None
    assert devices.shoe is not None
    # It only hears of its link.
    running = asyncio.create_task(devices.keypad.run(user))  # type: ignore[arg-type]
    await asyncio.wait_for(user.changed.wait(), DEADLINE)
    reason = devices.keypad.health().reason
    key.write_text(f"{KEY}\n")
    while (now := devices.keypad.health().reason) == reason:
        user.changed.clear()
        await asyncio.wait_for(user.changed.wait(), DEADLINE)
    running.cancel()

    assert reason == f"{key}: the device's key cannot be read: No such file or directory"
    assert now.startswith(f"{file.parent / 'keypad'} is not a serial port: name a serial port")


def test_a_service_that_may_not_read_a_key_names_the_command(file, monkeypatch):
    key = file.parent / "keypad.key"
    monkeypatch.setattr(User, "here", lambda: User.named(AS))

    def refused(*_: object) -> str:
        raise PermissionError(EACCES, "Permission denied")

    monkeypatch.setattr(secret_file, "read_text", refused)
    key.chmod(0o600)
    with pytest.raises(ConfigError) as error:
        secret_file.read_key(key, "device's key", "keypad.key_file")

    group = User.named(AS).group
    assert str(error.value) == (
        f"{key}: the device's key cannot be read: Permission denied; run `chgrp {group} {key} && chmod 0640 {key}`"
    )


OWN = {
    "table.id": 'id = "table-2"',
    "shoe.port": 'port = "shoe-2"',
    "keypad.port": 'port = "keypad-2"',
    "record.path": 'path = "record/table-2.db"',
    "operator.socket": 'socket = "record/operator-2.sock"',
    "console.port": "port = 8091",
}
FIRST = ['id = "table-1"', 'port = "shoe"', 'port = "keypad"', 'path = "record/table-1.db"', 'socket = "record/operator.sock"', "port = 8090"]  # fmt: skip


def second(file: Path, alike: str | None) -> Path:
    """The configuration of a second table, in which nothing is as in the first but `alike`."""
    text = TABLE
    for key, old in zip(OWN, FIRST, strict=True):
        text = text if key == alike else text.replace(old, OWN[key])
    path = file.with_name("second.toml")
    path.write_text(text)
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("alike", OWN)
def test_two_files_with_the_same_value_are_reported_with_both_names(file, alike):
    other = second(file, alike)
    ran = check(file, other)

    of = str(file) if alike == "table.id" else f"table-1 in {file}"
    assert ran.returncode == 1
    assert f"{alike}: " in ran.stderr
    assert ran.stderr.startswith(f"{other}:")
    assert f" of {of}: write another {alike.split('.')[1]}\n" in ran.stderr


def test_two_tables_with_nothing_in_common_are_fine(file):
    assert check(file, second(file, None)).returncode == 0


def test_root_needs_no_access_and_an_owner_has_the_owners_bits(folder):
    file = folder / "file"
    file.write_text("")
    file.chmod(0o077)
    number = os.geteuid() or 1
    owner = User("me", number, "mine", primary=number, groups=frozenset({number}))
    if os.geteuid() == 0:
        os.chown(file, 1, 1)

    assert obstacle(file, User("root", 0, "root", 0, frozenset({0})), os.R_OK) is None
    found = obstacle(file, owner, os.R_OK)
    assert found is not None
    assert found.path == file
