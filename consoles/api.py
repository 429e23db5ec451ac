"""What the consoles' HTTP API takes and answers, and the OpenAPI document that says so."""

from typing import Annotated, Any, Final

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.definition import Definition, Group
from punto.controller.accounts.roles import Role
from punto.controller.messages.models import WagerLimits
from punto.controller.orders.requests import Credentials, orders_schema


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Password(_Body):
    """The password of whoever swiped a card, or is signed on."""

    password: Annotated[str, Field(max_length=2000)]


class Name(_Body):
    """The name of a second person."""

    name: Annotated[str, Field(max_length=200)]


class Credential(_Body):
    """What a security key answered: a `PublicKeyCredential` as browsers write it in JSON."""

    credential: dict[str, Any]


class NamedCredential(Name, Credential):
    """What the security key of the person of this name answered."""


class SessionAnswer(BaseModel):
    """Who is signed on; no other account has or had this `number`."""

    number: int
    name: str
    roles: tuple[Role, ...]
    idle_seconds: int


class SignedOnAnswer(SessionAnswer):
    """Who has signed on. `csrf`, which is told this once, goes into the header X-CSRF-Token of whatever changes something."""

    csrf: str


class Refusal(BaseModel):
    """Why not: for programs and for people."""

    code: str
    reason: str


REFUSAL: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
"""What is answered then, for the document: FastAPI would make a model of it for every path and status, at each start."""


class OrderAnswer(BaseModel):
    """What became of an order; `seq` is its number on the record, `waiting` that of one that waits for a second person."""

    accepted: bool
    seq: int
    code: str | None = None
    reason: str | None = None
    waiting: int | None = None


class OrderOnOffer(BaseModel):
    """An order as pages show it: see `catalogue.Definition`."""

    order: str
    label: str
    sentence: str
    group: Group
    signed: bool
    twice: bool
    of_this_hand: bool
    usual: tuple[str, ...]
    fields: tuple[str, ...]

    @classmethod
    def of(cls, definition: Definition) -> "OrderOnOffer":
        """What a page shows of an order."""
        own = {
            name: getattr(definition, name) for name in cls.model_fields if name not in {"order", "fields"}
        }
        return cls(order=definition.kind, fields=tuple(definition.fields), **own)


class GameOnOffer(BaseModel):
    """A game that the table can be changed to, with the limits of its file."""

    name: str
    title: str
    dealt: str
    wagers: tuple[WagerLimits, ...]


ORDERS_ON_OFFER: Final = tuple(OrderOnOffer.of(each) for each in CATALOGUE.values())


# --- the document


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The whole document, which takes a good part of a second to make.

    What FastAPI cannot know is added: the bodies, which the routes read for themselves, what a refusal is, and that cookie
    and token are needed together.
    """
    document = app.openapi()
    document["components"]["schemas"]["Refusal"] = Refusal.model_json_schema()
    orders = orders_schema()
    for path, body in {
        "/api/session": Credentials.model_json_schema(),
        "/api/orders": orders,
        "/api/preview": orders,
        "/api/card-password": Password.model_json_schema(),
        "/api/session/key-options": Password.model_json_schema(),
        "/api/session/key": Credential.model_json_schema(),
        "/api/approvals/{number}/key-options": Name.model_json_schema(),
        "/api/approvals/{number}/key": NamedCredential.model_json_schema(),
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
