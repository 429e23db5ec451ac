"""The display's MQTT subscriber: from the broker to the boards, for as long as the display runs.

A new client for each connection, as one that has failed cannot be relied on; between them a pause with full jitter,
so that a floor of displays does not come back all at once.
"""

import asyncio
import secrets
import socket
from collections import Counter
from collections.abc import Iterable
from random import uniform
from typing import Final

import aiomqtt
import structlog
from pydantic import ValidationError

from punto.configs.problems import ConfigError
from punto.controller.broker_refusal import advice_on
from punto.controller.messages.topics import Topics
from punto.displays.board import PAYLOADS, PROGRESSIVES, Board
from punto.displays.options import MqttOptions

FIRST_PAUSE: Final = 0.25  # seconds; twice as long after each failure
LONGEST_PAUSE: Final = 5.0  # a screen must come back while people still look at it
KEEPALIVE: Final = 5  # seconds, after which a silent connection is found out

log = structlog.get_logger("punto.display")


class Feed:
    """The way of the tables' messages to their boards, over one connection.

    `refused` counts, by table and name, payloads that were not what their topic says.
    """

    def __init__(self, mqtt: MqttOptions, boards: Iterable[Board]) -> None:
        self._mqtt = mqtt
        self._boards = tuple(boards)
        self._places = {
            Topics(mqtt.base, board.table)(name): (board, name) for board in self._boards for name in PAYLOADS
        }
        self._logged: set[tuple[str, str]] = set()
        self.refused: dict[str, Counter[str]] = {board.table: Counter() for board in self._boards}

    async def run(self) -> None:
        """Follow the broker until cancelled; its absence is waited out, never an error."""
        failures = 0
        while True:
            _end_if_cancelled()
            try:
                async with self._client() as client:
                    await client.subscribe([(topic, 1) for topic in self._places])
                    _end_if_cancelled()
                    failures = 0
                    log.info("broker_connected", host=self._mqtt.host, port=self._mqtt.port)
                    for board in self._boards:
                        board.connected()
                    async for message in client.messages:
                        self.take(str(message.topic), message.payload, retained=message.retain)
            except (aiomqtt.MqttError, ConfigError) as error:  # the latter: the password's file has gone
                for board in self._boards:
                    board.disconnected()
                if failures == 0:  # one line an absence
                    log.warning(
                        "broker_away",
                        host=self._mqtt.host,
                        port=self._mqtt.port,
                        error=str(error),
                        **advice_on(error),
                    )
            await asyncio.sleep(uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**failures)))
            failures = min(failures + 1, 10)

    def take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """Put a payload on its table's board if it is what its topic says; if not, count it and show it to nobody."""
        above, _, last = topic.rpartition("/")
        place = self._places.get(topic) or self._places.get(f"{above}/+")
        if place is None:
            return  # a broker may deliver what nobody subscribed to (amqtt does)
        board, name = place
        if name == PROGRESSIVES and not payload:  # how a retained message is taken back
            board.retract(last)
            return
        try:
            board.take(PAYLOADS[name].model_validate_json(payload), retained=retained)
        except ValueError as error:
            self.refused[board.table][name] += 1
            kind = error.errors()[0]["type"] if isinstance(error, ValidationError) else "time"
            if (topic, kind) not in self._logged:
                self._logged.add((topic, kind))
                log.warning("payload_refused", topic=topic, kind=kind, error=str(error))

    def _client(self) -> aiomqtt.Client:
        return aiomqtt.Client(
            self._mqtt.host,
            self._mqtt.port,
            username=self._mqtt.username,
            password=self._mqtt.password(),
            identifier=f"punto-display-{secrets.token_hex(8)}",
            protocol=aiomqtt.ProtocolVersion.V311,
            keepalive=KEEPALIVE,
            timeout=KEEPALIVE,
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        )


def _end_if_cancelled() -> None:
    """Python 3.11 loses a cancellation in `wait_for`, with which aiomqtt waits, when an answer comes in that moment.

    See python/cpython 86296. The task still knows that it was asked to end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
