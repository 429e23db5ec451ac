"""What can be a card's number, and that no refusal says what was refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers.card_reader.number import LONGEST, SHORTEST, card_number

NUMBERS = st.from_regex(rf"[0-9][0-9=]{{{SHORTEST - 1},{LONGEST - 1}}}", fullmatch=True)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("600017", "600017"),
        ("6000170042=2912", "6000170042=2912"),
        (";6000170042=2912?", "6000170042=2912"),
        (";6000170042?\n", "6000170042"),
        ("1" * LONGEST, "1" * LONGEST),
    ],
)
def test_a_number_is_what_the_track_holds_between_its_sentinels(written, number):
    assert card_number(written) == number


@pytest.mark.parametrize(
    "written",
    [
        "",
        "60001",
        "1" * (LONGEST + 1),
        "=600017",
        "6000170042:2912",
        "6000 170042",
        "%B6000170042^MEI?",
        ";E?",
        ";;600017??",
        "٦٠٠٠١٧",  # digits, but no track's
        "600017\0",
    ],
)
def test_what_can_be_no_number_is_refused_without_being_said(written):
    with pytest.raises(
        ValueError,
        match="this is not a card's number: write 6 to 37 characters: first a digit, then digits or =",
    ) as error:
        card_number(written)
    assert not written or written not in str(error.value)


@given(NUMBERS)
def test_every_number_is_one_with_its_sentinels_and_without(number):
    assert card_number(number) == card_number(f";{number}?") == number
