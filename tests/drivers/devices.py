"""The devices with a serial line, a row each: what the tests need to know that hold all of them to the same rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from struct import pack
from typing import Final
from zlib import crc32

from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers.card_reader import frames as card_reader
from punto.drivers.coin_spot import frames as coin_spot
from punto.drivers.frame import Frame
from punto.drivers.ishoe import frames as shoe
from punto.drivers.keypad import frames as keypad
from tests.drivers import page
from tests.drivers.benches import Bench, CardReaderBench, CoinSpotBench, KeypadBench, ShoeBench
from tests.drivers.coin_spot.rig import Rig
from tests.drivers.ends import CardReaderEnds, Ends, KeypadEnds, ShoeEnds


def raw(kind: int, sequence: int, payload: bytes, version: int = 1) -> bytes:
    """The wire bytes of a frame with a right checksum, whatever is in it."""
    body = pack(">BBI", version, kind, sequence) + payload
    stuffed: bytes = cobs.encode(body + pack(">I", crc32(body)))
    return b"\0" + stuffed + b"\0"


@dataclass(frozen=True)
class Device:
    """`page` is the document of its link, and `frames` are those of both ends."""

    bench: type[Bench]
    page: str
    frames: Sequence[type[Frame]]
    ends: Callable[..., Ends]

    def __str__(self) -> str:
        return self.bench.device

    @cached_property
    def examples(self) -> list[Frame]:
        """The frames of the page's examples, at least one of each type."""
        kinds = {kind.TYPE: kind for kind in self.frames}
        return [
            kinds[decoded[1]].parse(int.from_bytes(decoded[2:6]), decoded[6:-4])
            for _, decoded, _ in page.examples(self.page)
        ]


KEYPAD: Final = Device(
    KeypadBench,
    "keypad.md",
    (keypad.Here, keypad.Press, keypad.Switch, keypad.Status, keypad.Answer, keypad.Noted),
    KeypadEnds,
)
CARD_READER: Final = Device(
    CardReaderBench,
    "card-reader.md",
    (card_reader.Here, card_reader.Swipe, card_reader.Status, card_reader.Answer),
    CardReaderEnds,
)
COIN_SPOT: Final = Device(
    CoinSpotBench,
    "coin-spot.md",
    (coin_spot.Here, coin_spot.Report, coin_spot.Ask, coin_spot.Orders),
    partial(Rig, positions=15),
)
SHOE: Final = Device(ShoeBench, "ishoe-link.md", shoe.FRAMES, ShoeEnds)

DEVICES: Final = (KEYPAD, CARD_READER, COIN_SPOT, SHOE)
BENCHES: Final = [device.bench for device in DEVICES]
EXAMPLES: Final = [frame for device in DEVICES for frame in device.examples]
