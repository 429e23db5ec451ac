"""What an event leaves behind that the program could not handle, because a rule's code raised an error that no rule foresees.

An order, a wager or another table's request is answered: it changed nothing. A device's report is a fact, and cannot be taken back:
the table notes that it was reported, and stops for a supervisor in a state that is otherwise unchanged. So does a start, because the
table may have other settings than the service. What else the service itself reports, such as the beginning of a gaming day, raises an
alarm and stops nothing.

The answer of the meter's authority is money that was moved there, so the table goes on waiting for an answer that it can handle.
"""

from dataclasses import replace
from typing import Final, get_args

from punto.baccarat.progressive.events import PrintWinPage
from punto.baccarat.table import events
from punto.baccarat.table.meter_link import serve_failed
from punto.baccarat.table.order_kinds import Order
from punto.baccarat.table.state import Sensors, Stop
from punto.baccarat.table.turn import RefusedError, Turn

INTERNAL_ERROR: Final = "internal_error"
"""The code of the refusal, the alarm or the stop."""
REQUESTS: Final = (
    *(events.SetWager, PrintWinPage, events.TableAsked),
    *(kind for union in (Order, events.GameOrder, events.BooksOrder) for kind in get_args(union)),
)
"""The events that somebody waits for an answer to. All others are facts, although people report wagers and the key at a console too."""
_STOPPING: Final = (
    events.ServiceStarted,
    *get_args(events.ShoeEvent),
    *get_args(events.Sensed),
    *(events.ConfigurationKeypad, events.DeviceHeard, events.SensorsLink, events.SensorFault),
    events.MeterAnswered,
)


def note_failure(turn: Turn, event: events.Event, name: str) -> RefusedError | None:
    """Note an event that failed, and return the answer if a person can wait for it. `name` is the digest of the traceback in the log."""
    shown = f"{event.kind.replace('_', ' ')}: internal error {name[:12]}, which the service's log explains"
    if isinstance(event, events.TableAsked):
        serve_failed(turn, event, events.Refused(INTERNAL_ERROR, shown))
    if isinstance(event, REQUESTS):
        return RefusedError(INTERNAL_ERROR, f"{shown}. Nothing has changed")
    _note_report(turn, event)
    if isinstance(event, _STOPPING):
        text = f"{shown}. A supervisor must check the cards and wagers on the table, correct or void a wrong hand, and resume play"
        if isinstance(event, events.ShoeHello | events.DeviceHeard):
            device = "shoe" if isinstance(event, events.ShoeHello) else event.device.replace("_", " ")
            text += f". Then unplug the {device} and plug it in again"
        turn.stop(Stop(code=INTERNAL_ERROR, text=text, of_the_shoe=isinstance(event, events.ShoeEvent)))
    else:
        turn.alarm(INTERNAL_ERROR, shown)
    return RefusedError(INTERNAL_ERROR, shown) if isinstance(event, events.Sensed) else None


def _note_report(turn: Turn, event: events.Event) -> None:
    """Note that a report came, so that its sender does not report it again for ever, and that what it reports on is not known."""
    link = turn.state.link
    if isinstance(event, events.ShoeHello | events.ShoeLost | events.ServiceStarted):
        turn.change_link(online=False, reason="the program could not handle what was reported of the shoe")
    if isinstance(event, events.ServiceStarted):
        turn.change_devices(configuration_keypad=None, sensors=None)
    elif isinstance(event, events.SensorsLink):
        sensors = turn.state.devices.sensors or Sensors()
        turn.change_devices(
            sensors=replace(sensors, online=False, reason="the program could not handle their report")
        )
    elif isinstance(event, events.RecordsLost):
        turn.change_link(taken=max(link.taken, event.last))
    elif isinstance(event, events.ShoeRecord) and event.record == link.expected and link.offered is None:
        turn.change_link(taken=event.record)
