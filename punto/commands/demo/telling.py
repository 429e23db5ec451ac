"""The output of `punto demo`: its addresses, and each round and the progressive's events, from the public messages."""

import json
import os
import re
import shlex
import shutil
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import structlog

from punto.baccarat.currency import written
from punto.commands.demo.configuration import TRAINEE, is_dealt, mqtt_of, people_of, socket_of
from punto.commands.demo.running import EnoughError
from punto.commands.demo.staff import Say
from punto.configs.characters import visible
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import ConsoleConfig
from punto.house.config import GameManagerConfig
from punto.messages.topics import ROUND, Topics, progressive
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link
from punto.runtime.terminal import draw
from punto.simulators.staff import SUPERVISORS, Act
from punto.simulators.table_dealer import Outcome

# The dealer's acts in every game, which are not printed.
_ROUTINE: Final = frozenset({"open_betting", "start_game", "close_betting", "game_over"})
_YOURS: Final = f"""\
You are the dealer and the supervisor. Sign on at the consoles as {TRAINEE}, press "Change the shoe", and go on to "Dealer"."""


def round_line(record: dict[str, Any], side: list[str], currency: str) -> str:
    """A round with the total of its wagers, and the seats' total net of each side wager."""
    paid = record["settlements"]
    staked, returned = (
        written(sum(each[name] for each in paid), currency, group="") for name in ("stake", "returned")
    )
    hands = f"Player {' '.join(record['player'])} = {record['player_total']}, "
    hands += f"Banker {' '.join(record['banker'])} = {record['banker_total']}"
    result = record["status"] if record["winner"] is None else record["winner"].title()
    line = f"shoe {record['shoe']} round {record['round']:>3}  {hands:<48} {result:<7} {len(paid)} wagers, staked {staked}, returned {returned}"
    made = [(name, [each for each in paid if each["wager"] == name]) for name in side]
    each_side = ", ".join(_came_to(name, settled, currency) for name, settled in made if settled)
    return f"{line}: {each_side}" if each_side else line


def _came_to(name: str, settled: list[dict[str, Any]], currency: str) -> str:
    # The amount of an award is not in the round's settlements.
    award = " and an award" if any(each["outcome"] == "award" for each in settled) else ""
    net = sum(each["net"] for each in settled)
    return f"{name} {'+' * (net >= 0)}{written(net, currency, group='')}{award}"


class MeterTeller:
    """Describes the events of a progressive at `table` from its messages. The last award may be another table's."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._step = ""
        self._award: tuple[int, str] | None = None

    def lines(self, message: dict[str, Any]) -> list[str]:
        """The new events in a message on `progressive/...`."""
        lines = []
        step, award, currency = message["step"], message["award"], message["currency"]
        meter = written(message["meter"], currency)
        if self._step == "betting" and step != "betting":
            seats = " ".join(map(str, message["seats"]))
            wagers = f"wagers of {seats} counted" if seats else "no wagers"
            lines.append(f"    START GAME: {wagers}, the meter shows {meter}")
        known = None if award is None else (award["award"], award["state"])
        if award is not None and award["table"] == self._table and known != self._award and self._step:
            what = (
                f"award {award['award']}, {written(award['amount'], currency)} for {_seats(award['seats'])}"
            )
            off = f"taken off the meter, which shows {meter}, and paid"
            lines.append(f"*** {what}: {award['title']}; {'logged' if award['state'] == 'locked' else off}")
        self._step, self._award = step, known
        return lines


def _seats(seats: list[int]) -> str:
    return f"seat{'s' * (len(seats) > 1)} {' and '.join(map(str, seats))}"


def print_late(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Print a late coin instead of the warning in the log: the players are late on purpose."""
    if event["event"] != "wager after the start":
        return event
    print(
        f"    the coin of seat {event['seat']} came after START GAME: it is not counted, and goes back to the player",
        flush=True,
    )
    raise structlog.DropEvent


async def print_rounds(configs: list[ServiceConfig], rounds: int | None) -> None:
    """Print each table's rounds and its progressive's events as they come over MQTT."""
    mqtt, printed = mqtt_of(configs[0]), 0
    tables = [
        (
            Topics(mqtt.base, each.table.id),
            MeterTeller(each.table.id),
            _side_wagers(each),
            each.table.currency,
        )
        for each in configs
        if is_dealt(each)
    ]

    def print_line(topic: Topics, line: str) -> None:
        print(line if len(configs) == 1 else f"{topic.table}  {line}", flush=True)

    async def listen(connection: Connection) -> None:
        nonlocal printed
        await connection.subscribe(
            [topic(name) for topic, *_ in tables for name in (ROUND, progressive("+"))]
        )
        async for message in connection.messages():
            for topic, meter, side, currency in tables:
                if message.topic.startswith(topic(progressive(""))):
                    for line in meter.lines(json.loads(message.payload)):
                        print_line(topic, line)
                if message.topic == topic(ROUND):
                    print_line(topic, round_line(json.loads(message.payload)["round"], side, currency))
                    printed += 1
                    if printed == rounds:
                        raise EnoughError

    await Link(mqtt, Backoff(1, 1)).run(listen)


def _side_wagers(config: ServiceConfig) -> list[str]:
    return [wager.name for wager in config.game.wagers if not wager.base]


def act_printer(table: str) -> Say:
    """A function that prints the acts of a dealer and a supervisor, except the usual ones; `table` begins each line."""
    begin = f"{table}  " if table else ""

    def print_act(act: Act, outcome: Outcome) -> None:
        if act.do in _ROUTINE and outcome.done:
            return
        who = "supervisor" if act.do in SUPERVISORS else "dealer"
        what = act.do.replace("_", " ") + (f" {act.seat}" if act.seat else "")
        print(f"{begin}    {who}: {what}: {'' if outcome.done else 'refused: '}{outcome.text}", flush=True)

    return print_act


# --- addresses


def welcome(
    configs: list[ServiceConfig],
    password: str,
    house: GameManagerConfig | None,
    *,
    attended: bool,
    browser: bool,
) -> Callable[[str], None]:
    """A function that prints all addresses, given the display's address, and opens the first in a `browser`."""
    mqtt, several = mqtt_of(configs[0]), len(configs) > 1
    dealt = [each for each in configs if is_dealt(each)]

    def print_addresses(address: str) -> None:
        base = address.partition("/tables/")[0].rstrip("/")
        tables = " ".join(f"--table {each.table.id}" for each in dealt)
        floor = {} if house is None else {"the floor": f"http://{house.pages.host}:{house.pages.port}/"}
        shared = floor | {
            "in a terminal": f"{this_program()} display --text {tables} --mqtt-port {mqtt.port}",
            "MQTT": f"mosquitto_sub -h {mqtt.host} -p {mqtt.port} -v -t '{mqtt.base}/#'",
        }
        blocks = [
            f"{len(dealt)} tables are open." if several else f"A table of {configs[0].game.title} is open."
        ]
        if several:
            blocks.append(
                listed({"all tables": f"{base}/wall", "two side by side": f"{base}/split"} | shared)
            )
        for config in dealt:
            own = f"{base}/tables/{config.table.id}/" if several else f"{base}/"
            lines = {"i-Score display": f"{own}i-score" if several else own}
            if config.progressive is not None:
                lines["progressive's sign"] = f"{own}progressive"
            lines |= _for_staff(config, password, attended=attended)
            heading = f"  {config.table.id}, {config.game.title}\n"
            blocks.append(f"{heading}{listed(lines)}" if several else listed(lines | shared))
        for config in configs:
            if config.progressive is not None and config.progressive.tables:
                heading = f"  {config.table.id}, the meter of {_listed(config.progressive.tables, 'and')}\n"
                blocks.append(f"{heading}{listed(_for_staff(config, password, attended=attended))}")
        if attended:
            blocks.append(_YOURS)
        _print("\n" + "\n\n".join([*blocks, "Ctrl-C ends it."]) + "\n")
        if browser:
            open_browser(floor.get("the floor", f"{base}/wall" if several else f"{base}/"))

    return print_addresses


def _print(text: str) -> None:
    """Print the text, with its addresses in bold if a person reads it in a terminal."""
    if sys.stdout.isatty():
        draw(sys.stdout, re.sub(r"http://\S+", "\033[1m\\g<0>\033[0m", visible(text, "\n")) + "\n")
    else:
        print(text, flush=True)


def open_browser(address: str) -> None:
    """Open the address in the person's browser, if there is a person at a terminal with a desktop."""
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()


def listed(lines: dict[str, str]) -> str:
    """A line for each name and value."""
    return "\n".join(f"  {name:<18} {value}" for name, value in lines.items())


def _for_staff(config: ServiceConfig, password: str, *, attended: bool) -> dict[str, str]:
    consoles = address_of(config)
    people = list(people_of(config))
    lines = {
        "consoles": f"{consoles} as {_listed([TRAINEE, *people] if attended else people)}, password {password}"
    }
    # The reports of a meter are at the service that keeps it.
    if config.progressive is not None and config.progressive.authority in {None, config.table.id}:
        lines["Game Manager"] = f"{consoles}game-manager as {_listed(people[1:])}"
    if is_dealt(config):
        lines |= {
            "orders": f"{this_program()} operator --socket {shlex.quote(str(socket_of(config)))} --as supervisor change-shoe",
            "cards": "keyed by the dealer" if config.shoe is None else config.shoe.port,
        }
    return lines | {"record": f"{config.record.path}"}


def address_of(config: ServiceConfig) -> str:
    """The address of a table's consoles."""
    console = cast(ConsoleConfig, config.console)
    return f"http://{console.host}:{console.port}/"


def this_program() -> str:
    """The command that starts this program from a shell in this folder."""
    if Path(sys.argv[0]).name != "punto":
        return f"{shlex.quote(sys.executable)} -m punto"
    if (found := shutil.which("punto")) and Path(found).samefile(sys.argv[0]):
        return "punto"
    program, here = Path(sys.argv[0]).resolve(), Path.cwd()
    shorter = f"./{program.relative_to(here)}" if program.is_relative_to(here) else str(program)
    return shlex.quote(shorter)


def _listed(names: Sequence[str], word: str = "or") -> str:
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
