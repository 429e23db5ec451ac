"""What the page weighs, how soon it shows a table, and how soon a message is on the screen: measured in the browser.

The bounds are the promise; the figures of a run are printed, with `-s`, and stand in docs/i-score.md.
"""

from statistics import median
from time import time

import pytest
from playwright.async_api import Response

from tests.displays.page.watching import expect_live
from tests.displays.parts import display, publisher
from tests.displays.played import PlayedTable

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAVIEST = 300_000  # bytes, without fonts
FIRST_PAINT = 1.0  # seconds from the request until the board with its table is painted
UPDATE = 0.1  # seconds from the message's publication until it is painted, at the median
UPDATES = 60

# The time of each frame in which the newest count of cards has been painted: what is asked for in a frame's callback is
# painted at its end, so the next one's start is after that.
NOTE_PAINTS = """
() => {
  window.painted = {};
  const count = document.querySelector(".cards-left");
  new MutationObserver(() => {
    const shown = count.textContent;
    requestAnimationFrame(() => requestAnimationFrame(() => { window.painted[shown] = Date.now() / 1000; }));
  }).observe(count, { childList: true });
}
"""
FIRST_PAINTED = """
() => new Promise(painted => {
  const look = () => document.querySelector(".bead-plate .cell") && document.querySelector(".card[data-card]")
    ? requestAnimationFrame(() => requestAnimationFrame(() => painted(performance.now() / 1000)))
    : requestAnimationFrame(look);
  look();
})
"""


async def test_the_page_is_light_and_soon_there(browser, broker):
    table = PlayedTable(seed=342)
    table.play(57)
    answers: list[Response] = []
    seconds = []
    async with display(broker) as address, publisher(broker) as out:
        await out.send("scoreboard", table.scoreboard())
        await out.send("state", table.state())
        for _ in range(3):  # each in a browser that has nothing of it yet; the fastest is the page's own time
            context = await browser.new_context(viewport={"width": 1920, "height": 1080})
            page = await context.new_page()
            answers.clear()
            page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108  Playwright marks what it calls
            await page.goto(f"{address}tables/table-1/i-score", wait_until="commit")
            seconds.append(await page.evaluate(FIRST_PAINTED))
            weights = {
                answer.url: len(await answer.body())
                for answer in answers
                if "/events" not in answer.url and answer.request.resource_type != "font"
            }
            await context.close()

    print(
        f"\npage weight {sum(weights.values()):,} bytes in {len(weights)} files; first paint {min(seconds):.2f} s"
    )
    assert len(weights) > 10
    assert sum(weights.values()) < HEAVIEST
    assert min(seconds) < FIRST_PAINT


async def test_a_message_is_on_the_screen_within_a_tenth_of_a_second_at_the_median(page, broker):
    table = PlayedTable(seed=342)
    table.play(50)
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await page.wait_for_selector(".board")
        await out.send("scoreboard", table.scoreboard())
        await out.send("state", table.state())
        await expect_live(page)
        await page.evaluate(NOTE_PAINTS)
        published = {}
        for _ in range(UPDATES):
            hand = table.table.state.round
            table.draw()
            state = table.state()
            left = str(state.shoe.cards_left)
            published[left] = time()
            if table.table.state.round != hand:
                await out.send("scoreboard", table.scoreboard())
            await out.send("state", state)
            await page.wait_for_function("left => left in painted", arg=left)
        painted = await page.evaluate("painted")

    took = sorted(painted[left] - published[left] for left in published)
    print(
        f"\nfrom publication to paint: median {median(took) * 1000:.0f} ms, 95th {took[56] * 1000:.0f} ms, longest {took[-1] * 1000:.0f} ms"
    )
    assert len(took) == UPDATES
    assert took[0] > 0
    assert median(took) < UPDATE
