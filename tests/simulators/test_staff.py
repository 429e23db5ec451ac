"""A table is played by what its staff does, without a refusal; and what is done out of order is refused."""

from typing import Any

import pytest

from punto.baccarat.table.catalogue import event_of
from punto.baccarat.table.commission import owed_by
from punto.baccarat.table.events import SetWager
from punto.baccarat.table.turn import RefusedError
from punto.simulators.shoe.shuffle import shuffled
from punto.simulators.staff import Act, Seen, due, in_a_game, order_of, wrong_acts
from tests.baccarat.table.croupier import Croupier

METER = {"game_name": "progressive-2", "betting_closes": "order", "next_coup": "order"}
AQUARIUS: dict[str, Any] = {**METER, "meter": {}}
NEXUS: dict[str, Any] = {**METER, "meter": {"procedure": "nexus"}}
SUITED, LOST = "2H KC 3H JC 4H KD", "KS 9S 5H KD"


def do(croupier: Croupier, act: Act) -> None:
    """Give the order that an act is, by a supervisor who is there."""
    state = croupier.state
    card = shuffled("staff", max(1, state.shoe.number), 1)[len(state.shoe.drawn)]
    serial = state.link.offered.serial if state.link.offered is not None else ""
    known = {"round": state.round.number, "card": card, "serial": serial, "reason": "seen to"}
    known["amount"] = owed_by(state, act.seat)
    kind, fields = order_of(act, Seen.of(state).procedure, **known)
    if kind == "sign_award":
        croupier.do("sign supervisor")
    elif kind == "start_game":
        croupier.do("start game")
    elif kind == "turn_key":
        croupier.do(f"turn {fields['to']}")
    else:
        croupier.handle(event_of(kind, fields, "bob"))


def attempt_mistakes(croupier: Croupier) -> None:
    """Each of them is refused, and changes nothing."""
    before = croupier.state
    for wrong in wrong_acts(Seen.of(before), before.settings.seats):
        with pytest.raises(RefusedError):
            do(croupier, wrong)
        assert croupier.state is before


@pytest.mark.parametrize(
    "house",
    [
        {},
        {"burn": "first_card", "next_coup": "order", "coups_after_cut_card": 0},
        {"burn": "fixed", "betting_closes": "order"},
        {"cards": "keyed", "burn": "fixed", "coups_after_cut_card": 0},
        {"cards": "keyed", "burn": "first_card", "betting_closes": "order", "next_coup": "order"},
        {"reveal": "dealer"},
        {"commission": "shoe_end"},
        {"commission": "shoe_end", "betting_closes": "order", "next_coup": "order"},
        AQUARIUS,
        NEXUS,
    ],
)
def test_a_table_is_played_from_its_first_day_into_its_second_shoe(house):
    croupier = Croupier(decks=1, **house).do("hello")
    if "meter" in house:
        croupier.do("sign on", "meter")
    while croupier.state.shoe.number < 2:
        state = croupier.state
        cards = shuffled("staff", max(1, state.shoe.number), 1)
        attempt_mistakes(croupier)
        keyed = state.settings.cards == "keyed"
        if state.settings.commission == "shoe_end" and state.phase == "betting" and not state.round.wagers:
            for seat in (2, 5):
                croupier.handle(SetWager(f"w{seat}", seat, "banker", 5000, state.round.number))
        if keyed and state.phase == "betting" and len(state.shoe.drawn) + state.shoe.unknown > 38:
            croupier.do("change shoe")  # nobody sees a cut card
        elif (act := due(Seen.of(state))) is not None:
            do(croupier, act)
        else:
            croupier.do(f"draw {cards[len(state.shoe.drawn) + state.shoe.unknown]}")
            if len(croupier.state.shoe.drawn) == 38:
                croupier.do("cut card")

    assert len(croupier.rounds) > 4


@pytest.mark.parametrize(
    ("house", "cards", "acts"),
    [
        (AQUARIUS, LOST, "start_game, close_betting, game_over, open_betting"),
        (NEXUS, LOST, "start_game, close_betting, game_over, open_betting"),
        (AQUARIUS, SUITED, "start_game, close_betting, hand_button 3, hand_button 6, key_to_jph, jpot, key_to_run, game_over, open_betting"),
        (NEXUS, SUITED, "start_game, close_betting, hand_button 3, hand_button 6, confirm, swipe_card, game_over, open_betting"),
    ],
)  # fmt: skip
def test_a_game_is_dealt_from_start_to_end_whatever_is_tried_out_of_order(house, cards, acts):
    croupier = Croupier.at_betting("meter", "spot 3 6", **house)
    for seat in (3, 6):
        croupier.handle(SetWager("w", seat, "player", 500, croupier.state.round.number))
    left, done = cards.split(), list[str]()
    while not done or done[-1] != "open_betting":
        attempt_mistakes(croupier)
        act = due(Seen.of(croupier.state))
        if act is None:
            croupier.do(f"draw {left.pop(0)}")
        else:
            do(croupier, act)
            done.append(act.do + (f" {act.seat}" if act.seat else ""))

    assert ", ".join(done) == acts


@pytest.mark.parametrize(
    ("commands", "act"),
    [
        (("lid open",), "resume_play"),
        (("unread",), "key_card"),
        (("hello B",), "accept_shoe"),
        (("draw KS", "lose shoe"), "key_card"),
        (("close table",), "open_betting"),
        (("draw KS 9S 5H", "cut card", "draw KD", "draw KS 9S 5H KD"), "change_shoe"),
    ],
)
def test_whatever_stops_play_is_seen_to(commands, act):
    croupier = Croupier.at_betting(*commands)

    assert due(Seen.of(croupier.state)) == Act(act)
    do(croupier, Act(act))


def test_before_it_is_known_who_won_nothing_is_pressed():
    assert in_a_game(Seen(phase="settled", step="settling", seats=(1,))) is None


def test_a_game_whose_hand_was_void_is_played_with_the_next():
    assert in_a_game(Seen(phase="settled", step="playing", closes=True)) == Act("open_betting")
    assert in_a_game(Seen(phase="betting", step="playing", closes=True)) == Act("close_betting")


@pytest.mark.parametrize("step", ["betting", "adjusted", "settling"])
def test_a_key_that_was_left_in_jph_is_turned_back(step):
    assert in_a_game(Seen(phase="betting", step=step, won=frozenset(), key="jph")) == Act("key_to_run")


@pytest.mark.parametrize(
    ("message", "act"),
    [
        ({"phase": "locked", "overlays": []}, "sign_on"),
        ({"phase": "closed", "overlays": []}, "change_shoe"),
        ({"phase": "betting", "overlays": ["needs_supervisor"]}, "resume_play"),
        ({"phase": "reveal", "overlays": []}, "reveal"),
        ({"phase": "settled", "overlays": []}, "change_shoe"),
        ({"phase": "dealing", "overlays": []}, None),
    ],
)
def test_who_sees_the_public_table_alone_supervises_it(message, act):
    assert due(Seen.public(message)) == (None if act is None else Act(act))
