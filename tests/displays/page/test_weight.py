"""What the page weighs. How soon it is there and up to date is measured by `python -m benchmarks pages`."""

import pytest
from playwright.async_api import Response

from tests.displays.page.watching import dealt, expect_live
from tests.displays.parts import display, publisher
from tests.displays.played import PlayedTable

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAVIEST = 300_000  # bytes, without fonts


async def test_the_page_is_light(page, broker):
    table = PlayedTable(seed=342)
    table.play(57)
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108  Playwright marks what it calls
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(f"{address}tables/table-1/i-score")
        await expect_live(page)
        weights = {
            answer.url: len(await answer.body())
            for answer in answers
            if "/events" not in answer.url and answer.request.resource_type != "font"
        }

    print(f"\npage weight {sum(weights.values()):,} bytes in {len(weights)} files")
    assert len(weights) > 10
    assert sum(weights.values()) < HEAVIEST
