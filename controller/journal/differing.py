"""Describes a difference between the record and the values derived from its inputs, for people."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, Final

_MOST_PLACES: Final = 3
_LONGEST: Final = 160
_ABSENT: Final = object()


def difference(recorded: object, derived: object) -> str:
    """The first places where two JSON values differ: `winner: tie on the record, player by the inputs`."""
    places = list(_places((), recorded, derived))
    parts = [
        f"{_name(path)}{_text(this)} on the record, {_text(that)} by the inputs"
        for path, this, that in places[:_MOST_PLACES]
    ]
    if len(places) > _MOST_PLACES:
        parts.append(f"and {len(places) - _MOST_PLACES} more")
    return "; ".join(parts) or "the JSON text differs, not its values"


def row_of(columns: Sequence[str], values: Sequence[object]) -> dict[str, Any]:
    """A row by the names of its columns, with its JSON parsed."""
    row = dict(zip(columns, values, strict=True))
    if isinstance(text := row.get("record"), str):
        with suppress(ValueError):  # another program wrote it, and it is not JSON
            row["record"] = json.loads(text)
    return row


def _places(path: tuple[str, ...], this: object, that: object) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if isinstance(this, Mapping) and isinstance(that, Mapping):
        for key in {**this, **that}:
            yield from _places((*path, str(key)), this.get(key, _ABSENT), that.get(key, _ABSENT))
    elif isinstance(this, list) and isinstance(that, list):
        for number, (one, other) in enumerate(zip_longest(this, that, fillvalue=_ABSENT), 1):
            yield from _places((*path, str(number)), one, other)
    elif this != that:
        yield path, this, that


def _name(path: Sequence[str]) -> str:
    named = " ".join(filter(None, path))
    return f"{named}: " if named else ""


def _text(value: object) -> str:
    if value is _ABSENT or value is None:
        text = "nothing"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key} {_text(each)}" for key, each in value.items())
    elif isinstance(value, list):
        text = ", ".join(map(_text, value)) or "none"
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
