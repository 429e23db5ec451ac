"""Both ends over a line that loses, doubles, delays, reorders and damages: no swipe is invented, doubled, swapped or late."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.card_reader.frames import STALE_SECONDS, Here, Swipe
from punto.drivers.card_reader.link import TOO_LATE
from punto.drivers.frame import parsers
from punto.drivers.framing import Decoder
from punto.drivers.window import STATUS_SECONDS
from tests.drivers.ends import BAD, CardReaderEnds
from tests.share import share

pytestmark = pytest.mark.by_chance


@pytest.fixture
def ends() -> CardReaderEnds:
    return begun()


def begun() -> CardReaderEnds:
    ends = CardReaderEnds()
    ends.runs(0.3)
    return ends


def results(ends: CardReaderEnds) -> list[str]:
    return [answer.result for answer in ends.answers.values()]


DOINGS = ("swipe", "swipe", "swipe", "turn", "turn", "turn", "wait", "connect", "power", "host", "slow")


@settings(max_examples=share(400))
@given(st.randoms(use_true_random=True), st.lists(st.sampled_from(DOINGS), min_size=5, max_size=60))
def test_each_swipe_is_delivered_at_most_once_in_order_none_late_and_none_invented(chance, doings):
    ends = begun()
    ends.spoil_lines(chance, **BAD)
    for what in doings:
        ends.slow = 2.5 if what == "slow" else 0.0
        match what:
            case "swipe":
                ends.swipe()
            case "wait":
                ends.now += chance.choice([0.3, 0.9, 1.9, 2.1, 5.0])
            case "connect":
                ends.connect()
            case "power":
                ends.power()
            case "host":
                ends.new_host()
        ends.turn()
    ends.slow = 0.0
    ends.mend_lines()
    ends.runs(3)

    assert ends.got == sorted(set(ends.got))
    assert not ends.waiting
    for card, answer in ends.answers.items():
        if answer.result == "accepted":  # for this card, and to nobody who was refused
            assert answer.text == str(card)
            assert card in ends.got
        else:
            assert answer.text == TOO_LATE.text


@settings(max_examples=share(200))
@given(
    st.randoms(use_true_random=True),
    st.lists(st.sampled_from(["swipe", "turn", "turn", "connect"]), min_size=5, max_size=60),
)
def test_while_nobody_restarts_what_was_delivered_was_accepted_and_all_else_refused(chance, doings):
    ends = begun()
    ends.spoil_lines(chance, **BAD)
    for what in doings:
        if what == "swipe":
            ends.swipe()
        elif what == "connect":
            ends.connect()
        ends.turn()
    ends.mend_lines()
    ends.runs(3)

    assert ends.answers.keys() == ends.swiped.keys()
    assert ends.got == [card for card, each in ends.answers.items() if each.result == "accepted"]


@settings(max_examples=share(100))
@given(st.randoms(use_true_random=True))
def test_a_swipe_that_reaches_the_host_in_time_is_accepted_whatever_else_is_lost(chance):
    ends = begun()
    ends.swipe()
    ends.spoil_lines(chance, lose=0.7)
    ends.runs(1.5)
    arrived = ends.got == [1]
    ends.mend_lines()
    ends.runs(2)

    assert len(ends.got) <= 1
    assert results(ends) == ["accepted"] or not arrived


def test_a_swipe_of_which_the_answers_are_lost_is_answered_when_they_are_not(ends):
    ends.swipe()
    ends.line_to_device.cut = True
    ends.runs(5)
    assert ends.got == [1]

    ends.mend_lines()
    ends.runs(STATUS_SECONDS * 4)

    assert ends.got == [1]
    assert results(ends) == ["accepted"]


def test_a_reader_sends_a_card_no_longer_than_it_can_be_accepted(ends):
    def track() -> bytes:
        *_, swipe = Decoder(parsers(Here, Swipe)).feed(ends.device_says())
        assert isinstance(swipe, Swipe)
        return swipe.track

    ends.swipe()
    assert track() == b"1"
    ends.now += STALE_SECONDS + ends.TURN

    assert track() == b""


def test_without_a_host_or_behind_another_swipe_no_card_is_taken():
    ends = CardReaderEnds()
    assert not ends.swipe()
    ends.runs(0.3)
    assert ends.swipe()
    assert not ends.swipe()
    ends.runs(0.3)
    ends.now += 1.0

    assert not ends.swipe()
    assert not ends.reader.ready(ends.now)


def test_an_answer_is_shown_for_a_while_or_until_the_next_swipe(ends):
    ends.swipe()
    ends.runs(0.3)
    shown = ends.reader.shown(ends.now)
    assert shown is not None
    assert shown.result == "accepted"
    ends.runs(9)
    assert ends.reader.shown(ends.now) == shown
    ends.runs(1)
    assert ends.reader.shown(ends.now) is None
    ends.swipe()
    ends.runs(0.3)
    assert ends.reader.shown(ends.now) is not None
    ends.swipe()

    assert ends.reader.shown(ends.now) is None
