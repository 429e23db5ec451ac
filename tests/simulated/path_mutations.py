"""Mistakes of the path of inputs: how they are executed, recorded, published and answered, and what follows if one fails."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from punto.baccarat.table import failing
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.table import Table
from punto.controller import engine as engines
from punto.controller.devices.shoe_door import ShoeDoor
from punto.controller.engine import Engine
from punto.controller.journal import recovery, rows, store
from punto.controller.journal.entries import Entry
from punto.controller.journal.execution import Execution, Step, event_of
from punto.controller.journal.journal import Journal
from punto.controller.journal.snapshots import Snapshot
from punto.messages import topics
from punto.messages.building import round_message

Mutation = Callable[[], AbstractContextManager[Any]]

# --- before the commit


def at_once(sources: str = "") -> AbstractContextManager[Any]:
    """Inputs of the sources that begin so are published and answered before they are committed."""
    append = Journal.append

    def answered(self: Journal, steps: Sequence[Step], snapshot: Any, then: Callable[[], Any]) -> Any:
        if not all(step.entry.source.startswith(sources) for step in steps):
            return append(self, steps, snapshot, then)
        append(self, steps, snapshot, lambda: None)
        done = asyncio.get_running_loop().create_future()
        done.set_result(then())
        return done

    return mock.patch.object(Journal, "append", answered)


def _publish_a_round_before_its_commit() -> AbstractContextManager[Any]:
    enter = Engine.enter

    def entered(self: Engine, events: Sequence[Any], source: str, **how: Any) -> Any:
        journal, publication = self._journal, self.publication
        append, outbox = journal.append, publication._outbox

        def shown_first(steps: Sequence[Step], *others: Any) -> Any:
            for step in steps if outbox.connected else ():
                settings = step.state.settings
                game, rules = settings.game.name, settings.game.rules_digest
                for record in step.rounds:
                    message = round_message(settings, record, step.entry.ts, game, rules, self.record_name)
                    outbox.put(publication._topic(topics.ROUND), message.wire())
            return append(steps, *others)

        with mock.patch.object(journal, "append", shown_first):
            return enter(self, events, source, **how)

    return mock.patch.object(Engine, "enter", entered)


def _show_the_executed_state() -> AbstractContextManager[Any]:
    enter = Engine.enter

    def entered(self: Engine, events: Sequence[Any], source: str, **how: Any) -> Any:
        done = enter(self, events, source, **how)
        self.state, self.seq = self.execution.state, self.execution.head.seq
        return done

    return mock.patch.object(Engine, "enter", entered)


def _publish_the_head_before_its_commit() -> AbstractContextManager[Any]:
    append = Journal.append

    def given(self: Journal, steps: Sequence[Step], *others: Any) -> Any:
        done = append(self, steps, *others)
        for step in steps[-1:]:
            self.head = step.head
        return done

    return mock.patch.object(Journal, "append", given)


@contextmanager
def _acknowledge_a_record_before_its_commit() -> Iterator[None]:
    def orders(self: ShoeDoor) -> Any:
        return shoe_orders(self._engine.execution.state)

    async def take(self: ShoeDoor, events: Sequence[Any]) -> None:
        entered = self._engine.enter(events, engines.SHOE)
        self._driver.send()
        await entered

    with mock.patch.object(ShoeDoor, "orders", orders), mock.patch.object(ShoeDoor, "take", take):
        yield


# --- the order, and who is served


def _publish_out_of_order() -> AbstractContextManager[Any]:
    finish = Journal._finish

    def backwards(self: Journal, jobs: Any, results: Any, head: Any) -> None:
        finish(self, jobs[::-1], results[::-1], head)

    return mock.patch.object(Journal, "_finish", backwards)


def _execute_out_of_order() -> AbstractContextManager[Any]:
    """Of inputs that are submitted together, the second is executed first."""
    enter = Engine.enter

    def entered(self: Engine, events: Sequence[Any], source: str, **how: Any) -> Any:
        handled, others = self.execution._handled, {}
        if len(events) > 1:
            others = {id(events[0]): events[1], id(events[1]): events[0]}

        def other(ts: str, event: Any) -> Any:
            return handled(ts, others.get(id(event), event))

        with mock.patch.object(self.execution, "_handled", other):
            return enter(self, events, source, **how)

    return mock.patch.object(Engine, "enter", entered)


def _forget_cancelled_requests() -> AbstractContextManager[Any]:
    append = Journal.append

    def given(self: Journal, steps: Any, snapshot: Any, then: Callable[[], Any]) -> Any:
        done: Any = append(self, steps, snapshot, lambda: None if done.cancelled() else then())
        return done

    return mock.patch.object(Journal, "append", given)


# --- the record


def _ignore_a_disk_error() -> AbstractContextManager[Any]:
    commit = Journal._commit

    def ignoring(self: Journal, jobs: Sequence[Any]) -> list[Any]:
        try:
            return commit(self, jobs)
        except Exception:  # noqa: BLE001 - the mistake
            self._given = self._written
            return [None] * len(jobs)

    return mock.patch.object(Journal, "_commit", ignoring)


def _lose_the_rows_of_one_input() -> AbstractContextManager[Any]:
    add = store.add_steps

    def added(connection: Any, steps: Sequence[Step]) -> None:
        lost = next((step for step in steps if step.rows and len(steps) > 1), None)
        add(connection, [replace(step, rows=()) if step is lost else step for step in steps])

    return mock.patch.object(store, "add_steps", added)


def _commit_rows_after_their_input() -> AbstractContextManager[Any]:
    add = store.add_steps

    def added(connection: Any, steps: Sequence[Step]) -> None:
        add(connection, [replace(step, rows=()) for step in steps])
        following = [row for step in steps for row in step.rows]
        if following:
            _commit(connection)
        for row in sorted(following, key=lambda row: rows.TABLES.index(row.table)):
            connection.execute(store._insert(row.table, len(row.values)), row.values)

    return mock.patch.object(store, "add_steps", added)


def _commit_a_group_in_two_transactions() -> AbstractContextManager[Any]:
    add = store.add_steps

    def added(connection: Any, steps: Sequence[Step]) -> None:
        add(connection, steps[:1])
        if len(steps) > 1:
            _commit(connection)
            add(connection, steps[1:])

    return mock.patch.object(store, "add_steps", added)


def _commit(connection: Any) -> None:
    """Commit what there is, and begin another transaction."""
    connection.execute("COMMIT")
    connection.execute("BEGIN IMMEDIATE")


def _skip_the_incidents() -> AbstractContextManager[Any]:
    return mock.patch.object(rows, "of_incidents", side_effect=lambda *_: [])


def _leave_out_of_the_chain(**what: str) -> Mutation:
    """The hash of an entry does not cover these columns."""
    chained_to = Entry.chained_to

    def chained(self: Entry, before: str) -> str:
        return chained_to(self._replace(recorded=self.recorded._replace(**what)), before)

    return lambda: mock.patch.object(Entry, "chained_to", chained)


def _snapshot_the_durable_state() -> AbstractContextManager[Any]:
    enter = Engine.enter

    def entered(self: Engine, events: Sequence[Any], source: str, **how: Any) -> Any:
        wrong = SimpleNamespace(of=lambda seq, _: Snapshot.of(seq, self.state))
        with mock.patch.object(engines, "Snapshot", wrong):
            return enter(self, events, source, **how)

    return mock.patch.object(Engine, "enter", entered)


# --- a start


def _lose_the_last_input() -> AbstractContextManager[Any]:
    checked = store.checked_entries

    def all_but_the_last(connection: Any, seq: int, before: str) -> Iterator[Entry]:
        found = list(checked(connection, seq, before))
        yield from found[:-1] if len(found) > 1 else found

    of_recovery = SimpleNamespace(**{**vars(store), "checked_entries": all_but_the_last})
    return mock.patch.object(recovery, "store", of_recovery)


def _forget_the_outcomes() -> AbstractContextManager[Any]:
    def again(self: Execution, entry: Entry) -> Step:
        event = event_of(entry)
        self._begin(event)
        return self._step(entry, event, self._handled(entry.ts, event))

    return mock.patch.object(Execution, "again", again)


# --- an input that fails


def _end_at_a_failure() -> AbstractContextManager[Any]:
    def failed(_: Execution, __: str, ___: Any, name: str, failure: str | None = None) -> Any:
        raise RuntimeError(failure or name)

    return mock.patch.object(Execution, "_failed", failed)


def _change_the_table_at_a_failure() -> AbstractContextManager[Any]:
    failed = Execution._failed

    def changed(self: Execution, ts: str, event: Any, *others: Any) -> Any:
        with suppress(Exception):
            Table.handle(self.table, event)
        return failed(self, ts, event, *others)

    return mock.patch.object(Execution, "_failed", changed)


def _do_not_take_what_failed() -> AbstractContextManager[Any]:
    return mock.patch.object(failing, "_note_report", return_value=None)


def _play_on_after_a_failure() -> AbstractContextManager[Any]:
    return mock.patch.object(failing, "_STOPPING", ())


@contextmanager
def _accept_what_failed() -> Iterator[None]:
    """A request that failed is answered as if it was carried out."""
    failed = Execution._failed

    def accepted(self: Execution, *parts: Any) -> Any:
        found = failed(self, *parts)
        found.refusal = None
        return found

    with mock.patch.object(Execution, "_failed", accepted):
        yield


OF_THE_PATH: Final[dict[str, Mutation]] = {
    "answer an input before it is committed": at_once,
    "publish a round before it is committed": _publish_a_round_before_its_commit,
    "show the executed state before it is committed": _show_the_executed_state,
    "publish the record's head before it is committed": _publish_the_head_before_its_commit,
    "acknowledge a shoe record before it is committed": _acknowledge_a_record_before_its_commit,
    "publish what inputs did in another order": _publish_out_of_order,
    "execute inputs in another order than the record's": _execute_out_of_order,
    "do not publish the input of a request that was cancelled": _forget_cancelled_requests,
    "ignore an error of the disk": _ignore_a_disk_error,
    "lose the rows of one input of several": _lose_the_rows_of_one_input,
    "commit the rows of an input after the input": _commit_rows_after_their_input,
    "commit inputs that belong together in two transactions": _commit_a_group_in_two_transactions,
    "skip the incidents": _skip_the_incidents,
    "leave the time out of the chain": _leave_out_of_the_chain(ts=""),
    "leave the outcome out of the chain": _leave_out_of_the_chain(outcome=""),
    "leave the digest of the rows out of the chain": _leave_out_of_the_chain(results=""),
    "leave the digest of the state out of the chain": _leave_out_of_the_chain(state=""),
    "take a snapshot of the committed state after executed inputs": _snapshot_the_durable_state,
    "leave out the last input at a start": _lose_the_last_input,
    "forget at a start what became of each input": _forget_the_outcomes,
    "let an input that fails end the service": _end_at_a_failure,
    "let an input that fails change the table": _change_the_table_at_a_failure,
    "do not take a report that failed": _do_not_take_what_failed,
    "play on after a report failed": _play_on_after_a_failure,
    "accept a request that failed": _accept_what_failed,
}
