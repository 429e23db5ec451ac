"""The keypad's door at a real engine with its record: what becomes an order, in whose name, and what leaves no trace."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from punto.baccarat.table.events import CardUnread, LidMoved
from punto.baccarat.table.order_kinds import CloseBetting, OpenBetting, Reveal, SignOff, SignOn
from punto.controller.config.devices import KeypadConfig
from punto.controller.devices.keypad_door import KeypadDoor
from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.keypad.serial_line import SerialKeypad
from tests.controller.table_in_this_process import Table, documented, rows, settings, table

BY_ORDER = {"betting_closes": "order", "next_coup": "order"}


class At:
    """A table, its record, and a keypad at its door."""

    def __init__(self, at: Table, record, **written: str) -> None:
        self.table = at
        self.record = record
        self.driver = SerialKeypad("/dev/keypad", 115_200)
        self.door = KeypadDoor(
            at.engine, at.outbox, self.driver, KeypadConfig(port="/dev/keypad", keys=written)
        )

    async def type(self, keys: str) -> KeyAnswer:
        for key in keys.split():
            answer = await self.door.press(key)
        return answer

    def from_keypad(self) -> list[dict[str, Any]]:
        """The inputs on the record that came from the keypad."""
        query = "SELECT payload FROM inputs WHERE source = 'keypad' ORDER BY seq"
        return [json.loads(payload) for (payload,) in rows(self.record, query)]


@pytest.fixture
def record(tmp_path):
    return tmp_path / "table.db"


async def test_a_key_is_an_order_in_the_name_of_who_is_signed_on(record):
    async with table(record, settings(**BY_ORDER)) as own:
        at = At(own, record)
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))

        answer = await at.type("F2")

        assert answer == KeyAnswer("done", "no more wagers")
        assert own.state.phase == "dealing"
        assert at.from_keypad() == [{"who": "mei", "kind": "close_betting"}]

        await own.order(SignOn("kofi"))
        await at.type("F12")
        assert at.from_keypad()[-1] == {
            "who": "kofi",
            "reason": "A supervisor is called",
            "kind": "call_supervisor",
        }
        assert own.state.alarms[-1].code == "supervisor_called"


async def reach_reveal(own: Table) -> None:
    """Draw until cards lie face down that are to be revealed."""
    if own.state.phase == "settled":
        await own.order(OpenBetting("mei"))
        await own.order(CloseBetting("mei"))
    while own.state.phase != "reveal":
        await own.draw()


async def test_every_order_of_the_default_map_is_carried_out(record):
    async with table(record, settings("midi-baccarat", **BY_ORDER)) as own:
        at = At(own, record)
        await own.begin_shoe()
        assert (await at.type("F1")).text == "betting is open"
        assert (await at.type("F2")).text == "no more wagers"
        await reach_reveal(own)
        assert (await at.type("ENTER")).text == "revealed"
        while own.state.phase != "settled":
            await reach_reveal(own)
            assert (await at.type("KPENTER")).result == "done"

    kinds = [event["kind"] for event in at.from_keypad()]
    assert kinds[:3] == ["open_betting", "close_betting", "reveal"]


async def test_a_card_that_the_shoe_could_not_read_is_keyed(record):
    async with table(record) as own:
        at = At(own, record)
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))
        await own.shoe(CardUnread(own.state.link.expected))
        assert at.door.lamps().card

        assert (await at.type("9")).result == "more"
        assert await at.type("S") == KeyAnswer("done", "9S is keyed")

        assert own.state.round.coup is not None
        assert own.state.round.coup.cards == ("9S",)
        assert not at.door.lamps().card
        assert at.from_keypad() == [{"who": "mei", "card": "9S", "position": None, "kind": "key_card"}]


async def test_a_whole_hand_is_keyed_where_there_is_no_shoe(record):
    async with table(record, settings(cards="keyed")) as own:
        at = At(own, record)
        await own.order(SignOn("mei"))
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))

        for keys in ("K S", "2 S", "9 H", "3 S"):
            assert (await at.type(keys)).result == "done"

        assert own.state.history.last is not None
        assert own.state.history.last.winner == "player"


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("ENTER", "not now: betting is open"),
        ("F1", "not now: betting is open"),
        ("VOLUMEUP", "VOLUMEUP has no meaning on this keypad"),
        ("S", "S comes after another key: for a card press the rank first, then the suit"),
        ("9 F2", "9 F2 has no meaning: begin again"),
        (
            "9 S",
            (
                "the table needs no keyed card now, because the shoe reads the cards. Key a card only in two cases: the shoe could not read the card, or the shoe is offline during a hand"
            ),
        ),
    ],
)
async def test_a_press_that_means_nothing_now_is_refused_and_leaves_no_trace(record, keys, reason):
    async with table(record) as own:
        at = At(own, record)
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))
        before = own.engine.seq

        assert await at.type(keys) == KeyAnswer("refused", reason)
        assert own.engine.seq == before


async def test_an_order_that_the_table_refuses_is_on_the_record(record):
    async with table(record, settings(**BY_ORDER)) as own:
        at = At(own, record)
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))
        await own.shoe(LidMoved(own.state.link.expected, open=True))
        assert at.door.lamps() == KeypadLamps(ready=True, stopped=True)

        answer = await at.type("F2")

        assert answer.result == "refused"
        assert answer.text.startswith("play is stopped: the shoe's lid was opened")
        assert at.from_keypad() == [{"who": "mei", "kind": "close_betting"}]


async def test_a_locked_table_takes_no_key(record):
    async with table(record) as own:
        at = At(own, record)
        before = own.engine.seq
        assert at.door.lamps() == KeypadLamps()

        for keys in ("F1", "F12", "9 S", "ESC", "VOLUMEUP"):
            assert await at.type(keys) == KeyAnswer(
                "refused", "no operator is signed on at this table: sign on at the console first"
            )
        assert own.engine.seq == before


async def test_half_a_card_does_not_outlive_who_pressed_it(record):
    alone = "S comes after another key: for a card press the rank first, then the suit"
    async with table(record, settings(cards="keyed")) as own:
        at = At(own, record)
        await own.order(SignOn("mei"))
        await at.type("9")
        await own.order(SignOn("kofi"))
        assert (await at.type("S")).text == alone

        await at.type("9")
        await own.order(SignOff("kofi"))
        await at.type("F1")
        await own.order(SignOn("kofi"))
        assert (await at.type("S")).text == alone


async def test_half_a_card_does_not_outlive_the_power_of_its_keypad(record):
    async with table(record, settings(cards="keyed")) as own:
        at = At(own, record)
        await own.order(SignOn("mei"))
        await at.type("9")
        at.door.restarted()

        assert (await at.type("S")).text.startswith("S comes after another key")


async def test_a_key_map_of_the_house_is_used(record):
    async with table(record, settings(**BY_ORDER)) as own:
        at = At(own, record, SPACE="open_betting")
        await own.begin_shoe()

        assert (await at.type("SPACE")).text == "betting is open"


async def test_two_presses_at_once_are_two_orders_one_after_the_other(record):
    async with table(record, settings(**BY_ORDER)) as own:
        at = At(own, record)
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))

        answers = await asyncio.gather(at.door.press("F2"), at.door.press("F2"))

        assert [answer.result for answer in answers] == ["done", "refused"]


async def test_what_is_published_of_a_keypad_is_as_documented(record):
    async with table(record) as own:
        at = At(own, record)
        at.door.link_changed()

        payload = json.loads(at.door.message(datetime.now(UTC)).wire())

        assert "devices/keypad" in own.outbox.due
        assert documented("devices/keypad", payload)
        assert (payload["device"], payload["state"], payload["reason"]) == (
            "keypad",
            "offline",
            "not started",
        )


async def test_orders_from_anywhere_else_still_count(record):
    async with table(record, settings("midi-baccarat", **BY_ORDER)) as own:
        at = At(own, record)
        await own.begin_shoe()
        await own.order(OpenBetting("mei"))
        await own.order(CloseBetting("mei"))
        while own.state.phase != "settled":
            await reach_reveal(own)
            await own.order(Reveal("mei"))

        assert (await at.type("ENTER")).text == "not now: the hand is settled"
