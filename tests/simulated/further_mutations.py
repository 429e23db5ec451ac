"""Mistakes of linked tables and of devices: `mutations.py` and `path_mutations.py` have those of a table."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from math import inf
from typing import Any, Final
from unittest import mock

from punto.baccarat.progressive import orders as meter_orders
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.money import share
from punto.baccarat.table import failing, meter_link
from punto.baccarat.table import table as tables
from punto.baccarat.table.events import MeterAnswered, TableAsked
from punto.controller.accounts.accounts import Accounts
from punto.controller.devices.card_door import CardDoor
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.door import DeviceDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.journal.execution import Step
from punto.controller.meter_link import authority_end, carried
from punto.controller.meter_link.authority_end import _LinkedTables
from punto.controller.meter_link.table_end import TableEnd
from punto.drivers.keypad.link import KeypadLink
from punto.drivers.link import Link
from tests.simulated.path_mutations import Mutation, at_once

# --- linked tables


def _count_linked_wagers_twice() -> AbstractContextManager[Any]:
    return mock.patch.object(meter_orders, "share", lambda stakes, rate: 2 * share(stakes, rate))


@contextmanager
def _serve_a_request_again() -> Iterator[None]:
    """The authority forgets that it has carried out a request."""
    serve = meter_link.serve

    def again(turn: Any, event: TableAsked) -> None:
        progressive = meter_link.of(turn)
        last = meter_link.served_table(progressive, event.table)
        if last is not None and last.number == event.number:
            others = tuple(each for each in progressive.served if each is not last)
            forgotten = replace(last, number=event.number - 1)
            turn.change(progressive=replace(progressive, served=(*others, forgotten)))
        serve(turn, event)

    with (
        mock.patch.dict(tables._KINDS, {TableAsked: (tables._METER, again)}),
        mock.patch.object(authority_end, "served_table", _not_served),
    ):
        yield


def _not_served(progressive: Any, table: str) -> Any:
    last = meter_link.served_table(progressive, table)
    return None if last is None else replace(last, record="")


def _answer_a_table_before_the_commit() -> AbstractContextManager[Any]:
    return at_once("table ")


@contextmanager
def _take_any_answer() -> Iterator[None]:
    """A table takes each answer for that of its present request."""

    async def any_answer(self: TableEnd, said: Any, message: Any) -> None:
        async with self._recording:
            asked, answered = self._link.asked, carried.input_of(said.answered, message)
            if asked is not None and isinstance(answered, MeterAnswered):
                await self._engine.submit([replace(answered, number=asked.number)], carried.SOURCE)

    with mock.patch.object(TableEnd, "_take_answered", any_answer):
        yield


def _show_another_meter() -> AbstractContextManager[Any]:
    message = TableEnd.message

    def more(self: TableEnd, now: Any) -> Any:
        found: Any = message(self, now)
        return found and found.model_copy(update={"meter": found.meter + len(found.seats)})

    return mock.patch.object(TableEnd, "message", more)


def _do_not_tell_a_table_of_a_change() -> AbstractContextManager[Any]:
    return mock.patch.object(_LinkedTables, "_watch", return_value=None)


def _record_again_what_failed() -> AbstractContextManager[Any]:
    return mock.patch.object(Step, "failed", new=False)


def _forget_a_request_whose_answer_failed() -> AbstractContextManager[Any]:
    note = failing._note_report

    def forgotten(turn: Any, event: Any) -> None:
        note(turn, event)
        if isinstance(event, MeterAnswered):
            progressive = meter_link.of(turn)
            link = replace(meter_link._link(progressive), asked=None, later=())
            turn.change(progressive=replace(progressive, link=link))

    return mock.patch.object(failing, "_note_report", forgotten)


LINKED: Final[dict[str, Mutation]] = {
    "count the wagers of a linked table twice": _count_linked_wagers_twice,
    "carry out a linked table's request again if it comes again": _serve_a_request_again,
    "answer a linked table before the request is committed": _answer_a_table_before_the_commit,
    "take each answer of the authority for that of the present request": _take_any_answer,
    "show a meter that the authority did not publish": _show_another_meter,
    "do not tell the tables of a changed meter": _do_not_tell_a_table_of_a_change,
    "record what stands at the authority again and again if that fails": _record_again_what_failed,
    "forget a request if the authority's answer to it fails": _forget_a_request_whose_answer_failed,
}

# --- devices


def _carry_out_a_press_twice() -> AbstractContextManager[Any]:
    ordered = KeypadDoor._ordered

    async def twice(self: KeypadDoor, meant: Any, order: Any) -> Any:
        answer = await ordered(self, meant, order)
        if isinstance(order, StartGame):
            await ordered(self, meant, order)
        return answer

    return mock.patch.object(KeypadDoor, "_ordered", twice)


def _carry_out_a_press_of_another_host() -> AbstractContextManager[Any]:
    return mock.patch.object(KeypadLink, "connect", Link.connect)


def _answer_a_press_before_the_commit() -> AbstractContextManager[Any]:
    return at_once("keypad")


def _take_a_card_without_an_award() -> AbstractContextManager[Any]:
    return mock.patch.object(CardDoor, "_award", return_value=(0, None, ()))


def _take_every_card() -> AbstractContextManager[Any]:
    owner_of = Accounts.owner_of
    return mock.patch.object(
        Accounts, "owner_of", lambda self, number: owner_of(self, number) or self.find("bob")
    )


def _do_not_ask_for_the_password() -> AbstractContextManager[Any]:
    made = CardDoor.__init__

    def without(self: CardDoor, *parts: Any, **others: Any) -> None:
        made(self, *parts, **{**others, "second_factor": False})

    return mock.patch.object(CardDoor, "__init__", without)


def _do_not_lock_the_reader() -> AbstractContextManager[Any]:
    made = CardDoor.__init__

    def unlocked(self: CardDoor, *parts: Any, **others: Any) -> None:
        made(self, *parts, **others)
        type(self)._locked_until = property(lambda _: -inf, lambda *_: None)  # type: ignore[assignment]

    @contextmanager
    def changed() -> Iterator[None]:
        with mock.patch.object(CardDoor, "__init__", unlocked):
            yield
        if "_locked_until" in vars(CardDoor):
            delattr(CardDoor, "_locked_until")

    return changed()


def _start_without_the_sensors() -> AbstractContextManager[Any]:
    async def start(self: CoinSpotDoor, order: StartGame, source: str) -> Any:
        return await self._give(replace(order, seats=self._hand.sensors), source)

    return mock.patch.object(CoinSpotDoor, "start_game", start)


def _count_a_wager_again() -> AbstractContextManager[Any]:
    """A wager that stays on its sensor is in the next game too."""

    async def placed(self: CoinSpotDoor, seat: int) -> None:
        if seat in self._hand.spent:
            await self._lifted(seat)
        if seat not in self._hand.sensors:
            await place(self, seat)

    place = CoinSpotDoor._placed
    return mock.patch.object(CoinSpotDoor, "_placed", placed)


def _accept_every_device() -> AbstractContextManager[Any]:
    return mock.patch.object(DeviceDoor, "_accepted", True)


DEVICES: Final[dict[str, Mutation]] = {
    "carry out START GAME of the keypad twice": _carry_out_a_press_twice,
    "carry out a press that another process has carried out": _carry_out_a_press_of_another_host,
    "answer a press before it is committed": _answer_a_press_before_the_commit,
    "take a card although no award waits for one": _take_a_card_without_an_award,
    "take every card for a supervisor's": _take_every_card,
    "do not ask for the password of an Executive card": _do_not_ask_for_the_password,
    "do not lock the reader after wrong cards": _do_not_lock_the_reader,
    "start a game without the sensors' latch": _start_without_the_sensors,
    "count a wager that stays on its sensor again": _count_a_wager_again,
    "accept every device": _accept_every_device,
}
