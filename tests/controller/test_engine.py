"""The one ordered path: on the record first, then handled, then made known, one at a time."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardDrawn, CardOverdrawn, Event, SetWager
from punto.baccarat.table.order_kinds import (
    ChangeShoe,
    CloseTable,
    CorrectCard,
    KeyCard,
    ResumePlay,
    Reveal,
    SignOff,
    SignOn,
)
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import replay
from punto.controller.journal.snapshots import STATES
from punto.controller.outbox import Outbox
from tests.controller.table_in_this_process import STAKE, TOPIC, Table, rows, settings, table
from tests.controller.table_on_a_machine import Table as Service
from tests.deadline import DEADLINE

# --- what is refused

REFUSED: list[tuple[Event, str]] = [
    (Reveal("mei"), "not_now"),
    (SignOff("mei"), "not_now"),
    (ResumePlay("mei", "seen to"), "not_stopped"),
    (KeyCard("mei", Card("9S")), "no_card_awaited"),
    (SetWager("w", 1, "player", 777, 1), "betting_closed"),
    (CorrectCard("mei", 5, Card("9S"), "misread"), "no_such_position"),
]


async def test_what_is_refused_is_on_the_record_and_changes_nothing(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.draw(3)
        before = here.state
        handled = [(await here.engine.submit([event], "operator mei"))[0] for event, _ in REFUSED]
        codes = [each.refusal and each.refusal.code for each in handled]

        assert codes == [code for _, code in REFUSED]
        assert here.state is before

        await here.play(2)
    kinds = rows(record, "SELECT seq, json_extract(payload, '$.kind') FROM inputs ORDER BY seq")

    assert [(each.seq, event.kind) for each, (event, _) in zip(handled, REFUSED, strict=True)] == kinds[
        handled[0].seq - 1 : handled[-1].seq
    ]
    assert replay(record).difference is None


async def test_a_refused_input_among_others_stops_only_itself(tmp_path):
    async with table(tmp_path / "table.db") as here:
        await here.hello()
        first, second, third = await here.engine.submit(
            [SignOn("mei"), Reveal("mei"), ChangeShoe("mei")], "operator mei"
        )

        assert (first.refusal, third.refusal) == (None, None)
        assert second.refusal is not None
        assert here.state.phase == "shoe_change"


async def test_if_one_input_of_a_whole_is_refused_all_are_taken_back(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.hello()
        before = here.engine.execution.position
        first, second = await here.engine.submit([SignOn("mei"), Reveal("mei")], "operator mei", whole=True)

        assert (first.refused, second.refused) == (False, True)
        assert (here.state, here.engine.execution.position) == (before[0], before)

        await here.engine.submit([SignOn("mei"), ChangeShoe("mei")], "operator mei", whole=True)
        assert here.state.phase == "shoe_change"
    assert replay(record).difference is None


# --- which settings it starts with


async def in_phase(here: Table, phase: Phase) -> None:
    await here.begin_shoe()
    steps: dict[Phase, list[Event]] = {
        Phase.LOCKED: [CloseTable("mei"), SignOff("mei")],
        Phase.CLOSED: [CloseTable("mei")],
    }
    if phase is Phase.DEALING:
        await here.draw(2)
    elif phase is Phase.BETTING:
        await here.play(1)
    for event in steps.get(phase, []):
        await here.order(event)
    assert here.state.phase == phase


OTHER: list[dict[str, Any]] = [{"game": "midi-baccarat"}, {"seats": 5}, {"burn": "fixed"}]


@pytest.mark.parametrize("phase", [Phase.LOCKED, Phase.CLOSED])
@pytest.mark.parametrize("other", OTHER, ids=str)
async def test_other_settings_are_taken_between_shoes(tmp_path, phase, other):
    async with table(tmp_path / "table.db") as here:
        await in_phase(here, phase)
    async with table(tmp_path / "table.db", settings(**other)) as here:
        assert here.state.settings == settings(**other)


@pytest.mark.parametrize("phase", [Phase.SHOE_CHANGE, Phase.BETTING, Phase.DEALING])
@pytest.mark.parametrize("other", [*OTHER, {"table": "table-2"}], ids=str)
async def test_other_settings_in_mid_shoe_leave_no_trace_on_the_record(tmp_path, phase, other):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await in_phase(here, phase)
    before = rows(record, "SELECT * FROM inputs")
    code = "other_table" if "table" in other else "settings_in_play"
    with pytest.raises(RefusedError) as refused:
        async with table(record, settings(**other)):
            pass

    assert refused.value.code == code
    assert rows(record, "SELECT * FROM inputs") == before


def test_the_program_says_why_it_does_not_start(tmp_path):
    with Service(tmp_path, None, "seats = 7") as service:
        service.order("sign_on")
        service.order("change_shoe")
        service.stop()
    before = rows(service.record, "SELECT * FROM inputs")
    written = service.config.read_text(encoding="utf-8")
    for old, new, sentence in (
        (
            "seats = 7",
            "seats = 5",
            "the game, the limits and the policies can change only between shoes: start with the",
        ),
        (
            'id = "table-1"',
            'id = "table-2"',
            "this is the record of table 'table-1', but the configuration is for",
        ),
    ):
        service.config.write_text(written.replace(old, new), encoding="utf-8")
        service.begin_to_start()

        assert service.process.wait(DEADLINE) == 1
        assert service.said()[-1].startswith(f"punto run: {sentence}")
        assert not any("Traceback" in line for line in service.said())
    assert rows(service.record, "SELECT * FROM inputs") == before


# --- one at a time, in order


async def test_many_at_once_are_handled_in_the_order_of_the_record(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
        handled_order: list[int] = []
        handle = here.engine.execution.table.handle

        def noting(event: Event, **how: Any) -> Any:
            handled_order.append(here.engine.execution.head.seq + 1)
            return handle(event, **how)

        here.engine.execution.table.handle = noting  # type: ignore[method-assign]
        before = here.journal.last_seq

        async def seat(number: int) -> list[int]:
            seqs = []
            for n in range(10):
                wager = SetWager(f"{number}-{n}", number % 7 + 1, "player", STAKE + 500 * n, 2)
                seqs += [each.seq for each in await here.engine.submit([wager], f"seat {number}")]
            return seqs

        seqs = await asyncio.gather(*(seat(number) for number in range(20)))

    assert handled_order == list(range(before + 1, before + 201))
    assert sorted(seq for each in seqs for seq in each) == handled_order
    assert all(each == sorted(each) for each in seqs)
    assert replay(record).difference is None


async def test_an_input_whose_asker_is_gone_is_handled_if_it_is_on_the_record(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
        for n in range(50):
            asked = asyncio.create_task(
                here.engine.submit([SetWager(str(n), 1, "player", STAKE + 500 * n, 2)], "test")
            )
            for _ in range(n % 4):
                await asyncio.sleep(0)
            asked.cancel()
            await asyncio.wait([asked])
            await here.journal.rounds_after(0, 1)  # behind it in the writer's line

            assert here.engine.seq == here.journal.last_seq
        await here.play(1)
        live = STATES.dump_json(here.state)

    assert replay(record).difference is None
    async with table(record) as again:
        put_back = again.state.replace(link=here.state.link)
        assert STATES.dump_json(put_back) == live


# --- hidden cards


async def midi(record: Path, *, restricted: bool) -> tuple[list[tuple[str, dict[str, Any]]], list[str], int]:
    """What is put out while a midi coup is dealt; its cards; how many messages there were at the reveal."""
    async with table(record, settings("midi-baccarat"), restricted=restricted) as here:
        here.outbox.connect(lambda: None)
        await here.begin_shoe()
        while here.state.round.coup is None:
            await here.draw()
        await here.shoe(CardDrawn(here.state.link.expected, Card("9D"), 40))  # a doubtful read
        await here.order(KeyCard("mei", Card("9H")))
        while here.state.phase == "dealing":
            await here.draw()
        await here.order(CorrectCard("mei", 1, Card("4C"), "misread"))
        while here.state.phase == "dealing":
            await here.draw()
        await here.shoe(CardOverdrawn(here.state.link.expected, Card("QC"), 99))
        assert here.state.round.coup is not None
        cards = [*here.state.round.coup.cards, Card("9D"), Card("QC")]
        before = len(here.outbox.events)
        await here.order(ResumePlay("mei", "seen to"))
        await here.order(Reveal("mei"))
        assert here.outbox.dropped == 0
        sent = [
            (topic.removeprefix(TOPIC("")), json.loads(payload)) for topic, payload, _ in here.outbox.events
        ]
    return sent, [str(card) for card in cards], before


async def test_hidden_cards_are_nowhere_unless_the_broker_guards_them(tmp_path):
    sent, cards, reveal = await midi(tmp_path / "table.db", restricted=False)
    before = json.dumps(sent[:reveal])

    assert {name for name, _ in sent} == {"event"}
    assert [card for card in cards if f'"{card}"' in before or f" {card} " in before] == []
    assert "cards_revealed" in json.dumps(sent[reveal:])


async def test_hidden_cards_are_on_the_restricted_topic_alone(tmp_path):
    sent, cards, reveal = await midi(tmp_path / "table.db", restricted=True)
    public = json.dumps([payload for name, payload in sent[:reveal] if name != "restricted/card"])
    held = {payload["card"]["card"] for name, payload in sent if name == "restricted/card"}

    assert {name for name, _ in sent} == {"event", "restricted/card"}
    assert [card for card in cards if card in public] == []
    assert set(cards) <= held


async def test_an_engine_that_cannot_write_its_start_does_not_start(tmp_path):
    record = tmp_path / "table.db"
    async with table(record):
        pass
    journal = Journal.open(record)
    try:
        pages = journal.connection.execute("PRAGMA page_count").fetchone()[0]
        journal.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(Exception, match="could not be written"):
            await Engine.start(journal, Outbox(), TOPIC, settings(name="x" * 5000), "0.1.0")
    finally:
        await journal.close()
