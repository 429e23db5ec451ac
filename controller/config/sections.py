"""The sections of a table, its record, its broker, its people and its progressive."""

import ipaddress
import re
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from punto.baccarat.progressive.settings import LinkedTable, Procedure
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.progressive.shares import DealersSide
from punto.baccarat.table.settings import ApprovedOrder
from punto.baccarat.wagers.definition import Game, Wager
from punto.baccarat.wagers.pay import percentage
from punto.configs.problems import cut
from punto.configs.section import Section
from punto.configs.toml_file import FromFolder, Host, OneLine, Reserved, Unit
from punto.controller.signing.keys import read_public
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.gaming_days import Calendar, read_start, read_zone
from punto.runtime.table_ids import HOUSE, LONGEST_ID

# ISO 4217, list one: the currencies whose minor unit is not a hundredth. Babel has the list too, but takes 30 ms to load
# and 33 MB of disk.
_NOT_IN_HUNDREDTHS = re.compile(
    "BHD|BIF|CLF|CLP|DJF|GNF|IQD|ISK|JOD|JPY|KMF|KRW|KWD|LYD|OMR|PYG|RWF|TND|UGX|UYI|UYW|VND|VUV|XAF|XOF|XPF"
)


def _valid(read: Callable[[str], object]) -> AfterValidator:
    def checked(text: str) -> str:
        read(text)
        return text

    return AfterValidator(checked)


class TableConfig(Section):
    """`[table]`: how the house plays at this table."""

    id: OneLine
    """The table's name in topics and on the record: at most 64 small letters, digits, `-` and `_`."""
    name: OneLine
    """The table's name on displays: one line of at most 200 characters."""
    game: str
    """The name of a game that ships with Punto (`punto games` lists them), or the path of a game file."""
    seats: int = 7
    """The number of seats at the table, from 1 to 99. At the authority of a meter, the largest number of seats of its tables: the
    authority counts no wagers of other seats.
    """
    currency: str = "USD"
    """The ISO 4217 code of the currency. It must have hundredths, such as cents, because all amounts are counted
    in them.
    """
    cards: Literal["shoe", "keyed"] = "shoe"
    """`shoe`: a card-recognition shoe reads the cards. `keyed`: the dealer enters each card by hand, and there is no section
    `[shoe]`.
    """
    minimum_confidence: Annotated[int, Unit("%")] = 90
    """From 0 to 100. If the shoe's confidence in a card is lower than this value, an operator must enter the card by hand."""
    betting_closes: Literal["first_card", "order"] = "first_card"
    """When betting closes: when the first card is drawn, or when the dealer gives the order."""
    next_coup: Literal["automatic", "order"] = "automatic"
    """When betting opens for the next coup: automatically after a result, or when the dealer gives the order."""
    burn: Literal["none", "first_card", "fixed"] = "first_card"
    """How many cards of a new shoe are burned (put away unplayed): none, the value of the first card, or `burn_cards`."""
    burn_ace: Literal[1, 11] = 1
    """How many cards are burned if `burn` is `first_card` and the first card is an ace."""
    burn_cards: int = 3
    """How many cards are burned if `burn` is `fixed`, from 1 to 20. The key is required with `fixed`."""
    coups_after_cut_card: int = 1
    """How many more coups are dealt after the coup with the cut card, from 0 to 9. The cut card announces the end of the shoe."""
    overdraw: Literal["next_coup", "burn", "dummy"] = "burn"
    """The use of a card that was drawn by mistake, after a supervisor has resumed play. `next_coup`: the card begins the next
    coup, for which wagers are still placed: choose it only if such a card is not shown to the players. `burn`: the card is burned. `dummy`: the card begins a dummy hand, which does not count.
    """
    reveal: Literal["dealer", "player"] | None = None
    """Who turns cards that lie face down: the dealer, or the player with the largest wager on Player or Banker. If left out, the
    game file decides.
    """
    approval: tuple[ApprovedOrder, ...] = ()
    """The orders that a second person must approve."""
    simulation: bool = False
    """Whether the table is a simulation. Only a simulation accepts a virtual shoe (`punto shoe`). All pages, messages and reports
    of a simulation are marked as simulated.
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


DayStarts = Annotated[str, _valid(read_start)]
Zone = Annotated[str, _valid(read_zone)]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
"""The keys of a `Calendar`."""


class ProgressiveConfig(Section):
    """`[progressive]`: the progressive (jackpot) of the table. Its meter has the amount that can be won."""

    id: str
    """The meter's name in the topic `progressive/ID` and in the books: small letters, digits, `-` and `_`."""
    authority: str | None = None
    """The id of the service that keeps the meter for several tables. Write the same id in the configurations of all these tables
    and of the authority itself. If left out, this table keeps the meter for itself.
    """
    tables: tuple[str, ...] = ()
    """Only at the authority: the ids of the tables that share the meter."""
    wager: str | None = None
    """The wager that wins from the meter. You may leave this key out if only one wager of the game has a meter."""
    seed: Annotated[int, Unit("minor units")] | None = None
    """The amount with which the meter starts. If left out, the amount in the game file applies."""
    contribution: str | None = None
    """The share of each wager that goes to the meter, such as `"20%"`. If left out, the share in the game file applies."""
    reserve: str = "0%"
    """The share of each wager that goes to the hidden reserve. After a 100% award, the reserve is added to the next seed."""
    display_limit: Annotated[int, Unit("minor units")] | None = None
    """The largest amount that the meter may show. Any amount above this limit is kept as overflow for the next meter. If left
    out, there is no limit.
    """
    split: Literal["winners", "participants"] = "winners"
    """Who shares an award that is a percentage of the meter. `winners`: the seats that also won their base wager. `participants`:
    all seats that made the progressive wager.
    """
    fixed_awards: Literal["tray", "meter"] = "tray"
    """What pays the fixed awards, such as 1000 for 1: the table's own chips (the tray), or the meter."""
    procedure: Procedure = "aquarius"
    """How an award is confirmed. `aquarius`: with a keypad and a supervisor's key. `nexus`: with the dealer's page and swiped
    cards.
    """
    executive_from: Annotated[int, Unit("minor units")] | None = None
    """With `nexus`, an award of this amount or more needs an executive and a second person. If left out, no award needs an
    executive or a second person.
    """
    base_wagers: Literal["recorded", "unseen"] = "unseen"
    """`recorded`: the table receives the wagers on Player and Banker over MQTT, so it knows which seats won. `unseen`: the dealer
    marks the seats that won.
    """
    approval_above: Annotated[int, Field(ge=0), Unit("minor units")] = 0
    """A seed, adjustment, back-out or retirement of more than this amount needs a second person."""
    seat_one: DealersSide = "right"
    """The side of the dealer where seat 1 is. This side decides the order in which the seats are paid."""
    one_side_only: bool | None = None
    """Whether the table refuses a progressive wager from a seat with wagers on both Player and Banker. The default is
    true with `base_wagers = "recorded"`, and otherwise false.
    """
    supervisor_from: Annotated[int, Field(ge=0), Unit("minor units")] = 0
    """The dealer alone may confirm an award of less than this amount from the tray. With 0, a supervisor must confirm every
    award.
    """
    second_factor: bool = True
    """Whether a person who swipes an Executive card must also enter their password at a console. This applies to awards of any
    amount.
    """
    day_starts: DayStarts = "06:00"
    """The time at which the gaming day begins, in the time zone `zone`: `HH:MM`."""
    zone: Zone = "UTC"
    """The house's time zone, by its IANA name, such as `Asia/Macau`."""
    week_starts: Weekday = "monday"
    """The day on which the gaming week begins."""
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
            include=set(ProgressiveSettings.__dataclass_fields__),
            exclude={"wager", "tables"},
            exclude_none=True,
        )
        if (self.authority == table) != bool(self.tables):
            raise ValueError(
                "tables: the authority needs the ids of the tables that share its meter, and no other table may have them: write "
                "tables only in the configuration of the authority"
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
