"""The i-Score page in a real browser, from a real broker: what it shows, and when it says that it is not live."""

import asyncio
import signal
from pathlib import Path

import aiomqtt
import pytest
from playwright.async_api import expect

from punto.baccarat.table.order_kinds import Reveal, VoidCoup
from tests.displays.meters import Meter
from tests.displays.page.watching import (
    dealt,
    expect_live,
    expect_not_live,
    live_seconds,
    note_when_live,
    shown,
)
from tests.displays.parts import Broker, DisplayProcess, display, publisher
from tests.displays.played import PlayedTable, availability
from tests.ports import free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")

KIOSK = Path(__file__).parents[3] / "punto" / "displays" / "kiosk.html"
AT_ONCE = 2  # seconds; by itself the last state is over after 2.5
# How many parts of the board were made, taken away or written anew since the page was asked to count.
COUNT_CHANGES = """
() => {
  window.changes = { notLive: 0, others: 0 };
  const isNotLive = ({ target }) => (target.parentElement ?? target).closest(".not-live") !== null;
  const count = seen => { for (const each of seen) window.changes[isNotLive(each) ? "notLive" : "others"] += 1; };
  new MutationObserver(count)
    .observe(document.querySelector(".board"), { subtree: true, childList: true, characterData: true });
}
"""


def server_of(broker: Broker, port: str = "0") -> DisplayProcess:
    login = ("--table", "table-1", "--mqtt-port", str(broker.port))
    return DisplayProcess(*login, "--port", port, "--log-level", "warning")


async def test_a_hand_is_shown_as_it_is_dealt_and_then_how_it_came_out(page, broker):
    table = PlayedTable()
    table.play(1)
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        async with dealt(out, table):
            await expect_live(page)
            await expect(page.locator(".phase")).to_have_text("Place your wagers")
            for _ in range(12):
                table.draw()
                state = table.state()
                await out.send("state", state)
                shown = state.hands or state.result
                assert shown is not None
                for side in ("player", "banker"):
                    cards = [str(card) for card in getattr(shown, side)]
                    await expect(page.locator(f".hand.{side} [data-card]")).to_have_count(len(cards))
                    total = getattr(shown, f"{side}_total")
                    await expect(page.locator(f".hand.{side} .total")).to_have_text(
                        "" if total is None else str(total)
                    )
                    assert cards == await page.locator(f".hand.{side} [data-card]").evaluate_all(
                        "cards => cards.map(card => card.dataset.card)"
                    )
                await expect(page.locator(".phase")).to_have_text(
                    "No more wagers" if state.hands else "Place your wagers"
                )
                if state.hands is None and state.result is not None and state.result.winner is not None:
                    winner = state.result.winner.value
                    await expect(page.locator(".outcome")).to_have_class(f"outcome fit {winner}")
                    await expect(page.locator(".outcome")).to_contain_text(
                        "Tie" if winner == "tie" else f"{winner.capitalize()} wins"
                    )
                await expect(page.locator(".cards-left")).to_have_text(str(state.shoe.cards_left))


async def test_cards_that_are_not_shown_yet_lie_face_down(page, broker):
    table = PlayedTable(game_name="midi-baccarat")
    table.deal(3)
    async with shown(page, broker, table):
        await expect(page.locator('.hand.player [data-card="back"]')).to_have_count(2)
        await expect(page.locator('.hand.banker [data-card="back"]')).to_have_count(1)
        await expect(page.locator(".hand.player .total")).to_have_text("")


async def test_the_seat_that_turns_the_cards_is_named_until_they_are_revealed(page, broker):
    """Sheet 004: in midi baccarat the player with the largest wager reveals them."""
    table = PlayedTable(game_name="midi-baccarat")
    async with shown(page, broker, table):
        await expect(page.locator(".outcome")).to_have_text("")

        table.turned_by(5)
        await expect(page.locator(".outcome")).to_have_text("Seat 5 turns the cards")
        table.handle(Reveal("mei"))
        await expect(page.locator(".outcome")).not_to_contain_text("Seat 5")


async def test_table_game_shoe_and_limits_are_named(page, broker):
    table = PlayedTable()
    table.play(3)
    async with shown(page, broker, table):
        await expect(page.locator(".table-name")).to_have_text("Dragon Room 8")
        await expect(page.locator(".game")).to_have_text("Mini Baccarat, Canberra")
        await expect(page.locator(".shoe-number")).to_have_text("1")
        await expect(page.locator(".hand-number")).to_have_text("3")
        assert await page.locator(".limits tbody tr").all_inner_texts() == [
            wager.title + ("\t$25\t$5,000" if wager.base else "\t$5\t$500")
            for wager in table.table.state.settings.game.wagers
        ]


async def test_how_many_games_a_player_may_wager_on_is_posted(page, broker):
    """Sheet 003, 1b."""
    table = PlayedTable(maximum_wagers=4)
    async with shown(page, broker, table):
        await expect(page.locator(".game")).to_have_text(
            "Mini Baccarat, Canberra · Players are limited to wagering on a maximum of 4 games"
        )


async def test_what_stops_the_table_is_shown_over_the_last_result(page, broker):
    table = PlayedTable()
    table.play(2)
    table.cut_card()
    async with shown(page, broker, table):
        await expect(page.locator(".remark")).to_have_text("Last hand")

        table.lose_the_shoe()

        await expect(page.locator(".outcome")).to_have_text("Shoe offline")


@pytest.mark.punctual
async def test_not_live_within_three_seconds_of_the_last_state_and_live_again_with_the_next(page, broker):
    table = PlayedTable()
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await page.wait_for_selector(".board")
        await note_when_live(page, ".board")
        for _ in range(2):
            await expect_not_live(page, "Nothing new from the table")
            await out.send("state", table.state())
            await page.wait_for_selector(".board.live")
            await page.wait_for_selector(".board:not(.live)")

            assert 2 < await live_seconds(page) < 3


@pytest.mark.punctual
@pytest.mark.soak
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
            await expect(page.locator(".table-name")).to_have_text("Dragon Room 8")
            await page.wait_for_timeout(500)

            await expect_not_live(page, "Nothing new from the table")


@pytest.mark.punctual
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
            await expect_live(page)

            await expect(page.locator(".hand-number")).to_have_text("1")


async def test_a_server_that_is_killed_and_started_again(page, broker):
    table = PlayedTable()
    port = str(free_port())
    server = server_of(broker, port)
    async with publisher(broker) as out, dealt(out, table):
        await page.goto(await asyncio.to_thread(server.address))
        await expect_live(page)

        server.end(signal.SIGKILL)
        await expect_not_live(page, "No connection to the display's server")

        table.play(1)
        server = server_of(broker, port)
        await expect_live(page)
        await expect(page.locator(".hand-number")).to_have_text("1")

        status, said = server.end(signal.SIGTERM)
        await expect_not_live(page, "No connection to the display's server")
        assert (status, said) == (0, "")


@pytest.mark.punctual
@pytest.mark.soak
async def test_a_server_that_hangs_is_left_and_found_again(page, broker):
    table = PlayedTable()
    server = server_of(broker)
    async with publisher(broker) as out, dealt(out, table):
        await page.goto(await asyncio.to_thread(server.address))
        await expect_live(page)

        server.send_signal(signal.SIGSTOP)
        await expect_not_live(page, "Nothing new from the table")
        await expect_not_live(page, "No connection to the display's server", within=8)

        server.send_signal(signal.SIGCONT)
        await expect_live(page)
    server.end(signal.SIGTERM)


@pytest.mark.soak
async def test_a_kiosk_that_starts_before_its_server_waits_for_it(page, broker):
    table = PlayedTable()
    port = str(free_port())
    await page.goto(f"{KIOSK.as_uri()}#http://127.0.0.1:{port}/")
    await page.wait_for_timeout(500)
    await expect(page.locator("p")).to_have_text("Waiting for the display's server")

    server = server_of(broker, port)
    async with publisher(broker) as out, dealt(out, table):
        await expect_live(page)
    server.end(signal.SIGTERM)


async def test_a_name_with_html_in_it_is_shown_as_text(page, broker):
    name = "<img src=x onerror=\"document.title='broken in'\"><b>VIP</b> & Co"
    table = PlayedTable(name=name)
    async with shown(page, broker, table):
        await expect(page.locator(".table-name")).to_have_text(name)
        await expect(page).to_have_title(f"{name} i-Score")
        assert await page.locator(".table-name *").count() == 0


@pytest.mark.punctual
async def test_the_progressives_strip_is_there_while_its_meter_runs_and_is_live(page, broker):
    table = PlayedTable()
    meter = Meter(98_101_00, title="<b>Dragon</b>")
    strip = page.locator(".progressive")
    async with shown(page, broker, table) as out:
        await expect(strip).to_be_hidden()

        await out.send("progressive/dragon", meter.message())
        await expect(strip).to_have_text("<b>Dragon</b>$98,101.00")
        await expect(strip).to_be_in_viewport(ratio=1)

        meter.win(24_525_25)
        await out.send("progressive/dragon", meter.message())
        await expect(strip).to_have_text("Award $24,525.25$98,101.00")
        await expect(strip).to_be_hidden()  # for nothing more comes
        await expect_live(page)

        for phase, ending in (("retired", None), ("open", b"")):
            meter.changes["phase"] = "open"
            await out.send("progressive/dragon", meter.message())
            await expect(strip).to_be_visible()
            meter.changes["phase"] = phase
            await out.send("progressive/dragon", meter.message() if ending is None else ending)
            await expect(strip).to_be_hidden(timeout=AT_ONCE * 1000)


@pytest.mark.soak
async def test_a_board_that_comes_back_to_the_same_table_changes_nothing_but_that_it_is_live(page, broker):
    table = PlayedTable(seed=342)
    table.play(40)
    port = str(free_port())
    server = server_of(broker, port)
    async with publisher(broker) as out, dealt(out, table):
        await page.goto(await asyncio.to_thread(server.address))
        await expect_live(page)
        await expect(page.locator('[data-count="hands"]')).to_have_text("40")
        await page.evaluate(COUNT_CHANGES)

        server.end(signal.SIGKILL)
        await expect_not_live(page, "No connection to the display's server")
        server = server_of(broker, port)
        await expect_live(page)
        await expect(page.locator('[data-count="hands"]')).to_have_text("40")
        changes = await page.evaluate("changes")
    server.end(signal.SIGTERM)

    # Only what stands in NOT LIVE was written, for each thing that was missing in turn.
    assert changes["notLive"] > 0
    assert changes["others"] == 0


async def test_a_hand_that_was_void_before_it_was_shown_has_neither_cards_nor_totals(page, broker):
    table = PlayedTable(game_name="midi-baccarat")
    table.deal(3)
    table.handle(VoidCoup("mei", "misdeal"))
    state = table.state()
    assert state.result is not None
    assert state.result.player == ()
    async with shown(page, broker, table):
        await expect(page.locator(".outcome")).to_have_text("Hand void, wagers returned")
        await expect(page.locator("[data-card]")).to_have_count(0)
        await expect(page.locator(".hand .total")).to_have_text(["", ""])
