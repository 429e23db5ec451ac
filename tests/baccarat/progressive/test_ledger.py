"""The books: what is in them always adds up, and the meter goes down for five causes and for no other."""

import re
from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import given

from punto.baccarat.progressive.ledger import (
    HOLDINGS,
    LINES,
    SOURCES,
    Account,
    Cause,
    Ledger,
    Line,
    Paid,
    PostingError,
    Reference,
)
from tests.baccarat.progressive.floor import accounted, paid_for, paid_in_all

NOTHING_TO_SAY = Reference()
TIER = "two_three_four_diamonds"


def line(account: Account, amount: int) -> Line:
    return Line(account, amount, TIER if account is Account.PAID else None)


def booked(*postings: tuple[Cause, dict[Account, int]]) -> Ledger:
    ledger = Ledger()
    for cause, lines in postings:
        ledger, _ = ledger.post(cause, [line(*each) for each in lines.items()], NOTHING_TO_SAY)
    return ledger


# Enough everywhere that any cause could take ten.
RICH = booked(
    (Cause.SEED, {Account.SEED_MONEY: -100, Account.PRIMARY: 100}),
    (
        Cause.CONTRIBUTION,
        {Account.CONTRIBUTIONS: -100, Account.PRIMARY: 50, Account.RESERVE: 30, Account.OVERFLOW: 20},
    ),
    (Cause.INCREASE, {Account.ADJUSTMENTS: -40, Account.PRIMARY: 40}),
    (Cause.AWARD, {Account.PRIMARY: -60, Account.PAID: 60}),
)


def test_the_balances_are_what_was_posted():
    assert (
        Ledger(
            last=4,
            seed_money=100,
            contributions=100,
            adjustments=40,
            primary=130,
            reserve=30,
            overflow=20,
            paid=(Paid(TIER, 60),),
        )
        == RICH
    )
    assert (RICH.given, accounted(RICH), paid_in_all(RICH)) == (240, 240, 60)
    assert (paid_for(RICH, TIER), paid_for(RICH, "natural_winner")) == (60, 0)


def test_a_posting_has_its_number_its_cause_its_lines_and_what_it_is_about():
    about = Reference(table="table-1", round=7, award=3, who="bob")
    _, posting = RICH.post(
        Cause.AWARD, [line(Account.PRIMARY, -5), line(Account.PAID, 5), line(Account.RESERVE, 0)], about
    )

    assert (posting.number, posting.cause, posting.reference) == (5, Cause.AWARD, about)
    assert posting.lines == (Line(Account.PRIMARY, -5), Line(Account.PAID, 5, TIER))


@pytest.mark.parametrize(("cause", "account", "way"), [*product(Cause, Account, (1, -1))])
def test_a_cause_moves_what_its_lines_list_and_nothing_else(cause, account, way):
    listed = LINES[cause]
    # Balanced by another account of the cause, by one that goes the other way if there is one.
    other = max((each for each in listed if each is not account), key=lambda each: listed[each] == -way)
    lines = [line(account, 10 * way), line(other, -10 * way)]

    if listed.get(account) == way:
        after, _ = RICH.post(cause, lines, NOTHING_TO_SAY)

        assert after.given == accounted(after)
    else:
        into = "into" if way > 0 else "out of"
        with pytest.raises(
            PostingError, match=rf"a posting \({cause}\) must not move money {into} {account}"
        ):
            RICH.post(cause, lines, NOTHING_TO_SAY)


def test_the_meter_goes_down_for_five_causes_only():
    """An award, a documented malfunction, an over-limit display, recovery of seed and retirement."""
    assert {cause for cause, lines in LINES.items() if lines.get(Account.PRIMARY) == -1} == {
        Cause.AWARD,
        Cause.MALFUNCTION,
        Cause.OVER_LIMIT,
        Cause.RECOVERY_OF_SEED,
        Cause.RETIREMENT,
    }
    assert set(LINES) == set(Cause)


@pytest.mark.parametrize(
    ("cause", "lines", "message"),
    [
        (Cause.SEED, {Account.SEED_MONEY: -10, Account.PRIMARY: 9}, "the lines of a posting (seed) sum to -1, but must sum to zero"),
        (Cause.SEED, {}, "the lines of a posting (seed) sum to 0"),
        (Cause.MALFUNCTION, {Account.PRIMARY: -131, Account.ADJUSTMENTS: 131}, "a posting (malfunction) would take primary below zero"),
        (
            Cause.RETIREMENT,
            {Account.RESERVE: -31, Account.OVERFLOW: -21, Account.ADJUSTMENTS: 52},
            "a posting (retirement) would take overflow and reserve below zero",
        ),
        (Cause.RECOVERY_OF_SEED, {Account.PRIMARY: -101, Account.SEED_MONEY: 101}, "a posting (recovery_of_seed) would take seed_money below zero"),
        (Cause.BACK_OUT, {Account.PAID: -61, Account.PRIMARY: 61}, f"a posting (back_out) would take the amount paid for {TIER} below zero"),
    ],
)  # fmt: skip
def test_a_posting_that_does_not_add_up_is_refused(cause, lines, message):
    with pytest.raises(PostingError, match=re.escape(message)):
        RICH.post(cause, [line(*each) for each in lines.items()], NOTHING_TO_SAY)


@pytest.mark.parametrize(
    "lines",
    [
        (Line(Account.PRIMARY, -5), Line(Account.PAID, 5)),
        (Line(Account.PRIMARY, -5, TIER), Line(Account.PAID, 5, TIER)),
    ],
)
def test_what_was_paid_names_its_tier_and_nothing_else_does(lines):
    with pytest.raises(PostingError, match="must name a tier"):
        RICH.post(Cause.AWARD, lines, NOTHING_TO_SAY)


@given(
    postings=st.lists(
        st.tuples(
            st.sampled_from(Cause),
            st.lists(st.tuples(st.sampled_from(Account), st.integers(-9, 9))),
            st.booleans(),
        )
    )
)
def test_whatever_is_posted_the_sources_have_given_what_the_accounts_hold_and_have_paid(postings):
    ledger = Ledger()
    for cause, drawn, mended in postings:
        lines = [line(*each) for each in drawn]
        if mended:  # so that it sums to zero, and ways are as the cause has them
            lines = [line(each, abs(amount) * LINES[cause].get(each, 1)) for each, amount in drawn]
            taker = next(each for each, way in LINES[cause].items() if way > 0)
            giver = next(each for each, way in LINES[cause].items() if way < 0)
            off = sum(each.amount for each in lines)
            lines.append(line(giver if off > 0 else taker, -off))
        before = ledger
        try:
            ledger, posting = ledger.post(cause, lines, NOTHING_TO_SAY)
        except PostingError:
            assert ledger is before
        else:
            assert posting.number == before.last + 1

        assert ledger.given == accounted(ledger)
        assert min(ledger.primary, ledger.reserve, ledger.overflow, ledger.seed_money) >= 0
        assert all(paid.amount >= 0 for paid in ledger.paid)


def test_every_account_is_a_source_a_holding_or_what_was_paid():
    assert SOURCES | HOLDINGS | {Account.PAID} == set(Account)
    assert not SOURCES & HOLDINGS
