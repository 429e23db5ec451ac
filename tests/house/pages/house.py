"""A floor of tables for the pages: 200 of them whose every second is told here, on the real pages and their real data."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.table.state import Phase
from punto.controller.config.sections import ALL_SOUNDS, Sound
from punto.house.alarms import acknowledge, alarms
from punto.house.books import Kept
from punto.house.edge_alarms import EdgeAlarm, keep
from punto.house.live import (
    CardOrder,
    Deviation,
    FloorView,
    KeptMeter,
    LinkedTable,
    MeterView,
    TableView,
)
from punto.house.standing import Standing
from punto.house.store import Store
from punto.house.taken import TakenIncidents
from punto.house.web import OPEN, Doors, application
from punto.messages.books import Accounts, Change
from punto.messages.building import timestamp
from punto.messages.models import MeterAward, Notice, ShoeStatus
from punto.messages.requests import BooksRequest, RecordedIncident
from punto.runtime import clock
from punto.runtime.gaming_days import Calendar
from punto.web.server import Server, address_of, listen
from tests.house.bookkeeping import A_DAY, CENT, Keeper
from tests.house.tables import BEGAN, played, told

GAMES = ("Dragon Bonus Baccarat", "EZ Baccarat", "Commission-free Baccarat")


def table(number: int, **changes: Any) -> TableView:
    """A table that plays and has nothing wrong."""
    dice = Random(number)
    hand = dice.randint(1, 70)
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
            coup=hand,
            cards_left=405 - 5 * hand,
            cut_card=False,
            online=True,
            reason="",
        ),
        "round": dice.randint(100, 900),
        "hands_an_hour": dice.uniform(50, 75),
        "devices_away": (),
        "deviations": (),
        "card_orders": (),
        "edge_alarms": (),
        "meter": None,
        "waiting": 0,
        "signed_on": (),
        "fault": "",
        "accounts": "",
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


EDGES = ("Dragon Bonus Player", "Panda 8")
DEVIATION = Deviation(
    wager="Dragon Bonus Player",
    rule="Player wins by 9, not natural",
    since=date(2026, 11, 24),
    found=24,
    counted=1_204,
    expected=4.434,
    evidence=2_410_000,
)
CARD_ORDER = CardOrder(shoe=21, order="shoe 17 of 24 Nov 2026, reversed", evidence=41_300_000)
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
        8: {
            "edge_alarms": ("dragon_bonus_player", "panda_8"),
            "edge_titles": EDGES,
            "card_orders": (CARD_ORDER,),
            "shoe": shoe(tables[8], number=CARD_ORDER.shoe),
        },
        9: {"devices_away": ("keypad", "card_reader")},
        10: {"meter": meter(9_810_021, live=False, as_of=AGO), "waiting": 3},
        11: {"shoe": shoe(tables[11], coup=73, cut_card=True, cards_left=41), "overlays": ("last_hand",)},
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
            at=timestamp(clock.now()),
            taking_in=self.taking_in,
            broker=self.broker,
            tables=tuple(self.tables),
        )


@dataclass
class Signed:
    """A person who is signed on and stays so."""

    name: str
    over: bool = False


async def _sue() -> Signed:
    return Signed("Sue")


OF_SUE = Doors(_sue, _sue, lambda _: "", _sue)
"""The pages as a supervisor has them."""


UTC_DAYS = Calendar.of()


@asynccontextmanager
async def served(
    folder: Path,
    view: Callable[[], FloorView],
    port: int = 0,
    fill: Callable[[Store], None] | None = None,
    doors: Doors = OPEN,
    kept: Callable[[], Kept] = Kept,
    calendar: Calendar = UTC_DAYS,
    sounds: tuple[Sound, ...] = ALL_SOUNDS,
) -> AsyncIterator[str]:
    """The pages over a store of their own; gives their address."""
    listener = listen("127.0.0.1", port)
    store = Store(f"sqlite:///{folder}/floor.db", calendar)
    if fill is not None:
        fill(store)
    standing = Standing(store)

    def seen() -> FloorView:
        told = view()
        return told.model_copy(update={"tables": standing.on(told.tables, clock.now())})

    server = Server(application(seen, store, doors, kept, sounds))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    following = asyncio.create_task(standing.follow(lambda _: view().tables, lambda: True))
    try:
        yield address_of(listener)
    finally:
        following.cancel()
        await asyncio.wait([following])
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
        rounds = at.rounds if number != 2 else [*at.rounds, *(ties * 4)[:48]]
        numbered = [replace(each, round=place) for place, each in enumerate(rounds, 1)]
        store.take(told(numbered if number == 2 else at.rounds, at, f"table-{number}"))


INCIDENTS = (
    (62, 1, "service_started", "service", None, "the service started, version 0.2.0"),
    (63, 1, "session_begun", "service", "mei", "signed on"),
    (63, 2, "session_begun", "service", "ann", "signed on"),
    (70, 1, "unread", "shoe", None, "the shoe could not read the card: key the card"),
    (75, 1, "void_coup", "operator mei", "mei", "refused: there is no hand on the table"),
    (90, 3, "session_begun", "service", "mei", "signed on"),
    (93, 2, "lid_open", "shoe", None, "the lid of the shoe was opened during play"),
    (94, 2, "resume_play", "operator ann", "ann", "resumed play: Lid closed, cards undisturbed"),
    (110, 1, "session_ended", "service", "mei", "session ended: signed off"),
    (118, 2, "call_supervisor", "operator ann", "ann", "called a supervisor: A dispute at the table"),
    (130, 3, "locked_out", "service", None, "an account is locked out after too many wrong passwords"),
    (150, 2, "card_outside_play", "shoe", None, "a card left the shoe while no hand could use it"),
)
"""Minutes after `BEGAN`, the number of the table, kind, source, who and text."""


def incidents(told: tuple[tuple[int, int, str, str, str | None, str], ...]) -> list[TakenIncidents]:
    """Incidents as their tables tell them."""
    found = []
    for number in sorted({each[1] for each in told}):
        own = tuple(
            RecordedIncident(
                seq=minute,
                place=0,
                ts=timestamp(BEGAN + timedelta(minutes=minute)),
                kind=kind,
                source=source,
                who=who,
                text=text,
                where=None,
            )
            for minute, at, kind, source, who, text in told
            if at == number
        )
        found.append(TakenIncidents(f"table-{number}", "aa", False, 0, own[-1].seq, own))
    return found


def edge_alarm(table: int, shoe: int, round_: int, wager: str, edge: float) -> EdgeAlarm:
    """A wager that favours the players after a round of `fill`."""
    return EdgeAlarm(
        table=f"table-{table}",
        record="aa",
        simulation=False,
        ts=BEGAN + timedelta(minutes=round_, seconds=10),
        shoe=shoe,
        round=round_,
        wager=wager,
        edge=edge,
    )


def fill_all(store: Store) -> None:
    """The rounds of `fill`, an evening's incidents of which one is acknowledged, and two shoes that favoured the players."""
    fill(store)
    store.take_incidents(incidents(INCIDENTS))
    (lid,) = (each for each in alarms(store).alarms if each.kind == "lid_open")
    key = (lid.record_id, lid.seq, lid.place)
    acknowledge(store, key, "Eve", "Looked at the cards: none was moved", BEGAN + timedelta(minutes=99))
    keep(
        store,
        [
            edge_alarm(1, 1, 90, "tie", -0.0127),
            edge_alarm(1, 1, 94, "dragon_bonus_player", -0.031),
            edge_alarm(3, 1, 75, "tie", -0.0204),
        ],
    )


def meters(
    today: date,
    *,
    wrong: bool = True,
    calendar: Calendar = UTC_DAYS,
    answered: timedelta = timedelta(hours=8),
) -> tuple[list[Keeper], Kept]:
    """A meter with two linked tables and a last award, and a table with a meter of its own; with `wrong`, a day does not balance."""
    dragon = Keeper(today - 10 * A_DAY, today, calendar=calendar, told=answered)
    tiger = Keeper(today - 3 * A_DAY, today, "bb", "tiger", calendar=calendar, told=answered)
    paid = Accounts(primary=-250_036 * CENT, paid=250_036 * CENT)
    won: dict[str, Any] = {"tier": "two_three_four_suited", "table": "table-2", "round": 412, "award": 7}
    given = Accounts(adjustments=100_00 * CENT, primary=100_00 * CENT)
    person: dict[str, Any] = {"who": "Eve", "reason": "a promotion", "approved_by": "Omar"}
    ts = timestamp(calendar.begins(today - A_DAY) + timedelta(hours=5))
    dragon.extra[today - A_DAY] = (
        Change(cause=Cause.INCREASE, ts=ts, moved=given, **person),
        Change(cause=Cause.AWARD, ts=ts, moved=paid, who="Sue", **won),
    )
    counted = {today - n * A_DAY: 100 * dragon.wagers(today - n * A_DAY) for n in (2, 1)}
    dragon.counts[today] = {**counted, today - 2 * A_DAY: counted[today - 2 * A_DAY] - 500 * wrong}
    if wrong:
        tiger.spoiled.add(today - A_DAY)
    award = MeterAward(
        award=7,
        rule="two_three_four_suited",
        title="Player wins 2-3-4 over 0, suited",
        amount=250_036,
        table="table-2",
        round=412,
        seats=(2, 5),
        whole_meter=False,
        state="booked",
        won=ts,
    )
    kept = []
    for keeper, table_, tables in (
        (dragon, "meter-1", ("table-1", "table-2")),
        (tiger, "table-3", ("table-3",)),
    ):
        told = keeper.meter(table_, tables, award if keeper is dragon else None)
        answer = keeper.answer(BooksRequest(id="b", day=today))
        kept.append(
            KeptMeter(
                table=table_,
                name="Meter 1" if keeper is dragon else "Baccarat 3",
                record=keeper.record,
                currency="USD",
                simulation=False,
                meter=MeterView(
                    **{
                        name: getattr(told, name)
                        for name in MeterView.model_fields
                        if name not in {"live", "as_of"}
                    },
                    live=True,
                    as_of=None,
                ),
                tables=tuple(
                    LinkedTable(
                        table=each,
                        name=each.replace("table-", "Baccarat "),
                        live=each != "table-2",
                        step="playing",
                    )
                    for each in tables
                ),
                books=answer,
            )
        )
    return [dragon, tiger], Kept(tuple(kept))
