"""The sections of a table, its record, its broker, its people and its progressive."""

import ipaddress
import re
from fractions import Fraction
from importlib.util import find_spec
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from punto.baccarat.progressive.settings import LinkedTable, Procedure
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.progressive.shares import DealersSide
from punto.baccarat.table.settings import ApprovedOrder
from punto.baccarat.wagers.definition import Game, Wager
from punto.baccarat.wagers.pay import percentage
from punto.configs.problems import cut
from punto.configs.toml_file import FromFolder, Host, Reserved, Unit
from punto.controller.broker_login import BrokerConfig
from punto.controller.config.section import Section
from punto.controller.gaming_days import Calendar, read_start, read_zone

# ISO 4217, list one: the currencies whose minor unit is not a hundredth. Babel has the list too, but takes 30 ms to load
# and 33 MB of disk.
_NOT_IN_HUNDREDTHS = re.compile(
    "BHD|BIF|CLF|CLP|DJF|GNF|IQD|ISK|JOD|JPY|KMF|KRW|KWD|LYD|OMR|PYG|RWF|TND|UGX|UYI|UYW|VND|VUV|XAF|XOF|XPF"
)


class TableConfig(Section):
    """`[table]`: how the house plays at this table."""

    id: str
    """The table's name in topics and on the record: small letters, digits, `-` and `_`."""
    name: str
    """The table's name on displays."""
    game: str
    """The name of a game that ships with Punto (`punto games` lists them), or the path of a game file."""
    seats: int = 7
    """How many seats the table has, from 1 to 99."""
    currency: str = "USD"
    """The ISO 4217 code of the currency, which must have hundredths."""
    cards: Literal["shoe", "keyed"] = "shoe"
    """`shoe`: a card-recognition shoe reads the cards. `keyed`: the dealer keys them, and there is no
    `[shoe]`.
    """
    minimum_confidence: Annotated[int, Unit("%")] = 90
    """If the shoe reads a card with less confidence, from 0 to 100, an operator must key it."""
    betting_closes: Literal["first_card", "order"] = "first_card"
    """Betting closes when the first card is drawn, or when the dealer orders it."""
    next_coup: Literal["automatic", "order"] = "automatic"
    """Betting for the next coup opens by itself after a result, or when the dealer orders it."""
    burn: Literal["none", "first_card", "fixed"] = "first_card"
    """How many cards a new shoe burns: none, the first card's value, or `burn_cards`."""
    burn_ace: Literal[1, 11] = 1
    """How many cards an ace burns if `burn` is `first_card`."""
    burn_cards: int = 3
    """How many cards are burned if `burn` is `fixed`, from 1 to 20; then it must be given."""
    coups_after_cut_card: int = 1
    """How many coups are dealt after the coup with the cut card, from 0 to 9."""
    overdraw: Literal["next_coup", "burn", "dummy"] = "burn"
    """The use of a card that was drawn too many, after a supervisor resumes play: a card of the next coup, a
    burned card, or a card of a dummy hand.
    """
    reveal: Literal["dealer", "player"] | None = None
    """Who turns cards that lie face down: the dealer, or the player with the largest wager on Player or Banker. If it is left out,
    the game file says it.
    """
    approval: tuple[ApprovedOrder, ...] = ()
    """Orders that a second person must approve."""
    simulation: bool = False
    """Whether the table is a simulation. Only then it takes a virtual shoe (`punto shoe`), and all its pages, messages and reports
    say that they are of a simulation.
    """

    @field_validator("currency")
    @classmethod
    def _currency_is_a_code(cls, currency: str) -> str:
        if not re.fullmatch("[A-Z]{3}", currency):
            raise ValueError(f"{currency!r} is not a currency code: write three capitals, such as USD")
        if _NOT_IN_HUNDREDTHS.fullmatch(currency):
            raise ValueError(
                f"{currency} does not have hundredths, and this version counts all amounts in hundredths: "
                "use another currency"
            )
        return currency


class RecordConfig(Section):
    """`[record]`: the table's record."""

    path: FromFolder
    """The table's record, an SQLite database on a local disk. Its folder must exist."""


class MqttConfig(Section, BrokerConfig):
    """`[mqtt]`: the broker. Without this section nothing is published."""

    restricted: bool = False
    """Also publish the restricted topics: cards that the public has not seen, and the record's last hash. Set
    it only if the broker lets only surveillance read them (`configs/mosquitto.acl`).
    """


class AccountsConfig(Section):
    """`[accounts]`: the people who may give orders, at consoles and at the operators' socket.

    Without this section there are no supervisor's orders.
    """

    path: FromFolder
    """The accounts' file, which `punto operators` writes. Tables on one PC may share it."""
    lock_out_after: Annotated[int, Field(ge=1, le=100)] = 5
    """After this number of wrong passwords in a row, the account is locked out where they came from."""
    lock_out_minutes: Annotated[int, Field(ge=1, le=1440), Unit("minutes")] = 15
    """How long a lock-out lasts."""
    refusals_per_minute: Annotated[int, Field(ge=1, le=1000)] = 10
    """After this number of refusals in a minute, an address must wait for the rest of the minute."""
    approval: Literal["session", "page"] = "session"
    """Where a second person approves an order: at a session of their own, or also with a password at the first
    person's page.
    """


class OperatorConfig(Section):
    """`[operator]`: the socket for `punto operator` on this machine. Without this section there is no socket.

    If there are accounts, each order needs one. Without accounts, the socket takes only a dealer's orders.
    """

    socket: FromFolder
    """The path of the Unix socket. Its folder must exist."""
    mode: str = "0660"
    """The socket file's permissions, in octal digits."""
    group: str | None = None
    """The group of the socket's file. If left out, only root and the service's user reach the socket."""

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
    """`[edge]`: the house's edge in the shoe in play, for surveillance. Needs `restricted = true` in `[mqtt]`, and `punto[odds]`."""

    alarm: str
    """If a wager favours the players by more than this, it is an alarm: from `"0%"` to `"100%"`."""

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


class ConsoleConfig(Section):
    """`[console]`: the operators' consoles, pages and HTTP API. Without this section there are none."""

    host: Host = "127.0.0.1"
    """The address that browsers use. Any other than loopback needs TLS."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8090
    """The port of the pages and of the HTTP API."""
    certificate: FromFolder | None = None
    """The TLS certificate, in PEM form. It is read at the start."""
    key: FromFolder | None = None
    """The certificate's key, in PEM form and without a passphrase."""
    idle_minutes: Annotated[int, Field(ge=1, le=480), Unit("minutes")] = 15
    """A session ends after this time without a request. Reading the table does not count as a request."""
    notice: Annotated[str, Field(max_length=200)] = ""
    """A line at the top of each page, such as "Practice table"."""
    lang: Literal["en", "zh-Hans", "zh-Hant"] = "en"
    """The language of the pages. An address with `?lang=` overrides it for its tab."""
    reserved: Reserved = ()
    """The IP addresses of up to 6 other machines with consoles. Each keeps 50 connections, as this machine does, however many connections others open."""

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


class ProgressiveConfig(Section):
    """`[progressive]`: the meter that the table is linked to."""

    id: str
    """The meter's name in the topic `progressive/ID` and in the books: small letters, digits, `-` and `_`."""
    wager: str | None = None
    """The wager that the meter pays. It may be left out if only one wager of the game has a meter."""
    seed: Annotated[int, Unit("minor units")] | None = None
    """The amount that the meter starts with. If left out, the pay table's own."""
    contribution: str | None = None
    """The share of each wager that goes to the meter, such as `"20%"`. If left out, the pay table's own."""
    reserve: str = "0%"
    """The share of each wager that goes to the hidden reserve, which is added to the seed after a 100% award."""
    display_limit: Annotated[int, Unit("minor units")] | None = None
    """The most that the meter may show. The rest is kept in the overflow for the next meter. If left out,
    there is no limit.
    """
    split: Literal["winners", "participants"] = "winners"
    """Who shares a percentage award: the seats that also won their base wager, or all seats that made the
    progressive wager.
    """
    fixed_awards: Literal["tray", "meter"] = "tray"
    """Who pays the fixed awards, such as 1000 for 1."""
    procedure: Procedure = "aquarius"
    """`aquarius`: a keypad and a supervisor's key. `nexus`: a dealer's page and cards."""
    executive_from: Annotated[int, Unit("minor units")] | None = None
    """With `nexus`: an award of this much or more needs an executive and a second person. If left out, no
    award does.
    """
    base_wagers: Literal["recorded", "unseen"] = "unseen"
    """`recorded`: the seats' wagers on Player and Banker come over MQTT, so the cards say who won. `unseen`:
    the dealer says who won.
    """
    approval_above: Annotated[int, Field(ge=0), Unit("minor units")] = 0
    """A seed, adjustment, back-out or retirement of more than this needs a second person."""
    seat_one: DealersSide = "right"
    """The side of the dealer that seat 1 is on. It gives the order of paying."""
    one_side_only: bool | None = None
    """A seat with wagers on both Player and Banker has no progressive wager. If left out, true where base
    wagers are `recorded`, else false.
    """
    supervisor_from: Annotated[int, Field(ge=0), Unit("minor units")] = 0
    """The dealer alone may confirm an award from the tray that is less than this. With 0, a supervisor
    confirms every award.
    """
    second_factor: bool = True
    """Also ask for the password of the person who swiped an Executive card."""
    day_starts: str = "06:00"
    """When the gaming day begins, by the clock of `zone`: `HH:MM`."""
    zone: str = "UTC"
    """The house's time zone, by its IANA name, such as `Asia/Macau`."""
    week_starts: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = (
        "monday"
    )
    """The day on which the gaming week begins."""
    slip_printer: str | None = None
    """A device file or `HOST:PORT` of the printer for win pages as slips. If left out, there is no slip
    printer.
    """
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

    @field_validator("day_starts", "zone")
    @classmethod
    def _clock_is_valid(cls, text: str, info: ValidationInfo) -> str:
        (read_zone if info.field_name == "zone" else read_start)(text)
        return text

    @property
    def calendar(self) -> Calendar:
        """When the house's gaming days and weeks begin."""
        return Calendar.of(self.day_starts, self.zone, self.week_starts)

    def settings(self, table: str, game: Game) -> ProgressiveSettings:
        """The progressive's settings.

        Raises:
            ValueError: the game does not have this meter, or the settings are invalid.
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
                f"wager: {game.title} has no wager with a meter: choose another game, or remove [progressive]"
            )
        raise ValueError(f"wager: the wagers of {game.title} with a meter are {names}: write one of them")
