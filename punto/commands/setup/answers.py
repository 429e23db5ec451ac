"""What `punto setup` asks: the answers of one table, with the defaults that a house would want."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from punto.baccarat.currency import decimals_of
from punto.configs.problems import ConfigError, Problem
from punto.configs.section import Section
from punto.configs.toml_file import Host, OneLine, read, typed
from punto.controller.accounts.roles import Role
from punto.displays.words import languages

LONGEST: Final = 25
"""Of a table's name: systemd allows 31 characters for the user `punto-NAME`."""
_GROUPS: Final = {"display", "operators"}
"""`punto-NAME` would be the group of the displays or of the operators."""
DEFAULT_MINIMUM: Final = 2500
DEFAULT_MAXIMUM: Final = 500_000
FIRST_CONSOLE: Final = 8090
FIRST_DISPLAY: Final = 8080
OWN_BROKER_PORT: Final = 1885
"""The listener of configs/mosquitto.conf for the programs of this PC."""

Port = Annotated[int, Field(ge=1, le=65535)]


def _table(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or len(name) > LONGEST or name in _GROUPS:
        raise ValueError(
            f"{name[:60]!r} cannot be a table here: write small letters, digits, - and _, at most {LONGEST} characters, such as table-1"
        )
    return name


def _language(code: str) -> str:
    if code not in (known := languages()):
        raise ValueError(f"{code[:20]!r} is not a language of the displays: write one of {', '.join(known)}")
    return code


def _currency(code: str) -> str:
    decimals_of(code)
    return code


class DeviceAnswer(Section):
    """A device that introduces itself."""

    port: str | None = None
    input: str | None = None
    link_version: Literal[1, 2] = 2
    """1: the house allows a device that has no key."""

    @model_validator(mode="after")
    def _one_device(self) -> Self:
        if (self.port is None) is (self.input is None):
            raise ValueError('give either port or input, such as port = "/dev/serial/by-id/usb-..."')
        return self

    @property
    def path(self) -> str:
        """The path of the device."""
        return str(self.port or self.input)

    @property
    def keyed(self) -> bool:
        """Whether the device proves with a key which one it is."""
        return self.port is not None and self.link_version == 2


class SensorsAnswer(DeviceAnswer):
    """The wager sensors of a progressive."""

    seats: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)


class BrokerAnswer(Section):
    """A broker of the house. Without it, the table has the Mosquitto of this PC."""

    host: Host
    port: Port = 1883
    base: str = "punto"
    passwords: str | None = None
    """The folder with the passwords of this broker's users, which `punto broker-users` makes there. Without it, nobody signs on."""
    ca_file: str | None = None


class PagesAnswer(Section):
    """Where pages are: an address of this PC, or this PC alone; without a port, the first that no other table of this PC has."""

    host: Host = "127.0.0.1"
    port: Port | None = None

    @property
    def on_loopback(self) -> bool:
        """Whether only this PC can open the pages."""
        return self.host in {"127.0.0.1", "localhost", "::1"}


class Answers(Section):
    """The answers of one table. The questions are its first eight fields and `people`."""

    version: Literal[1] = 1
    table: Annotated[str, AfterValidator(_table)] = "table-1"
    name: OneLine = "Baccarat 1"
    game: str = "dragon-bonus-1"
    currency: Annotated[str, AfterValidator(_currency)] = "USD"
    minimum: Annotated[int, Field(ge=1)] = DEFAULT_MINIMUM
    """Of a wager on Player or Banker, in minor units."""
    maximum: Annotated[int, Field(ge=1)] = DEFAULT_MAXIMUM
    language: Annotated[str, AfterValidator(_language)] = "en"
    seats: Annotated[int, Field(ge=1, le=14)] = 7
    zone: str = "UTC"
    """Of the gaming days."""
    simulation: bool = False
    """Whether the table is for practice: it takes a virtual shoe, and its record never becomes that of a live table."""
    shoe: DeviceAnswer | None = None
    """Without it, the dealer keys the cards."""
    keypad: DeviceAnswer | None = None
    coin_spot: SensorsAnswer | None = None
    card_reader: DeviceAnswer | None = None
    broker: BrokerAnswer | None = None
    console: PagesAnswer = PagesAnswer()
    display: PagesAnswer = PagesAnswer()
    people: Mapping[str, tuple[Role, ...]] = Field(default_factory=dict)
    """The accounts that are made, each with its roles."""

    @model_validator(mode="after")
    def _limits_are_a_range(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"minimum {self.minimum} is more than maximum {self.maximum}")
        return self

    def devices(self) -> Iterator[tuple[str, DeviceAnswer]]:
        """The devices, each with its section of the configuration."""
        for section in ("shoe", "keypad", "coin_spot", "card_reader"):
            device = getattr(self, section)
            if device is not None:
                yield section, device

    def with_ports(self, taken: Iterable[int]) -> Self:
        """The same answers with a port for each kind of page: the answered one, or the first that is not taken."""
        used = {*taken, *(each.port for each in (self.console, self.display) if each.port is not None)}
        pages = {}
        for name, first in (("console", FIRST_CONSOLE), ("display", FIRST_DISPLAY)):
            answer: PagesAnswer = getattr(self, name)
            port = answer.port or next(each for each in range(first, 65536) if each not in used)
            used.add(port)
            pages[name] = answer.model_copy(update={"port": port})
        return self.model_copy(update=pages)

    def text(self) -> str:
        """The answers as a file that `read_answers` reads."""
        return toml_of(self.model_dump(mode="json", exclude_none=True))


def toml_of(document: Mapping[str, Any]) -> str:
    """A document with one level of sections as TOML. JSON's texts, numbers and lists are TOML's too."""
    plain = [each for each in document.items() if not isinstance(each[1], dict)]
    sections = [each for each in document.items() if isinstance(each[1], dict) and each[1]]
    parts = ["".join(_line(*each) for each in plain)]
    parts += (f"[{name}]\n{''.join(_line(*each) for each in keys.items())}" for name, keys in sections)
    return "\n".join(part for part in parts if part)


def _line(key: str, value: object) -> str:
    name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
    return f"{name} = {json.dumps(value, ensure_ascii=False)}\n"


def read_answers(path: Path) -> Answers:
    """Read a file of answers.

    Raises:
        ConfigError: it cannot be read, or an answer is invalid; the problems have lines.
    """
    file = read(path)
    if "table" in file.document and not isinstance(file.document["table"], str):
        message = "this is a table's configuration, and not a file of answers: `punto setup --help` names what it answers"
        raise ConfigError([Problem(message, file.name)])
    return typed(file, Answers)
