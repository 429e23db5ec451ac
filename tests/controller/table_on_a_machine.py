"""A table as it stands on a machine: Mosquitto, `punto run`, `punto shoe`, who listens and who wagers, and the record.

Each is the real program in a process of its own, started, killed and asked as a person would do it. What must come out
is computed here from the shoe's seed by the rules alone.

    broker = Broker(folder)
    table = Table(folder, broker)
    with broker, table, Shoe(table.port, "--seed", "7") as shoe, Listener(folder, broker.port) as listener:
        table.begin_shoe()
        wait_until(lambda: len(rounds(table.record)) == 10, "ten rounds")
        assert rounds(table.record) == expected_rounds("7", 1)[:10]
"""

import json
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.commands.operator import ask
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.simulators.shoe.shuffle import shuffled
from tests import cheap
from tests.command import punto
from tests.deadline import DEADLINE, pauses
from tests.ports import free_port, listeners, takes_connections
from tests.started import Started

HERE = Path(__file__).parents[2]
TABLE = "table-1"


def wait_until(so: Callable[[], object], what: str, seconds: float = DEADLINE) -> None:
    """Wait for something that becomes true.

    Raises:
        TimeoutError: it did not, in so many seconds.
    """
    for pause in pauses(seconds):
        if so():
            return
        time.sleep(pause)
    raise TimeoutError(f"after {seconds:g} s still not so: {what}")


class Program:
    """A program in a process of its own; what it says goes to a file, each start after the one before."""

    def __init__(self, log: Path, *command: str | Path) -> None:
        self.log = log
        self.log.touch()
        self._command = command
        self.environment: dict[str, str] = {}
        """What is added to the environment of this process."""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        ended = None if self._process is None else self._process.poll()
        self.kill()
        if error is not None:
            how = "" if ended is None else f", of a program that had ended with {ended},"
            error.add_note(
                "\n".join([f"{self.log.name}{how} ends with:", *(line[:300] for line in self.said()[-20:])])
            )

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started last."""
        assert self._process is not None, "it was never started"
        return self._process

    @property
    def running(self) -> bool:
        """Whether it runs now."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it; what it takes until it is ready is another matter."""
        assert not self.running, f"{self._command} runs already"
        with self.log.open("ab") as log:
            environment = {**os.environ, **self.environment}
            self._process = Started(self._command, cwd=HERE, env=environment, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it without a warning, as a power cut would, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit status."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)

    def said(self) -> list[str]:
        """What it has said so far, over all its starts."""
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()


_NO_SUBSCRIBER = "RC:16"
"""What mosquitto_pub says of a message that the broker could give to nobody."""


class Broker(Program):
    """Mosquitto on a port of the loopback, set up as in production but for its passwords.

    It keeps nothing on disk: a start after a kill is that of a broker that has lost its memory.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        self._config.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
            "max_queued_messages 100000\nmax_inflight_messages 20\nlog_type error\nlog_type warning\n"
        )
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        assert program, "these tests need Mosquitto: tools/install-system-packages installs it"
        super().__init__(folder / "mosquitto.log", program, "-c", self._config)

    def start(self) -> None:
        """Start it and wait until each of its listeners takes connections; one that ends instead is an error."""
        super().start()
        ports = listeners(self._config)
        wait_until(
            lambda: takes_connections(*ports) or not self.running, "all ports of Mosquitto take connections"
        )
        assert self.running, f"Mosquitto ended with {self.process.returncode}: {self.said()[-10:]}"

    def publish(self, topic: str, payload: dict[str, Any] | str) -> None:
        """Publish with mosquitto_pub, as somebody else's program would, until the broker has a subscriber for it.

        A service takes orders before its subscriptions are there, and what comes to nobody is lost.
        """
        text = payload if isinstance(payload, str) else json.dumps(payload)
        command = [
            "mosquitto_pub",
            "-p",
            str(self.port),
            "-V",
            "mqttv5",
            "-d",
            "-q",
            "1",
            "-t",
            topic,
            "-m",
            text,
        ]

        def heard() -> bool:
            said = subprocess.run(
                command, check=True, timeout=DEADLINE, capture_output=True, text=True
            ).stdout
            return "PUBACK" in said and _NO_SUBSCRIBER not in said

        wait_until(heard, f"somebody listens to {topic}")

    def forget(self, topic: str) -> None:
        """Lose the retained message of a topic, as a node of a cluster may."""
        command = ["mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", topic, "-r", "-n"]
        subprocess.run(command, check=True, timeout=DEADLINE)


STAFF = {"name": pwd.getpwuid(os.getuid()).pw_name, "password": "correct horse battery"}
"""The account that gives the tests' orders at the socket: of every role at a table, with the user's own name."""


# At next to no cost: signing is not what these tests are about.
HASH = cheap.HASHER.hash(STAFF["password"])


def employ(path: Path) -> None:
    """Give `STAFF` an account in this file."""
    with closing(Accounts.open(path)) as accounts:
        if accounts.find(STAFF["name"]) is None:
            roles = [Role.DEALER, Role.SUPERVISOR, Role.EXECUTIVE]
            now = "2026-03-14T21:05:09.000000+00:00"
            accounts.add(STAFF["name"], roles, STAFF["password"], now, hash_=HASH)


class Table(Program):
    """A `punto run` with its record and its operators' door. `port` is where it looks for the shoe.

    `settings` is added to `[table]`, `sections` to the end of the configuration, `options` to the command; without a
    broker nothing is published.
    """

    def __init__(
        self,
        folder: Path,
        broker: Broker | None,
        settings: str = "",
        sections: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        self._options = options
        self.program: tuple[str, ...] = ("punto",)
        """The module that is run, with its own arguments; another one calls `punto` after it has changed it."""
        self.port = folder / "shoe"
        self.record = folder / "table.db"
        self.door = folder / "operator.sock"
        self.config = folder / "table.toml"
        self.config.write_text(
            f'version = 1\n[table]\nid = "{TABLE}"\nname = "Baccarat 1"\ngame = "dragon-bonus-1"\nsimulation = true\n{settings}\n'
            f'[shoe]\nport = "{self.port}"\n[record]\npath = "{self.record}"\n'
            f'[accounts]\npath = "{folder / "operators.db"}"\n[operator]\nsocket = "{self.door}"\n'
            + (f"[mqtt]\nport = {broker.port}\n" if broker else "")
            + sections
        )
        employ(folder / "operators.db")
        super().__init__(folder / "table.log")

    def start(self, *, slow_disk: bool = False) -> None:
        """Start it and wait until it takes orders."""
        self.begin_to_start(slow_disk=slow_disk)
        self.wait_until_up()

    def begin_to_start(self, *, slow_disk: bool = False) -> None:
        """Start it, and do not wait for it; on a slow disk a kill finds commits half done."""
        program = ("tests.controller.on_a_slow_disk",) if slow_disk else self.program
        self._command = (sys.executable, "-m", *program, "run", "--config", self.config, *self._options)
        super().start()

    def wait_until_up(self) -> None:
        """Wait until it takes orders; one that ends instead is an error."""
        wait_until(lambda: self.up() or not self.running, "the service takes orders")
        assert self.running, f"the service ended with {self.process.returncode}: {self.said()[-10:]}"

    def up(self) -> bool:
        """Whether it takes orders now."""
        try:
            return bool(ask(self.door, {"order": "status"})["accepted"])
        except OSError:
            return False

    def ask(self, **request: Any) -> dict[str, Any]:
        """Give an order or ask for the `status`, and return the answer."""
        by = {} if request.get("order") == "status" else {"by": STAFF}
        return ask(self.door, {**by, **request})

    def order(self, order: str, **fields: Any) -> None:
        """Give an order, which must be accepted."""
        answer = self.ask(order=order, **fields)
        assert answer["accepted"], (order, answer["reason"])

    def status(self) -> dict[str, Any]:
        """The public state of the table, as of now."""
        state: dict[str, Any] = self.ask(order="status")["state"]
        return state

    def begin_shoe(self) -> None:
        """Sign on if nobody has, and change the shoe: it deals from then on."""
        if self.status()["phase"] == "locked":
            self.order("sign_on")
        self.order("change_shoe")


class Shoe(Program):
    """A `punto shoe` at the end of `link`; its memory lies beside that. `options` are the command's.

    Another one on the same link, after this one has ended, is the same shoe with other options.
    """

    def __init__(self, link: Path, *options: str | Path) -> None:
        self.link = link
        super().__init__(
            link.with_name("shoe.log"), sys.executable, "-m", "punto", "shoe", "--link", link, *options
        )

    def start(self) -> None:
        """Start it and wait until its line is there."""
        before = len(self.link_lines())
        super().start()
        wait_until(lambda: len(self.link_lines()) > before or not self.running, "the shoe has its link")
        assert self.running, f"the shoe ended with {self.process.returncode}: {self.said()[-10:]}"

    def kill(self) -> None:
        """End it without a warning, if it runs, and its link with it, as udev does with a device that goes.

        A link left behind would soon lead to another shoe: a pseudo-terminal's number is given out again at once.
        """
        was_there = self.running
        super().kill()
        if was_there:
            self.link.unlink(missing_ok=True)

    def link_lines(self) -> list[str]:
        """What it said each time that its line was there."""
        return [line for line in self.said() if f" is at {self.link}" in line]


# --- who listens


@dataclass(frozen=True, slots=True)
class Heard:
    """One message, as mosquitto_sub showed it."""

    topic: str
    payload: dict[str, Any]


SUBSCRIBED = "Subscribed (mid: 1): 1"
OF_DEBUG = ("Client ", "Subscribed ")
"""What mosquitto_sub says of itself, beside the messages."""


class Listener(Program):
    """`mosquitto_sub -v` on everything of the base, connected the whole time."""

    def __init__(self, folder: Path, port: int, topic: str = "punto/#", name: str = "listener") -> None:
        # `stdbuf`, because mosquitto_sub says that it is subscribed with -d alone, and keeps that in its buffer.
        command = ("stdbuf", "-oL", "mosquitto_sub", "-d", "-p", str(port), "-q", "1", "-v", "-t", topic)
        super().__init__(folder / f"{name}.txt", *command)
        self._heard: list[Heard] = []
        self._read = 0

    def start(self) -> None:
        """Start it and wait until the broker has its subscription, because what is published earlier is not heard."""
        before = self.said().count(SUBSCRIBED)
        super().start()
        wait_until(lambda: self.said().count(SUBSCRIBED) > before or not self.running, "it is subscribed")
        assert self.running, f"mosquitto_sub ended with {self.process.returncode}: {self.said()[-10:]}"

    def heard(self, name: str | None = None) -> list[Heard]:
        """Every message so far, in order; with `name` only those of this topic of the table."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        new = new[: new.rfind(b"\n") + 1]  # it may be in the middle of a line
        self._read += len(new)
        self._heard += [_heard(line) for line in new.decode().splitlines() if not line.startswith(OF_DEBUG)]
        topic = f"punto/{TABLE}/{name}"
        return [message for message in self._heard if name is None or message.topic == topic]

    def last(self, name: str) -> dict[str, Any] | None:
        """The last message of a topic of the table, None before the first."""
        found = self.heard(name)
        return found[-1].payload if found else None


def _heard(line: str) -> Heard:
    topic, _, payload = line.partition(" ")
    return Heard(topic, json.loads(payload))


# --- the record


def _rows(record: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True, timeout=DEADLINE)) as database:
        return database.execute(query).fetchall()


def inputs(record: Path, *kinds: str) -> list[dict[str, Any]]:
    """Every input on the record in order, or those of these kinds."""
    events = [json.loads(payload) for (payload,) in _rows(record, "SELECT payload FROM inputs ORDER BY seq")]
    return [event for event in events if not kinds or event["kind"] in kinds]


def shoe_records(record: Path) -> list[int]:
    """The shoe's own number of each input that is a record of the shoe, in the order in which they were recorded."""
    # `records_lost` and others have no record of their own.
    return [event["record"] for event in inputs(record) if "record" in event]


def cards(record: Path) -> list[str]:
    """Every card that the shoe told of, in the order on the record."""
    return [event["card"] for event in inputs(record, "card_drawn", "card_overdrawn")]


@dataclass(frozen=True, slots=True)
class Dealt:
    """A round by its cards: which of which shoe, and what either hand got, the cards with a space between."""

    shoe: int
    coup: int
    player: str
    banker: str


def rounds(record: Path) -> list[Dealt]:
    """Every round on the record, in order; none before there is a record."""
    if not record.exists():
        return []
    return [
        Dealt(*row) for row in _rows(record, "SELECT shoe, coup, player, banker FROM rounds ORDER BY round")
    ]


def round_records(record: Path) -> list[dict[str, Any]]:
    """Every round on the record, whole, in order."""
    return [json.loads(whole) for (whole,) in _rows(record, "SELECT record FROM rounds ORDER BY round")]


def settlements(record: Path) -> dict[tuple[int, int, str], int]:
    """What was staked, by round, seat and wager."""
    return {(round_, seat, wager): stake for round_, seat, wager, stake in _rows(record, _STAKES)}


_STAKES = "SELECT round, seat, wager, stake FROM settlements"


def replayed(record: Path, *options: str) -> tuple[int, str]:
    """Exit status and output of `punto replay`."""
    done = punto("replay", str(record), *options)
    return done.returncode, done.stdout + done.stderr


# --- what must come out


def expected_rounds(seed: str, shoe: int, decks: int = 8, cut: int = 14) -> list[Dealt]:
    """Every round of a shoe, by the rules: the first card burns by its value, and the cut card ends the shoe.

    It has come when `cut` cards are left: in a coup, that one is finished and one more is dealt; before a coup's
    first card, that one is the last.
    """
    order = shuffled(seed, shoe, decks)
    at = 1 + _burned(order[0])
    found: list[Dealt] = []
    last = None
    while last is None or len(found) < last:
        if len(order) - at == cut:
            last = len(found) + 1
        coup = Coup()
        while not coup.over:
            if coup.cards and last is None and len(order) - at == cut:
                last = len(found) + 2
            coup = coup.with_card(order[at])
            at += 1
        found.append(Dealt(shoe, len(found) + 1, " ".join(coup.player), " ".join(coup.banker)))
    return found


def expected_cards(seed: str, shoe: int, decks: int = 8, cut: int = 14) -> list[str]:
    """Every card that leaves a shoe until its last round is over, the burned ones included."""
    order = shuffled(seed, shoe, decks)
    dealt = sum(
        len(each.player.split()) + len(each.banker.split())
        for each in expected_rounds(seed, shoe, decks, cut)
    )
    return [str(card) for card in order[: 1 + _burned(order[0]) + dealt]]


def _burned(first: Card) -> int:
    return first.points or 10  # ace one, ten and faces ten


def in_first_order(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages in the order in which each was first seen; a repeat must be the same to the last letter."""
    first: dict[str, dict[str, Any]] = {}
    for message in messages:
        assert first.setdefault(message["id"], message) == message, f"{message['id']} came in two versions"
    return list(first.values())
