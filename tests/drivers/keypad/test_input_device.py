"""A keypad that is a Linux input device: its contact and its lights (tests/drivers/test_input_devices.py has the rest)."""

import time

import pytest
from evdev import ecodes

from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.keypad.input_device import InputKeypad
from tests.drivers.benches import KeypadUser, until
from tests.drivers.input_devices import Port, recorded, stroke


@pytest.fixture
def port(monkeypatch) -> Port:
    return Port(InputKeypad("/dev/input/by-id/usb-pad-event-kbd"), KeypadUser(), monkeypatch)


async def test_a_contact_that_bounces_is_one_press(port):
    async with port.running():
        device = await port.plug()
        now = time.time()
        for later in (0, 0.02, 0.2):
            device.types(recorded(*stroke("F2"), at=now + later))

        await port.got(["F2", "F2"])
        assert port.counters["bounces"] == 1


async def test_the_lights_show_the_result_of_a_press(port):
    port.user.answers = {
        "9": KeyAnswer("more", "9 ...", 1),
        "VOLUMEUP": KeyAnswer("refused", "has no meaning"),
    }
    async with port.running():
        device = await port.plug()
        await until(lambda: device.lights.get(ecodes.LED_NUML) == 1)
        device.types(recorded(*stroke("9")))
        await until(lambda: device.lights.get(ecodes.LED_CAPSL) == 1)
        await until(lambda: device.lights.get(ecodes.LED_CAPSL) == 0)  # the sequence's time is over
        device.types(recorded(*stroke("VOLUMEUP")))
        await until(lambda: device.lights.get(ecodes.LED_SCROLLL) == 1)
        device.types(recorded(*stroke("F1")))
        await until(lambda: device.lights.get(ecodes.LED_SCROLLL) == 0)
        port.user.shown = KeypadLamps(ready=False)
        await until(lambda: device.lights.get(ecodes.LED_NUML) == 0)


async def test_a_keypad_without_a_light_works_too(port):
    port.user.answers = {"9": KeyAnswer("more", "9 ...", 3)}
    async with port.running():
        device = await port.plug()
        device.has_caps_lock = False
        device.types(recorded(*stroke("9"), *stroke("S")))

        await port.got(["9", "S"])
