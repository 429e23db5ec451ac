"""Keypad and card reader repeat a press or a swipe until it is answered; the host takes it once, and not when it is old."""

import asyncio
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers.base import CardAnswer, KeyAnswer, KeypadLamps
from punto.drivers.card_reader import frames as card_reader
from punto.drivers.card_reader.link import CardReaderLink
from punto.drivers.frame import Frame, parsers, shortened
from punto.drivers.framing import Decoder, encode
from punto.drivers.keypad import frames as keypad
from punto.drivers.keypad.link import KeypadLink
from tests.deadline import DEADLINE
from tests.drivers.benches import Bench, CardReaderBench, KeypadBench, until

SESSION = 5


class Asked(ABC):
    """The host's end. `now` is always the time of what happens, and something new gets a number."""

    STALE: ClassVar[float]
    FRAMES: ClassVar[Any]

    def __init__(self) -> None:
        self.statuses: list[tuple[float, Frame]] = []
        self.link = self.new_link()
        self.link.connect(0.0, 77)
        self.introduce(0.0)

    def introduce(self, now: float, session: int = SESSION) -> None:
        """The device answers the host's status, and again after a loss of power."""
        for _ in range(2):
            self.says(now)
            here = self.FRAMES.Here(self.statuses[-1][1].token, session, "X-1")  # type: ignore[attr-defined]
            self.link.receive(encode(here), now)
            self.link._sent_at = -1  # the next status is due

    def says(self, now: float) -> list[Any]:
        """The answers that go out now; the statuses are remembered."""
        decoder = Decoder(parsers(self.FRAMES.Status, self.FRAMES.Answer))
        said = decoder.feed(self.send(now))
        self.statuses += [(now, each) for each in said if isinstance(each, self.FRAMES.Status)]
        return [each for each in said if isinstance(each, self.FRAMES.Answer)]

    def asks(self, *numbers: int, now: float, made: float | None = None, session: int = SESSION) -> list[Any]:
        """These arrive now, and were made then; give those that are for the table."""
        data = b"".join(
            encode(self.ask(each, now, now if made is None else made, session)) for each in numbers
        )
        taken = self.link.receive(data, now)
        return taken if isinstance(taken, list) else [taken] if taken is not None else []

    def takes(self, number: int, now: float) -> None:
        (taken,) = self.asks(number, now=now)
        self.answer(taken, now)

    @abstractmethod
    def new_link(self) -> Any: ...

    @abstractmethod
    def send(self, now: float) -> bytes: ...

    @abstractmethod
    def ask(self, number: int, now: float, made: float, session: int) -> Frame: ...

    @abstractmethod
    def answer(self, taken: Any, now: float, text: str = "betting is closed") -> None: ...


class Keypad(Asked):
    STALE = 1.0
    FRAMES: ClassVar = keypad

    def new_link(self) -> KeypadLink:
        return KeypadLink()

    def send(self, now: float) -> bytes:
        data: bytes = self.link.data_to_send(now, KeypadLamps())
        return data

    def ask(self, number: int, now: float, made: float, session: int) -> Frame:
        return keypad.Press(number, session, round((now - made) * 1000), f"F{number}")

    def answer(self, taken: Any, now: float, text: str = "betting is closed") -> None:
        self.link.answer(taken, KeyAnswer("done", text))


class CardReader(Asked):
    STALE = 2.0
    FRAMES: ClassVar = card_reader

    def new_link(self) -> CardReaderLink:
        return CardReaderLink()

    def send(self, now: float) -> bytes:
        data: bytes = self.link.data_to_send(now, awaited=False)
        return data

    def ask(self, number: int, now: float, made: float, session: int) -> Frame:
        token = next(each.token for at, each in reversed(self.statuses) if at <= made)  # type: ignore[attr-defined]
        return card_reader.Swipe(number, session, token, b"6000170042")

    def answer(self, taken: Any, now: float, text: str = "betting is closed") -> None:
        self.link.answer(taken, CardAnswer("accepted", text), now)


KINDS = [Keypad, CardReader]
of_both = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(params=KINDS)
def at(request) -> Asked:
    return request.param()  # type: ignore[no-any-return]


def test_it_is_taken_once_and_its_answer_is_sent_whenever_it_is_repeated(at):
    at.takes(1, 0.1)
    (answer,) = at.says(0.1)

    assert (answer.number, answer.session, answer.text) == (1, SESSION, "betting is closed")
    assert at.asks(1, now=0.3, made=0.1) == []
    assert at.says(0.3) == [answer]
    assert at.link.counters.duplicates == 1


def test_an_answer_that_was_lost_with_the_cable_is_sent_again_and_nothing_is_taken_again(at):
    at.takes(1, 0.1)
    answer = at.says(0.1)
    at.link.connect(5.0, 9077)
    at.introduce(5.0)

    assert at.asks(1, now=5.1, made=5.0) == []
    assert at.says(5.1) == answer


def test_what_is_too_old_is_refused_whenever_it_is_repeated(at):
    now = at.STALE + 0.01
    assert at.asks(1, now=now, made=0.0) == []
    (refused,) = at.says(now)
    assert (refused.number, refused.result) == (1, "refused")
    assert "too late" in refused.text

    assert at.asks(1, now=now + 0.2, made=0.0) == []
    assert at.says(now + 0.2) == [refused]
    assert (at.link.counters.late, at.link.counters.duplicates) == (1, 1)


def test_what_is_just_not_too_old_is_taken(at):
    assert len(at.asks(1, now=at.STALE, made=0.0)) == 1


def test_what_the_line_still_holds_from_before_is_not_taken(at):
    at.link.connect(0.5, 9077)
    old = at.FRAMES.Here(77, SESSION, "X-1")

    assert at.link.receive(encode(old), 0.5) in ([], None)
    assert at.asks(1, now=0.5, made=0.0) == []
    assert at.link.here is None
    assert at.link.counters.held_back >= 1


def test_a_device_that_was_off_counts_again_from_1_when_it_has_introduced_itself(at):
    at.takes(1, 0.1)
    at.says(0.1)
    assert at.asks(1, now=0.2, session=6) == []
    assert at.link.counters.held_back == 1

    at.introduce(0.3, session=6)

    assert len(at.asks(1, now=0.3, session=6)) == 1


def test_an_answer_from_before_a_loss_of_power_is_not_sent_after_it(at):
    (before,) = at.asks(57, now=0.1)
    at.introduce(0.4, session=6)
    at.answer(before, 0.4)

    assert at.says(0.4) == []
    assert len(at.asks(1, now=0.5, session=6)) == 1


@of_both
@given(made=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 12)), max_size=40))
def test_whatever_is_repeated_or_old_no_number_is_taken_twice_or_backwards(kind, made):
    at = kind()
    for turn in range(13):
        at.says(1 + turn * 0.25)
    numbers = []
    for number, turn in made:
        for taken in at.asks(number, now=4.0, made=1 + turn * 0.25):
            assert 4.0 - (1 + turn * 0.25) <= at.STALE
            numbers.append(taken.number)
            at.answer(taken, 4.0)

    assert numbers == sorted(set(numbers))


@of_both
def test_the_host_sends_its_status_four_times_a_second_and_at_once_when_it_changes(kind):
    link = kind().new_link()
    link.connect(0.0, 77)

    def sent(now: float, *, lit: bool = False) -> bool:
        return bool(
            link.data_to_send(now, KeypadLamps(ready=lit))
            if kind is Keypad
            else link.data_to_send(now, awaited=lit)
        )

    assert [sent(0.0), sent(0.2), sent(0.21, lit=True)] == [True, False, True]
    assert [sent(0.45, lit=True), sent(0.46, lit=True)] == [False, True]


def test_a_long_text_is_shortened_for_the_device(at):
    (taken,) = at.asks(1, now=0.1)
    at.answer(taken, 0.1, "and so on " * 30)

    (answer,) = at.says(0.1)
    assert len(answer.text.encode()) <= 200
    assert answer.text.endswith("…")


# --- on a real line


@pytest.fixture(params=[KeypadBench, CardReaderBench], ids=lambda kind: kind.device)
def bench(request, tmp_path) -> Bench:
    return request.param(tmp_path)  # type: ignore[no-any-return]


async def test_an_answer_that_was_lost_with_the_cable_is_sent_again_and_nothing_is_taken_twice(bench):
    async with bench.running():
        bench.user.busy = asyncio.Event()
        waiting = bench.do(0)
        await until(lambda: bench.user.got)
        bench.far.unplug()  # the answer finds no cable
        bench.user.busy.set()
        await bench.lost()
        bench.far.plug()
        assert await waiting

    assert bench.user.got == [bench.things[0]]


async def test_a_press_or_swipe_while_the_cable_is_out_is_refused_when_it_is_back(bench):
    async with bench.running():
        bench.far.unplug()
        waiting = bench.do(0)  # the device does not know yet that no host is there
        await asyncio.sleep(1.1)  # the rule is about time
        bench.far.plug()
        async with asyncio.timeout(DEADLINE):
            assert not await waiting
        assert bench.user.got == []
        await bench.connected()
        assert await bench.does(1)


# --- its texts


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("short", "short"),
        ("x" * 200, "x" * 200),
        ("é" * 200, "é" * 98 + "…"),
        ("and so on " * 30, "and so on " * 19 + "and so…"),
        (
            "play is held: for\xa0a\nwhile\x1b",
            "play is held: for a while ",
        ),  # whatever a person gave as a reason
    ],
)
def test_a_text_that_is_too_long_ends_in_an_ellipsis(text, short):
    assert shortened(text, 200) == short
