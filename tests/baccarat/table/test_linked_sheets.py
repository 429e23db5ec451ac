"""What the sheets say of a progressive's meter, at tables that share one which an authority keeps."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardBooked,
    AwardLocked,
    Posted,
    SettingsChanged,
)
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings
from punto.baccarat.progressive.ledger import Cause, Posting
from punto.baccarat.progressive.money import amount, whole
from punto.baccarat.progressive.settings import LinkedTable, Settings
from punto.baccarat.progressive.shares import Share
from punto.baccarat.progressive.state import Award
from punto.baccarat.table.events import MeterHeard, ServiceStarted, TableAsked
from tests.baccarat.table.linked_floor import AUTHORITY, LinkedFloor, Node, do, linked

ALL = "2D KC 3D JC 4D KH"  # the whole meter
QUARTER = "2H KC 3H JC 4H KD"  # 25% of the meter
THOUSAND = "2H KC 3D JC 4H KD"  # 1000 for 1
NOTHING = "KS 2S 5S 3S 4D 9D"
SEED = 10_000_00
EACH = 20
"""What a wager brings to the meter, in cents."""
TABLES = ("t1", "t2")


def floor_of(**meter: Any) -> LinkedFloor:
    made = LinkedFloor(2, meter)
    made.settle()
    return made


@pytest.fixture
def floor() -> LinkedFloor:
    return floor_of()


def dealt(floor: LinkedFloor, table: str, cards: str, *seats: int) -> None:
    """A game at a table, to the end of its hand."""
    floor.do(table, f"spot {' '.join(map(str, seats or (1,)))}", "start game")
    floor.tables[table].do(f"draw {cards}")
    floor.settle()


def locked_at(floor: LinkedFloor, table: str, *seats: int) -> None:
    """J-POT: the key stays at JPH."""
    floor.do(table, *(f"hand {seat}" for seat in seats or (1,)), "turn jph", "j-pot")


def meter(floor: LinkedFloor) -> int:
    """The primary account, in whole cents."""
    return whole(floor.authority.progressive.books.ledger.primary)


def shown(floor: LinkedFloor) -> set[int]:
    """What the authority and its tables show."""
    nodes = (floor.authority, *floor.tables.values())
    return {node.progressive.books.shown for node in nodes}


def locks(floor: LinkedFloor) -> list[Award]:
    return [each.award for each in floor.authority.entries if isinstance(each, AwardLocked)]


def booked(floor: LinkedFloor) -> list[Award]:
    return [each.award for each in floor.authority.entries if isinstance(each, AwardBooked)]


def postings(floor: LinkedFloor, cause: Cause) -> list[Posting]:
    return [
        each.posting
        for each in floor.authority.entries
        if isinstance(each, Posted) and each.posting.cause is cause
    ]


# --- the meter


def test_the_meter_begins_with_its_seed_and_takes_its_part_of_each_wager_of_each_table(floor):
    assert shown(floor) == {SEED}
    floor.do("t1", "spot 1 2", "start game")
    assert shown(floor) == {SEED + 2 * EACH}
    floor.do("t2", "spot 3", "start game")
    assert shown(floor) == {SEED + 3 * EACH}
    floor.check()


def test_the_reserve_of_the_wagers_of_all_tables_is_hidden_and_added_to_the_seed_of_the_next_meter():
    floor = floor_of(reserve="0.3333%")
    floor.do("t2", "spot 2 3", "start game")
    dealt(floor, "t1", ALL)
    reserve = 3 * 333_300
    assert floor.authority.progressive.books.ledger.reserve == reserve
    assert shown(floor) == {SEED + 3 * EACH}
    locked_at(floor, "t1")
    floor.do("t1", "turn run")

    ledger = floor.authority.progressive.books.ledger
    assert (ledger.primary, ledger.reserve) == (amount(SEED) + reserve, 0)  # no millionth of a cent is lost
    assert shown(floor) == {whole(amount(SEED) + reserve)}
    floor.check()


def test_what_the_display_limit_keeps_off_the_meter_is_the_overflow_whichever_table_it_comes_from():
    floor = floor_of(display_limit=SEED + EACH + 5)
    for table in TABLES:
        floor.do(table, "spot 1", "start game")

    ledger = floor.authority.progressive.books.ledger
    assert (whole(ledger.primary), whole(ledger.overflow)) == (SEED + EACH + 5, EACH - 5)
    assert shown(floor) == {SEED + EACH + 5}
    floor.check()


def test_what_the_meter_has_paid_is_by_tier_over_all_tables(floor):
    for table in TABLES:
        dealt(floor, table, QUARTER)
        locked_at(floor, table)
        floor.do(table, "turn run", "game over")

    paid = {each.tier: each.amount for each in floor.authority.progressive.books.ledger.paid}
    assert paid == {"two_three_four_suited": amount(sum(each.amount for each in booked(floor)))}
    assert len(booked(floor)) == 2


def test_an_adjustment_at_the_authority_is_on_the_meter_of_every_table_with_who_and_why(floor):
    floor.authority.do("add 500")
    floor.settle()

    (posting,) = postings(floor, Cause.INCREASE)
    about = posting.reference
    assert (about.who, about.approved_by, about.reason) == ("eve", "bob", "test")
    assert shown(floor) == {SEED + 500}
    floor.authority.handle(Adjust(Cause.MALFUNCTION, 500, "counted twice", "eve"))
    assert floor.authority.refusals == ["needs_approval"]


def test_an_adjustment_of_the_shared_meter_needs_a_second_person_above_the_houses_threshold():
    floor = floor_of(approval_above=1000_00)
    for cents in (1000_01, 1000_00):
        floor.authority.handle(Adjust(Cause.INCREASE, cents, "a promotion", "eve"))
    floor.settle()

    assert floor.authority.refusals == ["needs_approval"]
    assert shown(floor) == {SEED + 1000_00}


@pytest.mark.parametrize(
    "cause",
    sorted(set(Cause) - {Cause.INCREASE, Cause.MALFUNCTION, Cause.OVER_LIMIT, Cause.RECOVERY_OF_SEED}),
)
def test_the_shared_meter_goes_down_for_no_other_cause_at_any_service(floor, cause):
    order = Adjust(cause, 500, "why not", "eve", "bob")
    for node in (floor.authority, *floor.tables.values()):
        node.handle(order)

    assert floor.authority.refusals == ["not_a_cause"]
    assert [floor.tables[table].refusals for table in TABLES] == [["kept_elsewhere"]] * 2
    assert shown(floor) == {SEED}


def test_what_is_promised_to_an_award_of_any_table_is_not_taken_off_the_meter(floor):
    dealt(floor, "t2", QUARTER)
    locked_at(floor, "t2")
    (award,) = locks(floor)
    free = meter(floor) - award.amount
    for taken in (free + 1, free):
        floor.authority.handle(Adjust(Cause.MALFUNCTION, taken, "a malfunction", "eve", "bob"))

    assert floor.authority.refusals == ["more_than_meter"]
    assert meter(floor) == award.amount


# --- parameters


def changed(floor: LinkedFloor, **changes: Any) -> None:
    """A change of the settings, first at the Game Manager and then by another configuration at a start."""
    before = floor.authority.progressive.books.settings
    after = replace(before, **changes)
    floor.authority.handle(ChangeSettings(after, "a better share", "eve", "bob"))
    other = replace(floor.authority.settings, progressive=replace(before, **changes))
    floor.authority.handle(ServiceStarted("0.1.0", other))


@pytest.mark.parametrize("table", TABLES)
def test_no_parameter_changes_while_a_round_or_an_award_is_open_at_any_table(table, floor):
    expected = []
    for commands, code in (
        (("spot 1", "start game"), "round_open"),
        ((f"draw {QUARTER}",), "round_open"),
        (("hand 1", "turn jph", "j-pot"), "award_open"),
        (("turn run",), "round_open"),
    ):
        for command in commands:
            floor.tables[table].do(command)
            floor.settle()
        changed(floor, contribution="15%")
        floor.authority.do("retire")
        expected += [code] * 3
        assert floor.authority.refusals == expected
    floor.do(table, "game over")
    before = floor.authority.progressive.books.settings
    floor.authority.handle(ChangeSettings(replace(before, contribution="15%"), "a change", "eve", "bob"))
    floor.settle()

    (change,) = [each for each in floor.authority.entries if isinstance(each, SettingsChanged)]
    assert (change.before.contribution, change.after.contribution, change.who) == ("20%", "15%", "eve")
    assert {each.progressive.books.settings.contribution for each in floor.tables.values()} == {"15%"}
    floor.check()


def test_the_display_limit_is_not_set_below_what_the_wagers_of_all_tables_have_brought(floor):
    for table in TABLES:
        dealt(floor, table, NOTHING)
        floor.do(table, "game over")
    settings = floor.authority.progressive.books.settings
    for limit in (SEED + 2 * EACH - 1, SEED + 2 * EACH):
        other = replace(settings, display_limit=limit)
        floor.authority.handle(ChangeSettings(other, "the display is small", "eve", "bob"))

    assert floor.authority.refusals == ["limit_below_meter"]
    assert floor.authority.progressive.books.settings.display_limit == SEED + 2 * EACH


def another(**changes: Any) -> Settings:
    return replace(linked(2), **changes)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(another(progressive="tiger"), id="another progressive"),
        pytest.param(another(tables=(LinkedTable("t1", "mini-baccarat"),)), id="another base game"),
        pytest.param(linked(2, "progressive-1"), id="another pay table"),
        pytest.param(another(procedure="nexus"), id="another procedure"),
    ],
)
def test_a_table_is_not_linked_to_another_progressive_or_to_another_base_game(floor, other):
    table = floor.tables["t1"]
    table.handle(MeterHeard(True, "", None, other))
    table.do("spot 1", "start game")

    assert table.refusals == ["meter_away"]
    assert table.progressive.link is not None
    assert "another pay table, game or procedure" in table.progressive.link.reason
    assert table.progressive.books.settings.progressive == "dragon"


def test_a_meter_is_not_linked_to_a_meter(floor):
    with pytest.raises(ValueError, match="the progressive dragon is not linked to meter-1"):
        Node(AUTHORITY, linked(2, authority="meter-2"))

    linked_itself = floor.tables["t1"]
    linked_itself.handle(TableAsked("t2", "record of t2", 1, ()))
    assert linked_itself.refusals == ["not_authority"]


# --- awards


@pytest.mark.parametrize(
    ("split", "shares"),
    [
        ("winners", {2: 2500_20}),
        ("participants", {1: 833_40, 2: 833_40, 3: 833_40}),
    ],
)
def test_a_percentage_is_shared_by_the_players_of_its_own_table_alone(split, shares):
    floor = floor_of(split=split)
    floor.do("t2", "spot 4", "start game")
    dealt(floor, "t1", QUARTER, 1, 2, 3)
    locked_at(floor, "t1", 2)

    (award,) = locks(floor)
    assert award.shares == tuple(Share(*each) for each in shares.items())


def test_cents_that_cannot_be_shared_go_to_the_dealers_right_at_a_linked_table_too(floor):
    floor.do("t2", "spot 4", "start game")
    dealt(floor, "t1", QUARTER, 1, 3)
    floor.authority.do("add 2")
    locked_at(floor, "t1", 1, 3)

    (award,) = locks(floor)
    assert award.amount == 2500_15
    assert award.shares == (Share(1, 1250_08), Share(3, 1250_07))


@pytest.mark.parametrize("payer", ["tray", "meter"])
def test_fixed_awards_of_two_tables_are_each_players_own_from_the_tray_or_from_the_one_meter(payer):
    floor = floor_of(fixed_awards=payer)
    before = SEED + 4 * EACH
    for table in TABLES:
        dealt(floor, table, THOUSAND, 1, 2)
        locked_at(floor, table, 1, 2)
    for table in TABLES:
        floor.do(table, "turn run")

    assert [(each.table, each.payer, each.amount) for each in booked(floor)] == [
        (table, payer, 2 * 1000_00) for table in TABLES
    ]
    assert {each.shares for each in booked(floor)} == {(Share(1, 1000_00), Share(2, 1000_00))}
    assert shown(floor) == {before - (4 * 1000_00 if payer == "meter" else 0)}
    floor.check()


@pytest.mark.parametrize("order", [("t1", "t2"), ("t2", "t1")])
def test_two_percentage_awards_of_the_same_moment_are_each_of_the_meter_at_their_own_lock(floor, order):
    for table in TABLES:
        dealt(floor, table, QUARTER)
        floor.do(table, "hand 1", "turn jph")
    full = meter(floor)
    for table in TABLES:
        floor.tables[table].do("j-pot")
    for table in order:  # as their requests arrive
        floor.ask(table)
    floor.settle()

    first, second = locks(floor)
    assert [(first.id, first.table), (second.id, second.table)] == [*enumerate(order, 1)]
    assert (first.meter, first.amount) == (full, full // 4)
    assert (second.meter, second.amount) == (full - full // 4, (full - full // 4) // 4)
    floor.check()


def test_an_award_is_fixed_at_its_lock_and_wagers_after_it_feed_the_next_meter(floor):
    dealt(floor, "t1", ALL)
    locked_at(floor, "t1")
    (award,) = locks(floor)
    floor.do("t2", "spot 1 2", "start game")
    assert shown(floor) == {award.amount}  # the won meter stays on every display until it is booked
    floor.do("t1", "turn run")

    (paid,) = booked(floor)
    assert (paid.id, paid.rule, paid.meter, paid.amount, paid.seats) == (
        1,
        "two_three_four_diamonds",
        SEED + EACH,
        SEED + EACH,
        (1,),
    )
    assert (paid.amount, paid.shares) == (award.amount, award.shares)
    assert shown(floor) == {SEED + 2 * EACH}
    floor.check()


# --- Aquarius


def test_jpot_logs_the_award_at_the_authority_and_the_key_in_run_adjusts_the_meter_of_every_table(floor):
    dealt(floor, "t1", QUARTER)
    before = meter(floor)
    locked_at(floor, "t1")

    (award,) = floor.authority.progressive.books.locked
    assert (award.table, award.amount, floor.tables["t1"].step) == ("t1", before // 4, "logged")
    assert shown(floor) == {before}
    floor.do("t1", "turn run")
    assert (floor.authority.progressive.books.locked, floor.tables["t1"].step) == ((), "adjusted")
    assert shown(floor) == {before - award.amount}


def test_after_game_over_the_next_game_of_the_table_is_counted(floor):
    dealt(floor, "t1", QUARTER)
    locked_at(floor, "t1")
    floor.do("t1", "turn run", "game over", "lift 1", "spot 1", "start game")

    assert floor.tables["t1"].refusals == []
    assert floor.tables["t1"].step == "playing"
    assert whole(floor.authority.progressive.books.ledger.contributions) == 2 * EACH


@pytest.mark.parametrize("off", [("t1",), (AUTHORITY,), ("t1", AUTHORITY, "t2")])
def test_power_cuts_between_jpot_and_run_leave_the_award_logged_and_the_meter_not_adjusted(floor, off):
    """A cut after each message of either side."""
    nodes = {AUTHORITY: floor.authority, **floor.tables}

    def cut() -> None:
        for name in off:
            nodes[name].kill()
        floor.asks.clear()
        floor.answers.clear()

    dealt(floor, "t1", QUARTER)
    before = meter(floor)
    t1 = floor.tables["t1"]
    t1.do("hand 1", "turn jph", "j-pot")
    cut()
    assert t1.step == "settling"  # asked, and asked again
    floor.ask("t1")
    floor.take_ask(floor.asks.pop())
    cut()
    assert [each.id for each in floor.authority.progressive.books.locked] == [1]
    assert (t1.step, meter(floor)) == ("settling", before)
    floor.settle()
    cut()
    assert (t1.step, meter(floor), shown(floor)) == ("logged", before, {before})
    t1.do("turn run")
    cut()
    assert (t1.step, meter(floor)) == ("logged", before)
    floor.ask("t1")
    floor.take_ask(floor.asks.pop())
    cut()
    floor.settle()

    (award,) = booked(floor)
    assert (t1.step, meter(floor)) == ("adjusted", before - award.amount)
    assert len(locks(floor)) == 1
    floor.check()


@pytest.mark.parametrize("off", [("t1",), (AUTHORITY,), ("t1", AUTHORITY, "t2")])
def test_jpot_and_run_of_one_signature_are_both_carried_out_whatever_loses_its_power(floor, off):
    """Without a key switch one signature gives J-POT and RUN, and RUN waits for the answer to J-POT."""
    nodes = {AUTHORITY: floor.authority, **floor.tables}
    dealt(floor, "t1", QUARTER)
    before, t1 = meter(floor), floor.tables["t1"]
    t1.do("hand 1", "turn jph", "j-pot", "turn run")
    for _ in range(2):  # J-POT's request and answer, then RUN's
        for name in off:
            nodes[name].kill()
        floor.ask("t1")
        floor.take_ask(floor.asks.pop())
        floor.answer("t1")
        for answer in floor.answers:
            floor.take_answer(*answer)
        floor.answers.clear()

    (award,) = booked(floor)
    assert (t1.step, meter(floor)) == ("adjusted", before - award.amount)
    floor.check()


def test_a_logged_award_is_backed_out_only_at_the_game_manager_of_the_authority_with_a_second_person(floor):
    t1, kept = floor.tables["t1"], floor.authority
    dealt(floor, "t1", QUARTER)
    before = meter(floor)
    locked_at(floor, "t1")
    t1.do("j-pot", "hand 1", "back out 1")
    kept.do("back out 1")
    floor.do("t1", "turn run")
    kept.handle(BackOut(1, "the wrong seat", "eve"))
    assert t1.refusals == ["already_confirmed", "already_confirmed", "kept_elsewhere"]
    assert kept.refusals == ["not_booked", "needs_approval"]

    kept.do("back out 1")
    floor.settle()
    (back,) = [each for each in kept.entries if isinstance(each, AwardBackedOut)]
    assert (back.who, back.approved_by, back.reason) == ("eve", "bob", "a mistake")
    assert shown(floor) == {before}
    assert t1.step == "settling"
    floor.check()


# --- Nexus Command


@pytest.mark.parametrize("off", [("t1",), (AUTHORITY,), ("t1", AUTHORITY)])
def test_with_nexus_no_power_cut_finds_an_award_logged_and_the_meter_not_adjusted(off):
    floor = floor_of(procedure="nexus")
    nodes = {AUTHORITY: floor.authority, **floor.tables}
    dealt(floor, "t1", QUARTER)
    before, t1 = meter(floor), floor.tables["t1"]
    seen = []

    def cut() -> None:
        for name in off:
            nodes[name].kill()
        floor.check()  # with Nexus never an award that is only logged
        assert len(locks(floor)) == len(booked(floor))
        seen.append((t1.step, before - meter(floor)))

    t1.do("hand 1", "confirm")
    cut()
    t1.do("swipe supervisor")
    cut()
    floor.ask("t1")
    floor.take_ask(floor.asks.pop())
    cut()
    floor.settle()
    cut()
    floor.do("t1", "end game")

    paid = before // 4
    assert seen == [("confirmed", 0), ("confirmed", 0), ("confirmed", paid), ("adjusted", paid)]
    assert t1.refusals == []


def test_the_level_of_the_card_is_by_the_award_as_the_authority_fixes_it():
    floor = floor_of(procedure="nexus", executive_from=2500_00)
    t1 = floor.tables["t1"]
    dealt(floor, "t1", QUARTER)
    floor.do("t1", "hand 1", "confirm", "swipe supervisor")
    (alarm,) = t1.state.alarms
    assert (alarm.code, "needs an executive" in alarm.text, t1.step) == ("meter_refused", True, "confirmed")
    assert locks(floor) == []

    floor.do("t1", "swipe executive")
    (award,) = booked(floor)
    assert (award.card, award.who, t1.step) == ("executive", "eve", "adjusted")


# --- refusals


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        (("spot 2",), "after_start"),
        (("start game",), "already_started"),
        ((f"draw {QUARTER}", "hand 2"), "no_wager"),
        ((f"draw {NOTHING}", "hand 1"), "not_won"),
        ((f"draw {QUARTER}", "hand 1", "j-pot"), "key_in_run"),
        ((f"draw {QUARTER}", "turn jph", "j-pot"), "no_hand_selected"),
        ((f"draw {QUARTER}", "hand 1", "turn jph", "game over"), "key_in_jph"),
        ((f"draw {QUARTER}", "hand 1", "game over"), "award_unconfirmed"),
    ],
)
def test_what_a_linked_table_refuses_is_not_asked_of_its_authority(floor, commands, code):
    t1 = floor.tables["t1"]
    floor.do("t1", "spot 1", "start game")
    before = floor.authority.progressive.books
    for command in commands:
        do(t1, command)

    assert t1.refusals == [code]
    assert floor.waiting == []
    floor.settle()
    assert floor.authority.progressive.books == before


@pytest.mark.parametrize(
    ("procedure", "commands", "code"),
    [
        ("aquarius", ("hand 1", "turn jph", "j-pot", "j-pot"), "already_confirmed"),
        ("aquarius", ("hand 1", "turn jph", "j-pot", "game over"), "key_in_jph"),
        ("nexus", ("hand 1", "confirm", "end game"), "award_unconfirmed"),
        ("nexus", ("hand 1", "confirm", "confirm"), "already_confirmed"),
        ("nexus", ("hand 1", "confirm", "swipe supervisor", "swipe supervisor"), "already_confirmed"),
        ("nexus", ("hand 1", "confirm", "swipe supervisor", "confirm"), "already_confirmed"),
    ],
)
def test_an_award_of_a_linked_table_is_confirmed_once(procedure, commands, code):
    floor = floor_of(procedure=procedure)
    dealt(floor, "t1", QUARTER)
    *accepted, last = commands
    floor.do("t1", *accepted)
    before = floor.authority.progressive.books
    floor.do("t1", last)

    assert floor.tables["t1"].refusals == [code]
    assert floor.authority.progressive.books == before
