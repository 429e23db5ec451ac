"""Each user of the broker, each topic and each right, at a running Mosquitto: what the registry of topics allows, and nothing else."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from punto.messages.topics import CHANNELS, RESTRICTED_CARD, RESTRICTED_HEAD, STATE, Channel
from tests.controller.guarded_brokers import GuardedBroker, KeepersBroker
from tests.controller.table_on_a_machine import wait_until
from tests.deadline import DEADLINE

TABLES = ("table-1", "table-2")
ACCOUNTS = "punto/house/accounts"
WITNESS = "punto/house/witness"
VALUES = {"device": ["shoe"], "progressive": ["dragon"], "linked": ["table-2"], "seat": ["1", "2"]}
NOT_AUTHORISED = 135
"""Of a PUBACK of MQTT 5, section 3.4.2.1."""


class Topic(NamedTuple):
    """A topic of a table, with the values of its parameters; without a channel it is of no table."""

    name: str
    place: str = ""
    channel: Channel | None = None
    values: tuple[tuple[str, str], ...] = ()

    @property
    def sent(self) -> bool:
        """Whether the table's service sends it."""
        return self.channel is not None and self.channel.direction == "send"

    def is_of(self, user: "User", kind: str) -> bool:
        """Whether it is for users of this kind, and not another user's own."""
        own = {"seat": user.seat, "client": user.name}
        return (
            self.place in user.places
            and self.channel is not None
            and kind in self.channel.users
            and all(value == own.get(name) for name, value in self.values if own.get(name) is not None)
        )


@dataclass(frozen=True)
class User:
    """A user of the broker: the tables that it belongs to, and its seat if it is a terminal's."""

    name: str
    kind: str
    places: tuple[str, ...] = TABLES
    seat: str | None = None
    more: tuple[str, ...] = ()
    """The topics of others that it reads."""

    def reads(self, topic: Topic) -> bool:
        """Whether it may read this topic."""
        of_a_table = topic.channel.name if topic.channel else ""
        match self.kind:
            case "service":
                return self.writes(topic) or topic.name in self.more
            case "game-manager":
                return topic.name.startswith("punto/") and of_a_table not in {
                    RESTRICTED_CARD,
                    RESTRICTED_HEAD,
                }
            case "surveillance":
                return topic.name.startswith("punto/") and topic.name != ACCOUNTS
            case "witness":
                return of_a_table in {RESTRICTED_HEAD, STATE}
            case _:
                return topic.sent and topic.is_of(self, self.kind)

    def writes(self, topic: Topic) -> bool:
        """Whether it may write this topic."""
        match self.kind:
            case "service":
                return topic.place in self.places or (self is SHARED[0] and topic.name.startswith("punto/"))
            case "game-manager" if topic.name == ACCOUNTS:
                return True
            case "witness":
                return topic.name == WITNESS
            case "display" | "surveillance":
                return False
            case _:
                return not topic.sent and topic.is_of(self, self.kind)


def topics(clients: list[str]) -> Iterator[Topic]:
    """Every topic of two tables, with every value of its parameters, and some that belong to no table."""
    values = {**VALUES, "client": clients}
    for place, channel in product(TABLES, CHANNELS):
        names = [part[1:-1] for part in channel.name.split("/") if part.startswith("{")]
        for chosen in product(*(values[name] for name in names)):
            given = tuple(zip(names, chosen, strict=True))
            yield Topic(f"punto/{place}/{channel.name.format(**dict(given))}", place, channel, given)
    yield from map(Topic, (ACCOUNTS, WITNESS, "punto/house", "elsewhere/table-1/state"))


def of_the_house() -> list[User]:
    """The users of `punto broker-users`; only the first table has the accounts of the house."""
    found = [
        User("table-1", "service", ("table-1",), more=(ACCOUNTS,)),
        User("table-2", "service", ("table-2",)),
    ]
    for table in TABLES:
        found.append(User(f"{table}-display", "display", (table,)))
        found += [User(f"{table}-seat-{seat}", "terminal", (table,), str(seat)) for seat in (1, 2)]
    return [*found, User("displays", "display"), *HOUSE]


HOUSE = (
    User("game-manager", "game-manager"),
    User("witness", "witness"),
    User("surveillance", "surveillance"),
)
SHARED = [
    User("punto", "service"),
    User("display", "display"),
    User("terminal", "terminal"),
    *HOUSE,
]
"""The users of configs/mosquitto.acl, each for all tables; the first may do everything."""


@dataclass
class Client:
    """A user's connection: what it hears of all topics, and the broker's answer to each message that it sends."""

    client: mqtt.Client
    heard: list[tuple[str, bytes]] = field(default_factory=list)
    answers: dict[int, int] = field(default_factory=dict)

    def sends(self, names: list[str], payload: bytes) -> set[str]:
        """Publish on each topic, and return the topics on which the broker accepted it."""
        sent = {self.client.publish(name, payload, qos=1).mid: name for name in names}
        wait_until(lambda: sent.keys() <= self.answers.keys(), "the broker has answered them all")
        return {name for mid, name in sent.items() if self.answers[mid] != NOT_AUTHORISED}


def connect(port: int, login: dict[str, str]) -> Client:
    """Sign on, and subscribe to everything."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    here, subscribed = Client(client), threading.Event()
    client.username_pw_set(login["username"], login["password"])
    client.on_connect = lambda *_: client.subscribe("#", qos=1) and None
    client.on_subscribe = lambda *_: subscribed.set()
    client.on_message = lambda _client, _data, message: here.heard.append(
        (message.topic, bytes(message.payload))
    )

    def answered(_client: Any, _data: Any, mid: int, reason: ReasonCode, _properties: Any) -> None:
        here.answers[mid] = reason.value

    client.on_publish = answered
    client.connect("127.0.0.1", port)
    client.loop_start()
    assert subscribed.wait(DEADLINE)
    return here


@pytest.mark.parametrize(
    ("broker", "users"),
    [(KeepersBroker, of_the_house()), (GuardedBroker, SHARED)],
    ids=["punto broker-users", "configs/mosquitto.acl"],
)
def test_each_user_has_each_right_that_the_registry_gives_it_and_no_other(broker, users, tmp_path):
    every = list(topics([user.name for user in users if user.kind != "service"]))
    names = [topic.name for topic in every]
    with broker(tmp_path) as guarded, ExitStack() as stack:
        clients = {user.name: connect(guarded.port, guarded.login(user.name)) for user in users}
        for each in clients.values():
            stack.callback(each.client.loop_stop)
            stack.callback(each.client.disconnect)
        writes = {user.name: clients[user.name].sends(names, user.name.encode()) for user in users}
        ends = {f"punto/{place}/availability": b"the end" for place in TABLES}
        for user in users:
            if user.kind == "service":
                clients[user.name].sends([f"punto/{place}/availability" for place in user.places], b"the end")
        for user in users:
            wait_until(
                _has_heard(clients[user.name], b"the end", len(ends.keys() & _read(user, every))), user.name
            )
    sent = {(name, user.encode()) for user, accepted in writes.items() for name in accepted}

    for user in users:
        heard = {each for each in clients[user.name].heard if each[1] != b"the end"}
        assert writes[user.name] == {topic.name for topic in every if user.writes(topic)}, user.name
        assert heard == {each for each in sent if each[0] in _read(user, every)}, user.name


def test_each_topic_has_a_user_who_writes_it_so_that_each_reader_is_tried():
    every = list(topics(["game-manager"]))
    written = {topic.name for topic in every for user in of_the_house() if user.writes(topic)}

    assert {topic.name for topic in every} - written == {"punto/house", "elsewhere/table-1/state"}


def _read(user: User, every: list[Topic]) -> set[str]:
    return {topic.name for topic in every if user.reads(topic)}


def _has_heard(client: Client, payload: bytes, times: int) -> Callable[[], bool]:
    return lambda: sum(each == payload for _, each in client.heard) >= times
