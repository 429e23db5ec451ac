"""The Game Manager's parts, and the order in which they begin and end."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from punto.controller.messages.building import timestamp
from punto.controller.sd_notify import notify
from punto.controller.web_server import Server, address_of, listen
from punto.game_manager.floor.config import GameManagerConfig
from punto.game_manager.floor.feed import Feed
from punto.game_manager.floor.intake import Intake
from punto.game_manager.floor.live import Floor, FloorView, Known
from punto.game_manager.floor.reports import signed_on
from punto.game_manager.floor.store import Store, StoreAwayError
from punto.game_manager.floor.web import application

_ALIVE_SECONDS: Final = 1.0
_STAFF_SECONDS: Final = 5.0
_LONGEST_SESSION: Final = timedelta(days=2)


async def serve(config: GameManagerConfig, opened: Callable[[str], None] = lambda _: None) -> None:
    """Run until cancelled. `opened` gets the address of the pages.

    Raises:
        ConfigError: a password, a certificate or the address of the pages cannot be used.
        StoreError: the store cannot be used.
        IntegrityError: the store contradicts itself.
    """
    listener = listen(config.pages.host, config.pages.port, "pages.port", reserved=config.pages.reserved)
    store = await asyncio.to_thread(
        Store, config.store.url, config.calendar.calendar(), config.store.password()
    )
    floor, intake = Floor(), Intake(store)
    feed = Feed(config.mqtt, config.floor, floor, intake)

    staff: dict[str, tuple[str, ...]] = {}

    async def look_for_staff() -> None:
        while True:
            since = config.calendar.calendar().day_of(datetime.now(UTC)) - _LONGEST_SESSION
            with suppress(StoreAwayError):  # the intake says it
                found = await asyncio.to_thread(signed_on, store, since)
                staff.clear()
                staff.update(found)
            await asyncio.sleep(_STAFF_SECONDS)

    def view() -> FloorView:
        now, taken, faults = datetime.now(UTC), intake.taken(), intake.faults()
        known = {
            name: Known(taken.get(name, 0), faults.get(name, ""), staff.get(name, ()))
            for name in taken.keys() | staff.keys()
        }
        return FloorView(
            at=timestamp(now),
            taking_in=intake.reason,
            broker=feed.reason,
            tables=floor.view(now, known),
        )

    server = Server(application(view, store), reserved=config.pages.reserved)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(intake.run(), name="intake")
            tasks.create_task(feed.run(), name="feed")
            tasks.create_task(look_for_staff(), name="staff")
            tasks.create_task(_say_alive(), name="alive")
            tasks.create_task(server.serve(sockets=[listener]), name="pages")
            opened(address_of(listener))
            notify("READY=1")
    finally:
        notify("STOPPING=1")
        server.stop()
        listener.close()
        await asyncio.to_thread(store.close)


async def _say_alive() -> None:
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(_ALIVE_SECONDS)
