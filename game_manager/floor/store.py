"""The house's store: what was taken in of all tables, in SQLite or PostgreSQL. `schema` has its tables.

Everything that is taken in moves a cursor in the same transaction. So after a crash, an outage or a second start of the
program, each row is there once: what the cursor has not passed is asked for again.
"""

import fcntl
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, Self

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import (
    Connection,
    Engine,
    RowMapping,
    Table,
    and_,
    bindparam,
    create_engine,
    event,
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
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from punto.baccarat.cards import Card
from punto.baccarat.coup import Winner
from punto.baccarat.table.events import Access, SessionEnded
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import Outcome, Settlement
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import cut
from punto.controller.gaming_days import Calendar
from punto.controller.journal.meters import GAMES as DEFINITIONS
from punto.controller.journal.out_of_the_ordinary import words_of_access
from punto.controller.messages.books import Books
from punto.controller.messages.requests import RecordedIncident
from punto.game_manager.floor import schema
from punto.game_manager.floor.tally import Counted, Place, Sums, as_settled, count

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_PREPARING: Final = 0x50554E54_0001
"""The advisory lock of a store that is being made or brought up to date."""
_LEADING: Final = 0x50554E54_0002
"""The advisory lock of the program that takes in."""


class StoreError(Exception):
    """The store cannot be used. The message says what to do."""


class StoreAwayError(StoreError):
    """The store cannot be reached or written now. It is worth trying again."""


class TooManyRoundsError(Exception):
    """There are more rounds than were to be read."""


class GapError(Exception):
    """Rounds do not follow those that the store has: ask for those after the cursor."""


class Cursor(NamedTuple):
    """What was taken in of a record, which has the number `id` in the store.

    `rounds` is the number of its last round, `ended` when that ended, `incidents` the input up to which its incidents were, and
    `books` the last gaming day whose books were.
    """

    id: int
    rounds: int
    ended: datetime | None
    incidents: int
    books: date | None = None

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """From the columns of a record."""
        id_, rounds, ended, incidents, books = row
        return cls(id_, rounds, None if ended is None else aware(ended), incidents, books)


class OfRecord(Protocol):
    """Something that a table told of its record."""

    @property
    def table(self) -> str:
        """The table's id."""

    @property
    def record(self) -> str:
        """The name of the record."""

    @property
    def simulation(self) -> bool:
        """Whether the table is a simulation."""


Cursors = Mapping[tuple[str, str], Cursor]
"""By the table's id and the name of its record."""


def newest(cursors: Cursors) -> dict[str, int]:
    """The number of each table's last round, of the newest of its records."""
    return {
        table: cursor.rounds for (table, _), cursor in sorted(cursors.items(), key=lambda each: each[1].id)
    }


_CURSOR: Final = tuple(
    schema.RECORDS.c[name] for name in ("id", "rounds_at", "rounds_ts", "incidents_at", "books_at")
)


class Taken(NamedTuple):
    """A round as its table told it: when it ended (UTC), its game, and what identifies the game's rules."""

    table: str
    record: str
    simulation: bool
    ts: datetime
    game: str
    rules: str
    round: RoundRecord


class TakenIncidents(NamedTuple):
    """The incidents and entrances of a record's inputs after `after` up to `until`, as its table told them."""

    table: str
    record: str
    simulation: bool
    after: int
    until: int
    incidents: tuple[RecordedIncident, ...]


class TakenBooks(NamedTuple):
    """The books of a gaming day that has ended, as the service told them at `ts`. `after` is the last day that was taken in before."""

    table: str
    record: str
    simulation: bool
    after: date | None
    ts: str
    books: Books


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
        self._lead: _Lead | None = None
        self._counted: dict[int, Counted | None] = {}
        self._months: set[tuple[str, int, int]] = set()
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
            _set_up_sqlite(self.engine)
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
        """Whether this program is the one that takes in, which it becomes if no other is."""
        with self._reached():
            if self._lead is None:
                self._lead = _Lead(self.engine)
            try:
                return self._lead.held()
            except DBAPIError:
                self._lead.close()
                self._lead = None
                raise

    def _prepare(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with self._writer.begin() as connection:
            if self.is_postgresql:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_PREPARING})"))
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                message = f"the store was made by another version of the program ({error}): install that version or a later one"
                raise StoreError(message) from None
            for game, rules, definition in connection.execute(select(schema.GAMES)):
                self._games[game, rules] = DEFINITIONS.validate_json(definition)

    # --- cursors

    def cursors(self) -> dict[tuple[str, str], Cursor]:
        """The cursors of all records."""
        columns = schema.RECORDS.c
        asked = select(columns.table, columns.record, *_CURSOR)
        with self._reached(), self.engine.connect() as connection:
            return {(table, record): Cursor.of(at) for table, record, *at in connection.execute(asked)}

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
        """
        by_record: defaultdict[tuple[str, str], list[Taken]] = defaultdict(list)
        for each in rounds:
            by_record[each.table, each.record].append(each)
        new: dict[int, Counted | None] = {}
        with self._reached(), self._writer.begin() as connection:
            sums = Sums()
            added: list[tuple[Place, Taken]] = []
            moved: list[dict[str, Any]] = []
            for key, cursor in self.cursors_of(connection, rounds).items():
                of_record = list(self._take_of(connection, cursor, by_record[key], sums, new))
                if of_record:
                    _, last = of_record[-1]
                    moved.append({"moved": cursor.id, "rounds_at": last.round.round, "rounds_ts": last.ts})
                added += of_record
            _move(connection, moved)
            self._make_room(connection, {place.day for place, _ in added})
            self._add(connection, schema.ROUNDS, [_round_row(*each) for each in added])
            self._add(
                connection, schema.SETTLEMENTS, [row for each in added for row in _settlement_rows(*each)]
            )
            self._add_sums(connection, sums)
        self._counted |= new

    def _take_of(
        self,
        connection: Connection,
        cursor: Cursor,
        rounds: list[Taken],
        sums: Sums,
        new: dict[int, Counted | None],
    ) -> Iterator[tuple[Place, Taken]]:
        """Count the rounds of a record that are new."""
        last = cursor.rounds
        for each in rounds:
            number = each.round.round
            if number <= last:
                continue
            if number != last + 1:
                raise GapError(f"{each.table}: round {number} came after {last}")
            last = number
            place = Place(self.calendar.day_of(each.ts), cursor.id, each.game, each.rules)
            before = None
            if each.round.corrects is not None:
                before = new.get(cursor.id, self._counted.get(cursor.id))
                if before is None or before.record.round != each.round.corrects:
                    before = _read_counted(connection, cursor.id, each.round.corrects)
            game = self.game(
                each.game if before is None else before.place.game,
                each.rules if before is None else before.place.rules,
            )
            counted = count(sums, place, each.round, before, game)
            if each.round.status in {"played", "correction"}:
                new[cursor.id] = counted
            yield place, each

    def take_incidents(self, told: Sequence[TakenIncidents]) -> None:
        """Add incidents, each record's in their order, in one transaction.

        Raises:
            GapError: they do not begin where those that the store has end.
        """
        rows: list[tuple[Any, ...]] = []
        moved: list[dict[str, Any]] = []
        with self._reached(), self._writer.begin() as connection:
            cursors = dict(self.cursors_of(connection, told))
            for each in sorted(told, key=lambda each: each[:4]):
                key = each.table, each.record
                cursor = cursors[key]
                if cursor.incidents != each.after:
                    raise GapError(
                        f"{each.table}: incidents after {each.after} came after {cursor.incidents}"
                    )
                cursors[key] = cursor._replace(incidents=each.until)
                moved.append({"moved": cursor.id, "incidents_at": each.until})
                rows += [self._incident_row(cursor.id, incident) for incident in each.incidents]
            _move(connection, moved)
            self._make_room(connection, {row[0] for row in rows})
            self._add(connection, schema.INCIDENTS, rows)

    def take_books(self, told: Sequence[TakenBooks]) -> None:
        """Add books, each record's in the order of their days, in one transaction.

        Raises:
            GapError: the last day that the store has is not the one after which they were asked for.
        """
        rows: list[tuple[Any, ...]] = []
        moved: list[dict[str, Any]] = []
        with self._reached(), self._writer.begin() as connection:
            cursors = dict(self.cursors_of(connection, told))
            for each in sorted(told, key=lambda each: (each.table, each.record, each.books.day.day)):
                key, day = (each.table, each.record), each.books.day.day
                cursor = cursors[key]
                if cursor.books != each.after:
                    raise GapError(f"{each.table}: books after {each.after} came after {cursor.books}")
                cursors[key] = cursor._replace(books=day)
                moved.append({"moved": cursor.id, "books_at": day})
                ts = datetime.fromisoformat(each.ts)
                for accrual in each.books.day.progressives:
                    own = each.books.of(accrual.progressive).model_dump_json()
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

    def _incident_row(self, record_id: int, told: RecordedIncident) -> tuple[Any, ...]:
        ts = datetime.fromisoformat(told.ts)
        day = self.calendar.day_of(ts)
        return (
            day,
            record_id,
            told.seq,
            told.place,
            ts,
            told.kind,
            told.source,
            told.who,
            told.text,
            told.where,
        )

    def _make_room(self, connection: Connection, days: Iterable[date]) -> None:
        """Make the partitions of these days, if they are not there."""
        if not self.is_postgresql:
            return
        for year, month in sorted({(day.year, day.month) for day in days}):
            for table in schema.PARTITIONED:
                if (table.name, year, month) in self._months:
                    continue
                until = date(year + month // 12, month % 12 + 1, 1)
                connection.execute(
                    text(
                        f"CREATE TABLE IF NOT EXISTS {table.name}_{year}_{month:02} PARTITION OF {table.name} "
                        f"FOR VALUES FROM ('{date(year, month, 1)}') TO ('{until}')"
                    )
                )
                self._months.add((table.name, year, month))

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
        with cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def _add_sums(self, connection: Connection, sums: Sums) -> None:
        rows: dict[Table, list[dict[str, Any]]] = {
            schema.COUNTS: [
                {**place._asdict(), "status": status, "rounds": n}
                for (place, status), n in sums.counts.items()
                if n
            ],
            schema.DROPS: [
                {**place._asdict(), "wager": wager, **_drop_row(drop)}
                for (place, wager), drop in sums.drops.items()
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
            and load_game(name).rules_digest == rules
        ):
            self._games[name, rules] = load_game(name)
        return self._games.get((name, rules))

    def learn(self, game: Game) -> None:
        """Keep a game, and count what its rounds hit that were taken in before it was known."""
        key = (game.name, game.rules_digest)
        if self.game(*key) is not None:
            return
        with self._reached(), self._writer.begin() as connection:
            row = {
                "game": game.name,
                "rules": game.rules_digest,
                "definition": DEFINITIONS.dump_json(game).decode(),
            }
            # Not by `rowcount`, which not every driver knows.
            new = self.insert_once(schema.GAMES).returning(schema.GAMES.c.game)
            if connection.execute(new, row).first() is not None:
                sums = Sums()
                for place, record in _played(connection, *key):
                    sums.add_hits(place, record, game)
                self._add_sums(connection, sums)
        self._games[key] = game

    # --- rounds

    def rounds_between(self, since: datetime, until: datetime, most: int) -> Iterator[Taken]:
        """The rounds that ended from `since` up to `until` (UTC), by table and record, each record's in their order.

        Raises:
            TooManyRoundsError: there are more than `most`.
        """
        columns, settled = schema.ROUNDS.c, schema.SETTLEMENTS.c
        days = self.calendar.day_of(since), self.calendar.day_of(until)
        among = columns.day.between(*days), columns.ts >= since, columns.ts < until
        at = columns.record_id, columns.round
        asked = (
            select(
                schema.ROUNDS, schema.RECORDS.c.table, schema.RECORDS.c.record, schema.RECORDS.c.simulation
            )
            .join_from(schema.ROUNDS, schema.RECORDS, columns.record_id == schema.RECORDS.c.id)
            .where(*among)
            .order_by(*at)
        )
        of_these = (
            select(schema.SETTLEMENTS)
            .join_from(
                schema.SETTLEMENTS,
                schema.ROUNDS,
                and_(*(settled[name] == columns[name] for name in ("day", "record_id", "round"))),
            )
            .where(*among)
            .order_by(*at, settled.seat, settled.wager)
        )
        with self.reading() as connection:
            number = connection.scalar(select(func.count()).select_from(schema.ROUNDS).where(*among)) or 0
            if number > most:
                raise TooManyRoundsError(f"{number} rounds are more than {most}")
            settlements = defaultdict(list)
            for row in connection.execute(of_these).mappings():
                settlements[row["record_id"], row["round"]].append(_settlement_of(row))
            for row in connection.execute(asked).mappings():
                record = _record_of(row, settlements.pop((row["record_id"], row["round"]), ()))
                yield Taken(
                    row["table"],
                    row["record"],
                    row["simulation"],
                    aware(row["ts"]),
                    row["game"],
                    row["rules"],
                    record,
                )

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection with a transaction."""
        with self._reached(), self._writer.begin() as connection:
            yield connection

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
    def _reached(self) -> Iterator[None]:
        """Raise an error of the store's own if it cannot be reached. Rows that contradict each other end the program."""
        try:
            yield
        except IntegrityError:
            raise
        except DBAPIError as error:
            self._months.clear()
            raise StoreAwayError(_in_one_line(error.orig or error)) from error
        except SQLAlchemyError as error:  # such as no connection of the pool within its time
            raise StoreAwayError(_in_one_line(error)) from error


class _Lead:
    """A lock that one program has: in PostgreSQL for a connection, beside a file of SQLite for a process."""

    def __init__(self, engine: Engine) -> None:
        self._held = False
        self._connection: Connection | None = None
        self._file: int | None = None
        if engine.dialect.name == "postgresql":
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        else:
            self._file = os.open(f"{engine.url.database}.lead", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o640)

    def held(self) -> bool:
        """Take it if nobody has it. In PostgreSQL, this raises an error if the connection that has it was lost."""
        if self._connection is not None:
            asked = "SELECT true" if self._held else f"SELECT pg_try_advisory_lock({_LEADING})"
            self._held = bool(self._connection.execute(text(asked)).scalar_one())
        elif self._file is not None and not self._held:
            with suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._held = True
        return self._held

    def close(self) -> None:
        """Give it back."""
        if self._connection is not None:
            self._connection.invalidate()  # a connection that goes back to the pool would keep the lock
            self._connection.close()
        if self._file is not None:
            os.close(self._file)


def _move(connection: Connection, moved: list[dict[str, Any]]) -> None:
    """Move cursors: each of the same columns, of the record with the number `moved`."""
    if moved:
        connection.execute(update(schema.RECORDS).where(schema.RECORDS.c.id == bindparam("moved")), moved)


def _in_one_line(error: BaseException) -> str:
    return cut(" ".join(str(error).split()), 300)


def _set_up_sqlite(engine: Engine) -> None:
    """Each commit is on the disk when it returns, and one transaction at a time writes. Those that read hold up nothing."""

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # SQLAlchemy's "begin" is below
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            "busy_timeout = 5000",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# --- rows


def _round_row(place: Place, taken: Taken) -> tuple[Any, ...]:
    record = taken.round
    return (
        place.day,
        place.record_id,
        record.round,
        taken.ts,
        taken.game,
        taken.rules,
        record.shoe,
        record.coup,
        record.status,
        " ".join(map(str, record.player)),
        " ".join(map(str, record.banker)),
        record.player_total,
        record.banker_total,
        None if record.winner is None else record.winner.value,
        record.natural,
        record.corrects,
        record.hidden,
        record.who,
        record.approved_by,
        record.reason,
    )


def _settlement_rows(place: Place, taken: Taken) -> Iterator[tuple[Any, ...]]:
    for each in taken.round.settlements:
        yield (
            place.day,
            place.record_id,
            taken.round.round,
            each.seat,
            each.wager,
            each.outcome.value,
            each.stake,
            each.returned,
            each.net,
            each.rule,
            each.remainder,
        )


def _drop_row(drop: Any) -> dict[str, Any]:
    return {
        "wagers": drop.wagers,
        "staked": drop.staked,
        "returned": drop.returned,
        "squares": float(drop.squares),
    }


def _read_counted(connection: Connection, record_id: int, number: int) -> Counted | None:
    """A round as it was settled last, None if it was not played or was taken back."""
    columns = schema.ROUNDS.c
    of_record = select(schema.ROUNDS).where(columns.record_id == record_id)
    played = (
        connection.execute(of_record.where(columns.round == number, columns.status == "played"))
        .mappings()
        .one_or_none()
    )
    if played is None:
        return None
    corrections = connection.execute(
        of_record.where(columns.round > number, columns.corrects == number).order_by(columns.round)
    ).mappings()
    last = as_settled(
        _read_record(connection, played), [_read_record(connection, each) for each in corrections]
    )
    return None if last is None else Counted(_place_of(played), last)


def _played(connection: Connection, game: str, rules: str) -> Iterator[Counted]:
    """The rounds of a game that count, each as it was settled last."""
    columns = schema.ROUNDS.c
    asked = select(columns.record_id, columns.round).where(
        columns.game == game, columns.rules == rules, columns.status == "played"
    )
    for record_id, number in connection.execute(asked).all():
        found = _read_counted(connection, record_id, number)
        if found is not None:
            yield found


def _place_of(row: RowMapping) -> Place:
    return Place(row["day"], row["record_id"], row["game"], row["rules"])


def _read_record(connection: Connection, row: RowMapping) -> RoundRecord:
    columns = schema.SETTLEMENTS.c
    settled = select(schema.SETTLEMENTS).where(
        *(columns[name] == row[name] for name in ("day", "record_id", "round"))
    )
    return _record_of(row, map(_settlement_of, connection.execute(settled).mappings()))


def _record_of(row: RowMapping, settlements: Iterable[Settlement]) -> RoundRecord:
    return RoundRecord(
        round=row["round"],
        shoe=row["shoe"],
        coup=row["coup"],
        status=row["status"],
        player=_cards(row["player"]),
        banker=_cards(row["banker"]),
        player_total=row["player_total"],
        banker_total=row["banker_total"],
        winner=None if row["winner"] is None else Winner(row["winner"]),
        natural=row["natural"],
        player_pair=False,
        banker_pair=False,
        settlements=tuple(settlements),
        corrects=row["corrects"],
    )


def _settlement_of(row: RowMapping) -> Settlement:
    same = ("seat", "wager", "stake", "returned", "net", "rule", "remainder")
    return Settlement(outcome=Outcome(row["outcome"]), **{name: row[name] for name in same})


def _cards(written: str) -> tuple[Card, ...]:
    return tuple(map(Card, written.split()))


def aware(moment: datetime) -> datetime:
    """A moment of the store in UTC. SQLite keeps no offset."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
