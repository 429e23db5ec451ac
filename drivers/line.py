"""What a serial port needs of the line behind it, whether that is a cable at this PC or a device server in the network."""

from abc import ABC, abstractmethod


class PortLostError(Exception):
    """The port cannot be used or was removed; the text says what to do."""


class Line(ABC):
    """An open line to one device: a descriptor that does not block, and what its bytes stand for."""

    @abstractmethod
    def fileno(self) -> int:
        """The open descriptor."""

    @abstractmethod
    def close(self) -> None:
        """Close the line, without waiting, also if it was removed."""

    @abstractmethod
    def gone(self) -> str:
        """The reason to give when the line has ended, with what to do."""

    def is_same(self) -> bool:
        """Whether the port's address still leads to this line."""
        return True

    @abstractmethod
    def discard_output(self) -> None:
        """Discard what the system has not sent yet, where it would wait for that when the line is closed."""

    def decode(self, received: bytes) -> bytes:
        """The device's own bytes among those that were received."""
        return received

    def encode(self, data: bytes) -> bytes:
        """The bytes to send so that the device gets `data`, after what the line itself has to answer."""
        return data
