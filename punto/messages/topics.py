"""The topics of one table, below `<base>/<table>/`: their messages, direction and users.

`CHANNELS` has every topic. The AsyncAPI document, the table in docs/reference/topics.md, the broker's access list
(configs/mosquitto.acl) and the subscriptions of displays are made from it.
"""

import re
from dataclasses import dataclass
from inspect import getdoc
from typing import Final, Literal

from punto.messages import linked, meters, models, requests, restricted
from punto.messages.models import Message, Payload
from punto.runtime.table_ids import HOUSE


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics by name; `base` is configurable, `table` is the table's id."""

    base: str
    table: str

    def __call__(self, name: str) -> str:
        """The full topic of `name`, such as `state` or `devices/shoe`."""
        return f"{self.base}/{self.table}/{name}"


AVAILABILITY = "availability"
INFO = "info"
HEALTH = "health"
STATE = "state"
SCOREBOARD = "scoreboard"
METERS = "meters"
EVENT = "event"
ROUND = "round"
RESTRICTED_CARD = "restricted/card"
RESTRICTED_EDGE = "restricted/edge"
RESTRICTED_HEAD = "restricted/head"
METER_REQUEST = "meter/request"


def device(name: str) -> str:
    """The topic of a device, by its name, such as `shoe` or `keypad`."""
    return f"devices/{name}"


def progressive(name: str) -> str:
    """The topic of a progressive's meter, by the progressive's id."""
    return f"progressive/{name}"


def meter_answer(table: str) -> str:
    """The topic of the authority's answers to a linked table."""
    return f"meter/answer/{table}"


def wager_set(seat: int | str) -> str:
    """The topic of a seat's wager requests."""
    return f"wagers/{seat}/set"


def wager_result(seat: int | str) -> str:
    """The topic of the answers to a seat's wager requests."""
    return f"wagers/{seat}/result"


def request(verb: str, client: str | None = None) -> str:
    """The topic of a request, or of the requests of one of the broker's users: each of these has a pace of its own."""
    return f"request/{verb}" if client is None else f"request/{verb}/by/{client}"


def response(verb: str) -> str:
    """The topic of the answers to a request."""
    return f"response/{verb}"


HOUSE_READS: Final = frozenset(
    {
        *(AVAILABILITY, INFO, HEALTH, STATE, METERS, ROUND, RESTRICTED_EDGE, device("+"), progressive("+")),
        *map(response, ("rounds", "incidents", "books")),
    }
)
"""The topics that the Game Manager reads. A table with the key of its link to the house signs them."""


def house_topic(name: str) -> str:
    """The topic of `HOUSE_READS` that has this name of a topic; the name itself if the Game Manager does not read it."""
    kind = f"{name.rpartition('/')[0]}/+"
    return kind if kind in HOUSE_READS else name


def house_accounts(base: str) -> str:
    """The topic of the accounts of a house. It belongs to no table, and only the tables' services may read it."""
    return f"{base}/{HOUSE}/accounts"


def house_witness(base: str) -> str:
    """The topic of the reports of the witness of a house. It belongs to no table."""
    return f"{base}/{HOUSE}/witness"


def of_authority(authority: Topics, table: str, name: str) -> tuple[str, str, str]:
    """What a linked table reads of the authority of the progressive `name`: its answers, whether it is online, and the meter."""
    return authority(meter_answer(table)), authority(AVAILABILITY), authority(progressive(name))


def of_linked(table: Topics) -> tuple[str, str]:
    """What an authority reads of a table that is linked to it: its requests, and whether it is online."""
    return table(METER_REQUEST), table(AVAILABILITY)


User = Literal["display", "terminal", "game-manager"]
"""A user of the broker. The Game Manager also reads all that is not restricted. The table's service and surveillance have rights of their own."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A topic. `name` has parameters in braces.

    `direction` is from the service's point of view: `users` read what it sends and write what it receives.
    """

    name: str
    messages: tuple[type[Payload], ...]
    users: tuple[User, ...] = ()
    retained: bool = False
    direction: Literal["send", "receive"] = "send"
    answered_on: str | None = None
    """The name of the channel of the answers."""

    @property
    def id(self) -> str:
        """Its name in references of the AsyncAPI document: `wagers/{seat}/set` is `wagers_set`."""
        return "_".join(part for part in self.name.split("/") if not part.startswith("{"))

    @property
    def filter(self) -> str:
        """The subscription for all values of its parameters: `wagers/+/set`."""
        return re.sub(r"\{\w+\}", "+", self.name)

    @property
    def about(self) -> str:
        """The first paragraph of the docstring of its first message."""
        return (getdoc(self.messages[0]) or "").partition("\n\n")[0].replace("\n", " ")


def _retained(name: str, message: type[Message], *users: User) -> Channel:
    return Channel(name, (message,), users, retained=True)


def _received(name: str, message: type[Payload], answered_on: str, *users: User) -> Channel:
    return Channel(name, (message,), users, direction="receive", answered_on=answered_on)


def _requests(
    verb: str, asked: type[Payload], *answers: type[Message], users: tuple[User, ...] = ()
) -> tuple[Channel, ...]:
    """The channels of a verb: requests on the shared topic, each user's own requests, and the answers. `users` may use all three."""
    answered_on = response(verb)
    return (
        _received(request(verb), asked, answered_on, *users),
        _received(request(verb, "{client}"), asked, answered_on, *users, "game-manager"),
        Channel(answered_on, answers, users),
    )


CHANNELS: Final = (
    _retained(AVAILABILITY, models.Availability, "display", "terminal"),
    _retained(device("{device}"), models.Device, "display"),
    _retained(INFO, models.Info),
    _retained(HEALTH, models.Health),
    _retained(STATE, models.State, "display", "terminal"),
    _retained(SCOREBOARD, models.Scoreboard, "display"),
    _retained(METERS, meters.TableMeters),
    _retained(progressive("{progressive}"), models.Progressive, "display"),
    Channel(EVENT, (models.Event,), ("display",)),
    Channel(ROUND, (models.Round,), ("display",)),
    Channel(RESTRICTED_CARD, (restricted.RestrictedCard,)),
    _retained(RESTRICTED_HEAD, restricted.RestrictedHead),
    _retained(RESTRICTED_EDGE, restricted.Edge),
    _retained(METER_REQUEST, linked.MeterRequest),
    _retained(meter_answer("{linked}"), linked.MeterAnswer),
    _received(wager_set("{seat}"), models.WagerRequest, wager_result("{seat}"), "terminal"),
    Channel(wager_result("{seat}"), (models.WagerAnswer,), ("terminal",)),
    *_requests("snapshot", requests.SnapshotRequest, requests.Response, users=("terminal",)),
    *_requests(
        "rounds", requests.RoundsRequest, requests.RoundsResponse, requests.Response, users=("terminal",)
    ),
    *_requests("incidents", requests.IncidentsRequest, requests.IncidentsResponse, requests.Response),
    *_requests("books", requests.BooksRequest, requests.BooksResponse, requests.Response),
)


def sent(*names: str) -> dict[str, type[Message]]:
    """The subscriptions for sent messages of these names, each with its message class."""
    return {
        channel.filter: channel.messages[0]
        for channel in CHANNELS
        if channel.filter in names and issubclass(channel.messages[0], Message)
    }
