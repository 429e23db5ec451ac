"""The definition of an order: the roles that may give it, its name for people, and its allowed field values.

`order` attaches a definition to the class that the table takes; the catalogue lists all of them.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum
from functools import cache
from typing import Any, Final, Literal, TypeVar, get_type_hints

from punto.baccarat.progressive.money import MOST

_Event = TypeVar("_Event")


class Role(StrEnum):
    """The role of an account; an account may have several."""

    DEALER = "dealer"
    SUPERVISOR = "supervisor"
    EXECUTIVE = "executive"
    TECHNICIAN = "technician"
    AUDITOR = "auditor"


DEALERS: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.EXECUTIVE})
SUPERVISORS: Final = frozenset({Role.SUPERVISOR, Role.EXECUTIVE})
EXECUTIVES: Final = frozenset({Role.EXECUTIVE})
OF_DEVICES: Final = frozenset({Role.SUPERVISOR, Role.EXECUTIVE, Role.TECHNICIAN})


# --- the fields of orders: a name has the same meaning in every order


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of orders: its value and bounds.

    - `least`, `most`: bounds of a number. `longest`: maximum length of a text, in characters.
    - `required`, `type`: as set by the order that has the field.
    """

    help: str
    least: int | None = None
    most: int | None = None
    longest: int | None = None
    type: Any = str
    required: bool = True


_NUMBER: Final = 2**53 - 1  # the largest number that a browser holds exactly
LONGEST_REASON: Final = 200

FIELDS: Final[dict[str, Field]] = {
    "reason": Field(help="why, for the record", longest=LONGEST_REASON),
    "position": Field(
        help="the card's number in the coup (deal): 1 is the card that was dealt first; 0 is the first card of the shoe",
        least=0,
        most=6,
    ),
    "card": Field(help="the card, such as 9S or TD"),
    "round": Field(help="the round's number", least=0, most=_NUMBER),
    "player": Field(help="Player's cards in the order of dealing, in quotes, such as 'KS 9H'", longest=3),
    "banker": Field(help="Banker's cards in the order of dealing, in quotes, such as 'KS 9H'", longest=3),
    "serial": Field(help="the serial number on the device's plate", longest=64),
    "game": Field(help="the game's name, as `punto games` lists it", longest=200),
    "limits": Field(help="the house's own limits for a wager", required=False),
    "number": Field(
        help="the alarm's own number: the `seq` of the message on the topic `event`, or `alarms[].number` in `GET /api/table`. The `seq` in the log is another number",
        least=1,
        most=_NUMBER,
    ),
    "seat": Field(help="the seat's number", least=1, most=99),
    "to": Field(help="the position to which the key is turned: jph or run"),
    "level": Field(help="the card's level"),
    "cause": Field(help="why the meter changes: increase, malfunction, over_limit or recovery_of_seed"),
    "amount": Field(help="the amount in minor units", least=0, most=MOST),
    "award": Field(help="the award's number", least=1, most=_NUMBER),
    "supervisor_from": Field(
        help="the amount in minor units from which an award from the tray needs a supervisor",
        least=0,
        most=MOST,
    ),
    "progressive": Field(
        help="the id of the progressive (default: the table's own progressive)", longest=200
    ),
    "table": Field(help="the id of the linked table", longest=64),
    "day": Field(help="the gaming day, such as 2026-11-21", longest=10),
    "seed": Field(help="the amount in minor units with which the meter starts", least=0, most=MOST),
    "contribution": Field(help="the share of each wager that goes to the meter, such as 20%", longest=20),
    "reserve": Field(help="the share of each wager that goes to the reserve, such as 1%", longest=20),
    "display_limit": Field(
        help="the largest amount in minor units that the meter shows, or none for no limit",
        least=0,
        most=MOST,
    ),
    "split": Field(help="who shares a percentage award: winners or participants"),
    "fixed_awards": Field(help="what pays the fixed awards: tray or meter"),
    "executive_from": Field(
        help="the amount in minor units from which an award needs an executive, or none if no award needs one",
        least=0,
        most=MOST,
    ),
    "approval_above": Field(
        help="the amount in minor units above which a second person must approve, or none if no amount needs approval",
        least=0,
        most=MOST,
    ),
    "one_side_only": Field(
        help="whether to refuse a progressive wager from a seat with wagers on both Player and Banker: true or false"
    ),
    "seat_one": Field(help="the side of the dealer on which seat 1 is: right or left"),
}

_NOT_WRITTEN: Final = frozenset({"kind", "who", "approved_by"})
"""Fields that are not in requests: the interface sets who gives and who approves an order."""

Group = Literal["play", "shoe", "mistakes", "games", "help", "commission", "alarms", "game", "award", "meter"]
"""The place of an order on consoles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One order.

    - `event`: the event for the table machine, a dataclass whose `kind` names the order.
    - `label`: the text on its button. `sentence`: its effect.
    - `roles`: the roles that may give it.
    - `dealers`: a function of the table's state: whether a dealer may give it too.
    - `group`: its place on consoles.
    - `signed`: a person with these roles may give it on another person's page, with their own name and
      password.
    - `twice`: the button must be pressed twice, because it cannot be undone and asks for nothing else.
    - `of_this_hand`: it applies to the hand that the person sees, and not to a later one.
    - `anywhere`: it is legal in every phase of an unlocked table, and keeps the phase unless `TRANSITIONS`
      says otherwise.
    - `key`: a key of the dealer's keypad may give it.
    - `seen`: only a device gives it, because it reports an observation; people cannot give it.
    - `report`: its text in a shift's report, None if the report names it only when it was refused.
    - `usual`: reasons that consoles offer.
    - `takes`: the request's own fields, if they differ from the event's.
    """

    event: type
    label: str
    sentence: str
    roles: frozenset[Role]
    group: Group
    dealers: Callable[[Any], bool] | None = None
    signed: bool = False
    twice: bool = False
    of_this_hand: bool = False
    anywhere: bool = False
    key: bool = False
    seen: bool = False
    report: str | None = None
    usual: tuple[str, ...] = ()
    takes: dict[str, Field] | None = None

    @property
    def kind(self) -> str:
        """The order's name in requests and on the record."""
        return str(self.event.__dataclass_fields__["kind"].default)  # type: ignore[attr-defined]  # each event is a dataclass

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of a request for it, in order."""
        return _fields_of(self.event) if self.takes is None else self.takes

    @property
    def approvable(self) -> bool:
        """Whether it can have a second person's name."""
        return any(each.name == "approved_by" for each in fields(self.event))


@cache
def _fields_of(event: type) -> dict[str, Field]:
    hints = get_type_hints(event)
    return {
        each.name: field_of(each.name, hints[each.name], required=each.default is MISSING)
        for each in fields(event)
        if each.name not in _NOT_WRITTEN
    }


def field_of(name: str, type_: Any, *, required: bool) -> Field:
    """The field of this name, with an order's type and requirement."""
    return replace(FIELDS[name], type=type_, required=required)


DEFINED: Final[dict[str, Definition]] = {}
"""Order -> its definition, in the order of consoles and help."""


def order(
    *,
    label: str,
    sentence: str,
    roles: frozenset[Role],
    group: Group,
    **others: Any,
) -> Callable[[type[_Event]], type[_Event]]:
    """Define the decorated class as an order; `others` are the other fields of `Definition`."""

    def define(event: type[_Event]) -> type[_Event]:
        definition = Definition(
            event=event, label=label, sentence=sentence, roles=roles, group=group, **others
        )
        DEFINED[definition.kind] = definition
        return event

    return define
