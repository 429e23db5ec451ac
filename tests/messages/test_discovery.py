"""Home Assistant's discovery messages: as its own schema wants them, and with templates that read the table's real messages.

The keys are those of Home Assistant 2026.11.0: `DISCOVERY_SCHEMA` in homeassistant/components/mqtt/sensor.py and binary_sensor.py,
`MQTT_ENTITY_COMMON_SCHEMA` in schemas.py, and the topic in discovery.py beside them; `object_id` is of older ones. An unknown key
would be left out in silence.
"""

import json
import re
import subprocess
from typing import Any

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from punto.baccarat.table import progressive
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TableState
from punto.configs.game_files import load_game
from punto.controller.config.file import load_config
from punto.messages.discovery import announcements
from punto.messages.topics import Topics
from tests.controller.table_in_this_process import HERE
from tests.deadline import DEADLINE

HOME_ASSISTANT = HERE / ".venv-home-assistant/bin/python"
EXAMPLES = json.loads((HERE / "punto/messages/examples.json").read_text(encoding="utf-8"))
MESSAGES = {"state": "State", "health": "Health", "progressive": "Progressive"}
TOPIC = re.compile(r"homeassistant/(sensor|binary_sensor)/[a-zA-Z0-9_-]+/[a-zA-Z0-9_-]+/config")
COMMON = {
    *("availability", "device", "origin", "entity_category", "default_entity_id", "unique_id", "name"),
    "object_id",
    *("state_topic", "value_template", "expire_after", "device_class"),
}
OWN = {
    "sensor": {"options", "state_class", "suggested_display_precision", "unit_of_measurement"},
    "binary_sensor": {"off_delay", "payload_off", "payload_on"},
}
CLASSES = {"sensor": {"enum", "monetary"}, "binary_sensor": {"connectivity", "problem"}}


@pytest.fixture(scope="module")
def messages() -> dict[str, Any]:
    """The announcements of a table with a progressive."""
    settings = load_config(HERE / "configs" / "progressive-table.toml").settings()
    state = TableState(settings=settings, progressive=progressive.new(settings))
    topic = Topics("punto", state.settings.table)
    found = announcements(state, topic, "homeassistant", wanted=True)
    return {where: json.loads(payload) for where, payload in found.items()}


def test_each_message_has_a_topic_and_keys_that_home_assistant_knows(messages):
    for where, message in messages.items():
        matched = TOPIC.fullmatch(where)
        assert matched, where
        component = matched[1]
        assert message.keys() <= COMMON | OWN[component], where
        assert message["default_entity_id"] == f"{component}.{message['object_id']}"
        assert {"unique_id", "state_topic", "value_template", "device", "availability"} <= message.keys()
        assert message.get("device_class") in {None, *CLASSES[component]}
        assert message["device"].keys() <= {"identifiers", "name", "manufacturer", "model", "sw_version"}
        assert message["origin"].keys() <= {"name", "sw_version", "support_url"}
    assert len({message["unique_id"] for message in messages.values()}) == len(messages) == 9


@pytest.mark.soak
@pytest.mark.skipif(
    not HOME_ASSISTANT.exists(), reason="Home Assistant is not here: run `make .venv-home-assistant/.ready`"
)
def test_home_assistant_takes_each_message_and_refuses_a_wrong_one(messages):
    phase = messages["homeassistant/sensor/punto_table-1/phase/config"]
    faults: dict[str, dict[str, Any]] = {
        "no topic": {"state_topic": None},
        "a topic with a wildcard inside": {"state_topic": "punto/table+/state"},
        "an unknown class": {"device_class": "baccarat"},
        "a time in words": {"expire_after": "soon"},
        "half a template": {"value_template": "{{ value_json.phase"},
        "an unknown category": {"entity_category": "gaming"},
        "an unknown key of the device": {"device": {**phase["device"], "table": "1"}},
        "a device without an identifier": {"device": {"name": "Baccarat 1"}},
        "an origin without a name": {"origin": {}},
        "an availability without a topic": {"availability": [{}]},
    }
    wrong = {f"homeassistant/sensor/wrong/{name}": {**phase, **fault} for name, fault in faults.items()}
    misspelt = {"homeassistant/sensor/misspelt/phase/config": {**phase, "expires_after": 10}}
    ran = subprocess.run(
        [HOME_ASSISTANT, HERE / "tests/messages/home_assistant.py"],
        input=json.dumps({**messages, **wrong, **misspelt}),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    found = json.loads(ran.stdout)

    assert found["refused"].keys() == wrong.keys(), found["refused"]
    left_out = {key for where in messages for key in found["left_out"][where]}
    assert left_out in ({"object_id"}, {"default_entity_id", "options"}), "the second of 2024"
    assert "expires_after" in found["left_out"][next(iter(misspelt))]


def rendered(template: str, payload: dict[str, Any]) -> str:
    """What Home Assistant makes of a payload."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    return environment.from_string(template).render(value_json=payload)


def test_each_template_reads_every_real_message(messages):
    for message in messages.values():
        name = message["state_topic"].split("/")[2]
        assert EXAMPLES[MESSAGES[name]]
        for payload in EXAMPLES[MESSAGES[name]]:
            value = rendered(message["value_template"], payload)
            if "options" in message:
                assert value in message["options"]
            elif message.get("device_class") == "monetary":
                assert float(value) == payload["meter"] / 100
            elif message["object_id"].endswith(("shoe", "call", "needs_supervisor")):
                assert value in {"ON", "OFF"}
    for payload in EXAMPLES["Availability"]:
        template = messages["homeassistant/sensor/punto_table-1/phase/config"]["availability"][0][
            "value_template"
        ]
        assert rendered(template, payload) in {"online", "offline"}, "Home Assistant's own words"


def test_the_words_of_alarms_follow_the_state(messages):
    def value(name: str, **changed: Any) -> str:
        (template,) = (
            message["value_template"]
            for message in messages.values()
            if message["object_id"].endswith(f"_{name}")
        )
        return rendered(template, {**EXAMPLES["State"][0], **changed})

    assert [value("call", calls=calls) for calls in ([], [{"number": 1, "text": "a chip fell"}])] == [
        "OFF",
        "ON",
    ]
    overlays: tuple[list[str], ...] = ([], ["needs_supervisor"])
    assert [value("needs_supervisor", overlays=each) for each in overlays] == ["OFF", "ON"]
    notices: tuple[list[dict[str, str]], ...] = (
        [],
        [{"code": "misread", "text": ""}, {"code": "shoe_error", "text": ""}],
    )
    assert [value("notices", notices=each) for each in notices] == ["none", "misread, shoe_error"]


def test_a_table_without_a_meter_takes_its_entity_back_and_without_discovery_all_are():
    state = TableState(
        settings=Settings(table="table-1", name="Baccarat 1", game=load_game("dragon-bonus-1"))
    )
    topic = Topics("punto", "table-1")
    wanted = announcements(state, topic, "homeassistant", wanted=True)
    empty = [where for where, payload in wanted.items() if not payload]
    assert empty == ["homeassistant/sensor/punto_table-1/meter/config"]

    taken_back = announcements(state, topic, "homeassistant", wanted=False)
    assert taken_back.keys() == wanted.keys()
    assert set(taken_back.values()) == {b""}
