"""What has been heard of each table's rounds, incidents and books, and what must be asked for. It is pure: the intake sends and stores.

A table's rounds are taken in their order. At each connection the last rounds that were taken in are asked for again. If one of
them is another one than before, the table's record is not the one that was followed, or somebody else sends in its name.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from punto.baccarat.table.state import RoundRecord
from punto.house.book_days import BookDays, new_id
from punto.house.disputes import DISPUTED, REJECTED, Choice, disputed_by
from punto.house.taken import Cursors, Digests, Reported, Taken, TakenBooks, TakenIncidents
from punto.messages.models import MOST_NUMBER, Round
from punto.messages.requests import (
    BooksRequest,
    BooksResponse,
    IncidentsRequest,
    IncidentsResponse,
    RecordedIncident,
    RoundEnd,
    RoundsRequest,
    RoundsResponse,
)

Ask = RoundsRequest | IncidentsRequest | BooksRequest
ASKS_AT_ONCE: Final = 9
SECONDS_FOR_AN_ASK: Final = 2.1
"""A table answers ten requests for rounds at once, and then one every two seconds."""
INCIDENTS_EVERY_SECONDS: Final = 10.0
"""A table that plays has new inputs all the time, and few of them are incidents."""
ANSWER_SECONDS: Final = 4.0
"""A request without an answer for this time is repeated."""
OLD_SECONDS: Final = 25.0
"""A message that says less than the one before, or names another record, is looked into at most this often. The broker, or anyone with
the table's password, can send an old message again at any time, also one that the table has signed. Health comes every ten seconds.
"""
RECORDS_AT_ONCE: Final = 10
SECONDS_FOR_A_RECORD: Final = 3600.0
"""A table that begins new records more often than this is not followed: a technician begins one in years."""
_TOO_MANY_RECORDS: Final = (
    "it tells of another new record again and again: find out whether it is the house's table"
)
REPORTS_EVERY_SECONDS: Final = 5.0
"""How often the services of disputed records are asked for a round: first for the first one, and then in turn for the last of each."""
MOST_HEARD: Final = 10
"""Of so many records of a table it is known when each was heard, those that were heard last."""
NEW_FOR: Final = timedelta(seconds=20)
"""A new record of a table that the house knows with another one is followed when its service was heard first so long ago: services
report every ten seconds, and that of the other record, if it is still there, disputes the new one before."""
_SHARED: Final = (
    "two services publish as this table, with the records {}: stop the one that is not the table, run `punto house choose-record "
    "--table {}` to see what is known of each record, and choose that of the table, which its console shows in the alarm"
)
_REJECTED: Final = (
    "the record {0}, which was rejected, is still published with rounds: stop its service, or choose this record with `punto house "
    "choose-record --table {1}` to see the records and to choose this one if it is the table's"
)
_MOST_NAMES: Final = 4
_TWO_HISTORIES: Final = (
    "its record has not the {} that was taken in: either a backup of the record was restored, or somebody else sends with the "
    "table's password. Keep the record as it is, and let surveillance compare it with the store. If no backup was restored, give "
    "the table another password. Then let the table begin a new record, and keep all files of the record before"
)
_TWO_ANSWERS: Final = (
    "two answers to one request for its {} differ: somebody else sends with the table's password. Give the table another "
    "password, and let surveillance compare its record with the store"
)
REMEMBERED: Final = 100
"""Of so many rounds of a record, the last ones, it is known what they were: as many as an answer has."""
COMPARED: Final = 10
"""So many of these are asked for again at each connection."""


@dataclass(slots=True)
class _Table:
    """A table: its record, the next round, whether it was compared since the connection was made, and the requests to it.

    `behind` is true if the table has rounds that were not taken in. `asked` is the id of the request that is not answered yet,
    `answered` that of the last one that was, and `tokens` the number of requests that it would answer now.

    `inputs` is the number of its last input, as its health told it last, 0 if it is not known, and `incidents` the one up to which
    incidents were taken in: the table is asked also if it has fewer inputs, because a message may be old or invented. `after` is
    what the request for incidents that is not answered yet began after, `after_id` its id, and `told` the last request that was
    answered, with what was taken in.

    `compared_to` is the last round that was compared, if all of those that are to be compared did not fit into one answer.

    `asked_after` is what the request `asked` or `answered` began after. `inputs_at`, `fewer_at` and `other_at` are when `inputs` was
    told, and when fewer rounds and another record were last looked into.

    `fault` says why nothing more is taken in, and `new` how many new records it may begin now.
    """

    record: str | None = None
    next: int = 1
    ended: datetime | None = None
    compared: bool = False
    compared_to: int = 0
    behind: bool = True
    asked: str | None = None
    asked_after: int = 0
    answered: str | None = None
    asked_at: float = 0.0
    inputs: int = 0
    inputs_at: float = float("-inf")
    fewer_at: float = float("-inf")
    other_at: float = float("-inf")
    incidents: int = 0
    after: int | None = None
    after_id: str = ""
    told: tuple[str, TakenIncidents] | None = None
    after_at: float = float("-inf")
    tokens: float = ASKS_AT_ONCE
    refilled_at: float = 0.0
    fault: str = ""
    new: float = RECORDS_AT_ONCE

    def compare_again(self) -> None:
        """Ask what its record has, whatever it was asked before."""
        self.compared, self.behind, self.asked, self.after = False, True, None, None
        self.compared_to = 0


class Following:
    """The tables of a floor, since the store was read: `cursors` and `choices` are what it had."""

    def __init__(
        self,
        cursors: Cursors,
        choices: Mapping[str, Choice] | None = None,
        last: Digests | None = None,
    ) -> None:
        """`last` has what the store can tell of the last rounds that were taken in."""
        self._cursors = cursors
        self._known = {name for name, _ in cursors}
        self._choices = {} if choices is None else choices
        self._digests = {key: dict(digests) for key, digests in (last or {}).items()}
        self._held_back: dict[tuple[str, str], str] = {}
        self._rejected: dict[str, str] = {}  # the record of each table that is rejected and was heard
        self._heard: dict[str, dict[str, datetime]] = {}
        self._first_heard: dict[tuple[str, str], datetime] = {}
        for (name, record), cursor in cursors.items():
            if cursor.heard is not None:
                self._heard.setdefault(name, {})[record] = cursor.heard
        self._reported: dict[tuple[str, str], Reported] = {}
        self._reports_at: dict[str, tuple[float, int]] = {}  # when each table was asked, and how often
        self._numbers: dict[str, dict[str, int]] = {}  # of the last round of each disputed record
        self._hold_back(cursors)
        self._tables: dict[str, _Table] = {}
        self._books: dict[str, BookDays] = {}
        self._now = 0.0

    def faults(self) -> dict[str, str]:
        """The tables whose rounds cannot be taken in, and why."""
        return {
            **{name: _REJECTED.format(record, name) for name, record in self._rejected.items()},
            **{name: table.fault for name, table in self._tables.items() if table.fault},
            **{name: _SHARED.format(_names(records), name) for name, records in self._disputed().items()},
        }

    # --- two services with one table's id

    def disputed_by(self, name: str, record: str, other: str | None, now: datetime) -> frozenset[str]:
        """The records that a service of a table disputes, which was heard with its record at `now` (UTC) and may have heard an `other`."""
        held = {of: why for (table, of), why in self._held_back.items() if table == name}
        return disputed_by(record, other, held, self._choices.get(name), self._heard.get(name, {}), now)

    def dispute(self, name: str, records: Iterable[str]) -> None:
        """Take in none of these records until a person chooses one."""
        self._held_back |= {(name, record): DISPUTED for record in records}

    def hear_service(self, name: str, record: str, now: datetime) -> None:
        """A service of a table was heard with its record at `now` (UTC)."""
        heard = self._heard.setdefault(name, {})
        heard.pop(record, None)  # the last one is the one that was heard last
        heard[record] = now
        self._first_heard.setdefault((name, record), now)
        for least in [*heard][:-MOST_HEARD]:
            del heard[least]
            self._first_heard.pop((name, least), None)
        if any(table == name for table, _ in self._held_back):
            self._report(name, record, heard=now)

    def _is_too_new(self, name: str, record: str) -> bool:
        """Whether a record may be invented, of a table that is known with another one."""
        table, heard = self._tables.get(name), self._heard.get(name, {})
        followed = None if table is None else table.record
        if record == followed or (name, record) in self._cursors:
            return False
        if followed is None and name not in self._known and not heard.keys() - {record}:
            return False
        first = self._first_heard.get((name, record))
        return first is None or max(heard.values()) - first < NEW_FOR

    def review(self, cursors: Cursors, choices: Mapping[str, Choice]) -> None:
        """Take in again what a person has chosen since: `cursors` and `choices` are what the store has now."""
        before = self._held_back
        self._hold_back(cursors)
        self._choices = choices
        for name in {name for (name, _), _ in before.items() ^ self._held_back.items()}:
            self._tables.setdefault(name, _Table()).compare_again()

    def reported(self) -> dict[tuple[str, str], Reported]:
        """What services have reported since this was last asked, of tables of which a record is held back."""
        reported, self._reported = self._reported, {}
        return reported

    def _report(self, name: str, record: str, **reported: Any) -> None:
        before = self._reported.get((name, record), Reported())
        self._reported[name, record] = before._replace(**reported)

    def _hear_report(self, name: str, told: RoundsResponse) -> None:
        """The answer of a service whose record is held back: its first round, or its last one."""
        numbered = zip(told.rounds, told.ended, strict=False)
        ends = {record.round: datetime.fromisoformat(end.ts) for record, end in numbered}
        known = {"first": ends.get(1), "last": ends.get(told.seq)}
        number = min(told.seq, MOST_NUMBER)
        self._report(
            name, told.record, rounds=number, **{key: at for key, at in known.items() if at is not None}
        )
        self._numbers.setdefault(name, {})[told.record] = number

    def _reports_to_ask(self, name: str, table: _Table, now: float) -> Iterator[tuple[str, RoundsRequest]]:
        """Requests for the first round of disputed records and for the last one of each. All services with this id answer each."""
        asked_at, turn = self._reports_at.get(name, (float("-inf"), 0))
        if now - asked_at < REPORTS_EVERY_SECONDS or table.tokens < 1:
            return
        before = sorted({0, *(max(0, number - 1) for number in self._numbers.get(name, {}).values())})
        after = before[turn % len(before)]
        self._reports_at[name] = (now, turn + 1)
        table.tokens -= 1
        yield name, RoundsRequest(id=f"report-{after}", after=after, limit=1)

    def is_held_back(self, name: str, record: str) -> bool:
        """Whether nothing is taken in of this record."""
        return (name, record) in self._held_back

    @property
    def holds_back(self) -> bool:
        """Whether it holds records back, about which a person may decide at any time."""
        return bool(self._held_back)

    def _hold_back(self, cursors: Cursors) -> None:
        held = ((key, cursor.held_back) for key, cursor in cursors.items())
        self._held_back = {key: why for key, why in held if why is not None}
        self._rejected = {
            name: record
            for name, record in self._rejected.items()
            if self._held_back.get((name, record)) == REJECTED
        }

    def _disputed(self) -> dict[str, list[str]]:
        """The records of each table with two services, of which nobody has chosen one."""
        found: dict[str, list[str]] = {}
        for (name, record), why in self._held_back.items():
            if why == DISPUTED:
                found.setdefault(name, []).append(record)
        return found

    # --- what was heard

    def taken(self) -> dict[str, int]:
        """The number of each table's last round that was taken in."""
        return {name: table.next - 1 for name, table in self._tables.items()}

    def compare_again(self) -> None:
        """Messages may have been lost: compare each table again."""
        self._rejected.clear()
        for table in self._tables.values():
            table.compare_again()
            table.fault, table.after_at = "", float("-inf")
        for books in self._books.values():
            books.ask_again()

    def meet(self, name: str, rounds: int | None = None, inputs: int = 0, record: str | None = None) -> None:
        """A table is there, with so many rounds and inputs on its record if they are known.

        If they are fewer than were taken in, the table is asked, because a message may be old or invented.
        """
        table = self._tables.setdefault(name, _Table())
        if record is not None and (
            self.is_held_back(name, record)
            or self._is_too_new(name, record)
            or self._is_another(table, record)
        ):
            return
        if rounds is not None and table.compared and not table.fault:
            table.behind |= rounds >= table.next
            if rounds < table.next - 1 and self._now - table.fewer_at >= OLD_SECONDS:
                table.fewer_at = self._now
                table.compare_again()
        if inputs >= max(1, table.inputs) or (inputs and self._now - table.inputs_at >= OLD_SECONDS):
            table.inputs, table.inputs_at = inputs, self._now

    def go_back(self, name: str, cursors: Cursors, fault: str = "") -> None:
        """What was heard of a table was not stored: follow it again from these cursors, or not at all if there is a fault."""
        self._cursors = cursors
        self._books.pop(name, None)
        table = self._tables.get(name)
        if table is None:
            return
        table.asked = table.after = None
        if table.record is not None:
            self._follow(name, table, table.record)
        table.fault = fault

    def give_up(self, name: str, fault: str) -> None:
        """Take no more of a table in until its record or the broker's connection is new."""
        self.meet(name)
        table = self._tables[name]
        table.asked, table.after, table.fault = None, None, fault

    def hear(self, name: str, told: Round) -> list[Taken]:
        """A round that a table told by itself. Returns the rounds to take in."""
        self.meet(name)
        table = self._tables[name]
        if self.is_held_back(name, told.record):
            if self._held_back[name, told.record] == REJECTED:
                self._rejected[name] = told.record
            ended = datetime.fromisoformat(told.ts)
            self._report(name, told.record, rounds=min(told.round.round, MOST_NUMBER), last=ended)
            return []
        if self._is_too_new(name, told.record):
            return []
        if not table.compared or table.fault or told.record != table.record or told.seq > table.next:
            if not self._is_another(table, told.record):
                table.behind = True
            return []
        end = RoundEnd(ts=told.ts, game=told.game, rules=told.rules)
        return self._take(name, table, told, [(told.round, end)])

    def _is_another(self, table: _Table, record: str) -> bool:
        """Whether a message names another record than the one that is followed. From time to time the table is asked which it has."""
        if record != table.record and self._now - table.other_at >= OLD_SECONDS:
            table.other_at, table.compared, table.fault, table.behind = self._now, False, "", True
        return record != table.record

    def hear_answer(self, name: str, told: RoundsResponse) -> list[Taken]:
        """The answer to a request. Returns the rounds to take in."""
        table = self._tables.get(name)
        if self.is_held_back(name, told.record):
            self._hear_report(name, told)
            return []
        # Another `after` is that of another request with the same id.
        if table is None or told.after != table.asked_after or self._is_too_new(name, told.record):
            return []
        if told.request != table.asked:
            second = told.request == table.answered and told.record == table.record
            heard = second and table.compared and not table.fault
            return self._take(name, table, told, _ended(told)) if heard else []
        table.asked, table.answered = None, told.request
        if told.record != table.record:
            self._begin(name, table, told.record)
            return []  # what was asked for was of the record before
        rounds = _ended(told)
        if not table.compared and told.more and rounds and rounds[-1][0].round < table.next - 1:
            table.compared_to = rounds[-1][0].round  # not all that was asked for fits into an answer
        elif not table.compared and not self._compare(table, rounds):
            return []
        table.behind = told.more or len(rounds) < len(told.rounds)
        return self._take(name, table, told, rounds)

    def hear_incidents(self, name: str, told: IncidentsResponse) -> TakenIncidents | None:
        """The answer to a request for incidents. Returns those to take in."""
        table = self._tables.get(name)
        if self.is_held_back(name, told.record):
            return None
        if table is None:
            return None
        if table.told is not None and told.request == table.told[0] and _contradicts(told, table.told[1]):
            self.give_up(name, _TWO_ANSWERS.format("incidents"))
        if table.after is None or (told.request, told.after) != (table.after_id, table.after):
            return None
        after, table.after = table.after, None
        if told.record != table.record or not table.compared:
            return None
        if told.until < after:
            table.fault = _TWO_HISTORIES.format(f"input {after}")
        until = min(told.until, table.inputs)
        if until <= after:
            return None
        table.incidents = until
        if told.more:
            table.after_at = float("-inf")
        of_these = tuple(each for each in told.incidents if after < each.seq <= until)
        taken = TakenIncidents(name, told.record, told.simulation, after, until, of_these)
        table.told = told.request, taken
        return taken

    def hear_meter(self, name: str, record: str, today: date) -> None:
        """A service has told the meter that it keeps, and the name of its record. `today` is the house's gaming day."""
        if self.is_held_back(name, record):
            return
        books = self._books.get(name)
        if books is None or books.record != record:
            cursor = self._cursors.get((name, record))
            self._books[name] = BookDays(record, None if cursor is None else cursor.books, today)
        else:
            books.hear_meter(today)

    def hear_books(self, name: str, told: BooksResponse) -> TakenBooks | None:
        """The answer to a request for books. Returns those to take in."""
        books = self._books.get(name)
        if books is None or self.is_held_back(name, told.record):
            return None
        if books.contradicts(told):
            self.give_up(name, _TWO_ANSWERS.format("books"))
        return books.hear(name, told)

    def unanswered(self) -> dict[str, str]:
        """The services that refused the last request for books, and why."""
        return {name: books.reason for name, books in self._books.items() if books.reason}

    def refuse(self, name: str, request: str | None = None, reason: str = "") -> None:
        """A table refused a request. A refusal that names none may be an old one, and an answer that never comes is asked for again."""
        table, books = self._tables.get(name), self._books.get(name)
        if books is not None and books.refuse(request, reason):
            return
        if table is not None and request is not None and request in {table.asked, table.after_id}:
            table.asked = table.after = None
            table.tokens = 0.0

    def to_ask(self, now: float, full: Container[str] = ()) -> Iterator[tuple[str, Ask]]:
        """The requests to send now, by `now` in seconds; each is noted as sent. Those that are `full` are not asked."""
        self._now, disputed = now, self._disputed()
        for name, table in [*self._tables.items()]:  # other tables may be heard of while a request is sent
            if name in full:
                continue
            passed = now - table.refilled_at
            table.new = min(RECORDS_AT_ONCE, table.new + passed / SECONDS_FOR_A_RECORD)
            table.tokens = min(ASKS_AT_ONCE, table.tokens + passed / SECONDS_FOR_AN_ASK)
            table.refilled_at = now
            if name in disputed:
                yield from self._reports_to_ask(name, table, now)
                continue
            waits = table.asked is not None and now - table.asked_at < ANSWER_SECONDS
            if table.behind and not table.fault and not waits and table.tokens >= 1:
                # A repeated request is the same one, so a late answer to the first is an answer too.
                table.tokens -= 1
                table.asked_at = now
                if table.asked is None:
                    after = table.next - 1
                    if not table.compared and table.compared_to:
                        after = table.compared_to
                    elif not table.compared:
                        after = max(0, after - min(COMPARED, max(1, len(self._remembered(name, table)))))
                    table.asked, table.asked_after = new_id("rounds"), after
                yield name, RoundsRequest(id=table.asked, after=table.asked_after, limit=100)
            pause = INCIDENTS_EVERY_SECONDS if table.after is None else ANSWER_SECONDS
            due = table.inputs not in {0, table.incidents} and now - table.after_at >= pause
            if due and table.compared and not table.behind and not table.fault and table.tokens >= 1:
                table.tokens -= 1
                if table.after is None:
                    table.after, table.after_id = table.incidents, new_id("incidents")
                table.after_at = now
                yield name, IncidentsRequest(id=table.after_id, after=table.after, limit=100)
            yield from self._books_to_ask(name, table, now)

    def _books_to_ask(self, name: str, table: _Table, now: float) -> Iterator[tuple[str, BooksRequest]]:
        books = self._books.get(name)
        if books is None or not table.compared or table.behind or table.fault or table.tokens < 1:
            return
        if books.record == table.record and (asked := books.to_ask(now)) is not None:
            table.tokens -= 1
            yield name, asked

    def _begin(self, name: str, table: _Table, record: str) -> None:
        """Follow another record than before, if it is not one of too many."""
        new = (name, record) not in self._cursors
        if new and table.new < 1:
            table.fault = _TOO_MANY_RECORDS
            return
        table.new -= new
        self._follow(name, table, record)

    def _follow(self, name: str, table: _Table, record: str) -> None:
        """Follow this record from where it was left."""
        cursor = self._cursors.get((name, record))
        table.record, table.compared, table.behind, table.fault = record, False, True, ""
        table.compared_to = 0
        table.next, table.ended = (1, None) if cursor is None else (cursor.rounds + 1, cursor.ended)
        table.inputs, table.inputs_at = 0, float("-inf")
        table.incidents = 0 if cursor is None else cursor.incidents
        known = self._remembered(name, table)
        for number in [*known]:  # those after the cursor were not stored
            if number >= table.next or table.next - 1 not in known:
                del known[number]

    def _remembered(self, name: str, table: _Table) -> dict[int, str]:
        """What the last rounds of a table's record were, up to the last one that was taken in, by their numbers."""
        return self._digests.setdefault((name, table.record or ""), {})

    @staticmethod
    def _compare(table: _Table, rounds: list[tuple[RoundRecord, RoundEnd]]) -> bool:
        """Whether these rounds have the last one that was taken in."""
        table.compared_to = 0
        table.compared = table.next == 1 or any(
            record.round == table.next - 1 and datetime.fromisoformat(end.ts) == table.ended
            for record, end in rounds
        )
        if not table.compared:
            table.fault = _TWO_HISTORIES.format(f"round {table.next - 1}")
        return table.compared

    def _take(
        self,
        name: str,
        table: _Table,
        told: Round | RoundsResponse,
        rounds: list[tuple[RoundRecord, RoundEnd]],
    ) -> list[Taken]:
        taken, known = [], self._remembered(name, table)
        for record, end in rounds:
            number, ended = record.round, datetime.fromisoformat(end.ts)
            if number != table.next and number not in known:
                continue
            each = Taken(
                name, table.record or "", told.simulation, told.currency, ended, end.game, end.rules, record
            )
            if number != table.next:
                if each.digest != known[number]:
                    table.fault = _TWO_HISTORIES.format(f"round {number}")
                    return []
                continue
            table.next, table.ended = number + 1, ended
            known[number] = each.digest
            known.pop(number - REMEMBERED, None)
            taken.append(each)
        return taken


def _names(records: list[str]) -> str:
    """The names of records, with the number of those above some."""
    first, more = sorted(records)[:_MOST_NAMES], len(records) - _MOST_NAMES
    return " and ".join([*first, f"{more} more"] if more > 0 else first)


def _ended(told: RoundsResponse) -> list[tuple[RoundRecord, RoundEnd]]:
    """The rounds of an answer, each with its end."""
    return list(zip(told.rounds, told.ended, strict=False))


def _contradicts(told: IncidentsResponse, taken: TakenIncidents) -> bool:
    """Whether an answer to the same request has other incidents than were taken in of its record's inputs."""
    until = min(told.until, taken.until)

    def of(incidents: Iterable[RecordedIncident]) -> list[RecordedIncident]:
        return [each for each in incidents if taken.after < each.seq <= until]

    same = (told.record, told.after) == (taken.record, taken.after)
    return same and of(told.incidents) != of(taken.incidents)
