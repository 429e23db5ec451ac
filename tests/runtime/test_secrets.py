"""Each key of a configuration that names a file with a secret: what is reported without the credentials of systemd."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from punto.commands.run import devices_of
from punto.configs.problems import ConfigError
from punto.controller.config.file import ConfigFile, load_config
from punto.displays.options import DisplayOptions, read_options
from punto.house.config import GameManagerConfig, load_game_manager
from punto.runtime.secret_file import SecretFile
from punto.witness.config import WitnessConfig, load_witness

TABLE = """version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "progressive-2"
cards = "{cards}"
[record]
path = "table-1.db"
[accounts]
path = "operators.db"
[progressive]
id = "dragon"
reserve = "1%"
procedure = "nexus"
[{section}]
{keys}
"""
Use = Callable[[str, str, Path], None]
"""Reads the secrets of a section with these keys, in a file in the folder."""
MQTT = {
    "password_file": 'username = "somebody"',
    "key": 'certificate = "certificate.pem"\nca_file = "certificate.pem"',
}
CREDENTIAL = '{key} = "$CREDENTIALS_DIRECTORY/a-secret"\n'


def table(section: str, keys: str, folder: Path) -> Any:
    path = folder / "table.toml"
    path.write_text(TABLE.format(cards="shoe" if section == "shoe" else "keyed", section=section, keys=keys))
    return load_config(path)


def device(section: str, keys: str, folder: Path) -> None:
    keys += '\nport = "device"' + ("\nseats = [1, 2, 3]" if section == "coin_spot" else "")
    config = table(section, keys, folder)
    devices_of(config)
    for _, each in config.devices():  # without the key of a keypad, the table goes on
        each.key()


def tables_broker(section: str, keys: str, folder: Path) -> None:
    used(table(section, keys, folder).mqtt)


def other(load: Callable[[Path], Any], more: str) -> Use:
    def use(section: str, keys: str, folder: Path) -> None:
        path = folder / "other.toml"
        path.write_text(f"{more}[{section}]\n{keys}\n")
        used(getattr(load(path), section))

    return use


def used(of: Any) -> None:
    of.password()
    of.tls()


DISPLAY = '[display]\ntables = ["table-1"]\n'
MANAGER = 'version = 1\n[store]\npath = "store.db"\n'
WITNESS = 'version = 1\n[witness]\npath = "witness.db"\nkey = "key"\n'
FILES: dict[type[BaseModel], dict[str, Use]] = {
    ConfigFile: {"mqtt": tables_broker, "shoe": device, "keypad": device, "coin_spot": device, "card_reader": device},
    DisplayOptions: {"mqtt": other(lambda path: read_options(path, {}), DISPLAY)},
    GameManagerConfig: {"mqtt": other(load_game_manager, MANAGER), "store": other(load_game_manager, "version = 1\n")},
    WitnessConfig: {"mqtt": other(load_witness, WITNESS)},
}  # fmt: skip
KEYS = {"store": 'address = "postgresql://punto@db.example/punto"'}


def secrets(file: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The section and key of each secret."""
    for section, field in file.model_fields.items():
        for model in (field.annotation, *get_args(field.annotation)):
            if isinstance(model, type) and issubclass(model, BaseModel):
                for key, each in model.model_fields.items():
                    if SecretFile in get_args(each.annotation):
                        yield section, key


@pytest.mark.parametrize(
    ("file", "section", "key"),
    [(file, section, key) for file in FILES for section, key in secrets(file)],
)
def test_a_credential_that_is_not_there_is_reported_with_its_own_key(
    file, section, key, tmp_path, monkeypatch, certificate
):
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    keys = KEYS.get(section) or (MQTT[key] if section == "mqtt" else "")
    with pytest.raises(ConfigError) as refused:
        FILES[file][section](section, CREDENTIAL.format(key=key) + keys, tmp_path)

    (problem,) = refused.value.problems
    assert problem.key == f"{section}.{key}"
    assert problem.message.startswith(
        "$CREDENTIALS_DIRECTORY/a-secret: systemd has given this program no cred"
    )


def test_no_file_has_lost_its_secrets():
    found = {f"{section}.{key}" for file in FILES for section, key in secrets(file)}

    assert found == {
        "mqtt.password_file",
        "mqtt.key",
        "store.password_file",
        *(f"{section}.key_file" for section in ("shoe", "keypad", "coin_spot", "card_reader")),
    }
