"""The page of the watch has what is computed, and the watch finds what is planted and no more."""

from math import inf

import pytest

from benchmarks import watch

FLOOR = watch.Floor()
PAGE = watch.PAGE.read_text(encoding="utf-8")
QUICK = [
    "ties twice as often",
    "Player's win by 4 twice as often",
    "2-3-4 in diamonds 1,000 times as often",
    "wagers on Player that win 20 % more often",
]


def row_of(fault: watch.Fault) -> list[str]:
    """The cells of a fault on the page."""
    (row,) = (each for each in PAGE.splitlines() if each.startswith(f"| {fault.what} |"))
    return [each.strip() for each in row.strip("| ").split("|")]


@pytest.fixture(scope="module")
def written() -> dict[str, list[str]]:
    return {each.what: row_of(each) for each in watch.FAULTS}


def test_the_page_has_each_fault_with_its_exact_chances_and_what_a_chi_square_needs(written):
    for fault in watch.FAULTS:
        of = watch.planted(FLOOR, fault)
        cells = [watch.named(of.key), *watch.chances(of.before[0], of.now[0])]
        assert written[fault.what][1:4] == cells, "python -m benchmarks.watch"
        assert written[fault.what][5] == watch.by_chi_square(FLOOR, of), "python -m benchmarks.watch"


@pytest.mark.parametrize("what", QUICK)
def test_a_planted_fault_is_found_in_as_many_hands_as_the_page_says(written, what):
    (fault,) = (each for each in watch.FAULTS if each.what == what)
    hands = watch.hands_to_detection(FLOOR, watch.planted(FLOOR, fault))

    assert hands < inf
    assert written[what][4] == watch.written_hands(hands, "")


def test_a_floor_without_a_fault_has_at_most_one_alarm_a_month():
    floor = watch.Floor(tables=10, shoes=20_000)

    found = watch.false_alarms(floor, years=0.5)

    assert found.by_evidence <= found.months < found.by_errors


def test_the_page_has_which_jackpot_is_an_alarm_and_what_a_larger_stake_hides():
    assert watch.jackpots_table(FLOOR) in PAGE, "python -m benchmarks.watch"
    assert watch.winning_seat_table(FLOOR) in PAGE, "python -m benchmarks.watch"


@pytest.mark.soak
def test_the_page_has_what_ten_years_give():
    assert watch.tables(FLOOR, 10) in PAGE, "python -m benchmarks.watch"
