"""The edges of a service on a machine: its log, what the public hears, how it stops, and what it loads."""

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from punto.baccarat.cards import Card
from punto.controller.config.file import load_config
from punto.simulators.shoe.shuffle import shuffled
from tests.controller.table_in_this_process import (
    HERE,
)
from tests.controller.table_on_a_machine import (
    TABLE,
    Broker,
    Dealt,
    Listener,
    Program,
    Shoe,
    expected_rounds,
    rounds,
    wait_until,
)
from tests.controller.table_on_a_machine import Table as Service
from tests.controller.test_live_edge import EDGE, edges, exact
from tests.share import soaked

SEED = "a count"
ALARM = '[edge]\nalarm = "1%"\n'
ONE_DECK_SHOE = expected_rounds(SEED, 1, decks=1)


def counted(folder: Path, broker: Broker | None, sections: str = f"restricted = true\n{ALARM}") -> Service:
    """A table of one deck, which is soon counted; each coup but the first waits for an order."""
    own = (HERE / "configs" / "games" / "dragon-bonus-1.toml").read_text(encoding="utf-8")
    (folder / "own.toml").write_text(own.replace("decks = 8", "decks = 1"), encoding="utf-8")
    service = Service(folder, broker, settings='next_coup = "order"', sections=sections)
    written = service.config.read_text()
    service.config.write_text(written.replace('"dragon-bonus-1"', '"own.toml"'))
    return service


def seen_by(dealt: Sequence[Dealt]) -> list[Card]:
    """The cards that have left the first shoe of the seed when these rounds are over, the burn included."""
    order = shuffled(SEED, 1, 1)
    burned = order[0].points or 10
    return order[: 1 + burned + sum(len(f"{each.player} {each.banker}".split()) for each in dealt)]


def processes_of(service: Program) -> list[psutil.Process]:
    """The service's process and those that it has begun."""
    itself = psutil.Process(service.process.pid)
    return [itself, *itself.children(recursive=True)]


def alive(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for each in processes:
        with suppress(psutil.NoSuchProcess):  # it may end between the two questions
            if each.is_running() and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
    return found


def is_valued(listener: Listener, number: int) -> None:
    """Wait for the edges after this round."""
    wait_until(lambda: (listener.last(EDGE) or {}).get("round") == number, f"the edges after round {number}")


@dataclass(frozen=True)
class Evening:
    """A shoe of one deck, and then the service was stopped."""

    heard: Listener
    service: Service
    status: int
    processes: list[psutil.Process]

    def said(self, event: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.service.said() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]


@pytest.fixture(scope="module")
def evening(tmp_path_factory) -> Iterator[Evening]:
    folder = tmp_path_factory.mktemp("evening")
    broker = Broker(folder)
    service = counted(folder, broker)
    shoe = Shoe(service.port, "--seed", SEED, "--decks", "1")
    with broker, Listener(folder, broker.port) as listener, service, shoe:
        service.begin_shoe()
        for number in range(1, len(ONE_DECK_SHOE)):
            is_valued(listener, number)
            service.order("open_betting")
        wait_until(lambda: len(rounds(service.record)) == len(ONE_DECK_SHOE), "the shoe is over")
        processes = processes_of(service)
        yield Evening(listener, service, service.stop(), processes)


def test_the_alarms_are_in_the_log(evening):
    game = load_config(evening.service.config).game
    told = evening.said("wager favours the players")

    assert told
    for line in told:
        advantage = -exact(game, seen_by(ONE_DECK_SHOE[: line["round"]]))[line["wager"]]
        assert (line["level"], line["shoe"], line["advantage"]) == ("warning", 1, advantage)
        assert advantage > 0.01


def test_the_public_receives_nothing_of_the_edges(evening):
    public = [message for message in evening.heard.heard() if f"{TABLE}/restricted/" not in message.topic]
    values = {value for message in evening.heard.heard(EDGE) for value in edges(message.payload).values()}
    alarms = [message.payload["happening"] for message in public if message.topic.endswith("/event")]

    assert {message.topic.removeprefix(f"punto/{TABLE}/") for message in public} == {
        *("availability", "devices/shoe", "info", "health", "state", "scoreboard", "meters", "event", "round")
    }
    assert values
    assert not any(str(value) in json.dumps(message.payload) for message in public for value in values)
    assert not any(each["kind"] == "alarm_raised" for each in alarms)


def test_a_stop_leaves_no_process_and_no_noise(evening):
    assert evening.status == 0
    assert len(evening.processes) >= 2
    wait_until(lambda: not alive(evening.processes), "every process of the service has ended")
    assert [line for line in evening.service.said() if not line.startswith("{")] == []
    assert evening.said("edge worker died") == []


@pytest.fixture
def playing(tmp_path: Path) -> Iterator[tuple[Service, Listener]]:
    """A shoe whose first coup has been valued, and the next waits."""
    broker = Broker(tmp_path)
    service = counted(tmp_path, broker)
    shoe = Shoe(service.port, "--seed", SEED, "--decks", "1")
    with broker, Listener(tmp_path, broker.port) as listener, service, shoe:
        service.begin_shoe()
        is_valued(listener, 1)
        yield service, listener


@pytest.mark.parametrize("number", [signal.SIGTERM, *soaked(signal.SIGINT)])
@pytest.mark.soak
def test_a_stop_that_every_process_receives_is_as_quiet(number, playing):
    """As systemd tells it, and Ctrl-C."""
    service, listener = playing
    processes = processes_of(service)
    for each in processes[1:]:
        each.send_signal(number)
    service.order("open_betting")
    is_valued(listener, 2)

    assert service.stop(number) == 0
    wait_until(lambda: not alive(processes), "every process of the service has ended")
    assert "edge worker died" not in "".join(service.said())
    assert "Traceback" not in "".join(service.said())


def test_a_stop_does_not_wait_for_a_worker_that_hangs(playing):
    service, _ = playing
    processes = processes_of(service)
    (working,) = [each for each in processes if "spawn_main" in " ".join(each.cmdline())]
    working.suspend()
    service.order("open_betting")
    wait_until(lambda: len(rounds(service.record)) == 2, "a coup that is to be valued")

    assert service.stop() == 0
    wait_until(lambda: not alive(processes), "every process of the service has ended")


def test_a_worker_does_not_outlive_a_service_that_is_killed(playing):
    service, _ = playing
    processes = processes_of(service)
    assert len(processes) >= 2
    service.kill()

    wait_until(lambda: not alive(processes), "every process of the service has ended")


LOADED = (
    "import sys; from punto.commands.cli import main\n"
    "main(sys.argv[1:])\n"
    "print('loaded', *sys.modules, file=sys.stderr, flush=True)"
)


@pytest.mark.parametrize(
    "sections",
    [
        pytest.param("", id="without"),
        pytest.param(f"restricted = true\n{ALARM}", id="with", marks=pytest.mark.soak),
    ],
)
def test_the_service_never_loads_the_mathematics(sections, tmp_path):
    broker = Broker(tmp_path)
    set_up = counted(tmp_path, broker, sections)
    service = Program(set_up.log, sys.executable, "-c", LOADED, "run", "--config", set_up.config)
    shoe = Shoe(set_up.port, "--seed", SEED, "--decks", "1")
    with broker, Listener(tmp_path, broker.port) as listener, service, shoe:
        wait_until(set_up.up, "the service takes orders")
        set_up.begin_shoe()
        wanted = EDGE if sections else "round"
        wait_until(lambda: listener.last(wanted), wanted)
        service.stop()
    (loaded,) = [line.split() for line in service.said() if line.startswith("loaded ")]

    assert "punto.controller.supervisor" in loaded
    assert {name.partition(".")[0] for name in loaded}.isdisjoint({"numpy", "numba", "matplotlib"})
