"""The host's end of the keypad's link: bounces, the key switch, and presses from before this host.

tests/drivers/test_links.py and test_at_least_once.py have what is true of other devices too.
"""

import pytest

from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.frame import Frame, parsers
from punto.drivers.framing import Decoder, encode
from punto.drivers.keypad.frames import Answer, Here, Noted, Press, Status, Switch
from punto.drivers.keypad.link import KeypadLink

TOKEN, SESSION = 77, 5
DONE = KeyAnswer("done", "betting is closed")


def connected(now: float = 0.0) -> KeypadLink:
    link = KeypadLink()
    link.connect(now, TOKEN)
    assert link.receive(encode(Here(TOKEN, SESSION, "KP-1")), now) == []
    return link


@pytest.fixture
def link() -> KeypadLink:
    return connected()


def press(number: int, key: str = "F2", age: int = 0) -> Press:
    return Press(number, SESSION, age, key)


def hears(link: KeypadLink, *frames: Frame, at: float) -> list[Press | Switch]:
    return link.receive(b"".join(map(encode, frames)), at)


def said(link: KeypadLink) -> list[Frame]:
    sent = Decoder(parsers(Status, Answer, Noted)).feed(link.data_to_send(0.0, KeypadLamps()))
    return [frame for frame in sent if not isinstance(frame, Status)]


def answered(link: KeypadLink) -> list[int]:
    return [answer.number for answer in said(link) if isinstance(answer, Answer)]


def test_a_contact_that_bounces_is_one_press_with_one_answer(link):
    assert hears(link, press(1), at=0.1) == [press(1)]
    link.answer(press(1), DONE)

    assert hears(link, press(2), at=0.19) == []
    assert answered(link) == [1, 2]
    assert link.counters.bounces == 1
    assert hears(link, press(3, age=10), at=0.28) == []  # it continues to bounce
    assert hears(link, press(4), press(5, key="F3"), at=0.4) == [press(4), press(5, key="F3")]


def test_a_press_that_waited_for_an_answer_is_distinguished_from_a_bounce_by_its_age(link):
    hears(link, press(1), at=0.1)
    link.answer(press(1), DONE)
    second = press(2, age=900)  # pressed 200 ms after the first

    assert hears(link, second, at=1.2) == [second]
    link.answer(second, DONE)
    assert hears(link, press(3, age=950), at=1.3) == []  # 50 ms after the second


def test_a_bounce_that_comes_before_the_answer_is_answered_when_it_comes_again(link):
    assert hears(link, press(1), press(2), at=0.1) == [press(1)]
    link.answer(press(1), DONE)

    assert hears(link, press(2, age=200), at=0.3) == []
    assert answered(link) == [1, 2]


def test_a_bounce_has_the_answer_of_its_press_however_late_it_comes(link):
    hears(link, press(1), at=0.1)
    link.answer(press(1), DONE)
    said(link)

    assert hears(link, press(2, age=1480), at=1.6) == []
    (same,) = said(link)
    assert same == Answer(2, SESSION, DONE.result, 0, DONE.text)


def test_a_bounce_of_a_press_that_was_too_late_is_refused_like_its_press(link):
    assert hears(link, press(1, age=1001), at=5.1) == []
    assert hears(link, press(2, age=1000), at=5.1) == []

    assert answered(link) == [1, 2]
    assert link.counters.late == 1


def test_a_press_from_before_the_host_began_is_refused():
    host, started = connected(7.0), 7.0

    assert hears(host, press(1, age=300), at=started + 0.2) == []  # the host before may have had it
    (refused,) = said(host)
    assert isinstance(refused, Answer)
    assert "too late" in refused.text
    assert len(hears(host, press(2, age=100), at=started + 0.2)) == 1

    host.connect(started + 5, TOKEN)  # the cable was pulled: the host is the same
    hears(host, Here(TOKEN, SESSION, "KP-1"), at=started + 5)
    assert len(hears(host, press(3, age=500), at=started + 5.1)) == 1


def test_a_position_of_the_key_is_delivered_once_and_acknowledged_when_it_is_recorded(link):
    jph, run = Switch(1, SESSION, "jph"), Switch(3, SESSION, "run")

    assert hears(link, jph, jph, at=60.0) == [jph]
    assert hears(link, jph, at=60.1) == []
    assert said(link) == []
    link.note(jph)
    assert said(link) == [Noted(1, SESSION)]
    assert hears(link, jph, jph, at=60.3) == []
    assert said(link) == [Noted(1, SESSION)] * 2
    assert hears(link, run, at=60.4) == [run]
    link.note(run)
    assert hears(link, Switch(2, SESSION, "jph"), at=60.5) == []  # late, and passed over


def test_a_position_of_the_key_of_another_power_on_is_not_taken(link):
    assert hears(link, Switch(1, SESSION + 1, "jph"), at=0.1) == []
    assert link.counters.held_back == 1
