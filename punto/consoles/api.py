"""The requests and answers of the consoles' HTTP API."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.definition import Group
from punto.controller.accounts.roles import Read, Role
from punto.controller.config.sections import Sound
from punto.controller.orders.requests import Body, Name
from punto.messages.models import WagerLimits


class Credential(Body):
    """A security key's answer: a `PublicKeyCredential` as browsers write it in JSON."""

    credential: dict[str, Any]


class NamedCredential(Name, Credential):
    """The answer of the security key of the person with this name."""


class SessionAnswer(BaseModel):
    """The person who is signed on, the `notice` at the top of each page, and its `sounds`. The account's `number` is unique for ever.

    `reads` and `orders` are everything that the roles let this person read and order. The view lists the orders that are possible now.
    """

    number: int
    name: str
    roles: tuple[Role, ...]
    reads: tuple[Read, ...]
    orders: tuple[str, ...]
    idle_seconds: int
    notice: str
    sounds: tuple[Sound, ...]


class SignedOnAnswer(SessionAnswer):
    """The person who has signed on.

    `csrf` is sent only here. Send it in the header X-CSRF-Token of each request that changes something.
    """

    csrf: str


class Refusal(BaseModel):
    """The reason of a refusal, as a code for programs and as text for people."""

    code: str
    reason: str


REFUSAL: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
"""The answer's schema by reference: otherwise FastAPI would make a model for every path and status at each start."""


class OrderOnOffer(BaseModel):
    """An order as pages show it: see `catalogue.Definition`."""

    model_config = ConfigDict(from_attributes=True)

    order: Annotated[str, Field(validation_alias="kind")]
    label: str
    sentence: str
    group: Group
    signed: bool
    twice: bool
    of_this_hand: bool
    usual: tuple[str, ...]
    fields: Annotated[tuple[str, ...], BeforeValidator(tuple)]


class GameOnOffer(BaseModel):
    """A game that the table can be changed to, with the limits and the titles in other languages of its file."""

    name: str
    title: str
    dealt: str
    wagers: tuple[WagerLimits, ...]
    titles: dict[str, str]
    wager_titles: dict[str, dict[str, str]]


ORDERS_ON_OFFER: Final = tuple(map(OrderOnOffer.model_validate, CATALOGUE.values()))
