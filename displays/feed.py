"""The display's MQTT subscriber: from the broker to the boards, for as long as the display runs."""

from collections import Counter
from collections.abc import Iterable

import structlog
from pydantic import ValidationError

from punto.controller.messages.topics import Topics
from punto.controller.mqtt_link import Connection, Link
from punto.displays.board import PAYLOADS, PROGRESSIVES, Board
from punto.displays.options import MqttOptions
from punto.drivers.backoff import Backoff

log = structlog.get_logger("punto.display")


class Feed:
    """The way of the tables' messages to their boards, over one connection.

    `refused` counts, by table and name, payloads that were not what their topic says.
    """

    def __init__(self, mqtt: MqttOptions, boards: Iterable[Board]) -> None:
        self._boards = tuple(boards)
        # Sooner than a table: a screen must come back while people still look at it.
        self._link = Link(mqtt, Backoff(0.25, 5), lost=self._lost)
        self._places = {
            Topics(mqtt.base, board.table)(name): (board, name) for board in self._boards for name in PAYLOADS
        }
        self._logged: set[tuple[str, str]] = set()
        self.refused: dict[str, Counter[str]] = {board.table: Counter() for board in self._boards}

    async def run(self) -> None:
        """Follow the broker until cancelled; its absence is waited out, never an error."""
        await self._link.run(self._follow)

    async def _follow(self, connection: Connection) -> None:
        await connection.subscribe(list(self._places))
        for board in self._boards:
            board.connected()
        async for message in connection.messages():
            self.take(message.topic, message.payload, retained=message.retained)

    def _lost(self, _reason: str) -> None:
        for board in self._boards:
            board.disconnected()

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
