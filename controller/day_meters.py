"""The meters of the present gaming day, beside those of the table's life."""

import sqlite3
from datetime import UTC, datetime, timedelta

from punto.baccarat.table.meters import Meters, of_game, with_hands
from punto.baccarat.table.state import TableState
from punto.baccarat.wagers.definition import Game
from punto.controller.gaming_days import Calendar
from punto.controller.journal import store
from punto.controller.journal.meters import games_since
from punto.controller.messages.building import timestamp
from punto.controller.messages.metering import meters_of


class DayMeters:
    """The meters of the gaming day: those of the table's life, less those at the day's beginning.

    `began` is that beginning. A hand of an earlier day that is settled again today is not of today.
    """

    def __init__(
        self, state: TableState, calendar: Calendar, connection: sqlite3.Connection, now: datetime
    ) -> None:
        """Read the day's rounds from the record, which is as far as `state`."""
        self._calendar = calendar
        self._begin(now)
        self._first = store.first_since(connection, "rounds", "round", timestamp(self.began))
        self._seen = state
        self._before = state.meters
        for game, records in games_since(connection, self._first):
            self._before = with_hands(self._before, meters_of(game, records), sign=-1)

    def _begin(self, now: datetime) -> None:
        day = self._calendar.day_of(now)
        self.began = self._calendar.begins(day)
        self._ends = self._calendar.begins(day + timedelta(days=1))

    def of(self, game: Game) -> Meters:
        """The day's meters of a game."""
        return of_game(self._seen.meters, game).plus(of_game(self._before, game), sign=-1)

    def see(self, state: TableState, _: int) -> None:
        """Take over what an input has counted: a watcher of the engine."""
        self.turn(datetime.now(UTC))
        before, self._seen = self._seen, state
        entry = state.correction
        if entry is not None and entry is not before.correction and (entry.corrects or 0) < self._first:
            game = state.settings.game
            change = of_game(state.meters, game).plus(of_game(before.meters, game), sign=-1)
            self._before = with_hands(self._before, change)

    def turn(self, now: datetime) -> bool:
        """Begin another day if this one is over; whether it was."""
        over = now >= self._ends
        if over:
            self._begin(now)
            self._before, self._first = self._seen.meters, self._seen.round
        return over
