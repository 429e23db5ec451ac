"""The topics of one table, below `<base>/<table>/`: what is on them, which way it goes, and which users it is for.

`CHANNELS` is every topic there is. The AsyncAPI document, the table in docs/reference/topics.md, the broker's access list
(configs/mosquitto.acl) and what displays subscribe to are made from it.
"""

import re
from dataclasses import dataclass
from inspect import getdoc
from typing import Final, Literal

from punto.controller.messages import models, restricted
from punto.controller.messages.models import Message, Payload


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
EVENT = "event"
ROUND = "round"
RESTRICTED_CARD = "restricted/card"
RESTRICTED_EDGE = "restricted/edge"
RESTRICTED_HEAD = "restricted/head"


def device(name: str) -> str:
    """The topic of a device, by its name, such as `shoe` or `keypad`."""
    return f"devices/{name}"


def progressive(name: str) -> str:
    """The topic of a progressive's meter, by the progressive's id."""
    return f"progressive/{name}"


def wager_set(seat: int | str) -> str:
    """The topic on which a seat's wagers are asked for."""
    return f"wagers/{seat}/set"


def wager_result(seat: int | str) -> str:
    """The topic on which a seat's wagers are answered."""
    return f"wagers/{seat}/result"


def request(verb: str) -> str:
    """The topic of a request."""
    return f"request/{verb}"


def response(verb: str) -> str:
    """The topic on which a request is answered."""
    return f"response/{verb}"


User = Literal["display", "terminal"]
"""A broker's user beside the table's service, and surveillance, which reads everything."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A topic: its `name`, with parameters in braces, its messages, and what it is `about`.

    `direction` is seen from the service; `users` read what it sends and write what it receives.
    """

    name: str
    messages: tuple[type[Payload], ...]
    users: tuple[User, ...] = ()
    retained: bool = False
    direction: Literal["send", "receive"] = "send"
    answered_on: str | None = None
    """The name of the channel that has the answer."""

    @property
    def id(self) -> str:
        """How the document's references call it: `wagers/{seat}/set` is `wagers_set`."""
        return "_".join(part for part in self.name.split("/") if not part.startswith("{"))

    @property
    def filter(self) -> str:
        """What to subscribe to for all of its parameters: `wagers/+/set`."""
        return re.sub(r"\{\w+\}", "+", self.name)

    @property
    def about(self) -> str:
        """What its first message says of itself."""
        return (getdoc(self.messages[0]) or "").partition("\n\n")[0].replace("\n", " ")


def _retained(name: str, message: type[Message], *users: User) -> Channel:
    return Channel(name, (message,), users, retained=True)


def _asked(name: str, message: type[Payload], answered_on: str) -> Channel:
    return Channel(name, (message,), ("terminal",), direction="receive", answered_on=answered_on)


CHANNELS: Final = (
    _retained(AVAILABILITY, models.Availability, "display", "terminal"),
    _retained(device("{device}"), models.Device, "display"),
    _retained(INFO, models.Info),
    _retained(HEALTH, models.Health),
    _retained(STATE, models.State, "display", "terminal"),
    _retained(SCOREBOARD, models.Scoreboard, "display"),
    _retained(progressive("{progressive}"), models.Progressive, "display"),
    Channel(EVENT, (models.Event,), ("display",)),
    Channel(ROUND, (models.Round,), ("display",)),
    Channel(RESTRICTED_CARD, (restricted.RestrictedCard,)),
    _retained(RESTRICTED_HEAD, restricted.RestrictedHead),
    _retained(RESTRICTED_EDGE, restricted.Edge),
    _asked(wager_set("{seat}"), models.WagerRequest, wager_result("{seat}")),
    Channel(wager_result("{seat}"), (models.WagerAnswer,), ("terminal",)),
    _asked(request("snapshot"), models.SnapshotRequest, response("snapshot")),
    Channel(response("snapshot"), (models.Response,), ("terminal",)),
    _asked(request("rounds"), models.RoundsRequest, response("rounds")),
    Channel(response("rounds"), (models.RoundsResponse, models.Response), ("terminal",)),
)


def sent(*names: str) -> dict[str, type[Message]]:
    """What to subscribe to for these of the messages that the service sends -> which message that is."""
    return {
        channel.filter: channel.messages[0]
        for channel in CHANNELS
        if channel.filter in names and issubclass(channel.messages[0], Message)
    }
