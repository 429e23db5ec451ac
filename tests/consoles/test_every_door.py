"""Every order at every door, for every role, at every step of play: each answers as the catalogue and the machine say.

The doors are real; the table stands still: what an order would do is told and not kept, so each finds the same table.
"""

import argparse
import asyncio
import getpass
import io
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.progressive.aquarius import KEY_SWITCH, Key, TurnKey
from punto.baccarat.progressive.events import ChangeSettings
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.nexus import SignAward
from punto.baccarat.table.approval import second_person_needed
from punto.baccarat.table.catalogue import CATALOGUE, event_of
from punto.baccarat.table.events import AccessRefused, Event
from punto.baccarat.table.order_kinds import ChangeGame
from punto.baccarat.table.possible import Trials
from punto.baccarat.table.settings import ApprovedOrder
from punto.baccarat.table.state import Phase, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.commands import operator
from punto.controller import local_socket
from punto.controller.accounts.at_a_table import SOURCE
from punto.controller.accounts.roles import Role, card_level, orders_of
from punto.controller.config.devices import KeypadConfig
from punto.controller.devices.keypad_door import REASON, KeypadDoor
from punto.controller.engine import Handled
from punto.controller.orders.countersigning import APPROVAL_SECONDS
from punto.controller.orders.one_signature import refusals_at_a_desk
from punto.controller.orders.socket_door import SocketDoor
from punto.drivers.keypad.keys import DEFAULT
from punto.drivers.keypad.serial_line import SerialKeypad
from punto.runtime.pace import Pace
from tests import cheap
from tests.baccarat.table.croupier import BANKER_NATURAL, Croupier, settings
from tests.baccarat.table.linked_floor import AUTHORITY, linked
from tests.baccarat.table.test_transitions import BET, COUP, IN_PHASE, KEYED, LAMMERS
from tests.consoles.consoles import NOW, PASSWORD, Browser, Here, consoles
from tests.share import ALL, soaked

SECOND = "Second"
UNFIT = "Unfit"
APPROVED = get_args(ApprovedOrder)
SUITED = "draw 2H KC 3H JC 4H KD"
WON = ["meter", *BET, "wager 2 player 500", "wager 5 player 500", "spot 2 5", "start game", SUITED]
SELECTED = [*WON, "hand 2", "hand 5"]
LOGGED = [*SELECTED, "turn jph", "j-pot"]
CONFIRMED = [*SELECTED, "confirm"]
FORTY = [*WON[:-1], "draw 2H KC 2D JC 5H KD", "hand 2", "hand 5"]  # 40 for 1, from the tray
AQUARIUS: dict[str, Any] = {"game_name": "progressive-2", "meter": {"approval_above": None}}
NEXUS: dict[str, Any] = {"game_name": "progressive-2", "meter": {"procedure": "nexus"}}


def other(house: dict[str, Any], **meter: Any) -> dict[str, Any]:
    """A house with other settings of its meter."""
    return {**house, "meter": {**house["meter"], **meter}}


AQUARIUS_UNSEEN = other(AQUARIUS, base_wagers="unseen")
NEXUS_UNSEEN = other(NEXUS, base_wagers="unseen")

STEPS: dict[str, tuple[dict[str, Any], list[str]]] = {
    **{phase: (house, [*so_far, "noise"]) for phase, (house, so_far) in IN_PHASE.items()},
    "stopped": ({}, [*COUP, "lid open"]),
    "another shoe": ({}, [*BET, "hello B"]),
    "another keypad": ({}, [*BET, "heard keypad A", "heard keypad B"]),
    "to be keyed": (KEYED, [*BET, "key KS"]),
    "commission owed": (LAMMERS, [*BET, "wager 2 banker 2000", f"draw {BANKER_NATURAL}"]),
    "no meter": (AQUARIUS, ["sign on"]),
    "no meter and a seed above the threshold": (NEXUS, ["sign on"]),
    "an authority": ({"game_name": "progressive-2", "table": AUTHORITY, "progressive": linked(1)}, ["meter"]),
    "before the start": (AQUARIUS, ["meter", *BET, "spot 2"]),
    "hand won": (AQUARIUS, WON),
    "key in JPH": (AQUARIUS, [*SELECTED, "turn jph"]),
    "award logged": (AQUARIUS, LOGGED),
    "award booked": (AQUARIUS, [*LOGGED, "turn run"]),
    "to be confirmed": (NEXUS, SELECTED),
    "award confirmed": (NEXUS, CONFIRMED),
    "award completed": (NEXUS, [*CONFIRMED, "swipe"]),
    "award from the tray": (other(AQUARIUS, supervisor_from=10_000), FORTY),
    "award from the tray to be confirmed": (other(NEXUS, supervisor_from=10_000), FORTY),
    "hand can have won": (AQUARIUS_UNSEEN, WON),
    "hand can have won with the key in JPH": (AQUARIUS_UNSEEN, [*WON, "turn jph"]),
    "hand can have won to be confirmed": (NEXUS_UNSEEN, WON),
    "nobody confirmed": (NEXUS_UNSEEN, [*WON, "nobody"]),
    "ended with nobody as its winner": (NEXUS_UNSEEN, [*WON, "nobody", "swipe", "end game"]),
}


class Order(NamedTuple):
    """An order with its fields as requests have them, and the same as the table takes it in somebody's name."""

    kind: str
    fields: dict[str, Any]
    state: TableState

    def event(self, who: str, approved_by: str | None = None) -> Any:
        event = self._event(who)
        return event if approved_by is None else replace(event, approved_by=approved_by)

    def _event(self, who: str) -> Any:
        if self.kind == "change_game":
            return ChangeGame(who, settings(game_name=self.fields["game"]).game)
        if self.kind == "change_settings":
            assert self.state.progressive is not None
            before = self.state.progressive.books.settings
            return ChangeSettings(replace(before, seat_one="left"), "r", who, before=before)
        if self.kind == "sign_award":
            return SignAward(who, card_level([Role(who)]))
        values = {name: tuple(each) if isinstance(each, list) else each for name, each in self.fields.items()}
        return event_of(self.kind, values, who)

    def arguments(self) -> list[str]:
        """The same for the command line."""
        found = [self.kind.replace("_", "-")]
        for name, field in CATALOGUE[self.kind].fields.items():
            if name not in self.fields:
                continue
            value = self.fields[name]
            written = " ".join(value) if isinstance(value, list) else str(value)
            found += [written] if field.required else [f"--{name.replace('_', '-')}", written]
        return found


def orders(state: TableState) -> list[Order]:
    """One order of each kind, such as somebody could give of this table."""
    coup = () if state.round.coup is None else state.round.coup.cards
    last = state.history.last
    dealt = ([Card("KS"), Card("9H")], [Card("2S"), Card("3S")])
    player, banker = dealt if last is None else (list(last.player), list(last.banker))
    procedure = None if state.progressive is None else state.progressive.procedure
    in_jph = procedure is not None and procedure.kind == "aquarius" and procedure.key is Key.JPH
    values: dict[str, Any] = {
        "reason": "r",
        "position": 1,
        "card": _other(coup[0]) if coup else Card("9C"),
        "round": state.round.number if last is None else last.round,
        "player": [_other(player[0]), *player[1:]],
        "banker": banker,
        "serial": "B",
        "table": "t1",
        "game": state.settings.game.name,
        "number": state.alarms[-1].number if state.alarms else 1,
        "seat": 2,
        "to": Key.RUN if in_jph else Key.JPH,
        "level": "executive",
        "cause": Cause.INCREASE,
        "amount": 100,
        "award": 1,
        "day": "2026-11-21",
        "seat_one": "left",
    }
    own: dict[str, dict[str, Any]] = {
        "key_card": {"card": Card("9C")},
        "start_game": {"round": state.round.number},
        "change_settings": {"reason": "r", "seat_one": "left"},
    }
    return [
        Order(
            kind,
            own.get(kind) or {name: values[name] for name, f in each.fields.items() if f.required},
            state,
        )
        for kind, each in CATALOGUE.items()
    ]


def _other(card: Card) -> Card:
    return Card(card[0] + ("C" if card[1] != "C" else "D"))


class Said(NamedTuple):
    """What a door answered: accepted, or a code, and a text without what could be ordered in its place."""

    accepted: bool
    code: str | None
    text: str

    @classmethod
    def of(cls, answer: dict[str, Any]) -> "Said":
        return cls(answer.get("accepted", False), answer["code"], _bare(answer["reason"] or ""))


def _bare(reason: str) -> str:
    """A reason without what else a desk tells with it: what can be ordered in its place, and who was first."""
    return re.sub(r"\. You can now: .*| \(\w+ was first\)$", "", reason)


DONE = Said(accepted=True, code=None, text="")


def answers(state: TableState, events: Sequence[Event]) -> list[RefusedError | None]:
    """Why the table would refuse each of these, given one after the other; None where it would not."""
    table, found = Table(state), list[RefusedError | None]()
    for event in events:
        try:
            table.handle(event)
        except RefusedError as refused:
            found.append(refused)
        else:
            found.append(None)
    return found


class Doors:
    """The doors of one table, with an account of each role; `given` is what came to the table."""

    def __init__(self, here: Here, folder: Path) -> None:
        self.here = here
        self.path = folder / "operator.sock"
        self.consoles: dict[Role, Browser] = {}
        self.second = here.browser()
        self.given: list[tuple[Any, str]] = []
        self.user = getpass.getuser()
        self.keypad = KeypadDoor(
            here.table.engine,
            here.table.outbox,
            SerialKeypad("/dev/keypad", 115_200),
            KeypadConfig(port="/dev/keypad"),
        )
        self.parser = argparse.ArgumentParser(exit_on_error=False)
        operator.add_arguments(self.parser)

    async def submit(self, events: Sequence[Event], source: str, *, whole: bool = False) -> list[Handled]:
        """What the engine would answer; the table stays as it is."""
        found = answers(self.here.table.state, events)
        if not (whole and any(found)):
            self.given += [(event, source) for event in events]
        return [Handled(0, each) for each in found]

    def drop_what_waits(self) -> None:
        """Have no order wait for a second person."""
        state, waiting = self.here.table.state, self.here.desk.waiting
        for each in waiting.all(state):
            waiting.ended(each, "dropped")

    async def at_the_console(self, role: Role, order: Order, **people: Any) -> tuple[int, Said]:
        answer = await self.consoles[role].order(order.kind, **order.fields, **people)
        return answer.status, Said.of(answer.json)

    async def at_the_socket(self, order: Order, **people: Any) -> Said:
        request = {"order": order.kind, **order.fields, **people}
        return Said.of(await asyncio.to_thread(operator.ask, self.path, request))

    async def by_command(
        self, order: Order, giver: str, second: str | None, capsys: Any, monkeypatch: Any
    ) -> tuple[int, str]:
        """The exit status and what was said of a refusal."""
        whose = ["--as", giver, *(["--approved-by", second] if second else [])]
        args = self.parser.parse_args(["--socket", str(self.path), *whose, *order.arguments()])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{PASSWORD}\n".encode() * 2)))
        status = await asyncio.to_thread(operator.main, args)
        return status, _bare(capsys.readouterr().err.strip().removeprefix("refused: "))

    async def approve_what_waits(self) -> tuple[int, Said]:
        """A second person approves the only order that waits, at a session of their own."""
        (waiting,) = self.here.desk.waiting.all(self.here.table.state)
        answer = await self.second.ask("POST", f"/api/approvals/{waiting.number}", {})
        return answer.status, Said.of(answer.json)

    async def at_the_keypad(self, order: Order) -> Said:
        for key in _keys(order).split():
            answer = await self.keypad.press(key)
        done = answer.result == "done"
        return DONE if done else Said(accepted=False, code=None, text=answer.text)


def _keys(order: Order) -> str:
    if order.kind == "key_card":
        return " ".join(order.fields["card"])
    meaning = "hand 2" if order.kind == "hand_button" else order.kind
    return next(keys for keys, means in DEFAULT.items() if means == meaning)


BY_KEY = {kind for kind, each in CATALOGUE.items() if each.key} | {"key_card", "hand_button"}


@asynccontextmanager
async def doors(folder: Path) -> AsyncIterator[Doors]:
    hash_ = cheap.HASHER.hash(PASSWORD)
    async with consoles(folder, refusals_per_minute=1000, idle_minutes=480) as here:
        here.table.engine.pace = Pace(at_once=10**9, few_at_once=10**9)  # each asks more often than people do
        found = Doors(here, folder)
        people: dict[str, list[Role]] = {role: [role] for role in Role}
        people |= {SECOND: [Role.SUPERVISOR, Role.EXECUTIVE], UNFIT: [Role.AUDITOR]}
        for name, roles in people.items():
            here.accounts.add(name, roles, PASSWORD, NOW, hash_=hash_)
        for role in Role:
            found.consoles[role] = await here.signed_on(role)
        found.second = await here.signed_on(SECOND)
        here.table.engine.submit = found.submit  # type: ignore[method-assign]  # see the module's docstring
        door = local_socket.open_at(found.path, 0o600)
        serving = asyncio.create_task(local_socket.serve(door, SocketDoor(here.desk)))
        assert (await asyncio.to_thread(operator.ask, found.path, {"order": "status"}))["accepted"]
        try:
            yield found
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


def by(name: str) -> dict[str, str]:
    return {"name": name, "password": PASSWORD}


def signed(order: Order, who: str, approved_by: str | None = None) -> list[Any]:
    """What somebody's signature under an order stands for at a table without key switch and card reader, in turn.

    The key is turned for J-POT and NOBODY WON, unless it was turned before or the dealer may confirm it alone; CONFIRM and NOBODY WON are signed too.
    """
    event, state = order.event(who, approved_by), order.state
    if state.progressive is None:
        return [event]
    procedure, together = state.progressive.procedure, [event]
    if procedure.kind == "aquarius" and order.kind in {"jpot", "nobody_won"}:
        if not procedure.hand.dealer_confirms and procedure.key is Key.RUN:
            together = [TurnKey(Key.JPH, who), event, TurnKey(Key.RUN, who)]
    elif procedure.kind == "nexus" and order.kind in {"confirm", "nobody_won"}:
        together = [event, SignAward(who, card_level([Role(who)]))]
    return [event] if any(answers(state, together)) else together


def table_says(order: Order, who: str, approved_by: str | None = None, *, alone: bool = False) -> Said:
    """The machine's answer, of an order `alone` or with what else its signature stands for; of settings that cannot be changed, for there are none, that of whoever reads the order."""
    if order.kind == "change_settings" and order.state.progressive is None:
        return Said(
            accepted=False,
            code="bad_request",
            text="change_settings: this table has no progressive: configure one first",
        )
    events = [order.event(who, approved_by)] if alone else signed(order, who, approved_by)
    refused = next(filter(None, answers(order.state, events)), None)
    return DONE if refused is None else Said(accepted=False, code=refused.code, text=str(refused))


def desk_says(order: Order, who: str) -> Said:
    """The desk's answer to one person: what a second one could approve waits for them."""
    said = table_says(order, who)
    if said.code != "needs_approval" or not table_says(order, who, SECOND).accepted:
        return said
    why = said.text.removesuffix(": the second person must sign with their own name and password")
    text = f"{why}: the order waits {APPROVAL_SECONDS:.0f} s until this person approves the order in their own session"
    return Said(accepted=False, code="awaits_approval", text=text)


STATUS = {
    None: 200,
    "awaits_approval": 202,
    "bad_request": 422,
    "not_of_role": 403,
    "not_approved": 403,
    "not_signed": 403,
}


def stand(at: Doors, step: str, **changes: Any) -> list[Order]:
    """Put the table at a step, and return an order of each kind."""
    house, so_far = STEPS[step]
    state = Croupier(**house, **changes).do(*so_far).state
    engine = at.here.table.engine
    engine.state = engine.execution.table.state = state
    at.here.clock.now += 61  # refusals of the minute before count no more
    return orders(state)


@pytest.mark.in_part
async def test_the_console_and_the_socket_answer_every_role_at_every_step_as_the_catalogue_says(tmp_path):
    accepted: set[str] = set()
    met: set[tuple[str, Role, str | None, str | None, int]] = set()
    turn = count()
    async with doors(tmp_path) as at:
        for step in STEPS:
            asked = stand(at, step)
            can = refusals_at_a_desk(Trials(asked[0].state), ())
            views = {role: set((await at.consoles[role].view())["orders"]) for role in Role}
            for order in asked:
                for role in who_asks(order, next(turn)):
                    shown = views[role]
                    case = (step, order.kind, role)
                    assert (order.kind in shown) == (can[order.kind] is None and may(role, order)), case
                    expected = catalogue_says(order, role)
                    (_, at_console), at_socket = expected
                    signs = len(signed(order, role)) if at_socket.accepted else 0
                    answered = (order.kind, role, at_console.code, at_socket.code, signs)
                    if answered in met and not ALL:
                        continue
                    met.add(answered)
                    at.given.clear()
                    console = await at.at_the_console(role, order)
                    socket = await at.at_the_socket(order, by=by(role))

                    assert (console, socket) == expected, case
                    assert at.given == what_came(at, order, role), case
                    at.drop_what_waits()
                    if socket.accepted or socket.code == "awaits_approval":
                        accepted.add(order.kind)
                        assert can[order.kind] is None, case
                        assert order.kind in shown, case

    assert accepted == {kind for kind, each in CATALOGUE.items() if not each.seen}


def who_asks(order: Order, turn: int) -> Iterable[Role]:
    """Every role with `make soak`; otherwise the one whose turn it is, and the first that may give the order."""
    if ALL:
        return Role
    in_turn = list(Role)[turn % len(Role)]
    return dict.fromkeys([in_turn, *[role for role in Role if may(role, order)][:1]])


def may(role: Role, order: Order) -> bool:
    return order.kind in orders_of([role], order.state)


def catalogue_says(order: Order, role: Role) -> tuple[tuple[int, Said], Said]:
    """What the console's API answers somebody of this role, with its status, and the socket."""
    if CATALOGUE[order.kind].seen:
        text = f"{order.kind}: a device of this table gives this order, so it cannot be given here"
        unreadable = Said(accepted=False, code="bad_request", text=text)
        return (422, unreadable), unreadable
    if not may(role, order):
        text = f"your roles do not allow {order.kind}"
        unsigned = f"signature: the roles of {role} do not allow {order.kind}"
        return (403, Said(accepted=False, code="not_of_role", text=text)), Said(
            accepted=False, code="not_signed", text=unsigned
        )
    said = desk_says(order, role)
    return (STATUS.get(said.code, 409), said), said


def what_came(at: Doors, order: Order, role: Role) -> list[tuple[Any, str]]:
    """What is on the record of an order that was given at the console and, signed, at the socket."""
    if CATALOGUE[order.kind].seen:
        return []
    if not may(role, order):
        return [
            (AccessRefused(role, order.kind, "not_of_role", "127.0.0.1"), SOURCE),
            (AccessRefused(role, f"sign {order.kind}", "not_of_role", f"socket of {at.user}"), SOURCE),
        ]
    if desk_says(order, role).code in {"bad_request", "awaits_approval"}:
        return []
    return [(event, f"operator {name}") for name in (role, at.user) for event in signed(order, role)]


@pytest.mark.parametrize("giver", [Role.AUDITOR, *soaked(Role.EXECUTIVE)])
async def test_the_command_does_what_the_socket_does(giver, tmp_path, capsys, monkeypatch):
    accepted: set[str] = set()
    async with doors(tmp_path) as at:
        for step in STEPS if giver is Role.EXECUTIVE else ("betting",):
            for order in stand(at, step):
                if CATALOGUE[order.kind].seen:
                    with pytest.raises(argparse.ArgumentError, match="invalid choice"):
                        await at.by_command(order, giver, None, capsys, monkeypatch)
                    continue
                at.given.clear()
                socket = await at.at_the_socket(order, by=by(giver))
                command = await at.by_command(order, giver, None, capsys, monkeypatch)
                unsigned = await at.at_the_socket(order)

                assert command == (0 if socket.accepted else 1, socket.text), (step, order.kind)
                half = len(at.given) // 2
                assert at.given[:half] == at.given[half:], (step, order.kind)
                assert (unsigned.accepted, unsigned.code) == (False, "not_signed"), (step, order.kind)
                at.drop_what_waits()
                accepted |= {order.kind} if socket.accepted or socket.code == "awaits_approval" else set()

    everything = {kind for kind, each in CATALOGUE.items() if not each.seen}
    assert accepted == (everything if giver is Role.EXECUTIVE else set())


async def test_a_key_does_in_the_operators_name_what_the_machine_says(tmp_path):
    accepted: set[str] = set()
    async with doors(tmp_path) as at:
        for step in STEPS:
            for order in stand(at, step):
                if order.kind not in BY_KEY:
                    continue
                pressed = await at.at_the_keypad(order)
                who = order.state.operator
                if who is None:
                    assert pressed.text.startswith("no operator is signed on at this table"), (
                        step,
                        order.kind,
                    )
                    continue
                if "reason" in order.fields:
                    order.fields["reason"] = REASON
                said = table_says(order, KEY_SWITCH if order.kind == "jpot" else who, alone=True)

                assert pressed == Said(said.accepted, None, said.text), (step, order.kind)
                accepted |= {order.kind} if pressed.accepted else set()

    assert accepted == BY_KEY


def test_the_steps_are_of_every_phase():
    assert {Phase(step) for step in STEPS if step in set(Phase)} == set(Phase)


OWN_APPROVAL = Said(
    accepted=False, code="not_approved", text="you cannot approve your own order: leave `approval` out"
)


@pytest.mark.in_part
async def test_what_needs_a_second_person_needs_one_at_every_door(tmp_path, capsys, monkeypatch):
    needed: set[str] = set()
    met: set[tuple[str, str | None, str | None]] = set()
    giver = Role.EXECUTIVE
    async with doors(tmp_path) as at:
        for step in STEPS:
            for order in stand(at, step, approval=APPROVED):
                if not CATALOGUE[order.kind].approvable:
                    continue
                alone, together = table_says(order, giver), table_says(order, giver, SECOND)
                answered = (order.kind, alone.code, together.code)
                if answered in met and not ALL:
                    continue
                met.add(answered)
                if alone.code in {"not_now", "bad_request"}:  # a second person changes nothing
                    assert together == alone
                    continue
                needs = second_person_needed(order.state, order.event(giver)) is not None
                for second, expected in (
                    (None, desk_says(order, giver)),
                    (giver, table_says(order, giver, giver) if needs else OWN_APPROVAL),
                    (SECOND, together),
                ):
                    people = {} if second is None else {"approval": by(second)}
                    at.given.clear()
                    console = await at.at_the_console(giver, order, **people)
                    socket = await at.at_the_socket(order, by=by(giver), **people)
                    command = await at.by_command(order, giver, second, capsys, monkeypatch)

                    case = (step, order.kind, second)
                    waits = expected.code == "awaits_approval"
                    came = [] if waits or expected is OWN_APPROVAL else signed(order, giver, second) * 3
                    assert console == (STATUS.get(expected.code, 409), expected), case
                    assert socket == expected, case
                    assert command == (0 if expected.accepted else 1, expected.text), case
                    assert [event for event, _ in at.given] == came, case
                    if waits:
                        approved = await at.approve_what_waits()
                        assert approved == (200, DONE), case
                        assert [event for event, _ in at.given] == signed(order, giver, SECOND), case
                unfit = await at.at_the_console(giver, order, approval=by(UNFIT))
                text = f"approval: the roles of {UNFIT} do not allow {order.kind}"
                assert unfit == (403, Said(accepted=False, code="not_approved", text=text)), (
                    step,
                    order.kind,
                )
                if alone.code == "needs_approval" and together.accepted:
                    needed.add(order.kind)

    of_the_meter = {
        "open_meter",
        "adjust",
        "back_out",
        "change_settings",
        "retire",
        "forget_table",
        "reopen_game",
    }
    assert needed == {*APPROVED} | of_the_meter
