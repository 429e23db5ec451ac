"""Clients with a certificate in place of a password, at a real Mosquitto with the listener that configs/mosquitto.conf offers."""

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punto.controller.broker_login import BrokerConfig
from tests.ports import free_port
from tests.service.table_in_this_process import HERE, connected, ear, eventually, table
from tests.service.test_broker import HousesBroker, online


class CertificatesBroker(HousesBroker):
    """Mosquitto of the table `table-1` with certificates of deploy/certificates; `folder`/other has another authority's."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder
        for where, names in (
            (folder, ("table-1=127.0.0.1", "table-2", "surveillance", "stranger")),
            (folder / "other", ("table-1=127.0.0.1",)),
        ):
            subprocess.run([HERE / "deploy" / "certificates", where, *names], check=True, capture_output=True)
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


@pytest.mark.parametrize(
    ("name", "folder", "connects"),
    [("surveillance", ".", True), ("table-1", "other", False), (None, ".", False)],
    ids=["a certificate of the house", "a certificate of another authority", "no certificate, a password"],
)
def test_only_a_certificate_of_the_house_connects(broker, name, folder, connects):
    login = broker.login("surveillance")
    files = ["--cert", f"{name}.pem", "--key", f"{name}.key"] if name else []
    command = ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(broker.tls_port), "-t", "t", "-m", "m", *files]
    ran = subprocess.run(
        [*command, "--cafile", broker.folder / "ca.pem", "-u", login["username"], "-P", login["password"]],
        cwd=broker.folder / folder,
        check=False,
        timeout=60,
        capture_output=True,
    )

    assert (ran.returncode == 0) is connects


async def test_the_broker_must_have_a_certificate_of_the_house_too(broker, tmp_path):
    deceived = {**broker.certified("table-1"), "ca_file": broker.folder / "other" / "ca.pem"}
    async with table(tmp_path / "table.db") as here, connected(here, broker.tls_port, **deceived) as link:
        await eventually(lambda: "CERTIFICATE_VERIFY_FAILED" in link.health().reason, "it is refused")


def test_no_client_of_ours_speaks_an_older_version_or_a_cipher_without_forward_secrecy(broker):
    tls = BrokerConfig(**broker.certified("table-1")).tls()
    assert tls is not None

    assert tls.minimum_version == ssl.TLSVersion.TLSv1_2
    assert {cipher["kea"] for cipher in tls.get_ciphers()} == {"kx-ecdhe", "kx-any"}  # any: those of TLS 1.3
