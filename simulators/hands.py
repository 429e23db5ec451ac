"""The devices of a dealer and a supervisor: a keypad with a key switch, or consoles and a card reader."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from punto.drivers.base import KeyPosition
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.card_reader.device import NotTakenError
from punto.simulators.console import ConsoleRefusedError, ConsoleUser
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.staff import SUPERVISORS, Act, order_of
from punto.simulators.table_dealer import Outcome

_KEYS: Final = {
    "open_betting": "F1",
    "close_betting": "F2",
    "start_game": "F5",
    "jpot": "F7",
    "game_over": "F8",
}
_POSITIONS: Final[dict[str, KeyPosition]] = {"key_to_jph": "jph", "key_to_run": "run"}
_ON_ITS_WAY_SECONDS: Final = 0.2  # the keypad reports the key's position by itself, after which it counts


class AquariusHands:
    """At an Aquarius keypad with the default keys and its key switch; `supervisor` gives the orders of a console."""

    def __init__(self, keypad: VirtualKeypad, supervisor: Callable[[Act], Awaitable[Outcome]]) -> None:
        self._keypad = keypad
        self._supervisor = supervisor

    async def do(self, act: Act) -> Outcome:
        """Press the keys for this act, or turn the key."""
        if act.do in _POSITIONS:
            self._keypad.turn(_POSITIONS[act.do])
            await asyncio.sleep(_ON_ITS_WAY_SECONDS)
            return Outcome(done=True, text=f"the key is in {_POSITIONS[act.do].upper()}")
        if act.do == "change_shoe":
            return await self._supervisor(act)
        keys = ["F6", str(act.seat)] if act.do == "hand_button" else [_KEYS[act.do]]
        for key in keys:
            answer = await self._keypad.press(key)
        return Outcome(done=answer.result == "done", text=answer.text)


class NexusHands:
    """At the consoles of Nexus Command: the dealer's and the supervisor's, with the supervisor's card track."""

    def __init__(
        self, dealer: ConsoleUser, supervisor: ConsoleUser, reader: VirtualCardReader, track: str
    ) -> None:
        self._dealer = dealer
        self._supervisor = supervisor
        self._reader = reader
        self._track = track

    async def do(self, act: Act) -> Outcome:
        """Press the button for this act at a console, or swipe the card."""
        if act.do == "swipe_card":
            return await self._swipe()
        user = self._supervisor if act.do in SUPERVISORS else self._dealer
        try:
            round_ = (await user.table())["state"]["round"] if act.do == "start_game" else 0
            if act.do == "change_shoe":
                await self._dealer.collect_commission()
            kind, fields = order_of(act, "nexus", round=round_)
            await user.order(kind, **fields)
            if act.do != "hand_button":
                return Outcome(done=True, text="done")
            seats = (await user.table())["progressive"]["seats"]
        except ConsoleRefusedError as refused:
            return Outcome(done=False, text=str(refused))
        on = any(each["seat"] == act.seat and each["selected"] for each in seats)
        return Outcome(done=True, text=f"seat {act.seat} is {'selected' if on else 'taken back'}")

    async def _swipe(self) -> Outcome:
        try:
            answer = await self._reader.swipe(self._track)
        except NotTakenError as error:
            return Outcome(done=False, text=str(error))
        return Outcome(done=answer.result == "accepted", text=answer.text)
