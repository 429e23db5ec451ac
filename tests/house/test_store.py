"""The house's store: what tables told is there once, and its sums are the tables' own meters."""

import sqlite3
import threading
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select, text

from punto.baccarat.table.meters import of_game
from punto.configs.game_files import load_game
from punto.house import databases, reports, schema
from punto.house.people import signed_on
from punto.house.reports import FloorReport, ShiftReport, floor_report, shift_report
from punto.house.rows import TooManyRoundsError
from punto.house.store import GapError, Store, StoreError
from punto.house.taken import TakenIncidents
from punto.house.tally import as_settled
from punto.house.watch import Watch
from punto.messages.building import timestamp
from punto.messages.requests import RecordedIncident
from tests.baccarat.table.croupier import Croupier
from tests.deadline import DEADLINE, pauses
from tests.house.conftest import CALENDAR
from tests.house.tables import BEGAN, played, told
from tests.postgresql import waits
from tests.share import soaked


def rows(store: Store, table) -> list[tuple[Any, ...]]:
    with store.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select(table))]


def summed(store: Store, table, *keys: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The sums of a table over all days, by these columns."""
    values = [each for each in table.columns if not each.primary_key]
    asked = select(*(table.c[key] for key in keys), *(func.sum(each) for each in values)).group_by(
        *(table.c[key] for key in keys)
    )
    with store.engine.connect() as connection:
        found = {tuple(row[: len(keys)]): tuple(row[len(keys) :]) for row in connection.execute(asked)}
    return {key: value for key, value in found.items() if any(value)}


def assert_is_what_the_table_counted(store: Store, at) -> None:
    meters = of_game(at.state.history.meters, at.settings.game)
    handles = {
        (each.wager,): (each.wagers, each.staked, each.returned, each.squares, float(each.rounded))
        for each in meters.handle
    }
    assert summed(store, schema.HANDLES, "wager") == handles
    hits = {(each.wager or "", each.rule): (each.hits,) for each in meters.hits}
    assert summed(store, schema.HITS, "wager", "rule") == hits


@pytest.mark.parametrize("seed", [0, *soaked(1, 2)])
def test_the_sums_are_what_the_table_counted_itself(open_store, seed):
    at = played(seed, 120)
    store = open_store()
    store.take(told(at.rounds, at))

    assert_is_what_the_table_counted(store, at)
    statuses = Counter(each.status for each in at.rounds)
    taken_back = sum(each.status == "correction" and each.winner is None for each in at.rounds)
    assert statuses["correction"] > taken_back > 0
    statuses.update({"played": -taken_back, "void": taken_back})
    assert summed(store, schema.COUNTS, "status") == {(name,): (n,) for name, n in statuses.items()}


@pytest.mark.parametrize("seed", [0, *soaked(*range(1, 20))])
def test_rounds_are_there_once_however_they_come(tmp_path, seed):
    """In any pieces, repeated, with gaps, and with the program started again in between."""
    dice = Random(seed)
    at = played(7, 60)
    all_told = told(at.rounds, at)
    url = f"sqlite:///{tmp_path}/store.db"
    store, has = Store(url, CALENDAR), 0
    while has < len(all_told):
        first = dice.randint(0, min(has + 2, len(all_told) - 1))
        last = min(first + dice.randint(1, 12), len(all_told))
        if first > has:
            with pytest.raises(GapError):
                store.take(all_told[first:last])
        else:
            store.take(all_told[first:last])
            has = max(has, last)
        if dice.random() < 0.2:
            store.close()
            store = Store(url, CALENDAR)
        assert store.cursors()["table-1", "aa"].rounds == has if has else store.cursors() == {}
    assert [row[2] for row in rows(store, schema.ROUNDS)] == list(range(1, len(all_told) + 1))
    assert_is_what_the_table_counted(store, at)
    store.close()


def test_a_round_counts_on_its_gaming_day_and_a_correction_on_the_day_of_its_round(open_store):
    at = played(1, 120)
    store = open_store()
    store.take(told(at.rounds, at))

    with store.engine.connect() as connection:
        by_day = dict(
            connection.execute(select(schema.ROUNDS.c.day, func.count()).group_by(schema.ROUNDS.c.day)).all()
        )
    assert by_day == {date(2026, 11, 23): 59, date(2026, 11, 24): len(at.rounds) - 59}


def test_a_table_that_begins_a_new_record_is_counted_on(open_store):
    at = played(2, 20)
    store = open_store()
    store.take([*told(at.rounds, at), *told(at.rounds, at, record="bb")])

    assert {key: each.rounds for key, each in store.cursors().items()} == {
        ("table-1", "aa"): len(at.rounds),
        ("table-1", "bb"): len(at.rounds),
    }


def test_a_games_hits_are_counted_when_it_becomes_known(open_store):
    at = played(3, 60)
    unknown = replace(at.settings.game, name="own_game")
    store = open_store()
    store.take([each._replace(game="own_game") for each in told(at.rounds, at)])
    assert rows(store, schema.HITS) == []

    other = open_store()
    store.learn(unknown)
    assert_is_what_the_table_counted(store, at)
    store.learn(unknown)
    other.learn(unknown)
    open_store().learn(unknown)
    assert_is_what_the_table_counted(store, at)


def test_the_last_round_of_a_record_has_the_digest_that_it_had_when_it_was_taken_in(open_store):
    store, at = open_store(), played(8, 40)
    rounds = told(at.rounds, at)
    assert store.last_digests() == {}
    assert {each.round.status for each in rounds} >= {"played", "void", "correction"}
    for each in rounds:
        store.take([each])
        assert store.last_digests() == {("table-1", "aa"): {each.round.round: each.digest}}
    store.take(told(at.rounds[:1], at, table="table-2", record="bb"))
    assert len(store.last_digests()) == 2
    assert len({each.digest for each in rounds}) == len(rounds)


def test_nothing_is_taken_in_if_anything_is_not(open_store):
    at = played(4, 30)
    store = open_store()
    first, second = told(at.rounds[:5], at), told(at.rounds[:5], at, table="table-2")
    with pytest.raises(GapError):
        store.take([*first, second[0], second[2]])
    assert rows(store, schema.ROUNDS) == rows(store, schema.COUNTS) == []
    assert store.cursors() == {}


def test_a_correction_after_a_start_finds_its_round(open_store):
    at = played(5, 15)
    for each in told(at.rounds, at):
        store = open_store()
        store.take([each])
        store.close()
    assert_is_what_the_table_counted(open_store(), at)


def test_programs_that_take_in_by_turns_count_as_one(open_store):
    at = played(5, 40)
    programs = [open_store(), open_store()]
    for number, each in enumerate(told(at.rounds, at)):
        programs[number % 2].take([each])

    for each in programs:
        assert_is_what_the_table_counted(each, at)


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_round_that_is_taken_back_twice_is_taken_out_once(open_store, at_once):
    """No table tells this, but a program with a table's password can."""
    at = Croupier.at_betting(game_name="dragon-bonus-1")
    at.do("wager 1 player 1000", "draw KS 2S 9H 3S", "void round")
    (hand, back) = at.rounds
    again = told([hand, back, replace(back, round=3), replace(back, round=4)], at)
    store = open_store()
    store.take(again[:at_once])
    store.take(again[at_once:])

    assert summed(store, schema.HITS, "wager", "rule") == {}
    assert summed(store, schema.HANDLES, "wager")["player",][:2] == (0, 0)


@pytest.mark.parametrize("at_once", [1, 9])
def test_only_a_correction_changes_what_a_round_counts(open_store, at_once):
    at = Croupier.at_betting(game_name="dragon-bonus-1")
    at.do("wager 1 player 1000", "draw KS 2S 9H 3S", "void round")
    (hand, back) = at.rounds
    other = replace(hand, round=2, corrects=1)
    store, rounds = (
        open_store(),
        told([hand, other, replace(back, round=3), replace(back, round=4, corrects=2)], at),
    )
    while rounds:
        store.take(rounds[:at_once])
        rounds = rounds[at_once:]

    assert summed(store, schema.HITS, "wager", "rule") == {}
    assert summed(store, schema.HANDLES, "wager") == {}


def test_a_game_that_another_program_learned_is_known_to_the_one_that_takes_in(open_store):
    at = played(3, 60)
    own = replace(at.settings.game, name="own_game")
    rounds = [each._replace(game="own_game") for each in told(at.rounds, at)]
    store, other = open_store(), open_store()
    other.take(rounds[:10])
    other.learn(own)

    store.take(rounds[10:])
    store.learn(own)

    assert_is_what_the_table_counted(store, at)


def test_rounds_that_come_while_their_game_is_learned_are_counted(url, open_store):
    """The lead was lost during the hour in which many rounds are counted, and another program has it."""
    if url.startswith("sqlite"):
        pytest.skip("one transaction at a time writes")
    at, reached, go_on = played(3, 60), threading.Event(), threading.Event()
    own = replace(at.settings.game, name="own_game")
    rounds = [each._replace(game="own_game") for each in told(at.rounds, at)]

    class Slow(Store):
        def _add_sums(self, connection, sums):
            reached.set()
            assert go_on.wait(DEADLINE)
            super()._add_sums(connection, sums)

    store, slow = open_store(), Slow(url, CALENDAR)
    store.take(rounds[:10])
    learning = threading.Thread(target=slow.learn, args=[own])
    learning.start()
    assert reached.wait(DEADLINE)
    taking = threading.Thread(target=store.take, args=[rounds[10:]])
    taking.start()
    for _ in pauses():
        with store.reading() as connection:
            if waits(connection) or not taking.is_alive():
                break
    go_on.set()
    taking.join()
    learning.join()
    slow.close()

    assert_is_what_the_table_counted(store, at)


def test_what_a_program_remembers_is_read_again_when_it_wins_the_lead(open_store):
    own = replace(load_game("dragon-bonus-1"), name="own_game")
    key = own.name, own.rules_digest
    store, other = open_store(), open_store()
    store.learn(own)
    assert other.game(*key) is None

    assert other.leads()
    assert other.game(*key) == own

    if not store.is_postgresql:
        return
    with store.writing() as connection:  # a backup is restored, and all connections are lost
        connection.execute(text("DELETE FROM games"))
    lead: Any = other._lead
    pid = lead._connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    with store.reading() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend({pid})"))
    with pytest.raises(StoreError):
        other.leads()
    for _ in pauses():  # the server takes the lock back when its process has ended
        if other.leads():
            break
    assert other.game(*key) is None


def test_a_figure_that_cannot_be_does_not_hide_the_others(open_store):
    at, other = played(4, 60), played(5, 60)
    store = open_store()
    store.take(told(at.rounds, at) + told(other.rounds, other, "table-2"))
    with store.writing() as connection:
        connection.execute(
            text("UPDATE hits SET hits = -1 WHERE wager = '' AND rule = 'natural' AND record_id = :id"),
            {"id": store.cursors()["table-2", "aa"].id},
        )
    watch = Watch(store)

    report = floor_report(store, date(2026, 11, 1), date(2026, 12, 1))
    watch.look(BEGAN + timedelta(hours=12), {})

    wrong = [
        (table.table, each.rule)
        for table in report.tables
        for each in table.meters.counts
        if each.evidence is None
    ]
    assert wrong == [("table-2", "natural")]
    assert [*watch.unwatched] == ["table-2"]


def test_the_migrations_make_the_tables_that_the_program_knows(open_store):
    store = open_store()
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": _is_whole})
        assert compare_metadata(context, schema.METADATA) == []


def _is_whole(_object: object, name: str, kind: str, *_: object) -> bool:
    """Whether it is not a partition, or of one."""
    return not (kind == "table" and name.rpartition("_")[2].isdecimal())


@pytest.mark.parametrize("version", ["0002", "9999"])
def test_a_store_of_another_version_is_not_touched(open_store, url, version):
    store = open_store()
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    with pytest.raises(StoreError, match="another version"):
        Store(url, CALENDAR)


def test_a_start_waits_until_another_program_has_made_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.1)
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(1.0, other.execute, ["COMMIT"])
        timer.start()
        store = Store(f"sqlite:///{path}", CALENDAR)
        timer.join()
    assert store.cursors() == {}
    store.close()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nothing", "write sqlite"),
        ("mysql://here/there", "write sqlite"),
        ("sqlite:////no/such/folder/s.db", "unable to open"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address, message):
    with pytest.raises(StoreError, match=message):
        Store(address, CALENDAR)


def test_who_is_signed_on_follows_from_the_entrances(open_store):
    store = open_store()

    def entrance(seq: int, kind: str, who: str | None) -> RecordedIncident:
        ts = timestamp(BEGAN - timedelta(minutes=seq))  # the clock is set back again and again
        return RecordedIncident(
            seq=seq, place=0, ts=ts, kind=kind, source="console", who=who, text="", where=None
        )

    told = [
        entrance(2, "session_begun", "ann"),
        entrance(3, "session_begun", "bob"),
        entrance(5, "session_ended", "ann"),
        entrance(9, "service_started", None),
        entrance(11, "session_begun", "eve"),
    ]
    for until, people in ((3, ("ann", "bob")), (5, ("bob",)), (9, ()), (11, ("eve",))):
        after = max((each.incidents for each in store.cursors().values()), default=0)
        new = tuple(each for each in told if after < each.seq <= until)
        store.take_incidents([TakenIncidents("table-1", "aa", False, after, until, new)])
        assert signed_on(store, date(2026, 11, 1)) == {"table-1": people}
    with pytest.raises(GapError):
        store.take_incidents([TakenIncidents("table-1", "aa", False, 5, 11, ())])


def test_the_report_of_a_shift_over_all_rounds_is_the_report_of_their_days(open_store):
    at, other = played(4, 60), played(5, 60)
    store = open_store()
    store.take(told(at.rounds, at) + told(other.rounds, other, "table-2"))

    whole = shift_report(store, 24, BEGAN + timedelta(hours=12))
    by_days = floor_report(store, date(2026, 11, 1), date(2026, 12, 1))
    assert len(whole.tables) == 2
    assert (_counted(whole), whole.wagers) == (_counted(by_days), by_days.wagers)


def _counted(report: FloorReport | ShiftReport) -> list[tuple[Any, ...]]:
    return [
        (each.table, each.meters, {status: n for status, n in each.rounds.items() if n})
        for each in report.tables
    ]


def test_the_report_of_a_shift_has_its_rounds_only_and_no_correction_of_one_before(open_store):
    at = played(6, 120)
    rounds = told(at.rounds, at)
    begins = next(each for each in rounds[5:] if each.round.status == "correction").ts
    ends = begins + timedelta(hours=1)
    store = open_store()
    store.take(rounds)
    (shown,) = shift_report(store, 1, ends).tables

    within = [each.round for each in rounds if begins <= each.ts < ends]
    corrections = [each for each in within if each.status == "correction"]
    settled = [
        as_settled(each, [later for later in corrections if later.corrects == each.round])
        for each in within
        if each.status == "played"
    ]
    assert within[0].corrects not in {each.round for each in within}
    assert shown.rounds["played"] == len(settled) - settled.count(None)
    assert shown.rounds["correction"] == len(corrections)
    assert sum(each.handle for each in shown.meters.wagers) == sum(
        wager.stake for each in settled if each is not None for wager in each.settlements
    )


def test_too_many_rounds_for_a_shift_are_refused(open_store, monkeypatch):
    at = played(4, 20)
    store = open_store()
    store.take(told(at.rounds, at))
    monkeypatch.setattr(reports, "MOST_ROUNDS", 10)

    with pytest.raises(TooManyRoundsError, match="rounds are more than 10"):
        shift_report(store, 24, BEGAN + timedelta(hours=12))


def test_a_report_holds_up_nothing_and_is_of_one_moment(open_store):
    at = played(2, 20)
    store = open_store()
    store.take(told(at.rounds[:10], at))
    count = select(func.count()).select_from(schema.ROUNDS)
    with store.reading() as connection:
        assert connection.execute(count).scalar_one() == 10
        store.take(told(at.rounds[:15], at))
        if not store.is_postgresql:
            assert connection.execute(count).scalar_one() == 10
