"""Waits for the answer of the meter's authority, so that a person's order is answered with it."""

import asyncio
from contextlib import suppress
from typing import Final

from punto.baccarat.table.events import Event, Refused
from punto.baccarat.table.state import AuthorityLink, TableState
from punto.controller.engine import Engine

ANSWER_SECONDS: Final = 2.0
"""How long an order waits for the answer of the meter's authority."""


async def meter_answered(engine: Engine, order: Event) -> Refused | None:
    """Wait until the meter's authority has answered what the table asked for this order.

    Returns the authority's refusal; None if it has carried out the order, if nothing was asked, or if it has not
    answered for ANSWER_SECONDS. Then the table goes on asking.
    """
    link = _link(engine.state)
    if link is None or link.asked is None or link.asked.event.kind != order.kind:
        return None
    asked, answered = link.asked, asyncio.get_running_loop().create_future()

    def look(state: TableState, _: int) -> None:
        now = _link(state)
        if not answered.done() and (now is None or now.asked is not asked):
            answered.set_result(None if now is None else now.refused)

    end = engine.watch(look)
    with suppress(TimeoutError):
        try:
            refused: Refused | None = await asyncio.wait_for(answered, ANSWER_SECONDS)
            return refused
        finally:
            end()
    return None


def _link(state: TableState) -> AuthorityLink | None:
    return None if state.progressive is None else state.progressive.link
