"""Wager sensors at a table whose meter an authority keeps: START GAME is the sensors' first, then the authority's."""

import asyncio

import pytest

from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.events import MeterAnswered, MeterHeard, SetWager, TableAsked
from punto.baccarat.table.meter_link import served_table
from punto.baccarat.table.order_kinds import ChangeShoe, OpenBetting, SignOn
from punto.controller.accounts.roles import Role
from punto.controller.orders import meter_answer
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import Peer
from tests.baccarat.table.linked_floor import AUTHORITY, Node
from tests.controller.progressive_devices import NOTHING, AtATable, at_a_table, settings

LINKED = settings(base_wagers="unseen", authority=AUTHORITY)


def authority() -> Node:
    """The authority, with its meter in service."""
    assert LINKED.progressive is not None
    found = Node(AUTHORITY, LINKED.progressive)
    found.do("meter")
    return found


async def open_table(here: AtATable, kept: Node) -> None:
    """From the first day to betting, with the authority in reach."""
    await here.give(SignOn("ann"))
    await here.table.hello()
    await here.give(ChangeShoe("ann"), OpenBetting("ann"))
    await here.heard()
    books = kept.progressive.books
    await here.table.engine.submit([MeterHeard(True, "", books.extract("table-1"), books.settings)], "meter")


def asked(here: AtATable) -> bool:
    """Whether the table asks its authority."""
    assert here.table.state.progressive is not None
    assert here.table.state.progressive.link is not None
    return here.table.state.progressive.link.asked is not None


async def carry(here: AtATable, kept: Node) -> None:
    """The request to the authority, and its answer to the table."""
    assert here.table.state.progressive is not None
    link = here.table.state.progressive.link
    assert link is not None
    assert link.asked is not None
    kept.handle(TableAsked("table-1", "record", link.asked.number, link.asked.orders))
    last = served_table(kept.progressive, "table-1")
    assert last is not None
    extract = kept.progressive.books.extract("table-1")
    await here.table.engine.submit([MeterAnswered(last.number, last.entries, last.refused, extract)], "meter")


async def test_latched_wagers_stay_lit_until_the_authority_answers_and_through_the_game(tmp_path):
    kept = authority()
    async with at_a_table(tmp_path, LINKED) as here:
        await open_table(here, kept)
        here.sensors.put(2)
        await here.recognised(2)

        await here.started()
        await here.heard()
        assert (here.step, here.sensors.lit, here.sensors.device.round) == ("betting", frozenset({2}), 1)
        await here.give(SetWager("w5", 5, "player", 500, 1))  # the table changes meanwhile
        for seat in (3, 4):
            here.sensors.put(seat)
            await here.until(lambda at=seat: at in here.spots.late(), "a wager after START GAME is late")
        assert (here.step, here.sensors.lit, here.sensors.device.round) == ("betting", frozenset({2}), 1)
        await carry(here, kept)

        assert (here.step, here.hand.wagers, here.sensors.lit) == ("playing", (2,), frozenset({2}))
        assert kept.progressive.books.ledger.contributions == 21 * 1_000_000  # with the reserve
        await here.deal(NOTHING)


@pytest.mark.parametrize("retired", [False, True])
async def test_a_start_at_a_desk_is_answered_when_the_authority_has_answered(tmp_path, retired):
    kept = authority()
    async with at_a_table(tmp_path, LINKED) as here:
        await open_table(here, kept)
        if retired:
            kept.do("retire")
        start = Desk(here.table.engine, tmp_path).give(
            [[StartGame(1, "ann", (2,))]], Peer("ann", (Role.DEALER,), "a console")
        )
        answer = asyncio.create_task(start)
        await here.until(lambda: asked(here), "the authority is asked")
        assert not answer.done()
        await carry(here, kept)

        answered = await answer
        refused = ("retired", "dragon is retired for good: open another progressive")
        assert (answered.accepted, answered.code, answered.reason) == (
            (False, *refused) if retired else (True, None, None)
        )
        assert here.step == ("betting" if retired else "playing")


async def test_a_start_that_the_authority_does_not_answer_stays_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(meter_answer, "ANSWER_SECONDS", 0.01)
    kept = authority()
    async with at_a_table(tmp_path, LINKED) as here:
        await open_table(here, kept)
        desk = Desk(here.table.engine, tmp_path)
        answered = await desk.give([[StartGame(1, "ann", (2,))]], Peer("ann", (Role.DEALER,), "a console"))

        assert (answered.accepted, here.step) == (True, "betting")
        await carry(here, kept)
        assert here.step == "playing"


async def test_wagers_of_a_start_that_the_authority_refuses_must_be_placed_again(tmp_path):
    kept = authority()
    async with at_a_table(tmp_path, LINKED) as here:
        await open_table(here, kept)
        here.sensors.put(2)
        await here.recognised(2)
        await here.started()
        kept.do("retire")
        await carry(here, kept)

        assert here.step == "betting"
        await here.until(lambda: here.sensors.lit == frozenset(), "its light goes off")
        assert here.hand.spent == (2,)
        assert [each.code for each in here.table.state.alarms] == ["meter_refused"]
