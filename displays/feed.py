"""The display's MQTT subscriber: from the broker to the board, for as long as the display runs.

A new client for each connection, as one that has failed cannot be relied on; between them a pause with full jitter,
so that a floor of displays does not come back all at once.
"""

import asyncio
import secrets
import socket
from collections import Counter
from random import uniform
from typing import Final

import aiomqtt
import structlog
from pydantic import ValidationError

from controller.messages.topics import Topics
from displays.board import PAYLOADS, Board
from displays.options import DisplayOptions, OptionsError

FIRST_PAUSE: Final = 0.25  # seconds; twice as long after each failure
LONGEST_PAUSE: Final = 5.0  # a screen must come back while people still look at it
KEEPALIVE: Final = 5  # seconds, after which a silent connection is found out

log = structlog.get_logger("punto.display")


class Feed:
    """The way of one table's messages to its board. `refused` counts, by name, payloads that were not theirs to be."""

    def __init__(self, options: DisplayOptions, board: Board) -> None:
        self._mqtt = options.mqtt
        self._topics = Topics(options.mqtt.base, options.display.table)
        self._board = board
        self._logged: set[tuple[str, str]] = set()
        self.refused: Counter[str] = Counter()

    async def run(self) -> None:
        """Follow the broker until cancelled; its absence is waited out, never an error."""
        failures = 0
        while True:
            try:
                async with self._client() as client:
                    await client.subscribe([(self._topics(name), 1) for name in PAYLOADS])
                    failures = 0
                    log.info("broker_connected", host=self._mqtt.host, port=self._mqtt.port)
                    self._board.connected()
                    async for message in client.messages:
                        self.take(str(message.topic), message.payload, retained=message.retain)
            except (aiomqtt.MqttError, OptionsError) as error:  # the latter: the password's file has gone
                self._board.disconnected()
                if failures == 0:  # one line an absence
                    log.warning("broker_away", host=self._mqtt.host, port=self._mqtt.port, error=str(error))
            await asyncio.sleep(uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**failures)))
            failures = min(failures + 1, 10)

    def take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """Put a payload on the board if it is what its topic says; if not, count it and keep it from the browsers."""
        name = topic.removeprefix(self._topics(""))
        if name not in PAYLOADS:
            return  # a broker may deliver what nobody subscribed to (amqtt does)
        try:
            self._board.take(PAYLOADS[name].model_validate_json(payload), retained=retained)
        except ValueError as error:
            self.refused[name] += 1
            kind = error.errors()[0]["type"] if isinstance(error, ValidationError) else "time"
            if (name, kind) not in self._logged:
                self._logged.add((name, kind))
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
