"""The desk: reads an order, gives it to the engine in the operator's name, and answers.

Every door (the local socket, and others beside it) brings the same JSON here and says who stands at it; nothing
about orders is known anywhere else.
"""

import dataclasses
import difflib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from controller.engine import Engine
from controller.messages.building import state_message
from controller.messages.models import State
from controller.table.events import Order

_ORDERS: Final[TypeAdapter[Order]] = TypeAdapter(Annotated[Order, Field(discriminator="kind")])
KINDS: Final[dict[str, Any]] = {
    str(field.default): kind
    for kind in get_args(Order)
    for field in dataclasses.fields(kind)
    if field.name == "kind"
}
"""Order by the name it has in a request."""


class Answer(BaseModel):
    """What became of a request: accepted, or why not; the table's public state where it was asked for."""

    model_config = ConfigDict(frozen=True)

    accepted: bool
    seq: int = 0
    code: str | None = None
    reason: str | None = None
    state: State | None = None


class Desk:
    """Takes orders for one table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def ask(self, request: bytes, who: str) -> Answer:
        """Carry out a request: JSON with `order` and that order's own fields; `status` asks for the state.

        Raises:
            RecordError: the order could not be put on the record.
        """
        try:
            kind, fields = _read(request)
            if kind == "status":
                _check_fields(kind, fields, set())
                state = state_message(self._engine.state, self._engine.seq, datetime.now(UTC))
                return Answer(accepted=True, seq=self._engine.seq, state=state)
            order = _order(kind, fields, who)
        except _UnreadableError as error:
            return bad_request(str(error))
        (handled,) = await self._engine.submit([order], f"operator {who}")
        refusal = handled.refusal
        if refusal is not None:
            return Answer(accepted=False, seq=handled.seq, code=refusal.code, reason=str(refusal))
        return Answer(accepted=True, seq=handled.seq)


def bad_request(reason: str) -> Answer:
    """What to say to a request that is none."""
    # Half of a surrogate pair, which JSON can spell out, is no text and could not be sent back.
    return Answer(accepted=False, code="bad_request", reason=reason.encode(errors="replace").decode())


class _UnreadableError(ValueError):
    """A request that is no order; the message says what to write."""


def _read(request: bytes) -> tuple[str, dict[str, Any]]:
    try:
        fields = json.loads(request)
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(f"the request is not JSON: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("order"), str):
        raise _UnreadableError('a request is a JSON object with an "order", such as {"order": "change_shoe"}')
    return fields.pop("order"), fields


def _order(kind: str, fields: dict[str, Any], who: str) -> Order:
    if kind not in KINDS:
        raise _UnreadableError(
            f"there is no order {kind!r}{_nearest(kind, KINDS)}: {', '.join(KINDS)} or status"
        )
    _check_fields(kind, fields, {field.name for field in dataclasses.fields(KINDS[kind])} - {"kind", "who"})
    try:
        return _ORDERS.validate_json(json.dumps({**fields, "kind": kind, "who": who}), strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in fault["loc"][1:])
        raise _UnreadableError(f"{kind}: {where}: {fault['msg']}") from error


def _check_fields(kind: str, fields: dict[str, Any], known: set[str]) -> None:
    for name in sorted(fields.keys() - known):
        takes = ", ".join(sorted(known)) or "nothing"
        raise _UnreadableError(f"{kind} has no {name!r}{_nearest(name, known)}: it takes {takes}")
    if missing := known - fields.keys():
        raise _UnreadableError(f"{kind} needs {', '.join(sorted(missing))}")


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]}?)" if close else ""
