"""The shoe's frames in a stream of bytes: `punto.drivers.framing` with the frames of `frames`."""

from typing import Final

from punto.drivers import framing
from punto.drivers.framing import Counters
from punto.drivers.ishoe.frames import FRAMES, AnyFrame

_TYPES: Final = {frame.TYPE: frame.parse for frame in FRAMES}


class Decoder(framing.Decoder[AnyFrame]):
    """Finds the shoe's frames, and those of its host, in a stream of bytes."""

    def __init__(self, counters: Counters | None = None) -> None:
        super().__init__(_TYPES, counters)
