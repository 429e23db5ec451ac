"""Mistakes that the simulation must find: each changes the service's code in memory, and seeds are played until one finds it.

Here are those of the rules, of the shoe, of the desk and of the broker's connection.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, Final, NamedTuple
from unittest import mock

from punto.baccarat.coup import Coup
from punto.baccarat.progressive import awards
from punto.baccarat.progressive import orders as meter_orders
from punto.baccarat.progressive.money import share
from punto.baccarat.progressive.procedure import Hand
from punto.baccarat.table import approval, dealing, progressive, shoe_events, winners
from punto.baccarat.table import orders as table_orders
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.state import TableState
from punto.controller.accounts.gate import Gate
from punto.controller.journal.answers import Answers
from punto.controller.orders import desk
from punto.controller.outbox import Outbox
from punto.drivers import framing
from punto.drivers.ishoe.link import IShoeLink
from punto.runtime.broker_link import Sender
from tests.simulated.broker import SimulatedLink
from tests.simulated.further_mutations import DEVICES, LINKED
from tests.simulated.path_mutations import OF_THE_PATH, Mutation
from tests.simulated.simulate import prepare
from tests.simulated.worlds import plan_of, play

MOST_SEEDS: Final = 400


def _forget_the_answers() -> AbstractContextManager[Any]:
    return mock.patch.object(Answers, "to", return_value=None)


def _settle_from_the_wrong_card() -> AbstractContextManager[Any]:
    settle = progressive.settle_coup

    def wrong(state: Any, coup: Coup, wagers: Any) -> Any:
        first, second, *others = coup.cards
        return settle(
            state, Coup((second, first, *others)) if _is_coup(second, first, *others) else coup, wagers
        )

    return mock.patch.object(dealing, "settle_coup", wrong)


def _is_coup(*cards: Any) -> bool:
    try:
        return Coup(cards).over
    except ValueError:
        return False


def _count_a_wager_twice() -> AbstractContextManager[Any]:
    settle = progressive.settle_coup

    def twice(state: Any, coup: Coup, wagers: Any) -> Any:
        return settle(
            state, coup, [replace(each, amount=2 * each.amount) for each in wagers[:1]] + [*wagers[1:]]
        )

    return mock.patch.object(dealing, "settle_coup", twice)


@contextmanager
def _skip_the_second_person() -> Iterator[None]:
    with (
        mock.patch.object(approval, "second_person_needed", return_value=None),
        mock.patch.object(desk, "second_person_needed", return_value=None),
    ):
        yield


def _let_any_role_give_any_order() -> AbstractContextManager[Any]:
    return mock.patch.object(desk, "orders_of", return_value=frozenset(CATALOGUE))


def _move_the_cursor_too_soon() -> AbstractContextManager[Any]:
    async def at_once(_: Sender) -> None: ...

    return mock.patch.object(Sender, "all_taken", at_once)


def _publish_a_card_before_its_reveal() -> AbstractContextManager[Any]:
    return mock.patch.object(TableState, "hides", return_value=False)


def _take_records_out_of_order() -> AbstractContextManager[Any]:
    take = shoe_events._on_record

    def any_order(turn: Any, event: Any) -> None:
        if turn.state.link.offered is None and event.record > turn.state.link.expected:
            turn.change_link(taken=event.record - 1)
        take(turn, event)

    return mock.patch.object(shoe_events, "_on_record", any_order)


def _take_records_twice() -> AbstractContextManager[Any]:
    take = shoe_events._on_record

    def again(turn: Any, event: Any) -> None:
        if turn.state.link.offered is None and event.record < turn.state.link.expected:
            turn.change_link(taken=event.record - 1)
        take(turn, event)

    return mock.patch.object(shoe_events, "_on_record", again)


def _do_not_look_for_waiting_rounds() -> AbstractContextManager[Any]:
    connect = Outbox.connect

    def forgetful(self: Outbox, send: Callable[[], None]) -> None:
        connect(self, send)
        mutated: Any = self
        mutated.rounds_are_due = lambda: asyncio.get_running_loop().call_soon(
            lambda: mutated.__dict__.pop("rounds_are_due", None)
        )

    return mock.patch.object(Outbox, "connect", forgetful)


def _take_another_name_at_each_connection() -> AbstractContextManager[Any]:
    connection, numbers = SimulatedLink.connection, count()

    def with_another_name(self: SimulatedLink) -> Any:
        self._identifier = f"punto-{next(numbers)}"
        return connection(self)

    return mock.patch.object(SimulatedLink, "connection", with_another_name)


def _count_a_contribution_twice() -> AbstractContextManager[Any]:
    return mock.patch.object(meter_orders, "share", lambda stakes, rate: 2 * share(stakes, rate))


def _keep_the_count_of_a_lost_memory() -> AbstractContextManager[Any]:
    hear = shoe_events.hear

    def as_before(turn: Any, hello: Any) -> None:
        taken = turn.state.link.taken
        hear(turn, hello)
        turn.change_link(taken=max(taken, turn.state.link.taken))

    return mock.patch.object(shoe_events, "hear", as_before)


def _play_on_after_a_lost_memory() -> AbstractContextManager[Any]:
    return mock.patch.object(shoe_events, "objection_to", return_value=None)


def _play_on_after_lost_records() -> AbstractContextManager[Any]:
    def silently(turn: Any, _: int, last: int) -> None:
        if last > turn.state.link.taken:
            turn.change_link(taken=last)

    return mock.patch.object(shoe_events, "_on_records_lost", silently)


def _take_records_of_a_shoe_that_is_not_accepted() -> AbstractContextManager[Any]:
    take = shoe_events._on_record

    def accepted(turn: Any, event: Any) -> None:
        offered = turn.state.link.offered
        if offered is not None:
            turn.change_link(offered=None, taken=event.record - 1)
        take(turn, event)
        if offered is not None:
            turn.change_link(offered=offered)

    return mock.patch.object(shoe_events, "_on_record", accepted)


@contextmanager
def _read_damaged_frames() -> Iterator[None]:
    """Without its checksum, a frame is taken whatever happened to it on the line."""
    with mock.patch.object(framing, "crc32", return_value=0):
        yield


def _skip_a_lost_frame() -> AbstractContextManager[Any]:
    take = IShoeLink._take_record

    def at_once(self: IShoeLink, record: Any, now: float, events: Any) -> None:
        self._next = max(self._next, record.record)
        take(self, record, now, events)

    return mock.patch.object(IShoeLink, "_take_record", at_once)


def _pay_an_award_twice() -> AbstractContextManager[Any]:
    book = awards._book

    def twice(turn: Any, award: Any) -> None:
        book(turn, award)
        book(turn, award)

    return mock.patch.object(awards, "_book", twice)


def _forget_the_next_meter() -> AbstractContextManager[Any]:
    return mock.patch.object(awards, "_begin_next_meter", return_value=None)


def _end_a_game_before_its_award() -> AbstractContextManager[Any]:
    return mock.patch.object(Hand, "open", False)


def _award_another_tier() -> AbstractContextManager[Any]:
    decision = winners.decision

    def another(*parts: Any) -> Any:
        decided = decision(*parts)
        if decided.won is None:
            return decided
        tiers = [each.name for each in parts[1].books.settings.wager.rules[:2]]
        return replace(decided, won=replace(decided.won, rule=tiers[decided.won.rule == tiers[0]]))

    return mock.patch.object(progressive, "decision", another)


def _pay_a_hand_from_the_next_meter() -> AbstractContextManager[Any]:
    return mock.patch.object(awards, "_backed_out", return_value=[])


@contextmanager
def _take_wagers_behind_the_cards() -> Iterator[None]:
    with (
        mock.patch.object(table_orders, "refuse_behind_the_cards", return_value=None),
        mock.patch.object(progressive, "refuse_behind_the_cards", return_value=None),
    ):
        yield


def _take_a_surplus_copy() -> AbstractContextManager[Any]:
    return mock.patch.object(dealing, "surplus", return_value=False)


def _play_on_with_keyed_cards() -> AbstractContextManager[Any]:
    return mock.patch.object(
        shoe_events, "_stop_if_keyed_alone", lambda turn: turn.change_link(keyed_away=())
    )


def _void_a_winning_hand_alone() -> AbstractContextManager[Any]:
    return mock.patch.object(approval, "_may_move_an_award", return_value=False)


def _approve_whatever_account_has_changed() -> AbstractContextManager[Any]:
    return mock.patch.object(Gate, "version_of", return_value=1)


def _keep_returned_wagers() -> AbstractContextManager[Any]:
    return mock.patch.object(dealing, "return_wagers", return_value=None)


_OF_A_TABLE: Final[dict[str, Mutation]] = {
    **OF_THE_PATH,
    "forget the answer to a repeated wager request": _forget_the_answers,
    "settle from the wrong card": _settle_from_the_wrong_card,
    "count a wager twice": _count_a_wager_twice,
    "keep the wagers of a hand that is not dealt": _keep_returned_wagers,
    "count the wagers of a meter twice": _count_a_contribution_twice,
    "do not ask for the second person": _skip_the_second_person,
    "let any role give any order": _let_any_role_give_any_order,
    "move the cursor of sent rounds before the broker has them": _move_the_cursor_too_soon,
    "do not look for waiting rounds on a new connection": _do_not_look_for_waiting_rounds,
    "use another client id for each connection": _take_another_name_at_each_connection,
    "show a card before its reveal": _publish_a_card_before_its_reveal,
    "take a shoe record out of order": _take_records_out_of_order,
    "take a shoe record twice": _take_records_twice,
    "keep the count of a memory that the shoe lost": _keep_the_count_of_a_lost_memory,
    "play on after the shoe lost its memory": _play_on_after_a_lost_memory,
    "play on after the shoe lost records": _play_on_after_lost_records,
    "take records of a shoe that is not accepted": _take_records_of_a_shoe_that_is_not_accepted,
    "take frames without a look at their checksum": _read_damaged_frames,
    "skip a record of the shoe that was lost on the line": _skip_a_lost_frame,
    "pay an award twice": _pay_an_award_twice,
    "do not begin the next meter after an award of the whole meter": _forget_the_next_meter,
    "end a game before its award": _end_a_game_before_its_award,
    "lock an award of another tier": _award_another_tier,
    "pay a hand from the next meter after a back-out": _pay_a_hand_from_the_next_meter,
    "take wagers while cards can lie unseen": _take_wagers_behind_the_cards,
    "take a copy of a card too many": _take_a_surplus_copy,
    "play on with a keyed card that the shoe does not have": _play_on_with_keyed_cards,
    "void or correct a hand that can win alone": _void_a_winning_hand_alone,
    "approve an order of an account that was changed": _approve_whatever_account_has_changed,
}

_WORLDS: Final = {"table": _OF_A_TABLE, "linked": LINKED, "devices": DEVICES}
MUTATIONS: Final = {name: mutation for each in _WORLDS.values() for name, mutation in each.items()}


class Found(NamedTuple):
    """How many seeds a mutation needed, None if none found it, and what the last of them said."""

    mutation: str
    seeds: int | None
    wrong: str


def find(mutation: str, most: int = MOST_SEEDS) -> Found:
    """Play seeds with a mutation until one finds it."""
    world = next(name for name, each in _WORLDS.items() if mutation in each)
    for seed in range(1, most + 1):
        with MUTATIONS[mutation]():
            outcome = play(plan_of(seed, world))
        if outcome.wrong:
            said = (
                line.strip(" |+-") for line in outcome.wrong.splitlines()
            )  # without the frame of a traceback
            return Found(mutation, seed, [line for line in said if line][-1])
    return Found(mutation, None, "")


def find_all(jobs: int, most: int = MOST_SEEDS) -> Iterator[Found]:
    """Find all mutations, on so many processors."""
    with ProcessPoolExecutor(jobs, initializer=prepare) as pool:
        yield from pool.map(find, MUTATIONS, [most] * len(MUTATIONS))
