"""A box in the cable of a device with a key. It has no key, and holds back, repeats or drops frames of a running session.

Both ends are real, without a line and with a clock of the test.
"""

from collections.abc import Callable, Iterable, Iterator

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardDrawn, RecordsLost, ShoeEvent, ShoeHello
from punto.drivers.ishoe import frames
from punto.drivers.keypad.frames import Here, Press, Switch
from tests.drivers.benches import KEY
from tests.drivers.ends import KeypadEnds, Line, ShoeEnds

LONGEST = 1.1
"""So many seconds after the last frame that was not held back the device is lost at the latest."""

Becomes = Callable[[int, bytes], list[bytes]]
"""What a frame of the device becomes, by its type: the frames that the host gets."""


class Box(Line):
    """A box in the direction to the host."""

    def __init__(self, becomes: Becomes) -> None:
        super().__init__()
        self.becomes = becomes

    def carry(self, sent: Iterable[bytes]) -> list[bytes]:
        return [each for wire in sent for each in self.becomes(cobs.decode(wire.strip(b"\0"))[1], wire)]


def is_busy(shoe: ShoeEnds, seconds: float) -> None:
    """The PC is busy with something else: what the device sends waits in the port."""
    waits = b""
    for _ in range(round(seconds / shoe.TURN)):
        shoe.now += shoe.TURN
        waits += shoe.device_says()
    shoe.device_hears(shoe.host_says())
    shoe.host_hears(waits)
    assert shoe.link.silence(shoe.now) is None


def cards(events: Iterable[ShoeEvent]) -> list[Card]:
    return [event.card for event in events if isinstance(event, CardDrawn)]


class Kept(Box):
    """Keeps the frames of these types; the others pass."""

    def __init__(self, *kinds: int) -> None:
        super().__init__(lambda kind, wire: self._keep(wire) if kind in kinds else [wire])
        self.frames: list[bytes] = []

    def _keep(self, wire: bytes) -> list[bytes]:
        self.frames.append(wire)
        return []


# --- the shoe


def introduced(shoe: ShoeEnds) -> ShoeEnds:
    shoe.runs(1)
    assert shoe.link.here is not None
    return shoe


HANDFUL = tuple(map(Card, ("2S", "KS", "7H", "3H")))


@pytest.fixture
def shoe() -> ShoeEnds:
    return introduced(ShoeEnds(KEY))


def test_on_an_honest_line_nothing_is_lost(shoe):
    for card in HANDFUL:
        shoe.draws(card)
        shoe.runs(3)

    assert cards(shoe.since(0)) == list(HANDFUL)
    assert (shoe.lost, shoe.link.counters.untimely, shoe.link.counters.not_sealed) == ([], 0, 0)


@pytest.mark.parametrize("seconds", [0.3, 1, 5])
def test_a_shoe_is_not_lost_while_the_pc_is_busy(shoe, seconds):
    shoe.draws(Card("2S"))
    is_busy(shoe, seconds)
    shoe.draws(Card("KS"))
    shoe.runs(2)

    assert cards(shoe.since(0)) == [Card("2S"), Card("KS")]
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

    shoe.line_to_host = Box(passes)
    shoe.runs(1)
    start = shoe.now
    shoe.line_to_host = Box(keeps)
    shoe.draws(*HANDFUL)
    shoe.runs(20)

    assert shoe.since(start) == []
    assert shoe.lost[0][0] - start < LONGEST
    assert shoe.lost[0][1].startswith("frames of the shoe come too late or twice: check what is connected")
    assert shoe.link.here is None

    shoe.line_to_host = Line()
    discard = shoe.now
    for wire in kept:
        shoe.host_hears(wire)
    assert shoe.since(discard) == []

    shoe.runs(2)
    hello, *rest = shoe.since(discard)
    assert isinstance(hello, ShoeHello)
    assert hello.next_record == 5  # so the table knows that the records are late
    assert cards(rest) == list(HANDFUL)


@pytest.mark.parametrize("kinds", [(frames.CardRecord.TYPE,), (frames.CardRecord.TYPE, frames.Hello.TYPE)])
def test_a_box_that_drops_only_the_cards_loses_the_shoe(shoe, kinds):
    start = shoe.now
    shoe.line_to_host = Kept(*kinds)
    shoe.draws(*HANDFUL)
    shoe.runs(20)

    assert shoe.lost[0][0] - start < LONGEST
    assert shoe.lost[0][1].startswith("the shoe has records that do not arrive: check what is connected")
    for event in shoe.since(start):
        assert isinstance(event, ShoeHello)
        assert event.next_record == 5  # while it counts as online, its records are known to be out

    shoe.line_to_host = Line()
    discard = shoe.now
    shoe.runs(2)
    assert cards(shoe.since(discard)) == list(HANDFUL)


def test_a_box_that_drops_the_hello_after_a_loss_of_power_loses_the_shoe(shoe):
    start = shoe.now
    shoe.line_to_host = Kept(frames.CardRecord.TYPE, frames.Hello.TYPE)
    shoe.power()
    shoe.draws(*HANDFUL)
    shoe.runs(10)

    assert len(shoe.lost) >= 1
    assert shoe.lost[0][0] - start < LONGEST + 0.6  # until the challenge of the host, nothing comes at all
    assert shoe.lost[-1][1].startswith("the shoe does not say which shoe it is: check what is connected")
    assert shoe.link.here is None


def test_a_box_that_keeps_everything_loses_the_shoe(shoe):
    start = shoe.now
    shoe.line_to_host.cut = True
    shoe.runs(3)

    assert len(shoe.lost) == 1
    assert shoe.lost[0][0] - start < LONGEST


def test_a_box_that_keeps_what_the_host_sends_loses_the_shoe(shoe):
    start = shoe.now
    shoe.line_to_device.cut = True
    shoe.runs(3)

    assert len(shoe.lost) == 1
    assert shoe.lost[0][0] - start < LONGEST


def test_a_session_that_is_replayed_to_the_host_gives_no_card_a_second_time():
    stream: list[bytes] = []

    def passes(_: int, wire: bytes) -> list[bytes]:
        stream.append(wire)
        return [wire]

    shoe = ShoeEnds(KEY)
    shoe.line_to_host = Box(passes)
    introduced(shoe)
    for card in HANDFUL:
        shoe.draws(card)
        shoe.runs(1)
    shoe.taken = 0  # the table goes back, as it may at a shoe change
    shoe.link.want(shoe.orders())
    for wire in stream:
        shoe.host_hears(wire)

    assert shoe.since(shoe.now) == []
    assert shoe.link.counters.repeated > len(HANDFUL)


def test_records_that_the_shoe_no_longer_has_are_still_reported(shoe):
    shoe.line_to_host = Kept(frames.CardRecord.TYPE)
    shoe.draws(*HANDFUL)
    shoe.runs(0.1)
    shoe.shoe.first_kept = shoe.shoe.next_to_send = 5
    shoe.line_to_host = Line()
    shoe.runs(1)

    assert RecordsLost(1, 4) in shoe.since(0)


# --- the keypad


@pytest.fixture
def keypad() -> KeypadEnds:
    keypad = KeypadEnds(KEY)
    keypad.runs(1)
    assert keypad.turned == ["run"]
    return keypad


def test_on_an_honest_line_the_key_is_turned_and_a_key_pressed(keypad):
    for position in ("jph", "run"):
        keypad.pad.turn(position)
        keypad.runs(5)
        keypad.pad.press("F7", keypad.now)
        keypad.runs(5)

    assert (keypad.turned, keypad.pressed) == (["run", "jph", "run"], ["F7", "F7"])
    assert (keypad.lost, keypad.link.counters.untimely) == ([], 0)


def lets_go(keypad: KeypadEnds, kept: Kept) -> Iterator[None]:
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
    kept = keypad.line_to_host = Kept(Switch.TYPE)
    for position in ("jph", "run"):
        keypad.pad.turn(position)
        keypad.runs(0.6)
    keypad.runs(20)
    keypad.line_to_host = Line()

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
    keypad.line_to_host = Kept(Switch.TYPE)
    keypad.pad.turn("run")  # the supervisor goes
    start = keypad.now
    keypad.runs(0.1)
    keypad.pad.press("F7", keypad.now)
    keypad.runs(10)

    assert keypad.lost[0][0] - start < 0.5
    assert keypad.turned[2:] == [None] * (len(keypad.turned) - 2)
    assert keypad.lost[0][1] == "frames of the keypad were lost on the line: check its cable"

    keypad.line_to_host = Line()
    keypad.runs(1)
    assert keypad.turned[-1] == "run"


def test_a_press_does_not_count_with_a_position_that_is_no_longer_known(keypad):
    keypad.pad.turn("jph")
    keypad.runs(1)

    keypad.line_to_host = Box(lambda kind, wire: [wire] if kind == Press.TYPE else [])
    keypad.pad.turn("run")
    keypad.runs(0.3)
    keypad.pad.press("F7", keypad.now)
    keypad.runs(0.6)

    assert keypad.pressed == []
    assert keypad.turned == ["run", "jph", None]


@pytest.mark.parametrize("kinds", [(Press.TYPE,), (Press.TYPE, Here.TYPE)])
def test_a_press_that_a_box_kept_is_not_an_order_when_it_lets_it_go(keypad, kinds):
    kept = keypad.line_to_host = Kept(*kinds)
    keypad.pad.press("F7", keypad.now)
    keypad.runs(1.5)
    keypad.line_to_host = Line()
    for wire in kept.frames:
        keypad.host_hears(wire)
    keypad.runs(2)

    assert kept.frames
    assert keypad.pressed == []
