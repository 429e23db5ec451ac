"""An order as a request has it: whether whoever is signed on may give it, and who signs it besides."""

import dataclasses
import json
from typing import Any, Final, NamedTuple

from controller.operators.accounts import Account
from controller.operators.api import SIGNED, Credentials, RefusalError
from controller.operators.desk import APPROVABLE, KINDS, Desk, Given, UnreadableError, read_request
from controller.operators.gate import Gate, NotLetInError, Session
from controller.operators.roles import AT_THE_TABLE, card_level, orders_of
from controller.progressive.nexus import SwipeCard


class _Signing(NamedTuple):
    """What a second person does at somebody's page, in words and as the code of a refusal."""

    noun: str
    verb: str
    refused: str


_APPROVAL: Final = _Signing("approval", "approve", "not_approved")
_SIGNATURE: Final = _Signing("signature", "sign", "not_signed")


async def order_of(gate: Gate, desk: Desk, session: Session, body: bytes, *, preview: bool) -> Given:
    """What a request orders, signed by all who must sign it; of a preview their names and passwords are not asked.

    Raises:
        UnreadableError: it is no order.
        RefusalError: whoever is signed on, or who signs it, may not give it.
    """
    kind, fields = read_request(body)
    approval, by = fields.pop("approval", None), fields.pop("by", None)
    at_the_table = not AT_THE_TABLE.isdisjoint(session.roles)  # where somebody else may sign for it
    if kind in KINDS and kind not in orders_of(session.roles) and (by is None or not at_the_table):
        await gate.refuse_role(session.name, kind, session.where)
        raise RefusalError(403, "not_of_role", f"your roles do not let you order {kind}")
    if kind == "swipe_card":
        if "level" in fields or by is None:
            raise UnreadableError(
                "swipe_card: name and password in `by` stand for the card, and say its level"
            )
        fields["level"] = card_level(session.roles)  # until it is known whose it is
    order = desk.order(kind, fields, session.name)
    if by is not None and kind not in SIGNED:
        raise UnreadableError(f"{kind} is given by who is signed on: leave `by` out")
    if approval is not None and kind not in APPROVABLE:
        raise UnreadableError(f"{kind} takes no approval: leave it out")
    signing, second = (_SIGNATURE, by) if by is not None else (_APPROVAL, approval)
    if second is None:
        return order
    credentials = Credentials.read(json.dumps(second).encode())
    if preview:
        return order
    return _signed(order, signing, await _second(gate, credentials, kind, session.where, signing))


def _signed(order: Given, signing: _Signing, account: Account) -> Given:
    """The order with a second person's name in it, or in theirs."""
    fields: dict[str, Any] = {"who" if signing is _SIGNATURE else "approved_by": account.name}
    if isinstance(order, SwipeCard):
        fields["level"] = card_level(account.roles)
    return dataclasses.replace(order, **fields)


async def _second(gate: Gate, given: Credentials, kind: str, where: str, signing: _Signing) -> Account:
    """The account of a second person, who may give such an order too."""
    what = f"{signing.verb} {kind}"
    try:
        account = await gate.check(given.name, given.password, where, what)
    except NotLetInError as error:
        if error.retry_after is not None:
            raise RefusalError(429, error.code, f"{signing.noun}: {error}", error.retry_after) from None
        raise RefusalError(403, signing.refused, f"{signing.noun}: {error}") from None
    if kind not in orders_of(account.roles):
        await gate.refuse_role(account.name, what, where)
        raise RefusalError(
            403, signing.refused, f"{signing.noun}: the roles of {account.name} do not allow {kind}"
        )
    return account
