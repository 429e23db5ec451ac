"""A subscriber that counts a table's cards and gaps, however many there are, until its standard input says enough."""

import json
import sys
from collections import Counter

from benchmarks.client import listen


def main() -> None:
    """Subscribe to the topic of events, and print the counts in the end."""
    counts: Counter[str] = Counter(card_dealt=0, burn_card_turned=0, gaps=0)
    last = 0

    def take(payload: bytes | bytearray) -> None:
        nonlocal last
        event = json.loads(payload)
        counts[event["happening"]["kind"]] += 1
        counts["gaps"] += last > 0 and event["seq"] != last + 1
        last = event["seq"]

    listen(int(sys.argv[1]), sys.argv[2], take)
    sys.stdout.write(json.dumps(counts))


main()
