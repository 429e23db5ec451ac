"""What is on a meter is never rounded; what is paid and shown is whole."""

from fractions import Fraction

import pytest

from punto.baccarat.progressive.money import amount, parts_per_million, share, share_of_meter, whole


@pytest.mark.parametrize(
    ("text", "parts"),
    [("0%", 0), ("20%", 200_000), ("26%", 260_000), ("2.5%", 25_000), ("0.0001%", 1), ("100%", 1_000_000)],
)
def test_a_rate_is_whole_parts_per_million(text, parts):
    assert parts_per_million(text) == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "12.34567%",
            "'12.34567%' has more than four decimals, .*: write at most four, such as \"12.3457%\"",
        ),
        ("0.00001%", "'0.00001%' has more than four decimals, .*, such as \"0.0000%\""),
        ("101%", "'101%' is more than a whole wager: write at most 100%"),
        ("a fifth", "'a fifth' is not a percentage: write it as \"26%\""),
    ],
)
def test_a_rate_that_would_have_to_be_rounded_is_refused_with_what_to_write(text, message):
    with pytest.raises(ValueError, match=message):
        parts_per_million(text)


def test_the_smallest_share_of_the_smallest_wager_is_whole():
    assert share(1, parts_per_million("0.0001%")) == 1
    assert share(100, parts_per_million("20%")) == amount(20)


def test_what_is_less_than_a_cent_is_cut_off_and_not_rounded():
    assert whole(amount(7) + 999_999) == 7


@pytest.mark.parametrize(
    ("meter", "fraction", "pays"),
    [
        (amount(1000), Fraction(1), 1000),
        (amount(1000) + 999_999, Fraction(1), 1000),
        (amount(1003), Fraction(1, 4), 250),
        (amount(1003) + 999_999, Fraction(1, 4), 250),
        (amount(999), Fraction(1, 3), 333),
    ],
)
def test_a_share_of_the_meter_is_paid_in_whole_cents(meter, fraction, pays):
    assert share_of_meter(meter, fraction) == pays
