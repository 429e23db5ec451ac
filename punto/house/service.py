"""The Game Manager's parts, and the order in which they begin and end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final, Protocol

import structlog
from starlette.types import ASGIApp

from punto.house.books import Kept
from punto.house.card_order import CardOrderWatch
from punto.house.choices import records_to_choose
from punto.house.config import FloorAccounts, GameManagerConfig, PagesConfig
from punto.house.disputes import HeldRecord, held_records
from punto.house.feed import Feed
from punto.house.intake import Intake
from punto.house.live import CardOrder, Deviation, Floor, FloorView, Known, TableView
from punto.house.metrics import MonitoredFloor
from punto.house.people import LONGEST_SESSION, signed_on
from punto.house.standing import Standing
from punto.house.store import Store, StoreAwayError
from punto.house.taken import newest
from punto.house.watch import Watch
from punto.house.web import EndingError, application
from punto.messages.building import timestamp
from punto.messages.topics import house_accounts
from punto.runtime.backoff import Backoff
from punto.runtime.gaming_days import Calendar
from punto.runtime.sd_notify import notify
from punto.runtime.tls import server_tls
from punto.web.server import Server, address_of, listen

_log = structlog.get_logger("punto.house")
_ALIVE_SECONDS: Final = 1.0
_STORE_SECONDS: Final = 5.0
_WATCH_SECONDS: Final = 60.0


class Entrance(Protocol):
    """Sign-on before the pages."""

    def application(self, view: Callable[[], FloorView], store: Store, kept: Callable[[], Kept]) -> ASGIApp:
        """The pages behind the entrance."""

    async def tend(self) -> None:
        """End the sessions that must end, until cancelled."""

    def expected(self) -> int:
        """The version of the house's accounts that each table must have by now, 0 if the tables have accounts of their own."""

    def close(self) -> None:
        """Close the accounts."""


Entrances = Callable[[FloorAccounts, PagesConfig, int, Store, Callable[[bytes], None]], Entrance]
"""Opens the entrance of pages at this port; raises ConfigError if the accounts cannot be used. The last argument publishes a copy of
the accounts to the tables."""


class _Stored:
    """What the store has of each table, as it was some seconds ago: another Game Manager may take in."""

    def __init__(self, store: Store, calendar: Calendar) -> None:
        self._store = store
        self._calendar = calendar
        self._staff: Mapping[str, tuple[str, ...]] = {}
        self._rounds: Mapping[str, int] = {}
        self._deviations: Mapping[str, tuple[Deviation, ...]] = {}
        self._card_orders: Mapping[str, tuple[CardOrder, ...]] = {}
        self._unwatched: Mapping[str, str] = {}
        self._records: Mapping[str, tuple[HeldRecord, ...]] = {}
        self.watched = False
        """Whether it has looked for what is not by chance since its start."""

    async def look(self) -> None:
        """Look every few seconds until cancelled."""
        while True:
            since = self._calendar.day_of(datetime.now(UTC)) - LONGEST_SESSION
            with _going_on("people"):
                self._staff = await asyncio.to_thread(signed_on, self._store, since)
                self._rounds = newest(await asyncio.to_thread(self._store.cursors))
            with _going_on("records to choose from"):
                found = await asyncio.to_thread(records_to_choose, self._store)
                self._records = {name: held_records(known) for name, known in found.items()}
            await asyncio.sleep(_STORE_SECONDS)

    async def watch(self, floor: Floor) -> None:
        """Look every minute for what is not by chance, until cancelled.

        What a table told may make a look fail, and must not end the program that follows all the tables.
        """
        watch, card_order = Watch(self._store), CardOrderWatch(self._store)
        while True:
            now = datetime.now(UTC)
            with _going_on("games"):
                await asyncio.to_thread(self._store.read_games)
            with _going_on("deviations"):
                self._deviations = await asyncio.to_thread(watch.look, now, floor.told())
                self._unwatched = watch.unwatched
            with _going_on("order of cards"):
                self._card_orders = await asyncio.to_thread(card_order.look)
            self.watched = True
            await asyncio.sleep(_WATCH_SECONDS)

    def known(self, intake: Intake, feed: Feed) -> dict[str, Known]:
        """With what this program takes in itself, as of now."""
        rounds = {**self._rounds, **intake.taken()}
        faults = {**self._unwatched, **feed.faults(), **intake.faults()}
        unread = feed.unread()
        return {
            name: Known(
                rounds.get(name, 0),
                faults.get(name, ""),
                self._staff.get(name, ()),
                self._deviations.get(name, ()),
                self._card_orders.get(name, ()),
                self._records.get(name, ()),
                unread.get(name, ""),
            )
            for name in rounds.keys()
            | self._staff.keys()
            | faults.keys()
            | unread.keys()
            | self._records.keys()
        }


async def serve(
    config: GameManagerConfig, entrance_of: Entrances, opened: Callable[[str], None] = lambda _: None
) -> None:
    """Run until cancelled. `opened` gets the address of the pages, and `entrance_of` is called if there are `[accounts]`.

    Raises:
        ConfigError: a password, a certificate, the accounts or the address of the pages cannot be used.
        StoreError: the store cannot be used.
    """
    tls = server_tls(config.pages.certificate, config.pages.key, "pages")
    listener = listen(config.pages.host, config.pages.port, "pages.port", reserved=config.pages.reserved)
    store = await _opened(config)
    floor, intake = Floor(), Intake(store)
    feed = Feed(config.mqtt, config.floor, floor, intake)

    stored, standing = _Stored(store, config.calendar.calendar()), Standing(store)
    ending = asyncio.Event()
    entrance: Entrance | None = None

    def view() -> FloorView:
        if ending.is_set():
            raise EndingError
        return present()

    def present() -> FloorView:
        now = datetime.now(UTC)
        return FloorView(
            at=timestamp(now),
            taking_in=intake.reason,
            broker=feed.reason,
            tables=standing.on(tables(now), now),
        )

    def tables(now: datetime) -> tuple[TableView, ...]:
        known, accounts = stored.known(intake, feed), 0 if entrance is None else entrance.expected()
        return floor.view(now, known, accounts=accounts)

    def keeps() -> bool:
        return stored.watched and not intake.reason

    kept = partial(_kept, floor, intake)
    if config.accounts is not None:
        publish = partial(feed.publish, house_accounts(config.mqtt.base))
        entrance = entrance_of(config.accounts, config.pages, listener.getsockname()[1], store, publish)
    pages = (
        application(view, store, kept=kept, sounds=config.pages.sounds)
        if entrance is None
        else entrance.application(view, store, kept)
    )
    server = Server(pages, tls=tls, reserved=config.pages.reserved)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="pages")
    try:
        async with _monitored(config, present), asyncio.TaskGroup() as tasks:
            if entrance is not None:
                tasks.create_task(entrance.tend(), name="sessions")
            tasks.create_task(intake.run(), name="intake")
            tasks.create_task(feed.run(), name="feed")
            tasks.create_task(stored.look(), name="store")
            tasks.create_task(stored.watch(floor), name="watch")
            tasks.create_task(standing.follow(tables, keeps), name="alarms")
            tasks.create_task(_say_alive(), name="alive")
            tasks.create_task(_until_ended(serving), name="pages end")
            opened(address_of(listener, tls=tls is not None))
            notify("READY=1")
    finally:
        notify("STOPPING=1")
        ending.set()
        server.stop()
        await asyncio.wait([serving])  # the streams end by themselves
        listener.close()
        if entrance is not None:
            entrance.close()
        await asyncio.to_thread(store.close)


@asynccontextmanager
async def _monitored(config: GameManagerConfig, view: Callable[[], FloorView]) -> AsyncIterator[None]:
    """Serve the address for monitoring, if it is configured."""
    if config.metrics is None:
        yield
        return
    from punto.web.metrics import monitoring  # noqa: PLC0415 - only for such a house

    async with monitoring(config.metrics.port, MonitoredFloor(view)):
        yield


@contextmanager
def _going_on(looked_for: str) -> Iterator[None]:
    """Log what made a look at the store fail, and go on. The intake reports a store that is away."""
    try:
        yield
    except StoreAwayError:
        pass
    except Exception:  # noqa: BLE001 - logged whole, and the next look may succeed
        _log.exception("a look at the store failed", looked_for=looked_for)


def _kept(floor: Floor, intake: Intake) -> Kept:
    return Kept(floor.kept(), {**intake.unanswered(), **intake.faults()})


async def _opened(config: GameManagerConfig) -> Store:
    """Open the store; wait for a database that is away, as at the boot of a house."""
    backoff = Backoff(0.5, 5)
    while True:
        try:
            return await asyncio.to_thread(
                Store, config.store.url, config.calendar.calendar(), config.store.password()
            )
        except StoreAwayError as error:
            if config.store.address is None:
                raise  # a file does not come by itself
            if not backoff.failures:
                _log.warning("store away", reason=str(error))
        await asyncio.sleep(backoff.pause())


async def _until_ended(serving: asyncio.Task[None]) -> None:
    """Raise what ended the pages. They are not cancelled with the others: the server ends its answers first."""
    await asyncio.shield(serving)


async def _say_alive() -> None:
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(_ALIVE_SECONDS)
