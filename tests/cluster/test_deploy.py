"""What deploy/ ships: certificates, bridges, compose."""

import re
import ssl
import subprocess
from pathlib import Path

import pytest
import yaml

from punto.commands.cli import main
from punto.messages.topics import CHANNELS
from tests.controller.table_on_a_machine import HERE

DEPLOY = HERE / "deploy" / "house"
TABLE = """version = 1
[table]
id = "{id}"
name = "Baccarat"
game = "progressive-2"
cards = "keyed"
[record]
path = "{id}.db"
[mqtt]
[progressive]
id = "dragon"
authority = "meter-1"
key_folder = "keys"
{tables}
"""


def bridges(folder: Path, *ids: str) -> dict[str, list[tuple[str, str, str]]]:
    """The topics of each table's first bridge: topic, direction and QoS."""
    for each in ids:
        tables = 'tables = ["table-1"]' if each == "meter-1" else ""
        (folder / f"{each}.toml").write_text(TABLE.format(id=each, tables=tables), encoding="utf-8")
    nodes = ["--node", "node-1", "--node", "node-2"]
    files = [str(folder / f"{each}.toml") for each in ids]
    assert main(["broker-users", *files, "--out", str(folder / "users"), *nodes]) == 0
    found = {}
    for each in ids:
        _, *parts = (
            (folder / "users" / "bridges" / f"{each}.conf").read_text(encoding="utf-8").split("connection ")
        )
        topics = [re.findall(r"^topic (\S+) (in|out) (\d)$", part, re.MULTILINE) for part in parts]
        assert [part.partition("\n")[0] for part in parts] == ["bridge-node-1", "bridge-node-2"]
        assert topics[0] == topics[1]
        found[each] = topics[0]
    return found


def test_a_bridge_sends_what_a_table_sends_and_receives_what_it_reads(tmp_path):
    found = bridges(tmp_path, "table-1", "meter-1")
    out = {topic.removeprefix("punto/table-1/"): qos for topic, way, qos in found["table-1"] if way == "out"}
    into = {name: {topic for topic, way, _ in topics if way == "in"} for name, topics in found.items()}

    assert out == {
        each.filter: "0" if each.retained else "1" for each in CHANNELS if each.direction == "send"
    }
    assert into["table-1"] == {
        *(f"punto/table-1/request/{verb}/by/+" for verb in ("snapshot", "rounds", "incidents", "books")),
        "punto/meter-1/availability",
        "punto/meter-1/meter/answer/table-1",
        "punto/meter-1/progressive/dragon",
    }
    assert into["meter-1"] > {"punto/table-1/meter/request", "punto/+/progressive/dragon"}


def test_without_nodes_there_are_no_bridges(tmp_path):
    (tmp_path / "t1.toml").write_text(TABLE.format(id="t1", tables=""), encoding="utf-8")
    assert main(["broker-users", str(tmp_path / "t1.toml"), "--out", str(tmp_path / "users")]) == 0
    assert not (tmp_path / "users" / "bridges").exists()


def certificates(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DEPLOY / "certificates", *arguments], check=False, capture_output=True, text=True)


def test_the_certificates_are_of_one_house_and_stay(tmp_path):
    assert certificates(tmp_path, "node-1=10.0.7.11,n1.example", "table-1").returncode == 0
    before = (tmp_path / "table-1.pem").read_bytes()
    assert certificates(tmp_path, "table-1", "table-2").returncode == 0

    assert (tmp_path / "table-1.pem").read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {
        *(f"{name}.{kind}" for name in ("ca", "node-1", "table-1", "table-2") for kind in ("pem", "key")),
        *("crl.pem", "revoked.txt"),
    }
    assert {each.stat().st_mode & 0o777 for each in tmp_path.glob("*.key")} == {0o600}
    named = subprocess.run(
        ["openssl", "x509", "-noout", "-ext", "subjectAltName", "-in", tmp_path / "node-1.pem"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "DNS:node-1, IP Address:10.0.7.11, DNS:n1.example" in named
    for each in tmp_path.glob("[nt]*.pem"):
        strict = ["openssl", "verify", "-x509_strict", "-CAfile", tmp_path / "ca.pem", each]
        subprocess.run(strict, check=True, capture_output=True)
    ssl.create_default_context(cafile=tmp_path / "ca.pem").load_cert_chain(
        tmp_path / "table-1.pem", tmp_path / "table-1.key"
    )


def test_an_authority_that_could_not_sign_lists_keeps_its_key_and_its_certificates(tmp_path):
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", tmp_path / "ca.key"]
    uses = ["-addext", "keyUsage=critical,keyCertSign", "-out", tmp_path / "ca.pem"]
    subprocess.run(
        ["openssl", "req", "-x509", *key, "-subj", "/CN=Punto house", *uses], check=True, capture_output=True
    )
    before = (tmp_path / "ca.pem").read_bytes()
    assert certificates(tmp_path, "table-1").returncode == 0
    (tmp_path / "old.pem").write_bytes(before)

    for authority in ("ca.pem", "old.pem"):
        verify = ["openssl", "verify", "-CAfile", tmp_path / authority, tmp_path / "table-1.pem"]
        subprocess.run(verify, check=True, capture_output=True)
    listed = ["openssl", "crl", "-noout", "-CAfile", tmp_path / "ca.pem", "-in", tmp_path / "crl.pem"]
    assert "verify OK" in subprocess.run(listed, check=True, capture_output=True, text=True).stderr
    assert certificates(tmp_path, "--revoke", "table-2").returncode == 2


@pytest.mark.parametrize("name", ["", "ca", "crl", "-x", "a/b", "../x", "=1.2.3.4"])
def test_a_name_that_cannot_be_a_file_is_refused(name, tmp_path):
    refused = certificates(tmp_path, name)

    assert refused.returncode == 2
    assert "is not a name" in refused.stderr


def test_what_compose_mounts_is_there_or_is_made_by_the_document():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    mounted = [volume.split(":")[0] for each in services.values() for volume in each.get("volumes", ())]
    made = {name.removeprefix("../../floor/") for name in mounted if name.startswith("../../floor/")}

    assert all((DEPLOY / name).exists() for name in mounted if name.startswith("./"))
    assert made == {
        *("node-1", "node-2", "node-3", "table-1", "table-2"),
        *("certificates/replica.pem", "certificates/replica.key"),
        *("users/passwords/table-1", "users/passwords/table-2"),
    }
    machines = {name for name in services if services[name].get("network_mode") is None}
    shared = {
        each["network_mode"].removeprefix("service:") for each in services.values() if "network_mode" in each
    }
    assert shared <= machines
