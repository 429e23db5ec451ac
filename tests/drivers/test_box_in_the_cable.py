"""A box in the cable of a device with a key. It has no key, and holds back, repeats or drops frames of a running session.

Both ends are real, without a line and with a clock of the test.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardDrawn, RecordsLost, ShoeHello
from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.link import IShoeLink
from punto.drivers.keypad.frames import Here, Press, Switch
from punto.drivers.keypad.link import KeypadLink
from punto.drivers.seal import HostSeal
from punto.simulators.keypad.device import KeypadDevice
from punto.simulators.sealed import SealedEnd
from tests.drivers.benches import KEY
from tests.ishoe.model import LOG, SERIAL, ModelShoe

STEP = 0.02
"""Seconds between two looks of either end at the line."""
LONGEST = 1.1
"""So many seconds after the last frame that was not held back the device is lost at the latest."""

Box = Callable[[int, bytes], list[bytes]]
"""What a frame of the device becomes, by its type: the frames that the host gets."""


def honest(_: int, wire: bytes) -> list[bytes]:
    return [wire]


class Line(ABC):
    """A host and a device; `lost` are the reasons of losses, with their times."""

    def __init__(self, link: Any) -> None:
        self.now = 0.0
        self.link = link
        self.box: Box = honest
        self.lost: list[tuple[float, str]] = []
        self.end = SealedEnd(KEY)
        link.connect(0.0, 77)

    def runs(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            self.turn()

    def turn(self) -> None:
        own = self.host_says() if self.link.ready else b""
        self.device_hears(self.end.inward(own + self.link.handshake(self.now)))
        for wire in self.end.outward(self.device_says()):
            for each in self.box(cobs.decode(wire.strip(b"\0"))[1], wire):
                self.host_hears(each)
        reason = self.link.silence(self.now)
        if reason is not None:
            self.lost.append((self.now, reason))

    def is_busy(self, seconds: float) -> None:
        """The PC is busy with something else: what the device sends waits in the port."""
        waits = b""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            waits += b"".join(self.end.outward(self.device_says()))
        self.device_hears(self.end.inward(self.host_says() + self.link.handshake(self.now)))
        self.host_hears(waits)
        assert self.link.silence(self.now) is None

    @abstractmethod
    def host_says(self) -> bytes: ...

    @abstractmethod
    def device_hears(self, data: bytes) -> None: ...

    @abstractmethod
    def device_says(self) -> list[bytes]: ...

    @abstractmethod
    def host_hears(self, wire: bytes) -> None: ...


class ShoeLine(Line):
    """`got` is what the table got, with its time."""

    link: IShoeLink

    def __init__(self) -> None:
        super().__init__(IShoeLink(HostSeal(KEY)))
        self.shoe = ModelShoe()
        self.orders = ShoeOrders(accept=SERIAL, log=LOG, taken=0, locked=False)
        self.got: list[tuple[float, Any]] = []
        self._beat_at = 0.0
        self.runs(1)
        assert self.link.here is not None

    def host_says(self) -> bytes:
        self.link.want(self.orders)
        return self.link.data_to_send(self.now)

    def device_hears(self, data: bytes) -> None:
        self.shoe.receive(data)

    def device_says(self) -> list[bytes]:
        if self.now >= self._beat_at:
            self.shoe.heartbeat()
            self._beat_at = self.now + frames.HEARTBEAT_SECONDS
        return self.shoe.take_frames()

    def host_hears(self, wire: bytes) -> None:
        for event in self.link.receive(wire, self.now):
            self.got.append((self.now, event))
            if isinstance(event, CardDrawn):
                self.orders = ShoeOrders(accept=SERIAL, log=LOG, taken=event.record, locked=False)
        self.link.handled()

    def draws(self, *cards: Card) -> None:
        for card in cards:
            self.shoe.happens(lambda number, card=card: frames.CardRecord(number, card, 98))  # type: ignore[misc]

    def after(self, since: float) -> list[Any]:
        return [event for at, event in self.got if at > since]


class KeypadLine(Line):
    """A keypad with a key switch at RUN; `turned` and `pressed` are what the table got."""

    link: KeypadLink

    def __init__(self) -> None:
        super().__init__(KeypadLink(HostSeal(KEY)))
        self.pad = KeypadDevice("KP-1", 7, lambda _: None, "run")
        self.turned: list[str | None] = []
        self.pressed: list[str] = []
        self.runs(1)
        assert self.turned == ["run"]

    def host_says(self) -> bytes:
        return self.link.data_to_send(self.now, KeypadLamps(ready=True))

    def device_hears(self, data: bytes) -> None:
        self.pad.receive(data, self.now)

    def device_says(self) -> list[bytes]:
        return self.pad.data_to_send(self.now)

    def host_hears(self, wire: bytes) -> None:
        for received in self.link.receive(wire, self.now):
            if isinstance(received, Switch):
                self.turned.append(received.position)
                self.link.note(received)
            else:
                self.pressed.append(received.key)
                self.link.answer(received, KeyAnswer("done", ""))

    def turn(self) -> None:
        losses = len(self.lost)
        super().turn()
        if len(self.lost) > losses:
            self.turned.append(None)  # the position is not known


class Kept:
    """Keeps the frames of these types; the others pass."""

    def __init__(self, *kinds: int) -> None:
        self.kinds = kinds
        self.frames: list[bytes] = []

    def __call__(self, kind: int, wire: bytes) -> list[bytes]:
        if kind not in self.kinds:
            return [wire]
        self.frames.append(wire)
        return []


# --- the shoe

HANDFUL = tuple(map(Card, ("2S", "KS", "7H", "3H")))


@pytest.fixture
def shoe() -> ShoeLine:
    return ShoeLine()


def test_on_an_honest_line_nothing_is_lost(shoe):
    for card in HANDFUL:
        shoe.draws(card)
        shoe.runs(3)

    assert [event.card for _, event in shoe.got if isinstance(event, CardDrawn)] == list(HANDFUL)
    assert (shoe.lost, shoe.link.counters.untimely, shoe.link.counters.not_sealed) == ([], 0, 0)


@pytest.mark.parametrize("seconds", [0.3, 1, 5])
def test_a_shoe_is_not_lost_while_the_pc_is_busy(shoe, seconds):
    shoe.draws(Card("2S"))
    shoe.is_busy(seconds)
    shoe.draws(Card("KS"))
    shoe.runs(2)

    assert [event.card for _, event in shoe.got if isinstance(event, CardDrawn)] == [Card("2S"), Card("KS")]
    assert (shoe.lost, shoe.link.counters.untimely) == ([], 0)


def test_a_box_that_repeats_the_last_heartbeat_and_keeps_the_cards_loses_the_shoe(shoe):
    beats: list[bytes] = []
    kept: list[bytes] = []

    def passes(kind: int, wire: bytes) -> list[bytes]:
        beats.extend([wire] if kind == frames.Heartbeat.TYPE else [])
        return [wire]

    def keeps(kind: int, wire: bytes) -> list[bytes]:
        if kind == frames.Heartbeat.TYPE:
            return [beats[-1]]
        kept.append(wire)
        return []

    shoe.box = passes
    shoe.runs(1)
    start = shoe.now
    shoe.box = keeps
    shoe.draws(*HANDFUL)
    shoe.runs(20)

    assert shoe.after(start) == []
    assert shoe.lost[0][0] - start < LONGEST
    assert shoe.lost[0][1].startswith("frames of the shoe come too late or twice: check what is connected")
    assert shoe.link.here is None

    shoe.box = honest
    let_go = shoe.now
    for wire in kept:
        shoe.host_hears(wire)
    assert shoe.after(let_go - STEP) == []

    shoe.runs(2)
    hello, *cards = shoe.after(let_go)
    assert isinstance(hello, ShoeHello)
    assert hello.next_record == 5  # so the table knows that the records are late
    assert [each.card for each in cards] == list(HANDFUL)


@pytest.mark.parametrize("kinds", [(frames.CardRecord.TYPE,), (frames.CardRecord.TYPE, frames.Hello.TYPE)])
def test_a_box_that_drops_only_the_cards_loses_the_shoe(shoe, kinds):
    start = shoe.now
    shoe.box = Kept(*kinds)
    shoe.draws(*HANDFUL)
    shoe.runs(20)

    assert shoe.lost[0][0] - start < LONGEST
    assert shoe.lost[0][1].startswith("the shoe has records that do not arrive: check what is connected")
    for event in shoe.after(start):
        assert isinstance(event, ShoeHello)
        assert event.next_record == 5  # while it counts as online, its records are known to be out

    shoe.box = honest
    let_go = shoe.now
    shoe.runs(2)
    cards = [event for event in shoe.after(let_go) if isinstance(event, CardDrawn)]
    assert [each.card for each in cards] == list(HANDFUL)


def test_a_box_that_drops_the_hello_after_a_loss_of_power_loses_the_shoe(shoe):
    start = shoe.now
    shoe.box = Kept(frames.CardRecord.TYPE, frames.Hello.TYPE)
    shoe.end.power_on()
    shoe.shoe.lose_power()
    shoe.draws(*HANDFUL)
    shoe.runs(10)

    assert len(shoe.lost) >= 1
    assert shoe.lost[0][0] - start < LONGEST + 0.6  # until the challenge of the host, nothing comes at all
    assert shoe.lost[-1][1].startswith("the shoe does not say which shoe it is: check what is connected")
    assert shoe.link.here is None


def test_a_box_that_keeps_everything_loses_the_shoe(shoe):
    start = shoe.now
    shoe.box = lambda *_: []
    shoe.runs(3)

    assert len(shoe.lost) == 1
    assert shoe.lost[0][0] - start < LONGEST


def test_a_box_that_keeps_what_the_host_sends_loses_the_shoe(shoe, monkeypatch):
    start = shoe.now
    monkeypatch.setattr(shoe, "device_hears", lambda _: None)
    monkeypatch.setattr(shoe.end, "inward", lambda _: b"")
    shoe.runs(3)

    assert len(shoe.lost) == 1
    assert shoe.lost[0][0] - start < LONGEST


def test_a_session_that_is_replayed_to_the_host_gives_no_card_a_second_time():
    stream: list[bytes] = []

    class Recorded(ShoeLine):
        def host_hears(self, wire: bytes) -> None:
            stream.append(wire)
            super().host_hears(wire)

    line = Recorded()
    for card in HANDFUL:
        line.draws(card)
        line.runs(1)
    # The table goes back, as it may at a shoe change.
    line.orders = ShoeOrders(accept=SERIAL, log=LOG, taken=0, locked=False)
    line.link.want(line.orders)
    start, replayed = line.now, list(stream)
    line.now += STEP
    for wire in replayed:
        line.host_hears(wire)

    assert line.after(start) == []
    assert line.link.counters.repeated > len(HANDFUL)


def test_records_that_the_shoe_no_longer_has_are_still_told(shoe):
    shoe.box = Kept(frames.CardRecord.TYPE)
    shoe.draws(*HANDFUL)
    shoe.runs(0.1)
    shoe.shoe.first_kept = shoe.shoe.next_to_send = 5
    shoe.box = honest
    shoe.runs(1)

    assert RecordsLost(1, 4) in [event for _, event in shoe.got]


# --- the keypad


@pytest.fixture
def keypad() -> KeypadLine:
    return KeypadLine()


def test_on_an_honest_line_the_key_is_turned_and_a_key_pressed(keypad):
    for position in ("jph", "run"):
        keypad.pad.turn(position)
        keypad.runs(5)
        keypad.pad.press("F7", keypad.now)
        keypad.runs(5)

    assert (keypad.turned, keypad.pressed) == (["run", "jph", "run"], ["F7", "F7"])
    assert (keypad.lost, keypad.link.counters.untimely) == ([], 0)


def lets_go(keypad: KeypadLine, kept: Kept) -> Iterator[None]:
    """Let the first frame of each number go, a second apart."""
    seen = set()
    for wire in kept.frames:
        number = cobs.decode(wire.strip(b"\0"))[2:6]
        if number not in seen:
            seen.add(number)
            keypad.host_hears(wire)
            yield
            keypad.runs(1)


def test_positions_of_the_key_that_a_box_kept_do_not_count_when_it_lets_them_go(keypad):
    kept = keypad.box = Kept(Switch.TYPE)
    for position in ("jph", "run"):
        keypad.pad.turn(position)
        keypad.runs(0.6)
    keypad.runs(20)
    keypad.box = honest

    for _ in lets_go(keypad, kept):
        keypad.pad.press("F7", keypad.now)
    keypad.runs(1)

    assert kept.frames
    assert "jph" not in keypad.turned
    assert keypad.turned[-1] == "run"


def test_the_position_is_not_known_as_soon_as_a_box_keeps_the_next_one(keypad):
    keypad.pad.turn("jph")
    keypad.runs(1)
    assert keypad.turned == ["run", "jph"]
    keypad.box = Kept(Switch.TYPE)
    keypad.pad.turn("run")  # the supervisor goes
    start = keypad.now
    keypad.runs(0.1)
    keypad.pad.press("F7", keypad.now)
    keypad.runs(10)

    assert keypad.lost[0][0] - start < 0.5
    assert keypad.turned[2:] == [None] * (len(keypad.turned) - 2)
    assert keypad.lost[0][1] == "frames of the keypad were lost on the line: check its cable"

    keypad.box = honest
    keypad.runs(1)
    assert keypad.turned[-1] == "run"


def test_a_press_does_not_count_with_a_position_that_is_no_longer_known(keypad):
    keypad.pad.turn("jph")
    keypad.runs(1)

    def box(kind: int, wire: bytes) -> list[bytes]:
        return [wire] if kind == Press.TYPE else []

    keypad.box = box
    keypad.pad.turn("run")
    keypad.runs(0.3)
    keypad.pad.press("F7", keypad.now)
    keypad.runs(0.6)

    assert keypad.pressed == []
    assert keypad.turned == ["run", "jph", None]


@pytest.mark.parametrize("kinds", [(Press.TYPE,), (Press.TYPE, Here.TYPE)])
def test_a_press_that_a_box_kept_is_no_order_when_it_lets_it_go(keypad, kinds):
    kept = keypad.box = Kept(*kinds)
    keypad.pad.press("F7", keypad.now)
    keypad.runs(1.5)
    keypad.box = honest
    for wire in kept.frames:
        keypad.host_hears(wire)
    keypad.runs(2)

    assert kept.frames
    assert keypad.pressed == []
