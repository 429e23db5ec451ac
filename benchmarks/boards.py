"""What a board costs its screen in Chromium, drawn by software at 1080p, beside what the browser itself takes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from benchmarks.bench import Line, say
from punto.messages.building import timestamp
from punto.messages.models import Message
from punto.runtime import clock, log
from tests.displays.meters import Meter
from tests.displays.page.watching import dealt, expect_live
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS, Broker, Publisher, display, publisher
from tests.displays.played import PlayedTable

HANDS = 10_000
HANDS_OF_A_SHOE = 60
RUNS = 7  # of what is measured by the time that it takes, of which the median counts
IDLE_SECONDS = 20
TABLES = 24
SCREEN: Any = {"viewport": {"width": 1920, "height": 1080}, "reduced_motion": "no-preference"}

# A page on which a band of the moment's size opens and fades, and an amount runs up, and nothing else: what Chromium takes for it.
EMPTY = """
<style>
  body { margin: 0; background: #2b0407; color: #fff; height: 100vh; }
  div { position: absolute; top: 27.5%; width: 100%; height: 41.5%; background: #8a0d12; }
  .now { animation: unroll 0.6s; }
  @keyframes unroll { from { transform: scaleY(0.05); opacity: 0; } }
</style>
<div></div><p></p>
"""
BAND = "() => { document.querySelector('div').className = 'now'; }"
RUN_UP = """
() => {
  const box = document.querySelector("p");
  let began;
  const step = (now) => {
    began ??= now;
    box.textContent = String(Math.floor(now));
    if (now - began < 1600) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
"""
NOTE_FRAMES = """
() => {
  const noted = window.noted !== undefined;
  window.noted = [];
  const note = (now) => { window.noted.push(now); requestAnimationFrame(note); };
  if (!noted) requestAnimationFrame(note);
}
"""
WALL_PAINTED = """
(tables) => new Promise((painted) => {
  const look = () => document.querySelectorAll(".board .big-road .cell:first-of-type").length >= tables
    ? requestAnimationFrame(() => requestAnimationFrame(() => painted(performance.now() / 1000)))
    : requestAnimationFrame(look);
  look();
})
"""
FIRST_PAINTED = """
() => new Promise((painted) => new PerformanceObserver((list) => painted(list.getEntries()[0].startTime / 1000))
  .observe({ type: "paint", buffered: true }))
"""


def measure(folder: Path) -> list[Line]:
    """The result's moment, the running meter, an idle board, a day of play, and the first paint of a wall.

    A busy machine lengthens frames, but hardly the processor's time that the page takes for them, so both are printed beside those
    of an empty page of the same run.
    """
    say(
        "\nA board in Chromium at 1080p, drawn by software; beside the browser's own time for an empty page.\n"
    )
    return asyncio.run(_lines(folder))


async def _lines(folder: Path) -> list[Line]:
    log.set_up(human=True, level="warning")
    broker = Broker(folder)
    await broker.start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            found = [
                *await _moving(browser, broker),
                await _idle(browser, broker),
                await _wall(browser, broker),
                await _day(browser, broker),
            ]
            await browser.close()
    finally:
        broker.kill()
    return found


@dataclass(frozen=True)
class Moved:
    """What a page's main thread took while something moved: milliseconds a frame, the longest frame, frames a second."""

    task: float
    longest: float
    frames: float

    @property
    def words(self) -> str:
        """As it is printed."""
        return (
            f"{self.frames:.0f} a second, longest {self.longest:.0f} ms, {self.task:.1f} ms of work in each"
        )


@asynccontextmanager
async def _page(browser: Browser) -> AsyncIterator[tuple[Page, CDPSession]]:
    context = await browser.new_context(**SCREEN)
    page = await context.new_page()
    tools = await context.new_cdp_session(page)
    await tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    yield page, tools
    await context.close()


async def _metric(tools: CDPSession, name: str) -> float:
    found = await tools.send("Performance.getMetrics")
    return float(next(each["value"] for each in found["metrics"] if each["name"] == name))


async def _moved(page: Page, tools: CDPSession, begin: Callable[[], Awaitable[Any]], seconds: float) -> Moved:
    """What it takes from what begins the motion until its end."""
    await page.evaluate(NOTE_FRAMES)
    before = await _metric(tools, "TaskDuration")
    await begin()
    await asyncio.sleep(seconds)
    taken = await _metric(tools, "TaskDuration") - before
    frames: list[float] = await page.evaluate("window.noted")
    gaps = [later - sooner for sooner, later in pairwise(frames)]
    return Moved(1000 * taken / len(frames), max(gaps), 1000 / (sum(gaps) / len(gaps)))


def _middle(runs: list[Moved]) -> Moved:
    return Moved(*(median(getattr(each, name) for each in runs) for name in ("task", "longest", "frames")))


async def _moving(browser: Browser, broker: Broker) -> list[Line]:
    floors: list[tuple[Moved, Moved]] = []
    boards: list[tuple[Moved, Moved]] = []
    async with display(broker) as address, publisher(broker) as out:
        for run in range(RUNS):
            floors.append((await _empty(browser, BAND, 1), await _empty(browser, RUN_UP, 1.6)))
            boards.append(await _board(browser, address, out, 342 + run))
    lines = []
    for what, words in enumerate(("the result's moment", "the running meter")):
        floor, board = (_middle([each[what] for each in runs]) for runs in (floors, boards))
        say(f"  {words}: {board.words}; an empty page: {floor.words}")
        lines.append(
            Line(
                words,
                f"{board.task:.1f} ms of work a frame, {board.task / floor.task:.1f} times an empty page's",
                "under 16.7 ms",
                board.task < 1000 / 60,
            )
        )
    return lines


async def _empty(browser: Browser, motion: str, seconds: float) -> Moved:
    async with _page(browser) as (page, tools):
        await page.set_content(EMPTY)
        return await _moved(page, tools, lambda: page.evaluate(motion), seconds)


async def _board(browser: Browser, address: str, out: Publisher, seed: int) -> tuple[Moved, Moved]:
    """What the result's moment takes, and then the running meter."""
    table, meter = PlayedTable(seed=seed, game_name="progressive-2"), Meter()
    table.play(50)

    async def win() -> None:
        table.play(1)
        await out.send("scoreboard", table.scoreboard())
        await out.send("state", table.state())
        await page.wait_for_selector(".moment.now")

    async def run_up() -> None:
        meter.meter += 12_34
        await out.send("progressive/dragon", meter.message())

    async with _page(browser) as (page, tools), dealt(out, table, meter):
        await page.goto(address)
        await expect_live(page)
        await page.wait_for_selector(".progressive.fresh .digit")
        moment = await _moved(page, tools, win, 1)
        await page.wait_for_selector(".moment.now", state="hidden")
        return moment, await _moved(page, tools, run_up, 1.6)


async def _idle(browser: Browser, broker: Broker) -> Line:
    """A board that gets a state and a meter twice a second, twice as often as from a service, and on which nothing is played."""
    table = PlayedTable(seed=342, game_name="progressive-2")
    table.play(50)
    async with display(broker) as address, publisher(broker) as out, _page(browser) as (page, _):
        await page.set_content(EMPTY)
        floor = await _share(browser)
        async with dealt(out, table, Meter()):
            await page.goto(address)
            await expect_live(page)
            await asyncio.sleep(12)  # until the newest cell has stopped to fade
            board = await _share(browser)
    return Line(
        "processor of an idle board",
        f"{100 * board:.1f} %, an empty page {100 * floor:.1f} %",
        "under 3 %",
        board < 0.03,
    )


async def _share(browser: Browser) -> float:
    """The share of a processor that all processes of the browser take."""
    tools = await browser.new_browser_cdp_session()

    async def seconds() -> float:
        found = await tools.send("SystemInfo.getProcessInfo")
        return float(sum(each["cpuTime"] for each in found["processInfo"]))

    before, began = await seconds(), monotonic()
    await asyncio.sleep(IDLE_SECONDS)
    share = (await seconds() - before) / (monotonic() - began)
    await tools.detach()
    return share


async def _wall(browser: Browser, broker: Broker) -> Line:
    """The least of some loads of a wall: its own time."""
    table = PlayedTable(seed=342)
    table.play(50)
    tables = [f"table-{number}" for number in range(1, TABLES + 1)]
    async with display(broker, page={"tables": tables}) as address, publisher(broker) as out:
        for name in tables:
            await out.send("scoreboard", table.scoreboard(), name)
            await out.send("state", table.state(), name)
        least: dict[str, float] = {}
        for path, painted in (("healthz", FIRST_PAINTED), ("wall", WALL_PAINTED)):
            taken: list[float] = []
            for _ in range(RUNS):
                async with _page(browser) as (page, _tools):
                    await page.goto(address + path, wait_until="commit")
                    taken.append(await page.evaluate(painted, TABLES))
            least[path] = min(taken)
    return Line(
        f"a wall of {TABLES} tables painted",
        f"{least['wall']:.2f} s, {least['wall'] / least['healthz']:.1f} times an empty page",
        "under 0.6 s",
        least["wall"] < 0.6,
    )


async def _day(browser: Browser, broker: Broker) -> Line:
    """The heap that the page holds after the first shoe and after all hands, each of them dealt card by card."""
    shoe = _shoe()
    async with display(broker) as address, publisher(broker) as out, _page(browser) as (page, tools):
        await page.goto(address)
        sequence = 0
        first = 0.0
        shoes = HANDS // HANDS_OF_A_SHOE + 1
        for number in range(shoes):
            for name, message in shoe:
                sequence += 1
                await _send(out, name, message, sequence)
            await page.wait_for_function(
                "hands => document.querySelector('[data-count=\"hands\"]')?.textContent === hands",
                arg=str(HANDS_OF_A_SHOE),
            )
            if number == 1:
                first = await _heap(tools)
        last = await _heap(tools)
    return Line(
        f"heap after {shoes * HANDS_OF_A_SHOE:,} hands",
        f"{last:.2f} MB, {last - first:+.2f} MB since the second shoe",
        "growth under 5 MB",
        last - first < 5,
    )


def _shoe() -> list[tuple[str, Message]]:
    """What a table publishes in a shoe: its state for each card, and for each hand its scoreboard."""
    table = PlayedTable(seed=342)
    messages: list[tuple[str, Message]] = []
    while (hand := table.table.state.round.number) <= HANDS_OF_A_SHOE:
        table.draw()
        messages.append(("state", table.state()))
        if table.table.state.round.number != hand:
            messages.append(("scoreboard", table.scoreboard()))
    return messages


async def _send(out: Publisher, name: str, message: Message, sequence: int) -> None:
    now = clock.now()
    times = {"ts": timestamp(now)}
    if name == "state":
        times["valid_until"] = timestamp(now + timedelta(seconds=2.5))
    await out.send(name, message.model_copy(update={"seq": sequence, **times}))


async def _heap(tools: CDPSession) -> float:
    await tools.send("HeapProfiler.collectGarbage")
    return await _metric(tools, "JSHeapUsedSize") / 1e6
