"""`punto run`: the service of a table, or of several tables."""

# ruff: noqa: PLC0415 - a table loads only what its configuration needs, and some of that is an optional dependency

import argparse
import asyncio
import gc
import resource
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from punto.commands.signals import until_stopped
from punto.configs.problems import ConfigError
from punto.controller.config.devices import (
    CardReaderConfig,
    CoinSpotConfig,
    ConfigurationKeypadConfig,
    DeviceConfig,
    KeypadConfig,
    ShoeConfig,
)
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import MetricsConfig
from punto.controller.config.tables import load_configs
from punto.controller.orders.desk import Desk
from punto.controller.supervisor import EXPECTED, Consoles, Process, serve
from punto.controller.tables import Tables
from punto.drivers.base import (
    CardReaderDriver,
    CoinSpotDriver,
    Devices,
    DeviceWatch,
    Driver,
    KeypadDriver,
    LinkUser,
    ShoeDriver,
)
from punto.drivers.framing import UNSEALED, Seal
from punto.messages.books import Books
from punto.runtime import log
from punto.runtime.failures import errors_of
from punto.runtime.gaming_days import Calendar

if TYPE_CHECKING:
    from punto.controller.accounts.gate import Gate

_User = TypeVar("_User", bound=LinkUser)

HELP: Final = (
    "Run the service of a table, or of several tables, until SIGTERM or Ctrl-C. The service writes its log to the standard error. The service continues "
    "where the table's record ends, even in the middle of a hand. A new table is locked until an operator signs on (`punto operator "
    "sign-on`, or a console). A restart does not lock the table: the sessions at the consoles end, but the table's operator stays "
    "signed on at the table, so the keypad works as soon as it is connected. "
    "If one of several tables fails, the others continue, and the failed table starts again after 10 s. If no table is left, the "
    "service ends. The exit status is 1 "
    "if the record of a table could not be used or written, or a table has failed for another reason, and 2 if the configuration "
    "is invalid. In each case, a message gives the reason."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        help="the configuration of a table, or of several tables: a TOML file",
    )
    log.add_level(parser)


def main(args: argparse.Namespace) -> int:
    """Run until SIGTERM or Ctrl-C; 1 if a table has failed.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    configs = load_configs(args.config)
    write_log = log.set_up(human=sys.stderr.isatty(), level=args.log_level)
    failures: dict[str, list[str]] = {}
    ended: list[BaseException] = []
    try:
        try:
            asyncio.run(_until_stopped(args.config, configs, failures, args.log_level))
        finally:
            write_log()  # the reason for a failure is then the last line
    except* (*EXPECTED, ModuleNotFoundError) as errors:
        ended = [*errors_of(errors)]
    for error in ended:
        # The command's caller says which extra has the missing module.
        if isinstance(error, ModuleNotFoundError) or (
            isinstance(error, ConfigError) and (len(configs) == 1 or not failures)
        ):
            raise error
    for table, messages in failures.items():
        for message in messages:
            print(f"punto run: {message if len(configs) == 1 else f'{table}: {message}'}", file=sys.stderr)
    return int(bool(failures))


async def _until_stopped(
    file: Path, configs: Sequence[ServiceConfig], failures: dict[str, list[str]], level: str
) -> None:
    """Run the tables until a signal. `failures` gets those that failed, each with its messages."""
    if len(configs) > 1:  # each table has some twenty open files, and the usual limit is 1024
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    tables = Tables(configs, partial(_serve, file), _settle_down)
    try:
        await until_stopped(_run(tables, configs[0].metrics), level)
    finally:
        failures.update(tables.failures)


async def _run(tables: Tables, metrics: MetricsConfig | None) -> None:
    """Run the tables, with the address for monitoring if it is configured."""
    async with AsyncExitStack() as opened:
        if metrics is not None:
            from punto.web.metrics import monitoring

            await opened.enter_async_context(monitoring(metrics.port, tables))
        await tables.run()


async def _serve(file: Path, config: ServiceConfig, process: Process) -> None:
    await serve(config, devices_of(config), partial(consoles_of, file), _books_of, process)


def _books_of(path: Path, day: date, calendar: Calendar, now: datetime) -> Books:
    # A start does not wait for what is used once a day.
    from punto.reports.books import books_of_day

    return books_of_day(path, day, calendar, now)


def consoles_of(file: Path, config: ServiceConfig, desk: Desk, gate: "Gate") -> Consoles:
    """The consoles of a table with `[console]` in its configuration, which is in `file`.

    Raises:
        ConfigError: their certificate or address cannot be used.
    """
    from punto.commands.diagnosis import Diagnosis
    from punto.consoles.console import Console
    from punto.consoles.diagnostics import Doctor

    assert config.console is not None  # noqa: S101 - else `serve` does not call this function
    doctor = Doctor(config, Diagnosis(file, config.table.id))
    return Console(config.console, desk, gate, config.record.path, config.progressive, doctor)


def _settle_down() -> None:
    """Reduce the interpreter's own work on the path of a card, after everything is loaded.

    The loaded objects never become garbage, so the collector need not examine them again. With a shorter switch
    interval, the journal's thread does not wait 5 ms after a commit while the event loop makes a scoreboard.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    sys.setswitchinterval(0.0005)


def devices_of(config: ServiceConfig) -> Devices:
    """The drivers of the configured devices; the others are not loaded. If cards are keyed, there is no shoe."""
    shoe, keypad, watched = config.shoe, config.keypad, config.configuration_keypad
    sensors, reader = config.coin_spot, config.card_reader
    return Devices(
        shoe=None if shoe is None else _shoe(shoe),
        keypad=None if keypad is None else _keypad(keypad, by_model=_unproven(config, keypad)),
        configuration_keypad=None if watched is None else _configuration_keypad(watched),
        coin_spot=None if sensors is None else _coin_spot(sensors, config.table.seats),
        card_reader=None if reader is None else _card_reader(reader, by_model=_unproven(config, reader)),
    )


def _unproven(config: ServiceConfig, device: DeviceConfig) -> bool:
    """Whether the house allows a device that does not prove which one it is. A simulation always does."""
    return device.link_version == 1 or config.table.simulation


def _seal(device: DeviceConfig) -> Seal:
    key = device.key()
    if key is None:
        return UNSEALED
    from punto.drivers.seal import HostSeal

    return HostSeal(key)


def _shoe(config: ShoeConfig) -> ShoeDriver:
    from punto.drivers.ishoe.serial_line import SerialShoe

    return SerialShoe(config.port, config.baud, _seal(config))


def _coin_spot(config: CoinSpotConfig, seats: int) -> CoinSpotDriver:
    from punto.drivers.coin_spot.serial_line import SerialCoinSpot

    return SerialCoinSpot(
        config.port, config.baud, config.positions(seats), config.stuck_seconds, _seal(config)
    )


def _configuration_keypad(config: ConfigurationKeypadConfig) -> DeviceWatch:
    from punto.drivers.keypad.configuration import ConfigurationKeypad

    return ConfigurationKeypad(config.path)


def _card_reader(config: CardReaderConfig, *, by_model: bool) -> CardReaderDriver:
    if config.port is None:
        from punto.drivers.card_reader.input_device import InputCardReader

        return InputCardReader(str(config.input), by_model=by_model)
    from punto.drivers.card_reader.serial_line import SerialCardReader

    port, baud = config.port, config.baud
    return _with_key(config, port, "card reader", lambda seal: SerialCardReader(port, baud, seal))


def _keypad(config: KeypadConfig, *, by_model: bool) -> KeypadDriver:
    if config.port is None:
        from punto.drivers.keypad.input_device import InputKeypad

        return InputKeypad(str(config.input), by_model=by_model)
    from punto.drivers.keypad.serial_line import SerialKeypad

    port, baud = config.port, config.baud
    return _with_key(config, port, "keypad", lambda seal: SerialKeypad(port, baud, seal))


def _with_key(
    config: DeviceConfig, port: str, device: str, driver_of: Callable[[Seal], Driver[_User]]
) -> Driver[_User]:
    """The driver of a device that a console can replace: if its key cannot be read, it is offline, and the table goes on."""
    try:
        return driver_of(_seal(config))
    except ConfigError:
        from punto.drivers.retried import DeviceLostError, Postponed

        def make() -> Driver[_User]:
            try:
                return driver_of(_seal(config))
            except ConfigError as error:
                raise DeviceLostError(str(error)) from error

        return Postponed(port, device, make)
