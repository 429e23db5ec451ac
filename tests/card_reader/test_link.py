"""The host's end of the link without a line: each swipe once, none that is old, and silence with a reason."""

from struct import pack
from zlib import crc32

import pytest
from cobs import cobs  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers import framing
from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import TEXT_BYTES, Answer, Here, Status, Swipe
from punto.drivers.card_reader.link import TOO_LATE, CardReaderLink
from punto.drivers.frame import HIGHEST, Frame
from punto.drivers.framing import encode
from punto.drivers.keypad.frames import Here as KeypadHere

TOKEN, SESSION = 77, 5
CARD = b"6000170042"
ACCEPTED = CardAnswer("accepted", "the award of 1,000.00 is confirmed")


def said(link: CardReaderLink, now: float, *, awaited: bool = False) -> list[Frame]:
    decoder = framing.Decoder[Frame]({Status.TYPE: Status.parse, Answer.TYPE: Answer.parse})
    return decoder.feed(link.data_to_send(now, awaited=awaited))


def answers(link: CardReaderLink, now: float = 0.0) -> list[Answer]:
    return [frame for frame in said(link, now) if isinstance(frame, Answer)]


def token_of(link: CardReaderLink, now: float) -> int:
    """The token of a status that is due."""
    (status,) = (frame for frame in said(link, now) if isinstance(frame, Status))
    return status.token


def introduced(link: CardReaderLink, now: float, session: int = SESSION) -> int:
    """Have the reader answer, twice where it had been off; give the last token."""
    for _ in range(2):
        token = token_of(link, now)
        link.receive(encode(Here(token, session, "CR-1")), now)
        if link.here is not None:
            break
    assert link.here is not None
    return token


def connected() -> tuple[CardReaderLink, int]:
    link = CardReaderLink()
    link.connect(0.0, TOKEN)
    return link, introduced(link, 0.0)


def swipe(number: int, token: int, track: bytes = CARD, session: int = SESSION) -> Swipe:
    return Swipe(number, session, token, track)


def answered(link: CardReaderLink, number: int, token: int) -> None:
    """Have a swipe delivered and accepted."""
    given_ = link.receive(encode(swipe(number, token)), 0.1)
    assert given_ is not None
    link.answer(given_, ACCEPTED, 0.1)


def test_a_swipe_is_delivered_and_answered():
    link, token = connected()

    given_ = link.receive(encode(swipe(1, token)), 0.1)
    assert given_ == swipe(1, token)
    link.answer(given_, ACCEPTED, 0.1)

    assert answers(link) == [Answer(1, SESSION, "accepted", ACCEPTED.text)]
    assert link.counters.swipes == 1


def test_a_repeated_number_is_one_swipe_with_the_same_answer():
    link, token = connected()
    answered(link, 1, token)
    before = answers(link)

    assert link.receive(encode(swipe(1, token)), 0.3) is None
    assert answers(link) == before
    assert link.counters.duplicates == 1


def test_an_answer_to_a_swipe_from_before_the_power_was_off_is_none_to_those_after_it():
    link, token = connected()
    before = link.receive(encode(swipe(57, token)), 0.1)
    assert before is not None
    token = introduced(link, 0.4, SESSION + 1)

    link.answer(before, ACCEPTED, 0.4)

    assert answers(link) == []
    again = swipe(1, token, session=SESSION + 1)
    assert link.receive(encode(again), 0.5) == again


def test_a_swipe_doubled_in_one_read_is_one_and_one_behind_it_waits():
    link, token = connected()

    given_ = link.receive(encode(swipe(1, token)) * 2 + encode(swipe(2, token)), 0.1)
    assert given_ == swipe(1, token)
    link.answer(given_, ACCEPTED, 0.1)

    assert link.receive(encode(swipe(2, token)), 0.2) == swipe(2, token)


def test_a_swipe_that_comes_again_before_it_is_answered_is_not_given_again():
    link, token = connected()
    link.receive(encode(swipe(1, token)), 0.1)

    assert link.receive(encode(swipe(1, token)), 0.2) is None
    assert answers(link) == []


def test_a_swipe_from_before_the_last_is_not_even_answered():
    link, token = connected()
    for number in (1, 2):
        answered(link, number, token)
    answers(link)

    assert link.receive(encode(swipe(1, token)), 0.2) is None
    assert answers(link) == []


def test_a_swipe_whose_answer_was_lost_with_the_cable_is_not_delivered_again():
    link, token = connected()
    answered(link, 1, token)
    link.data_to_send(0.1, awaited=False)

    link.connect(5.0, TOKEN + 1000)
    introduced(link, 5.0)

    assert link.receive(encode(swipe(1, token, b"")), 5.1) is None
    assert answers(link) == [Answer(1, SESSION, "accepted", ACCEPTED.text)]


# --- age


def test_a_swipe_is_as_old_as_the_status_before_it():
    link, token = connected()
    later = token_of(link, 1.0)

    assert link.receive(encode(swipe(1, token)), 2.01) is None
    assert answers(link, 2.01) == [Answer(1, SESSION, "refused", TOO_LATE.text)]
    assert link.receive(encode(swipe(2, later)), 3.0) == swipe(2, later)
    assert link.counters.late == 1


def test_a_swipe_that_was_refused_as_late_is_refused_however_often_it_comes():
    link, token = connected()
    link.receive(encode(swipe(1, token)), 2.5)
    before = answers(link)

    assert link.receive(encode(swipe(1, token, b"")), 2.7) is None
    assert answers(link) == before != []
    assert (link.counters.late, link.counters.swipes) == (1, 0)


def test_a_host_that_has_just_come_takes_no_swipe_that_another_may_have_taken():
    link, _ = connected()

    assert link.receive(encode(swipe(9, TOKEN - 3)), 0.1) is None
    (refused,) = answers(link)
    assert (refused.number, refused.text) == (9, TOO_LATE.text)


def test_a_swipe_while_the_cable_was_out_is_refused_when_it_is_back():
    link, token = connected()
    link.connect(0.5, TOKEN + 1000)
    introduced(link, 0.5)

    assert link.receive(encode(swipe(1, token)), 0.6) is None
    assert [each.result for each in answers(link, 0.6)] == ["refused"]


def test_what_the_line_still_holds_from_before_is_no_swipe():
    link, token = connected()
    link.connect(0.5, TOKEN + 1000)

    assert link.receive(encode(Here(token, SESSION, "CR-1")) + encode(swipe(1, token)), 0.5) is None
    assert link.here is None
    assert link.counters.held_back == 2


# --- power


def test_a_reader_that_was_off_counts_anew_and_is_known_by_its_session():
    link, token = connected()
    answered(link, 1, token)
    answers(link)

    assert link.receive(encode(swipe(2, token, session=6)), 0.2) is None  # it has not said hello yet
    again = introduced(link, 0.3, session=6)

    assert link.receive(encode(swipe(1, again, session=6)), 0.4) == swipe(1, again, session=6)
    assert link.counters.restarts == 1


def test_a_frame_that_was_lost_is_no_loss_of_power():
    link, token = connected()
    link.receive(b"\0" + encode(Here(token, SESSION, "CR-1"))[5:], 0.2)
    introduced(link, 0.4)

    assert link.counters.restarts == 0


def test_what_a_reader_said_before_it_was_off_cannot_come_to_hold_again():
    link, token = connected()
    answered(link, 1, token)
    introduced(link, 0.3, session=6)
    old = encode(Here(token, SESSION, "CR-1")) + encode(swipe(1, token))

    assert link.receive(old * 2, 0.4) is None
    assert link.here is not None
    assert link.here.session == 6
    assert link.counters.swipes == 1


# --- silence


def test_a_lost_reader_must_answer_anew_before_its_swipes_are_taken():
    link, token = connected()
    assert link.silence(0.7) is None

    assert link.silence(0.8) == "no sign of life for 0.8 s: check the card reader's power and its cable"
    assert link.silence(0.9) is None
    assert link.silent_seconds(2.0) == 2.0
    old = encode(Here(token, SESSION, "CR-1")) + encode(swipe(1, token))
    assert link.receive(old, 1.0) is None
    new = introduced(link, 1.0)

    assert link.silent_seconds(1.0) == 0.0
    assert link.receive(encode(swipe(1, new)), 1.1) == swipe(1, new)


def test_a_reader_is_not_silent_while_nobody_listens():
    link, token = connected()
    given_ = link.receive(encode(swipe(1, token)), 0.1)
    assert given_ is not None

    link.answer(given_, ACCEPTED, 5.0)  # the disk was slow

    assert link.silence(5.0) is None
    assert link.silence(5.9) is not None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the port is open but the card reader sends nothing"),
        (b"\x55\x00" * 9, "bytes arrive but no frames: check the baud rate"),
        (encode(KeypadHere(1, 1, "KP-1")), "another device is at this port"),
        (encode(Status(1, awaited=False)), "or the line returns what the host sends"),
        (encode(Here(TOKEN, SESSION, "CR-1")), "no sign of life"),
    ],
)
def test_silence_has_a_reason_that_can_be_acted_on(data, reason):
    link = CardReaderLink()
    link.connect(0.0, TOKEN)
    link.receive(data, 0.1)

    told = link.silence(1.0)

    assert told is not None
    assert reason in told


def test_another_version_of_the_link_is_named():
    body = pack(">BBI", 2, Here.TYPE, 0)
    link = CardReaderLink()
    link.connect(0.0, TOKEN)
    link.receive(b"\0" + cobs.encode(body + pack(">I", crc32(body))) + b"\0", 0.1)

    told = link.silence(1.0)

    assert (
        told
        == "the card reader uses version 2 of the link, but this host uses version 1: update the older of the two"
    )


# --- what goes out


def test_the_host_says_four_times_a_second_that_it_is_there_and_at_once_when_a_swipe_is_awaited():
    link = CardReaderLink()
    link.connect(0.0, TOKEN)

    assert said(link, 0.0) == [Status(TOKEN + 1, awaited=False)]
    assert said(link, 0.2) == []
    assert said(link, 0.21, awaited=True) == [Status(TOKEN + 2, awaited=True)]
    assert said(link, 0.45, awaited=True) == []
    assert said(link, 0.46, awaited=True) == [Status(TOKEN + 3, awaited=True)]


def test_tokens_go_on_after_the_highest():
    link = CardReaderLink()
    link.connect(0.0, HIGHEST)

    assert token_of(link, 0.0) == 1


def test_tokens_that_say_nothing_any_more_are_forgotten():
    link, _ = connected()
    for turn in range(1000):
        link.data_to_send(turn * 0.25, awaited=False)

    assert len(link._tokens) <= 9


def test_a_text_that_is_too_long_ends_in_an_ellipsis():
    link, token = connected()
    link.answer(swipe(1, token), CardAnswer("refused", "and so on " * 30), 0.1)

    (answer,) = answers(link)
    assert len(answer.text.encode()) <= TEXT_BYTES
    assert answer.text.endswith("…")


# --- whatever comes


@settings(deadline=None)
@given(st.lists(st.binary(max_size=100), max_size=20))
def test_noise_is_never_a_swipe(noise):
    link, token = connected()

    assert [each for piece in noise if (each := link.receive(piece, 0.1))] == []
    assert link.receive(b"\0" + encode(swipe(1, token)), 0.2) == swipe(1, token)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 12)), max_size=40))
def test_whatever_is_repeated_or_old_no_number_is_given_twice_or_backwards(frames):
    link, _ = connected()
    tokens = [token_of(link, 1 + turn * 0.25) for turn in range(13)]
    given_ = []
    for number, token in frames:
        each = link.receive(encode(swipe(number, tokens[token])), 4.0)
        if each is not None:
            assert 1 + token * 0.25 >= 2.0  # of the last two seconds
            given_.append(each.number)
            link.answer(each, ACCEPTED, 4.0)

    assert given_ == sorted(set(given_))
