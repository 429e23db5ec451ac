"""`punto coin-spot` as it is typed at, with the driver at its line."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from punto.drivers.base import BAUD
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from tests.drivers.benches import STUCK_SECONDS, CoinSpotUser, until

HERE = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "punto", "coin-spot"]


def run_coin_spot(*options: str, typed: str = "") -> tuple[int, str]:
    ran = subprocess.run(
        [*COMMAND, *options], check=False, capture_output=True, text=True, cwd=HERE, input=typed, timeout=60
    )
    return ran.returncode, ran.stdout + ran.stderr


async def test_a_round_by_typing(tmp_path):
    link = tmp_path / "coin-spot"
    chain = await asyncio.create_subprocess_exec(
        *COMMAND, "--link", str(link), "--positions", "3", "--fault", "double=0.5",
        cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert chain.stdin is not None
    assert chain.stdout is not None
    typed, said = chain.stdin, chain.stdout
    user = CoinSpotUser()
    driver = SerialCoinSpot(str(link), BAUD, Seats.of([(1, 1), (2, 2), (3, 3)], 7), STUCK_SECONDS)
    task = asyncio.create_task(driver.run(user))
    await until(lambda: driver.health().connected)

    typed.write(b"put 1 3\n")
    await until(lambda: user.wagers == {1, 3})
    user.round = 815
    await until(lambda: user.rounds == {815: (1, 3)})
    typed.write(b"take 1\nput 2\n")
    await until(lambda: user.late == {2: 815})
    typed.write(b"missing 2\ndoubled 3\n")
    await until(lambda: user.faults == {(2, "missing"), (3, "doubled")})
    typed.write(b"mend 2 3\nunplug\n")
    await until(lambda: not driver.health().connected)
    typed.write(b"plug\n")
    await until(lambda: driver.health().connected and not user.faults)
    typed.write(b"power\n")
    await until(lambda: len(user.found) == 2)
    typed.write(b"stuck 3\ntake 3\n")
    user.round = None
    await until(lambda: user.faults == {(3, "stuck")})
    typed.close()
    lines = (await said.read()).decode().splitlines()

    task.cancel()
    await asyncio.wait([task])
    assert await chain.wait() == 0
    assert "round 815: 1 3" in lines
    assert "lit: 1 3" in lines
    assert "open" in lines


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--fault", "drp=1"],
            "there is no fault 'drp': write drop, double, noise, delay (did you mean drop?)",
        ),
        (["--positions", "16"], "a chain has 1 to 15 positions, not 16"),
    ],
)
def test_an_option_that_cannot_be_is_told(tmp_path, options, told):
    assert run_coin_spot("--link", str(tmp_path / "chain"), *options) == (1, f"punto coin-spot: {told}\n")


def test_what_is_typed_wrong_is_told_and_the_program_ends_with_its_input(tmp_path):
    status, said = run_coin_spot("--link", str(tmp_path / "chain"), typed="put\n\nput 8 x\nlift 3\n")

    write = "write put, take, stuck, missing, doubled or mend with positions, or unplug, plug or power"
    assert status == 0
    assert said.splitlines() == [
        f"put: {write}",
        "there is no position 8: write 1 to 7",
        "there is no position x: write 1 to 7",
        f"lift 3: {write}",
    ]
