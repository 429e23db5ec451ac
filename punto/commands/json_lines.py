"""Reads JSON Lines from untrusted input: one object on each line, strictly parsed, with a limit on the length of a line."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from punto.configs.faults import json_fault
from punto.configs.problems import nearest
from punto.configs.text_file import LONGEST_LINE, TextError, text_of


class LineError(ValueError):
    """An invalid line. The message says what to correct."""


@dataclass(frozen=True, slots=True)
class InexactNumber:
    """The text of a number that Python would not print with the same digits: 1.50, 1e400, -0."""

    text: str


class DoubledKeyObject(dict[str, Any]):
    """An object that has the key `doubled` twice. It has the last value of each key."""

    doubled: str = ""


def parse(line: bytes) -> dict[str, Any]:
    """The object on a line; numbers that are not plain integers are `InexactNumber`.

    Raises:
        LineError: the line is not a JSON object.
    """
    if len(line) > LONGEST_LINE:
        raise LineError(f"the line is longer than {LONGEST_LINE} bytes")
    try:
        value = _DECODER.decode(text_of(line).removesuffix("\n"))
    except TextError as error:
        raise LineError(str(error)) from None
    except json.JSONDecodeError as error:
        raise LineError(f"the line is not JSON: {json_fault(error)}") from None
    except RecursionError:
        raise LineError("the line is nested too deeply") from None
    if not isinstance(value, dict):
        raise LineError("the line is not a JSON object: write {...}")
    return value


def check_keys(found: dict[str, Any], allowed: Iterable[str], required: Iterable[str] = ()) -> None:
    """Check the names of an object's keys.

    Raises:
        LineError: a key is doubled, unknown or missing.
    """
    if isinstance(found, DoubledKeyObject):
        raise LineError(f"the key {quoted(found.doubled)} is there twice")
    for key in found:
        if key not in allowed:
            close = nearest(key, allowed)
            meant = f' (did you mean "{close}"?)' if close else f"; there are {', '.join(allowed)}"
            raise LineError(f"unknown key {quoted(key)}{meant}")
    for key in required:
        if key not in found:
            raise LineError(f'the key "{key}" is missing')


def quoted(value: object) -> str:
    """A value of a line for a message: as in the input, but not too long."""
    text = (
        value.text
        if isinstance(value, InexactNumber)
        else json.dumps(value, default=lambda inner: inner.text)
    )
    return text if len(text) <= 60 else text[:60] + "…"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled = DoubledKeyObject(found)
    names = [name for name, _ in pairs]
    doubled.doubled = next(name for name in names if names.count(name) > 1)
    return doubled


def _integer(text: str) -> int | InexactNumber:
    return int(text) if len(text) < 20 and text != "-0" else InexactNumber(text)


def _no_constant(text: str) -> None:
    raise LineError(f"the line is not JSON: {text} is not a JSON number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=InexactNumber,
    parse_int=_integer,
    parse_constant=_no_constant,
)
