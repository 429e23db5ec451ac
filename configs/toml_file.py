"""Reads TOML files into typed values, and reports errors by line and key.

The standard reader does not keep lines, so a second pass over the accepted text finds the places of the keys.
Keys inside an inline table or a list have the line of the key that holds them.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, time
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError, ValidationInfo

from punto.configs.faults import as_written, must_be
from punto.configs.given_files import read_given
from punto.configs.problems import ConfigError, Problem, nearest, not_one_line
from punto.configs.text_file import TextError, text_of

T = TypeVar("T")
Path_ = tuple[str | int, ...]
"""The path to a value: keys, and places in lists from 0."""

LARGEST: Final = 1 << 19
"""The most bytes of a file: several times as many as the configuration of 200 tables has."""
_MOST_PARTS: Final = 16
"""The most names that dots join to a key. The standard reader needs time and memory by the square of them."""
_DEEPEST: Final = 32
"""How deeply lists and tables can be nested in a value."""
_NAME: Final = r"""(?:[A-Za-z0-9_-]++|"(?!"")(?:[^"\\\n]|\\.)*+"?|'(?!'')[^'\n]*+'?)"""
_PART: Final = re.compile(_NAME)
# Each quoted alternative also ends where the line or the file ends, so that no text is read twice.
_STRUCTURE: Final = re.compile(
    rf"(?P<key>{_NAME}(?:[ \t]*+\.[ \t]*+{_NAME})*+)"
    r"""|(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|"{3}(?:[^"\\]|\\[\s\S]?|"{1,2}(?!"))*+"{0,5}|'{3}(?:[^']|'{1,2}(?!'))*+'{0,5}|\#[^\n]*+"""
)
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|("(?:[^"\\\n]|\\.)*")|'([^'\n]*)')[ \t]*""")
# The tokens of a value, longest first; anything else is skipped one character at a time.
_VALUE: Final = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{}\n]"
)
_AT_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)$")
# The hint for a message of the standard reader that begins like this.
_HINTS: Final = {
    "Cannot overwrite": "this name already exists: check whether a [[header]] is missing above it, or has only one bracket",
    "Cannot declare": "this header already exists. If the file can have this header several times, write the header with two "
    "brackets, such as "
    "[[wagers]]",
    "Invalid value": 'a value is missing, or is text without straight quotes: write it "like this"',
    "Expected newline": 'the line should end here: write text in straight quotes, "like this", and one key per line',
    "Illegal character '\\n'": "the closing quote of a text is missing",
    "Unterminated string": "the closing quote of a text is missing",
    "Unclosed": "a comma or a closing bracket is missing",
    "Invalid initial character for a key": "write everything between { and } on one line, without a final comma",
    "Expected '='": "write a key, =, and its value",
}


@dataclass(frozen=True)
class TomlFile:
    """A TOML file: its name for messages, its document, and the line of each of its keys."""

    name: str
    document: dict[str, Any]
    lines: Mapping[Path_, int]

    @classmethod
    def parse(cls, name: str, data: bytes, parse_float: Callable[[str], Any] = float) -> "TomlFile":
        """Read a file's bytes; `parse_float` converts the text of a number with a decimal point.

        Raises:
            ConfigError: they are not TOML, are too many, or are nested too deeply; the problem has the line.
        """
        if len(data) > LARGEST:
            raise ConfigError([Problem(f"the file has more than {LARGEST:,} bytes", name)])
        try:
            text = text_of(data)
        except TextError as error:
            raise ConfigError([Problem(str(error), name, error.line)]) from None
        if (deep := _too_deep(text)) is not None:
            raise ConfigError([Problem(deep[1], name, text.count("\n", 0, deep[0]) + 1)])
        try:
            document = tomllib.loads(text, parse_float=parse_float)
        except ValueError as error:
            at = _AT_LINE.search(str(error))
            last = text.count("\n") + 1
            words = _AT_LINE.sub("", str(error))
            hint = next((hint for start, hint in _HINTS.items() if words.startswith(start)), None)
            message = f"this is not TOML: {f'{hint} ({words})' if hint else words}"
            raise ConfigError([Problem(message, name, int(at[1]) if at else last)]) from None
        lines: dict[Path_, int] = {}
        for path, line in _places(text):
            lines.setdefault(path, line)
        return cls(name, document, lines)

    def line_of(self, path: Path_) -> int:
        """The line of a key, or of the nearest table or key around it; 1 if there is none."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem(self, path: Path_, message: str, suggestion: str | None = None) -> Problem:
        """A problem with the value at `path`."""
        return Problem(message, self.name, self.line_of(path), dotted(path), suggestion)


def read(path: Path, parse_float: Callable[[str], Any] = float) -> TomlFile:
    """Read a TOML file, as `TomlFile.parse` does; raises ConfigError if it cannot be read or is not TOML."""
    try:
        data = read_given(path, LARGEST)
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {error.strerror}", str(path))]) from None
    return TomlFile.parse(str(path), data, parse_float)


def dotted(path: Path_) -> str:
    """A path as people write it: `wagers[2].pays`, places counted from 1."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


# --- bounds, before the standard reader


def _too_deep(text: str) -> tuple[int, str] | None:
    """Where a text is nested more deeply than the reader should follow, and the message; None if it is not."""
    depth = 0
    for found in _STRUCTURE.finditer(text):
        if found["key"]:
            if len(_PART.findall(found["key"])) > _MOST_PARTS:
                return found.start(), f"a key has more than {_MOST_PARTS} names joined by dots"
        elif found["open"]:
            depth += 1
            if depth > _DEEPEST:
                return found.start(), "lists or tables are nested too deeply"
        elif found["close"]:
            depth = max(0, depth - 1)
    return None


# --- where the keys are


def _places(text: str) -> Iterator[tuple[Path_, int]]:
    """Each table's and key's path with its line; for a table with several lines, the first line."""
    newlines = [-1, *(found.start() for found in re.finditer("\n", text)), len(text)]
    line_at = {start + 1: number for number, (start, _) in enumerate(pairwise(newlines), 1)}
    counts: dict[Path_, int] = {}  # the number of tables in each list of tables so far
    table: Path_ = ()
    at, line, line_start = 0, 1, 0
    while (at := _after(_BLANK, text, at)) < len(text):
        line_start = text.rfind("\n", 0, at) + 1
        line = line_at[line_start]
        brackets = 2 if text.startswith("[[", at) else 1 if text[at] == "[" else 0
        keys, at = _dotted_key(text, at + brackets)
        if brackets:
            table = _inside(keys, counts)
            if brackets == 2:
                counts[table] = counts.get(table, 0) + 1
                table = (*table, counts[table] - 1)
            at += brackets
            yield from ((table[:end], line) for end in range(1, len(table) + 1))
        else:
            path = table
            for key in keys:
                path = (*path, key)
                yield path, line
            at = _end_of_value(text, at + 1)


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _dotted_key(text: str, at: int) -> tuple[list[str], int]:
    """The parts of the key at `at`, and the position after it."""
    keys: list[str] = []
    while found := _KEY.match(text, at):
        bare, quoted, literal = found.groups()
        keys.append(bare or (literal if quoted is None else tomllib.loads(f"k = {quoted}")["k"]))
        at = found.end()
        if not text.startswith(".", at):
            break
        at += 1
    return keys, at


def _inside(keys: list[str], counts: Mapping[Path_, int]) -> Path_:
    """The path of a table's header: for a list of tables on the way, its last table."""
    path: Path_ = ()
    for number, key in enumerate(keys, 1):
        path = (*path, key)
        if path in counts and number < len(keys):
            path = (*path, counts[path] - 1)
    return path


def _end_of_value(text: str, at: int) -> int:
    """The end of the value that begins at `at`: the first end of a line outside brackets and strings."""
    depth = 0
    for found in _VALUE.finditer(text, at):
        piece = found[0]
        if piece == "\n" and depth == 0:
            return found.start()
        depth += (piece in {"[", "{"}) - (piece in {"]", "}"})
    return len(text)


# --- typed values


def in_folder(path: Path, info: ValidationInfo) -> Path:
    """A path in the file, relative to the file's folder: the context passed to `typed`."""
    return Path(info.context or "") / path


FromFolder = Annotated[Path, AfterValidator(in_folder)]


def _one_line(text: str) -> str:
    if (message := not_one_line(text)) is not None:
        raise ValueError(message)
    return text


OneLine = Annotated[str, AfterValidator(_one_line)]
"""A text that people read as a line."""


def _host(host: str) -> str:
    if not host or set(host) & set("/ @"):
        raise ValueError(
            f"{host!r} is not a host: write only the name or address of the host, such as 127.0.0.1"
        )
    return host


Host = Annotated[str, AfterValidator(_host)]


MOST_RESERVED: Final = 6
"""More addresses with reserved places would take the places of all others."""


def _addresses(addresses: tuple[str, ...]) -> tuple[str, ...]:
    if len(addresses) > MOST_RESERVED:
        raise ValueError(f"{len(addresses)} addresses are too many: name at most {MOST_RESERVED}")
    return tuple(map(_address, addresses))


def _address(address: str) -> str:
    try:
        return str(ip_address(address))  # as a socket writes it
    except ValueError:
        raise ValueError(f"{address!r} is not an IP address: write one such as 192.0.2.7") from None


Reserved = Annotated[tuple[str, ...], AfterValidator(_addresses)]
"""The IP addresses of machines that a web server reserves places for."""


def typed(
    file: TomlFile, kind: type[T], context: Any = None, such_as: Mapping[str, str] = MappingProxyType({})
) -> T:
    """The file's document as a value of `kind`, a dataclass or pydantic model, without guesses or conversions.

    `such_as` has examples for keys whose text has a special form.

    Raises:
        ConfigError: keys are missing, unknown or of the wrong type, or the values contradict each other.
    """
    dates = [
        file.problem(path, "a date or time cannot be a value here: write text in quotes or a number")
        for path in _dates((), file.document)
    ]
    if dates:
        raise ConfigError(dates)
    try:
        text = json.dumps(file.document)
    except ValueError:  # a hexadecimal number with thousands of digits
        raise ConfigError([Problem("a number has more digits than can be read", file.name)]) from None
    try:
        return TypeAdapter(kind).validate_json(text, strict=True, context=context)
    except ValidationError as error:
        problems = [_problem(file, kind, dict(each), such_as) for each in error.errors()]
        raise ConfigError(sorted(problems, key=lambda problem: problem.line or 0)) from None


def _dates(path: Path_, value: object) -> Iterator[Path_]:
    if isinstance(value, date | time):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _dates((*path, key), inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _dates((*path, place), inner)


def _problem(file: TomlFile, kind: Any, error: dict[str, Any], such_as: Mapping[str, str]) -> Problem:
    """One of pydantic's errors in this program's words."""
    path: Path_ = error["loc"]
    found = error.get("input")
    match error["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            return _no_such_key(file, kind, path)
        case "value_error":
            message = str(error["ctx"]["error"])
            path = (*path, *getattr(error["ctx"]["error"], "place", ()))
            # A sentence about one key of a table begins with the key's name.
            named = (*path, message.split(maxsplit=1)[0])
            return file.problem(named if named in file.lines else path, message)
        case "literal_error" | "enum":
            expected = error["ctx"]["expected"]
            close = nearest(found, re.findall("'([^']*)'", expected)) if isinstance(found, str) else None
            return file.problem(path, f"must be {expected}, not {found!r}", close and f'"{close}"')
        case _:
            return file.problem(path, _must(path, error, such_as))


def _must(path: Path_, error: dict[str, Any], such_as: Mapping[str, str]) -> str:
    """The requirement for a value of the wrong kind."""
    found = error.get("input")
    shown = f", not {as_written(found)}" if isinstance(found, str | int | float) else ""
    match error["type"]:
        case "string_type" if str(path[-1]) in such_as:
            return f"must be text in quotes, such as {such_as[str(path[-1])]}"
        case "tuple_type" | "list_type" if isinstance(found, dict):
            return f"must be a list: write [[{_header(path)}]], with two brackets"
        case "tuple_type" | "list_type" if shown:
            return f"must be a list: [{json.dumps(found, ensure_ascii=False)}]"
        case "model_type" | "dict_type":
            return f"must be a table: write [{_header(path)}] above its keys"
        case "dataclass_type":
            name = f"{path[-1]} = " if isinstance(path[-1], str) else ""
            return f"must be a table: write {name}{{ ... }}, with its keys between the braces{shown}"
        case _:
            return must_be(error)


def _no_such_key(file: TomlFile, kind: Any, path: Path_) -> Problem:
    if (elsewhere := _elsewhere(kind, path)) is not None:
        return file.problem(path, elsewhere)
    known = _keys_at(kind, path[:-1])
    longer = [name for name in known if name.endswith(f"_{path[-1]}")]
    close = " or ".join(longer) or nearest(str(path[-1]), known)
    return file.problem(path, "no such key" + ("" if close else f"; there are {', '.join(known)}"), close)


def _elsewhere(kind: Any, path: Path_) -> str | None:
    """The hint for a key that belongs to a table around its own, or to one other section of the file alone."""
    for end in range(len(path) - 2, -1, -1):
        if isinstance(path[end], str) and path[-1] in _keys_at(kind, path[:end]):
            inner = path[: end + 1]
            in_list = isinstance(path[end + 1], int)
            where = f"above its first [[{_header(inner)}]]" if in_list else f"outside {dotted(inner)}"
            owner = dotted(path[:end]) or "the top of the file"
            return f"no such key here: {path[-1]} belongs to {owner}, so write it {where}"
    sections = _fields(_plain(kind))
    owners = [name for name, inner in sections.items() if path[-1] in _fields(_plain(inner))]
    return f"no such key here: {path[-1]} belongs to [{owners[0]}]" if len(owners) == 1 else None


def _header(path: Path_) -> str:
    return ".".join(part for part in path if isinstance(part, str))


def _keys_at(kind: Any, path: Path_) -> list[str]:
    """The keys that the table at `path` of a `kind` may have."""
    for part in path:
        kind = _plain(kind)
        if isinstance(part, int):
            kind = get_args(kind)[0]
        elif get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            kind = _fields(kind)[part]
    return list(_fields(_plain(kind)))


def _plain(kind: Any) -> Any:
    """A type without its `Annotated` and its `| None`."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    others = [each for each in get_args(kind) if each is not type(None)]
    return _plain(others[0]) if type(None) in get_args(kind) else kind


def _fields(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return {field.name: hints[field.name] for field in fields(kind)}
    return {}
