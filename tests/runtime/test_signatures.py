"""The signatures with a shared key: whatever else is sent does not hold."""

import json

import pytest

from punto.runtime.signatures import Signing, of_the_house

OLD, NEW = b"o" * 32, b"n" * 32
MESSAGE = b'{"schema":"punto/round/1","seq":7}'
SIGNED = of_the_house("t1", (OLD,)).signed(MESSAGE)


def test_a_signed_message_is_the_message_with_one_more_field():
    told = json.loads(SIGNED)
    (tag,) = told.pop("signatures")

    assert told == json.loads(MESSAGE)
    assert MESSAGE[:-1] + b',"signatures":["%b"]}' % tag.encode() == SIGNED
    assert of_the_house("t1", (OLD,)).holds(SIGNED)


@pytest.mark.parametrize(
    "other",
    [
        of_the_house("t2", (OLD,)),
        of_the_house("t1", (NEW,)),
        of_the_house("t1", ()),
        Signing(("punto meter link 1", "t1"), (OLD,)),
    ],
    ids=["another table", "another key", "no key", "another link"],
)
def test_a_signed_message_holds_on_no_other_link(other):
    assert not other.holds(SIGNED)


@pytest.mark.parametrize("changed", [MESSAGE, SIGNED.replace(b"7", b"8"), SIGNED + b" ", b"", b"\xff" * 99])
def test_a_message_that_was_changed_or_not_signed_does_not_hold(changed):
    assert not of_the_house("t1", (OLD,)).holds(changed)


def test_while_a_key_is_changed_both_keys_hold():
    both = of_the_house("t1", (OLD, NEW))

    assert all(both.holds(of_the_house("t1", (key,)).signed(MESSAGE)) for key in (OLD, NEW))
    assert of_the_house("t1", (NEW,)).holds(both.signed(MESSAGE))


def test_without_a_key_a_message_is_sent_as_it_is():
    without = of_the_house("t1", ())

    assert without.signed(MESSAGE) == MESSAGE
    assert without.holds(MESSAGE)
