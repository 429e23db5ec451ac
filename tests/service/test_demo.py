"""`punto demo`: a whole table on one machine, which ends when it is told to and leaves no noise."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from controller.journal.recovery import replay
from controller.table.settings import Settings
from controller.wagers.settlement import PlacedWager, check_wagers
from simulators.players import Players, PlayersOptions
from tests.service.table_in_this_process import HERE, rows, settings

QUICK = ("--pace", "0.01", "--between", "0.1", "--port", "0")


@contextmanager
def demo(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "controller", "demo", *QUICK, *arguments]
    with subprocess.Popen(
        command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def rounds_of(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("shoe 1 round ")]


@pytest.mark.parametrize("game", ["midi-baccarat", "canberra", "canberra-high-limit"])
def test_it_deals_as_many_rounds_as_were_asked_for(tmp_path, game):
    with demo("--rounds", "3", "--game", game, "--dir", tmp_path) as process:
        said, noise = process.communicate(timeout=30)

    assert (process.returncode, noise) == (0, "")
    assert len(rounds_of(said)) == 3
    assert said.endswith("The demo has ended.\n")
    assert replay(tmp_path / "table.db").difference is None
    assert rows(tmp_path / "table.db", "SELECT count(*) FROM inputs WHERE source LIKE 'mqtt seat%'") != [(0,)]


def test_the_same_seed_deals_the_same_cards_again():
    with ExitStack() as two:
        demos = [two.enter_context(demo("--rounds", "3", "--seed", "5")) for _ in range(2)]
        said = [process.communicate(timeout=30) for process in demos]

    assert [process.returncode for process in demos] == [0, 0]
    assert [noise for _, noise in said] == ["", ""]
    hands = [[line[: line.index(" wagers")][:75] for line in rounds_of(out)] for out, _ in said]
    assert hands[0] == hands[1]
    assert len(hands[0]) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("rounds_first", [0, 2])
def test_it_ends_soon_when_told_to_and_leaves_no_noise(number, rounds_first):
    with demo() as process:
        assert process.stdout is not None
        dealt = 0
        for line in process.stdout:
            dealt += line.startswith("shoe 1 round ")
            if (line.startswith("Ctrl-C") and not rounds_first) or dealt > rounds_first:
                break
        begun = time.monotonic()
        process.send_signal(number)
        said, noise = process.communicate(timeout=10)

    assert time.monotonic() - begun < 5
    assert (process.returncode, noise) == (0, "")
    assert said.endswith("The demo has ended.\n")


def test_it_can_be_stopped_while_it_starts():
    for after in (0.4, 0.8):
        with demo() as process:
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            _, noise = process.communicate(timeout=10)

        assert process.returncode in {0, 130, -signal.SIGINT}
        assert "never retrieved" not in noise


def test_what_cannot_be_played_is_said():
    with demo("--game", "pontoon") as process:
        _, noise = process.communicate(timeout=10)

    assert process.returncode == 2
    assert "pontoon" in noise
    assert "Traceback" not in noise


def test_it_goes_on_with_the_record_that_it_kept(tmp_path):
    for so_far in (2, 4):
        with demo("--rounds", "2", "--dir", tmp_path) as process:
            said, noise = process.communicate(timeout=30)

        assert (process.returncode, noise) == (0, "")
        assert rows(tmp_path / "table.db", "SELECT max(round) FROM rounds")[0][0] >= so_far
        assert len(rounds_of(said)) == 2


# --- the players


def limits_of(own: Settings) -> list[dict[str, Any]]:
    return [
        {
            "wager": wager.name,
            "minimum": wager.limits.minimum,
            "maximum": wager.limits.maximum,
            "step": wager.limits.step,
        }
        for wager in own.game.wagers
    ]


@pytest.mark.parametrize(
    ("minimum", "maximum", "step"),
    [
        (1, None, 1),
        (500, 50_000, 500),
        (2500, 500_000, 100),
        (30_000, None, 700),
        (50_000, 50_000, 50_000),
        (7, 13, 3),
    ],
)
def test_players_wager_what_the_table_takes(minimum, maximum, step):
    own = settings("canberra")
    players = Players(PlayersOptions(host="", port=0, base="punto", table="t", seats=(1,), seed=3))
    on_offer = [{**each, "minimum": minimum, "maximum": maximum, "step": step} for each in limits_of(own)]
    for _ in range(300):
        for wager in players._choose(on_offer):
            amount = wager["amount"]

            assert minimum <= amount <= (maximum or amount)
            assert amount % step == 0


def test_players_wagers_stand_together():
    for name in ("dragon-bonus-1", "canberra"):
        own = settings(name)
        players = Players(PlayersOptions(host="", port=0, base="punto", table="t", seats=(1,), seed=3))
        for _ in range(300):
            placed: list[PlacedWager] = []
            for wager in players._choose(limits_of(own)):
                placed.append(PlacedWager(1, wager["wager"], wager["amount"]))
                check_wagers(own.game, placed)
