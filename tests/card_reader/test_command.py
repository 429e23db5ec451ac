"""`punto card-reader` as it is typed at, with the driver at its line."""

import asyncio
import subprocess
import sys
from pathlib import Path

from punto.drivers.base import BAUD, CardAnswer
from punto.drivers.card_reader.serial_line import SerialCardReader
from tests.drivers.benches import CardReaderUser, until

HERE = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "punto", "card-reader"]


def run_card_reader(*options: str, typed: str = "") -> tuple[int, str]:
    ran = subprocess.run(
        [*COMMAND, *options], check=False, capture_output=True, text=True, cwd=HERE, input=typed, timeout=60
    )
    return ran.returncode, ran.stdout + ran.stderr


async def test_an_award_by_typing(tmp_path):
    link = tmp_path / "card-reader"
    reader = await asyncio.create_subprocess_exec(
        *COMMAND, "--link", str(link), "--fault", "double=0.5",
        cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert reader.stdin is not None
    assert reader.stdout is not None
    typed, said = reader.stdin, reader.stdout
    user = CardReaderUser()
    driver = SerialCardReader(str(link), BAUD)
    task = asyncio.create_task(driver.run(user))
    await until(lambda: driver.health().connected)

    user.awaits = True
    assert await said.readline() == b"a swipe is awaited\n"
    typed.write(b"garble\n")
    assert await said.readline() == b"refused: the card could not be read: swipe it again\n"
    user.answer = CardAnswer("second_factor", "give your password at the console")
    typed.write(b"swipe ;6000170042=2912?\n")
    assert await said.readline() == b"second factor: give your password at the console\n"
    user.awaits = False
    assert await said.readline() == b"no swipe is awaited\n"
    typed.write(b"unplug\n")
    await until(lambda: not driver.health().connected)
    typed.write(b"plug\n")
    await until(lambda: driver.health().connected)
    typed.write(b"power\n")
    await until(lambda: driver.health().counters["restarts"] == 1)
    user.answer = CardAnswer("refused", "no swipe is awaited")
    typed.write(b"swipe 6000170042\n")
    typed.close()
    lines = (await said.read()).decode().splitlines()

    task.cancel()
    await asyncio.wait([task])
    assert await reader.wait() == 0
    assert lines in (
        ["refused: no swipe is awaited"],
        ["swipe not taken: no host is connected: the reader takes no card"],
        ["refused: that swipe came too late: swipe the card again"],  # where the machine has much to do
    )
    assert user.unread == 1
    assert user.got[0] == "6000170042=2912"


def test_an_option_that_cannot_be_is_told(tmp_path):
    link = str(tmp_path / "card-reader")

    assert run_card_reader("--link", link, "--fault", "drp=1") == (
        1,
        "punto card-reader: there is no fault 'drp': write drop, double, noise, delay (did you mean drop?)\n",
    )


def test_what_is_typed_wrong_is_told_without_saying_it_and_the_program_ends_with_its_input(tmp_path):
    status, said = run_card_reader(
        "--link", str(tmp_path / "card-reader"), typed=f"6000170042\n\nswipe\nswipe 1\nswipe {'1' * 108}\n"
    )

    write = "write swipe with a card's number, garble, unplug, plug or power"
    assert status == 0
    assert said.splitlines() == [
        write,
        write,
        "swipe not taken: no host is connected: the reader takes no card",
        "swipe not taken: no host is connected: the reader takes no card",
    ]
