"""The tables of keys in docs/reference/configuration.md, written from the models that read the files.

A key's sentence is the docstring below its field.
"""

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from annotated_types import BaseMetadata, Ge, Le, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from punto.baccarat.unit import Unit
from punto.controller.config.file import ConfigFile
from punto.controller.config.tables import OWN
from punto.displays.house import HouseFile
from punto.displays.options import DisplayOptions
from punto.house.config import GameManagerConfig

_FILES: Final[dict[str, type[BaseModel]]] = {
    "A table": ConfigFile,
    "A display": DisplayOptions,
    "A house's theme": HouseFile,
    "The Game Manager of a house": GameManagerConfig,
}
_SEVERAL: Final = """\
One service can run [several tables](../how-to/many-tables.md).
The file then has a header `[[table]]` for each table, with two brackets, in place of `[table]`.
Below `[[table]]` are the keys of `[table]`.
Each other section of a table has a header that begins with `table.`, such as `[table.shoe]`, and comes after the `[[table]]` of its table.

A section without `table.` is shared: its keys apply to every table.
If a table has the same key in its own section, the table uses its own value.
For example, all tables can share `host` in `[mqtt]`, and each table can have its own `username` in `[table.mqtt]`.

Two tables must not have the same value of a key in the last column of this list, also not under another name of the same file or device."""
_HEAD: Final = "| Key | Type | Default | Unit, range | What it is |\n| --- | --- | --- | --- | --- |"
_TYPES: Final = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}
_BOUNDS: Final = {
    Ge: ("from", "ge"),
    Le: ("to", "le"),
    MinLen: ("at least", "min_length"),
    MaxLen: ("at most", "max_length"),
}


def configuration_tables() -> str:
    """Each file with its sections and their keys."""
    return "\n\n".join(
        part
        for title, file in _FILES.items()
        for part in (*_file(title, file), *(_several_tables() if file is ConfigFile else ()))
    )


def _file(title: str, file: type[BaseModel]) -> Iterator[str]:
    yield f"## {title}"
    sections = {
        name: found for name, info in file.model_fields.items() if (found := _section(info.annotation))
    }
    keys = {name: info for name, info in file.model_fields.items() if name not in sections}
    if keys:
        yield _table(file, keys)
    for name, (section, header) in sections.items():
        yield f"### `[{header.format(name)}]`"
        words = " ".join(inspect.cleandoc(section.__doc__ or "").partition(": ")[2].split())
        yield words[0].upper() + words[1:] + " Required." * file.model_fields[name].is_required()
        yield _table(section, section.model_fields)


def _several_tables() -> Iterator[str]:
    """The headers of a file with several tables, and the keys that each table needs for itself."""
    yield "## Several tables"
    yield _SEVERAL
    rows = [
        "| Of one table | Shared by all tables | What each table needs for itself |",
        "| --- | --- | --- |",
    ]
    for name, info in ConfigFile.model_fields.items():
        if (found := _section(info.annotation)) is None:
            continue
        header = found[1].format(name)
        own = [f"`{key}`" for section, key in (each.split(".") for each in OWN) if section == name]
        own = [key for key in own if key.strip("`") in found[0].model_fields]
        of_one, shared = ("`[[table]]`", "") if name == "table" else (f"`[table.{header}]`", f"`[{header}]`")
        rows.append(f"| {of_one} | {shared} | {', '.join(own)} |")
    yield "\n".join(rows)


def _section(annotation: Any) -> tuple[type[BaseModel], str] | None:
    """The model of a section and the form of its header; None for a plain key."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, "{}"
    inner = [found for each in get_args(annotation) if (found := _section(each))]
    if not inner:
        return None
    return inner[0][0], "{}.WAGER" if get_origin(annotation) is dict else "{}"


def _table(model: type[BaseModel], keys: dict[str, FieldInfo]) -> str:
    sentences = _sentences(model)
    required_first = sorted(keys.items(), key=lambda key: not key[1].is_required())
    rows = (f"| {' | '.join(_row(name, info, sentences[name]))} |" for name, info in required_first)
    return "\n".join([_HEAD, *rows])


def _row(name: str, info: FieldInfo, sentence: str) -> tuple[str, ...]:
    found = [*info.metadata, *_metadata(info.annotation)]
    if info.is_required():
        default = "required"
    else:
        value = info.get_default(call_default_factory=True)
        default = "" if value in (None, (), {}) else f"`{json.dumps(value)}`"
    units = [str(each) for each in found if isinstance(each, Unit)]
    bounds = [
        f"{_BOUNDS[type(each)][0]} {getattr(each, _BOUNDS[type(each)][1]):,}"
        for each in found
        if isinstance(each, BaseMetadata) and type(each) in _BOUNDS
    ]
    measure = ", ".join(filter(None, [*units, " ".join(bounds)]))
    return f"`{name}`", _type(info.annotation), default, measure, sentence.replace("|", "\\|")


def _metadata(annotation: Any) -> Iterator[Any]:
    """The annotations inside an optional type, such as bounds."""
    if get_origin(annotation) is Annotated:
        for each in annotation.__metadata__:
            yield from each.metadata if isinstance(each, FieldInfo) else [each]
    if get_origin(annotation) in (Union, UnionType):
        for each in get_args(annotation):
            yield from _metadata(each)


def _type(annotation: Any) -> str:
    """The type in words."""
    if annotation in _TYPES:
        return _TYPES[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(inner[0])
    if origin in (Union, UnionType):
        return ", ".join(_type(each) for each in inner if each is not NoneType)
    if origin is Literal:
        return ", ".join(f"`{json.dumps(each)}`" for each in inner)
    if origin is tuple:
        return f"list of {_type(inner[0])}"
    if origin is dict:
        return f"table of {_type(inner[1])}"
    raise TypeError(f"there are no words for the type {annotation}: add them here")


def _sentences(model: type[BaseModel]) -> dict[str, str]:
    """Each field's docstring, on one line.

    Raises:
        LookupError: a field does not have a docstring.
    """
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if each not in {BaseModel, object}:
            (tree,) = ast.parse(inspect.getsource(each)).body
            body = tree.body if isinstance(tree, ast.ClassDef) else []
            for field, words in pairwise(body):
                match field, words:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                        value=ast.Constant(value=str(text))
                    ):
                        found[name] = " ".join(text.split())
                    case _:
                        pass
    missing = [
        name
        for name, info in model.model_fields.items()
        if name not in found and not _section(info.annotation)
    ]
    if missing:
        raise LookupError(
            f"{model.__name__} has fields without a docstring: {', '.join(missing)}: write one below each"
        )
    return found
