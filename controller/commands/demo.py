"""`punto demo`: a whole table on one machine, with no hardware, no root and no network.

A virtual shoe on a pseudo-terminal, the service, players, a broker in the process and the score display: the parts
are the real ones but for the broker (amqtt: loopback, for the demo alone) and the people. A game whose cards may not
be read by a shoe is dealt by hand, and its cards are keyed. The one place in the program that knows the simulators.
"""

import argparse
import asyncio
import json
import logging
import math
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import aiomqtt
from amqtt.broker import Broker

from controller import log
from controller.commands.operator import ask
from controller.commands.run import devices_of, messages_of
from controller.config import ConsoleConfig, ServiceConfig, load_config
from controller.games import load_game
from controller.journal.store import RecordError
from controller.messages.building import timestamp
from controller.operators.accounts import Accounts
from controller.operators.roles import Role
from controller.problems import ConfigError, Problem, cut
from controller.supervisor import serve
from controller.table.turn import RefusedError
from controller.wagers.definition import Game, Limits
from displays.options import DisplayOptions, MqttOptions, PageOptions
from displays.server import serve as serve_display
from simulators.players import Players, PlayersOptions
from simulators.shoe.options import OptionError, ShoeOptions
from simulators.shoe.order import shuffled
from simulators.shoe.virtual_shoe import VirtualShoe

_TABLE: Final = "demo"
_BASE: Final = "punto"
_SEATS: Final = (1, 3, 4, 6)
_LIMITS: Final = {"player": (500, 50_000), "banker": (500, 50_000), "tie": (500, 10_000)}
# Cards behind the cut card of a shoe that is dealt by hand, as in the virtual one.
_CUT: Final = 14
_LONGEST_WAIT: Final = 3600  # seconds
_CONFIG: Final = """\
version = 1

[table]
id = "{table}"
name = "Punto {title}"
game = {game}
{cards}
{limits}
[record]
path = {record}

[mqtt]
port = {broker}

[operator]
socket = {socket}

[console]
port = {console}
accounts = {accounts}
idle_minutes = 480
"""
_PEOPLE: Final = {"dealer": Role.DEALER, "supervisor": Role.SUPERVISOR}


class _EnoughError(Exception):
    """As many rounds as were asked for have been shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the game, the pace and where to keep things."""
    parser.add_argument(
        "--game", default="dragon-bonus-1", help="a game file or a shipped game (dragon-bonus-1)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=8,
        help="decides the cards, and what the players want to wager; the pace decides what of it comes in time (8)",
    )
    parser.add_argument(
        "--pace", type=_seconds, default=0.7, metavar="SECONDS", help="between two cards (0.7)"
    )
    parser.add_argument(
        "--between", type=_seconds, default=4, metavar="SECONDS", help="between two coups (4)"
    )
    parser.add_argument(
        "--rounds", type=_rounds, metavar="N", help="end after so many rounds (run until Ctrl-C)"
    )
    parser.add_argument(
        "--port", type=int, default=8080, help="the display's port, a free one if it is taken (8080)"
    )
    parser.add_argument(
        "--console-port", type=int, default=8090, help="the consoles' port, a free one if it is taken (8090)"
    )
    parser.add_argument(
        "--attended",
        action="store_true",
        help="leave sign-on, shoe changes and whatever stops play to you, at the consoles",
    )
    parser.add_argument("--dir", type=Path, help="keep the record here (a folder that passes with the demo)")


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (seconds := float(text)) <= _LONGEST_WAIT:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is no time to wait: write 0 to {_LONGEST_WAIT}")


def _rounds(text: str) -> int:
    with suppress(ValueError):
        if (rounds := int(text)) >= 1:
            return rounds
    raise argparse.ArgumentTypeError(f"{text!r} is no number of rounds: write 1 or more, or leave it out")


def main(args: argparse.Namespace) -> int:
    """Deal until Ctrl-C or until enough rounds were dealt; status 1 when the record is at fault."""
    log.set_up(human=True, quiet=True)
    logging.getLogger("amqtt").setLevel(logging.ERROR)
    logging.getLogger("transitions").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="punto-demo-", ignore_cleanup_errors=True) as passing:
        folder = args.dir or Path(passing)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError([Problem(f"--dir: {cut(str(folder), 200)}: {error.strerror}")]) from None
        status = 0
        try:
            with suppress(KeyboardInterrupt):
                asyncio.run(_run(args, folder.absolute(), Path(passing) / "operators.db"))
        except* (RecordError, RefusedError) as errors:
            for message in dict.fromkeys(messages_of(errors)):  # one failure reaches several tasks
                print(f"punto demo: {message}", file=sys.stderr)
            status = 1
    if status == 0:
        print("The demo has ended.")
    return status


async def _run(args: argparse.Namespace, folder: Path, accounts: Path) -> None:
    broker_port = _free_port()
    config = _write_config(args.game, folder, broker_port, args.console_port, accounts)
    password = _make_accounts(accounts)
    shoe = _shoe(args, folder, config)
    demo = asyncio.create_task(_deal(args, config, broker_port, shoe, password))

    def stop() -> None:
        _be_quiet()
        demo.cancel()

    for wanted in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(wanted, stop)
    with suppress(asyncio.CancelledError):
        try:
            await demo
        except* _EnoughError:
            pass


def _be_quiet() -> None:
    """Say no more than what the demo itself prints: it ends.

    aiomqtt leaves a connection open that is given up while it is being made, and then reports in callbacks and in its
    log what becomes of it; amqtt reports connections that end.
    """
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    logging.disable()


async def _part(work: Awaitable[None]) -> None:
    """Do a part of the demo. When one ends, all others do, and their connections with them."""
    try:
        await work
    finally:
        _be_quiet()


async def _deal(
    args: argparse.Namespace,
    config: ServiceConfig,
    broker_port: int,
    shoe: VirtualShoe | None,
    password: str,
) -> None:
    broker = await _start_broker(broker_port)
    try:
        async with asyncio.TaskGroup() as tasks:

            def begin(work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_part(work))

            if shoe is not None:
                begin(shoe.run())
                await shoe.ready()
            running = asyncio.Event()
            begin(serve(config, devices_of(config), running.set))
            await running.wait()
            welcome = _welcome(config, broker_port, password)
            begin(serve_display(_display(args.port, broker_port), welcome))
            begin(
                Players(
                    PlayersOptions(
                        host="127.0.0.1",
                        port=broker_port,
                        base=_BASE,
                        table=_TABLE,
                        game=config.settings().game,
                        seats=_SEATS,
                        seed=args.seed,
                        slow=args.between / 2,
                    )
                ).run()
            )
            if shoe is None:
                begin(_key(args, config))
            begin(_tell(broker_port, config.settings().game, args.rounds))
            if not args.attended:
                begin(_supervise(config.operator.socket))
    finally:
        with suppress(Exception):  # the demo's own broker, at the demo's end
            await broker.shutdown()


def _shoe(args: argparse.Namespace, folder: Path, config: ServiceConfig) -> VirtualShoe | None:
    """The shoe of this table, None where its cards are keyed."""
    if config.shoe is None:
        return None
    try:
        options = ShoeOptions(
            link=folder / "shoe",
            store=folder / "shoe.store",
            seed=str(args.seed),
            decks=config.settings().game.decks,
            pace=args.pace,
            between=args.between,
        )
    except OptionError as error:
        raise ConfigError(
            [Problem(f"no virtual shoe can deal {config.settings().game.title}: {error}")]
        ) from None
    return VirtualShoe(options)


def _make_accounts(path: Path) -> str:
    """Make accounts that pass with this run, and return the password that they have."""
    password = secrets.token_urlsafe(9)
    accounts = Accounts.open(path)
    try:
        for name, role in _PEOPLE.items():
            accounts.add(name, [role], password, timestamp(datetime.now(UTC)))
    finally:
        accounts.close()
    return password


def _write_config(
    game: str, folder: Path, broker_port: int, console_port: int, accounts: Path
) -> ServiceConfig:
    """Write the configuration that `punto run` would be given for this table, and read it."""
    own = load_game(game)
    wagers = {wager.name: wager for wager in own.wagers}
    limits = "".join(
        f"[limits.{name}]\nminimum = {low}\nmaximum = {high}\nstep = {low}\n\n"
        for name, (low, high) in _LIMITS.items()
        if name in wagers and wagers[name].limits == Limits()
    )
    # The approval letter lets no shoe read a variation that is dealt face down.
    by_hand = own.variation and own.dealt == "face_down"
    cards = 'cards = "keyed"\n' if by_hand else f"\n[shoe]\nport = {json.dumps(str(folder / 'shoe'))}\n"
    path = folder / "table.toml"
    path.write_text(
        _CONFIG.format(
            table=_TABLE,
            title=_TABLE.title(),
            game=json.dumps(str(Path(game).absolute()) if Path(game).is_file() else game),
            cards=cards,
            limits=limits,
            record=json.dumps(str(folder / "table.db")),
            broker=broker_port,
            socket=json.dumps(str(folder / "operator.sock")),
            console=console_port if console_port and _is_free(console_port) else _free_port(),
            accounts=json.dumps(str(accounts)),
        ),
        encoding="utf-8",
    )
    return load_config(path)


async def _start_broker(port: int) -> Broker:
    broker = Broker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )
    await broker.start()
    return broker


def _display(port: int, broker_port: int) -> DisplayOptions:
    return DisplayOptions(
        mqtt=MqttOptions(port=broker_port, base=_BASE),
        display=PageOptions(tables=(_TABLE,), port=port if _is_free(port) else 0),
    )


def _welcome(config: ServiceConfig, broker_port: int, password: str) -> Callable[[str], None]:
    console = cast(ConsoleConfig, config.console)

    def say(address: str) -> None:
        print(
            f"""
A table of {config.settings().game.title} is open.

  i-Score display    {address}
  consoles           http://{console.host}:{console.port}/ as {" or ".join(_PEOPLE)}, password {password}
  in a terminal      punto display --text --table {_TABLE} --mqtt-port {broker_port}
  MQTT               mosquitto_sub -h 127.0.0.1 -p {broker_port} -v -t '{_BASE}/#'
  orders             punto operator --socket {config.operator.socket} status
  record             {config.record.path}
  cards              {"keyed by the dealer" if config.shoe is None else config.shoe.port}

Ctrl-C ends it.
""",
            flush=True,
        )

    return say


# --- the people


async def _supervise(door: Path) -> None:
    """Sign on, change the shoe when it is over, and see to whatever stops play, as a supervisor would."""
    while True:
        answer = await asyncio.to_thread(ask, door, {"order": "status"})
        order = _order_for(answer["state"])
        if order is not None:
            await asyncio.to_thread(ask, door, order)
        await asyncio.sleep(0.5)


def _order_for(state: dict[str, Any]) -> dict[str, Any] | None:
    if "needs_supervisor" in state["overlays"]:
        return {"order": "resume_play", "reason": "seen to, in the demo"}
    match state["phase"]:
        case "locked":
            return {"order": "sign_on"}
        case "closed" | "settled":
            return {"order": "change_shoe"}
        case "reveal":
            return {"order": "reveal"}
        case _:
            return None


async def _key(args: argparse.Namespace, config: ServiceConfig) -> None:
    """Deal from a shoe that cannot read, key every card, and change the shoe when its cut card has come."""
    door, game = config.operator.socket, config.settings().game
    while True:
        state = (await asyncio.to_thread(ask, door, {"order": "status"}))["state"]
        left = state["shoe"]["cards_left"]
        cards = shuffled(str(args.seed), state["shoe"]["number"], game.decks)
        match state["phase"]:
            case "shoe_change" if left < len(cards):  # the first card is burned, with as many as it says
                order = {"order": "open_betting"}
            case "betting" if left <= _CUT:
                order = {"order": "change_shoe"}
            case "shoe_change" | "betting" | "dealing":
                await asyncio.sleep(args.pace if state["phase"] == "dealing" else args.between)
                order = {"order": "key_card", "card": cards[-left]}
            case _:
                await asyncio.sleep(0.1)
                continue
        await asyncio.to_thread(ask, door, order)


async def _tell(broker_port: int, game: Game, rounds: int | None) -> None:
    """Print each round as it comes over MQTT."""
    told = 0
    side = [wager.name for wager in game.wagers if not wager.base]
    # Without a time-out, with which Python 3.11 can lose a cancellation (python/cpython 86296).
    async with aiomqtt.Client("127.0.0.1", broker_port, timeout=math.inf) as client:
        topic = f"{_BASE}/{_TABLE}/round"
        await client.subscribe(topic, qos=1)
        async for message in client.messages:
            if message.topic.value != topic or not isinstance(message.payload, bytes):
                continue
            print(_line(json.loads(message.payload)["round"], side), flush=True)
            told += 1
            if told == rounds:
                raise _EnoughError


def _line(record: dict[str, Any], side: list[str]) -> str:
    """A round with what all its wagers came to, and what the seats won or lost by each side wager."""
    paid = record["settlements"]
    staked, returned = (sum(each[name] for each in paid) / 100 for name in ("stake", "returned"))
    hands = f"Player {' '.join(record['player'])} = {record['player_total']}, "
    hands += f"Banker {' '.join(record['banker'])} = {record['banker_total']}"
    result = record["status"] if record["winner"] is None else record["winner"].title()
    line = f"shoe {record['shoe']} round {record['round']:>3}  {hands:<48} {result:<7} {len(paid)} wagers, staked {staked:.2f}, returned {returned:.2f}"
    made = [(name, [each for each in paid if each["wager"] == name]) for name in side]
    each_side = ", ".join(_came_to(name, settled) for name, settled in made if settled)
    return f"{line}: {each_side}" if each_side else line


def _came_to(name: str, settled: list[dict[str, Any]]) -> str:
    # What an award comes to is not settled with the round.
    award = " and an award" if any(each["outcome"] == "award" for each in settled) else ""
    return f"{name} {sum(each['net'] for each in settled) / 100:+.2f}{award}"


# --- ports


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
