"""The client's end of RFC 2217 without I/O: serial bytes and orders for the line in one Telnet connection.

pyserial's client keeps what the server sends without a bound, waits in threads of its own and sleeps when it is closed. A port
of a table can do none of that, and needs little of the protocol: the line's settings once, and then eight-bit bytes.
"""

from typing import Final

_IAC, _DONT, _DO, _WONT, _WILL, _SB, _SE = 255, 254, 253, 252, 251, 250, 240
_BINARY, _SUPPRESS_GO_AHEAD, _COM_PORT = 0, 3, 44
_WANTED: Final = frozenset({_BINARY, _SUPPRESS_GO_AHEAD, _COM_PORT})
_BAUD, _DATA_BITS, _PARITY, _STOP_BITS, _FLOW_CONTROL = 1, 2, 3, 4, 5
_ANSWER: Final = 100  # a server's answer to an order has its number and this
_LONGEST_ORDER: Final = 64  # bytes; an answer has five, and what is longer is not read


class Rfc2217:
    """A connection to a server of RFC 2217 that sets the line to `baud`, eight bits, no parity, one stop bit, no flow control.

    `agreed` is true as soon as the server has said that the line has this speed.
    """

    def __init__(self, baud: int) -> None:
        self.agreed = False
        self._speed = baud.to_bytes(4)
        self._to_send = bytearray()
        for option in sorted(_WANTED):
            self._to_send += bytes((_IAC, _WILL, option, _IAC, _DO, option))
        for order, value in (
            (_BAUD, self._speed),
            (_DATA_BITS, b"\x08"),
            (_PARITY, b"\x01"),
            (_STOP_BITS, b"\x01"),
            (_FLOW_CONTROL, b"\x01"),
        ):
            self._to_send += bytes((_IAC, _SB, _COM_PORT, order)) + self.escaped(value) + bytes((_IAC, _SE))
        self._refused: set[tuple[int, int]] = set()
        self._command = 0  # the command that the next byte belongs to: IAC, WILL, DO, ..., 0 for none
        self._order: bytearray | None = None  # the order of the server that is being read

    def receive(self, received: bytes) -> bytes:
        """Take what came from the server; returns the bytes of the device in it."""
        data = bytearray()
        for byte in received:
            if self._command == _IAC:
                self._command = 0
                self._take_command(byte, data)
            elif self._command:
                self._negotiate(self._command, byte)
                self._command = 0
            elif byte == _IAC:
                self._command = _IAC
            else:
                self._take(byte, data)
        return bytes(data)

    def data_to_send(self) -> bytes:
        """What the server is still to be sent, before bytes for the device."""
        data = bytes(self._to_send)
        self._to_send.clear()
        return data

    @staticmethod
    def escaped(data: bytes) -> bytes:
        """Bytes for the device, as they are sent to the server."""
        return data.replace(b"\xff", b"\xff\xff")

    def _take(self, byte: int, data: bytearray) -> None:
        if self._order is None:
            data.append(byte)
        elif len(self._order) < _LONGEST_ORDER:
            self._order.append(byte)

    def _take_command(self, command: int, data: bytearray) -> None:
        if command == _IAC:
            self._take(_IAC, data)
        elif command in {_WILL, _WONT, _DO, _DONT}:
            self._command = command
        elif command == _SB:
            self._order = bytearray()
        elif command == _SE:
            self._agree(bytes(self._order or b""))
            self._order = None

    def _agree(self, order: bytes) -> None:
        if order[:2] == bytes((_COM_PORT, _ANSWER + _BAUD)):
            self.agreed = order[2:] == self._speed

    def _negotiate(self, command: int, option: int) -> None:
        """Refuse once what was not asked for. What was asked for is under way already, so it needs no second answer."""
        answer = {_WILL: _DONT, _DO: _WONT}.get(command)
        if answer is None or option in _WANTED or (answer, option) in self._refused:
            return
        self._refused.add((answer, option))
        self._to_send += bytes((_IAC, answer, option))
