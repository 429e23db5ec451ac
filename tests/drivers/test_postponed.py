"""A device whose driver cannot be made yet."""

import asyncio
from collections.abc import Mapping

from punto.drivers.base import LinkHealth, LinkUser
from punto.drivers.retried import DeviceLostError, Postponed, Retried
from tests.deadline import DEADLINE


class User:
    """The user of a driver, who only wants to know of each change of its link."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    def link_changed(self) -> None:
        self.changed.set()

    async def next_change(self) -> None:
        await asyncio.wait_for(self.changed.wait(), DEADLINE)
        self.changed.clear()


class Device(Retried[LinkUser]):
    """A driver that connects at once."""

    async def _connection(self, user: LinkUser) -> None:
        self._connected(user)
        await asyncio.Event().wait()

    def _serial(self) -> str:
        return "KP-1"

    def _counters(self) -> Mapping[str, int]:
        return {"keys": 3}


async def test_a_driver_is_made_as_soon_as_it_can_be_and_its_link_is_the_devices():
    possible, user = False, User()

    def make() -> Device:
        if not possible:
            raise DeviceLostError("its key cannot be read: chmod 640 keypad.key")
        return Device("/dev/keypad", "keypad")

    postponed = Postponed("/dev/keypad", "keypad", make)
    running = asyncio.create_task(postponed.run(user))
    await user.next_change()
    before = postponed.health()
    possible = True
    await user.next_change()
    after = postponed.health()
    running.cancel()

    assert before == LinkHealth(
        port="/dev/keypad",
        connected=False,
        reason="its key cannot be read: chmod 640 keypad.key",
        since=before.since,
        serial=None,
        counters={},
    )
    assert (after.connected, after.serial, after.counters) == (True, "KP-1", {"keys": 3})
