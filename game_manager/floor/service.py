"""The Game Manager's parts, and the order in which they begin and end."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from punto.controller.messages.building import timestamp
from punto.controller.sd_notify import notify
from punto.controller.web_server import Server, address_of, listen
from punto.game_manager.floor.config import GameManagerConfig
from punto.game_manager.floor.feed import Feed
from punto.game_manager.floor.intake import Intake
from punto.game_manager.floor.live import Floor, FloorView
from punto.game_manager.floor.store import Store
from punto.game_manager.floor.web import application

_ALIVE_SECONDS = 1.0


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

    def view() -> FloorView:
        now = datetime.now(UTC)
        return FloorView(
            at=timestamp(now),
            taking_in=intake.reason,
            broker=feed.reason,
            tables=floor.view(now, intake.taken(), intake.faults()),
        )

    server = Server(application(view, store), reserved=config.pages.reserved)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(intake.run(), name="intake")
            tasks.create_task(feed.run(), name="feed")
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
