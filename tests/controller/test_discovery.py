"""Home Assistant's discovery messages at a broker: they are retained, and taken back when discovery is turned off."""

from functools import partial

from punto.messages.discovery import announcements
from tests.controller.table_in_this_process import TOPIC, Table, connected, ear, eventually
from tests.controller.table_on_a_machine import Broker


def announced(table: Table, *, wanted: bool) -> dict[str, bytes]:
    return announcements(table.state, TOPIC, "homeassistant", wanted=wanted)


async def retained(broker: Broker) -> set[str]:
    """The topics that a new listener gets at once: all retained messages come before one that is published later."""
    async with ear(broker.port, "#") as listener:
        await listener.publish("marker", {})
        await eventually(lambda: "marker" in listener.names(), "the marker has come")
        return {name for name in listener.names() if name.startswith("homeassistant/")}


async def test_discovery_messages_are_retained_and_taken_back(here, mosquitto):
    sent = {where for where, payload in announced(here, wanted=True).items() if payload}
    async with ear(mosquitto.port, "homeassistant/#") as home_assistant:
        async with connected(here, mosquitto.port, announced=partial(announced, here, wanted=True)):
            await eventually(lambda: sent <= home_assistant.names(), "the entities are announced")
        assert await retained(mosquitto) == sent
        assert len(sent) == 8
        assert home_assistant.of(f"homeassistant/sensor/punto_{here.settings.table}/phase/config")[0][
            "options"
        ]

        async with connected(here, mosquitto.port, announced=partial(announced, here, wanted=False)):
            await eventually(
                lambda: all(home_assistant.of(where)[-1] == {} for where in sent), "they are taken back"
            )
        assert await retained(mosquitto) == set()
