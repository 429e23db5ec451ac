"""Runs a virtual shoe on a bad line and a table: python examples/virtual_shoe.py [ROUNDS]. It needs no broker.

It uses the commands that a person types at a terminal. You can build a test bench from it.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import punto

PUNTO = [sys.executable, "-m", "punto"]
PASSWORD = "correct horse battery\n"
CONFIGURATION = """
version = 1
[table]
id = "bench"
name = "Test bench"
game = "dragon-bonus-1"
simulation = true
[shoe]
port = "shoe"
[record]
path = "table.db"
[accounts]
path = "operators.db"
[operator]
socket = "table.sock"
"""


def punto_(folder: Path, *arguments: str) -> None:
    """Run one command and wait for its end, with the password on its standard input."""
    subprocess.run([*PUNTO, *arguments], cwd=folder, input=PASSWORD, text=True, check=True)


def start(folder: Path, name: str, *arguments: str) -> "subprocess.Popen[Any]":
    """Start a command in the background, with its output in a file."""
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen([*PUNTO, *arguments], cwd=folder, stdout=log, stderr=log)


def main(wanted: int = 10) -> None:
    """Play at least `wanted` rounds, print them, and replay the record."""
    with tempfile.TemporaryDirectory(prefix="punto-") as name:
        folder = Path(name)
        record = folder / "table.db"
        (folder / "table.toml").write_text(CONFIGURATION, encoding="utf-8")
        punto_(folder, "operators", "--accounts", "operators.db", "add", "Mei", "--role", "supervisor")
        # noise before 20% of the frames, and 10% of them lost
        faults = ["--fault", "noise=0.2", "--fault", "lose=0.1"]
        shoe = start(folder, "shoe", "shoe", "--link", "shoe", "--seed", "bench", "--pace", "0.05", *faults)
        table = start(folder, "table", "run", "--config", "table.toml")
        try:
            for order in ("sign-on", "change-shoe"):
                punto_(folder, "operator", "--wait", "--config", "table.toml", "--as", "Mei", order)
            while sum(1 for _ in punto.rounds(record)) < wanted:
                time.sleep(0.1)
        finally:
            table.terminate()
            table.wait()
            shoe.terminate()
            shoe.wait()
        for _, _, played in punto.rounds(record):
            hands = " ".join(played.player), " ".join(played.banker)
            print(f"{played.round:>3}  {hands[0]:<8}  {hands[1]:<8}  {played.winner}")
        print("the replay finds", punto.replay(record).difference or "no difference")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
