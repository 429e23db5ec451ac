"""The win page for a slip printer, in the commands of ESC/POS that every such printer has.

Only these are used: ESC @ (reset), ESC a n (0 left, 1 centre), ESC E n (bold), GS ! n (size: 0x11 twice as
wide and high), ESC d n (feed n lines), GS V 66 0 (feed and cut). Text is in code page 437, the printers'
default, or in GB 18030, which Chinese printers take after FS &. A character that the printer lacks is printed
as "?".
"""

import os
import select
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final, Literal

from punto.reports.win_page import SIGNATURES, WinPage

Encoding = Literal["cp437", "gb18030"]
WIDTH: Final = 42
"""The characters of a line, on paper of 80 mm."""
SECONDS: Final = 5.0
"""A printer that accepts no data for this long is not available."""

_BEGIN: Final = b"\x1b@"
_CHINESE: Final = b"\x1c&"
_LEFT, _CENTRE = b"\x1ba\x00", b"\x1ba\x01"
_BOLD, _PLAIN = b"\x1bE\x01", b"\x1bE\x00"
_LARGE, _NORMAL = b"\x1d!\x11", b"\x1d!\x00"
_CUT: Final = b"\x1bd\x04\x1dV\x42\x00"


class PrinterError(Exception):
    """The slip was not printed; the message says why and what to do."""


def slip(page: WinPage, encoding: Encoding = "cp437") -> bytes:
    """The page as bytes for a slip printer."""

    def text(words: str) -> bytes:
        seen = "".join(character if character.isprintable() else "?" for character in words)
        return seen.encode(encoding, errors="replace")

    def pair(name: str, value: str) -> bytes:
        left, right = (
            text(name),
            text(value),
        )  # a printer draws a Chinese letter of two bytes two columns wide
        gap = WIDTH - len(left) - len(right)
        return left + (b" " * gap if gap > 0 else b"\n") + right.rjust(WIDTH if gap < 1 else 0) + b"\n"

    parts = [_BEGIN, _CHINESE if encoding == "gb18030" else b"", _CENTRE, _BOLD, text(page.title), b"\n"]
    if page.copy:
        parts += [_LARGE, text(page.copy), b"\n", _NORMAL]
    if page.warning:
        parts += [text(page.warning), b"\n"]
    parts += [_LARGE, text(page.amount), b"\n", _NORMAL, _PLAIN, text(page.in_words), b"\n\n", _LEFT]
    parts += [pair(name, value) for name, value in page.facts]
    parts += [b"\n", _BOLD, text("Pay, in this order"), b"\n", _PLAIN]
    parts += [pair(seat, amount) for seat, amount in page.shares]
    for name in SIGNATURES:
        parts += [b"\n\n", text(name.ljust(14) + "_" * (WIDTH - 14)), b"\n"]
    parts += [b"\n", text(page.number), b"\n", _CUT]
    return b"".join(parts)


def send(printer: str, data: bytes, seconds: float = SECONDS) -> None:
    """Print at a device file such as /dev/usb/lp0, or at HOST:PORT; it blocks for a limited time.

    Raises:
        PrinterError: the slip was not printed, or only in part.
    """
    with reached(printer, seconds) as take:
        take(data)


@contextmanager
def reached(printer: str, seconds: float = SECONDS) -> Iterator[Callable[[bytes], None]]:
    """Connect to a printer, and return a function that prints: for work between the two that needs the printer.

    Both steps block for a limited time.

    Raises:
        PrinterError: the printer is not available and nothing was printed; from the function, the slip was
            not printed, or only in part.
    """
    with ExitStack() as stack:
        with _said(printer):
            reach = _device if printer.startswith("/") else _network
            write = stack.enter_context(reach(printer, seconds))

        def take(data: bytes) -> None:
            with _said(printer):
                write(data)

        yield take


@contextmanager
def _said(printer: str) -> Iterator[None]:
    """The fault of the printer, in words."""
    try:
        yield
    except TimeoutError:
        raise PrinterError(
            f"the slip printer {printer} accepts no data: check that it is on, has paper and is closed"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PrinterError(
            f"the slip printer {printer} cannot be reached ({reason}): check its cable and its address"
        ) from error


@contextmanager
def _network(printer: str, seconds: float) -> Iterator[Callable[[bytes], None]]:
    host, _, port = printer.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as connection:

        def write(data: bytes) -> None:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            # Closing may lose data that the printer has not taken, so let it close first. Many never do, and
            # have it all.
            with suppress(TimeoutError):
                connection.settimeout(min(1.0, seconds))
                while connection.recv(64):
                    pass

        yield write


@contextmanager
def _device(path: str, seconds: float) -> Iterator[Callable[[bytes], None]]:
    file = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)

    def write(data: bytes) -> None:
        until = time.monotonic() + seconds
        while data:
            _, ready, _ = select.select([], [file], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError
            data = data[os.write(file, data) :]

    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("that is a file, not a device")
        yield write
    finally:
        os.close(file)
