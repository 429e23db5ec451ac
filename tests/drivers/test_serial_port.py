"""A port: opened or refused with what to do, never waiting, lost with a reason."""

import asyncio
import errno
import os
import subprocess
from pathlib import Path

import pytest

from punto.drivers import cable
from punto.drivers.base import BAUD
from punto.drivers.framing import DELIMITER, Decoder, encode
from punto.drivers.ishoe import frames
from punto.drivers.line import PortLostError
from punto.drivers.serial_port import UNSENT_BYTES, open_port
from punto.simulators.shoe.terminal import Terminal
from tests.deadline import DEADLINE


@pytest.fixture
def line(tmp_path):
    line = Terminal(tmp_path / "usb-Punto_Shoe_IS-004711-if00")
    line.plug()
    yield line
    line.unplug()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", r"^.* is not a serial port: name a serial port, preferably by its path in /dev/serial/by-id; "),
        ("file", r"^.*/file is not a serial port: name a serial port"),
        (
            "absent",
            r"^there is no port .*/absent: check the shoe's cable and the path; in /dev/serial/by-id there is ",
        ),
        ("file/below", r"^there is no port .*/file/below: check"),
        ("/dev/null", r"^/dev/null is not a serial port: name a serial port"),
    ],
    ids=["a directory", "a file", "nothing", "below a file", "a device that is no terminal"],
)
async def test_what_is_not_a_port_says_so_and_what_to_do(tmp_path, path, reason):
    (tmp_path / "file").write_text("not a port")
    with pytest.raises(PortLostError, match=reason):
        await open_port(str(tmp_path / path), BAUD, "shoe")


async def test_a_baud_rate_that_cannot_be(line):
    with pytest.raises(PortLostError, match=r"^cannot open .* at -5 baud: "):
        await open_port(line.path, -5, "shoe")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "EACCES",
            "no permission for {path}: give the device to the group of this table by a line in 60-punto.rules (docs/how-to/add-a-device.md); its group is {group}",
        ),
        ("EBUSY", "another program uses {path}: stop that program (`fuser -v {path}` names it)"),
        ("ENODEV", "the port {path} does not answer: unplug the shoe's cable and plug it in again"),
    ],
)
def test_what_the_system_says_becomes_what_to_do(tmp_path, code, reason):
    path = tmp_path / "port"
    path.touch()
    error = OSError(getattr(errno, code), "")

    assert cable.why_not_open(str(path), 9600, "shoe", error) == reason.format(path=path, group=path.group())


def test_the_group_of_a_port_that_cannot_even_be_looked_at(tmp_path):
    assert cable._group(str(tmp_path / "absent")) == "that owns it"
    assert not cable._is_terminal(str(tmp_path / "absent"))


def test_the_ports_that_there_are_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cable, "BY_ID", tmp_path)
    (tmp_path / "usb-B").touch()
    (tmp_path / "usb-A").touch()

    reason = cable.why_not_open("/dev/pad", 9600, "shoe", OSError(errno.ENOENT, "No such file"))
    assert reason.endswith(f"; in {tmp_path} there is usb-A, usb-B")


async def test_no_other_program_can_open_the_line_whether_it_asks_for_a_lock_or_not(line, monkeypatch):
    """The system keeps everybody out but root; on a pseudo-terminal too, if the driver asks for it there."""
    Path(line.path).chmod(0o666)  # anybody may, but for the lock
    nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    opens = [*nobody, "sh", "-c", f"exec 3<>{line.path}"]
    assert subprocess.run(opens, check=False).returncode == 0  # noqa: ASYNC221 - nothing else runs

    monkeypatch.setattr(cable, "PSEUDO_TERMINALS", ())
    port = await open_port(line.path, BAUD, "shoe")
    ran = subprocess.run(opens, check=False, capture_output=True, text=True)  # noqa: ASYNC221
    port.close()

    assert ran.returncode != 0
    assert "Device or resource busy" in ran.stderr


async def test_a_port_that_takes_nothing_keeps_little_and_never_waits(line):
    port = await open_port(line.path, BAUD, "shoe")
    frame = encode(frames.AskHello(1))
    for _ in range(20_000):  # nobody reads, so a write that waited would never end
        port.write(frame)

    assert UNSENT_BYTES - len(frame) < len(port._unsent) <= UNSENT_BYTES
    decoder = Decoder(frames.TYPES)
    heard = set()
    while port._unsent:
        heard |= set(decoder.feed(line.read()))
        await asyncio.sleep(0.002)
    heard |= set(decoder.feed(line.read()))
    assert heard == {frames.AskHello(1)}
    assert decoder.counters.broken == 0
    port.close()


async def test_writing_to_a_port_that_is_gone_is_left_to_the_read(line):
    port = await open_port(line.path, BAUD, "shoe")
    line.unplug()
    port.write(DELIMITER)

    assert not port._unsent
    with pytest.raises(PortLostError, match="was disconnected"):
        await port.read(DEADLINE)
    port.close()


@pytest.mark.parametrize(
    ("error", "lost"), [(BlockingIOError(errno.EAGAIN, ""), False), (OSError(errno.EIO, ""), True)], ids=repr
)
async def test_a_read_that_fails_is_a_lost_port_unless_there_is_only_nothing_to_read(
    line, monkeypatch, error, lost
):
    tried = []

    def fails(*_: object) -> bytes:
        tried.append(error)
        raise error

    port = await open_port(line.path, BAUD, "shoe")
    monkeypatch.setattr(os, "read", fails)  # an adapter's error, which a pseudo-terminal does not give
    line.write(b"x")
    if lost:
        with pytest.raises(PortLostError, match="was disconnected"):
            await port.read(DEADLINE)
    else:
        while not tried:  # the byte takes its time through the terminal
            assert await port.read(0.1) == b""
    monkeypatch.undo()
    port.close()
