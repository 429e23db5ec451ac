"""The keypad's door: what a dealer presses becomes an order in the name of the table's operator.

A press that means nothing now is refused where it was pressed and leaves no trace; what is an order goes on the record
like any other, refused or not. An Aquarius keypad has a supervisor's key besides, and J-POT is that key's order: who has
turned it may press it.
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
from punto.controller.devices.device import DeviceDoor
from punto.controller.engine import Engine, Handled
from punto.controller.outbox import Outbox
from punto.drivers.base import KeyAnswer, KeypadDriver, KeypadLamps, KeyPosition
from punto.drivers.keypad.keys import KeyedOrder, Keying

SOURCE: Final = "keypad"
"""Where the record says that these orders came from."""

START_GAME: Final = "START GAME"
REASON: Final = "pressed at the keypad"

_KEY_UNKNOWN: Final = KeyAnswer(
    "refused",
    "the key switch has not said where it stands: if it does not, unplug the keypad, and the key is turned at a console",
)
# What the table has no use for at all; any other refusal belongs on the record.
_NO_USE: Final = frozenset({"no_card_awaited", "no_progressive", "other_procedure", "not_now"})
_NOBODY: Final = KeyAnswer("refused", "nobody is signed on at this table: sign on at the console first")
_DONE: Final = {
    "open_betting": "betting is open",
    "close_betting": "no more wagers",
    "reveal": "revealed",
    "call_supervisor": "a supervisor is called",
    "jpot": "the award is logged: turn the key to RUN",
    "game_over": "the game is over",
}


class KeypadDoor(DeviceDoor[KeypadDriver]):
    """Takes the presses of one keypad, and tells how it is: `punto.drivers.base.KeypadUser`.

    `start_game` starts a game where sensors say with which wagers. With a key switch there is no J-POT before it has said
    where it stands.
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
        self._who: str | None = None
        self._start_game = start_game or self._submit
        self._key_switch = self._key_unknown = config.key_switch
        self._start_label = config.start_label

    async def press(self, key: str) -> KeyAnswer:
        """Take one press."""
        state = self._engine.state
        if state.operator != self._who:  # what one person has begun to key is not finished by another
            self._who = state.operator
            self._keying.forget()
        if state.operator is None:
            return _NOBODY
        meant = self._keying.press(key, asyncio.get_running_loop().time())
        if isinstance(meant, KeyAnswer):
            return meant
        order = _order(meant, state)
        refused = refusal(state, order)
        if refused is not None and refused.code in _NO_USE:
            return KeyAnswer("refused", str(refused))
        if isinstance(order, Jpot) and self._key_unknown:
            return _KEY_UNKNOWN
        source = f"{SOURCE}, {state.operator} at the table" if isinstance(order, Jpot) else SOURCE
        give = self._start_game if isinstance(order, StartGame) else self._submit
        handled = await give(order, source)
        if handled.refusal is not None:
            return KeyAnswer("refused", self._labelled(str(handled.refusal)))
        return KeyAnswer("done", self._labelled(_done(meant, self._engine.state)))

    async def turned(self, position: KeyPosition) -> None:
        """Take where the key switch stands; what the record has already is no news."""
        self._key_unknown = False
        progressive = self._engine.state.progressive
        if progressive is None or progressive.procedure.kind != "aquarius":
            return
        if progressive.procedure.key != position:
            await self._submit(TurnKey(Key(position), KEY_SWITCH), KEY_SWITCH)

    def _labelled(self, text: str) -> str:
        """The text with the name that the key which starts a game has on this keypad."""
        return text.replace(START_GAME, self._start_label)

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
        """Have the keypad's state published. Where its key stands while it is away is not known."""
        if self._key_switch and not self._driver.health().connected:
            self._key_unknown = True
        super().link_changed()


def _order(meant: KeyedOrder, state: TableState) -> Any:
    """What the keys mean as an order, in the operator's name.

    J-POT is in that of the key that was turned for it; with the key in RUN it is the dealer's, for an award that the house
    lets the dealer confirm alone.
    """
    fields: dict[str, Any] = {"card": meant.card, "seat": meant.seat}
    fields |= {"round": state.round, "reason": REASON}
    takes = {name for name, each in CATALOGUE[meant.kind].fields.items() if each.required}
    procedure = None if state.progressive is None else state.progressive.procedure
    turned = procedure is not None and procedure.kind == "aquarius" and procedure.key is Key.JPH
    who = KEY_SWITCH if CATALOGUE[meant.kind].event is Jpot and turned else state.operator or ""
    return event_of(meant.kind, {name: fields[name] for name in takes}, who)


def _done(meant: KeyedOrder, after: TableState) -> str:
    """What to say of an order that was carried out."""
    progressive = after.progressive
    if meant.seat is not None and progressive is not None:
        on = meant.seat in progressive.procedure.hand.selected
        return f"seat {meant.seat} is selected" if on else f"seat {meant.seat} is taken back"
    if meant.kind == "start_game" and progressive is not None:
        seats = " ".join(map(str, progressive.procedure.hand.wagers)) or "none"
        return f"{START_GAME}: wagers of {seats}"
    label = CATALOGUE[meant.kind].label.lower()
    return _DONE.get(meant.kind, f"{label}: done" if meant.card is None else f"{meant.card} is keyed")
