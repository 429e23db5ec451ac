"""The books of the house: each day is in the store once, and the page's data say what is known, what is missing and what is wrong."""

import csv
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from punto.baccarat.progressive.ledger import Cause
from punto.house import schema
from punto.house.books import HouseProgressive, Kept, books_sheet, house_books
from punto.house.live import Floor
from punto.house.store import GapError, Store
from punto.messages.books import Accounts, Books, Change
from punto.messages.building import timestamp
from punto.messages.models import MeterAward
from punto.messages.requests import BooksRequest
from punto.runtime.csv_cells import csv_lines
from punto.runtime.gaming_days import Calendar
from tests.house.bookkeeping import A_DAY, CALENDAR, CENT, Keeper, taken

MONDAY, TODAY = date(2026, 11, 16), date(2026, 11, 20)
NOW = CALENDAR.begins(TODAY) + timedelta(hours=9)


def stored(store: Store) -> list[tuple[Any, ...]]:
    asked = select(schema.BOOKS.c.day, schema.BOOKS.c.progressive, schema.BOOKS.c.answer)
    with store.reading() as connection:
        return [tuple(row) for row in connection.execute(asked.order_by(schema.BOOKS.c.day))]


def kept(keeper: Keeper, table: str = "meter-1", *, tells: bool = True, **told: Any) -> Kept:
    """The meter as it is now. If the service `tells`, with the books of the open day."""
    floor = Floor(lambda: 0.0)
    floor.take(table, keeper.meter(table, ("t1", "t2")), retained=False)
    if tells:
        floor.take(table, keeper.answer(BooksRequest(id="b", day=keeper.today)), retained=False)
    return Kept(floor.kept(), **told)


def of_the_house(store: Store, now: Kept, day: date | None = None) -> HouseProgressive:
    (found,) = house_books(store, now, NOW, day).progressives
    return found


@pytest.fixture
def keeper() -> Keeper:
    """A meter that was put into service on the Tuesday; it is Friday."""
    return Keeper(MONDAY + A_DAY, TODAY)


# --- the store


def test_the_books_of_a_day_are_there_once_whatever_comes(open_store, keeper):
    store = open_store()
    told = taken(keeper)
    store.take_books(told[:1])
    for again in (told[:1], told[:2], told[2:]):
        with pytest.raises(GapError):
            store.take_books(again)
    open_store().take_books(told[1:])

    assert store.cursors()["meter-1", "aa"].books == TODAY - A_DAY
    assert [(day, name) for day, name, _ in stored(store)] == [
        (each.books.day.day, "dragon") for each in told
    ]
    assert [Books.model_validate_json(answer) for *_, answer in stored(store)] == [
        each.books for each in told
    ]


def test_a_day_without_a_progressive_in_service_moves_the_cursor_alone(open_store, keeper):
    store = open_store()
    store.take_books(taken(keeper, MONDAY - A_DAY, MONDAY))

    assert (store.cursors()["meter-1", "aa"].books, stored(store)) == (MONDAY, [])


# --- the week


def test_a_week_has_every_day_with_its_figures_and_what_is_known_of_it(open_store, keeper):
    store = open_store()
    store.take_books(taken(keeper, last=TODAY - 2 * A_DAY))
    found = of_the_house(store, kept(keeper))

    assert [(each.day.day, each.state) for each in found.days] == [
        (16, "unused"),
        (17, "ended"),
        (18, "ended"),
        (19, "missing"),
        (20, "open"),
        (21, "to_come"),
        (22, "to_come"),
    ]
    assert found.warnings == (
        "19 Nov 2026: the books of this day are missing: its service is away or did not answer",
    )
    tuesday, friday = found.days[1].figures, found.days[4].figures
    assert tuesday is not None
    assert friday is not None
    wagers = keeper.wagers(MONDAY + A_DAY)
    assert (tuesday.wagers, tuesday.staked, tuesday.seeded) == (wagers, 100 * wagers, 10_000_00 * CENT)
    assert (tuesday.contributed, tuesday.to_reserve) == (wagers * 21 * CENT, wagers * CENT)
    assert (tuesday.meter, tuesday.reserve) == (10_000_00 * CENT + wagers * 20 * CENT, wagers * CENT)
    assert (friday.meter, friday.wagers) == (keeper.balance(TODAY + A_DAY).primary, keeper.wagers(TODAY))
    assert found.books == keeper.books(TODAY)


def test_each_change_is_in_the_figure_of_its_cause(open_store, keeper):
    moved = {
        Cause.AWARD: Accounts(primary=-500 * CENT, paid=500 * CENT),
        Cause.BACK_OUT: Accounts(primary=200 * CENT, paid=-200 * CENT),
        Cause.INCREASE: Accounts(adjustments=70 * CENT, primary=70 * CENT),
        Cause.MALFUNCTION: Accounts(adjustments=-30 * CENT, primary=-30 * CENT),
    }
    keeper.extra[TODAY] = tuple(Change(cause=cause, moved=each) for cause, each in moved.items())
    figures = of_the_house(open_store(), kept(keeper)).days[4].figures

    assert figures is not None
    assert (figures.awarded, figures.put_back, figures.adjusted) == (500 * CENT, 200 * CENT, 40 * CENT)


def test_the_deposit_is_that_of_the_week_that_has_ended(open_store, keeper):
    """A day that was told when its week had ended has the whole week; the last day that was told in time has it so far."""
    store, sunday = open_store(), MONDAY - A_DAY
    early = Keeper(MONDAY - 6 * A_DAY, TODAY)
    store.take_books(taken(early, MONDAY - 6 * A_DAY, sunday - A_DAY, told_on=sunday - A_DAY))
    so_far = of_the_house(store, kept(early), sunday).week
    store.take_books(taken(early, sunday, sunday, after=sunday - A_DAY))
    whole = of_the_house(store, kept(early), MONDAY - 4 * A_DAY).week

    assert so_far is not None
    assert whole is not None
    assert (so_far.state, whole.state) == ("open", "ended")
    assert whole.progressives[0].end == early.balance(MONDAY).held
    found = of_the_house(store, kept(early))
    this = found.week
    assert this is not None
    assert (this.first, this.state, found.week_as_of) == (MONDAY, "open", timestamp(NOW - timedelta(hours=1)))
    assert this.progressives[0].end == early.balance(TODAY + A_DAY).held


def test_a_count_that_was_entered_later_is_with_the_day_that_it_is_of(open_store, keeper):
    tuesday = MONDAY + A_DAY
    keeper.counts[tuesday + 2 * A_DAY] = {tuesday: 100 * keeper.wagers(tuesday) - 500}
    store = open_store()
    store.take_books(taken(keeper, told_on=None))
    found = of_the_house(store, kept(keeper), tuesday)

    (row,) = [each for each in stored(store) if each[0] == tuesday]
    first_told = Books.model_validate_json(row[2]).reconciliation.progressives[0].coins
    assert (first_told.counted, first_told.difference) == (None, None)
    assert found.books is not None
    (compared,) = found.books.reconciliation.progressives
    assert (compared.coins.difference, compared.coins.who) == (-500, "Eve")
    assert found.days[1].coins == compared.coins
    assert found.warnings == ("17 Nov 2026: 5.00 USD of the coins are missing: count again",)


# --- what is wrong


def test_books_that_do_not_agree_are_reported(open_store, keeper):
    keeper.spoiled.add(TODAY - A_DAY)
    store = open_store()
    store.take_books(taken(keeper))
    found = of_the_house(store, kept(keeper))

    assert [each.balanced for each in found.days] == [None, True, True, False, True, None, None]
    assert found.warnings == (
        "19 Nov 2026: the ledger and the record differ: keep the record as it is, and run punto replay to find the change",
    )


def test_a_record_that_was_restored_from_a_backup_is_reported_by_the_first_day_that_does_not_go_on(
    open_store, keeper
):
    store = open_store()
    store.take_books(taken(keeper, last=TODAY - 2 * A_DAY))
    restored = Keeper(keeper.first, TODAY)
    restored.extra[TODAY - 2 * A_DAY] = (
        Change(cause=Cause.INCREASE, moved=Accounts(adjustments=CENT, primary=CENT)),
    )
    store.take_books(taken(restored, TODAY - A_DAY, TODAY - A_DAY, after=TODAY - 2 * A_DAY))
    (warning,) = of_the_house(store, kept(restored)).warnings

    assert warning.startswith("19 Nov 2026: the books do not begin with the amounts")


def test_another_calendar_and_a_changed_clock_and_an_open_award_are_reported(open_store, keeper):
    store = open_store()
    (told,) = taken(keeper, TODAY - A_DAY, TODAY - A_DAY, after=None)
    day = told.books.day
    accrual = day.progressives[0].model_copy(update={"open_awards": (3, 4), "explained": False})
    begins = timestamp(CALENDAR.begins(TODAY - A_DAY) + timedelta(hours=1))
    day = day.model_copy(update={"begins": begins, "elsewhere": 2, "progressives": (accrual,)})
    store.take_books([told._replace(books=told.books.model_copy(update={"day": day}))])
    found = of_the_house(store, kept(keeper, reasons={"meter-1": "the record cannot be read"}))

    assert [each.split(": ")[1] for each in found.warnings if "19 Nov 2026" in each] == [
        "start and changes do not add up to the end",
        "awards that were locked and not booked by the end of the day",
        "the clock was changed",
        "the service's gaming day begins at another time than the house's",
    ]
    assert found.warnings[-1] == "the service meter-1 does not tell its books: the record cannot be read"
    assert found.days[3].balanced is False


def test_a_day_that_ended_while_its_service_was_away_is_shown_as_it_was_told_last(open_store, keeper):
    store = open_store()
    store.take_books(taken(keeper, last=TODAY - 2 * A_DAY))
    yesterday = Keeper(keeper.first, TODAY - A_DAY)
    found = of_the_house(store, kept(yesterday))

    assert [each.state for each in found.days[2:5]] == ["ended", "open", "open"]
    assert found.days[3].figures is not None
    assert found.days[4].figures is None
    assert found.warnings == (
        "19 Nov 2026: the day has ended, and its service has not told its last books yet",
    )


def test_an_answer_about_a_day_that_has_ended_does_not_take_the_place_of_the_open_day(keeper):
    floor = Floor(lambda: 0.0)
    floor.take("meter-1", keeper.meter("meter-1"), retained=False)
    for day in (TODAY, TODAY - A_DAY):
        floor.take("meter-1", keeper.answer(BooksRequest(id="b", day=day)), retained=False)
    (found,) = floor.kept()

    assert found.books is not None
    assert found.books.books.day.day == TODAY


# --- which progressives


def test_a_meter_that_is_kept_now_is_first_and_an_earlier_record_has_its_own_books(open_store, keeper):
    store = open_store()
    old = Keeper(keeper.first, TODAY, record="an old one")
    store.take_books(taken(old, last=keeper.first + A_DAY))
    now = kept(keeper, tells=False)
    new, earlier = house_books(store, now, NOW, None).progressives

    assert (new.record, new.name, new.title) == ("aa", "Meter 1", "Dragon Bonus Progressive")
    assert (earlier.record, earlier.meter, earlier.title) == ("an old one", None, "Dragon")
    assert [each.state for each in earlier.days[:5]] == ["unused", "ended", "ended", "unused", "unused"]
    assert earlier.warnings == ()
    assert [each.record for each in house_books(store, now, NOW, MONDAY - A_DAY).progressives] == ["aa"]


def test_a_meter_has_its_last_award_and_its_linked_tables(open_store, keeper):
    award = MeterAward(
        award=1,
        rule="top",
        title="Player wins",
        amount=1_000_000,
        table="t1",
        round=12,
        seats=(2, 5),
        whole_meter=True,
        state="locked",
        won=timestamp(NOW),
    )
    floor = Floor(lambda: 0.0)
    told = keeper.meter("meter-1", ("t1", "t2"), award)
    floor.take("meter-1", told, retained=False)
    floor.take("t1", told.model_copy(update={"step": "award_locked"}), retained=False)
    floor.take("t2", keeper.meter("t2"), retained=False)
    found, other = house_books(open_store(), Kept(floor.kept()), NOW).progressives

    assert found.meter is not None
    assert found.meter.award == award
    assert (found.meter.live, found.meter.phase, found.table) == (True, "open", "meter-1")
    assert [(each.table, each.step) for each in found.tables] == [("t1", "award_locked"), ("t2", "betting")]
    assert not any(each.live for each in found.tables)  # their states have not come
    assert other.table == "t2"


# --- downloads


@pytest.mark.parametrize(
    ("sheet", "lines"),
    [
        ("day", ["start", "seed", "contribution", "end"]),
        ("week", ["start", "contribution", "end", "carried_in", "carried_out", "deposit"]),
        ("reconciliation", ["contributions", "coins", "from_tray"]),
    ],
)
def test_a_sheet_has_the_rows_of_all_progressives(open_store, keeper, sheet, lines):
    store = open_store()
    other = Keeper(keeper.first, TODAY, progressive="tiger")
    store.take_books(taken(keeper))
    store.take_books(taken(other, table="=meter"))
    zone = Calendar.of().zone
    lines_of = csv_lines(books_sheet(house_books(store, Kept(), NOW, keeper.first), sheet, zone))

    named = [*csv.DictReader(lines_of)]
    assert {each["kept_by"] for each in named} == {"meter-1", "'=meter"}
    for keeper_, name in (("meter-1", "dragon"), ("'=meter", "tiger")):
        own = [each for each in named if each["kept_by"] == keeper_]
        assert {each["progressive"] for each in own} == {name}
        assert [each.get("line", each.get("what")) for each in own] == lines


def test_without_a_progressive_there_is_an_empty_sheet(open_store):
    assert list(books_sheet(house_books(open_store(), Kept(), NOW), "day", CALENDAR.zone)) == []
    assert datetime.fromisoformat(house_books(open_store(), Kept(), NOW).at) == NOW
