"""What the command is told: a file, options over it, and a clear word where they cannot be used."""

import re
import signal
import socket
from pathlib import Path

import psutil
import pytest

from punto.configs.problems import ConfigError
from punto.displays.options import DisplayOptions, MqttOptions, PageOptions, read_options
from tests.displays.parts import DisplayProcess
from tests.ports import free_port

SHIPPED = Path(__file__).parents[2] / "configs" / "display.toml"


def test_the_shipped_configuration_is_all_defaults_but_the_table_pcs_listener():
    assert read_options(SHIPPED, {}) == DisplayOptions(
        mqtt=MqttOptions(port=1885), display=PageOptions(tables=("table-1",))
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
        ("", "display.toml:1: display: is missing"),
        ("[display]\nport = 8080", "display.toml:1: display.tables: is missing"),
        ("[display]\ntables = ['Table 1']", "display.toml:2: display.tables: 'Table 1' is not a table's id: an id has small letters"),
        ("[display]\ntables = []", "display.toml:2: display.tables: must not be empty"),
        ("[display]\ntables = ['t', 'u', 't']", "display.tables: t is there more than once: name each table once"),
        ("[display]\ntables = ['t']\nlayout = 'circle'", "display.toml:3: display.layout: must be 'landscape', 'portrait' or 'roads', not 'circle'"),
        ("[display]\ntables = ['t']\ntheme = 'pink'", "display.theme: must be 'lacquer', 'jade' or 'night'"),
        ("[display]\ntables = ['t']\nlang = '../en'", "display.lang: there is no catalogue for '../en': choose one of"),
        *(
            (
                f"[display]\ntables = ['t']\norigins = ['{origin}']",
                f"display.origins: {origin!r} is not an origin: write",
            )
            for origin in (
                "*",
                "floor.example",
                "https://floor.example/",
                "https://Floor.example",
                "ws://floor.example",
            )
        ),
        ("[display]\ntables = ['t']\nreserved = ['sign-1']", "display.reserved: 'sign-1' is not an IP address: write one such as 192.0.2.7"),
        (f"[display]\ntables = ['t']\nreserved = {[f'192.0.2.{n}' for n in range(7)]}", "display.reserved: 7 addresses are too many: name at most 6"),
        ("[display]\ntables = ['t']\nhouse = 'no-such-file'", "no-such-file: cannot be read: No such file"),
        ("[display]\ntables = ['t']\nport = 70000", "display.port: must be 65535 or less, not 70000"),
        ("[display]\ntables = ['t']\nprot = 80", "display.toml:3: display.prot: no such key (did you mean port?)"),
        ("[display]\ntables = ['t']\n[mqtt]\nbase = 'punto/#'", "display.toml:4: mqtt.base: base 'punto/#' cannot begin a topic"),
        ("[display]\ntables = ['t']\n[mqtt]\npassword = 'x'", "mqtt.password: no such key (did you mean password_file?)"),
        (
            "[display]\ntables = ['t']\n[mqtt]\npassword_file = 'x'",
            "mqtt.password_file: password_file is given without a username: add the username of this password",
        ),
        ("[display]\ntables = 't'", 'display.tables: must be a list: ["t"]'),
        ("display = 3", "display: must be a table: write [display] above its keys"),
        ("[display", "display.toml:1: this is not TOML"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(tmp_path, toml, says):
    path = tmp_path / "display.toml"
    path.write_text(toml, encoding="utf-8")

    with pytest.raises(ConfigError, match=re.escape(says)):
        read_options(path, {})


def test_what_the_command_was_given_is_not_looked_for_in_the_file():
    with pytest.raises(ConfigError) as refused:
        read_options(SHIPPED, {("display", "lang"): "xx", ("display", "tables"): ["T"]})

    assert [problem.line for problem in refused.value.problems] == [None, None]
    assert {problem.file for problem in refused.value.problems} == {"the command's options"}


def test_paths_are_from_the_files_folder_and_those_of_the_command_from_where_it_is_given(
    tmp_path, monkeypatch
):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "password").write_text("secret\n", encoding="utf-8")
    (tmp_path / "house" / "own.toml").write_text("[names]\nen = 'House'\n", encoding="utf-8")
    file = tmp_path / "house" / "display.toml"
    file.write_text(
        "[display]\ntables = ['t']\nhouse = 'own.toml'\n[mqtt]\nusername = 'u'\npassword_file = 'password'\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    read = read_options(Path("house/display.toml"), {})
    given = read_options(Path("house/display.toml"), {("display", "house"): Path("house/own.toml")})

    assert read.mqtt.password() == "secret"
    assert read.display.house == given.display.house == tmp_path / "house" / "own.toml"


def test_the_command_says_what_is_wrong_without_a_traceback(tmp_path):
    status, said = DisplayProcess("--config", str(tmp_path / "none.toml")).end()

    assert status == 2
    assert said.startswith(f"punto display: {tmp_path}/none.toml: cannot be read: No such file")
    assert "Traceback" not in said


def test_a_password_that_cannot_be_read_is_reported_at_the_start(tmp_path):
    file = tmp_path / "display.toml"
    file.write_text(
        "[display]\ntables = ['t']\n[mqtt]\nusername = 'u'\npassword_file = 'gone'\n", encoding="utf-8"
    )
    status, said = DisplayProcess("--config", str(file)).end()

    assert status == 2
    assert said == f"punto display: {tmp_path}/gone: the password cannot be read: No such file or directory\n"


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


def test_a_display_of_no_table_says_how_to_name_one():
    with pytest.raises(ConfigError, match="no table is named: add --table ID, or --config FILE"):
        read_options(None, {})
