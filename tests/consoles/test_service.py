"""Consoles of a real `punto run`: what it loads, TLS, how it ends, and what it says when it cannot begin."""

import http.client
import re
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest

from tests.consoles.consoles import Browser, Service
from tests.controller.table_on_a_machine import Program, inputs, replayed, wait_until
from tests.deadline import DEADLINE
from tests.ports import free_port
from tests.share import sampled, soaked

LOADED = (
    "import sys; from punto.commands.cli import main\n"
    "main(sys.argv[1:])\n"
    "print('loaded', *sys.modules, file=sys.stderr, flush=True)"
)
WEB = {"fastapi", "starlette", "uvicorn", "sse_starlette", "argon2"}


@pytest.mark.parametrize(
    ("without", "web"), sampled([(None, WEB), ("[console]", {"argon2"}), ("[accounts]", set())], one_in=3)
)
def test_a_table_without_consoles_loads_no_web_server_and_without_accounts_no_hash(without, web, tmp_path):
    service = Service(tmp_path)
    if without is not None:
        written = service.config.read_text(encoding="utf-8")
        service.config.write_text(written.partition(without)[0], encoding="utf-8")
    program = Program(service.log, sys.executable, "-c", LOADED, "run", "--config", service.config)
    with program:
        wait_until(service.up, "the service takes orders")
        program.stop()
    (loaded,) = [line.split() for line in program.said() if line.startswith("loaded ")]

    assert "punto.controller.supervisor" in loaded
    assert {name.partition(".")[0] for name in loaded} & WEB == web
    unused = {"numpy", "webauthn", "cryptography", "zxcvbn", "confusable_homoglyphs"}
    assert unused.isdisjoint(loaded)


@pytest.mark.punctual
async def test_it_ends_in_order_though_somebody_looks_on_and_its_sessions_end_with_it(tmp_path):
    with Service(tmp_path) as service:
        service.account("Mei", "supervisor")
        browser = Browser(service.http)
        await browser.sign_on("Mei")
        stream = http.client.HTTPConnection("127.0.0.1", service.http, timeout=DEADLINE)
        with closing(stream):
            stream.request("GET", "/api/table/events", headers=browser.headers("GET"))
            assert stream.getresponse().readline() == b"event: view\r\n"
            begun = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - begun < 10
        service.start()

        assert (await browser.get("/api/session")).status == 401
        assert service.stop() == 0
        assert not any("Traceback" in line or '"level": "error"' in line for line in service.said())
    assert [event["kind"] for event in inputs(service.record)] == [
        "service_started",
        "session_begun",
        "sign_on",
        "service_started",
    ]
    assert replayed(service.record)[0] == 0


@pytest.mark.soak
async def test_a_disabled_accounts_session_is_over_and_on_the_record_though_nobody_asks(tmp_path):
    with Service(tmp_path) as service:
        service.account("Mei", "supervisor")
        await Browser(service.http).sign_on("Mei")
        service.operators("disable", "Mei")
        wait_until(lambda: inputs(service.record, "session_ended"), "the session has ended")

    assert inputs(service.record, "session_ended") == [
        {"who": "Mei", "why": "the account was changed", "kind": "session_ended"}
    ]


@pytest.mark.soak
async def test_the_view_has_the_devices_the_broker_and_the_record(tmp_path):
    devices = f'[keypad]\nport = "{tmp_path}/no-keypad"\nlink_version = 1\n[mqtt]\nport = {free_port()}'
    with Service(tmp_path, devices) as service:
        service.account("Ann", "dealer")
        browser = Browser(service.http)
        await browser.sign_on("Ann")
        found = {each["device"]: each for each in (await browser.view())["devices"]}

        assert {name: each["state"] for name, each in found.items()} == {
            "keypad": "offline",
            "broker": "offline",
            "record": "online",
        }
        assert "displays do not follow the table" in found["broker"]["warning"]
        assert re.fullmatch(r"\d+ inputs, [\d,]+\.\d GB free on its disk", found["record"]["reason"])
        assert found["record"]["port"] == str(service.record)


# --- TLS


TLS = 'certificate = "certificate.pem"\nkey = "key.pem"'


@pytest.mark.soak
async def test_behind_tls_the_cookie_goes_over_tls_alone(tmp_path, certificate):
    with Service(tmp_path, f'host = "0.0.0.0"\n{TLS}') as service:
        service.account("Mei", "supervisor")
        browser = Browser(service.http, certificate)
        answer = await browser.sign_on("Mei")

        assert answer.status == 200
        assert "Secure" in answer.headers["set-cookie"].split("; ")
        assert set(browser.cookies) == {
            f"__Host-punto_{what}_{service.http}" for what in ("session", "browser")
        }
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        assert (await browser.order("change_shoe")).status == 200
        plain = await browser.ask(
            "POST", "/api/orders", {"order": "change_shoe"}, {"Origin": f"http://localhost:{service.http}"}
        )
        assert (plain.status, plain.json["code"]) == (403, "cross_site")
        with pytest.raises((http.client.HTTPException, OSError)):
            await Browser(service.http).get("/")
        assert service.stop() == 0


def test_tls_has_forward_secrecy_in_its_older_version_too(tmp_path, certificate):
    certificate.maximum_version = ssl.TLSVersion.TLSv1_2
    with Service(tmp_path, TLS) as service:
        for ciphers, works in (
            ("ECDHE+AESGCM", True),
            ("AES256-GCM-SHA384", False),
            ("ECDHE+AES:!AESGCM", False),
        ):
            certificate.set_ciphers(ciphers)
            with (
                socket.create_connection(("127.0.0.1", service.http)) as plain,
                nullcontext() if works else pytest.raises(ssl.SSLError),
                certificate.wrap_socket(plain, server_hostname="localhost"),
            ):
                pass


@pytest.mark.parametrize(
    ("console", "sentence"),
    [
        ('certificate = "text.pem"\nkey = "text.pem"', "console.certificate: "),
        (
            'host = "192.0.2.1"\ncertificate = "certificate.pem"\nkey = "key.pem"',
            "console.port: cannot listen on 192.0.2.1",
        ),
        *soaked(('certificate = "none.pem"\nkey = "none.pem"', "console.certificate: ")),
    ],
)
def test_what_cannot_be_used_is_reported_and_nothing_is_started(console, sentence, tmp_path, certificate):
    (tmp_path / "text.pem").write_text("no certificate")
    service = Service(tmp_path, console)
    Program.start(service)

    assert service.process.wait(DEADLINE) == 2
    assert service.said()[-1].startswith(sentence)
    assert not any("Traceback" in line for line in service.said())
    assert not service.door.exists()


CARDS = '[card_reader]\nport = "card-reader"\n[progressive]\nid = "dragon"\nprocedure = "nexus"\ncontribution = "20%"'


@pytest.mark.parametrize("sections", ["", *soaked(CARDS)])
def test_a_port_in_use_and_an_invalid_accounts_file_are_reported(sections, tmp_path):
    service = Service(tmp_path, sections, game="progressive-2" if sections else "dragon-bonus-1")
    with socket.create_server(("127.0.0.1", service.http)):
        Program.start(service)
        assert service.process.wait(DEADLINE) == 2
    assert service.said()[-1].startswith(f"console.port: cannot listen on 127.0.0.1 port {service.http}: ")
    service.accounts.unlink()
    service.accounts.write_text("no accounts" * 1000)
    Program.start(service)
    assert service.process.wait(DEADLINE) == 2
    assert service.said()[-1].startswith(f"accounts.path: the accounts {service.accounts} cannot be opened")


def listening(process: subprocess.Popen[bytes]) -> list[str]:
    """The addresses at which a process listens, TCP and UDP, as the kernel writes them: `0100007F:1F90`."""
    home = Path(f"/proc/{process.pid}")
    own = set()
    for each in (home / "fd").iterdir():
        with suppress(FileNotFoundError):  # it may close one meanwhile
            own.add(each.readlink().name)
    rows = [
        line.split()
        for name in ("tcp", "tcp6", "udp", "udp6")
        for line in (home / "net" / name).read_text(encoding="ascii").splitlines()[1:]
    ]
    return [row[1] for row in rows if f"socket:[{row[9]}]" in own and row[3] in {"0A", "07"}]


def test_it_listens_on_this_machine_alone_unless_told(tmp_path):
    with Service(tmp_path) as service:
        assert listening(service.process) == [f"0100007F:{service.http:04X}"]


def test_a_table_without_consoles_listens_at_no_network_port(tmp_path):
    """Approval letter, 3 (sheet 001): the network port is disabled in normal operation."""
    service = Service(tmp_path)
    written = service.config.read_text(encoding="utf-8")
    service.config.write_text(written.partition("[console]")[0], encoding="utf-8")
    with service:
        assert listening(service.process) == []
