"""The sections of a table, its record, its broker, its people and its progressive."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from punto.baccarat.currency import decimals_of
from punto.baccarat.progressive.money import MOST
from punto.baccarat.progressive.settings import LinkedTable
from punto.baccarat.progressive.settings import Policies as ProgressivePolicies
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.table.settings import Policies as TablePolicies
from punto.baccarat.unit import Unit
from punto.baccarat.wagers.definition import Game, Wager
from punto.baccarat.wagers.pay import percentage
from punto.configs.problems import cut
from punto.configs.section import Section
from punto.configs.toml_file import FromFolder, Host, OneLine, Reserved
from punto.controller.signing.keys import read_public
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.gaming_days import Calendar, read_start, read_zone
from punto.runtime.secret_file import read_key
from punto.runtime.signatures import Signing, of_the_house
from punto.runtime.table_ids import HOUSE, LONGEST_ID


def _valid(read: Callable[[str], object]) -> AfterValidator:
    def checked(text: str) -> str:
        read(text)
        return text

    return AfterValidator(checked)


class TableConfig(Section, TablePolicies):
    """`[table]`: how the house plays at this table."""

    id: OneLine
    """The table's name in topics and on the record: at most 64 small letters, digits, `-` and `_`."""
    name: OneLine
    """The table's name on displays: one line of at most 200 characters."""
    game: str
    """The name of a game that ships with Punto (`punto games` lists them), or the path of a game file."""
    smallest_chip: Annotated[int, Field(ge=1, le=MOST), Unit("minor units")] = 1
    """The smallest chip of the table, such as `1000` for chips of ¥1,000. Each wager is a multiple of it, and pays and commissions
    are rounded to it by the `rounding` of the game file. A meter pays its awards to the minor unit.
    """

    @field_validator("id")
    @classmethod
    def _id_fits(cls, id_: str) -> str:
        if len(id_) > LONGEST_ID:
            raise ValueError(
                f"{cut(id_)!r} has {len(id_)} characters, and a table's id has at most {LONGEST_ID}"
            )
        if id_ == HOUSE:
            raise ValueError(f"{id_!r} has the topics of the house: use another id, such as table-1")
        return id_

    @field_validator("currency")
    @classmethod
    def _currency_is_known(cls, currency: str) -> str:
        decimals_of(currency)
        return currency


class RecordConfig(Section):
    """`[record]`: the table's record."""

    path: FromFolder
    """The table's record, an SQLite database on a local disk. Its folder must exist."""
    signer: FromFolder | None = None
    """The socket of this machine's signer (`punto signer`), which signs the head of the record every ten seconds. Without it, heads
    are published without a signature.
    """


class MqttConfig(Section, BrokerConfig):
    """`[mqtt]`: the broker. Without this section nothing is published, and no seat can place a wager.

    Seats place their wagers only over MQTT: no console, keypad or order of `punto operator` can place them. Progressive wagers on
    sensors, or reported with `wager_placed`, do not need the broker.
    """

    restricted: bool = False
    """Whether to publish the restricted topics too. These topics have the cards that the public has not seen, and the record's
    last hash. Use `true` only if the broker refuses these topics to everyone except surveillance (`configs/mosquitto.acl`).
    """
    key_folder: FromFolder | None = None
    """The folder with the key of the table's [link to the Game Manager](../how-to/follow-the-floor.md#sign-what-tables-send), in the file
    `ID.key`. With this key the table signs everything that the Game Manager stores.
    """

    discovery: bool | None = None
    """Whether [Home Assistant](../how-to/monitor.md#home-assistant) finds the table by itself. `true` sends its discovery messages,
    and `false` takes them back. If left out, nothing is sent.
    """
    discovery_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$")] = "homeassistant"
    """The first part of the topics of discovery messages, as in the settings of Home Assistant."""

    def key_file(self, table: str) -> Path | None:
        """The file of this table's key, None if it signs nothing."""
        return None if self.key_folder is None else self.key_folder / f"{table}.key"

    def signing(self, table: str) -> Signing:
        """What the table signs for the Game Manager.

        Raises:
            ConfigError: the key cannot be read.
        """
        file = self.key_file(table)
        keys = () if file is None else (read_key(file, "key of a link", "mqtt.key_folder"),)
        return of_the_house(table, keys)


class SignOnConfig(Section):
    """`[accounts]`: the accounts of the people who may sign on, and when an account is locked out."""

    path: FromFolder
    """The file of the accounts. `punto operators` writes it. Services on one PC may share this file."""
    lock_out_after: Annotated[int, Field(ge=1, le=100)] = 5
    """The number of wrong passwords in a row that locks an account out. The lock-out applies only to the address or
    browser that sent these passwords.
    """
    lock_out_minutes: Annotated[int, Field(ge=1, le=1440), Unit("minutes")] = 15
    """How long a lock-out lasts."""
    refusals_per_minute: Annotated[int, Field(ge=1, le=1000)] = 10
    """After this number of refused attempts in a minute, an address must wait until the minute ends."""


def _read_house(text: str) -> None:
    try:
        read_public(text)
    except ValueError:
        raise ValueError(
            f"house {cut(text)!r} is not the public key of a house: write the key that the Game Manager prints at its start"
        ) from None


class AccountsConfig(SignOnConfig):
    """`[accounts]`: the people who may give orders at consoles and at the operators' socket.

    Without this section, no person can give a supervisor's orders.
    """

    house: Annotated[str, _valid(_read_house)] | None = None
    """The public key of the house, if the house's Game Manager keeps the accounts: it prints the key at its start. The file at
    `path` then has a copy of the house's accounts, and `punto operators` does not change them here. The key needs `[mqtt]`.
    """
    approval: Literal["session", "page"] = "session"
    """Where the second person approves an order. `session`: only in their own session. `page`: also on the page of the person who
    gives the order, with the second person's password.
    """


class OperatorConfig(Section):
    """`[operator]`: the socket for `punto operator` on this machine. Without this section there is no socket.

    With `[accounts]`, each order needs the name and password of an account. Without `[accounts]`, the socket takes only a
    dealer's orders.
    """

    socket: FromFolder
    """The path of the Unix socket. Its folder must exist."""
    mode: str = "0660"
    """The permissions of the socket's file, in octal digits."""
    group: str | None = None
    """The group of the socket's file. If left out, only root and the service's user can use the socket."""

    @field_validator("mode")
    @classmethod
    def _mode_is_octal(cls, mode: str) -> str:
        if not re.fullmatch("0?[0-7]{3}", mode):
            raise ValueError(f"{mode!r} is not a file mode: write octal digits, such as 0660")
        return mode

    @property
    def mode_bits(self) -> int:
        """`mode` as a number."""
        return int(self.mode, 8)


class EdgeConfig(Section):
    """`[edge]`: the house edge of each wager in the present shoe, for surveillance.

    This section needs `restricted = true` in `[mqtt]`, and the extra `punto[odds]`.
    """

    alarm: str
    """A share of the stake, from `"0%"` to `"100%"`. If a wager favours the players by more than this share, the message
    `restricted/edge` has an alarm.
    """

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


Sound = Literal["call", "alarm", "award"]
"""The sounds of pages."""
ALL_SOUNDS: Final[tuple[Sound, ...]] = get_args(Sound)


class SignOnPagesConfig(Section):
    """Pages at which people sign on: their address, TLS, and the end of a session."""

    host: Host = "127.0.0.1"
    """The address at which browsers open the pages. Any address other than loopback needs TLS."""
    certificate: FromFolder | None = None
    """The file of the TLS certificate, in PEM form. The service reads this file only when the service starts."""
    key: FromFolder | None = None
    """The file of the certificate's key, in PEM form and without a passphrase."""
    idle_minutes: Annotated[int, Field(ge=1, le=480), Unit("minutes")] = 15
    """A session ends after this time without a request. A request that only reads the table does not count."""
    reserved: Reserved = ()
    """The IP addresses of up to 6 other machines with consoles. If there are too many connections, the server first closes
    connections of addresses that are not listed here. Each listed machine keeps up to 50 connections, and so does this machine.
    """
    sounds: tuple[Sound, ...] = ALL_SOUNDS
    """The sounds of the pages, each heard once for a new event: a call for a supervisor, an alarm, and an award of the progressive at
    a table. With an empty list, the pages are silent.
    """

    @model_validator(mode="after")
    def _tls_beyond_this_machine(self) -> Self:
        if (self.certificate is None) is not (self.key is None):
            lone, other = ("certificate", "key") if self.key is None else ("key", "certificate")
            raise ValueError(f"{lone} is given without {other}: TLS needs both")
        if self.certificate is None and not self.on_loopback:
            raise ValueError(
                f"host {self.host!r} can be reached from other machines, and passwords would cross the network "
                'unprotected: write certificate and key, or host = "127.0.0.1"'
            )
        return self

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach `host`."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class ConsoleConfig(SignOnPagesConfig):
    """`[console]`: the consoles, which are web pages for operators, and their HTTP API. Without this section there are no consoles."""

    port: Annotated[int, Field(ge=1, le=65535)] = 8090
    """The port of the pages and of the HTTP API."""
    notice: Annotated[str, Field(max_length=200)] = ""
    """A line of text at the top of each page, such as "Practice table"."""
    lang: Literal["en", "zh-Hans", "zh-Hant"] = "en"
    """The language of the pages. If a page's address has `?lang=`, the browser tab with this page uses the language in the
    address.
    """


class MonitoringConfig(Section):
    """`[metrics]`: the address for monitoring, which only this machine can reach. Without this section there is no such address.

    At `/metrics` it has figures for Prometheus, and at `/healthz` and `/readyz` the answers for health checks.
    """

    port: Annotated[int, Field(ge=0, le=65535)] = 8095
    """The port. With 0, the program chooses a free port."""


class MetricsConfig(MonitoringConfig):
    """`[metrics]`: the address for monitoring, which only this machine can reach. Without this section there is no such address.

    At `/metrics` it has figures for Prometheus, and at `/healthz` and `/readyz` the answers for health checks. Tables of one file share
    it. The section needs the extra `punto[console]`.
    """

    backups: FromFolder | None = None
    """The folder to which `punto backup` copies the record, so that the age of the newest backup is among the metrics."""


DayStarts = Annotated[str, _valid(read_start)]
Zone = Annotated[str, _valid(read_zone)]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
"""The keys of a `Calendar`."""


class CalendarConfig(Section):
    """`[calendar]`: the house's gaming days. Write the same at each table and at the Game Manager."""

    day_starts: DayStarts = "06:00"
    """The time at which the gaming day begins, in the time zone `zone`: `HH:MM`."""
    zone: Zone = "UTC"
    """The house's time zone, by its IANA name, such as `Asia/Macau`."""
    week_starts: Weekday = "monday"
    """The day on which the gaming week begins."""

    def calendar(self) -> Calendar:
        """The calendar of these settings."""
        return Calendar.of(self.day_starts, self.zone, self.week_starts)


_OF_THE_AUTHORITY: Final = {each.name for each in fields(ProgressivePolicies)} - {"authority", "procedure"}
"""The keys that have no effect at a table whose meter another service keeps."""


class ProgressiveConfig(Section, ProgressivePolicies):
    """`[progressive]`: the progressive (jackpot) of the table. Its meter has the amount that can be won."""

    id: str
    """The meter's name in the topic `progressive/ID` and in the books: small letters, digits, `-` and `_`."""
    tables: tuple[str, ...] = ()
    """Only at the authority: the ids of the tables that share the meter."""
    key_folder: FromFolder | None = None
    """Only with `authority`, and then required except in a simulation: the folder with the keys of the
    [links](../how-to/link-tables.md#make-the-keys), with which a table and its authority sign what they send each other. A table has
    its key in the file `ID.key`, and the authority has such a file for each of its `tables`. While a key is changed, the
    authority also has the new one, in `ID.new.key`.
    """
    wager: str | None = None
    """The wager that wins from the meter. You may leave this key out if only one wager of the game has a meter."""
    second_factor: bool = True
    """Whether a person who swipes an Executive card must also enter their password at a console. This applies to awards of any
    amount.
    """
    slip_printer: str | None = None
    """The printer of win pages on paper slips: a device file, or `HOST:PORT`. If left out, there is no slip printer."""
    slip_encoding: Literal["cp437", "gb18030"] = "cp437"
    """The character set of the slip printer: code page 437, or GB 18030 for Chinese."""

    @field_validator("id")
    @classmethod
    def _id_is_a_name(cls, id_: str) -> str:
        if not re.fullmatch("[a-z0-9_-]+", id_):
            raise ValueError(
                f"{cut(id_)!r} is not a meter's name: write small letters, digits, - and _, such as dragon-1"
            )
        return id_

    def key_files(self, table: str) -> Iterator[tuple[str, Path]]:
        """The tables whose links this table or authority has, each with the file of its key. Only an authority has new keys too."""
        if self.key_folder is None or self.authority is None:
            return
        for each in self.tables or (table,):
            yield each, self.key_folder / f"{each}.key"
            new = self.key_folder / f"{each}.new.key"
            if self.tables and new.exists():
                yield each, new

    def link_keys(self, table: str) -> dict[str, tuple[bytes, ...]]:
        """The keys of each link of this table or authority; empty without a folder.

        Raises:
            ConfigError: a key cannot be read.
        """
        keys: dict[str, tuple[bytes, ...]] = {}
        for each, file in self.key_files(table):
            found = read_key(file, "key of a link", "progressive.key_folder")
            keys[each] = (*keys.get(each, ()), found)
        return keys

    def settings(self, table: str, game: Game) -> ProgressiveSettings:
        """The progressive's settings.

        Raises:
            ValueError: the game does not have this meter, or the settings are invalid.
        """
        given = self.model_dump(
            include=set(ProgressiveSettings.__dataclass_fields__),
            exclude={"wager", "tables"},
            exclude_none=True,
        )
        if (self.authority == table) != bool(self.tables):
            raise ValueError(
                "tables: the authority needs the ids of the tables that share its meter, and no other table may have them: write "
                "tables only in the configuration of the authority"
            )
        if self.authority not in {None, table} and (useless := self.model_fields_set & _OF_THE_AUTHORITY):
            raise ValueError(
                f"{', '.join(sorted(useless))}: {self.authority} keeps the meter and decides this for all its tables: write it in the "
                f"configuration of {self.authority}, and remove it here"
            )
        linked = tuple(LinkedTable(each, game.name) for each in self.tables or (table,))
        return ProgressiveSettings.by_pay_table(
            self.id, linked, self._pay_table(game), rounding=game.rounding, **given
        )

    def _pay_table(self, game: Game) -> Wager:
        metered = [wager for wager in game.wagers if wager.progressive is not None]
        found = [wager for wager in metered if self.wager in {None, wager.name}]
        if len(found) == 1:
            return found[0]
        names = ", ".join(wager.name for wager in metered)
        if not metered:
            raise ValueError(
                f"wager: {game.title} has no wager with a meter: choose another game, or remove [progressive]"
            )
        raise ValueError(f"wager: the wagers of {game.title} with a meter are {names}: write one of them")
