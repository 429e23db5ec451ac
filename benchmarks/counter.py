"""A subscriber that counts a table's cards and gaps, however many there are, until its standard input says enough."""

import json
import sys
import time
from collections import Counter
from typing import Any

import paho.mqtt.client as mqtt

from benchmarks.client import connected


def main() -> None:
    """Subscribe to the topic of events, say "ready", and print the counts in the end."""
    port, topic = int(sys.argv[1]), sys.argv[2]
    counts: Counter[str] = Counter(card_dealt=0, burn_card_turned=0, gaps=0)
    last = 0
    client = connected(port)

    def on_message(_client: Any, _userdata: Any, message: mqtt.MQTTMessage) -> None:
        nonlocal last
        event = json.loads(message.payload)
        counts[event["happening"]["kind"]] += 1
        counts["gaps"] += last > 0 and event["seq"] != last + 1
        last = event["seq"]

    def on_subscribe(*_: Any) -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    client.on_message = on_message
    client.on_subscribe = on_subscribe
    client.subscribe(topic, qos=1)
    client.loop_start()
    sys.stdin.readline()
    time.sleep(0.5)
    client.loop_stop()
    sys.stdout.write(json.dumps(counts))


main()
