"""Logging: one line of JSON for each event on standard error, which journald keeps."""

import argparse
import atexit
import json
import logging
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from punto.configs.characters import visible
from punto.runtime.terminal import draw

LEVELS: Final = ("debug", "info", "warning", "error")
_MOST_LINES: Final = 1000
_LAST_LINES_SECONDS: Final = 1.0


def add_level(parser: argparse.ArgumentParser) -> None:
    """Add the argument `--log-level`."""
    parser.add_argument(
        "--log-level", choices=LEVELS, default="info", help="the lowest level to log (default: info)"
    )


def set_up(*, human: bool = False, level: str = "info") -> Callable[[], None]:
    """Log JSON lines with UTC times, or coloured lines for a person at a terminal.

    The result writes the remaining lines, within `_LAST_LINES_SECONDS`; it also runs at the end of the process.
    """
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if human
        else structlog.processors.JSONRenderer()
    )
    writer = _Writer()
    logging.basicConfig(handlers=[_Library()], level=logging.WARNING, force=True)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *([_visible] if human else []),  # JSON escapes them
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=lambda *_: writer,
    )
    return writer.finish


def _visible(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """The event with what people do not see escaped, so that names from the network do nothing to a terminal."""
    return {
        visible(name): visible(value, "\n" if name == "exception" else "")
        if isinstance(value, str)
        else value
        for name, value in event.items()
    }


class _Library(logging.Handler):
    """Passes the log entries of libraries to structlog, so that all lines have the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a library's entry with the name of its logger."""
        structlog.get_logger().log(
            record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info
        )


class _Writer:
    """Writes lines in a separate thread: a pager or a pipe without a reader must not delay a table.

    If the queue is full, lines are dropped, and the next line reports how many.
    """

    def __init__(self) -> None:
        self._lines: queue.Queue[str] = queue.Queue(_MOST_LINES)
        self._dropped = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()
        atexit.register(self.finish)

    def msg(self, line: str) -> None:
        """Queue a line."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    debug = info = warning = error = critical = exception = msg

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            if dropped := self._dropped:
                self._dropped -= dropped
                event = "log lines dropped: nothing read the log"
                lost = {"event": event, "lines": dropped, "level": "warning"}
                line = f"{json.dumps(lost)}\n{line}"
            with suppress(OSError, ValueError):  # standard error is closed
                draw(sys.stderr, f"{line}\n")
            self._lines.task_done()

    def finish(self) -> None:
        """Write the remaining lines, within `_LAST_LINES_SECONDS`."""
        end = time.monotonic() + _LAST_LINES_SECONDS
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.01)
