"""What a stolen table PC may publish: hostile messages on every topic that others read, from the examples of good ones."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import punto.messages

Payload = dict[str, Any]


@cache
def examples() -> dict[str, list[Payload]]:
    """Good messages by the names of their models, as the documents have them."""
    folder = Path(punto.messages.__file__).parent
    found: dict[str, list[Payload]] = json.loads((folder / "examples.json").read_text(encoding="utf-8"))
    return found


MOST_BYTES = 262_144
"""A broker of the house ends the connection of a client that sends more in a message."""
NOT_JSON = {
    "not JSON": b"online",
    "not UTF-8": b'{"schema": "\xff\xfe"}',
    "deep JSON": b"[" * 20_000,
    "deep objects": b'{"configuration":' * 2_000,
    "another type": b"[]",
    "nothing": b"{}",
    "zero bytes": bytes(1000),
    "too long": b'"' + b"x" * 100_000 + b'"',
    "a number of many digits": b"1" * 10_000,
}
CHANGES: dict[str, Payload] = {
    "huge number": {"seq": 10**300},
    "negative number": {"seq": -1},
    "NaN": {"seq": float("nan")},
    "infinity": {"seq": float("inf")},
    "lone surrogate": {"id": "\ud800", "ts": "\udfff"},
    "huge text": {"ts": "x" * 20_000},
    "year 1": {"ts": "0001-01-01T00:00:00.000000+00:00"},
    "year 9999": {"ts": "9999-12-31T23:59:59.999999+00:00"},
    "other version": {"schema": "punto/another/99"},
}


def hostile(model: str) -> Iterator[tuple[str, bytes]]:
    """What cannot be a message of this model, each with its name."""
    yield from NOT_JSON.items()
    good = examples()[model][0]
    for name, change in CHANGES.items():
        yield name, json.dumps(good | change).encode()
    if model == "Round":
        yield from _rounds(good)


def _rounds(good: Payload) -> Iterator[tuple[str, bytes]]:
    """Rounds that no table deals, on records that the house does not know."""
    wager = {
        "seat": 1, "wager": "player", "outcome": "win", "stake": 500, "returned": 1000, "net": 500, "rule": "win", "remainder": "0",
    }  # fmt: skip
    for name, wagers in {
        "many wagers": [{**wager, "seat": seat} for seat in range(1, 1_500)],
        "10,000 wagers": [{**wager, "seat": seat} for seat in range(10_000)],
        "the same wager twice": [wager, wager],
    }.items():
        told = good | {"record": "another", "round": good["round"] | {"settlements": wagers}}
        yield name, json.dumps(told).encode()
    yield "later than now", json.dumps(good | {"ts": "2199-12-31T23:59:59.999999+00:00"}).encode()


def numbers(value: Any) -> Iterable[float]:
    """All numbers in a JSON value."""
    match value:
        case dict():
            return [found for each in value.values() for found in numbers(each)]
        case list():
            return [found for each in value for found in numbers(each)]
        case bool() | str() | None:
            return []
        case _:
            return [value]
