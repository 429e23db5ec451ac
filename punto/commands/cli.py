"""The command `punto`.

A subcommand's module is imported only when it is used. So a filter in a pipe starts fast, and the service does not
load the demo's libraries. Each module has `add_arguments(parser)` and `main(args)`, and may have `HELP`, a longer text
than the one in the list of subcommands.

Exit status:

- 0: done
- 1: the input is invalid, or the output cannot be written
- 2: the command could not begin: its arguments or its configuration are invalid
- 130: interrupted
- 141: the reader of the output has closed it
"""

import argparse
import gc
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
from punto.runtime.terminal import VisibleText
from punto.version import __version__

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Subcommand(NamedTuple):
    """A subcommand's module, and its text in the list of subcommands."""

    module: str
    help: str


# The modules of subcommands that are not `punto.commands.<name>`.
_ELSEWHERE: Final = {
    "demo": "punto.commands.demo.command",
    "simulate-floor": "punto.commands.demo.simulate_floor",
    "shoe": "punto.simulators.shoe.command",
    "keypad": "punto.simulators.keypad.command",
    "coin-spot": "punto.simulators.coin_spot.command",
    "card-reader": "punto.simulators.card_reader.command",
    "display": "punto.displays.command",
    "lab-report": "punto.commands.lab_report.command",
    "setup": "punto.commands.setup.command",
}
_HELP: Final = {
    "demo": "run a whole table with a simulated shoe and a display",
    "simulate-floor": "run many tables with simulated shoes, players and staff",
    "setup": "set up the PC of a table",
    "run": "run the service of a table",
    "shoe": "simulate a card-recognition shoe on a pseudo-terminal",
    "keypad": "simulate a dealer's keypad on a pseudo-terminal",
    "coin-spot": "simulate a chain of wager sensors on a pseudo-terminal",
    "card-reader": "simulate a reader of supervisors' cards on a pseudo-terminal",
    "display": "serve the score display to browsers, or show it in a terminal",
    "game-manager": "run the Game Manager of a house with many tables",
    "house": "export the months of a Game Manager's store, delete exported ones, or choose a table's record",
    "operator": "give an order to a running table",
    "operators": "make and change the accounts of operators",
    "broker-users": "make the broker's users of all tables, with passwords and access list",
    "retire-table": "clear what the broker keeps of a table that was removed",
    "device-key": "make the key of a device on a serial line, or of a table's link to its meter",
    "rotate": "replace a password of the broker, a key or a certificate",
    "manifest": "write the signed digests of every installed file",
    "signer": "sign the heads of this machine's records, with a key that no table can read",
    "witness": "keep the signed heads of many tables, and report what contradicts them",
    "check-config": "report the errors of a configuration",
    "doctor": "find out what is wrong with the PC of a table, and name the command that mends it",
    "score": "compute the results of coups (deals) and settle their wagers",
    "roads": "draw the five roads (score charts) of a shoe",
    "games": "list the games that ship with punto, or describe a game",
    "odds": "compute the exact odds of a game's wagers",
    "simulate": "deal random rounds, and compare their results with the exact odds",
    "edge-report": "draw the exact edge of each wager over a shoe",
    "progressive": "report and audit the books of a progressive (jackpot)",
    "lab-report": "gather what a laboratory files into one document",
    "schema": "write the JSON Schemas and the AsyncAPI document",
    "backup": "copy a table's record, and prove the copy",
    "restore": "put a backup in the place of a table's record",
    "evidence": "write all that a record has of a round into one bundle",
    "replay": "compute a table's record again from the record's inputs, and compare the result with the record",
}
SUBCOMMANDS: Final = {
    name: Subcommand(_ELSEWHERE.get(name, f"punto.commands.{name.replace('-', '_')}"), text)
    for name, text in _HELP.items()
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
    "prometheus_client": "console",
    "argon2": "console",
    "cryptography": "console",
    "mnemonic": "setup",
    "segno": "setup",
    "fpdf": "print",
    "numpy": "odds",
    "threadpoolctl": "odds",
    "tqdm": "odds",
    "matplotlib": "lab",
    "numba": "lab",
    "pyarrow": "lab",
    "sqlalchemy": "house",
    "alembic": "house",
    "psycopg": "house",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `punto` with these arguments, or those of the process, and return the exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if sys.stdout is None:
        print("punto: the standard output is closed: redirect it to a file or to /dev/null", file=sys.stderr)
        return 2
    if argv is None:
        sys.stdout = VisibleText.over(cast(io.TextIOWrapper, sys.stdout), _Output)
        if sys.stderr is not None:
            sys.stderr = VisibleText.over(cast(io.TextIOWrapper, sys.stderr))
    try:
        try:
            return _status(arguments)
        finally:  # also if the parser has printed its help and exits
            sys.stdout.flush()
    except (BrokenPipeError, OutputError) as error:
        return _without_output(error)
    except BaseExceptionGroup as errors:  # from the tasks of a table
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
    """The standard output cannot be written. It is not an `OSError`: commands handle those as errors of their own files."""


class _UnreadError(BrokenPipeError):
    """The reader of the standard output has closed it. It is distinct from the error of a broken connection."""


class _Output(io.FileIO):
    """The standard output, with errors that are distinct from those of other files."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise _UnreadError(*error.args) from None
        except OSError as error:
            raise OutputError(error.strerror) from None


def _without_output(error: BaseException) -> int:
    # Discard the rest of the output; otherwise the interpreter would report an error at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 128 + signal.SIGPIPE
    print(f"punto: the standard output cannot be written: {error}", file=sys.stderr)
    return 1


class _Parser(argparse.ArgumentParser):
    """A parser with short error messages, also for long arguments, that say what to write."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)
        self.register("type", Path, _path)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments. The error of an unknown option suggests a similar one, or its right place."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            option = rest[0].partition("=")[0]
            known = self._option_string_actions
            close = nearest(option, known)
            hint = f" (did you mean {close}?)" if close else ""
            if option in known:
                hint = f" (write {option} before the first word that is not an option)"
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return found

    # argparse has no public way to word this error; the tests of a misspelt choice find a change of this name.
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
        with _interrupts_end_it(), _no_collection():
            module = import_module(SUBCOMMANDS[name].module)
        status: int = module.main(parser_of(name, module).parse_args(rest))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("punto."):  # tools/packages.py leaves it out of a package of Debian
            print(
                f"punto {name} is not in this package: the package punto or punto-house has it",
                file=sys.stderr,
            )
            return 2
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
def _no_collection() -> Iterator[None]:
    """Import without looking for garbage, then or later: what an import makes is there until the process ends."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _interrupts_end_it() -> Iterator[None]:
    """Let an interrupt end the process at once. Nothing has begun yet.

    During an import, a `KeyboardInterrupt` can become another error: pydantic turns it into a `SchemaError`, and
    `__set_name__` in a class body turns it into a `RuntimeError`.
    """
    if (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):  # a shell's background job ignores it
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _without_subcommand(arguments: list[str]) -> int:
    """`punto --help`, `punto --version`, and the errors of a missing or unknown subcommand."""
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
    parser.error("the subcommand is missing; punto --help lists them")


if __name__ == "__main__":
    sys.exit(main())
