"""Several tables on one progressive, whose meter an authority keeps."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.progressive import events as books
from punto.baccarat.progressive.effects import (
    AwardBooked,
    AwardLocked,
    NobodyWonLogged,
    TableForgotten,
    WagersCounted,
)
from punto.baccarat.progressive.settings import LinkedTable
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.progressive.state import Award
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.events import (
    MeterAnswered,
    MeterClaimed,
    MeterHeard,
    Refused,
    ServiceStarted,
    TableAsked,
    TableRefused,
)
from punto.baccarat.table.meter_link import MOST_LATER, older_table
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.table.winners import can_win
from punto.controller.journal.audit import Audited, BooksHad, Compared, compare
from punto.controller.journal.entries import EVENTS
from punto.controller.journal.recovery import Replayed
from tests.baccarat.table.croupier import cards
from tests.baccarat.table.croupier import settings as table_settings
from tests.baccarat.table.linked_floor import AUTHORITY, LinkedFloor, Node, linked

ALL = "2D KC 3D JC 4D KH"  # the whole meter
QUARTER = "2H KC 3H JC 4H KD"  # 25% of the meter
NOTHING = "2S 4C 3C 3D KH"  # no award


def draw(floor: LinkedFloor, table: str, codes: str) -> None:
    floor.do(table, *(f"draw {code}" for code in codes.split()))


@pytest.fixture
def floor():
    made = LinkedFloor(2)
    made.settle()
    return made


def test_wagers_of_all_tables_go_to_one_meter(floor):
    floor.do("t1", "spot 1 2", "start game")
    floor.do("t2", "spot 3", "start game")

    for table in (floor.authority, *floor.tables.values()):
        assert table.progressive.books.ledger.contributions == 3 * 20 * 1_000_000
    assert floor.tables["t1"].step == floor.tables["t2"].step == "playing"
    floor.check()


def test_a_table_that_cannot_reach_its_authority_says_so_and_deals_the_base_game(floor):
    floor.lose("t1")
    floor.tables["t1"].do("spot 1", "start game")
    assert floor.tables["t1"].refusals == ["meter_away"]
    assert "meter_away" in [alarm.code for alarm in floor.tables["t1"].state.alarms]

    floor.tables["t1"].do(*(f"draw {code}" for code in ALL.split()))

    assert floor.tables["t1"].last_round == 1
    assert floor.authority.progressive.books.locked == ()


def test_two_tables_that_win_the_whole_meter_at_once_are_served_one_after_the_other(floor):
    meter = floor.authority.progressive.books.shown
    for table in ("t1", "t2"):
        floor.do(table, "spot 1", "start game")
        draw(floor, table, ALL)
        floor.do(table, "hand 1", "turn jph")
    grown = floor.authority.progressive.books.shown
    for table in ("t1", "t2"):
        floor.tables[table].do("j-pot")
    floor.settle()

    first, second = (each.award for each in floor.authority.entries if isinstance(each, AwardLocked))
    assert (first.table, first.amount) == ("t1", grown)
    assert (second.table, second.amount) == ("t2", meter)  # the seed of the next meter
    for table in ("t2", "t1"):
        floor.do(table, "turn run", "game over")
    assert [each.award.id for each in floor.authority.entries if isinstance(each, AwardBooked)] == [2, 1]
    floor.check()


def test_a_start_that_is_confirmed_after_the_hand_has_begun_is_played_with_the_next_hand(floor):
    table = floor.tables["t1"]
    table.do("spot 1", "start game", "draw 2D")
    (alarm,) = table.state.alarms
    assert alarm.code == "start_not_answered"
    assert alarm.text == (
        "the hand of round 1 began before meter-1 had answered START GAME, so the progressive wagers (seat 1) win nothing with this "
        "hand: they are played with the next one. Tell the players"
    )
    floor.settle()
    assert table.step == "playing"
    for code in ALL.split()[1:]:
        table.do(f"draw {code}")
    assert table.last_round == 1
    assert table.step == "playing"
    assert [each.code for each in table.state.alarms] == ["start_not_answered"]  # and no other one

    draw(floor, "t1", ALL)

    assert table.step == "settling"
    assert table.progressive.procedure.hand.won is not None


def test_a_start_without_wagers_that_is_not_answered_before_the_hand_is_no_alarm(floor):
    table = floor.tables["t1"]
    table.do("start game", "draw 2D")

    assert table.progressive.link.asked is not None
    assert table.state.alarms == ()


def test_while_the_authority_is_away_a_hand_without_start_game_is_not_an_alarm_of_its_own(floor):
    for name in ("t1", "t2"):
        floor.do(name, "spot 1")
    floor.lose("t1")
    for table in floor.tables.values():
        table.do("draw 2D")

    codes = {name: [alarm.code for alarm in table.state.alarms] for name, table in floor.tables.items()}
    assert codes == {"t1": ["meter_away"], "t2": ["game_not_started"]}


def test_a_request_that_comes_twice_or_late_is_carried_out_once(floor):
    floor.do("t1", "spot 1", "start game")
    floor.ask("t1")
    first = TableAsked("t1", "record of t1", 1, ())
    floor.take_ask(first)
    floor.answer("t1")
    assert floor.authority.refusals == []
    floor.settle()
    assert floor.authority.progressive.books.ledger.contributions == 20 * 1_000_000
    floor.check()


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (TableAsked("t1", "another record", 2, ()), "another_record"),
        (TableAsked("t1", "record of t1", 3, ()), "out_of_order"),
        (TableAsked("t9", "record of t9", 1, ()), "unknown_table"),
    ],
)
def test_a_request_that_does_not_follow_the_last_one_is_refused(floor, ask, code):
    floor.do("t1", "spot 1", "start game")
    floor.take_ask(ask)
    assert floor.authority.refusals == [code]


def link_only(floor: LinkedFloor, *tables: str) -> None:
    """Write these tables alone into `tables` of the authority."""
    before = floor.authority.progressive.books.settings
    of = tuple(LinkedTable(name, before.tables[0].game) for name in tables)
    floor.authority.handle(books.ChangeSettings(replace(before, tables=of), "the list", "eve", "bob"))
    assert floor.authority.refusals == []


def test_a_table_that_was_taken_out_of_the_list_and_put_back_is_served(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", NOTHING)
    floor.do("t1", "game over")
    link_only(floor, "t2")
    link_only(floor, "t1", "t2")

    floor.do("t1", "spot 1", "start game")

    assert floor.authority.refusals == []
    assert floor.tables["t1"].step == "playing"
    assert [each.number for each in floor.authority.progressive.served] == [3]
    floor.check()


def list_again(floor: LinkedFloor, table: str = "t1") -> None:
    """Take a table out of the list of its authority, and put it back."""
    link_only(floor, *(each for each in floor.tables if each != table))
    link_only(floor, *floor.tables)


def test_old_requests_of_a_table_that_was_taken_out_of_the_list_and_put_back_move_nothing(floor):
    captured: list[TableAsked] = []
    take = floor.take_ask

    def capture(ask: TableAsked) -> None:
        captured.append(ask)
        take(ask)

    floor.take_ask = capture
    win(floor, "t1", ALL)
    play(floor, "t1")
    floor.authority.do("add 500000")
    list_again(floor)
    before = floor.authority.state

    for ask in captured:
        take(ask)

    assert len(captured) > 4
    assert floor.authority.state is before


def test_a_table_whose_answer_was_lost_is_served_when_it_is_in_the_list_again(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", NOTHING)
    floor.tables["t1"].do("game over")
    floor.ask("t1")
    floor.take_ask(floor.asks.pop())
    list_again(floor)

    floor.settle()
    floor.do("t1", "spot 1", "start game")

    assert floor.tables["t1"].step == "playing"
    assert floor.tables["t1"].refusals == []
    assert floor.tables["t1"].state.alarms == ()


def test_a_forgotten_table_that_was_taken_out_of_the_list_confirms_its_award_when_it_is_back(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    floor.authority.handle(FORGOTTEN)
    list_again(floor)

    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run", "game over", "spot 1", "start game")

    assert states(floor) == ["booked"]
    assert floor.tables["t1"].step == "playing"


def states(floor: LinkedFloor) -> list[str]:
    return [each.state.value for each in floor.authority.progressive.books.awards]


def play(floor: LinkedFloor, table: str, cards: str = NOTHING) -> None:
    floor.do(table, "spot 1", "start game")
    draw(floor, table, cards)
    floor.do(table, "game over")


def win(floor: LinkedFloor, table: str, cards: str) -> None:
    floor.do(table, "spot 1", "start game")
    draw(floor, table, cards)
    floor.do(table, "hand 1", "turn jph", "j-pot", "turn run", "game over")


@pytest.mark.parametrize("before", ["booked", "backed_out"])
def test_an_award_of_a_table_begun_again_is_none_of_the_same_round_of_its_lost_record(floor, before):
    """The round has the same number because the record of the table begins anew."""
    win(floor, "t1", ALL)
    if before == "backed_out":
        floor.authority.do("back out 1")
    for _ in range(3):
        play(floor, "t2")
    floor.authority.do("add 500000")
    floor.replace_record("t1")
    meter = floor.authority.progressive.books.shown

    win(floor, "t1", ALL)

    assert floor.tables["t1"].refusals == []
    assert states(floor) == [before, "booked"]
    first, second = floor.authority.progressive.books.awards
    assert (first.round, second.round) == (1, 1)
    assert second.amount == second.meter == meter + 20  # with the hand's own wager
    assert second.begins
    assert floor.authority.progressive.books.shown == 10_000_00
    if before == "booked":
        assert [each.id for each in floor.authority.progressive.books.extract("t1").awards] == [2]


def test_awards_of_the_games_after_a_backup_are_not_those_that_the_restored_table_wins_now(floor):
    play(floor, "t1")
    backup = len(floor.tables["t1"].inputs)
    for _ in range(2):
        win(floor, "t1", QUARTER)
    floor.replace_record("t1", backup)

    floor.do("t1", "hello")
    for _ in range(2):
        win(floor, "t1", QUARTER)

    assert [(each.round, each.state.value) for each in floor.authority.progressive.books.awards] == [
        (2, "booked"),
        (3, "booked"),
    ] * 2
    assert floor.tables["t1"].refusals == []
    assert floor.tables["t1"].state.alarms == ()


def test_an_award_is_known_again_in_the_round_in_which_its_lost_table_comes_back(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", QUARTER)
    backup = len(floor.tables["t1"].inputs)
    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run")
    floor.replace_record("t1", backup)

    floor.do("t1", "hello", "hand 1", "turn jph", "j-pot")

    assert states(floor) == ["booked"]
    (alarm,) = (each for each in floor.tables["t1"].state.alarms if each.code == "meter_refused")
    assert "is already confirmed" in alarm.text


def test_a_table_is_older_than_its_authority_if_a_later_request_was_answered(floor):
    settings = floor.authority.progressive.books.settings

    assert older_table(settings, "t1", 7, 7) is None
    assert older_table(settings, "t1", 6, 7) == (
        "meter-1 has answered request 7 of t1, but the record of t1 ends with request 6. If the record of t1 was restored from a "
        'backup, order "Begin again with a table" for t1 at the Game Manager of the authority'
    )


FORGOTTEN = books.ForgetTable("t1", "the disk failed", "eve", "bob")


def ask_of(floor: LinkedFloor, number: int, *orders: Any) -> TableAsked:
    """A request of `t1` from its new record."""
    return TableAsked("t1", "the new record", number, orders)


START = books.Contribute("t1", 1, (books.SeatWager(1, 100),))


@pytest.mark.parametrize(
    "order", [books.Retire("the end", "eve", "bob"), "settings"], ids=["retire", "settings"]
)
def test_a_game_of_a_lost_table_holds_up_neither_its_next_game_nor_the_meter(floor, order):
    floor.do("t1", "spot 1", "start game")
    meter = floor.authority.progressive.books.ledger
    floor.authority.handle(FORGOTTEN)

    assert floor.authority.progressive.books.ledger == meter
    floor.take_ask(ask_of(floor, 1, START))
    assert floor.authority.refusals == []
    assert floor.authority.progressive.books.ledger.contributions == 2 * 20 * 1_000_000
    floor.authority.handle(FORGOTTEN)
    if order == "settings":
        link_only(floor, "t2")
    else:
        floor.authority.handle(order)
        assert floor.authority.refusals == []
    ended = [each for each in floor.authority.entries if isinstance(each, TableForgotten)]
    assert ended == [TableForgotten("t1", 1, "the disk failed", "eve", "bob")] * 2


def test_a_logged_award_of_a_lost_table_is_booked(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    floor.do("t1", "hand 1", "turn jph", "j-pot")
    floor.authority.handle(FORGOTTEN)

    (award,) = floor.authority.progressive.books.awards
    assert award.state.value == "booked"
    floor.do("t1", "turn run", "game over")  # it was not lost after all
    assert floor.authority.refusals == []
    assert [each.refused for each in floor.authority.progressive.served] == [None]
    assert floor.tables["t1"].step == "betting"


def test_a_logged_award_of_another_table_than_the_lost_one_stays_open(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    floor.do("t1", "hand 1", "turn jph", "j-pot")
    floor.authority.handle(replace(FORGOTTEN, table="t2"))

    (award,) = floor.authority.progressive.books.locked
    assert award.table == "t1"
    # A table of which the books know no game is forgotten with its round 0.
    assert floor.authority.entries[-1] == TableForgotten("t2", 0, "the disk failed", "eve", "bob")


def test_a_table_that_comes_back_in_its_game_confirms_its_award(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    floor.authority.handle(FORGOTTEN)
    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run", "game over", "spot 1", "start game")

    assert [each.state.value for each in floor.authority.progressive.books.awards] == ["booked"]
    assert floor.tables["t1"].step == "playing"
    floor.check()


def test_a_restored_table_ends_a_game_that_its_authority_has_not(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", NOTHING)
    floor.do("t1", "game over", "spot 1", "start game")
    floor.authority.handle(FORGOTTEN)

    floor.take_ask(ask_of(floor, 3, books.EndRound("t1", 1)))
    floor.take_ask(ask_of(floor, 4, replace(START, round=2)))

    assert [each.refused for each in floor.authority.progressive.served] == [None]


def test_a_table_that_comes_back_in_another_won_game_ends_it_without_an_award(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    backup = len(floor.tables["t1"].inputs)
    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run", "game over", "spot 1", "start game")
    awards = floor.authority.progressive.books.awards
    floor.replace_record("t1", backup)
    floor.do("t1", "hello", "hand 1", "turn jph", "j-pot")
    assert floor.authority.progressive.books.awards == awards, "nobody is paid a second time"

    floor.do("t1", "hand 1", "nobody", "turn run", "game over", "spot 1", "start game")
    assert floor.tables["t1"].step == "playing"
    denied = [each for each in floor.authority.entries if isinstance(each, NobodyWonLogged)]
    assert [(each.table, each.round, each.seats) for each in denied] == [("t1", 1, (1,))]


def test_a_table_ends_a_game_of_which_its_restored_authority_has_none(floor):
    floor.do("t1", "spot 1", "start game")
    floor.authority = Node(AUTHORITY, floor.authority.progressive.books.settings)
    floor.authority.do("meter")
    floor.authority.handle(FORGOTTEN)
    floor.settle()
    draw(floor, "t1", NOTHING)
    floor.do("t1", "game over", "spot 1", "start game")
    assert floor.tables["t1"].step == "playing"


@pytest.mark.parametrize(
    ("order", "code"),
    [
        (replace(FORGOTTEN, table="t9"), "unknown_table"),
        (replace(FORGOTTEN, reason=" "), "no_reason"),
        (replace(FORGOTTEN, approved_by=None), "needs_approval"),
        (replace(FORGOTTEN, approved_by="eve"), "needs_approval"),
    ],
)
def test_only_two_people_with_a_reason_forget_a_linked_table(floor, order, code):
    before = floor.authority.state
    floor.authority.handle(order)
    assert floor.authority.refusals == [code]
    assert floor.authority.state is before


def test_a_table_without_linked_tables_forgets_none(floor):
    floor.tables["t1"].handle(FORGOTTEN)
    assert floor.tables["t1"].refusals == ["kept_elsewhere"]


SUPERVISOR = books.Confirmation("nobody at all", "key", "executive")
WHOLE = books.Won("two_three_four_diamonds", (1,), player=cards("2D 3D 4D"), banker=cards("KC JC KH"))


@pytest.mark.parametrize(
    "orders",
    [
        *(
            (books.Contribute("t1", 2, (books.SeatWager(seat, stake),)),)
            for seat, stake in ((1, 5_000_000_000), (1, 99), (-1, 100), (100, 100))
        ),
        *(
            (books.LockAward("t1", 1, won, SUPERVISOR), books.BookAward("t1"))
            for won in (
                replace(WHOLE, player=(), banker=()),
                replace(WHOLE, player=cards("2D 3D 4H")),
                replace(WHOLE, player=cards("2D 3D"), banker=cards("KC JC KH 4D")),
                replace(WHOLE, player=cards("2D 3D 4D 4D")),
                replace(WHOLE, rule="two_three_four_hearts"),
            )
        ),
        (books.DenyAward("t1", 1, replace(WHOLE, player=()), "a reason", None, SUPERVISOR),),
        # the end of a game and the next ones, in one request
        (books.EndRound("t1", 1), books.Contribute("t1", 2, (books.SeatWager(1, 100),))),
        (books.ReopenRound("t1", 1), books.EndRound("t1", 1)),
        (books.LockAward("t1", 1, WHOLE, SUPERVISOR), books.BookAward("t1"), books.EndRound("t1", 1)),
    ],
)
def test_what_no_honest_table_can_ask_moves_no_money_and_is_not_counted(floor, orders):
    floor.do("t1", "spot 1", "start game")
    before = floor.authority.state

    floor.take_ask(TableAsked("t1", "record of t1", 2, orders))

    assert floor.authority.refusals == ["not_possible"]
    assert floor.authority.state is before


def test_the_cards_of_an_award_are_those_that_win_it(floor):
    settings = floor.authority.progressive.books.settings

    assert can_win(settings, WHOLE)
    floor.do("t1", "spot 1", "start game")
    floor.take_ask(TableAsked("t1", "record of t1", 2, (books.LockAward("t1", 1, WHOLE, SUPERVISOR),)))
    assert floor.authority.refusals == []


def confirmed(
    by: books.ConfirmedBy, level: books.CardLevel | None = None, confirmed_by: str | None = None
) -> books.Confirmation:
    return books.Confirmation("mallory", by, level, confirmed_by)


@pytest.mark.parametrize("order", ["lock", "deny"])
@pytest.mark.parametrize(
    ("procedure", "confirmation", "code"),
    [
        ("aquarius", confirmed("dealer"), "supervisor_needed"),
        ("aquarius", confirmed("card", "executive", "bob"), "no_key"),
        ("nexus", confirmed("dealer"), "supervisor_needed"),
        ("nexus", confirmed("key", "executive", "bob"), "no_card"),
        ("nexus", confirmed("card", None, "bob"), "no_card"),
        ("nexus", confirmed("card", "executive"), "not_confirmed"),
        ("nexus", confirmed("signature", "supervisor", "bob"), "executive_needed"),
        ("nexus", confirmed("signature", "executive", "mallory"), "second_person_needed"),
    ],
)
def test_the_authority_asks_again_who_confirmed_an_award(procedure, confirmation, code, order):
    executive_from = 1000_00 if procedure == "nexus" else None
    floor = LinkedFloor(1, {"procedure": procedure, "executive_from": executive_from})
    floor.settle()
    floor.do("t1", "spot 1", "start game")
    before = floor.authority.progressive.books
    asked = (
        books.LockAward("t1", 1, WHOLE, confirmation)
        if order == "lock"
        else books.DenyAward("t1", 1, WHOLE, "a reason", "bob", confirmation)
    )

    floor.take_ask(TableAsked("t1", "record of t1", 2, (asked,)))

    assert floor.authority.progressive.books == before
    (served,) = floor.authority.progressive.served
    assert (served.number, served.refused and served.refused.code) == (2, code)
    assert refused_at(floor.authority) == (code not in {"executive_needed", "second_person_needed"})


@pytest.mark.parametrize("approved_by", [None, "mallory"])
def test_the_authority_asks_again_who_approved_a_reopened_game(floor, approved_by):
    floor.do("t1", "spot 1", "start game")
    floor.take_ask(TableAsked("t1", "record of t1", 2, (books.EndRound("t1", 1),)))
    before = floor.authority.progressive.books
    by = books.ReopenedBy("mallory", "a reason", approved_by)

    floor.take_ask(TableAsked("t1", "record of t1", 3, (books.ReopenRound("t1", 1, by),)))

    assert floor.authority.progressive.books == before
    (served,) = floor.authority.progressive.served
    assert (served.number, served.refused and served.refused.code) == (3, "needs_approval")
    assert refused_at(floor.authority)


def refused_at(authority: Node) -> bool:
    """Whether the authority has an alarm for what no table asks: by the procedure there, a table knows all but the amount."""
    return [(alarm.code, alarm.text) for alarm in authority.state.alarms] == [
        ("table_refused", "t1 confirms an award, or reopens a game, without the people that this needs")
    ]


def false_award(changes):
    """An award of the books of `t1` with some other values."""
    award = Award(
        **{
            "id": 1,
            "table": "t1",
            "round": 1,
            "rule": WHOLE.rule,
            "seats": (1,),
            "amount": 100,
            "meter": 100,
            "shares": (),
            "whole_meter": False,
            "who": "x",
            **changes,
        }
    )
    return lambda extract: replace(extract, awards=(award,))


@pytest.mark.parametrize(
    ("entries", "change"),
    [
        ((WagersCounted("t1", 10**30, ()),), None),
        ((WagersCounted("t1", 1, (books.SeatWager(2, 100),)),), None),
        ((WagersCounted("t2", 1, (books.SeatWager(1, 100),)),), None),
        ((), {"rule": "nonsense"}),
        ((), {"seats": (-1,)}),
        ((), {"amount": 10**15}),
    ],
)
def test_what_no_authority_can_answer_completes_nothing(floor, entries, change):
    table = floor.tables["t1"]
    table.do("spot 1", "start game")
    extract = floor.authority.progressive.books.extract("t1")
    extract = extract if change is None else false_award(change)(extract)
    before = table.state

    table.handle(MeterAnswered(1, entries, None, extract))

    assert table.state is before
    floor.settle()
    assert table.step == "playing"


def test_an_audit_finds_what_the_authority_did_in_the_name_of_a_table(floor):
    floor.do("t1", "spot 1", "start game")
    floor.do("t2", "spot 2", "start game")
    books, part = Audited(Replayed(), table="meter-1"), Audited(Replayed(), table="t1")
    part.shared["dragon"] = list(enumerate(floor.tables["t1"].entries))
    books.shared["dragon"] = list(enumerate(floor.authority.entries))
    assert part.shared["dragon"]
    assert compare(books, part).difference is None

    last = part.shared["dragon"].pop()
    assert compare(books, part).difference is None  # one request may wait for its answer

    part.shared["dragon"].clear()
    assert "has carried out 2 requests of t1" in (compare(books, part).difference or "")
    del part.shared["dragon"]
    assert "has carried out 2 requests of t1" in (compare(books, part).difference or "")
    assert last


def audited(floor: LinkedFloor, table: str = "t1") -> tuple[Audited, Audited]:
    """What an audit finds on the records of the authority and of a table."""
    return of_record(floor.authority, "meter-1"), of_record(floor.tables[table], table)


def of_record(node: Node, name: str) -> Audited:
    found, had, again = Audited(Replayed(), table=name), BooksHad(), Table.new(node.settings)
    assert again.state.progressive is not None
    had.see(0, again.state.progressive.books)
    for seq, each in enumerate(node.inputs, 1):
        with suppress(RefusedError):
            effects = again.handle(EVENTS.validate_json(each, strict=True))
            found.shared.setdefault("dragon", []).extend(
                (seq, effect.entry) for effect in effects if isinstance(effect, MeterMoved)
            )
        assert again.state.progressive is not None
        had.see(seq, again.state.progressive.books)
    found.had["dragon"] = had
    return found


@pytest.mark.parametrize("later", [0, 2])
def test_an_audit_names_what_a_restored_authority_has_lost_and_compares_the_time_since(floor, later):
    play(floor, "t1")
    backup = len(floor.authority.inputs)
    for table in ("t1", "t1", "t2"):
        play(floor, table)
    lost, floor.authority = floor.authority, Node(AUTHORITY, floor.authority.progressive.books.settings)
    for each in lost.inputs[:backup]:
        floor.authority.handle(EVENTS.validate_json(each, strict=True))
    for table in floor.tables:
        floor.authority.handle(replace(FORGOTTEN, table=table))
    floor.settle()
    for _ in range(later):
        play(floor, "t1")
    books, part = audited(floor)
    assert compare(books, part) == Compared(None, lost=4)

    invented = WagersCounted("t1", 99, ())
    books, part = audited(floor)
    part.shared["dragon"][1] = part.shared["dragon"][1][0], invented
    assert compare(books, part).difference is not None, "the time before the backup is compared"
    if later:
        books, part = audited(floor)
        part.shared["dragon"][-3] = part.shared["dragon"][-3][0], invented
        assert compare(books, part).difference is not None


@pytest.mark.parametrize("backup_after", [None, 1, 4])
def test_an_audit_of_a_table_begun_again_compares_what_its_record_has(floor, backup_after):
    """A new record has nothing of the time before, and a restored one so much as the backup, whatever came after it."""
    backup = 0
    for number in range(1, 5):
        play(floor, "t1")
        if number == backup_after:
            backup = len(floor.tables["t1"].inputs)
    floor.replace_record("t1", backup)
    floor.do("t1", "hello")
    for _ in range(2):
        play(floor, "t1")
    floor.authority.handle(FORGOTTEN)  # and again, while nothing was wrong
    play(floor, "t1")
    books, part = audited(floor)

    assert compare(books, part).difference is None
    number, last = part.shared["dragon"].pop()
    assert compare(books, part).difference is None  # one request may wait for its answer
    part.shared["dragon"].append((number, WagersCounted("t1", 9, ())))
    assert "differs from the authority's" in (compare(books, part).difference or "")
    part.shared["dragon"] = [*part.shared["dragon"][1:-1], (number, last)]
    assert compare(books, part).difference is not None


def test_what_waits_for_an_answer_is_reported_and_reports_are_kept(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    table = floor.tables["t1"]
    table.do("hand 1", "turn jph", "j-pot")
    table.do("j-pot")
    assert table.refusals == ["meter_asked"]
    table.do("turn run")  # the key is where it is: the table follows when the award is logged
    assert table.step == "settling"
    assert table.state.award_waits

    floor.settle()

    assert table.step == "adjusted"
    assert floor.authority.progressive.books.locked == ()
    assert not table.state.award_waits


def test_no_more_reports_wait_than_a_table_keeps(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    table = floor.tables["t1"]
    table.do("hand 1", "turn jph", "j-pot")
    table.do(*["turn run", "turn jph"] * (MOST_LATER // 2), "turn run")

    assert table.refusals == ["meter_asked"]
    assert table.progressive.link is not None
    assert len(table.progressive.link.later) == MOST_LATER
    floor.settle()
    assert table.step == "adjusted"


def test_what_the_authority_refuses_changes_nothing_and_is_an_alarm(floor):
    table = floor.tables["t1"]
    table.do("spot 1", "start game")
    floor.authority.do("retire")
    floor.settle()

    assert table.step == "betting"
    (alarm,) = table.state.alarms
    assert alarm.code == "meter_refused"
    assert "retired" in alarm.text


def test_an_award_that_the_authority_refuses_stays_open_and_is_an_alarm(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    table = floor.tables["t1"]
    table.do("hand 1", "turn jph", "j-pot")
    asked = floor.authority.progressive.books.extract("t1")
    table.handle(MeterAnswered(2, (), Refused("other_version", "it does not know this order"), asked))

    assert table.step == "settling"
    assert [(each.code, each.text) for each in table.state.alarms] == [
        ("meter_refused", "meter-1 refused jpot: it does not know this order")
    ]
    assert table.progressive.books.locked == ()


def test_latched_wagers_of_a_refused_start_do_not_count_until_they_are_placed_again(floor):
    table = floor.tables["t1"]
    table.do("spot 1", "start game 1")
    floor.authority.handle(MeterClaimed("t7 0123"))
    floor.settle()
    floor.authority.handle(MeterClaimed(None))

    floor.do("t1", "start game")
    assert (table.step, table.progressive.books.ledger.contributions) == ("playing", 0)


def test_a_wager_that_is_placed_while_a_start_is_asked_for_does_not_count(floor):
    table = floor.tables["t1"]
    table.do("spot 1", "spot 2", "start game", "lift 2", "spot 3")
    assert table.refusals == ["after_start"]

    floor.settle()
    assert table.progressive.books.ledger.contributions == 2 * 20 * 1_000_000  # seat 2's was counted before


def test_a_wager_that_is_placed_while_an_award_is_asked_for_is_refused_as_in_any_game(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    table = floor.tables["t1"]
    table.do("hand 1", "turn jph", "j-pot", "spot 2")
    assert table.refusals == ["after_start"]


def test_a_report_that_is_refused_when_its_turn_comes_is_an_alarm():
    floor = LinkedFloor(1, {"procedure": "nexus"})
    floor.settle()
    table = floor.tables["t1"]
    table.do("spot 1", "start game", "turn jph")  # a key switch belongs to the other procedure
    assert not table.state.alarms

    floor.settle()
    assert [alarm.code for alarm in table.state.alarms] == ["meter_refused"]
    assert table.step == "playing"


def test_an_authority_that_stays_away_is_one_alarm(floor):
    for reason in ("the connection was lost", "the connection was lost", "it was stopped"):
        floor.tables["t1"].handle(MeterHeard(False, reason))
    assert [alarm.times for alarm in floor.tables["t1"].state.alarms] == [2]


def test_an_award_that_is_backed_out_at_the_authority_is_open_again_at_its_table(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run")
    floor.authority.do("back out 1")
    floor.settle()

    assert floor.tables["t1"].step == "settling"
    floor.check()


def test_an_award_that_does_not_fit_cards_corrected_after_the_game_is_an_alarm(floor):
    floor.do("t1", "spot 1", "start game")
    draw(floor, "t1", ALL)
    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run", "game over")
    floor.do("t1", "correct round 2H 3H 4H over KC JC KD")

    assert floor.tables["t1"].step == "settling"
    assert "award_astray" in [alarm.code for alarm in floor.tables["t1"].state.alarms]
    floor.check()


def test_orders_for_the_meter_are_given_at_the_authority(floor):
    floor.tables["t1"].do("add 500", "meter", "retire")
    assert floor.tables["t1"].refusals == ["kept_elsewhere"] * 3


def test_an_answer_that_nobody_waits_for_is_refused(floor):
    extract = floor.authority.progressive.books.extract("t1")
    with pytest.raises(RefusedError, match="no request 7 waits"):
        floor.tables["t1"].table.handle(MeterAnswered(7, (), None, extract))


def test_a_table_without_an_authority_refuses_what_only_links_say():
    alone = Node("t1", linked(1, authority=None))
    for event, code in (
        (MeterHeard(True, ""), "not_linked"),
        (TableAsked("t1", "", 1, ()), "not_authority"),
    ):
        alone.handle(event)
        assert alone.refusals[-1] == code


def test_an_authority_is_not_one_of_its_tables():
    progressive = linked(2, authority="t1")
    with pytest.raises(ValueError, match="remove it from tables"):
        table_settings(game_name="progressive-2", table="t1", progressive=progressive)


def test_no_game_is_started_while_another_service_keeps_the_meter_too(floor):
    floor.authority.handle(MeterClaimed("t7 0123"))
    floor.do("t1", "spot 1", "start game")
    assert floor.tables["t1"].step == "betting"
    assert [alarm.code for alarm in floor.authority.state.alarms] == ["second_meter"]
    assert [alarm.code for alarm in floor.tables["t1"].state.alarms] == ["meter_refused"]

    floor.authority.handle(MeterClaimed(None))
    floor.do("t1", "start game")
    assert floor.tables["t1"].step == "playing"
    assert floor.authority.state.alarms == ()


def test_a_table_that_keeps_its_own_meter_starts_no_game_beside_another_meter():
    alone = Node("t1", linked(1, authority=None))
    alone.do("meter", "hello", "sign on", "change shoe", "open", "spot 1")
    alone.handle(MeterClaimed("t7 0123"))
    alone.do("start game")
    assert alone.refusals == ["second_meter"]


def start_of(table: Node, progressive: ProgressiveSettings | None) -> ServiceStarted:
    return ServiceStarted("0.1.0", replace(table.settings, progressive=progressive))


def test_a_table_that_is_not_served_is_an_alarm_at_the_authority_alone(floor):
    refused = TableRefused("t9", "t9 plays in EUR")
    floor.authority.handle(refused)
    (alarm,) = floor.authority.state.alarms
    assert (alarm.code, alarm.text) == ("table_refused", "t9 is not served: t9 plays in EUR")

    floor.tables["t1"].handle(refused)
    assert floor.tables["t1"].refusals == ["not_authority"]


@pytest.mark.parametrize("how_many", [2, 3])  # which tables are linked is the authority's to say
def test_a_start_goes_on_with_the_link(floor, how_many):
    table = floor.tables["t1"]
    games = [table.progressive.game]
    table.do("spot 1", "start game")
    games.append(table.progressive.game)
    floor.settle()
    table.do("draw 2D", "void", "close table")
    before = table.progressive
    table.handle(start_of(table, linked(how_many)))
    assert table.refusals == []
    assert before.link is not None
    silent = replace(before.link, online=False, reason="the service has just started")
    assert table.progressive == replace(before, link=silent)
    assert [*games, before.game] == [None, 1, 1]


@pytest.mark.parametrize("progressive", [None, linked(2, authority="meter-2"), linked(2, authority=None)])
def test_a_table_is_linked_otherwise_only_between_games(floor, progressive):
    table = floor.tables["t1"]
    floor.do("t1", "spot 1", "start game")
    table.do("draw 2D", "void", "close table")
    table.handle(start_of(table, progressive))
    assert table.refusals[-1] == "in_game"

    table.do("open")
    draw(floor, "t1", ALL)
    floor.do("t1", "hand 1", "turn jph", "j-pot", "turn run", "game over", "close table")
    table.handle(start_of(table, progressive))
    assert table.refusals == ["in_game"]
    assert (table.state.progressive is None) is (progressive is None)


@pytest.mark.parametrize(("name", "authority"), [("t1", None), (AUTHORITY, AUTHORITY)])
def test_a_record_and_its_meter_never_change_their_currency(name, authority):
    keeper = Node(name, linked(1, authority=authority))
    in_yen = ServiceStarted("0.1.0", replace(keeper.settings, currency="JPY"))
    keeper.table.handle(ServiceStarted("0.1.0", keeper.settings))
    keeper.do("meter", "retire")
    says = "all amounts on this record are in USD, but the configuration is in JPY: use a separate record for JPY"
    with pytest.raises(RefusedError, match=says) as refusal:
        keeper.table.handle(in_yen)
    assert refusal.value.code == "currency_differs"
    assert keeper.state.settings.currency == "USD"
