"""Takes in what the tables tell: from their messages to the store, and back to the tables with requests for what is missing."""

import asyncio
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import structlog

from punto.baccarat.wagers.definition import Game
from punto.controller.messages.models import Progressive, Round
from punto.controller.messages.requests import BooksResponse, IncidentsResponse, Response, RoundsResponse
from punto.controller.messages.restricted import Edge
from punto.drivers.backoff import Backoff
from punto.game_manager.floor.edge_alarms import Heard, alarms_of, keep
from punto.game_manager.floor.following import Ask, Following
from punto.game_manager.floor.live import keeper_of
from punto.game_manager.floor.store import GapError, Store, StoreAwayError
from punto.game_manager.floor.taken import Taken, TakenBooks, TakenIncidents

ROUNDS_AT_ONCE: Final = 1000
"""The most rounds of a transaction."""
MOST_WAITING: Final = 20_000
"""If so many rounds wait for the store, no more are taken: they are asked for later."""
_LOOK_SECONDS: Final = 1.0

_log = structlog.get_logger("punto.game_manager")


class Intake:
    """What has been heard goes to the store in the order of each table's rounds.

    If the store is away, what waits is forgotten. When it is back, its cursors tell what to ask for. Only alarms of edges wait
    for the store, because nobody can be asked for them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._following: Following | None = None
        self._rounds: deque[Taken] = deque()
        self._incidents: list[TakenIncidents] = []
        self._books: list[TakenBooks] = []
        self._games: list[Game] = []
        self._edges = Heard()
        self._known: set[tuple[str, str]] = set()
        self._tables: set[str] = set()
        self._wake = asyncio.Event()
        self.reason = "not begun yet"
        """Why nothing is taken in; empty if it is."""

    # --- what was heard

    def connected(self) -> None:
        """The broker's connection is new: messages may have been lost."""
        if self._following is not None:
            self._following.compare_again()

    def meet(self, table: str, rounds: int = 0, inputs: int = 0) -> None:
        """A table is there, with at least so many rounds and inputs on its record."""
        self._tables.add(table)
        if self._following is not None:
            self._following.meet(table, rounds, inputs)

    def hear_meter(self, table: str, told: Progressive) -> None:
        """A meter as a table tells it now."""
        keeper, record = keeper_of(told)
        if self._following is not None and keeper == table:
            self._following.hear_meter(table, record, self._store.calendar.day_of(datetime.now(UTC)))

    def hear(self, table: str, told: Round | RoundsResponse | IncidentsResponse | BooksResponse) -> None:
        """Rounds, incidents or books of a table."""
        self._tables.add(table)
        if self._following is None or len(self._rounds) >= MOST_WAITING:
            return
        match told:
            case Round():
                self._rounds += self._following.hear(table, told)
            case RoundsResponse():
                self._rounds += self._following.hear_answer(table, told)
            case IncidentsResponse():
                found = self._following.hear_incidents(table, told)
                self._incidents += [] if found is None else [found]
            case _:
                books = self._following.hear_books(table, told)
                self._books += [] if books is None else [books]
        self._wake.set()

    def hear_edges(self, table: str, told: Edge) -> None:
        """The live edges of a table.

        Raises:
            ValueError: a name, a number or the time is invalid.
        """
        if self._edges.take([*alarms_of(table, told)]):
            self._wake.set()

    def refuse(self, table: str, told: Response) -> None:
        """A table refused a request."""
        if self._following is not None:
            self._following.refuse(table, told.request, told.error or "")

    def learn(self, game: Game) -> None:
        """A game that a table has."""
        if (game.name, game.rules_digest) not in self._known:
            self._known.add((game.name, game.rules_digest))
            self._games.append(game)
            self._wake.set()

    def to_ask(self, now: float) -> Iterator[tuple[str, Ask]]:
        """The requests to send now."""
        if self._following is not None and len(self._rounds) < MOST_WAITING:
            yield from self._following.to_ask(now)

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
        """Take in until cancelled, whenever the store can be reached and no other program takes in.

        Raises:
            IntegrityError: the store contradicts itself.
        """
        backoff = Backoff(0.5, 5)
        while True:
            try:
                await self._lead()
                await self._begin()
                backoff.reset()
                await self._write()
            except StoreAwayError as error:
                self._stop(f"the store is away: {error}")
            except GapError as error:
                self._stop(f"read again: {error}")
            await asyncio.sleep(backoff.pause())

    def _stop(self, reason: str) -> None:
        if self._following is not None or not self.reason:
            _log.warning("nothing is taken in", reason=reason)
        self._following, self.reason = None, reason
        self._rounds.clear()
        self._incidents.clear()
        self._books.clear()

    async def _lead(self) -> None:
        while not await asyncio.to_thread(self._store.leads):
            self._stop("another Game Manager of this store takes in")
            await asyncio.sleep(_LOOK_SECONDS)

    async def _begin(self) -> None:
        self._following = Following(await asyncio.to_thread(self._store.cursors))
        for table in self._tables:
            self._following.meet(table)
        self.reason = ""
        self._wake.set()  # alarms of edges may wait
        _log.info("taking in")

    async def _write(self) -> None:
        while await asyncio.to_thread(self._store.leads):
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue
            self._wake.clear()
            if edges := self._edges.waiting():
                await asyncio.to_thread(keep, self._store, edges)
                self._edges.stored(edges)
            while self._games:
                await asyncio.to_thread(self._store.learn, self._games[0])
                self._games.pop(0)
            while self._rounds:
                batch = [self._rounds[at] for at in range(min(len(self._rounds), ROUNDS_AT_ONCE))]
                await asyncio.to_thread(self._store.take, batch)
                for _ in batch:
                    self._rounds.popleft()
            if self._incidents:
                told, self._incidents = self._incidents, []
                await asyncio.to_thread(self._store.take_incidents, told)
            if self._books:
                books, self._books = self._books, []
                await asyncio.to_thread(self._store.take_books, books)
