"""The house's store: what was taken in of all tables, in SQLite or PostgreSQL. `schema` has its tables.

Everything that is taken in moves a cursor in the same transaction. So after a crash, an outage or a second start of the
program, each row is there once: what the cursor has not passed is asked for again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import (
    Connection,
    Table,
    bindparam,
    create_engine,
    func,
    insert,
    literal,
    make_url,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, SQLAlchemyError

from punto.baccarat.table.events import Access, SessionEnded
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import cut
from punto.controller.journal.entries import GAMES as DEFINITIONS
from punto.controller.journal.out_of_the_ordinary import words_of_access
from punto.house import schema
from punto.house.databases import Lead, set_up_sqlite
from punto.house.rows import (
    handle_row,
    incident_row,
    last_rounds,
    played,
    read_counted,
    round_row,
    settlement_rows,
)
from punto.house.taken import (
    Cursor,
    Cursors,
    Digests,
    OfRecord,
    Taken,
    TakenBooks,
    TakenIncidents,
)
from punto.house.tally import Counted, Place, Sums, count
from punto.runtime.gaming_days import Calendar

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_PREPARING: Final = 0x50554E54_0001
"""The advisory lock of a store that is being made or brought up to date."""


class StoreError(Exception):
    """The store cannot be used. The message says what to do."""


class StoreAwayError(StoreError):
    """The store cannot be reached or written now. It is worth trying again."""


class RefusedError(Exception):
    """The store can be reached, and refuses what a table told: rows that it has already, or what no column can hold."""


class GapError(Exception):
    """Rounds do not follow those that the store has: ask for those after the cursor."""


_shipped_game: Final = cache(load_game)
_WRONG: Final = (IntegrityError, DataError, ArithmeticError, LookupError, TypeError, ValueError)
"""What is raised by what a table told, and not by a database that is away."""
_CURSOR: Final = tuple(
    schema.RECORDS.c[name]
    for name in ("id", "rounds_at", "rounds_ts", "incidents_at", "books_at", "held_back", "heard_at")
)


class Store:
    """An open store. Its methods work in any thread; what takes in is called one at a time.

    Each raises StoreAwayError if the store cannot be reached or written now.
    """

    def __init__(self, url: str, calendar: Calendar, password: str | None = None) -> None:
        """Open the store, make it if it is new, and bring it up to date.

        Raises:
            StoreError: the address is invalid, or a later version of the program made the store.
        """
        self.calendar = calendar
        self._lead: Lead | None = None
        self._games: dict[tuple[str, str], Game] = {}
        try:
            address = make_url(url)
            if password is not None:
                address = address.set(password=password)
            self.engine = create_engine(address, pool_pre_ping=True)
        except (ArgumentError, ModuleNotFoundError, ValueError) as error:
            message = f"{cut(str(error))}: write sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE"
            raise StoreError(message) from None
        self.is_postgresql = self.engine.dialect.name == "postgresql"
        if not self.is_postgresql:
            set_up_sqlite(self.engine)
        self._writer = self.engine.execution_options(writes=True)
        try:
            with self._reached():
                self._prepare()
        except BaseException:
            self.engine.dispose()
            raise

    def close(self) -> None:
        """Close its connections. Another program may then lead."""
        if self._lead is not None:
            self._lead.close()
        self.engine.dispose()

    # --- one of several programs takes in

    def leads(self) -> bool:
        """Whether this program is the one that takes in, which it becomes if no other is.

        It then reads again what it remembers of the store, because another program may have taken in, or the store was restored.
        """
        with self._reached():
            if self._lead is None:
                self._lead = Lead(self.engine)
            try:
                led, leads = self._lead.is_held, self._lead.held()
                if leads and not led:
                    with self.engine.connect() as connection:
                        self._read_games(connection)
            except DBAPIError:
                self._lead.close()
                self._lead = None
                raise
            else:
                return leads

    def _prepare(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with self._writer.execution_options(prepares=True).begin() as connection:
            if self.is_postgresql:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_PREPARING})"))
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                message = f"the store was made by another version of the program ({error}): use the version of the program that made it"
                raise StoreError(message) from None
            self._read_games(connection)

    # --- cursors

    def cursors(self) -> dict[tuple[str, str], Cursor]:
        """The cursors of all records."""
        columns = schema.RECORDS.c
        asked = select(columns.table, columns.record, *_CURSOR)
        with self._reached(), self.engine.connect() as connection:
            return {(table, record): Cursor.of(at) for table, record, *at in connection.execute(asked)}

    def last_digests(self) -> Digests:
        """The digest of each record's last round, of those that the store still has."""
        with self.reading() as connection:
            return {
                (each.table, each.record): {each.round.round: each.digest} for each in last_rounds(connection)
            }

    def cursors_of(self, connection: Connection, told: Iterable[OfRecord]) -> Cursors:
        """The cursors of the records of these, which are made if they are new. No other program moves them until the transaction ends."""
        simulations = {(each.table, each.record): each.simulation for each in told}
        columns = schema.RECORDS.c
        of_these = tuple_(columns.table, columns.record).in_(list(simulations))
        asked = select(columns.table, columns.record, *_CURSOR).where(of_these).order_by(columns.id)

        def read() -> Cursors:
            rows = connection.execute(asked.with_for_update())
            return {(table, record): Cursor.of(at) for table, record, *at in rows}

        found, now = read(), datetime.now(UTC)
        new = [
            {"table": table, "record": record, "simulation": simulation, "first_seen": now}
            for (table, record), simulation in sorted(simulations.items())
            if (table, record) not in found
        ]
        if new:
            connection.execute(self._upsert(schema.RECORDS, ("table", "record")), new)
            found = read()
        return found

    # --- taking in

    def take(self, rounds: Sequence[Taken]) -> None:
        """Add rounds, those of a record in their order, in one transaction. Rounds that the store has are passed over.

        Raises:
            GapError: a round before one of these is missing.
            RefusedError: the store refuses them.
        """
        by_record: defaultdict[tuple[str, str], list[Taken]] = defaultdict(list)
        for each in rounds:
            by_record[each.table, each.record].append(each)
        with self.taking_in() as connection:
            sums = Sums()
            games = cache(partial(self._game_in, connection))
            added: list[tuple[Place, Taken]] = []
            moved: list[dict[str, Any]] = []
            for key, cursor in self.cursors_of(connection, rounds).items():
                of_record = list(self._take_of(connection, cursor, by_record[key], sums, games))
                if of_record:
                    _, last = of_record[-1]
                    moved.append(
                        {
                            "moved": cursor.id,
                            "currency": last.currency,
                            "rounds_at": last.round.round,
                            "rounds_ts": last.ts,
                        }
                    )
                added += of_record
            _move(connection, moved)
            self._make_room(connection, {place.day for place, _ in added})
            self._add(connection, schema.ROUNDS, [round_row(*each) for each in added])
            self._add(
                connection, schema.SETTLEMENTS, [row for each in added for row in settlement_rows(*each)]
            )
            self._add_sums(connection, sums)

    def _take_of(
        self,
        connection: Connection,
        cursor: Cursor,
        rounds: list[Taken],
        sums: Sums,
        games: Callable[[str, str], Game | None],
    ) -> Iterator[tuple[Place, Taken]]:
        """Count the rounds of a record that are new."""
        last = cursor.rounds
        # Only of this transaction: another program may take in the next rounds.
        settled: dict[int, Counted | None] = {}
        for each in rounds:
            number = each.round.round
            if number <= last:
                continue
            if number != last + 1:
                raise GapError(f"{each.table}: round {number} came after {last}")
            last = number
            place = Place(self.calendar.day_of(each.ts), cursor.id, each.game, each.rules)
            before = None
            if each.round.status == "correction" and each.round.corrects is not None:
                number = each.round.corrects
                if number not in settled:
                    settled[number] = read_counted(connection, cursor.id, number)
                before = settled[number]
            game = games(*(place if before is None else before.place)[2:])
            if game is not None:
                _check_wagers(game, each.round)
            settled[number] = count(sums, place, each.round, before, game)
            if each.round.status == "correction" and before is None:
                sums.add_differences(place, each.round)
            yield place, each

    def take_incidents(self, told: Sequence[TakenIncidents]) -> None:
        """Add incidents, each record's in their order, in one transaction.

        Raises:
            GapError: they do not begin where those that the store has end.
            RefusedError: the store refuses them.
        """
        rows: list[tuple[Any, ...]] = []
        moved: list[dict[str, Any]] = []
        with self.taking_in() as connection:
            cursors = dict(self.cursors_of(connection, told))
            for each in sorted(told, key=lambda each: (each.table, each.record, each.after)):
                key = each.table, each.record
                cursor = cursors[key]
                if cursor.incidents != each.after:
                    raise GapError(
                        f"{each.table}: incidents after {each.after} came after {cursor.incidents}"
                    )
                cursors[key] = cursor._replace(incidents=each.until)
                moved.append({"moved": cursor.id, "incidents_at": each.until})
                rows += [incident_row(self.calendar, cursor.id, incident) for incident in each.incidents]
            _move(connection, moved)
            self._make_room(connection, {row[0] for row in rows})
            self._add(connection, schema.INCIDENTS, rows)

    def take_books(self, told: Sequence[TakenBooks]) -> None:
        """Add books, each record's in the order of their days, in one transaction.

        Raises:
            GapError: the last day that the store has is not the one after which they were asked for.
            RefusedError: the store refuses them.
        """
        rows: list[tuple[Any, ...]] = []
        moved: list[dict[str, Any]] = []
        with self.taking_in() as connection:
            cursors = dict(self.cursors_of(connection, told))
            for each in sorted(told, key=lambda each: (each.table, each.record, each.books.day.day)):
                key, day = (each.table, each.record), each.books.day.day
                cursor = cursors[key]
                if cursor.books != each.after:
                    raise GapError(f"{each.table}: books after {each.after} came after {cursor.books}")
                cursors[key] = cursor._replace(books=day)
                moved.append({"moved": cursor.id, "currency": each.books.currency, "books_at": day})
                ts = datetime.fromisoformat(each.ts)
                for accrual in each.books.day.progressives:
                    own = each.books.of(accrual.progressive).model_dump_json(context=each.books.currency)
                    rows.append((day, cursor.id, accrual.progressive, ts, own))
            _move(connection, moved)
            self._add(connection, schema.BOOKS, rows)

    def note_accesses(self, noted: Sequence[tuple[datetime, Access]]) -> None:
        """Add accesses to the Game Manager's own pages, and when each was (UTC), in one transaction."""
        rows = [
            {
                "ts": ts,
                "kind": access.kind,
                "who": access.who,
                "text": words_of_access(access),
                "where": None if isinstance(access, SessionEnded) else access.where,
            }
            for ts, access in noted
        ]
        with self.writing() as connection:
            connection.execute(insert(schema.ACCESSES), rows)

    def _make_room(self, connection: Connection, days: Iterable[date]) -> None:
        """Make the partitions of these days, if they are not there. It is asked each time, because a command may drop a month."""
        if not self.is_postgresql:
            return
        months = sorted({(day.year, day.month) for day in days})
        wanted = {
            f"{table.name}_{year}_{month:02}": f"{table.name} FOR VALUES FROM ('{date(year, month, 1)}') "
            f"TO ('{date(year + month // 12, month % 12 + 1, 1)}')"
            for year, month in months
            for table in schema.PARTITIONED
        }
        missing = text(
            "SELECT name FROM unnest(CAST(:names AS text[])) AS name WHERE to_regclass(name) IS NULL"
        )
        for name in connection.execute(missing, {"names": list(wanted)}).scalars().all():
            connection.execute(text(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF {wanted[name]}"))

    def _add(self, connection: Connection, table: Table, rows: list[tuple[Any, ...]]) -> None:
        """Add rows, each with all columns in the table's order."""
        names = table.columns.keys()
        if not rows:
            return
        if not self.is_postgresql:
            connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])
            return
        columns = ", ".join(f'"{name}"' for name in names)
        cursor: Any = connection.connection.cursor()
        database: Any = self.engine.dialect.loaded_dbapi
        try:
            with cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        except database.Error as error:  # SQLAlchemy does not see this cursor
            raise DBAPIError.instance(None, None, error, database.Error) from error

    def _add_sums(self, connection: Connection, sums: Sums) -> None:
        rows: dict[Table, list[dict[str, Any]]] = {
            schema.COUNTS: [
                {**place._asdict(), "status": status, "rounds": n}
                for (place, status), n in sums.counts.items()
                if n
            ],
            schema.HANDLES: [
                {**place._asdict(), "wager": wager, **handle_row(handle)}
                for (place, wager), handle in sums.handles.items()
            ],
            schema.HITS: [
                {**place._asdict(), "wager": wager, "rule": rule, "hits": n}
                for (place, wager, rule), n in sums.hits.items()
                if n
            ],
        }
        for table, these in rows.items():
            if these:
                # In one order in each program, so that two of them cannot wait for each other.
                these.sort(key=lambda row: tuple(map(str, row.values())))
                self._add_to(connection, table, these)

    def _add_to(self, connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
        """Add to the rows that there are, or make them."""
        if self.is_postgresql:  # all in one statement, which takes a fifth of the time
            names = list(rows[0])
            columns = [
                literal([row[name] for row in rows], postgresql.ARRAY(table.c[name].type)) for name in names
            ]
            unnested = func.unnest(*columns).table_valued(*names).render_derived()
            made = postgresql.insert(table).from_select(names, select(unnested))
            connection.execute(self._summing(table, made))
        else:
            connection.execute(self._summing(table, sqlite.insert(table)), rows)

    @staticmethod
    def _summing(table: Table, made: Any) -> Any:
        """An insert that adds to the row that there is."""
        sums = [each for each in table.columns if not each.primary_key]
        return made.on_conflict_do_update(
            index_elements=list(table.primary_key.columns),
            set_={each.name: each + made.excluded[each.name] for each in sums},
        )

    def _upsert(self, table: Table, key: Sequence[str]) -> Any:
        """An insert that leaves the row that there is."""
        kind = postgresql if self.is_postgresql else sqlite
        return kind.insert(table).on_conflict_do_nothing(index_elements=list(key))

    # --- games

    def game(self, name: str, rules: str) -> Game | None:
        """The game by its name and rules, None if it is not known yet."""
        if (
            (name, rules) not in self._games
            and name in shipped_games()
            and _shipped_game(name).rules_digest == rules
        ):
            self._games[name, rules] = _shipped_game(name)
        return self._games.get((name, rules))

    def games(self) -> tuple[Game, ...]:
        """All games that are known."""
        return (*self._games.values(), *map(_shipped_game, shipped_games()))

    def read_games(self) -> None:
        """Read which games are known: another program may have learned some."""
        with self.reading() as connection:
            self._read_games(connection)

    def _read_games(self, connection: Connection) -> None:
        self._games = {
            (name, rules): self._games.get((name, rules)) or DEFINITIONS.validate_json(definition)
            for name, rules, definition in connection.execute(select(schema.GAMES))
        }

    def _game_in(self, connection: Connection, name: str, rules: str) -> Game | None:
        """The game of a round that is taken in. If it is not known, no program learns it until the transaction ends."""
        if (game := self.game(name, rules)) is not None:
            return game
        if self.is_postgresql:  # in SQLite, nothing else writes
            connection.execute(text(f"LOCK TABLE {schema.GAMES.name} IN SHARE MODE"))
        self._read_games(connection)
        return self.game(name, rules)

    def learn(self, game: Game) -> None:
        """Keep a game, and count what its rounds hit, and what was rounded, that were taken in before it was known.

        Raises:
            RefusedError: the store refuses it.
        """
        key = (game.name, game.rules_digest)
        if self.game(*key) is not None:
            return
        with self.taking_in() as connection:
            row = {
                "game": game.name,
                "rules": game.rules_digest,
                "definition": DEFINITIONS.dump_json(game).decode(),
            }
            # Not by `rowcount`, which not every driver knows.
            new = self.insert_once(schema.GAMES).returning(schema.GAMES.c.game)
            if connection.execute(new, row).first() is not None:
                sums = Sums()
                for place, record in played(connection, *key):
                    sums.add_of_game(place, record, game)
                self._add_sums(connection, sums)
        self._games[key] = game

    # --- connections

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection with a transaction."""
        with self._reached(), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def taking_in(self) -> Iterator[Connection]:
        """A connection with a transaction that writes what tables told.

        Raises:
            RefusedError: the store, or this program, cannot do with what they told.
        """
        try:
            with self._reached(but=_WRONG), self._writer.begin() as connection:
                yield connection
        except _WRONG as error:
            raise RefusedError(_in_one_line(getattr(error, "orig", None) or error)) from error

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that reads."""
        with self._reached(), self.engine.connect() as connection:
            yield connection

    def insert_once(self, table: Table) -> Any:
        """An insert that leaves the row that there is."""
        return self._upsert(table, list(table.primary_key.columns.keys()))

    # --- errors

    @contextmanager
    def _reached(self, but: tuple[type[Exception], ...] = (IntegrityError,)) -> Iterator[None]:
        """Raise an error of the store's own if it cannot be reached. `but` these errors pass as they are."""
        try:
            yield
        except but:
            raise
        except DBAPIError as error:
            raise StoreAwayError(_in_one_line(error.orig or error)) from error
        except SQLAlchemyError as error:  # such as no connection of the pool within its time
            raise StoreAwayError(_in_one_line(error)) from error


def _check_wagers(game: Game, told: RoundRecord) -> None:
    """Raise ValueError if a round has a wager that its game does not have."""
    if unknown := {each.wager for each in told.settlements} - {each.name for each in game.wagers}:
        wager = cut(min(unknown))
        raise ValueError(f"round {told.round} has a wager {wager!r}, which its game does not have")


def _move(connection: Connection, moved: list[dict[str, Any]]) -> None:
    """Move cursors: each of the same columns, of the record with the number `moved`."""
    if moved:
        connection.execute(update(schema.RECORDS).where(schema.RECORDS.c.id == bindparam("moved")), moved)


def _in_one_line(error: BaseException) -> str:
    return cut(" ".join(str(error).split()), 300)
