"""The host's end of the link without a line: each press once, none that is old, and silence with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers import framing
from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.frame import Frame, shortened
from punto.drivers.framing import encode
from punto.drivers.ishoe.frames import Lock
from punto.drivers.keypad.frames import TEXT_BYTES, Answer, Here, Noted, Press, Status, Switch
from punto.drivers.keypad.link import KeypadLink

TOKEN, SESSION = 77, 5
DARK = KeypadLamps()
HERE = Here(TOKEN, SESSION, "KP-1")
DONE = KeyAnswer("done", "betting is closed")


def connected() -> KeypadLink:
    link = KeypadLink()
    link.connect(0.0, TOKEN)
    assert link.receive(encode(HERE), 0.0) == []
    return link


def press(number: int, key: str = "F2", age: int = 0, session: int = SESSION) -> Press:
    return Press(number, session, age, key)


def said(link: KeypadLink, now: float = 0.0, lamps: KeypadLamps = DARK) -> list[Frame]:
    decoder = framing.Decoder[Frame](
        {Status.TYPE: Status.parse, Answer.TYPE: Answer.parse, Noted.TYPE: Noted.parse}
    )
    return decoder.feed(link.data_to_send(now, lamps))


def answers_and_notes(link: KeypadLink) -> list[Frame]:
    return [frame for frame in said(link) if not isinstance(frame, Status)]


def answers(link: KeypadLink) -> list[Answer]:
    return [frame for frame in said(link) if isinstance(frame, Answer)]


def delivered(link: KeypadLink, sent: Press, now: float) -> Press:
    (told,) = link.receive(encode(sent), now)
    assert isinstance(told, Press)
    return told


def test_a_contact_that_bounces_is_one_press_with_one_answer():
    link = connected()
    link.answer(delivered(link, press(1), 0.1), DONE)

    assert link.receive(encode(press(2)), 0.19) == []
    assert [answer.number for answer in answers(link)] == [1, 2]
    assert link.counters.bounces == 1
    assert link.receive(encode(press(3, age=10)), 0.28) == []  # it goes on bouncing
    assert delivered(link, press(4), 0.4).number == 4
    assert delivered(link, press(5, key="F3"), 0.4).key == "F3"


def test_a_press_that_waited_for_the_answer_to_the_one_before_is_told_from_a_bounce_by_its_age():
    link = connected()
    link.answer(delivered(link, press(1), 0.1), DONE)

    assert delivered(link, press(2, age=900), 1.2).number == 2  # pressed 200 ms after the first
    link.answer(press(2, age=900), DONE)
    assert link.receive(encode(press(3, age=950)), 1.3) == []  # 50 ms after the second


def test_a_bounce_that_comes_before_the_answer_is_answered_when_it_comes_again():
    link = connected()

    told = link.receive(encode(press(1)) + encode(press(2)), 0.1)
    assert [each.number for each in told] == [1]
    link.answer(press(1), DONE)
    assert link.receive(encode(press(2, age=200)), 0.3) == []
    assert [answer.number for answer in answers(link)] == [1, 2]


def test_where_the_key_stands_is_delivered_once_and_acknowledged_when_it_is_safe():
    link = connected()
    jph = Switch(1, SESSION, "jph")

    assert link.receive(encode(jph) * 2, 60.0) == [jph]
    assert link.receive(encode(jph), 60.1) == []
    assert answers_and_notes(link) == []
    link.note(jph)
    assert answers_and_notes(link) == [Noted(1, SESSION)]
    assert link.receive(encode(jph) * 2, 60.3) == []
    assert answers_and_notes(link) == [Noted(1, SESSION)] * 2
    run = Switch(3, SESSION, "run")
    assert link.receive(encode(run), 60.4) == [run]
    link.note(run)
    assert link.receive(encode(Switch(2, SESSION, "jph")), 60.5) == []  # late, and passed over


def test_where_the_key_of_an_earlier_power_on_stood_is_not_taken():
    link = connected()

    assert link.receive(encode(Switch(1, SESSION + 1, "jph")), 0.1) == []
    assert link.counters.held_back == 1


def test_a_press_is_delivered_and_answered():
    link = connected()

    given_ = delivered(link, press(1), 0.1)
    link.answer(given_, DONE)

    assert given_.key == "F2"
    assert answers(link) == [Answer(1, SESSION, "done", 0, "betting is closed")]


def test_a_repeated_number_is_one_press_with_the_same_answer():
    link = connected()
    first = delivered(link, press(1), 0.1)
    link.answer(first, DONE)
    before = answers(link)

    assert link.receive(encode(press(1, age=250)), 0.3) == []
    assert answers(link) == before
    assert link.counters.duplicates == 1


def test_a_press_doubled_in_one_read_is_one_press():
    link = connected()

    assert len(link.receive(encode(press(1)) * 2, 0.1)) == 1


def test_a_press_from_before_the_last_is_not_even_answered():
    link = connected()
    for number, key in ((1, "F1"), (2, "F2")):
        link.answer(delivered(link, press(number, key), 0.1), DONE)
    answers(link)

    assert link.receive(encode(press(1)), 0.2) == []
    assert answers(link) == []


def test_a_press_whose_answer_was_lost_with_the_cable_is_not_carried_out_again():
    link = connected()
    first = delivered(link, press(1), 0.1)
    link.answer(first, DONE)
    link.data_to_send(0.1, DARK)

    link.connect(5.0, TOKEN + 1)
    link.receive(encode(Here(TOKEN + 1, SESSION, "KP-1")), 5.1)

    assert link.receive(encode(press(1, age=5000)), 5.1) == []
    assert answers(link) == [Answer(1, SESSION, "done", 0, "betting is closed")]


def test_a_press_that_is_older_than_a_second_is_refused():
    link = connected()

    assert link.receive(encode(press(1, age=1001)), 5.1) == []
    assert link.receive(encode(press(2, age=1000)), 5.1) == []  # its contact bounced
    assert len(link.receive(encode(press(3, age=1000, key="F3")), 5.1)) == 1
    for number, refused in enumerate(answers(link), start=1):
        assert (refused.number, refused.result) == (number, "refused")
        assert "too late" in refused.text
    assert link.counters.late == 1


def test_a_press_from_before_the_host_began_is_refused():
    host, started = KeypadLink(), 7.0
    host.connect(started, TOKEN)
    host.receive(encode(HERE), started)

    assert host.receive(encode(press(1, age=300)), started + 0.2) == []  # the host before may have had it
    (refused,) = answers(host)
    assert refused.number == 1
    assert "too late" in refused.text
    assert delivered(host, press(2, age=100), started + 0.2).number == 2

    host.connect(started + 5, TOKEN)  # the cable was pulled: the host is the same
    host.receive(encode(HERE), started + 5)
    assert delivered(host, press(3, age=500), started + 5.1).number == 3


def test_a_bounce_that_comes_when_its_press_has_been_answered_has_the_same_answer_however_late():
    link = connected()
    link.answer(delivered(link, press(1), 0.1), DONE)
    answers(link)

    assert link.receive(encode(press(2, age=1480)), 1.6) == []
    (same,) = answers(link)
    assert (same.number, same.text) == (2, DONE.text)


def test_what_the_line_still_holds_from_before_is_no_press():
    link = KeypadLink()
    link.connect(0.0, TOKEN)

    assert link.receive(encode(press(1)), 0.0) == []
    assert link.receive(encode(Here(TOKEN - 1, SESSION, "KP-1")) + encode(press(1)), 0.0) == []
    assert link.here is None
    assert link.counters.held_back == 2


def test_a_keypad_that_was_switched_off_counts_its_presses_anew():
    link = connected()
    link.answer(delivered(link, press(1), 0.1), DONE)

    assert link.receive(encode(press(1, session=6)), 0.2) == []  # not said hello yet
    link.receive(encode(Here(TOKEN, 6, "KP-1")), 0.3)

    assert len(link.receive(encode(press(1, session=6)), 0.3)) == 1


def test_an_answer_to_a_press_from_before_the_power_was_off_is_none_to_those_after_it():
    link = connected()
    before = delivered(link, press(57), 0.1)
    link.receive(encode(Here(TOKEN, 6, "KP-1")), 0.2)

    link.answer(before, DONE)

    assert answers(link) == []
    assert len(link.receive(encode(press(1, session=6)), 0.3)) == 1


def test_a_lost_keypad_must_answer_anew_before_it_is_taken():
    link = connected()
    assert link.silence(0.7) is None

    assert link.silence(0.8) == "no sign of life for 0.8 s: check the keypad's power and its cable"
    assert link.silence(0.9) is None
    assert link.silent_seconds(2.0) == 2.0
    assert link.receive(encode(HERE) + encode(press(1)), 2.0) == []
    (status,) = said(link, 2.0)
    assert isinstance(status, Status)
    link.receive(encode(Here(status.token, SESSION, "KP-1")), 2.1)

    assert link.silent_seconds(2.1) == 0.0
    assert len(link.receive(encode(press(1)), 2.1)) == 1


def test_tokens_go_on_after_the_highest():
    link = KeypadLink()
    link.connect(0.0, 0xFFFF_FFFF)
    link.silence(1.0)

    (status,) = said(link, 1.0)
    assert isinstance(status, Status)
    assert status.token == 1


def test_the_host_says_how_things_stand_four_times_a_second_and_at_once_when_they_change():
    link = connected()

    assert said(link, 0.0) == [Status(TOKEN, DARK)]
    assert said(link, 0.2) == []
    assert said(link, 0.21, KeypadLamps(ready=True)) == [Status(TOKEN, KeypadLamps(ready=True))]
    assert said(link, 0.45, KeypadLamps(ready=True)) == []
    assert said(link, 0.46, KeypadLamps(ready=True)) == [Status(TOKEN, KeypadLamps(ready=True))]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "sends nothing"),
        (b"\x55\x00" * 9, "bytes arrive but no frames: check the baud rate"),
        (encode(Lock(1)), "another device is at this port"),
        (encode(Status(TOKEN, DARK)), "or the line returns what the host sends"),
        (encode(Here(TOKEN - 1, SESSION, "KP-1")), "no sign of life"),
    ],
)
def test_silence_has_a_reason_that_can_be_acted_on(data, reason):
    link = KeypadLink()
    link.connect(0.0, TOKEN)
    link.receive(data, 0.1)

    told = link.silence(1.0)

    assert told is not None
    assert reason in told


def test_another_version_of_the_link_is_named():
    from struct import pack
    from zlib import crc32

    from cobs import cobs  # type: ignore[import-untyped]

    body = pack(">BBI", 2, Here.TYPE, 0)
    link = KeypadLink()
    link.connect(0.0, TOKEN)
    link.receive(b"\0" + cobs.encode(body + pack(">I", crc32(body))) + b"\0", 0.1)

    assert (
        link.silence(1.0)
        == "the keypad uses version 2 of the link, but this host uses version 1: update the older of the two"
    )


@given(st.lists(st.binary(max_size=100), max_size=20), st.integers(1, 50))
def test_noise_is_never_a_press(noise, number):
    link = connected()

    assert [each for piece in noise for each in link.receive(piece, 0.1)] == []
    assert len(link.receive(b"\0" + encode(press(number)), 0.2)) == 1


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2000)), max_size=40))
def test_whatever_is_repeated_or_late_no_number_is_given_twice_or_backwards(frames):
    link = connected()
    given_ = []
    for number, age in frames:
        for each in link.receive(encode(press(number, f"F{number}", age)), 0.1):
            assert isinstance(each, Press)
            given_.append(each.number)
            link.answer(each, DONE)

    assert given_ == sorted(set(given_))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("short", "short"),
        ("x" * TEXT_BYTES, "x" * TEXT_BYTES),
        ("play is stopped: " + "and so on " * 30, None),
        ("é" * TEXT_BYTES, "é" * 98 + "…"),
        (
            "play is held: for\xa0a\nwhile\x1b",
            "play is held: for a while ",
        ),  # whatever a person gave as a reason
    ],
)
def test_a_text_that_is_too_long_ends_in_an_ellipsis(text, cut):
    short = shortened(text, TEXT_BYTES)

    assert len(short.encode()) <= TEXT_BYTES
    assert short == cut if cut else short.endswith(("and…", "so…", "on…"))
