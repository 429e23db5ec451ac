"""Incidents and entrances over MQTT: for the house's Game Manager alone, page by page, and never ahead of the record."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.table.events import AccessRefused, LidMoved, LinkNoise, SessionBegun
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.journal import out_of_the_ordinary, store
from punto.controller.journal.out_of_the_ordinary import MOST_OF_ONE
from punto.messages.requests import LONGEST_INCIDENT, IncidentsResponse, RecordedIncident
from punto.reports.shift import Reports
from punto.runtime.pace import AT_ONCE, DEAR, Pace
from tests.controller.at_a_broker import online, wager
from tests.controller.guarded_brokers import GuardedBroker, HousesBroker
from tests.controller.table_in_this_process import (
    Ear,
    Table,
    connected,
    documented,
    ear,
    eventually,
    settings,
    table,
)
from tests.controller.test_broker_limits import SHIPPED
from tests.deadline import DEADLINE

OWN = "request/incidents/by/game-manager"
HIDDEN: dict[str, dict[str, Any]] = {"incidents": {"after": 0}, "books": {"day": "2026-11-24"}}
"""What only the house may read, with a request for it."""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Table]:
    """A table in a hand, with a sign-on, a lock-out, an opened lid and a call on its record."""
    async with table(tmp_path / "table.db") as own:
        await own.engine.submit([SessionBegun("Mei", ("dealer",), "192.0.2.7")], "console")
        await own.begin_shoe()
        await own.play(3)
        await own.engine.submit([AccessRefused("Ann", "sign_on", "locked_out", "192.0.2.8")], "console")
        await own.draw()
        await own.shoe(LidMoved(own.state.link.expected, open=True))
        await own.engine.submit([CallSupervisor("mei", "a dispute")], "operator mei")
        yield own


async def answers(house: Ear, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to these requests of the Game Manager."""
    heard = len(house.of("response/incidents"))
    for each in requests:
        await house.publish(OWN, each)
    await eventually(lambda: len(house.of("response/incidents")) == heard + len(requests), "the answers")
    return house.of("response/incidents")[heard:]


# --- what is answered


async def test_a_cursor_gets_what_the_shift_report_lists_over_inputs_without_incidents(
    here, mosquitto, tmp_path, monkeypatch
):
    monkeypatch.setattr(out_of_the_ordinary, "MOST_SCANNED", 7)
    async with ear(mosquitto.port) as house, connected(here, mosquitto.port):
        await online(house)
        pages = await answers(house, {"id": "i", "after": 0, "limit": 2})
        while pages[-1]["more"]:
            pages += await answers(house, {"id": f"i{len(pages)}", "after": pages[-1]["until"], "limit": 2})
        shift = Reports(tmp_path / "table.db").shift(1, datetime.now(UTC), here.state)

        assert all(documented("response/incidents", each) for each in pages)
        assert [] in [each["incidents"] for each in pages[:-1]]
        assert {each["seq"] for each in pages} == {pages[-1]["until"]} == {here.engine.seq}
        found = [each for page in pages for each in page["incidents"]]
        assert [
            (each["kind"], each["place"], each["source"], each["who"], each["where"]) for each in found
        ] == [
            ("service_started", 0, "service", None, None),
            ("session_begun", 0, "console", "Mei", "192.0.2.7"),
            ("access_refused", 0, "console", "Ann", "192.0.2.8"),
            ("locked_out", 1, "console", None, None),
            ("lid_open", 0, "shoe", None, None),
            ("call_supervisor", 0, "operator mei", "mei", None),
        ]
        lists = (shift.alarms, shift.devices, shift.access)
        told = {(each.seq, each.kind, each.text) for entries in lists for each in entries}
        assert {(each["seq"], each["kind"], each["text"]) for each in found} == told


@pytest.mark.parametrize("after", [10**6, 10**30])
async def test_a_cursor_ahead_of_the_record_learns_its_last_input(here, mosquitto, after):
    async with ear(mosquitto.port) as house, connected(here, mosquitto.port):
        await online(house)
        (answer,) = await answers(house, {"id": "ahead", "after": after})

        assert (answer["incidents"], answer["more"]) == ([], False)
        assert answer["until"] == answer["seq"] == here.engine.seq


async def test_an_answer_is_complete_though_the_record_is_behind(here, mosquitto, monkeypatch):
    """The input with its incident is on its way to the record; here the writer waits before it writes them."""
    go_on, add = threading.Event(), store.add_steps

    def held_up(*given: Any) -> None:
        assert go_on.wait(DEADLINE)
        add(*given)

    async with ear(mosquitto.port) as house, connected(here, mosquitto.port):
        await online(house)
        monkeypatch.setattr(store, "add_steps", held_up)
        before = here.engine.seq
        asyncio.get_running_loop().call_later(0.3, go_on.set)
        await here.engine.submit([LinkNoise(40, 10)], "shoe")
        (answer,) = await answers(house, {"id": "now", "after": before})

        assert [each["kind"] for each in answer["incidents"]] == ["link_noise"]
        assert answer["until"] == before + 1


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"id": "r"}, "after: is missing"),
        ({"id": "r", "after": -1}, "after: must be 0 or more"),
        ({"id": "r", "after": 0, "limit": 101}, "limit: must be 100 or less"),
        ({"id": "r", "after": 0, "place": 1}, "place: there is no such field"),
    ],
)
async def test_an_invalid_request_is_answered_with_its_fault(here, mosquitto, asked, error):
    async with ear(mosquitto.port) as house, connected(here, mosquitto.port):
        await online(house)
        (answer,) = await answers(house, asked)

        assert documented("response/incidents", answer)
        assert (answer["request"], answer["error"].startswith(error)) == ("r", True)


async def test_a_request_counts_as_ten_and_a_flood_costs_no_other_client_its_answer(here, mosquitto):
    here.engine.pace = Pace(clock=lambda: 0.0)
    most = AT_ONCE // DEAR
    async with ear(mosquitto.port) as house, connected(here, mosquitto.port):
        await online(house)
        flood = [{"id": f"i{n}", "after": 0} for n in range(most + 20)]
        await asyncio.gather(*(house.publish(OWN, each) for each in flood))
        await house.publish("request/rounds/by/reports", {"id": "r", "after": 0})
        await house.last("response/rounds", lambda last: last["request"] == "r")

        found = house.of("response/incidents")
        assert [each["request"] for each in found] == [*(f"i{n}" for n in range(most)), None]
        assert found[-1]["error"].startswith("too many requests")


def test_the_longest_answer_passes_the_broker_that_ships():
    longest = RecordedIncident(
        seq=2**53,
        place=MOST_OF_ONE,
        ts="2026-03-14T21:05:09.123456+00:00",
        kind="k" * 64,
        source=f"operator {'🂡' * 40}",
        who="🂡" * 40,
        text="🂡" * LONGEST_INCIDENT,
        where="w" * 64,
    )
    answer = IncidentsResponse(
        id="t" * 200,
        seq=2**53,
        ts=longest.ts,
        request="r" * 64,
        after=2**53,
        incidents=(longest,) * MOST_OF_ONE,
        until=2**53,
        record="r" * 64,
        more=True,
    )

    assert len(answer.wire()) < int(SHIPPED["message_size_limit"])


# --- for whom


@pytest.mark.parametrize(
    ("make", "service", "others"),
    [
        (GuardedBroker, "punto", ("display", "terminal")),
        (HousesBroker, "table-1", ("table-1-display", "displays", "table-1-seat-3", "table-2")),
    ],
    ids=["configs/mosquitto.acl", "punto broker-users"],
)
async def test_the_game_manager_alone_requests_what_only_it_reads_and_it_writes_nothing_else(
    make, service, others, tmp_path
):
    with make(tmp_path) as guarded:
        port = guarded.port
        async with (
            AsyncExitStack() as opened,
            table(tmp_path / "table.db", settings("midi-baccarat"), restricted=True) as here,
            ear(port, **guarded.login("surveillance")) as surveillance,
            ear(port, **guarded.login("game-manager")) as house,
            connected(here, port, **guarded.login(service)),
        ):
            await online(house)
            await here.begin_shoe()
            await here.play(1)
            strangers = [
                await opened.enter_async_context(ear(port, **guarded.login(user))) for user in others
            ]
            for user, stranger in zip(others, strangers, strict=True):
                for verb, asked in HIDDEN.items():
                    for asks in ("", f"/by/{user}", "/by/game-manager"):
                        await stranger.publish(f"request/{verb}{asks}", {"id": "stranger", **asked})
            for topic in (
                *("state", "restricted/card", "request/rounds", "request/snapshot"),
                *(f"request/{verb}" for verb in HIDDEN),
                *("request/incidents/by/table-1-seat-3", "request/shutdown/by/game-manager"),
            ):
                await house.publish(topic, {"id": "not mine", "after": 0})
            await house.publish("wagers/3/set", wager(id="not mine"))
            for verb, asked in {"snapshot": {}, "rounds": {"after": 0}, **HIDDEN}.items():
                await house.publish(f"request/{verb}/by/game-manager", {"id": "mine", **asked})
                await house.last(f"response/{verb}", lambda last: last["request"] == "mine")
            await here.play(1)
            await eventually(lambda: len(house.of("round")) == 2, "what comes later")
            await eventually(lambda: "restricted/card" in surveillance.names(), "a hidden card")

            requests = {name for name in surveillance.names() if name.startswith(("request/", "wagers/"))}
            assert requests == {f"request/{verb}/by/game-manager" for verb in ("snapshot", "rounds", *HIDDEN)}
            assert "stranger" not in surveillance.said()
            assert not any(f"response/{verb}" in each.names() for each in strangers for verb in HIDDEN)
            assert "not mine" not in surveillance.said()
            assert {"info", "health", "meters", "state", "round", "event"} <= house.names()
            assert not {"restricted/card", "restricted/head"} & house.names()
