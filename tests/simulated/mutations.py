"""Mistakes that the simulation must find: each changes the service's code in memory, and seeds are played until one finds it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, Final, NamedTuple
from unittest import mock

from punto.baccarat.coup import Coup
from punto.baccarat.progressive import orders as meter_orders
from punto.baccarat.progressive.money import share
from punto.baccarat.table import approval, dealing, progressive, shoe_events, shoe_orders
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.effects import RoundEnded
from punto.baccarat.table.state import TableState
from punto.controller import clock
from punto.controller.devices import shoe_door
from punto.controller.engine import Engine, Handled
from punto.controller.journal import recovery, store
from punto.controller.journal.answers import Answers
from punto.controller.journal.entries import EVENTS, Entry
from punto.controller.journal.journal import Journal
from punto.controller.messages import topics
from punto.controller.messages.building import round_message, timestamp
from punto.controller.mqtt_link import Sender
from punto.controller.orders import desk
from punto.controller.outbox import Outbox
from tests.simulated.broker import SimulatedLink
from tests.simulated.world import Plan, simulate

MOST_SEEDS: Final = 200

Mutation = Callable[[], AbstractContextManager[Any]]


def _acknowledge_before_the_commit() -> AbstractContextManager[Any]:
    append = Journal.append

    def at_once(self: Journal, ts: str, source: str, payloads: Sequence[str], then: Any) -> Any:
        append(self, ts, source, payloads, lambda: None)
        done = asyncio.get_running_loop().create_future()
        done.set_result(then())
        return done

    return mock.patch.object(Journal, "append", at_once)


def _publish_a_round_before_its_commit() -> AbstractContextManager[Any]:
    publish = Engine._publish

    def at_once(self: Engine, seq: int, moment: str, effect: Any) -> None:
        if isinstance(effect, RoundEnded) and self._outbox.connected:
            settings = self.state.settings
            game, rules = settings.game.name, settings.game.rules_digest
            message = round_message(settings, effect.record, moment, game, rules, self.record_name)
            self._outbox.put(self._topic(topics.ROUND), message.wire())
        publish(self, seq, moment, effect)

    return mock.patch.object(Engine, "_publish", at_once)


def _forget_the_answers() -> AbstractContextManager[Any]:
    return mock.patch.object(Answers, "to", return_value=None)


@contextmanager
def _no_order_of_the_path() -> Iterator[None]:
    finish, init = Journal._finish, Engine.__init__

    def backwards(self: Journal, jobs: Any, results: Any, head: Any) -> None:
        finish(self, jobs[::-1], results[::-1], head)

    def without_a_lock(self: Engine, *parts: Any, **others: Any) -> None:
        init(self, *parts, **others)
        mutated: Any = self
        mutated.path = _NoLock()

    with (
        mock.patch.object(Journal, "_finish", backwards),
        mock.patch.object(Engine, "__init__", without_a_lock),
    ):
        yield


class _NoLock:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


def _handle_in_the_callers_task() -> AbstractContextManager[Any]:
    async def submit(self: Engine, events: Sequence[Any], source: str) -> list[Handled]:
        first, moment = self._journal.last_seq + 1, timestamp(clock.now())
        payloads = [EVENTS.dump_json(event).decode() for event in events]
        await self._journal.append(moment, source, payloads, lambda: None)
        return self._handle(first, moment, events)

    return mock.patch.object(Engine, "_submit", submit)


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


class _Store:
    """The store, as recovery sees it, with another function in place of one."""

    def __init__(self, **others: Any) -> None:
        self._others = others

    def __getattr__(self, name: str) -> Any:
        return self._others.get(name) or getattr(store, name)


def _lose_the_last_rounds_rows() -> AbstractContextManager[Any]:
    return mock.patch.object(recovery, "store", _Store(add_round=lambda *_: None))


def _lose_the_last_input() -> AbstractContextManager[Any]:
    def all_but_the_last(connection: Any, seq: int, before: str) -> Iterator[Entry]:
        found = list(store.checked_entries(connection, seq, before))
        yield from found[:-1] if len(found) > 1 else found

    return mock.patch.object(recovery, "store", _Store(checked_entries=all_but_the_last))


def _move_the_cursor_too_soon() -> AbstractContextManager[Any]:
    async def at_once(_: Sender) -> None: ...

    return mock.patch.object(Sender, "all_taken", at_once)


def _publish_a_card_before_its_reveal() -> AbstractContextManager[Any]:
    return mock.patch.object(TableState, "hides", return_value=False)


def _ignore_a_disk_error() -> AbstractContextManager[Any]:
    commit = Journal._commit

    def ignoring(self: Journal, jobs: Sequence[Any]) -> list[Any]:
        try:
            return commit(self, jobs)
        except Exception:  # noqa: BLE001 - the mistake
            self._given = self._written
            return [None] * len(jobs)

    return mock.patch.object(Journal, "_commit", ignoring)


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


def _acknowledge_a_record_too_soon() -> AbstractContextManager[Any]:
    orders_of = shoe_orders.shoe_orders

    def too_soon(state: TableState) -> Any:
        found = orders_of(state)
        return replace(found, taken=found.taken + 1)

    return mock.patch.object(shoe_door, "shoe_orders", too_soon)


def _do_not_look_for_waiting_rounds() -> AbstractContextManager[Any]:
    connect = Outbox.connect

    def forgetful(self: Outbox, send: Callable[[], None]) -> None:
        connect(self, send)
        mutated: Any = self
        mutated.rounds_are_due = lambda: asyncio.get_running_loop().call_soon(
            lambda: mutated.__dict__.pop("rounds_are_due", None)
        )

    return mock.patch.object(Outbox, "connect", forgetful)


def _leave_the_time_out_of_the_chain() -> AbstractContextManager[Any]:
    chained_to = Entry.chained_to
    return mock.patch.object(
        Entry, "chained_to", lambda self, before: chained_to(replace(self, ts=""), before)
    )


def _take_another_name_at_each_connection() -> AbstractContextManager[Any]:
    connection, numbers = SimulatedLink.connection, count()

    def with_another_name(self: SimulatedLink) -> Any:
        self._identifier = f"punto-{next(numbers)}"
        return connection(self)

    return mock.patch.object(SimulatedLink, "connection", with_another_name)


def _count_a_contribution_twice() -> AbstractContextManager[Any]:
    return mock.patch.object(meter_orders, "share", lambda stakes, rate: 2 * share(stakes, rate))


def _keep_returned_wagers() -> AbstractContextManager[Any]:
    return mock.patch.object(dealing, "return_wagers", return_value=None)


MUTATIONS: Final[dict[str, Mutation]] = {
    "answer an input before it is committed": _acknowledge_before_the_commit,
    "publish a round before it is committed": _publish_a_round_before_its_commit,
    "forget the answer to a repeated wager request": _forget_the_answers,
    "handle inputs in another order than the record's": _no_order_of_the_path,
    "do not handle the input of a request that was cancelled": _handle_in_the_callers_task,
    "settle from the wrong card": _settle_from_the_wrong_card,
    "count a wager twice": _count_a_wager_twice,
    "keep the wagers of a hand that is not dealt": _keep_returned_wagers,
    "count the wagers of a meter twice": _count_a_contribution_twice,
    "do not ask for the second person": _skip_the_second_person,
    "let any role give any order": _let_any_role_give_any_order,
    "do not write the missing rows of rounds at a start": _lose_the_last_rounds_rows,
    "leave out the last input at a start": _lose_the_last_input,
    "move the cursor of sent rounds before the broker has them": _move_the_cursor_too_soon,
    "do not look for waiting rounds on a new connection": _do_not_look_for_waiting_rounds,
    "use another client id for each connection": _take_another_name_at_each_connection,
    "show a card before its reveal": _publish_a_card_before_its_reveal,
    "ignore an error of the disk": _ignore_a_disk_error,
    "take a shoe record out of order": _take_records_out_of_order,
    "take a shoe record twice": _take_records_twice,
    "acknowledge a shoe record before it is committed": _acknowledge_a_record_too_soon,
    "leave the time out of the chain": _leave_the_time_out_of_the_chain,
}


class Found(NamedTuple):
    """How many seeds a mutation needed, None if none found it, and what the last of them said."""

    mutation: str
    seeds: int | None
    wrong: str


def find(mutation: str, most: int = MOST_SEEDS) -> Found:
    """Play seeds with a mutation until one finds it."""
    for seed in range(1, most + 1):
        with MUTATIONS[mutation]():
            outcome = simulate(Plan.of(seed))
        if outcome.wrong:
            return Found(mutation, seed, outcome.wrong.strip().splitlines()[-1])
    return Found(mutation, None, "")


def find_all(jobs: int, most: int = MOST_SEEDS) -> Iterator[Found]:
    """Find all mutations, on so many processors."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(find, MUTATIONS, [most] * len(MUTATIONS))
