"""`[keypad]` and `[configuration_keypad]`: what they set, and how a mistake in them is reported."""

import re
import shutil
from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.commands.run import devices_of
from punto.configs.problems import ConfigError
from punto.controller.config.file import ServiceConfig, load_config
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.keypad.configuration import ConfigurationKeypad
from punto.drivers.keypad.input_device import InputKeypad
from punto.drivers.keypad.keys import KeyedOrder
from punto.drivers.keypad.serial_line import SerialKeypad
from tests.controller.table_on_a_machine import HERE

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


PORT = '[keypad]\nport = "keypad"\nlink_version = 1\n'
INPUT = '[keypad]\ninput = "/dev/input/by-id/usb-pad-event-kbd"\n'


@pytest.fixture
def load(tmp_path):
    def load(sections: str) -> ServiceConfig:
        path = tmp_path / "table.toml"
        path.write_text(TABLE + sections, encoding="utf-8")
        return load_config(path)

    return load


def test_a_table_without_the_section_has_no_keypad(load):
    devices = devices_of(load(""))

    assert (devices.keypad, devices.configuration_keypad) == (None, None)


def test_a_keypad_at_a_port_has_the_default_map(load, tmp_path):
    config = load(PORT)

    assert config.keypad is not None
    assert config.keypad.port == str(tmp_path / "keypad")
    assert (config.keypad.baud, config.keypad.timeout) == (115_200, 3.0)
    assert config.keypad.key_map().orders["F2",] == KeyedOrder("close_betting")
    driver = devices_of(config).keypad
    assert isinstance(driver, SerialKeypad)
    assert driver.path == str(tmp_path / "keypad")


def test_a_house_writes_keys_of_its_own(load):
    config = load(PORT + 'timeout = 2.5\n[keypad.keys]\nSPACE = "close_betting"\n"F9 F9" = "reveal"\n')

    assert config.keypad is not None
    orders = config.keypad.key_map().orders
    assert (orders["SPACE",].kind, orders["F9", "F9"].kind) == ("close_betting", "reveal")
    assert config.redacted()["keypad"]["keys"] == {"SPACE": "close_betting", "F9 F9": "reveal"}


@pytest.mark.parametrize(("written", "by_model"), [("", False), ("link_version = 1\n", True)])
def test_an_input_device_has_another_driver(load, written, by_model):
    driver = devices_of(load(INPUT + written)).keypad

    assert isinstance(driver, InputKeypad)
    assert driver._by_model is by_model
    assert driver.path == "/dev/input/by-id/usb-pad-event-kbd"


def test_the_configuration_keypad_has_a_watch(load, tmp_path):
    watch = devices_of(load('[configuration_keypad]\npath = "pad"\n')).configuration_keypad

    assert isinstance(watch, ConfigurationKeypad)
    assert watch.path == str(tmp_path / "pad")


def test_a_keypad_does_not_make_another_table(load):
    with_a_key = PORT.replace("link_version = 1", 'key_file = "keypad.key"')

    assert load(with_a_key).settings() == load("").settings()


KEYS = f"{PORT}[keypad.keys]\n"


@pytest.mark.parametrize(
    ("sections", "reported"),
    [
        ("[keypad]\n", "11: keypad: give either port or input, such as port ="),
        (f'{PORT}input = "b"\n', "11: keypad: give either port or input"),
        (PORT.replace('"keypad"', '""'), "12: keypad.port: port is empty: write the device's path"),
        (f"{PORT}baud = 3\n", "14: keypad.baud: "),
        (f"{PORT}timeout = 0.1\n", "14: keypad.timeout: "),
        (f'{KEYS}F1 = "void_coup"\n', "15: keypad.keys.F1: 'void_coup' cannot be"),
        (f'{KEYS}f1 = "reveal"\n', "15: keypad.keys.f1: 'f1' is not a key's name"),
        (f'{KEYS}"F1 F2" = "reveal"\n', "F1 has two meanings, or"),
        (f"{KEYS}F1 = 3\n", "15: keypad.keys.F1: "),
        (f'{KEYS}F13 = "hand 8"\n', "the table has no such seat: write hand 1 to 7"),
        ("[configuration_keypad]\n", "configuration_keypad.path"),
        ('[configuration_keypad]\npath = ""\n', "12: configuration_keypad.path: path is empty"),
        (f"{INPUT}key_switch = true\n", "only a keypad at a serial port can have a key switch"),
        (f"{PORT}key_switch = true\n", "is only for Aquarius, which this table does not use"),
        (f'{PORT}start_label = "GO"\n', "'START GAME' or 'COIN IN'"),
    ],
)
def test_a_mistake_is_reported_with_its_line(load, sections, reported):
    with pytest.raises(ConfigError) as error:
        load(sections)

    assert reported in str(error.value)


def test_the_configuration_of_a_whole_table_has_its_devices(tmp_path):
    shutil.copy(Path(__file__).parents[3] / "configs" / "progressive-table.toml", tmp_path)
    for name in ("shoe", "keypad", "coin-spot"):
        (tmp_path / f"{name}.key").write_text("0" * 64, encoding="ascii")
    config = load_config(tmp_path / "progressive-table.toml")
    devices = devices_of(config)

    assert isinstance(devices.keypad, SerialKeypad)
    assert isinstance(devices.coin_spot, SerialCoinSpot)
    assert devices.card_reader is None
    assert config.settings().progressive is not None


@pytest.mark.parametrize("without_a_key", [False, True])
def test_the_section_in_the_guide_is_accepted_as_written(load, tmp_path, without_a_key):
    page = (HERE / "docs" / "how-to" / "add-a-device.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"```toml\n(\[keypad\].*?)```", page, re.DOTALL)
    assert main(["device-key", str(tmp_path / "keypad.key")]) == 0
    if without_a_key:
        assert "write `link_version = 1` in place of `key_file`" in page
        section = section.replace('key_file = "keypad.key"', "link_version = 1")

    keypad = load(section).keypad
    assert keypad is not None
    assert keypad.port == "/dev/serial/by-id/usb-keypad"
