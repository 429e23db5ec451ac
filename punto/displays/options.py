"""The start options of a display: `configs/display.toml` with the command's options over it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from punto.baccarat.unit import Unit
from punto.configs.problems import ConfigError, Problem
from punto.configs.toml_file import FromFolder, Host, Reserved, TomlFile, read, typed
from punto.displays.house import House, read_house
from punto.displays.words import languages
from punto.runtime.broker_login import BrokerConfig

COMMAND = "the command's options"
"""The place of an option that is not from a file."""
_STRICT = ConfigDict(frozen=True, extra="forbid")


class MqttOptions(BrokerConfig):
    """`[mqtt]`: the broker. A display tests a silent connection sooner than a table does, because until it connects again it can only show NOT LIVE, whereas a table plays without the broker."""

    keepalive: Annotated[int, Field(ge=1, le=65535), Unit("seconds")] = 5
    """After this time without a message, the display tests its connection to the broker."""


class PageOptions(BaseModel):
    """`[display]`: the tables to show, the look of the pages, and their address."""

    model_config = _STRICT

    tables: Annotated[tuple[str, ...], Field(min_length=1)]
    """The tables' ids, as in their topics. A page with several tables shows them in this order."""
    host: Host = "127.0.0.1"
    """The address at which browsers open the pages. With a loopback address, only browsers on this machine can open the pages."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """The port of the pages. With 0, the display chooses a free port."""
    layout: Literal["landscape", "portrait", "roads"] = "landscape"
    """The layout of the i-Score page."""
    theme: Literal["lacquer", "jade", "night"] = "lacquer"
    """The material of the pages: red lacquer, dark green jade, or near black for a studio."""
    lang: str = "en"
    """The language of the pages: `en`, `pt`, `zh-Hant`, `zh-Hans`, or another [catalogue](i-score.md#languages)."""
    house: FromFolder | None = None
    """The file of the [house's theme](#a-houses-theme): colours, logo and names."""
    origins: tuple[str, ...] = ()
    """Other websites whose pages may read the display's event stream in a browser. Each entry is a scheme, a host and a port,
    such as `https://floor.example`.
    """
    reserved: Reserved = ()
    """The IP addresses of up to 6 other machines with screens. If there are too many connections, the server first closes
    connections of addresses that are not listed here. Each listed machine keeps up to 50 connections, and so does this machine.
    """

    @field_validator("tables")
    @classmethod
    def _are_tables(cls, tables: tuple[str, ...]) -> tuple[str, ...]:
        for table in tables:
            if not re.fullmatch("[a-z0-9_-]+", table):
                raise ValueError(
                    f"{table!r} is not a table's id: an id has small letters, digits, - and _, such as table-1"
                )
        twice = sorted({table for table in tables if tables.count(table) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} is there more than once: name each table once")
        return tables

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?", origin):
                raise ValueError(
                    f"{origin!r} is not an origin: write scheme, host and port in small letters and nothing after them, "
                    "such as https://floor.example or http://192.0.2.7:8000"
                )
        return origins

    @field_validator("lang")
    @classmethod
    def _has_a_catalogue(cls, lang: str) -> str:
        if lang not in languages():
            raise ValueError(f"there is no catalogue for {lang!r}: choose one of {', '.join(languages())}")
        return lang

    def house_theme(self) -> House:
        """The house's theme; if none is named, one that changes nothing. Raises ConfigError if its file cannot be used."""
        return House() if self.house is None else read_house(self.house)


class DisplayOptions(BaseModel):
    """All options of a display."""

    model_config = _STRICT

    mqtt: MqttOptions = Field(default_factory=MqttOptions)
    display: PageOptions


def read_options(path: Path | None, given: Mapping[tuple[str, str], Any]) -> DisplayOptions:
    """The options in the file `path`, with those `given` to the command, by section and key, in their place.

    Raises:
        ConfigError: the file cannot be read, or a value cannot be used.
    """
    file = TomlFile.parse(COMMAND, b"") if path is None else read(path)
    for (section, key), value in given.items():
        table = file.document.setdefault(section, {})
        if isinstance(table, dict):  # if not, the check below says so
            table[key] = str(value.absolute()) if isinstance(value, Path) else value
    if path is None and ("display", "tables") not in given:
        raise ConfigError([Problem("no table is named: add --table ID, or --config FILE", COMMAND)])
    try:
        options = typed(file, DisplayOptions, context=None if path is None else path.parent.absolute())
    except ConfigError as error:
        of_the_command = {".".join(place) for place in given}
        raise ConfigError(
            replace(problem, file=COMMAND, line=None)
            if path is None or problem.key.partition("[")[0] in of_the_command
            else problem
            for problem in error.problems
        ) from None
    # an unusable file is reported now, not at each request
    options.display.house_theme()
    return options
