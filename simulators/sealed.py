"""Version 2 of the link for a device of version 1: what a box between such a device and its line would do."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punto.configs.text_file import read_text
from punto.drivers.frame import Frame
from punto.drivers.framing import Decoder, encode
from punto.drivers.seal import DeviceSeal

_LARGEST = 4096  # bytes of a key's file


@dataclass(frozen=True, slots=True)
class _Raw:
    """Any frame, with its payload as it came."""

    TYPE: int
    sequence: int
    content: bytes

    def payload(self) -> bytes:
        return self.content


class _EveryType(Mapping[int, Callable[[int, bytes], Any]]):
    """Reads frames of every type."""

    def __contains__(self, _: object) -> bool:
        return True

    def __getitem__(self, number: int) -> Callable[[int, bytes], Any]:
        return lambda sequence, payload: _Raw(number, sequence, payload)

    def __iter__(self) -> Any:
        return iter(range(256))

    def __len__(self) -> int:
        return 256


class SealedEnd:
    """The device's end of a sealed line; without a key it changes nothing."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        self.power_on()

    def power_on(self) -> None:
        """Forget the session, as a device does that loses its power."""
        self._seal = None if self._key is None else DeviceSeal(self._key)
        self._out: Decoder[Frame] = Decoder(_EveryType())
        self._in: Decoder[Frame] | None = (
            None if self._seal is None else Decoder(_EveryType(), seal=self._seal)
        )

    def inward(self, data: bytes) -> bytes:
        """What the device gets of bytes from the line."""
        return data if self._in is None else b"".join(map(encode, self._in.feed(data)))

    def outward(self, frames: Iterable[bytes]) -> list[bytes]:
        """What the line gets of the device's frames."""
        if self._seal is None:
            return list(frames)
        sealed = (encode(frame, self._seal) for each in frames for frame in self._out.feed(each))
        return [each for each in (self._seal.handshake(0), *sealed) if each]


def read_key(path: Path | None) -> bytes | None:
    """The key in a file of hexadecimal digits; None without a file. Raises ValueError if it is not one."""
    if path is None:
        return None
    try:
        key = bytes.fromhex(read_text(path))
        DeviceSeal(key)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} has no device's key: {error}") from None
    return key
