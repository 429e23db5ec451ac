"""What becomes of the news of a progressive's wager sensors themselves: whether they are heard, and which of them are broken.

It is never refused, for it has happened. A fault is an alarm until it is mended or somebody has seen to it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from punto.baccarat.progressive.procedure import StartGame
from punto.baccarat.table.effects import AlarmAcknowledged
from punto.baccarat.table.events import SensorFault, SensorsLink
from punto.baccarat.table.state import Sensors, TableState
from punto.baccarat.table.turn import RefusedError, Turn

_SAID: Final[Mapping[str, str]] = {
    "missing": "no wager sensor answers at {}: check its cable; no wager there can be in a game",
    "doubled": "two wager sensors answer at {}: take one off the chain; no wager there can be in a game",
    "stuck": "a wager that has had its game is still seen at {}: take it away, or have the sensor seen to",
    "unassigned": "a wager sensor answers at {}, before which no seat is set: wagers on it are nobody's",
}


def on_sensors(turn: Turn, event: SensorsLink | SensorFault) -> None:
    """Take note of it."""
    sensors = turn.state.sensors or Sensors()
    if isinstance(event, SensorsLink):
        turn.change(sensors=replace(sensors, online=event.online, reason=event.reason))
        return
    fault = replace(event, stands=True)
    others = tuple(each for each in sensors.faults if each != fault)
    turn.change(sensors=replace(sensors, faults=(*others, fault) if event.stands else others))
    code = alarm_code(event)
    of_the_kind = [each for each in (*others, fault) if alarm_code(each) == code]
    if event.stands:
        turn.alarm(code, fault_text(*of_the_kind))
    elif of_the_kind == [fault]:  # it was the last one
        clear_alarm(turn, code)


def alarm_code(fault: SensorFault) -> str:
    """The code of the alarm that a fault raises."""
    return f"sensor_{fault.fault}"


def fault_text(*faults: SensorFault) -> str:
    """What to say of sensors that have the same fault."""
    places = [
        f"position {each.position}" + (f" (seat {each.seat})" if each.seat is not None else "")
        for each in faults
    ]
    return _SAID[faults[0].fault].format(" and ".join(places))


def refuse_unlatched(state: TableState, event: StartGame) -> None:
    """Refuse a start at a table with sensors unless they have said which wagers are in it.

    Raises:
        RefusedError: they have not.
    """
    if state.sensors is None or event.seats is not None:
        return
    if not state.sensors.online:
        raise RefusedError("sensors_lost", f"the wager sensors do not answer: {state.sensors.reason}")
    raise RefusedError(
        "start_unconfirmed",
        "the wager sensors did not confirm START GAME, so no wager is counted and nothing is started: have the wagers on "
        "them lifted and laid anew, then press it again",
    )


def clear_alarm(turn: Turn, code: str) -> None:
    """End the alarm of this code, if it stands: what it was about is over."""
    for alarm in turn.state.alarms:
        if alarm.code == code:
            turn.change(alarms=tuple(each for each in turn.state.alarms if each is not alarm))
            turn.say(AlarmAcknowledged(alarm.number, code))
