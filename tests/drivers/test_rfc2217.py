"""The client's end of RFC 2217: every byte arrives, however it is divided, and the server's own talk never does."""

from typing import Any, cast

import serial
from hypothesis import given
from hypothesis import strategies as st
from serial.rfc2217 import PortManager

from punto.drivers.rfc2217 import Rfc2217

IAC, DONT, DO, WONT, WILL, SB, NOP, SE = 255, 254, 253, 252, 251, 250, 241, 240


class Sent:
    """What pyserial's server sends."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        self.data += data


def agreed(baud: int) -> tuple[Rfc2217, PortManager, Any, Sent]:
    line: Any = serial.serial_for_url("loop://", 300)
    sent = Sent()
    client, server = Rfc2217(baud), PortManager(line, cast("Any", sent))
    assert b"".join(server.filter(client.data_to_send())) == b""
    assert client.receive(bytes(sent.data)) == b""
    sent.data.clear()
    return client, server, line, sent


@given(st.integers(1200, 4_000_000))
def test_the_server_sets_the_line(baud):
    client, _, line, _ = agreed(baud)

    assert client.agreed
    assert (line.baudrate, line.bytesize, line.parity, line.stopbits) == (baud, 8, "N", 1)
    assert (line.xonxoff, line.rtscts) == (False, False)


@given(st.binary(), st.binary(), st.integers(1, 50))
def test_every_byte_arrives_both_ways_in_any_division(to_host, to_device, size):
    client, server, _, _ = agreed(115_200)

    wire = b"".join(server.escape(to_host))
    got = b"".join(client.receive(wire[at : at + size]) for at in range(0, len(wire), size))
    assert got == to_host
    assert b"".join(server.filter(client.data_to_send() + client.escaped(to_device))) == to_device


@given(st.binary(max_size=300))
def test_whatever_comes_little_of_it_is_kept(noise):
    client = Rfc2217(9600)
    client.data_to_send()
    for _ in range(20):
        client.receive(bytes((IAC, SB)) + noise)

    assert len(client._order or b"") <= 64
    assert len(client._refused) <= 512
    assert len(client.data_to_send()) <= 3 * 512


def test_of_an_order_without_end_no_more_is_kept_than_of_the_longest():
    client = Rfc2217(9600)
    assert client.receive(bytes((IAC, SB, 44, *range(100), IAC, SE)) + b"card") == b"card"


def test_what_nobody_asked_for_is_refused_once():
    client = Rfc2217(9600)
    client.data_to_send()
    for _ in range(3):
        assert client.receive(bytes((IAC, NOP))) == b""
        client.receive(bytes((IAC, WILL, 1, IAC, DO, 24, IAC, WONT, 31, IAC, DO, 0, IAC, WILL, 44)))

    assert client.data_to_send() == bytes((IAC, DONT, 1, IAC, WONT, 24))


def test_a_server_with_another_speed_has_not_agreed():
    client = Rfc2217(115_200)
    client.receive(bytes((IAC, SB, 44, 101)) + (9600).to_bytes(4) + bytes((IAC, SE)))

    assert not client.agreed
