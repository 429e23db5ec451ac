"""A subscriber in a process of its own: notes arrival times until its standard input says enough."""

import json
import sys
import time

from benchmarks.client import listen


def main() -> None:
    """Subscribe to the topic, and print what arrived as [[time, payload], …] in the end."""
    arrived: list[tuple[float, bytes | bytearray]] = []
    listen(int(sys.argv[1]), sys.argv[2], lambda payload: arrived.append((time.monotonic(), payload)))
    sys.stdout.write(json.dumps([(at, json.loads(payload)) for at, payload in arrived]))


main()
