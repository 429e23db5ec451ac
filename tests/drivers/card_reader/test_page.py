"""docs/reference/card-reader.md shows a conversation; tests/drivers/test_pages.py checks what it says of the link."""

from typing import Any

from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import Here
from punto.drivers.card_reader.link import CardReaderLink
from punto.drivers.card_reader.swiped import UNREADABLE
from punto.drivers.framing import encode
from tests.drivers.devices import CARD_READER


def test_the_examples_are_a_conversation_that_the_host_has():
    link = CardReaderLink()
    link.connect(0.0, 0x1233)
    frames: list[Any] = CARD_READER.examples
    status, here, ready, swipe, answer, unreadable, refusal = frames

    assert link.data_to_send(0.0, awaited=False) == encode(status)
    assert link.receive(encode(here), 0.1) is None
    assert link.data_to_send(0.1, awaited=True) == encode(ready)
    link.receive(encode(Here(0x1235, 0xC0FFEE01, "CR-000042")), 0.1)
    assert link.receive(encode(swipe), 0.2) == swipe
    link.answer(swipe, CardAnswer("second_factor", answer.text), 0.2)
    assert link.data_to_send(0.2, awaited=True) == encode(answer)
    for turn in range(4):  # up to token 1239
        link.data_to_send(0.4 + turn * 0.3, awaited=True)
    assert link.receive(encode(unreadable), 1.4) == unreadable
    assert refusal.text == UNREADABLE.text
