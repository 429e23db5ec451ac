"""The watch over the configuration keypad's path: each change is told once, and the device is never opened."""

import asyncio
import os
from contextlib import suppress

import pytest

from punto.drivers.base import DeviceWatch
from punto.drivers.keypad import configuration
from punto.drivers.keypad.configuration import ConfigurationKeypad
from tests.drivers.benches import until


async def test_each_change_is_reported_once(tmp_path, monkeypatch):
    monkeypatch.setattr(configuration, "WATCH_SECONDS", 0.001)
    pad = tmp_path / "pad"
    told = []

    async def report(attached: bool, path: str) -> None:
        told.append((attached, path))

    watch: DeviceWatch = ConfigurationKeypad(str(pad))
    task = asyncio.create_task(watch.run(report))
    await asyncio.sleep(0)  # it has looked once, and what is not there is no change
    os.mkfifo(pad)  # an open of it would hang
    await until(lambda: told == [(True, str(pad))])
    pad.unlink()
    await until(lambda: told == [(True, str(pad)), (False, str(pad))])
    pad.symlink_to(tmp_path / "absent")  # a name that leads nowhere is no device
    os.mkfifo(tmp_path / "absent")
    await until(lambda: told[2:] == [(True, str(pad))])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_what_cannot_be_put_on_the_record_ends_the_watch(tmp_path):
    async def report(_: bool, __: str) -> None:
        raise RuntimeError("the record cannot be written")

    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await ConfigurationKeypad(str(tmp_path)).run(report)
