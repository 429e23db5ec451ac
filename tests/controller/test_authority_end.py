"""The authority of a meter, and a table beside it, in this process: what they do with messages that no service sends."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.table import meter_link
from punto.baccarat.table.events import MeterHeard
from punto.controller.meter_link import authority_end, carried, table_end
from punto.controller.meter_link.authority_end import AuthorityEnd
from punto.controller.meter_link.table_end import TableEnd
from punto.drivers.base import LinkHealth
from punto.messages.models import Availability, Message
from punto.messages.topics import AVAILABILITY, METER_REQUEST, Topics, meter_answer
from punto.runtime.broker_link import Received
from tests.baccarat.table import linked_floor
from tests.baccarat.table.croupier import settings as table_settings
from tests.controller.table_in_this_process import Table as InProcess
from tests.controller.table_in_this_process import table as in_this_process
from tests.controller.test_linked import asked_for


class InMemory:
    """A broker in place of a real one: a service's retained messages, and what it does with those of others."""

    def __init__(self) -> None:
        self.retained: dict[str, Callable[[datetime], Any]] = {}
        self.listened: dict[str, Callable[[Received], Awaitable[None]]] = {}
        self.retain, self.listen = self.retained.__setitem__, self.listened.__setitem__

    def health(self) -> LinkHealth:
        return LinkHealth("", True, "", datetime.now(UTC), None, {})

    async def send(self, name: str, sender: str, to: "InMemory", *, retained: bool = False) -> None:
        """Carry the retained message `name` of a service to another one."""
        topic = Topics("punto", sender)(name)
        await to.listened[topic](Received(topic, self.retained[name](datetime.now(UTC)).wire(), retained))


async def test_the_rules_judge_a_request_and_its_answer_once_at_each_side(tmp_path, monkeypatch):
    judged: list[str] = []

    def noted(judge: Callable[..., str | None], *given: Any) -> str | None:
        judged.append(judge.__name__)
        return judge(*given)

    for module in (meter_link, authority_end, table_end):
        for name in ("objection_to_request", "objection_to_answer"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, partial(noted, getattr(module, name)))
    async with asked(tmp_path) as (t1, keeps, asks):
        await keeps.send(meter_answer("t1"), "meter-1", asks)

        assert carried.progressive_of(t1.state).procedure.step.value == "playing"
        assert judged == ["objection_to_request", "objection_to_answer"]


@asynccontextmanager
async def asked(folder: Path) -> AsyncIterator[tuple[InProcess, InMemory, InMemory]]:
    """A table whose request its authority has received, and the brokers of the authority and of the table."""
    of_the_meter = linked_floor.linked(1)
    own = [
        table_settings(game_name="progressive-2", table=name, progressive=of_the_meter)
        for name in ("meter-1", "t1")
    ]
    async with (
        in_this_process(folder / "meter-1.db", own[0]) as authority,
        in_this_process(folder / "t1.db", own[1]) as t1,
    ):
        keeps, asks = InMemory(), InMemory()
        for end, here, broker, name in (
            (AuthorityEnd, authority, keeps, "meter-1"),
            (TableEnd, t1, asks, "t1"),
        ):
            end(here.engine, broker, here.outbox, Topics("punto", name))  # type: ignore[arg-type]
        await authority.order(OpenMeter("eve", "bob"))
        await t1.begin_shoe()
        books = carried.progressive_of(authority.state).books
        await t1.engine.submit([MeterHeard(True, "", books.extract("t1"), books.settings)], "meter")
        await t1.do("open", "spot 1", "start game")
        await asks.send(METER_REQUEST, "t1", keeps)
        yield t1, keeps, asks


async def test_a_table_takes_the_retained_answer_to_its_request_without_taking_itself_for_served(tmp_path):
    """It was off when the authority answered, and the authority has been off since."""
    async with asked(tmp_path) as (t1, keeps, _):
        restarted = InMemory()
        TableEnd(t1.engine, restarted, t1.outbox, Topics("punto", "t1"))  # type: ignore[arg-type]
        await keeps.send(meter_answer("t1"), "meter-1", restarted, retained=True)

        game = carried.progressive_of(t1.state)
        assert (game.procedure.step.value, game.link is not None and game.link.online) == ("playing", False)


async def test_tables_hear_at_once_that_the_meter_is_open(tmp_path):
    own = table_settings(game_name="progressive-2", table="meter-1", progressive=linked_floor.linked(2))
    async with in_this_process(tmp_path / "meter-1.db", own) as authority:
        AuthorityEnd(authority.engine, InMemory(), authority.outbox, Topics("punto", "meter-1"))  # type: ignore[arg-type]
        await authority.order(OpenMeter("eve", "bob"))

        assert authority.outbox.at_once == {meter_answer("t1"), meter_answer("t2")}


@asynccontextmanager
async def an_authority(
    folder: Path,
) -> AsyncIterator[tuple[InProcess, AuthorityEnd, InMemory, Callable[..., Awaitable[None]]]]:
    """The authority `meter-1` of `t1` in this process, its broker, and how it hears a message."""
    own = table_settings(game_name="progressive-2", table="meter-1", progressive=linked_floor.linked(1))
    async with in_this_process(folder / "meter-1.db", own) as authority:
        broker = InMemory()
        end = AuthorityEnd(authority.engine, broker, authority.outbox, Topics("punto", "meter-1"))  # type: ignore[arg-type]
        await authority.order(OpenMeter("eve", "bob"))

        async def hear(topic: str, payload: dict[str, Any], *, retained: bool = False) -> None:
            take = broker.listened.get(topic) or broker.listened["punto/+/progressive/dragon"]
            await take(Received(topic, json.dumps(payload).encode(), retained))

        yield authority, end, broker, hear


def spaced(message: Message) -> dict[str, Any]:
    """A message, to be written with the spaces of another JSON library."""
    found: dict[str, Any] = json.loads(message.wire())
    return found


async def test_its_own_meter_is_no_rival_however_it_is_written(tmp_path):
    async with an_authority(tmp_path) as (authority, end, _, hear):
        for second in range(3):
            meter = end.message(datetime(2026, 11, 27, 12, 0, second, tzinfo=UTC))
            assert meter is not None
            await hear("punto/meter-1/progressive/dragon", spaced(meter))

        assert carried.progressive_of(authority.state).rival is None


def online(record: str, ts: str) -> dict[str, Any]:
    """The availability of `t1` with a record."""
    return spaced(
        Availability(
            id="x", seq=0, ts=ts, simulation=True, state="online", reason="", since=ts, record=record
        )
    )


@pytest.mark.parametrize("retained", [False, True])
async def test_an_availability_of_the_future_does_not_take_the_place_of_later_ones(tmp_path, retained):
    async with an_authority(tmp_path) as (authority, _, _, hear):
        topic = Topics("punto", "t1")
        forged = online("invented", "2099-01-01T00:00:00.000000+00:00")
        await hear(topic(AVAILABILITY), forged, retained=retained)
        await hear(topic(AVAILABILITY), online("made up", "2026-11-27T12:00:00.000000+00:00"))
        await hear(topic(AVAILABILITY), forged, retained=True)  # a node of the house's broker sends it again

        await hear(topic(METER_REQUEST), {**asked_for(1), **NO_KEYS})

        assert [each.text for each in authority.state.alarms] == []
        assert [each.record for each in carried.progressive_of(authority.state).served] == ["made up"]


NO_KEYS = {"simulation": False}  # of both ends


def _raised(here: InProcess) -> list[tuple[str, str]]:
    return [(each.code, each.text) for each in here.state.alarms]


async def test_a_restored_table_and_its_authority_report_that_its_record_is_older(tmp_path):
    own = table_settings(game_name="progressive-2", table="t1", progressive=linked_floor.linked(1))
    async with (
        an_authority(tmp_path) as (authority, end, keeps, hear),
        in_this_process(tmp_path / "t1.db", own) as t1,
    ):
        asks, at = InMemory(), Topics("punto", "meter-1")
        TableEnd(t1.engine, asks, t1.outbox, Topics("punto", "t1"))  # type: ignore[arg-type]

        async def told(name: str, message: Message) -> None:
            await asks.listened[at(name)](Received(at(name), message.wire(), False))

        async def ask() -> None:
            request = asks.retained[METER_REQUEST](datetime.now(UTC))
            await hear("punto/t1/meter/request", spaced(request))

        record = t1.engine.record_name
        await hear("punto/t1/meter/request", {**asked_for(1, record=record), **NO_KEYS})  # before the restore
        meter = end.message(datetime.now(UTC))
        assert meter is not None
        await told("progressive/dragon", meter)
        answer = meter_answer("t1")
        await told(answer, keeps.retained[answer](datetime.now(UTC)))
        await ask()
        assert _raised(authority) == []  # it may be an old message
        await ask()

        text = (
            "meter-1 has answered request 1 of t1, but the record of t1 ends with request 0. If the record of t1 was restored from a "
            'backup, order "Begin again with a table" for t1 at the Game Manager of the authority'
        )
        away = f"meter-1, which keeps the meter, is away: {text}"
        assert _raised(t1) == [("meter_away", away)]
        refused = ("table_refused", f"t1 is not served: {text}")
        assert _raised(authority) == [refused]


async def test_an_authority_that_is_older_than_its_table_refuses_it_before_it_asks(tmp_path):
    async with an_authority(tmp_path) as (authority, _, _, hear):
        await hear("punto/t1/meter/request", {**asked_for(1), **NO_KEYS})
        await hear("punto/t1/meter/request", {**asked_for(3), **NO_KEYS, "asked": None})

        text = (
            "t1 is not served: t1 has had the answer to its request 3, but the record of meter-1 ends with request 1. If the record "
            'of meter-1 was restored from a backup, order "Begin again with a table" for t1 at the Game Manager of the authority'
        )
        assert [each.text for each in authority.state.alarms] == [text]
