"""What the command is told: a file, options over it, and a clear word where they cannot be used."""

import signal
import socket
from pathlib import Path

import psutil
import pytest

from displays.checked import OptionsError
from displays.options import DisplayOptions, MqttOptions, PageOptions, read_options
from tests.displays.parts import DisplayProcess, free_port

SHIPPED = Path(__file__).parents[2] / "configs" / "display.toml"


def test_the_shipped_configuration_is_all_defaults():
    assert read_options(SHIPPED, {}) == DisplayOptions(
        mqtt=MqttOptions(), display=PageOptions(tables=("table-1",))
    )
    assert PageOptions(tables=("table-1",)).host == "127.0.0.1"


def test_options_go_over_the_file():
    read = read_options(
        SHIPPED, {("mqtt", "host"): "broker", ("display", "tables"): ["vip-2"], ("display", "port"): 80}
    )

    assert (read.mqtt.host, read.display.tables, read.display.port) == ("broker", ("vip-2",), 80)


def test_a_table_is_enough():
    assert read_options(None, {("display", "tables"): ["vip-2"]}).mqtt == MqttOptions()


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("", "display: Field required"),
        ("[display]\nport = 8080", "display.tables: Field required"),
        ("[display]\ntables = ['Table 1']", "display.tables.0: String should match"),
        ("[display]\ntables = []", "display.tables: Tuple should have at least 1 item"),
        (
            "[display]\ntables = ['t', 'u', 't']",
            "display.tables: t is there more than once: name each table once",
        ),
        (
            "[display]\ntables = ['t']\nlayout = 'circle'",
            "display.layout: Input should be 'landscape', 'portrait'",
        ),
        ("[display]\ntables = ['t']\ntheme = 'pink'", "display.theme: Input should be 'dark' or 'light'"),
        (
            "[display]\ntables = ['t']\nlang = '../en'",
            "display.lang: there is no catalogue for it: choose one of",
        ),
        ("[display]\ntables = ['t']\nhouse = 'no-such-file'", "cannot read the configuration no-such-file"),
        (
            "[display]\ntables = ['t']\nport = 70000",
            "display.port: Input should be less than or equal to 65535",
        ),
        ("[display]\ntables = ['t']\nprot = 80", "display.prot: Extra inputs are not permitted"),
        ("[display]\ntables = ['t']\n[mqtt]\nbase = 'punto/#'", "mqtt.base: String should match"),
        (
            "[display]\ntables = ['t']\n[mqtt]\npassword = 'x'",
            "mqtt.password: Extra inputs are not permitted",
        ),
        ("[display]\ntables = ['t']\n[mqtt]\npassword_file = 'x'", "mqtt.password_file needs mqtt.username"),
        (
            "[display]\ntables = ['t']\n[mqtt]\nusername = 'u'\npassword_file = 'no-such-file'",
            "cannot read no-such-file",
        ),
        ("display = 3", "display: Input should be a valid dictionary"),
        ("[display", "is not TOML"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, toml, says):
    path = tmp_path / "display.toml"
    path.write_text(toml, encoding="utf-8")

    with pytest.raises(OptionsError, match="(?s).*" + says.replace(".", r"\.")):
        read_options(path, {})


def test_the_password_loses_its_line_end_and_nothing_more(tmp_path):
    file = tmp_path / "password"
    file.write_bytes(" p ä\n".encode())

    assert MqttOptions(username="u", password_file=file).password() == " p ä"


def test_the_command_says_what_is_wrong_without_a_traceback(tmp_path):
    status, said = DisplayProcess("--config", str(tmp_path / "none.toml")).end()

    assert status == 2
    assert said.startswith("punto display: cannot read the configuration ")
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, said = DisplayProcess("--table", "table-1", "--port", port).end()

    assert status == 2
    assert said.startswith(f"punto display: cannot listen on 127.0.0.1 port {port}: Address already in use")


def test_it_listens_on_loopback_alone_and_ends_in_order():
    process = DisplayProcess("--table", "table-1", "--port", "0", "--mqtt-port", str(free_port()))
    address = process.address()
    listening = [
        each.laddr
        for each in psutil.Process(process.pid).net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    ]
    status, said = process.end(signal.SIGTERM)

    assert [f"http://{ip}:{port}/" for ip, port in listening] == [address]
    assert address.startswith("http://127.0.0.1:")
    assert (status, "Traceback" in said) == (0, False)
