"""`python -m tests.fuzz`: fuzz the program, keep what reaches more of it, and print the faults."""

import argparse
import sys
from random import Random

import structlog

from tests.fuzz.fuzzer import Fuzzer, keep
from tests.fuzz.targets import TARGETS

FOUND = 1


def main() -> int:
    """Fuzz each target for its part of the time; 1 if there is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument(
        "targets", nargs="*", help=f"what to fuzz: all of {', '.join(TARGETS)} if none is named"
    )
    parser.add_argument("--minutes", type=float, default=10, help="of all targets together")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run as far as its time allows")
    parser.add_argument("--keep", action="store_true", help="add inputs that reach new lines to the corpus")
    given = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    names = given.targets or list(TARGETS)
    status = 0
    for name in names:
        fuzzer = Fuzzer(name, TARGETS[name], Random(given.seed))
        fuzzer.begin()
        new = fuzzer.fuzz(seconds=60 * given.minutes / len(names))
        for data in new if given.keep else []:
            keep(name, data)
        print(
            f"{name}: {fuzzer.executions:,} executions, {len(new)} inputs reach new lines, {len(fuzzer.found)} faults"
        )
        for place, fault in fuzzer.found.items():
            status = FOUND
            print(f"  {fault}\n  {place}\n  kept as {keep(name, fault.data)}")
        sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
