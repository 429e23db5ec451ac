from fractions import Fraction

import pytest

from punto.baccarat.wagers.pay import Pay, Rounding, percentage

F = Fraction


@pytest.mark.parametrize(
    ("pays", "stake", "returned"),
    [
        ("30 to 1", 100, F(3100)),
        ("1 to 1", 100, F(200)),
        ("1 to 2", 5, F(15, 2)),
        ("3 to 2", 5, F(25, 2)),
        ("1000 for 1", 1, F(1000)),
        ("1000 for 1", 100, F(100_000)),
        ("1 for 1", 100, F(100)),
        ("3 for 2", 5, F(15, 2)),
        ("1 to 1 less 5%", 100, F(195)),
        ("1 to 1 less 5%", 1, F(39, 20)),
        ("1 to 1 less 0%", 100, F(200)),
        ("2 to 1 less 2.5%", 100, F(295)),
        ("push", 100, F(100)),
        ("54 to 100", 50, F(77)),
        ("lose", 100, F(0)),
        ("100% of the meter", 100, F(0)),
    ],
)
def test_a_pay_to_one_gives_the_stake_back_and_a_pay_for_one_took_it(pays, stake, returned):
    assert Pay.parse(pays).returned(stake) == returned


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "30 to",
        "30:1",
        "30 to 0",
        "0 to 1",
        "-1 to 1",
        "30 TO 1",
        "1 to 1 less",
        "1 to 1 less 5",
        "0.0 to 1",
        "1.5",
        " 1 to 1",
        "LOSE",
        "lose ",
        "the meter",
        "10% of meter",
        "10% of the meter less 5%",
    ],
)
def test_an_invalid_pay_is_refused_with_the_forms_there_are(text):
    with pytest.raises(ValueError) as error:
        Pay.parse(text)

    assert str(error.value) == (
        f'{text!r} is not a pay: write "30 to 1", "1000 for 1", "1 to 1 less 5%", "10% of the meter", "push" or "lose"'
    )


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("5.5 to 1", "11 to 2"),
        ("0.95 to 1", "19 to 20"),
        ("7.50 to 2", "15 to 4"),
        ("2.0 for 1", "2 for 1"),
        ("1.5 to 1 less 5%", "3 to 2 less 5%"),
    ],
)
def test_a_pay_with_a_point_is_refused_with_the_same_in_whole_numbers(text, whole):
    with pytest.raises(ValueError) as error:
        Pay.parse(text)

    assert str(error.value) == f'{text!r} is not in whole numbers: write "{whole}"'
    assert Pay.parse(whole).odds == F(text.split()[0]) / int(text.split()[2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 to 1 less 100%", "'1 to 1 less 100%' takes the whole win as commission: write less than 100%"),
        (
            "1 for 1 less 5%",
            '\'1 for 1 less 5%\' takes a commission of a "for" pay, but only a "to" pay can have a commission: write "to"',
        ),
    ],
)
def test_a_commission_is_of_a_win_and_leaves_some_of_it(text, message):
    with pytest.raises(ValueError) as error:
        Pay.parse(text)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("pays", "share"),
    [
        ("100% of the meter", F(1)),
        ("10% of the meter", F(1, 10)),
        ("2.5% of the meter", F(1, 40)),
        ("1000 for 1", 0),
    ],
)
def test_an_award_is_a_share_of_the_meter_and_takes_the_stake(pays, share):
    pay = Pay.parse(pays)

    assert (pay.meter, pay.stake_taken) == (share, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0% of the meter", "'0% of the meter' is not a share of a meter: write more than 0% and at most 100%"),
        ("101% of the meter", "'101% of the meter' is not a share of a meter: write more than 0% and at most 100%"),
        ("10 of the meter", "'10' is not a percentage: write it as \"26%\""),
        ("all of the meter", "'all' is not a percentage: write it as \"26%\""),
    ],
)  # fmt: skip
def test_a_share_of_a_meter_is_a_percentage_of_what_is_there(text, message):
    with pytest.raises(ValueError) as error:
        Pay.parse(text)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "share"),
    [("26%", F(26, 100)), ("0%", F(0)), ("100%", F(1)), ("0.125%", F(1, 800)), ("250%", F(5, 2))],
)
def test_a_percentage_is_read_exactly(text, share):
    assert percentage(text) == share


@pytest.mark.parametrize(
    "text", ["", "%", "26", "26 %", " 26%", "26%\n", ".5%", "5.%", "-5%", "1/2%", "1e2%"]
)
def test_an_invalid_percentage_is_refused_with_the_way_to_write_one(text):
    with pytest.raises(ValueError) as error:
        percentage(text)

    assert str(error.value) == f'{text!r} is not a percentage: write it as "26%"'


@pytest.mark.parametrize(
    ("unit", "mode", "exact", "paid"),
    [
        (1, "down", F(95), 95),
        (1, "down", F(199, 20), 9),
        (1, "up", F(181, 20), 10),
        (1, "up", F(10), 10),
        (1, "nearest", F(19, 2), 10),
        (1, "nearest", F(189, 20), 9),
        (25, "down", F(95), 75),
        (25, "up", F(95), 100),
        (25, "nearest", F(95), 100),
        (25, "nearest", F(87), 75),
        (25, "nearest", F(175, 2), 100),
        (25, "up", F(75), 75),
        (25, "down", F(0), 0),
        (25, "up", F(0), 0),
        (25, "nearest", F(0), 0),
    ],
)
def test_what_is_not_whole_is_paid_in_whole_units(unit, mode, exact, paid):
    assert Rounding(unit=unit, mode=mode)(exact) == paid


@pytest.mark.parametrize("unit", [0, -25])
def test_an_amount_cannot_be_rounded_to_a_unit_of_nothing(unit):
    with pytest.raises(ValueError, match=f"the rounding unit must be at least 1 minor unit, not {unit}"):
        Rounding(unit=unit)
