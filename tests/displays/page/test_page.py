"""The i-Score page in a real browser, from a real broker: what it shows, and when it says that it is not live."""

import asyncio
import signal
from pathlib import Path

import aiomqtt
import pytest
from playwright.async_api import expect

from punto.baccarat.table.order_kinds import Reveal, VoidCoup
from punto.displays import server
from tests.displays.meters import Meter
from tests.displays.page.watching import (
    dealt,
    expect_live,
    expect_not_live,
    live_seconds,
    note_when_live,
    send_until,
    shown,
    time_stands_still,
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
            await expect(page.locator(".phase")).to_have_text("Place your bets")
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
                    "No more bets" if state.hands else "Place your bets"
                )
                if state.hands is None and state.result is not None and state.result.winner is not None:
                    winner = state.result.winner.value
                    await expect(page.locator(".outcome")).to_have_class(f"outcome fit {winner}")
                    await expect(page.locator(".outcome")).to_contain_text(
                        "Tie" if winner == "tie" else f"{winner.capitalize()} wins"
                    )


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
        await expect(page.locator(".shoe-number")).to_have_text("Shoe 1")
        await expect(page.locator(".hand-number")).to_have_text("Hand 3")
        side = [wager for wager in table.table.state.settings.game.wagers if not wager.base]
        assert await page.locator(".limits dl").all_inner_texts() == [
            "Min\n$25\nMax\n$5,000",
            "Tie\n$25 \u2013 $5,000",
            *(f"{wager.title}\n$5 \u2013 $500" for wager in side),
        ]


async def test_a_wager_without_a_limit_has_no_line_and_one_without_a_maximum_its_minimum(page, broker):
    table = PlayedTable()
    state = table.state()
    player, banker, tie, *others = state.limits
    limits = (
        player,
        banker.model_copy(update={"maximum": None}),
        tie.model_copy(update={"minimum": 1, "maximum": None}),
        others[0].model_copy(update={"minimum": 500, "maximum": None}),
    )
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await out.send("state", state.model_copy(update={"limits": limits}))
        await expect(page.locator(".limits dl")).to_have_text(
            ["Player Min$25Player Max$5,000", "Banker Min$25", f"{others[0].title}Min $5"]
        )


async def test_a_wager_with_one_size_has_one_sum(page, broker):
    table = PlayedTable(game_name="progressive-2")
    table.play(1)
    state = table.state()
    player, banker, *others = state.limits
    limits = (
        *(each.model_copy(update={"minimum": 100_00, "maximum": 100_00}) for each in (player, banker)),
        others[0].model_copy(update={"minimum": 5_00, "maximum": 5_00, "maximum_of_base": "50%"}),
        *others[1:],
    )
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await out.send("state", state.model_copy(update={"limits": limits}))
        await expect(page.locator(".limits .base")).to_have_text(["Limits$100"])
        await expect(page.locator(f'.limits [data-wager="{others[0].wager}"] dd')).to_have_text(
            "$5, 50% of the base wager"
        )
        await expect(page.locator('.limits [data-wager="progressive"] dd')).to_have_text("$1")


async def test_how_many_games_a_player_may_wager_on_is_posted(page, broker):
    """Sheet 003, 1b."""
    table = PlayedTable(maximum_wagers=4)
    async with shown(page, broker, table):
        await expect(page.locator(".game")).to_have_text(
            "Mini Baccarat, Canberra · Players are limited to wagering on a maximum of 4 games"
        )


async def test_players_are_asked_for_a_moment_while_the_table_is_stopped_and_staff_see_the_code(page, broker):
    table = PlayedTable()
    table.play(2)
    table.cut_card()
    async with shown(page, broker, table):
        await expect(page.locator(".remark")).to_have_text("Last hand")

        table.lose_the_shoe()

        await expect(page.locator(".outcome")).to_have_text("One moment, please")
        await expect(page.locator(".phase")).to_be_hidden()
        await expect(page.locator(".code")).to_have_text("41")


async def test_a_result_has_its_moment_before_its_mark_lands_on_the_roads(page, broker):
    table = PlayedTable(game_name="dragon-bonus-1")
    table.play(2)
    moment = page.locator(".moment")
    await page.clock.install()
    async with shown(page, broker, table) as out:
        await out.send("scoreboard", table.scoreboard())
        await expect(page.locator(".bead-plate .cell")).to_have_count(2)
        await expect(moment).to_be_hidden()  # of what was there before nobody is told again

        async with time_stands_still(page):
            result = None
            while result is None or not result.hits:
                table.play(1)
                result = table.state().result
            assert result.winner is not None
            side, hands = result.winner.value, len(table.table.state.shoe.rounds)
            await out.send("state", table.state())
            await expect(moment).to_have_class(f"moment now {side}")
            await expect(moment).to_be_visible()
            await expect(moment.locator(".what")).to_have_text(
                "Tie" if side == "tie" else f"{side.capitalize()} wins"
            )
            await expect(moment.locator(".badges dt")).to_have_text([hit.title for hit in result.hits])
            await expect(page.locator(".phase")).to_be_hidden()  # seats wait to be paid
            await out.send("scoreboard", table.scoreboard())
            await expect(page.locator('[data-count="hands"]')).to_have_text(str(hands))
            await expect(page.locator(".bead-plate .cell")).to_have_count(2)
        await expect(moment).to_be_hidden()
        await expect(page.locator(".phase")).to_be_visible()
        await expect(page.locator(".bead-plate .cell")).to_have_count(hands)


async def test_each_part_of_a_result_has_the_colour_of_its_side(page, broker):
    table = PlayedTable()
    colour = "each => getComputedStyle(each).color"
    async with shown(page, broker, table):
        table.play_these("2H", "7S", "2D", "KC", "JS")  # Player has a pair of twos, and Banker wins
        outcome = page.locator(".outcome")
        await expect(outcome).to_have_text("Banker winsPlayer Pair")
        said = [await outcome.locator(part).evaluate(colour) for part in ("strong", "small")]

        assert said == [
            await page.locator(f".hand.{side} h2").evaluate(colour) for side in ("banker", "player")
        ]


# The parts of the moment that begin to move, in the order in which they do.
NOTE_MOVED = """
() => {
  window.moved = [];
  document.querySelector(".moment").addEventListener("animationstart", ({ target }) => moved.push(target.className));
}
"""


async def test_the_winners_band_moves_as_a_whole(page, broker):
    table = PlayedTable(game_name="dragon-bonus-1")
    await page.emulate_media(reduced_motion="no-preference")
    async with shown(page, broker, table) as out:
        await page.evaluate(NOTE_MOVED)
        table.play(1)
        await out.send("state", table.state())
        await page.wait_for_function("() => moved.length > 0")

        assert await page.evaluate("moved") == ["band"]


async def test_the_whole_board_says_jackpot_when_the_whole_meter_is_won(page, broker):
    meter = Meter()
    moment = page.locator(".moment")
    await page.clock.install()
    async with shown(page, broker, PlayedTable()) as out:
        await out.send("progressive/dragon", meter.message())
        await expect(page.locator(".progressive")).to_be_visible()
        async with time_stands_still(page):
            meter.win(98_101_46, rule=0)
            await out.send("progressive/dragon", meter.message())

            await expect(moment).to_have_class("moment now jackpot")
            await expect(moment.locator(".what")).to_have_text("Jackpot")
            await expect(moment.locator(".figures")).to_have_text(
                "$98,101.46Seat 3 · 2-3-4 over 0, all diamonds"
            )
        await page.clock.fast_forward(10_000)
        await expect(moment).to_be_hidden()


@pytest.mark.punctual
async def test_not_live_within_three_seconds_of_the_last_state_and_live_again_with_the_next(page, broker):
    table = PlayedTable()
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address)
        await page.wait_for_selector(".board")
        await note_when_live(page, ".board")
        for _ in range(2):
            await expect_not_live(page, 11)
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
        await expect_not_live(page, 11)
        await out.send("state", table.state())
        await expect_live(page)
        await out.send("availability", availability("offline", "stopped by an operator"))

        await expect_not_live(page, 15, within=0.5)


async def test_a_state_that_the_broker_had_kept_is_shown_and_is_not_live(page, broker):
    table = PlayedTable()
    async with publisher(broker) as out:
        await out.send("state", table.state())
        async with display(broker) as address:
            await page.goto(address)
            await expect(page.locator(".table-name")).to_have_text("Dragon Room 8")
            await page.wait_for_timeout(500)

            await expect_not_live(page, 11)


@pytest.mark.punctual
async def test_a_broker_that_goes_and_comes_back(page, broker):
    table = PlayedTable()
    async with display(broker) as address:
        await page.goto(address)
        async with publisher(broker) as out:
            await send_until(page.locator(".board.live"), out, "state", table.state)
            broker.kill()
            await expect_not_live(page, 21, within=1)
            with pytest.raises(aiomqtt.MqttError):
                await out.send("state", table.state())
        await broker.start()
        table.play(1)
        async with publisher(broker) as out, dealt(out, table):
            await expect_live(page)

            await expect(page.locator(".hand-number")).to_have_text("Hand 1")


async def test_a_server_that_is_killed_and_started_again(page, broker):
    table = PlayedTable()
    port = str(free_port())
    server = server_of(broker, port)
    async with publisher(broker) as out, dealt(out, table):
        await page.goto(await asyncio.to_thread(server.address))
        await expect_live(page)

        server.end(signal.SIGKILL)
        await expect_not_live(page, 31)

        table.play(1)
        server = server_of(broker, port)
        await expect_live(page)
        await expect(page.locator(".hand-number")).to_have_text("Hand 1")

        status, said = server.end(signal.SIGTERM)
        await expect_not_live(page, 31)
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
        await expect_not_live(page, 11)
        await expect_not_live(page, 31, within=8)

        server.send_signal(signal.SIGCONT)
        await expect_live(page)
    server.end(signal.SIGTERM)


async def test_after_an_upgrade_the_page_loads_itself_again_between_two_hands(page, broker, monkeypatch):
    table = PlayedTable()
    table.deal(2)
    port = free_port()
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    async with publisher(broker) as out, dealt(out, table):
        async with display(broker, page={"port": port}) as address:
            await page.goto(f"{address}tables/table-1/i-score")
            await expect_live(page)
        monkeypatch.setattr(server, "digest_of_pages", lambda: "another")
        async with display(broker, page={"port": port}):
            await expect_live(page)
            await page.wait_for_timeout(3000)
            assert len(loads) == 1, "a hand is on the table"
            while table.state().hands is not None:
                table.draw()
            await page.wait_for_function(
                "() => performance.getEntriesByType('navigation')[0].type === 'reload'"
            )


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
        await expect(strip).to_have_text("Award $24,525.25 · Seat 3$98,101.00")
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
        await expect_not_live(page, 31)
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
        await expect(page.locator(".outcome")).to_have_text("Hand void, bets returned")
        await expect(page.locator("[data-card]")).to_have_count(0)
        await expect(page.locator(".hand .total")).to_have_text(["", ""])
