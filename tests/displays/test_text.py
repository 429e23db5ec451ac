"""The display in a terminal: what its characters say, that all of it fits, and when it says that it is not live."""

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import get_args

import pytest
from rich.cells import cell_len
from rich.text import Text

from punto.baccarat.roads.drawing import ROWS, shown_columns
from punto.baccarat.table.order_kinds import Reveal
from punto.displays.board import LONGEST_HOLD
from punto.displays.options import DisplayOptions, MqttOptions, PageOptions
from punto.displays.text.app import Part, TextDisplay
from punto.displays.text.drawing import WIDE, Drawing
from punto.displays.words import CATALOGS, Words, languages
from punto.messages.models import Overlay, Scoreboard
from tests.baccarat.roads.shoes import random_shoe, rounds
from tests.deadline import DEADLINE, pauses
from tests.displays.meters import Meter
from tests.displays.parts import publisher
from tests.displays.played import PlayedTable, availability
from tests.ports import free_port
from tests.share import sampled, soaked

KEYS = {"q": b"q", "Ctrl-C": b"\x03"}
LETTERS = {"banker": "B", "player": "P", "tie": "T"}


def text_display(port: int, *tables: str, lang: str = "en") -> TextDisplay:
    page = PageOptions.model_validate({"tables": tables or ("table-1",), "lang": lang})
    return TextDisplay(DisplayOptions(mqtt=MqttOptions(port=port), display=page))


def scoreboard_of(shoe: str) -> Scoreboard:
    table = PlayedTable()
    state = table.table.state
    table.table.state = state.replace(shoe=state.shoe.replace(rounds=tuple(rounds(shoe))))
    return table.scoreboard()


def cells_in(drawn: Text, cell_width: int) -> dict[tuple[int, int], str]:
    """What stands in each place of a drawn road that is not blank, where every character is one cell wide."""
    lines = drawn.plain.split("\n")
    assert len(lines) == ROWS
    return {
        (row, col // cell_width): line[col : col + cell_width].strip()
        for row, line in enumerate(lines)
        for col in range(0, len(line), cell_width)
        if line[col : col + cell_width].strip()
    }


def fed_by_hand(display: TextDisplay, monkeypatch: pytest.MonkeyPatch) -> TextDisplay:
    """The display without its feed, which would find no broker and say so in between."""
    monkeypatch.setattr(display._feed, "run", lambda: asyncio.Event().wait())
    return display


async def eventually(display: TextDisplay, holds, within: float = DEADLINE) -> None:
    for pause in pauses(within):
        if holds(screen(display)):
            return
        await asyncio.sleep(pause)
    raise TimeoutError(screen(display))


def screen(display: TextDisplay) -> str:
    """What a person sees, line by line."""
    # Textual has no public text of a screen; the lock file holds its version.
    return "\n".join(strip.text for strip in display.screen._compositor.render_strips())


# --- the drawing


@pytest.mark.parametrize("width", sampled([24, 55, 80, 200], one_in=4))
def test_every_cell_that_has_room_stands_in_its_place_with_its_letter(width):
    draw = Drawing(Words("en"))
    for seed in range(60):
        board = scoreboard_of(random_shoe(seed))
        columns = shown_columns(board.bead_plate, width // 2)
        assert cells_in(draw.bead_plate(board, width), 2) == {
            (bead.row, bead.col - columns.start): LETTERS[bead.winner]
            for bead in board.bead_plate
            if bead.col in columns
        }
        columns = shown_columns(board.big_road, width // 2)
        assert cells_in(draw.big_road(board, width), 2) == {
            (cell.row, cell.col - columns.start): (LETTERS[cell.winner] if cell.winner else "/")
            + ("" if cell.ties == 0 else str(cell.ties) if cell.ties < 10 else "+")
            for cell in board.big_road
            if cell.col in columns
        }
        each = 2 if width >= WIDE else 1
        for road in (board.big_eye_boy, board.small_road, board.cockroach_pig):
            columns = shown_columns(road, width // each)
            assert cells_in(draw.derived_road(road, width), each) == {
                (cell.row, cell.col - columns.start): {"red": "R", "blue": "b"}[cell.color]
                for cell in road
                if cell.col in columns
            }


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("width", [1, 2, 3, 26, 80])
def test_no_line_of_a_road_is_wider_than_its_place(lang, width):
    draw = Drawing(Words(lang))
    board = scoreboard_of("TTBPTTTB" + "BP" * 30 + "B" * 14 + "T" * 12)
    for drawn in (
        draw.bead_plate(board, width),
        draw.big_road(board, width),
        draw.derived_road(board.small_road, width),
    ):
        assert {cell_len(line) <= width for line in drawn.plain.split("\n")} == {True}


def test_pairs_ties_and_naturals_have_their_marks():
    table = PlayedTable()
    table.play(60)
    board = table.scoreboard()
    draw = Drawing(Words("en"))
    marks = {(True, False): "b", (False, True): "p", (True, True): "+", (False, False): ""}

    drawn = draw.bead_plate(board, 60)
    naturals = {span.start for span in drawn.spans if "underline" in str(span.style)}

    assert cells_in(drawn, 2) == {
        (bead.row, bead.col): LETTERS[bead.winner] + marks[bead.banker_pair, bead.player_pair]
        for bead in board.bead_plate
    }
    assert {mark for mark in marks.values() if mark} <= set("".join(cells_in(drawn, 2).values()))
    assert naturals == {bead.row * 61 + bead.col * 2 for bead in board.bead_plate if bead.natural}


def test_the_newest_cell_is_marked():
    drawn = Drawing(Words("en")).big_road(scoreboard_of("BBP"), 20)

    assert [drawn.plain[span.start : span.end] for span in drawn.spans if "reverse" in str(span.style)] == [
        "P "
    ]


def test_cards_that_are_not_shown_yet_are_not_said():
    table = PlayedTable(game_name="midi-baccarat")
    table.deal(3)

    assert Drawing(Words("en")).hands(table.state(), 40).plain.rstrip() == "Player ## ##        Banker ##"


def test_the_seat_that_turns_the_cards_is_named_until_they_are_revealed():
    """Sheet 004: in midi baccarat the player with the largest wager reveals them."""
    table = PlayedTable(game_name="midi-baccarat")
    draw = Drawing(Words("en"))
    table.turned_by(5)
    assert draw.outcome(table.state()).plain == "Seat 5 turns the cards"

    table.handle(Reveal("mei"))
    assert "Seat 5" not in draw.outcome(table.state()).plain


def test_a_number_of_cards_that_is_not_known_is_not_shown():
    state = PlayedTable().state()
    state = state.model_copy(update={"shoe": state.shoe.model_copy(update={"cards_left": None})})

    assert Drawing(Words("en")).situation(state, 200).plain.rstrip().endswith("Cards left -")


def test_a_wager_that_its_base_wager_limits_says_so():
    state = PlayedTable().state()
    limits = (state.limits[0].model_copy(update={"maximum_of_base": "50%"}), *state.limits[1:])
    shown = Drawing(Words("en")).limits(state.model_copy(update={"limits": limits}), 200).plain

    assert shown.count("50% of the base wager") == 1


def test_a_wager_with_one_size_has_one_sum():
    state = PlayedTable(game_name="progressive-2").state()

    assert Drawing(Words("en")).limits(state, 200).plain.endswith("Dragon Bonus Progressive 1")


def test_titles_in_the_language_come_before_the_catalogues_and_the_tables_own():
    state = PlayedTable().state()
    titles = {"tie": {"zh-Hant": "和局"}, "player_pair": {"pt": "Par do Jogador"}}
    state = state.model_copy(update={"wager_titles": titles})
    draw = Drawing(Words("zh-Hant"))

    assert "迷你百家樂" in draw.names(state, 200).plain
    assert {"和局", "閒對"} <= set(draw.limits(state, 500).plain.split())
    assert "Mini Baccarat" in Drawing(Words("en")).names(state, 200).plain


@pytest.mark.parametrize("overlay", get_args(Overlay))
def test_whatever_lies_over_the_state_is_named(overlay):
    state = PlayedTable().state().model_copy(update={"overlays": (overlay,)})
    draw = Drawing(Words("en"))
    words = {
        key: said
        for key, said in json.loads((CATALOGS / "en.json").read_text(encoding="utf-8")).items()
        if key in {f"remark.{overlay}", f"trouble.{overlay}"}
    }

    (said,) = words.values()
    assert said in draw.situation(state, 200).plain + draw.outcome(state).plain


# --- the screen


@pytest.mark.parametrize("lang", sampled(languages(), one_in=4))
@pytest.mark.parametrize("size", [(80, 24), (132, 43), (250, 60)], ids=str)
async def test_the_whole_screen_fits_and_no_line_is_cut(lang, size, monkeypatch):
    display = fed_by_hand(text_display(free_port(), lang=lang), monkeypatch)
    async with display.run_test(size=size) as pilot:
        display.board.connected()
        for game_name, most in (("canberra", 4), ("side-wagers", None), ("progressive-2", None)):
            table = PlayedTable(game_name=game_name, maximum_wagers=most)
            table.play(60)
            display.board.take(table.scoreboard(), retained=False)
            display.board.take(table.state(), retained=False)
            if game_name == "progressive-2":
                display.board.take(Meter(98_101_460_00).message(), retained=False)
                await eventually(display, lambda seen: "98,101,460.00" in seen)
            await pilot.pause()

            posted = Words(lang)("maximum_wagers").format(wagers=4)  # sheet 003, 1b
            assert (posted in screen(display)) is (most == 4)
            assert display.screen.max_scroll_y == 0
            for part in display.query(Part):
                if part.display:
                    lines = part.render().plain.split("\n")
                    assert part.region.height == len(lines) + part.has_class("road"), part.id
                    assert max(map(cell_len, lines)) <= part.region.width, part.id


async def test_a_smaller_terminal_is_scrolled(monkeypatch):
    table = PlayedTable()
    table.play(60)
    display = fed_by_hand(text_display(free_port()), monkeypatch)
    async with display.run_test(size=(60, 16)) as pilot:
        display.board.connected()
        display.board.take(table.scoreboard(), retained=False)
        display.board.take(table.state(), retained=False)
        await pilot.pause()

        assert display.screen.max_scroll_y > 0


async def test_what_the_table_publishes_is_on_the_screen(broker):
    table = PlayedTable()
    table.play(20)
    display = text_display(broker.port)
    async with publisher(broker) as out, display.run_test(size=(80, 24)):
        await eventually(display, lambda seen: "NOT LIVE  Nothing new from the table" in seen)
        await out.send("scoreboard", table.scoreboard())
        await out.send("state", table.state())
        await eventually(display, lambda seen: "NOT LIVE" not in seen)
        seen = screen(display)

        result = table.state().result
        assert result is not None
        assert "Dragon Room 8" in seen
        assert "Mini Baccarat, Canberra" in seen
        assert "Shoe 1  Hand 20" in seen
        assert f"Player {result.player_total}  {' '.join(result.player)}" in seen
        assert f"Banker {result.banker_total}  {' '.join(result.banker)}" in seen
        assert "Hands 20" in seen
        assert "Player 25-5,000" in seen

        table.lose_the_shoe()
        await out.send("state", table.state())
        await eventually(display, lambda seen: "Shoe offline" in seen)


@pytest.mark.punctual
async def test_not_live_within_three_seconds_of_the_last_state_at_once_when_offline_and_live_again(broker):
    table = PlayedTable()
    display = text_display(broker.port)
    async with publisher(broker) as out, display.run_test(size=(80, 24)):
        await eventually(display, lambda seen: "NOT LIVE  Nothing new from the table" in seen)
        await out.send("state", table.state())
        await eventually(display, lambda seen: "NOT LIVE" not in seen)
        shown, left = time.monotonic(), display.board.live_seconds
        await eventually(display, lambda seen: "NOT LIVE  Nothing new from the table" in seen)
        assert left <= LONGEST_HOLD
        assert left < time.monotonic() - shown < left + 0.5

        await out.send("state", table.state())
        await eventually(display, lambda seen: "NOT LIVE" not in seen)
        await out.send("availability", availability("offline", "stopped by an operator"))
        await eventually(
            display,
            lambda seen: "NOT LIVE  The table is offline: stopped by an operator. Not seen since " in seen,
            0.5,
        )


async def test_a_broker_that_goes_and_comes_back(broker):
    table = PlayedTable()
    display = text_display(broker.port)
    async with display.run_test(size=(80, 24)):
        await eventually(display, lambda seen: "NOT LIVE  Nothing new from the table" in seen)
        broker.kill()
        await eventually(
            display, lambda seen: "NOT LIVE  The display has no connection to the message broker" in seen
        )
        await broker.start()
        await eventually(display, lambda seen: "NOT LIVE  Nothing new from the table" in seen)
        async with publisher(broker) as out:
            await out.send("state", table.state())
            await eventually(display, lambda seen: "NOT LIVE" not in seen)


async def test_arrows_turn_from_table_to_table(broker):
    display = text_display(broker.port, "table-1", "vip-2", "silent")
    async with publisher(broker) as out, display.run_test(size=(80, 24)) as pilot:
        await eventually(display, lambda seen: "Nothing new from the table" in seen)
        await out.send("state", PlayedTable().state())
        await out.send("state", PlayedTable(name="VIP 2").state(), "vip-2")
        await eventually(display, lambda seen: "Dragon Room 8" in seen and "NOT LIVE" not in seen)
        await pilot.press("right")
        await eventually(display, lambda seen: "VIP 2" in seen and "NOT LIVE" not in seen)
        await pilot.press("right")
        await eventually(display, lambda seen: "silent" in seen and "NOT LIVE  Nothing new" in seen)
        await pilot.press("right")
        await eventually(display, lambda seen: "Dragon Room 8" in seen)
        await pilot.press("left")
        await eventually(display, lambda seen: "silent" in seen)


async def test_a_name_with_markup_or_control_characters_in_it_is_shown_as_text(broker):
    display = text_display(broker.port)
    async with publisher(broker) as out, display.run_test(size=(80, 24)):
        await eventually(display, lambda seen: "Nothing new from the table" in seen)
        await out.send("state", PlayedTable(name="[bold]VIP[/]\n\x1b]0;owned\x07\x1b[2J\u202e").state())
        await eventually(display, lambda seen: "[bold]VIP[/]��]0;owned��[2J� " in seen)
        await out.send("availability", availability("offline", "\x1b[2J[red]"))
        await eventually(display, lambda seen: "The table is offline: �[2J[red]. Not seen since " in seen)


@pytest.mark.parametrize(
    ("currency", "stands", "won"),
    [
        ("AUD", "98,101.46", "24,525.00"),
        ("JPY", "9,810,146", "2,452,500"),
        ("KWD", "9,810.146", "2,452.500"),
    ],
)
async def test_the_meter_has_a_line_while_it_is_live(broker, currency, stands, won):
    meter = Meter(title="[bold]Dragon[/]\x1b[2J", currency=currency)
    display = text_display(broker.port)
    async with publisher(broker) as out, display.run_test(size=(80, 24)):
        await eventually(display, lambda seen: "Nothing new from the table" in seen)
        await out.send("state", PlayedTable().state())
        await out.send("progressive/dragon", meter.message())
        await eventually(display, lambda seen: f"[bold]Dragon[/]�[2J  {stands} " in seen)

        meter.win(24_525_00)
        await out.send("progressive/dragon", meter.message())
        await eventually(display, lambda seen: f"Last award {won}" in seen)
        await eventually(display, lambda seen: stands not in seen)  # nothing more comes

        meter.changes["phase"] = "retired"
        await out.send("progressive/dragon", meter.message())
        await out.send("state", PlayedTable(name="VIP 2").state())
        await eventually(display, lambda seen: "VIP 2" in seen)
        assert stands not in screen(display)


# --- a real terminal


class Terminal:
    """`punto display --text` on a pseudo-terminal of 80 by 24."""

    def __init__(self, *arguments: str) -> None:
        self._own, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._before = termios.tcgetattr(its)
        self._its = its
        self.process = subprocess.Popen(
            [sys.executable, "-m", "punto.commands.cli", "display", "--text", *arguments],
            stdin=its,
            stdout=its,
            stderr=its,
            env={**os.environ, "TERM": "xterm-256color"},
            start_new_session=True,
        )
        self.said = b""

    def until(self, words: bytes, within: float = DEADLINE) -> None:
        end = time.monotonic() + within
        while words not in self.said:
            assert time.monotonic() < end, self.said[-2000:]
            self._read()

    def _read(self) -> None:
        if select.select([self._own], [], [], 0.1)[0]:
            self.said += os.read(self._own, 65536)

    def press(self, keys: bytes) -> None:
        os.write(self._own, keys)

    def end(self) -> int:
        """Its exit status, once it has ended by itself; the terminal must then be as it was."""
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < end, "it did not end"
            self._read()
        self._read()
        assert termios.tcgetattr(self._its) == self._before
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for end in (self._own, self._its):
            with contextlib.suppress(OSError):
                os.close(end)


@pytest.mark.parametrize("ending", ["q", *soaked("Ctrl-C", "SIGTERM", "SIGINT")])
async def test_on_a_real_terminal_it_shows_the_table_and_leaves_the_terminal_as_it_was(broker, ending):
    table = PlayedTable()
    table.play(10)
    terminal = Terminal("--table", "table-1", "--mqtt-port", str(broker.port))
    try:
        async with publisher(broker) as out:
            await out.send("scoreboard", table.scoreboard())
            await out.send("state", table.state())
            await asyncio.to_thread(terminal.until, b"NOT LIVE")
            await asyncio.to_thread(terminal.until, b"Dragon Room 8")
            await out.send("state", table.state())
            await asyncio.to_thread(terminal.until, b"table-1")
        if ending in KEYS:
            terminal.press(KEYS[ending])
        else:
            terminal.process.send_signal(signal.Signals[ending])

        assert await asyncio.to_thread(terminal.end) == 0
        assert terminal.said.count(b"\x1b[?1049h") == terminal.said.count(b"\x1b[?1049l") == 1
        assert b"Traceback" not in terminal.said
        assert b"broker connected" not in terminal.said
    finally:
        terminal.close()


def test_without_a_terminal_it_says_that_it_needs_one():
    ran = subprocess.run(
        [sys.executable, "-m", "punto.commands.cli", "display", "--text", "--table", "table-1"],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE,
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "punto display: --text needs a terminal: neither its input nor its output may be a pipe or a file\n"
    )
