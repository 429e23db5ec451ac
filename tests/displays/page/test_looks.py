"""Every layout on every screen: nothing cut off, nothing that a reader or a tired panel would suffer from."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Page, expect

from tests.axe import faults_of
from tests.baccarat.roads.shoes import rounds
from tests.displays.meters import Meter
from tests.displays.page.watching import LAID_OUT, dealt, expect_live, shown, time_stands_still
from tests.displays.parts import Broker, display, publisher
from tests.displays.played import PlayedTable
from tests.share import part, sampled, soaked
from tools.screenshots.displays import before_hand

pytestmark = pytest.mark.asyncio(loop_scope="session")

LAYOUTS = {
    "landscape": "tables/table-1/i-score?layout=landscape",
    "portrait": "tables/table-1/i-score?layout=portrait",
    "roads": "tables/table-1/i-score?layout=roads",
    "split": "split?tables=table-1,table-2",
    "wall": "wall?tables=table-1,table-2,table-3,table-4",
}
ONE_AND_ALL = ["landscape", *soaked(*(each for each in LAYOUTS if each != "landscape"))]
LANDSCAPES = [(1280, 720), (1024, 768), (1920, 1080), (3840, 2160), (2560, 1080)]
UPRIGHT = [(1080, 1920), (2160, 3840), (768, 1024)]
SCREENS = {
    "landscape": [(1920, 480), *LANDSCAPES],
    "portrait": UPRIGHT,
    "roads": LANDSCAPES + UPRIGHT,
    "split": LANDSCAPES + UPRIGHT,
    "wall": LANDSCAPES + UPRIGHT,
}
TABLES = [f"table-{number}" for number in range(1, 5)]

# What is on the screen, and what of it does not fit into its own box or its panel.
BOXES = """
[...document.querySelectorAll(".board > *, .board dl > div, .card, .phase, .road svg, .limits dl, .outcome")]
  .map(each => ({ name: each.className.baseVal ?? each.className, ...each.getBoundingClientRect().toJSON() }))
  .filter(({ width }) => width > 0)
"""
CUT_OFF = """
[...document.querySelectorAll(".board :is(h1, h2, p, dl, dt, dd, table)")]
  .filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.className || each.textContent)
"""
OUT_OF_ITS_PANEL = """
[...document.querySelectorAll(".panel :is(dt, dd, .card, .total), .limits :is(dt, dd), .tally :is(dt, dd, svg)")]
  .filter(each => {
    const [inner, outer] = [each, each.closest(".panel, .limits, .tally")].map(box => box.getBoundingClientRect());
    return inner.width > 0 && (inner.left < outer.left - 1 || inner.top < outer.top - 1
      || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1);
  })
  .map(each => `${each.closest(".panel, .limits, .tally").className}: ${each.className.baseVal ?? each.className} ${each.textContent}`)
"""
# The middle half of each line of text, for the line boxes of neighbours may touch.
TEXT_ON_TEXT = """
() => {
  const lines = [...document.querySelectorAll(".board *:not(svg *)")]
    .filter(each => each.checkVisibility({ checkVisibilityCSS: true }))
    .flatMap(each => [...each.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== ""))
    .flatMap(node => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()].map(({ left, right, top, bottom }) => ({
        text: node.data, left, right, top: top + (bottom - top) / 4, bottom: bottom - (bottom - top) / 4,
      }));
    });
  return lines.flatMap((one, at) => lines.slice(at + 1)
    .filter(other => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)
    .map(other => `${one.text} on ${other.text}`));
}
"""


# What of the result's moment is not whole within its band, or not in the middle where it should be.
MOMENT = """
(alone) => [...document.querySelectorAll(".moment.now")].flatMap((moment) => {
  const [band, board] = [moment.querySelector(".band"), moment].map((each) => each.getBoundingClientRect());
  const lines = [...moment.querySelectorAll(".letter, .what, .figures, .badges > div")].filter((each) => each.textContent !== "" && each.offsetWidth > 0);
  const boxes = lines.map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return [each.className || each.textContent, range.getBoundingClientRect(), each];
  });
  const out = boxes.filter(([, { left, right, top, bottom }, each]) =>
    left < band.left - 1 || right > band.right + 1 || top < band.top - 1 || bottom > band.bottom + 1
    || each.scrollWidth > each.clientWidth + 1);
  const middle = ({ left, right }) => (left + right) / 2;
  const [what, figures] = [".what", ".figures"].map((each) => boxes.find(([, , box]) => box.matches(each))[1]);
  return [
    ...out.map(([name]) => name),
    ...(band.top < board.top || band.bottom > board.bottom || band.width < board.width - 1 ? ["the band"] : []),
    ...(alone && Math.abs(middle(what) - middle(figures)) > 0.05 * band.height ? ["beside the middle"] : []),
  ];
})
"""


@asynccontextmanager
async def laid_out(
    page: Page, broker: Broker, table: PlayedTable, layout: str, width: int, height: int
) -> AsyncIterator[None]:
    """The table on a page of this layout and size, which is live; a split screen and a wall have places for other tables too."""
    await page.set_viewport_size({"width": width, "height": height})
    async with (
        display(broker, page={"tables": TABLES}) as address,
        publisher(broker) as out,
        dealt(out, table),
    ):
        await page.goto(address + LAYOUTS[layout])
        await expect(page.locator(".board").first).to_have_class("board shown live")
        yield


def crowded_table() -> PlayedTable:
    table = PlayedTable(name="The Emperor's Private Gaming Salon, Upper Level")
    table.play(60)
    shoe = tuple(rounds("TTBPTTTB" + "BP" * 30 + "B" * 14 + "T" * 12))
    state = table.table.state
    table.table.state = state.replace(shoe=state.shoe.replace(rounds=shoe))
    table.lose_the_shoe()
    table.lift_the_lid()
    return table


@pytest.mark.in_part
@pytest.mark.parametrize("layout", ONE_AND_ALL)
async def test_the_whole_board_fits_any_screen(page, broker, layout):
    table = crowded_table()
    async with (
        display(broker, page={"tables": TABLES}) as address,
        publisher(broker) as out,
        dealt(out, table, Meter(1_234_567_89)),
    ):
        for width, height in part(SCREENS[layout], one_in=3):
            await page.set_viewport_size({"width": width, "height": height})
            await page.goto(address + LAYOUTS[layout])
            await expect(page.locator(".board").first).to_have_class("board shown live")
            await expect(page.locator(".board").first.locator('[data-count="hands"]')).to_have_text(
                str(len(table.table.state.shoe.rounds))
            )
            if layout != "roads":  # which has no room for it
                await expect(page.locator(".progressive").first).to_be_visible()
            await page.evaluate(LAID_OUT)
            boxes = await page.evaluate(BOXES)

            screen = f"{width} x {height}"
            assert len(boxes) > 10, screen
            assert [
                box
                for box in boxes
                if box["left"] < 0
                or box["top"] < 0
                or box["right"] > width + 0.5
                or box["bottom"] > height + 0.5
            ] == [], screen
            assert await page.evaluate(CUT_OFF) == [], screen
            assert await page.evaluate(OUT_OF_ITS_PANEL) == [], screen
            assert await page.evaluate(TEXT_ON_TEXT) == [], screen


PLACES = """
[...document.querySelectorAll(".board:first-child :is(.road, .hand, .limits, .tally)")].map((each) => {
  const { left, top, width, height } = each.getBoundingClientRect();
  return [each.className, left, top, width, height];
})
"""


@pytest.mark.parametrize(
    ("layout", "width", "height"),
    [
        ("split", 1920, 1080),
        *soaked(
            ("portrait", 1080, 1920),
            ("landscape", 390, 844),
            ("landscape", 1920, 480),
            ("landscape", 1920, 1080),
            ("roads", 1080, 1920),
            ("wall", 1920, 1080),
        ),
    ],
)
async def test_nothing_moves_when_a_hand_is_dealt_or_the_table_is_stopped(
    page, broker, layout, width, height
):
    table = PlayedTable(seed=342)
    outcome = page.locator(".outcome").first
    async with laid_out(page, broker, table, layout, width, height):
        await expect(outcome).to_have_text("")  # the game is shown
        await page.evaluate(LAID_OUT)
        places = await page.evaluate(PLACES)
        assert len(places) == 9

        table.deal(3)
        await expect(outcome).to_have_text(re.compile("Next card"))
        assert await page.evaluate(PLACES) == places

        table.lose_the_shoe()
        await expect(outcome).to_have_text("One moment, please")
        assert await page.evaluate(PLACES) == places


# How the words of a stop are beside those that invite to bet, which are hidden then, and how far from the middle of the head.
WAITING = """
() => {
  const [outcome, phase] = [".outcome", ".phase"].map((each) => document.querySelector(each));
  const [own, usual] = [outcome, phase].map((each) => getComputedStyle(each));
  const range = document.createRange();
  range.selectNodeContents(outcome);
  const [words, head] = [range, document.querySelector("header")].map((each) => each.getBoundingClientRect());
  return {
    face: own.fontFamily === usual.fontFamily,
    larger: parseFloat(own.fontSize) / parseFloat(usual.fontSize),
    off: Math.abs(words.left + words.right - head.left - head.right) / 2 / head.width,
  };
}
"""


@pytest.mark.parametrize(
    ("layout", "width", "height"),
    [
        ("landscape", 1920, 1080),
        *soaked(
            ("portrait", 1080, 1920), ("split", 1920, 1080), ("wall", 1920, 1080), ("landscape", 1920, 480),
            ("landscape", 390, 844), ("landscape", 1280, 960), ("roads", 1920, 1080),
        ),
    ],
)  # fmt: skip
async def test_a_stopped_table_asks_for_a_moment_as_loud_as_for_bets(page, broker, layout, width, height):
    table = PlayedTable(seed=342)
    async with laid_out(page, broker, table, layout, width, height):
        table.lose_the_shoe()
        await expect(page.locator(".outcome").first).to_have_text("One moment, please")
        await page.evaluate(LAID_OUT)
        found = await page.evaluate(WAITING)

    assert found["face"]
    assert found["larger"] >= 1
    if layout != "wall" and height != 480:  # whose heads have no middle
        assert found["off"] < 0.01


MOMENTS = [
    *(
        ("landscape", *screen)
        for screen in [(1920, 480), (1280, 960), (1920, 1080), (390, 844), (1080, 1920)]
    ),
    *(("roads", *screen) for screen in [(1920, 1080), (1080, 1920)]),
    *((layout, 1920, 1080) for layout in ("split", "wall")),
]


@pytest.mark.parametrize("language", ["en", "zh-Hant", *soaked("pt", "zh-Hans")])
@pytest.mark.parametrize(("layout", "width", "height"), sampled(MOMENTS, one_in=2))
async def test_the_results_moment_is_whole_and_in_the_middle(page, broker, layout, width, height, language):
    won, cards = before_hand(1, lambda result: result.winner == "player" and len(result.hits) > 0)
    won.deal(cards - 1)
    await page.set_viewport_size({"width": width, "height": height})
    await page.clock.install()
    async with (
        display(broker, page={"tables": TABLES}) as address,
        publisher(broker) as out,
        dealt(out, won),
    ):
        await page.goto(f"{address}{LAYOUTS[layout]}&lang={language}")
        await expect(page.locator(".board.live .card[data-card]")).to_have_count(cards - 1)
        async with time_stands_still(page):
            won.draw()
            await expect(page.locator(".moment.now.player")).to_have_count(1)
            assert await page.locator(".moment.now .badges div").count() == 1
            assert await page.evaluate(MOMENT, language in {"en", "pt"}) == []


DIMMED = """
() => [...document.querySelectorAll(".board:first-child :is(h1, .hand, .limits, .tally, .road)")].filter((each) => {
  let opacity = 1;
  for (let at = each; at !== null; at = at.parentElement)
    if (getComputedStyle(at).display !== "contents") opacity *= getComputedStyle(at).opacity;
  return each.checkVisibility() && Math.abs(opacity - 0.28) > 0.01;
}).map((each) => each.className)
"""


@pytest.mark.parametrize(
    ("layout", "width", "height"),
    [
        ("split", 1920, 1080),
        *soaked(
            ("portrait", 1080, 1920),
            ("landscape", 1920, 480),
            ("landscape", 1920, 1080),
            ("landscape", 390, 844),
            ("wall", 1920, 1080),
        ),
    ],
)
async def test_all_of_a_board_that_is_not_live_is_dimmed(page, broker, layout, width, height):
    await page.set_viewport_size({"width": width, "height": height})
    async with display(broker, page={"tables": TABLES}) as address, publisher(broker) as out:
        async with dealt(out, PlayedTable()):
            await page.goto(address + LAYOUTS[layout])
            await expect(page.locator(".board.live")).to_have_count(1)
        await expect(page.locator(".board.live")).to_have_count(0)
        assert await page.evaluate(DIMMED) == []


WALLS = {"wall of six": 6, "wall of 24": 24}
COVERED = """
[...document.querySelectorAll(".code")].filter(code => code.textContent !== "").flatMap(code => {
  const own = code.getBoundingClientRect();
  const others = [...code.parentElement.querySelectorAll("dd, dt, .road")].filter(each => {
    const { left, right, top, bottom, width } = each.getBoundingClientRect();
    return width > 0 && left < own.right && own.left < right && top < own.bottom - 1 && own.top < bottom - 1;
  });
  const { opacity, filter } = getComputedStyle(code);
  return [...others.map(each => each.className || each.textContent), ...(opacity === "1" && filter === "none" ? [] : ["dim"])];
})
"""


@pytest.mark.parametrize(
    "layout", ["landscape", "wall of six", *soaked("wall of 24", "split", "roads", "portrait")]
)
async def test_staff_can_read_their_code_and_it_covers_nothing(page, broker, layout):
    tables = [f"table-{number}" for number in range(1, WALLS.get(layout, 2) + 1)]
    table = PlayedTable(seed=342)
    table.play(57)
    table.lose_the_shoe()
    code = page.locator(".board .code").first
    await page.set_viewport_size(
        {"width": 1080 if layout == "portrait" else 1920, "height": 1920 if layout == "portrait" else 1080}
    )
    async with display(broker, page={"tables": tables}) as address, publisher(broker) as out:
        async with dealt(out, table):
            await page.goto(address + LAYOUTS.get(layout, f"wall?tables={','.join(tables)}"))
            await expect(page.locator(".board").first).to_have_class("board shown live")
            await expect(code).to_have_text("41")
            assert await page.evaluate(COVERED) == []

        await expect(code).to_have_text("Not live · 11")
        assert await page.evaluate(COVERED) == []


@pytest.mark.parametrize("theme", ["lacquer", *soaked("jade", "night")])
@pytest.mark.parametrize("layout", ONE_AND_ALL)
async def test_axe_finds_no_fault(page, broker, layout, theme):
    table = PlayedTable(seed=342)
    table.play(57)
    meter = Meter()
    upright = layout == "portrait"
    await page.set_viewport_size({"width": 1080 if upright else 1920, "height": 1920 if upright else 1080})
    async with (
        display(broker, page={"tables": TABLES, "theme": theme}) as address,
        publisher(broker) as out,
        dealt(out, table, meter),
    ):
        await page.goto(address + LAYOUTS[layout])
        await expect(page.locator(".board").first).to_have_class("board shown live")
        assert await faults_of(page) == []


async def test_nothing_flashes_and_nothing_moves_where_that_is_not_wanted(page, broker):
    table = PlayedTable(seed=342)
    table.play(10)
    await page.emulate_media(reduced_motion="no-preference")
    moving = "document.getAnimations().map(each => each.effect.getComputedTiming().duration)"
    async with shown(page, broker, table) as out:
        table.play(1)
        await out.send("scoreboard", table.scoreboard())
        await expect(page.locator('[data-count="hands"]')).to_have_text("11")
        durations = await page.evaluate(moving)

        # Above three flashes a second lies danger (WCAG 2.3.1); the shortest of these is one in 0.6 seconds.
        assert durations
        assert min(durations) >= 500

        await page.emulate_media(reduced_motion="reduce")
        assert await page.evaluate(moving) == []


@pytest.mark.soak
async def test_the_page_is_shifted_a_little_every_minute_and_dimmed_when_nothing_is_played(page, broker):
    table = PlayedTable()
    await page.clock.install()
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await out.send("state", table.state())
        await expect_live(page)
        main = page.locator("main")
        seen = set()
        for _ in range(17):
            await page.clock.fast_forward(60_000)
            seen.add(await main.evaluate("main => main.style.transform"))

        assert len(seen) == 17
        assert max(abs(float(part)) for each in seen for part in re.findall(r"[-.\d]+(?=rem)", each)) <= 0.3
        await expect(main).to_have_class("idle")
        await expect(page.locator(".board .not-live")).to_be_visible()

        table.play(1)
        await out.send("state", table.state())
        await expect(main).not_to_have_class("idle")
