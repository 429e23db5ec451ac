"""The MQTT client of the measurements: plain paho, as fast as it goes."""

import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion


def connected(port: int) -> mqtt.Client:
    """A client of the broker at this port, without TCP's delay, its loop not yet begun."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.on_socket_open = _without_delay
    client.connect("127.0.0.1", port)
    return client


def _without_delay(_client: mqtt.Client, _userdata: Any, connection: Any) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def ready() -> None:
    """Tell the process that waits for this one."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def listen(port: int, topic: str, take: Callable[[bytes | bytearray], None]) -> None:
    """Subscribe to the topic, say "ready", and take each payload until the standard input says enough."""
    client = connected(port)
    client.on_message = lambda _client, _userdata, message: take(message.payload)
    client.on_subscribe = lambda *_: ready()
    client.subscribe(topic, qos=1)
    client.loop_start()
    sys.stdin.readline()
    time.sleep(0.5)
    client.loop_stop()
