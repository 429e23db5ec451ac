"""A version of the program that cannot handle some inputs, because a rule's code raises an error that no rule foresees.

The service must record such an input, and go on. A later start, and a replay, execute the same inputs again: with the same version,
which fails again, or with one that is mended. Both must follow what the record says.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any, Final, get_args
from unittest import mock

from punto.baccarat.progressive.events import PrintWinPage
from punto.baccarat.table import events
from punto.baccarat.table.events import Event
from punto.baccarat.table.failing import INTERNAL_ERROR
from punto.baccarat.table.order_kinds import Order
from punto.baccarat.table.state import TableState
from punto.controller.journal.execution import Execution
from tests.simulated.disk import PROCESS
from tests.simulated.plan import Wrong

FAILING: Final[dict[str, tuple[type, ...]]] = {
    "records": (*get_args(events.ShoeRecord), events.RecordsLost, events.LinkNoise),
    "hello": (events.ShoeHello, events.ShoeLost),
    "orders": (*get_args(Order), *get_args(events.GameOrder), *get_args(events.BooksOrder), PrintWinPage),
    "wagers": (events.SetWager,),
    "sensors": (*get_args(events.Sensed), events.SensorsLink, events.SensorFault),
    "devices": (events.DeviceHeard, *get_args(events.Access)),
    "links": get_args(events.OfTheLink),
    "clock": (events.ClockStepped, events.DayBegan),
    "starts": (events.ServiceStarted,),
}
"""The inputs that can fail together: a defect is in the code of one of these."""
REQUESTS: Final = (*FAILING["orders"], *FAILING["wagers"], events.TableAsked)
"""Somebody waits for their answer."""
_OF_NO_DEVICE: Final = frozenset(
    {
        *FAILING["clock"],
        *get_args(events.Access),
        *(events.MeterHeard, events.MeterClaimed, events.TableRefused),
    }
)
"""Of the other inputs, those that stop nothing."""
MENDED_SHARE: Final = 0.3
"""The share of the starts with a version that is mended."""
_BEGINS: Final = "input "
MOST_SAID: Final = 300
"""The text of a report that the record differs is not longer."""
_OTHERWISE: Final = re.compile(
    r"input \d+ \(\w+\) was failed \w+, but this version of the program has it \w+( \w+)?(; |$)"
)
MOST_ALIKE: Final = 6
"""So often a device or a link may report the same thing in a row although the program cannot handle it."""


class Defect:
    """The defects of one service's program, and the inputs at which they struck."""

    def __init__(self, chance: Random) -> None:
        self.mended = False
        """Whether the version that runs handles everything."""
        self._chance = chance
        self._kinds: tuple[type, ...] = ()
        self._left = 0
        self._over = False
        self._struck: dict[int, type] = {}

    def begin(self, size: float) -> str:
        """Let inputs fail from now on, and return which."""
        group = self._chance.choice(list(FAILING))
        self._kinds, self._left, self.mended = FAILING[group], 1 + int(12 * size**3), False
        return group

    def end(self, *, mend: bool) -> bool:
        """Let no further input fail, and return whether the house now starts a mended version: if not, it keeps the one that fails."""
        self._left = 0
        self._over = mend or (bool(self._struck) and self._chance.random() < MENDED_SHARE)
        return self._over

    def starts(self) -> None:
        """Start the service: perhaps with a version that is mended."""
        perhaps = not self._left and bool(self._struck) and self._chance.random() < MENDED_SHARE
        self.mended = self._over or perhaps

    @contextmanager
    def running(self) -> Iterator[None]:
        """What runs here is the version that fails."""
        before, self.mended = self.mended, False
        process: Any = SimpleNamespace(world=SimpleNamespace(defect=self))
        token = PROCESS.set(process)
        try:
            yield
        finally:
            PROCESS.reset(token)
            self.mended = before

    def choose(self, seq: int, event: Event) -> None:
        """Choose whether a new input fails."""
        self._struck.pop(seq, None)  # of an input that a killed process did not commit
        if self._left and isinstance(event, self._kinds) and self._chance.random() < 0.8:
            self._left -= 1
            self._struck[seq] = type(event)

    def strikes(self, seq: int, event: Event) -> bool:
        """Whether this version cannot handle the input."""
        return not self.mended and self.struck(seq, event)

    def struck(self, seq: int, event: Event) -> bool:
        """Whether a version could not handle the input."""
        return self._struck.get(seq) is type(event)

    def explains(self, difference: str) -> bool:
        """Whether a difference is one between a version that fails and one that is mended; or the beginning of several such ones."""
        rest = _OTHERWISE.sub("", difference)
        if len(difference) > MOST_SAID and _BEGINS.startswith(rest.removesuffix("…")[: len(_BEGINS)]):
            rest = ""  # the last one is cut off
        return bool(self._struck) and not rest


@contextmanager
def defects() -> Iterator[None]:
    """The service's program has the defects of its process."""
    execute, handled = Execution.execute, Execution._handled

    def chosen(self: Execution, ts: str, source: str, event: Event, *, snapshot: bool = False) -> Any:
        process: Any = PROCESS.get(None)
        if process is not None:
            process.world.defect.choose(self.head.seq + 1, event)
        return execute(self, ts, source, event, snapshot=snapshot)

    def failing(self: Execution, ts: str, event: Event) -> Any:
        process: Any = PROCESS.get(None)
        seq = self.head.seq + 1
        if process is None or not process.world.defect.strikes(seq, event):
            return handled(self, ts, event)

        def handle(event: Event) -> Any:
            """Fail at once; or after the work, when the table has changed already."""
            if seq % 2:
                type(table).handle(table, event)
            raise KeyError(event.kind)

        table = self.table
        with mock.patch.object(table, "handle", handle):
            return handled(self, ts, event)

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(Execution, "execute", chosen))
        stack.enter_context(mock.patch.object(Execution, "_handled", failing))
        yield


class FailedChecks:
    """What must hold of inputs that the program could not handle."""

    def __init__(self) -> None:
        self._last: tuple[str, Event] | None = None
        self._alike = 0

    def check(self, source: str, event: Event, before: TableState, after: TableState) -> None:
        """Check such an input.

        Raises:
            Wrong: it has changed the table, has not stopped it, or is reported for ever.
        """
        if _of_the_hand(before) != _of_the_hand(after):
            raise Wrong(f"{event.kind} failed, but has changed the table")
        request = isinstance(event, REQUESTS)
        stopped = any(stop.code == INTERNAL_ERROR for stop in after.waiting.stops)
        if not request and type(event) not in _OF_NO_DEVICE and not stopped:
            raise Wrong(f"{event.kind} failed, but the table plays on")
        once = request or isinstance(event, events.ServiceStarted)  # each start is another
        self._alike = self._alike + 1 if self._last == (source, event) and not once else 1
        self._last = source, event
        if self._alike > MOST_ALIKE:
            raise Wrong(f"{event.kind} failed, and is reported again and again")


def _of_the_hand(state: TableState) -> tuple[object, ...]:
    progressive = state.progressive
    return (
        *(
            state.phase,
            state.round.coup,
            state.shoe.drawn,
            state.shoe.carried,
            state.round.wagers,
            state.round.number,
            state.shoe.number,
        ),
        *(
            state.waiting.backlog,
            state.link.keyed_away,
            state.settings,
            state.shoe.rounds,
            state.history.last,
            state.history.meters,
        ),
        None if progressive is None else (progressive.procedure, progressive.books),
    )
