"""No award that the cards were worth is passed over, and none is made by people who may not make it, whatever is done at which door.

Chance plays evenings at a table with a progressive: orders of any kind by any person at the consoles, the socket and the keypad,
cards swiped, coins laid and late, hands corrected, two orders at one moment, the service killed. A witness sees only what the
table was told and what it answered, works out from the cards what each game was worth, and holds both to the law.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from punto.baccarat.cards import Card
from punto.baccarat.progressive.aquarius import KEY_SWITCH
from punto.baccarat.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked, NobodyWonLogged
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings, OpenMeter
from punto.baccarat.progressive.game_events import ReopenGame, StartGame
from punto.baccarat.progressive.state import Award
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.effects import Effect, MeterMoved, RoundEnded
from punto.baccarat.table.events import CardDrawn, CardUnread, Event, SetWager, ShoeHello
from punto.baccarat.table.order_kinds import CorrectCard, CorrectRound, VoidRound
from punto.baccarat.table.state import RoundRecord, TableState
from punto.baccarat.table.table import Table
from punto.controller.accounts.accounts import Account, Accounts
from punto.controller.accounts.refusals import RefusalError
from punto.controller.accounts.roles import Role
from punto.controller.config.devices import KeypadConfig
from punto.controller.config.sections import AccountsConfig
from punto.controller.devices.card_door import CardDoor
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import Answer, Fitted, Peer
from punto.controller.outbox import Outbox
from punto.controller.supervisor import gate_of
from punto.drivers.base import (
    CardAnswer,
    LinkHealth,
    StartUnconfirmed,
    WagerLifted,
    WagerPlaced,
    WagersLatched,
)
from punto.drivers.keypad.serial_line import SerialKeypad
from tests import cheap
from tests.operators.consoles import PASSWORD, Clock
from tests.service.table_in_this_process import TOPIC
from tests.table.croupier import settings as table_settings

SEATS: Final = (1, 2, 3)
PEOPLE: Final[dict[str, list[Role]]] = {
    "dan": [Role.DEALER],
    "dot": [Role.DEALER, Role.TECHNICIAN],
    "sue": [Role.SUPERVISOR],
    "sam": [Role.SUPERVISOR],
    "eve": [Role.EXECUTIVE],
    "max": [Role.EXECUTIVE],
    "tom": [Role.TECHNICIAN],
    "ada": [Role.AUDITOR],
}
AT_THE_TABLE: Final = {Role.DEALER, Role.SUPERVISOR, Role.EXECUTIVE}
ABOVE: Final = {Role.SUPERVISOR, Role.EXECUTIVE}
DEALERS: Final = {
    "sign_on", "open_betting", "close_betting", "reveal", "key_card", "call_supervisor", "hold_play", "wager_placed",
    "wager_lifted", "start_game", "hand_button", "game_over", "end_game", "jpot", "confirm", "nobody_won",
}  # fmt: skip
"""What a dealer may order; the last three for an award that the house lets a dealer confirm."""
EXECUTIVES: Final = {"open_meter", "change_settings", "retire"}
TECHNICIANS: Final = {"resume_play", "accept_shoe", "accept_device", "acknowledge_alarm"}
HANDS: Final = (
    "2H KC 3H JC 4H KD",  # 25% of the meter, Player's
    "2D KC 3D JC 4D KH",  # all of it
    "2H KC 3D JC 4H KD",  # 1000 for 1
    "KC 2S JC 3S KD 4S",  # 25% of it, Banker's, who draws on 5 as Player has drawn a ten
    "4H KC KH JC 5D QD",  # 9 over 0, 40 for 1
    "KS 2S 9H 3S",  # a natural, 2 for 1
    "KS KD 7S 7D",  # a tie
    "KS 2C 4S 3C 2D 7D",  # nothing
)
KEYS: Final = ("F1", "F2", "F5", "F7", "F8", "F11", "F12", *(f"F6 {seat}" for seat in SEATS))
OF_THE_METER: Final = {"two_three_four_diamonds", "two_three_four_suited"}


# --- what a hand is worth, worked out apart from the program (sheet 001, pay table #2)


def total(cards: tuple[str, ...]) -> int:
    return sum("A23456789".find(card[0]) + 1 for card in cards) % 10


def worth(player: tuple[str, ...], banker: tuple[str, ...]) -> tuple[str, str] | None:
    """The tier and the side that wins it; None where the hand wins no award."""
    of_player, of_banker = total(player), total(banker)
    if of_player == of_banker:
        return None
    side, cards = ("player", player) if of_player > of_banker else ("banker", banker)
    margin = abs(of_player - of_banker)
    if sorted(card[0] for card in cards) == ["2", "3", "4"] and margin == 9:
        suits = {card[1] for card in cards}
        if len(suits) > 1:
            return "two_three_four_unsuited", side
        return "two_three_four_diamonds" if suits == {"D"} else "two_three_four_suited", side
    if max(total(player[:2]), total(banker[:2])) >= 8:
        return "natural_winner", side
    if margin == 9:
        return "nine_over_zero", side
    return ("eight_over_zero", side) if {of_player, of_banker} == {0, 8} else None


# --- what the table was told and what it answered, held to the law


@dataclass
class Game:
    """A game of the progressive: its seats, and the round whose cards decided it."""

    round: int
    seats: tuple[int, ...]
    decided: int | None = None
    cards: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    bases: dict[int, set[str]] = field(default_factory=dict)
    past: bool = False  # another hand has been dealt since

    def won(self, house: "House") -> tuple[str, tuple[int, ...]] | None:
        """The tier that its cards were worth and the seats that won it, or can have won it where nobody saw base wagers."""
        found = None if self.cards is None else worth(*self.cards)
        if found is None:
            return None
        tier, side = found
        seats = tuple(s for s in self.seats if house.unseen or side in self.bases.get(s, set()))
        return (tier, seats) if seats else None


class House(NamedTuple):
    """What a table has and asks for."""

    procedure: str
    unseen: bool
    sensors: bool
    key_switch: bool
    card_reader: bool
    second_factor: bool
    supervisor_from: int
    executive_from: int | None
    approval_above: int | None
    split: str

    @property
    def meter(self) -> dict[str, Any]:
        return {
            "procedure": self.procedure,
            "base_wagers": "unseen" if self.unseen else "recorded",
            "supervisor_from": self.supervisor_from,
            "executive_from": self.executive_from if self.procedure == "nexus" else None,
            "approval_above": self.approval_above,
            "split": self.split,
        }


class Witness:
    """Holds a table to the law."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.game: Game | None = None
        self.awards: dict[int, Award] = {}
        self.backed_out: set[int] = set()
        self.denials: list[NobodyWonLogged] = []
        self.swiped: str | None = None
        self.made = self.denied = 0

    def sees(self, event: Any, before: TableState, after: TableState, effects: list[Effect]) -> None:
        """An event was carried out."""
        was, now = before.progressive, after.progressive
        assert was is not None
        assert now is not None
        game_before = None if self.game is None else self.game.won(self.house)
        self._who(event, before)
        if isinstance(event, StartGame):
            self.game = Game(now.procedure.hand.round, now.procedure.hand.wagers)
        for effect in effects:
            match effect:
                case RoundEnded(record):
                    self._round(record, was.procedure.step.value == "playing" or now.decided == record.round)
                case MeterMoved(AwardLocked(award)):
                    self._award(award, before)
                case MeterMoved(AwardBooked(award)):
                    assert award.id in self.awards, f"{award} was booked and never logged"
                case MeterMoved(AwardBackedOut(award)):
                    self.backed_out.add(award.id)
                case MeterMoved(NobodyWonLogged() as denial):
                    self._authority(denial, before)
                    self.denials.append(denial)
                    self.denied += 1
                case _:
                    pass
        if isinstance(event, CorrectRound | VoidRound | CorrectCard) and self.game is not None:
            self._corrected(event, game_before, self.game.won(self.house))
        self.sees_an_end(after)

    # --- no award is passed over

    def _round(self, record: RoundRecord, of_the_game: bool) -> None:
        game = self.game
        if game is None:
            return
        if record.status in {"played", "dummy"} and of_the_game and game.decided is None:
            game.decided = record.round
            game.cards = (tuple(record.player), tuple(record.banker))
            game.bases = {}
            for each in record.settlements:
                game.bases.setdefault(each.seat, set()).add(each.wager)
        elif record.status != "correction" and game.decided is not None:
            game.past = True
        elif record.status == "correction" and record.corrects == game.decided:
            game.cards = None if record.winner is None else (tuple(record.player), tuple(record.banker))

    def sees_an_end(self, state: TableState) -> None:
        """A game that is over was awarded, or it was confirmed that nobody won it, by the cards as they are known now."""
        assert state.progressive is not None
        procedure = state.progressive.procedure
        game = self.game
        if (
            game is None
            or game.decided is None
            or procedure.step.value != "betting"
            or procedure.hand.round != game.round
        ):
            return
        won = game.won(self.house)
        if won is None:
            return
        tier, seats = won
        # What is backed out after the next hand is the Game Manager's to make good; before that the game is opened again.
        made = [
            award
            for award in self.awards.values()
            if award.round == game.round and (game.past or award.id not in self.backed_out)
        ]
        awarded = any(
            award.rule == tier
            and (set(award.seats) <= set(seats) if self.house.unseen else award.seats == seats)
            for award in made
        )
        denied = [each for each in self.denials if (each.round, each.rule) == (game.round, tier)]
        assert awarded or denied, f"game {game} was worth {won}, and is over with {made}"

    # --- nobody makes one alone who may not

    def _who(self, event: Any, before: TableState) -> None:
        who, kind = getattr(event, "who", None), event.kind
        if kind not in CATALOGUE or who is None or (who == KEY_SWITCH and self.house.key_switch):
            return
        if kind == "swipe_card":
            assert who == self.swiped, f"{event}: no card of theirs was swiped"
        roles = set(PEOPLE[who])
        allowed = ABOVE | ({Role.TECHNICIAN} if kind in TECHNICIANS else set())
        allowed = AT_THE_TABLE if kind in DEALERS else {Role.EXECUTIVE} if kind in EXECUTIVES else allowed
        assert roles & allowed, f"{event} was carried out for {roles}"
        second = getattr(event, "approved_by", None)
        threshold = self.house.approval_above
        moved = {
            Adjust: lambda: event.amount,
            BackOut: lambda: self.awards[event.award].amount,
            OpenMeter: lambda: 1_000_000,
        }
        if isinstance(event, ReopenGame | ChangeSettings) or (
            threshold is not None and type(event) in moved and moved[type(event)]() > threshold
        ):
            assert second not in {None, who}, f"{event} was carried out for one person alone"
        if second is not None:
            assert second != who
            assert set(PEOPLE[second]) & allowed, f"{event} was approved by {PEOPLE[second]}"

    def _award(self, award: Award, before: TableState) -> None:
        assert award.id not in self.awards
        self.awards[award.id] = award
        self.made += 1
        self._authority(award, before)
        game = self.game
        assert game is not None
        won = game.won(self.house)
        assert won is not None, f"{award} was made of a hand worth nothing: {game}"
        assert award.round == game.round
        assert award.rule == won[0]
        assert set(award.seats) <= set(won[1]), f"{award} is of others than {won}"

    def _authority(self, made: Award | NobodyWonLogged, before: TableState) -> None:
        """Who made it is who its amount and payer ask for: the dealer, a supervisor, or an executive beside another person."""
        house = self.house
        if made.who == KEY_SWITCH:
            assert house.key_switch
            assert house.procedure == "aquarius"
            return
        roles = set(PEOPLE[made.who])
        if not roles & ABOVE:
            assert roles & AT_THE_TABLE
            assert made.payer == "tray"
            assert made.amount < house.supervisor_from, f"{made} was made by a dealer alone"
            return
        if (
            house.procedure == "nexus"
            and house.executive_from is not None
            and made.amount >= house.executive_from
        ):
            assert Role.EXECUTIVE in roles, f"{made} was made without an executive"
            assert made.by == "card" or made.who != made.confirmed_by, (
                f"{made} was signed by one person alone"
            )

    def _corrected(
        self, event: Any, was: tuple[str, tuple[int, ...]] | None, now: tuple[str, tuple[int, ...]] | None
    ) -> None:
        """A correction that makes, takes or moves an award of the meter is two people's."""
        of_meter = [each if each is not None and each[0] in OF_THE_METER else None for each in (was, now)]
        if not isinstance(event, CorrectCard) and of_meter[0] != of_meter[1]:
            assert event.approved_by not in {None, event.who}, (
                f"{event} moved {was} to {now} for one person alone"
            )


class Witnessed(Table):
    """A table that is seen by a witness."""

    witness: Witness

    def handle(self, event: Event) -> list[Effect]:
        before = self.state
        effects = super().handle(event)
        self.witness.sees(event, before, self.state, effects)
        return effects


# --- the doors


class Sensors:
    """A driver of wager sensors that are there; the test tells what they see."""

    seats = frozenset(SEATS)

    def health(self) -> LinkHealth:
        return LinkHealth("/dev/sensors", True, "", datetime(2026, 1, 1, tzinfo=UTC), "VC-1", {})


class UnlockedReader(CardDoor):
    """A reader that no number of refused cards locks: people here swipe at random."""

    async def swipe(self, number: str) -> CardAnswer:
        self._misses.clear()
        return await super().swipe(number)


class Cards(NamedTuple):
    """Whose card has which number: the accounts' own search takes tens of milliseconds for each."""

    of: dict[str, Account]

    def owner_of(self, number: str) -> Account | None:
        return self.of.get(number)

    def close(self) -> None:
        """Nothing."""


class Caller(NamedTuple):
    """Somebody at a session of a console."""

    name: str
    roles: tuple[Role, ...]
    where: str = "127.0.0.1"


@cache
def accounts() -> tuple[TemporaryDirectory[str], Path]:
    """The accounts' file of all evenings; passwords of theirs are hashed as cheaply as can be."""
    folder = TemporaryDirectory()
    path = Path(folder.name) / "operators.db"
    found = Accounts.open(path)
    hash_ = cheap.HASHER.hash(PASSWORD)
    for name, roles in PEOPLE.items():
        found.add(name, roles, PASSWORD, "2026-03-14T21:05:09.000000+00:00", hash_=hash_)
    found.close()
    return folder, path


class Doors:
    """A table with all its doors, in the hands of chance."""

    def __init__(self, house: House, folder: Path) -> None:
        self.house = house
        self.record = folder / "table.db"
        self.own = table_settings(game_name="progressive-2", meter=house.meter)
        self.witness = Witness(house)
        self.clock = Clock()
        self.steps = 0
        self.key = "run"  # of the switch, whatever the service knows of it
        self.interrupted: tuple[int, Callable[[], Awaitable[None]]] | None = None

    async def open(self) -> None:
        """Start the service on its record."""
        self.journal = Journal.open(self.record)
        self.outbox = Outbox()
        self.engine = await Engine.start(self.journal, self.outbox, TOPIC, self.own, "0.1.0")
        seen = Witnessed(self.engine.execution.table.state)
        seen.witness = self.witness
        self.engine.execution._table = seen
        self.watch = asyncio.create_task(self.journal.watch())
        self.gate = gate_of(
            AccountsConfig.model_validate(
                {"path": accounts()[1], "refusals_per_minute": 1000, "approval": "page"}
            ),
            None,
            self.engine,
        )
        self.gate._clock = self.clock
        house = self.house
        by_name = {name: await self.gate.check(name, PASSWORD, "here", "a card") for name in PEOPLE}
        driver: Any = Sensors()
        cards: Any = Cards(by_name)  # the door asks no more of them
        self.cards = UnlockedReader(
            self.engine, self.outbox, driver, cards, second_factor=house.second_factor, clock=self.clock
        )
        self.sensors = CoinSpotDoor(self.engine, self.outbox, driver) if house.sensors else None
        fitted = Fitted(
            gives=self._gives, start_game=None if self.sensors is None else self.sensors.start_game
        )
        self.desk = Desk(self.engine, self.record.parent, fitted, self.gate)
        self.desk.waiting._clock = self.clock
        self.keypad = KeypadDoor(
            self.engine,
            self.outbox,
            SerialKeypad("/dev/keypad", 115_200),
            KeypadConfig(port="/dev/keypad", key_switch=house.key_switch),
            fitted.start_game,
        )
        if self.sensors is not None:
            await self.sensors.begin()
        if house.key_switch:
            await self.keypad.turned(self.key)  # type: ignore[arg-type]  # run or jph

    def _gives(self) -> frozenset[str]:
        given = {"wager_placed", "wager_lifted"} if self.house.sensors else set()
        given |= {"turn_key"} if self.house.key_switch else set()
        return frozenset(given | ({"swipe_card"} if self.house.card_reader else set()))

    async def kill(self) -> None:
        """The service ends without a word, and is started again."""
        before = self.engine.state
        await self.close()
        await self.open()
        now = self.engine.state.progressive
        assert now is not None
        assert before.progressive is not None
        assert (now.books, now.decided, now.played_on) == (
            before.progressive.books, before.progressive.decided, before.progressive.played_on
        )  # fmt: skip
        hand = before.progressive.procedure.hand
        assert now.procedure.step == before.progressive.procedure.step
        assert now.procedure.hand == hand
        self.witness.sees_an_end(self.engine.state)
        await self.hello()

    async def close(self) -> None:
        self.watch.cancel()
        with suppress(asyncio.CancelledError):
            await self.watch
        self.gate.close()
        await self.journal.close()

    @property
    def state(self) -> TableState:
        return self.engine.state

    async def step(self) -> None:
        """One more thing is done at the table; what was to happen after so many happens before it."""
        self.steps += 1
        self.clock.now += 1
        if self.interrupted is not None and self.steps >= self.interrupted[0]:
            (_, happens), self.interrupted = self.interrupted, None
            await happens()

    # --- the shoe, the seats, the sensors

    async def hello(self) -> None:
        expected = self.state.link.expected
        await self.engine.submit_from_shoe([ShoeHello("IS-1", 1, expected, expected, 8)])

    async def draw(self, card: str | None) -> None:
        await self.step()
        at = self.state.link.expected
        seen = CardUnread(at) if card is None else CardDrawn(at, Card(card), 99)
        await self.engine.submit_from_shoe([seen])

    async def wager(self, seat: int, side: str) -> None:
        await self.step()
        request = SetWager(f"{self.steps}", seat, side, 500, self.state.round.number)
        await self.engine.submit([request], "mqtt")

    async def coin(self, seat: int, *, there: bool = True) -> None:
        await self.step()
        if self.sensors is None:
            await self.order("dan", "wager_placed" if there else "wager_lifted", seat=seat)
        else:
            await self.sensors.take([WagerPlaced(seat, self.steps) if there else WagerLifted(seat)])

    # --- people

    async def order(self, who: str, order: str, *, door: str = "console", by: str | None = None,
                    second: str | None = None, confirmed: bool = True, **fields: Any) -> Answer:  # fmt: skip
        """An order at a door: by who is signed on at a console, signed there by another, or signed at the socket."""
        await self.step()
        signs = who if door == "socket" else by
        people = {"by": {"name": signs, "password": PASSWORD}} if signs is not None else {}
        if second is not None:
            people["approval"] = {"name": second, "password": PASSWORD}
        caller = Peer("root", ()) if door == "socket" else Caller(who, tuple(PEOPLE[who]))
        request = json.dumps({"order": order, **fields, **people}).encode()
        asked = self.desk.ask(request, caller)
        return await (self._with_sensors(asked, confirmed=confirmed) if order == "start_game" else asked)

    async def approve(self, who: str) -> None:
        """At a session of their own somebody approves what waits."""
        await self.step()
        for each in self.desk.waiting.all(self.state)[-1:]:
            with suppress(RefusalError):
                await self.desk.approve(each.number, Caller(who, tuple(PEOPLE[who])))

    async def press(self, keys: str, *, confirmed: bool = True) -> None:
        await self.step()
        for key in keys.split():
            pressed = self.keypad.press(key)
            await (self._with_sensors(pressed, confirmed=confirmed) if key == "F5" else pressed)

    async def turn(self, to: str) -> None:
        """A supervisor turns the key: at the keypad, where one is fitted, or at a console."""
        await self.step()
        if self.house.key_switch:
            self.key = to
            await self.keypad.turned(to)  # type: ignore[arg-type]  # run or jph
        else:
            await self.order("sue", "turn_key", to=to)

    async def swipe(self, who: str, *, password: bool = True) -> None:
        if not self.house.card_reader:
            return
        await self.step()
        self.witness.swiped = who
        answer = await self.cards.swipe(who)
        if answer.result == "second_factor" and password:
            await self.cards.confirm(PASSWORD, "127.0.0.1", self.gate.second_factor)
        self.witness.swiped = None

    async def _with_sensors(self, asked: Awaitable[Any], *, confirmed: bool) -> Any:
        """START GAME, to which the sensors answer: with what they latched, or not at all; a coin comes too late meanwhile."""
        if self.sensors is None:
            return await asked
        asking = asyncio.ensure_future(asked)
        while not asking.done() and self.sensors._start is None:  # noqa: ASYNC110 - the door tells nobody of it
            await asyncio.sleep(0)
        if not asking.done():
            round_ = self.sensors.orders().round
            assert round_ is not None
            assert self.state.progressive is not None
            latched = WagersLatched(round_, self.state.progressive.procedure.hand.sensors)
            await self.sensors.take([latched if confirmed else StartUnconfirmed(round_)])
        return await asking


# --- chance


def fields_of(order: str, state: TableState, draw: Callable[[Any], Any]) -> dict[str, Any]:
    """What somebody could write in an order of this kind at this table."""
    coup = () if state.round.coup is None else state.round.coup.cards
    last = state.history.last
    hands = ([], []) if last is None else (list(last.player), list(last.banker))
    correct = draw(st.sampled_from(HANDS)).split()
    values: dict[str, Any] = {
        "reason": "r",
        "position": max(len(coup), 1),
        "card": draw(st.sampled_from(("4D", "4H", "KD", "9S"))),
        "round": state.round.number if order == "start_game" or last is None else last.round,
        "player": _as_dealt(correct)[0] if draw(st.booleans()) else hands[0],
        "banker": _as_dealt(correct)[1] if draw(st.booleans()) else hands[1],
        "serial": "IS-1",
        "game": "progressive-2",
        "number": state.alarms[-1].number if state.alarms else 1,
        "seat": draw(st.sampled_from(SEATS)),
        "to": draw(st.sampled_from(("jph", "run"))),
        "level": "executive",
        "cause": "increase",
        "amount": 100,
        "award": 1 if state.progressive is None else max(1, state.progressive.books.next_award - 1),
        "day": "2026-11-21",
    }
    if order == "change_settings":
        return {"reason": "r", "seat_one": draw(st.sampled_from(("left", "right")))}
    return {name: values[name] for name, each in CATALOGUE[order].fields.items() if each.required}


def _as_dealt(cards: list[str]) -> tuple[list[str], list[str]]:
    """Both hands of cards in the order in which they leave the shoe."""
    first, second, third, fourth, *more = cards
    player, banker = [first, third], [second, fourth]
    (player if total(tuple(player)) <= 5 else banker).extend(more[:1])
    banker.extend(more[1:])
    return player, banker


PEOPLE_S = st.sampled_from(sorted(PEOPLE))
DOORS_S = st.sampled_from(("console", "console", "socket"))
ORDERS = sorted({*CATALOGUE} - {"retire", "sign_off"})  # which end an evening
HOUSES_S = st.builds(
    House,
    st.sampled_from(("aquarius", "nexus")),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from((0, 0, 5_000)),
    st.sampled_from((None, 10_000, 200_000)),
    st.sampled_from((0, 0, 500_000, None)),
    st.sampled_from(("winners", "participants")),
)


class Evenings(RuleBasedStateMachine):
    """An evening at a table, step by step."""

    steps = made = denied = 0

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory()
        self.doors: Doors | None = None

    @property
    def at(self) -> Doors:
        assert self.doors is not None
        return self.doors

    def run(self, doing: Any) -> Any:
        return self.runner.run(doing)

    @initialize(house=HOUSES_S)
    def opens(self, house: House) -> None:
        self.doors = Doors(house, Path(self.folder.name))
        self.run(self.begin())

    async def begin(self) -> None:
        at = self.at
        await at.open()
        await at.hello()
        await at.order("dan", "sign_on")
        await at.order("eve", "open_meter")
        await at.approve("max")
        await at.order("sue", "change_shoe")
        await at.order("dan", "open_betting")

    @rule(data=st.data())
    def something_happens(self, data: Any) -> None:
        self.run(self.something(data.draw))

    @rule(who=PEOPLE_S)
    def what_waits_is_approved(self, who: str) -> None:
        self.run(self.at.approve(who))

    @rule(keys=st.sampled_from(KEYS), confirmed=st.booleans())
    def a_key_is_pressed(self, keys: str, confirmed: bool) -> None:
        self.run(self.at.press(keys, confirmed=confirmed))

    @precondition(lambda self: self.doors is not None and self.at.house.procedure == "aquarius")
    @rule(to=st.sampled_from(("jph", "run")))
    def the_key_is_turned(self, to: str) -> None:
        self.run(self.at.turn(to))

    @rule(who=PEOPLE_S, password=st.booleans())
    def a_card_is_swiped(self, who: str, password: bool) -> None:
        self.run(self.at.swipe(who, password=password))

    @rule(seat=st.sampled_from(SEATS), there=st.booleans())
    def a_coin_is_laid_or_taken(self, seat: int, there: bool) -> None:
        self.run(self.at.coin(seat, there=there))

    @rule(seat=st.sampled_from(SEATS), side=st.sampled_from(("player", "banker")))
    def a_seat_wagers(self, seat: int, side: str) -> None:
        self.run(self.at.wager(seat, side))

    @rule(hand=st.sampled_from(HANDS), cards=st.integers(1, 6))
    def cards_leave_the_shoe(self, hand: str, cards: int) -> None:
        self.run(self.deal(hand.split()[:cards]))

    @rule(data=st.data(), first=PEOPLE_S, second=PEOPLE_S, kinds=st.tuples(*[st.sampled_from(ORDERS)] * 2))
    def two_order_at_one_moment(self, data: Any, first: str, second: str, kinds: tuple[str, str]) -> None:
        asked = [(who, kind, fields_of(kind, self.at.state, data.draw)) for who, kind in zip((first, second), kinds, strict=True)
                 if kind != "start_game"]  # fmt: skip

        async def both() -> None:
            await asyncio.gather(*(self.at.order(who, kind, **fields) for who, kind, fields in asked))

        self.run(both())

    @rule(data=st.data(), hand=st.sampled_from(HANDS), seats=st.sets(st.sampled_from(SEATS), min_size=1),
          side=st.sampled_from(("player", "banker")), by_key=st.booleans(), done=st.sampled_from(("", "award", "nobody")),
          who=st.sampled_from(("dan", "sue", "eve")), second=st.sampled_from((None, "sam", "max")), after=st.integers(1, 60))  # fmt: skip
    def a_game_is_played(self, data: Any, hand: str, seats: set[int], side: str, by_key: bool, done: str, who: str,
                         second: str | None, after: int) -> None:  # fmt: skip
        self.at.interrupted = (self.at.steps + after, lambda: self.something(data.draw))
        self.run(self.play(hand, seats, side, by_key=by_key))
        if done:
            self.run(self.see_to_it(who, second, set(), nobody=done == "nobody"))

    another_game = a_game_is_played
    one_more = a_game_is_played

    @rule(data=st.data(), who=st.sampled_from(("dan", "sue", "eve")), second=st.sampled_from((None, "sam", "max")),
          leave_out=st.sets(st.integers(0, 8), max_size=2), nobody=st.booleans())  # fmt: skip
    def the_award_is_seen_to(
        self, data: Any, who: str, second: str | None, leave_out: set[int], nobody: bool
    ) -> None:
        self.run(self.see_to_it(who, second, leave_out, nobody=nobody))

    @rule(who=st.sampled_from(("sue", "eve")), second=st.sampled_from(("sam", "max")),
          kind=st.sampled_from(("back_out", "reopen_game")), data=st.data())  # fmt: skip
    def what_is_over_is_opened_again(self, who: str, second: str, kind: str, data: Any) -> None:
        self.run(self.at.order(who, kind, second=second, **fields_of(kind, self.at.state, data.draw)))

    async def something(self, draw: Callable[[Any], Any]) -> None:
        """Anything at all, by anybody, at any door."""
        at = self.at
        happens = draw(
            st.sampled_from(("order", "order", "order", "correction", "back_out", "coin", "kill", "approval"))
        )
        if happens == "kill":
            await at.kill()
        elif happens == "coin":
            await at.coin(draw(st.sampled_from(SEATS)), there=draw(st.booleans()))
        elif happens == "approval":
            await at.approve(draw(PEOPLE_S))
        elif happens == "back_out":
            who, second = draw(PEOPLE_S), draw(PEOPLE_S)
            await at.order(who, "back_out", second=second, **fields_of("back_out", at.state, draw))
        elif happens == "correction" and at.state.history.last is not None:
            player, banker = _as_dealt(draw(st.sampled_from(HANDS)).split())
            who, second = draw(st.sampled_from(("sue", "eve"))), draw(st.sampled_from((None, "sam", "max")))
            fields: dict[str, Any] = {
                "round": at.state.history.last.round,
                "player": player,
                "banker": banker,
                "reason": "r",
            }
            await at.order(who, "correct_round", second=second, **fields)
        else:
            order = draw(st.sampled_from(ORDERS))
            second = draw(st.none() | PEOPLE_S) if CATALOGUE[order].approvable else None
            people: dict[str, Any] = {
                "door": draw(DOORS_S),
                "by": draw(st.none() | PEOPLE_S),
                "second": second,
                "confirmed": draw(st.booleans()),
            }
            await at.order(draw(PEOPLE_S), order, **people, **fields_of(order, at.state, draw))

    async def deal(self, cards: list[str]) -> None:
        at = self.at
        for card in cards:
            if at.state.shoe.drawn.count(Card(card)) >= 7:  # the shoe has 8 of it
                return
            await at.draw(card)

    async def play(self, hand: str, seats: set[int], side: str, *, by_key: bool) -> None:
        """What people do who make no mistake; whatever happened before, most of it can be done."""
        at = self.at
        await at.order("sue", "resume_play", reason="r")
        if at.state.award_waits:
            await self.see_to_it("eve", "max", set(), nobody=at.house.unseen)
        await at.order("dan", "game_over" if at.house.procedure == "aquarius" else "end_game")
        if at.state.round.coup is not None:
            await at.order("sue", "void_coup", reason="r")
        if at.state.phase == "closed" or any(
            at.state.shoe.drawn.count(Card(card)) >= 6 for card in hand.split()
        ):
            await at.order("sue", "change_shoe")
        await at.order("dan", "open_betting")
        for seat in sorted(seats):
            await at.wager(seat, side)
            await at.coin(seat, there=False)
            await at.coin(seat)
        if by_key:
            await at.press("F5")
        else:
            await at.order("dan", "start_game", round=at.state.round.number)
        await self.deal(hand.split())

    async def see_to_it(self, who: str, second: str | None, leave_out: set[int], *, nobody: bool) -> None:
        at = self.at
        hand = at.state.progressive.procedure.hand if at.state.progressive else None
        won = () if hand is None or hand.won is None else hand.won.seats
        aquarius = at.house.procedure == "aquarius"
        confirm: Callable[[], Awaitable[Any]] = (
            (lambda: at.order(who, "nobody_won", second=second, reason="r"))
            if nobody
            else (lambda: at.press("F7"))
            if aquarius and at.house.key_switch
            else (lambda: at.order(who, "jpot" if aquarius else "confirm"))
        )
        steps: list[Callable[[], Awaitable[Any]]] = [
            *((lambda seat=seat: at.order("dan", "hand_button", seat=seat)) for seat in won if not nobody),
            *([lambda: at.turn("jph")] if aquarius and at.house.key_switch else []),
            confirm,
            *([lambda: at.turn("run")] if aquarius and at.house.key_switch else []),
            *([] if aquarius else [lambda: at.swipe(second or who), lambda: at.order(second or who, "sign_award")]),
            lambda: at.order("dan", "game_over" if aquarius else "end_game"),
        ]  # fmt: skip
        for number, step in enumerate(steps):
            if number not in leave_out:
                await step()

    def teardown(self) -> None:
        if self.doors is not None:
            self.run(self.doors.close())
            type(self).steps += self.doors.steps
            type(self).made += self.doors.witness.made
            type(self).denied += self.doors.witness.denied
        self.runner.close()
        self.folder.cleanup()


def evenings(examples: int) -> type[Evenings]:
    """So many evenings, and what came of them."""

    class These(Evenings):
        pass

    run_state_machine_as_test(
        These,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            database=None,
            derandomize=examples < 50,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink) if examples < 50 else (Phase.generate,),
            print_blob=True,
        ),
    )
    return These


def test_no_award_is_passed_over_and_none_is_made_by_people_who_may_not():
    seen = evenings(15)
    assert seen.made
    assert seen.denied


@pytest.mark.soak
def test_the_same_of_a_million_steps():
    steps = made = denied = 0
    while steps < 1_000_000:
        seen = evenings(200)
        steps, made, denied = steps + seen.steps, made + seen.made, denied + seen.denied
        print(f"{steps} steps, {made} awards, {denied} confirmations that nobody won")
