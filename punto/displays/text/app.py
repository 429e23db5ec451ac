"""`punto display --text`: the tables' scores in a terminal, with the page's topics and liveness rule."""

import asyncio
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.widget import Widget

from punto.displays.board import Board, follow
from punto.displays.feed import Feed
from punto.displays.options import DisplayOptions
from punto.displays.text.drawing import GAP, Drawing, printable
from punto.displays.words import Words
from punto.messages.models import Scoreboard, State

LOOK_SECONDS: Final = 0.1
"""How often the board's liveness is checked: without messages there is no event."""


class Part(Widget):
    """An area of the screen, redrawn for its width at every change."""

    def __init__(self, name: str, draw: Callable[[int], Text]) -> None:
        super().__init__(id=name)
        self._draw = draw

    def render(self) -> Text:
        """Draw it."""
        return self._draw(self.content_size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  textual asks so
        """The number of lines at this width."""
        return len(self._draw(width).split(allow_blank=True))


class TextDisplay(App[None]):
    """Shows one of the followed tables at a time."""

    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "display.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "quit"),
        Binding("ctrl+c", "quit", priority=True),  # textual uses it to copy text
        ("left", "turn(-1)"),
        ("right", "turn(1)"),
    ]

    def __init__(self, options: DisplayOptions) -> None:
        super().__init__()
        words = Words(options.display.lang)
        self._words = words
        self._drawing = Drawing(words)
        self._boards = [Board(table) for table in options.display.tables]
        self._feed = Feed(options.mqtt, self._boards)
        self._shown = 0
        self.theme = "textual-dark"

    @property
    def board(self) -> Board:
        """The table on show."""
        return self._boards[self._shown]

    def compose(self) -> ComposeResult:
        """The whole screen, of 80 by 24 characters or more."""
        draw = self._drawing
        yield Part("names", self._of_state(draw.names))
        yield Part("situation", self._of_state(draw.situation))
        yield Part("outcome", self._of_state(lambda state, _: draw.outcome(state)))
        yield Part(
            "not-live",
            lambda _: Text(f" {self._words('not_live')}  {printable(self._why_not_live())} "),
        )
        yield Part("hands", self._of_state(draw.hands))
        yield Part("meter", self._meter)
        with Horizontal():
            yield self._road("bead_plate", draw.bead_plate)
            yield self._road("big_road", draw.big_road)
        with Horizontal():
            yield self._road("big_eye_boy", lambda board, width: draw.derived_road(board.big_eye_boy, width))
            yield self._road("small_road", lambda board, width: draw.derived_road(board.small_road, width))
            yield self._road(
                "cockroach_pig", lambda board, width: draw.derived_road(board.cockroach_pig, width)
            )
        yield Part("counts", self._of_scoreboard(draw.counts))
        yield Part("marks", self._of_scoreboard(draw.marks))
        yield Part("limits", self._of_state(draw.limits))
        yield Part("foot", self._foot)

    def on_mount(self) -> None:
        """Begin to listen."""
        self.run_worker(self._feed.run())
        self.run_worker(self._redraw_at_news())
        self.set_interval(LOOK_SECONDS, self._look)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self._look()

    def action_turn(self, by: int) -> None:
        """Show another table."""
        self._shown = (self._shown + by) % len(self._boards)
        self._redraw()

    async def _redraw_at_news(self) -> None:
        async for board, _ in follow(*self._boards):
            if board is self.board:
                self._redraw()

    def _look(self) -> None:
        if self.screen_stack:  # it is empty while the display ends
            self.screen.set_class(self.board.live_seconds > 0, "live")
            progressive = self.board.progressive
            runs = progressive is not None and progressive.phase == "open"
            self.screen.set_class(runs and self.board.meter_live_seconds > 0, "metered")

    def _redraw(self) -> None:
        self._look()
        if self.screen_stack:
            for part in self.query(Part):
                part.refresh(layout=True)

    def _road(self, name: str, draw: Callable[[Scoreboard, int], Text]) -> Part:
        part = Part(name, self._of_scoreboard(draw))
        part.border_title = self._words(f"road.{name}")
        part.add_class("road")
        return part

    def _foot(self, _: int) -> Text:
        said = [self.board.table, self._words("text.quit")]
        if len(self._boards) > 1:
            said.append(f"{self._shown + 1}/{len(self._boards)} {self._words('text.turn')}")
        if refused := self._feed.refused[self.board.table].total():
            said.append(f"{self._words('text.refused')} {refused}")
        return Text(GAP.join(said))

    def _why_not_live(self) -> str:
        zone = "UTC" if self.board.state is None else self.board.state.zone
        return self._words.reason(self.board.reason, self.board.seen, datetime.now(UTC), zone)

    def _of_state(self, draw: Callable[[State, int], Text]) -> Callable[[int], Text]:
        return lambda width: Text() if self.board.state is None else draw(self.board.state, width)

    def _of_scoreboard(self, draw: Callable[[Scoreboard, int], Text]) -> Callable[[int], Text]:
        return lambda width: Text() if self.board.scoreboard is None else draw(self.board.scoreboard, width)

    def _meter(self, width: int) -> Text:
        return (
            Text() if self.board.progressive is None else self._drawing.meter(self.board.progressive, width)
        )
