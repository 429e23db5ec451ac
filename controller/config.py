"""The service's configuration: one TOML file a table.

```toml
version = 1

[table]
id = "table-1"
name = "Baccarat 1"
game = "dragon-bonus-1"    # the name of a game that ships with punto, or a game file's path

[limits.player]            # the house's limits of a wager, within those of the game file
minimum = 2500
maximum = 500000
step = 100

[shoe]                     # not when cards = "keyed"
port = "/dev/serial/by-id/usb-..."

[record]
path = "/var/lib/punto/table-1.db"

[mqtt]                     # without it nothing is published
host = "127.0.0.1"

[accounts]                 # without it nobody can give a supervisor's order
path = "/var/lib/punto/operators.db"

[operator]                 # without it there is no local socket
socket = "/run/punto/table-1.sock"

[edge]                     # without it nobody is told the edges of the shoe in play
alarm = "1%"

[keypad]                   # the dealer's; without it there is none
port = "/dev/serial/by-id/usb-..."

[configuration_keypad]     # the score display's, which must not be there in play
path = "/dev/input/by-id/usb-..."

[console]                  # without it there are no consoles
port = 8090

[progressive]              # without it the table has none
id = "dragon"

[coin_spot]                # its wager sensors; without them a dealer keys the seats that have a wager
port = "/dev/serial/by-id/usb-..."
seats = [1, 2, 3, 4, 5, 6, 7]

[card_reader]              # for Supervisor and Executive cards (Nexus Command)
port = "/dev/serial/by-id/usb-..."
```

Relative paths are relative to the file's folder.
"""

import hashlib
import ipaddress
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from punto.baccarat.progressive.settings import LinkedTable, Procedure
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.progressive.shares import DealersSide
from punto.baccarat.table.settings import ApprovedOrder, Settings
from punto.baccarat.wagers.definition import Game, Limits, Wager
from punto.baccarat.wagers.pay import percentage
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem, cut, nearest
from punto.configs.toml_file import FromFolder, Host, TomlFile, in_folder, read, typed
from punto.controller.broker_login import BrokerConfig
from punto.controller.gaming_days import Calendar, read_start, read_zone
from punto.drivers.coin_spot.seats import Seats, SeatsError
from punto.drivers.keypad.keys import KeyMap, KeyMapError

# ISO 4217, list one: those whose minor unit is none, a thousandth or less.
_NOT_IN_HUNDREDTHS = frozenset(
    [
        "BHD",
        "BIF",
        "CLF",
        "CLP",
        "DJF",
        "GNF",
        "IQD",
        "ISK",
        "JOD",
        "JPY",
        "KMF",
        "KRW",
        "KWD",
        "LYD",
        "OMR",
        "PYG",
        "RWF",
        "TND",
        "UGX",
        "UYI",
        "UYW",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    ]
)


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class TableConfig(_Section):
    """`[table]`: the table's settings, as `Settings` explains them; `id` is its `table`."""

    id: str
    name: str
    game: str
    seats: int = 7
    currency: str = "USD"
    cards: Literal["shoe", "keyed"] = "shoe"
    minimum_confidence: int = 90
    betting_closes: Literal["first_card", "order"] = "first_card"
    next_coup: Literal["automatic", "order"] = "automatic"
    burn: Literal["none", "first_card", "fixed"] = "first_card"
    burn_ace: Literal[1, 11] = 1
    burn_cards: int = 3
    coups_after_cut_card: int = 1
    overdraw: Literal["next_coup", "burn", "dummy"] = "burn"
    approval: tuple[ApprovedOrder, ...] = ()

    @field_validator("currency")
    @classmethod
    def _currency_is_a_code(cls, currency: str) -> str:
        if not re.fullmatch("[A-Z]{3}", currency):
            raise ValueError(f"{currency!r} is no currency code: write three capitals, such as USD")
        if currency in _NOT_IN_HUNDREDTHS:
            raise ValueError(
                f"{currency} has no hundredths, and every amount here is in hundredths: this version cannot run a table in it"
            )
        return currency


class LimitsConfig(_Section):
    """`[limits.WAGER]`: the house's own; what is left out stays as the game file has it. Minor units."""

    minimum: Annotated[int, Field(ge=1)] | None = None
    maximum: Annotated[int, Field(ge=1)] | None = None
    step: Annotated[int, Field(ge=1)] | None = None


def _device_path(path: str, info: ValidationInfo) -> str:
    """The path of a device, which may be relative too."""
    if not path:
        raise ValueError(
            f"{info.field_name} is empty: write the device's path, such as /dev/serial/by-id/usb-..."
        )
    return str(in_folder(Path(path), info))


DevicePath = Annotated[str, AfterValidator(_device_path)]


class ShoeConfig(_Section):
    """`[shoe]`: the serial port of the card-recognition shoe; `serial` the only shoe accepted, any if left out."""

    port: DevicePath
    serial: str | None = None
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] = 115_200


class RecordConfig(_Section):
    """`[record]`: the table's journal, an SQLite database."""

    path: FromFolder


class MqttConfig(_Section, BrokerConfig):
    """`[mqtt]`: the broker.

    `restricted` publishes the cards that the public has not seen and
    the record's head; only for a broker that lets nobody but surveillance read them (configs/mosquitto.acl).
    """

    restricted: bool = False


class AccountsConfig(_Section):
    """`[accounts]`: the people who may give orders, at consoles and at the operators' socket.

    `path` is the file that `punto operators` writes. `lock_out_after` wrong passwords in a row lock an account out for
    `lock_out_minutes`; an address that was refused `refusals_per_minute` times must wait. A second person approves an
    order at a `session` of their own, or also with their password at the first person's `page`.
    """

    path: FromFolder
    lock_out_after: Annotated[int, Field(ge=1, le=100)] = 5
    lock_out_minutes: Annotated[int, Field(ge=1, le=1440)] = 15
    refusals_per_minute: Annotated[int, Field(ge=1, le=1000)] = 10
    approval: Literal["session", "page"] = "session"


class OperatorConfig(_Section):
    """`[operator]`: the socket for operators on this machine; its file's `mode` (octal) and `group` say who reaches it.

    Where there are accounts each order needs one; where there are none, the socket takes a dealer's orders alone. Without
    this section there is no socket.
    """

    socket: FromFolder
    mode: str = "0660"
    group: str | None = None

    @field_validator("mode")
    @classmethod
    def _mode_is_octal(cls, mode: str) -> str:
        if not re.fullmatch("0?[0-7]{3}", mode):
            raise ValueError(f"{mode!r} is no file mode: write octal digits, such as 0660")
        return mode

    @property
    def mode_bits(self) -> int:
        """`mode` as a number."""
        return int(self.mode, 8)


class KeypadConfig(_Section):
    """`[keypad]`: the dealer's keypad, at a serial `port` or as a Linux `input` device.

    `keys` are keys with spaces between them -> what they mean, over the default map; `timeout` is how many seconds a sequence
    waits for its next key. `key_switch` says that it has the supervisor's key of an Aquarius table, and `start_label` what is
    written on its key that starts a game.
    """

    port: DevicePath | None = None
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] = 115_200
    input: DevicePath | None = None
    timeout: Annotated[float, Field(ge=0.5, le=30)] = 3.0
    keys: dict[str, str] = Field(default_factory=dict)
    key_switch: bool = False
    start_label: Literal["START GAME", "COIN IN"] = "START GAME"

    @model_validator(mode="after")
    def _one_device(self) -> Self:
        if (self.port is None) is (self.input is None):
            raise ValueError(
                "a keypad is at a port or is an input: write one of them, such as "
                'port = "/dev/serial/by-id/usb-..." or input = "/dev/input/by-id/usb-...-event-kbd"'
            )
        if self.key_switch and self.port is None:
            raise ValueError("key_switch: only a keypad at a serial port can have one: write its port")
        return self

    def key_map(self) -> KeyMap:
        """What the keys mean.

        Raises:
            KeyMapError: they cannot mean it; a configuration that was loaded has no such keys.
        """
        return KeyMap(self.keys)


class ConfigurationKeypadConfig(_Section):
    """`[configuration_keypad]`: the `path` at which that of the score display would show up; never opened."""

    path: DevicePath


class EdgeConfig(_Section):
    """`[edge]`: the house's edge in the shoe in play, for surveillance.

    `alarm` is the players' advantage above which a wager is an alarm, from "0%" to "100%".
    """

    alarm: str

    @field_validator("alarm")
    @classmethod
    def _alarm_is_a_percentage(cls, alarm: str) -> str:
        if percentage(alarm) > 1:
            raise ValueError(f'alarm must be from "0%" to "100%", not {alarm!r}')
        return alarm

    @model_validator(mode="after")
    def _odds_are_installed(self) -> Self:
        if find_spec("numpy") is None:
            raise ValueError("the edges need numpy, which is not installed: install punto[odds]")
        return self

    @property
    def share(self) -> Fraction:
        """`alarm` as a share of what is staked."""
        return percentage(self.alarm)


class ConsoleConfig(_Section):
    """`[console]`: the operators' consoles, pages and HTTP API, at `host` and `port`.

    A `certificate` and its `key`, in PEM form, mean TLS. A session ends after `idle_minutes` of inactivity.
    """

    host: Host = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8090
    certificate: FromFolder | None = None
    key: FromFolder | None = None
    idle_minutes: Annotated[int, Field(ge=1, le=480)] = 15

    @model_validator(mode="after")
    def _tls_beyond_this_machine(self) -> Self:
        if (self.certificate is None) is not (self.key is None):
            lone, other = ("certificate", "key") if self.key is None else ("key", "certificate")
            raise ValueError(f"{lone} is given and no {other}: TLS needs both")
        if self.certificate is None and not self.on_loopback:
            raise ValueError(
                f"host {self.host!r} is not this machine alone, and passwords would cross the network unprotected: name "
                'a certificate and its key, or write host = "127.0.0.1"'
            )
        return self

    @property
    def on_loopback(self) -> bool:
        """Whether nobody but this machine can reach `host`."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class ProgressiveConfig(_Section):
    """`[progressive]`: the meter that the table is linked to, as `progressive.settings.Settings` explains it.

    `wager` is the game's wager that it pays; it can be left out where only one has a meter. What is left out of seed and
    contribution the pay table says; `one_side_only` is on if left out and base wagers are recorded. `second_factor` asks whoever swipes an Executive card for their password.
    A gaming day begins at `day_starts` in the time zone `zone`, a gaming week with the day `week_starts`. `slip_printer` is a
    device or host:port that prints win pages as slips, in the character set `slip_encoding`.
    """

    id: str
    wager: str | None = None
    seed: int | None = None
    contribution: str | None = None
    reserve: str = "0%"
    display_limit: int | None = None
    split: Literal["winners", "participants"] = "winners"
    fixed_awards: Literal["tray", "meter"] = "tray"
    procedure: Procedure = "aquarius"
    executive_from: int | None = None
    base_wagers: Literal["recorded", "unseen"] = "unseen"
    approval_above: Annotated[int, Field(ge=0)] = 0
    seat_one: DealersSide = "right"
    one_side_only: bool | None = None
    supervisor_from: Annotated[int, Field(ge=0)] = 0
    second_factor: bool = False
    day_starts: str = "06:00"
    zone: str = "UTC"
    week_starts: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = (
        "monday"
    )
    slip_printer: str | None = None
    slip_encoding: Literal["cp437", "gb18030"] = "cp437"

    @field_validator("id")
    @classmethod
    def _id_is_a_name(cls, id_: str) -> str:
        if not re.fullmatch("[a-z0-9_-]+", id_):
            raise ValueError(
                f"{cut(id_)!r} is no name for a meter: it has small letters, digits, - and _, such as dragon-1"
            )
        return id_

    @field_validator("day_starts")
    @classmethod
    def _day_starts_by_the_clock(cls, day_starts: str) -> str:
        read_start(day_starts)
        return day_starts

    @field_validator("zone")
    @classmethod
    def _zone_is_known(cls, zone: str) -> str:
        read_zone(zone)
        return zone

    @property
    def calendar(self) -> Calendar:
        """When the house's gaming days and weeks begin."""
        return Calendar.of(self.day_starts, self.zone, self.week_starts)

    def settings(self, table: str, game: Game) -> ProgressiveSettings:
        """The progressive's settings.

        Raises:
            ValueError: the game has no such meter, or the settings cannot be.
        """
        given = self.model_dump(
            include=set(ProgressiveSettings.__dataclass_fields__), exclude={"wager"}, exclude_none=True
        )
        return ProgressiveSettings.by_pay_table(
            self.id, (LinkedTable(table, game.name),), self._pay_table(game), rounding=game.rounding, **given
        )

    def _pay_table(self, game: Game) -> Wager:
        metered = [wager for wager in game.wagers if wager.progressive is not None]
        found = [wager for wager in metered if self.wager in {None, wager.name}]
        if len(found) == 1:
            return found[0]
        names = ", ".join(wager.name for wager in metered)
        if not metered:
            raise ValueError(
                f"wager: {game.title} pays nothing from a meter: choose another game, or no progressive"
            )
        raise ValueError(f"wager: {game.title} pays {names} from a meter: name one of them")


class CoinSpotConfig(_Section):
    """`[coin_spot]`: the wager sensors at a serial `port`; `seats` are those before which they lie, in the chain's order.

    A 0 among the `seats` is a position that has none. A wager that has had its round has `stuck_seconds` to go.
    """

    port: DevicePath
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] = 115_200
    seats: tuple[int, ...]
    stuck_seconds: Annotated[float, Field(ge=1, le=600)] = 20.0

    def positions(self, seats: int) -> Seats:
        """Which position is before which seat, at a table of so many.

        Raises:
            SeatsError: a seat is there twice, or does not exist.
        """
        return Seats.of(((at, seat) for at, seat in enumerate(self.seats, start=1) if seat), seats)


class CardReaderConfig(_Section):
    """`[card_reader]`: the reader of Supervisor and Executive cards, at a serial `port` or as a Linux `input` device."""

    port: DevicePath | None = None
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] = 115_200
    input: DevicePath | None = None

    @model_validator(mode="after")
    def _one_device(self) -> Self:
        if (self.port is None) is (self.input is None):
            raise ValueError(
                'a card reader is at a port or is an input: write one of them, such as port = "/dev/serial/by-id/usb-..."'
            )
        return self


class ConfigFile(_Section):
    """The file as it is written."""

    version: Literal[1]
    table: TableConfig
    limits: dict[str, LimitsConfig] = Field(default_factory=dict)
    shoe: ShoeConfig | None = None
    record: RecordConfig
    mqtt: MqttConfig | None = None
    accounts: AccountsConfig | None = None
    operator: OperatorConfig | None = None
    edge: EdgeConfig | None = None
    keypad: KeypadConfig | None = None
    configuration_keypad: ConfigurationKeypadConfig | None = None
    console: ConsoleConfig | None = None
    progressive: ProgressiveConfig | None = None
    coin_spot: CoinSpotConfig | None = None
    card_reader: CardReaderConfig | None = None


class ServiceConfig(ConfigFile):
    """A configuration that can be used; `game` is the game file's with the house's limits in place.

    `folder` is the one that the file is in, and the house's own game files with it.
    """

    folder: Path
    game: Game

    def settings(self) -> Settings:
        """The table's settings."""
        return Settings(
            table=self.table.id,
            game=self.game,
            shoe_serial=None if self.shoe is None else self.shoe.serial,
            progressive=None
            if self.progressive is None
            else self.progressive.settings(self.table.id, self.game),
            **self.table.model_dump(exclude={"id", "game"}),
        )

    def redacted(self) -> dict[str, Any]:
        """All of it as JSON has it, for anyone to read: no password is in it, only where one is kept."""
        return self.model_dump(mode="json", exclude={"folder", "limits"})

    def digest(self) -> str:
        """SHA-256 of the configuration, defaults and the game included: the same for files that mean the same."""
        document = self.redacted()
        # How the file names the game does not matter, the game does.
        document["table"].pop("game")
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def load_config(path: Path) -> ServiceConfig:
    """Read a configuration and the game that it names.

    Raises:
        ConfigError: one of the files cannot be read, or does not make a table that can be run.
    """
    file = read(path)
    if "wagers" in file.document and "table" not in file.document:
        message = f"this is a game file and no table's configuration: check it with `punto check-config --game {path}`"
        raise ConfigError([Problem(message, file.name)])
    written = typed(file, ConfigFile, context=path.parent.absolute())
    game = _game(file, written, path.parent)
    problems = [
        *_limit_problems(file, written, game),
        *_shoe_problems(file, written),
        *_shared_port_problems(file, written),
        *_burn_problems(file, written),
        *_edge_problems(file, written),
        *_accounts_problems(file, written),
        *_keypad_problems(file, written),
        *_progressive_problems(file, written, game),
    ]
    if problems:
        raise ConfigError(problems)
    config = ServiceConfig(
        **dict(written), folder=path.parent.absolute(), game=_with_limits(game, written.limits)
    )
    try:
        config.settings()
    except ValueError as error:
        raise ConfigError([_settings_problem(file, str(error))]) from None
    return config


def _game(file: TomlFile, written: ConfigFile, folder: Path) -> Game:
    try:
        return load_game(written.table.game, folder)
    except ConfigError as error:
        raise ConfigError(
            file.problem(("table", "game"), each.message, each.suggestion) if each.file is None else each
            for each in error.problems
        ) from None


def _limit_problems(file: TomlFile, written: ConfigFile, game: Game) -> list[Problem]:
    """Where the house's limits are not within the sheet's."""
    return [
        file.problem(("limits", *fault.place), fault.message, fault.suggestion)
        for fault in _limit_faults(game, written.limits)
    ]


def house_game(game: Game, limits: dict[str, LimitsConfig]) -> Game:
    """The game with the house's limits in place of its file's.

    Raises:
        ConfigError: they are not within those of the file, or are for another game's wagers.
    """
    problems = [
        Problem(fault.message, key=".".join(("limits", *fault.place)), suggestion=fault.suggestion)
        for fault in _limit_faults(game, limits)
    ]
    if problems:
        raise ConfigError(problems)
    return _with_limits(game, limits)


class _LimitFault(NamedTuple):
    place: tuple[str, ...]
    message: str
    suggestion: str | None = None


def _limit_faults(game: Game, limits: dict[str, LimitsConfig]) -> Iterator[_LimitFault]:
    names = [wager.name for wager in game.wagers]
    for name, house in limits.items():
        if name not in names:
            message = f"{game.title} has no wager {cut(name)!r}; it has {', '.join(names)}"
            yield _LimitFault((name,), message, nearest(name, names))
            continue
        sheet = game.wager(name).limits
        outside = [_LimitFault((name, key), message) for key, message in _outside(house, sheet)]
        yield from outside or _unusable(name, house, sheet)


def _outside(house: LimitsConfig, sheet: Limits) -> list[tuple[str, str]]:
    """Each key that gives more room than the sheet does, and why."""
    found = []
    if house.minimum is not None and house.minimum < sheet.minimum:
        found.append(("minimum", f"{house.minimum} is below the game file's minimum of {sheet.minimum}"))
    if house.maximum is not None and sheet.maximum is not None and house.maximum > sheet.maximum:
        found.append(("maximum", f"{house.maximum} is above the game file's maximum of {sheet.maximum}"))
    if house.step is not None and house.step % sheet.step:
        found.append(("step", f"{house.step} is not a multiple of the game file's step of {sheet.step}"))
    return found


def _unusable(name: str, house: LimitsConfig, sheet: Limits) -> list[_LimitFault]:
    """Limits that, together with what the sheet says of the rest, no amount can meet."""
    try:
        wrong = _merged(house, sheet).off_step
    except ValueError as error:
        wrong = str(error)
    return [] if wrong is None else [_LimitFault((name,), wrong)]


def _merged(house: LimitsConfig, sheet: Limits) -> Limits:
    return replace(sheet, **house.model_dump(exclude_none=True))


def _with_limits(game: Game, limits: dict[str, LimitsConfig]) -> Game:
    return replace(
        game,
        wagers=tuple(
            replace(wager, limits=_merged(limits[wager.name], wager.limits))
            if wager.name in limits
            else wager
            for wager in game.wagers
        ),
    )


def _shoe_problems(file: TomlFile, written: ConfigFile) -> list[Problem]:
    if written.table.cards == "shoe" and written.shoe is None:
        message = 'is missing: name the shoe\'s port, or say cards = "keyed" in [table]'
        return [file.problem(("shoe",), message)]
    if written.table.cards == "keyed" and written.shoe is not None:
        return [file.problem(("shoe",), 'no shoe is read where [table] says cards = "keyed": leave one out')]
    return []


def _shared_port_problems(file: TomlFile, written: ConfigFile) -> Iterator[Problem]:
    users: dict[str, str] = {}
    for section in ("shoe", "keypad", "coin_spot", "card_reader"):
        device = getattr(written, section)
        path = device and (device.port or device.input)
        if path in users:
            yield file.problem(
                (section, "port"), f"{path} is the port of the {users[path]} too: each device has its own"
            )
        elif path:
            users[path] = section.replace("_", " ")


def _burn_problems(file: TomlFile, written: ConfigFile) -> list[Problem]:
    if written.table.burn != "fixed" or "burn_cards" in written.table.model_fields_set:
        return []
    return [
        file.problem(
            ("table", "burn"),
            'a "fixed" burn has a number of cards: write burn_cards too, such as burn_cards = 3',
        )
    ]


def _edge_problems(file: TomlFile, written: ConfigFile) -> list[Problem]:
    if written.edge is None or (written.mqtt is not None and written.mqtt.restricted):
        return []
    message = (
        "the edges are for surveillance alone: say restricted = true in [mqtt], of a broker that lets nobody else read "
        "restricted topics (configs/mosquitto.acl)"
    )
    return [file.problem(("edge",), message)]


def _accounts_problems(file: TomlFile, written: ConfigFile) -> list[Problem]:
    if written.accounts is not None:
        return []
    return [
        file.problem((section,), "is for people with accounts: write [accounts] with their path too")
        for section in ("console", "card_reader")
        if getattr(written, section) is not None
    ]


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
        message = "is of Aquarius, and this table does not play by it: leave it out"
        problems.append(file.problem(("keypad", "key_switch"), message))
    return problems


def _progressive_problems(file: TomlFile, written: ConfigFile, game: Game) -> Iterator[Problem]:
    if written.progressive is None:
        for section in ("coin_spot", "card_reader"):
            if getattr(written, section) is not None:
                yield file.problem(
                    (section,), "is for a progressive, and there is none: write [progressive] too"
                )
        return
    try:
        written.progressive.settings(written.table.id, _with_limits(game, written.limits))
    except ValueError as error:
        name = re.split(r"\W", str(error), maxsplit=1)[0]
        key = (name,) if name in ProgressiveConfig.model_fields else ()
        yield file.problem(("progressive", *key), str(error).removeprefix(f"{name}: "))
    if written.coin_spot is not None:
        try:
            written.coin_spot.positions(written.table.seats)
        except SeatsError as error:
            yield file.problem(("coin_spot", "seats"), str(error))
    if written.card_reader is not None and written.progressive.procedure != "nexus":
        message = 'is for Nexus Command, and Aquarius has a key: write procedure = "nexus" in [progressive], or leave it out'
        yield file.problem(("card_reader",), message)


def _settings_problem(file: TomlFile, message: str) -> Problem:
    """What the settings say of themselves, at the key that it is about."""
    key = message.split(maxsplit=1)[0]
    if key not in TableConfig.model_fields:
        key = "id" if message.startswith("the table's id") else "game"
    return file.problem(("table", key), message)
