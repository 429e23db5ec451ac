"""What a page weighs. How soon it is there and shows a card is measured by `python -m benchmarks pages`."""

import pytest

from tests.consoles.pages.parts import at_work

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOADED = """
() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    bytes: all.reduce((sum, each) => sum + each.transferSize, 0),
    origins: [...new Set(all.map(each => new URL(each.name).origin))],
  };
}
"""


@pytest.mark.parametrize("name", ["mei", "omar"])
async def test_a_page_is_light_and_from_here_alone(page, here, name):
    await here.load()
    await here.table.play(10, seats=[1, 2, 3])
    await at_work(page, here, name)

    loaded = await page.evaluate(LOADED)

    assert loaded["bytes"] < 300_000
    assert loaded["origins"] == [here.address]
