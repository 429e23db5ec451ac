"""The virtual shoe's cable is cut in mid-hand, two cards are keyed, and the cable comes back: nothing is dealt twice."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from punto.baccarat.table.order_kinds import ChangeShoe, KeyCard, SignOn
from punto.controller.devices.shoe_door import ShoeDoor
from punto.controller.journal.recovery import replay
from punto.drivers.ishoe.serial_line import SerialShoe
from punto.simulators.shoe import ShoeOptions, VirtualShoe
from tests.service.table_in_this_process import eventually, rows, settings, table
from tests.table.croupier import LONG, cards

pytestmark = pytest.mark.disk
BURNED = "AS 2S"
NEXT = "KS 2S 9H 3S QD QH QC QS"


async def test_a_cable_is_cut_two_cards_are_keyed_and_the_cable_comes_back(tmp_path):
    record = tmp_path / "table.db"
    dealt = cards(f"{BURNED} {LONG} {NEXT}")
    shoe = VirtualShoe(
        ShoeOptions(
            store=tmp_path / "store",
            link=tmp_path / "shoe",
            shoes=(dealt,),
            cut=0,
            pace=0.3,
            window=3,
        )
    )
    async with table(record, settings("mini-baccarat", burn="first_card", simulation=True)) as here:
        door = ShoeDoor(here.engine, here.outbox, SerialShoe(str(tmp_path / "shoe")))
        running = asyncio.create_task(shoe.run())
        await shoe.ready()
        reading = asyncio.create_task(door.run())
        try:
            await here.order(SignOn("mei"))
            await eventually(lambda: here.state.link.online, "the shoe is heard")
            await here.order(ChangeShoe("mei"))
            await eventually(
                lambda: len(here.state.round.coup.cards if here.state.round.coup else ()) == 2, "two cards"
            )
            shoe._dealer._options = replace(shoe._dealer._options, between=30)  # it waits with the next hand
            shoe.unplug()
            await eventually(lambda: not here.state.link.online, "the shoe is lost")
            await eventually(lambda: shoe.inside.out >= 6, "two cards more are out")
            assert here.state.round.coup is not None
            assert len(here.state.round.coup.cards) == 2
            for position in (3, 4):
                await here.order(KeyCard("mei", dealt[1 + position], position))
            shoe.plug()
            await eventually(lambda: here.state.history.last is not None, "the hand is over")
        finally:
            for task in (reading, running):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

        assert here.state.history.last is not None
        assert (here.state.history.last.player, here.state.history.last.banker) == (
            cards("KS 5S 4D"),
            cards("2S 3S 9D"),
        )
        assert (here.state.waiting.stops, here.state.link.keyed_away, len(here.state.shoe.drawn)) == (
            (),
            (),
            8,
        )
        keyed = rows(record, "SELECT payload FROM inputs WHERE payload LIKE '%key_card%'")
        assert len(keyed) == 2
    assert replay(record).difference is None
