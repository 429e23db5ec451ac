"""Both ends over a line that loses, doubles, delays, reorders and damages: no swipe is invented, doubled, swapped or late."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import STALE_SECONDS, STATUS_SECONDS, Answer
from punto.drivers.card_reader.link import TOO_LATE, CardReaderLink
from punto.simulators.card_reader.device import CardReaderDevice, NotTakenError
from tests.share import share

pytestmark = pytest.mark.by_chance

TURN = 0.05


@dataclass
class Rig:
    """A reader and a host, the time, and what was swiped, delivered and answered; a card is swiped once."""

    now: float = 100.0
    link: CardReaderLink = field(default_factory=CardReaderLink)
    cards: dict[bytes, float] = field(default_factory=dict)  # and when each was swiped
    delivered: list[bytes] = field(default_factory=list)
    answered: dict[bytes, Answer] = field(default_factory=dict)
    tokens: int = 1
    sessions: int = 0

    def __post_init__(self) -> None:
        self.power()
        self.connect()

    def power(self) -> None:
        self.sessions += 1
        self.waiting: bytes | None = None
        self.device = CardReaderDevice("CR-1", self.sessions, self._answered)

    def connect(self) -> None:
        self.tokens += 10_000  # as random ones: far from all before
        self.link.connect(self.now, self.tokens)

    def host(self) -> None:
        """Have the host's program ended and begun again: it remembers nothing."""
        self.link = CardReaderLink()
        self.connect()

    def swipe(self) -> bool:
        """Swipe a card that no swipe had before; give whether the reader took it."""
        card = f"6000{len(self.cards):06}".encode()
        try:
            self.device.swipe(card, self.now)
        except NotTakenError:
            return False
        self.cards[card] = self.now
        self.waiting = card
        return True

    def _answered(self, answer: Answer) -> None:
        assert self.waiting is not None
        self.answered[self.waiting] = answer
        self.waiting = None

    def host_hears(self, data: bytes, seconds: float = 0.0) -> None:
        """Have the host read this, and take so long over a swipe."""
        now = self.now
        swipe = self.link.receive(data, now)
        if swipe is not None:
            card = swipe.track
            assert card in self.cards, "a swipe was invented"
            assert self.now - self.cards[card] <= STALE_SECONDS, "a swipe was delivered late"
            self.delivered.append(card)
            self.now += seconds
            self.link.answer(swipe, CardAnswer("accepted", card.decode()), self.now)
        self.link.silence(now)

    def host_says(self) -> bytes:
        return self.link.data_to_send(self.now, awaited=True)

    def device_says(self) -> bytes:
        return b"".join(self.device.data_to_send(self.now))

    def settle(self, seconds: float = 1.0) -> None:
        """Let that much time go by on a line without faults."""
        end = self.now + seconds
        while self.now < end:
            self.device.receive(self.host_says(), self.now)
            self.host_hears(self.device_says())
            self.now += TURN


class BadLine:
    """A line in one direction: frames lost, doubled, held back for a while, damaged or behind noise."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self._held: list[bytes] = []

    def carry(self, frame: bytes) -> bytes:
        carried: list[bytes] = []
        what = self._data.draw(st.sampled_from(["good", "good", "lose", "double", "hold", "damage", "noise"]))
        match what if frame else "lose":
            case "hold":
                self._held.append(frame)
            case "damage":
                bit = self._data.draw(st.integers(0, len(frame) * 8 - 1))
                broken = bytearray(frame)
                broken[bit // 8] ^= 1 << bit % 8
                carried.append(bytes(broken))
            case "double":
                carried.append(frame * 2)
            case "noise":
                carried.append(b"\x07\x55\0\xff" + frame)
            case "good":
                carried.append(frame)
        let_go = self._data.draw(st.booleans()) if self._held else False
        if let_go:
            carried.append(self._held.pop(self._data.draw(st.integers(0, len(self._held) - 1))))
        return b"".join(carried)


DOINGS = ("swipe", "swipe", "swipe", "turn", "turn", "turn", "wait", "connect", "power", "host", "slow")


@settings(max_examples=share(400), deadline=None)
@given(st.data(), st.lists(st.sampled_from(DOINGS), min_size=5, max_size=60))
def test_each_swipe_is_delivered_at_most_once_in_order_none_late_and_none_invented(data, doings):
    rig = Rig()
    rig.settle(0.3)
    to_device, to_host = BadLine(data), BadLine(data)
    for what in doings:
        match what:
            case "swipe":
                rig.swipe()
            case "wait":
                rig.now += data.draw(st.sampled_from([0.3, 0.9, 1.9, 2.1, 5.0]))
            case "connect":
                rig.connect()
            case "power":
                rig.power()
            case "host":
                rig.host()
        rig.device.receive(to_device.carry(rig.host_says()), rig.now)
        rig.host_hears(to_host.carry(rig.device_says()), seconds=2.5 if what == "slow" else 0.0)
        rig.now += TURN
    rig.settle(3)

    assert rig.delivered == sorted(set(rig.delivered))
    assert rig.waiting is None
    for card, answer in rig.answered.items():
        if answer.result == "accepted":  # for this card, and to nobody who was refused
            assert answer.text == card.decode()
            assert card in rig.delivered
        else:
            assert answer.text == TOO_LATE.text


@settings(max_examples=share(200), deadline=None)
@given(st.data(), st.lists(st.sampled_from(["swipe", "turn", "turn", "connect"]), min_size=5, max_size=60))
def test_while_nobody_restarts_what_was_delivered_was_accepted_and_all_else_refused(data, doings):
    rig = Rig()
    rig.settle(0.3)
    to_device, to_host = BadLine(data), BadLine(data)
    for what in doings:
        if what == "swipe":
            rig.swipe()
        elif what == "connect":
            rig.connect()
        rig.device.receive(to_device.carry(rig.host_says()), rig.now)
        rig.host_hears(to_host.carry(rig.device_says()))
        rig.now += TURN
    rig.settle(3)

    assert rig.answered.keys() == rig.cards.keys()
    assert rig.delivered == [card for card, each in rig.answered.items() if each.result == "accepted"]


@settings(max_examples=share(100), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=30, max_size=30))
def test_a_line_that_only_loses_frames_loses_no_swipe_that_it_carries_in_time(losses):
    """A swipe that reaches the host within its time is taken: what is lost comes again."""
    rig = Rig()
    rig.settle(0.5)
    taken = rig.swipe()
    assert taken
    for to_device_lost, to_host_lost in losses:
        said = rig.host_says()
        rig.device.receive(b"" if to_device_lost else said, rig.now)
        said = rig.device_says()
        rig.host_hears(b"" if to_host_lost else said)
        rig.now += TURN
    carried = rig.delivered != []
    rig.settle(2)

    assert len(rig.delivered) <= 1
    (answer,) = rig.answered.values()
    assert not carried or answer.result == "accepted"


def test_a_flipped_lost_doubled_or_inserted_byte_in_any_frame_costs_no_swipe():
    def damages(frame: bytes) -> list[bytes]:
        flips = [
            frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :]
            for at in range(len(frame))
            for bit in range(8)
        ]
        lost = [frame[:at] + frame[at + 1 :] for at in range(len(frame))]
        doubled = [frame[: at + 1] + frame[at:] for at in range(len(frame))]
        inserted = [frame[:at] + byte + frame[at:] for at in range(len(frame)) for byte in (b"\0", b"\xff")]
        return [*flips, *lost, *doubled, *inserted]

    def begun() -> tuple[Rig, bytes]:
        rig = Rig()
        rig.settle(0.3)
        rig.swipe()
        return rig, rig.device_says()

    def is_accepted(rig: Rig) -> bool:
        rig.settle(0.6)
        return len(rig.delivered) == 1 and [each.result for each in rig.answered.values()] == ["accepted"]

    rig, swiped = begun()
    rig.host_hears(swiped)
    answer = rig.host_says()
    for broken in damages(swiped):
        rig, _ = begun()
        rig.host_hears(broken)
        assert is_accepted(rig)
    for broken in damages(answer):
        rig, swiped = begun()
        rig.host_hears(swiped)
        rig.host_says()
        rig.device.receive(broken, rig.now)
        assert is_accepted(rig)


def test_a_swipe_of_which_the_answers_are_lost_is_answered_when_they_are_not():
    rig = Rig()
    rig.settle(0.3)
    rig.swipe()
    for _ in range(100):
        rig.host_says()  # and nobody hears it
        rig.host_hears(rig.device_says())
        rig.now += TURN
    assert len(rig.delivered) == 1

    rig.settle(STATUS_SECONDS * 4)
    assert [each.result for each in rig.answered.values()] == ["accepted"]


def test_a_reader_says_a_card_no_longer_than_it_may_be_taken():
    rig = Rig()
    rig.settle(0.3)
    rig.swipe()
    (card,) = rig.cards
    assert card in rig.device_says()
    rig.now += STALE_SECONDS + TURN

    assert card not in rig.device_says()


def test_without_a_host_or_behind_another_swipe_no_card_is_taken():
    rig = Rig()
    assert not rig.swipe()
    rig.settle(0.3)
    assert rig.swipe()
    assert not rig.swipe()
    rig.settle(0.3)
    rig.now += 1.0

    assert not rig.swipe()
    assert not rig.device.ready(rig.now)


def test_an_answer_is_shown_for_a_while_or_until_the_next_swipe():
    rig = Rig()
    rig.settle(0.3)
    rig.swipe()
    rig.settle(0.3)
    shown = rig.device.shown(rig.now)
    assert shown is not None
    assert shown.result == "accepted"
    rig.settle(9)
    assert rig.device.shown(rig.now) == shown
    rig.settle(1)
    assert rig.device.shown(rig.now) is None
    rig.swipe()
    rig.settle(0.3)
    assert rig.device.shown(rig.now) is not None
    rig.swipe()

    assert rig.device.shown(rig.now) is None
