"""The POSIX build of the firmware, on a pseudo-terminal: real kills, and power that is cut at any byte that it writes."""

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from punto.simulators.shoe.shuffle import shuffled
from tests.firmware.build import built
from tests.firmware.mechanism import Mechanism
from tests.simulators.shoe.host import Host, Table


def shoes_of(*decks: int) -> list[list[str]]:
    """A shoe of so many decks each, as the virtual shoe shuffles them from the seed 1."""
    return [[card.value for card in shuffled("1", number, each)] for number, each in enumerate(decks, 1)]


async def deal(host: Host, done: Callable[[], object], trouble: Callable[[], None] = lambda: None) -> None:
    """Be the shoe's host until something is so; `trouble` is called again and again."""
    async with asyncio.timeout(600):
        while not done():
            try:
                host.step()
            except OSError:  # hung up in the middle of a read
                host.close()
            trouble()
            await asyncio.sleep(0.0005)


def check(host: Host, shoes: list[list[str]]) -> None:
    """Each card came once and in order, and no record is missing."""
    for number, dealt in enumerate(host.table.dealt):
        assert [card.value for card in dealt] == shoes[number % len(shoes)][: len(dealt)]
    assert [record.record for record in host.taken] == list(range(1, len(host.taken) + 1))


async def test_a_shoe_is_dealt_card_by_card_and_a_kill_loses_doubles_and_invents_none(tmp_path: Path):
    shoes = shoes_of(1)
    kills = {5, 30}
    table = Table()
    with Mechanism(built("shoe"), tmp_path / "shoe", shoes) as shoe:
        host = Host(tmp_path / "shoe", table)

        def trouble() -> None:
            if len(table.dealt[0]) in kills:
                kills.discard(len(table.dealt[0]))
                shoe.kill()
                shoe.start()

        await deal(host, lambda: table.over, trouble)
        host.close()

    assert shoe.starts == 3
    assert len(table.dealt[0]) > 38
    check(host, shoes)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
async def test_200_kills_at_any_moment_lose_double_and_invent_no_card(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    shoes = shoes_of(8, 8)
    looks = 0
    with Mechanism(built("shoe"), tmp_path / "shoe", shoes) as shoe:
        host = Host(tmp_path / "shoe", Table(shoes=99))

        def trouble() -> None:
            nonlocal looks
            looks -= 1
            if looks < 0:
                looks = chance.choice((chance.randrange(10), chance.randrange(150)))
                shoe.kill()
                shoe.start()

        await deal(host, lambda: shoe.starts > 200, trouble)
        cards, taken = sum(map(len, host.table.dealt)), host.expected
        await deal(host, lambda: host.expected > taken + 50)
        host.close()

    assert cards > 200
    check(host, shoes)


@pytest.mark.soak
@pytest.mark.disk
@pytest.mark.parametrize("seed", [1, 2])
async def test_200_losses_of_power_at_any_byte_lose_double_and_invent_no_card(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    shoes = shoes_of(8, 8)

    def life() -> str:
        # To erase a sector takes 4096 bytes, and the power must last for it once in a while.
        return str(chance.choice((chance.randrange(300), chance.randrange(9000))))

    with Mechanism(built("shoe"), tmp_path / "shoe", shoes, "--cut-after", life()) as shoe:
        host = Host(tmp_path / "shoe", Table(shoes=99))

        def trouble() -> None:
            if not shoe.running:
                shoe.wait_for_death()
                shoe.start("--cut-after", life() if shoe.starts < 200 else "-1")

        await deal(host, lambda: shoe.starts > 200, trouble)
        cards, taken = sum(map(len, host.table.dealt)), host.expected
        await deal(host, lambda: host.expected > taken + 50)
        host.close()

    assert cards > 1000
    check(host, shoes)


@pytest.mark.soak
async def test_the_sanitizers_find_nothing_in_a_shoe_on_a_noisy_line(tmp_path: Path):
    shoes = shoes_of(2)
    table = Table()
    chance = random.Random(1)
    with Mechanism(built("shoe-sanitized"), tmp_path / "shoe", shoes) as shoe:
        host = Host(tmp_path / "shoe", table)

        def trouble() -> None:
            assert shoe.running
            if chance.random() < 0.02 and host._fd >= 0:
                os.write(host._fd, chance.randbytes(chance.randrange(300)))

        await deal(host, lambda: table.over, trouble)
        host.close()

        assert shoe.running
    check(host, shoes)
    assert shoe.errors.read_text() == ""
