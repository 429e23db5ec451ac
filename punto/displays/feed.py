"""The display's MQTT subscriber: passes messages from the broker to the boards while the display runs."""

from collections import Counter
from collections.abc import Iterable

import structlog
from pydantic import ValidationError

from punto.configs.faults import first_fault
from punto.displays.board import NO_BROKER, PAYLOADS, PROGRESSIVES, REFUSED, Board
from punto.displays.options import MqttOptions
from punto.messages.topics import Topics
from punto.runtime import broker_link
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link

log = structlog.get_logger("punto.display")


class Feed:
    """Passes the tables' messages to their boards, over one connection.

    `refused` counts, by table and name, payloads that do not match their topic.
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
        """Follow the broker until cancelled; wait while it is unavailable, without an error."""
        await self._link.run(self._follow)

    async def _follow(self, connection: Connection) -> None:
        await connection.subscribe(list(self._places))
        for board in self._boards:
            board.connected()
        async for message in connection.messages():
            self.take(message.topic, message.payload, retained=message.retained)

    def _lost(self, reason: str) -> None:
        for board in self._boards:
            board.disconnected(REFUSED if reason == broker_link.REFUSED else NO_BROKER)

    def take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """Put a payload on its table's board if it matches its topic; otherwise count and discard it."""
        above, _, last = topic.rpartition("/")
        place = self._places.get(topic) or self._places.get(f"{above}/+")
        if place is None:
            return  # a broker may deliver topics without a subscription (amqtt does)
        board, name = place
        if name == PROGRESSIVES and not payload:  # an empty payload clears a retained message
            board.retract(last)
            return
        try:
            board.take(PAYLOADS[name].model_validate_json(payload), retained=retained)
        except ValueError as error:
            self.refused[board.table][name] += 1
            kind, why = "time", str(error)
            if isinstance(error, ValidationError):
                kind, why = error.errors()[0]["type"], first_fault(error)
            if (topic, kind) not in self._logged:
                self._logged.add((topic, kind))
                log.warning("payload_refused", topic=topic, kind=kind, error=why)
