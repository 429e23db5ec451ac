"""The keypad's door: what a dealer presses becomes an order in the name of the table's operator.

A press that means nothing now is refused where it was pressed and leaves no trace; what is an order goes on the record
like any other, refused or not.
"""

import asyncio
from datetime import datetime
from typing import Final

from controller.baccarat.cards import Card
from controller.engine import Engine
from controller.messages import topics
from controller.messages.building import timestamp
from controller.messages.models import Device
from controller.outbox import Outbox
from controller.table.events import CallSupervisor, CloseBetting, KeyCard, OpenBetting, Order, Reveal
from controller.table.state import Phase, TableState
from controller.table.table import TRANSITIONS, Table
from controller.table.turn import RefusedError
from drivers.base import KeyAnswer, KeypadDriver, KeypadLamps
from drivers.keypad.keys import KeyedOrder, Keying, KeyMap

SOURCE: Final = "keypad"
"""Where the record says that these orders came from."""

_NOBODY: Final = KeyAnswer("refused", "nobody is signed on at this table: sign on at the console first")
_DONE: Final = {
    "open_betting": "betting is open",
    "close_betting": "no more wagers",
    "reveal": "revealed",
    "call_supervisor": "a supervisor is called",
}


class KeypadDoor:
    """Takes the presses of one keypad, and tells how it is: `drivers.base.KeypadUser`.

    `seconds` is how long a sequence of keys waits for its next one.
    """

    def __init__(
        self, engine: Engine, outbox: Outbox, driver: KeypadDriver, keys: KeyMap, seconds: float
    ) -> None:
        self._engine = engine
        self._outbox = outbox
        self._driver = driver
        self._keying = Keying(keys, seconds)
        self._who: str | None = None

    async def press(self, key: str) -> KeyAnswer:
        """Take one press.

        Raises:
            RecordError: the order could not be put on the record.
        """
        state = self._engine.state
        if state.operator != self._who:  # what one person has begun to key is not finished by another
            self._who = state.operator
            self._keying.forget()
        if state.operator is None:
            return _NOBODY
        meant = self._keying.press(key, asyncio.get_running_loop().time())
        if isinstance(meant, KeyAnswer):
            return meant
        order = _order(meant, state.operator)
        reason = _means_nothing(state, order)
        if reason is not None:
            return KeyAnswer("refused", reason)
        (handled,) = await self._engine.submit([order], SOURCE)
        if handled.refusal is not None:
            return KeyAnswer("refused", str(handled.refusal))
        return KeyAnswer("done", _DONE.get(meant.kind, f"{meant.card} is keyed"))

    def lamps(self) -> KeypadLamps:
        """What the keypad shows of the table as it is."""
        state = self._engine.state
        return KeypadLamps(
            ready=state.operator is not None,
            card=state.doubt is not None
            or (state.settings.cards == "keyed" and state.phase is Phase.DEALING),
            stopped=bool(state.stops),
        )

    def link_changed(self) -> None:
        """Have the keypad's state published."""
        self._outbox.snapshot_due(topics.DEVICE_KEYPAD)

    def message(self, now: datetime) -> Device:
        """The keypad as a device: there or not, and which."""
        health = self._driver.health()
        return Device(
            id=f"{self._engine.state.settings.table}/devices/keypad/{timestamp(health.since)}",
            seq=self._engine.seq,
            ts=timestamp(now),
            device="keypad",
            state="online" if health.connected else "offline",
            reason=health.reason or "connected",
            since=timestamp(health.since),
            serial=health.serial,
            components=(),
        )


def _order(meant: KeyedOrder, who: str) -> Order:
    match meant:
        case KeyedOrder(card=Card() as card):
            return KeyCard(who, card)
        case KeyedOrder(kind="open_betting"):
            return OpenBetting(who)
        case KeyedOrder(kind="close_betting"):
            return CloseBetting(who)
        case KeyedOrder(kind="reveal"):
            return Reveal(who)
        case _:
            return CallSupervisor(who, "called from the keypad")


def _means_nothing(state: TableState, order: Order) -> str | None:
    """Why the table has no use at all for this order now; None if it is one that belongs on the record."""
    if type(order) not in TRANSITIONS[state.phase]:
        return f"not now: the table is in {state.phase.value.replace('_', ' ')}"
    try:
        Table(state).handle(order)
    except RefusedError as refusal:
        return str(refusal) if refusal.code == "no_card_awaited" else None
    return None
