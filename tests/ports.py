"""Ports of the loopback that no other test gets, in whatever process or checkout it runs."""

import fcntl
import itertools
import os
import random
import socket
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

FIRST: Final = 10_000
BLOCK: Final = 200
BLOCKS: Final = 110
"""Up to 32,000: above it, Linux gives ports to connections, and one of them may come between a choice and its use."""
_UNSAFE: Final = 10_080
"""The only one of these at which Chromium opens no page: see its list of restricted ports."""


def free_port() -> int:
    """A port that nobody has. Only this process gets it, until it has had so many others that its tests are over."""
    for number in itertools.islice(_numbers(), BLOCK):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", number))
            except OSError:
                continue
            return number
    raise RuntimeError(f"each of {BLOCK} ports is in use")


def free_ports(number: int) -> int:
    """The first of so many free ports with consecutive numbers."""
    found = [free_port()]
    while len(found) < number:
        following = free_port()
        found = [*found, following] if following == found[-1] + 1 else [following]
    return found[0]


def takes_connections(*ports: int, address: str = "127.0.0.1") -> bool:
    """Whether programs take connections at all of these ports."""
    return all(_takes_connections(port, address) for port in ports)


def _takes_connections(port: int, address: str) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((address, port)) == 0


def listeners(config: Path) -> list[int]:
    """The ports of all listeners in a configuration of Mosquitto, with those in the folders that it includes."""
    found = []
    for line in config.read_text(encoding="utf-8").splitlines():
        match line.split():
            case ["listener", port, *_]:
                found.append(int(port))
            case ["include_dir", folder]:
                found += [port for each in sorted(Path(folder).glob("*.conf")) for port in listeners(each)]
    return found


@cache
def _numbers() -> "itertools.cycle[int]":
    """The numbers of a block that this process has locked until it ends."""
    folder = Path(os.environ.get("PUNTO_TESTS_DISK", tempfile.gettempdir())) / "punto-ports"
    folder.mkdir(exist_ok=True)
    for block in random.sample(range(BLOCKS), BLOCKS):
        lock = os.open(folder / str(block), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        begin = FIRST + block * BLOCK
        return itertools.cycle(each for each in range(begin, begin + BLOCK) if each != _UNSAFE)
    raise RuntimeError(f"all blocks of ports in {folder} are taken")
