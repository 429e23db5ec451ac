"""What Home Assistant needs to show a table by itself: its discovery messages, one for each entity.

They only say in which of the table's public messages a value is. Home Assistant finds them below its prefix, and forgets an entity
when its message is replaced by an empty one: https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
"""

import json
from typing import Any, Final, Literal, NamedTuple

from punto.baccarat.currency import decimals_of
from punto.baccarat.table.state import Phase, TableState
from punto.messages import topics
from punto.version import __version__

_STATE_SECONDS: Final = 10
"""The state comes every second. Without it, an entity is unavailable, because a retained state can be old."""
_HEALTH_SECONDS: Final = 60


class _Entity(NamedTuple):
    """An entity: its component, its name, the value in its message as a template, and keys that only this entity has."""

    component: Literal["sensor", "binary_sensor"]
    name: str
    value: str
    more: dict[str, Any] = {}  # noqa: RUF012 - it is only read
    topic: str = topics.STATE
    expires: int = _STATE_SECONDS


def _either(condition: str) -> str:
    return f"{{{{ 'ON' if {condition} else 'OFF' }}}}"


_ENTITIES: Final = {
    "phase": _Entity(
        "sensor",
        "Phase",
        "{{ value_json.phase }}",
        {"device_class": "enum", "options": [each.value for each in Phase]},
    ),
    "round": _Entity("sensor", "Round", "{{ value_json.round }}"),
    "shoe": _Entity(
        "binary_sensor", "Shoe", _either("value_json.shoe.online"), {"device_class": "connectivity"}
    ),
    "cards_left": _Entity("sensor", "Cards left", "{{ value_json.shoe.cards_left }}"),
    "call": _Entity(
        "binary_sensor", "Call for a supervisor", _either("value_json.calls"), {"device_class": "problem"}
    ),
    "needs_supervisor": _Entity(
        "binary_sensor",
        "Play waits for a supervisor",
        _either("'needs_supervisor' in value_json.overlays"),
        {"device_class": "problem"},
    ),
    "notices": _Entity(
        "sensor",
        "Notices",
        "{{ value_json.notices | map(attribute='code') | join(', ') or 'none' }}",
    ),
    "rounds_waiting": _Entity(
        "sensor",
        "Rounds that wait for the broker",
        "{{ value_json.rounds_waiting }}",
        {"entity_category": "diagnostic"},
        topics.HEALTH,
        _HEALTH_SECONDS,
    ),
}


def _meter(state: TableState) -> _Entity | None:
    if state.progressive is None:
        return None
    currency = state.settings.currency
    return _Entity(
        "sensor",
        "Meter",
        f"{{{{ value_json.meter / {10 ** decimals_of(currency)} }}}}",
        {
            "device_class": "monetary",
            "unit_of_measurement": currency,
            "suggested_display_precision": decimals_of(currency),
        },
        topics.progressive(state.progressive.books.settings.progressive),
    )


def announcements(state: TableState, topic: topics.Topics, prefix: str, *, wanted: bool) -> dict[str, bytes]:
    """The retained messages by their topics. An empty one takes an entity back: each, or those that this table does not have."""
    settings = state.settings
    node = f"punto_{settings.table}"
    of_all = {
        "availability": [{"topic": topic(topics.AVAILABILITY), "value_template": "{{ value_json.state }}"}],
        "device": {
            "identifiers": [node],
            "name": settings.title,
            "manufacturer": "Punto",
            "model": settings.game.title,
            "sw_version": __version__,
        },
        "origin": {"name": "Punto", "sw_version": __version__},
    }
    found: dict[str, bytes] = {}
    for name, entity in {**_ENTITIES, "meter": _meter(state)}.items():
        component = "sensor" if entity is None else entity.component
        keys: dict[str, Any] = {}
        if entity is not None and wanted:
            keys = {
                "unique_id": f"{node}_{name}",
                "default_entity_id": f"{component}.{node}_{name}",
                "object_id": f"{node}_{name}",  # the same before Home Assistant 2025.10
                "name": entity.name,
                "state_topic": topic(entity.topic),
                "value_template": entity.value,
                "expire_after": entity.expires,
                **entity.more,
                **of_all,
            }
        found[f"{prefix}/{component}/{node}/{name}/config"] = json.dumps(keys).encode() if keys else b""
    return found


def discovery_topics(prefix: str, table: str) -> str:
    """The topics of all announcements of a table, for the broker's access list."""
    return f"{prefix}/+/punto_{table}/+/config"
