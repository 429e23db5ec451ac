"""How what is on the record differs from what its inputs give, as people read it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, Final

_TOLD: Final = 3
_LONGEST: Final = 160
_ABSENT: Final = object()


def difference(recorded: object, derived: object) -> str:
    """The first places at which two values of JSON's kinds differ: `winner: tie on the record, player by the inputs`."""
    places = list(_places((), recorded, derived))
    told = [
        f"{' '.join(filter(None, path))}: {_said(this)} on the record, {_said(that)} by the inputs"
        for path, this, that in places[:_TOLD]
    ]
    if len(places) > _TOLD:
        told.append(f"and {len(places) - _TOLD} more")
    return "; ".join(told) or "it is written otherwise"


def row_of(columns: Sequence[str], values: Sequence[object]) -> dict[str, Any]:
    """A row by its columns, its JSON read."""
    row = dict(zip(columns, values, strict=True))
    if isinstance(text := row.get("record"), str):
        with suppress(ValueError):  # somebody wrote something else there
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


def _said(value: object) -> str:
    if value is _ABSENT or value is None:
        said = "nothing"
    elif isinstance(value, Mapping):
        said = ", ".join(f"{key} {_said(each)}" for key, each in value.items())
    elif isinstance(value, list):
        said = ", ".join(map(_said, value)) or "none"
    elif isinstance(value, bool):
        said = "yes" if value else "no"
    else:
        said = str(value)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]} …"
