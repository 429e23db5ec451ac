"""What a page weighs, how soon it is there, and how soon a card is on it."""

from statistics import median
from time import time

import pytest
from playwright.async_api import expect

from tests.operators.pages.parts import at_work, headline

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOADED = """
() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    bytes: all.reduce((sum, each) => sum + each.transferSize, 0),
    origins: [...new Set(all.map(each => new URL(each.name).origin))],
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  };
}
"""
# When the large words last changed, by the page's own hand.
NOTE_CHANGES = """
new MutationObserver(() => { window.changed = Date.now(); })
  .observe(document.getElementById("headline"), { childList: true, characterData: true, subtree: true })
"""


@pytest.mark.parametrize("name", ["mei", "omar"])
async def test_a_page_is_light_from_here_alone_and_there_within_a_second(page, here, name):
    await here.load()
    await here.table.play(10, seats=[1, 2, 3])
    await at_work(page, here, name)

    loaded = await page.evaluate(LOADED)

    assert loaded["bytes"] < 300_000
    assert loaded["origins"] == [here.address]
    assert loaded["paint"] < 1000


async def test_a_card_is_on_the_page_within_a_tenth_of_a_second_at_the_median(page, here):
    await here.load()
    await at_work(page, here, "mei")
    await expect(page.locator("#headline")).to_have_text("Place your wagers")
    await page.evaluate(NOTE_CHANGES)
    taken = []
    for _ in range(5):
        for card, words in (
            ("KS", "First card to Banker"),
            ("2S", "Second card to Player"),
            ("9H", "Second card to Banker"),
            ("3S", "Place your wagers"),
        ):
            drawn = time()
            await here.draw(card)
            await headline(page, words)
            taken.append(await page.evaluate("changed") / 1000 - drawn)

    assert median(taken) < 0.1, taken
