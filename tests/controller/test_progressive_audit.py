"""`punto progressive audit`: the books proven by the whole record, and what does not hold found."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from punto.baccarat.progressive import awards, shares
from punto.baccarat.progressive.events import Contribute, EndRound, OpenMeter, SeatWager
from punto.baccarat.progressive.ledger import Cause, Ledger
from punto.baccarat.progressive.shares import Share
from punto.baccarat.progressive.state import Award, AwardState
from punto.baccarat.table import meter_link
from punto.baccarat.table.events import MeterHeard, TableAsked
from punto.commands.cli import main
from punto.controller.journal.audit import MOST_GAMES_AN_HOUR, audit
from punto.runtime import clock
from tests.baccarat.table import linked_floor
from tests.baccarat.table.croupier import settings as table_settings
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


async def pump(record, games, *, seats=(1,), **settings):
    """An authority that a program asks for games in the name of `t1`."""
    own = table_settings(
        game_name="progressive-2", table="meter-1", progressive=linked_floor.linked(1), **settings
    )
    async with table(record, own) as here:
        await here.order(OpenMeter("eve", "bob"))
        for game in range(1, games + 1):
            wagers = tuple(SeatWager(seat, 100) for seat in seats)
            asked = [
                TableAsked("t1", "made up", 2 * game - 1, (Contribute("t1", game, wagers),)),
                TableAsked("t1", "made up", 2 * game, (EndRound("t1", game),)),
            ]
            await here.engine.submit(asked, "table t1")


async def test_games_faster_than_a_table_can_deal_are_found_without_the_tables_record(tmp_path, capsys):
    await pump(tmp_path / "m.db", MOST_GAMES_AN_HOUR + 1)

    assert main(["progressive", "audit", str(tmp_path / "m.db")]) == 1
    said = capsys.readouterr().out
    assert "t1 begins more than 250 games in an hour, which no table can deal" in said
    assert "find out which program asked in their names" in said


async def test_a_game_of_a_time_when_the_clock_was_ahead_counts_in_no_later_hour(tmp_path, monkeypatch):
    begun = datetime(2026, 11, 21, 20, tzinfo=UTC)
    times = iter(begun + timedelta(minutes=each, days=30 if each == 3 else 0) for each in range(100_000))
    monkeypatch.setattr(clock, "now", lambda: next(times))
    await pump(tmp_path / "m.db", MOST_GAMES_AN_HOUR + 50)

    assert main(["progressive", "audit", str(tmp_path / "m.db")]) == 0


@pytest.mark.parametrize(
    ("games", "own"),
    [
        (MOST_GAMES_AN_HOUR, {}),
        (MOST_GAMES_AN_HOUR + 1, {"simulation": True}),
        (MOST_GAMES_AN_HOUR + 1, {"seats_of_wagers": ()}),
    ],
)
async def test_games_that_tables_and_simulations_play_are_not_found(games, own, tmp_path):
    seats = own.pop("seats_of_wagers", (1,))
    await pump(tmp_path / "m.db", games, seats=seats, **own)

    assert main(["progressive", "audit", str(tmp_path / "m.db")]) == 0


async def test_wagers_of_seats_that_no_table_has_are_found_if_an_earlier_version_counted_them(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(meter_link, "objection_to_request", lambda *_: None)
    await pump(tmp_path / "m.db", 1, seats=(98, 99))

    assert main(["progressive", "audit", str(tmp_path / "m.db")]) == 1
    assert "t1 counts wagers that its seats cannot have placed" in capsys.readouterr().out


async def keep(folder, *asking):
    """An authority whose meter is open, and which these tables have asked for a game; returns what it tells `t1`."""
    own = table_settings(game_name="progressive-2", table="meter-1", progressive=linked_floor.linked(2))
    async with table(folder / "m.db", own) as here:
        await here.order(OpenMeter("eve", "bob"))
        for name in asking:
            orders = (Contribute(name, 1, (SeatWager(1, 100),)),)
            await here.engine.submit([TableAsked(name, "made up", 1, orders)], f"table {name}")
        assert here.state.progressive is not None
        return here.state.progressive.books.extract("t1")


async def hear(record, extract):
    """The record of `t1`, which has heard this of its authority."""
    own = table_settings(game_name="progressive-2", table="t1", progressive=linked_floor.linked(2))
    async with table(record, own) as here:
        await here.engine.submit([MeterHeard(True, "", extract)], "meter")


INVENTED = Award(
    id=1,
    rule="two_three_four_diamonds",
    table="t1",
    round=1,
    meter=999_999_900,
    amount=999_999_900,
    seats=(1,),
    shares=(Share(1, 999_999_900),),
    whole_meter=True,
    who="sue",
    state=AwardState.BOOKED,
)


def audit_with(folder, *records):
    linked = [text for name in records for text in ("--linked", str(folder / name))]
    return main(["progressive", "audit", str(folder / "m.db"), *linked])


async def test_a_table_whose_record_is_missing_is_reported_and_one_record_cannot_be_another_tables(
    tmp_path, capsys
):
    """A thief at `t2` gives the auditor no record, or a copy of that of `t1`."""
    await hear(tmp_path / "t1.db", await keep(tmp_path, "t2"))
    await hear(tmp_path / "copy-of-t2.db", None)

    assert audit_with(tmp_path) == 0
    assert audit_with(tmp_path, "t1.db") == 1
    assert "not compared: t2 asked the authority too" in capsys.readouterr().out
    assert audit_with(tmp_path, "t1.db", "copy-of-t2.db") == 2
    assert f"{tmp_path}/t1.db and {tmp_path}/copy-of-t2.db are both records of t1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("invent", "what"),
    [
        (lambda told: told, None),
        (lambda told: replace(told, ledger=told.ledger.replace(last=9, primary=10**15)), "a meter or game"),
        (lambda told: replace(told, awards=(INVENTED,), next_award=2), "award 1 (booked)"),
    ],
    ids=["what the authority told", "another meter", "an award that the authority never made"],
)
async def test_what_a_table_showed_and_paid_by_is_compared_with_the_authoritys_books(
    tmp_path, capsys, invent, what
):
    """Although the table has no entry of it: an award comes into the books of a linked table also with the meter that it hears."""
    await hear(tmp_path / "t1.db", invent(await keep(tmp_path)))

    assert audit_with(tmp_path, "t1.db") == (what is not None)
    told = capsys.readouterr().out
    assert (f"t1 had {what} of dragon that the authority's books never had" in told) is (what is not None)
