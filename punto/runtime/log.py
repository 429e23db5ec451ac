"""Logging: for each event, a line of JSON on standard error or, if journald reads that, a record with fields."""

import argparse
import asyncio
import atexit
import logging
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import structlog

from punto.configs.characters import visible
from punto.runtime import journald
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
    """Log records of the journal, JSON lines with UTC times, or coloured lines for a person at a terminal.

    The result writes the remaining lines, within `_LAST_LINES_SECONDS`; it also runs at the end of the process.
    """
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer()
    address = None
    if human:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    elif journald.reads_the_standard_error():
        renderer, address = journald.rendered, journald.SOCKET
    writer = _Writer(renderer, address)
    logging.basicConfig(handlers=[_Library()], level=logging.WARNING, force=True)
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    if human or address:  # JSON escapes them
        processors.append(_visible)
    structlog.configure([*processors, renderer], logger_factory=lambda *_: writer)
    _set_level(level)
    return writer.finish


def change_level_by_signals(level: str) -> None:
    """From now on, SIGUSR1 sets the level to `debug`, and SIGUSR2 to `level`. The running event loop takes the signals.

    systemd's own way, `systemctl service-log-level`, was rejected, because it needs D-Bus, which nothing else of a table needs.
    """
    for number, wanted in ((signal.SIGUSR1, "debug"), (signal.SIGUSR2, level)):
        asyncio.get_running_loop().add_signal_handler(number, partial(_change_level, wanted))


def _set_level(level: str) -> None:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
    )


def _change_level(level: str) -> None:
    """Set the level, and log it at a level that shows this line always."""
    _set_level("debug")
    structlog.get_logger().info("log level changed", to=level)
    _set_level(level)


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

    def __init__(self, renderer: structlog.typing.Processor, address: str | None) -> None:
        """Write to the journal's socket at `address` what it takes, and otherwise to standard error."""
        self._renderer = renderer
        self._journal = None if address is None else journald.Journal(address)
        self._lines: queue.Queue[tuple[str, bytes]] = queue.Queue(_MOST_LINES)
        self._dropped = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()
        atexit.register(self.finish)

    def msg(self, line: str, record: bytes = b"") -> None:
        """Queue a line, with its record for the journal."""
        try:
            self._lines.put_nowait((line, record))
        except queue.Full:
            self._dropped += 1

    debug = info = warning = error = critical = exception = msg

    def _write(self) -> None:
        while True:
            line, record = self._lines.get()
            if dropped := self._dropped:
                self._dropped -= dropped
                lost = {"event": "log lines dropped: nothing read the log", "lines": dropped}
                rendered: Any = self._renderer(None, "warning", {**lost, "level": "warning"})
                self._put(*(rendered[0] if isinstance(rendered, tuple) else (rendered,)))
            self._put(line, record)
            self._lines.task_done()

    def _put(self, line: str, record: bytes = b"") -> None:
        if self._journal is not None and self._journal.takes(record):
            return
        with suppress(OSError, ValueError):  # standard error is closed
            draw(sys.stderr, f"{line}\n")

    def finish(self) -> None:
        """Write the remaining lines, within `_LAST_LINES_SECONDS`."""
        end = time.monotonic() + _LAST_LINES_SECONDS
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.01)
