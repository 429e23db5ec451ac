"""How soon a page is there and how soon it shows what has happened, in Chromium, beside what the browser takes by itself."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import time
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from benchmarks.bench import Line, say
from punto.runtime import log
from tests.consoles.pages.parts import at_work, consoles, headline
from tests.displays.page.watching import expect_live
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS, Broker, display, publisher
from tests.displays.played import PlayedTable

LOADS = 3
UPDATES = 60
COUPS = 8  # as many as there are copies of a card

BOARD_PAINTED = """
() => new Promise(painted => {
  const look = () => document.querySelector(".bead-plate .cell") && document.querySelector(".card[data-card]")
    ? requestAnimationFrame(() => requestAnimationFrame(() => painted(performance.now() / 1000)))
    : requestAnimationFrame(look);
  look();
})
"""
FIRST_PAINTED = """
() => new Promise(painted => new PerformanceObserver(list => painted(list.getEntries()[0].startTime / 1000))
  .observe({ type: "paint", buffered: true }))
"""
# What is asked for in a frame's callback is painted at its end, so the next one's start is after that.
NOTE_PAINTS = """
selector => {
  window.painted = {};
  const watched = document.querySelector(selector);
  new MutationObserver(() => {
    const shown = watched.textContent;
    requestAnimationFrame(() => requestAnimationFrame(() => { window.painted[shown] = Date.now() / 1000; }));
  }).observe(watched, { childList: true, characterData: true, subtree: true });
}
"""
CHANGE = "text => { document.querySelector('p').textContent = text; }"


def measure(folder: Path) -> list[Line]:
    """The i-Score and the dealer's page: until a page is painted, and from what happened to its paint, at the median.

    Beside them what the browser itself takes, for a page of the same server with nothing on it, and for a word that a
    page is told to change.
    """
    say(
        "\nThe i-Score and the dealer's page in Chromium, from this machine; beside the browser's own time for an empty"
    )
    say("page of the same server, and for a word that changes.\n")
    empty, change, board, message, dealers, card = asyncio.run(_seconds(folder))
    loads = (("i-Score painted", board), ("dealer's page painted", dealers))
    updates = (("a message on the i-Score", message), ("a card on the dealer's", card))
    return [
        *(
            Line(what, f"{taken:.2f} s, {taken / empty:.1f} times an empty page", "under 1 s", taken < 1)
            for what, taken in loads
        ),
        *(
            Line(
                what,
                f"{1000 * taken:.0f} ms, {taken / change:.1f} times a change",
                "under 100 ms",
                taken < 0.1,
            )
            for what, taken in updates
        ),
    ]


async def _seconds(folder: Path) -> tuple[float, ...]:
    log.set_up(human=True, level="warning")
    broker = Broker(folder)
    await broker.start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            found = (*await _display(browser, broker), *await _dealers(browser, folder))
            await browser.close()
    finally:
        broker.kill()
    return found


async def _display(browser: Browser, broker: Broker) -> tuple[float, float, float, float]:
    table = PlayedTable(seed=342)
    table.play(50)
    async with display(broker) as address, publisher(broker) as out:
        await out.send("scoreboard", table.scoreboard())
        await out.send("state", table.state())
        empty = await _loaded(browser, f"{address}healthz", FIRST_PAINTED)
        board = await _loaded(browser, f"{address}tables/table-1/i-score", BOARD_PAINTED)
        page = await browser.new_page(viewport={"width": 1920, "height": 1080})
        await page.set_content("<p></p>")
        change = await _updated(page, "p", UPDATES, lambda n: page.evaluate(CHANGE, str(n)), str)
        await page.goto(address)
        await page.wait_for_selector(".board")
        await out.send("state", table.state())  # the one before does not hold any more
        await expect_live(page)

        async def draw(number: int) -> None:
            hand = table.table.state.round.number
            table.draw()
            if table.table.state.round.number != hand:
                await out.send("scoreboard", table.scoreboard())
            await out.send("state", table.state().model_copy(update={"name": str(number)}))

        message = await _updated(page, ".table-name", UPDATES, draw, str)
        await page.close()
    return empty, change, board, message


async def _dealers(browser: Browser, folder: Path) -> tuple[float, float]:
    async with consoles(folder) as here:
        await here.load()
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await at_work(page, here, "mei")
        taken: list[float] = []
        for _ in range(LOADS):
            await page.goto(f"{here.address}/dealer")
            await page.wait_for_selector("body.live")
            taken.append(await page.evaluate(FIRST_PAINTED))
        cards = (
            ("KS", "First card to Banker"),
            ("2S", "Second card to Player"),
            ("9H", "Second card to Banker"),
            ("3S", "Player wins, 9 to 5"),
        )
        await headline(page, "Place your wagers")
        card = await _updated(
            page,
            "#headline",
            COUPS * len(cards),
            lambda n: here.draw(cards[n % len(cards)][0]),
            lambda n: cards[n % len(cards)][1],
        )
        await page.close()
    return min(taken), card


async def _loaded(browser: Browser, address: str, painted: str) -> float:
    """The least of some loads, each in a browser that has nothing of the page yet: its own time."""
    seconds: list[float] = []
    for _ in range(LOADS):
        context = await browser.new_context(viewport={"width": 1920, "height": 1080})
        page = await context.new_page()
        await page.goto(address, wait_until="commit")
        seconds.append(await page.evaluate(painted))
        await context.close()
    return float(min(seconds))


async def _updated(
    page: Page,
    selector: str,
    times: int,
    happen: Callable[[int], Awaitable[Any]],
    shown: Callable[[int], str],
) -> float:
    """The median from just before something happens until what is then to be shown is painted."""
    await page.evaluate(NOTE_PAINTS, selector)
    taken: list[float] = []
    for number in range(times):
        began = time()
        await happen(number)
        text = shown(number)
        await page.wait_for_function("text => text in painted", arg=text)
        taken.append(await page.evaluate("text => painted[text]", text) - began)
        await page.evaluate("text => { delete painted[text]; }", text)
        await asyncio.sleep(0.03)  # away from the frame just painted
    return float(median(taken))
