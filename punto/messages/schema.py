"""The JSON Schemas and the AsyncAPI document, made from the program's own topics and models.

In the schemas of sent messages, every key is required, because the service always sends all keys. In those of
received messages, optional keys are marked, and unknown keys are refused. A consumer must ignore unknown keys.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from punto.messages.models import Message, Payload
from punto.messages.topics import CHANNELS, Channel
from punto.version import __version__

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "base": {
        "description": "the beginning of every topic, as configured; it may have several levels with / between them",
        "default": "punto",
    },
    "table": {"description": "the table's id, as configured", "examples": ["table-1"]},
    "device": {"description": "the device", "examples": ["shoe", "keypad", "coin_spot", "card_reader"]},
    "progressive": {"description": "the progressive's id, as configured", "examples": ["dragon"]},
    "client": {
        "description": "the name of the broker's user that sends the request. The limit of requests applies to each user separately",
        "examples": ["game-manager", "table-1-seat-3"],
    },
    "linked": {"description": "the id of a table that shares the meter", "examples": ["table-2"]},
    "seat": {"description": "the seat's number, counted from 1", "examples": ["1", "7"]},
}

EXAMPLES: Final = "examples.json"
"""The file with messages of a played table, written by `make examples`."""

MESSAGES: Final = tuple(dict.fromkeys(model for channel in CHANNELS for model in channel.messages))
"""The payload of every channel."""


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, but every key of a sent message is required, because the service always sends it."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        return self.mode == "serialization" or super().field_is_required(field, total)


@cache
def examples() -> dict[str, list[dict[str, Any]]]:
    """Examples of each message, by its name, from a played table."""
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (files("punto.messages") / EXAMPLES).read_text(encoding="utf-8")
    )
    return found


def json_schemas() -> dict[str, dict[str, Any]]:
    """The complete JSON Schema (draft 2020-12) of each payload, by file name."""
    return {
        file_of(model): {
            "$schema": DIALECT,
            **_tidy(model.model_json_schema(mode=_mode(model), schema_generator=_Generator)),
            "examples": examples()[model.__name__],
        }
        for model in MESSAGES
    }


def file_of(model: type[Payload]) -> str:
    """The file name of a payload's schema."""
    return f"{_kebab(model.__name__)}.json"


def asyncapi() -> dict[str, Any]:
    """The AsyncAPI 3.0 document, from the service's point of view."""
    _, definitions = models_json_schema(
        [(model, _mode(model)) for model in MESSAGES],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Generator,
    )
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Punto",
            "version": __version__,
            "description": (
                "The MQTT interface of one baccarat table. A consumer recognises a repeated message by its `id` and a lost "
                "one by its `seq`. State is retained, events are not: on each connection, the service sends `availability` "
                "and then every retained message. There are no orders over MQTT."
            ),
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "broker": {
                "host": "{host}:{port}",
                "protocol": "mqtt",
                "protocolVersion": "3.1.1",
                "description": "the table's broker",
                "variables": {"host": {"default": "127.0.0.1"}, "port": {"default": "1883"}},
            }
        },
        "channels": {channel.id: _channel(channel) for channel in CHANNELS},
        "operations": {f"{channel.direction}_{channel.id}": _operation(channel) for channel in CHANNELS},
        "components": {
            "messages": {model.__name__: _message(model) for model in MESSAGES},
            "parameters": PARAMETERS,
            "schemas": _tidy(definitions["$defs"]),
        },
    }


def _mode(model: type[Payload]) -> Literal["serialization", "validation"]:
    return "serialization" if issubclass(model, Message) else "validation"


def _channel(channel: Channel) -> dict[str, Any]:
    address = f"{{base}}/{{table}}/{channel.name}"
    return {
        "address": address,
        "description": channel.about,
        "messages": {
            model.__name__: {"$ref": f"#/components/messages/{model.__name__}"} for model in channel.messages
        },
        "parameters": {
            name: {"$ref": f"#/components/parameters/{name}"}
            for name in PARAMETERS
            if f"{{{name}}}" in address
        },
    }


def _operation(channel: Channel) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "action": channel.direction,
        "channel": {"$ref": f"#/channels/{channel.id}"},
        "messages": _messages_of(channel),
        "bindings": {"mqtt": {"qos": 1, "retain": channel.retained, "bindingVersion": "0.2.0"}},
    }
    if channel.answered_on is not None:
        (answer,) = (each for each in CHANNELS if each.name == channel.answered_on)
        operation["reply"] = {
            "channel": {"$ref": f"#/channels/{answer.id}"},
            "messages": _messages_of(answer),
        }
    return operation


def _messages_of(channel: Channel) -> list[dict[str, str]]:
    return [{"$ref": f"#/channels/{channel.id}/messages/{model.__name__}"} for model in channel.messages]


def _message(model: type[Payload]) -> dict[str, Any]:
    return {
        "name": model.__name__,
        "title": _kebab(model.__name__).replace("-", " ").capitalize(),
        "contentType": "application/json",
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
        "examples": [{"payload": example} for example in examples()[model.__name__]],
    }


def _tidy(schema: Any) -> Any:
    """The schema for readers who do not know Python: descriptions on one line, without `Raises`.

    `discriminator` is removed too: it belongs to OpenAPI, and each alternative already has a constant `kind`.
    """
    if isinstance(schema, list):
        return [_tidy(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {key: _tidy(value) for key, value in schema.items() if key != "discriminator"}
    if isinstance(tidy.get("description"), str):
        paragraphs = tidy["description"].partition("\n\nRaises:")[0].split("\n\n")
        tidy["description"] = "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
    return tidy


def _kebab(name: str) -> str:
    """`WagerRequest` as `wager-request`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).removeprefix("-")
