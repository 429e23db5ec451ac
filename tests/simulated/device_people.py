"""The people at a table with devices: players with coins, and dealers and supervisors at keypad, key, reader and consoles."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from punto.baccarat.table.state import Phase, TableState
from punto.controller.accounts.refusals import NotLetInError
from punto.controller.journal.schema import RecordError
from punto.controller.orders.desk import Desk
from punto.simulators.staff import SUPERVISORS, Seen, in_a_game, order_of
from tests.simulated.people import ANN, BOB, EVE, MAX, TIM, Given, Person, Staff

if TYPE_CHECKING:
    from tests.simulated.device_world import DeviceWorld

CARDS: Final = {"6000170001": BOB, "6000170002": EVE, "6000170003": MAX, "6000170004": ANN}
"""The cards, and their owners; a dealer's card confirms nothing."""
UNKNOWN: Final = "6000170099"
KEYS: Final = {
    "open_betting": "F1",
    "close_betting": "F2",
    "reveal": "ENTER",
    "start_game": "F5",
    "jpot": "F7",
    "game_over": "F8",
    "hold_play": "F11",
    "call_supervisor": "F12",
}
"""Order -> the key that gives it; that of a hand button is F6 and the seat."""


class AtTheConsoles(Staff):
    """They leave a part of the work to the devices, and accept other devices."""

    def _right(self, desk: Desk) -> Given | None:
        offered = [each.offered for each in desk.engine.state.devices.known if each.offered is not None]
        if offered and self.chance.random() < 0.1:
            return "accept_device", {"serial": self.chance.choice(offered)}, self.chance.choice((BOB, TIM))
        return super()._right(desk)

    def _of_the_meter(self, state: TableState) -> Given | None:
        new = state.progressive is not None and state.progressive.books.phase.value == "new"
        if not new and self.chance.random() < 0.7:
            return None
        return super()._of_the_meter(state)


class AtTheDevices:
    """Players with coins; and dealers and supervisors at the keypad and the reader, who make mistakes too."""

    def __init__(self, chance: Random, world: "DeviceWorld") -> None:
        self.chance = chance
        self.counted = Counter[str]()
        self.passwords = Counter[str]()
        """How often each owner has given the password that a card waits for."""
        self._world = world
        self._careless = chance.choice((0.02, 0.1, 0.3))

    # --- coins

    async def play(self, desk: Callable[[], Desk | None]) -> None:
        """Put coins on the sensors and take them away, until cancelled."""
        chance, spots = self.chance, self._world.spots
        while True:
            await asyncio.sleep(chance.uniform(0.3, 2))
            here = desk()
            if here is None or here.engine.state.progressive is None:
                continue
            step = here.engine.state.progressive.procedure.step.value
            seat = chance.randint(1, len(spots.sensors))
            betting = step == "betting" and here.engine.state.phase is Phase.BETTING
            hand = here.engine.state.progressive.procedure.hand
            if betting and seat not in hand.spent and chance.random() < 0.8:
                spots.put(seat)
            elif chance.random() < self._careless:  # too late, or taken too early
                (spots.put if chance.random() < 0.5 else spots.take)(seat)
            elif (step != "betting" or seat in hand.spent) and chance.random() < 0.4:
                spots.take(chance.choice(hand.wagers or (seat,)))

    # --- keypad, key and cards

    async def work(self, desk: Callable[[], Desk | None]) -> None:
        """Work at the keypad and the reader, until cancelled."""
        chance = self.chance
        while True:
            await asyncio.sleep(chance.uniform(0.3, 2))
            here = desk()
            if here is None:
                continue
            if here.equipment.password_of() is not None and chance.random() < 0.7:
                self._world.spawn(self._give_password(here))
            elif chance.random() < self._careless:
                await self._mistake()
            else:
                await self._right(here)

    async def _press(self, *keys: str) -> None:
        keypad, chance = self._world.keypad, self.chance
        for key in keys:
            keypad.press(key)
            if chance.random() < 0.1:
                self.counted["key pressed twice"] += 1
                await asyncio.sleep(chance.choice((0.03, 0.3)))
                keypad.press(key)
            await asyncio.sleep(chance.uniform(0.12, 0.6))

    async def _right(self, desk: Desk) -> None:
        """What the procedure asks for. Of the seats that can have won, they select one."""
        chance, world, progressive = self.chance, self._world, desk.engine.state.progressive
        if progressive is None:
            return
        seen = Seen.of(desk.engine.state)
        won = seen.won and (seen.selected or frozenset(chance.sample(seen.seats, min(1, len(seen.seats)))))
        act = in_a_game(replace(seen, won=won, key=world.keypad.key or "run"))
        if act is None:
            return
        if act.do in {"key_to_jph", "key_to_run"}:
            world.keypad.turn_key(act.do.removeprefix("key_to_"))
        elif act.do == "swipe_card":
            world.reader.swipe(chance.choice([*CARDS, UNKNOWN]))
        elif act.do == "hand_button":
            await self._press("F6", str(act.seat))
        elif act.do == "confirm" or (act.do == "game_over" and seen.procedure == "nexus"):
            kind, _ = order_of(act, seen.procedure)
            self._order(desk, kind, chance.choice((BOB, EVE)) if act.do in SUPERVISORS else ANN)
        elif act.do in {"jpot", "game_over"} or (
            act.do == "start_game" and progressive.procedure.hand.sensors
        ):
            await self._press(KEYS[act.do])

    def _order(self, desk: Desk, kind: str, person: Person) -> None:
        """Give an order at a console, beside the devices."""
        self._world.spawn(self._world.staff.give(desk, kind, {}, person))

    async def _mistake(self) -> None:
        chance, world = self.chance, self._world
        self.counted["mistake at a device"] += 1
        match chance.randrange(4):
            case 0:
                await self._press(chance.choice([*KEYS.values(), "ESC"]))
            case 1:
                await self._press("F6", str(chance.randint(1, 7)))
            case 2 if world.keypad.key is not None:
                world.keypad.turn_key(chance.choice(("run", "jph")))
            case _ if chance.random() < 0.3:
                world.reader.swipe(chance.choice([*CARDS, UNKNOWN, ""]))
            case _:
                pass

    async def _give_password(self, desk: Desk) -> None:
        """The owner of the card gives the password at a console, or a wrong one. The passwords' own code is not simulated."""
        give, who, wrong = (
            desk.equipment.give_password,
            desk.equipment.password_of(),
            self.chance.random() < 0.3,
        )

        async def second_factor(account: Any, *_: str) -> Any:
            await asyncio.sleep(self.chance.uniform(0.01, 0.2))
            if wrong:
                raise NotLetInError("refused", "a wrong password")
            self.passwords[account.name] = 1
            return account

        if give is None or who is None:
            return
        try:
            await give("", "192.0.2.7", second_factor)
        except NotLetInError:
            self.counted["wrong password"] += 1
        except RecordError:
            pass  # the service ends
