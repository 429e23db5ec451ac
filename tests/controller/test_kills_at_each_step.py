"""Killed between any two steps of the ordered path, a service has lost nothing, doubled nothing and shown nothing too early.

The service, its shoe, its broker and its record are the real ones. After each kill, all that anybody has seen of the table is
compared with what the record says: a message, an answer or an acknowledgement that went out before its input was on the disk has
no input there, or another one.
"""

import json
import random
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from punto.baccarat.table.effects import Announced
from punto.baccarat.table.events import SetWager
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.journal import schema, store
from punto.controller.journal.answers import Answer
from punto.controller.journal.execution import Execution, Step
from punto.controller.journal.recovery import replay
from punto.messages.building import event_message, round_message, state_message
from punto.messages.models import Message
from punto.runtime import clock
from tests.controller.killed_at import STEPS
from tests.controller.table_on_a_machine import (
    TABLE,
    Broker,
    Heard,
    Listener,
    Shoe,
    Table,
    cards,
    expected_cards,
    expected_rounds,
    inputs,
    rounds,
    shoe_records,
)
from tests.controller.test_crashes import Player
from tests.share import sampled, share

SHOES = 40
KILLS = 25
"""In each shoe."""
COMMON, RARE = 25, 4
"""The last crossing at which a service is killed, of a step that each input takes, and of one that few take."""
_RARE = ("answer made", "answered", "round taken by the broker")


class Staff:
    """A dealer who calls the supervisor again and again, with new words each time, and somebody who looks at the table."""

    def __init__(self, table: Table) -> None:
        self.answered: dict[str, int] = {}
        """The number of the input that each accepted call was said to be."""
        self.shown: list[dict[str, Any]] = []
        """The states of the table that were shown."""
        self._table = table
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(each,)) for each in (self._call, self._look)
        ]

    def __enter__(self) -> Self:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for each in self._threads:
            each.join()

    def _repeat(self, act: Callable[[int], None]) -> None:
        number = 0
        while not self._over.wait(0.02):
            number += 1
            with suppress(OSError, ValueError):  # it is dead, or was killed before the end of its answer
                act(number)

    def _call(self, number: int) -> None:
        answer = self._table.ask(order="call_supervisor", reason=f"question {number}")
        if answer["accepted"]:
            self.answered[f"question {number}"] = answer["seq"]

    def _look(self, _: int) -> None:
        self.shown.append(self._table.status())


class Known:
    """What the record says, and what all that was seen must therefore be. It is read again after each kill."""

    def __init__(self, record: Path) -> None:
        self._record = record
        self._execution = Execution()
        self._messages: dict[str, Any] = {}
        """The messages that follow from the record, by their ids."""
        self._calls: dict[str, list[int]] = defaultdict(list)
        self._wagers: dict[str, list[int]] = defaultdict(list)
        self._heard = self._shown = 0

    def read(self) -> None:
        """Read what is new. What was there must be as it was: the new inputs continue its chain."""
        with schema.reading(self._record) as connection:
            name = store.name(connection)
            for entry in store.checked_entries(connection, *self._execution.head):
                step = self._execution.again(entry)
                assert step.otherwise is None
                self._take(step, name)

    def _take(self, step: Step, record: str) -> None:
        settings = step.state.settings
        self._expect(state_message(step.state, step.seq, clock.now()))
        for effect in step.effects:
            if isinstance(effect, Announced):
                self._expect(event_message(settings, effect, step.entry.ts))
        for ended in step.rounds:
            game = settings.game
            self._expect(round_message(settings, ended, step.entry.ts, game.name, game.rules_digest, record))
        if isinstance(step.event, CallSupervisor):
            self._calls[step.event.reason].append(step.seq)
        if isinstance(step.event, SetWager):
            self._expect(Answer.of(step, step.event).message(settings))
            self._wagers[step.event.id].append(step.seq)

    def _expect(self, message: Message) -> None:
        payload = _lasting(json.loads(message.wire()))
        self._messages[payload["id"]] = payload

    def check(self, listener: Listener, staff: Staff) -> None:
        """State that all that was seen since the last check is on the record as it was seen, and once."""
        heard, shown = listener.heard(), list(staff.shown)
        followed = [each.payload for each in heard[self._heard :] if _follows_from_inputs(each)]
        for message in (*followed, *shown[self._shown :]):
            assert self._messages.get(message["id"]) == _lasting(message)
        self._heard, self._shown = len(heard), len(shown)
        for call, seq in tuple(staff.answered.items()):
            assert self._calls[call] == [seq]
        assert [each for each in (self._calls | self._wagers).items() if len(each[1]) > 1] == []


def _lasting(payload: dict[str, Any]) -> dict[str, Any]:
    """A message without the time at which a state was sent, because each is sent again and again."""
    of_sending = {"ts", "valid_until"} if "valid_until" in payload else ()
    return {key: value for key, value in payload.items() if key not in of_sending}


def _follows_from_inputs(message: Heard) -> bool:
    name = message.topic.removeprefix(f"punto/{TABLE}/")
    answers_a_wager = name.endswith("/result") and message.payload["accepted"]
    return name in {"event", "state", "round"} or answers_a_wager


def is_sound(table: Table, known: Known, listener: Listener, staff: Staff, seed: str) -> None:
    """State all that is true of a table after a kill."""
    known.read()
    known.check(listener, staff)
    record = table.record
    assert replay(record).differences == []
    # What the shoe was told to forget is on the record, or the shoe's next records would follow on a gap.
    numbers = shoe_records(record)
    assert numbers == list(range(1, len(numbers) + 1))
    assert inputs(record, "records_lost") == []
    dealt, ended = cards(record), rounds(record)
    assert dealt == expected_cards(seed, 1)[: len(dealt)]
    assert ended == expected_rounds(seed, 1)[: len(ended)]


@pytest.mark.in_part
@pytest.mark.parametrize("number", sampled(range(SHOES), one_in=SHOES))
def test_a_kill_at_any_step_loses_doubles_and_shows_too_early_nothing(tmp_path, number):
    chance, seed = random.Random(number), f"step {number}"
    with (
        Broker(tmp_path) as broker,
        Listener(tmp_path, broker.port) as listener,
        Player(broker.port) as player,
    ):
        table = Table(tmp_path, broker)
        with table, Shoe(table.port, "--seed", seed, "--pace", "0.04", "--between", "0.1"):
            table.begin_shoe()
            table.kill()
            known = Known(table.record)
            with Staff(table) as staff:
                for kill in range(share(KILLS, one_in=5)):
                    # Each step in turn, and those of a part are spread over the path.
                    step = [*STEPS][3 * (number * KILLS + kill) % len(STEPS)]
                    crossing = chance.randint(1, RARE if step in _RARE else COMMON)
                    table.program = ("tests.controller.killed_at", step, str(crossing))
                    table.begin_to_start()
                    assert table.process.wait(60) == -signal.SIGKILL, table.said()[-10:]
                    print(f"killed at: {step}; the last input is {inputs(table.record)[-1]['kind']}")
                    is_sound(table, known, listener, staff, seed)
                table.program = ("punto",)
                table.start()
            dealt = len(cards(table.record))
            assert table.stop() == 0
        is_sound(table, known, listener, staff, seed)
        print(f"{dealt} cards, {len(staff.answered)} orders and {len(player.accepted)} wagers amid the kills")

    assert staff.answered
    assert dealt < len(expected_cards(seed, 1)), "the shoe was over before the kills were: deal slower"
