"""`python -m tests.soak`: real processes with real faults, until each kind of fault has struck often enough.

Each evening is a new house with the next seed. Evenings are added up in a file, so a run that was stopped is continued; an evening
counts only if all its checks passed.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from tests.simulated.mutations import MUTATIONS
from tests.soak.evening import Evening, play
from tests.soak.faults import WANTED
from tests.soak.house import missing, own_mounts
from tests.soak.shim import compiled, preload

OPTIONS = {
    "kills": "kill -9",
    "broker-kills": "broker killed",
    "cables": "cable pulled",
    "full-disks": "full disk",
    "fsync-errors": "fsync error",
}
FILE = Path("build/soak.jsonl")


def main() -> int:
    """Play evenings; 1 if one of them found something wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.splitlines()[0])
    for option, kind in OPTIONS.items():
        parser.add_argument(
            f"--{option}", type=int, default=WANTED[kind], dest=kind, metavar="N", help=f"how often: {kind}"
        )
    parser.add_argument("--hours", type=float, help="play for so long, however many faults strike")
    parser.add_argument("--minutes", type=float, default=5, help="the length of an evening (default: 5)")
    parser.add_argument(
        "--seed", type=int, help="the seed of the first evening (default: after those of the file)"
    )
    parser.add_argument(
        "--file", type=Path, default=FILE, help=f"where evenings are added up (default: {FILE})"
    )
    parser.add_argument(
        "--mutation",
        choices=[*MUTATIONS],
        metavar="MISTAKE",
        help="make this mistake of tests/simulated/mutations.py in all services",
    )
    parser.add_argument("--table", action="store_true", help="print the table of the file, and play nothing")
    asked = parser.parse_args()
    wanted = WANTED | {kind: getattr(asked, kind) for kind in OPTIONS.values()}
    if asked.table:
        print(table(evenings(asked.file)))
        return 0
    if absent := missing():
        print(f"a soak needs {', '.join(absent)}", file=sys.stderr)
        return 2
    os.nice(5)
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # of the dealers, in this process
    for number in (signal.SIGINT, signal.SIGTERM):  # the house is cleared away
        signal.signal(number, lambda *_: sys.exit(1))
    own_mounts()
    with tempfile.TemporaryDirectory() as folder:
        preload(compiled(Path(folder)), asked.mutation or "")
        return soak(asked, wanted)


def soak(asked: argparse.Namespace, wanted: Mapping[str, int]) -> int:
    """Play evenings until enough has struck, or the hours are over."""
    end = None if asked.hours is None else time.monotonic() + 3600 * asked.hours
    before = evenings(asked.file)
    seed = asked.seed or 1 + max((each["seed"] for each in before), default=0)
    while True:
        struck = sum_of(evenings(asked.file), "struck")
        left = Counter(
            {kind: number - struck[kind] for kind, number in wanted.items() if number > struck[kind]}
        )
        if end is not None:
            left = Counter({kind: 1000 * number for kind, number in wanted.items()})
        if not left or (end is not None and time.monotonic() > end):
            print(table(evenings(asked.file)))
            return 0
        evening = play(seed, left, 60 * asked.minutes)
        print(line(evening), flush=True)
        if evening.wrong is not None:
            return 1
        add(asked.file, evening)
        seed += 1


def line(evening: Evening) -> str:
    """An evening for people."""
    struck = ", ".join(f"{kind} {number}" for kind, number in sorted(evening.struck.items()))
    known = f"seed {evening.seed}: {evening.seconds:.0f} s, {evening.figures['rounds']} rounds; {struck}"
    return known if evening.wrong is None else f"{known}\nWRONG: {evening.wrong}"


def add(file: Path, evening: Evening) -> None:
    """Add an evening whose checks passed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    row = {
        "seed": evening.seed,
        "seconds": evening.seconds,
        "struck": evening.struck,
        "figures": evening.figures,
    }
    with file.open("a", encoding="utf-8") as evenings_:
        evenings_.write(json.dumps(row) + "\n")


def evenings(file: Path) -> list[dict[str, Any]]:
    """The evenings of a file."""
    if not file.exists():
        return []
    return [json.loads(each) for each in file.read_text(encoding="utf-8").splitlines()]


def sum_of(rows: list[dict[str, Any]], what: str) -> Counter[str]:
    """The sum of the evenings."""
    found: Counter[str] = Counter()
    for row in rows:
        found.update(row[what])
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """All evenings, as in docs/explanation/reliability.md."""
    struck, figures = sum_of(rows, "struck"), sum_of(rows, "figures")
    hours = sum(row["seconds"] for row in rows) / 3600
    return "\n".join(
        [
            f"{len(rows)} evenings, {hours:.1f} hours",
            "",
            "| Fault | Struck |\n|---|---|",
            *(f"| {kind} | {struck[kind]:,} |" for kind in {**WANTED, **struck}),
            "",
            "| Counted | |\n|---|---|",
            *(f"| {name} | {number:,} |" for name, number in sorted(figures.items())),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
