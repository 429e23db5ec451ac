"""Mosquitto's access lists: configs/mosquitto.acl, and those of a house's tables with the bridges between their brokers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, get_args

from punto.configs.problems import ConfigError, Problem
from punto.messages.topics import (
    CHANNELS,
    RESTRICTED_CARD,
    RESTRICTED_HEAD,
    STATE,
    Channel,
    Topics,
    User,
    house_accounts,
    house_witness,
)

_ACCESS_LIST: Final = """\
# Written by `make schema`. If your base is not punto, change a copy. This file lists the topics that each user may read
# and write. Restricted topics have cards that the public has not seen, the edge of each wager in the shoe in play, and the
# record's last hash: only surveillance may read them.

# The table's service.
user punto
topic readwrite punto/#
# With discovery in [mqtt], for Home Assistant:
# topic write homeassistant/+/+/+/config

# Displays: they only read the public topics.
user display
{display}

# A terminal or smart table that makes wagers.
user terminal
{terminal}

# The house's Game Manager: it reads everything but hidden cards and the record's head, and requests what the record has.
user game-manager
topic read punto/#
topic deny punto/+/restricted/card
topic deny punto/+/restricted/head
topic write punto/house/accounts
{game-manager}

# The witness: it reads the heads of all records and the tables' states, and writes its report.
user witness
topic read punto/+/restricted/head
topic read punto/+/state
topic write punto/house/witness

# Surveillance: it reads everything but the house's accounts, and writes nothing.
user surveillance
topic read punto/#
topic deny punto/house/accounts
"""


def access_list() -> str:
    """Mosquitto's access list: each user of the broker, and the topics that it may read and write."""
    return _ACCESS_LIST.format(**{user: _lines(user, user) for user in get_args(User)})


def _lines(user: User, name: str, place: str = "punto/+", seat: int | None = None) -> str:
    """The topics of a user with this name, at one table or all tables; a seat has its own wagers alone."""
    return "\n".join(
        f"topic {'read' if each.direction == 'send' else 'write'} {place}/{_at(each, name, seat)}"
        for each in CHANNELS
        if user in each.users
    )


def _at(channel: Channel, name: str, seat: int | None) -> str:
    own = channel.name.replace("{client}", name)
    return replace(channel, name=own if seat is None else own.replace("{seat}", str(seat))).filter


@dataclass(frozen=True, slots=True)
class HouseTable:
    """A table of a house: its topics, how many seats it has, and what its service reads of other services.

    `writes` are the topics of other programs to which it writes.
    """

    topics: Topics
    seats: int
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


House = Sequence[HouseTable]
_GAME_MANAGER: Final = "game-manager"
_BRIDGE: Final = """\

connection {name}
address {node}:8883
remote_clientid {table}
local_clientid {name}
bridge_cafile /etc/mosquitto/certs/ca.pem
bridge_certfile /etc/mosquitto/certs/{table}.pem
bridge_keyfile /etc/mosquitto/certs/{table}.key
cleansession true
local_cleansession false
notifications false
keepalive_interval 10
restart_timeout 1 10
"""
_SURVEILLANCE: Final = "surveillance"
_WITNESS: Final = "witness"
_DISPLAYS: Final = "displays"
"""A display of several tables."""


def users_of(house: House) -> list[str]:
    """The users of the broker: of each table the service, displays and each seat; then those of the whole house.

    Raises:
        ConfigError: two of them would have one name, and so the rights of both.
    """
    own = ([each.topics.table, *(name for name, _ in _others(each))] for each in house)
    names = [*chain.from_iterable(own), _DISPLAYS, _GAME_MANAGER, _WITNESS, _SURVEILLANCE]
    for name, users in Counter(names).items():
        if users > 1:
            message = f"{users} users of the broker would have the name {name!r}, and each the rights of all: give the tables other ids"
            raise ConfigError([Problem(message, key="table.id")])
    return names


def house_access_list(house: House) -> str:
    """Mosquitto's access list for `users_of` these tables: nobody is allowed anything at another table or seat."""
    parts = ["# Written by `punto broker-users`: a change made here is lost."]
    for each in house:
        service = [f"user {each.topics.table}", f"topic readwrite {each.topics('#')}"]
        parts.append(
            "\n".join(
                [
                    *service,
                    *(f"topic read {topic}" for topic in each.reads),
                    *(f"topic write {topic}" for topic in each.writes),
                ]
            )
        )
        parts += [f"user {name}\n{lines}" for name, lines in _others(each)]
    places = [f"{each.topics.base}/{each.topics.table}" for each in house]
    every = (_lines("display", _DISPLAYS, place) for place in places)
    parts.append("\n".join([f"user {_DISPLAYS}", *every]))
    bases = dict.fromkeys(each.topics.base for each in house)
    everything = [f"topic read {base}/#" for base in bases]
    but = (f"topic deny {base}/+/{name}" for base in bases for name in (RESTRICTED_CARD, RESTRICTED_HEAD))
    asked = (_lines("game-manager", _GAME_MANAGER, place) for place in places)
    accounts = [house_accounts(base) for base in bases]
    told = (f"topic write {topic}" for topic in accounts)
    parts.append("\n".join([f"user {_GAME_MANAGER}", *everything, *but, *asked, *told]))
    heads = (
        line
        for base in bases
        for line in (
            f"topic read {base}/+/{RESTRICTED_HEAD}",
            f"topic read {base}/+/{STATE}",
            f"topic write {house_witness(base)}",
        )
    )
    parts.append("\n".join([f"user {_WITNESS}", *heads]))
    parts.append(
        "\n".join([f"user {_SURVEILLANCE}", *everything, *(f"topic deny {topic}" for topic in accounts)])
    )
    return "\n\n".join(parts) + "\n"


def bridges(table: HouseTable, nodes: Sequence[str]) -> str:
    """Mosquitto's configuration of the bridges between a table's own broker and each node of the house's broker.

    Each topic goes in one direction, so no message comes back. Retained messages do not wait for a node that is away, because
    a bridge sends all of them on each connection. Other messages wait in the table's broker.
    """
    own = table.topics
    sent = [each for each in CHANNELS if each.direction == "send"]
    asked = [each for each in CHANNELS if each.direction == "receive" and "{client}" in each.name]
    topics = [
        *(f"topic {own(each.filter)} out {0 if each.retained else 1}" for each in sent),
        *(f"topic {topic} in 1" for topic in (*(own(each.filter) for each in asked), *table.reads)),
    ]
    parts = (_BRIDGE.format(name=f"bridge-{node}", node=node, table=own.table) for node in nodes)
    lines = "\n".join(topics)
    return "# Written by `punto broker-users`: a change made here is lost.\n" + "".join(
        f"{part}{lines}\n" for part in parts
    )


def _others(table: HouseTable) -> Iterator[tuple[str, str]]:
    """The users of a table beside its service, with their topics."""
    topics, seats = table.topics, table.seats
    place = f"{topics.base}/{topics.table}"
    display = f"{topics.table}-display"
    yield display, _lines("display", display, place)
    for seat in range(1, seats + 1):
        name = f"{topics.table}-seat-{seat}"
        yield name, _lines("terminal", name, place, seat)
