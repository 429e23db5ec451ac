"""Holds discovery messages against Home Assistant's own schemas: it reads them by their topics from standard input.

It runs in an environment with `homeassistant`, and so imports nothing of Punto.
"""

import asyncio
import json
import sys
import tempfile
from importlib import import_module
from typing import Any


async def held(messages: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The messages that a schema refuses, each with the reason, and the keys that it leaves out of the others.

    A newer Home Assistant reads templates in the event loop of an instance alone.
    """
    import_module("homeassistant.core").HomeAssistant(tempfile.gettempdir())
    refused, left_out = {}, {}
    for topic, message in messages.items():
        component = import_module(f"homeassistant.components.mqtt.{topic.split('/')[1]}")
        try:
            taken = component.DISCOVERY_SCHEMA(message)
        except Exception as error:  # noqa: BLE001 - its library is another one in each generation of Home Assistant
            refused[topic] = str(error)
        else:
            left_out[topic] = sorted(message.keys() - taken.keys())
    return {"refused": refused, "left_out": left_out}


json.dump(asyncio.run(held(json.load(sys.stdin))), sys.stdout)
