"""Clients with a certificate in place of a password, at a real Mosquitto with the listener that configs/mosquitto.conf offers."""

import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punto.commands.cli import main
from punto.runtime.broker_login import BrokerConfig
from tests.controller.at_a_broker import online
from tests.controller.guarded_brokers import HousesBroker
from tests.controller.table_in_this_process import HERE, connected, ear, eventually, table
from tests.deadline import DEADLINE
from tests.ports import free_port, takes_connections


class CertificatesBroker(HousesBroker):
    """Mosquitto of the table `table-1` with certificates of deploy/house/certificates; `folder`/other has another authority's."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder
        for where, names in (
            (folder, ("table-1=127.0.0.1", "table-2", "surveillance", "stranger")),
            (folder / "other", ("table-1=127.0.0.1",)),
        ):
            subprocess.run(
                [HERE / "deploy" / "house" / "certificates", where, *names], check=True, capture_output=True
            )
        config = folder / "conf.d" / "punto.conf"
        lines = config.read_text(encoding="utf-8").splitlines()
        first = lines.index("# listener 8883")
        last = lines.index("", first)
        offered = [line.removeprefix("# ") for line in lines[first:last]]
        self.tls_port = free_port()
        for theirs, ours in {"8883": str(self.tls_port), "/etc/mosquitto/certs": str(folder)}.items():
            offered = [line.replace(theirs, ours) for line in offered]
        config.write_text("\n".join([*lines[:first], *offered, *lines[last:]]) + "\n", encoding="utf-8")

    def certified(self, name: str, folder: str = ".") -> dict[str, Any]:
        """The keys of `[mqtt]` for a program with this name in its certificate."""
        files = {
            "certificate": self.folder / folder / f"{name}.pem",
            "key": self.folder / folder / f"{name}.key",
        }
        return {"ca_file": self.folder / "ca.pem", **files}

    def as_(self, name: str) -> dict[str, Any]:
        """What makes any MQTT client the user of this certificate."""
        return {"tls_context": BrokerConfig(**self.certified(name)).tls()}


PORTS_ONE_AFTER_THE_OTHER = """
import socket, sys, time
opened = []
for port in sys.argv[1:]:
    opened.append(socket.create_server(("127.0.0.1", int(port))))
    time.sleep(0.5)
time.sleep(60)
"""


def test_a_broker_of_the_tests_has_started_when_every_listener_takes_connections(tmp_path):
    broker = CertificatesBroker(tmp_path)
    ports = (broker.port, broker.own_port, broker.tls_port)
    broker._command = (sys.executable, "-c", PORTS_ONE_AFTER_THE_OTHER, *map(str, ports))
    with broker:
        assert takes_connections(*ports)


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[CertificatesBroker]:
    with CertificatesBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


async def test_a_table_with_its_certificate_needs_no_password_and_speaks_for_itself_alone(broker, tmp_path):
    port = broker.tls_port
    async with (
        table(tmp_path / "table.db") as here,
        ear(port, **broker.as_("surveillance")) as surveillance,
        ear(port, **broker.as_("table-2"), identifier="table-1", username="table-1") as other,
        ear(port, **broker.as_("stranger")) as stranger,
        connected(here, port, **broker.certified("table-1")),
    ):
        await online(surveillance)
        for intruder in (other, stranger):
            await intruder.publish("state", {"phase": "closed"})
        await here.begin_shoe()
        await here.play(1)
        await eventually(lambda: surveillance.of("round"), "a round")

        assert {"phase": "closed"} not in surveillance.of("state")
        assert (other.heard, stranger.heard) == ([], [])
        assert here.outbox.connected  # nobody took its id


def publishes(port: int, login: dict[str, str], *tls: str, folder: Path) -> bool:
    """Whether the broker takes a client with this login, and these files in the folder."""
    command = ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(port), "-t", "t", "-m", "m", *tls]
    ran = subprocess.run(
        [*command, "-u", login["username"], "-P", login["password"]],
        cwd=folder,
        check=False,
        timeout=DEADLINE,
        capture_output=True,
    )
    return ran.returncode == 0


@pytest.mark.parametrize(
    ("name", "folder", "connects"),
    [("surveillance", ".", True), ("table-1", "other", False), (None, ".", False)],
    ids=["a certificate of the house", "a certificate of another authority", "no certificate, a password"],
)
def test_only_a_certificate_of_the_house_connects(broker, name, folder, connects):
    files = ["--cert", f"{name}.pem", "--key", f"{name}.key"] if name else []
    tls = ["--cafile", str(broker.folder / "ca.pem"), *files]

    assert (
        publishes(broker.tls_port, broker.login("surveillance"), *tls, folder=broker.folder / folder)
        is connects
    )


def test_what_was_stolen_with_a_pc_never_speaks_for_the_table_again(tmp_path):
    """Neither its certificate nor its password, when the table has a new PC with the same name."""
    with CertificatesBroker(tmp_path) as broker:
        (tmp_path / "stolen").mkdir()
        for kind in ("pem", "key"):
            shutil.copy(tmp_path / f"table-1.{kind}", tmp_path / "stolen")
        login = broker.login("table-1")

        def connects(folder: Path) -> bool:
            files = ("--cafile", str(tmp_path / "ca.pem"), "--cert", "table-1.pem", "--key", "table-1.key")
            return publishes(broker.tls_port, login, *files, folder=folder)

        assert connects(tmp_path / "stolen")
        assert publishes(broker.port, login, folder=tmp_path)

        certificates = [HERE / "deploy" / "house" / "certificates", tmp_path]
        for each in (["--revoke", "table-1"], ["table-1=127.0.0.1"]):
            subprocess.run([*certificates, *each], check=True, capture_output=True)
        (broker.passwords / "table-1").unlink()
        tables = [str(tmp_path / f"table-{n}.toml") for n in (1, 2)]
        assert main(["broker-users", *tables, "--out", str(tmp_path)]) == 0
        broker.kill()  # which ends the connections too
        broker.start()

        assert connects(tmp_path)
        assert not connects(tmp_path / "stolen")
        assert not publishes(broker.port, login, folder=tmp_path)
        assert publishes(broker.port, broker.login("table-1"), folder=tmp_path)


async def test_the_broker_must_have_a_certificate_of_the_house_too(broker, tmp_path):
    deceived = {**broker.certified("table-1"), "ca_file": broker.folder / "other" / "ca.pem"}
    async with table(tmp_path / "table.db") as here, connected(here, broker.tls_port, **deceived) as link:
        await eventually(lambda: "CERTIFICATE_VERIFY_FAILED" in link.health().reason, "it is refused")


def test_no_client_of_ours_speaks_an_older_version_or_a_cipher_without_forward_secrecy(broker):
    tls = BrokerConfig(**broker.certified("table-1")).tls()
    assert tls is not None

    assert tls.minimum_version == ssl.TLSVersion.TLSv1_2
    assert {cipher["kea"] for cipher in tls.get_ciphers()} == {"kx-ecdhe", "kx-any"}  # any: those of TLS 1.3
