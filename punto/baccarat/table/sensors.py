"""Handles reports about a progressive's wager sensors: their connection and their faults.

As in `shoe_events`, a report is never refused. A fault is an alarm until it is repaired or acknowledged.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.effects import AlarmAcknowledged
from punto.baccarat.table.events import SensorFault, SensorsLink
from punto.baccarat.table.state import Sensors, TableState
from punto.baccarat.table.turn import RefusedError, Turn

_SAID: Final[Mapping[str, str]] = {
    "missing": "no wager sensor answers at {}, so wagers there cannot be in a game: check the cable",
    "doubled": "two wager sensors answer at {}, so wagers there cannot be in a game: remove one of the sensors",
    "stuck": "a wager of an earlier game is still detected at {}: remove the wager, or have the sensor checked",
    "unassigned": "a wager sensor answers at {}, for which no seat is configured: wagers on this sensor do not count",
}


def on_sensors(turn: Turn, event: SensorsLink | SensorFault) -> None:
    """Handle the report."""
    sensors = turn.state.devices.sensors or Sensors()
    if isinstance(event, SensorsLink):
        turn.change_devices(sensors=replace(sensors, online=event.online, reason=event.reason))
        return
    fault = replace(event, stands=True)
    others = tuple(each for each in sensors.faults if each != fault)
    turn.change_devices(sensors=replace(sensors, faults=(*others, fault) if event.stands else others))
    code = alarm_code(event)
    of_the_kind = [each for each in (*others, fault) if alarm_code(each) == code]
    if event.stands:
        turn.alarm(code, fault_text(*of_the_kind))
    elif of_the_kind == [fault]:  # it was the last one
        clear_alarm(turn, code)


def alarm_code(fault: SensorFault) -> str:
    """The code of the alarm for a fault."""
    return f"sensor_{fault.fault}"


def fault_text(*faults: SensorFault) -> str:
    """The text for sensors that have the same fault."""
    places = [
        f"position {each.position}" + (f" (seat {each.seat})" if each.seat is not None else "")
        for each in faults
    ]
    return _SAID[faults[0].fault].format(" and ".join(places))


def refuse_unlatched(state: TableState, event: StartGame) -> None:
    """Refuse a start at a table with sensors unless they have reported which wagers are in it; raises RefusedError."""
    if state.devices.sensors is None or event.seats is not None:
        return
    if not state.devices.sensors.online:
        raise RefusedError("sensors_lost", f"the wager sensors do not answer: {state.devices.sensors.reason}")
    raise RefusedError(
        "start_unconfirmed",
        "the wager sensors did not confirm START GAME, so the game is not started and no wager counts. Have the "
        "wagers on the sensors lifted and placed again, then press START GAME again",
    )


def clear_alarm(turn: Turn, code: str) -> None:
    """End the alarm of this code, if it stands: its cause is over."""
    for alarm in turn.state.alarms:
        if alarm.code == code:
            turn.change(alarms=tuple(each for each in turn.state.alarms if each is not alarm))
            turn.announce(AlarmAcknowledged(alarm.number, code))
