"""How large the parts of a board are on each screen: it is read from two to five metres by people who follow the roads.

The sizes are those of a screen of 1920 x 1080, and the proportions hold on every other.
"""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.displays.meters import Meter
from tests.displays.page.watching import LAID_OUT, dealt, expect_live
from tests.displays.parts import display, publisher
from tests.displays.played import PlayedTable
from tests.share import sampled, soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCREENS = [
    *((1920, 1080), (1280, 720), (3840, 2160), (1280, 960), (1024, 768)),
    *((1080, 1920), (768, 1024), (1920, 480), (390, 844), (1280, 800), (1280, 1024)),
]
CELL, BEAD, MARK = 48, 44, 21.5
"""The least of a cell of the big road, of one of the bead plate, and of a mark of the derived roads, in pixels."""
SMALLEST_LETTER = 11
MEASURE = """
() => {
  const size = (each) => { const { width, height } = each.getBoundingClientRect(); return { width, height }; };
  const roads = Object.fromEntries([...document.querySelectorAll(".board:first-child [data-road] .grid-lines")].map((each) => {
    const drawing = each.ownerSVGElement;
    const marks = [...drawing.querySelectorAll(".mark.hollow, .mark.solid")].map((mark) => {
      const stroke = parseFloat(getComputedStyle(mark).strokeWidth) * (getComputedStyle(mark).stroke === "none" ? 0 : 1);
      return (2 * mark.r.baseVal.value + stroke) * mark.getScreenCTM().a;
    });
    return [drawing.dataset.road, { ...size(drawing), columns: +drawing.dataset.columns, marks }];
  }));
  const letters = [...document.querySelectorAll(".board *:not(svg *)")]
    .filter((each) => each.checkVisibility() && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((each) => [parseFloat(getComputedStyle(each).fontSize), each.className, each.textContent]);
  for (const each of document.querySelectorAll(".cell text"))
    letters.push([parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a, "cell", each.textContent]);
  return { roads, letters, rem: parseFloat(getComputedStyle(document.documentElement).fontSize) };
}
"""


@pytest.mark.parametrize(("width", "height"), sampled(SCREENS, one_in=2))
async def test_the_roads_are_as_large_as_people_need_them(page, broker, width, height):
    table = PlayedTable(seed=342)
    table.play(57)
    await page.set_viewport_size({"width": width, "height": height})
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(f"{address}tables/table-1/i-score")
        await expect_live(page)
        await expect(page.locator('[data-count="hands"]')).to_have_text("57")
        found = await page.evaluate(MEASURE)
    roads = found["roads"]

    area = {name: road["width"] * road["height"] for name, road in roads.items()}
    assert area["big_road"] >= max(area.values())
    if width < 3 * height:  # in a strip the roads stand beside each other, and none is cut down for this one
        assert 2 * area["big_road"] >= sum(area.values())
    assert roads["bead_plate"]["columns"] >= 12
    assert roads["big_road"]["columns"] >= 12
    if width != 390:
        assert_large(found)
    else:
        assert [each for each in found["letters"] if each[0] < SMALLEST_LETTER] == []


def assert_large(found: dict[str, Any]) -> None:
    """Each road is as large as the screen asks for."""
    roads, scale = found["roads"], found["rem"] / 16
    assert roads["big_road"]["height"] / 6 >= CELL * scale
    assert roads["bead_plate"]["height"] / 6 >= BEAD * scale
    assert min(mark for road in roads.values() for mark in road["marks"]) >= MARK * scale


@pytest.mark.parametrize(
    ("width", "height"), sampled([(1280, 960), *SCREENS[:3], *SCREENS[4:7], *SCREENS[9:]], one_in=5)
)
@pytest.mark.parametrize("path", ["tables/table-1/i-score?layout=roads", "split?tables=table-1,table-2"])
async def test_the_roads_of_every_layout_have_enough_columns(page, broker, path, width, height):
    table = PlayedTable(seed=342)
    table.play(57)
    await page.set_viewport_size({"width": width, "height": height})
    async with (
        display(broker, page={"tables": ["table-1", "table-2"]}) as address,
        publisher(broker) as out,
        dealt(out, table),
    ):
        await page.goto(address + path)
        await expect(page.locator(".board.live [data-count='hands']")).to_have_text("57")
        found = await page.evaluate(MEASURE)

    assert found["roads"]["bead_plate"]["columns"] >= 12
    assert found["roads"]["big_road"]["columns"] >= 9
    if path.startswith("split"):
        assert_large(found)
    elif 9 * width == 16 * height:  # a whole shoe, or nearly
        columns = {name: road["columns"] for name, road in found["roads"].items() if name != "bead_plate"}
        assert min(columns.values()) >= 30
        area = {name: road["width"] * road["height"] for name, road in found["roads"].items()}
        assert 2 * area["big_road"] >= sum(area.values())


SIDE_LIMITS = """
() => [...document.querySelectorAll(".limits .side")].filter((each) => each.checkVisibility())
  .map((each) => parseFloat(getComputedStyle(each).fontSize) * 16 / parseFloat(getComputedStyle(document.documentElement).fontSize))
"""


@pytest.mark.parametrize(
    ("path", "width", "height"),
    sampled(
        [
            ("split?tables=table-1,table-2", 1920, 1080),
            ("tables/table-1/i-score", 1920, 480),
            ("tables/table-1/i-score", 1920, 1080),
            ("tables/table-1/i-score", 1080, 1920),
        ],
        one_in=2,
    ),
)
async def test_side_wagers_have_their_limits_in_letters_that_can_be_read(page, broker, path, width, height):
    await page.set_viewport_size({"width": width, "height": height})
    async with (
        display(broker, page={"tables": ["table-1", "table-2"]}) as address,
        publisher(broker) as out,
        dealt(out, PlayedTable(game_name="progressive-2"), Meter()),
    ):
        await page.goto(address + path)
        await expect(page.locator(".board").first).to_have_class("board shown live")
        await expect(page.locator(".progressive.fresh").first).to_be_visible()
        await page.evaluate(LAID_OUT)
        sizes = await page.evaluate(SIDE_LIMITS)
        cut_off = await page.locator(".progressive h2").first.evaluate(
            "each => each.scrollHeight - each.clientHeight"
        )

    assert cut_off <= 1  # the title of the meter
    assert len(sizes) == 4
    assert min(sizes) >= 15


SMALL_PARTS = """
() => {
  const wide = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.getClientRects().length > 0)
    .map((each) => each.getBoundingClientRect().width);
  const letters = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility())
    .map((each) => parseFloat(getComputedStyle(each).fontSize));
  return {
    asks: wide("[data-ask] svg"),
    captions: letters(".asks :is(span, i)"),
    limits: letters(".limits :is(dt, dd)"),
    counts: letters(".counts :is(dt, dd)"),
    sides: letters(".hand h2"),
    said: letters(".outcome"),
    dividers: [...document.querySelectorAll(".board:first-child .beside")].map((each) => parseFloat(getComputedStyle(each).borderLeftWidth)),
  };
}
"""
WALL_OF_SIX = f"wall?tables={','.join(f'table-{number}' for number in range(1, 7))}"


@pytest.mark.parametrize(
    ("path", "lang", "width", "height", "least"),
    [
        ("split?tables=table-1,table-2", "en", 1920, 1080, {"asks": 24, "captions": 20, "limits": 14, "counts": 20, "dividers": 3}),
        *soaked(
            ("tables/table-1/i-score", "en", 1920, 1080, {"asks": 24, "captions": 20, "counts": 20}),
            ("tables/table-1/i-score", "en", 1280, 960, {"asks": 24, "captions": 20}),
            ("tables/table-1/i-score", "zh-Hant", 1080, 1920, {"asks": 24, "captions": 20, "dividers": 3}),
            ("tables/table-1/i-score", "en", 1920, 480, {"asks": 24, "dividers": 3}),
            ("tables/table-1/i-score", "zh-Hant", 390, 844, {"captions": 14, "counts": 14, "limits": 14, "dividers": 3}),
            (WALL_OF_SIX, "zh-Hant", 1920, 1080, {"sides": 24, "said": 18, "dividers": 3}),
        ),
    ],
)  # fmt: skip
async def test_what_is_small_on_a_board_can_still_be_read(page, broker, path, lang, width, height, least):
    table = PlayedTable(seed=342, game_name="side-wagers")  # with limits of ten wagers
    table.play(57)
    await page.set_viewport_size({"width": width, "height": height})
    async with (
        display(broker, page={"tables": [f"table-{number}" for number in range(1, 7)]}) as address,
        publisher(broker) as out,
        dealt(out, table),
    ):
        await page.goto(f"{address}{path}{'&' if '?' in path else '?'}lang={lang}")
        await expect(page.locator(".board.live [data-count='hands']")).to_have_text("57")
        await page.evaluate(LAID_OUT)
        found = await page.evaluate(SMALL_PARTS)

    assert {part: min(found[part]) for part, size in least.items() if min(found[part]) < size - 0.1} == {}


NOT_CUT_OFF = """
() => document.fonts.status === "loaded" && [...document.querySelectorAll(".card")].every((card) => {
  const hand = card.closest(".hand").getBoundingClientRect();
  const own = card.getBoundingClientRect();
  const words = [...card.closest(".hand").querySelectorAll("h2, .total")].map((each) => {
    const { top, bottom, right } = each.getBoundingClientRect();
    return { bottom: bottom - 0.2 * (bottom - top), right }; // no letter of these goes below its line
  });
  return words.every(({ bottom, right }) => own.top >= bottom || own.left >= right) && own.left >= hand.left && own.right <= hand.right && own.top >= hand.top && own.bottom <= hand.bottom;
})
"""


@pytest.mark.parametrize("path", ["tables/table-1/i-score", "split?tables=table-1,table-2"])
async def test_no_card_of_a_hand_of_six_is_cut_off_or_lies_on_the_total_on_any_screen(page, broker, path):
    table = PlayedTable(seed=342, game_name="side-wagers")  # with limits of many wagers
    result = None
    while result is None or len(result.player) + len(result.banker) < 6:
        table.play(1)
        result = table.state().result
    screens = SCREENS if path.startswith("tables") else [(1920, 1080), (1280, 720), (1280, 960)]
    async with (
        display(broker, page={"tables": ["table-1", "table-2"]}) as address,
        publisher(broker) as out,
        dealt(out, table),
    ):
        await page.goto(address + path)
        await expect(page.locator(".board.live .card")).to_have_count(6)
        for width, height in screens:
            await page.set_viewport_size({"width": width, "height": height})
            await page.evaluate(LAID_OUT)
            await page.wait_for_function(NOT_CUT_OFF)
