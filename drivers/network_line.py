"""A serial line behind a device server in the network: `socket://HOST:PORT` for its bytes alone, `rfc2217://HOST:PORT` if it shall set the line's speed too.

Who is on that network can read the line and write to it, so it is trusted no more than a cable: only a link with a proof
(version 2 of Punto's own) tells the device from somebody else.
"""

import asyncio
import socket
from typing import Final
from urllib.parse import SplitResult

from punto.drivers.address import parsed
from punto.drivers.line import Line, PortLostError
from punto.drivers.rfc2217 import Rfc2217

CONNECT_SECONDS: Final = 5.0
NEGOTIATE_SECONDS: Final = 3.0
_KEEPALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 4000),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
)
"""A device server that loses its power sends nothing, not even an end. Within some four seconds the system then ends the
connection, which a link that only listens could not know."""


async def connect(address: str, baud: int, device: str) -> Line:
    """Connect to the line of a device server. With `rfc2217://` the server sets the line to `baud`.

    Raises:
        PortLostError: it cannot be reached, or it does not do as asked.
    """
    parts = parsed(address)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            connected = await _connected(str(parts.hostname), int(parts.port or 0))
    except OSError as error:  # also a time-out
        raise PortLostError(_why_not_connected(parts, error)) from error
    for level, option, value in _KEEPALIVE:
        connected.setsockopt(level, option, value)
    if parts.scheme == "socket":
        return NetworkLine(connected, address, device)
    line = NegotiatedLine(connected, address, device, baud)
    try:
        async with asyncio.timeout(NEGOTIATE_SECONDS):
            await line.negotiate()
    except OSError as error:  # also a time-out, or an end of the connection
        raise PortLostError(
            f"{address} does not set the line to {baud} baud by RFC 2217: turn that on at the device server, or set the "
            "line there and write socket:// here"
        ) from error
    finally:
        if not line.agreed:
            line.close()
    return line


async def _connected(host: str, port: int) -> socket.socket:
    """A connected socket that does not block. Raises the last address's OSError if none answers."""
    loop = asyncio.get_running_loop()
    failed: OSError = OSError("no address")
    for family, kind, protocol, _, where in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setblocking(False)
            await loop.sock_connect(opened, where)
        except BaseException as error:
            opened.close()
            if not isinstance(error, OSError):
                raise
            failed = error
        else:
            return opened
    raise failed


class NetworkLine(Line):
    """A connection to a device server that passes the line's bytes on."""

    def __init__(self, connected: socket.socket, address: str, device: str) -> None:
        self._socket = connected
        self._address = address
        self._device = device

    def fileno(self) -> int:
        """The open descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def discard_output(self) -> None:
        """Do nothing: the system closes a connection without waiting for what is unsent."""

    def gone(self) -> str:
        """The reason to give when the connection has ended."""
        return (
            f"the connection to {self._address} ended: check the network, and the device server that the {self._device} is "
            "plugged into"
        )


class NegotiatedLine(NetworkLine):
    """A connection by RFC 2217, in which the device server also takes orders."""

    def __init__(self, connected: socket.socket, address: str, device: str, baud: int) -> None:
        super().__init__(connected, address, device)
        self._telnet = Rfc2217(baud)
        self._early = b""

    @property
    def agreed(self) -> bool:
        """Whether the line has the settings that were asked for."""
        return self._telnet.agreed

    async def negotiate(self) -> None:
        """Ask for the line's settings until they hold. Raises OSError if the connection ends before."""
        loop = asyncio.get_running_loop()
        while not self.agreed:
            await loop.sock_sendall(self._socket, self._telnet.data_to_send())
            came = await loop.sock_recv(self._socket, 1024)
            if not came:
                raise ConnectionResetError
            self._early += self._telnet.receive(came)

    def decode(self, received: bytes) -> bytes:
        """The device's own bytes, with those that came before the line was set."""
        early, self._early = self._early, b""
        return early + self._telnet.receive(received)

    def encode(self, data: bytes) -> bytes:
        """The device's bytes, after the answers to the server."""
        return self._telnet.data_to_send() + self._telnet.escaped(data)


def _why_not_connected(parts: SplitResult, error: OSError) -> str:
    """Explain why a device server could not be reached, and what to do."""
    host, port = parts.hostname, parts.port
    if isinstance(error, socket.gaierror):
        return f"no host is called {host}: check the name in {parts.geturl()}, and the network's DNS"
    if isinstance(error, ConnectionRefusedError):
        return (
            f"{host} answers, but nothing listens at its port {port}: check the settings of the device server"
        )
    return f"{host} does not answer: check the device server's power, its network cable, and the address {parts.geturl()}"
