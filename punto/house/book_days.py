"""Which gaming day's books must be asked for of a service that keeps a meter. It is pure: `following` sends and hears.

The books of each day are taken in once, in the order of the days, when the day has ended. Without a day to take in, those of the
day that is open are asked for now and then. Only the ids of requests are random.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from secrets import token_hex
from typing import Final

from punto.house.taken import TakenBooks
from punto.messages.books import Accrual
from punto.messages.requests import BooksRequest, BooksResponse

MOST_DAYS: Final = 400
"""How many gaming days back books are asked for: a year, and a month for the accounts of that year."""
OPEN_EVERY_SECONDS: Final = 60.0
"""How often the books of the open day are asked for. A service that refuses is asked again as often."""
OPEN_TIMES: Final = 30
"""The open day is asked for after so many times the time that its last answer took: an authority of a hundred tables takes seconds."""
BOOKS_ANSWER_SECONDS: Final = 30.0
"""A request for books without an answer for this time is repeated."""
_SILENT_SECONDS: Final = 10.0
"""A service whose meter has not come for this time is not asked."""
_A_DAY: Final = timedelta(days=1)


def new_id(kind: str) -> str:
    """The id of a new request. Nobody foresees it, so nobody answers before the request was sent."""
    return f"{kind}-{token_hex(8)}"


@dataclass(slots=True)
class BookDays:
    """The books of one record. `taken` is the last gaming day that was taken in, and `today` the house's gaming day now.

    `next` is the first day that was not taken in, None until the service has told the first day of its record. `asked` is the
    request that is not answered yet, `answered` is true until the time that the answer took is known, `told` is the request whose
    answer was taken in last, with what that had, and `reason` is why the last request was refused.
    """

    record: str
    taken: date | None
    today: date
    next: date | None = None
    asked: BooksRequest | None = None
    asked_at: float = float("-inf")
    pause: float = 0.0
    answered: bool = False
    told: tuple[str, date, tuple[Accrual, ...]] | None = None
    heard: bool = True
    heard_at: float = float("-inf")
    reason: str = ""

    def __post_init__(self) -> None:
        if self.taken is not None:
            self._go_on(self.taken + _A_DAY)

    def hear_meter(self, today: date) -> None:
        """The meter has come, and so the service is there."""
        self.heard = True
        if today != self.today:
            self.today, self.pause = today, 0.0  # a day has ended
            if self.next is not None:
                self._go_on(self.next)

    def ask_again(self) -> None:
        """What was asked for may have been lost."""
        self.asked, self.pause = None, 0.0

    def to_ask(self, now: float) -> BooksRequest | None:
        """The request to send now, by `now` in seconds; it is noted as sent."""
        if self.heard:
            self.heard, self.heard_at = False, now
        if self.answered and self.pause:
            self.pause = max(self.pause, OPEN_TIMES * (now - self.asked_at))
        self.answered = False
        if now - self.heard_at > _SILENT_SECONDS or now - self.asked_at < self.pause:
            return None
        if self.asked is None:
            day = self.today if self.next is None else min(self.next, self.today)
            self.asked = BooksRequest(id=new_id(f"books-{day}"), day=day)
        self.asked_at, self.pause = now, BOOKS_ANSWER_SECONDS
        return self.asked

    def hear(self, table: str, told: BooksResponse) -> TakenBooks | None:
        """The answer to a request. Returns the books to take in, if it has those of the day that is next."""
        # Another day is that of another request with the same id.
        if self.asked is None or (told.request, told.books.day.day) != (self.asked.id, self.asked.day):
            return None
        self.asked, self.answered, self.pause, self.reason = None, True, OPEN_EVERY_SECONDS, ""
        if told.record != self.record:
            return None
        day, first = told.books.day, told.books.first
        if self.next is None and first is not None:
            self._go_on(first)
            self.pause = 0.0 if first < self.today else OPEN_EVERY_SECONDS
        elif self.next == day.day and day.state == "ended":
            after, self.taken = self.taken, day.day
            self.told = told.request, day.day, day.progressives
            self._go_on(day.day + _A_DAY)
            self.pause = 0.0
            return TakenBooks(table, told.record, told.simulation, after, told.ts, told.books)
        return None

    def contradicts(self, told: BooksResponse) -> bool:
        """Whether this is a second answer, with other books, to the request whose answer was taken in last."""
        return (
            self.told is not None
            and (told.request, told.books.day.day) == self.told[:2]
            and told.books.day.progressives != self.told[2]
        )

    def refuse(self, request: str | None, reason: str) -> bool:
        """The service refused a request; whether it was the one for books."""
        if self.asked is None or request != self.asked.id:
            return False
        self.asked, self.pause, self.reason = None, OPEN_EVERY_SECONDS, reason
        return True

    def _go_on(self, day: date) -> None:
        self.next = max(day, self.today - MOST_DAYS * _A_DAY)
