"""Handles which keypad, wager sensors and card reader are connected: the first is accepted, another waits for a supervisor.

As in `shoe_events`, a report is never refused. What an unaccepted device reports does not reach the table.
"""

from dataclasses import replace
from typing import Final

from punto.baccarat.table.effects import DeviceAccepted
from punto.baccarat.table.events import DeviceHeard, DeviceName
from punto.baccarat.table.sensors import clear_alarm
from punto.baccarat.table.state import KnownDevice
from punto.baccarat.table.turn import RefusedError, Turn

_NAMES: Final[dict[DeviceName, str]] = {
    "keypad": "keypad",
    "coin_spot": "chain of wager sensors",
    "card_reader": "card reader",
}


def alarm_code(device: DeviceName) -> str:
    """The code of the alarm for a device that is not accepted."""
    return f"other_{device}"


def on_device(turn: Turn, event: DeviceHeard) -> None:
    """Handle the report."""
    known = turn.state.devices.of_name(event.device)
    name, serial = _NAMES[event.device], event.serial
    wanted = getattr(turn.state.settings, f"{event.device}_serial")
    if serial is None:
        text = f"the connected {name} does not have the configured key: check which device is at the end of the cable"
        turn.alarm(alarm_code(event.device), text)
    elif serial in {known.accepted, wanted} or {known.accepted, wanted} == {None}:
        _accept(turn, known, serial)
    else:
        before = (
            f"the configuration names {wanted}"
            if known.accepted is None
            else f"{known.accepted} was used here"
        )
        _know(turn, replace(known, offered=serial))
        text = f"the connected {name} is {serial}, but {before}: a supervisor must accept {serial} before the table uses it"
        turn.alarm(alarm_code(event.device), text)


def accept_device(turn: Turn, serial: str) -> None:
    """Take the device that waits for a supervisor, whose serial number this is.

    Raises:
        RefusedError: no device with this serial number waits.
    """
    for known in turn.state.devices.known:
        if known.offered == serial:
            _accept(turn, known, serial)
            return
    waiting = " and ".join(each.offered for each in turn.state.devices.known if each.offered is not None)
    raise RefusedError(
        "no_device_offered",
        f"no device {serial} waits to be accepted; devices that wait: {waiting or 'none'}",
    )


def _accept(turn: Turn, known: KnownDevice, serial: str) -> None:
    _know(turn, replace(known, accepted=serial, offered=None))
    clear_alarm(turn, alarm_code(known.device))
    if serial != known.accepted:
        turn.announce(DeviceAccepted(known.device, serial))


def _know(turn: Turn, known: KnownDevice) -> None:
    others = tuple(each for each in turn.state.devices.known if each.device != known.device)
    turn.change_devices(known=(*others, known))
