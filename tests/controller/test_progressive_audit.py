"""`punto progressive audit`: the books proven by the whole record, and what does not hold found."""

from dataclasses import replace

import pytest

from punto.baccarat.progressive import awards, shares
from punto.baccarat.progressive.ledger import Cause, Ledger
from punto.commands.cli import main
from punto.controller.journal.audit import audit
from tests.controller.table_in_this_process import edited, table
from tests.controller.test_progressive_record import AWARD, settings, to_the_win


@pytest.fixture
async def record(tmp_path):
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD, "back out 1")
    return path


async def test_the_books_of_a_record_hold(record, capsys):
    assert main(["progressive", "audit", str(record)]) == 0

    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("derived again, 4 postings, 1 awards")
    books = [line.split() for line in said[2:-1]]
    assert ["primary", "10,000.40000000"] in books
    assert ["paid:", "two_three_four_suited", "0.00000000"] in books
    assert said[-1].startswith("the books are correct after each of the ")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE postings SET primary_meter = primary_meter - 1, paid = paid + 1 WHERE cause = 'award'",
        "DELETE FROM progressive_log WHERE kind = 'award_booked'",
        "UPDATE progressive_rounds SET staked = staked + 1",
    ],
)
async def test_a_cent_astray_is_found(record, change, capsys):
    with edited(record) as connection:
        connection.execute(change)

    assert main(["progressive", "audit", str(record)]) == 1
    assert "first difference: the meter's rows of input " in capsys.readouterr().out


def forget_contributions(monkeypatch):
    """The rules post a contribution and do not count it."""
    honest = Ledger.post

    def post(self, cause, lines, reference):
        after, posting = honest(self, cause, lines, reference)
        return (self if cause is Cause.CONTRIBUTION else after), posting

    monkeypatch.setattr(Ledger, "post", post)


def pay_twice(monkeypatch):
    """The rules take an award off the meter twice."""
    honest = awards._book

    def book(turn, award):
        honest(turn, award)
        honest(turn, award)

    monkeypatch.setattr(awards, "_book", book)


def split_wrongly(monkeypatch):
    """The rules lose a cent of each split."""
    honest = shares.split

    def split(award, seats, seat_one):
        first, *others = honest(award, seats, seat_one)
        return (replace(first, amount=first.amount - 1), *others)

    monkeypatch.setattr(awards, "split", split)
    monkeypatch.setattr(awards, "sum", lambda amounts: sum(amounts) + 1, raising=False)


@pytest.mark.parametrize(
    ("break_rules", "says"),
    [
        (
            forget_contributions,
            "the ledger's balance of contributions is not the sum of the postings to this account",
        ),
        (pay_twice, "award 1 is booked but was not locked before"),
        (split_wrongly, "the shares of award 1 do not sum to its amount"),
    ],
)
async def test_what_the_rules_did_wrong_is_found(tmp_path, monkeypatch, break_rules, says):
    """The law is the rules' own, so it is broken by breaking them; the record is then one with itself."""
    break_rules(monkeypatch)
    async with table(tmp_path / "t.db", settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD)

    difference = audit(tmp_path / "t.db").difference
    assert difference is not None
    assert says in difference


async def test_a_record_without_a_progressive_has_nothing_to_prove(tmp_path, capsys):
    async with table(tmp_path / "t.db"):
        pass

    assert main(["progressive", "audit", str(tmp_path / "t.db")]) == 0
    assert "0 postings, 0 awards" in capsys.readouterr().out


def test_what_is_not_a_record_is_reported(tmp_path, capsys):
    assert main(["progressive", "audit", str(tmp_path / "no.db")]) == 2
    assert "there is no record at" in capsys.readouterr().err
