"""The faults of `--fault NAME=VALUE`. Pure, with their own random stream from the shoe's seed.

A fault of a card depends only on seed, shoe and card, so the same cards have faults however long a run takes
and however often it is interrupted. Faults of the line are drawn frame by frame.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Any

UNSURE_CONFIDENCE = 50


class OptionError(ValueError):
    """An option cannot be used; the message says what to write."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Something that happens every `every` seconds and lasts `seconds`."""

    every: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults and their rates: chances are from 0 to 1.

    The line: `noise` before a frame, `flip` of a bit in each byte, `lose` or `repeat` a frame, all for the
    shoe's output; `deaf` is a frame of the host's that the shoe does not receive; `split` is the most bytes
    that arrive together (0: no limit). The cards: `unread`, `unsure` (a confidence of 50), `overdraw` after
    the end of a coup, `reverse` after a card; `ninth_copy` is the number of the card from which on a surplus
    copy turns up (0: never). The power and the cable: `power` and `unplug`.
    """

    split: int = 0
    noise: float = 0
    flip: float = 0
    lose: float = 0
    repeat: float = 0
    deaf: float = 0
    unread: float = 0
    unsure: float = 0
    overdraw: float = 0
    reverse: float = 0
    ninth_copy: int = 0
    unplug: Interval | None = None
    power: Interval | None = None

    @property
    def on_the_line(self) -> bool:
        """Whether a frame can have a fault on its way out."""
        return any((self.split, self.noise, self.flip, self.lose, self.repeat))

    @property
    def on_cards(self) -> bool:
        """Whether a card can have a random fault."""
        return any((self.unread, self.unsure, self.overdraw, self.reverse))


# --- reading the option


def parse_faults(texts: Iterable[str], begin: Faults | None = None) -> Faults:
    """Parse faults in the option's format, such as `noise=0.01`, over those of `begin`.

    Raises:
        OptionError: a fault is unknown or its value is invalid.
    """
    faults = Faults() if begin is None else begin
    for text in texts:
        name, equals, value = text.partition("=")
        if name == "split" and not equals:
            value = "3"
        if name not in _READERS:
            raise OptionError(f"fault {name!r} is unknown: write one of {', '.join(_READERS)}")
        faults = replace(faults, **{name: _READERS[name](name, value)})
    return faults


def _chance(name: str, value: str) -> float:
    try:
        chance = float(value)
    except ValueError:
        chance = -1
    if not 0 <= chance <= 1:
        raise OptionError(f"fault {name}={value}: write a chance from 0 to 1, such as {name}=0.01")
    return chance


def _count(name: str, value: str) -> int:
    if not value.isascii() or not value.isdecimal() or int(value) == 0:
        raise OptionError(f"fault {name}={value}: write a whole number from 1, such as {name}=3")
    return int(value)


def _interval(name: str, value: str) -> Interval:
    every, _, lasts = value.partition("/")
    interval = Interval(_seconds(every), _seconds(lasts))
    if not (0 < interval.every < 1e9 and 0 < interval.seconds < 1e9):
        raise OptionError(f"fault {name}={value}: write how often and for how long, such as {name}=30s/2s")
    return interval


def _seconds(text: str) -> float:
    try:
        return float(text.removesuffix("s")) if text.endswith("s") else -1
    except ValueError:
        return -1


_SPECIAL: dict[str, Callable[[str, str], Any]] = {
    "split": _count,
    "ninth_copy": _count,
    "unplug": _interval,
    "power": _interval,
}
_READERS: dict[str, Callable[[str, str], Any]] = {
    field.name: _SPECIAL.get(field.name, _chance) for field in fields(Faults)
}


@dataclass(frozen=True, slots=True)
class CardChances:
    """The random faults of one card."""

    unread: bool
    unsure: bool
    overdraw: bool
    reverse: bool


_NOTHING = CardChances(unread=False, unsure=False, overdraw=False, reverse=False)


def card_chances(faults: Faults, seed: str, shoe_number: int, number: int) -> CardChances:
    """The faults of card `number` (from 1) of a shoe."""
    if not faults.on_cards:
        return _NOTHING
    draw = Random(f"{seed}/{shoe_number}/{number}/faults").random
    return CardChances(
        unread=draw() < faults.unread,
        unsure=draw() < faults.unsure,
        overdraw=draw() < faults.overdraw,
        reverse=draw() < faults.reverse,
    )


class Line:
    """The line's effects on frames."""

    def __init__(self, faults: Faults, seed: str) -> None:
        self._faults = faults
        self._out = Random(f"{seed}/line")
        self._in = Random(f"{seed}/deaf")

    def outward(self, frames: list[bytes]) -> list[bytes]:
        """Return the received form of the shoe's frames, in the pieces in which they arrive."""
        if not self._faults.on_the_line:
            return [b"".join(frames)] if frames else []
        data = b"".join(self._spoil(frame) for frame in frames)
        most = self._faults.split
        if not most:
            return [data] if data else []
        pieces = []
        while data:
            size = self._out.randint(1, most)
            pieces.append(data[:size])
            data = data[size:]
        return pieces

    def inward(self, data: bytes) -> bytes:
        """Return the host's bytes that the shoe receives: whole frames are missing."""
        if not self._faults.deaf:
            return data
        # Without its delimiter a frame would join the next one, so all delimiters are received.
        runs = data.split(b"\0")
        return b"\0".join(run if self._in.random() >= self._faults.deaf else b"" for run in runs)

    def _spoil(self, frame: bytes) -> bytes:
        faults, draw = self._faults, self._out.random
        if draw() < faults.lose:
            return b""
        noise = self._out.randbytes(self._out.randint(1, 40)) if draw() < faults.noise else b""
        times = 2 if draw() < faults.repeat else 1
        return noise + b"".join(self._flip(frame) for _ in range(times))

    def _flip(self, frame: bytes) -> bytes:
        chance = self._faults.flip
        if not chance:
            return frame
        draw = self._out
        return bytes(byte ^ 1 << draw.randrange(8) if draw.random() < chance else byte for byte in frame)
