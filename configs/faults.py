"""Texts for pydantic's errors, in this program's words: for a file, a request, a parameter or a message."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from punto.configs.problems import cut

_MUST: Final = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number in digits",
    "int_parsing_size": "must be a whole number of fewer digits",
    "model_attributes_type": "must be an object",
    "string_type": "must be text in quotes",
    "too_short": "must not be empty",
    "missing": "is missing",
    "extra_forbidden": "there is no such field: leave it out",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "date_type": "must be a day such as 2026-11-21",
    "date_parsing": "must be a day such as 2026-11-21",
    "date_from_datetime_parsing": "must be a day such as 2026-11-21",
}
_JSON: Final = {
    "Expecting value": "a value is missing",
    "Expecting property name": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Illegal trailing comma": "there is a comma too many",
    "Extra data": "there is more after the value",
    "Unterminated string": "the closing quote of a text is missing",
    "Invalid control character": "a control character must be written as an escape such as \\n",
    "Invalid \\": "a backslash does not begin an escape: write two backslashes for one",
}
_ALL_SAID: Final = {"missing", "extra_forbidden", "string_too_long"}


def must_be(fault: Mapping[str, Any]) -> str:
    """The requirement that a value breaks, from an error of a `ValidationError`; with the value if it is short."""
    kind, context, found = fault["type"], fault.get("ctx", {}), fault.get("input")
    if kind == "value_error":
        return str(context["error"])
    if kind == "json_invalid":
        return f"is not JSON: {context['error'].replace('EOF while parsing', 'it ends within')}"
    if kind == "string_too_short" and context["min_length"] == 1:
        return "must not be empty"
    words = _MUST.get(kind)
    said = (
        re.sub("^(Input|String) should", "must", fault["msg"]) if words is None else words.format(**context)
    )
    return (
        said
        if kind in _ALL_SAID or not isinstance(found, str | int | float)
        else f"{said}, not {as_written(found)}"
    )


def json_fault(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is not JSON, and at which character, counted from 1."""
    words = next((said for begin, said in _JSON.items() if error.msg.startswith(begin)), error.msg)
    return f"{words} at character {error.pos + 1}"


def as_written(value: str | float) -> str:
    """A value as a file or a message has it; text in single quotes, as in all problems."""
    return json.dumps(value) if isinstance(value, bool) else cut(repr(value))


def first_fault(error: ValidationError, *, secret: bool = False) -> str:
    """The first error, with its place; without the value if it is `secret`."""
    fault = error.errors(include_url=False, include_input=not secret)[0]
    return placed(fault["loc"], fault)


def placed(where: Iterable[str | int], fault: Mapping[str, Any]) -> str:
    """The requirement that a value breaks, after its place in the message."""
    place = ".".join(map(str, where))
    return f"{place}: {must_be(fault)}" if place else f"the message {must_be(fault)}"
