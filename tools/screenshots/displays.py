"""The pictures of the displays: a pit of six tables that are played, and what a screen shows of them while its time stands still."""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, expect

from punto.baccarat.table.order_kinds import ChangeShoe
from punto.messages.models import Result
from tests.displays.meters import Meter
from tests.displays.parts import Broker, Publisher, display, publisher
from tests.displays.played import PlayedTable, availability
from tests.reports.house import Clock
from tools.screenshots.camera import AT, STEP, ZONE, Keep, fonts_of_the_machine, quiet, still

METER = "progressive/dragon"
AGO = timedelta(hours=2)
"""So long ago was the last award."""
BETWEEN_SHOES = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90" preserveAspectRatio="xMidYMid slice">
<rect width="160" height="90" fill="#12303a"/><circle cx="112" cy="34" r="17" fill="#f3e2b3"/>
<path fill="#1d4a52" d="M0 62q20-22 40 0t40 0 40 0 40 0v28H0z"/>
<path fill="#0b2027" d="M0 72q20-14 40 0t40 0 40 0 40 0v18H0z"/></svg>"""
"""A picture such as a house shows between two shoes."""


class Pit:
    """The tables, each at its own hand, with a meter that three of them share, and the page that shows some of them."""

    def __init__(self, page: Page, out: Publisher, on_show: Sequence[str]) -> None:
        self.page = page
        self.on_show = on_show
        self.tables = {f"table-{number}": _table(number) for number in range(1, 7)}
        self.meter = Meter(104_327_86, tables=("table-4", "table-5", "table-6"))
        self.meter.win(24_890_15, table="table-5", seats=(2, 5), ago=AGO, state="booked")
        self._out = out

    async def publish(self) -> None:
        """What the tables and the meter say now, as their services do every second. A result is said before its mark."""
        for name, table in self.tables.items():
            await self._out.send("state", table.state().model_copy(update={"zone": ZONE}), name)
            await self._out.send("scoreboard", table.scoreboard(), name)
        await self._out.send(METER, self.meter.message(), "table-4")

    async def drawn(self) -> None:
        """Wait until the page has drawn what was published: the cards and the marks of each table, and the meter with its award."""
        for at, name in enumerate(self.on_show):
            board, state = self.page.locator(".board").nth(at), self.tables[name].state()
            hands = state.hands or state.result
            cards = len(hands.player) + len(hands.banker) if hands else 0
            rounds = len(self.tables[name].table.state.shoe.rounds)
            await expect(board.locator('[data-count="hands"]')).to_have_text(str(rounds))
            await expect(board.locator(".card[data-card]")).to_have_count(cards)
        if await self.page.locator(".sign").count():
            assert self.meter.award is not None
            *_, number = self.tables[self.meter.award.table].table.state.settings.name.split()
            await expect(self.page.locator(".last .won-at")).to_contain_text(f" {number} · ")
        elif "table-4" in self.on_show:
            await expect(self.page.locator(".progressive.fresh")).to_have_count(1)

    async def show(self) -> None:
        """Publish, and wait until the page has drawn it."""
        await self.publish()
        await self.drawn()

    async def stop(self) -> None:
        """The tables are taken out of service."""
        for name in self.tables:
            await self._out.send("availability", availability("offline", "stopped", "stopped"), name)

    @asynccontextmanager
    async def publishing(self) -> AsyncIterator[None]:
        """Publish for as long as this lasts."""
        lasts = True

        async def go_on() -> None:
            while lasts:
                await self.publish()
                await asyncio.sleep(0.5)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(go_on())
            try:
                yield
            finally:
                lasts = False


CHINESE = {"Dragon Room": ("龍廳", "龙厅"), "Jade": ("翡翠", "翡翠"), "Phoenix": ("鳳凰", "凤凰")}
"""What the tables are called in traditional and in simplified characters, before their numbers."""


def _house() -> str:
    """The theme file of the pit's house: its pictures, and its tables' names in Chinese."""
    lines = ['pictures = "pictures"', "[tables]"]
    for at, name in enumerate(NAMES_OF_TABLES, 1):
        room, _, number = name.rpartition(" ")
        traditional, simplified = CHINESE[room]
        lines.append(
            f'table-{at} = {{ zh-Hant = "{traditional} {number}", zh-Hans = "{simplified} {number}" }}'
        )
    return "\n".join(lines) + "\n"


GAMES = ("canberra", "side-wagers", "ez-baccarat", "progressive-2", "lucky-6", "mini-baccarat")
NAMES_OF_TABLES = ("Dragon Room 8", "Dragon Room 9", "Jade 1", "Jade 2", "Phoenix 21", "Phoenix 22")
HANDS = (57, 43, 31, 66, 18, 50)
SEEDS = (342, 11, 27, 5, 90, 61)


def _table(number: int) -> PlayedTable:
    """A table of the pit in the middle of its shoe."""
    at = number - 1
    table = PlayedTable(name=NAMES_OF_TABLES[at], game_name=GAMES[at], seed=SEEDS[at])
    table.play(HANDS[at])
    return table


def before_hand(number: int, wanted: Callable[[Result], bool]) -> tuple[PlayedTable, int]:
    """A table of the pit before its first hand with such a result, and how many cards this hand takes."""
    ahead, table = _table(number), _table(number)
    ahead.play(1)
    while (result := ahead.state().result) is None or not wanted(result):
        ahead.play(1)
        table.play(1)
    return table, len(result.player) + len(result.banker)


# --- what happens before a picture is taken, while the page's time stands still


async def _nothing(pit: Pit) -> None:
    pass


async def _deal(pit: Pit) -> None:
    pit.tables["table-1"].deal(3)
    await pit.show()


def _won(side: str, table: str = "table-1", *, hit: bool = False) -> Callable[[Pit], Awaitable[None]]:
    """The last card of a hand that this side wins, and a side wager too if there must be a `hit`."""

    async def moment(pit: Pit) -> None:
        played, cards = before_hand(
            int(table[-1]), lambda result: result.winner == side and bool(result.hits) == hit
        )
        played.deal(cards - 1)
        pit.tables[table] = played
        await pit.show()
        played.draw()
        await pit.show()
        await expect(pit.page.locator(f".moment.now.{side}")).to_be_visible()

    return moment


async def _jackpot(pit: Pit) -> None:
    """Player wins 2-3-4 of diamonds over 0, and so the whole meter."""
    pit.tables["table-4"].play_these("2D", "KS", "3D", "QH", "4D", "JC")
    await pit.show()
    pit.meter.win(104_327_86, rule=0, table="table-4")
    await pit.show()
    await expect(pit.page.locator(".moment.jackpot.now, .sign.whole")).to_be_visible()


async def _award(pit: Pit) -> None:
    pit.meter.win(26_081_96, table="table-5", seats=(2, 5))
    await pit.show()
    await expect(pit.page.locator(".sign.won")).to_be_visible()


async def _change_shoes(pit: Pit) -> None:
    for table in pit.tables.values():
        table.handle(ChangeShoe("mei"))
    await pit.show()
    await expect(pit.page.locator(".pictures:visible img")).to_have_count(len(pit.on_show))


async def _not_live(pit: Pit) -> None:
    await pit.stop()
    await expect(pit.page.locator("article.live")).to_have_count(0)
    await expect(pit.page.locator(".code").first).to_contain_text("12")


async def _shoe_is_away(pit: Pit) -> None:
    pit.tables["table-1"].lose_the_shoe()
    await pit.show()
    await expect(pit.page.locator(".outcome.trouble").first).to_be_visible()


# --- which pictures there are

THEMES: Final = ("lacquer", "jade", "night")
LANGUAGES: Final = ("en", "zh-Hant", "zh-Hans")
LANDSCAPE, UPRIGHT = (1920, 1080), (1080, 1920)
PAGES: Final = {
    "board-landscape": ("tables/table-1/i-score?layout=landscape", LANDSCAPE),
    "board-portrait": ("tables/table-1/i-score?layout=portrait", UPRIGHT),
    "board-roads": ("tables/table-1/i-score?layout=roads", LANDSCAPE),
    "board-split": ("split?tables=table-1,table-2", LANDSCAPE),
    "board-wall": ("wall?tables=table-1,table-2,table-3,table-4,table-5,table-6", LANDSCAPE),
    "board-4-3": ("tables/table-4/i-score?layout=landscape", (1280, 960)),
    "board-strip": ("tables/table-4/i-score?layout=landscape", (1920, 480)),
    "board-phone": ("tables/table-4/i-score?layout=landscape", (390, 844)),
    "board-720p": ("tables/table-1/i-score?layout=landscape", (1280, 720)),
    "board-4k": ("tables/table-1/i-score?layout=landscape", (3840, 2160)),
    "board-meter": ("tables/table-4/i-score?layout=landscape", LANDSCAPE),
    "board-meter-portrait": ("tables/table-4/i-score?layout=portrait", UPRIGHT),
    "sign-landscape": ("tables/table-4/progressive?", LANDSCAPE),
    "sign-portrait": ("tables/table-4/progressive?", UPRIGHT),
}
"""Each page with its address and its screen."""
MOMENTS: Final[dict[str, tuple[Callable[[Pit], Awaitable[None]], tuple[str, str, str]]]] = {
    "dealing": (_deal, ("board-landscape", "board-portrait", "board-split")),
    "banker": (_won("banker"), ("board-landscape", "board-portrait", "board-roads")),
    "player": (_won("player", hit=True), ("board-landscape", "board-split", "board-wall")),
    "tie": (_won("tie", "table-4"), ("board-4-3", "board-strip", "board-phone")),
    "jackpot": (_jackpot, ("board-meter", "board-meter-portrait", "board-phone")),
    "between-shoes": (_change_shoes, ("board-landscape", "board-portrait", "board-wall")),
    "not-live": (_not_live, ("board-landscape", "board-phone", "board-wall")),
    "stopped": (_shoe_is_away, ("board-landscape", "board-portrait", "board-split")),
    "award": (_award, ("sign-landscape", "sign-portrait", "sign-landscape")),
    "whole": (_jackpot, ("sign-landscape", "sign-portrait", "sign-landscape")),
    "silent": (_not_live, ("sign-landscape", "sign-portrait", "sign-landscape")),
}
"""What can be on a screen, and the pages that are taken with it: one in each theme, and in each language."""


@dataclass(frozen=True)
class Shot:
    """One picture."""

    page: str
    theme: str
    language: str
    moment: Callable[[Pit], Awaitable[None]] = field(default=_nothing)


def _shots() -> dict[str, Shot]:
    """All pictures by their names: the landscape board in each theme with each language, because both meet there; every other page,
    and every moment, in each theme and in each language.
    """
    found = {
        f"board-landscape-{theme}-{language}": Shot("board-landscape", theme, language)
        for theme in THEMES
        for language in LANGUAGES
    }
    for turn, page in enumerate(each for each in PAGES if each != "board-landscape"):
        for at, theme in enumerate(THEMES if page not in {"board-720p", "board-4k"} else THEMES[:1]):
            language = LANGUAGES[(at + turn) % 3]
            found[f"{page}-{theme}-{language}"] = Shot(page, theme, language)
    for turn, (name, (moment, pages)) in enumerate(MOMENTS.items()):
        for at, page in enumerate(pages):
            theme, language = THEMES[(at + turn) % 3], LANGUAGES[at]
            found[f"{page}-{name}-{theme}-{language}"] = Shot(page, theme, language, moment)
    return found


SHOTS: Final = _shots()


async def shoot(browser: Browser, folder: Path, shot: Shot) -> bytes:
    """The picture of a display of its own, as PNG, and with the fonts of its page alone."""
    async with on_screen(browser, folder, shot) as pit:
        await shot.moment(pit)
        shown = await still(pit.page)
        assert await fonts_of_the_machine(pit.page) == {}
        return shown


@asynccontextmanager
async def on_screen(browser: Browser, folder: Path, shot: Shot) -> AsyncIterator[Pit]:
    """A pit with its broker, and its page, which is live, while time stands still."""
    (folder / "pictures").mkdir()
    (folder / "pictures" / "moon.svg").write_text(BETWEEN_SHOES, encoding="utf-8")
    house = folder / "house.toml"
    house.write_text(_house(), encoding="utf-8")
    path, (width, height) = PAGES[shot.page]
    broker = Broker(folder)
    await broker.start()
    try:
        async with (
            quiet(browser, width, height) as page,
            publisher(broker) as out,
            display(broker, page={"tables": [f"table-{n}" for n in range(1, 7)], "house": house}) as address,
        ):
            with Clock(AT, STEP).turned():
                pit = Pit(page, out, _on_show(path))
                await page.goto(f"{address}{path}&theme={shot.theme}&lang={shot.language}")
                async with pit.publishing():
                    await expect(page.locator("article").first).to_be_visible()
                    await expect(page.locator("article:not(.live)")).to_have_count(0)
                    await pit.drawn()
                yield pit
    finally:
        broker.kill()


def _on_show(path: str) -> list[str]:
    """The ids of the tables whose boards a page has, from its address."""
    return [] if "progressive" in path else re.findall(r"table-\d", path)


NAMES: Final = tuple(SHOTS)


async def take(browser: Browser, chosen: Collection[str], keep: Keep) -> None:
    """Take these pictures."""
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            await keep(name, await shoot(browser, Path(folder), SHOTS[name]))
