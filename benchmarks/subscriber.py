"""A subscriber in a process of its own: notes arrival times until its standard input says enough."""

import json
import sys
import time
from typing import Any

import paho.mqtt.client as mqtt

from benchmarks.client import connected


def main() -> None:
    """Subscribe to the topic, say "ready", and print what arrived as [[time, payload], …] in the end."""
    port, topic = int(sys.argv[1]), sys.argv[2]
    arrived: list[tuple[float, bytes | bytearray]] = []
    client = connected(port)

    def on_message(_client: Any, _userdata: Any, message: mqtt.MQTTMessage) -> None:
        arrived.append((time.monotonic(), message.payload))

    def on_subscribe(*_: Any) -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    client.on_message = on_message
    client.on_subscribe = on_subscribe
    client.subscribe(topic, qos=1)
    client.loop_start()
    sys.stdin.readline()
    time.sleep(0.3)
    client.loop_stop()
    sys.stdout.write(json.dumps([(at, json.loads(payload)) for at, payload in arrived]))


main()
