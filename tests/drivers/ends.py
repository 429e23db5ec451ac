"""A host's link and its device, without a port: what one end sends, a line carries to the other, well or badly."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Final

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.events import ShoeEvent, ShoeRecord
from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.drivers.base import CardAnswer, KeyAnswer, KeypadLamps, KeyPosition
from punto.drivers.card_reader.frames import STALE_SECONDS, Answer
from punto.drivers.card_reader.link import CardReaderLink
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.link import IShoeLink
from punto.drivers.keypad.frames import Switch
from punto.drivers.keypad.link import KeypadLink
from punto.drivers.seal import HostSeal
from punto.simulators.card_reader.device import CardReaderDevice, NotTakenError
from punto.simulators.keypad.device import KeypadDevice
from punto.simulators.sealed import SealedEnd
from tests.drivers.ishoe.model import LOG, SERIAL, ModelShoe


@dataclass
class Line:
    """One direction of a line.

    `faults` are the chances of what can become of a frame: it is lost, comes twice, is held back, has a flipped bit or lacks
    a byte, or noise comes before it. Everything comes `late` by so many turns, and perhaps one byte after the other.
    """

    chance: Random = field(default_factory=lambda: Random(1))
    faults: Mapping[str, float] = field(default_factory=dict)
    late: int = 0
    one_by_one: bool = False
    cut: bool = False
    _held: list[bytes] = field(default_factory=list)
    _under_way: deque[list[bytes]] = field(default_factory=deque)

    def carry(self, sent: Iterable[bytes]) -> list[bytes]:
        """What arrives in this turn, when these frames are sent."""
        coming = [] if self.cut else [piece for frame in sent if frame for piece in self._spoiled(frame)]
        if self._held and self.chance.random() < 0.5:
            coming.append(self._held.pop(self.chance.randrange(len(self._held))))
        self._under_way.append(coming)
        arrived = self._under_way.popleft() if len(self._under_way) > self.late else []
        return [bytes((byte,)) for piece in arrived for byte in piece] if self.one_by_one else arrived

    def _spoiled(self, frame: bytes) -> list[bytes]:
        chance, faults = self.chance, self.faults
        (what,) = chance.choices([*faults, "none"], [*faults.values(), 1 - sum(faults.values())])
        at = chance.randrange(len(frame))
        if what == "hold":
            self._held.append(frame)
        spoiled: dict[str, list[bytes]] = {
            "lose": [],
            "hold": [],
            "double": [frame, frame],
            "flip": [frame[:at] + bytes((frame[at] ^ 1 << chance.randrange(8),)) + frame[at + 1 :]],
            "shorten": [frame[:at] + frame[at + 1 :]],
            "noise": [chance.randbytes(20) + frame],
        }
        return spoiled.get(what, [frame])


BAD: Final[Mapping[str, Any]] = dict.fromkeys(("lose", "hold", "double", "flip", "noise"), 1 / 7)


class Ends(ABC):
    """`lost` are the reasons of losses, with their times. With a `key`, both ends use version 2 of the link."""

    TURN: ClassVar[float] = 0.05
    """Seconds between two looks of either end at the line."""
    link: Any
    got: Any
    """What the host was given of what `does` does: 1, 2, 3 and so on if each came once."""

    def __init__(self, key: bytes | None = None) -> None:
        self.now = 100.0
        self.key = key
        self.end = SealedEnd(key)
        self.line_to_device = Line()
        self.line_to_host = Line()
        self.lost: list[tuple[float, str]] = []
        self.token = 0
        self.boot = 0
        self.power()
        self.new_host()

    # --- what happens to both ends

    def power(self) -> None:
        """The device is switched on, or off and on."""
        self.boot += 1
        self.end.power_on()
        self.switch_on()

    def new_host(self) -> None:
        """The host's program ends and begins again, and remembers nothing."""
        self.link = self.new_link(UNSEALED if self.key is None else HostSeal(self.key))
        self.connect()

    def connect(self) -> None:
        """The host opens its port."""
        self.token += 10_000  # far from all before, as random tokens are
        self.link.connect(self.now, self.token)

    def turn(self, seconds: float | None = None) -> Any:
        """Each end says what is due, and time passes."""
        for piece in self.line_to_device.carry([self.host_says()]):
            self.device_hears(piece)
        for piece in self.line_to_host.carry(self.device_frames()) or [b""]:
            self.host_hears(piece)
        self.check_silence()
        self.now += self.TURN if seconds is None else seconds

    def runs(self, seconds: float) -> None:
        for _ in range(round(seconds / self.TURN)):
            self.turn()

    def check_silence(self) -> None:
        reason = self.link.silence(self.now)
        if reason is not None:
            self.lost.append((self.now, reason))

    # --- the lines

    def spoil_lines(
        self, chance: Random, *, late: int = 0, one_by_one: bool = False, **faults: float
    ) -> None:
        self.line_to_device, self.line_to_host = (Line(chance, faults, late, one_by_one) for _ in range(2))

    def cut_lines(self) -> None:
        self.line_to_device.cut = self.line_to_host.cut = True

    def mend_lines(self) -> None:
        """Nothing goes wrong any more; what was held back or is late still arrives."""
        for line in (self.line_to_device, self.line_to_host):
            line.faults, line.cut = {}, False

    # --- one direction each

    def host_says(self) -> bytes:
        own = self.from_link() if self.link.ready else b""
        said: bytes = own + self.link.handshake(self.now)
        return said

    def device_hears(self, data: bytes) -> None:
        self.to_device(self.end.inward(data))

    def device_frames(self) -> list[bytes]:
        return self.end.outward(self.from_device())

    def device_says(self) -> bytes:
        return b"".join(self.device_frames())

    @abstractmethod
    def new_link(self, seal: Seal) -> Any: ...

    @abstractmethod
    def switch_on(self) -> None: ...

    @abstractmethod
    def from_link(self) -> bytes: ...

    @abstractmethod
    def host_hears(self, data: bytes) -> Any: ...

    @abstractmethod
    def to_device(self, data: bytes) -> None: ...

    @abstractmethod
    def from_device(self) -> list[bytes]: ...

    # --- something that happens at the device

    @abstractmethod
    def does(self) -> bool:
        """Something happens that did not happen before; give whether the device lets it happen now."""


class KeypadEnds(Ends):
    """A keypad with a key switch; `turned` and `pressed` are what the table got, and None while the position is not known."""

    TURN = 0.02
    link: KeypadLink

    def __init__(self, key: bytes | None = None) -> None:
        self.lamps = KeypadLamps(ready=True)
        self.turned: list[KeyPosition | None] = []
        self.pressed: list[str] = []
        self._done = 0
        super().__init__(key)

    def new_link(self, seal: Seal) -> KeypadLink:
        return KeypadLink(seal)

    def switch_on(self) -> None:
        self.pad = KeypadDevice("KP-1", 6 + self.boot, lambda _: None, "run")

    def from_link(self) -> bytes:
        return self.link.data_to_send(self.now, self.lamps)

    def host_hears(self, data: bytes) -> None:
        for received in self.link.receive(data, self.now):
            if isinstance(received, Switch):
                self.turned.append(received.position)
                self.link.note(received)
            else:
                self.pressed.append(received.key)
                self.link.answer(received, KeyAnswer("done", ""))

    def to_device(self, data: bytes) -> None:
        self.pad.receive(data, self.now)

    def from_device(self) -> list[bytes]:
        return self.pad.data_to_send(self.now)

    def check_silence(self) -> None:
        losses = len(self.lost)
        super().check_silence()
        if len(self.lost) > losses:
            self.turned.append(None)

    def press(self, key: str) -> None:
        self.pad.press(key, self.now)

    def does(self) -> bool:
        self._done += 1
        self.press(f"K{self._done}")
        return True

    @property
    def got(self) -> list[int]:
        return [int(key[1:]) for key in self.pressed]


class CardReaderEnds(Ends):
    """`swiped` are the cards and when, `got` those that the host was given, and `answers` what the reader got for which card."""

    link: CardReaderLink

    def __init__(self, key: bytes | None = None) -> None:
        self.swiped: dict[int, float] = {}
        self.got: list[int] = []
        self.answers: dict[int, Answer] = {}
        self.slow = 0.0  # seconds that the host takes over a swipe
        super().__init__(key)

    def new_link(self, seal: Seal) -> CardReaderLink:
        return CardReaderLink(seal)

    def switch_on(self) -> None:
        self.reader = CardReaderDevice("CR-1", self.boot, self._answered)
        self.waiting = 0  # the card that has no answer yet

    def _answered(self, answer: Answer) -> None:
        self.answers[self.waiting] = answer
        self.waiting = 0

    def from_link(self) -> bytes:
        return self.link.data_to_send(self.now, awaited=True)

    def host_hears(self, data: bytes) -> None:
        swipe = self.link.receive(data, self.now)
        if swipe is None:
            return
        card = int(swipe.track)
        assert card in self.swiped, "a swipe was invented"
        assert self.now - self.swiped[card] <= STALE_SECONDS, "a swipe was delivered late"
        self.got.append(card)
        self.now += self.slow
        self.link.answer(swipe, CardAnswer("accepted", str(card)), self.now)

    def to_device(self, data: bytes) -> None:
        self.reader.receive(data, self.now)

    def from_device(self) -> list[bytes]:
        return self.reader.data_to_send(self.now)

    def swipe(self) -> bool:
        """Swipe a card that no swipe had before; give whether the reader took it."""
        card = len(self.swiped) + 1
        try:
            self.reader.swipe(str(card).encode(), self.now)
        except NotTakenError:
            return False
        self.swiped[card] = self.now
        self.waiting = card
        return True

    def does(self) -> bool:
        return self.swipe()


class ShoeEnds(Ends):
    """A shoe, and a table that records what comes before it answers; `told` is that, with its time."""

    TURN = 0.02
    link: IShoeLink

    def __init__(self, key: bytes | None = None) -> None:
        self.told: list[tuple[float, ShoeEvent]] = []
        self.taken = 0
        self.locked = False
        self.shoe = ModelShoe()
        self._beat_at = 0.0
        super().__init__(key)

    def orders(self) -> ShoeOrders:
        return ShoeOrders(SERIAL, LOG, self.taken, self.locked)

    def new_link(self, seal: Seal) -> IShoeLink:
        return IShoeLink(seal)

    def connect(self) -> None:
        self.link.want(self.orders())
        super().connect()

    def switch_on(self) -> None:
        self.shoe.lose_power()

    def from_link(self) -> bytes:
        self.link.want(self.orders())
        return self.link.data_to_send(self.now)

    def host_hears(self, data: bytes) -> None:
        events = self.link.receive(data, self.now)
        self.told += [(self.now, event) for event in events]
        for event in events:
            if isinstance(event, ShoeRecord):
                self.taken = event.record
        self.link.handled()
        self.link.want(self.orders())

    def to_device(self, data: bytes) -> None:
        self.shoe.receive(data)

    def from_device(self) -> list[bytes]:
        if self.now >= self._beat_at:
            self.shoe.heartbeat()
            self._beat_at = self.now + frames.HEARTBEAT_SECONDS
        return self.shoe.take_frames()

    def draws(self, *cards: Card) -> None:
        for card in cards:
            self.shoe.happens(lambda number, card=card: frames.CardRecord(number, card, 98))  # type: ignore[misc]

    def does(self) -> bool:
        self.draws(STANDARD_DECK[0])
        return True

    @property
    def records(self) -> list[ShoeRecord]:
        return [event for _, event in self.told if isinstance(event, ShoeRecord)]

    @property
    def got(self) -> list[int]:
        return [each.record for each in self.records]

    def since(self, start: float) -> list[ShoeEvent]:
        return [event for at, event in self.told if at >= start]
