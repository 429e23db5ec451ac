"""A table's configuration file: reading it, and checking it against its game."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import Field

from punto.baccarat.currency import in_words
from punto.baccarat.table.settings import DeviceSection, Settings
from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem, cut
from punto.configs.section import Section
from punto.configs.toml_file import TomlFile, read, typed
from punto.controller.config.devices import (
    CardReaderConfig,
    CoinSpotConfig,
    ConfigurationKeypadConfig,
    KeypadConfig,
    SerialConfig,
    SerialOrInputConfig,
    ShoeConfig,
)
from punto.controller.config.jurisdiction import NO_LAW, JurisdictionConfig, Law, read_law
from punto.controller.config.limits import (
    LimitsConfig,
    RulesConfig,
    in_chips,
    limit_problems,
    rule_problems,
    unpaid_problems,
    with_limits,
    with_rules,
)
from punto.controller.config.sections import (
    AccountsConfig,
    CalendarConfig,
    ConsoleConfig,
    EdgeConfig,
    MetricsConfig,
    MqttConfig,
    OperatorConfig,
    ProgressiveConfig,
    RecordConfig,
    TableConfig,
)
from punto.drivers.coin_spot.seats import SeatsError
from punto.drivers.keypad.keys import KeyMapError

T = TypeVar("T")


class ConfigFile(Section):
    """The keys of the file."""

    version: Literal[1]
    """The version of this file's format."""
    table: TableConfig
    limits: dict[str, LimitsConfig] = Field(default_factory=dict)
    rules: dict[str, RulesConfig] = Field(default_factory=dict)
    jurisdiction: JurisdictionConfig | None = None
    shoe: ShoeConfig | None = None
    record: RecordConfig
    mqtt: MqttConfig | None = None
    accounts: AccountsConfig | None = None
    operator: OperatorConfig | None = None
    edge: EdgeConfig | None = None
    keypad: KeypadConfig | None = None
    configuration_keypad: ConfigurationKeypadConfig | None = None
    console: ConsoleConfig | None = None
    metrics: MetricsConfig | None = None
    calendar: CalendarConfig = Field(default_factory=CalendarConfig)
    progressive: ProgressiveConfig | None = None
    coin_spot: CoinSpotConfig | None = None
    card_reader: CardReaderConfig | None = None

    def devices(self) -> Iterator[tuple[DeviceSection, SerialConfig | SerialOrInputConfig]]:
        """The devices that introduce themselves, each with its section."""
        for section in get_args(DeviceSection):
            device = getattr(self, section)
            if device is not None:
                yield section, device


class ServiceConfig(ConfigFile):
    """A valid configuration. `game` has the house's limits and rules, `law` the limits of its jurisdiction.

    `folder` is the folder of the file.

    The house's own game files are in `folder` too.
    """

    folder: Path
    game: Game
    law: Law = NO_LAW

    def settings(self) -> Settings:
        """The table's settings."""
        return Settings(
            table=self.table.id,
            game=self.game,
            shoe_serial=None if self.shoe is None else self.shoe.serial,
            keypad_serial=None if self.keypad is None else self.keypad.serial,
            coin_spot_serial=None if self.coin_spot is None else self.coin_spot.serial,
            card_reader_serial=None if self.card_reader is None else self.card_reader.serial,
            unproven=tuple(section for section, device in self.devices() if device.link_version == 1),
            progressive=None
            if self.progressive is None
            else self.progressive.settings(self.table.id, self.game),
            **self.table.model_dump(exclude={"id", "game", "smallest_chip"}),
        )

    def outlawed(self, game: Game) -> str:
        """What the law of today does not allow of a game with its limits; empty if it allows all of it."""
        shown = partial(in_words, currency=self.table.currency)
        return cut("; ".join(each.message for each in limit_problems(game, {}, self.law, shown)), 300)

    def redacted(self) -> dict[str, Any]:
        """The configuration as JSON, for anyone to read: it names the files of passwords and has no passwords."""
        document = self.model_dump(mode="json", exclude={"folder", "limits", "rules", "law"})
        return {**document, "law": [rule.model_dump(mode="json") for rule in self.law.rules]}

    def digest(self) -> str:
        """SHA-256 of the configuration with its defaults and its game. Equivalent files have the same digest."""
        document = self.redacted()
        document["table"].pop("game")  # the game's name or path does not matter, only its content
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def load_config(path: Path) -> ServiceConfig:
    """Read the configuration of one table and its game.

    Raises:
        ConfigError: one of the files cannot be read or is invalid, or the file has several tables.
    """
    file = read(path)
    if isinstance(file.document.get("table"), list):
        message = (
            "this file has several tables ([[table]]), and this command takes the configuration of one table"
        )
        raise ConfigError([Problem(message, file.name)])
    return config_of(file, path)


def config_of(file: TomlFile, path: Path) -> ServiceConfig:
    """The configuration of the one table in a file that was read from `path`, with its game.

    Raises:
        ConfigError: the file, or a file that it names, cannot be read or is invalid.
    """
    if "wagers" in file.document and "table" not in file.document:
        message = f"this is a game file, not a table's configuration: check it with `punto check-config --game {path}`"
        raise ConfigError([Problem(message, file.name)])
    written = typed(file, ConfigFile, context=path.parent.absolute())
    game_file = _named(file, ("table", "game"), lambda: load_game(written.table.game, path.parent))
    smallest_chip = written.table.smallest_chip
    game = _named(file, ("table", "smallest_chip"), lambda: in_chips(game_file, smallest_chip))
    law = NO_LAW
    if (named := written.jurisdiction) is not None:
        currency = written.table.currency
        law = _named(
            file,
            ("jurisdiction", "law"),
            lambda: read_law(named.law, path.parent, currency, written.calendar.zone),
        )
    of_rules = list(rule_problems(game, written.rules))
    if not of_rules:
        game = with_rules(game, written.rules)
    problems = [
        *(
            file.problem(tuple(str(each.key).split(".")), each.message, each.suggestion)
            for each in of_rules or _limit_problems(game, written, law)
        ),
        *_section_problems(file, written, game),
        *_key_problems(file, written),
        *_shared_port_problems(file, written),
        *_keypad_problems(file, written),
        *_progressive_problems(file, written, game),
    ]
    if problems:
        raise ConfigError(problems)
    config = ServiceConfig(
        **dict(written), folder=path.parent.absolute(), game=with_limits(game, written.limits), law=law
    )
    try:
        config.settings()
    except ValueError as error:
        raise ConfigError([_settings_problem(file, str(error))]) from None
    return config


def _named(file: TomlFile, key: tuple[str, str], load: Callable[[], T]) -> T:
    """What another file gives that this one names at `key`; a problem with the name is one of this file."""
    try:
        return load()
    except ConfigError as error:
        raise ConfigError(
            file.problem(key, each.message, each.suggestion) if each.file is None else each
            for each in error.problems
        ) from None


def _limit_problems(game: Game, written: ConfigFile, law: Law) -> Iterator[Problem]:
    """The limits that cannot be, or else those with which a wager cannot be paid."""
    problems = list(limit_problems(game, written.limits, law))
    yield from problems or unpaid_problems(with_limits(game, written.limits))


def _section_problems(file: TomlFile, written: ConfigFile, game: Game) -> Iterator[Problem]:
    """Sections and keys that do not fit together."""
    table, mqtt = written.table, written.mqtt
    if table.cards == "shoe" and written.shoe is None:
        message = 'is missing: write the shoe\'s port, or cards = "keyed" in [table]'
        yield file.problem(("shoe",), message)
    if table.cards == "keyed" and written.shoe is not None:
        yield file.problem(("shoe",), 'is not used with cards = "keyed" in [table]: remove one of them')
    if table.reveal is not None and not game.hides_cards:
        message = f"is only for cards that lie face down, and {game.title} has none: remove reveal"
        yield file.problem(("table", "reveal"), message)
    if table.burn == "fixed" and "burn_cards" not in table.model_fields_set:
        message = 'a "fixed" burn needs a number of cards: write burn_cards too, such as burn_cards = 3'
        yield file.problem(("table", "burn"), message)
    if written.edge is not None and (mqtt is None or not mqtt.restricted):
        message = (
            "only surveillance may see the edges: write restricted = true in [mqtt], and let only surveillance read the "
            "restricted topics at the broker (configs/mosquitto.acl)"
        )
        yield file.problem(("edge",), message)
    if written.metrics is not None and written.console is not None:
        port = written.console.port
        if port == written.metrics.port:
            message = f"{port} is also the port of the consoles: write another port"
            yield file.problem(("metrics", "port"), message)
    yield from _accounts_problems(file, written)


def _accounts_problems(file: TomlFile, written: ConfigFile) -> Iterator[Problem]:
    """Sections without the accounts that they need, and accounts of a house without a broker."""
    if written.accounts is not None and written.accounts.house is not None and written.mqtt is None:
        message = "is for accounts that come over MQTT: write [mqtt] too"
        yield file.problem(("accounts", "house"), message)
    for section in ("console", "card_reader"):
        if written.accounts is None and getattr(written, section) is not None:
            yield file.problem(
                (section,), "needs accounts: add [accounts] with the path of the accounts' file"
            )


def _key_problems(file: TomlFile, written: ConfigFile) -> Iterator[Problem]:
    """Devices that need a key or the house's word that they need none."""
    for section, device in written.devices():
        if device.key_file is not None and (device.link_version == 1 or device.port is None):
            message = "is for version 2 of the link at a serial port: remove key_file, or use a port without link_version = 1"
            yield file.problem((section, "key_file"), message)
        if (
            device.port is not None
            and device.key_file is None
            and device.link_version == 2
            and not written.table.simulation
        ):
            message = (
                "has no key, so anything on its line could pass as the device. Write key_file (`punto device-key` makes one). If "
                "the house allows a device without a key, write link_version = 1 instead"
            )
            yield file.problem((section,), message)


def _shared_port_problems(file: TomlFile, written: ConfigFile) -> Iterator[Problem]:
    users: dict[str, str] = {}
    for section, device in written.devices():
        path = device.port or getattr(device, "input", None)
        if path in users:
            yield file.problem(
                (section, "port"),
                f"{path} is also the port of the {users[path]}: each device needs a port of its own",
            )
        elif path:
            users[path] = section.replace("_", " ")


def _keypad_problems(file: TomlFile, written: ConfigFile) -> list[Problem]:
    if written.keypad is None:
        return []
    try:
        written.keypad.key_map()
    except KeyMapError as error:
        return [file.problem(("keypad", "keys", error.keys), str(error))]
    seats = written.table.seats
    problems = [
        file.problem(("keypad", "keys", keys), f"the table has no such seat: write hand 1 to {seats}")
        for keys, meaning in written.keypad.keys.items()
        if meaning.startswith("hand ") and int(meaning.removeprefix("hand ")) > seats
    ]
    aquarius = written.progressive is not None and written.progressive.procedure == "aquarius"
    if written.keypad.key_switch and not aquarius:
        message = "is only for Aquarius, which this table does not use: remove key_switch"
        problems.append(file.problem(("keypad", "key_switch"), message))
    return problems


def _progressive_problems(file: TomlFile, written: ConfigFile, game: Game) -> Iterator[Problem]:
    if written.progressive is None:
        for section in ("coin_spot", "card_reader"):
            if getattr(written, section) is not None:
                yield file.problem((section,), "needs a progressive: write [progressive] too")
        return
    try:
        written.progressive.settings(written.table.id, with_limits(game, written.limits))
    except ValueError as error:
        name = re.split(r"\W", str(error), maxsplit=1)[0]
        key = (name,) if name in ProgressiveConfig.model_fields else ()
        yield file.problem(("progressive", *key), str(error).removeprefix(f"{name}: "))
    yield from _link_problems(file, written, written.progressive)
    if written.coin_spot is not None:
        try:
            written.coin_spot.positions(written.table.seats)
        except SeatsError as error:
            yield file.problem(("coin_spot", "seats"), str(error))
    if written.card_reader is not None and written.progressive.procedure != "nexus":
        message = (
            'is only for Nexus Command: write procedure = "nexus" in [progressive], or remove [card_reader]'
        )
        yield file.problem(("card_reader",), message)


def _link_problems(file: TomlFile, written: ConfigFile, progressive: ProgressiveConfig) -> Iterator[Problem]:
    """What the link between a table and the authority of its meter needs."""
    if progressive.authority is None:
        if progressive.key_folder is not None:
            message = "is for tables that share a meter: write authority too, or remove it"
            yield file.problem(("progressive", "key_folder"), message)
        return
    if written.mqtt is None:
        yield file.problem(("progressive", "authority"), "is reached over MQTT: write [mqtt] too")
    if progressive.key_folder is None and not written.table.simulation:
        message = (
            "is missing, so anyone with a table's password at the broker could move the meter: write the folder with the keys of the "
            "tables (`punto device-key` makes a key)"
        )
        yield file.problem(("progressive", "key_folder"), message)


def _settings_problem(file: TomlFile, message: str) -> Problem:
    """A message of the settings, at the key that it begins with."""
    key = message.split(maxsplit=1)[0]
    if key not in TableConfig.model_fields:
        key = "id" if message.startswith("the table's id") else "game"
    return file.problem(("table", key), message)
