"""`[keypad]` and `[configuration_keypad]`: what they set, and what is told of a mistake in them."""

import re
import shutil
from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.commands.run import devices_of
from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.keypad.configuration import ConfigurationKeypad
from punto.drivers.keypad.keys import KeyedOrder
from punto.drivers.keypad.serial_line import SerialKeypad
from tests.service.table_on_a_machine import HERE

TABLE = """\
version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "dragon-bonus-1"
cards = "keyed"
[record]
path = "table.db"
[operator]
socket = "operator.sock"
"""


def load(tmp_path, sections: str):
    path = tmp_path / "table.toml"
    path.write_text(TABLE + sections, encoding="utf-8")
    return load_config(path)


def test_a_table_without_the_section_has_no_keypad(tmp_path):
    devices = devices_of(load(tmp_path, ""))

    assert (devices.keypad, devices.configuration_keypad) == (None, None)


def test_a_keypad_at_a_port_has_the_default_map(tmp_path):
    config = load(tmp_path, '[keypad]\nport = "keypad"\nlink_version = 1\n')

    assert config.keypad is not None
    assert config.keypad.port == str(tmp_path / "keypad")
    assert (config.keypad.baud, config.keypad.timeout) == (115_200, 3.0)
    assert config.keypad.key_map().orders["F2",] == KeyedOrder("close_betting")
    driver = devices_of(config).keypad
    assert isinstance(driver, SerialKeypad)
    assert driver.path == str(tmp_path / "keypad")


def test_a_house_writes_keys_of_its_own(tmp_path):
    config = load(
        tmp_path,
        '[keypad]\nport = "/dev/keypad"\nlink_version = 1\ntimeout = 2.5\n[keypad.keys]\nSPACE = "close_betting"\n"F9 F9" = "reveal"\n',
    )

    assert config.keypad is not None
    orders = config.keypad.key_map().orders
    assert (orders["SPACE",].kind, orders["F9", "F9"].kind) == ("close_betting", "reveal")
    assert config.redacted()["keypad"]["keys"] == {"SPACE": "close_betting", "F9 F9": "reveal"}


@pytest.mark.parametrize(("written", "by_model"), [("", False), ("link_version = 1\n", True)])
def test_an_input_device_is_another_driver(tmp_path, written, by_model):
    from punto.drivers.keypad.input_device import InputKeypad

    section = f'[keypad]\ninput = "/dev/input/by-id/usb-pad-event-kbd"\n{written}'
    driver = devices_of(load(tmp_path, section)).keypad

    assert isinstance(driver, InputKeypad)
    assert driver._by_model is by_model
    assert driver.path == "/dev/input/by-id/usb-pad-event-kbd"


def test_the_configuration_keypad_has_a_watch(tmp_path):
    watch = devices_of(load(tmp_path, '[configuration_keypad]\npath = "pad"\n')).configuration_keypad

    assert isinstance(watch, ConfigurationKeypad)
    assert watch.path == str(tmp_path / "pad")


def test_a_keypad_does_not_make_another_table(tmp_path):
    before = load(tmp_path, "")

    assert (
        load(tmp_path, '[keypad]\nport = "keypad"\nkey_file = "keypad.key"\n').settings() == before.settings()
    )


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ("[keypad]\n", "11: keypad: give either port or input, such as port ="),
        ('[keypad]\nport = "a"\nlink_version = 1\ninput = "b"\n', "11: keypad: give either port or input"),
        (
            '[keypad]\nport = ""\nlink_version = 1\n',
            "12: keypad.port: port is empty: write the device's path",
        ),
        ('[keypad]\nport = "a"\nlink_version = 1\nbaud = 3\n', "14: keypad.baud: "),
        ('[keypad]\nport = "a"\nlink_version = 1\ntimeout = 0.1\n', "14: keypad.timeout: "),
        (
            '[keypad]\nport = "a"\nlink_version = 1\n[keypad.keys]\nF1 = "void_coup"\n',
            "15: keypad.keys.F1: 'void_coup' cannot be",
        ),
        (
            '[keypad]\nport = "a"\nlink_version = 1\n[keypad.keys]\nf1 = "reveal"\n',
            "15: keypad.keys.f1: 'f1' is not a key's name",
        ),
        (
            '[keypad]\nport = "a"\nlink_version = 1\n[keypad.keys]\n"F1 F2" = "reveal"\n',
            "F1 has two meanings, or",
        ),
        ('[keypad]\nport = "a"\nlink_version = 1\n[keypad.keys]\nF1 = 3\n', "15: keypad.keys.F1: "),
        ("[configuration_keypad]\n", "configuration_keypad.path"),
        ('[configuration_keypad]\npath = ""\n', "12: configuration_keypad.path: path is empty"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, sections, told):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, sections)

    assert told in str(error.value)


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        (
            '[keypad]\ninput = "/dev/input/pad"\nkey_switch = true\n',
            "only a keypad at a serial port can have a key switch",
        ),
        (
            '[keypad]\nport = "keypad"\nlink_version = 1\n[keypad.keys]\nF13 = "hand 8"\n',
            "the table has no such seat: write hand 1 to 7",
        ),
        (
            '[keypad]\nport = "keypad"\nlink_version = 1\nkey_switch = true\n',
            "is only for Aquarius, which this table does not use",
        ),
        ('[keypad]\nport = "keypad"\nlink_version = 1\nstart_label = "GO"\n', "'START GAME' or 'COIN IN'"),
    ],
)
def test_what_an_aquarius_keypad_cannot_be_is_told(tmp_path, sections, told):
    with pytest.raises(ConfigError, match=told):
        load(tmp_path, sections)


def test_the_configuration_of_a_whole_table_has_its_devices(tmp_path):
    shutil.copy(Path(__file__).parents[2] / "configs" / "progressive-table.toml", tmp_path)
    for name in ("shoe", "keypad", "coin-spot"):
        (tmp_path / f"{name}.key").write_text("0" * 64, encoding="ascii")
    config = load_config(tmp_path / "progressive-table.toml")
    devices = devices_of(config)

    assert isinstance(devices.keypad, SerialKeypad)
    assert isinstance(devices.coin_spot, SerialCoinSpot)
    assert devices.card_reader is None
    assert config.settings().progressive is not None


@pytest.mark.parametrize("without_a_key", [False, True])
def test_the_section_in_the_guide_is_accepted_as_written(tmp_path, without_a_key):
    page = (HERE / "docs" / "how-to" / "add-a-device.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"```toml\n(\[keypad\].*?)```", page, re.DOTALL)
    assert main(["device-key", str(tmp_path / "keypad.key")]) == 0
    if without_a_key:
        assert "write `link_version = 1` in place of `key_file`" in page
        section = section.replace('key_file = "keypad.key"', "link_version = 1")

    keypad = load(tmp_path, section).keypad
    assert keypad is not None
    assert keypad.port == "/dev/serial/by-id/usb-keypad"
