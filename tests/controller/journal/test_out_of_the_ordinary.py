"""What was out of the ordinary on a record, page by page: all that a supervisor reads in the shift report, each once, and no card more."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from punto.baccarat.cards import Card
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table import events as ev
from punto.baccarat.table import order_kinds
from punto.controller.journal import out_of_the_ordinary
from punto.controller.journal.out_of_the_ordinary import MOST_OF_ONE, incidents_after
from punto.messages.requests import LONGEST_INCIDENT, RecordedIncident
from punto.reports.shift import Reports, Shift
from tests.controller.table_in_this_process import Table, table

CARDS_WHILE_HELD = MOST_OF_ONE + 20

ORDINARY: list[ev.Event] = [
    ev.SetWager("w", 1, "player", 1, 1),  # refused, which is answered to the seat
    order_kinds.KeyCard("mei", Card("9S")),  # refused, and names a card
    order_kinds.CloseTable("mei"),  # refused, and in no report
]
UNUSUAL: list[ev.Event] = [
    ev.SessionBegun("Mei", ("dealer",), "192.0.2.7"),
    ev.SessionEnded("Mei", "signed off"),
    ev.AccessRefused(None, "sign_on", "wrong_password", "192.0.2.7"),
    ev.AccessRefused("Ann", "sign_on", "locked_out", "192.0.2.7"),  # also an alarm
    ev.Flooded("account Mei", 1400, 10),
    ev.LinkNoise(40, 10),
    ev.ConfigurationKeypad(attached=True, path="/dev/keypad"),
    order_kinds.CallSupervisor("mei", "争议" * 100),
    order_kinds.ResumePlay("mei", "seen to"),  # refused
    order_kinds.AcknowledgeAlarm("mei", 7_000),  # refused
    StartGame(1, "mei", ()),  # refused: there is no progressive
    ev.RecordDiffers("ü" * 300),
    ev.ClockStepped("2026-11-25T12:00:00.000000+00:00", "2026-11-25T11:00:00.000000+00:00"),
]


async def _unusual_evening(here: Table) -> None:
    dice = Random(7)
    await here.begin_shoe()
    await here.order(order_kinds.CloseTable("mei"))
    for _ in range(60):
        await here.engine.submit(dice.choices(ORDINARY, k=dice.randint(0, 4)), "operator mei")
        await here.engine.submit([dice.choice(UNUSUAL)], "test")
    await here.order(order_kinds.HoldPlay("mei", "a dispute"))
    await here.draw(CARDS_WHILE_HELD)
    await here.order(order_kinds.ResumePlay("mei", "settled"))
    await here.engine.submit([*ORDINARY * 10, ev.LinkNoise(99, 10)], "operator mei")


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Shift, int]:
    """A record of an unusual evening, its shift report, and the number of its last input."""
    record = tmp_path_factory.mktemp("evening") / "table.db"

    async def play() -> tuple[Shift, int]:
        async with table(record) as here:
            await _unusual_evening(here)
            return Reports(record).shift(1, datetime.now(UTC), here.state), here.engine.seq

    shift, last = asyncio.run(play())
    assert shift.more == ()
    return record, shift, last


def listed(shift: Shift) -> list[tuple[object, ...]]:
    """What the shift report lists, as it must be sent: an entrance before the alarm that it raised, the first of each input."""
    found = [
        *((each.seq, 0, each.ts, each.kind, each.who, each.text, each.where) for each in shift.access),
        *(
            (each.seq, 1, each.ts, each.kind, each.who, each.text, None)
            for each in (*shift.alarms, *shift.refused, *shift.devices)
        ),
    ]
    by_input: dict[int, list[tuple[object, ...]]] = {}
    for seq, _, *rest in sorted(found, key=lambda each: each[:2]):
        by_input.setdefault(seq, []).append((*rest,))
    return [
        (seq, place, *rest)
        for seq, those in by_input.items()
        for place, rest in enumerate(those[:MOST_OF_ONE])
    ]


def sent(found: list[RecordedIncident]) -> list[tuple[object, ...]]:
    return [(each.seq, each.place, each.ts, each.kind, each.who, each.text, each.where) for each in found]


def cut_like(text: object) -> object:
    return (
        f"{text[: LONGEST_INCIDENT - 1]}…"
        if isinstance(text, str) and len(text) >= LONGEST_INCIDENT
        else text
    )


@settings(max_examples=8)
@given(limit=st.integers(1, 100), scanned=st.integers(5, 300), written=st.integers(1, 300))
@example(limit=1, scanned=1, written=1)
def test_pages_of_any_size_together_are_the_shift_report_each_entry_once(evening, limit, scanned, written):
    """The record grows between the pages, as it does while the consumer asks."""
    record, shift, last = evening
    expected = [(*entry[:5], cut_like(entry[5]), entry[6]) for entry in listed(shift)]
    found: list[RecordedIncident] = []
    cursor = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(out_of_the_ordinary, "MOST_SCANNED", scanned)
        while cursor < last:
            if cursor == written:
                written = last
            page, until = incidents_after(record, cursor, written, limit)

            assert cursor < until <= written
            assert len(page) <= limit or len({each.seq for each in page}) == 1
            assert len(page) <= MOST_OF_ONE
            assert all(cursor < each.seq <= until for each in page)
            found += page
            cursor = until

    assert sent(found) == expected


def test_the_evening_has_everything(evening):
    kinds = {entry[3] for entry in listed(evening[1])}

    assert kinds == {
        *("session_begun", "session_ended", "access_refused", "locked_out", "flood", "link_noise"),
        *("configuration_keypad", "call_supervisor", "resume_play", "acknowledge_alarm", "start_game"),
        *("record_differs", "clock_stepped", "card_outside_play", "hold_play", "service_started"),
    }


def test_an_input_with_more_than_a_page_comes_alone_and_the_first_of_it(evening):
    record, shift, last = evening
    resumed = next(each.seq for each in shift.alarms if each.kind == "card_outside_play")
    page, until = incidents_after(record, resumed - 1, last, 3)

    assert sum(each.seq == resumed for each in shift.alarms) == CARDS_WHILE_HELD + 1
    assert resumed <= until < last
    assert [(each.seq, each.place) for each in page] == [(resumed, place) for place in range(MOST_OF_ONE)]
    assert [each.seq for each in incidents_after(record, until, last, 3)[0]] == [last]


@pytest.mark.parametrize("after", [0, 10, 10**30])
def test_a_cursor_ahead_of_the_record_is_told_where_the_record_ends(after, evening):
    found, until = incidents_after(evening[0], max(after, 10), 10, 100)

    assert (found, until) == ((), 10)
