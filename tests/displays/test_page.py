"""The i-Score page in a real browser, from a real broker: what it shows, and when it says that it is not live."""

import asyncio
import signal
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import time

import aiomqtt
import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright, expect

from controller.messages.models import Scoreboard
from controller.roads.drawing import shown_columns
from tests.displays.parts import (
    CHROMIUM,
    CHROMIUM_ARGS,
    DisplayProcess,
    Publisher,
    display,
    free_port,
    publisher,
)
from tests.displays.played import PlayedTable, availability
from tests.roads.shoes import random_shoe, rounds

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLATE_COLUMNS, ROAD_COLUMNS = 13, 34
KIOSK = Path(__file__).parents[2] / "displays" / "kiosk.html"
CELLS = """
id => [...document.querySelectorAll(`#${id} .cell`)].map(cell => ({
  row: +cell.dataset.row,
  col: +cell.dataset.col,
  x: cell.transform.baseVal[0].matrix.e / 10,
  y: cell.transform.baseVal[0].matrix.f / 10,
  winner: cell.classList[1],
  letter: cell.querySelector(".letter")?.textContent ?? null,
  ring: cell.querySelector(".ring") !== null,
  natural: cell.querySelector(".natural, .inner") !== null,
  ties: cell.querySelector(".ties") === null ? 0 : +(cell.querySelector(".tie-count")?.textContent ?? 1),
  banker_pair: cell.querySelector(".dot.banker-pair") !== null,
  player_pair: cell.querySelector(".dot.player-pair") !== null,
}))
"""

CUT_OFF = """
[...document.querySelectorAll("#board :is(h1, h2, p, dl, dt, dd, output)")]
  .filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.id || each.textContent)
"""
# When the page last became live or not live, by its own hand: what it takes to ask the browser is no part of it.
NOTE_CHANGES = """
new MutationObserver(() => { window.changed = Date.now(); }).observe(document.body, { attributeFilter: ["class"] })
"""
BOXES = """
[...document.querySelectorAll("#board > *, #board dl > div, .card, #phase, .panel > svg")].map(each => ({
  name: each.id || each.className, ...each.getBoundingClientRect().toJSON()
}))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    assert CHROMIUM, "these tests need Chromium"
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser):
    """An empty page; whatever the page's script or its policy objects to fails the test."""
    opened = await browser.new_page(viewport={"width": 1920, "height": 1080})
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    yield opened
    await opened.close()
    assert faults == []


@asynccontextmanager
async def dealt(out: Publisher, table: PlayedTable):
    """The table is there and publishes its state, as its service does every second, for as long as this lasts."""

    async def go_on() -> None:
        while True:
            await out.send("state", table.state())
            await asyncio.sleep(0.5)

    await out.send("scoreboard", table.scoreboard())
    task = asyncio.create_task(go_on())
    try:
        yield
    finally:
        task.cancel()


async def expect_live(page: Page, *, within: float = 5) -> None:
    await expect(page.locator("body")).to_have_class("live", timeout=within * 1000)
    await expect(page.locator("#not-live")).to_be_hidden()


async def expect_not_live(page: Page, reason: str, *, within: float = 3) -> None:
    await expect(page.locator("#not-live")).to_be_visible(timeout=within * 1000)
    await expect(page.locator("#not-live strong")).to_have_text("NOT LIVE")
    await expect(page.locator("#not-live-reason")).to_have_text(reason)


def expected_cells(scoreboard: Scoreboard, name: str, width: int) -> list[dict[str, object]]:
    """What the grid shows of a published road."""
    cells = scoreboard.bead_plate if name == "bead_plate" else scoreboard.big_road
    columns = shown_columns(cells, width)
    return [
        {
            "row": cell.row,
            "col": cell.col,
            "x": cell.col - columns.start,
            "y": cell.row,
            "winner": "waiting" if cell.winner is None else cell.winner.value,
            "letter": cell.winner.value[0].upper() if name == "bead_plate" and cell.winner else None,
            "ring": name == "big_road" and cell.winner is not None,
            "natural": cell.natural,
            "ties": getattr(cell, "ties", 0),
            "banker_pair": cell.banker_pair,
            "player_pair": cell.player_pair,
        }
        for cell in cells
        if cell.col in columns
    ]


async def test_every_cell_of_the_roads_is_drawn(page, broker):
    table = PlayedTable()
    shoes = ["", "T", "TTT", "TTPB", "B" * 45 + "P", "BP" * 40, "BBTTTPPTB" * 8, *map(random_shoe, range(12))]
    assert all(
        len(one) != len(other) for one, other in pairwise(shoes)
    )  # the count of hands tells them apart below
    played = PlayedTable(seed=3)
    played.play(66)
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)
        for each in [*(rounds(shoe) for shoe in shoes), played.table.state.rounds]:
            table.table.state = replace(table.table.state, rounds=tuple(each))
            scoreboard = table.scoreboard()
            await out.send("scoreboard", scoreboard)
            await expect(page.locator("#count-hands")).to_have_text(str(len(each)))

            for name, width in (("bead_plate", PLATE_COLUMNS), ("big_road", ROAD_COLUMNS)):
                assert await page.evaluate(CELLS, name.replace("_", "-")) == expected_cells(
                    scoreboard, name, width
                )
            for name, count in scoreboard.counts.model_dump().items():
                await expect(page.locator(f"#count-{name}")).to_have_text(str(count))
            streak = scoreboard.streak
            await expect(page.locator("#streak dd")).to_have_text(
                "\N{EN DASH}"
                if streak is None
                else f"{streak.winner[0].upper()} \N{MULTIPLICATION SIGN} {streak.length}"
            )


async def test_a_hand_is_shown_as_it_is_dealt_and_then_how_it_came_out(page, broker):
    table = PlayedTable()
    table.play(1)
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        async with dealt(out, table):
            await expect_live(page)
            await expect(page.locator("#phase")).to_have_text("Place your wagers")
            for _ in range(12):
                table.draw()
                state = table.state()
                await out.send("state", state)
                shown = state.hands or state.result
                assert shown is not None
                for side in ("player", "banker"):
                    cards = [str(card) for card in getattr(shown, side)]
                    await expect(page.locator(f"#{side} [data-card]")).to_have_count(len(cards))
                    total = getattr(shown, f"{side}_total")
                    await expect(page.locator(f"#{side} .total")).to_have_text(
                        "" if total is None else str(total)
                    )
                    assert cards == await page.locator(f"#{side} [data-card]").evaluate_all(
                        "cards => cards.map(card => card.dataset.card)"
                    )
                await expect(page.locator("#phase")).to_have_text(
                    "No more wagers" if state.hands else "Place your wagers"
                )
                if state.hands is None and state.result is not None and state.result.winner is not None:
                    winner = state.result.winner.value
                    await expect(page.locator("#outcome")).to_have_class(winner)
                    await expect(page.locator("#outcome")).to_contain_text(
                        "Tie" if winner == "tie" else f"{winner.capitalize()} wins"
                    )
                await expect(page.locator("#cards-left")).to_have_text(str(state.shoe.cards_left))


async def test_cards_that_are_not_shown_yet_lie_face_down(page, broker):
    table = PlayedTable(game_name="midi-baccarat")
    table.deal(3)
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)

        await expect(page.locator('#player [data-card="back"]')).to_have_count(2)
        await expect(page.locator('#banker [data-card="back"]')).to_have_count(1)
        await expect(page.locator("#player .total")).to_have_text("")


async def test_table_game_shoe_and_limits_are_named(page, broker):
    table = PlayedTable()
    table.play(3)
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)

        await expect(page.locator("#table-name")).to_have_text("Dragon Room 8")
        await expect(page.locator("#game")).to_have_text("Mini Baccarat, Canberra")
        await expect(page.locator("#shoe-number")).to_have_text("1")
        await expect(page.locator("#hand-number")).to_have_text("3")
        assert await page.locator("#limits div").all_inner_texts() == [
            wager.title + ("\n$25 \N{EN DASH} $5,000" if wager.base else "\n$5 \N{EN DASH} $500")
            for wager in table.table.state.settings.game.wagers
        ]


async def test_what_stops_the_table_is_said_over_the_last_result(page, broker):
    table = PlayedTable()
    table.play(2)
    table.cut_card()
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)
        await expect(page.locator("#remark")).to_have_text("Last hand")

        table.lose_the_shoe()

        await expect(page.locator("#outcome")).to_have_text("Shoe offline")


async def test_not_live_within_three_seconds_of_the_last_state_and_live_again_with_the_next(page, broker):
    table = PlayedTable()
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await page.evaluate(NOTE_CHANGES)
        for _ in range(2):
            await expect_not_live(page, "Nothing new from the table")
            published = time()
            await out.send("state", table.state())
            await page.wait_for_selector("body.live")
            await page.wait_for_selector("body:not(.live)")

            assert 2 < await page.evaluate("changed") / 1000 - published < 3


async def test_not_live_at_once_when_the_table_says_that_it_is_offline(page, broker):
    table = PlayedTable()
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await expect_not_live(page, "Nothing new from the table")
        await out.send("state", table.state())
        await expect_live(page)
        await out.send("availability", availability("offline", "stopped by an operator"))

        await expect_not_live(page, "The table is offline: stopped by an operator", within=0.5)


async def test_a_state_that_the_broker_had_kept_is_shown_and_is_not_live(page, broker):
    table = PlayedTable()
    async with publisher(broker) as out:
        await out.send("state", table.state())
        async with display(broker) as address:
            await page.goto(address)
            await expect(page.locator("#table-name")).to_have_text("Dragon Room 8")
            await page.wait_for_timeout(500)

            await expect_not_live(page, "Nothing new from the table")


async def test_a_broker_that_goes_and_comes_back(page, broker):
    table = PlayedTable()
    async with display(broker) as address:
        await page.goto(address)
        async with publisher(broker) as out:
            await out.send("state", table.state())
            await expect_live(page)
            broker.kill()
            await expect_not_live(page, "The display has no connection to the message broker", within=1)
            with pytest.raises(aiomqtt.MqttError):
                await out.send("state", table.state())
        await broker.start()
        table.play(1)
        async with publisher(broker) as out, dealt(out, table):
            await expect_live(page, within=10)

            await expect(page.locator("#hand-number")).to_have_text("1")


async def test_a_server_that_is_killed_and_started_again(page, broker):
    table = PlayedTable()
    port = str(free_port())
    arguments = ("--table", "table-1", "--port", port, "--mqtt-port", str(broker.port))
    server = DisplayProcess(*arguments)
    async with publisher(broker) as out, dealt(out, table):
        await page.goto(await asyncio.to_thread(server.address))
        await expect_live(page)

        server.end(signal.SIGKILL)
        await expect_not_live(page, "No connection to the display's server")

        table.play(1)
        server = DisplayProcess(*arguments)
        await expect_live(page, within=10)
        await expect(page.locator("#hand-number")).to_have_text("1")

        status, said = server.end(signal.SIGTERM)
        await expect_not_live(page, "No connection to the display's server")
        assert (status, said) == (0, "")


async def test_a_server_that_hangs_is_left_and_found_again(page, broker):
    table = PlayedTable()
    server = DisplayProcess("--table", "table-1", "--port", "0", "--mqtt-port", str(broker.port))
    async with publisher(broker) as out, dealt(out, table):
        await page.goto(await asyncio.to_thread(server.address))
        await expect_live(page)

        server.send_signal(signal.SIGSTOP)
        await expect_not_live(page, "Nothing new from the table")
        await expect_not_live(page, "No connection to the display's server", within=8)

        server.send_signal(signal.SIGCONT)
        await expect_live(page, within=10)
    server.end(signal.SIGTERM)


async def test_a_kiosk_that_starts_before_its_server_waits_for_it(page, broker):
    table = PlayedTable()
    port = str(free_port())
    await page.goto(f"{KIOSK.as_uri()}#http://127.0.0.1:{port}/")
    await page.wait_for_timeout(500)
    await expect(page.locator("p")).to_have_text("Waiting for the display's server")

    server = DisplayProcess("--table", "table-1", "--port", port, "--mqtt-port", str(broker.port))
    async with publisher(broker) as out, dealt(out, table):
        await expect_live(page, within=10)
    server.end(signal.SIGTERM)


async def test_a_name_with_html_in_it_is_shown_as_text(page, broker):
    name = "<img src=x onerror=\"document.title='broken in'\"><b>VIP</b> & Co"
    table = PlayedTable(name=name)
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)

        await expect(page.locator("#table-name")).to_have_text(name)
        await expect(page).to_have_title(f"{name} i-Score")
        assert await page.locator("#table-name *").count() == 0


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (3840, 2160)], ids=str)
async def test_the_whole_board_fits_any_screen(page, broker, size):
    table = PlayedTable(name="The Emperor's Private Gaming Salon, Upper Level")
    table.play(60)
    crowded = tuple(rounds("TTBPTTTB" + "BP" * 30 + "B" * 14 + "T" * 12))
    table.table.state = replace(table.table.state, rounds=crowded)
    table.lose_the_shoe()
    table.lift_the_lid()
    width, height = size
    await page.set_viewport_size({"width": width, "height": height})
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(address)
        await expect_live(page)
        await expect(page.locator("#count-hands")).to_have_text(str(len(crowded)))
        boxes = await page.evaluate(BOXES)
        cut_off = await page.evaluate(CUT_OFF)

    assert len(boxes) > 20
    assert [
        box
        for box in boxes
        if box["left"] < 0 or box["top"] < 0 or box["right"] > width + 0.5 or box["bottom"] > height + 0.5
    ] == []
    assert cut_off == []
