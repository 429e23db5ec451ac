"""The command `punto`.

A subcommand's module is imported when it is used and not before: a filter in a pipe starts in a moment, and the
service never loads what only the demo needs. Each module has `add_arguments(parser)` and `main(args)`, and `HELP`
where there is more to say than the list of all does.

Exit status: 0 done, 1 something was wrong with the input or the output cannot be written, 2 the command could not begin
(how it was called, its configuration), 130 interrupted, 141 nobody reads the output any more.
"""

import argparse
import io
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, cast

from punto.commands.numbers import whole_number
from punto.configs.problems import ConfigError, cut, meant, nearest
from punto.version import __version__

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Subcommand(NamedTuple):
    """Where a subcommand is, and what the list of all says of it."""

    module: str
    help: str


SUBCOMMANDS: Final[dict[str, Subcommand]] = {
    "demo": Subcommand(
        "punto.commands.demo.command", "run a whole table with a simulated shoe, and its display"
    ),
    "run": Subcommand("punto.commands.run", "run the table's service"),
    "shoe": Subcommand(
        "punto.simulators.shoe.command", "simulate a card-recognition shoe on a pseudo-terminal"
    ),
    "keypad": Subcommand(
        "punto.simulators.keypad.command", "simulate a dealer's keypad on a pseudo-terminal"
    ),
    "coin-spot": Subcommand(
        "punto.simulators.coin_spot.command", "simulate a chain of wager sensors on a pseudo-terminal"
    ),
    "card-reader": Subcommand(
        "punto.simulators.card_reader.command", "simulate a reader of supervisors' cards on a pseudo-terminal"
    ),
    "display": Subcommand(
        "punto.displays.command", "serve the score display to browsers, or show it in a terminal"
    ),
    "operator": Subcommand("punto.commands.operator", "give a running table an operator's orders"),
    "operators": Subcommand("punto.commands.operators", "make and change the accounts of operators"),
    "check-config": Subcommand("punto.commands.check_config", "say what is wrong with a configuration"),
    "score": Subcommand("punto.commands.score", "score coups and settle their wagers, JSON Lines in and out"),
    "roads": Subcommand("punto.commands.roads", "draw the five roads of a shoe's rounds, JSON Lines in"),
    "games": Subcommand("punto.commands.games", "list the games that ship, or write docs/reference/games.md"),
    "odds": Subcommand("punto.commands.odds", "the exact odds of a game's wagers"),
    "simulate": Subcommand(
        "punto.commands.simulate", "a game's wagers over rounds dealt at random, beside the exact odds"
    ),
    "edge-report": Subcommand(
        "punto.commands.edge_report", "draw each wager's exact edge over a shoe, coup by coup"
    ),
    "progressive": Subcommand(
        "punto.commands.progressive",
        "report what a progressive took in, holds and has paid, and prove it",
    ),
    "schema": Subcommand("punto.commands.schema", "write the JSON Schemas and the AsyncAPI document"),
    "replay": Subcommand("punto.commands.replay", "replay a table's record and compare what comes of it"),
}

# A module of an optional dependency -> the extra that installs it.
_EXTRAS: Final = {
    "starlette": "display",
    "uvicorn": "display",
    "sse_starlette": "display",
    "rich": "text",
    "textual": "text",
    "amqtt": "demo",
    "evdev": "evdev",
    "fastapi": "console",
    "argon2": "console",
    "fpdf": "print",
    "numpy": "odds",
    "threadpoolctl": "odds",
    "tqdm": "odds",
    "matplotlib": "lab",
    "numba": "lab",
    "pyarrow": "lab",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `punto` with these arguments, by default the process's own, and return its exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if sys.stdout is None:
        print("punto: the standard output is closed: send it to a file, or to /dev/null", file=sys.stderr)
        return 2
    if argv is None:
        sys.stdout = _watched(cast(io.TextIOWrapper, sys.stdout))
    try:
        try:
            return _status(arguments)
        finally:  # also where the parser has printed its help and leaves
            sys.stdout.flush()
    except (BrokenPipeError, OutputError) as error:
        return _without_output(error)
    except BaseExceptionGroup as errors:  # a table's tasks end together
        found: BaseException | None = errors.subgroup((_UnreadError, OutputError))
        if found is None:
            raise
        while isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        return _without_output(found)


def _status(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2


class OutputError(Exception):
    """The standard output cannot be written. No `OSError`, so that no command takes it for one of its own files."""


class _UnreadError(BrokenPipeError):
    """Nobody reads the standard output any more; told from a broken connection."""


class _Output(io.FileIO):
    """The standard output, whose failures are told from those of all else that is written."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise _UnreadError(*error.args) from None
        except OSError as error:
            raise OutputError(error.strerror) from None


def _watched(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """The same stream, over `_Output`."""
    raw = _Output(stream.fileno(), "wb", closefd=False)
    buffered = not isinstance(stream.buffer, io.RawIOBase)  # PYTHONUNBUFFERED asks for none
    return io.TextIOWrapper(
        io.BufferedWriter(raw) if buffered else cast(io.BufferedWriter, raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _without_output(error: BaseException) -> int:
    # Whatever is left is for nobody; without this the interpreter would complain while it shuts down.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 128 + signal.SIGPIPE
    print(f"punto: the standard output cannot be written: {error}", file=sys.stderr)
    return 1


class _Parser(argparse.ArgumentParser):
    """A parser whose messages stay short, whatever it was called with, and say what to write."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)
        self.register("type", Path, _path)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Say of an option that is not known which was probably meant, or where it belongs."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            option = rest[0].partition("=")[0]
            known = self._option_string_actions
            close = nearest(option, known)
            hint = f" (did you mean {close}?)" if close else ""
            if option in known:
                hint = f" ({option} goes before the first word that is not an option)"
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = [str(each) for each in action.choices or ()]
        if known and str(value) not in known:
            close = nearest(str(value), known)
            meant = f" (did you mean {close}?)" if close else ""
            raise argparse.ArgumentError(
                action, f"{cut(str(value))!r} is not one of {', '.join(known)}{meant}"
            )

    def error(self, message: str) -> NoReturn:
        super().error(re.sub(r"\S{101,}", lambda word: cut(word[0]), message))


def _whole_number(text: str) -> int:
    try:
        return whole_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{cut(text)!r} is not a whole number: write one such as 8"
        ) from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{cut(text)!r} is not a number: write one such as 0.5") from None


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the path is empty: write one, or . for this folder")
    return Path(text)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in SUBCOMMANDS:
        return _without_subcommand(arguments)
    name, *rest = arguments
    try:
        with _interrupts_end_it():
            module = import_module(SUBCOMMANDS[name].module)
        status: int = module.main(parser_of(name, module).parse_args(rest))
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(
            f"punto {name} needs {error.name}, which is not installed: install punto[{extra}]",
            file=sys.stderr,
        )
        return 2
    return status


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    """The parser of the subcommand `name`, which is in this module."""
    parser = _Parser(
        prog=f"punto {name}", description=getattr(module, "HELP", module.__doc__), allow_abbrev=False
    )
    module.add_arguments(parser)
    return parser


@contextmanager
def _interrupts_end_it() -> Iterator[None]:
    """Let an interrupt end the process at once, which has begun nothing yet.

    Raised amid an import it would not always arrive as what it is: pydantic makes a `SchemaError` of it, and a class
    body that names its attributes a `RuntimeError`.
    """
    if (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):  # such as a shell's job that ignores it
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _without_subcommand(arguments: list[str]) -> int:
    """`punto --help`, `punto --version`, and what is neither these nor a subcommand."""
    parser = _Parser(
        prog="punto",
        usage="punto [-h] [--version] SUBCOMMAND ...",
        description="A table-game controller for baccarat.",
        epilog="\n".join(
            ["subcommands:", *(f"  {name:<16}{subcommand.help}" for name, subcommand in SUBCOMMANDS.items())]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"punto {__version__}")
    if arguments and not arguments[0].startswith("-"):
        close = meant(arguments[0], SUBCOMMANDS)
        parser.error(f"there is no subcommand {arguments[0]}{close or '; punto --help lists them'}")
    parser.parse_args(arguments)
    parser.error("name a subcommand; punto --help lists them")


if __name__ == "__main__":
    sys.exit(main())
