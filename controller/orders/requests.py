"""Orders in requests: JSON, read and checked by the catalogue, and its JSON Schema."""

import json
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic import Field as Bounds
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from punto.baccarat.cards import Card
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.definition import Field
from punto.configs.faults import first_fault
from punto.configs.plain_text import PLAIN
from punto.configs.problems import cut, meant
from punto.controller.accounts.refusals import RefusalError
from punto.controller.config.limits import LimitsConfig


class UnreadableError(RefusalError):
    """A request that is not an order; the message says what to write."""

    def __init__(self, reason: str) -> None:
        super().__init__(422, "bad_request", reason)


class Body(BaseModel):
    """The body of a request, which can contain a secret."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Password(Body):
    """The password of a card's owner, or of the person who is signed on."""

    password: Annotated[str, Bounds(max_length=2000)]


class Name(Body):
    """The name of a second person."""

    name: Annotated[str, Bounds(max_length=200)]


class Credentials(Password, Name):
    """An operator's name and password."""


class Order(Body):
    """An order with its own fields, which the desk reads by the catalogue.

    `by` signs the order at another person's page or at the socket, and `approval` is a second person's.
    """

    model_config = ConfigDict(extra="allow")

    order: str
    by: Credentials | None = None
    approval: Credentials | None = None

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """One of the orders that a person can give."""
        orders = tuple(_whole(kind) for kind, each in CATALOGUE.items() if not each.seen)
        union: Any = Union[orders]  # noqa: UP007 - of a tuple
        return handler(TypeAdapter(Annotated[union, Bounds(discriminator="order")]).core_schema)


def read_order(request: bytes) -> Order:
    """The order of a request; raises UnreadableError if the request is not an order."""
    try:
        return Order.model_validate_json(request)
    except ValidationError as error:
        raise UnreadableError(first_fault(error, secret=True)) from None


def read_fields(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an order of the catalogue, only those that were sent, with their types and bounds checked.

    Raises:
        UnreadableError: a field is missing, unknown or invalid.
    """
    known = CATALOGUE[kind].fields
    for name in sorted(fields.keys() - known.keys()):
        takes = ", ".join(sorted(known)) or "no fields"
        raise UnreadableError(f"{kind} has no {cut(name)!r}{meant(name, known)}: it takes {takes}")
    if missing := {name for name, field in known.items() if field.required} - fields.keys():
        raise UnreadableError(f"{kind} needs {', '.join(sorted(missing))}")
    try:
        found = _model(kind).model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise UnreadableError(f"{kind}: {_first(error)}") from error
    return {name: getattr(found, name) for name in found.model_fields_set}


@cache
def _model(kind: str) -> type[Body]:
    fields: dict[str, Any] = {
        name: (
            Annotated[_bounded(name, field), Bounds(description=field.help)],
            ... if field.required else Bounds(None, json_schema_extra=_without_default),
        )
        for name, field in CATALOGUE[kind].fields.items()
    }
    return create_model(kind, __base__=Body, **fields)


def _whole(kind: str) -> type[Body]:
    """An order with the people who sign and approve it, for the document."""
    definition = CATALOGUE[kind]
    people = ["by", "approval"] if definition.approvable else ["by"]
    fields: dict[str, Any] = {
        "order": (Literal[kind], ...),
        **dict.fromkeys(people, (Credentials | None, None)),
    }
    return create_model(kind, __base__=_model(kind), __doc__=definition.sentence, **fields)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)  # null, which cannot be sent


def _bounded(name: str, field: Field) -> Any:
    if name == "limits":
        return dict[str, LimitsConfig]
    bounds = Bounds(ge=field.least, le=field.most, max_length=field.longest)
    if name == "reason":
        return Annotated[str, bounds, Bounds(pattern=r"\S"), PLAIN]
    if name == "day":
        return Annotated[str, bounds, AfterValidator(_day)]
    if field.type is str:
        return Annotated[str, bounds, PLAIN]
    return Annotated[field.type, bounds]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is not a day: write it like 2026-11-21") from None


def _first(error: ValidationError) -> str:
    """The first error, with its place."""
    fault = error.errors(include_url=False)[0]
    where = ".".join(map(str, fault["loc"]))
    if fault["type"] == "string_pattern_mismatch":
        return f"{where}: write what happened, because the record will contain nothing else about it"
    if fault["type"] == "extra_forbidden" and fault["loc"][0] == "limits":
        return f"{where}: there is no such limit: write {', '.join(LimitsConfig.model_fields)}"
    if fault["type"] == "enum" and {"card", "player", "banker"}.intersection(fault["loc"]):
        try:
            Card(str(fault["input"])[:20])
        except ValueError as unknown:
            return f"{where}: {unknown}"  # its message explains how to write a card; pydantic's lists all 52
    return first_fault(error)


def sayable(text: str) -> str:
    """Text that can be sent: without half of a surrogate pair, which the name of a file can contain."""
    return text.encode(errors="replace").decode()
