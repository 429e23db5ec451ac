"""`punto demo`: a whole table on one machine, with no hardware, no root and no network.

A virtual shoe on a pseudo-terminal, the service, players, a broker in the process and the score display: the parts
are the real ones but for the broker (amqtt: loopback, for the demo alone) and the people. A game whose cards may not
be read by a shoe is dealt by hand, and its cards are keyed. A game that pays from a meter has virtual wager sensors too, a
dealer at a virtual keypad or at a console with a card reader, and a shoe in which each tier of its pay table is won in
minutes. The one place in the program that knows the simulators.
"""

import argparse
import asyncio
import json
import logging
import secrets
import shlex
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import structlog

from punto.baccarat.progressive.settings import Procedure
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game, Limits
from punto.commands.demo_broker import DemoBroker
from punto.commands.demo_telling import MeterTeller, round_line, tell_late
from punto.commands.operator import ask
from punto.commands.run import consoles_of, devices_of, messages_of
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem, cut
from punto.controller import log
from punto.controller.accounts.accounts import Accounts, hashed
from punto.controller.accounts.roles import Role
from punto.controller.broker_login import BrokerConfig
from punto.controller.config import ConsoleConfig, OperatorConfig, ServiceConfig, load_config
from punto.controller.journal.store import RecordError
from punto.controller.messages.building import timestamp
from punto.controller.messages.topics import ROUND, Topics, progressive
from punto.controller.mqtt_link import Connection, Link
from punto.controller.supervisor import serve
from punto.displays.options import DisplayOptions, MqttOptions, PageOptions
from punto.displays.server import serve as serve_display
from punto.drivers.backoff import Backoff
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.coins import Habits
from punto.simulators.console import ConsoleRefusedError, ConsoleUser
from punto.simulators.hands import AquariusHands, NexusHands
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import DeviceOnALine
from punto.simulators.players import Players, PlayersOptions, ProgressivePlayers
from punto.simulators.shoe.options import OptionError, ShoeOptions
from punto.simulators.shoe.order import shuffled
from punto.simulators.shoe.scenario import read_scenario, scenario_names
from punto.simulators.shoe.virtual_shoe import VirtualShoe
from punto.simulators.table_dealer import SUPERVISORS, Act, DealerOptions, Hands, Outcome, TableDealer

_TABLE: Final = "demo"
_SEATS: Final = (1, 3, 4, 6)
_LIMITS: Final = {"player": (500, 50_000), "banker": (500, 50_000), "tie": (500, 10_000)}
# Cards behind the cut card of a shoe that is dealt by hand, as in the virtual one.
_CUT: Final = 14
_LONGEST_WAIT: Final = 3600  # seconds
_LAST_PORT: Final = 65535
_QUICKEST: Final = 0.01  # seconds from one press to the next
_CHANGE_SHOE: Final = {"order": "change_shoe"}
_CONFIG: Final = """\
version = 1

[table]
id = "{table}"
name = "Punto {title}"
game = {game}
{cards}
{limits}
{progressive}
[record]
path = {record}

[mqtt]
port = {broker}

[operator]
socket = {socket}

[accounts]
path = {accounts}

[console]
port = {console}
idle_minutes = 480
"""
_PROGRESSIVE: Final = "dragon"
_DEALERS_TABLE: Final = 'betting_closes = "order"\nnext_coup = "order"\n'
_PROGRESSIVE_CONFIG: Final = """\
[progressive]
id = "{id}"
wager = {wager}
reserve = "2%"
base_wagers = "recorded"
procedure = "{procedure}"

[coin_spot]
port = {coin_spot}
seats = [1, 2, 3, 4, 5, 6, 7]

{device}
"""
_COIN_SPOT, _KEYPAD, _CARD_READER = (
    "coin-spot",
    "keypad",
    "card-reader",
)  # the devices' links, in the demo's folder
_KEYPAD_CONFIG: Final = "[keypad]\nport = {port}\nkey_switch = true\n"
_CARD_READER_CONFIG: Final = "[card_reader]\nport = {port}\n"
_PEOPLE: Final = {"dealer": Role.DEALER, "supervisor": Role.SUPERVISOR}
_AT_THE_GAME_MANAGER: Final = {"executive": Role.EXECUTIVE, "auditor": Role.AUDITOR}
# Accounts of those whom the demo plays: an account has one session, and the others are for who looks on.
_DEALER, _SUPERVISOR, _EXECUTIVE, _SECOND = "demo-dealer", "demo-supervisor", "demo-executive", "demo-second"
_PLAYED: Final = {
    _DEALER: Role.DEALER,
    _SUPERVISOR: Role.SUPERVISOR,
    _EXECUTIVE: Role.EXECUTIVE,
    _SECOND: Role.EXECUTIVE,
}
# One always on either hand, so that whatever hand wins the meter, somebody has wagered on it.
_REGULARS: Final = {3: "player", 6: "banker"}
_HABITS: Final = Habits(coin=0.8, late=0.1)
_SLIPS: Final = 0.06
_PROGRESSIVE_GAME: Final = "progressive-2"
"""The game of `--game progressive`: a pay table with awards of every size."""
# What a dealer does in every game; the rest is told.
_ROUTINE: Final = frozenset({"open_betting", "start_game", "close_betting", "game_over"})


class _EnoughError(Exception):
    """As many rounds as were asked for have been shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the game, the pace and where to keep things."""
    parser.add_argument(
        "--game",
        type=lambda name: _PROGRESSIVE_GAME if name == "progressive" else name,
        default="dragon-bonus-1",
        help=f"a game file or a shipped game (dragon-bonus-1); progressive is {_PROGRESSIVE_GAME}",
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
        "--port",
        type=_port,
        default=8080,
        metavar="PORT",
        help="the display's port, a free one if it is taken (8080)",
    )
    parser.add_argument(
        "--console-port",
        type=_port,
        default=8090,
        metavar="PORT",
        help="the consoles' port, a free one if it is taken (8090)",
    )
    parser.add_argument(
        "--procedure",
        choices=("aquarius", "nexus"),
        help="the system at a table with a progressive: a keypad and a key, or a console and cards (aquarius)",
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


def _port(text: str) -> int:
    with suppress(ValueError):
        if 0 <= (port := int(text)) <= _LAST_PORT:
            return port
    raise argparse.ArgumentTypeError(
        f"{cut(text)!r} is no port: write 1 to {_LAST_PORT}, or 0 for one that is free"
    )


def main(args: argparse.Namespace) -> int:
    """Deal until Ctrl-C or until enough rounds were dealt; status 1 when the record is at fault."""
    log.set_up(human=True, quiet=True)
    structlog.configure(processors=[tell_late, *structlog.get_config()["processors"]])
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


@dataclass(frozen=True, slots=True)
class _Secrets:
    """What passes with this run: the password of all accounts, and what is on the supervisor's card."""

    password: str
    card: str


async def _run(args: argparse.Namespace, folder: Path, accounts: Path) -> None:
    config = _write_config(args, folder, accounts)
    passing = _make_accounts(accounts, config)
    shoe = _shoe(args, folder, config)
    demo = asyncio.create_task(_deal(args, config, shoe, passing))

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

    amqtt reports connections that end.
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
    args: argparse.Namespace, config: ServiceConfig, shoe: VirtualShoe | None, passing: _Secrets
) -> None:
    mqtt = _mqtt_of(config)
    broker = DemoBroker(mqtt.port)
    await broker.start()
    try:
        async with asyncio.TaskGroup() as tasks:

            def begin(work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_part(work))

            if shoe is not None:
                begin(shoe.run())
                await shoe.ready()
            table = None
            if config.progressive is not None:
                table = _ProgressiveTable(args, config, passing)
                for device in table.devices:
                    begin(device.run())
            running = asyncio.Event()
            begin(serve(config, devices_of(config), consoles_of, running.set))
            await running.wait()
            welcome = _welcome(config, passing.password)
            begin(serve_display(_display(args.port, mqtt), welcome))
            staff = _Staff(config, passing)
            players = PlayersOptions(
                broker=mqtt,
                table=_TABLE,
                game=config.settings().game,
                seats=_SEATS,
                seed=args.seed,
                slow=args.between / 2,
                regulars={} if table is None else _REGULARS,
                progressive=None if table is None else table.players,
            )
            begin(Players(players).run())
            if shoe is None:
                begin(_key(args, config, staff))
            if table is not None:
                begin(table.deal())
            begin(_tell(mqtt, config.settings().game, args.rounds))
            if not args.attended:
                begin(_supervise(config, staff))
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
            **_coups_of(config),
        )
    except OptionError as error:
        raise ConfigError(
            [Problem(f"no virtual shoe can deal {config.settings().game.title}: {error}")]
        ) from None
    return VirtualShoe(options)


def _coups_of(config: ServiceConfig) -> dict[str, Any]:
    """What is put into the shoe so that all tiers of the meter are seen soon, if there is anything for this game."""
    if config.progressive is None or config.game.name not in scenario_names():
        return {}
    return read_scenario(config.game.name).settings()


def _make_accounts(path: Path, config: ServiceConfig) -> _Secrets:
    """Make accounts that pass with this run."""
    passing = _Secrets(secrets.token_urlsafe(9), str(secrets.randbelow(9 * 10**15) + 10**15))
    people = {**_PEOPLE, _SUPERVISOR: Role.SUPERVISOR}
    if config.progressive is not None:
        people |= {**_AT_THE_GAME_MANAGER, **_PLAYED}
    accounts = Accounts.open(path)
    try:
        hash_ = hashed(passing.password)  # once for all, who have the same: each takes a tenth of a second
        for name, role in people.items():
            accounts.add_hashed(name, [role], hash_, timestamp(datetime.now(UTC)))
        if config.card_reader is not None:
            accounts.enroll(_SUPERVISOR, passing.card)
    finally:
        accounts.close()
    return passing


def _write_config(args: argparse.Namespace, folder: Path, accounts: Path) -> ServiceConfig:
    """Write the configuration that `punto run` would be given for this table, and read it."""
    game: str = args.game
    own = load_game(game)
    metered = next((wager.name for wager in own.wagers if wager.progressive is not None), None)
    if metered is None and args.procedure is not None:
        message = f"--procedure is for a progressive, and {own.name} has none: leave it out, or add --game progressive"
        raise ConfigError([Problem(message)])
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
            cards=cards if metered is None else _DEALERS_TABLE + cards,
            limits=limits,
            progressive=""
            if metered is None
            else _progressive_config(metered, args.procedure or "aquarius", folder),
            record=json.dumps(str(folder / "table.db")),
            broker=_free_port(),
            socket=json.dumps(str(folder / "operator.sock")),
            console=_port_for(args.console_port),
            accounts=json.dumps(str(accounts)),
        ),
        encoding="utf-8",
    )
    return load_config(path)


def _progressive_config(wager: str, procedure: Procedure, folder: Path) -> str:
    aquarius = procedure == "aquarius"
    link, section = (_KEYPAD, _KEYPAD_CONFIG) if aquarius else (_CARD_READER, _CARD_READER_CONFIG)
    return _PROGRESSIVE_CONFIG.format(
        id=_PROGRESSIVE,
        wager=json.dumps(wager),
        procedure=procedure,
        coin_spot=json.dumps(str(folder / _COIN_SPOT)),
        device=section.format(port=json.dumps(str(folder / link))),
    )


def _display(port: int, mqtt: BrokerConfig) -> DisplayOptions:
    return DisplayOptions(
        mqtt=MqttOptions(port=mqtt.port, base=mqtt.base),
        display=PageOptions(tables=(_TABLE,), port=port if _is_free(port) else 0),
    )


def _welcome(config: ServiceConfig, password: str) -> Callable[[str], None]:
    mqtt = _mqtt_of(config)
    console = cast(ConsoleConfig, config.console)
    consoles = f"http://{console.host}:{console.port}/"
    punto = _this_program()
    people = [*_PEOPLE, *(_AT_THE_GAME_MANAGER if config.progressive is not None else ())]

    def say(address: str) -> None:
        lines = {"i-Score display": address}
        if config.progressive is not None:
            lines["progressive's sign"] = f"{address.partition('/tables/')[0].rstrip('/')}/progressive"
        lines["consoles"] = f"{consoles} as {_listed(people)}, password {password}"
        if config.progressive is not None:
            lines["Game Manager"] = f"{consoles}game-manager as {_listed([*people[1:]])}"
        lines |= {
            "in a terminal": f"{punto} display --text --table {_TABLE} --mqtt-port {mqtt.port}",
            "MQTT": f"mosquitto_sub -h {mqtt.host} -p {mqtt.port} -v -t '{mqtt.base}/#'",
            "orders": f"{punto} operator --socket {shlex.quote(str(_socket_of(config)))} --as supervisor change-shoe",
            "record": f"{config.record.path}",
            "cards": "keyed by the dealer" if config.shoe is None else config.shoe.port,
        }
        told = "\n".join(f"  {name:<18} {value}" for name, value in lines.items())
        print(
            f"\nA table of {config.settings().game.title} is open.\n\n{told}\n\nCtrl-C ends it.\n", flush=True
        )

    return say


def _this_program() -> str:
    """The command that a shell in this folder begins this very program with."""
    if Path(sys.argv[0]).name != "punto":
        return f"{shlex.quote(sys.executable)} -m punto"
    if (found := shutil.which("punto")) and Path(found).samefile(sys.argv[0]):
        return "punto"
    program, here = Path(sys.argv[0]).resolve(), Path.cwd()
    shorter = f"./{program.relative_to(here)}" if program.is_relative_to(here) else str(program)
    return shlex.quote(shorter)


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


# --- the progressive


class _ProgressiveTable:
    """The sensors, what the dealer does things with, and the dealer, of a table with a progressive."""

    def __init__(self, args: argparse.Namespace, config: ServiceConfig, passing: _Secrets) -> None:
        meter = config.settings().progressive
        if config.console is None or meter is None:
            raise AssertionError("the demo's own configuration has them")
        self._attended = args.attended
        self._staff = _Staff(config, passing)
        port, password = config.console.port, passing.password
        self._executive = ConsoleUser(port, _EXECUTIVE, password)
        self._second = ConsoleUser(port, _SECOND, password)
        self._dealer = ConsoleUser(port, _DEALER, password)
        sensors = VirtualCoinSpot(config.folder / _COIN_SPOT)
        self.players = ProgressivePlayers(
            id=_PROGRESSIVE, wager=meter.wager.name, sensors=sensors, habits=_HABITS
        )
        self.devices: list[DeviceOnALine] = [sensors]
        hands: Hands
        if meter.procedure == "aquarius":
            keypad = VirtualKeypad(config.folder / _KEYPAD, key="run")
            self.devices.append(keypad)
            hands = AquariusHands(keypad, self._supervise)
        else:
            reader = VirtualCardReader(config.folder / _CARD_READER)
            self.devices.append(reader)
            hands = NexusHands(self._dealer, ConsoleUser(port, _SUPERVISOR, password), reader, passing.card)
        options = DealerOptions(
            broker=_mqtt_of(config),
            table=_TABLE,
            wager=meter.wager.name,
            seats=config.table.seats,
            procedure=meter.procedure,
            betting=args.between,
            think=max(args.between / 8, _QUICKEST),
            supervisor=args.between / 2,
            slips=_SLIPS,
            changes_shoe=not args.attended,
            seed=args.seed,
        )
        self._table_dealer = TableDealer(options, hands, _tell_act)

    async def deal(self) -> None:
        """Have the meter opened and the dealer signed on, unless somebody attends to that, and deal."""
        if not self._attended:
            await self._open_meter()
            for each in (self._executive, self._second):
                await each.sign_off()
            await self._dealer.table()  # signs on, and so becomes the table's operator
        await self._table_dealer.run()

    async def _open_meter(self) -> None:
        """Open it with two signatures; a record that was kept has an open one.

        An order stops waiting when the table has gone on, as to its first shoe, so it is given again.
        """
        while (await self._executive.table())["progressive"]["phase"] == "new":
            with suppress(ConsoleRefusedError):
                await self._executive.order("open_meter")
                await self._second.approve()
            await asyncio.sleep(_QUICKEST)

    async def _supervise(self, order: str) -> Outcome:
        answer = await self._staff.give({"order": order})
        return Outcome(done=answer["accepted"], text=answer["reason"] or "done")


def _tell_act(act: Act, outcome: Outcome) -> None:
    if act.do in _ROUTINE and outcome.done:
        return
    who = "supervisor" if act.do in SUPERVISORS else "dealer"
    what = act.do.replace("_", " ") + (f" {act.seat}" if act.seat else "")
    print(f"    {who}: {what}: {'' if outcome.done else 'refused: '}{outcome.text}", flush=True)


# --- the people


def _mqtt_of(config: ServiceConfig) -> BrokerConfig:
    return cast(BrokerConfig, config.mqtt)


def _socket_of(config: ServiceConfig) -> Path:
    return cast(OperatorConfig, config.operator).socket


class _Staff:
    """A supervisor at the table's socket."""

    def __init__(self, config: ServiceConfig, passing: _Secrets) -> None:
        self._door = _socket_of(config)
        self._by = {"name": _SUPERVISOR, "password": passing.password}

    async def state(self) -> dict[str, Any]:
        """The public table."""
        found: dict[str, Any] = (await asyncio.to_thread(ask, self._door, {"order": "status"}))["state"]
        return found

    async def give(self, order: dict[str, Any]) -> dict[str, Any]:
        """Give an order and return its answer."""
        return await asyncio.to_thread(ask, self._door, {**order, "by": self._by})


async def _supervise(config: ServiceConfig, staff: _Staff) -> None:
    """Sign on, change the shoe when it is over, and see to whatever stops play, as a supervisor would.

    Where every coup is opened by the dealer's order, the dealer says when the shoe is over.
    """
    while True:
        state = await staff.state()
        order = _order_for(state)
        if order == _CHANGE_SHOE and state["phase"] == "settled" and config.progressive is not None:
            order = None
        if order is not None:
            await staff.give(order)
        await asyncio.sleep(0.5)


def _order_for(state: dict[str, Any]) -> dict[str, Any] | None:
    if "needs_supervisor" in state["overlays"]:
        return {"order": "resume_play", "reason": "seen to, in the demo"}
    match state["phase"]:
        case "locked":
            return {"order": "sign_on"}
        case "closed" | "settled":
            return _CHANGE_SHOE
        case "reveal":
            return {"order": "reveal"}
        case _:
            return None


async def _key(args: argparse.Namespace, config: ServiceConfig, staff: _Staff) -> None:
    """Deal from a shoe that cannot read, key every card, and change the shoe when its cut card has come."""
    game = config.settings().game
    while True:
        state = await staff.state()
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
        await staff.give(order)


async def _tell(mqtt: BrokerConfig, game: Game, rounds: int | None) -> None:
    """Print each round as it comes over MQTT, and what the progressive does."""
    told, meter = 0, MeterTeller()
    side = [wager.name for wager in game.wagers if not wager.base]
    topic = Topics(mqtt.base, _TABLE)

    async def listen(connection: Connection) -> None:
        nonlocal told
        await connection.subscribe([topic(ROUND), topic(progressive("+"))])
        async for message in connection.messages():
            if "/progressive/" in message.topic:
                for line in meter.lines(json.loads(message.payload)):
                    print(line, flush=True)
            if message.topic != topic(ROUND):
                continue
            print(round_line(json.loads(message.payload)["round"], side), flush=True)
            told += 1
            if told == rounds:
                raise _EnoughError

    await Link(mqtt, Backoff(1, 1)).run(listen)


# --- ports


def _port_for(wanted: int) -> int:
    return wanted if wanted and _is_free(wanted) else _free_port()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
