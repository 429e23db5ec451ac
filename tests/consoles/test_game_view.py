"""What a console shows of a progressive's game: at every step what to do, whose hand won, and what may be pressed."""

import json
from typing import Any

import pytest

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.possible import Trials
from punto.baccarat.table.state import TableState
from punto.consoles.game_view import GameView, game_view
from punto.consoles.view import prompt_of, view_of
from punto.controller.accounts.roles import Role
from punto.controller.orders.doors import Equipment, Peer
from tests.baccarat.table.croupier import Croupier
from tests.baccarat.table.linked_floor import LinkedFloor
from tests.consoles.test_view import NOW

SUITED = "draw 2H KC 3H JC 4H KD"  # 9 over 0 with 2-3-4 of hearts: 25% of the meter
NOTHING_WON = "draw 4H KC 3H JC KD 6D"
NEXUS = {"procedure": "nexus"}
UNSEEN = {"base_wagers": "unseen"}
WAGERS = ("wager 2 player 500", "wager 5 player 500", "spot 2 5")
WON = (*WAGERS, "start game", SUITED)
JACKPOT = ("draw 2D", "draw KC", "draw 3D", "draw JC", "draw 4D", "draw KH")  # all of the meter
TO_JPH = (*WON, "hand 2", "hand 5", "turn jph")
FORTY = (*WAGERS, "start game", "draw 2H KC 2D JC 5H KD")  # 40 for 1, from the tray
ALONE = {"supervisor_from": 10_000}  # the dealer alone
AWARD_25 = "25% of the meter"
IF_NONE_DID = f"{AWARD_25}: press the hand button of each of seats 2 and 5 whose Player or Banker wager won. If no such wager won, "


def croupier(*commands: str, **meter: Any) -> Croupier:
    """Someone at a table with betting open and a meter in service, who then does this."""
    return Croupier.at_betting("meter", *commands, game_name="progressive-2", meter=meter)


def possible(state: TableState) -> set[str]:
    """The orders of the progressive that somebody can give now."""
    return {
        kind
        for kind, refused in Trials(state).refusals.items()
        if refused is None and CATALOGUE[kind].group in {"game", "award", "meter"}
    }


def shown(at: Croupier, equipment: Equipment | None = None) -> GameView:
    trials = Trials(at.state)
    found = game_view(trials, equipment or Equipment(), trials.refusals)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("commands", "meter", "code", "text"),
    [
        ((), {}, "start_game", "Touch each seat that has a progressive wager, then press START GAME"),
        (("sensors there",), {}, "start_game", "Press START GAME once the progressive wagers lie on their sensors"),
        (("draw KS",), {}, "wait", "a card of this hand has already been dealt, so the progressive wagers are too late: "),
        (("start game",), {}, "deal", "No progressive wager is in this game: deal the hand"),
        ((*WAGERS, "start game"), {}, "deal", "The wagers are counted: take them, and deal the hand"),
        ((*WAGERS, "start game", NOTHING_WON), {}, "end", "The hand won no award: press GAME OVER"),
        ((*WAGERS, "start game", NOTHING_WON), NEXUS, "end", "The hand won no award: press END GAME"),
        (WON, {}, "hand_buttons", f"{AWARD_25}: press the hand button of seats 2 and 5"),
        ((*WON, "hand 2"), {}, "hand_buttons", f"{AWARD_25}: press the hand button of seats 2 and 5"),
        (WON, UNSEEN, "hand_buttons", IF_NONE_DID + "call a supervisor, who turns the key to JPH and confirms NOBODY WON"),
        (WON, {**UNSEEN, **NEXUS}, "hand_buttons", IF_NONE_DID + "call a supervisor, who confirms NOBODY WON and swipes a card or signs"),
        ((*WON, "turn jph", "nobody"), UNSEEN, "key_to_run", "NOBODY WON is logged: turn the key to RUN"),
        ((*WON, "turn jph", "nobody", "turn run"), UNSEEN, "end", "Nothing is left to pay: press GAME OVER"),
        ((*WON, "nobody"), {**UNSEEN, **NEXUS}, "swipe_card", "NOBODY WON is confirmed: swipe a Supervisor card to complete it, or sign"),
        ((*WON, "nobody"), {**UNSEEN, **NEXUS, "executive_from": 1}, "swipe_card", "NOBODY WON is confirmed: swipe an Executive card to complete it, or sign"),
        ((*FORTY, "hand 2", "hand 5"), {}, "key_to_jph", "Call a supervisor"),
        ((*FORTY, "hand 2", "hand 5"), ALONE, "jpot", "40 for 1 from the tray: press J-POT"),
        ((*FORTY, "hand 2", "hand 5"), {**NEXUS, **ALONE}, "confirm", "40 for 1 from the tray: press CONFIRM"),
        ((*FORTY, "hand 2", "hand 5", "turn jph", "j-pot"), {}, "key_to_run", "The award is logged: turn the key to RUN"),
        ((*FORTY, "hand 2", "hand 5", "j-pot"), ALONE, "pay", "Pay seats 2 and 5 from the tray, in this order; then press GAME OVER"),
        ((*WON, "hand 2", "hand 5"), {}, "key_to_jph", "Call a supervisor, who verifies the hand, turns the key to JPH"),
        ((*WON, "hand 5"), UNSEEN, "key_to_jph", "Call a supervisor"),
        (TO_JPH, {}, "jpot", "The key is at JPH: the supervisor presses J-POT"),
        ((*TO_JPH, "j-pot"), {}, "key_to_run", "The award is logged: turn the key to RUN, which takes the award off the meter"),
        ((*TO_JPH, "j-pot", "turn run"), {}, "pay", "Pay seats 2 and 5, in this order; then press GAME OVER"),
        ((*TO_JPH, "j-pot", "turn run"), {"seat_one": "left"}, "pay", "Pay seats 5 and 2, in this order; then press GAME OVER"),
        ((*TO_JPH, "j-pot", "turn run", "back out 1"), {}, "hand_buttons", f"{AWARD_25}: press the hand button of seats 2 and 5"),
        ((*TO_JPH, "j-pot", "turn run", "turn jph"), {}, "key_to_run", "The key is at JPH: turn the key to RUN"),
        ((*WON, "hand 2", "hand 5"), NEXUS, "confirm", "Call a supervisor, who verifies the hand and presses CONFIRM"),
        ((*WON, "hand 2", "hand 5", "confirm"), NEXUS, "swipe_card", "The award is confirmed: swipe a Supervisor card"),
        ((*WON, "hand 2", "hand 5", "confirm"), {**NEXUS, "executive_from": 250_010}, "swipe_card", "The award is confirmed: swipe an Executive card"),
        ((*WON, "hand 2", "hand 5", "confirm", "swipe"), NEXUS, "pay", "Pay seats 2 and 5, in this order; then press END GAME"),
    ],
)  # fmt: skip
def test_at_every_step_it_says_what_to_do_and_no_more(commands, meter, code, text):
    todo = shown(croupier(*commands, **meter)).todo

    assert (todo.code, todo.text[: len(text)]) == (code, text)


def test_an_older_keypads_key_is_called_what_is_written_on_it():
    view = shown(croupier(), Equipment(start_label="COIN IN"))

    assert view.start_label == "COIN IN"
    assert view.todo.text.endswith("then press COIN IN")


def test_before_the_meter_is_in_service_it_says_so_and_there_is_nothing_to_start():
    at = Croupier.at_betting(game_name="progressive-2", meter={})

    assert shown(at).todo.text == "the progressive dragon is not in service: open its meter first"
    assert possible(at.state) == {"open_meter", "wager_placed", "wager_lifted", "turn_key"}


def test_a_table_without_a_progressive_shows_none():
    at = Croupier.at_betting()

    assert game_view(Trials(at.state), Equipment(), {}) is None
    assert possible(at.state) == frozenset()


def test_sensors_that_are_away_let_no_game_be_started():
    at = croupier("sensors there", "spot 2", "sensors lost")
    view = shown(at)

    assert view.sensors == "offline"
    assert view.orders["start_game"] == view.todo.text
    assert "do not answer" in view.todo.text
    assert "start_game" not in possible(at.state)


def seats(view: GameView, what: str) -> list[int]:
    return [each.seat for each in view.seats if getattr(each, what)]


def test_coins_that_are_not_in_a_game_are_shown_until_they_go():
    at = croupier("wager 2 player 500", "sensors there", "spot 2 5", "annul 5")
    assert (seats(shown(at), "lit"), seats(shown(at), "spent")) == ([2], [5])
    at.do("start game 2")
    assert (seats(shown(at), "lit"), seats(shown(at), "spent")) == ([2], [5])
    at.do(NOTHING_WON, "game over")
    assert (seats(shown(at), "lit"), seats(shown(at), "spent")) == ([], [2, 5])
    at.do("lift 2 5")
    assert (seats(shown(at), "lit"), seats(shown(at), "spent")) == ([], [])


def test_the_dealer_gives_back_what_is_left_out_of_the_game():
    at = croupier("wager 2 player 500", "wager 5 tie 500", "sensors there", "spot 2 5", "start game 2 5")

    assert (seats(shown(at), "lit"), seats(shown(at), "spent")) == ([2], [5])
    assert shown(at).todo.text == (
        "Return the wagers at seat 5: they are not in a game. The wagers are counted: take them, and deal the hand"
    )


@pytest.mark.parametrize(
    ("meter", "before", "after"),
    [
        (
            {},
            "Check that seats 2 and 5 each have a wager on Player or Banker, then press START GAME",
            (
                "The wagers are counted: check that seats 2 and 5 each have a wager on Player or Banker, take them, and deal the "
                "hand"
            ),
        ),
        (
            {"one_side_only": True, "wager_stays": False},
            "Check that seats 2 and 5 each have a wager on Player or Banker, not on both, then press START GAME",
            (
                "The wagers are counted: check that seats 2 and 5 each have a wager on Player or Banker, not on both, take them, "
                "and deal the hand"
            ),
        ),
    ],
    ids=["any", "one side only"],
)
def test_where_base_wagers_are_unseen_the_page_names_the_seats_to_look_at(meter, before, after):
    at = croupier("sensors there", "spot 2 5", base_wagers="unseen", **meter)

    assert shown(at).todo.text == before
    assert shown(at.do("start game 2 5")).todo.text == after


def test_what_was_laid_for_the_next_game_is_lit_while_the_last_one_is_open_again():
    at = croupier("wager 2 player 500", "sensors there", "spot 2", "start game 2", "draw 2H KC 3H JC 5D KD")
    at.do("game over", "spot 5")
    at.do("correct round 2H 3H 4H over KC JC KD")
    open_again = shown(at)

    assert open_again.step == "settling"
    assert (seats(open_again, "lit"), seats(open_again, "wagered")) == ([2, 5], [2])


def test_the_seats_say_what_lies_there_what_counts_what_came_late_and_who_won():
    at = croupier("wager 2 player 500", "wager 5 banker 500", "spot 2 5 7", "lift 7")
    before = shown(at)
    assert (seats(before, "lit"), seats(before, "wagered")) == ([2, 5], [])
    assert seats(before, "refused") == []

    started = shown(at.do("start game"), Equipment(late=lambda: (6,)))
    assert (seats(started, "lit"), seats(started, "wagered"), seats(started, "late")) == ([2, 5], [2, 5], [6])
    assert started.seats[1].refused == "the hand is not over: finish dealing the hand before this order"

    settling = shown(at.do("lift 2", SUITED))
    assert (seats(settling, "wagered"), seats(settling, "won"), seats(settling, "selected")) == (
        [2, 5],
        [2],
        [],
    )
    assert [each.refused for each in settling.seats[:2]] == [
        "seat 1 has no progressive wager in round 1",
        None,
    ]
    assert settling.seats[4].refused == "the hand of seat 5 won no award in round 1"
    assert seats(shown(at.do("hand 2")), "selected") == [2]


@pytest.mark.parametrize(
    ("commands", "meter", "state", "amount", "shares", "card"),
    [
        (WON, {}, "to_confirm", 250_010, [(2, 125_005), (5, 125_005)], None),
        (WON, UNSEEN, "to_confirm", None, [], None),
        ((*WON, "hand 5"), UNSEEN, "to_confirm", 250_010, [(5, 250_010)], None),
        (WON, NEXUS, "to_confirm", 250_010, [(2, 125_005), (5, 125_005)], "supervisor"),
        (WON, {**NEXUS, "executive_from": 250_010}, "to_confirm", 250_010, [(2, 125_005), (5, 125_005)], "executive"),
        ((*TO_JPH, "j-pot"), {}, "locked", 250_010, [(2, 125_005), (5, 125_005)], None),
        ((*TO_JPH, "j-pot", "turn run"), {}, "booked", 250_010, [(2, 125_005), (5, 125_005)], None),
    ],
)  # fmt: skip
def test_the_award_is_shown_as_it_would_be_before_it_is_fixed(commands, meter, state, amount, shares, card):
    award = shown(croupier(*commands, **meter)).award
    assert award is not None

    assert (award.state, award.amount, award.card) == (state, amount, card)
    assert [(each.seat, each.amount) for each in award.shares] == shares
    assert (award.rule, award.pays) == ("two_three_four_suited", AWARD_25)
    assert (award.number is None) == (state == "to_confirm")


PAID = (*TO_JPH, "j-pot", "turn run")


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        (WON, "award"),
        (PAID, "award"),
        ((*WON, "resume"), "pay"),
        ((*WON, "resume", "draw KS"), "draw"),
        ((*PAID, "draw KS"), "draw"),
        ((*PAID, "draw KS", "lose shoe"), "shoe_offline"),
    ],
)
def test_an_award_is_what_to_do_now_until_the_next_hand_goes_on_without_it(commands, code):
    at = croupier(*commands)

    assert prompt_of(at.state, shown(at)).code == code


FIRST_CARD = "Place your wagers; press START GAME before the first card, which closes betting"
USUAL = "Place your wagers; the first card closes betting"


@pytest.mark.parametrize(
    ("commands", "unstarted", "text"),
    [
        ((), (), USUAL),
        (("spot 2 5",), (2, 5), FIRST_CARD),
        (("spot 2 5", "lift 2 5"), (), USUAL),
        (("spot 2 5", "start game"), (), USUAL),
        (("spot 2 5", "turn jph"), (2, 5), USUAL),  # START GAME is refused
        (("spot 2 5", "draw KS"), (2, 5), "Draw a card for Banker"),
    ],
)
def test_wagers_that_are_lit_before_start_game_are_shown_before_betting_closes(commands, unstarted, text):
    at = croupier(*commands)
    view = shown(at)

    assert view.unstarted == unstarted
    assert prompt_of(at.state, view).text == text


def test_where_betting_closes_by_an_order_start_game_is_shown_before_that_order():
    own = {"game_name": "progressive-2", "meter": {}, "betting_closes": "order"}
    at = Croupier.at_betting("meter", "spot 2", **own)

    assert prompt_of(at.state, shown(at, Equipment(start_label="COIN IN"))).text == (
        "Place your wagers; when all are placed, press COIN IN, then close betting"
    )
    at.do("no more bets")
    prompt = prompt_of(at.state, shown(at, Equipment(start_label="COIN IN")))
    assert (prompt.code, prompt.text) == ("start_game", "Press COIN IN before the first card")
    at.do("start game")
    assert prompt_of(at.state, shown(at)).code == "draw"


def test_a_meter_that_does_not_hold_the_award_says_what_to_add():
    at = croupier(
        *WAGERS, "start game", "draw 2H KC 3S JC 4H KD", "hand 2", "hand 5", seed=100, fixed_awards="meter"
    )

    assert shown(at).todo.code == "meter_dry"
    assert "add at least" in shown(at).todo.text


def test_an_award_of_cards_that_were_corrected_after_it_says_to_back_it_out():
    at = croupier(*TO_JPH, "j-pot", "turn run", "correct round 2D 3D 4D over KC JC KD")
    view = shown(at)

    assert view.step == "settling"
    assert view.todo.code == "already_confirmed"
    assert "have it backed out at the Game Manager, then confirm the correct award" in view.todo.text


@pytest.mark.parametrize(
    ("commands", "meter", "dealer", "card"),
    [
        (FORTY, {}, False, None),
        (FORTY, ALONE, True, None),
        (FORTY, {**NEXUS, **ALONE}, True, None),
        ((*FORTY, "hand 2", "hand 5", "j-pot"), ALONE, True, None),
        (FORTY, NEXUS, False, "supervisor"),
    ],
)
def test_an_award_from_the_tray_says_so_and_who_confirms_it(commands, meter, dealer, card):
    award = shown(croupier(*commands, **meter)).award
    assert award is not None

    assert (award.payer, award.amount, award.dealer, award.card) == ("tray", 8000, dealer, card)


def test_the_orders_are_those_of_the_role_and_not_a_devices():
    at = croupier(*TO_JPH)
    equipment = Equipment(gives=lambda: frozenset({"turn_key"}))
    dealer, supervisor = (
        set(view_of(Trials(at.state), 7, NOW, Peer("Mei", (role,)), None, equipment).orders)
        for role in (Role.DEALER, Role.SUPERVISOR)
    )

    assert "hand_button" in dealer
    assert dealer.isdisjoint({"jpot", "turn_key"})
    assert "jpot" in supervisor
    assert "turn_key" not in supervisor
    assert shown(at, equipment).by_device == ("turn_key",)


def test_nothing_of_it_tells_the_reserve():
    view = shown(croupier(*WAGERS, "start game", reserve="50%"))

    assert "reserve" not in view.model_dump_json()
    assert view.meter == 1_000_040
    assert "reserve" not in json.dumps(GameView.model_json_schema()["properties"])


@pytest.mark.parametrize(
    ("procedure", "confirmed"),
    [("aquarius", ("turn jph", "j-pot", "turn run")), ("nexus", ("confirm", "swipe executive"))],
)
def test_the_amount_of_an_award_at_a_linked_table_is_shown_when_its_authority_has_fixed_it(
    procedure, confirmed
):
    floor = LinkedFloor(2, {"procedure": procedure})
    floor.settle()
    for name in ("t1", "t2"):  # at t2, the last award on the books is that of t1
        table = floor.tables[name]
        table.do("spot 1", "start game")
        floor.settle()
        table.do(*JACKPOT, "hand 1")
        award = shown(table).award
        assert award is not None
        assert (award.state, award.pays, award.amount) == ("to_confirm", "100% of the meter", None)

        for command in confirmed:
            table.do(command)
            floor.settle()
        award = shown(table).award
        assert award is not None
        assert (award.state, award.amount) == ("booked", table.progressive.books.awards[-1].amount)
