"""The commands of the simulated devices: what is typed at them happens at the driver's end, and what is wrong is reported."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from punto.drivers.base import CardAnswer
from tests.command import punto
from tests.controller.table_on_a_machine import HERE
from tests.deadline import DEADLINE
from tests.drivers.benches import Bench, CardReaderBench, CoinSpotBench, going, until

PUNTO = [sys.executable, "-m", "punto"]


class Typed:
    """A running command with the driver at its line."""

    def __init__(self, process: asyncio.subprocess.Process, at: Bench) -> None:
        self.process: Any = process
        self.at = at
        self.user: Any = at.user

    def types(self, *lines: str) -> None:
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    async def says(self, line: str) -> None:
        assert (await self.process.stdout.readline()).decode() == f"{line}\n"

    async def replugs(self) -> None:
        self.types("unplug")
        await self.at.lost()
        self.types("plug")
        await until(lambda: self.at.driver.health().connected)

    async def ends(self) -> list[str]:
        """End its input, and so the program; what it says up to there."""
        self.process.stdin.close()
        said = (await self.process.stdout.read()).decode().splitlines()
        assert await self.process.wait() == 0
        return said  # type: ignore[no-any-return]


@asynccontextmanager
async def typing_at(command: str, at: Bench, *options: str) -> AsyncIterator[Typed]:
    process = await asyncio.create_subprocess_exec(
        *PUNTO, command, "--link", str(at.link), "--fault", "double=0.5", *options,
        cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    async with going(at.driver.run(at.user)):
        await until(lambda: at.driver.health().connected)
        yield Typed(process, at)


async def test_cards_are_swiped_by_typing(tmp_path):
    async with typing_at("card-reader", CardReaderBench(tmp_path)) as reader:
        reader.user.awaits = True
        await reader.says("a swipe is awaited")
        reader.types("garble")
        await reader.says("refused: the card could not be read: swipe it again")
        reader.user.answer = CardAnswer("second_factor", "give your password at the console")
        reader.types("swipe ;6000170042=2912?")
        await reader.says("second factor: give your password at the console")
        reader.user.awaits = False
        await reader.says("no swipe is awaited")
        await reader.replugs()
        reader.types("power")
        await until(lambda: reader.at.counters["restarts"] == 1)
        reader.user.answer = CardAnswer("refused", "no swipe is awaited")
        reader.types("swipe 6000170042")
        lines = await reader.ends()

    assert lines in (
        ["refused: no swipe is awaited"],
        ["swipe not taken: no host is connected: the reader takes no card"],
        ["refused: that swipe came too late: swipe the card again"],  # where the machine has much to do
    )
    assert reader.user.unread == 1
    assert reader.user.got[0] == "6000170042=2912"


async def test_a_round_is_played_by_typing(tmp_path):
    async with typing_at("coin-spot", CoinSpotBench(tmp_path), "--positions", "7") as chain:
        user = chain.user
        chain.types("put 1 3")
        await until(lambda: user.wagers == {1, 3})
        user.round = 815
        await until(lambda: user.rounds == {815: (1, 3)})
        chain.types("take 1", "put 2")
        await until(lambda: user.late == {2: 815})
        chain.types("missing 2", "doubled 3")
        await until(lambda: user.faults == {(2, "missing"), (3, "doubled")})
        chain.types("mend 2 3")
        await chain.replugs()
        await until(lambda: not user.faults)
        chain.types("power")
        await until(lambda: len(user.found) == 2)
        chain.types("stuck 3", "take 3")
        user.round = None
        await until(lambda: user.faults == {(3, "stuck")})
        lines = await chain.ends()

    assert {"round 815: 1 3", "lit: 1 3", "open"} <= set(lines)


def run(command: str, link: Path, typed: str) -> tuple[int, list[str]]:
    ran = subprocess.run(
        [*PUNTO, command, "--link", link],
        check=False, capture_output=True, text=True, cwd=HERE, input=typed, timeout=DEADLINE,
    )  # fmt: skip
    return ran.returncode, (ran.stdout + ran.stderr).splitlines()


@pytest.mark.parametrize(
    ("command", "option", "reported"),
    [
        ("keypad", "--fault=drop=often", "drop=often is not a number: write it such as drop=0.1"),
        ("keypad", "--fault=drop=2", "drop is a chance: it must be from 0 to 1"),
        ("keypad", "--fault=noise=-0.1", "noise is a chance: it must be from 0 to 1"),
        ("keypad", "--fault=delay=61", "delay is in seconds: it must be from 0 to 60"),
        (
            "card-reader",
            "--fault=drp=1",
            "there is no fault 'drp': write drop, double, noise, delay (did you mean drop?)",
        ),
        ("coin-spot", "--positions=16", "a chain has 1 to 15 positions, not 16"),
        ("coin-spot", "--positions=0", "a chain has 1 to 15 positions, not 0"),
    ],
)
def test_an_invalid_option_is_reported(tmp_path, command, option, reported):
    ran = punto(command, "--link", str(tmp_path / "link"), option)

    assert (ran.returncode, ran.stderr) == (1, f"punto {command}: {reported}\n")


def test_a_link_that_is_a_file_is_reported(tmp_path):
    link = tmp_path / "keypad"
    link.touch()
    ran = punto("keypad", "--link", str(link))

    assert ran.returncode == 1
    assert "exists and is not a symlink" in ran.stderr


SWIPE = "write swipe with a card's number, garble, unplug, plug or power"
COINS = "write put, take, stuck, missing, doubled or mend with positions, or unplug, plug or power"
NO_HOST = "swipe not taken: no host is connected: the reader takes no card"


@pytest.mark.parametrize(
    ("command", "typed", "said"),
    [
        (
            "keypad",
            ["f1 power plug", "F2 power"],
            [
                "f1 is not a key's name: write capitals, digits and _, or unplug, plug or power",
                "F2 forgotten: the power was off",
            ],
        ),
        (
            "card-reader",
            ["6000170042", "", "swipe", "swipe 1", f"swipe {'1' * 108}"],
            [SWIPE, SWIPE, NO_HOST, NO_HOST],  # a card's number is never repeated
        ),
        (
            "coin-spot",
            ["put", "", "put 8 x", "lift 3"],
            [
                f"put: {COINS}",
                "there is no position 8: write 1 to 7",
                "there is no position x: write 1 to 7",
                f"lift 3: {COINS}",
            ],
        ),
    ],
)
def test_an_invalid_line_is_reported_and_the_program_ends_with_its_input(tmp_path, command, typed, said):
    assert run(command, tmp_path / "link", typed="".join(f"{line}\n" for line in typed)) == (0, said)
