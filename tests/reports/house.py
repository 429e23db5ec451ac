"""A table whose progressive is played by the clock of the test, and its books kept a second time, by hand.

The second books know nothing of postings: they go through the inputs that the record accepted, in `Decimal` dollars.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any, Self
from unittest import mock
from zoneinfo import ZoneInfo

from punto.baccarat.cards import Card
from punto.baccarat.progressive.aquarius import GameOver, Jpot, Key, TurnKey
from punto.baccarat.progressive.events import Adjust, BackOut, CountCoins, OpenMeter, Retire
from punto.baccarat.progressive.game_events import HandButton, NobodyWon, ReopenGame, StartGame
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.table.events import CardDrawn, Event, ServiceStarted
from punto.baccarat.table.order_kinds import CloseTable, OpenBetting
from punto.baccarat.table.settings import Settings
from punto.controller import clock_watch
from punto.runtime.gaming_days import Calendar
from tests.baccarat.table.croupier import settings as table_settings
from tests.controller.table_in_this_process import Table, rows, table

ZONE = ZoneInfo("Asia/Macau")
CALENDAR = Calendar.of("06:00", "Asia/Macau")
NOTHING = "KS 2S 5S 3S 4D 9D"  # Player wins with 9 over 4, which is no award
QUARTER = "2H KC 3H JC 4H KD"  # 9 over 0 with 2-3-4 of hearts: 25% of the meter
FORTY = "2H KC 2D JC 5H KD"  # another 9 over 0: 40 for 1, from the tray
WHOLE = "2D KC 3D JC 4D KD"  # of diamonds: all of it


def house(game: str = "progressive-2", **meter: Any) -> Settings:
    """A table with pay table #2 at $1: 20% to the meter from $10,000, a third of a percent to the reserve."""
    return table_settings(game_name=game, meter={"reserve": "0.3333%", "base_wagers": "unseen", **meter})


def another(progressive: str, **meter: Any) -> Settings:
    """The same table with another progressive of this name."""
    own = house(**meter)
    assert own.progressive is not None
    return replace(own, progressive=replace(own.progressive, progressive=progressive))


class Clock:
    """The clock of the PC, which the test sets, and which goes on by `step` whenever it is read."""

    def __init__(self, at: str, step: timedelta = timedelta(seconds=1)) -> None:
        self.now = datetime.fromisoformat(at).astimezone(UTC)
        self._step = step

    def at(self, moment: str, zone: tzinfo = ZONE) -> None:
        """Set it to a time of the house's clock."""
        self.now = datetime.fromisoformat(moment).replace(tzinfo=zone).astimezone(UTC)

    @contextmanager
    def turned(self) -> Iterator[None]:
        """The service with this clock, also on days before the program was released."""
        clock = self

        class Turned(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Self:
                clock.now += clock._step
                return cls.fromisoformat(clock.now.isoformat())

        with (
            mock.patch("punto.runtime.clock.datetime", Turned),
            mock.patch.object(clock_watch, "RELEASED", clock.now),
        ):
            yield


class House:
    """A table with a progressive, its clock, and its record."""

    def __init__(self, here: Table, clock: Clock, record: Path) -> None:
        self.table = here
        self.clock = clock
        self.record = record

    async def give(self, *events: Event) -> None:
        """Orders, none of which is refused."""
        for event in events:
            await self.table.order(event)

    async def start_again(self, own: Settings) -> None:
        """The table is closed, and the service comes up with another configuration."""
        await self.give(CloseTable("ann"))
        (handled,) = await self.table.engine.submit([ServiceStarted("0.1.0", own)], "service")
        assert handled.refusal is None, handled.refusal

    async def open(self) -> None:
        """The meter is put into service, and a shoe is loaded."""
        await self.table.begin_shoe()
        await self.give(OpenMeter("eve", "bob"), OpenBetting("ann"))

    async def game(self, seats: Sequence[int], cards: str = NOTHING, winners: Sequence[int] = ()) -> None:
        """A game from START to GAME OVER, with a progressive wager at each of the seats."""
        await self.deal(seats, cards)
        if winners:
            await self.lock(winners)
            await self.give(TurnKey(Key.RUN, "key switch"))
        await self.give(GameOver("ann"))

    async def deal(self, seats: Sequence[int], cards: str) -> None:
        """A game's wagers and cards, before anything is confirmed of it."""
        await self.give(StartGame(self.table.state.round.number, "ann", tuple(seats)))
        for code in cards.split():
            await self.table.shoe(CardDrawn(self.table.state.link.expected, Card(code), 99))

    async def lock(self, winners: Sequence[int]) -> None:
        """A supervisor confirms that these seats won; the key stays in JPH."""
        await self.give(*(HandButton(seat, "ann") for seat in winners))
        await self.give(TurnKey(Key.JPH, "key switch"), Jpot("key switch"))


@asynccontextmanager
async def at_the_house(folder: Path, now: str, own: Settings | None = None) -> AsyncIterator[House]:
    """A table that has started, at a time of its clock such as "2026-11-20 20:00"."""
    clock = Clock("2000-01-01T00:00:00+00:00")
    clock.at(now)
    record = folder / "table.db"
    with clock.turned():
        async with table(record, own or house()) as here:
            yield House(here, clock, record)


async def a_weekend(here: House, reason: str = "=a promotion") -> None:
    """Friday: opened, games, a quarter won. Saturday: nothing. Sunday: adjusted, backed out, all of it won."""
    here.clock.at("2026-11-20 20:00")
    await here.open()
    await here.game([1, 3, 5])
    await here.game([2, 5], QUARTER, winners=[2, 5])
    here.clock.at("2026-11-21 05:30")
    await here.game([4])
    await here.give(CountCoins("2026-11-20", 600, "eve"))
    here.clock.at("2026-11-22 12:00")
    await here.give(
        Adjust(Cause.INCREASE, 12_345, reason, "eve", "omar"),
        BackOut(1, "the wrong seats", "eve", "omar"),
    )
    await here.game([1, 2, 3, 4, 5, 6, 7], WHOLE, winners=[3])
    await here.game([7])


async def a_change_of_meter(here: House) -> None:
    """Friday: the first progressive is played and retired, and the next one, dragon-2, is put up and played too."""
    here.clock.at("2026-11-20 20:00")
    await here.open()
    await here.game([1, 3, 5])
    await here.give(Retire("its time was over", "eve", "vera"))
    here.clock.at("2026-11-21 02:00")
    await here.start_again(another("dragon-2"))
    await here.open()
    await here.game([2])


async def a_day_of_the_tray(here: House) -> None:
    """Friday: two awards from the tray, the second taken back; a quarter that nobody won, the first time that it was looked at."""
    here.clock.at("2026-11-20 20:00")
    await here.open()
    await here.game([1, 3], FORTY, winners=[1, 3])
    await here.game([1], FORTY, winners=[1])
    await here.give(BackOut(2, "the wager was on Banker", "eve", "omar"), *nobody("none was on Player"))
    await here.deal([5], QUARTER)
    await here.give(*nobody("none was on Player"), ReopenGame("eve", "seat 5 was on Player", "omar"))
    await here.lock([5])
    await here.give(TurnKey(Key.RUN, "key switch"), GameOver("ann"))


def nobody(reason: str) -> tuple[Event, ...]:
    """A supervisor confirms that nobody won, and the game is ended."""
    key = "key switch"
    return TurnKey(Key.JPH, key), NobodyWon("bob", reason), TurnKey(Key.RUN, key), GameOver("ann")


# --- the books by hand

CENT = Decimal("0.01")


class Books:
    """What the meter must be, by the accepted inputs alone; pay table #2 at $1, 20% and 0.3333%, seed $10,000."""

    def __init__(self, record: Path) -> None:
        self.meter = self.reserve = self.paid = self.seed = self.given = self.contributed = Decimal(0)
        self.awards: list[Decimal] = []
        self._cards: list[str] = []
        refused = {seq for (seq,) in rows(record, "SELECT input FROM incidents WHERE kind = 'refused'")}
        for seq, payload in rows(record, "SELECT seq, payload FROM inputs ORDER BY seq"):
            if seq not in refused:
                self._take(json.loads(payload))

    def _take(self, event: dict[str, Any]) -> None:
        match event["kind"]:
            case "open_meter":
                self._seeded()
            case "start_game":
                wagers = len(event["seats"])
                self._cards = []
                self.meter += wagers * Decimal("0.20")
                self.reserve += wagers * Decimal("0.003333")
                self.contributed += wagers * Decimal("0.203333")
            case "card_drawn":
                self._cards.append(event["card"])
            case "jpot" if self._cards == WHOLE.split():
                self.awards.append(self.meter.quantize(CENT, ROUND_DOWN))
                self._seeded()
                self.meter += self.reserve
                self.reserve = Decimal(0)
            case "jpot":
                self.awards.append((self.meter / 4).quantize(CENT, ROUND_DOWN))
            case "turn_key" if event["to"] == "run":
                self.meter -= self.awards[-1]
                self.paid += self.awards[-1]
            case "back_out":
                self.meter += self.awards[event["award"] - 1]
                self.paid -= self.awards[event["award"] - 1]
            case "adjust":
                sign = 1 if event["cause"] == "increase" else -1
                self.meter += sign * event["amount"] * CENT
                self.given += sign * event["amount"] * CENT

    def _seeded(self) -> None:
        self.meter += 10_000
        self.seed += 10_000
