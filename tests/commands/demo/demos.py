"""Demos: in this process where it is only asked what they say and leave, else in one of their own.

To start a process and import all that a demo needs takes more than to play some rounds.
"""

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import structlog

from tests.command import punto
from tests.controller.table_in_this_process import HERE
from tests.started import Started

QUICK = ("--pace", "0.01", "--between", "0.1", "--port", "0", "--console-port", "0")
UNHURRIED = ("--between", "0.5")  # players come to their wagers on a busy machine too


def played(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A demo that ends by itself, in this process; what it sets for the whole process is taken back."""
    try:
        return punto("demo", *QUICK, *map(str, arguments))
    finally:
        logging.disable(logging.NOTSET)
        structlog.reset_defaults()


@contextmanager
def started(
    command: list[str], folder: Path = HERE, path: str = os.environ["PATH"]
) -> Iterator[subprocess.Popen[str]]:
    with Started(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def demo(*arguments: str | Path) -> AbstractContextManager[subprocess.Popen[str]]:
    return started([sys.executable, "-m", "punto", "demo", *QUICK, *map(str, arguments)])


def opened(process: subprocess.Popen[str]) -> str:
    """All that it says before the first round."""
    assert process.stdout is not None
    said = "".join(iter(process.stdout.readline, "Ctrl-C ends it.\n"))
    assert process.stdout.readline() == "\n"
    return said


def consoles_of(said: str) -> list[tuple[int, str]]:
    """The port of each table's consoles, and the password."""
    return [
        (int(port), word) for port, word in re.findall(r"  consoles +\S+:(\d+)/ as .* password (\S+)", said)
    ]


def rounds_of(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("shoe 1 round ")]
