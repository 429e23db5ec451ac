"""The host's end of the card reader's link: the age of a swipe, by the tokens of the statuses, and losses of power.

tests/drivers/test_links.py and test_at_least_once.py have what is true of other devices too.
"""

from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import Answer, Here, Status, Swipe
from punto.drivers.card_reader.link import TOO_LATE, CardReaderLink
from punto.drivers.frame import parsers
from punto.drivers.framing import Decoder, encode

TOKEN, SESSION = 77, 5
ACCEPTED = CardAnswer("accepted", "the award of 1,000.00 is confirmed")


def answers(link: CardReaderLink, now: float = 0.0) -> list[Answer]:
    sent = Decoder(parsers(Status, Answer)).feed(link.data_to_send(now, awaited=False))
    return [frame for frame in sent if isinstance(frame, Answer)]


def token_of(link: CardReaderLink, now: float) -> int:
    """The token of a status that is due."""
    sent = Decoder(parsers(Status, Answer)).feed(link.data_to_send(now, awaited=False))
    (status,) = (frame for frame in sent if isinstance(frame, Status))
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


def swipe(number: int, token: int, session: int = SESSION) -> Swipe:
    return Swipe(number, session, token, b"6000170042")


def accepted(link: CardReaderLink, number: int, token: int) -> None:
    given = link.receive(encode(swipe(number, token)), 0.1)
    assert given is not None
    link.answer(given, ACCEPTED, 0.1)


def test_a_swipe_behind_another_waits_for_its_answer():
    link, token = connected()

    given = link.receive(encode(swipe(1, token)) + encode(swipe(2, token)), 0.1)
    assert given == swipe(1, token)
    link.answer(given, ACCEPTED, 0.1)

    assert link.receive(encode(swipe(2, token)), 0.2) == swipe(2, token)


def test_a_swipe_is_as_old_as_the_status_before_it():
    link, token = connected()
    later = token_of(link, 1.0)

    assert link.receive(encode(swipe(1, token)), 2.01) is None
    assert answers(link, 2.01) == [Answer(1, SESSION, "refused", TOO_LATE.text)]
    assert link.receive(encode(swipe(2, later)), 3.0) == swipe(2, later)


def test_a_new_host_refuses_a_swipe_that_another_host_may_have_accepted():
    link, _ = connected()

    assert link.receive(encode(swipe(9, TOKEN - 3)), 0.1) is None
    assert answers(link) == [Answer(9, SESSION, "refused", TOO_LATE.text)]


def test_a_swipe_while_the_cable_was_out_is_refused_when_it_is_back():
    link, token = connected()
    link.connect(0.5, TOKEN + 1000)
    introduced(link, 0.5)

    assert link.receive(encode(swipe(1, token)), 0.6) is None
    assert [each.result for each in answers(link, 0.6)] == ["refused"]


def test_a_frame_of_an_earlier_connection_is_held_back_and_counted():
    link, token = connected()
    link.connect(0.5, TOKEN + 1000)

    assert link.receive(encode(Here(token, SESSION, "CR-1")) + encode(swipe(1, token)), 0.5) is None
    assert link.counters.held_back == 2


def test_a_loss_of_power_is_counted_and_a_lost_frame_is_not_one():
    link, token = connected()
    link.receive(b"\0" + encode(Here(token, SESSION, "CR-1"))[5:], 0.2)
    introduced(link, 0.4)
    assert link.counters.restarts == 0

    introduced(link, 0.8, session=6)
    assert link.counters.restarts == 1


def test_frames_from_before_a_loss_of_power_do_not_become_valid_again():
    link, token = connected()
    accepted(link, 1, token)
    introduced(link, 0.3, session=6)
    old = encode(Here(token, SESSION, "CR-1")) + encode(swipe(1, token))

    assert link.receive(old * 2, 0.4) is None
    assert link.here is not None
    assert link.here.session == 6
    assert link.counters.swipes == 1


def test_a_reader_is_not_silent_while_the_host_does_not_read():
    link, token = connected()
    given = link.receive(encode(swipe(1, token)), 0.1)
    assert given is not None

    link.answer(given, ACCEPTED, 5.0)  # the disk was slow

    assert link.silence(5.0) is None
    assert link.silence(5.9) is not None


def test_each_status_has_a_new_token_and_old_tokens_are_forgotten():
    link, token = connected()
    for turn in range(1, 1000):
        assert token_of(link, turn * 0.25) == token + turn

    assert len(link._tokens) <= 9
