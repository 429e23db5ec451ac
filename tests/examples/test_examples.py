"""The programs in examples/ do what they say, as they stand."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import aiomqtt
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from punto.messages.models import State
from tests.controller.guarded_brokers import GuardedBroker
from tests.deadline import DEADLINE
from tests.displays.page.watching import dealt
from tests.displays.parts import Broker, Publisher, display, publisher
from tests.displays.played import PlayedTable
from tests.ports import free_port

HERE = Path(__file__).parents[2]
EXAMPLES = HERE / "examples"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """The origin of a server of the examples, which is not that of the display."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(EXAMPLES)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser):
    opened = await browser.new_page()
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def broker(tmp_path):
    running = Broker(tmp_path)
    await running.start()
    yield running
    running.kill()


def in_mid_hand() -> PlayedTable:
    """A table with forty results, the first two cards of the next hand dealt; its scoreboard is above 4 kB."""
    table = PlayedTable()
    table.play(40)
    table.deal(2)
    assert len(table.scoreboard().wire()) > 4096
    return table


async def expect_shown(page: Page, state: State) -> None:
    assert state.hands is not None
    await expect(page.locator("#name")).to_have_text("Dragon Room 8")
    await expect(page.locator("#phase")).to_have_text("dealing")
    for side in ("player", "banker"):
        cards = " ".join(card or "?" for card in getattr(state.hands, side))
        await expect(page.locator(f"#{side}")).to_have_text(cards)


def beads(table: PlayedTable) -> list[str]:
    return [bead.winner[0].upper() for bead in table.scoreboard().bead_plate]


@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_of_another_origin_follows_a_table(page, broker, elsewhere):
    table = in_mid_hand()
    async with display(broker, page={"origins": [elsewhere]}) as feed, publisher(broker) as out:
        await page.goto(f"{elsewhere}/display.html?feed={feed.rstrip('/')}")
        async with dealt(out, table):
            await expect_shown(page, table.state())
            await expect(page.locator("#beads span")).to_have_text(beads(table))
            table.draw()
            await expect_shown(page, table.state())
        await expect(page.locator("#phase")).to_have_text("NOT LIVE: Nothing new from the table")


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("origins", [[], ["https://floor.example"]])
async def test_a_page_of_an_origin_that_is_not_named_has_nothing(page, broker, elsewhere, origins):
    table = in_mid_hand()
    async with (
        display(broker, page={"origins": origins}) as feed,
        publisher(broker) as out,
        dealt(out, table),
    ):
        await page.goto(f"{elsewhere}/display.html?feed={feed.rstrip('/')}")
        await expect(page.locator("#phase")).to_have_text("NOT LIVE: no connection to the display")
        await expect(page.locator("#name")).to_have_text("Waiting for the table")


@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_follows_a_table_over_the_shipped_brokers_websocket(page, elsewhere, tmp_path):
    table, port = in_mid_hand(), free_port()
    guarded = GuardedBroker(tmp_path)
    shipped = tmp_path / "conf.d" / "punto.conf"
    ready = re.sub(r"(?m)^# (listener 9001|protocol websockets)", r"\1", shipped.read_text(encoding="utf-8"))
    assert "\nlistener 9001 127.0.0.1\nprotocol websockets\n" in ready
    shipped.write_text(ready.replace("listener 9001", f"listener {port}"), encoding="utf-8")
    where = f"{elsewhere}/mqtt-display.html?broker=ws://127.0.0.1:{port}&user=display&password="
    login = guarded.login("punto")
    with guarded:
        async with aiomqtt.Client(
            "127.0.0.1", guarded.port, username=login["username"], password=login["password"]
        ) as client:
            await page.goto(f"{where}wrong")
            await expect(page.locator("#phase")).to_contain_text("NOT LIVE: ")
            await page.goto(f"{where}display's")
            async with dealt(Publisher(client), table):
                await expect_shown(page, table.state())
                await expect(page.locator("#beads")).to_have_text(" ".join(beads(table)))
            await expect(page.locator("#phase")).to_have_text("NOT LIVE: no new state from the table")
    await expect(page.locator("#phase")).to_have_text("NOT LIVE: no connection to the broker")


@pytest.mark.asyncio(loop_scope="session")
async def test_the_display_in_python_prints_the_table_at_each_change(broker, tmp_path):
    table = in_mid_hand()
    said = tmp_path / "said"
    async with publisher(broker) as out:
        with said.open("wb") as log:
            running = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
                [sys.executable, EXAMPLES / "display.py", "127.0.0.1", str(broker.port)],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            async with dealt(out, table):
                first = await _said(said, 1)
                table.draw()
                second = await _said(said, 2)
            third = await _said(said, 3)
        finally:
            running.kill()
            running.wait()

    hands = table.state().hands
    assert hands is not None
    assert first[0].startswith("Dragon Room 8  dealing      P ")
    assert first[0].endswith("".join(beads(table)))
    assert f"P {' '.join(map(str, hands.player)):<8}" in second[1]
    assert third[2] == "NOT LIVE"


async def _said(log: Path, lines: int) -> list[str]:
    """What is printed, once there are so many lines."""
    for _ in range(600):
        found = log.read_text(encoding="utf-8").splitlines()
        if len(found) >= lines:
            return found
        await asyncio.sleep(0.1)
    raise TimeoutError(log.read_text(encoding="utf-8"))


@pytest.mark.soak
def test_the_virtual_shoe_plays_rounds_on_a_bad_line_and_the_record_holds():
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "virtual_shoe.py", "4"],
        check=True,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    lines = [line for line in ran.stdout.splitlines() if line != "done"]

    assert [line.split()[0] for line in lines[:4]] == ["1", "2", "3", "4"]
    assert lines[0].split()[-1] in {"player", "banker", "tie"}
    assert lines[-1] == "the replay finds no difference"


def test_the_notebook_prints_what_its_cells_say():
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "notebook.py"],
        check=True,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert ran.stdout.splitlines()[0] == "banker 0 4"
    assert "  seat 1 player: lose, net -2500 cents" in ran.stdout
    assert re.search(r"(?m)^banker +1\.0579% +1\.3392%$", ran.stdout)
    assert "tie at 8 to 1: 14.3596%, at 9 to 1: 4.8440%" in ran.stdout
    assert ran.stdout.endswith("B P B P\nB . B\n. . B\n")


def test_a_display_is_forty_lines():
    script = (EXAMPLES / "display.html").read_text().partition("<script>")[2].partition("</script>")[0]

    assert len((EXAMPLES / "display.py").read_text().splitlines()) <= 40
    assert len(script.strip().splitlines()) <= 40


def test_each_example_is_listed():
    listed = re.findall(r"\]\(([^)]+)\) \|", (EXAMPLES / "README.md").read_text(encoding="utf-8"))

    assert sorted(listed) == sorted(path.name for path in EXAMPLES.glob("*.*") if path.suffix != ".md")
