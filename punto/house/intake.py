"""Takes in what the tables tell: from their messages to the store, and back to the tables with requests for what is missing.

Each row is in the store once whatever comes twice, because `Store.take` moves a cursor in the transaction of the rows.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

import structlog

from punto.baccarat.wagers.definition import Game
from punto.house.choices import choices, dispute, note
from punto.house.disputes import Choice
from punto.house.edge_alarms import EdgeAlarm, Heard, alarms_of, keep
from punto.house.following import RECORDS_AT_ONCE, Ask, Following
from punto.house.live import keeper_of
from punto.house.store import GapError, RefusedError, Store, StoreAwayError
from punto.house.taken import Cursors, Disputed, OfRecord, Taken, TakenBooks, TakenIncidents
from punto.messages.models import Availability, Progressive, Round
from punto.messages.requests import BooksResponse, IncidentsResponse, Response, RoundsResponse
from punto.messages.restricted import Edge
from punto.runtime.backoff import Backoff
from punto.runtime.bucket import Bucket

ROWS_AT_ONCE: Final = 6000
"""About the most rounds and settlements of a transaction. The tables whose rounds wait have equal shares of it."""
MOST_WAITING: Final = 4000
"""If so many rounds and settlements of a table wait for the store, no more of it are taken: they are asked for later."""
GAMES_AT_ONCE: Final = 10
ALARMS_AT_ONCE: Final = 100
NEW_EVERY_SECONDS: Final = 60.0
"""So many games and new alarms of edges are taken of a table at once, and then one of each in this time."""
_LOOK_SECONDS: Final = 1.0
REVIEW_SECONDS: Final = 2.0
"""How often it looks whether a person has chosen one of two records of a table."""
NOTE_SECONDS: Final = 4.0
"""How often it stores what services report of records that are held back."""

_log = structlog.get_logger("punto.house")
_T = TypeVar("_T", bound=OfRecord)


class _Waiting:
    """The rounds of a table that wait for the store, in their order, and the number of their rows."""

    def __init__(self) -> None:
        self.rounds: deque[Taken] = deque()
        self.rows = 0

    def add(self, rounds: Sequence[Taken]) -> None:
        self.rounds += rounds
        self.rows += sum(map(_rows, rounds))

    def first(self, rows: int) -> Iterator[Taken]:
        """The first rounds with so many rows, one at least."""
        for at, each in enumerate(self.rounds):
            rows -= _rows(each)
            if at and rows < 0:
                return
            yield each

    def stored(self) -> None:
        self.rows -= _rows(self.rounds.popleft())


def _rows(taken: Taken) -> int:
    return 1 + len(taken.round.settlements)


class Intake:
    """What has been heard goes to the store in the order of each table's rounds.

    If the store is away, what waits is forgotten. When it is back, its cursors tell what to ask for. Only alarms of edges wait
    for the store, because nobody can be asked for them.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._following: Following | None = None
        self._rounds: dict[str, _Waiting] = {}
        self._incidents: list[TakenIncidents] = []
        self._books: list[TakenBooks] = []
        self._games: list[Game] = []
        self._disputed: list[Disputed] = []
        self._review_at = self._note_at = 0.0
        self._edges = Heard()
        self._known: dict[tuple[str, str], Game] = {}
        self._new: dict[tuple[str, str], Bucket] = {}
        self._tables: set[str] = set()
        self._wake = asyncio.Event()
        self.reason = "not begun yet"
        """Why nothing is taken in; empty if it is."""

    # --- what was heard

    def connected(self) -> None:
        """The broker's connection is new: messages may have been lost."""
        if self._following is not None:
            self._following.compare_again()

    def meet(self, table: str, rounds: int | None = None, inputs: int = 0, record: str | None = None) -> None:
        """A table is there, with so many rounds and inputs on its record if they are known."""
        self._tables.add(table)
        if self._following is not None:
            self._following.meet(table, rounds, inputs, record)

    def hear_availability(self, table: str, told: Availability, *, retained: bool) -> None:
        """A table's service, which may not be the only one that publishes as this table. A retained message may be old."""
        self.meet(table)
        if self._following is None or retained or told.record is None or told.state != "online":
            return
        now = self._now()
        records = sorted(self._following.disputed_by(table, told.record, told.other_record, now))
        if records:
            if not self._has_turn(table, "records", RECORDS_AT_ONCE):
                return  # it was not heard, so that its next message disputes them
            _log.error("two services publish as one table: neither is taken in", table=table, records=records)
            self._following.dispute(table, records)
            self._disputed += [Disputed(table, record, told.simulation) for record in records]
            self._wake.set()
        self._following.hear_service(table, told.record, now)

    def hear_meter(self, table: str, told: Progressive) -> None:
        """A meter as a table tells it now."""
        keeper, record = keeper_of(told)
        if self._following is not None and keeper == table:
            self._following.hear_meter(table, record, self._store.calendar.day_of(self._now()))

    def hear(self, table: str, told: Round | RoundsResponse | IncidentsResponse | BooksResponse) -> None:
        """Rounds, incidents or books of a table."""
        self._tables.add(table)
        if self._following is None or self._is_full(table):
            return
        match told:
            case Round():
                self._add(table, self._following.hear(table, told))
            case RoundsResponse():
                self._add(table, self._following.hear_answer(table, told))
            case IncidentsResponse():
                found = self._following.hear_incidents(table, told)
                self._incidents += [] if found is None else [found]
            case _:
                books = self._following.hear_books(table, told)
                self._books += [] if books is None else [books]
        self._wake.set()

    def _add(self, table: str, rounds: Sequence[Taken]) -> None:
        if rounds:
            self._rounds.setdefault(table, _Waiting()).add(rounds)

    def _is_full(self, table: str) -> bool:
        """Whether enough of a table waits for the store."""
        return table in self._rounds and self._rounds[table].rows >= MOST_WAITING

    def give_up(self, table: str, reason: str) -> None:
        """What a table answered cannot be read: no more of it is taken in."""
        if self._following is not None:
            self._following.give_up(table, reason)

    def hear_edges(self, table: str, told: Edge) -> None:
        """The live edges of a table.

        Raises:
            ValueError: a name, a number or the time is invalid.
        """
        if self._following is not None and self._following.is_held_back(table, told.record):
            return
        for alarm in alarms_of(table, told):
            if self._edges.has_new([alarm]) and self._has_turn(table, "edges", ALARMS_AT_ONCE):
                self._edges.take([alarm])
                self._wake.set()

    def _has_turn(self, table: str, what: str, at_once: int) -> bool:
        """Whether something new of a table may be kept now. What is refused is told again by the table."""
        now = self._clock()
        bucket = self._new.setdefault((table, what), Bucket(at_once, 1 / NEW_EVERY_SECONDS, now))
        if not bucket.has(1, now):
            return False
        bucket.take(1)
        return True

    def refuse(self, table: str, told: Response) -> None:
        """A table refused a request."""
        if self._following is not None:
            self._following.refuse(table, told.request, told.error or "")

    def learn(self, table: str, game: Game) -> None:
        """A game that a table has."""
        if (game.name, game.rules_digest) not in self._known and self._has_turn(
            table, "games", GAMES_AT_ONCE
        ):
            self._known[game.name, game.rules_digest] = game
            self._games.append(game)
            self._wake.set()

    def to_ask(self, now: float) -> Iterator[tuple[str, Ask]]:
        """The requests to send now."""
        if self._following is not None:
            yield from self._following.to_ask(now, {*filter(self._is_full, self._rounds)})

    def faults(self) -> dict[str, str]:
        """The tables whose rounds cannot be taken in, and why."""
        return {} if self._following is None else self._following.faults()

    def taken(self) -> dict[str, int]:
        """The number of each table's last round that was taken in or waits for the store."""
        return {} if self._following is None else self._following.taken()

    def unanswered(self) -> dict[str, str]:
        """The services that refused the last request for books, and why."""
        return {} if self._following is None else self._following.unanswered()

    # --- to the store

    async def run(self) -> None:
        """Take in until cancelled, whenever the store can be reached and no other program takes in."""
        backoff = Backoff(0.5, 5)
        while True:
            try:
                await self._lead()
                await self._begin()
                backoff.reset()
                await self._write()
            except StoreAwayError as error:
                self._stop(f"the store is away: {error}")
            await asyncio.sleep(backoff.pause())

    def _stop(self, reason: str) -> None:
        if self._following is not None or not self.reason:
            _log.warning("nothing is taken in", reason=reason)
        self._following, self.reason = None, reason
        self._rounds.clear()
        self._incidents.clear()
        self._books.clear()
        self._disputed.clear()

    async def _lead(self) -> None:
        while not await asyncio.to_thread(self._store.leads):
            self._stop("another Game Manager of this store takes in")
            await asyncio.sleep(_LOOK_SECONDS)

    async def _begin(self) -> None:
        last = await asyncio.to_thread(self._store.last_digests)
        self._following = Following(*await self._known_records(), last)
        for table in self._tables:
            self._following.meet(table)
        self._games = [*self._known.values()]  # a store that was restored may have lost some
        self.reason = ""
        self._wake.set()  # games and alarms of edges may wait
        _log.info("taking in")

    async def _write(self) -> None:
        while await asyncio.to_thread(self._store.leads):
            await self._review()
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue
            self._wake.clear()
            if edges := self._edges.waiting():
                await self._keep(edges)
            while self._games:
                await self._learn(self._games[0])
                self._games.pop(0)
            while batch := self._batch():
                await self._take_in(self._store.take, batch)
                self._drop(batch)
            if self._incidents:
                told, self._incidents = self._incidents, []
                await self._take_in(self._store.take_incidents, told)
            if self._books:
                books, self._books = self._books, []
                await self._take_in(self._store.take_books, books)

    async def _keep(self, edges: Sequence[EdgeAlarm]) -> None:
        """Store alarms of edges. A table tells those again whose record has no round in the store yet, if it has such a record."""
        cursors = await asyncio.to_thread(self._store.cursors)
        known = [each for each in edges if (each.table, each.record) in cursors]
        self._edges.forget(each for each in edges if each not in known)
        if known:
            await self._take_in(lambda told: keep(self._store, told), known)
            self._edges.stored(known)

    async def _review(self) -> None:
        """Store which records are disputed, and look from time to time whether a person has chosen one."""
        if self._disputed:
            disputed, self._disputed = self._disputed, []
            try:
                await asyncio.to_thread(dispute, self._store, disputed)
            except RefusedError as error:
                _log.warning("disputed records refused", reason=str(error))
        now = asyncio.get_running_loop().time()
        if self._following is not None and self._following.holds_back and now >= self._review_at:
            self._review_at = now + REVIEW_SECONDS
            await self._note(now)
            known = await self._known_records()
            if not self._disputed:  # else the store does not know all
                self._following.review(*known)

    async def _known_records(self) -> tuple[Cursors, dict[str, Choice]]:
        """The cursors of all records, and the choices of people."""
        return await asyncio.to_thread(self._store.cursors), await asyncio.to_thread(choices, self._store)

    async def _note(self, now: float) -> None:
        """Store what services report of records that are held back, from time to time."""
        if self._following is None or now < self._note_at:
            return
        self._note_at = now + NOTE_SECONDS
        try:
            await asyncio.to_thread(note, self._store, self._following.reported())
        except RefusedError as error:
            _log.warning("reports of records refused", reason=str(error))

    def _batch(self) -> list[Taken]:
        """The next rounds of each table that has some."""
        share = ROWS_AT_ONCE // max(1, len(self._rounds))
        return [each for waiting in self._rounds.values() for each in waiting.first(share)]

    def _drop(self, batch: Sequence[Taken]) -> None:
        """These are stored, if they still wait."""
        for each in batch:
            waiting = self._rounds.get(each.table)
            if waiting is None or waiting.rounds[0] is not each:
                continue
            waiting.stored()
            if not waiting.rounds:
                del self._rounds[each.table]

    async def _take_in(self, take: Callable[[Sequence[_T]], None], told: Sequence[_T]) -> None:
        """Store what tables told, in one transaction. If this cannot be, each table has its own, and those that fail go back."""
        try:
            await asyncio.to_thread(take, told)
        except (GapError, RefusedError):
            of_tables: defaultdict[str, list[_T]] = defaultdict(list)
            for each in told:
                of_tables[each.table].append(each)
            for table, own in of_tables.items():
                await self._take_of(take, table, own)

    async def _take_of(self, take: Callable[[Sequence[_T]], None], table: str, told: Sequence[_T]) -> None:
        fault = ""
        try:
            await asyncio.to_thread(take, told)
        except GapError as error:
            _log.warning("table followed again", table=table, reason=str(error))
        except RefusedError as error:
            fault = f"the store refuses what it tells: {error}"
            _log.error("nothing more is taken in of a table", table=table, reason=fault)
        else:
            return
        cursors = await asyncio.to_thread(self._store.cursors)
        self._rounds.pop(table, None)
        self._incidents = [each for each in self._incidents if each.table != table]
        self._books = [each for each in self._books if each.table != table]
        if self._following is not None:
            self._following.go_back(table, cursors, fault)

    async def _learn(self, game: Game) -> None:
        try:
            await asyncio.to_thread(self._store.learn, game)
        except RefusedError as error:
            _log.warning("game refused", game=game.name, reason=str(error))
