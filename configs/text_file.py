"""Reads texts that people have saved or piped: UTF-8, also as other systems' editors, spreadsheets and shells write it.

Such programs put a byte-order mark before UTF-8, end lines with a carriage return, or leave out the last end of a line; none of
this changes what a text says. UTF-16, which Excel and PowerShell can write, is refused, because a guess could read another text.
"""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from punto.configs.given_files import read_given

LARGEST: Final = 10_000_000
"""Bytes of a file. The largest that people write, a configuration of many tables, has a hundredth of it."""
LONGEST_LINE: Final = 1_000_000
"""Bytes. A coup with the wagers of a full table has about a hundredth of it."""


class TextError(ValueError):
    """Bytes that are not a text. The message says what to do, and `line` is the line from 1 where they cease to be one."""

    def __init__(self, message: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(message)


def text_of(data: bytes) -> str:
    r"""The text of these bytes of UTF-8, without a byte-order mark; each end of a line is "\n".

    Raises:
        TextError: they are not UTF-8.
    """
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in data[:4]:
        raise TextError("the text is UTF-16, not UTF-8: save it as UTF-8", 1)
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        *before, line = _same_ends(error.object[: error.start].decode()).split("\n")
        byte = f"byte {len(line.encode()) + 1} of the line is 0x{error.object[error.start]:02x}"
        raise TextError(f"the text is not UTF-8 ({byte}): save it as UTF-8", len(before) + 1) from None
    return _same_ends(text)


def _same_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def bytes_of(path: Path) -> bytes:
    """The bytes of a person's file, for `text_of`; raises OSError if it cannot be read or is larger than `LARGEST`."""
    return read_given(path, LARGEST)


def read_text(path: Path) -> str:
    """The text of a file; raises OSError as `bytes_of` does, and TextError as `text_of` does."""
    return text_of(bytes_of(path))


def lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream, also blank ones, for `text_of`. A line that is too long is cut one byte after `LONGEST_LINE`."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        line = line.removeprefix(BOM_UTF8)  # in each line, because files can be joined
        if len(line) > LONGEST_LINE:
            yield line
        else:
            yield from line.splitlines(keepends=True)  # also at each carriage return


def read_line(stream: IO[bytes]) -> str:
    """The next line of a stream, without its end.

    Raises:
        TextError: it is not UTF-8, or longer than `LONGEST_LINE`.
    """
    line = stream.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise TextError(f"the line is longer than {LONGEST_LINE} bytes")
    return text_of(line).removesuffix("\n")
