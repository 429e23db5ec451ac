"""What the server gives a browser, read from the wire."""

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import Message
from typing import Any

import pytest
import structlog

from punto.displays import server
from punto.displays.board import NO_BROKER
from tests.deadline import DEADLINE
from tests.displays.meters import Meter
from tests.displays.parts import Broker, display, make_certificates, publisher
from tests.displays.played import PlayedTable

PATHS = [
    "",
    "tables/table-1/i-score",
    "tables/table-1/progressive",
    "split?tables=table-1,table-2",
    "wall",
    "tables",
    "settings.json",
    "theme.css",
    "healthz",
    "static/i-score.js",
    "static/i-score.css",
    "static/icon.svg",
]


async def get(url: str) -> tuple[int, Message, bytes]:
    """Status, headers and body of a page."""

    def ask() -> tuple[int, Message, bytes]:
        with urllib.request.urlopen(url, timeout=DEADLINE) as answer:  # noqa: S310  an http address of this test's own
            return answer.status, answer.headers, answer.read()

    return await asyncio.to_thread(ask)


@asynccontextmanager
async def event_stream(
    address: str, path: str = "tables/table-1/events"
) -> AsyncIterator[tuple[AsyncIterator[tuple[str, Any]], bytearray]]:
    """The stream's events as (name, data), and all that was read of it."""
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /{path} HTTP/1.1\r\nHost: display\r\n\r\n".encode())
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
        assert health == {
            "table-1": {"live": True, "situation": "live", "reason": None, "seen": state.ts, "refused": {}}
        }

        meter = Meter().message()
        await out.send("progressive/dragon", b'{"meter": -1}')
        await out.send("progressive/dragon", meter)

        assert await anext(events) == ("progressive", json.loads(meter.wire()))
        name, live = await anext(events)
        assert name == "progressive_live"
        assert 2000 < live["milliseconds"] <= 2500
        health = json.loads((await get(address + "healthz"))[2])
        assert health["table-1"]["refused"] == {"progressive/+": 1}

        await out.send("progressive/dragon", b"")  # the broker is to keep it no more

        assert await anext(events) == ("progressive", None)


@pytest.mark.punctual
async def test_a_stream_with_nothing_to_say_shows_that_it_is_there(broker):
    async with display(broker) as address, event_stream(address) as (events, read):
        await anext(events)
        await anext(events)  # it has its broker, and no table
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(events), 2.5)

        assert f"event: ping\r\ndata: {server.digest_of_pages()}\r\n\r\n".encode() in read


async def test_an_invalid_message_is_counted_logged_once_and_kept_from_browsers(broker):
    table = PlayedTable()
    wire = json.loads(table.state().wire())
    bad = [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 5000,
        json.dumps(wire | {"name": 7}).encode(),
        json.dumps(wire | {"phase": "party"}).encode(),
        json.dumps(wire | {"valid_until": "2026-13-45T00:00:00.000000+00:00"}).encode(),
        table.scoreboard().wire(),
    ]
    with structlog.testing.capture_logs() as logs:
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
            assert health["table-1"]["refused"] == {"state": 2 * len(bad)}

    kinds = [line for line in logs if "payload_refused" in str(line)]
    assert 0 < len(kinds) <= len(bad)


async def test_what_a_later_version_says_more_is_passed_over_and_kept_from_browsers(broker):
    table = PlayedTable()
    async with display(broker) as address, publisher(broker) as out, event_stream(address) as (events, _):
        async for name, data in events:
            if name == "live" and data["reason"] == "Nothing new from the table":
                break
        state = table.state()
        await out.send("state", json.dumps(json.loads(state.wire()) | {"hint": "bet on red"}).encode())

        assert await anext(events) == ("state", json.loads(state.wire()))


async def test_every_answer_has_its_headers_and_other_tables_have_none(broker):
    async with display(broker, page={"tables": ["table-1", "table-2"]}) as address:
        for path in PATHS:
            status, headers, _ = await get(address + path)

            assert status == 200
            assert headers["Content-Security-Policy"].startswith("default-src 'self'")
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Server"] is None

        for path in (
            "tables/table-3/i-score",
            "tables/table-3/progressive",
            "tables/table-3/events",
            "wall?tables=table-1,table-3",
            "static/../options.py",
            "kiosk.html",
        ):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                await get(address + path)


async def test_several_tables_come_in_one_stream_and_one_that_never_speaks_is_not_live(broker):
    first, second = PlayedTable(), PlayedTable(name="VIP 2", seed=9)
    first.play(3)
    tables = ["table-1", "vip-2", "silent"]
    async with (
        display(broker, page={"tables": tables}) as address,
        publisher(broker) as out,
        event_stream(address, "events?tables=vip-2,silent,table-1,vip-2") as (events, _),
    ):
        async for name, data in events:  # until the display has its broker
            if name == "table-1/live" and data["reason"] == "Nothing new from the table":
                break
        states = {"table-1": first.state(), "vip-2": second.state()}
        for table, state in states.items():
            await out.send("state", state, table)
        heard: dict[str, Any] = {}
        async for name, data in events:
            heard[name] = data
            if all(heard.get(f"{table}/live", {"milliseconds": 0})["milliseconds"] for table in states):
                break

        assert {name: heard[name] for name in ("table-1/state", "vip-2/state")} == {
            f"{table}/state": json.loads(state.wire()) for table, state in states.items()
        }
        assert min(heard[f"{table}/live"]["milliseconds"] for table in states) > 2000
        assert json.loads((await get(address + "tables"))[2]) == [
            {"id": "table-1", "name": "Dragon Room 8"},
            {"id": "vip-2", "name": "VIP 2"},
            {"id": "silent", "name": None},
        ]
        health = json.loads((await get(address + "healthz"))[2])
        assert [health[table]["live"] for table in tables] == [True, True, False]


@pytest.mark.parametrize(
    ("tables", "asked", "leads_to"),
    [
        (["a"], "", "tables/a/i-score"),
        (["a"], "?theme=jade", "tables/a/i-score?theme=jade"),
        (["a", "b", "c"], "progressive?lang=zh-Hant", "tables/a/progressive?lang=zh-Hant"),
        (["a", "b", "c"], "", "wall?tables=a,b,c"),
        (["a", "b", "c"], "?lang=zh-Hant", "wall?lang=zh-Hant&tables=a,b,c"),
        (["a", "b", "c"], "wall?tables=c,a", "wall?tables=c,a"),
        (["a", "b", "c"], "split", "split?tables=a,b"),
        (["a", "b", "c"], "split?seen=light%26x=1", "split?seen=light%26x%3D1&tables=a,b"),
        (["a", "b", "c"], "split?tables=c,b", "split?tables=c,b"),
    ],
)
async def test_each_address_leads_to_the_page_with_its_tables_in_its_address(broker, tables, asked, leads_to):
    async with display(broker, page={"tables": tables}) as address:
        arrived, body = await asyncio.to_thread(_arrive, address + asked)

        assert arrived == address + leads_to
        template = "sign" if "progressive" in asked else "board"
        assert f'<template id="{template}">'.encode() in body


def _arrive(url: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(url, timeout=DEADLINE) as answer:  # noqa: S310  an http address of this test's own
        return answer.url, answer.read()


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("wall?tables=a,x", 404, b"This display has no such table: it has a, b"),
        ("wall?tables=", 404, b"This display has no such table: it has a, b"),
        ("split?tables=a", 400, b"A split shows two tables: write /split?tables=a,b"),
        ("split?tables=a,a", 400, b"A split shows two tables: write /split?tables=a,b"),
        ("events?tables=x", 404, b"This display has no such table: it has a, b"),
        ("catalog/xx.json", 404, b"There is no such language: choose one of "),
        ("theme/logo", 404, b"The house has no logo"),
        ("tables/a/i-score?layout=bed", 400, b"There is no such layout: choose one of landscape, portrait, roads"),
        ("wall?tables=a&theme=blue", 400, b"There is no such theme: choose one of lacquer, jade, night"),
        ("tables/a/progressive?lang=../../etc/passwd", 400, b"There is no such lang: choose one of en, pt, zh-Hans"),
    ],
)  # fmt: skip
async def test_what_is_not_there_is_answered_with_its_status(broker, asked, status, says):
    async with display(broker, page={"tables": ["a", "b"]}) as address:
        with pytest.raises(urllib.error.HTTPError) as refused:
            await get(address + asked)

        assert refused.value.code == status
        assert refused.value.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert refused.value.read().startswith(says)


async def test_the_house_and_the_look_are_served(broker, tmp_path):
    logo = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    (tmp_path / "crane.svg").write_bytes(logo)
    (tmp_path / "house.toml").write_text(
        'logo = "crane.svg"\n[names]\nen = "The <b>Golden</b> Crane"\n[colours]\ngold = "#c9a227"\n',
        encoding="utf-8",
    )
    page = {"layout": "portrait", "theme": "jade", "house": tmp_path / "house.toml"}
    async with display(broker, page=page) as address:
        _, headers, css = await get(address + "theme.css")
        assert headers["Content-Type"] == "text/css; charset=utf-8"
        assert css == (b':root[data-theme] { --gold: #c9a227; }\n:root { --logo: url("/theme/logo"); }\n')

        _, headers, picture = await get(address + "theme/logo")
        assert (headers["Content-Type"], picture) == ("image/svg+xml", logo)
        assert headers["Content-Security-Policy"].startswith("default-src 'self'")  # its script never runs

        assert json.loads((await get(address + "settings.json"))[2]) == {
            "layout": "portrait",
            "theme": "jade",
            "lang": "en",
            "names": {"en": "The <b>Golden</b> Crane"},
            "tables": {},
            "logo": "/theme/logo",
            "pictures": [],
            "picture_seconds": 12,
            "made": server.digest_of_pages(),
        }


async def test_no_answer_holds_credentials(tmp_path):
    users = {"display-user": "s3cret-of-the-display", "table": "s3cret-of-the-table"}
    password_file = tmp_path / "display.password"
    password_file.write_text("s3cret-of-the-display\n", encoding="utf-8")
    broker = Broker(tmp_path, users)
    await broker.start()
    try:
        async with (
            display(
                broker,
                page={"tables": ["table-1", "table-2"]},
                username="display-user",
                password_file=password_file,
            ) as address,
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


async def test_a_broker_that_refuses_the_display_is_asked_again_and_browsers_show_it(tmp_path):
    broker = Broker(tmp_path, {"table": "s3cret"})
    await broker.start()
    try:
        with structlog.testing.capture_logs() as logs:
            async with display(broker) as address, event_stream(address) as (events, _):
                name, shown = await anext(events)
                while shown["reason"] == NO_BROKER:
                    name, shown = await anext(events)
                assert (name, shown["reason"]) == ("live", "The message broker refuses this display")
                await asyncio.sleep(1)
                health = json.loads((await get(address + "healthz"))[2])["table-1"]
                assert (health["live"], health["situation"]) == (False, "refused")
    finally:
        broker.kill()
    (away,) = (each for each in logs if each["event"] == "broker away")
    assert "set username and password_file in [mqtt]" in away["hint"]


async def test_over_tls_the_display_follows_a_broker_that_its_authority_vouches_for_and_no_other(tmp_path):
    (tmp_path / "other").mkdir()
    ours, others = make_certificates(tmp_path), make_certificates(tmp_path / "other")
    broker = Broker(tmp_path)
    await broker.start()
    try:
        with structlog.testing.capture_logs() as logs:
            async with (
                publisher(broker, tls_context=ssl.create_default_context(cafile=ours)) as out,
                display(broker, ca_file=ours) as address,
                display(broker, ca_file=others) as deceived,
                event_stream(address) as (events, _),
            ):
                await out.send("state", PlayedTable().state())
                async for name, _ in events:
                    if name == "state":
                        break
                wrong = await get(deceived + "healthz")
    finally:
        broker.kill()
    await asyncio.get_running_loop().shutdown_default_executor()  # a handshake may be going on

    assert json.loads(wrong[2])["table-1"]["live"] is False
    (away,) = (each for each in logs if each["event"] == "broker away")
    assert "CERTIFICATE_VERIFY_FAILED" in away["reason"]
