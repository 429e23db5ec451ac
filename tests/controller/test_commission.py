"""The seats' commission over a shoe: on the record with each entry, and the same after a restart and in a replay."""

import pytest

from punto.baccarat.table.state import CommissionOwed
from punto.baccarat.table.turn import RefusedError
from punto.controller.journal.recovery import replay
from punto.messages import topics
from tests.baccarat.table.croupier import BANKER_NATURAL, PLAYER_NATURAL
from tests.controller.table_in_this_process import TOPIC, Table, edited, rows, settings, table

OWN = settings("mini-baccarat", cards="keyed", commission="shoe_end")
BANKER = f"key {BANKER_NATURAL}"
ENTRIES = "SELECT seat, cause, amount, owed, round, wager FROM commissions ORDER BY input, place"


async def refused(here: Table, command: str) -> str:
    with pytest.raises(AssertionError) as found:
        await here.do(command)
    assert isinstance(found.value.args[0], RefusedError)
    return str(found.value.args[0])


async def test_a_shoe_is_played_collected_and_changed_over_a_restart(tmp_path):
    record = tmp_path / "table.db"
    async with table(record, OWN) as here:
        await here.do("sign on", "change shoe", "open", "wager 2 banker 1000", "wager 5 banker 500", BANKER)
        await here.do("wager 2 banker 2000", BANKER, "void round", "collect 5 25")
    async with table(record, OWN) as here:
        assert here.state.commissions == (CommissionOwed(2, 50),)
        await here.do("wager 5 banker 1000", BANKER)
        assert "seat 2 0.50 USD, seat 5 0.50 USD" in await refused(here, "change shoe")
        await here.do("collect 2 50", "close table", "waive 5 50", "change shoe")

    assert rows(record, ENTRIES) == [
        (2, "earned", 50, 50, 1, "banker"),
        (5, "earned", 25, 25, 1, "banker"),
        (2, "earned", 100, 150, 2, "banker"),
        (2, "corrected", -100, 50, 3, "banker"),
        (5, "collected", -25, 0, None, None),
        (5, "earned", 50, 50, 4, "banker"),
        (2, "collected", -50, 0, None, None),
        (5, "waived", -50, 0, None, None),
    ]
    assert replay(record).difference is None


async def test_a_replay_finds_an_account_that_was_edited(tmp_path):
    record = tmp_path / "table.db"
    async with table(record, OWN) as here:
        await here.do(
            "sign on", "change shoe", "open", "wager 2 banker 1000", BANKER, f"key {PLAYER_NATURAL}"
        )
    with edited(record) as shell:
        shell.execute("UPDATE commissions SET amount = 0, owed = 0")

    difference = replay(record).difference

    assert difference is not None
    assert "the commission of input" in difference


async def test_a_connected_broker_is_sent_nothing_of_an_account(tmp_path):
    async with table(tmp_path / "table.db", OWN, restricted=True) as here:
        here.outbox.connect(lambda: None)
        await here.do("sign on", "change shoe", "open", "wager 2 banker 1000", BANKER, "collect 2 50")
        sent = [(topic, payload) for topic, payload, _ in here.outbox.events]

    assert TOPIC(topics.EVENT) in dict(sent)
    assert [payload for _, payload in sent if b"commission" in payload] == []
