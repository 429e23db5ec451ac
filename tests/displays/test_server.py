"""What the server gives a browser, read from the wire."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import Message
from typing import Any

import pytest

from tests.displays.parts import Broker, display, publisher
from tests.displays.played import PlayedTable

PATHS = [
    "",
    "tables/table-1/i-score",
    "healthz",
    "static/i-score.js",
    "static/i-score.css",
    "static/icon.svg",
]


async def get(url: str) -> tuple[int, Message, bytes]:
    """Status, headers and body of a page."""

    def ask() -> tuple[int, Message, bytes]:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310  an http address of this test's own
            return answer.status, answer.headers, answer.read()

    return await asyncio.to_thread(ask)


@asynccontextmanager
async def event_stream(address: str) -> AsyncIterator[tuple[AsyncIterator[tuple[str, Any]], bytearray]]:
    """The stream's events as (name, data), and all that was read of it."""
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /tables/table-1/events HTTP/1.1\r\nHost: display\r\n\r\n")
    read = bytearray()

    async def events() -> AsyncIterator[tuple[str, Any]]:
        name = ""
        async for line in reader:
            read.extend(line)
            field, _, value = line.decode().strip().partition(": ")
            if field == "event":
                name = value
            elif field == "data" and name != "ping":
                yield name, json.loads(value)

    try:
        yield events(), read
    finally:
        writer.close()
        await writer.wait_closed()


async def test_what_is_published_is_what_browsers_get(broker):
    table = PlayedTable()
    table.play(20)
    async with display(broker) as address, publisher(broker) as out, event_stream(address) as (events, _):
        async for name, data in events:  # until the display has its broker
            if name == "live" and data["reason"] == "Nothing new from the table":
                break
        state, scoreboard = table.state(), table.scoreboard()
        await out.send("scoreboard", scoreboard)
        await out.send("state", state)

        assert await anext(events) == ("scoreboard", json.loads(scoreboard.wire()))
        assert await anext(events) == ("state", json.loads(state.wire()))
        name, live = await anext(events)
        assert name == "live"
        assert 2000 < live["milliseconds"] <= 2500

        health = json.loads((await get(address + "healthz"))[2])
        assert health == {"table": "table-1", "live": True, "reason": None, "refused": {}}


async def test_a_stream_with_nothing_to_say_shows_that_it_is_there(broker):
    async with display(broker) as address, event_stream(address) as (events, read):
        await anext(events)
        await anext(events)  # it has its broker, and no table
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(events), 2.5)

        assert b"event: ping\r\ndata: \r\n\r\n" in read


async def test_what_is_no_message_is_counted_logged_once_and_kept_from_browsers(broker, capsys):
    table = PlayedTable()
    wire = json.loads(table.state().wire())
    bad = [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 5000,
        json.dumps(wire | {"name": 7}).encode(),
        json.dumps(wire | {"phase": "party"}).encode(),
        json.dumps(wire | {"hint": "bet on red"}).encode(),
        json.dumps(wire | {"valid_until": "2026-13-45T00:00:00.000000+00:00"}).encode(),
        table.scoreboard().wire(),
    ]
    async with display(broker) as address, publisher(broker) as out, event_stream(address) as (events, _):
        async for name, data in events:
            if name == "live" and data["reason"] == "Nothing new from the table":
                break
        for payload in (*bad, *bad):
            await out.send("state", payload)
        state = table.state()
        await out.send("state", state)

        assert await anext(events) == ("state", json.loads(state.wire()))
        health = json.loads((await get(address + "healthz"))[2])
        assert health["refused"] == {"state": 2 * len(bad)}

    kinds = [line for line in capsys.readouterr().out.splitlines() if "payload_refused" in line]
    assert 0 < len(kinds) <= len(bad)


async def test_every_answer_has_its_headers_and_other_tables_have_none(broker):
    async with display(broker) as address:
        for path in PATHS:
            status, headers, _ = await get(address + path)

            assert status == 200
            assert headers["Content-Security-Policy"].startswith("default-src 'self'")
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Server"] is None

        for path in ("tables/table-2/i-score", "tables/table-2/events", "static/../options.py", "kiosk.html"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                await get(address + path)


async def test_no_answer_holds_credentials(tmp_path):
    users = {"display-user": "s3cret-of-the-display", "table": "s3cret-of-the-table"}
    password_file = tmp_path / "display.password"
    password_file.write_text("s3cret-of-the-display\n", encoding="utf-8")
    broker = Broker(tmp_path, users)
    await broker.start()
    try:
        async with (
            display(broker, username="display-user", password_file=password_file) as address,
            publisher(broker, "table", users["table"]) as out,
            event_stream(address) as (events, read),
        ):
            await out.send("state", PlayedTable().state())
            async for name, _ in events:
                if name == "state":
                    break
            answers = [await get(address + path) for path in PATHS]
    finally:
        broker.kill()

    everything = b"".join([*(body + str(headers).encode() for _, headers, body in answers), read])
    assert b"Dragon Room 8" in everything
    assert b"s3cret" not in everything
    assert b"display-user" not in everything


async def test_a_broker_that_refuses_the_display_is_asked_again_and_browsers_are_told(tmp_path):
    broker = Broker(tmp_path, {"table": "s3cret"})
    await broker.start()
    try:
        async with display(broker) as address, event_stream(address) as (events, _):
            assert await anext(events) == (
                "live",
                {"milliseconds": 0, "reason": "The display has no connection to the message broker"},
            )
            await asyncio.sleep(1)
            assert json.loads((await get(address + "healthz"))[2])["live"] is False
    finally:
        broker.kill()
