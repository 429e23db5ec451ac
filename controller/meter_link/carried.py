"""What both ends of a meter's link share: how they read messages, and what they carry.

Request and answer are retained messages of the state on the sender's record, sent again at each connection. So nothing is
lost with a message: whichever end was killed or cut off gets the other's present state. Brokers between the ends may lose
what was retained (rabbitmq/rabbitmq-server 8096). Therefore a table that waits sends its request again.
"""

from typing import Any, Final, TypeVar

import structlog
from pydantic import ValidationError
from pydantic_core import to_json

from punto.baccarat.progressive.money import MOST, amount
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.events import Event
from punto.baccarat.table.state import TablesProgressive, TableState
from punto.controller.engine import Handled
from punto.controller.journal.entries import EVENTS
from punto.controller.meter_link.link import LONGEST
from punto.messages.linked import Input
from punto.messages.models import Message
from punto.runtime import clock
from punto.runtime.broker_link import Received

UNREAD: Final = (
    "{} sends what this version cannot read: install the same version at the authority and at its tables"
)
SOURCE: Final = "meter"
"""The source on the record of what the link reports."""
LOOK_SECONDS: Final = 0.5
"""How often an end looks what has changed."""
_LONGEST_TEXT: Final = 1000
_FAILED_SECONDS: Final = 60.0
"""The pause after an input that the program could not handle: what it reports still stands, and would be recorded without end."""


_M = TypeVar("_M", bound=Message)
_log = structlog.get_logger("punto.controller.meter_link")


def written(event: Event) -> Input:
    """An input as a message carries it."""
    found: Input = EVENTS.dump_python(event, mode="json")
    return found


def read(kind: type[_M], message: Received) -> _M | None:
    """The message of this kind, None if it cannot be read."""
    if len(message.payload) > LONGEST:
        _log.warning("message of a linked table not read", topic=message.topic, reason="it is too long")
        return None
    try:
        return kind.model_validate_json(message.payload)
    except ValidationError as error:
        _log.warning(
            "message of a linked table not read", topic=message.topic, reason=error.errors()[0]["msg"]
        )
        return None


def input_of(carried: Input | None, message: Received) -> Event | None:
    """The input that a message carries, None if it carries none of this version, or a value that no record can keep."""
    if not _kept(carried):
        _log.warning(
            "input of a linked table not read", topic=message.topic, reason="it has a value that is too large"
        )
        return None
    try:
        return None if carried is None else EVENTS.validate_json(to_json(carried), strict=True)
    except ValidationError as error:
        _log.warning("input of a linked table not read", topic=message.topic, reason=error.errors()[0]["msg"])
        return None


def _kept(value: Any) -> bool:
    """Whether a record can keep all numbers and texts in this JSON value."""
    match value:
        case dict():
            return all(_kept(each) for each in value.values())
        case list():
            return all(map(_kept, value))
        case str():
            return len(value) <= _LONGEST_TEXT
        case int() | float():
            return abs(value) <= amount(MOST)
        case _:
            return True


def progressive_of(state: TableState) -> TablesProgressive:
    """The progressive of a table that has one."""
    if state.progressive is None:
        raise AssertionError("a link needs a progressive")
    return state.progressive


def pause_after(handled: Handled) -> float:
    """The end of the pause after an input, by the monotonic clock."""
    return clock.monotonic() + _FAILED_SECONDS if handled.failed else 0.0


def public(books: Books) -> tuple[object, ...]:
    """What a table records when it changes. What wagers of other tables add to the meter is only shown."""
    return (books.phase, books.next_award, [(each.id, each.state) for each in books.awards])
