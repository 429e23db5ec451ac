"""What one client of the broker sends: how little of it is recorded, and that nobody else waits for it."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from punto.runtime.broker_link import Received
from punto.runtime.pace import Pace
from tests.controller.at_a_broker import online
from tests.controller.table_in_this_process import (
    STAKE,
    TOPIC,
    broker_of,
    connected,
    ear,
    eventually,
    rows,
    table,
)
from tests.ports import free_port
from tests.share import soaked

MOST_A_MINUTE = 1024 * 1024
"""Bytes that clients' requests add to the record in a minute."""
LONGEST = "🂡" * 64
"""The longest id, four bytes a character."""


def _record_bytes(record: Path) -> int:
    pages, size = (rows(record, f"PRAGMA {what}")[0][0] for what in ("page_count", "page_size"))
    return int(pages * size)


ACCEPTED: dict[str, Any] = {"id": LONGEST}
UNKNOWN: dict[str, Any] = {"id": LONGEST, "wager": LONGEST}


@pytest.mark.parametrize(
    ("asked", "seats"),
    [
        (ACCEPTED, 1),
        (UNKNOWN, 7),
        *soaked(
            (UNKNOWN, 1),
            ({"id": LONGEST, "round": 2**53}, 7),
            ({"round": 10**3700}, 7),
            ({"amount": -(10**3700)}, 7),
        ),
    ],
)
async def test_whatever_seats_send_they_do_not_fill_the_record(tmp_path, asked, seats):
    now = [0.0]
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
        here.engine.pace = Pace(clock=lambda: now[0])
        broker = broker_of(here, free_port())
        before = _record_bytes(record)
        for number in range(60 * 30):
            now[0] += 1 / 30
            sent = {"id": "w", "round": 2, "wager": "player", "amount": STAKE + 500 * (number % 2)}
            wire = json.dumps(sent | asked).encode()
            for seat in range(1, seats + 1):
                await broker._take([Received(TOPIC(f"wagers/{seat}/set"), wire, retained=False)])

        assert _record_bytes(record) - before <= MOST_A_MINUTE


@pytest.mark.punctual
@pytest.mark.parametrize("flood", ["rounds", *soaked("snapshot")])
async def test_a_clients_flood_of_requests_does_not_keep_the_answer_from_another(tmp_path, mosquitto, flood):
    async with table(tmp_path / "table.db") as here, connected(here, mosquitto.port):
        await here.begin_shoe()
        await here.play(100, seats=[1, 2, 3, 4, 5, 6, 7])
        async with (
            ear(mosquitto.port, TOPIC("response/#")) as flooder,
            ear(mosquitto.port, TOPIC("response/#")) as honest,
            ear(mosquitto.port) as listening,
        ):
            await online(listening)
            ask = {"snapshot": {"id": "flood"}, "rounds": {"id": "flood", "after": 0}}[flood]
            await asyncio.gather(*(flooder.publish(f"request/{flood}/by/seat-1", ask) for _ in range(500)))
            begun = time.monotonic()
            await honest.publish("request/snapshot/by/seat-2", {"id": "honest"})
            await eventually(
                lambda: "honest" in {each["request"] for each in honest.of("response/snapshot")},
                "it is answered",
            )

            assert time.monotonic() - begun < 1
            assert "too many requests" in flooder.said()
