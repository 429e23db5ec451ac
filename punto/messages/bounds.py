"""Bounds of what a house reads from its tables. A stolen table PC can write anything in the messages of its own table.

The models say what is valid JSON. Only readers apply these bounds: no bound may stop a table that has made a message.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, TypeVar

from punto.baccarat.table.state import RoundRecord
from punto.configs.characters import is_plain
from punto.configs.problems import cut
from punto.messages.books import Books
from punto.messages.meters import TableMeters
from punto.messages.models import MOST_AMOUNT, MOST_NUMBER, Message, Round
from punto.messages.requests import BooksResponse, IncidentsResponse, RoundsResponse

LONGEST_PAYLOAD: Final = 262_144
"""In bytes. The brokers discard a longer one without a word (`message_size_limit`)."""
MOST_PAYMENT: Final = 1000 * MOST_AMOUNT
"""No wager pays more than a thousand times its amount."""
MOST_COUNTED: Final = 2**31 - 1
"""The highest number of a shoe, a coup, or an incident's place."""
MOST_SEATS: Final = 99
MOST_CARDS: Final = 8
"""Of a hand, with cards that were overdrawn."""
_is_plain = lru_cache(maxsize=4096)(is_plain)  # the same few names come again and again
LONGEST_NAME: Final = 100
"""Of a game, a wager, a rule or a person at a table."""
LONGEST_TEXT: Final = 1000
"""What a person gave as the reason, or what happened."""
MOST_OF_BOOKS: Final = 10**30
"""The books count in millionths of a minor unit."""


_M = TypeVar("_M", bound=Message)


def numbers_in_bounds(told: _M) -> _M:
    """The message; raises ValueError if a number in it is not exact where numbers are doubles, as on pages."""
    _check_all(type(told).__name__.lower(), MOST_NUMBER, told.model_dump())
    return told


def check_sequence(told: Message, latest: datetime) -> None:
    """Raise ValueError if `seq` is not exact where numbers are doubles, or a round or an incident is later than `latest`.

    A time that has not come yet would stand above all later ones of the house.
    """
    _check_numbers("seq", 0, MOST_NUMBER, told.seq)
    match told:
        case Round():
            times: Iterable[str] = (told.ts,)
        case RoundsResponse():
            times = (each.ts for each in told.ended)
        case IncidentsResponse():
            times = (each.ts for each in told.incidents)
        case _:
            return
    for each in times:
        if datetime.fromisoformat(each) > latest:
            raise ValueError(f"the time {each} has not come yet: set the clock of the table")


def round_in_bounds(told: Round) -> Round:
    """The message; raises ValueError if something of it is out of bounds."""
    _check_game(told.game, told.rules)
    _check_round(told.round)
    return told


def rounds_in_bounds(told: RoundsResponse) -> RoundsResponse:
    """The message; raises ValueError if something of it is out of bounds."""
    for end in told.ended:
        _check_game(end.game, end.rules)
    for each in told.rounds:
        _check_round(each)
    return told


def incidents_in_bounds(told: IncidentsResponse) -> IncidentsResponse:
    """The message; raises ValueError if something of it is out of bounds."""
    _check_numbers("until", 0, MOST_NUMBER, told.until)
    for each in told.incidents:
        where = f"incident of input {each.seq}"
        _check_numbers(where, 0, MOST_NUMBER, each.seq)
        _check_numbers(where, 0, MOST_COUNTED, each.place)
        _check_names(where, (each.kind, each.source))
        _check_texts(where, (each.who, each.text, each.where))
    return told


def meters_in_bounds(told: TableMeters) -> TableMeters:
    """The message; raises ValueError if something of it is out of bounds."""
    _check_game(told.game, told.rules)
    for readings in (told.lifetime, told.gaming_day):
        _check_numbers("hands", 0, MOST_NUMBER, readings.hands)
        for each in readings.counts:
            expected = 0 if each.expected is None else each.expected
            _check_numbers(f"count of {cut(each.rule)}", 0, MOST_NUMBER, each.hits, expected)
    return told


def books_in_bounds(told: BooksResponse) -> BooksResponse:
    """The message; raises ValueError if something of it is out of bounds, or it does not have the same progressives throughout."""
    books = told.books
    parts = (books.day.progressives, books.week.progressives, books.reconciliation.progressives)
    day, week, compared = ([each.progressive for each in part] for part in parts)
    _check_names("books", [*day, *week])
    if len({*day}) < len(day) or len({*week}) < len(week) or sorted(day) != sorted(compared):
        raise ValueError("the books must have each progressive once, with its reconciliation")
    _check_all("books", MOST_OF_BOOKS, Books.model_dump(books))
    return told


def _check_round(told: RoundRecord) -> None:
    where = f"round {told.round}"
    _check_numbers(where, 1, MOST_NUMBER, told.round, told.round if told.corrects is None else told.corrects)
    _check_numbers(where, 0, MOST_COUNTED, told.shoe, told.coup)
    _check_numbers(where, 0, 9, told.player_total, told.banker_total)
    if len(told.player) > MOST_CARDS or len(told.banker) > MOST_CARDS:
        raise ValueError(f"{where}: a hand has more than {MOST_CARDS} cards")
    _check_texts(where, (told.who, told.approved_by, told.reason))
    if len({(each.seat, each.wager) for each in told.settlements}) < len(told.settlements):
        raise ValueError(f"{where}: a seat has two settlements of one wager")
    for each in told.settlements:  # inline, because a house reads thousands in a second
        if not (
            1 <= each.seat <= MOST_SEATS
            and 0 <= each.stake <= MOST_AMOUNT
            and -MOST_PAYMENT <= each.returned <= MOST_PAYMENT
            and -MOST_PAYMENT <= each.net <= MOST_PAYMENT
        ):
            raise ValueError(
                f"{where}: a settlement's seat is not from 1 to {MOST_SEATS}, its stake is above {MOST_AMOUNT}, or it pays above "
                f"{MOST_PAYMENT}"
            )
        _check_names(where, (each.wager, each.rule, each.remainder))


def _check_game(game: str, rules: str) -> None:
    _check_names("game", (game, rules))


def _check_numbers(where: str, least: int, most: int, *numbers: float) -> None:
    for each in numbers:
        if not least <= each <= most:
            raise ValueError(f"{where}: a number is not from {least} to {most}")


def _check_names(where: str, names: Iterable[str]) -> None:
    for each in names:
        if len(each) > LONGEST_NAME or not _is_plain(each):
            raise ValueError(
                f"{where}: a name has more than {LONGEST_NAME} characters, or control characters"
            )


def _check_texts(where: str, texts: Iterable[str | None]) -> None:
    for each in texts:
        if each is not None and (len(each) > LONGEST_TEXT or "\0" in each):
            raise ValueError(f"{where}: a text has more than {LONGEST_TEXT} characters, or the character NUL")


def _check_all(where: str, most: int, value: Any) -> None:
    """Check each number and each text in a value."""
    match value:
        case dict():
            for each in value.values():
                _check_all(where, most, each)
        case list() | tuple():
            for each in value:
                _check_all(where, most, each)
        case int() | float():
            _check_numbers(where, -most, most, value)
        case str():
            _check_texts(where, (value,))
        case _:
            pass  # a day, nothing
