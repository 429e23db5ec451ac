"""The topics of one table, below `<base>/<table>/`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics by name; `base` is configurable, `table` is the table's id."""

    base: str
    table: str

    def __call__(self, name: str) -> str:
        """The full topic of `name`, such as `state` or `devices/ishoe`."""
        return f"{self.base}/{self.table}/{name}"


AVAILABILITY = "availability"
DEVICE_SHOE = "devices/ishoe"
DEVICE_KEYPAD = "devices/keypad"
DEVICE_COIN_SPOT = "devices/coin_spot"
DEVICE_CARD_READER = "devices/card_reader"
INFO = "info"
HEALTH = "health"
STATE = "state"
SCOREBOARD = "scoreboard"
EVENT = "event"
ROUND = "round"
RESTRICTED_CARD = "restricted/card"
RESTRICTED_EDGE = "restricted/edge"
RESTRICTED_HEAD = "restricted/head"


def progressive(name: str) -> str:
    """The topic of a progressive's meter, by the progressive's id."""
    return f"progressive/{name}"


def wager_result(seat: int) -> str:
    """The topic on which a seat's wagers are answered."""
    return f"wagers/{seat}/result"


def response(verb: str) -> str:
    """The topic on which a request is answered."""
    return f"response/{verb}"
