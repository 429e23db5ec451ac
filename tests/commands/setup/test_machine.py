"""`punto setup` on a disk that is mounted at a folder, with the real systemd-sysusers, systemd-tmpfiles and subcommands."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from punto.commands import certificate
from punto.commands.setup import setting_up
from punto.commands.setup.answers import Answers, DeviceAnswer, PagesAnswer
from punto.commands.setup.command import Console
from punto.commands.setup.machine import Machine, SetupError
from punto.commands.setup.plan import BrokerUsers, Command, Copy, File, Key, PortRule, Step
from punto.commands.setup.rehearsal import User
from punto.commands.setup.setting_up import set_up
from punto.controller.accounts.roles import Role
from punto.controller.config.file import load_config
from punto.doctor import ports
from tests.command import punto
from tests.commands.setup.disk import disk_with_mosquitto

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="gives files to the user of a service"),
    pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="needs systemd-sysusers"),
]
PASSWORD = "a long password"  # noqa: S105 - of an account that this test makes
GIVEN = Answers(
    shoe=DeviceAnswer(port="/dev/serial/by-id/usb-shoe"),
    console=PagesAnswer(host="10.0.7.5"),
    people={"Mei": (Role.SUPERVISOR,)},
)


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    with disk_with_mosquitto() as root:
        yield root


@pytest.fixture(scope="module")
def made(disk: Path) -> Iterator[Path]:
    """The disk, set up once, with a hand that was dealt."""
    with pytest.MonkeyPatch.context() as patch:
        # The Python of these tests can be in a folder that only root may enter. The trial of the packages has the real user.
        patch.setattr(setting_up, "User", lambda *_: User(os.geteuid(), os.getegid()))
        set_up(GIVEN, disk, Console(iter([PASSWORD]), asks=False), rehearsal=True)
        yield disk


def content(root: Path) -> dict[str, bytes]:
    return {str(each.relative_to(root)): each.read_bytes() for each in root.rglob("*") if each.is_file()}


def rights(path: Path) -> tuple[int, int]:
    known = path.stat()
    return stat.S_IMODE(known.st_mode), known.st_gid


def test_the_disk_of_a_pc_gets_a_table_that_can_start(made: Path) -> None:
    config = load_config(made / "etc/punto/table-1.toml")
    pc = Machine(made, print)
    group = pc.number("punto-table-1")

    assert config.shoe is not None
    assert config.shoe.key() is not None
    assert rights(made / "etc/punto/table-1.toml") == (0o640, group)
    assert (
        rights(made / "etc/punto/table-1.shoe.key")
        == rights(made / "etc/punto/table-1.key")
        == (0o640, group)
    )
    assert rights(made / "etc/punto-display/table-1.toml") == (0o640, pc.number("punto-display"))
    assert rights(made / "etc/punto/table-1.mqtt-password") == (0o600, 0)
    assert rights(made / "etc/mosquitto/punto.passwd") == (0o640, 109)
    assert rights(made / "var/lib/punto/table-1")[0] == 0o700
    assert (made / "etc/punto/table-1.mqtt-password").read_bytes() == (
        made / "etc/punto-broker/passwords/table-1"
    ).read_bytes()
    assert (made / "etc/mosquitto/conf.d/punto.conf").exists()


def test_the_first_supervisor_can_sign_on_with_the_password_that_was_given(made: Path) -> None:
    file = made / "var/lib/punto/table-1/operators.db"

    listed = punto("operators", "--accounts", str(file), "list").stdout

    assert listed.split("\t")[1:3] == ["Mei", "supervisor"]


def test_one_hand_was_dealt_and_its_record_put_aside(made: Path) -> None:
    (record,) = (made / "var/lib/punto/table-1/rehearsals").iterdir()

    assert "differs" not in punto("replay", str(record)).stdout
    assert not (made / "var/lib/punto/table-1/table-1.db").exists()


def test_a_hand_is_dealt_again_only_if_the_configuration_has_changed_since(made: Path) -> None:
    config, rehearsals = made / "etc/punto/table-1.toml", made / "var/lib/punto/table-1/rehearsals"

    assert not setting_up._is_due(config, rehearsals)
    assert setting_up._is_due(config, made / "none")
    (record,) = rehearsals.glob("*.db")
    os.utime(record, (0, 0))
    assert setting_up._is_due(config, rehearsals)
    os.utime(record)


def test_an_account_with_other_roles_is_left_alone(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = {"Mei": (Role.SUPERVISOR, Role.DEALER)}
    set_up(GIVEN.model_copy(update={"people": people}), made, Console(iter(()), asks=False), rehearsal=False)

    assert "left alone  the account Mei, supervisor" in capsys.readouterr().out
    set_up(GIVEN, made, Console(iter(()), asks=False), rehearsal=False)


def test_the_same_answers_change_nothing(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(made)

    set_up(GIVEN, made, Console(iter(()), asks=False), rehearsal=True)

    assert content(made) == before
    assert "wrote" not in capsys.readouterr().out


def test_another_answer_changes_the_files_and_no_secret_or_account(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = (
        "etc/punto/table-1.shoe.key",
        "etc/punto/table-1.key",
        "etc/punto-broker/punto.passwd",
        "var/lib/punto/table-1/operators.db",
    )
    before = {name: (made / name).read_bytes() for name in secrets}

    set_up(GIVEN.model_copy(update={"name": "Salon 8"}), made, Console(iter(()), asks=False), rehearsal=False)

    assert load_config(made / "etc/punto/table-1.toml").table.name == "Salon 8"
    assert {name: (made / name).read_bytes() for name in secrets} == before
    assert list((made / "etc/punto").glob("*.former-*")) == []
    set_up(GIVEN, made, Console(iter(()), asks=False), rehearsal=False)
    assert "account" not in capsys.readouterr().out


def test_a_second_table_has_its_own_ports_and_user_and_leaves_the_first_alone(made: Path) -> None:
    first = {name: data for name, data in content(made).items() if "table-1" in name}

    set_up(Answers(table="table-2", people={}), made, Console(iter(()), asks=False), rehearsal=False)

    second = load_config(made / "etc/punto/table-2.toml")
    assert second.console is not None
    assert second.console.port == 8091
    assert {name: data for name, data in content(made).items() if "table-1" in name} == first
    assert "user table-2\n" in (made / "etc/mosquitto/punto.acl").read_text()


# --- one step at a time


def machine(root: Path) -> tuple[Machine, list[str]]:
    said: list[str] = []
    return Machine(root, said.append), said


def test_a_file_that_a_person_changed_is_left_until_its_answers_change_and_then_kept(tmp_path: Path) -> None:
    pc, said = machine(tmp_path)
    path, place = Path("/etc/x"), tmp_path / "etc/x"
    pc.carry_out([File(path, "one\n")])
    place.write_text(place.read_text() + "mine\n")
    pc.carry_out([File(path, "one\n")])

    assert place.read_text().endswith("one\nmine\n")
    assert "left alone" in said[-1]

    pc.carry_out([File(path, "two\n")])
    (former,) = place.parent.glob("x.former-*")

    assert place.read_text().endswith("\ntwo\n")
    assert former.read_text().endswith("one\nmine\n")
    assert str(former) in said[-1]


def test_a_key_is_made_once_and_gets_its_rights_again(tmp_path: Path) -> None:
    pc, _ = machine(tmp_path)
    step = Key(Path("/etc/punto/shoe.key"), "root", "shoe")
    (tmp_path / "etc/punto").mkdir(parents=True)
    pc.carry_out([step])
    key = (tmp_path / "etc/punto/shoe.key").read_text()
    (tmp_path / "etc/punto/shoe.key").chmod(0o666)
    pc.carry_out([step])

    assert (tmp_path / "etc/punto/shoe.key").read_text() == key
    assert rights(tmp_path / "etc/punto/shoe.key") == (0o640, 0)


def test_an_access_list_that_a_person_changed_is_kept_before_it_is_replaced(tmp_path: Path) -> None:
    pc, said = machine(tmp_path)
    out, used = Path("/etc/punto-broker"), tmp_path / "etc/mosquitto/punto.acl"
    steps: list[Step] = [BrokerUsers(out), Copy(Path("/etc/mosquitto/punto.acl"), out / "punto.acl")]
    pc.carry_out(steps)
    made = used.read_text()
    used.write_text(f"{made}user mine\ntopic read #\n")
    pc.carry_out(steps)
    (former,) = used.parent.glob("punto.acl.former-*")

    assert used.read_text() == made
    assert "user mine" in former.read_text()
    assert any(str(former) in line for line in said)


def test_the_udev_rule_has_the_numbers_of_the_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = tmp_path / "ttyUSB0"
    adapter.touch()
    usb = ports.Usb("0403", "6001", "A1B2", "FTDI", "UART")
    monkeypatch.setattr(ports, "usb_of", lambda path: usb if path == adapter else None)
    pc, said = machine(tmp_path)
    there, missing = (DeviceAnswer(port=str(path)) for path in (adapter, tmp_path / "ttyUSB1"))
    rule = Path("/etc/udev/rules.d/61-punto-table-1.rules")
    pc.carry_out([PortRule(rule, (("shoe", there),), "punto-table-1")])

    assert pc.place(rule).read_text().splitlines()[1] == (
        'SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="A1B2", GROUP="punto-table-1", '
        'MODE="0660", ENV{ID_MM_DEVICE_IGNORE}="1"'
    )
    pc.carry_out([PortRule(rule, (("shoe", missing),), "punto-table-1")])
    assert "plug it in" in said[-1]
    assert "0403" in pc.place(rule).read_text()


def test_a_command_that_fails_ends_the_setup_with_what_it_says(tmp_path: Path) -> None:
    pc, _ = machine(tmp_path)
    step = Command(("sh", "-c", "echo no room >&2; exit 3"))

    with pytest.raises(SetupError, match="no room"):
        pc.carry_out([step])
    with pytest.raises(SetupError, match="is not installed"):
        pc.carry_out([Command(("no-such-program",))])


def test_a_command_that_follows_a_change_does_not_run_without_it(tmp_path: Path) -> None:
    pc, _ = machine(tmp_path)
    file, mark = Path("/etc/x"), tmp_path / "mark"
    steps: list[Step] = [File(file, "one\n"), Command(("sh", "-c", f"echo >> {mark}"), after=(file,))]
    pc.carry_out(steps)
    again, _ = machine(tmp_path)
    again.carry_out(steps)

    assert mark.read_text() == "\n"


def test_a_disk_that_does_not_run_is_asked_nothing(tmp_path: Path) -> None:
    pc, said = machine(tmp_path)
    pc.carry_out([Command(("systemctl", "restart", "mosquitto")), Command(("udevadm", "trigger"))])

    assert said == []


NOW = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({}, False),
        ({"host": "10.0.7.6"}, True),
        ({"now": NOW + timedelta(days=800)}, True),
    ],
)  # fmt: skip
def test_a_certificate_is_made_again_if_its_address_changes_or_it_ends_soon(
    tmp_path: Path, change: dict[str, Any], again: bool
) -> None:
    made = certificate.make("table-1", "10.0.7.5", NOW)
    path, key = tmp_path / "table-1.pem", tmp_path / "table-1.key"
    assert certificate.must_be_made(path, key, "10.0.7.5", NOW)
    path.write_bytes(made.certificate)
    key.write_bytes(made.key)

    assert certificate.must_be_made(path, key, **{"host": "10.0.7.5", "now": NOW, **change}) is again


def test_a_certificate_of_an_authority_of_the_house_stays(tmp_path: Path) -> None:
    made = certificate.make("house", "10.0.7.5", NOW)
    path, key = tmp_path / "table-1.pem", tmp_path / "table-1.key"
    path.write_bytes(made.certificate)
    key.write_bytes(made.key)

    assert not certificate.must_be_made(path, key, "10.0.7.99", NOW)


# --- the command


def test_wrong_answers_are_reported_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "table.answers"
    path.write_text('table = "table-1"\nminimum = "25"\n')
    done = punto("setup", "--answers", str(path), "--root", str(tmp_path))

    assert done.returncode == 1
    assert f"{path}:2: minimum: " in done.stderr
    assert json.dumps(sorted(each.name for each in tmp_path.iterdir())) == '["table.answers"]'
