"""A floor of tables for the pages: 200 of them whose every second is told here, on the real pages and their real data."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from punto.baccarat.table.state import Phase
from punto.controller.gaming_days import Calendar
from punto.controller.messages.building import timestamp
from punto.controller.messages.models import Notice, ShoeStatus
from punto.controller.web_server import Server, address_of, listen
from punto.game_manager.floor.live import Deviation, FloorView, MeterView, TableView
from punto.game_manager.floor.store import Store
from punto.game_manager.floor.web import application
from tests.game_manager.floor.tables import played, told

GAMES = ("Dragon Bonus Baccarat", "EZ Baccarat", "Commission-free Baccarat")


def table(number: int, **changes: Any) -> TableView:
    """A table that plays and has nothing wrong."""
    dice = Random(number)
    told: dict[str, Any] = {
        "table": f"table-{number}",
        "name": f"Baccarat {number}",
        "game": dice.choice(GAMES),
        "currency": "USD",
        "simulation": False,
        "live": True,
        "reason": "",
        "as_of": None,
        "phase": dice.choice([Phase.BETTING, Phase.BETTING, Phase.DEALING, Phase.SETTLED]),
        "overlays": (),
        "notices": (),
        "shoe": ShoeStatus(
            number=dice.randint(3, 30),
            coup=dice.randint(1, 70),
            cards_left=dice.randint(20, 400),
            cut_card=False,
            online=True,
            reason="",
        ),
        "round": dice.randint(100, 900),
        "hands_an_hour": dice.uniform(50, 75),
        "devices_away": (),
        "deviations": (),
        "edge_alarms": (),
        "meter": None,
        "waiting": 0,
        "signed_on": (),
        "fault": "",
    }
    return TableView(**{**told, **changes})


def meter(amount: int, **changes: Any) -> MeterView:
    """A meter that is live."""
    told: dict[str, Any] = {
        "progressive": "dragon",
        "title": "Dragon Progressive",
        "phase": "open",
        "meter": amount,
        "step": "idle",
        "kept_by": "",
        "award": None,
        "live": True,
        "as_of": None,
    }
    return MeterView(**{**told, **changes})


def shoe(of: TableView, **changes: Any) -> ShoeStatus:
    """The shoe of a table, changed."""
    assert of.shoe is not None
    return of.shoe.model_copy(update=changes)


DEVIATION = Deviation(wager="dragon_bonus_player", rule="win_by_9", errors=3.42, period="gaming day")
STOP = Notice(code="lid_open", text="the lid of the shoe was opened during play")
AGO = "2026-11-25T13:02:11.000000+00:00"


def an_evening(number: int = 14) -> list[TableView]:
    """A floor with something wrong at some of its tables."""
    tables = {
        at: table(at, meter=meter(9_810_146) if at % 3 else None) for at in range(1, max(number, 14) + 1)
    }
    wrong: dict[int, dict[str, Any]] = {
        2: {"deviations": (DEVIATION,)},
        4: {
            "overlays": ("shoe_error", "needs_supervisor"),
            "notices": (STOP,),
            "phase": Phase.DEALING,
        },
        5: {"live": False, "reason": "the table's service was stopped", "as_of": AGO},
        7: {
            "overlays": ("shoe_offline",),
            "shoe": shoe(tables[7], online=False, reason="/dev/ttyUSB0: the cable was pulled"),
        },
        1: {"signed_on": ("mei", "ann")},
        8: {"edge_alarms": ("dragon_bonus_player", "panda_8")},
        9: {"devices_away": ("keypad", "card_reader")},
        10: {"meter": meter(9_810_021, live=False, as_of=AGO), "waiting": 3},
        11: {"shoe": shoe(tables[11], cut_card=True, cards_left=41), "overlays": ("last_hand",)},
        12: {"phase": Phase.CLOSED, "hands_an_hour": None},
    }
    return [each.model_copy(update=wrong.get(at, {})) for at, each in tables.items()][:number]


class Floor:
    """What the pages are told: `tables`, and why nothing comes from the broker or goes into the store."""

    def __init__(self) -> None:
        self.tables: list[TableView] = []
        self.broker = ""
        self.taking_in = ""

    def view(self) -> FloorView:
        return FloorView(
            at=timestamp(datetime.now(UTC)),
            taking_in=self.taking_in,
            broker=self.broker,
            tables=tuple(self.tables),
        )


@asynccontextmanager
async def served(
    folder: Path, view: Callable[[], FloorView], port: int = 0, fill: Callable[[Store], None] | None = None
) -> AsyncIterator[str]:
    """The pages over a store of their own; gives their address."""
    listener = listen("127.0.0.1", port)
    store = Store(f"sqlite:///{folder}/floor.db", Calendar.of())
    if fill is not None:
        fill(store)
    server = Server(application(view, store))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield address_of(listener)
    finally:
        for each in server.server_state.tasks:  # streams do not end by themselves
            each.cancel()
        server.stop()
        await serving
        listener.close()
        store.close()


_played = cache(played)


def fill(store: Store) -> None:
    """Rounds of three tables, of which one has more ties than chance gives."""
    for number in (1, 2, 3):
        at = _played(number, 150)
        ties = [each for each in at.rounds if each.status == "played" and each.winner == "tie"]
        rounds = at.rounds if number != 2 else [*at.rounds, *(ties * 3)[:24]]
        numbered = [replace(each, round=place) for place, each in enumerate(rounds, 1)]
        store.take(told(numbered if number == 2 else at.rounds, at, f"table-{number}"))
