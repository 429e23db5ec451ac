"""Which books are asked for, over a network that loses and delays, between crashes of the Game Manager, day after day."""

from datetime import date
from random import Random

import pytest

from punto.house.book_days import (
    BOOKS_ANSWER_SECONDS,
    MOST_DAYS,
    OPEN_EVERY_SECONDS,
    OPEN_TIMES,
    BookDays,
)
from punto.house.following import Following
from punto.house.taken import Cursor, TakenBooks
from punto.messages.requests import BooksRequest, BooksResponse
from tests.house.bookkeeping import A_DAY, Keeper
from tests.house.told import Told
from tests.share import soaked

FIRST = date(2026, 10, 28)


class House:
    """The store, and what is followed since the program was started. Each second the meter comes, if the service is there."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.stored: list[TakenBooks] = []
        self.now = 0.0
        self.there = True
        self.start()

    def start(self) -> None:
        taken = self.stored[-1].books.day.day if self.stored else None
        self.days = BookDays(self.keeper.record, taken, self.keeper.today)

    def asks(self, seconds: float = 1) -> BooksRequest | None:
        self.now += seconds
        if self.there:
            self.days.hear_meter(self.keeper.today)
        return self.days.to_ask(self.now)

    def hears(self, answer: BooksResponse) -> None:
        found = self.days.hear("meter-1", answer)
        if found is not None:
            assert found.after == (self.stored[-1].books.day.day if self.stored else None)
            self.stored.append(found)

    def settle(self) -> None:
        """Until all that has ended is stored, and then a while longer."""
        for _ in range(3 * MOST_DAYS):
            if (asked := self.asks()) is not None:
                self.hears(self.keeper.answer(asked))

    @property
    def has(self) -> list[date]:
        return [each.books.day.day for each in self.stored]


def days(first: date, last: date) -> list[date]:
    return [first + n * A_DAY for n in range((last - first).days + 1)]


@pytest.mark.parametrize("seed", [*range(5), *soaked(*range(5, 200))])
def test_each_day_that_has_ended_is_there_once_and_as_it_was_at_its_end(seed):
    dice = Random(seed)
    keeper = Keeper(FIRST, FIRST)
    house, sent = House(keeper), list[BooksResponse]()
    for _ in range(3000):
        house.there = dice.random() < 0.9
        if (asked := house.asks(dice.uniform(0, 20))) is not None and house.there:
            sent.append(keeper.answer(asked))
        if sent and dice.random() < 0.7:
            answer = sent.pop(dice.randrange(len(sent)))
            if dice.random() < 0.8:
                house.hears(answer)
        if dice.random() < 0.01:
            keeper.today += A_DAY
        if dice.random() < 0.005:
            house.start()
        if dice.random() < 0.01:
            house.days.ask_again()
    house.there = True
    house.settle()

    assert house.has == days(FIRST, keeper.today - A_DAY)
    assert [each.books.day.state for each in house.stored] == ["ended"] * len(house.stored)


def test_a_new_meter_is_asked_for_its_open_day_now_and_then():
    house = House(Keeper(FIRST, FIRST))
    for _ in range(int(5 * OPEN_EVERY_SECONDS)):
        if (asked := house.asks()) is not None:
            house.hears(house.keeper.answer(asked))

    assert house.keeper.asked == [FIRST] * 5
    assert house.stored == []


def test_a_service_whose_books_take_long_is_asked_for_its_open_day_less_often():
    house = House(Keeper(FIRST, FIRST))
    asked = house.asks()
    assert asked is not None
    house.asks(10)
    house.hears(house.keeper.answer(asked))
    seconds = [n for n in range(11, 400) if house.asks() is not None]

    assert seconds[0] == OPEN_TIMES * 11


def test_after_a_long_time_only_the_last_days_are_asked_for():
    keeper = Keeper(FIRST - 1000 * A_DAY, FIRST)
    house = House(keeper)
    house.settle()
    assert house.has == days(FIRST - MOST_DAYS * A_DAY, FIRST - A_DAY)

    keeper.today += 600 * A_DAY
    house.settle()
    assert house.has[MOST_DAYS:] == days(keeper.today - MOST_DAYS * A_DAY, keeper.today - A_DAY)


def test_a_request_without_an_answer_is_repeated_as_the_same_one():
    house = House(Keeper(FIRST, FIRST))
    first = house.asks()
    assert [house.asks(BOOKS_ANSWER_SECONDS / 2) for _ in range(3)] == [None, first, None]


def test_a_service_that_is_away_is_not_asked_and_what_it_told_stays():
    keeper = Keeper(FIRST, FIRST + 3 * A_DAY)
    house = House(keeper)
    house.settle()
    house.there = False
    keeper.today += A_DAY
    assert [house.asks() for _ in range(300)][20:] == [None] * 280
    assert house.has == days(FIRST, FIRST + 2 * A_DAY)
    house.there = True
    house.settle()
    assert house.has == days(FIRST, FIRST + 3 * A_DAY)


def test_a_day_that_has_not_ended_at_its_service_is_not_taken_in():
    keeper = Keeper(FIRST, FIRST)
    house = House(keeper)
    house.settle()
    house.days.hear_meter(FIRST + A_DAY)  # the house's clock is ahead
    asked = house.days.to_ask(house.now + 1)
    assert asked is not None
    house.hears(keeper.answer(asked))

    assert (asked.day, house.stored) == (FIRST, [])


def test_a_refusal_is_reported_until_the_next_answer_and_the_request_is_repeated_later():
    house = House(Keeper(FIRST, FIRST))
    asked = house.asks()
    assert asked is not None
    assert not house.days.refuse("rounds-1", "too fast")
    assert house.days.refuse(asked.id, "there is no request 'books'")
    assert house.days.reason == "there is no request 'books'"
    assert house.asks(OPEN_EVERY_SECONDS / 2) is None
    again = house.asks(OPEN_EVERY_SECONDS / 2)
    assert again is not None
    house.hears(house.keeper.answer(again))
    assert (again.id != asked.id, house.days.reason) == (True, "")


def test_an_answer_to_the_request_of_another_is_not_taken_in():
    keeper = Keeper(FIRST, FIRST + 2 * A_DAY)
    house = House(keeper)
    asked = house.asks()
    house.hears(keeper.answer(BooksRequest(id="of another", day=FIRST)))

    assert (house.days.asked, house.days.next) == (asked, None)


def test_an_answer_of_another_day_with_the_same_id_is_neither_taken_in_nor_a_contradiction():
    """A service answers whoever asks, also with an id of the Game Manager."""
    keeper = Keeper(FIRST, FIRST + 2 * A_DAY)
    house = House(keeper)
    asked = house.asks()
    assert asked is not None
    other = keeper.answer(BooksRequest(id=asked.id, day=FIRST + A_DAY))
    assert isinstance(other, BooksResponse)
    house.hears(other)
    assert (house.days.asked, house.stored) == (asked, [])

    house.settle()
    assert house.days.told is not None
    again = keeper.answer(BooksRequest(id=house.days.told[0], day=FIRST))
    assert isinstance(again, BooksResponse)
    assert not house.days.contradicts(again)


def test_an_answer_of_another_record_is_not_taken_in():
    keeper = Keeper(FIRST, FIRST + 2 * A_DAY)
    house = House(keeper)
    asked = house.asks()
    assert asked is not None
    keeper.record = "bb"
    house.hears(keeper.answer(asked))

    assert (house.days.next, house.stored) == (None, [])


# --- of a floor


class Floor:
    """What is followed of a table that keeps a meter, and of its rounds."""

    def __init__(self, books: date | None = None) -> None:
        self.table, self.keeper, self.now = Told("aa"), Keeper(FIRST, FIRST + 2 * A_DAY), 0.0
        cursors = {} if books is None else {("t", "aa"): Cursor(1, 0, None, 0, books)}
        self.following = Following(cursors)
        self.following.meet("t")

    def ask(self) -> BooksRequest | None:
        """What is asked of books after a second. Requests for rounds are answered."""
        self.now += 1
        for _, each in self.following.to_ask(self.now):
            if isinstance(each, BooksRequest):
                return each
            self.following.hear_answer("t", self.table.answer(each))  # type: ignore[arg-type]
        return None

    def asked(self, seconds: int = 100) -> list[BooksRequest]:
        """What is asked of books in this time, and answered."""
        found = []
        for _ in range(seconds):
            if (each := self.ask()) is not None:
                found.append(each)
                taken = self.following.hear_books("t", self.keeper.answer(each))
                assert taken is None or taken.table == "t"
        return found


def test_only_a_service_that_has_told_a_meter_of_its_own_is_asked():
    floor = Floor()
    assert floor.asked() == []
    floor.following.hear_meter("t", "aa", FIRST + 2 * A_DAY)
    assert [each.day for each in floor.asked(9)] == [
        FIRST + 2 * A_DAY,
        FIRST,
        FIRST + A_DAY,
        FIRST + 2 * A_DAY,
    ]


def test_after_a_start_it_goes_on_after_what_the_store_has():
    floor = Floor(books=FIRST)
    floor.following.hear_meter("t", "aa", FIRST + 2 * A_DAY)
    assert [each.day for each in floor.asked(9)] == [FIRST + A_DAY, FIRST + 2 * A_DAY]


def test_no_books_are_asked_for_of_a_record_that_cannot_be_followed():
    floor = Floor()
    floor.following.hear_meter("t", "bb", FIRST)
    assert floor.asked() == []


@pytest.mark.parametrize("forged_first", [True, False])
def test_two_answers_with_other_books_of_a_day_are_a_fault(forged_first):
    """Someone with the service's password answers too."""
    floor = Floor(books=FIRST)
    floor.following.hear_meter("t", "aa", FIRST + 2 * A_DAY)
    floor.following.meet("t")
    asked = next(each for each in [floor.ask() for _ in range(9)] if each is not None)
    true = floor.keeper.answer(asked)
    (accrual,) = true.books.day.progressives
    day = true.books.day.model_copy(update={"progressives": (accrual.model_copy(update={"wagers": 10**6}),)})
    forged = true.model_copy(update={"books": true.books.model_copy(update={"day": day})})
    first, second = (forged, true) if forged_first else (true, forged)

    assert floor.following.hear_books("t", first) is not None
    assert floor.following.hear_books("t", first) is None
    assert floor.following.faults() == {}
    assert floor.following.hear_books("t", second) is None
    assert "for its books differ" in floor.following.faults()["t"]


def test_a_refusal_of_books_holds_up_no_rounds():
    floor = Floor()
    floor.following.hear_meter("t", "aa", FIRST)
    (asked, *_) = floor.asked(2)
    floor.following._books["t"].asked = asked
    floor.following.refuse("t", asked.id, "the record cannot be read")
    assert floor.following.unanswered() == {"t": "the record cannot be read"}
    assert floor.following._tables["t"].tokens > 1
