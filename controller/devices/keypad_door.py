"""The keypad's door: a dealer's presses become orders in the name of the table's operator; a keypad gives no wagers.

A press without a meaning now is refused at the keypad and is not recorded. An order is recorded like any other, refused or
not. An Aquarius keypad also has a supervisor's key, and J-POT is the order of that key: the person who has turned it may
press J-POT.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from punto.baccarat.progressive.aquarius import KEY_SWITCH, Jpot, Key, TurnKey
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.catalogue import CATALOGUE, event_of
from punto.baccarat.table.possible import refusal
from punto.baccarat.table.state import Phase, TableState
from punto.controller.config.devices import KeypadConfig
from punto.controller.devices.door import DeviceDoor
from punto.controller.engine import Engine, Handled
from punto.controller.outbox import Outbox
from punto.drivers.base import KeyAnswer, KeypadDriver, KeypadLamps, KeyPosition
from punto.drivers.keypad.keys import KeyedOrder, Keying

SOURCE: Final = "keypad"
"""The source of these orders on the record."""

START_GAME: Final = "START GAME"
REASON: Final = "pressed at the keypad"

_KEY_UNKNOWN: Final = KeyAnswer(
    "refused",
    "the position of the key switch is not known: wait for it, or unplug the keypad and turn the key at a console",
)
# Orders with these refusals have no meaning now; all other refusals belong on the record.
_MEANINGLESS: Final = frozenset({"no_card_awaited", "no_progressive", "other_procedure", "not_now"})
_NOT_ACCEPTED: Final = KeyAnswer("refused", "this keypad is not accepted: a supervisor must accept it")
_TOO_FAST: Final = KeyAnswer("refused", "too many presses at once: wait a moment")
_SIGNED_OFF: Final = KeyAnswer(
    "refused", "no operator is signed on at this table: sign on at the console first"
)
_DONE: Final = {
    "open_betting": "betting is open",
    "close_betting": "no more wagers",
    "reveal": "revealed",
    "call_supervisor": "a supervisor is called",
    "jpot": "the award is logged: turn the key to RUN",
    "game_over": "the game is over",
}


class KeypadDoor(DeviceDoor[KeypadDriver]):
    """The door of one keypad: `punto.drivers.base.KeypadUser`.

    `start_game` starts a game with the wagers of the sensors, if there are any. If the keypad has a key switch, J-POT is
    refused until its position is known.
    """

    device = "keypad"

    def __init__(
        self,
        engine: Engine,
        outbox: Outbox,
        driver: KeypadDriver,
        config: KeypadConfig,
        start_game: Callable[[StartGame, str], Awaitable[Handled]] | None = None,
    ) -> None:
        super().__init__(engine, outbox, driver)
        self._keying = Keying(config.key_map(), config.timeout)
        self._operator: str | None = None
        self._start_game = start_game
        self._key_switch = self._key_unknown = config.key_switch
        self._unrecorded: KeyPosition | None = None  # of the key switch
        self._start_label = config.start_label

    async def press(self, key: str) -> KeyAnswer:
        """Handle one press."""
        unheard = await self._not_heard()
        state = self._engine.state
        if state.operator != self._operator:  # an operator does not complete the keys of another one
            self._operator = state.operator
            self._keying.forget()
        if unheard is not None:
            return unheard
        meant = self._keying.press(key, asyncio.get_running_loop().time())
        if isinstance(meant, KeyAnswer):
            return meant
        order = _order(meant, state)
        refused = refusal(state, order)
        if refused is not None and refused.code in _MEANINGLESS:
            return KeyAnswer("refused", str(refused))
        if isinstance(order, Jpot) and self._key_unknown:
            return _KEY_UNKNOWN
        return await self._ordered(meant, order)

    async def _ordered(self, meant: KeyedOrder, order: Any) -> KeyAnswer:
        """Give the order that the keys mean."""
        state = self._engine.state
        source = f"{SOURCE}, {state.operator} at the table" if isinstance(order, Jpot) else SOURCE
        give = self._start_game if isinstance(order, StartGame) else None
        handled = await self._submit(order, source, give)
        if handled is None:
            return _TOO_FAST
        if handled.refusal is not None:
            return KeyAnswer("refused", self._labelled(str(handled.refusal)))
        return KeyAnswer("done", self._labelled(_done(meant, self._engine.state)))

    async def _not_heard(self) -> KeyAnswer | None:
        """The reason why no press counts now; None if they do."""
        if not await self._is_accepted():
            return _NOT_ACCEPTED
        return _SIGNED_OFF if self._engine.state.operator is None else None

    async def turned(self, position: KeyPosition) -> None:
        """Record the position of the key switch, unless the record already has it.

        If the pace refuses it, the last position is recorded after the pause; until then J-POT is refused.
        """
        self._unrecorded = position
        if not await self._is_accepted():
            return
        self._unrecorded, self._key_unknown = None, False
        progressive = self._engine.state.progressive
        if progressive is None or progressive.procedure.kind != "aquarius":
            return
        if progressive.procedure.key != position:
            turned = TurnKey(Key(position), KEY_SWITCH)
            if await self._submit(turned, KEY_SWITCH) is None:
                self._unrecorded, self._key_unknown = position, True

    async def _on_link_changed(self) -> None:
        if self._unrecorded is None:
            await self._is_accepted()
        else:
            await self.turned(self._unrecorded)

    def gives(self) -> frozenset[str]:
        """As `DeviceDoor.gives`: a keypad that does nothing itself leaves its key to the console."""
        return frozenset({"turn_key"} if self._key_switch and self._in_use else ())

    def _labelled(self, text: str) -> str:
        """The text with this keypad's own label in place of START GAME."""
        return text.replace(START_GAME, self._start_label)

    def lamps(self) -> KeypadLamps:
        """The lamps for the table's present state."""
        state = self._engine.state
        return KeypadLamps(
            ready=state.operator is not None and self._accepted,
            card=state.waiting.card is not None
            or (state.settings.cards == "keyed" and state.phase is Phase.DEALING),
            stopped=bool(state.waiting.stops),
        )

    def restarted(self) -> None:
        """Forget half a card: who presses its suit may not know of its rank."""
        self._keying.forget()

    def link_changed(self) -> None:
        """Publish the keypad's state. While the keypad is offline, the position of its key switch is unknown."""
        if not self._driver.health().connected:
            self._unrecorded, self._key_unknown = None, self._key_switch
        super().link_changed()


def _order(meant: KeyedOrder, state: TableState) -> Any:
    """The order that the keys mean, in the operator's name.

    J-POT is in the name of the key switch if the key is in JPH. If it is in RUN, J-POT is the dealer's, for an award that
    the house lets the dealer confirm alone.
    """
    fields: dict[str, Any] = {"card": meant.card, "seat": meant.seat}
    fields |= {"round": state.round.number, "reason": REASON}
    takes = {name for name, each in CATALOGUE[meant.kind].fields.items() if each.required}
    procedure = None if state.progressive is None else state.progressive.procedure
    turned = procedure is not None and procedure.kind == "aquarius" and procedure.key is Key.JPH
    who = KEY_SWITCH if CATALOGUE[meant.kind].event is Jpot and turned else state.operator or ""
    return event_of(meant.kind, {name: fields[name] for name in takes}, who)


def _done(meant: KeyedOrder, after: TableState) -> str:
    """The text for an order that was carried out."""
    progressive = after.progressive
    if meant.seat is not None and progressive is not None:
        on = meant.seat in progressive.procedure.hand.selected
        return f"seat {meant.seat} is selected" if on else f"seat {meant.seat} is no longer selected"
    if meant.kind == "start_game" and progressive is not None:
        seats = " ".join(map(str, progressive.procedure.hand.wagers)) or "none"
        return f"{START_GAME}: seats with a wager: {seats}"
    label = CATALOGUE[meant.kind].label.lower()
    return _DONE.get(meant.kind, f"{label}: done" if meant.card is None else f"{meant.card} is keyed")
