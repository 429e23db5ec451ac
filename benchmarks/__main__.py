"""`make bench`: every figure in one run, on this machine, beside what it is compared with.

`make bench PARTS=odds` measures one part; several can be named, and `floor` is all of a house with many tables.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import (
    boards,
    endurance,
    flood,
    house,
    latency,
    linked,
    many_tables,
    odds,
    pages,
    progressive,
    reports,
    signing,
    simulation,
    start,
    wagers,
)
from benchmarks.bench import Line, say

PARTS = {
    "latency": latency.measure,
    "signing": signing.measure,
    "wagers": wagers.measure,
    "endurance": endurance.measure,
    "start": start.measure,
    "odds": odds.measure,
    "simulation": simulation.measure,
    "pages": pages.measure,
    "boards": boards.measure,
    "progressive": progressive.measure,
    "linked": linked.measure,
    "house": house.measure,
    "reports": reports.measure,
    "flood": flood.measure,
    "many_tables": many_tables.measure,
}
GROUPS = {"floor": ["linked", "house", "reports", "many_tables"]}


def main() -> int:
    """Measure, print, and return 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join([*PARTS, *GROUPS])}; all if none is named"
    )
    named = parser.parse_args().parts or list(PARTS)
    parts = [part for each in named for part in GROUPS.get(each, [each])]
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}: name some of {', '.join([*PARTS, *GROUPS])}")
    lines: list[Line] = []
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="punto-bench-") as folder:
            measured = PARTS[part](Path(folder))
        for line in measured:
            holds = "holds" if line.holds else "DOES NOT HOLD"
            say(f"  {line.what:<26} {line.figure:<44} {line.bound:<16} {holds}")
        lines += measured
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
