"""`punto display`: the web service of one table's i-Score."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from displays.options import DisplayOptions, OptionsError, read_options
from displays.server import serve

OPTIONS = {
    "mqtt_host": ("mqtt", "host"),
    "mqtt_port": ("mqtt", "port"),
    "base": ("mqtt", "base"),
    "table": ("display", "table"),
    "host": ("display", "host"),
    "port": ("display", "port"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the display's options to a command's parser."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="a configuration such as configs/display.toml"
    )
    parser.add_argument("--mqtt-host", metavar="HOST", help="the MQTT broker (127.0.0.1)")
    parser.add_argument("--mqtt-port", type=int, metavar="PORT", help="its port (1883)")
    parser.add_argument("--base", metavar="TOPIC", help="the base of the table's topics (punto)")
    parser.add_argument("--table", metavar="ID", help="the table's id, as in its topics")
    parser.add_argument(
        "--host", metavar="HOST", help="the address that browsers use (127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=int, metavar="PORT", help="its port (8080; 0 takes a free one)")


def main(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; 0 then, 2 where the options cannot be used."""
    given = {place: getattr(args, name) for name, place in OPTIONS.items()}
    try:
        options = read_options(
            args.config, {place: value for place, value in given.items() if value is not None}
        )
        asyncio.run(_until_told_to_stop(options))
    except OptionsError as error:
        sys.stderr.write(f"punto display: {error}\n")
        return 2
    return 0


async def _until_told_to_stop(options: DisplayOptions) -> None:
    serving = asyncio.create_task(serve(options, _say))
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    stopping = asyncio.create_task(told.wait())
    await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    while not serving.done():
        # Once is not enough: Python 3.11's `wait_for` can lose a cancellation (python/cpython 86296).
        serving.cancel()
        await asyncio.wait([serving], timeout=1)
    if not serving.cancelled():
        serving.result()


def _say(address: str) -> None:
    sys.stdout.write(f"i-Score on {address}\n")
    sys.stdout.flush()
