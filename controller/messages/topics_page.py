"""The table of topics in docs/reference/topics.md, and the broker's access list, configs/mosquitto.acl."""

from collections.abc import Iterator
from typing import Final, get_args

from punto.controller.messages.schema import file_of
from punto.controller.messages.topics import CHANNELS, User

_ACCESS_LIST: Final = """\
# Written by `make schema`; for another base than punto, change a copy. It lists the topics that each user may read and
# write. Restricted topics have cards that the public has not seen, the edge of each wager in the shoe in play, and the
# record's last hash: only surveillance may read them.

# The table's service.
user punto
topic readwrite punto/#

# Displays: they only read the public topics.
user display
{display}

# A terminal or smart table that makes wagers.
user terminal
{terminal}

# Surveillance: it reads everything and writes nothing.
user surveillance
topic read punto/#
"""


def topics_tables() -> Iterator[list[list[str]]]:
    """Each topic: whether it is retained, its description, and the schemas of its payloads."""
    rows = [["Topic", "Retained", "What", "Payload"]]
    for each in CHANNELS:
        retained = "in" if each.direction == "receive" else "yes" if each.retained else "no"
        answer = f" Answered on {_written(each.answered_on)}." if each.answered_on else ""
        schemas = [file_of(model) for model in each.messages]
        payload = ", ".join(f"[{file.removesuffix('.json')}](schema/{file})" for file in schemas)
        rows.append([_written(each.name), retained, each.about + answer, payload])
    yield rows


def _written(name: str) -> str:
    return f"`{name.replace('{', '<').replace('}', '>')}`"


def access_list() -> str:
    """Mosquitto's access list: each user of the broker, and the topics that it may read and write."""
    return _ACCESS_LIST.format(**{user: _lines(user) for user in get_args(User)})


def _lines(user: User) -> str:
    return "\n".join(
        f"topic {'read' if each.direction == 'send' else 'write'} punto/+/{each.filter}"
        for each in CHANNELS
        if user in each.users
    )
