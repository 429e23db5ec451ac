"""`punto retire-table`: clears what the broker keeps of a table that is no more."""

import argparse
import asyncio
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from punto.commands.arguments import checked
from punto.configs.problems import ConfigError, cut
from punto.configs.toml_file import read, typed
from punto.controller.journal.evidence_verifier import plain
from punto.messages.topics import STATE, Topics
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, LinkError, Sender
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.table_ids import HOUSE, LONGEST_ID

HELP: Final = (
    "Clear the retained messages of a table that was removed, or whose id was changed, so that its card leaves the floor. The table's "
    "service must not run. The broker's user needs the right to write the topics of this table, so run this command while the "
    "broker still has the user of the table, and before you remove the bridges of its Mosquitto."
)
LISTEN_SECONDS: Final = 3.0
"""A table that runs sends its state every second."""


class _Login(BrokerConfig):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class _File(BaseModel):
    """Any configuration with a broker."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    mqtt: _Login


class _RefusedError(Exception):
    """The table cannot be retired. The message says what to do."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument("table", type=checked(read_id), metavar="ID", help="the id of the table")
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FILE",
        help="a configuration whose section [mqtt] has the broker, such as that of the table",
    )
    parser.add_argument(
        "--username",
        metavar="NAME",
        help="the broker's user, such as the one of the table's former id (default: that of the configuration)",
    )
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="the file whose only line is this user's password"
    )


def read_id(text: str) -> str:
    """The id of a table.

    Raises:
        ValueError: no table can have it.
    """
    if not re.fullmatch(rf"[a-z0-9_-]{{1,{LONGEST_ID}}}", text, re.ASCII) or text == HOUSE:
        raise ValueError(f"{cut(text)!r} is not the id of a table: write one such as table-1")
    return text


def main(args: argparse.Namespace) -> int:
    """Clear and list the topics; 1 if the table runs, or the broker does not let them be cleared."""
    file = read(args.config)
    broker = file.document.get("mqtt")
    if isinstance(broker, dict):
        if args.username is not None:
            broker.pop("password_file", None)
            broker["username"] = args.username
        if args.password_file is not None:
            broker["password_file"] = str(args.password_file.absolute())
    login = typed(file, _File, context=args.config.parent.absolute()).mqtt
    try:
        for topic in asyncio.run(retire(login, args.table)):
            print(plain(topic))
    except (_RefusedError, LinkError, ConfigError) as error:
        sys.stderr.write(f"punto retire-table: {error}\n")
        return 1
    return 0


async def retire(broker: BrokerConfig, table: str) -> list[str]:
    """Clear the retained messages of a table, and return their topics.

    Raises:
        _RefusedError: there are none, the table runs, or they are still there afterwards.
        LinkError: the broker cannot be reached or refuses the user.
        ConfigError: the password or a certificate cannot be read.
    """
    link, topics = Link(broker, Backoff(1, 1)), Topics(broker.base, table)
    async with link.connection() as connection:
        found = await _retained(connection, topics)
        if not found:
            raise _RefusedError(
                f"the broker keeps nothing of a table {table!r} that this user may read: check the id, and set --username to the "
                "table's user"
            )
        sender = Sender(connection)
        for topic in found:
            await sender.room()
            sender.send(topic, b"", retain=True)
        await sender.all_taken()
    async with link.connection() as connection:
        if left := await _retained(connection, topics):
            raise _RefusedError(
                f"the broker did not let this user clear {', '.join(map(plain, left))}: set --username to the table's user"
            )
    return found


async def _retained(connection: Connection, topics: Topics) -> list[str]:
    """The topics of the table's retained messages.

    Raises:
        _RefusedError: the table runs.
    """
    await connection.subscribe([topics("#")])
    found = set[str]()
    with suppress(TimeoutError):
        async with asyncio.timeout(LISTEN_SECONDS):
            async for message in connection.messages():
                if message.retained:
                    found.add(message.topic)
                elif message.topic == topics(STATE):
                    raise _RefusedError(f"{topics.table} runs: stop its service first")
    return sorted(found)
