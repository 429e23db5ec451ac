"""Mistakes of linked tables and of their authority that a walk must find: each changes the rules in memory.

Three of them are those that the simulation must find too.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Final
from unittest import mock

from punto.baccarat.progressive import aquarius, awards, progressive
from punto.baccarat.progressive import orders as meter_orders
from punto.baccarat.progressive.events import DenyAward, LockAward, ReopenRound
from punto.baccarat.progressive.game_events import HandDecided
from punto.baccarat.progressive.people import refuse_too_few
from punto.baccarat.progressive.procedure import LOGGED, SETTLING
from punto.baccarat.table import approval, meter_link
from punto.baccarat.table import table as tables
from punto.baccarat.table.events import MeterAnswered, TableAsked
from punto.baccarat.table.turn import RefusedError
from tests.simulated.mutations import MUTATIONS
from tests.simulated.path_mutations import Mutation


def _people_not_asked(*codes: str, of: tuple[type, ...] = (LockAward, DenyAward)) -> Mutation:
    """The books carry out an order that they should refuse with one of these codes."""

    def lenient(settings: Any, currency: str, order: Any, award: int = 0) -> None:
        try:
            refuse_too_few(settings, currency, order, award)
        except RefusedError as refusal:
            if not isinstance(order, of) or (codes and refusal.code not in codes):
                raise

    @contextmanager
    def mistake() -> Iterator[None]:
        with (
            mock.patch.object(awards, "refuse_too_few", lenient),
            mock.patch.object(meter_orders, "refuse_too_few", lenient),
        ):
            yield

    return mistake


def _patch(owner: Any, name: str, value: Any) -> Mutation:
    return lambda: mock.patch.object(owner, name, value)


def _never(*_: Any) -> None: ...


def _handler(kind: type, handler: Callable[[Any, Any], None]) -> Mutation:
    """Another handler of the table for an event."""
    return lambda: mock.patch.dict(tables._KINDS, {kind: (tables._METER, handler)})


def _confirm_again_without_people() -> AbstractContextManager[Any]:
    """A hand whose award was backed out is confirmed again by anybody."""
    lock = awards.lock

    def again(turn: Any, event: LockAward) -> None:
        if awards._backed_out(turn, event.table, event.round):
            with mock.patch.object(awards, "refuse_too_few", _never):
                lock(turn, event)
        else:
            lock(turn, event)

    return mock.patch.dict(progressive._HANDLERS, {LockAward: again})


def _serve_in_any_order(turn: Any, event: TableAsked) -> None:
    """Carry out a request although one before it is missing."""
    last = meter_link.served_table(meter_link.of(turn), event.table)
    number = event.number if last is None else min(event.number, last.number + 1)
    meter_link.serve(turn, replace(event, number=number))


def _take_any_answer(turn: Any, event: MeterAnswered) -> None:
    """Take an answer for that of the present request."""
    asked = meter_link._link(meter_link.of(turn)).asked
    meter_link.answered(turn, event if asked is None else replace(event, number=asked.number))


def _lose_the_answer() -> AbstractContextManager[Any]:
    """The authority keeps of an answer only that there was one."""
    keep = meter_link._keep_served
    return mock.patch.object(
        meter_link, "_keep_served", lambda turn, served: keep(turn, replace(served, entries=()))
    )


def _correct_a_logged_round() -> AbstractContextManager[Any]:
    """The cards are corrected while the award is logged and the key at JPH."""
    row = {**aquarius.TRANSITIONS[LOGGED], HandDecided: frozenset({SETTLING})}
    return mock.patch.dict(aquarius.TRANSITIONS, {LOGGED: row})


_BOTH: Final = ("aquarius", "nexus")
MISTAKES: Final[dict[str, tuple[Mutation, tuple[str, ...]]]] = {
    "lock an award without its people": (_people_not_asked(of=(LockAward,)), _BOTH),
    "log NOBODY WON without its people": (_people_not_asked(of=(DenyAward,)), _BOTH),
    "let the dealer confirm alone": (_people_not_asked("supervisor_needed"), _BOTH),
    "lock an award without the key": (_people_not_asked("no_key"), ("aquarius",)),
    "lock an award without a card": (_people_not_asked("no_card"), ("nexus",)),
    "lock an award that nobody has confirmed": (_people_not_asked("not_confirmed"), ("nexus",)),
    "let a supervisor complete a large award": (_people_not_asked("executive_needed"), ("nexus",)),
    "let one executive confirm and complete": (_people_not_asked("second_person_needed"), ("nexus",)),
    "reopen a game by one person": (
        _people_not_asked("needs_approval", of=(ReopenRound,)),
        _BOTH,
    ),
    "confirm again without people after a back-out": (_confirm_again_without_people, _BOTH),
    "back an award out alone": (_patch(approval, "_above_threshold", _never), _BOTH),
    "correct or void a round alone": (_patch(approval, "_moves_an_award", _never), _BOTH),
    "ask for approval as if nothing waited": (
        _patch(approval, "when_answered", lambda progressive: progressive.procedure),
        _BOTH,
    ),
    "correct a round whose award is logged": (_correct_a_logged_round, ("aquarius",)),
    "carry out a request out of order": (_handler(TableAsked, _serve_in_any_order), _BOTH),
    "serve a request of another record": (_patch(meter_link, "replaced", _never), _BOTH),
    "take any answer": (_handler(MeterAnswered, _take_any_answer), _BOTH),
    "lose the answer": (_lose_the_answer, _BOTH),
    **{
        name: (MUTATIONS[name], _BOTH)
        for name in (
            "end a game before its award",
            "void or correct a hand that can win alone",
            "carry out a linked table's request again if it comes again",
        )
    },
}
"""Each mistake, and the procedures that can make it."""
