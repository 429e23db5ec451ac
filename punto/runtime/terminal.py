"""The standard output and error of a command, for terminals of any encoding and texts of any origin."""

import io
from typing import Final, TextIO, cast

from punto.configs.characters import visible

_KEPT: Final = "\n\t"
_CSV_END: Final = "\r\n"


class VisibleText(io.TextIOWrapper):
    """Writes escapes in place of what the encoding does not have, and of what people do not see."""

    @classmethod
    def over(cls, stream: io.TextIOWrapper, raw: type[io.FileIO] = io.FileIO) -> "VisibleText":
        """The same stream, which stays open when this one is closed; `raw` writes to its file."""
        file = raw(stream.fileno(), "wb", closefd=False)
        buffered = not isinstance(stream.buffer, io.RawIOBase)  # with PYTHONUNBUFFERED, it is not buffered
        return cls(
            io.BufferedWriter(file) if buffered else cast(io.BufferedWriter, file),
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )

    def write(self, text: str, /) -> int:
        """Write a text whose only control characters are the ends of lines, also those of CSV, and tabs."""
        super().write(_CSV_END.join(visible(part, _KEPT) for part in text.split(_CSV_END)))
        return len(text)

    def draw(self, text: str, /) -> None:
        """Write a text as it is."""
        super().write(text)


def draw(stream: TextIO, text: str) -> None:
    """Write a text whose control characters are the program's own, such as those of colours: `visible` was applied to the rest."""
    write = stream.draw if isinstance(stream, VisibleText) else stream.write
    write(text)
    stream.flush()
