"""The window on a device's requests: each is carried out once, and its reply is sent again whenever the request is repeated.

tests/drivers/test_at_least_once.py has the same through the links of keypad and card reader.
"""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from punto.drivers.frame import Frame
from punto.drivers.window import Reply, Window

SESSION = 5


@dataclass(frozen=True, slots=True)
class Done(Reply):
    TYPE: ClassVar[int] = 0xD0


def in_short(frame: Frame) -> bytes:
    assert isinstance(frame, Done)
    return f"{frame.session}/{frame.number} ".encode()


@pytest.fixture
def window() -> Window[Done]:
    window: Window[Done] = Window(in_short)
    window.begin(SESSION)
    return window


def carry_out(window: Window[Done], number: int) -> None:
    assert not window.is_repeat(number)
    window.take(number)
    assert window.answer(Done(number, SESSION))


def test_a_repeat_gets_the_reply_again_and_a_sent_reply_is_not_sent_twice(window):
    carry_out(window, 1)
    assert [window.data_to_send(), window.data_to_send()] == [b"5/1 ", b""]

    assert window.is_repeat(1)
    assert window.data_to_send() == b"5/1 "


def test_a_repeat_while_the_request_is_carried_out_gets_nothing(window):
    carry_out(window, 1)
    window.take(2)
    window.data_to_send()

    assert window.is_repeat(2)
    assert window.data_to_send() == b""


def test_a_request_before_the_last_one_is_a_repeat_that_needs_no_reply(window):
    carry_out(window, 1)
    carry_out(window, 7)
    assert window.data_to_send() == b"5/1 5/7 "

    assert [number for number in range(1, 10) if window.is_repeat(number)] == [1, 2, 3, 4, 5, 6, 7]
    assert window.data_to_send() == b"5/7 "  # of the last one alone


def test_a_request_that_is_refused_at_once_is_not_taken_later(window):
    window.answer(Done(3, SESSION))

    assert window.is_repeat(3)
    assert window.reply == Done(3, SESSION)


def test_what_was_not_sent_is_discarded_with_the_connection_and_sent_for_a_repeat_on_the_next(window):
    carry_out(window, 1)
    window.disconnect()
    assert window.data_to_send() == b""

    assert window.is_repeat(1)
    assert window.data_to_send() == b"5/1 "


def test_after_a_power_on_the_numbers_begin_again_and_the_old_reply_is_forgotten(window):
    carry_out(window, 1)
    window.data_to_send()
    window.begin(SESSION + 1)

    assert not window.is_repeat(1)
    assert (window.data_to_send(), window.reply) == (b"", None)


def test_the_reply_to_a_request_from_before_a_power_on_is_not_sent(window):
    window.take(1)
    window.begin(SESSION + 1)

    assert not window.answer(Done(1, SESSION))
    assert (window.data_to_send(), window.reply) == (b"", None)
    assert not window.is_repeat(1)
