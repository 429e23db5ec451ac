"""Faults that are planted on the PC of a table: `punto doctor` names each, and its command mends it.

The parts are real: Mosquitto with passwords and an access list, pseudo-terminals, records, accounts and certificates.
"""

import asyncio
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.displays.options import read_options
from punto.displays.server import serve
from punto.doctor import broker as broker_check
from punto.doctor import checks, machine, ports
from punto.doctor.findings import Finding
from punto.runtime.permissions import User
from punto.simulators.keypad.virtual_keypad import VirtualKeypad
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.virtual_shoe import VirtualShoe
from tests import cheap
from tests.command import punto
from tests.controller.table_in_this_process import table
from tests.controller.table_on_a_machine import Broker, wait_until
from tests.controller.table_on_a_machine import Table as Service
from tests.deadline import DEADLINE, pauses
from tests.drivers.device_server import DeviceServer
from tests.ports import free_port

AS = "nobody"
KEY = "ab" * 32
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to the user of a service")

CONFIG = """\
version = 1
[table]
id = "{id}"
name = "Baccarat 1"
game = "dragon-bonus-1"
[shoe]
port = "{folder}/shoe"
key_file = "shoe.key"
[mqtt]
port = {broker}
username = "{id}"
password_file = "t.mqtt-password"
[record]
path = "record/table.db"
[accounts]
path = "record/operators.db"
[operator]
socket = "operator.sock"
[console]
port = {console}
certificate = "certificate.pem"
key = "certificate.key"
"""


class Guarded(Broker):
    """Mosquitto with a file of passwords and an access list."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.passwords, self.rights = folder / "passwords", folder / "rights"
        self.passwords.touch()
        for user, password in (
            ("table-1", "right"),
            ("table-2", "another"),
            ("table-3", "right"),
            ("screen", "another"),
        ):
            self.add(user, password)
        self.rights.write_text(
            "user table-1\ntopic readwrite punto/table-1/#\ntopic readwrite punto/table-9/#\ntopic read punto/+/availability\n"
            "user table-2\ntopic readwrite punto/table-2/#\nuser table-4\ntopic readwrite punto/table-4/#\n"
        )
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous false\npassword_file {self.passwords}\nacl_file {self.rights}\n"
            "user root\nuse_username_as_clientid true\n"
        )

    def add(self, user: str, password: str) -> None:
        subprocess.run(
            ["mosquitto_passwd", "-b", self.passwords, user, password], check=True, capture_output=True
        )


@pytest.fixture(scope="module")
def broker() -> Iterator[Guarded]:
    with TemporaryDirectory() as folder, Guarded(Path(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def played() -> Iterator[Path]:
    """A record with some rounds."""

    async def play(path: Path) -> None:
        async with table(path) as here:
            await here.begin_shoe()
            await here.play(3)

    with TemporaryDirectory() as folder:
        path = Path(folder, "table.db")
        asyncio.run(play(path))
        yield path


@pytest.fixture(scope="module")
def certificate() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        make_certificate(Path(name), 90)
        yield Path(name)


def make_certificate(folder: Path, days: int) -> None:
    """A certificate that is valid for so many days, or has been valid until so many days ago."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    until = datetime.now(UTC) + timedelta(days=days)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(until - timedelta(days=100))
        .not_valid_after(until)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "certificate.key").write_bytes(pem)
    (folder / "certificate.pem").write_bytes(made.public_bytes(Encoding.PEM))


@dataclass
class Pc:
    """The PC of a table on which everything is well, but for its shoe, which is not plugged in."""

    folder: Path
    broker: Guarded
    console: int

    @property
    def file(self) -> Path:
        return self.folder / "t.toml"

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new, 1))

    def given_to(self, *names: str) -> None:
        """Give files to the service's user."""
        for name in names:
            shutil.chown(self.folder / name, AS, User.named(AS).group)

    def doctor(self, *options: str) -> tuple[int, list[Finding]]:
        ran = punto("doctor", str(self.file), "--as", AS, "--json", *options)
        assert ran.stderr == ""
        return ran.returncode, [Finding(**each) for each in json.loads(ran.stdout)]

    def faults(self, *options: str) -> list[Finding]:
        return [each for each in self.doctor(*options)[1] if each.level in {"wrong", "warning"}]


@pytest.fixture
def pc(broker, played, certificate, monkeypatch):
    monkeypatch.setattr(machine, "synchronised", lambda: True)
    # A busy machine fails no test.
    monkeypatch.setattr(broker_check, "ECHO_SECONDS", DEADLINE)
    monkeypatch.setattr(broker_check, "CONNECT_SECONDS", DEADLINE)
    monkeypatch.setattr(checks, "CHECKS", tuple(each._replace(seconds=DEADLINE) for each in checks.CHECKS))
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)
        here = Pc(folder, broker, free_port())
        text = CONFIG.format(id="table-1", folder=folder, broker=broker.port, console=here.console)
        here.file.write_text(text)
        (folder / "shoe.key").write_text(f"{KEY}\n")
        (folder / "t.mqtt-password").write_text("right\n")
        (folder / "record").mkdir(0o700)
        shutil.copy(played, folder / "record" / "table.db")
        shutil.copy(certificate / "certificate.pem", folder)
        shutil.copy(certificate / "certificate.key", folder)
        with closing(Accounts.open(folder / "record" / "operators.db")) as accounts:
            for person, role in (("Mei", Role.SUPERVISOR), ("Tove", Role.DEALER)):
                accounts.add(
                    person, [role], "", "2026-03-14T21:05:09.000000+00:00", hash_=cheap.HASHER.hash("x")
                )
        here.given_to("record", *(f"record/{each.name}" for each in (folder / "record").iterdir()))
        for each in ("t.toml", "shoe.key", "t.mqtt-password", "certificate.key"):
            (folder / each).chmod(0o640)
            shutil.chown(folder / each, group=User.named(AS).group)
        yield here


def mend(command: str) -> None:
    """Run the command of a finding in a shell; `punto` in this process, which takes a tenth of the time of another one."""
    for part in command.split(" && "):
        words = shlex.split(part)
        if words[0] == "punto":
            ran = punto(*words[1:])
            assert ran.returncode == 0, ran.stderr
        else:
            subprocess.run(["sh", "-c", part], check=True, capture_output=True, timeout=DEADLINE)


def found(faults: list[Finding], check: str, words: str) -> Finding | None:
    return next(
        (each for each in faults if each.check == check and words in f"{each.what}: {each.how}"), None
    )


# --- the faults


def no_key(pc: Pc) -> None:
    (pc.folder / "shoe.key").unlink()


def half_a_key(pc: Pc) -> None:
    (pc.folder / "shoe.key").write_text("abcd\n")


def unreadable_key(pc: Pc) -> None:
    (pc.folder / "shoe.key").chmod(0o600)


def open_key(pc: Pc) -> None:
    (pc.folder / "shoe.key").chmod(0o644)


def wrong_password(pc: Pc) -> None:
    pc.change('id = "table-1"', 'id = "table-2"')
    pc.change('username = "table-1"', 'username = "table-2"')


def unknown_user(pc: Pc) -> None:
    pc.change('id = "table-1"', 'id = "table-4"')
    pc.change('username = "table-1"', 'username = "table-4"')


def no_user(pc: Pc) -> None:
    pc.change('username = "table-1"\npassword_file = "t.mqtt-password"\n', "")


def no_rights(pc: Pc) -> None:
    pc.change('id = "table-1"', 'id = "table-3"')
    pc.change('username = "table-1"', 'username = "table-3"')


def a_removed_table(pc: Pc) -> None:
    command = ["mosquitto_pub", "-p", str(pc.broker.port), "-u", "table-1", "-P", "right", "-q", "1", "-r"]
    subprocess.run([*command, "-t", "punto/table-9/availability", "-m", "{}"], check=True, timeout=DEADLINE)


def a_misspelt_key(pc: Pc) -> None:
    pc.change("name = ", "nmae = ")


def no_folder_of_the_record(pc: Pc) -> None:
    (pc.folder / "record" / "operators.db").rename(pc.folder / "operators.db")
    pc.change("record/operators.db", "operators.db")
    pc.given_to("operators.db")
    pc.folder.chmod(0o777)
    shutil.rmtree(pc.folder / "record")


def a_record_of_root(pc: Pc) -> None:
    os.chown(pc.folder / "record" / "table.db", 0, 0)
    (pc.folder / "record" / "table.db").chmod(0o600)


def a_file_at_the_socket(pc: Pc) -> None:
    (pc.folder / "operator.sock").write_text("")


def no_folder_of_the_socket(pc: Pc) -> None:
    pc.change('"operator.sock"', '"run/operator.sock"')


def an_expired_certificate(pc: Pc) -> None:
    make_certificate(pc.folder, -1)


def a_certificate_with_another_key(pc: Pc) -> None:
    before = (pc.folder / "certificate.pem").read_bytes()
    make_certificate(pc.folder, 90)
    (pc.folder / "certificate.pem").write_bytes(before)


def a_certificate_that_expires_soon(pc: Pc) -> None:
    make_certificate(pc.folder, 9)


def no_group(pc: Pc) -> None:
    pc.change('"operator.sock"', '"operator.sock"\ngroup = "no-such-group"')


def a_damaged_record(pc: Pc) -> None:
    with (pc.folder / "record" / "table.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


def a_changed_input(pc: Pc) -> None:
    with closing(sqlite3.connect(pc.folder / "record" / "table.db")) as record:
        (trigger,) = record.execute(
            "SELECT sql FROM sqlite_schema WHERE name = 'inputs_no_update'"
        ).fetchone()
        record.executescript("DROP TRIGGER inputs_no_update; UPDATE inputs SET source = 'x' WHERE seq = 5;")
        record.execute(trigger)
        record.commit()


def no_supervisor(pc: Pc) -> None:
    with closing(Accounts.open(pc.folder / "record" / "operators.db")) as accounts:
        accounts.set_disabled("Mei", disabled=True)


Plant = Callable[[Pc], None]
FAULTS: list[tuple[Plant, str, str]] = [
    (no_key, "keys", "shoe.key: the file does not exist"),
    (half_a_key, "keys", "does not have a key, which is 64 hexadecimal digits"),
    (unreadable_key, "configuration", "the user nobody cannot read it"),
    (open_key, "configuration", "shoe.key_file {folder}/shoe.key is open to every user of this machine"),
    (wrong_password, "broker", "the password in {folder}/t.mqtt-password is not the broker's"),
    (unknown_user, "broker", "passwords has no user table-4"),
    (no_user, "broker", "it refuses programs without a user, and [mqtt] has no username"),
    (a_removed_table, "broker", "table table-9: the broker keeps messages of this table"),
    (a_misspelt_key, "configuration", "table.nmae: no such key (did you mean name?)"),
    (no_folder_of_the_record, "disk", "the folder of the record does not exist"),
    (a_record_of_root, "configuration", "record.path: {folder}/record/table.db: the user nobody cannot write to it"),
    (a_file_at_the_socket, "addresses", "another file is in its place, so the table cannot start"),
    (no_folder_of_the_socket, "addresses", "its folder does not exist"),
    (an_expired_certificate, "certificates", "it has expired on"),
    (a_certificate_with_another_key, "certificates", "cannot be used"),
    (a_certificate_that_expires_soon, "certificates", "it expires on"),
]  # fmt: skip
"""Each fault with the check that finds it and its words."""


@pytest.mark.parametrize(("plant", "check", "words"), FAULTS, ids=[each[0].__name__ for each in FAULTS])
def test_a_fault_is_named_and_its_command_mends_it(pc, plant, check, words):
    plant(pc)
    words = words.format(folder=pc.folder)
    faults = pc.faults()
    fault = found(faults, check, words)
    assert fault is not None, faults
    assert fault.command is not None
    mend(fault.command)

    for pause in pauses(DEADLINE):  # the broker reads its files in its own time
        if found(pc.faults(), check, words) is None:
            return
        time.sleep(pause)
    pytest.fail(f"still there: {fault}")


UNMENDED: list[tuple[Plant, str, str, str | None]] = [
    (no_group, "configuration", "no-such-group: this machine has no such group", "groupadd --system no-such-group"),
    (a_damaged_record, "record", "damaged", None),
    (a_changed_input, "record", "input 5 of the record, or the input before it, was changed", None),
    (no_supervisor, "accounts", "nobody who can sign on is a supervisor", "sudo -u nobody punto operators --config {folder}/t.toml add NAME --role supervisor"),
]  # fmt: skip
"""Faults whose command changes more than a test may, or asks a person."""


@pytest.mark.parametrize(
    ("plant", "check", "words", "command"), UNMENDED, ids=[each[0].__name__ for each in UNMENDED]
)
def test_a_fault_that_a_person_mends_is_named(pc, plant, check, words, command):
    plant(pc)
    faults = pc.faults()
    fault = found(faults, check, words)

    assert fault is not None, faults
    assert fault.level == "wrong"
    assert fault.command == (None if command is None else command.format(folder=pc.folder))


def test_missing_rights_are_named_and_added(pc, monkeypatch):
    no_rights(pc)
    monkeypatch.setattr(broker_check, "ECHO_SECONDS", 0.5)
    fault = found(
        pc.faults(), "broker", "its access list does not let the user read and write punto/table-3/#"
    )
    assert fault is not None
    assert fault.command is not None
    mend(fault.command)
    monkeypatch.setattr(broker_check, "ECHO_SECONDS", DEADLINE)

    for _ in pauses(DEADLINE):
        if found(pc.faults(), "broker", "") is None:
            return
    pytest.fail("still without rights")


def test_a_damaged_record_is_restored_from_the_backup(pc):
    backups = pc.folder / "backups"
    backups.mkdir()
    shutil.copy(pc.folder / "record" / "table.db", backups / "table.db.20260314T210509.000000Z")
    a_damaged_record(pc)
    fault = found(pc.faults("--backups", str(backups)), "record", "damaged")

    assert fault is not None
    assert fault.command == (
        f"sudo -u nobody punto restore {backups}/table.db.20260314T210509.000000Z {pc.folder}/record/table.db"
    )


def test_a_missing_backup_is_made(pc):
    backups = pc.folder / "backups"
    backups.mkdir(0o700)
    shutil.chown(pc.folder / "record", "root", "root")
    for each in (pc.folder / "record").iterdir():
        shutil.chown(each, "root", "root")
    options = ("--as", "root", "--backups", str(backups))
    fault = found(pc.faults(*options), "backups", "it has no backup of table.db")
    assert fault is not None
    assert fault.command is not None
    mend(fault.command)

    assert found(pc.faults(*options), "backups", "") is None


@contextmanager
def a_program(code: str) -> Iterator["subprocess.Popen[str]"]:
    """Another program, which prints a line when it is ready."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_a_program_at_the_port_of_the_consoles_is_named_and_ended(pc):
    code = f"import socket, time; s = socket.create_server(('127.0.0.1', {pc.console})); print('ready', flush=True); time.sleep(1e6)"
    with a_program(code) as program:
        fault = found(pc.faults(), "addresses", f"consoles at port {pc.console}")
        assert fault is not None
        assert fault.command == f"kill {program.pid}"
        mend(fault.command)
        program.wait(DEADLINE)
        assert found(pc.faults(), "addresses", "") is None


def test_a_program_that_has_the_port_of_the_shoe_is_named_and_ended(pc):
    ours, its = os.openpty()
    (pc.folder / "shoe").symlink_to(os.ttyname(its))
    give_port(pc)
    code = f"import time; f = open('{os.ttyname(its)}'); print('ready', flush=True); time.sleep(1e6)"
    try:
        with a_program(code) as program:
            fault = found(pc.faults(), "ports", f"(process {program.pid}) uses it too")
            assert fault is not None
            assert fault.command == f"kill {program.pid}"
            mend(fault.command)
            program.wait(DEADLINE)
    finally:
        os.close(its)
        os.close(ours)


def give_port(pc: Pc) -> None:
    port = (pc.folder / "shoe").resolve()
    shutil.chown(port, group=User.named(AS).group)
    port.chmod(0o660)


def test_a_port_without_permission_is_given_to_the_tables_group(pc, monkeypatch):
    monkeypatch.setattr(ports, "ASK_SECONDS", 0.1)
    ours, its = os.openpty()
    (pc.folder / "shoe").symlink_to(os.ttyname(its))
    Path(os.ttyname(its)).chmod(0o600)
    words = f"the user {AS} may not open it"
    try:
        fault = found(pc.faults(), "ports", words)
        assert fault is not None
        assert fault.command is not None
        mend(fault.command)
        assert found(pc.faults(), "ports", words) is None
    finally:
        os.close(its)
        os.close(ours)


def test_a_wrong_path_is_replaced_by_the_only_other_port(pc, monkeypatch):
    by_id = pc.folder / "by-id"
    by_id.mkdir()
    (by_id / "usb-FTDI-if00").touch()
    monkeypatch.setattr(ports, "BY_ID", by_id)
    fault = found(pc.faults(), "ports", "there is usb-FTDI-if00")
    assert fault is not None
    assert fault.command is not None
    mend(fault.command)

    assert f'port = "{by_id}/usb-FTDI-if00"' in pc.file.read_text()


async def asked(pc: Pc, device: Any, words: str) -> tuple[int, list[Finding]]:
    """The doctor's status and findings, when it finds this at the port while a device is at its other end."""
    running = asyncio.create_task(device.run())
    try:
        for pause in pauses(DEADLINE):
            if (pc.folder / "shoe").exists():
                give_port(pc)
                status, findings = await asyncio.to_thread(pc.doctor)
                if found(findings, "ports", words) is not None:
                    return status, findings
            await asyncio.sleep(pause)
        raise AssertionError([each for each in findings if each.check == "ports"])
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def shoe(pc: Pc, key: str) -> VirtualShoe:
    return VirtualShoe(
        ShoeOptions(store=pc.folder / "shoe.memory", link=pc.folder / "shoe", key=bytes.fromhex(key))
    )


async def test_a_pc_with_the_right_shoe_and_without_a_fault_has_the_status_0(pc):
    status, findings = await asked(pc, shoe(pc, KEY), "the device introduces itself")

    assert status == 0
    assert [each for each in findings if each.level == "wrong"] == []
    assert {each.check for each in findings} == {
        *(
            "configuration",
            "ports",
            "keys",
            "broker",
            "clock",
            "disk",
            "record",
            "backups",
            "certificates",
            "accounts",
        ),
        *("addresses", "units", "displays"),
    }


async def test_a_shoe_with_another_key_is_named(pc):
    status, _ = await asked(pc, shoe(pc, "cd" * 32), "the shoe does not have the key of its key_file")

    assert status == 1


async def test_a_shoe_in_the_network_is_asked_there(pc):
    path = pc.folder / "shoe"
    async with DeviceServer(path) as server:
        pc.change(f'port = "{path}"', f'port = "{server.address}"')
        status, findings = await asked(pc, shoe(pc, KEY), "the device introduces itself")

    assert f"shoe at {server.address}" in {each.what for each in findings}
    assert status == 0


async def test_another_device_at_the_port_of_the_shoe_is_named(pc):
    keypad = VirtualKeypad(pc.folder / "shoe", device_key=bytes.fromhex(KEY))
    status, _ = await asked(pc, keypad, "check the baud rate, and that this is the shoe's port")

    assert status == 1


async def test_a_silent_port_is_named(pc):
    class Silent:
        async def run(self) -> None:
            ours, its = os.openpty()
            (pc.folder / "shoe").symlink_to(os.ttyname(its))
            try:
                await asyncio.Event().wait()
            finally:
                os.close(its)
                os.close(ours)

    status, _ = await asked(
        pc, Silent(), "the port is open but the shoe sends nothing: check its power and its cable"
    )

    assert status == 1


def test_the_report_for_people_has_each_command_on_a_line_of_its_own(pc):
    unreadable_key(pc)
    ran = punto("doctor", str(pc.file), "--as", AS)

    (line,) = [each for each in ran.stdout.splitlines() if each.lstrip().startswith("run: chgrp")]
    assert (
        line.strip()
        == f"run: chgrp {User.named(AS).group} {pc.folder}/shoe.key && chmod 0640 {pc.folder}/shoe.key"
    )
    assert ran.returncode == 1


def test_a_stopped_broker_is_named(pc):
    pc.change(f"port = {pc.broker.port}", f"port = {free_port()}")
    fault = found(pc.faults(), "broker", "it cannot be reached")

    assert fault is not None
    assert fault.command == "systemctl restart mosquitto"


def test_a_service_that_cannot_be_asked_is_not_pushed_off_the_broker(pc):
    """The broker takes the client's id from the user: a second connection would end that of the service."""
    code = (
        f"import fcntl, time; f = open('{pc.folder}/record/table.db.lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
        "print('ready', flush=True); time.sleep(1e6)"
    )
    with a_program(code):
        _, findings = pc.doctor()

    (asked_not,) = [each for each in findings if each.check == "broker"]
    assert asked_not.level == "not checked"
    assert "a second connection of its user would end its own" in asked_not.how


async def test_a_service_that_runs_is_asked_for_its_devices_and_its_broker(tmp_path):
    """Its ports are never opened a second time."""
    broker = Broker(tmp_path)
    service = Service(tmp_path, broker)
    shoe = VirtualShoe(ShoeOptions(store=tmp_path / "shoe.memory", link=service.port))
    running = asyncio.create_task(shoe.run())

    def connected() -> bool:
        links = service.ask(order="status")["links"]
        return bool(links["shoe"]["connected"] and links["broker"]["connected"])

    def doctor() -> list[Finding]:
        with broker, service:
            wait_until(connected, "the service has its shoe and its broker")
            ran = punto("doctor", str(service.config), "--json")
            return [Finding(**each) for each in json.loads(ran.stdout)]

    findings = await asyncio.to_thread(doctor)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    of = {each.check: (each.level, each.how) for each in findings}
    assert of["ports"] == ("ok", "the service has it, serial number VS-000001")
    assert of["broker"] == ("ok", "the service is connected")
    assert of["addresses"] == ("ok", "the service answers")


async def test_a_display_that_the_broker_refuses_is_named_and_let_in(pc):
    """Its server runs with the wrong password, and says so at `/healthz`."""
    port, file = free_port(), pc.folder / "display.toml"
    (pc.folder / "display-password").write_text("right\n")
    file.write_text(
        f'[mqtt]\nport = {pc.broker.port}\nusername = "screen"\npassword_file = "display-password"\n'
        f'[display]\ntables = ["table-1"]\nport = {port}\n'
    )

    def fault() -> Finding | None:
        ran = punto("doctor", str(pc.file), str(file), "--as", AS, "--json")
        findings = [Finding(**each) for each in json.loads(ran.stdout)]
        return found(findings, "broker", "as screen, for the display at")

    async def soon(so: Callable[[], Any]) -> Any:
        for pause in pauses(DEADLINE):
            if result := await asyncio.to_thread(so):
                return result
            await asyncio.sleep(pause)
        raise AssertionError("not in time")

    running = asyncio.create_task(serve(read_options(file, {})))
    try:
        named = await soon(fault)
        assert f"the password in {pc.folder}/display-password is not the broker's" in named.how
        await asyncio.to_thread(mend, named.command)
        await soon(lambda: fault() is None)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
