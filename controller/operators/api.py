"""What the consoles' HTTP API takes and answers, and the OpenAPI document that says so."""

from typing import Annotated, Any, Final, Self

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from controller.config import LimitsConfig
from controller.messages.models import WagerLimits
from controller.operators.desk import APPROVABLE, KINDS, MeterChanges, UnreadableError, fields_of
from controller.operators.roles import Role

SIGNED: Final = frozenset({"confirm", "jpot", "turn_key", "swipe_card"})
"""A supervisor's orders at the dealer's own page: whoever gives one there signs it, in the request's `by`."""


class Credentials(BaseModel):
    """An operator's name and password."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    name: Annotated[str, Field(max_length=200)]
    password: Annotated[str, Field(max_length=2000)]

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Read what was sent.

        Raises:
            UnreadableError: it is not a name and a password.
        """
        try:
            return cls.model_validate_json(body)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]  # the input may be a password
            where = ".".join(map(str, fault["loc"]))
            raise UnreadableError(
                f"send name and password as JSON: {where or 'the request'}: {fault['msg']}"
            ) from None


class Password(BaseModel):
    """The password of whoever swiped a card."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    password: Annotated[str, Field(max_length=2000)]


class SessionAnswer(BaseModel):
    """Who is signed on. `csrf` goes into the header X-CSRF-Token of whatever changes something."""

    name: str
    roles: tuple[Role, ...]
    csrf: str
    idle_seconds: int


class Refusal(BaseModel):
    """Why not: for programs and for people."""

    code: str
    reason: str


REFUSAL: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
"""What is answered then, for the document: FastAPI would make a model of it for every path and status, at each start."""


class RefusalError(Exception):
    """A request is answered with a `Refusal`."""

    def __init__(self, status: int, code: str, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class OrderAnswer(BaseModel):
    """What became of an order that reached the table; `seq` is its number on the record."""

    accepted: bool
    seq: int
    code: str | None = None
    reason: str | None = None


class GameOnOffer(BaseModel):
    """A game that the table can be changed to, with the limits of its file."""

    name: str
    title: str
    dealt: str
    wagers: tuple[WagerLimits, ...]


# --- the document


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The whole document, which takes a good part of a second to make.

    What FastAPI cannot know is added: the bodies, which the routes read for themselves, what a refusal is, and that cookie
    and token are needed together.
    """
    document = app.openapi()
    document["components"]["schemas"]["Refusal"] = Refusal.model_json_schema()
    orders = _order_schema()
    for path, body in {
        "/api/session": Credentials.model_json_schema(),
        "/api/orders": orders,
        "/api/preview": orders,
        "/api/card-password": Password.model_json_schema(),
    }.items():
        document["paths"][path]["post"]["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": body}},
        }
    for operations in document["paths"].values():
        for operation in operations.values():
            if "security" in operation:  # FastAPI writes two of them as if either would do
                operation["security"] = [{name: [] for each in operation["security"] for name in each}]
    return document


def _order_schema() -> dict[str, Any]:
    return {"oneOf": [_one_order(name, kind) for name, kind in KINDS.items()]}


def _one_order(name: str, kind: Any) -> dict[str, Any]:
    needed, optional = fields_of(name)
    if name == "change_game":
        limits = TypeAdapter(dict[str, LimitsConfig]).json_schema()
        fields = {"game": {"type": "string"}, "limits": _inline(limits, limits.get("$defs", {}))}
    elif name == "change_settings":
        own = MeterChanges.model_json_schema()["properties"]
        for schema in own.values():
            del schema["default"]  # what is left out stays as it is
        fields = {"reason": {"type": "string"}, **own}
    else:
        own = TypeAdapter(kind).json_schema()
        fields = {
            field: _inline(schema, own.get("$defs", {}))
            for field, schema in own["properties"].items()
            if field in needed | optional
        }
    required = [field for field in fields if field in needed]
    if "reason" in fields:
        fields["reason"]["pattern"] = r"\S"  # not blank
    if name in APPROVABLE:
        fields["approval"] = {"anyOf": [Credentials.model_json_schema(), {"type": "null"}]}
    if name in SIGNED:
        fields["by"] = {"anyOf": [Credentials.model_json_schema(), {"type": "null"}]}
    if name == "swipe_card":  # who signs stands for the card
        del fields["level"]
        fields["by"] = Credentials.model_json_schema()
        required = ["by"]
    return {
        "title": name,
        "type": "object",
        "properties": {"order": {"const": name}, **fields},
        "required": ["order", *required],
        "additionalProperties": False,
    }


def _inline(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema with what it refers to in its place: the document has no room for definitions inside a body."""
    if isinstance(schema, list):
        return [_inline(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inline(each, definitions) for key, each in schema.items() if key != "$defs"}
