"""The simulated people: a dealer and supervisors at the consoles, who also make mistakes, and seats that place wagers."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.table.commission import owed_by
from punto.baccarat.table.definition import Role
from punto.baccarat.table.progressive import wagers_are_in_play
from punto.baccarat.table.state import Phase, TableState
from punto.controller.accounts.refusals import RefusalError
from punto.controller.journal.schema import RecordError
from punto.controller.orders.desk import Desk
from punto.controller.orders.requests import Order
from punto.simulators.staff import SUPERVISORS, Act, Seen, change_shoe, due, in_a_game, order_of
from tests.simulated.shoe import SERIAL, Shoe


@dataclass(frozen=True)
class Person:
    """A person at a console: `controller.orders.desk.Caller`."""

    name: str
    roles: tuple[Role, ...]
    where: str = "192.0.2.7"


ANN: Final = Person("ann", (Role.DEALER,))
BOB: Final = Person("bob", (Role.SUPERVISOR,))
EVE: Final = Person("eve", (Role.EXECUTIVE,))
MAX: Final = Person("max", (Role.EXECUTIVE,))
TIM: Final = Person("tim", (Role.TECHNICIAN,))
AUD: Final = Person("aud", (Role.AUDITOR,))
PEOPLE: Final = (ANN, BOB, EVE, MAX, TIM, AUD)


FEWEST: Final = 4
"""A hand has so many cards, or more."""
_OF_DEALERS: Final = ("wager_placed", "wager_lifted", "start_game", "hand_button", "game_over", "end_game")
_AGAIN: Final = 0.5
"""The chance that a hand that can win is settled again."""
_PLAYERS: Final = 3
"""At most so many wagers on the meter are in a game."""

_WAITS: Final = {"close_betting": 0.6, "key_card": 0.4}
"""The chance that an act that is due waits for another moment."""

Given = tuple[str, dict[str, Any], Person]
"""An order, its fields, and who gives it."""


class Staff:
    """Gives the orders that the table waits for, and now and then another."""

    def __init__(self, chance: Random, shoe: Shoe, pace: float) -> None:
        self.chance = chance
        self.pace = pace
        self.counted: Counter[str] = Counter()
        self.wrong_share = chance.choice((0.02, 0.1, 0.3))
        self.by_the_book = chance.choice((0.0, 0.7, 0.95, 0.95))
        """How often an order of the progressive is the one that its procedure asks for."""
        self.answered: Callable[[Any], None] = lambda _: None
        self.account_changed: Callable[[Person], None] = lambda _: None
        """Changes the account of a person."""
        self.wrong: Callable[[str], None] = lambda _: None
        self.seconds: tuple[Person, ...] = PEOPLE
        """Who is asked to approve an order."""
        self._shoe = shoe

    async def work(
        self,
        desk: Callable[[], Desk | None],
        spawn: Callable[[Coroutine[Any, Any, None], float | None], None],
    ) -> None:
        """Work until cancelled. Each order is a task of the service's process, as a request to its consoles is."""
        while True:
            await asyncio.sleep(self.pace * self.chance.uniform(0.3, 2.5))
            here = desk()
            if here is None:
                continue
            wanted = (
                self._wrong(here.engine.state)
                if self.chance.random() < self.wrong_share
                else self._right(here)
            )
            if wanted is not None:
                gone = self.chance.random() * 0.03 if self.chance.random() < 0.1 else None
                self.counted["browser gone before the answer"] += gone is not None
                spawn(self.give(here, *wanted), gone)
                if self.chance.random() < 0.05:  # the button was pressed twice
                    self.counted["order given twice"] += 1
                    spawn(self.give(here, *wanted), None)

    async def deal(self, desk: Callable[[], Desk | None]) -> None:
        """Draw the cards that the shoe lets go, until cancelled."""
        shoe = self._shoe
        while True:
            here = desk()
            betting = here is not None and here.engine.state.phase is Phase.BETTING
            pause = self.chance.uniform(2, 6) if betting else self.chance.uniform(0.2, 0.9)
            await asyncio.sleep(self.pace * pause)
            here = desk()
            if (
                here is not None
                and here.engine.state.shoe.number > shoe.loaded
                and here.engine.state.phase is Phase.SHOE_CHANGE
                and shoe.power
            ):
                shoe.load(here.engine.state.shoe.number)
                await asyncio.sleep(1)
                shoe.move_lid(is_open=False)
            elif shoe.unlocked and not (betting and self._waits_for_start(here)):
                shoe.draw()

    def _waits_for_start(self, desk: Desk | None) -> bool:
        waits = desk is not None and Seen.of(desk.engine.state).step == "betting"
        return waits and self.by_the_book > 0 and self.chance.random() < 0.93

    async def give(self, desk: Desk, kind: str, fields: dict[str, Any], person: Person) -> None:
        """Give an order at a console, and have it approved if it needs that."""
        self.counted["order"] += 1
        try:
            orders = await desk.orders(Order.model_validate({"order": kind, **fields}), person)
            answer = await desk.give(orders, person)
            self.answered(answer)
            if answer.waiting is not None:
                await asyncio.sleep(self.chance.uniform(0.2, 4))
                await self._approve(desk, kind, answer.waiting, person)
        except RefusalError:
            self.counted["order refused at the desk"] += 1
        except RecordError:
            pass  # the service ends

    async def _approve(self, desk: Desk, kind: str, number: int, giver: Person) -> None:
        """A second person approves an order. Seldom, the account of the giver is changed before."""
        second = MAX if self.chance.random() < 0.5 else self.chance.choice(self.seconds)
        if changed := self.chance.random() < 0.15:
            self.counted["account changed before the approval"] += 1
            self.account_changed(giver)
        approved = await desk.approve(number, second)
        self.answered(approved)
        if approved.accepted:
            self.counted["order approved"] += 1
            if changed:
                self.wrong(f"{kind} was approved, although the account of {giver.name} was changed")

    def _right(self, desk: Desk) -> Given | None:
        """The order that the table waits for."""
        state, chance = desk.engine.state, self.chance
        seen, senior = Seen.of(state), chance.choice((BOB, EVE))
        if not state.link.online:
            self._replug()
        if seen.stopped or seen.card_awaited:
            no_such_card = seen.card_awaited and not self._shoe.doubtful
            if not seen.another_shoe and (
                no_such_card or (state.round.coup is not None and chance.random() < 0.2)
            ):
                return "void_coup", {"reason": "misdeal"}, senior
            return self._as_order(due(seen), state)
        if state.alarms and chance.random() < 0.5:
            return "acknowledge_alarm", {"number": chance.choice(state.alarms).number}, senior
        if desk.waiting.all(state) and chance.random() < 0.8:
            return None
        # A linked table cannot open its meter: until the authority has, its people play the base game.
        linked_and_new = (
            state.progressive is not None and state.progressive.link is not None and not seen.step
        )
        metered = state.progressive is not None and not linked_and_new and chance.random() < 0.8
        order = self._of_the_meter(state) if metered else None
        return order or self._as_order(self._of_the_table(desk, seen), state)

    def _of_the_table(self, desk: Desk, seen: Seen) -> Act | None:
        """What is due apart from the meter, or a change of the shoe; they take their time."""
        act = due(replace(seen, step=""))
        waits = 0.0 if act is None else _WAITS.get(act.do, 0.0)
        new_shoe = (
            0.5 if seen.phase == "closed" else 0.4 if seen.phase == "betting" and self._shoe.empty else 0.0
        )
        if self.chance.random() < new_shoe:
            return change_shoe(seen)
        if self.chance.random() < waits or (act == Act("close_betting") and self._waits_for_start(desk)):
            return None
        return act

    def _as_order(self, act: Act | None, state: TableState) -> Given | None:
        """The order that an act is, and a person who may give it."""
        if act is None:
            return None
        procedure = Seen.of(state).procedure
        doubtful = self._shoe.doubtful[-1:] if state.waiting.card is not None else [self._on_the_table(state)]
        card = next((each.value for each in doubtful), "")
        known = {"round": state.round.number, "serial": SERIAL, "card": card, "reason": "seen to"}
        known["amount"] = owed_by(state, act.seat)
        self.counted["commission collected"] += act.do == "collect_commission"
        kind, fields = order_of(act, procedure, **known)
        return kind, fields, self.chance.choice((BOB, EVE)) if act.do in SUPERVISORS else ANN

    def _replug(self) -> None:
        """Pull the shoe's cable and plug it in, because it is offline: perhaps the table could not handle what it has said."""
        if self._shoe.reachable and self.chance.random() < 0.2:
            self.counted["shoe unplugged and plugged in"] += 1
            self._shoe.plug(cable=False)
            asyncio.get_running_loop().call_later(0.5, lambda: self._shoe.plug(cable=True))

    def _on_the_table(self, state: TableState) -> Card:
        """The next card that the shoe gave while it was away, or a card that was taken out by hand."""
        given = self._shoe.memory.cards_from(state.link.expected)[len(state.link.keyed_away) :]
        return given[0] if given and self.chance.random() < 0.8 else self.chance.choice(STANDARD_DECK)

    def _of_the_meter(self, state: TableState) -> Given | None:
        """An order of the progressive that fits its step, and perhaps not more than that."""
        chance, progressive = self.chance, state.progressive
        if progressive is None:
            return None
        if progressive.books.phase.value == "new":
            return "open_meter", {}, EVE
        if chance.random() < 0.03:
            number = {"award": chance.randint(1, max(1, progressive.books.next_award - 1))}
            return "back_out", {**number, "reason": "a mistake"}, chance.choice((BOB, EVE))
        coup = state.round.coup
        if (
            coup is not None
            and len(coup.cards) >= FEWEST
            and chance.random() < (0.2 if wagers_are_in_play(state) else 0.03)
        ):
            return "void_coup", {"reason": "misdeal"}, chance.choice((BOB, EVE))
        if chance.random() < self.by_the_book:
            return self._by_the_book(state)
        every = range(1, state.settings.seats + 1)
        seat = {"seat": chance.choice(progressive.procedure.hand.wagers or every)}
        reason = {"reason": "no base wager won"}
        orders: dict[str, list[tuple[str, dict[str, Any]]]] = {
            "betting": [("wager_placed", seat), ("wager_placed", seat), ("wager_lifted", seat)],
            "playing": [("hand_button", seat)],
            "settling": [
                *[("hand_button", seat)] * 3,
                *[("jpot", {}), ("confirm", {}), ("game_over", {}), ("end_game", {}), ("nobody_won", reason)],
            ],
            "logged": [("turn_key", {"to": "run"})],
            "confirmed": [("sign_award", {})],
            "adjusted": [
                ("turn_key", {"to": "run"}),
                ("game_over", {}),
                ("end_game", {}),
                ("reopen_game", reason),
            ],
        }
        if progressive.procedure.hand.sensors:
            orders["betting"] = [("start_game", {"round": state.round.number})]
        kind, fields = chance.choice(orders[progressive.procedure.step.value])
        return kind, fields, self._who(kind)

    def _by_the_book(self, state: TableState) -> Given | None:
        """The order of the progressive that its procedure asks for; or one that has the game settled again."""
        seen, chance, progressive = Seen.of(state), self.chance, state.progressive
        if progressive is None or not seen.step:
            return None
        hand = progressive.procedure.hand
        act = in_a_game(seen)
        if act == Act("start_game"):
            if hand.denied and chance.random() < _AGAIN:
                return "reopen_game", {"reason": "a seat did win"}, self._who("reopen_game")
            base = {each.seat for each in state.round.wagers if each.wager in {"player", "banker"}}
            free = sorted(base - set(hand.sensors))
            if free and len(hand.sensors) < chance.randint(1, _PLAYERS):
                return "wager_placed", {"seat": chance.choice(free)}, self._who("wager_placed")
            act = act if hand.sensors else None
        elif seen.step == "settling" and hand.won is not None and not (hand.won.certain or hand.selected):
            if chance.random() < 0.2:
                return "nobody_won", {"reason": "no base wager won"}, self._who("nobody_won")
        elif seen.step == "adjusted":
            for award in progressive.books.awards[-1:]:
                booked = award.state is AwardState.BOOKED and award.round == hand.round
                if booked and chance.random() < _AGAIN:
                    again = {"award": award.id, "reason": "another seat won"}
                    return "back_out", again, self._who("back_out")
        self.counted["order of the progressive"] += act is not None
        return self._as_order(act, state)

    def _who(self, kind: str) -> Person:
        """A person who may give this order of the progressive."""
        self.counted["order of the progressive"] += 1
        return ANN if kind in _OF_DEALERS else self.chance.choice((BOB, EVE, MAX))

    def _wrong(self, state: TableState) -> Given:
        """Any order, by any person."""
        chance = self.chance
        card = chance.choice(STANDARD_DECK).value
        last = state.history.last
        hands = (
            {"player": [c.value for c in last.player], "banker": [c.value for c in last.banker]}
            if last is not None
            else {"player": ["KS", "9H"], "banker": ["2S", "3S"]}
        )
        if chance.random() < 0.8:
            side = chance.choice(("player", "banker"))
            if hands[side]:
                hands[side][chance.randrange(len(hands[side]))] = card
        round_ = chance.choice(
            (
                state.round.number - 1,
                state.round.number - 1,
                0 if last is None else last.round,
                state.round.number,
            )
        )
        reason = {"reason": "by mistake"}
        seat = chance.randint(1, state.settings.seats)
        account = {"seat": seat, "amount": owed_by(state, seat) or 25}
        kinds: dict[str, dict[str, Any]] = {
            "sign_on": {},
            "sign_off": {},
            "open_betting": {},
            "close_betting": {},
            "reveal": {},
            "close_table": {},
            "change_shoe": {},
            "collect_commission": account,
            "waive_commission": {**account, **reason},
            "key_card": {"card": card},
            "resume_play": reason,
            "correct_card": {"position": chance.randint(1, 6), "card": card, **reason},
            "void_coup": reason,
            "correct_round": {"round": max(0, round_), **hands, **reason},
            "void_round": {"round": max(0, round_), **reason},
            "call_supervisor": reason,
            "hold_play": reason,
            "accept_shoe": {"serial": SERIAL},
            "change_game": {"game": state.settings.game.name},
        }
        kind = chance.choice(list(kinds))
        if kind in {"sign_off", "close_table", "change_shoe"} and chance.random() < 0.8:
            kind = chance.choice(("void_round", "correct_round", "void_coup"))
        self.counted["order at random"] += 1
        return kind, kinds[kind], chance.choice(PEOPLE)


class Seats:
    """The seats: clients of the broker that place wagers, repeat what is not answered, and make mistakes."""

    def __init__(
        self,
        chance: Random,
        seats: int,
        wagers: list[str],
        publish: Callable[[str, bytes], None],
        pace: float,
    ) -> None:
        self.chance = chance
        self.pace = pace
        self.counted: Counter[str] = Counter()
        self._seats = seats
        self._wagers = wagers
        self._publish = publish
        self._asked = 0
        self._table: dict[str, Any] = {}
        self._waiting: dict[tuple[int, str], bytes] = {}
        self._old: list[tuple[int, bytes]] = []

    def hear(self, name: str, message: dict[str, Any]) -> None:
        """Hear a message of the table."""
        if name == "state":
            self._table = message
        elif name.startswith("wagers/") and message["request"] is not None:
            self._waiting.pop((message["seat"], message["request"]), None)

    async def play(self) -> None:
        """Play until cancelled."""
        chance = self.chance
        while True:
            await asyncio.sleep(self.pace * chance.uniform(0.1, 1.5))
            if self._table.get("phase") == "betting" and chance.random() < 0.8:
                self._wager(chance.randint(1, self._seats))
            if self._waiting and chance.random() < 0.3:
                seat, request = chance.choice(list(self._waiting))
                self.counted["wager sent again without an answer"] += 1
                self._send(seat, self._waiting[seat, request])
                if chance.random() < 0.3:
                    del self._waiting[seat, request]
            if self._old and chance.random() < 0.1:
                self.counted["wager repeated"] += 1
                self._send(*chance.choice(self._old[-8:]))

    def _wager(self, seat: int) -> None:
        chance = self.chance
        self._asked += 1
        round_ = int(self._table["round"])
        asked: dict[str, Any] = {
            "id": f"w{self._asked}",
            "round": round_,
            "wager": chance.choice(self._wagers[:2] * 3 + self._wagers),
            "amount": 500 * chance.randint(1, 20),
        }
        match chance.randrange(20):
            case 0:
                asked["amount"] = 0
            case 1:
                asked["round"] = max(1, round_ + chance.choice((-1, 1)))
            case 2:
                asked["amount"] = chance.choice((-500, 1, 10**9))
            case 3:
                asked["wager"] = "no_such_wager"
            case 4:
                del asked["amount"]
            case 5 if self._asked > 1:
                asked["id"] = f"w{self._asked - 1}"
            case _:
                pass
        self.counted["wager"] += 1
        payload = json.dumps(asked).encode()
        self._waiting[seat, asked["id"]] = payload
        self._old.append((seat, payload))
        self._send(seat, payload)

    def _send(self, seat: int, payload: bytes) -> None:
        self._publish(f"wagers/{seat}/set", payload)
