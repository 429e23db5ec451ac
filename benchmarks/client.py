"""The MQTT client of the measurements: plain paho, as fast as it goes."""

import socket
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
