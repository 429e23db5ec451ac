"""Which device each may be, and how it proves it: what the configuration says of shoe, keypad, wager sensors and card reader."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.commands.run import devices_of
from punto.configs.problems import ConfigError
from punto.controller.config.file import ServiceConfig, load_config
from punto.drivers.seal import HostSeal
from tests.controller.table_in_this_process import rows, table
from tests.share import soaked

SHIPPED = Path(__file__).parents[3] / "configs"
TABLE = """version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "progressive-2"
cards = "{cards}"
simulation = {simulation}
[record]
path = "table-1.db"
[accounts]
path = "operators.db"
[progressive]
id = "dragon"
reserve = "1%"
procedure = "nexus"
[{section}]
port = "device"
{written}
"""
SECTIONS = ("shoe", "keypad", "coin_spot", "card_reader")


@pytest.fixture
def load(tmp_path):
    def of(section: str, written: str, *, simulation: bool = False) -> ServiceConfig:
        if section == "coin_spot":
            written += "\nseats = [1, 2, 3]"
        cards = "shoe" if section == "shoe" else "keyed"
        text = TABLE.format(cards=cards, simulation=str(simulation).lower(), section=section, written=written)
        path = tmp_path / "table.toml"
        path.write_text(text, encoding="utf-8")
        return load_config(path)

    return of


@pytest.mark.parametrize("section", SECTIONS)
def test_the_only_device_that_is_accepted_by_itself_is_in_the_settings(load, section):
    config = load(section, 'key_file = "device.key"\nserial = "D-000042"')

    assert getattr(config.settings(), f"{section}_serial") == "D-000042"


@pytest.mark.parametrize("section", SECTIONS)
def test_a_device_without_a_key_needs_the_word_of_the_house(load, section):
    with pytest.raises(ConfigError, match=f"{section}: has no key, so anything on its line could pass"):
        load(section, "")

    assert load(section, "link_version = 1").settings().unproven == (section,)
    assert load(section, 'key_file = "device.key"').settings().unproven == ()
    assert load(section, "", simulation=True).settings().unproven == ()


def test_a_key_and_the_word_that_none_is_needed_cannot_both_be_given(load):
    with pytest.raises(ConfigError, match=r"keypad\.key_file: is for version 2 of the link"):
        load("keypad", 'key_file = "device.key"\nlink_version = 1')


@pytest.mark.parametrize("section", [SECTIONS[0], *soaked(*SECTIONS[1:])])
def test_check_config_warns_of_a_device_without_a_key(load, tmp_path, capsys, section):
    load(section, "link_version = 1")
    assert main(["check-config", str(tmp_path / "table.toml")]) == 0
    warned = f"warning: {section}: link_version = 1, so another device could replace this one unnoticed"
    assert warned in capsys.readouterr().out

    load(section, 'key_file = "device.key"')
    assert main(["check-config", str(tmp_path / "table.toml")]) == 0
    said = capsys.readouterr().out
    assert "link_version" not in said
    assert (
        f"{section}.key_file {tmp_path / 'device.key'} does not exist: make it with `punto device-key`"
        in said
    )


def test_each_start_puts_the_devices_without_a_key_on_the_record(load, tmp_path):
    async def start() -> None:
        async with table(tmp_path / "table-1.db", load("shoe", "link_version = 1").settings()):
            pass

    asyncio.run(start())

    ((started,),) = rows(tmp_path / "table-1.db", "SELECT payload FROM inputs WHERE source = 'service'")
    assert json.loads(started)["settings"]["unproven"] == ["shoe"]


@pytest.mark.parametrize("name", ["table.toml", "progressive-table.toml"])
def test_the_configurations_that_ship_ask_for_a_key_of_each_device_and_say_how_to_make_it(tmp_path, name):
    shutil.copy(SHIPPED / name, tmp_path)
    config = load_config(tmp_path / name)
    for _, device in config.devices():
        assert device.key_file is not None
        assert main(["device-key", str(device.key_file)]) == 0

    assert config.settings().unproven == ()
    devices = devices_of(config)
    for driver in (devices.shoe, devices.keypad, devices.coin_spot):
        assert driver is None or isinstance(vars(driver)["_link"]._seal, HostSeal)
    assert "punto device-key /etc/punto/" in (SHIPPED / name).read_text("utf-8")
