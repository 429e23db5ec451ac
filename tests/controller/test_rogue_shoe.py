"""A rogue device on the shoe's line that the table has accepted: what it makes up is bounded before it is recorded."""

import asyncio

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.order_kinds import ChangeShoe, SignOn
from punto.controller.devices.shoe_door import ShoeDoor
from punto.drivers import serial_device
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.serial_line import SerialShoe
from punto.drivers.serial_port import READ_BYTES
from tests.controller.table_in_this_process import eventually, rows, settings, table
from tests.drivers.benches import going
from tests.drivers.ishoe.model import ShoeOnALine

TWO_SHOES = 2 * 8 * 52
FRAME_BYTES = 12


@pytest.mark.parametrize(
    "record",
    [
        lambda number: frames.CardRecord(number, Card.NINE_S, 98),
        frames.UnreadRecord,
        lambda number: frames.OverdrawnRecord(number, Card.NINE_S, 98),
        frames.CutCardRecord,
    ],
    ids=["cards", "unread cards", "overdrawn cards", "cut cards"],
)
async def test_of_thousands_of_records_in_seconds_few_reach_the_record(tmp_path, monkeypatch, record):
    monkeypatch.setattr(serial_device, "REOPEN_SECONDS", 1)
    path = tmp_path / "table.db"
    async with table(path, settings("mini-baccarat")) as here:
        far = ShoeOnALine(tmp_path / "shoe")
        driver = SerialShoe(str(tmp_path / "shoe"))
        async with going(far.run(), ShoeDoor(here.engine, here.outbox, driver).run()):
            await here.order(SignOn("mei"))
            await eventually(lambda: here.state.link.online, "the shoe is heard")
            await here.order(ChangeShoe("mei"))
            for _ in range(3000):
                far.shoe.happens(record)
            far._changed.set()
            await eventually(
                lambda: here.state.overfull or "more than such a device can" in driver.health().reason,
                "it is bounded",
            )
            await asyncio.sleep(1)

        recorded = len(rows(path, "SELECT seq FROM inputs WHERE source = 'shoe'"))
        assert recorded < TWO_SHOES + READ_BYTES // FRAME_BYTES
        assert (
            len(here.state.waiting.backlog) + len(here.state.shoe.drawn)
            < TWO_SHOES + READ_BYTES // FRAME_BYTES
        )
