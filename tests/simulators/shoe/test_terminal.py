import os
import time

import pytest

from punto.simulators.shoe.terminal import Terminal, TerminalError


@pytest.fixture
def link(tmp_path):
    return tmp_path / "run" / "shoe"


@pytest.fixture
def terminal(link):
    terminal = Terminal(link)
    terminal.plug()
    yield terminal
    terminal.unplug()


def open_host(path):
    return os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def test_bytes_pass_unchanged_in_both_directions(terminal, link):
    data = bytes(range(256))
    host = open_host(link)
    os.write(host, data)
    terminal.write(data)

    assert terminal.read() == data
    assert os.read(host, 1000) == data
    assert terminal.read() == b""
    os.close(host)


def test_the_line_stays_as_it_is_while_hosts_come_and_go(terminal, link):
    os.close(open_host(link))
    terminal.write(b"\x03\x04\r\n")  # a line with echo and editing would change these and send them back
    host = open_host(link)

    assert os.read(host, 1000) == b"\x03\x04\r\n"
    assert terminal.read() == b""
    os.close(host)


def test_a_pulled_cable_hangs_up_and_takes_the_link_away(terminal, link):
    host = open_host(link)
    terminal.unplug()

    assert not link.is_symlink()
    with pytest.raises(OSError, match="Input/output error"):
        os.write(host, b"x")
    os.close(host)


def test_a_cable_that_is_plugged_in_again_has_the_same_name(terminal, link):
    terminal.unplug()
    terminal.plug()
    host = open_host(link)
    terminal.write(b"x")

    assert os.read(host, 10) == b"x"
    os.close(host)


def test_a_link_left_by_a_killed_shoe_is_replaced(link):
    link.parent.mkdir()
    link.symlink_to("/dev/pts/99999")
    terminal = Terminal(link)
    terminal.plug()

    assert str(link.readlink()) == terminal.path
    terminal.unplug()


def test_a_link_that_another_shoe_has_taken_is_left_to_it(link):
    first, second = Terminal(link), Terminal(link)
    first.plug()
    second.plug()
    first.unplug()

    assert str(link.readlink()) == second.path
    second.unplug()


def test_what_is_not_a_link_is_never_replaced(link):
    link.parent.mkdir()
    link.write_text("mine")

    with pytest.raises(
        TerminalError, match="exists and is not a symlink: give another link, or remove this file"
    ):
        Terminal(link)
    assert link.read_text() == "mine"


def test_a_link_that_cannot_be_made_is_named(tmp_path):
    terminal = Terminal(tmp_path / ("x" * 300))
    with pytest.raises(TerminalError, match=r"cannot make the link .*: File name too long; give another"):
        terminal.plug()

    assert not terminal.plugged_in


@pytest.mark.punctual
def test_writing_never_waits_for_a_host_that_does_not_read(terminal):
    begin = time.monotonic()
    while not terminal.dropped:
        terminal.write(b"x" * 1000)

    assert time.monotonic() - begin < 5


def test_what_is_written_to_a_pulled_cable_is_dropped(terminal):
    terminal.unplug()
    terminal.write(b"12345")

    assert terminal.dropped == 5
