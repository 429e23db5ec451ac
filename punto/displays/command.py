"""`punto display`: the tables' i-Scores, as a web service or in a terminal."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from typing import Final

import structlog

from punto.configs.problems import ConfigError, Problem
from punto.displays.options import DisplayOptions, read_options
from punto.runtime import log

OPTIONS = {
    "mqtt_host": ("mqtt", "host"),
    "mqtt_port": ("mqtt", "port"),
    "base": ("mqtt", "base"),
    "tables": ("display", "tables"),
    "host": ("display", "host"),
    "port": ("display", "port"),
    "layout": ("display", "layout"),
    "theme": ("display", "theme"),
    "lang": ("display", "lang"),
    "house": ("display", "house"),
    "origins": ("display", "origins"),
}

HELP: Final = (
    "Serve the tables' score displays to browsers, or show one table in this terminal (--text). The display reads the tables' "
    "messages from an MQTT broker, and never sends orders. Ctrl-C ends the display."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the display's options to a command's parser."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the display's configuration, such as configs/display.toml",
    )
    parser.add_argument(
        "--mqtt-host", metavar="HOST", help="the name or address of the MQTT broker (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--mqtt-port", type=int, metavar="PORT", help="the port of the MQTT broker (default: 1883)"
    )
    parser.add_argument(
        "--base", metavar="TOPIC", help="the first part of the tables' topics (default: punto)"
    )
    parser.add_argument(
        "--table",
        dest="tables",
        action="append",
        metavar="ID",
        help="the id of a table to show, as in the table's topics; give this option once for each table",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="the address at which browsers open the pages (default: 127.0.0.1, for this machine only)",
    )
    parser.add_argument(
        "--port", type=int, metavar="PORT", help="the port of the pages; 0 takes a free port (default: 8080)"
    )
    parser.add_argument("--layout", metavar="NAME", help="landscape, portrait or roads (default: landscape)")
    parser.add_argument("--theme", metavar="NAME", help="lacquer, jade or night (default: lacquer)")
    parser.add_argument("--lang", metavar="CODE", help="the language: en, zh-Hant or zh-Hans (default: en)")
    parser.add_argument(
        "--text", action="store_true", help="show the table in this terminal, not in browsers"
    )
    parser.add_argument(
        "--house", type=Path, metavar="FILE", help="the file with the house's colours, logo and names"
    )
    parser.add_argument(
        "--origin",
        dest="origins",
        action="append",
        metavar="URL",
        help="another website whose pages may read the display's event stream, such as https://floor.example; you can give this "
        "option more than once",
    )
    log.add_level(parser)


def main(args: argparse.Namespace) -> int:
    """Show the tables until SIGINT or SIGTERM; return 0 then, 2 if the options are invalid."""
    given = {place: getattr(args, name) for name, place in OPTIONS.items()}
    try:
        options = read_options(
            args.config, {place: value for place, value in given.items() if value is not None}
        )
        if args.text:
            _show_in_terminal(options)
        else:
            asyncio.run(_until_told_to_stop(options, args.log_level))
    except ConfigError as error:
        sys.stderr.write("".join(f"punto display: {problem}\n" for problem in error.problems))
        return 2
    return 0


def _show_in_terminal(options: DisplayOptions) -> None:
    from punto.displays.text.app import TextDisplay  # noqa: PLC0415  a web server does not need a terminal

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        message = "--text needs a terminal: neither its input nor its output may be a pipe or a file"
        raise ConfigError([Problem(message)])
    # Log lines would overwrite the screen; its foot shows refused messages.
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    TextDisplay(options).run()


async def _until_told_to_stop(options: DisplayOptions, level: str) -> None:
    from punto.displays.server import serve  # noqa: PLC0415  a terminal does not need a web server

    log.set_up(human=sys.stderr.isatty(), level=level)
    serving = asyncio.create_task(serve(options, _say))
    log.change_level_by_signals(level)
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    stopping = asyncio.create_task(told.wait())
    await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    serving.cancel()
    await asyncio.wait([serving])
    if not serving.cancelled():
        serving.result()


def _say(address: str) -> None:
    sys.stdout.write(f"i-Score on {address}\n")
    sys.stdout.flush()
