"""The five roads and the ask marks in the browser, cell by cell against what the roads package says."""

import json
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from playwright.async_api import expect

from punto.baccarat.roads.rounds import RoadRound
from punto.messages.models import Scoreboard
from tests.baccarat.roads.shoes import random_shoe, rounds
from tests.displays.page.reading import READ_ASKS, READ_ROADS, ROADS, expected, expected_asks
from tests.displays.page.watching import shown
from tests.displays.parts import display
from tests.displays.played import PlayedTable
from tests.share import share

pytestmark = pytest.mark.asyncio(loop_scope="session")

READ = READ_ROADS + READ_ASKS + "return { roads: readRoads(board), asks: readAsks(board) };"
READ_THE_PAGE = f"() => {{ const board = document.querySelector('.board'); {READ} }}"
# The page's own board takes the scoreboards one after the other, as its stream would give them to it.
DRAW_EACH = f"""
async scoreboards => {{
  const {{ Board }} = await import("/static/board.js");
  const shown = new Board("table-1", {{ names: {{}}, logo: null }}, () => {{}});
  const board = shown.element;
  document.querySelector("main").replaceChildren(board);
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const read = () => {{ {READ} }};
  return JSON.stringify(scoreboards.map(scoreboard => {{ shown.show("scoreboard", scoreboard); return read(); }}));
}}
"""


def scoreboard_of(table: PlayedTable, shoe: list[RoadRound]) -> Scoreboard:
    state = table.table.state
    table.table.state = state.replace(shoe=state.shoe.replace(rounds=tuple(shoe)))
    return table.scoreboard()


def with_pairs_and_naturals(shoe: str, seed: int) -> list[RoadRound]:
    chance = Random(seed)
    return [
        replace(
            each,
            player_pair=chance.random() < 0.15,
            banker_pair=chance.random() < 0.15,
            natural=chance.random() < 0.3,
        )
        for each in rounds(shoe)
    ]


def assert_drawn(read: dict[str, dict[str, dict[str, object]]], scoreboard: Scoreboard) -> None:
    for road in ROADS:
        shown = read["roads"][road]
        columns = shown["columns"]
        assert isinstance(columns, int)
        assert shown["cells"] == expected(scoreboard, road, columns), road
    assert read["asks"] == expected_asks(scoreboard)


async def test_every_cell_of_the_roads_is_drawn_with_its_totals(page, broker):
    table = PlayedTable()
    shoes = ["", "T", "TTT", "TTPB", "B" * 45 + "P", "BP" * 40, "BBTTTPPTB" * 8, *map(random_shoe, range(6))]
    # the count of hands tells them apart below
    assert all(len(one) != len(other) for one, other in pairwise(shoes))
    played = PlayedTable(seed=3)
    played.play(66)
    async with shown(page, broker, table) as out:
        for each in [*(rounds(shoe) for shoe in shoes), list(played.table.state.shoe.rounds)]:
            scoreboard = scoreboard_of(table, each)
            await out.send("scoreboard", scoreboard)
            await expect(page.locator('[data-count="hands"]')).to_have_text(str(len(each)))

            assert_drawn(await page.evaluate(READ_THE_PAGE), scoreboard)
            for name, count in scoreboard.counts.model_dump().items():
                await expect(page.locator(f'[data-count="{name}"]')).to_have_text(str(count))


@pytest.mark.in_part
@pytest.mark.soak
async def test_random_shoes_are_drawn_as_the_roads_package_has_them(page, broker):
    table = PlayedTable()
    scoreboards = [
        scoreboard_of(table, with_pairs_and_naturals(random_shoe(seed), seed)) for seed in range(share(1000))
    ]
    columns = set()
    async with display(broker) as address:
        await page.goto(address)
        await page.wait_for_selector(".board")
        for first in range(0, len(scoreboards), 100):
            some = scoreboards[first : first + 100]
            drawn = json.loads(await page.evaluate(DRAW_EACH, [each.wire().decode() for each in some]))
            for read, scoreboard in zip(drawn, some, strict=True):
                assert_drawn(read, scoreboard)
                columns.add(read["roads"]["big_road"]["columns"])

    assert columns == {max(columns)}  # all in the same grid, the page's own
    assert max(columns) > 20
