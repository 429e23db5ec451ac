"""The record says what became of each input, and a replay and a start follow it, whatever this version would do."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from unittest import mock

import pytest
from structlog.testing import capture_logs

from punto.baccarat.table.effects import Effect
from punto.baccarat.table.events import ClockStepped, Event, ReverseMovement
from punto.baccarat.table.order_kinds import CallSupervisor, HoldPlay
from punto.baccarat.table.state import TableState
from punto.baccarat.table.table import Table as Rules
from punto.baccarat.table.turn import RefusedError
from punto.controller.journal import schema
from punto.controller.journal.execution import Step
from punto.controller.journal.recovery import recover, replay
from punto.controller.journal.schema import RecordError
from punto.controller.publication import Publication
from tests.controller.journal.records import start_on, take_snapshot
from tests.controller.table_in_this_process import Table, edited, rows, table

BROKEN = RuntimeError("a rule's code is wrong")
FORBIDDEN = RefusedError("forbidden", "the house has forbidden it")
OUTCOMES = {BROKEN: "failed ", FORBIDDEN: "refused forbidden", None: "accepted"}


@contextmanager
def version(kind: str, raises: Exception | None) -> Iterator[None]:
    """A version of the program that cannot handle events of this kind, or refuses them."""
    handle = Rules.handle

    def changed(self: Rules, event: Event) -> list[Effect]:
        if raises is not None and event.kind == kind:
            raise raises
        return handle(self, event)

    with mock.patch.object(Rules, "handle", changed):
        yield


async def give(here: Table, kind: str) -> None:
    events: dict[str, Event] = {
        "call_supervisor": CallSupervisor("mei", "a dispute"),
        "reverse_movement": ReverseMovement(here.state.link.expected),
        "clock_stepped": ClockStepped("2026-11-25T12:00:00.000000+00:00", "2026-11-25T11:00:00.000000+00:00"),
    }
    await here.engine.submit([events[kind]], "test")


async def recorded(record: Path, kind: str, raises: Exception | None) -> tuple[int, TableState]:
    """Play a round, give the event to a version of the program, and go on; return the event's number and the table."""
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1, seats=[1])
        with version(kind, raises):
            await give(here, kind)
            seq = here.engine.seq
        await here.order(HoldPlay("mei", "a pause"))
    return seq, here.state


OTHERWISE = [
    *((kind, BROKEN, None) for kind in ("call_supervisor", "reverse_movement", "clock_stepped")),
    *((kind, None, BROKEN) for kind in ("call_supervisor", "reverse_movement", "clock_stepped")),
    ("call_supervisor", FORBIDDEN, None),
    ("call_supervisor", None, FORBIDDEN),
    ("call_supervisor", FORBIDDEN, BROKEN),
    ("call_supervisor", BROKEN, FORBIDDEN),
]


@pytest.mark.parametrize(("kind", "was", "would"), OTHERWISE)
async def test_a_version_that_would_handle_an_input_otherwise_says_so_and_goes_on(tmp_path, kind, was, would):
    record = tmp_path / "table.db"
    seq, played = await recorded(record, kind, was)
    outcome = rows(record, "SELECT outcome FROM inputs ORDER BY seq")[seq - 1][0]
    assert outcome.startswith(OUTCOMES[was])
    shown = f"input {seq} ({kind}) was {outcome[: len('failed ') + 12]}, but this version of the program has it {OUTCOMES[would]}"

    with version(kind, would):
        found = replay(record, version="0.1.0")
        assert found.difference is not None
        assert found.difference.startswith(shown)
        assert (found.inputs, found.rounds) == (seq + 1, 1)

        with capture_logs() as logged:
            async with table(record) as here:
                if was is not None:
                    assert (here.state.waiting.stops, here.state.alarms) == (
                        played.waiting.stops,
                        played.alarms,
                    )
        assert any(str(each.get("found", "")).startswith(shown) for each in logged)

        later = replay(
            record, version="0.2.0"
        )  # another version may handle it otherwise: that is no difference
        assert was is None or later.difference is None
        assert later.otherwise[0].startswith(shown)


@pytest.mark.parametrize("kind", ["call_supervisor", "reverse_movement", "clock_stepped"])
async def test_a_version_that_fails_at_an_input_too_follows_the_record_without_a_difference(tmp_path, kind):
    record = tmp_path / "table.db"
    await recorded(record, kind, BROKEN)

    with version(kind, TypeError("wrong at another line")):
        assert replay(record, version="0.1.0").difference is None
        async with table(record) as here:
            assert "record_differs" not in {each.code for each in here.state.alarms}


async def test_a_version_that_cannot_follow_the_rounds_of_a_record_does_not_start(tmp_path):
    """It would give the next round a number that another round has."""
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(2)

    with version("card_drawn", BROKEN):
        found = replay(record)
        assert found.inputs == rows(record, "SELECT max(seq) FROM inputs")[0][0]
        sentence = (
            r"^input \d+ \(card_drawn\) was accepted, but this version of the program has it failed [0-9a-f]{12}, so it cannot go on "
            "with this record: use the version of the program that wrote the record$"
        )
        with pytest.raises(RecordError, match=sentence):
            await start_on(record)


@pytest.mark.parametrize(
    "damage", [None, "DELETE FROM incidents", "UPDATE snapshots SET state = replace(state, 'IS-1', 'IS-2')"]
)
async def test_recovering_writes_nothing(troubled, damage):
    """What a start finds is on the record already, so all that it adds is the start itself."""
    async with table(troubled) as here:
        await take_snapshot(here)
    with edited(troubled) as shell:
        shell.execute(damage or "SELECT 1")
    before = whole(troubled)

    with closing(schema.open_for_writing(troubled)) as connection:
        recover(connection)
        assert connection.total_changes == 0
    assert whole(troubled) == before


async def test_a_start_adds_itself_and_nothing_else(troubled):
    before = whole(troubled)
    await start_on(troubled)

    (added,) = (line for line in whole(troubled) if line not in before)
    assert added.startswith('INSERT INTO "inputs" VALUES')


def whole(record: Path) -> list[str]:
    with closing(sqlite3.connect(record)) as shell:
        return list(shell.iterdump())


async def test_a_kill_between_commit_and_publication_leaves_a_whole_record(tmp_path, monkeypatch):
    record, left = tmp_path / "table.db", tmp_path / "left" / "table.db"
    left.parent.mkdir()
    publish, seen = Publication.publish, []

    def killed(self: Publication, before: TableState, steps: Sequence[Step]) -> None:
        for end in ("", "-wal"):
            shutil.copy(f"{record}{end}", f"{left}{end}")
        found = replay(left, version="0.1.0")
        seen.append(
            (found.difference, found.inputs, found.rounds, steps[-1].seq, steps[-1].state.round.number - 1)
        )
        publish(self, before, steps)

    monkeypatch.setattr(Publication, "publish", killed)
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(2, seats=[1])
        await here.order(CallSupervisor("mei", "a dispute"))
    assert len(seen) == rows(record, "SELECT count(*) FROM inputs")[0][0]
    for difference, inputs, rounds, seq, ended in seen:
        assert (difference, inputs, rounds) == (None, seq, ended)
