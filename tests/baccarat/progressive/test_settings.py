"""What a house can set of a progressive, what it cannot, and what the sheet advises against (sheet 000)."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.progressive.money import MOST
from punto.baccarat.progressive.settings import LinkedTable, Settings, advice
from punto.configs.game_files import load_game
from tests.baccarat.progressive.floor import PAY_TABLES, settings


@pytest.mark.parametrize(
    ("pay_table", "seed", "contribution", "stays"),
    [
        ("progressive-1-five-dollar", 5_000_000, 200_000, True),
        ("progressive-2", 1_000_000, 200_000, False),
        ("progressive-3", 500_000, 260_000, False),
    ],
)
def test_a_pay_table_says_what_its_meter_starts_with_and_takes_in_and_whether_the_wager_stays(
    pay_table, seed, contribution, stays
):
    found = settings(pay_table)

    assert (found.seed, found.contribution_rate, found.wager_stays) == (seed, contribution, stays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wager": load_game("progressive-2").wager("tie")}, "tie does not pay from a meter: name a wager that does"),
        ({"tables": ()}, "a progressive needs at least one table"),
        ({"tables": (LinkedTable("t1", "progressive-2"), LinkedTable("t1", "progressive-2"))}, "each table can be linked only once: t1, t1"),
        (
            {"tables": (LinkedTable("t1", "progressive-2"), LinkedTable("t2", "progressive-3"))},
            "these tables play progressive-2 and progressive-3, but .* nor linked to any other base game. \\(sheet 000\\)",
        ),
        ({"seed": -1}, "seed must be 0 minor units or more, not -1"),
        ({"display_limit": -1}, "display_limit must be 0 minor units or more, not -1"),
        ({"procedure": "nexus", "executive_from": -1}, "executive_from must be 0 minor units or more, not -1"),
        ({"approval_above": -1}, "approval_above must be 0 minor units or more, not -1"),
        ({"supervisor_from": -1}, "supervisor_from must be 0 minor units or more, not -1"),
        (
            {"supervisor_from": 1, "fixed_awards": "meter"},
            (
                "supervisor_from is for awards that the tray pays, but here the meter pays all awards: leave "
                'supervisor_from out, or write fixed_awards = "tray"'
            ),
        ),
        (
            {"supervisor_from": 101, "executive_from": 100, "procedure": "nexus"},
            "supervisor_from is above executive_from: an award between them would need an Executive card but no supervisor",
        ),
        ({"contribution": "20.00001%"}, "contribution: '20.00001%' has more than four decimals"),
        ({"reserve": "5"}, "reserve: '5' is not a percentage"),
        (
            {"contribution": "70%", "reserve": "30.0001%"},
            "contribution 70% and reserve 30.0001% are together more than the whole wager: write at most 100% for both together",
        ),
        ({"display_limit": 999_999}, "the display limit is below the seed: write a larger display limit or a smaller seed"),
        ({"executive_from": 0}, "executive_from is for cards, but Aquarius uses a key: leave executive_from out"),
        ({"wager_stays": True}, "the wager stays on the sensor, but two_three_four_unsuited pays '1000 for 1': use \"to\" for a wager that stays"),
        ({"pay_table": "progressive-1-five-dollar", "wager_stays": False}, "the wager is taken at the start, but two_three_four_unsuited pays '1000 to 1'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_an_error(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        settings(**changes)


def test_the_whole_wager_may_go_to_meter_and_reserve():
    assert settings(contribution="70%", reserve="30%").reserve_rate == 300_000


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"reserve": "2%"}, []),
        ({}, ["no_reserve"]),
        ({"reserve": "2%", "contribution": "10%"}, []),
        ({"reserve": "2%", "contribution": "20.0001%"}, ["contribution_high"]),
        ({"reserve": "2%", "fixed_awards": "meter", "contribution": "70%"}, []),
        ({"reserve": "2%", "fixed_awards": "meter", "contribution": "69.9999%"}, ["contribution_low"]),
        ({"reserve": "2%", "seed": 100_000}, []),
        ({"reserve": "2%", "seed": 99_999}, ["seed_low"]),
        ({"reserve": "2%", "seed": 0}, ["reserve_alone", "no_seed", "seed_low"]),
        ({"seed": 0}, ["no_reserve", "no_seed", "seed_low"]),
    ],
)
def test_what_the_sheet_advises_against_is_reported_and_left_to_the_house(changes, codes):
    assert [each.code for each in advice(settings(**changes), "USD")] == codes


def test_advice_says_what_it_is_about():
    low = advice(settings(reserve="2%", seed=99_999), "USD")[0]

    assert low.text == "the seed is 999.99, and a fixed award can be 1,000.00"
    assert [each.code for each in advice(settings(seed=0), "USD") if each.loud] == ["no_seed"]


SHEET = Path(__file__).parent / "sheet_000_recommendations.txt"


@pytest.mark.parametrize(
    "changes",
    [
        {"fixed_awards": "meter"},
        {"contribution": "21%"},
        {"seed": 0},
        {"seed": 0, "reserve": "1%"},
    ],
)
def test_advice_is_in_the_sheets_own_words(changes):
    without_bullets = re.sub(r"^\W? ?o? ", "", SHEET.read_text(), flags=re.MULTILINE)
    printed = " ".join(without_bullets.split())

    for each in advice(settings(**changes), "USD"):
        assert each.sheet in printed


def test_the_largest_fixed_award_is_of_the_wager():
    assert settings().largest_fixed_award == 100_000
    assert settings("progressive-1-five-dollar").largest_fixed_award == 500_000


@pytest.mark.parametrize(("maximum", "said"), [(None, "none"), (500, "500")])
def test_a_wager_of_several_amounts_cannot_be_seen_by_a_sensor(maximum, said):
    wager = PAY_TABLES["progressive-2"]
    several = replace(wager, limits=replace(wager.limits, minimum=200, maximum=maximum))

    with pytest.raises(
        ValueError, match=f"write the same minimum and maximum in its limits, not 200 and {said}"
    ):
        settings(wager=several)


def changed(**changes: Any) -> Settings:
    return replace(settings(procedure="nexus"), **changes)


@pytest.mark.parametrize(
    "name", ["seed", "display_limit", "executive_from", "approval_above", "supervisor_from"]
)
def test_no_amount_is_beyond_what_a_meter_can_hold(name):
    with pytest.raises(ValueError, match=f"{name} must be at most 1000000000000 minor units"):
        changed(**{name: MOST + 1})


def test_a_pay_table_of_percentages_alone_needs_no_seed_for_fixed_awards():
    wager = PAY_TABLES["progressive-2"]
    percentages = replace(wager, rules=tuple(rule for rule in wager.rules if rule.pay.meter or not rule.wins))

    assert settings(wager=percentages).largest_fixed_award == 0
