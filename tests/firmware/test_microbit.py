"""The firmware as instructions of a Cortex-M0, on a board that QEMU simulates: its flash memory outlives each reset of the processor."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import pytest

from tests.controller.table_on_a_machine import inputs, replayed
from tests.firmware.build import built
from tests.firmware.test_at_a_table import SealedService
from tests.firmware.test_program import deal
from tests.simulators.shoe.host import Host, Table
from tests.stranger.test_with_the_real_driver import serving

pytestmark = pytest.mark.soak
CUT_CARD_EVERY, CUT_CARD_AT = 60, 40


def card(position: int) -> str:
    """The card of this position, as microbit/board.c deals it."""
    return "A23456789TJQK"[position * 5 % 13] + "SHDC"[position * 3 % 4]


class Microbit:
    """The board in QEMU; `path` is the host's end of its line."""

    def __init__(self, image: Path) -> None:
        command: list[str | Path] = [
            "qemu-system-arm",
            "-M",
            "microbit",
            "-display",
            "none",
            "-kernel",
            image,
        ]
        self._process = subprocess.Popen(
            [*command, "-serial", "pty", "-monitor", "stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        lines = iter(self._process.stdout.readline, "")
        self.path = next(found[0] for line in lines if (found := re.search(r"/dev/pts/\d+", line)))

    def reset(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("system_reset\n")
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def board(request) -> Iterator[Microbit]:
    """The board, with a key if the test asks for it."""
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("it needs qemu-system-arm: ./tools/install-system-packages firmware installs it")
    board = Microbit(built(getattr(request, "param", "microbit.elf"), "arm-none-eabi-gcc"))
    yield board
    board.close()


def cards_in_order(number: int) -> list[str]:
    positions = (each for each in count(1) if each % CUT_CARD_EVERY != CUT_CARD_AT)
    return [card(position) for position in islice(positions, number)]


async def test_a_cortex_m0_deals_whole_shoes_and_a_reset_loses_doubles_and_invents_no_card(board):
    table = Table(shoes=4)
    host = Host(board.path, table)
    resets = {10, 33, 61, 62, 100, 130}

    def trouble() -> None:
        if host.expected in resets:
            resets.discard(host.expected)
            board.reset()

    await deal(host, lambda: table.over, trouble)
    host.close()
    dealt = [each.value for shoe in table.dealt for each in shoe]

    assert dealt == cards_in_order(len(dealt))
    assert len(dealt) > 150
    assert not resets
    assert len(host.hellos) > 6
    assert [record.record for record in host.taken] == list(range(1, len(host.taken) + 1))


@pytest.mark.disk
@pytest.mark.parametrize("board", ["microbit-sealed.elf"], indirect=True)
def test_a_cortex_m0_with_a_key_deals_to_a_real_table_and_a_reset_changes_nothing(tmp_path, board):
    (tmp_path / "shoe").symlink_to(board.path)
    with serving(SealedService(tmp_path)) as service:
        for cards in (20, 66):
            service.order("change_shoe")
            service.until(lambda _, cards=cards: len(inputs(service.record, "card_drawn")) > cards)  # type: ignore[misc]
            board.reset()
            service.until_the_phase_is("settled")
        service.stop()
    dealt = [each["card"] for each in inputs(service.record, "card_drawn")]

    assert len(dealt) > 80
    assert dealt == cards_in_order(len(dealt))
    assert len(inputs(service.record, "shoe_hello")) > 2
    assert replayed(service.record)[0] == 0
