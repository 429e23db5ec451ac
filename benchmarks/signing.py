"""What signed heads cost the path of a card: a table with a signer beside one without."""

import os
import sys
from pathlib import Path

from benchmarks.bench import Line, mosquitto, say
from benchmarks.latency import Table, alternate, compared
from tests.controller.table_on_a_machine import Program, wait_until

SAMPLES = 6000


def measure(folder: Path) -> list[Line]:
    """From a frame to a message, with and without a signer, in milliseconds."""
    door = folder / "signer.sock"
    files = ("--key", folder / "key", "--signed", folder / "signed.db", "--socket", door)
    own = f"signed={os.getuid()}"
    signer = Program(
        folder / "signer.log", sys.executable, "-m", "punto", "signer", *map(str, files), "--table", own
    )
    with mosquitto(folder) as broker, signer:
        wait_until(door.exists, "the signer is there")
        signed, plain = (
            Table(folder / "signed", broker, "signed", door),
            Table(folder / "plain", broker, "plain"),
        )
        alternate([signed, plain], SAMPLES)
        ours, base = signed.finish(), plain.finish()
    say(
        f"From a frame on the pseudo-terminal to a message in another process, {SAMPLES} cards each, in alternating"
    )
    say(
        "blocks: a table whose heads a signer signs every ten seconds, and which publishes them, and a table without.\n"
    )
    return [
        compared("a card with signing, p50", ours, "without", base, 50, 1.1),
        compared("a card with signing, p99", ours, "without", base, 99, 1.25),
    ]
